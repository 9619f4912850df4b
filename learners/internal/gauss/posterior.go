package gauss

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Posterior is what ADF, EP, window-EP and the Virtual Vector Machine share: the law of the weights
//
//	q(w) = r(w) f(x_1; w) ... f(x_k; w),   r = N(mr, Vr),   f(x; w) = eps + (1-2 eps) [w.x > 0]
//
// over k points x, each an example times its label, and its Gaussian approximation by expectation propagation (EP), in which each f is replaced by a site
// exp(nu u - tau u^2/2) of u = w.x. The prior is N(0, I) over the features, also over those that have never been seen.
//
// Reference: T. P. Minka, R. Xiang, Y. Qi, "Virtual Vector Machine for Bayesian Online Classification", UAI 2009. EP needs the points' scores u alone,
// which have the law N(a, G) under r, a = X mr, G = X Vr X^T; with T = diag(tau):
//
//	(1) S = G (I + T G)^-1,   mu = a + S (nu - T a)          law of u with the sites
//	(2) one site refined: S -= dt/(1+dt s_i) s s^T,   mu += (dn - dt mu_i)/(1+dt s_i) s,   s = S[:,i]
//	(3) mean of w: m = mr + W^T (nu - T mu),   W = X Vr;   covariance Vr - W^T (T - T S T) W
//	(4) point j evicted, which leaves q's approximation as it is: with w = W[j], g = G[:,j], den = 1 + tau_j G_jj
//	    mr += w (nu_j - tau_j a_j)/den,   Vr -= tau_j/den w w^T,   and W, G, a likewise
//	(5) points 1 and 2 merged: see merge
//
// Deviation: a site without a proper cavity, 1 - tau S_ii <= 0, is halved rather than left, and the run not converged: left alone, it was seen to stay for ever,
// away from the fixed point. Fixed points are the same.
//
// Nothing costs more than O(d^2 + k d) an example and O(k^2) a refinement for d features.
//
// Guards. Vr stays positive definite, whatever comes and in whatever units features are: with D =
// diag(Vr), the rounding errors of a change of Vr are some 2^-52 of sqrt(D_i D_j) in element i, j,
// so Vr stays definite as long as the eigenvalues of D^-1/2 Vr D^-1/2, which has no units, are far
// above d 2^-52. They are the inverses of those of D^1/2 Vr^-1 D^1/2, and of two bounds of these
// either will do:
//
//	P max_i D_i,   P = 1 + sum tau |x|^2     as Vr^-1 is at most I and the sum of tau x x^T over what (4) has absorbed with tau > 0
//	sum_i D_i (Vr^-1)_ii                     the trace, which does not depend on the units of features
//
// The first is one number to keep, the second, one a feature, is kept only once the first is too
// coarse. (4) is done if den > 0 and the bound, the strain, stays below 2^40; else the next best
// point is taken, and if none will do, one is dropped. A new point whose variance is lost in
// rounding is passed over, and (2) has the like guards in S. With eps = 0 that is where examples
// which contradict each other end. PosteriorReport counts them.
//
// All is float64. Changes wait for the pass that reads what they change: that of Vr for its product with the next example, those of S for the next
// maxLate of them or the end of a sweep.
type Posterior struct {
	Eps            float64
	Entropy        noiseEntropy
	Mr, M          []float64
	V              []float64 // Vr but for the pending term: d rows of stride, as vecmath.SymRankOneMul wants them
	Stride         int
	c              float64 // pending: Vr = V + c s s^T; 0 is none
	s              []float64
	P              float64     // bound of the largest eigenvalue of Vr^-1
	Loss           float64     // by how much variances have shrunk since W, G and a were worked out afresh, and rounding errors not
	K              int         // points
	X, W           [][]float64 // one row a point and one spare or more
	Width          int         // of rows of G and S
	G              []float64
	S              []float64 // its rows but for the pending terms, and below them maxLate columns s of (2)
	late           int       // pending: row i of S lacks steps[i][t] times the column t, 1 <= t <= late
	steps          []float64 // 1 + maxLate a row of S, the first of which is 1
	term           []int32   // a row of S, and then all columns
	a              []float64
	Tau            []float64
	Nu             []float64
	mu             []float64
	Factor         []stepFactor // of the points' cavities, as they were refined last
	tau0           []float64    // of the sites before the last point came
	nu0            []float64
	b0             []float64 // of (3): the points' coefficients nu - tau mu in the mean then
	Held           bool      // in the last sweep a site was left as it was, since rounding would have decided
	age            int64     // points added since S and mu were last worked out afresh
	rows           []int32   // 0, 1, ...
	mask           []uint64  // width ones
	row            []float64 // scratch of a row of G
	coef           []float64 // scratch of a row of G
	ScratchX, y, z []float64 // scratch of Vr's length
	Report         learner.PosteriorReport

	Noise     *NoiseEstimate // that eps follows; nil: none
	Precision []float64      // upper bounds of (Vr^-1)_ii; nil as long as P will do
	measured  int64          // changes of Vr since precision was last worked out from Vr itself
}

// posteriorFloor is the least share of a variance that is told from rounding: x'Vr x is summed from
// terms of at most sum x_i^2 D_i together, whose errors are some 2^-52 of that, so 2^-44 has 8 good
// bits.
const posteriorFloor = 0x1p-44

// maxStrain leaves 12 bits to the rounding errors of one change of Vr, 2^-52 an element of the
// scaled matrix: their matrix has a norm of at most d 2^-52, and of some sqrt(d) 2^-52 as they
// come.
const maxStrain = 0x1p40

// MaxPosteriorDim keeps the covariance matrix within a GiB.
const MaxPosteriorDim = 11584

// maxLate is how many changes of S wait: more would cost more in finding one of its columns than they save.
const maxLate = 16

