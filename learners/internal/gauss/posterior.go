package gauss

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Posterior is what ADF, EP, window-EP and the Virtual Vector Machine share: the distribution of
// the weights
//
//	q(w) = r(w) f(x_1; w) ... f(x_k; w),   r = N(mr, Vr),   f(x; w) = eps + (1-2 eps) [w.x > 0]
//
// over k points x, each an example times its label, and its Gaussian approximation by expectation
// propagation (EP), in which each f is replaced by a site exp(nu u - tau u^2/2) of u = w.x. The
// prior is N(0, I) over the features, also over those that have never been seen.
//
// If Probit2 > 0, scores have normal noise of that variance: f = eps + (1-2 eps)
// Phi(w.x/sqrt(Probit2)), which is a step of the noisy score. (13), by which points are evicted, is
// then that of the noisy score, too.
//
// Reference: T. P. Minka, R. Xiang, Y. Qi, "Virtual Vector Machine for Bayesian Online
// Classification", UAI 2009. EP needs the points' scores u alone, which are N(a, G) under r, a = X
// mr, G = X Vr X^T; with T = diag(tau):
//
//	(1) S = G (I + T G)^-1,   mu = a + S (nu - T a)          u is N(mu, S) with the sites
//	(2) one site refined: S -= dt/(1+dt s_i) s s^T,   mu += (dn - dt mu_i)/(1+dt s_i) s,
//	    s = S[:,i]
//	(3) mean of w: m = mr + W^T (nu - T mu),   W = X Vr;   covariance Vr - W^T (T - T S T) W
//	(4) point j evicted, which leaves q's approximation as it is: with w = W[j], g = G[:,j],
//	    den = 1 + tau_j G_jj
//	    mr += w (nu_j - tau_j a_j)/den,   Vr -= tau_j/den w w^T,   and W, G, a likewise
//	(5) points 1 and 2 merged: see merge
//
// Deviation: a site without a proper cavity, 1 - tau S_ii <= 0, is halved rather than left, and the
// run not converged: left alone, it was seen to stay for ever, away from the fixed point. Fixed
// points are the same.
//
// Nothing costs more than O(d^2 + k d) an example and O(k^2) a refinement for d features.
//
// Guards. Vr stays positive definite, whatever comes and in whatever units features are: with D =
// diag(Vr), the rounding errors of a change of Vr are some 2^-52 of sqrt(D_i D_j) in element i, j,
// so Vr stays definite as long as the eigenvalues of D^-1/2 Vr D^-1/2, which has no units, are far
// above d 2^-52. They are the inverses of those of D^1/2 Vr^-1 D^1/2, and of two bounds of these
// either will do:
//
//	P max_i D_i,   P = 1 + sum tau |x|^2     as Vr^-1 is at most I and the sum of tau x x^T over
//	                                         what (4) has absorbed with tau > 0
//	sum_i D_i (Vr^-1)_ii                     the trace, whatever the units of features
//
// The first is one number to keep, the second, one a feature, is kept only once the first is too
// coarse. (4) is done if den > 0 and the bound, the strain, stays below 2^40; else the next best
// point is taken, and if none will do, one is dropped. A new point whose variance is within
// rounding errors is skipped, and (2) has the like guards in S. With eps = 0 that is where examples
// which contradict each other end. PosteriorReport counts them.
//
// All is float64. Changes wait for the pass that reads what they change: that of Vr for its product
// with the next example, those of S for the next maxLate of them or the end of a sweep.
type Posterior struct {
	Eps, Probit2       float64 // rate of wrong labels, variance of the noise of scores
	Entropy            noiseEntropy
	ResidualMean, Mean []float64
	Covariance                 // Vr
	PrecisionBound     float64 // at least the largest eigenvalue of Vr^-1
	// by which factor variances have shrunk since W, G, a were worked out afresh, at most
	Shrunk float64
	K      int         // points
	X, W   [][]float64 // one row a point and one spare or more
	Width  int         // of rows of G and S
	G      []float64
	// its rows but for the pending terms, and below them maxLate columns s of (2)
	S []float64
	// pending: row i of S lacks steps[i][t] times the column t, 1 <= t <= late
	late   int
	steps  []float64 // 1 + maxLate a row of S, the first of which is 1
	term   []int32   // a row of S, and then all columns
	a      []float64
	Tau    []float64
	Nu     []float64
	mu     []float64
	Factor []stepFactor // of the points' cavities, as they were refined last
	tau0   []float64    // of the sites before the last point came
	nu0    []float64
	b0     []float64 // of (3): the points' coefficients nu - tau mu in the mean then
	// in the last sweep a site was left as it was, since rounding would have decided
	Skipped    bool
	age        int64     // points added since S and mu were last worked out afresh
	alarm      int64     // examples to come of which a failure of EP absorbs all points
	rows       []int32   // 0, 1, ...
	mask       []uint64  // width ones
	row        []float64 // scratch of a row of G
	coef       []float64 // scratch of a row of G
	Scratch, y []float64 // scratch of Vr's length
	Report     learner.PosteriorReport

	Noise     *NoiseEstimate // that eps follows; nil: none
	Precision []float64      // upper bounds of (Vr^-1)_ii; nil as long as P will do
	measured  int64          // changes of Vr since precision was last worked out from Vr itself
}

