package learner

import "math"

// Facts are what settings may be relative to: they are known when the data are.
type Facts struct {
	// SumSq is the square of the longest example's length, as the examples are learned: scaled, and
	// with an appended feature (a bias, or rho of the margin papers). 0 if no example has a
	// feature.
	SumSq float64
	// Delta is FitOptions.Delta: with a soft margin each example is longer by a coordinate of that
	// size.
	Delta float64
	// Features is the number of features, an appended one included.
	Features int
}

// R2 returns R^2, the square of the longest example's length with its coordinate Delta. It is the
// sum that a Fit takes, to the bit (MaxSumSq), and not the square of a root.
func (f Facts) R2() float64 { return f.SumSq + float64(f.Delta*f.Delta) }

// RelativeConfig is a Config that may have settings relative to the data. A learner is made of what
// Resolve returns.
type RelativeConfig interface {
	Config
	// Relative reports whether there are settings for which the data have to be known.
	Relative() bool
	// Resolve returns a copy in which all settings are absolute, and leaves the Config as it is. It
	// wraps ErrConfig if the facts don't allow that: no example has a feature, say.
	Resolve(Facts) (Config, error)
}

// Relative reports whether c has settings for which the data have to be known.
func Relative(c Config) bool {
	r, ok := c.(RelativeConfig)
	return ok && r.Relative()
}

// Resolve returns c with all settings absolute: a copy, or c itself if it never has others.
func Resolve(c Config, f Facts) (Config, error) {
	if r, ok := c.(RelativeConfig); ok {
		return r.Resolve(f)
	}
	return c, nil
}

// wrapperConfig is a Config of a learner that gives its examples, in another form, to one other
// learner. What that one can and needs, the wrapper can and needs.
type wrapperConfig interface {
	Config
	Inner() (Config, error) // the settings of the other learner
}

// capability returns c, or what it wraps, as an I.
func capability[I any](c Config) (I, bool) {
	if i, ok := c.(I); ok {
		return i, true
	}
	if w, ok := c.(wrapperConfig); ok {
		if base, err := w.Inner(); err == nil {
			return capability[I](base)
		}
	}
	var none I
	return none, false
}

// BatchOnly reports whether c is that of a learner of whole data sets only (BatchConfig).
func BatchOnly(c Config) bool {
	b, ok := capability[BatchConfig](c)
	return ok && b.BatchOnly()
}

// Soft reports whether c asks for a soft margin whose slacks belong to places in the data set
// (SoftConfig), so that a stream, or a second pass by Learn, is another problem.
func Soft(c Config) bool {
	s, ok := capability[SoftConfig](c)
	return ok && s.Soft()
}

// Whole reports whether a learner of these settings, if it is a Fitter, can Fit (WholeConfig).
func Whole(c Config) bool {
	if _, ok := c.(wrapperConfig); ok {
		return false // one example after another takes its other form
	}
	w, ok := c.(WholeConfig)
	return !ok || w.Whole()
}

// Norm returns p of a learner of p-norm margins (NormConfig), and whether it is one.
func Norm(c Config) (p float64, ok bool) {
	n, ok := capability[NormConfig](c)
	if !ok {
		return math.NaN(), false
	}
	return n.Norm(), true
}

// NormConfig is a Config of a learner of p-norm margins.
type NormConfig interface {
	Config
	Norm() float64 // p; NaN if it is not known yet
}
