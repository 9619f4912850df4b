package gauss

import (
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Multiply makes r the product of the two residuals over the prior, in which the prior counts once:
//
//	Vr^-1 = Vr1^-1 + Vr2^-1 - I,   Vr^-1 mr = Vr1^-1 mr1 + Vr2^-1 mr2
//
// and works out the points' part afresh. It fails, and changes nothing, if that is no distribution,
// or one that rounding errors would decide. O(d^3).
func (p *Posterior) Multiply(name string, o *Posterior) error {
	d := len(p.ResidualMean)
	if err := o.Grow(name, d); err != nil {
		return err
	}
	A, A2 := inverse(p.triangle(), d), inverse(o.triangle(), d)
	if A == nil || A2 == nil {
		return fmt.Errorf("%s: a covariance is not positive definite to rounding: %w", name,
			learner.ErrPrior)
	}
	b := make([]float64, d)
	symMulAdd(b, A, p.ResidualMean)
	symMulAdd(b, A2, o.ResidualMean)
	vecmath.Axpy(A, 1, A2)
	for i := range d {
		A[i*(i+1)/2+i]--
	}
	V := inverse(A, d)
	P, top, strain, precision := p.PrecisionBound+o.PrecisionBound-1, 0.0, 0.0, []float64(nil)
	for i := range d {
		if V != nil {
			top = max(top, V[i*(i+1)/2+i])
		}
	}
	if p.Precision != nil || o.Precision != nil || !(float64(P*top) < maxStrain) {
		precision = make([]float64, d)
		for i := range d {
			precision[i] = A[i*(i+1)/2+i]
			if V != nil {
				strain = math.FMA(precision[i], V[i*(i+1)/2+i], strain)
			}
		}
	}
	if V == nil || !(strain < maxStrain) {
		return fmt.Errorf("%s: the product of the posteriors is not a distribution to rounding: %w",
			name, learner.ErrPrior)
	}
	clear(p.ResidualMean)
	symMulAdd(p.ResidualMean, V, b)
	p.setTriangle(V)
	p.PrecisionBound, p.Precision, p.measured = P, precision, 0
	p.DeriveAll()
	p.setMean()
	return nil
}
