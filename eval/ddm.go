package eval

import "math"

// DDM compares the share of errors with the least that it was: J. Gama, P. Medas, G. Castillo and
// P. Rodrigues, "Learning with drift detection", SBIA 2004. After i losses of mean p_i its standard
// deviation is s_i = sqrt(p_i (1-p_i)/i). Where p_min + s_min is the least p_i + s_i so far,
//
//	p_i + s_i >= p_min + 2 s_min  is a warning,
//	p_i + s_i >= p_min + 3 s_min  is drift,
//
// after which it begins anew. At least 30 losses are taken before. There is no bound on false
// alarms: each comparison has the confidence of about 95 % and 99 %, and there are many of them.
//
// Deviation: it looks after each 32 losses. Cost: some ns a loss, 64 bytes.
type DDM struct {
	n          int64
	sum        float64
	pMin, sMin float64
}

// NewDDM returns a detector.
func NewDDM() *DDM { return &DDM{pMin: math.Inf(1), sMin: math.Inf(1)} }

// Reset is DriftDetector's.
func (d *DDM) Reset() { *d = *NewDDM() }

// State is DriftDetector's.
func (d *DDM) State() []float64 { return []float64{float64(d.n), d.sum, d.pMin, d.sMin} }

// SetState is DriftDetector's.
func (d *DDM) SetState(s []float64) error {
	if len(s) != 4 || !isCount(s[0]) {
		return errState("ddm")
	}
	*d = DDM{n: int64(s[0]), sum: s[1], pMin: s[2], sMin: s[3]}
	return nil
}

// Mean is that of the losses since the last drift.
func (d *DDM) Mean() float64 {
	if d.n == 0 {
		return 0
	}
	return d.sum / float64(d.n)
}

// Add is DriftDetector's.
func (d *DDM) Add(loss float64) DriftState {
	d.n++
	d.sum += loss
	if d.n%DriftLook != 0 {
		return DriftNone
	}
	p := d.Mean()
	s := math.Sqrt(max(0, p*(1-p)) / float64(d.n))
	switch level := p + s; {
	case level <= d.pMin+d.sMin:
		d.pMin, d.sMin = p, s
		return DriftNone
	case level >= d.pMin+float64(3*d.sMin):
		d.Reset()
		return DriftFound
	case level >= d.pMin+float64(2*d.sMin):
		return DriftWarning
	}
	return DriftNone
}
