package learners

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// posterior is what ADF, EP, window-EP and the Virtual Vector Machine share: the law of the weights
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
type posterior struct {
	eps     float64
	entropy noiseEntropy
	mr, m   []float64
	V       []float64 // Vr but for the pending term: d rows of stride, as vecmath.SymRankOneMul wants them
	stride  int
	c       float64 // pending: Vr = V + c s s^T; 0 is none
	s       []float64
	P       float64     // bound of the largest eigenvalue of Vr^-1
	loss    float64     // by how much variances have shrunk since W, G and a were worked out afresh, and rounding errors not
	k       int         // points
	X, W    [][]float64 // one row a point and one spare or more
	width   int         // of rows of G and S
	G       []float64
	S       []float64 // its rows but for the pending terms, and below them maxLate columns s of (2)
	late    int       // pending: row i of S lacks steps[i][t] times the column t, 1 <= t <= late
	steps   []float64 // 1 + maxLate a row of S, the first of which is 1
	term    []int32   // a row of S, and then all columns
	a       []float64
	tau     []float64
	nu      []float64
	mu      []float64
	factor  []stepFactor // of the points' cavities, as they were refined last
	tau0    []float64    // of the sites before the last point came
	nu0     []float64
	b0      []float64 // of (3): the points' coefficients nu - tau mu in the mean then
	held    bool      // in the last sweep a site was left as it was, since rounding would have decided
	age     int64     // points added since S and mu were last worked out afresh
	rows    []int32   // 0, 1, ...
	mask    []uint64  // width ones
	row     []float64 // scratch of a row of G
	coef    []float64 // scratch of a row of G
	x, y, z []float64 // scratch of Vr's length
	report  PosteriorReport

	noise     *noiseEstimate // that eps follows; nil: none
	precision []float64      // upper bounds of (Vr^-1)_ii; nil as long as P will do
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

// maxPosteriorDim keeps the covariance matrix within a GiB.
const maxPosteriorDim = 11584

// maxLate is how many changes of S wait: more would cost more in finding one of its columns than they save.
const maxLate = 16

func newPosterior(eps float64, points int) *posterior {
	p := &posterior{eps: eps, P: 1, loss: 1, entropy: newNoiseEntropy(eps)}
	p.reserve(points)
	return p
}

// posteriorFootprint is that of a posterior with room for n points: of no features, where they are
// too many (ErrDim).
func posteriorFootprint(x Extent, n int64) Footprint {
	if x.Features > maxPosteriorDim {
		x.Features = 0
	}
	d, unit := x.Features, int64(vecmath.LaneUnit[float64]())
	width := (n + unit - 1) / unit * unit
	matrix := times(8, d, (d+unit-1)/unit*unit)
	f := Footprint{Each: matrix}
	f.Add("covariance matrix", times(d, d), matrix+64)
	if x.Growing {
		f.Moving = matrix
	}
	f.Tables(x, "means and points", 8*(7+2*n))
	each := 8*(2*width+maxLate+1+7) + 4 + int64(unsafe.Sizeof(stepFactor{})) + 2*24 + 16
	f.Add("scores of points", n, times(n, each)+8*width*(maxLate+3)+fixed)
	f.Copied(x, 8, times(8, d, d/2+4)+times(18, n, d+n))
	return f
}

// posteriorTraits are those of the learners with a Gaussian posterior over weights: each weight's
// variance begins large and follows its feature, whatever its unit. Labels that may be wrong help
// where examples can't be taken up.
func posteriorTraits() Traits {
	t := learner.LinearTraits()
	t.Proba, t.Posterior, t.Merges, t.ScaleFree = true, true, true, true
	t.Remedies = []Remedy{{Change: "raise", Setting: "label-noise"}}
	return t
}

// setNoise makes eps the rate of wrong labels.
func (p *posterior) setNoise(eps float64) {
	p.eps, p.entropy = eps, newNoiseEntropy(eps)
}

// estimateNoise lets the estimate of eps, if there is one, see the new point, which has no site
// yet.
func (p *posterior) estimateNoise() {
	if p.noise == nil {
		return
	}
	i := p.k - 1
	if s := p.spread(i); s > 0 {
		p.noise.see(p.mu[i] / math.Sqrt(s))
		p.setNoise(p.noise.rate)
	}
}

// reserve makes room for n points. It forgets those that there are.
func (p *posterior) reserve(n int) {
	p.k = 0
	unit := vecmath.LaneUnit[float64]()
	p.width = (n + unit - 1) / unit * unit
	p.X, p.W = make([][]float64, n), make([][]float64, n)
	for i := range n {
		p.X[i], p.W[i] = make([]float64, len(p.mr)), make([]float64, len(p.mr))
	}
	p.G, p.S = engine.Aligned[float64](n*p.width), engine.Aligned[float64]((n+maxLate)*p.width)
	p.late, p.steps, p.term = 0, make([]float64, n*(1+maxLate)), make([]int32, 1+maxLate)
	for i := range n {
		p.steps[i*(1+maxLate)] = 1
	}
	for t := range maxLate {
		p.term[1+t] = int32(n + t)
	}
	p.a, p.tau, p.nu, p.mu = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.tau0, p.nu0, p.b0 = make([]float64, n), make([]float64, n), make([]float64, n)
	p.row, p.coef = engine.Aligned[float64](p.width), engine.Aligned[float64](p.width)
	p.rows = make([]int32, n)
	for i := range p.rows {
		p.rows[i] = int32(i)
	}
	p.mask = make([]uint64, vecmath.MaskWords(p.width))
	for i := range p.width {
		p.mask[i/64] |= 1 << (i % 64)
	}
	p.factor, p.age = make([]stepFactor, n), 0
}

// grow brings the features to dim; new ones have the prior.
func (p *posterior) grow(name string, dim int) error {
	d := len(p.mr)
	if dim <= d {
		return nil
	}
	if dim > maxPosteriorDim {
		return fmt.Errorf("%s: %d features, at most %d: use random features (rff), or adf with "+
			"the diagonal covariance: %w", name, dim, maxPosteriorDim, ErrDim)
	}
	p.flush()
	old, stride := p.V, p.stride
	p.stride = vecmath.SymStride[float64](dim)
	p.V = engine.Aligned[float64](dim * p.stride)
	for i := range dim {
		if row := p.V[i*p.stride:]; i < d {
			copy(row, old[i*stride:][:vecmath.SymStride[float64](i+1)])
		} else {
			row[i] = 1
		}
	}
	for _, v := range []*[]float64{&p.mr, &p.m, &p.s, &p.x, &p.y, &p.z} {
		*v = grown(*v, dim)
	}
	for i := range p.X {
		p.X[i], p.W[i] = grown(p.X[i], dim), grown(p.W[i], dim)
	}
	if p.precision != nil {
		p.precision = grown(p.precision, dim)
		for i := d; i < dim; i++ {
			p.precision[i] = 1
		}
	}
	return nil
}

// mulV sets y = Vr x, and adds the pending term to V in the same pass. Features to come change no bits: they add zeros to sums that are never -0.
func (p *posterior) mulV(y, x []float64) {
	vecmath.SymRankOneMul(y, p.V, p.stride, x, -p.c, p.s)
	if p.c != 0 { // -(0*0)*0 = -0, and adding that leaves V as it is, zeros with their signs
		p.c = 0
		clear(p.s)
	}
}

// flush adds the pending term to V, to the same bits as mulV does.
func (p *posterior) flush() {
	if p.c != 0 {
		p.mulV(p.z, p.mr)
	}
}

// rank1 is Vr += c w w^T, kept pending.
func (p *posterior) rank1(c float64, w []float64) {
	p.flush()
	if c != 0 {
		p.c = c
		copy(p.s, w)
	}
}

// identity makes Vr the prior's.
func (p *posterior) identity() {
	p.c = 0
	clear(p.s)
	for i := range p.mr {
		row := p.V[i*p.stride:]
		clear(row[:vecmath.SymStride[float64](i+1)])
		row[i] = 1
	}
}

// triangle returns the lower triangle of Vr, row by row.
func (p *posterior) triangle() []float64 {
	p.flush()
	t := make([]float64, 0, len(p.mr)*(len(p.mr)+1)/2)
	for i := range p.mr {
		t = append(t, p.V[i*p.stride:][:i+1]...)
	}
	return t
}

// setTriangle makes t the lower triangle of Vr.
func (p *posterior) setTriangle(t []float64) {
	p.c = 0
	clear(p.s)
	unit := vecmath.LaneUnit[float64]()
	for i := range p.mr {
		row := t[i*(i+1)/2:][:i+1]
		copy(p.V[i*p.stride:], row)
		for j := i / unit * unit; j < i; j++ { // the block on the diagonal is whole
			p.V[j*p.stride+i] = row[j]
		}
	}
}

// floor returns the variance of a point under which rounding would decide. No term may be pending.
func (p *posterior) floor(x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		if v != 0 {
			sum = math.FMA(float64(v*v), p.V[i*p.stride+i], sum)
		}
	}
	return posteriorFloor * sum
}

