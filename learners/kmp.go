package learners

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*kmp[float32])(nil)

func init() { learner.Register("kmp", (*KMPConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*KMPConfig) Entry() learner.Entry {
	return learner.EntryFor(KMPConfig{Size: 100,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newKMP[float32], newKMP[float64], learner.Entry{
			Summary: "kernel matching pursuit: least squares by few examples, chosen greedily " +
				"(batch only)",
		})
}

// kmp fits the labels by a sum over few examples, each step by the one that lowers the sum of
// squares most.
//
// Reference: P. Vincent, Y. Bengio, "Kernel Matching Pursuit", Machine Learning 48, 2002, as figure
// 4 of J. Weston, A. Bordes, L. Bottou, "Online (and Offline) on an Even Tighter Budget", AISTATS
// 2005. With the residuals r_i = y_i - f(x_i) and K_j = (K(x_j, x_i))_i:
//
//	(1) k = argmax_j (K_j . r)^2 / K_j . K_j,   alpha = K_k . r / K_k . K_k
//	(2) basic: f += alpha K(x_k, .)
//	(3) backfitting: the coefficients of all chosen examples are fitted anew
//
//	paper       here             shape, unit
//	p           Config.Size      steps
//	alpha_i     coef             one a chosen example, signed; basic may choose one again
//	y - f       residual         one an example
//
// Deviations: the figure prints y_j for y_i, and t for the k that is inserted. Steps end early
// where none lowers the sum of squares by more than rounding does.
//
// Guarantee: the choices and coefficients of an independent implementation, in order:
// TestGoldenKMP.
//
// Cost: half the Gram matrix a step, since it is symmetric, of which FitOptions.GramBytes are kept:
// all of 10,000 examples in float32, of more nearly none; and the rows of those that may be the
// one. Without a kernel only the first step: then O(non-zeros). Backfitting O(size) more inner
// products of examples' length. Memory: up to 37 float64 and sixteen T an example; backfitting
// one an example and step. Concurrency: the sums over rows, and the rows, in parts on the pool.
type kmp[T learner.Float] struct {
	primal.Stored
	cfg     KMPConfig
	pool    *engine.Pool
	sum     kept.Sum[T]
	updates int64
}

// KMPConfig holds the settings of KMP.
type KMPConfig struct {
	// Size is the maximum number of steps; each chooses an example. Default 100; 1 to 2^31-1.
	Size int `json:"size" flag:"size"`
	// Backfit refits all coefficients at each step. Default false.
	Backfit bool `json:"backfit" flag:"backfit"`

	learner.KernelConfig
}

// Validate wants Size > 0 and a kernel.
func (c *KMPConfig) Validate() error {
	if err := learner.CheckSetting("kmp", "size", c.Size, c.Size >= 1 && c.Size <= math.MaxInt32,
		"a number of examples"); err != nil {
		return err
	}
	return c.KernelConfig.Validate("kmp")
}

// Traits is Config.Traits.
func (c *KMPConfig) Traits() learner.Traits {
	t := learner.KernelTraits(c.EngineKernel(), 0)
	t.Stream, t.Whole, t.OwnLimit = false, true, true
	t.Threads = "kernel rows, and the sums over them"
	t.Memory = c.memory
	return t
}

// memory is Traits.Memory: kernel rows, some float64 an example, backfitting one an example and
// step; and the chosen examples.
func (c *KMPConfig) memory(x learner.Extent) learner.Footprint {
	var f learner.Footprint
	size := min(int64(c.Size), x.Examples)
	kept.AddRows(&f, x, x.Elem, size, (5+2*pursuitParts)*8+
		pursuitRows*x.Elem)
	if c.Linear() {
		f.Add("sum of examples", x.Features, learner.Times(8, x.Features))
	}
	if c.Backfit {
		f.Add("orthogonal rows", size, learner.Times(8, size, x.Examples+size+16))
	}
	return f
}

func newKMP[T learner.Float](cfg KMPConfig, env learner.Env) (learner.Learner[T], error) {
	sum, err := kept.NewSum[T]("kmp", kept.Batch, cfg.EngineKernel(), env.Pool)
	l := &kmp[T]{Stored: primal.Stored{Name: "kmp"}, cfg: cfg, pool: env.Pool, sum: sum}
	l.Walk = l.fields
	return l, err
}

// Learn returns an error that wraps ErrBatch.
func (l *kmp[T]) Learn(*engine.Block[T], []learner.Round) error {
	return fmt.Errorf("kmp: %w", learner.ErrBatch)
}

// Fit is Fitter.Fit. It starts anew every time; an update is a step. Violators are the examples
// with y f <= 0. When ctx ends the state is unchanged.
func (l *kmp[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	if err := margin.CheckFit("kmp", b, &o, margin.Fits{
		NoDelta: "least squares have no soft margin"}); err != nil {
		return learner.FitResult{}, err
	}
	n := b.Len()
	list, err := engine.NewPoints[T](l.cfg.EngineKernel())
	if err != nil {
		return learner.FitResult{}, fmt.Errorf("kmp: %w", err)
	}
	list.Append(b, 0, n)
	cache := max(0, o.GramBytes)
	p := newPursuit(engine.NewRows(list, cache, n, l.pool), b.Y, cache, l.cfg.Backfit)
	p.parts.pool = l.pool
	if l.cfg.Linear() {
		p.linear, p.sum = b, make([]float64, b.Dim)
	}
	r := learner.FitResult{Margin: math.NaN(), Bound: math.Inf(1), ScoreSpace: true}
	for r.Updates < int64(l.cfg.Size) {
		more, err := p.step(ctx)
		if err != nil {
			return learner.FitResult{}, err
		}
		if !more {
			break
		}
		r.Updates++
		r.Epochs++
		if r.Updates == o.MaxUpdates {
			break
		}
	}
	r.Converged = r.Updates == int64(l.cfg.Size) || r.Updates != o.MaxUpdates
	for i, v := range p.residual {
		if y := float64(b.Y[i]); float64(y*(y-v)) <= 0 {
			r.Violators++
		}
	}
	l.sum.SetSupport(b, p.solve())
	l.updates += r.Updates
	r.Counter, r.KernelRows = l.updates+1, p.rows.Stats()
	return r, nil
}

// pursuit is a run of Fit.
type pursuit[T learner.Float] struct {
	rows     *engine.Rows[T]
	residual []float64
	dot      []float64 // K_j . r, but for rounding
	square   []float64 // K_j . K_j, but for rounding; nil before the first step
	triangle int       // of so many examples the values K_ij, j <= i, fit into the cache
	row      []T       // pursuitRows rows of examples beyond
	parts    rowParts[T]
	linear   *engine.Block[T] // the examples, if K is their inner product
	sum      []float64        // then: sum_i r_i x_i
	coef     []float64        // basic: one an example
	backfit  bool
	chosen   []int       // backfitting: K_chosen[t] = sum_s R[t][s] q[s], s <= t, q orthonormal
	q, R     [][]float64 //
	score    []float64   // q_t . y
}

// pursuitRows rows at a time go over the features of all examples.
const pursuitRows = 16

// newPursuit returns the run on these rows, of which the cache may take so many bytes.
func newPursuit[T learner.Float](rows *engine.Rows[T], y []T, cache int64,
	backfit bool) *pursuit[T] {
	n := len(y)
	p := &pursuit[T]{rows: rows, residual: make([]float64, n), dot: make([]float64, n),
		coef: make([]float64, n), backfit: backfit}
	for i, y := range y {
		p.residual[i] = float64(y)
	}
	// three quarters of the cache, whose parts fill unevenly
	p.triangle = int(math.Sqrt(1.5 * float64(cache) / float64(unsafe.Sizeof(T(0)))))
	if n > p.triangle {
		p.row = make([]T, pursuitRows*n)
	}
	return p
}

// correlate sets dot, and square the first time, from the values K_ij, j <= i: the matrix is
// symmetric, but for rounding. Of inner products dot is one with a sum of examples.
func (p *pursuit[T]) correlate(ctx context.Context) error {
	first := p.square == nil
	if !first && p.linear != nil {
		p.correlateLinear()
		return ctx.Err()
	}
	if clear(p.dot); first {
		p.square = make([]float64, len(p.dot))
	}
	n := len(p.residual)
	if err := p.parts.run(ctx, p, min(n, p.triangle), first); err != nil {
		return err
	}
	dst := make([][]T, 0, pursuitRows)
	for i := p.triangle; i < n; i += pursuitRows {
		dst = dst[:0]
		for k := i; k < min(i+pursuitRows, n); k++ {
			dst = append(dst, p.row[(k-i)*n:][:k+1])
		}
		if err := p.rows.RowsInto(ctx, dst, i); err != nil {
			return err
		}
		for _, row := range dst {
			addRow(p.residual, row, p.dot, p.square, first)
		}
	}
	return nil
}

// addRow adds to the sums what the last row so far, K_ij for j <= i, has of them.
func addRow[T learner.Float](residual []float64, row []T, dot, square []float64, first bool) {
	i := len(row) - 1
	dot[i] += vecmath.DotMixed(residual[:i+1], row)
	vecmath.AxpyMixed(dot[:i], residual[i], row[:i])
	if first {
		addSquares(square, row)
	}
}

// pursuitParts is into how many parts the rows that fit into the cache are cut, with sums of their
// own, where a part has partValues values at least: some ten µs.
const pursuitParts, partValues = 16, 1 << 15

// rowParts is the work on cached rows, an engine.Job whose parts are as many values each.
type rowParts[T learner.Float] struct {
	p           *pursuit[T]
	ctx         context.Context
	pool        *engine.Pool
	n, parts    int // rows, cut into so many parts
	first       bool
	dot, square [pursuitParts][]float64
	err         [pursuitParts]error
}

// run adds the sums of the first n rows to those of the pursuit. Parts are cut by size alone, and
// added up in their order.
func (w *rowParts[T]) run(ctx context.Context, p *pursuit[T], n int, first bool) error {
	values := n * (n + 1) / 2
	w.p, w.ctx, w.n, w.first = p, ctx, n, first
	if w.parts = min(values/partValues, pursuitParts); w.parts < 2 {
		return w.rows(0, n, p.dot, p.square)
	}
	const perNS = 4 // values
	if err := w.pool.Spread(ctx, values/perNS, w.parts, w); err != nil {
		return err
	}
	for i := range w.parts {
		if w.err[i] != nil {
			return w.err[i]
		}
		hi := len(w.dot[i])
		vecmath.Axpy(p.dot[:hi], 1, w.dot[i])
		if first {
			vecmath.Axpy(p.square[:hi], 1, w.square[i])
			w.square[i] = nil
		}
	}
	return nil
}

// Part is engine.Job's.
func (w *rowParts[T]) Part(i int) {
	lo, hi := w.bound(i), w.bound(i+1)
	if w.dot[i] == nil {
		w.dot[i] = make([]float64, hi)
	}
	if clear(w.dot[i]); w.first {
		w.square[i] = make([]float64, hi)
	}
	w.err[i] = w.rows(lo, hi, w.dot[i], w.square[i])
}

// bound is where part i begins: rows from 0 to it have i parts of the values, but for one row.
func (w *rowParts[T]) bound(i int) int {
	return int(float64(w.n) * math.Sqrt(float64(i)/float64(w.parts)))
}

// rows adds what rows lo to hi-1 have of the sums.
func (w *rowParts[T]) rows(lo, hi int, dot, square []float64) error {
	for i := lo; i < hi; i++ {
		row, err := w.p.rows.Row(w.ctx, i, i+1)
		if err != nil {
			return err
		}
		addRow(w.p.residual, row, dot, square, w.first)
	}
	return nil
}

// correlateLinear is correlate by K_j . r = x_j . sum_i r_i x_i.
func (p *pursuit[T]) correlateLinear() {
	b := p.linear
	clear(p.sum)
	for i, r := range p.residual {
		if b.Dense() {
			vecmath.AxpyMixed(p.sum[:b.Dim], r, b.Row(i))
			continue
		}
		idx, val := b.Sparse(i)
		vecmath.SparseAxpyMixed(p.sum, r, idx, val)
	}
	for j := range p.dot {
		p.dot[j] = primal.DotMixed(b, j, p.sum)
	}
}

// addSquares adds the squares of the last row so far, K_ij for j <= i, to all sums with them.
func addSquares[T learner.Float](square []float64, row []T) {
	i := len(row) - 1
	sum := 0.0
	for j, v := range row {
		s := float64(float64(v) * float64(v))
		sum += s
		square[j] += s
	}
	square[i] = sum
}

// near bounds how far K_j . r may be off, in units of |K_j| |r|: a sum of up to 2^31 products in
// another order by 2^-22, values of float32 that are rounded to the other side by 2^-23.
const near = 0x1p-20

// best is (1). The sums of correlate leave the examples that may be the one, and of these the whole
// rows decide, in their order: so the choice does not depend on how the sums were made. Without one
// it is -1.
func (p *pursuit[T]) best(ctx context.Context) (best int, row []T, alpha, square float64,
	err error) {
	if err := p.correlate(ctx); err != nil {
		return 0, nil, 0, 0, err
	}
	top := 0.0
	for j, s := range p.square {
		if s != 0 {
			top = max(top, math.Abs(p.dot[j])/math.Sqrt(s))
		}
	}
	off := near * math.Sqrt(vecmath.SumSq(p.residual))
	enough := 0x1p-40 * float64(len(p.dot)) // what a step must gain
	if (top+off)*(top+off) <= enough {
		return -1, nil, 0, 0, nil
	}
	least, gain := top-off, 0.0
	best = -1
	for j, s := range p.square {
		if s == 0 || math.Abs(p.dot[j])/math.Sqrt(s) < least {
			continue
		}
		candidate, err := p.rows.Row(ctx, j, len(p.dot))
		if err != nil {
			return 0, nil, 0, 0, err
		}
		sum := 0.0
		for _, v := range candidate {
			sum += float64(float64(v) * float64(v))
		}
		dot := vecmath.DotMixed(p.residual, candidate)
		if g := dot * dot / sum; g > gain {
			best, gain, alpha, square, row = j, g, dot/sum, sum, candidate
		}
	}
	if !(gain > enough) {
		return -1, nil, 0, 0, nil
	}
	return best, row, alpha, square, nil
}

// step is (1) to (3). It reports whether there was one to make.
func (p *pursuit[T]) step(ctx context.Context) (bool, error) {
	best, row, alpha, square, err := p.best(ctx)
	if err != nil || best < 0 {
		return false, err
	}
	if !p.backfit {
		p.coef[best] += alpha // (2)
		vecmath.AxpyMixed(p.residual, -alpha, row)
		return true, nil
	}
	// (3) by Gram and Schmidt, twice over for the digits.
	q, R := make([]float64, len(row)), make([]float64, len(p.q)+1)
	for i, v := range row {
		q[i] = float64(v)
	}
	for range 2 {
		for s, other := range p.q {
			c := vecmath.Dot(q, other)
			vecmath.Axpy(q, -c, other)
			R[s] += c
		}
	}
	length := math.Sqrt(vecmath.SumSq(q))
	if !(length > 0x1p-30*math.Sqrt(square)) {
		return false, nil // a sum of those chosen
	}
	vecmath.Scal(q, 1/length)
	R[len(p.q)] = length
	c := vecmath.Dot(q, p.residual)
	vecmath.Axpy(p.residual, -c, q)
	p.chosen, p.q, p.R, p.score = append(p.chosen, best), append(p.q, q), append(p.R, R),
		append(p.score, c)
	return true, nil
}

// solve returns the coefficients, one an example.
func (p *pursuit[T]) solve() []float64 {
	for t := len(p.chosen) - 1; t >= 0; t-- { // sum_t coef_t R[t][s] = score_s
		c := p.score[t]
		for u := t + 1; u < len(p.chosen); u++ {
			c -= float64(p.coef[p.chosen[u]] * p.R[u][t])
		}
		p.coef[p.chosen[t]] = c / p.R[t][t]
	}
	return p.coef
}

func (l *kmp[T]) Score(b *engine.Block[T], dst []float64) error {
	return l.sum.Score(b, dst)
}

func (l *kmp[T]) Snapshot() learner.Predictor[T] { return l.sum.View() }

// View is for [learner.ViewOf].
func (l *kmp[T]) View() learner.Predictor[T] { return l.sum.View() }

// Weights returns nil: the hypothesis is a sum over chosen examples.
func (l *kmp[T]) Weights() []float64 { return nil }

// Support returns the number of examples chosen.
func (l *kmp[T]) Support() int { return len(l.sum.Coef) }

// Updates returns the steps made.
func (l *kmp[T]) Updates() int64 { return l.updates }

func (l *kmp[T]) Bytes() int64 { return l.sum.Bytes() + int64(unsafe.Sizeof(*l)) }

func (l *kmp[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	l.sum.SupportFields(c)
}