func NewPosterior(eps float64, points int) *Posterior {
	p := &Posterior{Eps: eps, P: 1, Loss: 1, Entropy: newNoiseEntropy(eps)}
	p.Reserve(points)
	return p
}

// PosteriorFootprint is that of a posterior with room for n points: of no features, where they are
// too many (ErrDim).
func PosteriorFootprint(x learner.Extent, n int64) learner.Footprint {
	if x.Features > MaxPosteriorDim {
		x.Features = 0
	}
	d, unit := x.Features, int64(vecmath.LaneUnit[float64]())
	width := (n + unit - 1) / unit * unit
	matrix := learner.Times(8, d, (d+unit-1)/unit*unit)
	f := learner.Footprint{Each: matrix}
	f.Add("covariance matrix", learner.Times(d, d), matrix+64)
	if x.Growing {
		f.Moving = matrix
	}
	f.Tables(x, "means and points", 8*(7+2*n))
	each := 8*(2*width+maxLate+1+7) + 4 + int64(unsafe.Sizeof(stepFactor{})) + 2*24 + 16
	f.Add("scores of points", n, learner.Times(n, each)+8*width*(maxLate+3)+primal.Fixed)
	f.Copied(x, 8, learner.Times(8, d, d/2+4)+learner.Times(18, n, d+n))
	return f
}