// largest returns the largest element of Vr, which has no term pending.
func (p *posterior) largest() float64 {
	top := 0.0
	for i := range p.mr {
		top = max(top, p.V[i*p.stride+i])
	}
	return top
}

// addition is what Vr^-1 grows by: K.aa x x^T + K.ab (x y^T + y x^T) + K.bb y y^T. trace is at
// least the sum of the positive eigenvalues of that.
type addition struct {
	x, y  []float64
	K     sym2
	trace float64
}

// siteAddition is that of (4): tau x x^T.
func siteAddition(x []float64, tau float64) addition {
	return addition{x, x, sym2{aa: tau}, float64(max(0, tau) * vecmath.SumSq(x))}
}

// strain bounds that of the law with g, by the variances before: it is their rounding errors that
// the change brings. It is exact but for signs where precision is kept.
func (p *posterior) strain(g *addition) float64 {
	if p.precision == nil {
		return float64((p.P + g.trace) * p.largest())
	}
	sum := 0.0
	for i, q := range p.precision {
		sum = math.FMA(p.V[i*p.stride+i], q+g.at(i), sum)
	}
	return sum
}

// at bounds the element i, i of it, without what cancels: that is where rounding errors are.
func (g *addition) at(i int) float64 {
	x, y := math.Abs(g.x[i]), math.Abs(g.y[i])
	return float64(max(0, g.K.aa)*float64(x*x)) + float64(2*math.Abs(g.K.ab)*float64(x*y)) +
		float64(max(0, g.K.bb)*float64(y*y))
}

