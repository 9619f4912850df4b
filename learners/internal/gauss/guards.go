package gauss

import (
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// posteriorFloor is the least share of a variance that rounding errors leave with good digits: x'Vr
// x is summed from terms of at most sum x_i^2 D_i together, D = diag(Vr), whose errors are some
// 2^-52 of that. A variance of 2^-44 of it is then right to 2^-52/2^-44 = 2^-8.
const posteriorFloor = 0x1p-44

// maxStrain bounds the strain, of which the least eigenvalue of D^-1/2 Vr D^-1/2 is at least the
// inverse: it stays above 2^-40. One change of Vr leaves rounding errors of 2^-52 an element of
// that matrix. As they come, with signs of their own, their matrix has a norm of some sqrt(d)
// 2^-52, which is sqrt(d) 2^-12 of the least eigenvalue: 2^-9 for 64 features and 2^-5.2 for
// MaxPosteriorDim.
const maxStrain = 0x1p40

// maxShrunk is the factor after which all is worked out afresh: rounding errors were 2^-53 of the
// images before they shrank by 2^26, and are then 2^-27 of them, half of the digits.
const maxShrunk = 0x1p26

// maxInexact bounds the product of the strain and of the factor by which rounding errors have grown
// beyond 2^-52: the least eigenvalue of the new Vr then moves by a share of at most 2^46 2^-52 =
// 2^-6, as Inexact derives, and Vr stays positive definite.
const maxInexact = 0x1p46

// Points of a variance beyond these are skipped. The product of two is within 2^-800 and 2^800,
// which leaves a factor of 2^222 up to the ends of the normal numbers, 2^-1022 and 2^1023. The
// likelihood does not know the length of w, so that labels which contradict each other under too
// small an eps let mean and covariance shrink for ever, some 2^-400 in 10^4 examples. To multiply
// them back would go on for ever, too, but not better: with 10 % flips under eps = 0.001 the error
// rate (gen gauss -n 100000, 2 and 20 features, --distance 3 and 6) is 21, 15, 22 and 15 %, where
// the posterior that stays as it is has 17, 10, 31 and 15 %. Report counts them, and the cause is
// eps.
const LeastVariance, MostVariance = 0x1p-400, 0x1p400

// floor returns the variance of a point under which rounding would decide. No term may be pending.
func (p *Posterior) floor(x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		if v != 0 {
			sum = math.FMA(float64(v*v), p.V[i*p.Stride+i], sum)
		}
	}
	return posteriorFloor * sum
}

// known returns how many features there are up to the last that g has, or of which Vr, which has no
// term pending, says more than the prior does. Behind it are features of examples to come: whether
// these are known yet depends on how examples come, in one file or in several, and what is decided
// must not.
func (p *Posterior) known(g *Addition) int {
	d := len(p.ResidualMean)
	for d > 0 && p.V[(d-1)*p.Stride+d-1] == 1 && g.X[d-1] == 0 && g.Y[d-1] == 0 {
		d--
	}
	return d
}

// Addition is what Vr^-1 grows by: K.aa x x^T + K.ab (x y^T + y x^T) + K.bb y y^T. trace is at
// least the sum of the positive eigenvalues of that.
type Addition struct {
	X, Y  []float64
	K     Sym2
	Trace float64
}

// SiteAddition is that of (4): tau x x^T.
func SiteAddition(x []float64, tau float64) Addition {
	return Addition{x, x, Sym2{AA: tau}, float64(max(0, tau) * vecmath.SumSq(x))}
}

// strain bounds that of the posterior with g, by the variances before: it is their rounding errors
// that the change brings. It is exact but for signs where precision is kept.
func (p *Posterior) strain(g *Addition) float64 {
	d := p.known(g)
	if p.Precision == nil {
		largest := 0.0
		for i := range d {
			largest = max(largest, p.V[i*p.Stride+i])
		}
		return float64((p.PrecisionBound + g.Trace) * largest)
	}
	sum := 0.0
	for i, q := range p.Precision[:d] {
		sum = math.FMA(p.V[i*p.Stride+i], q+g.at(i), sum)
	}
	return sum
}

// at bounds the element i, i of it, without what cancels: that is where rounding errors are.
func (g *Addition) at(i int) float64 {
	x, y := math.Abs(g.X[i]), math.Abs(g.Y[i])
	return float64(max(0, g.K.AA)*float64(x*x)) + float64(2*math.Abs(g.K.AB)*float64(x*y)) +
		float64(max(0, g.K.BB)*float64(y*y))
}

// allow reports whether Vr^-1 may grow by g, and counts it. Vr has no term pending.
func (p *Posterior) allow(g *Addition) bool {
	if !(p.strain(g) < maxStrain) {
		// At most once in d changes, which is then O(d^2) a change.
		if p.Precision != nil && p.measured < int64(p.known(g)) {
			return false
		}
		p.measure()
		if !(p.strain(g) < maxStrain) {
			return false
		}
	}
	p.PrecisionBound += g.Trace
	p.measured++
	for i := range p.Precision {
		p.Precision[i] += g.at(i)
	}
	return true
}

// measure works precision out: with Vr = L L^T, (Vr^-1)_ii is the square of the length of L^-1 e_i.
// O(d^3).
func (p *Posterior) measure() {
	d := len(p.ResidualMean)
	p.Precision, p.measured = make([]float64, d), 0
	L := cholesky(p.triangle(), d)
	y := make([]float64, d)
	for i := range d {
		p.Precision[i] = p.PrecisionBound // of the largest eigenvalue a bound too
		if L == nil {
			continue
		}
		y[i] = 1 / L[i*(i+1)/2+i]
		for j := i + 1; j < d; j++ {
			row := L[j*(j+1)/2:][:j+1]
			y[j] = -vecmath.Dot(row[i:j], y[i:j]) / row[j]
		}
		if v := vecmath.SumSq(y[i:]); v < p.PrecisionBound {
			p.Precision[i] = v
		}
	}
}

// Inexact reports whether the rounding errors in W could make Vr indefinite when it changes by the
// images of g's points. Since W was worked out afresh variances have shrunk by a factor of Shrunk
// at most, so an image w = Vr x is off by some Shrunk 2^-53 sqrt(D_i x'Vr x) in element i; in the
// metric of the new Vr that moves its least eigenvalue by a share of Shrunk 2^-52 sqrt(den strain),
// where den = 1 + tau x'Vr x is at most the strain after the change: by less than maxInexact 2^-52
// = 2^-6.
func (p *Posterior) Inexact(g *Addition) bool {
	return !(float64(p.Shrunk*p.strain(g)) < maxInexact)
}
