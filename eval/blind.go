package eval

// DriftBlind is the name of [Blind].
const DriftBlind = "blind"

// Blind finds drift after each DriftLook losses, whatever they are: for streams that change slowly
// and all the time, where no example is the first one of a rise, so that what is done at a drift is
// done again and again. (J. Gama and others, "A Survey on Concept Drift Adaptation", ACM Computing
// Surveys 46(4), 2014, section 4.2, call it that.) The zero value is new.
type Blind struct {
	n   int64 // losses since the last drift
	sum float64
}

// State is DriftDetector's.
func (d *Blind) State() []float64 { return []float64{float64(d.n), d.sum} }

// SetState is DriftDetector's.
func (d *Blind) SetState(s []float64) error {
	if len(s) != 2 || !isCount(s[0]) || s[0] >= DriftLook || !(s[1] >= 0 && s[1] <= s[0]) {
		return errState("blind")
	}
	*d = Blind{n: int64(s[0]), sum: s[1]}
	return nil
}

// Mean is that of the losses since the last drift.
func (d *Blind) Mean() float64 { return d.sum / float64(max(1, d.n)) }

// Reset is DriftDetector's.
func (d *Blind) Reset() { *d = Blind{} }

// Add is DriftDetector's.
func (d *Blind) Add(loss float64) DriftState {
	d.n++
	if d.sum += loss; d.n < DriftLook {
		return DriftNone
	}
	d.Reset()
	return DriftFound
}