// bear reports whether Vr^-1 may grow by g, and counts it. Vr has no term pending.
func (p *posterior) bear(g *addition) bool {
	if !(p.strain(g) < maxStrain) {
		// At most once in d changes, which is then O(d^2) a change.
		if p.precision != nil && p.measured < int64(len(p.mr)) {
			return false
		}
		p.measure()
		if !(p.strain(g) < maxStrain) {
			return false
		}
	}
	p.P += g.trace
	p.measured++
	for i := range p.precision {
		p.precision[i] += g.at(i)
	}
	return true
}

// measure works precision out: with Vr = L L^T, (Vr^-1)_ii is the square of the length of L^-1 e_i.
// O(d^3).
func (p *posterior) measure() {
	d := len(p.mr)
	p.precision, p.measured = make([]float64, d), 0
	L := cholesky(p.triangle(), d)
	y := make([]float64, d)
	for i := range d {
		p.precision[i] = p.P // of the largest eigenvalue a bound too
		if L == nil {
			continue
		}
		y[i] = 1 / L[i*(i+1)/2+i]
		for j := i + 1; j < d; j++ {
			row := L[j*(j+1)/2:][:j+1]
			y[j] = -vecmath.Dot(row[i:j], y[i:j]) / row[j]
		}
		if v := vecmath.SumSq(y[i:]); v < p.P {
			p.precision[i] = v
		}
	}
}

// blurred reports whether the rounding errors in W could make Vr indefinite when it changes by the
// images of g's points. Since W was worked out afresh variances have shrunk by a factor of loss at
// most, so an image w = Vr x is off by some loss 2^-53 sqrt(D_i x'Vr x) in element i; in the metric
// of the new Vr that moves its least eigenvalue by a share of loss 2^-52 sqrt(den strain), den <=
// strain after the change: less than 2^-6.
func (p *posterior) blurred(g *addition) bool {
	return !(float64(p.loss*p.strain(g)) < maxBlur)
}

// maxBlur bounds the product of the strain and of that by which rounding errors have grown.
const maxBlur = 0x1p46

// derive works out the point j's part in W, G and a afresh.
func (p *posterior) derive(j int) {
	p.mulV(p.W[j], p.X[j])
	for i := range p.k {
		g := vecmath.Dot(p.X[i], p.W[j])
		p.G[i*p.width+j], p.G[j*p.width+i] = g, g
	}
	p.a[j] = vecmath.Dot(p.mr, p.X[j])
}