// MaxPosteriorDim is how many features fit into a covariance matrix of 1 GiB: 8 d^2 <= 2^30.
const MaxPosteriorDim = 11584

// NewPosterior returns the prior, of no features yet, with room for that many points. eps is the
// rate of wrong labels.
func NewPosterior(eps float64, points int) *Posterior {
	p := &Posterior{Eps: eps, PrecisionBound: 1, Shrunk: 1, Entropy: newNoiseEntropy(eps)}
	p.Reserve(points)
	return p
}

// PosteriorFootprint is that of a posterior with room for n points: of no features, where they are
// too many (ErrDim).
func PosteriorFootprint(x learner.Extent, n int64) learner.Footprint {
	f := covarianceFootprint(&x)
	d, width := x.Features, int64(vecmath.SymStride[float64](int(n)))
	f.Tables(x, "means and points", 8*(9+2*n))
	each := 8*(2*width+maxLate+1+7) + 4 + int64(unsafe.Sizeof(stepFactor{})) + 2*24 + 16
	f.Add("scores of points", n, learner.Times(n, each)+8*width*(maxLate+5)+primal.FixedBytes)
	f.Copied(x, 8, learner.Times(8, d, d/2+4)+learner.Times(18, n, d+n))
	return f
}

// covarianceFootprint is that of a covariance matrix of x.Features, which it sets to 0 where they
// are too many.
func covarianceFootprint(x *learner.Extent) (f learner.Footprint) {
	if x.Features > MaxPosteriorDim {
		x.Features = 0
	}
	d := x.Features
	f.Each = learner.Times(8, d, int64(vecmath.SymStride[float64](int(d))))
	f.Add("covariance matrix", learner.Times(d, d), f.Each+64)
	if x.Growing {
		f.Moving = f.Each
	}
	return f
}

// PosteriorTraits are those of the learners with a Gaussian posterior over weights: each weight's
// variance begins large and follows its feature, whatever its unit. Labels that may be wrong help
// where examples can't be taken up.
func PosteriorTraits(memory func(learner.Extent) learner.Footprint) learner.Traits {
	t := learner.LinearTraits()
	t.Memory = memory
	t.Proba, t.Posterior, t.Merges, t.ScaleFree, t.Forgets = true, true, true, true, true
	t.Remedies = []learner.Remedy{{Change: "raise", Setting: "label-noise"}}
	return t
}

// SetNoise makes eps the rate of wrong labels.
func (p *Posterior) SetNoise(eps float64) {
	p.Eps, p.Entropy = eps, newNoiseEntropy(eps)
}

// EstimateNoise lets the estimate of eps, if there is one, see the new point, which has no site
// yet.
func (p *Posterior) EstimateNoise() {
	if p.Noise == nil {
		return
	}
	i := p.K - 1
	if s := p.Spread(i); s > 0 {
		p.Noise.See(p.mu[i] / math.Sqrt(s+p.Probit2))
		p.SetNoise(p.Noise.Rate)
	}
}

