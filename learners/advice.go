package learners

// ScaleFree is true: each weight's variance begins large and follows its feature.
func (c *ADFConfig) ScaleFree() bool { return true }

// ScaleFree is true, as of ADF.
func (c *PointsConfig) ScaleFree() bool { return true }

// Remedies of the sites that wander: labels that may be wrong, and smaller changes.
func (c *EPConfig) Remedies() []Remedy {
	return []Remedy{{Change: "raise", Setting: "label-noise"}, {Change: "lower", Setting: "damping"}}
}

// Remedies of examples that the posterior can't take up: labels that may be wrong.
func (c *ADFConfig) Remedies() []Remedy { return []Remedy{{Change: "raise", Setting: "label-noise"}} }

// Remedies are those of ADF.
func (c *PointsConfig) Remedies() []Remedy {
	return []Remedy{{Change: "raise", Setting: "label-noise"}}
}

// Remedies are noise of the scores, or of labels.
func (c *SOGPConfig) Remedies() []Remedy {
	return []Remedy{{Change: "raise", Setting: "noise"}, {Change: "raise", Setting: "label-noise"}}
}

// Remedies are a soft margin, or a softer one, and an end further from the optimum.
func (c *SVMConfig) Remedies() []Remedy {
	if c.C == 0 {
		return []Remedy{{Change: "set", Setting: "C"}}
	}
	return []Remedy{{Change: "lower", Setting: "C"}, {Change: "raise", Setting: "gap"}}
}

// Remedies is a soft margin, or a softer one.
func (c *PUMMAConfig) Remedies() []Remedy {
	if c.SoftC == 0 {
		return []Remedy{{Change: "set", Setting: "soft-c"}}
	}
	return []Remedy{{Change: "lower", Setting: "soft-c"}, {Change: "raise", Setting: "delta"}}
}
