package gauss

import (
	"errors"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// Multiply makes r the product of the two residuals over the prior, in which the prior counts once:
//
//	Vr^-1 = Vr1^-1 + Vr2^-1 - I,   Vr^-1 mr = Vr1^-1 mr1 + Vr2^-1 mr2
//
// and works out the points' part afresh. It fails, and changes nothing, if that is no distribution,
// or one that rounding errors would decide. O(d^3).
func (p *Posterior) Multiply(name string, o *Posterior) error {
	d := len(p.ResidualMean)
	A, A2, err := p.precisions(name, o, d)
	if err != nil {
		return err
	}
	b := make([]float64, d)
	symMulAdd(b, A, p.ResidualMean)
	symMulAdd(b, A2, o.ResidualMean)
	vecmath.Axpy(A, 1, A2)
	for i := range d {
		A[i*(i+1)/2+i]--
	}
	return p.setNatural(name, "product", A, b, p.PrecisionBound+o.PrecisionBound-1,
		p.Precision != nil || o.Precision != nil)
}

// Divide takes o so many times out of p, which has learned what o has so often beside the rest,
// where both began with the prior:
//
//	Vr^-1 = Vr1^-1 - n (Vr2^-1 - I),   Vr^-1 mr = Vr1^-1 mr1 - n Vr2^-1 mr2
//
// The points of both are absorbed first, which leaves their distributions as they are. It fails as
// Multiply does, and the points are absorbed then. O(d^3).
func (p *Posterior) Divide(name string, o *Posterior, times int) error {
	p.absorbAll()
	p.setMean()
	if times == 0 {
		return nil
	}
	o.absorbAll()
	d := max(len(p.ResidualMean), len(o.ResidualMean))
	A, A2, err := p.precisions(name, o, d)
	if err != nil {
		return err
	}
	n, b, b2 := float64(times), make([]float64, d), make([]float64, d)
	symMulAdd(b, A, p.ResidualMean)
	symMulAdd(b2, A2, o.ResidualMean)
	vecmath.Axpy(b, -n, b2)
	for i := range d {
		A2[i*(i+1)/2+i]--
	}
	vecmath.Axpy(A, -n, A2)
	// no eigenvalue grows by more than n times that of I
	return p.setNatural(name, "quotient", A, b, p.PrecisionBound+n, true)
}

// precisions returns the precision matrices of both, grown to d features.
func (p *Posterior) precisions(name string, o *Posterior, d int) (A, of []float64, err error) {
	if err := errors.Join(p.Grow(name, d), o.Grow(name, d)); err != nil {
		return nil, nil, err
	}
	A, of = inverse(p.triangle(), d), inverse(o.triangle(), d)
	if A == nil || of == nil {
		return nil, nil, fmt.Errorf("%s: a covariance is not positive definite to rounding: %w",
			name, learner.ErrPrior)
	}
	return A, of, nil
}

// setNatural makes r the Gaussian of the precision matrix A, a lower triangle, whose eigenvalues
// are at most P, and b = A mr, and works out the points' part afresh. With each, the precision of
// each feature is kept. It fails, and changes nothing, if that is no distribution: what says how it
// was made.
func (p *Posterior) setNatural(name, what string, A, b []float64, P float64, each bool) error {
	d := len(p.ResidualMean)
	V := inverse(A, d)
	top, strain, precision := 0.0, 0.0, []float64(nil)
	for i := range d {
		if V != nil {
			top = max(top, V[i*(i+1)/2+i])
		}
	}
	if each || !(float64(P*top) < maxStrain) {
		precision = make([]float64, d)
		for i := range d {
			precision[i] = A[i*(i+1)/2+i]
			if V != nil {
				strain = math.FMA(precision[i], V[i*(i+1)/2+i], strain)
			}
		}
	}
	if V == nil || !(strain < maxStrain) {
		return fmt.Errorf("%s: the %s of the posteriors is not a distribution to rounding: %w",
			name, what, learner.ErrPrior)
	}
	clear(p.ResidualMean)
	symMulAdd(p.ResidualMean, V, b)
	p.setTriangle(V)
	p.PrecisionBound, p.Precision, p.measured = P, precision, 0
	p.DeriveAll()
	p.setMean()
	return nil
}
