package eval

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
	delta, lambda float64
	n             int64
	sum, m, least float64
}

// NewPageHinkley returns a detector of that delta, 0 or more, and that lambda, above 0; other
// values are the defaults.
func NewPageHinkley(delta, lambda float64) *PageHinkley {
	if !(delta >= 0 && delta < math.Inf(1)) {
		delta = DefaultPHDelta
	}
	if !(lambda > 0 && lambda < math.Inf(1)) {
		lambda = DefaultPHLambda
	}
	return &PageHinkley{delta: delta, lambda: lambda}
}

// Reset is DriftDetector's.
func (p *PageHinkley) Reset() { *p = PageHinkley{delta: p.delta, lambda: p.lambda} }

// State is DriftDetector's.
func (p *PageHinkley) State() []float64 { return []float64{float64(p.n), p.sum, p.m, p.least} }

// SetState is DriftDetector's.
func (p *PageHinkley) SetState(s []float64) error {
	if len(s) != 4 || !isCount(s[0]) {
		return errState("page-hinkley")
	}
	p.n, p.sum, p.m, p.least = int64(s[0]), s[1], s[2], s[3]
	return nil
}

// Mean is that of the losses since the last drift.
func (p *PageHinkley) Mean() float64 {
	if p.n == 0 {
		return 0
	}
	return p.sum / float64(p.n)
}

// Add is DriftDetector's.
func (p *PageHinkley) Add(loss float64) DriftState {
	p.n++
	p.sum += loss
	x := (1 + p.sum) / float64(p.n+2)
	s := math.Sqrt(max(0, x*(1-x)))
	p.m += loss - p.Mean() - float64(p.delta*s)
	p.least = min(p.least, p.m)
	if p.n%DriftLook != 0 || p.m-p.least <= float64(p.lambda*s) {
		return DriftNone
	}
	p.Reset()
	return DriftFound
}
