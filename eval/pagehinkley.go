package eval

import "math"

// Defaults of the detector named page-hinkley.
const (
	DefaultPHDelta  = 0.005
	DefaultPHLambda = 50
)

// PageHinkley adds up by how much losses are above their mean, and compares the sum with the least
// that it was: E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954, with D. V.
// Hinkley's running mean (Biometrika 58, 1971). With the mean x_t of the first t losses,
//
//	m_t = sum over i <= t of (loss_i - x_i - delta),  M_t = the least m_i,
//	drift: m_t - M_t > lambda
//
// after which it begins anew. delta is how large a rise doesn't count, lambda how many errors too
// many are wanted: larger ones bring fewer false alarms and a longer delay, about lambda/(rise -
// delta) examples. There is no bound on false alarms without a distribution of the losses.
//
// Deviation: it looks after each 32 losses. Cost: some ns a loss, 56 bytes.
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
	p.m += loss - p.Mean() - p.delta
	p.least = min(p.least, p.m)
	if p.n%DriftLook != 0 || p.m-p.least <= p.lambda {
		return DriftNone
	}
	p.Reset()
	return DriftFound
}
