package learners

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
	"github.com/halfspace-ml/halfspace/learners/internal/linalg"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*ngLearner[float32])(nil)

func init() { learner.Register("ng", (*NGConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*NGConfig) Entry() learner.Entry {
	return learner.EntryFor(NGConfig{Buffer: 30, Rank: 5, Decay: 0.995, Lambda: 1, Eta: 1,
		EtaDecay: 0.002},
		newNG[float32], newNG[float64], learner.Entry{
			Summary: "TONGA: logistic regression by a low-rank online natural gradient",
		})
}

// ngLearner descends the logistic loss along the natural gradient, for which it keeps the uncentred
// covariance of the gradients as k leading eigenvectors and the gradients since these were taken.
//
// Reference: N. Le Roux, P.-A. Manzagol, Y. Bengio, "Topmoumoute Online Natural Gradient
// Algorithm", NIPS 2007. With the loss log(1 + exp(-y w.x)), its gradient g_t and the matrix of
// columns
//
//	X_t = [gamma^(t/2) U, gamma^((t-1)/2) g_1, ..., gamma^(1/2) g_{t-1}, g_t]
//
//	(1) v_t = (X_t X_t' + lambda I)^-1 g_t = X_t (X_t' X_t + lambda I)^-1 e_last
//	(2) w -= eta/(1 + c n) v_t      after n steps
//	(3) after b gradients U becomes the k leading eigenvectors of X_t X_t', each of the length of
//	    its eigenvalue's root, and t = 0
//
//	paper     here             shape, unit
//	X_t       rows, scale      up to b + k columns; gradients are kept as examples, with a factor
//	X'X       gram             (b + k) x (b + k)
//	b         Config.Buffer    gradients between two reductions; the first comes when there are
//	                           b + k columns
//	k         Config.Rank      eigenvectors kept
//	gamma     Config.Decay     decay of the covariance, a gradient
//	lambda    Config.Lambda    regulariser, in units of squared gradients
//	eta       Config.Eta       step size at first
//	c         Config.EtaDecay  by which it falls, a step; 0: never
//
// Deviations: the paper's figures leave the rate open. X X' adds up the squared gradients of some
// 1/(1-gamma) examples, so that with eta = 1 and c = 1 - gamma steps would tend to C^-1 g/n, C the
// gradients' mean square: the rate at which natural gradients settle fastest, were C known in all
// directions and not in k. The default falls more slowly, by what was measured: after 10^5 examples
// with 10 % flipped labels (20 and 100 normal features, a random hyperplane) so many percent of
// clean labels are wrong:
//
//	c         0     0.0005  0.001  0.002  0.005
//	20        7.9   0.94    0.68   0.47   0.32
//	100       4.9   1.2     1.1    1.5    4.3
//
// where logistic regression on all at once has 0.46 of 20 features. Sums of gradients are not
// divided by their number, as in the traces. An example without features has no gradient and is
// skipped, as is one whose gradient is beyond the range of float64.
//
// Guarantee: the weights of an independent implementation after every example: TestGoldenNG. (1) in
// the space of features gives the same weights: TestNGDense.
//
// Cost: an example costs b + k inner products with its non-zeros and O((b + k)^3) for (1); the
// columns are added to the weights, and reduced, only every b examples, O((b + k) k) a feature and
// O((b + k)^3) for the eigenvectors. Memory: b + 2 k float64 a feature.
type ngLearner[T learner.Float] struct {
	primal.Stored
	cfg     NGConfig
	w       []float64   // without step.rows
	rows    [][]float64 // columns of X but for scale; after the first n, scratch
	n       int
	scale   []float64 // of each column
	step    []float64 // what is to be added to w of each row
	gram    []float64 // X'X, a row every size
	size    int
	updates int64

	dots    []float64 // row_j . x
	factor  []float64 // of Cholesky, and of Jacobi
	vectors []float64
	solved  []float64
	order   []int
}

// NGConfig holds the settings of NG.
type NGConfig struct {
	// Buffer is the number of gradients between two reductions of the covariance.
	//
	// Together with Rank it is at most 1024. Default 30; 1 to 1023.
	Buffer int `json:"buffer" flag:"buffer"`
	// Rank is the number of eigenvectors that a reduction keeps. Default 5; 1 to 1023.
	Rank int `json:"rank" flag:"rank"`
	// Decay is the factor of the covariance of earlier gradients at each example. Default 0.995;
	// above 0 to 1.
	Decay float64 `json:"decay" flag:"decay"`
	// Lambda is the regularizer of the covariance, in units of squared gradients. Default 1; above
	// 0.
	Lambda float64 `json:"lambda" flag:"lambda"`
	// Eta is the initial step size. Default 1; above 0.
	Eta float64 `json:"eta" flag:"eta" tune:"0.1|0.3|1"`
	// EtaDecay is the decay c of the step: eta/(1 + c n) after n steps, 0 for none.
	//
	// Models from before there was one have 0. Default 0.002; 0 or more.
	EtaDecay float64 `json:"eta_decay,omitempty" flag:"eta-decay"`
}

// UnmarshalJSON makes the step of settings without eta_decay constant, as it was before there was
// one. Other fields that are not there keep their values.
func (c *NGConfig) UnmarshalJSON(data []byte) error {
	type fields NGConfig // without this method
	c.EtaDecay = 0
	if err := decodeSettings(data, (*fields)(c)); err != nil {
		return fmt.Errorf("ng: settings: %w", err)
	}
	return nil
}

// maxNG is the largest number of columns: their matrix takes 8 MB.
const maxNG = 1024

// Validate wants Buffer and Rank > 0 and not beyond 1024 together, 0 < Decay <= 1, Lambda and Eta >
// 0, EtaDecay >= 0.
func (c *NGConfig) Validate() error {
	if c.Buffer < 1 || c.Rank < 1 || c.Buffer > maxNG || c.Buffer+c.Rank > maxNG {
		return fmt.Errorf("ng: buffer is %d, rank %d, want at least 1 and together at most %d: %w",
			c.Buffer, c.Rank, maxNG, learner.ErrConfig)
	}
	return errors.Join(
		learner.CheckSetting("ng", "decay", c.Decay, c.Decay > 0 && c.Decay <= 1,
			"a number > 0 and <= 1"),
		learner.CheckSetting("ng", "lambda", c.Lambda, c.Lambda > 0, "a number > 0"),
		learner.CheckSetting("ng", "eta", c.Eta, c.Eta > 0, "a number > 0"),
		learner.CheckSetting("ng", "eta-decay", c.EtaDecay, c.EtaDecay >= 0, "a number >= 0"))
}

// Traits is Config.Traits.
func (c *NGConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Proba, t.Weights = true, true
	t.Memory = c.memory
	return t
}

// memory is Traits.Memory: b + 2 k + 1 float64 a feature, and three matrices of b + k.
func (c *NGConfig) memory(x learner.Extent) learner.Footprint {
	size := int64(c.Buffer + c.Rank)
	var f learner.Footprint
	f.Tables(x, "weights and columns", 8*(size+int64(c.Rank)+1))
	f.Add("matrices of columns", size*size, 8*3*size*size)
	f.Add("work space", size, 8*16*size+primal.FixedBytes)
	f.Copied(x, 8, learner.Plus(learner.Times(x.Features, 8*(size+1)), 8*size*size))
	return f
}

func newNG[T learner.Float](cfg NGConfig, _ learner.Env) (learner.Learner[T], error) {
	size := cfg.Buffer + cfg.Rank
	l := &ngLearner[T]{
		Stored: primal.Stored{Name: "ng"}, cfg: cfg,
		rows: make([][]float64, size+cfg.Rank), scale: make([]float64, size),
		step: make([]float64, size), gram: make([]float64, size*size), size: size,
		dots: make([]float64, size), factor: make([]float64, size*size), vectors: make([]float64,
			size*size), solved: make([]float64, size), order: make([]int, size),
	}
	l.Walk = l.fields
	return l, nil
}

func (l *ngLearner[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckWeighted("ng", b, len(rounds)); err != nil {
		return err
	}
	l.w = primal.Grown(l.w, b.Dim)
	for j := range l.rows {
		l.rows[j] = primal.Grown(l.rows[j], b.Dim)
	}
	for i := range b.Len() {
		p := l.hypothesis()
		f, y := p.score(b, i, l.dots), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		_, val := b.Example(i)
		w := float64(b.Weight(i))
		// g = -y x/(1 + exp(y f)), times the weight
		if l.learn(b, i, -w*y/(1+gauss.ExpScalar(float64(y*f))), engine.SumSqOrdered(val)) {
			l.updates++
			rounds[i].Updates = 1
		}
	}
	return nil
}

// learn makes the step along example i with gradient g times the example, of squared length sq. It
// reports whether there was one.
func (l *ngLearner[T]) learn(b *engine.Block[T], i int, g, sq float64) bool {
	own := float64(float64(g*g) * sq)
	if !(own > 0) || own-own != 0 {
		return false
	}
	if l.n == l.size {
		l.reduce() // (3)
		p := l.hypothesis()
		p.score(b, i, l.dots)
	}
	n, root := l.n, math.Sqrt(l.cfg.Decay)
	for j := range n {
		row := l.gram[j*l.size:]
		for k := range j + 1 {
			row[k] = float64(row[k] * l.cfg.Decay)
		}
		l.scale[j] = float64(l.scale[j] * root)
	}
	row := l.gram[n*l.size:]
	for j := range n {
		row[j] = float64(float64(g*l.scale[j]) * l.dots[j])
	}
	row[n] = own
	clear(l.rows[n])
	primal.AddFull(b, i, 1, l.rows[n])
	l.scale[n], l.step[n] = g, 0
	l.n++
	if !l.solve() {
		return true // the gradient is kept; of its direction nothing is left
	}
	eta := l.cfg.Eta / math.FMA(l.cfg.EtaDecay, float64(l.updates), 1)
	for j, c := range l.solved[:l.n] { // (2)
		l.step[j] = math.FMA(-eta, float64(c*l.scale[j]), l.step[j])
	}
	return true
}

// solve is (1): the last column of the inverse of gram + lambda I, by Cholesky's factor L, of which
// it is L'^-1 L^-1 e_last.
func (l *ngLearner[T]) solve() bool {
	n, c := l.n, l.solved
	for i := range n {
		row := l.factor[i*l.size:][:i+1]
		copy(row, l.gram[i*l.size:])
		row[i] += l.cfg.Lambda
	}
	if !linalg.Cholesky(linalg.Lower{A: l.factor, Stride: l.size}, n) {
		return false
	}
	clear(c[:n])
	last := l.factor[(n-1)*l.size+n-1]
	c[n-1] = 1 / last
	for i := n - 1; i >= 0; i-- {
		row := l.factor[i*l.size:]
		c[i] /= row[i]
		vecmath.Axpy(c[:i], -c[i], row[:i])
	}
	return true
}

// reduce is (3). The steps go into w first.
func (l *ngLearner[T]) reduce() {
	n, k := l.n, l.cfg.Rank
	l.flush()
	V := l.vectors
	gauss.Jacobi(l.gram, V, l.size)
	for j := range n {
		l.order[j] = j
	}
	diagonal := func(j int) float64 { return l.gram[j*l.size+j] }
	slices.SortStableFunc(l.order, func(a, b int) int {
		return cmp.Compare(diagonal(b), diagonal(a))
	})
	for r, j := range l.order[:k] {
		u := l.rows[n+r]
		clear(u)
		for m := range n {
			vecmath.Axpy(u, float64(V[j*l.size+m]*l.scale[m]), l.rows[m])
		}
		l.solved[r] = max(0, diagonal(j))
	}
	for r := range k {
		l.rows[r], l.rows[n+r] = l.rows[n+r], l.rows[r]
		clear(l.gram[r*l.size:][:r])
		l.gram[r*l.size+r], l.scale[r] = l.solved[r], 1
	}
	l.n = k
}

// flush adds the steps to w.
func (l *ngLearner[T]) flush() {
	for j, a := range l.step[:l.n] {
		vecmath.Axpy(l.w, a, l.rows[j])
	}
	clear(l.step)
}

// hypothesis is the weights as they are.
func (l *ngLearner[T]) hypothesis() columnWeights[T] {
	return columnWeights[T]{w: l.w, columns: l.rows[:l.n], step: l.step[:l.n]}
}

func (l *ngLearner[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.hypothesis()
	return p.Score(b, dst)
}

// Proba is Prober.Proba: 1/(1 + exp(-w.x)), the logistic model whose loss is descended. The weights
// are one vector and no posterior: far from the examples seen it is as sure as they make it.
func (l *ngLearner[T]) Proba(b *engine.Block[T], dst []float64) error {
	p := l.hypothesis()
	return p.Proba(b, dst)
}

func (l *ngLearner[T]) Snapshot() learner.Predictor[T] { return l.hypothesis().copied() }
func (l *ngLearner[T]) View() learner.Predictor[T]     { return l.hypothesis().view() }

func (l *ngLearner[T]) Weights() []float64 {
	p := l.hypothesis()
	return p.Weights()
}

func (l *ngLearner[T]) Updates() int64 { return l.updates }

func (l *ngLearner[T]) Bytes() int64 {
	n := int64(unsafe.Sizeof(*l)) + 3*primal.BytesOf(l.gram) + 4*primal.BytesOf(l.scale) +
		8*int64(len(l.order)) + primal.BytesOf(l.w)
	for _, r := range l.rows {
		n += primal.BytesOf(r)
	}
	return n
}

func (l *ngLearner[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	scale, step := l.scale[:l.n], l.step[:l.n]
	var columns, gram []float64
	if c.Writing() {
		columns = make([]float64, 0, l.n*len(l.w))
		for j := range l.n {
			columns = append(columns, l.rows[j]...)
			gram = append(gram, l.gram[j*l.size:][:j+1]...)
		}
	}
	w := learner.Vector(c, "w", &l.w)
	columns = learner.View(c, "columns", columns)
	scale, step = learner.Vector(c, "scale", &scale), learner.Vector(c, "step", &step)
	gram = learner.View(c, "gram", gram)
	c.PerFeature("w", len(w))
	n := len(scale)
	c.Want(n <= l.size && len(step) == n && len(columns) == n*len(w) && len(gram) == n*(n+1)/2,
		"%d weights, %d factors, %d steps, columns of %d and %d inner products, at most %d columns",
		len(w), n, len(step), len(columns), len(gram), l.size)
	c.Then(func() {
		l.n = n
		clear(l.step)
		copy(l.scale, scale)
		copy(l.step, step)
		for j := range l.rows {
			l.rows[j] = make([]float64, len(w))
		}
		for j := range n {
			copy(l.rows[j], columns[j*len(w):])
			copy(l.gram[j*l.size:], gram[j*(j+1)/2:][:j+1])
		}
	})
}

// columnWeights is the hypothesis f(x) = (w + sum_j step_j column_j).x of [NGConfig], which adds
// the columns to w later, with its logistic probabilities.
type columnWeights[T learner.Float] struct {
	primal.OneOutput
	w       []float64
	columns [][]float64 // of the length of w
	step    []float64   // one a column
}

// score returns f(x) of example i of a checked block, and leaves its inner products with the
// columns in dots, if that is not nil.
func (p *columnWeights[T]) score(b *engine.Block[T], i int, dots []float64) float64 {
	f := primal.DotMixed(b, i, p.w)
	for j, column := range p.columns {
		d := primal.DotMixed(b, i, column)
		if dots != nil {
			dots[j] = d
		}
		f = math.FMA(p.step[j], d, f)
	}
	return f
}

func (p *columnWeights[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows("ng", b, len(dst)); err != nil {
		return err
	}
	for i := range b.Len() {
		dst[i] = p.score(b, i, nil)
	}
	return nil
}

// Proba is Prober.Proba: 1/(1 + exp(-f)).
func (p *columnWeights[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := p.Score(b, dst); err != nil {
		return err
	}
	for i, f := range dst[:b.Len()] {
		dst[i] = 1 / (1 + gauss.ExpScalar(-f))
	}
	return nil
}

func (p *columnWeights[T]) Weights() []float64 {
	w := slices.Clone(p.w)
	for j, a := range p.step {
		vecmath.Axpy(w, a, p.columns[j])
	}
	return w
}

func (p *columnWeights[T]) Bytes() int64 {
	n := int64(unsafe.Sizeof(*p)) + primal.BytesOf(p.w) + primal.BytesOf(p.step)
	for _, c := range p.columns {
		n += primal.BytesOf(c)
	}
	return n
}

// State is Predictor.State: the tensors w, columns and step.
func (p *columnWeights[T]) State() learner.State { return learner.StateOf(p.Fields) }

func (p *columnWeights[T]) CheckState(s learner.State) error {
	return learner.CheckState("ng", s, p.Fields)
}

func (p *columnWeights[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	return primal.Restored("ng", &columnWeights[T]{}, s)
}

func (p *columnWeights[T]) Fields(c *learner.Codec) {
	d := len(learner.Vector(c, "w", &p.w))
	c.PerFeature("w", d)
	steps := len(learner.Vector(c, "step", &p.step))
	var columns []float64
	if c.Writing() {
		columns = append([]float64{}, slices.Concat(p.columns...)...)
	}
	columns = learner.View(c, "columns", columns)
	c.Want(steps <= maxNG && len(columns) == steps*d,
		"%d weights, %d steps and columns of %d elements", d, steps, len(columns))
	c.Then(func() {
		for j := range steps {
			p.columns = append(p.columns, slices.Clone(columns[j*d:][:d]))
		}
	})
}

// copied returns a copy with memory of its own.
func (p columnWeights[T]) copied() learner.Predictor[T] {
	p.w, p.step, p.columns = slices.Clone(p.w), slices.Clone(p.step), slices.Clone(p.columns)
	for j, c := range p.columns {
		p.columns[j] = slices.Clone(c)
	}
	return &p
}

// view returns the same weights; good until they change.
func (p columnWeights[T]) view() learner.Predictor[T] { return &p }
