package learners

// ScaleConfig is a Config that knows whether its learner minds the features' sizes. Without it a
// learner does: a feature a thousand times as large as the others decides its steps and margins.
type ScaleConfig interface {
	Config
	ScaleFree() bool // features may be in any units, hundreds of times apart
}

// ScaleFree reports whether c is a ScaleConfig whose learner doesn't mind.
func ScaleFree(c Config) bool {
	s, ok := c.(ScaleConfig)
	return ok && s.ScaleFree()
}

// Remedy is a change of a setting that helps where a run of Fit doesn't converge.
type Remedy struct {
	Change  string // "lower", "raise" or "set"
	Setting string // as its flag tag names it
}

// RemedyConfig is a Config that knows what to change where its learner's Fit doesn't converge, or
// its posterior passes over examples, the most promising first.
type RemedyConfig interface {
	Config
	Remedies() []Remedy
}

// ScaleFree is true: each weight's variance begins large and follows its feature.
func (c *ADFConfig) ScaleFree() bool { return true }

// ScaleFree is true, as of ADF.
func (c *PointsConfig) ScaleFree() bool { return true }

// Remedies of the sites that wander: labels that may be wrong, and smaller changes.
func (c *EPConfig) Remedies() []Remedy {
	return []Remedy{{"raise", "label-noise"}, {"lower", "damping"}}
}

// Remedies of examples that the posterior can't take up: labels that may be wrong.
func (c *ADFConfig) Remedies() []Remedy { return []Remedy{{"raise", "label-noise"}} }

// Remedies are those of ADF.
func (c *PointsConfig) Remedies() []Remedy { return []Remedy{{"raise", "label-noise"}} }

// Remedies are noise of the scores, or of labels.
func (c *SOGPConfig) Remedies() []Remedy {
	return []Remedy{{"raise", "noise"}, {"raise", "label-noise"}}
}

// Remedies are a soft margin, or a softer one, and an end further from the optimum.
func (c *SVMConfig) Remedies() []Remedy {
	if c.C == 0 {
		return []Remedy{{"set", "C"}}
	}
	return []Remedy{{"lower", "C"}, {"raise", "gap"}}
}

// Remedies is a soft margin, or a softer one.
func (c *PUMMAConfig) Remedies() []Remedy {
	if c.SoftC == 0 {
		return []Remedy{{"set", "soft-c"}}
	}
	return []Remedy{{"lower", "soft-c"}, {"raise", "delta"}}
}
