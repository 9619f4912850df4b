package learner

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

// RemedyConfig is a Config that knows what to change where its learner's Fit doesn't converge, or
// its posterior passes over examples, the most promising first.
type RemedyConfig interface {
	Config
	Remedies() []Remedy
}
