package learners

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

var _ learner.Learner[float32] = (*pumma[float32])(nil)

func init() { learner.Register("pumma", (*PUMMAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*PUMMAConfig) Entry() learner.Entry {
	return learner.EntryFor(PUMMAConfig{P: "2", Delta: 0.01,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newPUMMA[float32], newPUMMA[float64], learner.Entry{
			Summary:  "PUMMA, approximate maximal p-norm margin with a bias of its own, p >= 2",
			Optional: []string{"r_neg", "r_pos", "w"},
		})
}

// pumma keeps the shortest weights, with a bias, that separate the last positive and the last
// negative example it learned and stay on the far side of the plane through the weights before. It
// approaches the maximal margin in the p-norm of the examples.
//
// Reference: K. Ishibashi, K. Hatano, M. Takeda, "Online Learning of Approximate Maximum p-Norm
// Margin Classifiers with Bias", COLT 2008, numbers as there. With 1/p + 1/q = 1, f(w) as in ALMA
// and w_0 = 0, on example t:
//
//	(U) update if y_t (w_t . x_t + b_t) < 1 - delta: x_t takes the place of xpos or xneg, then
//	(3) (w, b) = argmin |w|_q^2 / 2  subject to
//	    w.xpos + b >= 1,  w.xneg + b <= -1,  w . f(w_t) >= |w_t|_q^2
//
// Let z = xpos - xneg, theta = f(w_t), V = |w_t|_q^2. The solution of (3) is w = f^-1(alpha z +
// beta theta), where alpha and beta >= 0 maximise the dual (18) 2 alpha + V beta - |alpha z + beta
// theta|_p^2 / 2: beta = 0 and (15) alpha = 2/|z|_p^2 in case (i), (17) in case (ii). Its last term
// is quadratic along rays, so that only the direction is sought: with u = theta/V, the maximum lies
// at the ray through
//
//	(A) u' = the point of least p-norm of the segment from u to z/2
//	(B) w_{t+1} = f^-1(u') / |u'|_p^2
//	(20) b = -(w . xpos + w . xneg) / 2
//
// and theta'/V' = u' again. Case (i) is u' = z/2. For p = 2, (A) is (19): the foot of a
// perpendicular. For p > 2 it is found by Newton's method on phi(tau) = |u + tau d|_p^2 / 2, d =
// z/2 - u, from tau = 0, which is (alpha, beta) = (0, 1), with
//
//	(C) phi'  = f^-1(v) . d  with  v = u + tau d
//	(D) phi'' = (p-1) sum_i |v_i|^(p-2) d_i^2 / |v|_p^(p-2)  -  (p-2) (f^-1(v) . d)^2 / |v|_p^2
//
// kept in a bracket by bisection: phi is convex, so it always arrives.
//
// The 2-norm soft margin, problem (24), gives example i a slack xi_i: |w|_q^2 + C sum w_i xi_i^2 is
// to be least, w_i the example's weight, and the constraints are relaxed by the slacks. u then has
// a coordinate m_i >= 0 for every example, z/2 has 1/2 at xpos and xneg, |u|^2 = |u|_p^2 + sum
// m_i^2 / (C w_i), and
//
//	(E) xi_i = m_i / (C w_i |u|^2)
//	(F) update if y_i (w.x_i + b) < 1 - delta - xi_i
//	(G) b = -(w . xpos + w . xneg + xi_pos - xi_neg) / 2
//
//	paper        here                 shape, unit
//	x_t, y_t     block                example; label, -1 or +1
//	p            Config.P             norm of the examples, >= 2
//	delta        Config.Delta         share of the maximal margin given up
//	C            Config.SoftC         weight of the slacks, 0 for a hard margin
//	w, b         w, b                 one a feature; number
//	theta        u / norm2            one a feature
//	1/V          norm2                |u|^2, an upper bound of the squared margin
//	xpos, xneg   pos, neg             examples
//	xi_i         m_i / (C w_i norm2)  one an example
//
// The weight of an example multiplies its C: for Fit one of weight 2 is the example twice
// (TestPUMMAWeights); one of weight 0 is left out. A hard margin takes none.
//
// Deviations: with one label seen, (3) has one constraint and the solution w = 0, b = y; the first
// example of each label counts as an update. The printed Hessian of (18) is wrong; (D) is right,
// and phi is (18) less one unknown. If examples can't be separated, so that u' would be 0 but for
// rounding, it starts anew from z/2; an example equal to the kept one of the other label is
// skipped. With SoftC, Learn takes every example for a new one, which on a second presentation it
// is not: passes over a data set with a soft margin are what Fit is for.
//
// Guarantee: if a hyperplane (u, b) has margins >= 1 on all examples, of p-norm at most R, |w|_q
// never falls, and there are at most 4 (p-1) (R |u|_q / delta)^2 updates (Lemma 6 with |z|_p <=
// 2R), then a margin of at least (1-delta) times the maximal one: TestPUMMAMargin. Every step is
// optimal: TestPUMMAOptimal. With p = c ln n the margin in the infinity norm is at least e^(-1/c)
// (1-delta) times the largest (Corollary 4): TestPUMMAInfinityMargin. With slacks the objective is
// at most 1/(1-delta)^2 times the least (Theorem 5): TestPUMMASoftObjective. For p = 2 it is
// [ROMMAConfig] given the pairs z/2 (Theorem 2): TestPUMMAIsROMMAOnPairs, TestPairsMargin.
//
// Of sparse examples u is kept as c t with S = sum |t_i|^p. For p = 2 an update adds multiples of
// two examples to t, and all else follows from inner products: (H) and (I) below. S is then carried
// along with a bound of what it may be off by, and made anew where that is more than 2^-38 of it.
//
// For p > 2 an update goes through the non-zeros of z; the powers of t are kept beside it. What (A)
// does to the features where z is 0 is a factor 1-tau, and all that (A) to (D) have of them is the
// sum of their |t_i|^p: they count as one feature, u being its p-th root there (times c) and z
// being 0. That sum is S less the terms where z is not 0, of which it is carried along as for
// p = 2. The factor goes into c. t and its powers are made anew where S has left 2^-256 to 2^256.
//
// Case (i) clears all features; for p = 2 and a hard margin |u|^2 is then below (1 - delta/2) of
// what it was, which limits how often that can be.
//
// Cost: one dot an example. An update of sparse examples is O(non-zeros), for p = 2 twice that of
// ROMMA, for p > 2 with some four powers for each, and O(features) after some thousands of them;
// one of dense examples is O(features). Memory: seven float64 a feature, nine for p > 2, of dense
// examples; one, for p > 2 two, of sparse ones.
type pumma[T learner.Float] struct {
	cfg      PUMMAConfig
	p        float64
	to       pummaPowers
	invC     float64 // 1/C, 0 for a hard margin
	w        []float64
	u        dualPoint
	pos, neg []float64
	kept     uint64  // labels seen: keptPos | keptNeg
	norm2    float64 // |u|^2, slacks included
	b        float64
	mPos     float64 // m of xpos
	mNeg     float64 // m of xneg
	rPos     float64 // 1/w of xpos
	rNeg     float64 // 1/w of xneg
	m2       float64 // sum of all m_i^2 / w_i
	updates  int64
	cut      *learner.State // where a Fit was cut; nil if none was, or something was learned since

	x, d []float64 // scratch: an example, the segment
	v    dualPoint // scratch: a point of the segment

	// After sparse examples: u is c t, t is u.v; w has the powers of t, for p = 2 nothing; pos, neg
	// and what is scratch for dense examples are not there.
	c      float64    // 0 after dense examples
	div    float64    // (B) is t's powers divided by this; 1 after dense examples
	sum    primal.Sum // S
	steps  bool       // some of w are as steps made them, else all are what power makes of t
	onPos  sparseExample
	onNeg  sparseExample
	onX    sparseExample   // scratch: an example
	marks  [2]featureMarks // of xneg and xpos
	at     []int32         // scratch: where z is not 0
	half   []float64       // scratch: z/2 there
	along  []float64       // scratch: the segment there
	from   dualPoint       // scratch: u there
	toward dualPoint       // scratch: a point of the segment there
}

// PUMMAConfig holds the settings of PUMMA.
type PUMMAConfig struct {
	// P is the p of |x|_p, the norm of the examples, or auto for 2 ln n, n features. Default 2; 2
	// or more, or auto.
	P string `json:"p" flag:"p"`
	// Delta is the share of the maximal margin given up. Default 0.01; above 0 to 1.
	Delta float64 `json:"delta" flag:"delta"`
	// SoftC is the weight C of the squared slacks (2-norm soft margin), 0 for a hard margin; each
	// example presented is a new one. Default 0; 0 or more.
	SoftC float64 `json:"soft_c" flag:"soft-c"`
	// Budget is the number of examples kept at most while a stream is learned, 0 for no limit.
	// Default 0; 0 to 2^31-1, not 1.
	Budget int `json:"budget,omitempty" flag:"budget" with:"kernel=poly|rbf,scale"`

	learner.KernelConfig
}

// Validate wants P >= 2 or auto, Delta in (0,1], SoftC >= 0, a Budget with room for an example of
// each label, or 0, and a kernel, with P = 2 if it isn't the plain inner product.
func (c *PUMMAConfig) Validate() error {
	if c.P != "auto" {
		if p, err := strconv.ParseFloat(c.P, 64); err != nil || !(p >= 2) || math.IsInf(p, 0) {
			return fmt.Errorf("pumma: p is %q, want a number >= 2 or auto: %w", c.P,
				learner.ErrConfig)
		}
	}
	if err := learner.CheckSetting("pumma", "delta", c.Delta, c.Delta > 0 && c.Delta <= 1,
		"a number in (0,1]"); err != nil {
		return err
	}
	if err := learner.CheckSetting("pumma", "soft-c", c.SoftC, c.SoftC >= 0,
		"a number > 0, or 0 for a hard margin"); err != nil {
		return err
	}
	if !c.Linear() && c.P != "2" {
		return fmt.Errorf("pumma: p is %s and the kernel %s: kernels have p = 2 only: %w", c.P,
			c.EngineKernel().Kind, learner.ErrConfig)
	}
	if err := checkBudget("pumma", c.Budget, 2); err != nil {
		return err
	}
	return c.KernelConfig.Validate("pumma")
}

// Traits is Config.Traits: with a kernel a stream's examples are kept, and a whole data set's are
// learned by their rows of its Gram matrix, without a budget.
func (c *PUMMAConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Whole, t.ActiveSet, t.Halving, t.Biased = true, true, true, true
	t.Relative, t.Soft, t.SoftBy = c.P == "auto", c.SoftC > 0, "soft-c"
	t.Weights, t.Cut = c.SoftC > 0, c.Linear() && c.SoftC == 0
	if p, err := strconv.ParseFloat(c.P, 64); err == nil {
		t.Norm = p
	}
	t.Remedies = []learner.Remedy{{Change: "lower", Setting: "soft-c"}, {Change: "raise",
		Setting: "delta"}}
	if c.SoftC == 0 {
		t.Remedies = []learner.Remedy{{Change: "set", Setting: "soft-c"}}
	}
	if c.Linear() {
		return t
	}
	if c.Budget > 0 {
		t.Whole, t.ActiveSet, t.Halving = false, false, false
	}
	return onlineTraits("pumma", t, &c.KernelConfig, c.Budget, 2, func(n int) learner.Config {
		d := *c
		d.Budget = n
		return &d
	})
}

// Memory is Config.Memory: of dense examples 7 float64 a feature, 9 for p > 2, of sparse ones 1 and
// 2; and what passes take; with a kernel the kept examples, or what goes over the rows of a whole
// data set.
func (c *PUMMAConfig) Memory(x learner.Extent) learner.Footprint {
	var f learner.Footprint
	if !c.Linear() {
		return fittedMemory(x, c.Budget)
	}
	vectors, powers := int64(7), int64(2)
	if !x.Dense {
		vectors, powers = 1, 1
	}
	if c.P != "2" {
		vectors += powers
	}
	f.Tables(x, "vectors", 8*vectors)
	if !x.Dense { // three examples and, over both of z, five to seven numbers
		longest := primal.ListRoom(min(x.Longest, x.Features))
		f.Add("examples", 3, learner.Times(longest, 3*(4+8)+2*(4+7*8)))
	}
	f.Add("work space", 1, primal.FixedBytes+int64(unsafe.Sizeof([2]featureMarks{})))
	f.Copied(x, 8, learner.Times(x.Features, 3*8))
	margin.AddPasses(&f, x)
	return f
}

// Resolve sets P = max(2, 2 ln n) if it is auto, for n features.
func (c *PUMMAConfig) Resolve(f learner.Facts) (learner.Config, error) {
	r := *c
	if c.P != "auto" {
		return &r, nil
	}
	if f.Features < 1 {
		return nil, fmt.Errorf("pumma: p is auto and there are %d features: %w", f.Features,
			learner.ErrConfig)
	}
	r.P = strconv.FormatFloat(max(2, 2*math.Log(float64(f.Features))), 'g', -1, 64)
	return &r, nil
}

// pummaPowers has the powers of p-norms.
type pummaPowers struct {
	p                     float64
	less1, less2          primal.Power // p-1, p-2
	root, square, inverse primal.Power // 1/p, 2/p, 1/(p-1)
}

func pummaPowersOf(p float64) pummaPowers {
	return pummaPowers{p, primal.PowerOf(p - 1), primal.PowerOf(p - 2), primal.PowerOf(1 / p),
		primal.PowerOf(2 / p), primal.PowerOf(1 / (p - 1))}
}

// dualPoint is a point of the space of u, without the slacks' coordinates, with what f^-1 and the
// derivatives of phi need.
type dualPoint struct {
	v     []float64
	r     []float64 // (|v_i| scale)^(p-2); nil for p = 2
	scale float64   // some 1/|v|_p, 0 while there is none
	k     float64   // f^-1(v)_i = k r_i v_i
	norm2 float64   // |v|_p^2
}

const (
	keptPos = 1 << iota
	keptNeg
)

func newPUMMA[T learner.Float](cfg PUMMAConfig, env learner.Env) (learner.Learner[T], error) {
	if cfg.P == "auto" {
		return nil, fmt.Errorf("pumma: p is auto and the number of features is not known: "+
			"call Resolve first: %w", learner.ErrConfig)
	}
	if !cfg.Linear() {
		return newKernelPUMMA[T](cfg, env)
	}
	p, err := strconv.ParseFloat(cfg.P, 64)
	if err != nil {
		return nil, fmt.Errorf("pumma: p is %q: %w", cfg.P, learner.ErrConfig)
	}
	l := &pumma[T]{cfg: cfg, p: p, div: 1, rPos: 1, rNeg: 1}
	if cfg.SoftC > 0 {
		l.invC = 1 / cfg.SoftC
	}
	l.to = pummaPowersOf(l.p)
	return l, nil
}

// Learn is Learner.Learn.
func (l *pumma[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := checkSlacks("pumma", b, len(rounds), l.invC > 0); err != nil {
		return err
	}
	l.begin(b)
	l.cut = nil
	for i := range b.Len() {
		dot := primal.DotMixed(b, i, l.powers())
		f := dot/l.div + l.b
		rounds[i] = learner.Round{Score: f}
		if y := float64(b.Y[i]); float64(y*f) < 1-l.cfg.Delta { // (U), and (F) of a new example
			r, counts := inverseWeight(b, i)
			if !counts {
				continue
			}
			if _, ok := l.update(b, i, dot, 0, r); ok {
				rounds[i].Updates = 1
			}
		}
	}
	return nil
}

// checkSlacks is primal.CheckBlock of a learner whose weights are prices of slacks: a hard margin,
// not soft, takes none.
func checkSlacks[T learner.Float](name string, b *engine.Block[T], out int, soft bool) error {
	if soft {
		return primal.CheckWeighted(name, b, out)
	}
	return primal.CheckBlock(name, b, out)
}

// inverseWeight returns 1/w of example i, by which 1/C is multiplied, and whether it counts: see
// [margin.Counts].
func inverseWeight[T learner.Float](b *engine.Block[T], i int) (r float64, counts bool) {
	w := float64(b.Weight(i))
	return 1 / w, margin.Counts(w)
}

// begin makes room for the features of b.
func (l *pumma[T]) begin(b *engine.Block[T]) {
	if l.c == 0 && l.kept == 0 && !b.Dense() && b.Len() > 0 {
		l.c = 1
	}
	l.grow(b.Dim)
}

// grow makes room for dim features.
func (l *pumma[T]) grow(dim int) {
	if l.c > 0 {
		l.u.v = primal.Grown(l.u.v, dim)
		if l.p > 2 {
			l.w = primal.Grown(l.w, dim)
		}
		return
	}
	for _, v := range [...]*[]float64{&l.w, &l.u.v, &l.pos, &l.neg, &l.x, &l.d, &l.v.v} {
		*v = primal.Grown(*v, dim)
	}
	if l.p > 2 {
		l.u.r, l.v.r = primal.Grown(l.u.r, dim), primal.Grown(l.v.r, dim)
	}
}

// score returns f(x) of example i.
func (l *pumma[T]) score(b *engine.Block[T], i int) float64 {
	return primal.DotMixed(b, i, l.powers())/l.div + l.b
}

// powers returns div times the weights.
func (l *pumma[T]) powers() []float64 {
	if l.c > 0 && l.p == 2 {
		return l.u.v
	}
	return l.w
}

// slackStep is what (A) has of the slacks' coordinates: u.d, |d|^2 and |z/2|^2, to be divided by C.
type slackStep struct {
	ud, dd, half float64
	m, r         float64 // coordinate of the example in hand, and 1/w
	mOther       float64 // of the segment's other example
}

// slacks returns that of an example whose coordinate is m, 1/w of which is r, and the other one of
// the segment.
func (l *pumma[T]) slacks(m, r, mOther, rOther float64) slackStep {
	both, half := float64(m*r)+float64(mOther*rOther), float64(0.25*(r+rOther))
	return slackStep{float64(0.5*both) - l.m2, half - both + l.m2, half, m, r, mOther}
}

// after returns the sum of m_i^2 / w_i after a step tau.
func (s *slackStep) after(tau, m2 float64) float64 {
	if tau < 1 {
		return max(0, m2+float64(float64(2*tau)*s.ud)+float64(float64(tau*tau)*s.dd))
	}
	return s.half // case (i)
}

// update takes example i, whose product with powers is dot, whose present coordinate of u is m and
// 1 over whose weight is r, for xpos or xneg and solves (3) or (24). It returns tau, the share of
// z/2 in the new u; or false, without a change of state, where there is no solution.
func (l *pumma[T]) update(b *engine.Block[T], i int, dot, m, r float64) (tau float64, ok bool) {
	if !b.Dense() {
		if l.c == 0 {
			l.toSparse()
			dot = primal.DotMixed(b, i, l.powers())
		}
		return l.updateSparse(b, i, dot, m, r)
	}
	l.toDense()
	clear(l.x)
	for j, v := range b.Row(i) {
		l.x[j] = float64(v)
	}
	this, other, label, mOther, rOther, y := &l.neg, l.pos, uint64(keptNeg), l.mPos, l.rPos, -1.0
	if b.Y[i] > 0 {
		this, other, label, mOther, rOther, y = &l.pos, l.neg, keptPos, l.mNeg, l.rNeg, 1
	}
	if l.kept|label != keptPos|keptNeg { // the first example: w = 0, b = y
		*this, l.x = l.x, *this
		l.first(label, y, r)
		l.updates++
		return 0, true
	}
	half := func(dst []float64) (zero bool) { // z/2
		zero = true
		for j, o := range other {
			dst[j] = float64(float64(0.5*y) * (l.x[j] - o))
			zero = zero && dst[j] == 0
		}
		return zero
	}
	if half(l.d) && l.invC == 0 { // equal examples
		return 0, false
	}
	tau = 1
	s := l.slacks(m, r, mOther, rOther)
	if l.kept == keptPos|keptNeg {
		for j, u := range l.u.v {
			l.d[j] -= u
		}
		var sums vecmath.PowerSums
		if l.p > 2 {
			l.v.scale = l.u.scale
			l.u.powers(&sums, l.u.v, l.d, 0, &l.to)
		}
		tau = l.to.nearest(&l.u, &l.v, l.d, &sums, float64(s.ud*l.invC),
			float64(s.dd*l.invC)) // (A)
		l.v.walk(l.u.v, tau, l.d)
		l.v.measure(&l.to)
		// nothing but rounding errors are left: the examples can't be separated. Where u is short
		// beside the segment that is so only if the step has shrunk it, too.
		if l.invC == 0 && l.v.norm2 <= 0x1p-40*l.norm2 &&
			math.Sqrt(l.v.norm2) <= 0x1p-40*maxAbs(l.d) {
			tau = 1
		}
	}
	if !(tau < 1) { // case (i)
		half(l.v.v)
		l.v.measure(&l.to)
	}
	if !l.takeSlacks(l.v.norm2, tau, y, &s) {
		return 0, false
	}
	*this, l.x = l.x, *this
	l.u, l.v = l.v, l.u
	l.u.hypothesis(l.w, l.norm2)
	dots := vecmath.Dot(l.w, l.pos) + vecmath.Dot(l.w, l.neg)
	l.b = float64(-0.5 * (dots + l.slackOfBias())) // (20), (G)
	l.updates++
	return tau, true
}

// first takes the first example of label y, r being 1 over its weight, for xpos or xneg.
func (l *pumma[T]) first(label uint64, y, r float64) {
	l.kept, l.b = label, y
	l.setInverse(y, r)
}

// setInverse sets 1/w of xpos or xneg, by its label.
func (l *pumma[T]) setInverse(y, r float64) {
	if y > 0 {
		l.rPos = r
	} else {
		l.rNeg = r
	}
}

// slackOfBias returns xi_pos - xi_neg of (G), by (E).
func (l *pumma[T]) slackOfBias() float64 {
	return float64((float64(l.mPos*l.rPos)-float64(l.mNeg*l.rNeg))*l.invC) / l.norm2
}

// takeSlacks sets |u|^2 and what of it are slacks, after a step tau to a u of squared length norm2
// without them. It returns false, without a change of state, where u is all but 0 or beyond all
// range.
func (l *pumma[T]) takeSlacks(norm2, tau, y float64, s *slackStep) bool {
	m2 := s.after(tau, l.m2)
	norm2 += float64(m2 * l.invC)
	if !(norm2 > 0) || 1/norm2-1/norm2 != 0 {
		return false
	}
	l.kept, l.norm2, l.m2 = keptPos|keptNeg, norm2, m2
	l.setInverse(y, s.r)
	share := func(m float64) float64 {
		if tau == 1 {
			return 0.5
		}
		return float64((1-tau)*m) + float64(0.5*tau)
	}
	m, mOther := share(s.m), share(s.mOther)
	l.mPos, l.mNeg = m, mOther
	if y < 0 {
		l.mPos, l.mNeg = mOther, m
	}
	return true
}

// nearest solves (A): it returns tau, 1 for case (i), and sets what v has beside v itself, which is
// u + tau d. ud and dd are what the slacks add to u.d and |d|^2; s has the sums at u, for p > 2.
func (to *pummaPowers) nearest(u, v *dualPoint, d []float64, s *vecmath.PowerSums,
	ud, dd float64) float64 {
	if to.p == 2 { // (19)
		tau := -(vecmath.Dot(u.v, d) + ud) / (vecmath.SumSq(d) + dd)
		if !(tau < 1) {
			return 1
		}
		return tau
	}
	const most = 100 // bisection alone would need 60
	hard := ud == 0 && dd == 0
	lo, hi, last, tau := 0.0, math.Inf(1), math.Inf(1), 0.0
	at, root := u, crossing{}
	for n := range most {
		slope, size := s.VD, s.VV // up to k
		if !hard {
			slope, size = float64(s.VD*at.k)+ud+float64(tau*dd), at.norm2
		}
		// slope/|v|^2 is the difference of the relative residuals of (17).
		off := math.Abs(slope) / size
		if tau == 1 && slope <= 0 || tau > 0 && off <= 0x1p-46 {
			break
		}
		if slope < 0 {
			lo = tau
		} else {
			hi = tau
		}
		var next float64
		if hard {
			next = root.next(s, tau, to)
			if tau == 0 {
				next = min(next, to.guess(u, d))
			}
		} else {
			next = tau - slope/(float64(at.k*curve(s, to.p))+dd)
		}
		slow := off > 0.5*last && (n > 12 || !hard)
		if !(next > lo && next < hi) || slow {
			next = 0.5 * (lo + hi) // +Inf while the upper end is not known
		}
		last = off
		if next = min(next, 1); tau > 0 && (next == lo || next == hi) {
			break
		}
		tau = next
		if v.powers(s, u.v, d, tau, to); !hard {
			v.length(s, to)
		}
		at = v
	}
	if hard {
		v.length(s, to)
	}
	return tau
}

// guess returns a tau at which a step may begin that is not known to be short: where the largest
// feature of z/2, were it 0 in u, would come to be as much as all of u. It comes from f^-1(tau z/2)
// . z/2 = |u|_p^2 of that feature.
func (to *pummaPowers) guess(u *dualPoint, d []float64) float64 {
	top := 0.0
	for j, v := range u.v {
		top = max(top, math.Abs(v+d[j]))
	}
	x := math.Sqrt(u.norm2) / top
	return float64(x * to.inverse.Of(x)) // x^(p/(p-1))
}

// walk sets v = u + tau along.
func (d *dualPoint) walk(u []float64, tau float64, along []float64) {
	for j, u := range u {
		d.v[j] = u + float64(tau*along[j])
	}
}

// powers sets r and the sums s at u + tau along, and the scale where there is none or with the one
// of before powers would be far beyond 1.
func (d *dualPoint) powers(s *vecmath.PowerSums, u, along []float64, tau float64,
	to *pummaPowers) {
	for exact := d.scale == 0; ; exact = true {
		if exact {
			top := 0.0
			for j, u := range u {
				top = max(top, math.Abs(math.FMA(tau, along[j], u)))
			}
			if d.scale = 1 / top; !(d.scale <= math.MaxFloat64) { // 0, or as good as
				d.scale = 0
				*s = vecmath.PowerSums{}
				return
			}
		}
		vecmath.PowersAlong(s, d.r, u, along, tau, d.scale, to.p-2)
		if sum := float64(float64(d.scale*d.scale) * s.VV); exact || sum >= 0x1p-400 &&
			sum <= 0x1p400 {
			return
		}
	}
}

// length sets k and norm2 of the sums that powers set.
func (d *dualPoint) length(s *vecmath.PowerSums, to *pummaPowers) {
	if d.k, d.norm2 = 0, 0; s.VV > 0 {
		sum := float64(float64(d.scale*d.scale) * s.VV) // |v scale|_p^p
		s2 := to.square.Of(sum)
		d.k, d.norm2 = s2/sum, s2/float64(d.scale*d.scale)
	}
}

// measure sets all that is not v. It is how w follows from the u of a model file, of which the bits
// of scores must stay what they are: its powers are not those of PowersAlong. Everything is divided
// by the largest element, so that no power overflows.
func (d *dualPoint) measure(to *pummaPowers) {
	if to.p == 2 {
		d.k, d.norm2 = 1, vecmath.SumSq(d.v)
		return
	}
	top := maxAbs(d.v)
	if d.scale = 1 / top; !(d.scale <= math.MaxFloat64) {
		d.scale = 0
	}
	if top == 0 {
		clear(d.r)
		d.k, d.norm2 = 0, 0
		return
	}
	for j, v := range d.v {
		d.r[j] = math.Abs(v) / top
	}
	to.less2.Shares(d.r, d.r)
	var sum float64 // |v/top|_p^p, from 1 to n
	for j, v := range d.v {
		s := v / top
		sum += float64(d.r[j] * float64(s*s))
	}
	s2 := to.square.Of(sum)
	d.k, d.norm2 = s2/sum, float64(float64(top*top)*s2)
}

// curve returns (D) up to k, without the slacks' part.
func curve(s *vecmath.PowerSums, p float64) float64 {
	return float64((p-1)*s.DD) - float64((p-2)*float64(s.VD*s.VD))/s.VV
}

// rootLess1 returns the (p-1)-th root of q, less 1.
func (to *pummaPowers) rootLess1(q float64) float64 {
	d := q - 1
	if math.Abs(d) > 0x1p-8 {
		return to.inverse.Of(q) - 1
	}
	// ln(1+d) up to d^7/7 and e^x-1 up to x^6/720: what is left out is below 2^-58 of them
	d2 := float64(d * d)
	s := (1 - float64(0.5*d)) + float64(d2*((1./3-float64(0.25*d))+float64(d2*((1./5-
		float64(1./6*d))+float64(1./7*d2)))))
	x := float64(d*s) / (to.p - 1)
	x2 := float64(x * x)
	return float64(x * ((1 + float64(0.5*x)) + float64(x2*((1./6+float64(1./24*x))+
		float64(x2*(1./120+float64(1./720*x)))))))
}

// crossing seeks the tau where (C) is 0 for p > 2, without slacks.
type crossing struct {
	known     bool
	tau, g, m float64 // the point before: tau, g there and 1/g'
}

// next returns the next point after one with these sums. f^-1(v).z/2 and f^-1(v).u are equal where
// (C) is 0. Of their quotient g is the (p-1)-th root, less 1: a few features decide, the fewer the
// larger p is, and make it nearly a straight line, but the slope a power of tau. tau is a function
// of g, and of that two points and the slopes there make a cubic, or one point a straight line.
func (c *crossing) next(s *vecmath.PowerSums, tau float64, to *pummaPowers) float64 {
	toward, back := s.VD+s.VU, s.VU
	inverse := float64(toward*back) / // of the logarithm's derivative/(p-1)
		(float64((s.DD+s.DU)*back) - float64(toward*s.DU))
	if !(toward > 0 && back > 0 && inverse > 0 && inverse < math.MaxFloat64) {
		c.known = false
		return tau - s.VD/curve(s, to.p) // a step of Newton's method
	}
	x := to.rootLess1(back / toward)
	g, m := -x/(1+x), float64(inverse*(1+x))
	next := tau + float64(inverse*x)
	// where g = 0 is, as a share of the way to the point before
	if share := g / (g - c.g); c.known && math.Abs(share) < 0.75 {
		way, rise := c.tau-tau, c.g-g
		square := 3*way - float64(rise*(2*m+c.m))
		cube := float64(rise*(m+c.m)) - 2*way
		next = tau + float64(share*(float64(rise*m)+float64(share*(square+float64(share*cube)))))
	}
	*c = crossing{true, tau, g, m}
	return next
}

// hypothesis sets w to (B), with norm2 = |u|^2, slacks included.
func (d *dualPoint) hypothesis(w []float64, norm2 float64) {
	f := d.k / norm2
	if d.r == nil {
		for j, v := range d.v {
			w[j] = float64(f * v)
		}
		return
	}
	for j, v := range d.v {
		w[j] = float64(float64(f*d.r[j]) * v)
	}
}

func maxAbs(x []float64) float64 {
	// Without their signs numbers are ordered as their bits are, by one instruction each, not five.
	var a, b uint64
	for ; len(x) >= 2; x = x[2:] {
		a = max(a, math.Float64bits(x[0])&^(1<<63))
		b = max(b, math.Float64bits(x[1])&^(1<<63))
	}
	for _, v := range x {
		a = max(a, math.Float64bits(v)&^(1<<63))
	}
	return math.Float64frombits(max(a, b))
}

// Fit is Fitter.Fit: cyclic passes, each example with one slack. The soft margin is SoftC =
// 1/Delta^2, not FitOptions.Delta; slacks are no part of the state, so with SoftC the learner must
// be new. Margins are those of |w|_q, with slacks of (w, xi): the maximal one lies between
// FitResult.Margin and Bound.
func (l *pumma[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	n := b.Len()
	if err := checkSlacks("pumma", b, n, l.invC > 0); err != nil {
		return learner.FitResult{}, err
	}
	if err := margin.CheckOptions("pumma", &o, true, true); err != nil {
		return learner.FitResult{}, err
	}
	switch {
	case o.Delta != 0:
		return learner.FitResult{}, fmt.Errorf("pumma: Delta is %v: the soft margin is set by "+
			"soft-c, 1/Delta^2: %w", o.Delta, learner.ErrConfig)
	case n == 0:
		return learner.FitResult{}, fmt.Errorf("pumma: no examples: %w", learner.ErrFit)
	case margin.NoneCounts(b):
		return learner.FitResult{}, fmt.Errorf("pumma: no examples of a weight above 0: %w",
			learner.ErrFit)
	case l.invC > 0 && l.updates > 0:
		return learner.FitResult{}, fmt.Errorf("pumma: with soft-c a run can't go on from %d "+
			"updates, whose slacks were not kept: %w", l.updates, learner.ErrFit)
	}
	l.begin(b)
	// else other examples may have been learned
	from, known := margin.ResumableCut(l.cut, b, &o), l.updates == 0
	l.cut = nil
	c := pummaPasses[T]{l: l, b: b, pos: -1, neg: -1, scale: 1, delta: l.cfg.Delta,
		bound2: math.Inf(1)}
	if from != nil {
		known = from.Counters[learner.CutFlags]&margin.CutBound != 0
		if bound2, ok := from.Scalars["bound2"]; ok {
			c.bound2 = bound2
		}
	}
	c.known = known
	if l.invC > 0 {
		c.m = make([]float64, n)
	}
	p := margin.Passes{
		N: n, Delta: l.cfg.Delta, Goal: func(delta float64) { c.delta = delta }, Status: c.judge,
		Learn: func(k int) bool {
			r, counts := inverseWeight(b, k)
			if !counts || c.margin(k, r) >= 1-c.delta {
				return false
			}
			before := l.updates
			c.update(k, r) // (U), (F)
			if l.norm2 > 0 {
				c.bound2 = min(c.bound2, l.norm2)
			}
			return l.updates != before
		},
		Bound: func() float64 { return math.Sqrt(c.bound2) },
		Least: primal.LeastMargin(primal.SquaredLengths(b, 0)),
	}
	if !known {
		p.Bound = func() float64 { return math.Inf(1) }
	}
	p.Resumed = from
	data := sync.OnceValue(func() uint64 { return learner.Fingerprint(b) })
	leave := func() {
		if l.invC == 0 {
			l.cut = p.CompleteCut(data, known, map[string]float64{"bound2": c.bound2})
		}
	}
	p.Checkpoint = func(r learner.FitResult) error {
		r.Counter = l.updates + 1
		leave()
		err := o.Checkpoint(r)
		l.cut = nil
		return err
	}
	if l.invC > 0 {
		o.Checkpoint = nil // slacks are no part of a cut
	}
	var r learner.FitResult
	err := p.Run(ctx, &o, &r)
	leave()
	r.Counter = l.updates + 1
	c.judge(&r)
	r.Converged = r.Converged && r.Violators == 0 // equal examples of both classes can't be learned
	return r, err
}

// pummaPasses is a data set with the coordinates of u that belong to its examples' slacks.
type pummaPasses[T learner.Float] struct {
	l        *pumma[T]
	b        *engine.Block[T]
	m        []float64 // m_k / scale; nil for a hard margin
	scale    float64
	pos, neg int // which examples are xpos and xneg; -1: none of these
	delta    float64
	known    bool    // bound2 is: nothing was learned before
	bound2   float64 // the least |u|^2 so far: the maximal margin is no larger
}

// share returns m_k.
func (c *pummaPasses[T]) share(k int) float64 {
	if c.m == nil || k < 0 {
		return 0
	}
	return float64(c.scale * c.m[k])
}

// margin returns y f + xi of example k, r being 1 over its weight.
func (c *pummaPasses[T]) margin(k int, r float64) float64 {
	m := float64(float64(c.b.Y[k]) * c.l.score(c.b, k))
	if s := c.share(k); s > 0 {
		m += float64(float64(s*r)*c.l.invC) / c.l.norm2 // (E)
	}
	return m
}

func (c *pummaPasses[T]) update(k int, r float64) {
	tau, ok := c.l.update(c.b, k, primal.DotMixed(c.b, k, c.l.powers()), c.share(k), r)
	if !ok {
		return
	}
	if c.b.Y[k] > 0 {
		c.pos = k
	} else {
		c.neg = k
	}
	if c.m == nil || c.pos < 0 || c.neg < 0 {
		return
	}
	if c.scale *= 1 - tau; c.scale < 0x1p-64 { // case (i), or time to fold it in
		for i := range c.m {
			c.m[i] *= c.scale
		}
		c.scale = 1
	}
	c.m[c.pos], c.m[c.neg] = c.l.mPos/c.scale, c.l.mNeg/c.scale
}

// judge fills in violators and margin, in units of |(w, xi)|, which is 1/sqrt(norm2).
func (c *pummaPasses[T]) judge(r *learner.FitResult) {
	r.Violators, r.Margin, r.Bound = 0, math.NaN(), math.Inf(1)
	if c.known {
		r.Bound = math.Sqrt(c.bound2)
	}
	least := math.Inf(1)
	for k := range c.b.Len() {
		w, counts := inverseWeight(c.b, k)
		if !counts {
			continue
		}
		m := c.margin(k, w)
		if least = min(least, m); m < 1-c.l.cfg.Delta {
			r.Violators++
		}
	}
	if c.l.norm2 > 0 {
		r.Margin = float64(least * math.Sqrt(c.l.norm2))
	}
}

// Bound returns |u|: no hyperplane has a larger margin, in the p-norm, on the examples learned so
// far.
func (l *pumma[T]) Bound() float64 { return math.Sqrt(l.norm2) }

// Score is Learner.Score.
func (l *pumma[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.hypothesis()
	return p.Score(b, dst)
}

func (l *pumma[T]) hypothesis() primal.WideWeights[T] {
	return primal.WideWeights[T]{Name: "pumma", W: l.powers(), Divisor: l.div, Bias: l.b,
		Biased: true}
}

// Snapshot is Learner.Snapshot.
func (l *pumma[T]) Snapshot() learner.Predictor[T] { return l.hypothesis().Copied() }

// View is for [learner.ViewOf].
func (l *pumma[T]) View() learner.Predictor[T] { return l.hypothesis().View() }

// Weights is Learner.Weights; see also Bias.
func (l *pumma[T]) Weights() []float64 {
	p := l.hypothesis()
	return p.Weights()
}

// AddWeights is for [learner.AddWeights].
func (l *pumma[T]) AddWeights(sum []float64) []float64 {
	p := l.hypothesis()
	sum = primal.Grown(sum, len(p.W))
	for j, v := range p.W {
		sum[j] += v / p.Divisor
	}
	return sum
}

// Bias is Biased.Bias.
func (l *pumma[T]) Bias() float64 { return l.b }

// Updates is Learner.Updates.
func (l *pumma[T]) Updates() int64 { return l.updates }

// Bytes is Learner.Bytes.
func (l *pumma[T]) Bytes() int64 {
	sum := int64(unsafe.Sizeof(*l))
	for _, v := range [...][]float64{l.w, l.u.v, l.u.r, l.pos, l.neg, l.x, l.d, l.v.v, l.v.r,
		l.onPos.val, l.onNeg.val, l.onX.val, l.half, l.along, l.from.v, l.toward.v, l.toward.r} {
		sum += primal.BytesOf(v)
	}
	return sum + 4*int64(cap(l.onPos.idx)+cap(l.onNeg.idx)+cap(l.onX.idx)+cap(l.at))
}

// State is Learner.State: the tensors u, pos and neg, from which w follows, and the bias; after
// sparse examples t in place of u, and w where it does not follow.
func (l *pumma[T]) State() learner.State { return learner.StateOf(l.fields) }

// SetState is Learner.SetState.
func (l *pumma[T]) SetState(s learner.State) error { return learner.SetState("pumma", s, l.fields) }

// CheckState is Learner.CheckState.
func (l *pumma[T]) CheckState(s learner.State) error {
	return learner.CheckState("pumma", s, l.fields)
}

func (l *pumma[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	c.Scalar("b", &l.b)
	kept := learner.Count(c, "kept", &l.kept)
	c.Want(kept <= keptPos|keptNeg, "counter %q is %d", "kept", kept)
	share := func(name string, v *float64) float64 {
		m := c.Scalar(name, v)
		c.Want(m >= 0 && m <= 1, "scalar %q is %v, want one in [0, 1]", name, m)
		return m
	}
	share("m_pos", &l.mPos)
	share("m_neg", &l.mNeg)
	m2 := c.Scalar("m2", &l.m2)
	c.Want(m2 >= 0, "scalar %q is %v, want a number >= 0", "m2", m2)
	l.inverseFields(c)
	if !c.Optional("u", l.c == 0) {
		l.sparseFields(c, kept, m2)
		return
	}
	u := learner.Vector(c, "u", &l.u.v)
	dim := len(u)
	c.PerFeature("u", dim)
	for _, t := range []struct {
		name string
		x    *[]float64
	}{{"pos", &l.pos}, {"neg", &l.neg}} {
		x := learner.Vector(c, t.name, t.x)
		c.Want(len(x) == dim, "tensor %q has %d elements, the others %d", t.name, len(x), dim)
	}
	c.Part(learner.CutPrefix, &l.cut, margin.CheckPassCut)
	if !c.Reading() {
		return
	}
	c.Want(kept == keptPos|keptNeg || maxAbs(u) == 0, "tensor %q is not 0, of one label", "u")
	point, norm2 := dualPoint{v: u}, 0.0
	if l.p > 2 {
		point.r = make([]float64, dim)
	}
	if kept == keptPos|keptNeg {
		point.measure(&l.to)
		norm2 = point.norm2 + float64(m2*l.invC)
		c.Want(norm2 > 0, "tensor %q has length %v", "u", math.Sqrt(norm2))
	}
	c.Then(func() {
		l.c, l.div, l.sum = 0, 1, primal.Sum{}
		point.v = l.u.v // the copy
		l.u, l.norm2, l.v = point, norm2, dualPoint{v: make([]float64, dim)}
		l.w, l.x, l.d = make([]float64, dim), make([]float64, dim), make([]float64, dim)
		if l.p > 2 {
			l.v.r = make([]float64, dim)
		}
		if kept == keptPos|keptNeg {
			l.u.hypothesis(l.w, norm2)
		}
	})
}

// inverseFields is the part of fields that is 1/w of xpos and xneg, which a State of weights of 1
// lacks.
func (l *pumma[T]) inverseFields(c *learner.Codec) {
	r := [2]float64{1, 1}
	for i, v := range [2]*float64{&l.rNeg, &l.rPos} {
		name := [2]string{"r_neg", "r_pos"}[i]
		if c.Optional(name, *v != 1) {
			r[i] = c.Scalar(name, v)
			c.Want(r[i] >= 0, "scalar %q is %v, want a number >= 0", name, r[i])
		}
	}
	c.Then(func() { l.rNeg, l.rPos = r[0], r[1] })
}

// FitPUMMARows is [PUMMA.Fit] for p = 2 in the space of a kernel (section 4.1), over the rows of
// the examples' Gram matrix. weights are those of the examples, nil where all are 1; with a hard
// margin there are none. It keeps the scores s_k = u . x_k of all examples, which (A) changes by
//
//	s' = (1-tau) s + tau (K(xpos, .) - K(xneg, .)) / 2
//
// and takes (19) from them. Rounding errors shrink with s and do not add up. The slacks are those
// of K + delta_ij/C.
//
// Cost: a number an example to check; two rows and O(examples) an update. Memory: two float64 an
// example beside the rows.
func FitPUMMARows[T learner.Float](ctx context.Context, rows engine.RowSource[T], y,
	weights []float64, cfg PUMMAConfig, o learner.FitOptions) (learner.MarginDual, error) {
	if err := cfg.Validate(); err != nil {
		return learner.MarginDual{}, err
	}
	if err := margin.CheckOptions("pumma", &o, true, true); err != nil {
		return learner.MarginDual{}, err
	}
	switch {
	case cfg.P != "2":
		return learner.MarginDual{}, fmt.Errorf("pumma: p is %s, kernels have p = 2 only: %w",
			cfg.P, learner.ErrConfig)
	case o.Delta != 0:
		return learner.MarginDual{}, fmt.Errorf("pumma: Delta is %v: the soft margin is set by "+
			"soft-c, 1/Delta^2: %w", o.Delta, learner.ErrConfig)
	}
	// (U), (F)
	c := margin.RowSolver[T]{Rows: rows, Y: y, Weights: weights, Bias: true, Violates: func(m,
		delta float64) bool {
		return m < 1-delta
	}}
	if cfg.SoftC > 0 {
		c.Ridge = 1 / cfg.SoftC
	}
	return c.Fit(ctx, "pumma", cfg.Delta, true, o)
}
