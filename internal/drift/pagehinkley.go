package drift

import "math"

// Defaults of the detector named page-hinkley, in standard deviations of a loss. For losses that do
// not change, the sum reaches lambda about once in exp(2 delta lambda)/(2 delta^2) losses
// (Siegmund, Sequential Analysis, 1985, (2.52) without the overshoot): 5e7 for these.
const (
	DefaultPHDelta  = 0.05
	DefaultPHLambda = 125
)

// PageHinkley sums how far losses are above their mean, and compares the sum with its minimum: E.
// S. Page, "Continuous inspection schemes", Biometrika 41, 1954, with D. V. Hinkley's running mean
// (Biometrika 58, 1971). With the mean x_t and the standard deviation s_t of the first t losses,
//
//	m_t = sum over i <= t of (loss_i - x_i - delta s_i),  M_t = the least m_i,
//	drift: m_t - M_t > lambda s_t
//
// after which it starts again. delta is the largest rise that doesn't count; a larger lambda brings
// fewer false alarms and a longer delay, about lambda s/(rise - delta s) examples.
//
// Deviation: delta and lambda are in units of s_t, so that false alarms are as rare for 40 % errors
// as for 1 %. Losses are from 0 to 1, and s_t^2 is x (1 - x) for x = (1 + sum of losses)/(t + 2):
// the variance of errors, and a bound on that of other losses. It tests after every 32 losses.
// Cost: a few nanoseconds a loss, 56 bytes.
type PageHinkley struct {
	losses
	M, Least      float64
	delta, lambda float64
}

// NewPageHinkley returns a detector of that delta, 0 or more, and that lambda, above 0.
func NewPageHinkley(delta, lambda float64) *PageHinkley {
	return &PageHinkley{delta: delta, lambda: lambda}
}

// Reset is Detector's.
func (p *PageHinkley) Reset() { *p = *NewPageHinkley(p.delta, p.lambda) }

// Add is Detector's.
func (p *PageHinkley) Add(loss float64) bool {
	p.add(loss)
	x := (1 + p.Sum) / float64(p.N+2)
	s := math.Sqrt(max(0, x*(1-x)))
	p.M += loss - p.Mean() - float64(p.delta*s)
	p.Least = min(p.Least, p.M)
	if p.N%Look != 0 || p.M-p.Least <= float64(p.lambda*s) {
		return false
	}
	p.Reset()
	return true
}
