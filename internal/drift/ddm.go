package drift

import "math"

// DDM compares the fraction of errors with its least value: J. Gama, P. Medas, G. Castillo and P.
// Rodrigues, "Learning with drift detection", SBIA 2004. After i losses of mean p_i its standard
// deviation is s_i = sqrt(p_i (1-p_i)/i). With p_min + s_min the least p_i + s_i so far,
//
//	drift: p_i + s_i >= p_min + 3 s_min
//
// There is no bound on false alarms: each comparison has a confidence of about 99 %, and there are
// many of them. Deviation: it looks after every 32 losses. Cost: a few nanoseconds a loss, 32
// bytes.
type DDM struct {
	losses
	Least, LeastDeviation float64
}

// NewDDM returns a detector.
func NewDDM() *DDM { return &DDM{Least: math.MaxFloat64, LeastDeviation: math.MaxFloat64} }

// Reset is Detector's.
func (d *DDM) Reset() { *d = *NewDDM() }

// Add is Detector's.
func (d *DDM) Add(loss float64) bool {
	d.add(loss)
	if d.N%Look != 0 {
		return false
	}
	p := d.Mean()
	s := math.Sqrt(max(0, p*(1-p)) / float64(d.N))
	switch level := p + s; {
	case level <= d.Least+d.LeastDeviation:
		d.Least, d.LeastDeviation = p, s
	case level >= d.Least+float64(3*d.LeastDeviation):
		d.Reset()
		return true
	}
	return false
}
