package learners

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*sogp[float32])(nil)

func init() { learner.Register("sogp", (*SOGPConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*SOGPConfig) Entry() learner.Entry {
	return learner.EntryFor(SOGPConfig{Basis: 100, Noise: 1, Novelty: 1e-4,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newSOGP[float32], newSOGP[float64], learner.Entry{
			Summary: "sparse online Gaussian process: a kernel posterior on a fixed number of " +
				"basis points",
		})
}

// sogp is a Gaussian process classifier that learns each example by moment matching and keeps its
// posterior on at most M basis points.
//
// Reference: L. Csato, M. Opper, "Sparse On-Line Gaussian Processes", Neural Computation
// 14:641-668, 2002; (4) is that of L. Csato, "Gaussian Processes: Iterative Sparse Approximations",
// PhD thesis, Aston University, 2002, chapter 3, which is the nearest posterior in KL divergence,
// where the article's (score |alpha_i|/Q_ii) projects the basis point on the others. The posterior
// is the process of mean and covariance
//
//	m(x) = alpha'k(x),   c(x, x') = K(x, x') + k(x)'C k(x'),   k(x) = (K(b_1, x), ..., K(b_n, x))
//
// and P(y | f) = eps + (1-2 eps) Phi(y f/s0). With v = c(x, x), s^2 = s0^2 + v, z = y m(x)/s and h,
// d = h + z of the step factor at z:
//
//	(1) q = y h/s,   r = -h d/s^2: the first two derivatives of log Z by m
//	(2) s = (C k, 1),   alpha += q s,   C += r s s': x becomes a basis point
//	(3) Q += (e, -1)(e, -1)'/gamma,   e = Q k,   gamma = K(x, x) - k'e
//	    keeps Q the inverse of the basis points' Gram matrix
//	(4) of more than M the point of least alpha_i^2/(Q_ii + C_ii) goes; with Q* and C* its columns
//	    and q*, c* their own entries
//	    alpha -= alpha* (Q* + C*)/(q* + c*)
//	    C += Q* Q*'/q* - (Q* + C*)(Q* + C*)'/(q* + c*),   Q -= Q* Q*'/q*
//	(5) an example with gamma <= tol K(x, x) adds nothing to the span: s = C k + e instead of (2),
//	    and no (3)
//
//	paper     here              shape, unit
//	M         Config.Basis      basis points at most
//	s0        Config.Noise      of the scores; 0: the step likelihood
//	eps       Config.Eps        rate of wrong labels
//	tol       Config.Novelty    the Gram matrix of the basis points has about the condition 1/tol
//	                            at most, which costs as many digits
//	b_i       p.List            basis points; one that comes takes the slot of the one that went
//	alpha     p.Coef            one a basis point
//	C, Q      p.C, Q            n x n, symmetric
//
// Deviations: the likelihood has both kinds of noise; the paper's probit is eps = 0. An example is
// skipped where s^2 is not a positive finite number: in the range of rounding errors, with s0 =
// 0, or with infinite kernel values; Report counts them. Ties go to the lowest slot.
//
// Guarantee: mean, covariance and basis points of an independent implementation after every
// example: TestGoldenSOGP. Without (4) it is assumed density filtering in the space of functions,
// so with a linear kernel the posterior of the weights: TestSOGPIsADF. (4) is the posterior nearest
// to the old one among those on the points that stay: TestSOGPRemoval.
//
// Cost: a kernel row over the basis points and six passes over an M x M matrix an example; a
// probability one row and one pass. Memory: the basis points and 16 M^2 bytes.
type sogp[T learner.Float] struct {
	primal.Stored
	cfg SOGPConfig
	kept.Current[T]
	p       processSum[T]
	Q       []float64 // rows of p.stride elements
	updates int64
	passed  int64 // examples skipped

	ck, e, u, t []float64 // scratch

	kept int64 // Env.Kept
}

// SOGPConfig holds the settings of SOGP.
type SOGPConfig struct {
	// Basis is the limit on basis points. Default 100; 1 to 2^14.
	Basis int `json:"basis" flag:"basis"`
	// Noise is the standard deviation of the probit noise of scores, 0 for a step. Default 1; 0 or
	// more.
	Noise float64 `json:"noise" flag:"noise" tune:"0.001|0.01|0.1"`
	// Eps is the rate eps of label noise, 0 for none. Default 0; 0 to below 0.5.
	Eps float64 `json:"eps" flag:"label-noise"`
	// Novelty is the smallest fraction of K(x, x) outside the span of the basis points that adds an
	// example. Default 0.0001; 1e-6 to below 1.
	Novelty float64 `json:"novelty" flag:"novelty"`

	learner.KernelConfig
}

// Validate wants Basis > 0, Noise >= 0, 0 <= Eps < 1/2, not both 0, 1e-6 <= Novelty < 1 and a
// kernel.
func (c *SOGPConfig) Validate() error {
	if err := learner.CheckSetting("sogp", "basis", c.Basis, c.Basis >= 1 && c.Basis <= maxBasis,
		"a number of examples up to 16384"); err != nil {
		return err
	}
	if c.Noise == 0 && c.Eps == 0 {
		return fmt.Errorf("sogp: noise and label-noise are both 0, and labels that contradict "+
			"each other would leave no posterior: %w", learner.ErrConfig)
	}
	return errors.Join(
		learner.CheckSetting("sogp", "noise", c.Noise, c.Noise >= 0, "a number >= 0"),
		learner.CheckSetting("sogp", "label-noise", c.Eps, c.Eps >= 0 && c.Eps < 0.5,
			"a rate in [0, 1/2)"),
		learner.CheckSetting("sogp", "novelty", c.Novelty, c.Novelty >= leastNovelty &&
			c.Novelty < 1, "a share >= 1e-6 and < 1"),
		c.KernelConfig.Validate("sogp"))
}

// Traits is Config.Traits: noise of the scores, or of labels, helps where examples can't be taken
// up.
func (c *SOGPConfig) Traits() learner.Traits {
	t := learner.KernelTraits(c.EngineKernel(), int64(c.Basis))
	t.Proba, t.Posterior = true, true
	t.Remedies = []learner.Remedy{{Change: "raise", Setting: "noise"},
		{Change: "raise", Setting: "label-noise"}}
	t.Sizes = []string{"basis"}
	t.FitMemory = kept.FitMemory("sogp", maxBasis, func(n int) learner.Config {
		d := *c
		d.Basis = n
		return &d
	})
	t.Memory = c.memory
	return t
}

// memory is Traits.Memory: the basis points and two matrices.
func (c *SOGPConfig) memory(x learner.Extent) learner.Footprint {
	var f learner.Footprint
	n := min(int64(c.Basis), x.Examples)
	stride := (int64(c.Basis) + 8) &^ 7
	if x.Kept == 0 { // room for twice as many, made when it is needed
		stride = (min(2*n, int64(c.Basis)+1)+8)&^7 + 8
		f.Moving = 2 * 8 * stride * stride
	}
	kept.AddKept(&f, x, "basis points", n, x.Kept, false)
	f.Add("elements of two matrices", 2*stride*stride, 2*8*stride*stride+6*8*stride)
	f.Each = 2 * 8 * stride * stride
	if x.Saved {
		f.Copies = learner.Plus(f.Copies, 2*8*n*n)
	}
	kept.AddCurrent(&f, x, 1)
	return f
}

// leastNovelty bounds the condition of the basis points' Gram matrix by 1e6. Errors of C and Q grow
// with its square: to 1e12 2^-53 M, some percent with hundreds of points. On one-hot examples of
// low rank 1e-6 still learns as 1e-4 does, and with 1e-8 the variances turn negative and nothing is
// learned any more.
const leastNovelty = 1e-6

// maxBasis basis points have matrices of 2 GB each.
const maxBasis = 1 << 14

func newSOGP[T learner.Float](cfg SOGPConfig, env learner.Env) (learner.Learner[T], error) {
	mean, err := kept.NewSum[T]("sogp", kept.Stream, cfg.EngineKernel(), nil)
	if err != nil {
		return nil, err
	}
	l := &sogp[T]{Stored: primal.Stored{Name: "sogp"}, cfg: cfg, kept: env.Kept,
		p: processSum[T]{Sum: mean, noise: cfg.Noise, eps: cfg.Eps,
			spares: new(scratch.Stack[processScore[T]])}}
	l.Walk = l.fields
	if l.kept > 0 {
		l.room(cfg.Basis + 1)
	}
	return l, nil
}

func (l *sogp[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckBlock("sogp", b, len(rounds)); err != nil {
		return err
	}
	for i := range b.Len() {
		l.room(len(l.p.Coef) + 1)
		m, v := l.p.moments(&l.Current, l.ck, b, i)
		rounds[i] = learner.Round{Score: m}
		learned, err := l.learn(float64(b.Y[i]), m, v)
		if err != nil {
			return err
		}
		if learned {
			l.updates++
			rounds[i].Updates = 1
		}
	}
	return nil
}

// room makes room for n basis points.
func (l *sogp[T]) room(n int) {
	if n <= l.p.stride {
		return
	}
	stride := (max(n, min(2*n, l.cfg.Basis+1)) + 7) &^ 7
	for _, A := range []*[]float64{&l.p.C, &l.Q} {
		old := *A
		*A = engine.Aligned[float64](stride * stride)
		for j := range l.p.Coef {
			copy((*A)[j*stride:], old[j*l.p.stride:][:l.p.stride])
		}
	}
	l.p.stride = stride
	l.ck, l.e, l.u, l.t = make([]float64, stride), make([]float64, stride), make([]float64, stride),
		make([]float64, stride)
}

// learn learns the example in hand, of label y, mean m and variance v. It reports whether it did;
// the error is that of [kept.Current.CheckRoom].
func (l *sogp[T]) learn(y, m, v float64) (bool, error) {
	s2 := float64(l.cfg.Noise*l.cfg.Noise) + v
	if !(s2 > 0) || s2-s2 != 0 || m-m != 0 {
		if l.p.List.DiagOf(&l.Example, 0) != 0 { // else it has no features
			l.passed++
		}
		return false, nil
	}
	s := math.Sqrt(s2)
	f := gauss.NewStepFactor(float64(y*m)/s, l.cfg.Eps)
	q, r := float64(y*f.H)/s, -float64(f.H*f.D)/s2 // (1)
	if q-q != 0 || r-r != 0 {
		l.passed++
		return false, nil
	}
	if q == 0 && r == 0 { // it was as sure as numbers are
		return false, nil
	}
	n, own := len(l.p.Coef), float64(l.p.List.DiagOf(&l.Example, 0))
	e, u := l.e[:n+1], l.u[:n+1]
	vecmath.RowsDot(e[:n], l.Q[:n*l.p.stride], l.p.stride, l.Wide)
	gamma := own - vecmath.Dot(l.Wide, e[:n])
	copy(u, l.ck[:n])
	if gamma > float64(l.cfg.Novelty*own) {
		if err := l.CheckRoom("sogp", l.p.List, l.kept, n < l.cfg.Basis); err != nil {
			return false, err
		}
		l.p.Coef = append(l.p.Coef, 0)
		e[n], u[n] = -1, 1
		for j := range n + 1 {
			l.p.C[j*l.p.stride+n], l.p.C[n*l.p.stride+j] = 0, 0
			l.Q[j*l.p.stride+n], l.Q[n*l.p.stride+j] = 0, 0
		}
		vecmath.Scal(e, 1/math.Sqrt(gamma))
		l.outer(l.Q, e, 1) // (3)
		n++
	} else {
		u = u[:n]
		vecmath.Axpy(u, 1, e[:n]) // (5)
	}
	vecmath.Axpy(l.p.Coef, q, u) // (2)
	vecmath.Scal(u, math.Sqrt(math.Abs(r)))
	l.outer(l.p.C, u, math.Copysign(1, r))
	switch {
	case n > l.cfg.Basis:
		j := l.least()
		if l.remove(j); j < n-1 {
			l.p.List.Replace(j, &l.Example, 0)
		}
	case n > l.p.List.Len():
		l.p.List.Append(&l.Example, 0, 1)
	}
	return true, nil
}

// outer adds sign u u' to A, which stays symmetric to the bit.
func (l *sogp[T]) outer(A, u []float64, sign float64) {
	for j, v := range u {
		vecmath.Axpy(A[j*l.p.stride:][:len(u)], float64(sign*v), u)
	}
}

// least returns the basis point to remove, (4).
func (l *sogp[T]) least() int {
	best, least := len(l.p.Coef)-1, math.Inf(1)
	for j, a := range l.p.Coef {
		at := j*l.p.stride + j
		if d := l.Q[at] + l.p.C[at]; d > 0 { // else the posterior is sure of it, up to rounding
			if score := float64(a*a) / d; score < least {
				best, least = j, score
			}
		}
	}
	return best
}

// remove removes basis point j, (4), and moves the last one there.
func (l *sogp[T]) remove(j int) {
	n := len(l.p.Coef)
	u, t := l.u[:n], l.t[:n]
	copy(u, l.Q[j*l.p.stride:][:n])
	copy(t, l.p.C[j*l.p.stride:][:n])
	vecmath.Axpy(t, 1, u) // Q* + C*
	q, d := u[j], t[j]
	vecmath.Scal(u, 1/math.Sqrt(q))
	if d > 0 {
		vecmath.Axpy(l.p.Coef, -l.p.Coef[j]/d, t)
		vecmath.Scal(t, 1/math.Sqrt(d))
		l.outer(l.p.C, t, -1)
	}
	l.outer(l.p.C, u, 1)
	l.outer(l.Q, u, -1)
	n--
	l.p.Coef[j] = l.p.Coef[n]
	l.p.Coef = l.p.Coef[:n]
	for _, A := range [2][]float64{l.p.C, l.Q} {
		copy(A[j*l.p.stride:], A[n*l.p.stride:][:n])
		for k := range n {
			A[k*l.p.stride+j] = A[j*l.p.stride+k]
		}
		A[j*l.p.stride+j] = A[n*l.p.stride+n]
	}
}

// Score is Learner.Score: the mean of f.
func (l *sogp[T]) Score(b *engine.Block[T], dst []float64) error { return l.p.Score(b, dst) }

// Proba is Prober.Proba: eps + (1-2 eps) Phi(m/sqrt(s0^2 + v)).
func (l *sogp[T]) Proba(b *engine.Block[T], dst []float64) error { return l.p.Proba(b, dst) }

func (l *sogp[T]) Snapshot() learner.Predictor[T] { return l.p.copied() }

// View is for [learner.ViewOf].
func (l *sogp[T]) View() learner.Predictor[T] { return l.p.view() }

// Weights returns nil: the hypothesis is a sum over kept examples.
func (l *sogp[T]) Weights() []float64 { return nil }

// Report returns how many examples were skipped.
func (l *sogp[T]) Report() learner.PosteriorReport {
	return learner.PosteriorReport{Passed: l.passed}
}

func (l *sogp[T]) Support() int { return l.p.List.Len() }

func (l *sogp[T]) Updates() int64 { return l.updates }

func (l *sogp[T]) Bytes() int64 {
	return l.p.Bytes() + l.Current.Bytes() + primal.BytesOf(l.Q) + 4*primal.BytesOf(l.ck) +
		int64(unsafe.Sizeof(*l))
}

func (l *sogp[T]) fields(c *learner.Codec) {
	updates, passed := learner.Count(c, "updates", &l.updates), int64(0)
	if c.Optional("passed", l.passed > 0) {
		passed = learner.Count(c, "passed", &l.passed)
	}
	var C, Q []float64
	if n := len(l.p.Coef); c.Writing() {
		C, Q = triangle(l.p.C, l.p.stride, n), triangle(l.Q, l.p.stride, n)
	}
	alpha := learner.Vector(c, "alpha", &l.p.Coef)
	C, Q = learner.View(c, "C", C), learner.View(c, "Q", Q)
	b := kept.ExampleFields(c, "basis", l.p.List, -1)
	n := len(alpha)
	if c.Reading() {
		c.Want(b.Len() == n && len(C) == n*(n+1)/2 && len(Q) == len(C) && n <= l.cfg.Basis,
			"%d coefficients, %d and %d elements of triangles, %d basis points, at most %d", n,
			len(C), len(Q), b.Len(), l.cfg.Basis)
	}
	if !c.Keeping() {
		return
	}
	c.Then(func() {
		l.p.Sum, l.p.stride, l.Current = l.p.Cleared(), 0, kept.Current[T]{}
		l.p.List.Append(&b, 0, n)
		if l.room(n + 1); l.kept > 0 {
			l.room(l.cfg.Basis + 1)
		}
		l.p.Coef = slices.Clone(alpha)
		setTriangle(l.p.C, l.p.stride, C)
		setTriangle(l.Q, l.p.stride, Q)
		l.updates, l.passed = updates, passed
	})
}

// triangle returns the lower triangle of a symmetric n x n matrix of rows of stride elements.
func triangle(A []float64, stride, n int) []float64 {
	t := make([]float64, 0, n*(n+1)/2)
	for j := range n {
		t = append(t, A[j*stride:][:j+1]...)
	}
	return t
}

// setTriangle sets A to the symmetric matrix with that lower triangle.
func setTriangle(A []float64, stride int, t []float64) {
	for j := 0; len(t) > 0; j++ {
		for k, v := range t[:j+1] {
			A[j*stride+k], A[k*stride+j] = v, v
		}
		t = t[j+1:]
	}
}

// processSum is the posterior process of [SOGPConfig]: its mean is a [kept.Sum].
type processSum[T learner.Float] struct {
	kept.Sum[T]
	C          []float64 // rows of stride elements, one a kept example
	stride     int
	noise, eps float64 // s0 and the rate of wrong labels
	spares     *scratch.Stack[processScore[T]]
}

// processScore is scratch of a Proba: an example in hand, and C k.
type processScore[T learner.Float] struct {
	kept.Current[T]
	ck []float64
}

func (h *processScore[T]) bytes() int64 { return h.Current.Bytes() + primal.BytesOf(h.ck) }

// moments takes example i of a checked block in hand and returns the mean and the variance of f
// there. C k is left in ck.
func (p *processSum[T]) moments(h *kept.Current[T], ck []float64, b *engine.Block[T],
	i int) (m, v float64) {
	h.Take(p.List, b, i)
	n := len(p.Coef)
	vecmath.RowsDot(ck[:n], p.C[:n*p.stride], p.stride, h.Wide)
	return vecmath.Dot(p.Coef, h.Wide), float64(p.List.DiagOf(&h.Example, 0)) +
		vecmath.Dot(h.Wide, ck[:n])
}

// Proba is Prober.Proba: eps + (1-2 eps) Phi(m/sqrt(s0^2 + v)).
func (p *processSum[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows(p.Name, b, len(dst)); err != nil {
		return err
	}
	h := p.spares.Take()
	defer p.spares.Give(h)
	h.ck = primal.Grown(h.ck, p.stride)
	for i := range b.Len() {
		m, v := p.moments(&h.Current, h.ck, b, i)
		s2 := float64(p.noise*p.noise) + max(0, v)
		share := 0.5
		if m != 0 {
			share = gauss.NormalCDF(m / math.Sqrt(s2))
		}
		dst[i] = math.FMA(1-2*p.eps, share, p.eps)
	}
	return nil
}

func (p *processSum[T]) Bytes() int64 {
	return p.Sum.Bytes() + primal.BytesOf(p.C) + p.spares.Bytes((*processScore[T]).bytes) +
		int64(unsafe.Sizeof(*p)-unsafe.Sizeof(p.Sum))
}

// State is Predictor.State: the basis points, their coefficients and the lower triangle of C.
func (p *processSum[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *processSum[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.Name, s, p.Fields)
}

func (p *processSum[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	return primal.Restored(p.Name, &processSum[T]{Sum: p.Cleared(), noise: p.noise, eps: p.eps,
		spares: new(scratch.Stack[processScore[T]])}, s)
}

func (p *processSum[T]) Fields(c *learner.Codec) {
	n := p.SupportFields(c)
	var C []float64
	if c.Writing() {
		C = triangle(p.C, p.stride, n)
	}
	C = learner.View(c, "C", C)
	c.Want(n <= maxBasis && len(C) == n*(n+1)/2, "%d elements of a triangle, %d basis points",
		len(C), n)
	c.Then(func() {
		p.stride = (n + 7) &^ 7
		p.C = engine.Aligned[float64](n * p.stride)
		setTriangle(p.C, p.stride, C)
	})
}

// copied returns a copy with memory of its own.
func (p processSum[T]) copied() learner.Predictor[T] {
	n := len(p.Coef)
	C, stride := p.C, (n+7)&^7
	p.C = engine.Aligned[float64](n * stride)
	for j := range n {
		copy(p.C[j*stride:], C[j*p.stride:][:n])
	}
	p.Sum, p.stride, p.spares = *p.Copied(), stride, new(scratch.Stack[processScore[T]])
	return &p
}

// view returns the same posterior; good until it changes.
func (p processSum[T]) view() learner.Predictor[T] { return &p }