// PosteriorTraits are those of the learners with a Gaussian posterior over weights: each weight's
// variance begins large and follows its feature, whatever its unit. Labels that may be wrong help
// where examples can't be taken up.
func PosteriorTraits() learner.Traits {
	t := learner.LinearTraits()
	t.Proba, t.Posterior, t.Merges, t.ScaleFree = true, true, true, true
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
		p.Noise.See(p.mu[i] / math.Sqrt(s))
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
		p.X[i], p.W[i] = make([]float64, len(p.Mr)), make([]float64, len(p.Mr))
	}
	p.G, p.S = engine.Aligned[float64](n*p.Width), engine.Aligned[float64]((n+maxLate)*p.Width)
	p.late, p.steps, p.term = 0, make([]float64, n*(1+maxLate)), make([]int32, 1+maxLate)
	for i := range n {
		p.steps[i*(1+maxLate)] = 1
	}
	for t := range maxLate {
		p.term[1+t] = int32(n + t)
	}
	p.a, p.Tau, p.Nu, p.mu = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
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
	d := len(p.Mr)
	if dim <= d {
		return nil
	}
	if dim > MaxPosteriorDim {
		return fmt.Errorf("%s: %d features, at most %d: use random features (rff), or adf with "+
			"the diagonal covariance: %w", name, dim, MaxPosteriorDim, learner.ErrDim)
	}
	p.Flush()
	old, stride := p.V, p.Stride
	p.Stride = vecmath.SymStride[float64](dim)
	p.V = engine.Aligned[float64](dim * p.Stride)
	for i := range dim {
		if row := p.V[i*p.Stride:]; i < d {
			copy(row, old[i*stride:][:vecmath.SymStride[float64](i+1)])
		} else {
			row[i] = 1
		}
	}
	for _, v := range []*[]float64{&p.Mr, &p.M, &p.s, &p.ScratchX, &p.y, &p.z} {
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

// mulV sets y = Vr x, and adds the pending term to V in the same pass. Features to come change no bits: they add zeros to sums that are never -0.
func (p *Posterior) mulV(y, x []float64) {
	vecmath.SymRankOneMul(y, p.V, p.Stride, x, -p.c, p.s)
	if p.c != 0 { // -(0*0)*0 = -0, and adding that leaves V as it is, zeros with their signs
		p.c = 0
		clear(p.s)
	}
}

// Flush adds the pending term to V, to the same bits as mulV does.
func (p *Posterior) Flush() {
	if p.c != 0 {
		p.mulV(p.z, p.Mr)
	}
}

// rank1 is Vr += c w w^T, kept pending.
func (p *Posterior) rank1(c float64, w []float64) {
	p.Flush()
	if c != 0 {
		p.c = c
		copy(p.s, w)
	}
}

// identity makes Vr the prior's.
func (p *Posterior) identity() {
	p.c = 0
	clear(p.s)
	for i := range p.Mr {
		row := p.V[i*p.Stride:]
		clear(row[:vecmath.SymStride[float64](i+1)])
		row[i] = 1
	}
}

// triangle returns the lower triangle of Vr, row by row.
func (p *Posterior) triangle() []float64 {
	p.Flush()
	t := make([]float64, 0, len(p.Mr)*(len(p.Mr)+1)/2)
	for i := range p.Mr {
		t = append(t, p.V[i*p.Stride:][:i+1]...)
	}
	return t
}

// setTriangle makes t the lower triangle of Vr.
func (p *Posterior) setTriangle(t []float64) {
	p.c = 0
	clear(p.s)
	unit := vecmath.LaneUnit[float64]()
	for i := range p.Mr {
		row := t[i*(i+1)/2:][:i+1]
		copy(p.V[i*p.Stride:], row)
		for j := i / unit * unit; j < i; j++ { // the block on the diagonal is whole
			p.V[j*p.Stride+i] = row[j]
		}
	}
}

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

// largest returns the largest element of Vr, which has no term pending.
func (p *Posterior) largest() float64 {
	top := 0.0
	for i := range p.Mr {
		top = max(top, p.V[i*p.Stride+i])
	}
	return top
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
	return Addition{x, x, Sym2{Aa: tau}, float64(max(0, tau) * vecmath.SumSq(x))}
}

// strain bounds that of the law with g, by the variances before: it is their rounding errors that
// the change brings. It is exact but for signs where precision is kept.
func (p *Posterior) strain(g *Addition) float64 {
	if p.Precision == nil {
		return float64((p.P + g.Trace) * p.largest())
	}
	sum := 0.0
	for i, q := range p.Precision {
		sum = math.FMA(p.V[i*p.Stride+i], q+g.at(i), sum)
	}
	return sum
}

// at bounds the element i, i of it, without what cancels: that is where rounding errors are.
func (g *Addition) at(i int) float64 {
	x, y := math.Abs(g.X[i]), math.Abs(g.Y[i])
	return float64(max(0, g.K.Aa)*float64(x*x)) + float64(2*math.Abs(g.K.Ab)*float64(x*y)) +
		float64(max(0, g.K.Bb)*float64(y*y))
}

// bear reports whether Vr^-1 may grow by g, and counts it. Vr has no term pending.
func (p *Posterior) bear(g *Addition) bool {
	if !(p.strain(g) < maxStrain) {
		// At most once in d changes, which is then O(d^2) a change.
		if p.Precision != nil && p.measured < int64(len(p.Mr)) {
			return false
		}
		p.measure()
		if !(p.strain(g) < maxStrain) {
			return false
		}
	}
	p.P += g.Trace
	p.measured++
	for i := range p.Precision {
		p.Precision[i] += g.at(i)
	}
	return true
}

// measure works precision out: with Vr = L L^T, (Vr^-1)_ii is the square of the length of L^-1 e_i.
// O(d^3).
func (p *Posterior) measure() {
	d := len(p.Mr)
	p.Precision, p.measured = make([]float64, d), 0
	L := cholesky(p.triangle(), d)
	y := make([]float64, d)
	for i := range d {
		p.Precision[i] = p.P // of the largest eigenvalue a bound too
		if L == nil {
			continue
		}
		y[i] = 1 / L[i*(i+1)/2+i]
		for j := i + 1; j < d; j++ {
			row := L[j*(j+1)/2:][:j+1]
			y[j] = -vecmath.Dot(row[i:j], y[i:j]) / row[j]
		}
		if v := vecmath.SumSq(y[i:]); v < p.P {
			p.Precision[i] = v
		}
	}
}

// Blurred reports whether the rounding errors in W could make Vr indefinite when it changes by the
// images of g's points. Since W was worked out afresh variances have shrunk by a factor of loss at
// most, so an image w = Vr x is off by some loss 2^-53 sqrt(D_i x'Vr x) in element i; in the metric
// of the new Vr that moves its least eigenvalue by a share of loss 2^-52 sqrt(den strain), den <=
// strain after the change: less than 2^-6.
func (p *Posterior) Blurred(g *Addition) bool {
	return !(float64(p.Loss*p.strain(g)) < maxBlur)
}

// maxBlur bounds the product of the strain and of that by which rounding errors have grown.
const maxBlur = 0x1p46

// derive works out the point j's part in W, G and a afresh.
func (p *Posterior) derive(j int) {
	p.mulV(p.W[j], p.X[j])
	for i := range p.K {
		g := vecmath.Dot(p.X[i], p.W[j])
		p.G[i*p.Width+j], p.G[j*p.Width+i] = g, g
	}
	p.a[j] = vecmath.Dot(p.Mr, p.X[j])
}

// DeriveAll works out W, G, a, S and mu afresh.
func (p *Posterior) DeriveAll() {
	for j := range p.K {
		p.derive(j)
	}
	p.Loss = 1
	p.Refresh()
}

// maxLoss is the loss after which all is worked out afresh: images are then off by 2^-27 of
// themselves, half of the digits.
const maxLoss = 0x1p26

// Variances of a point beyond these are passed over, far from where products of a few of them leave
// the numbers. The likelihood does not know the length of w, so that labels which contradict each
// other under too small an eps let mean and covariance shrink for ever, some 2^-400 in 10^4
// examples. To multiply them back would go on for ever, too, but not better: with 10 % flips under
// eps = 0.001 the error rate (gen gauss -n 100000, 2 and 20 features, --distance 3 and 6) is 21,
// 15, 22 and 15 %, where the law that stays as it is has 17, 10, 31 and 15 %. Report counts them,
// and the cause is eps.
const LeastVariance, MostVariance = 0x1p-400, 0x1p400

// Add makes X[k], which the caller has filled, a point without a site. It reports whether it is one.
func (p *Posterior) Add() bool {
	k := p.K
	x, w := p.X[k], p.W[k]
	if p.Loss > maxLoss {
		p.DeriveAll()
	}
	p.mulV(w, x)
	v := vecmath.Dot(x, w)
	floor := p.floor(x)
	if floor == 0 {
		return false // no features
	}
	if !(v > floor && v > LeastVariance && v < MostVariance) {
		p.Report.Passed++
		return false
	}
	for j := range k {
		g := vecmath.Dot(p.W[j], x)
		p.G[k*p.Width+j], p.G[j*p.Width+k] = g, g
	}
	p.G[k*p.Width+k] = v
	p.a[k] = vecmath.Dot(p.Mr, x)
	p.Tau[k], p.Nu[k] = 0, 0
	// The new row of S: g - S T g, and v - (T g).(g - S T g).
	g, u, sites := p.G[k*p.Width:][:p.Width], p.row, false
	clear(u)
	for j, tau := range p.Tau[:k] {
		u[j] = float64(tau * g[j])
		sites = sites || tau != 0
	}
	row := p.S[k*p.Width:][:p.Width]
	copy(row, g)
	if sites {
		vecmath.LanesScoreUnchecked(trusted.Indices{}, p.coef, p.S, p.rows[:k], u)
		vecmath.Axpy(row[:k], -1, p.coef)
		row[k] -= vecmath.Dot(u[:k], row)
	}
	for j, v := range row[:k] {
		p.S[j*p.Width+k] = v
	}
	p.mu[k] = vecmath.Dot(p.M, x)
	p.K++
	if p.age++; p.age >= refreshEvery {
		p.Refresh()
	}
	return true
}

// refreshEvery so many points S and mu are worked out afresh, so that rounding does not add up.
const refreshEvery = 64

// Refresh is (1), site by site, those with tau > 0 first: then every step on the way is positive definite if the end is.
func (p *Posterior) Refresh() {
	k := p.K
	p.late = 0
	copy(p.S[:k*p.Width], p.G)
	copy(p.mu, p.a[:k])
	for i, tau := range p.Tau[:k] {
		if tau > 0 {
			p.update(i, tau, p.Nu[i])
		}
	}
	for i, tau := range p.Tau[:k] {
		if !(tau > 0) && (tau != 0 || p.Nu[i] != 0) {
			p.update(i, tau, p.Nu[i])
		}
	}
	p.settle()
	p.age = 0
}

// column sets dst to row i of S, with what is pending.
func (p *Posterior) column(dst []float64, i int) {
	p.term[0] = int32(i)
	vecmath.LanesScoreUnchecked(trusted.Indices{}, dst, p.S, p.term[:1+p.late],
		p.steps[i*(1+maxLate):][:1+p.late])
}

// Spread returns S_ii, with what is pending.
func (p *Posterior) Spread(i int) float64 {
	v, at := p.S[i*p.Width+i], len(p.X)*p.Width+i
	for _, c := range p.steps[i*(1+maxLate)+1:][:p.late] {
		v = math.FMA(c, p.S[at], v)
		at += p.Width
	}
	return v
}

// update is (2), where the change of S is kept pending.
func (p *Posterior) update(i int, dt, dn float64) {
	s := p.S[(len(p.X)+p.late)*p.Width:][:p.Width]
	p.column(s, i)
	den := math.FMA(dt, s[i], 1)
	b := math.FMA(-dt, p.mu[i], dn) / den
	c := -dt / den
	p.late++
	for l, v := range s[:p.K] {
		p.steps[l*(1+maxLate)+p.late] = float64(c * v)
	}
	vecmath.Axpy(p.mu[:p.K], b, s)
	if p.late == maxLate {
		p.settle()
	}
}

// settle adds what is pending to S.
func (p *Posterior) settle() {
	if p.late == 0 {
		return
	}
	for i := range p.K {
		p.column(p.S[i*p.Width:][:p.Width], i)
	}
	p.late = 0
}

// Cavity returns the law N(mc, vc) of u_i, whose variance is s, without the site i. ok is false if there is none.
func (p *Posterior) Cavity(i int, s float64) (mc, vc float64, ok bool) {
	if !(s > float64(posteriorFloor*p.G[i*p.Width+i])) {
		return 0, 0, false
	}
	q := math.FMA(-p.Tau[i], s, 1)
	if !(q > 0) {
		return 0, 0, false
	}
	return math.FMA(-p.Nu[i], s, p.mu[i]) / q, s / q, true
}

// proposal returns by how much the site i differs from that of its cavity's moments: change in units of its point's standard deviation. s is S_ii.
func (p *Posterior) proposal(i int, s float64) (dt, dn, change float64) {
	mc, vc, ok := p.Cavity(i, s)
	f := &p.Factor[i]
	if !ok {
		f.Z = math.Inf(-1)
		if q := math.FMA(-p.Tau[i], s, 1); q <= 0 { // the other sites tell less than nothing: half of this one goes, lest it stays
			return -0.5 * p.Tau[i], -0.5 * p.Nu[i], math.Inf(1)
		}
		p.Held = true
		return 0, 0, 0
	}
	*f = NewStepFactor(mc/math.Sqrt(vc), p.Eps)
	tau, nu := f.site(vc)
	dt, dn = tau-p.Tau[i], nu-p.Nu[i]
	return dt, dn, max(math.Abs(float64(dt*s)), math.Abs(float64(dn*math.Sqrt(s))))
}

// refine moves the site i by the share damping towards that of its cavity's moments and returns how far off it was. Less than least is left alone.
func (p *Posterior) refine(i int, damping, least float64) float64 {
	s := p.Spread(i)
	dt, dn, change := p.proposal(i, s)
	if change <= least && (p.Tau[i] != 0 || change == 0) { // a new point's site is made, be it small: it is evicted once
		return change
	}
	dt, dn = float64(damping*dt), float64(damping*dn)
	den := math.FMA(dt, s, 1)
	if !(den > 0 && s > float64(float64(posteriorFloor*den)*p.G[i*p.Width+i]) && dn-dn == 0) {
		p.Held = true
		return 0
	}
	p.update(i, dt, dn)
	p.Tau[i] += dt
	p.Nu[i] += dn
	return change
}

// setMean is (3).
func (p *Posterior) setMean() {
	copy(p.M, p.Mr)
	for i := range p.K {
		vecmath.Axpy(p.M, math.FMA(-p.Tau[i], p.mu[i], p.Nu[i]), p.W[i])
	}
}

// variance returns the variance of w.x, at least 0. It leaves the law as it is.
func (p *Posterior) variance(x []float64) float64 {
	p.mulV(p.y, x)
	v := vecmath.Dot(x, p.y)
	if k := p.K; k > 0 {
		u, su := p.row, p.coef
		clear(u)
		for i := range k {
			g := vecmath.Dot(p.W[i], x)
			u[i] = float64(p.Tau[i] * g)
			v = math.FMA(-u[i], g, v)
		}
		vecmath.LanesScoreUnchecked(trusted.Indices{}, su, p.S, p.rows[:k], u)
		v += vecmath.Dot(u[:k], su)
	}
	return max(0, v)
}

// Absorb is (4). It reports whether the guards let it.
func (p *Posterior) Absorb(j int) bool {
	p.Flush()
	g := SiteAddition(p.X[j], p.Tau[j])
	if p.Blurred(&g) {
		p.derive(j)
	}
	w, row := p.W[j], p.row
	copy(row, p.G[j*p.Width:][:p.Width])
	den := math.FMA(p.Tau[j], row[j], 1)
	b, c := math.FMA(-p.Tau[j], p.a[j], p.Nu[j])/den, p.Tau[j]/den
	if !(den > 0) || b-b != 0 || c-c != 0 || !p.bear(&g) {
		return false
	}
	p.drop(j)
	k := p.K
	copy(row[j:k], row[j+1:k+1])
	clear(row[k:])
	for i := range k {
		vecmath.Axpy(p.W[i], float64(-c*row[i]), w)
	}
	for l, v := range row {
		p.coef[l] = float64(-c * v)
	}
	vecmath.LanesUpdateUnchecked(trusted.Indices{}, p.G, p.rows[:k], row, p.coef, p.mask)
	vecmath.Axpy(p.a[:k], b, row)
	vecmath.Axpy(p.Mr, b, w)
	p.rank1(-c, w)
	p.Loss *= max(1, den)
	return true
}

// Lose drops point j and all that it tells.
func (p *Posterior) Lose(j int) {
	p.drop(j)
	p.Report.Lost++
	p.Refresh()
	p.setMean()
}

// drop takes point j away. Its rows of X and W stay where they can be read, beyond the others.
func (p *Posterior) drop(j int) {
	p.last(j)
	p.K--
	for i := range p.K + 1 { // no old numbers beyond the points, where kernels work on them
		p.G[i*p.Width+p.K], p.S[i*p.Width+p.K] = 0, 0
	}
}

// last makes point j the last one.
func (p *Posterior) last(j int) {
	k := p.K
	rotate(p.X[j:k])
	rotate(p.W[j:k])
	rotate(p.a[j:k])
	rotate(p.Tau[j:k])
	rotate(p.Nu[j:k])
	rotate(p.mu[j:k])
	for _, m := range [...][]float64{p.G, p.S} {
		for i := range k {
			rotate(m[i*p.Width:][j:k])
		}
		copy(p.coef, m[j*p.Width:][:p.Width])
		copy(m[j*p.Width:], m[(j+1)*p.Width:k*p.Width])
		copy(m[(k-1)*p.Width:], p.coef)
	}
}

// rotate moves the first element to the end.
func rotate[E any](s []E) {
	first := s[0]
	copy(s, s[1:])
	s[len(s)-1] = first
}

// TwoPoints is what merging of the points i < j comes to.
type TwoPoints struct {
	I, J    int
	Gain    float64 // of the sum of KL, negative
	tau, nu float64 // of the merged point's site
	K2      Sym2
	k1      Pair
	Grows   Addition // what is added to Vr^-1
	lost    float64  // share of K2's digits that cancelled, as cancelledIn has it
}

// TryMerge works out (5): points 1 and 2 become b = (x_1 + x_2)/2 and a Gaussian g(u_1, u_2) such that f(b) g has the moments that f_1 f_2 has in q
// without their sites. kl holds the points' scores (13). ok is false if there is none, or none that keeps r proper.
func (p *Posterior) TryMerge(i, j int, kl []float64) (t TwoPoints, ok bool) {
	at := func(m []float64) Sym2 { return Sym2{m[i*p.Width+i], m[i*p.Width+j], m[j*p.Width+j]} }
	// The cavity of the pair: (S^-1 - T)^-1, mu - Sc (nu - T mu).
	Sc, ok := InverseOfSum(at(p.S), Sym2{-p.Tau[i], 0, -p.Tau[j]})
	if !ok {
		return t, false
	}
	d := Sc.Mul(Pair{math.FMA(-p.Tau[i], p.mu[i], p.Nu[i]), math.FMA(-p.Tau[j], p.mu[j], p.Nu[j])})
	muc := Pair{p.mu[i] - d.A, p.mu[j] - d.B}
	_, gamma, H, ok := twoStep(muc, Sc, p.Eps)
	if !ok {
		return t, false
	}
	d, c := Sc.Mul(gamma), Sc.sandwich(H)
	mun, Sn := Pair{muc.A + d.A, muc.B + d.B}, Sym2{Sc.Aa + c.Aa, Sc.Ab + c.Ab, Sc.Bb + c.Bb}
	// (26), (27): the cavity of b on which one step has these moments.
	mNew, vNew := 0.5*(mun.A+mun.B), 0.25*(Sn.Aa+2*Sn.Ab+Sn.Bb)
	f, mh, vh, ok := inverseADF(mNew, vNew, p.Eps)
	if !ok || mh-mh != 0 {
		return t, false
	}
	t.I, t.J = i, j
	t.tau, t.nu = f.site(vh)
	t.Gain = f.KlWith(p.Entropy) - kl[i] - kl[j]
	// g = exp(k.u - u.K u/2): K0 = Sn^-1 - Sc^-1 less the site of b.
	K0, ok := InverseOfSum(H, Sc)
	if !ok {
		return t, false
	}
	K := Sym2{-K0.Aa - 0.25*t.tau, -K0.Ab - 0.25*t.tau, -K0.Bb - 0.25*t.tau}
	k := Sym2{-K0.Aa, -K0.Ab, -K0.Bb}.Mul(mun)
	k = Pair{k.A + gamma.A - 0.5*t.nu, k.B + gamma.B - 0.5*t.nu}
	// K2 = K (I + G2 K)^-1, k1 = (I + K G2)^-1 (k - K a2) = (I - K2 G2) (k - K a2)
	G2 := at(p.G)
	t.K2, ok = InverseOfSum(K, G2)
	if !ok {
		return t, false
	}
	t.lost = cancelledIn(K, G2)
	n1, n2 := vecmath.SumSq(p.X[i]), vecmath.SumSq(p.X[j])
	trace := float64(max(0, K.Aa)*n1) + float64(max(0, K.Bb)*n2)
	trace += float64(2 * math.Abs(K.Ab) * math.Sqrt(float64(n1*n2)))
	t.Grows = Addition{p.X[i], p.X[j], K, trace}
	Ka := K.Mul(Pair{p.a[i], p.a[j]})
	e := Pair{k.A - Ka.A, k.B - Ka.B}
	ge := G2.Mul(e)
	ke := t.K2.Mul(ge)
	t.k1 = Pair{e.A - ke.A, e.B - ke.B}
	for _, v := range [...]float64{t.Gain, t.tau, t.nu, t.K2.Aa, t.K2.Ab, t.K2.Bb, t.k1.A, t.k1.B,
		trace} {
		if v-v != 0 {
			return t, false
		}
	}
	return t, true
}

// InverseOfSum returns (A^-1 + B)^-1 = (A + |A| adj B)/|I + A B|, also for a singular A. ok is false unless I + A B has positive eigenvalues.
func InverseOfSum(A, B Sym2) (Sym2, bool) {
	a := A.det()
	trace := float64(A.Aa*B.Aa) + float64(2*A.Ab*B.Ab) + float64(A.Bb*B.Bb)
	det := 1 + trace + float64(a*B.det())
	if !(det > 0x1p-30 && 2+trace > 0) { // of the digits of 1, 22 are left at least
		return Sym2{}, false
	}
	return Sym2{math.FMA(a, B.Bb, A.Aa) / det, math.FMA(-a, B.Ab, A.Ab) / det, math.FMA(a, B.Aa, A.Bb) / det}, true
}

// cancelledIn returns how much larger the terms of |I + A B| are together than their sum: the
// determinant, and what inverseOfSum makes with it, has errors of some 2^-52 of that.
func cancelledIn(A, B Sym2) float64 {
	abs := func(m Sym2) float64 { return math.Abs(float64(m.Aa*m.Bb)) + float64(m.Ab*m.Ab) }
	aa, ab, bb := float64(A.Aa*B.Aa), float64(2*A.Ab*B.Ab), float64(A.Bb*B.Bb)
	terms := 1 + math.Abs(aa) + math.Abs(ab) + math.Abs(bb) + float64(abs(A)*abs(B))
	return terms / (1 + aa + ab + bb + float64(A.det()*B.det()))
}

// Merge does what tryMerge worked out, if the covariance bears it:
//
//	mr += W2^T k1,   Vr -= W2^T K2 W2,   W -= G[:,12] K2 W2,   G -= G[:,12] K2 G[:,12]^T,   a += G[:,12] k1
//
// Then b, the last point from now on, has the mean of the rows 1 and 2.
func (p *Posterior) Merge(t *TwoPoints) bool {
	p.Flush()
	if !(float64(t.lost*p.strain(&t.Grows)) < maxBlur) { // K2 is as inexact as images may be
		return false
	}
	if !p.bear(&t.Grows) {
		return false
	}
	i, j, k, w := t.I, t.J, p.K, p.Width
	gi, gj := p.row, p.coef
	copy(gi, p.G[i*w:][:w])
	copy(gj, p.G[j*w:][:w])
	wi, wj := p.ScratchX, p.y
	copy(wi, p.W[i])
	copy(wj, p.W[j])
	for l := range k {
		u := t.K2.Mul(Pair{gi[l], gj[l]})
		vecmath.Axpy(p.W[l], -u.A, wi)
		vecmath.Axpy(p.W[l], -u.B, wj)
		vecmath.Axpy(p.G[l*w:][:k], -u.A, gi)
		vecmath.Axpy(p.G[l*w:][:k], -u.B, gj)
		p.a[l] = math.FMA(gi[l], t.k1.A, math.FMA(gj[l], t.k1.B, p.a[l]))
	}
	vecmath.Axpy(p.Mr, t.k1.A, wi)
	vecmath.Axpy(p.Mr, t.k1.B, wj)
	// K2 = l1 e1 e1^T + l2 e2 e2^T by a Jacobi rotation
	l1, l2, cs, sn := t.K2.Aa, t.K2.Bb, 1.0, 0.0
	if t.K2.Ab != 0 {
		q := (l2 - l1) / (2 * t.K2.Ab)
		tan := math.Copysign(1/(math.Abs(q)+math.Sqrt(math.FMA(q, q, 1))), q)
		l1, l2 = math.FMA(-tan, t.K2.Ab, l1), math.FMA(tan, t.K2.Ab, l2)
		cs = 1 / math.Sqrt(math.FMA(tan, tan, 1))
		sn = float64(tan * cs)
	}
	first := l1 <= l2 // the one that adds variance first
	for range 2 {
		l, ci, cj := l2, sn, cs
		if first {
			l, ci, cj = l1, cs, -sn
		}
		p.Flush() // which needs z
		clear(p.z)
		vecmath.Axpy(p.z, ci, wi)
		vecmath.Axpy(p.z, cj, wj)
		p.rank1(-l, p.z)
		first = !first
	}
	// b takes the place of i
	for l := range p.X[i] {
		p.X[i][l] = 0.5 * (p.X[i][l] + p.X[j][l])
		p.W[i][l] = 0.5 * (p.W[i][l] + p.W[j][l])
	}
	for l := range k {
		p.G[i*w+l] = 0.5 * (p.G[i*w+l] + p.G[j*w+l])
	}
	for l := range k {
		p.G[l*w+i] = 0.5 * (p.G[l*w+i] + p.G[l*w+j])
	}
	p.a[i] = 0.5 * (p.a[i] + p.a[j])
	p.Tau[i], p.Nu[i] = t.tau, t.nu
	p.drop(j)
	p.last(i)
	p.Report.Merged++
	p.Loss = 2 * maxLoss
	p.Refresh()
	p.setMean()
	return true
}

// posteriorTensors are the parts of a State.
var posteriorTensors = []string{"w", "residual_mean", "residual_cov", "points", "images", "gram",
	"scores_cov", "point_means", "tau", "nu", "scores_mean"}

// packed returns what they hold.
func (p *Posterior) packed() [][]float64 {
	k := p.K
	X, W, G, S := []float64{}, []float64{}, []float64{}, []float64{}
	for i := range k {
		X, W = append(X, p.X[i]...), append(W, p.W[i]...)
		G, S = append(G, p.G[i*p.Width:][:k]...), append(S, p.S[i*p.Width:][:k]...)
	}
	return [][]float64{slices.Clone(p.M), slices.Clone(p.Mr), p.triangle(), X, W, G, S,
		slices.Clone(p.a[:k]), slices.Clone(p.Tau[:k]), slices.Clone(p.Nu[:k]),
		slices.Clone(p.mu[:k])}
}

// Fields walks the law, of at most points points.
func (p *Posterior) Fields(c *learner.Codec, points int) {
	data := make([][]float64, len(posteriorTensors))
	if c.Writing() {
		data = p.packed()
	}
	for i, n := range posteriorTensors {
		data[i] = learner.View(c, n, data[i])
		learner.Finite(c, n, data[i])
	}
	d, k := len(data[0]), len(data[7])
	for i, n := range []int{d, d, d * (d + 1) / 2, k * d, k * d, k * k, k * k, k, k, k, k} {
		c.Want(d <= MaxPosteriorDim && k <= points && len(data[i]) == n,
			"tensor %q has %d elements for %d features and %d points of at most %d",
			posteriorTensors[i], len(data[i]), d, k, points)
	}
	if c.Reading() {
		checkCovariances(c, data[2], d)
	}
	if c.Keeping() {
		next := NewPosterior(p.Eps, len(p.X))
		next.Noise = p.Noise
		err := next.Grow("", d)
		c.Want(err == nil, "%w", err)
		c.Then(func() {
			next.unpack(data)
			*p = *next
		})
	}
	// what follows is stored into the new law
	P, loss := c.Scalar("precision", &p.P), c.Scalar("loss", &p.Loss)
	c.Want(P >= 1 && loss >= 1, "precision is %v and loss %v, want numbers >= 1", P, loss)
	if c.Optional("precisions", p.Precision != nil) { // since P alone was too coarse
		v := learner.Vector(c, "precisions", &p.Precision)
		learner.Finite(c, "precisions", v)
		c.Want(len(v) == d && !slices.ContainsFunc(v, func(x float64) bool { return x <= 0 }),
			"tensor %q has %d elements for %d features, or one that is not > 0", "precisions",
			len(v), d)
		learner.Count(c, "measured", &p.measured)
	}
	r := &p.Report
	learner.Count(c, "sweeps", &r.Sweeps)
	learner.Count(c, "unconverged", &r.Unconverged)
	learner.Count(c, "merged", &r.Merged)
	learner.Count(c, "passed", &r.Passed)
	learner.Count(c, "lost", &r.Lost)
	learner.Count(c, "age", &p.age)
	p.Noise.Fields(c, p.SetNoise)
}

// checkCovariances wants the lower triangle of a matrix of d rows to have variances > 0, and no
// covariance that is more than they allow, rounding aside.
func checkCovariances(c *learner.Codec, triangle []float64, d int) {
	for i := range d {
		row := triangle[i*(i+1)/2:][:i+1]
		if !c.Want(row[i] > 0, "the variance of weight %d is %v", i, row[i]) {
			return
		}
		for j, v := range row[:i] {
			limit := float64(math.Sqrt(row[i]) * math.Sqrt(triangle[j*(j+1)/2+j]))
			if math.Abs(v) > 1.001*limit {
				c.Want(false, "the covariance of weights %d and %d is %v, their variances allow %v",
					j, i, v, limit)
				return
			}
		}
	}
}

// unpack is the inverse of packed, for a new law with room for it.
func (p *Posterior) unpack(data [][]float64) {
	d, k := len(data[0]), len(data[7])
	copy(p.M, data[0])
	copy(p.Mr, data[1])
	p.setTriangle(data[2])
	for i := range k {
		copy(p.X[i], data[3][i*d:])
		copy(p.W[i], data[4][i*d:])
		copy(p.G[i*p.Width:], data[5][i*k:][:k])
		copy(p.S[i*p.Width:], data[6][i*k:][:k])
	}
	copy(p.a, data[7])
	copy(p.Tau, data[8])
	copy(p.Nu, data[9])
	copy(p.mu, data[10])
	p.K = k
}

// Bytes returns the memory of the law.
func (p *Posterior) Bytes() int64 {
	n := primal.BytesOf(p.V) + primal.BytesOf(p.G) + primal.BytesOf(p.S) + 6*primal.BytesOf(p.Mr) + primal.BytesOf(p.Precision)
	for i := range p.X {
		n += primal.BytesOf(p.X[i]) + primal.BytesOf(p.W[i])
	}
	return n
}

// Sites are points with sites that were all absorbed: r = N(mr, Vr) is the approximation of q. In this form, for more points than features, a refinement
// costs O(d^2). The posterior has room for one point, which is added with the share of its site that changes and absorbed at once.
type Sites struct {
	X       [][]float64
	Tau, Nu []float64
}

// Rebuild makes the law that of the prior and the sites, those with tau > 0 first, and sets
// report.Lost to the number of those that it could not absorb.
func (p *Posterior) Rebuild(t *Sites) {
	clear(p.Mr)
	p.identity()
	p.P, p.Loss, p.Precision = 1, 1, nil
	passed := p.Report.Passed
	p.Report.Lost = 0
	for _, positive := range [...]bool{true, false} {
		for i, x := range t.X {
			if (t.Tau[i] > 0) != positive || t.Tau[i] == 0 && t.Nu[i] == 0 {
				continue
			}
			copy(p.X[0], x)
			if !p.Add() { // with a site it has features
				p.Report.Lost++
				continue
			}
			p.Tau[0], p.Nu[0] = t.Tau[i], t.Nu[i]
			if !p.Absorb(0) {
				p.drop(0)
				p.Report.Lost++
			}
		}
	}
	p.Report.Passed = passed
	copy(p.M, p.Mr)
}

// SweepAbsorbed is sweep for absorbed sites.
func (p *Posterior) SweepAbsorbed(ctx context.Context, t *Sites, e *EpSettings, damping float64) bool {
	worst, passed := 0.0, int64(0)
	p.Held = false
	for i, x := range t.X {
		if i%64 == 63 && ctx.Err() != nil {
			return false
		}
		copy(p.X[0], x)
		before := p.Report.Passed
		if !p.Add() {
			passed += p.Report.Passed - before
			p.Report.Passed = before
			continue
		}
		p.mu[0], p.Tau[0], p.Nu[0] = p.a[0], t.Tau[i], t.Nu[i]
		dt, dn, change := p.proposal(0, p.S[0])
		worst = max(worst, change)
		p.Tau[0], p.Nu[0] = float64(damping*dt), float64(damping*dn)
		if change <= e.Tolerance/leave || !p.Absorb(0) {
			p.drop(0)
			continue
		}
		t.Tau[i] += float64(damping * dt)
		t.Nu[i] += float64(damping * dn)
	}
	p.Report.Sweeps++
	p.Report.Passed = passed // of one sweep
	copy(p.M, p.Mr)
	return worst < e.Tolerance
}

// Multiply makes r the product of the two residuals over the prior, in which the prior counts once:
//
//	Vr^-1 = Vr1^-1 + Vr2^-1 - I,   Vr^-1 mr = Vr1^-1 mr1 + Vr2^-1 mr2
//
// and works out the points' part afresh. It fails, and changes nothing, if that is no law, or one that rounding would decide. O(d^3).
func (p *Posterior) Multiply(name string, o *Posterior) error {
	d := len(p.Mr)
	if err := o.Grow(name, d); err != nil {
		return err
	}
	A, A2 := inverse(p.triangle(), d), inverse(o.triangle(), d)
	if A == nil || A2 == nil {
		return fmt.Errorf("%s: a covariance is not positive definite to rounding: %w", name, learner.ErrPrior)
	}
	b := make([]float64, d)
	symMulAdd(b, A, p.Mr)
	symMulAdd(b, A2, o.Mr)
	vecmath.Axpy(A, 1, A2)
	for i := range d {
		A[i*(i+1)/2+i]--
	}
	V := inverse(A, d)
	P, top, strain, precision := p.P+o.P-1, 0.0, 0.0, []float64(nil)
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
		return fmt.Errorf("%s: the product of the posteriors is not a law to rounding: %w", name, learner.ErrPrior)
	}
	clear(p.Mr)
	symMulAdd(p.Mr, V, b)
	p.setTriangle(V)
	p.P, p.Precision, p.measured = P, precision, 0
	p.DeriveAll()
	p.setMean()
	return nil
}