// Reserve makes room for n points. It forgets those that there are.
func (p *Posterior) Reserve(n int) {
	p.K = 0
	unit := vecmath.LaneUnit[float64]()
	p.Width = (n + unit - 1) / unit * unit
	p.X, p.W = make([][]float64, n), make([][]float64, n)
	for i := range n {
		p.X[i], p.W[i] = make([]float64, len(p.ResidualMean)), make([]float64, len(p.ResidualMean))
	}
	p.G, p.S = engine.Aligned[float64](n*p.Width), engine.Aligned[float64]((n+maxLate)*p.Width)
	p.late, p.steps, p.term = 0, make([]float64, n*(1+maxLate)), make([]int32, 1+maxLate)
	for i := range n {
		p.steps[i*(1+maxLate)] = 1
	}
	for t := range maxLate {
		p.term[1+t] = int32(n + t)
	}
	p.a, p.Tau, p.Nu, p.mu = make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n)
	p.tau0, p.nu0, p.b0 = make([]float64, n), make([]float64, n), make([]float64, n)
	p.row, p.coef = engine.Aligned[float64](p.Width), engine.Aligned[float64](p.Width)
	p.rows = make([]int32, n)
	for i := range p.rows {
		p.rows[i] = int32(i)
	}
	p.mask = make([]uint64, vecmath.MaskWords(p.Width))
	for i := range p.Width {
		p.mask[i/64] |= 1 << (i % 64)
	}
	p.Factor, p.age = make([]stepFactor, n), 0
}

// Grow brings the features to dim; new ones have the prior.
func (p *Posterior) Grow(name string, dim int) error {
	d := len(p.ResidualMean)
	if dim <= d {
		return nil
	}
	if dim > MaxPosteriorDim {
		return fmt.Errorf("%s: %d features, at most %d: use random features (rff), or adf with "+
			"the diagonal covariance: %w", name, dim, MaxPosteriorDim, learner.ErrDim)
	}
	p.Covariance.grow(dim)
	for _, v := range []*[]float64{&p.ResidualMean, &p.Mean, &p.Scratch, &p.y} {
		*v = primal.Grown(*v, dim)
	}
	for i := range p.X {
		p.X[i], p.W[i] = primal.Grown(p.X[i], dim), primal.Grown(p.W[i], dim)
	}
	if p.Precision != nil {
		p.Precision = primal.Grown(p.Precision, dim)
		for i := d; i < dim; i++ {
			p.Precision[i] = 1
		}
	}
	return nil
}

// CheckBegun returns the error of a prior that, so many times, has learned more than the learner of
// that name.
func CheckBegun(name string, updates, prior int64, times int) error {
	if float64(prior)*float64(times) <= float64(updates) {
		return nil
	}
	return fmt.Errorf("%s: the prior has learned more than what went on from it: %w", name,
		learner.ErrPrior)
}

// CountReport adds to what was met what o had met, so many times; with less than 0 it is taken
// away.
func (p *Posterior) CountReport(o *Posterior, times int) {
	r, of := &p.Report, &o.Report
	for n, by := range map[*int64]int64{&r.Sweeps: of.Sweeps, &r.Unconverged: of.Unconverged,
		&r.Merged: of.Merged, &r.Passed: of.Passed, &r.Lost: of.Lost} {
		*n = max(0, *n+by*int64(times))
	}
}

// setMean is (3).
func (p *Posterior) setMean() {
	copy(p.Mean, p.ResidualMean)
	for i := range p.K {
		vecmath.Axpy(p.Mean, math.FMA(-p.Tau[i], p.mu[i], p.Nu[i]), p.W[i])
	}
}

// variance returns the variance of the score of the example in w.x, at least 0. It only reads the
// posterior, which has no term pending.
func (p *Posterior) variance(w *workspace) float64 {
	x, y := w.x, w.y
	vecmath.SymMul(y, p.V, p.Stride, x)
	v := vecmath.Dot(x, y)
	if k := p.K; k > 0 {
		u, su := w.u, w.coef
		clear(u)
		for i := range k {
			g := vecmath.Dot(p.W[i], x)
			u[i] = float64(p.Tau[i] * g)
			v = math.FMA(-u[i], g, v)
		}
		vecmath.LanesScore(su, p.S, p.rows[:k], u)
		v += vecmath.Dot(u[:k], su)
	}
	return max(0, v)
}

// Bytes returns the memory of the posterior.
func (p *Posterior) Bytes() int64 {
	n := primal.BytesOf(p.V) + primal.BytesOf(p.G) + primal.BytesOf(p.S) +
		6*primal.BytesOf(p.ResidualMean) + primal.BytesOf(p.Precision)
	for i := range p.X {
		n += primal.BytesOf(p.X[i]) + primal.BytesOf(p.W[i])
	}
	return n
}