// deriveAll works out W, G, a, S and mu afresh.
func (p *posterior) deriveAll() {
	for j := range p.k {
		p.derive(j)
	}
	p.loss = 1
	p.refresh()
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
const leastVariance, mostVariance = 0x1p-400, 0x1p400

// add makes X[k], which the caller has filled, a point without a site. It reports whether it is one.
func (p *posterior) add() bool {
	k := p.k
	x, w := p.X[k], p.W[k]
	if p.loss > maxLoss {
		p.deriveAll()
	}
	p.mulV(w, x)
	v := vecmath.Dot(x, w)
	floor := p.floor(x)
	if floor == 0 {
		return false // no features
	}
	if !(v > floor && v > leastVariance && v < mostVariance) {
		p.report.Passed++
		return false
	}
	for j := range k {
		g := vecmath.Dot(p.W[j], x)
		p.G[k*p.width+j], p.G[j*p.width+k] = g, g
	}
	p.G[k*p.width+k] = v
	p.a[k] = vecmath.Dot(p.mr, x)
	p.tau[k], p.nu[k] = 0, 0
	// The new row of S: g - S T g, and v - (T g).(g - S T g).
	g, u, sites := p.G[k*p.width:][:p.width], p.row, false
	clear(u)
	for j, tau := range p.tau[:k] {
		u[j] = float64(tau * g[j])
		sites = sites || tau != 0
	}
	row := p.S[k*p.width:][:p.width]
	copy(row, g)
	if sites {
		vecmath.LanesScoreUnchecked(trusted.Indices{}, p.coef, p.S, p.rows[:k], u)
		vecmath.Axpy(row[:k], -1, p.coef)
		row[k] -= vecmath.Dot(u[:k], row)
	}
	for j, v := range row[:k] {
		p.S[j*p.width+k] = v
	}
	p.mu[k] = vecmath.Dot(p.m, x)
	p.k++
	if p.age++; p.age >= refreshEvery {
		p.refresh()
	}
	return true
}

// refreshEvery so many points S and mu are worked out afresh, so that rounding does not add up.
const refreshEvery = 64

// refresh is (1), site by site, those with tau > 0 first: then every step on the way is positive definite if the end is.
func (p *posterior) refresh() {
	k := p.k
	p.late = 0
	copy(p.S[:k*p.width], p.G)
	copy(p.mu, p.a[:k])
	for i, tau := range p.tau[:k] {
		if tau > 0 {
			p.update(i, tau, p.nu[i])
		}
	}
	for i, tau := range p.tau[:k] {
		if !(tau > 0) && (tau != 0 || p.nu[i] != 0) {
			p.update(i, tau, p.nu[i])
		}
	}
	p.settle()
	p.age = 0
}

// column sets dst to row i of S, with what is pending.
func (p *posterior) column(dst []float64, i int) {
	p.term[0] = int32(i)
	vecmath.LanesScoreUnchecked(trusted.Indices{}, dst, p.S, p.term[:1+p.late],
		p.steps[i*(1+maxLate):][:1+p.late])
}

// spread returns S_ii, with what is pending.
func (p *posterior) spread(i int) float64 {
	v, at := p.S[i*p.width+i], len(p.X)*p.width+i
	for _, c := range p.steps[i*(1+maxLate)+1:][:p.late] {
		v = math.FMA(c, p.S[at], v)
		at += p.width
	}
	return v
}

// update is (2), where the change of S is kept pending.
func (p *posterior) update(i int, dt, dn float64) {
	s := p.S[(len(p.X)+p.late)*p.width:][:p.width]
	p.column(s, i)
	den := math.FMA(dt, s[i], 1)
	b := math.FMA(-dt, p.mu[i], dn) / den
	c := -dt / den
	p.late++
	for l, v := range s[:p.k] {
		p.steps[l*(1+maxLate)+p.late] = float64(c * v)
	}
	vecmath.Axpy(p.mu[:p.k], b, s)
	if p.late == maxLate {
		p.settle()
	}
}

// settle adds what is pending to S.
func (p *posterior) settle() {
	if p.late == 0 {
		return
	}
	for i := range p.k {
		p.column(p.S[i*p.width:][:p.width], i)
	}
	p.late = 0
}

// cavity returns the law N(mc, vc) of u_i, whose variance is s, without the site i. ok is false if there is none.
func (p *posterior) cavity(i int, s float64) (mc, vc float64, ok bool) {
	if !(s > float64(posteriorFloor*p.G[i*p.width+i])) {
		return 0, 0, false
	}
	q := math.FMA(-p.tau[i], s, 1)
	if !(q > 0) {
		return 0, 0, false
	}
	return math.FMA(-p.nu[i], s, p.mu[i]) / q, s / q, true
}

// proposal returns by how much the site i differs from that of its cavity's moments: change in units of its point's standard deviation. s is S_ii.
func (p *posterior) proposal(i int, s float64) (dt, dn, change float64) {
	mc, vc, ok := p.cavity(i, s)
	f := &p.factor[i]
	if !ok {
		f.z = math.Inf(-1)
		if q := math.FMA(-p.tau[i], s, 1); q <= 0 { // the other sites tell less than nothing: half of this one goes, lest it stays
			return -0.5 * p.tau[i], -0.5 * p.nu[i], math.Inf(1)
		}
		p.held = true
		return 0, 0, 0
	}
	*f = newStepFactor(mc/math.Sqrt(vc), p.eps)
	tau, nu := f.site(vc)
	dt, dn = tau-p.tau[i], nu-p.nu[i]
	return dt, dn, max(math.Abs(float64(dt*s)), math.Abs(float64(dn*math.Sqrt(s))))
}

// refine moves the site i by the share damping towards that of its cavity's moments and returns how far off it was. Less than least is left alone.
func (p *posterior) refine(i int, damping, least float64) float64 {
	s := p.spread(i)
	dt, dn, change := p.proposal(i, s)
	if change <= least && (p.tau[i] != 0 || change == 0) { // a new point's site is made, be it small: it is evicted once
		return change
	}
	dt, dn = float64(damping*dt), float64(damping*dn)
	den := math.FMA(dt, s, 1)
	if !(den > 0 && s > float64(float64(posteriorFloor*den)*p.G[i*p.width+i]) && dn-dn == 0) {
		p.held = true
		return 0
	}
	p.update(i, dt, dn)
	p.tau[i] += dt
	p.nu[i] += dn
	return change
}

// setMean is (3).
func (p *posterior) setMean() {
	copy(p.m, p.mr)
	for i := range p.k {
		vecmath.Axpy(p.m, math.FMA(-p.tau[i], p.mu[i], p.nu[i]), p.W[i])
	}
}

// variance returns the variance of w.x, at least 0. It leaves the law as it is.
func (p *posterior) variance(x []float64) float64 {
	p.mulV(p.y, x)
	v := vecmath.Dot(x, p.y)
	if k := p.k; k > 0 {
		u, su := p.row, p.coef
		clear(u)
		for i := range k {
			g := vecmath.Dot(p.W[i], x)
			u[i] = float64(p.tau[i] * g)
			v = math.FMA(-u[i], g, v)
		}
		vecmath.LanesScoreUnchecked(trusted.Indices{}, su, p.S, p.rows[:k], u)
		v += vecmath.Dot(u[:k], su)
	}
	return max(0, v)
}

// absorb is (4). It reports whether the guards let it.
func (p *posterior) absorb(j int) bool {
	p.flush()
	g := siteAddition(p.X[j], p.tau[j])
	if p.blurred(&g) {
		p.derive(j)
	}
	w, row := p.W[j], p.row
	copy(row, p.G[j*p.width:][:p.width])
	den := math.FMA(p.tau[j], row[j], 1)
	b, c := math.FMA(-p.tau[j], p.a[j], p.nu[j])/den, p.tau[j]/den
	if !(den > 0) || b-b != 0 || c-c != 0 || !p.bear(&g) {
		return false
	}
	p.drop(j)
	k := p.k
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
	vecmath.Axpy(p.mr, b, w)
	p.rank1(-c, w)
	p.loss *= max(1, den)
	return true
}

// lose drops point j and all that it tells.
func (p *posterior) lose(j int) {
	p.drop(j)
	p.report.Lost++
	p.refresh()
	p.setMean()
}

// drop takes point j away. Its rows of X and W stay where they can be read, beyond the others.
func (p *posterior) drop(j int) {
	p.last(j)
	p.k--
	for i := range p.k + 1 { // no old numbers beyond the points, where kernels work on them
		p.G[i*p.width+p.k], p.S[i*p.width+p.k] = 0, 0
	}
}

// last makes point j the last one.
func (p *posterior) last(j int) {
	k := p.k
	rotate(p.X[j:k])
	rotate(p.W[j:k])
	rotate(p.a[j:k])
	rotate(p.tau[j:k])
	rotate(p.nu[j:k])
	rotate(p.mu[j:k])
	for _, m := range [...][]float64{p.G, p.S} {
		for i := range k {
			rotate(m[i*p.width:][j:k])
		}
		copy(p.coef, m[j*p.width:][:p.width])
		copy(m[j*p.width:], m[(j+1)*p.width:k*p.width])
		copy(m[(k-1)*p.width:], p.coef)
	}
}

// rotate moves the first element to the end.
func rotate[E any](s []E) {
	first := s[0]
	copy(s, s[1:])
	s[len(s)-1] = first
}

// twoPoints is what merging of the points i < j comes to.
type twoPoints struct {
	i, j    int
	gain    float64 // of the sum of KL, negative
	tau, nu float64 // of the merged point's site
	K2      sym2
	k1      pair
	grows   addition // what is added to Vr^-1
	lost    float64  // share of K2's digits that cancelled, as cancelledIn has it
}

// tryMerge works out (5): points 1 and 2 become b = (x_1 + x_2)/2 and a Gaussian g(u_1, u_2) such that f(b) g has the moments that f_1 f_2 has in q
// without their sites. kl holds the points' scores (13). ok is false if there is none, or none that keeps r proper.
func (p *posterior) tryMerge(i, j int, kl []float64) (t twoPoints, ok bool) {
	at := func(m []float64) sym2 { return sym2{m[i*p.width+i], m[i*p.width+j], m[j*p.width+j]} }
	// The cavity of the pair: (S^-1 - T)^-1, mu - Sc (nu - T mu).
	Sc, ok := inverseOfSum(at(p.S), sym2{-p.tau[i], 0, -p.tau[j]})
	if !ok {
		return t, false
	}
	d := Sc.mul(pair{math.FMA(-p.tau[i], p.mu[i], p.nu[i]), math.FMA(-p.tau[j], p.mu[j], p.nu[j])})
	muc := pair{p.mu[i] - d.a, p.mu[j] - d.b}
	_, gamma, H, ok := twoStep(muc, Sc, p.eps)
	if !ok {
		return t, false
	}
	d, c := Sc.mul(gamma), Sc.sandwich(H)
	mun, Sn := pair{muc.a + d.a, muc.b + d.b}, sym2{Sc.aa + c.aa, Sc.ab + c.ab, Sc.bb + c.bb}
	// (26), (27): the cavity of b on which one step has these moments.
	mNew, vNew := 0.5*(mun.a+mun.b), 0.25*(Sn.aa+2*Sn.ab+Sn.bb)
	f, mh, vh, ok := inverseADF(mNew, vNew, p.eps)
	if !ok || mh-mh != 0 {
		return t, false
	}
	t.i, t.j = i, j
	t.tau, t.nu = f.site(vh)
	t.gain = f.klWith(p.entropy) - kl[i] - kl[j]
	// g = exp(k.u - u.K u/2): K0 = Sn^-1 - Sc^-1 less the site of b.
	K0, ok := inverseOfSum(H, Sc)
	if !ok {
		return t, false
	}
	K := sym2{-K0.aa - 0.25*t.tau, -K0.ab - 0.25*t.tau, -K0.bb - 0.25*t.tau}
	k := sym2{-K0.aa, -K0.ab, -K0.bb}.mul(mun)
	k = pair{k.a + gamma.a - 0.5*t.nu, k.b + gamma.b - 0.5*t.nu}
	// K2 = K (I + G2 K)^-1, k1 = (I + K G2)^-1 (k - K a2) = (I - K2 G2) (k - K a2)
	G2 := at(p.G)
	t.K2, ok = inverseOfSum(K, G2)
	if !ok {
		return t, false
	}
	t.lost = cancelledIn(K, G2)
	n1, n2 := vecmath.SumSq(p.X[i]), vecmath.SumSq(p.X[j])
	trace := float64(max(0, K.aa)*n1) + float64(max(0, K.bb)*n2)
	trace += float64(2 * math.Abs(K.ab) * math.Sqrt(float64(n1*n2)))
	t.grows = addition{p.X[i], p.X[j], K, trace}
	Ka := K.mul(pair{p.a[i], p.a[j]})
	e := pair{k.a - Ka.a, k.b - Ka.b}
	ge := G2.mul(e)
	ke := t.K2.mul(ge)
	t.k1 = pair{e.a - ke.a, e.b - ke.b}
	for _, v := range [...]float64{t.gain, t.tau, t.nu, t.K2.aa, t.K2.ab, t.K2.bb, t.k1.a, t.k1.b,
		trace} {
		if v-v != 0 {
			return t, false
		}
	}
	return t, true
}

// inverseOfSum returns (A^-1 + B)^-1 = (A + |A| adj B)/|I + A B|, also for a singular A. ok is false unless I + A B has positive eigenvalues.
func inverseOfSum(A, B sym2) (sym2, bool) {
	a := A.det()
	trace := float64(A.aa*B.aa) + float64(2*A.ab*B.ab) + float64(A.bb*B.bb)
	det := 1 + trace + float64(a*B.det())
	if !(det > 0x1p-30 && 2+trace > 0) { // of the digits of 1, 22 are left at least
		return sym2{}, false
	}
	return sym2{math.FMA(a, B.bb, A.aa) / det, math.FMA(-a, B.ab, A.ab) / det, math.FMA(a, B.aa, A.bb) / det}, true
}

// cancelledIn returns how much larger the terms of |I + A B| are together than their sum: the
// determinant, and what inverseOfSum makes with it, has errors of some 2^-52 of that.
func cancelledIn(A, B sym2) float64 {
	abs := func(m sym2) float64 { return math.Abs(float64(m.aa*m.bb)) + float64(m.ab*m.ab) }
	aa, ab, bb := float64(A.aa*B.aa), float64(2*A.ab*B.ab), float64(A.bb*B.bb)
	terms := 1 + math.Abs(aa) + math.Abs(ab) + math.Abs(bb) + float64(abs(A)*abs(B))
	return terms / (1 + aa + ab + bb + float64(A.det()*B.det()))
}

// merge does what tryMerge worked out, if the covariance bears it:
//
//	mr += W2^T k1,   Vr -= W2^T K2 W2,   W -= G[:,12] K2 W2,   G -= G[:,12] K2 G[:,12]^T,   a += G[:,12] k1
//
// Then b, the last point from now on, has the mean of the rows 1 and 2.
func (p *posterior) merge(t *twoPoints) bool {
	p.flush()
	if !(float64(t.lost*p.strain(&t.grows)) < maxBlur) { // K2 is as inexact as images may be
		return false
	}
	if !p.bear(&t.grows) {
		return false
	}
	i, j, k, w := t.i, t.j, p.k, p.width
	gi, gj := p.row, p.coef
	copy(gi, p.G[i*w:][:w])
	copy(gj, p.G[j*w:][:w])
	wi, wj := p.x, p.y
	copy(wi, p.W[i])
	copy(wj, p.W[j])
	for l := range k {
		u := t.K2.mul(pair{gi[l], gj[l]})
		vecmath.Axpy(p.W[l], -u.a, wi)
		vecmath.Axpy(p.W[l], -u.b, wj)
		vecmath.Axpy(p.G[l*w:][:k], -u.a, gi)
		vecmath.Axpy(p.G[l*w:][:k], -u.b, gj)
		p.a[l] = math.FMA(gi[l], t.k1.a, math.FMA(gj[l], t.k1.b, p.a[l]))
	}
	vecmath.Axpy(p.mr, t.k1.a, wi)
	vecmath.Axpy(p.mr, t.k1.b, wj)
	// K2 = l1 e1 e1^T + l2 e2 e2^T by a Jacobi rotation
	l1, l2, cs, sn := t.K2.aa, t.K2.bb, 1.0, 0.0
	if t.K2.ab != 0 {
		q := (l2 - l1) / (2 * t.K2.ab)
		tan := math.Copysign(1/(math.Abs(q)+math.Sqrt(math.FMA(q, q, 1))), q)
		l1, l2 = math.FMA(-tan, t.K2.ab, l1), math.FMA(tan, t.K2.ab, l2)
		cs = 1 / math.Sqrt(math.FMA(tan, tan, 1))
		sn = float64(tan * cs)
	}
	first := l1 <= l2 // the one that adds variance first
	for range 2 {
		l, ci, cj := l2, sn, cs
		if first {
			l, ci, cj = l1, cs, -sn
		}
		p.flush() // which needs z
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
	p.tau[i], p.nu[i] = t.tau, t.nu
	p.drop(j)
	p.last(i)
	p.report.Merged++
	p.loss = 2 * maxLoss
	p.refresh()
	p.setMean()
	return true
}

// posteriorTensors are the parts of a State.
var posteriorTensors = []string{"w", "residual_mean", "residual_cov", "points", "images", "gram",
	"scores_cov", "point_means", "tau", "nu", "scores_mean"}

// packed returns what they hold.
func (p *posterior) packed() [][]float64 {
	k := p.k
	X, W, G, S := []float64{}, []float64{}, []float64{}, []float64{}
	for i := range k {
		X, W = append(X, p.X[i]...), append(W, p.W[i]...)
		G, S = append(G, p.G[i*p.width:][:k]...), append(S, p.S[i*p.width:][:k]...)
	}
	return [][]float64{slices.Clone(p.m), slices.Clone(p.mr), p.triangle(), X, W, G, S,
		slices.Clone(p.a[:k]), slices.Clone(p.tau[:k]), slices.Clone(p.nu[:k]),
		slices.Clone(p.mu[:k])}
}

// fields walks the law, of at most points points.
func (p *posterior) fields(c *learner.Codec, points int) {
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
		c.Want(d <= maxPosteriorDim && k <= points && len(data[i]) == n,
			"tensor %q has %d elements for %d features and %d points of at most %d",
			posteriorTensors[i], len(data[i]), d, k, points)
	}
	if c.Reading() {
		checkCovariances(c, data[2], d)
	}
	if c.Keeping() {
		next := newPosterior(p.eps, len(p.X))
		next.noise = p.noise
		err := next.grow("", d)
		c.Want(err == nil, "%w", err)
		c.Then(func() {
			next.unpack(data)
			*p = *next
		})
	}
	// what follows is stored into the new law
	P, loss := c.Scalar("precision", &p.P), c.Scalar("loss", &p.loss)
	c.Want(P >= 1 && loss >= 1, "precision is %v and loss %v, want numbers >= 1", P, loss)
	if c.Optional("precisions", p.precision != nil) { // since P alone was too coarse
		v := learner.Vector(c, "precisions", &p.precision)
		learner.Finite(c, "precisions", v)
		c.Want(len(v) == d && !slices.ContainsFunc(v, func(x float64) bool { return x <= 0 }),
			"tensor %q has %d elements for %d features, or one that is not > 0", "precisions",
			len(v), d)
		learner.Count(c, "measured", &p.measured)
	}
	r := &p.report
	learner.Count(c, "sweeps", &r.Sweeps)
	learner.Count(c, "unconverged", &r.Unconverged)
	learner.Count(c, "merged", &r.Merged)
	learner.Count(c, "passed", &r.Passed)
	learner.Count(c, "lost", &r.Lost)
	learner.Count(c, "age", &p.age)
	p.noise.fields(c, p.setNoise)
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
func (p *posterior) unpack(data [][]float64) {
	d, k := len(data[0]), len(data[7])
	copy(p.m, data[0])
	copy(p.mr, data[1])
	p.setTriangle(data[2])
	for i := range k {
		copy(p.X[i], data[3][i*d:])
		copy(p.W[i], data[4][i*d:])
		copy(p.G[i*p.width:], data[5][i*k:][:k])
		copy(p.S[i*p.width:], data[6][i*k:][:k])
	}
	copy(p.a, data[7])
	copy(p.tau, data[8])
	copy(p.nu, data[9])
	copy(p.mu, data[10])
	p.k = k
}

// bytes returns the memory of the law.
func (p *posterior) bytes() int64 {
	n := bytesOf(p.V) + bytesOf(p.G) + bytesOf(p.S) + 6*bytesOf(p.mr) + bytesOf(p.precision)
	for i := range p.X {
		n += bytesOf(p.X[i]) + bytesOf(p.W[i])
	}
	return n
}

// sites are points with sites that were all absorbed: r = N(mr, Vr) is the approximation of q. In this form, for more points than features, a refinement
// costs O(d^2). The posterior has room for one point, which is added with the share of its site that changes and absorbed at once.
type sites struct {
	X       [][]float64
	tau, nu []float64
}

// rebuild makes the law that of the prior and the sites, those with tau > 0 first, and sets
// report.Lost to the number of those that it could not absorb.
func (p *posterior) rebuild(t *sites) {
	clear(p.mr)
	p.identity()
	p.P, p.loss, p.precision = 1, 1, nil
	passed := p.report.Passed
	p.report.Lost = 0
	for _, positive := range [...]bool{true, false} {
		for i, x := range t.X {
			if (t.tau[i] > 0) != positive || t.tau[i] == 0 && t.nu[i] == 0 {
				continue
			}
			copy(p.X[0], x)
			if !p.add() { // with a site it has features
				p.report.Lost++
				continue
			}
			p.tau[0], p.nu[0] = t.tau[i], t.nu[i]
			if !p.absorb(0) {
				p.drop(0)
				p.report.Lost++
			}
		}
	}
	p.report.Passed = passed
	copy(p.m, p.mr)
}

// sweepAbsorbed is sweep for absorbed sites.
func (p *posterior) sweepAbsorbed(ctx context.Context, t *sites, e *epSettings, damping float64) bool {
	worst, passed := 0.0, int64(0)
	p.held = false
	for i, x := range t.X {
		if i%64 == 63 && ctx.Err() != nil {
			return false
		}
		copy(p.X[0], x)
		before := p.report.Passed
		if !p.add() {
			passed += p.report.Passed - before
			p.report.Passed = before
			continue
		}
		p.mu[0], p.tau[0], p.nu[0] = p.a[0], t.tau[i], t.nu[i]
		dt, dn, change := p.proposal(0, p.S[0])
		worst = max(worst, change)
		p.tau[0], p.nu[0] = float64(damping*dt), float64(damping*dn)
		if change <= e.tolerance/leave || !p.absorb(0) {
			p.drop(0)
			continue
		}
		t.tau[i] += float64(damping * dt)
		t.nu[i] += float64(damping * dn)
	}
	p.report.Sweeps++
	p.report.Passed = passed // of one sweep
	copy(p.m, p.mr)
	return worst < e.tolerance
}

// multiply makes r the product of the two residuals over the prior, in which the prior counts once:
//
//	Vr^-1 = Vr1^-1 + Vr2^-1 - I,   Vr^-1 mr = Vr1^-1 mr1 + Vr2^-1 mr2
//
// and works out the points' part afresh. It fails, and changes nothing, if that is no law, or one that rounding would decide. O(d^3).
func (p *posterior) multiply(name string, o *posterior) error {
	d := len(p.mr)
	if err := o.grow(name, d); err != nil {
		return err
	}
	A, A2 := inverse(p.triangle(), d), inverse(o.triangle(), d)
	if A == nil || A2 == nil {
		return fmt.Errorf("%s: a covariance is not positive definite to rounding: %w", name, ErrPrior)
	}
	b := make([]float64, d)
	symMulAdd(b, A, p.mr)
	symMulAdd(b, A2, o.mr)
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
	if p.precision != nil || o.precision != nil || !(float64(P*top) < maxStrain) {
		precision = make([]float64, d)
		for i := range d {
			precision[i] = A[i*(i+1)/2+i]
			if V != nil {
				strain = math.FMA(precision[i], V[i*(i+1)/2+i], strain)
			}
		}
	}
	if V == nil || !(strain < maxStrain) {
		return fmt.Errorf("%s: the product of the posteriors is not a law to rounding: %w", name, ErrPrior)
	}
	clear(p.mr)
	symMulAdd(p.mr, V, b)
	p.setTriangle(V)
	p.P, p.precision, p.measured = P, precision, 0
	p.deriveAll()
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