// symMulAdd is y += M x for a symmetric M, of which there is the lower triangle row by row.
func symMulAdd(y, M, x []float64) {
	for i, xi := range x {
		row := M[i*(i+1)/2:][:i+1]
		y[i] += math.FMA(row[i], xi, vecmath.Dot(row[:i], x))
		vecmath.Axpy(y[:i], xi, row)
	}
}

// cholesky returns the lower triangular L with L L^T = M, both row by row, or nil if M is not
// positive definite.
func cholesky(M []float64, d int) []float64 {
	at := func(i int) int { return i * (i + 1) / 2 }
	L := slices.Clone(M[:at(d)])
	for i := range d {
		row := L[at(i):][:i+1]
		for j := range i {
			row[j] = (row[j] - vecmath.Dot(row[:j], L[at(j):])) / L[at(j)+j]
		}
		v := row[i] - vecmath.SumSq(row[:i])
		if !(v > 0) || math.IsInf(v, 0) {
			return nil
		}
		row[i] = math.Sqrt(v)
	}
	return L
}

// inverse returns the inverse of a symmetric matrix, both as lower triangles row by row, or nil if
// it is not positive definite: by its Cholesky factor L and the inverse of that.
func inverse(M []float64, d int) []float64 {
	at := func(i int) int { return i * (i + 1) / 2 }
	L := cholesky(M, d)
	if L == nil {
		return nil
	}
	// Row i of L^-1 is (e_i - sum_{j<i} L_ij row j)/L_ii; M^-1 is the sum of the rows' squares.
	inv, R := make([]float64, at(d)), make([]float64, at(d))
	for i := range d {
		row := R[at(i):][:i+1]
		for j := range i {
			vecmath.Axpy(row[:j+1], -L[at(i)+j], R[at(j):])
		}
		row[i] = 1
		vecmath.Scal(row, 1/L[at(i)+i])
		for j, v := range row {
			vecmath.Axpy(inv[at(j):][:j+1], v, row)
		}
	}
	return inv
}
