package learners

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*pumma[float32])(nil)

func init() { learner.Register("pumma", (*PUMMAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*PUMMAConfig) Entry() learner.Entry {
	return learner.EntryFor(PUMMAConfig{P: "2", Delta: 0.01,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newPUMMA[float32], newPUMMA[float64], learner.Entry{
			Summary:  "PUMMA, approximate maximal p-norm margin with a direct bias, p >= 2",
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
// [ROMMAConfig] given the pairs z/2 (Theorem 2): TestPairsArePUMMA, TestPairsMargin.
//
// Dense examples have u as it is. Of sparse examples it is kept as c t with S = sum |t_i|^p. For p
// = 2 an update adds multiples of two examples to t, and all else follows from inner products: (H)
// and (I) below. S is then carried along with a bound of its error, and summed again if that is
// more than 2^-38 of it.
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
// ROMMA, for p > 2 with about four powers for each, and O(features) every few thousand updates; one
// of dense examples is O(features). Memory: seven float64 a feature, eight for p > 2, of dense
// examples; one, for p > 2 two, of sparse ones.
type pumma[T learner.Float] struct {
	primal.Stored
	cfg     PUMMAConfig
	p       float64
	to      pummaPowers
	invC    float64    // 1/C, 0 for a hard margin
	w       []float64  // div times the weights; after sparse examples with p = 2 that is u
	u       []float64  // u, or t of u = c t
	kept    uint64     // labels seen: keptPos | keptNeg
	norm2   float64    // |u|^2, slacks included
	b       float64    // bias
	m, r    [2]float64 // of xneg and xpos: the coordinate m, and 1 over the weight
	m2      float64    // sum of all m_i^2 / w_i
	updates int64
	cut     *learner.State // where a Fit was cut; nil if none was, or something was learned since

	// After dense examples
	dense   [2][]float64 // xneg, xpos
	length  dualLength   // of u
	x, d, v []float64    // scratch: an example, the segment, a point of it
	powered []float64    // scratch, for p > 2: powers of a point of the segment

	// After sparse examples
	c      float64          // 0 after dense examples
	div    float64          // (B) is t's powers divided by this; 1 after dense examples
	sum    primal.Sum       // S
	steps  bool             // some of w are as steps made them, else all are what power makes of t
	sparse [2]sparseExample // xneg, xpos
	onX    sparseExample    // scratch: an example
	marks  [2]featureMarks  // of xneg and xpos
	at     []int32          // scratch: where z is not 0
	half   []float64        // scratch: z/2 there
	line   powerSegment     // scratch: the segment there
}

// PUMMAConfig holds the settings of PUMMA.
type PUMMAConfig struct {
	// P is the p of |x|_p, the norm of the examples, or auto for 2 ln n, n features. Default 2; 2
	// or more, or auto.
	P string `json:"p" flag:"p"`
	// Delta is the fraction of the maximal margin given up. Default 0.01; above 0 to 1.
	Delta float64 `json:"delta" flag:"delta"`
	// SoftC is the weight C of the squared slacks (2-norm soft margin), 0 for a hard margin;
	// repeated examples count separately. Default 0; 0 or more.
	SoftC float64 `json:"soft_c" flag:"soft-c"`
	// Budget is the limit on support vectors of a stream, 0 for none. Default 0; 0 to 2^31-1, not
	// 1.
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
		t.Memory = c.memory
		return t
	}
	if c.Budget > 0 {
		t.Whole, t.ActiveSet, t.Halving = false, false, false
	}
	return onlineTraits("pumma", t, &c.KernelConfig, c.Budget, 2, sized(c))
}

func (c *PUMMAConfig) budget() *int { return &c.Budget }

// memory is Traits.Memory: of dense examples 7 float64 a feature, 8 for p > 2, of sparse ones 1 and
// 2; and what passes take; with a kernel the kept examples, or what goes over the rows of a whole
// data set.
func (c *PUMMAConfig) memory(x learner.Extent) learner.Footprint {
	vectors := int64(7)
	if !x.Dense {
		vectors = 1
	}
	if c.P != "2" {
		vectors++
	}
	var f learner.Footprint
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
	l := &pumma[T]{Stored: primal.Stored{Name: "pumma"}, cfg: cfg, p: p, div: 1,
		r: [2]float64{1, 1}}
	if cfg.SoftC > 0 {
		l.invC = 1 / cfg.SoftC
	}
	l.to, l.Walk = pummaPowersOf(l.p), l.fields
	return l, nil
}

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

// Bound returns |u|: no hyperplane has a larger margin, in the p-norm, on the examples learned so
// far.
func (l *pumma[T]) Bound() float64 { return math.Sqrt(l.norm2) }

func (l *pumma[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.hypothesis()
	return p.Score(b, dst)
}

func (l *pumma[T]) hypothesis() primal.WideWeights[T] {
	return primal.WideWeights[T]{Name: "pumma", W: l.powers(), Divisor: l.div, Bias: l.b,
		Biased: true}
}

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

func (l *pumma[T]) Bias() float64 { return l.b }

func (l *pumma[T]) Updates() int64 { return l.updates }

func (l *pumma[T]) Bytes() int64 {
	sum := int64(unsafe.Sizeof(*l))
	for _, v := range [...][]float64{l.w, l.u, l.dense[0], l.dense[1], l.x, l.d, l.v, l.powered,
		l.sparse[0].val, l.sparse[1].val, l.onX.val, l.half, l.line.u, l.line.d, l.line.v,
		l.line.r} {
		sum += primal.BytesOf(v)
	}
	return sum + 4*int64(cap(l.sparse[0].idx)+cap(l.sparse[1].idx)+cap(l.onX.idx)+cap(l.at))
}
