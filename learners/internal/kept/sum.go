package kept

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Sum is the hypothesis f(x) = sum_j coef_j K(x_j, x)/divisor + bias over kept examples: the
// Predictor and the Score of all learners in the space of a kernel. Cost of a score: a kernel row
// over the kept examples.
type Sum[T learner.Float] struct {
	primal.OneOutput
	Name string // of the learner, for errors
	Form Form
	List *engine.Points[T]
	Coef []float64 // one a listed example, 0 of an empty slot
	// > 0: 1, the members of an ensemble whose sum this is, or a factor that a rule keeps apart
	Divisor float64
	Bias    float64

	dim    int             // Batch: features of the data set
	rows   *engine.Rows[T] // Batch: kernel rows on the pool
	pool   *engine.Pool
	spares *scratch.Stack[scoring[T]] // of Scores that may run at the same time
}

// Form is what a [Sum] belongs to. It says which parts its State has.
type Form int

// The forms of a sum.
const (
	Stream Form = iota // kept from a stream; its divisor is a setting, its bias 0
	Scaled             // kept from a stream, with divisor and bias in the State
	Batch              // found by a run over a whole data set, with bias and dim in the State
)

// scoring is scratch of a Score.
type scoring[T learner.Float] struct {
	one  engine.Block[T] // an example without features that the data set lacks
	ends [2]int          // its Ptr
	row  []T             // its kernel values, one a kept example
}

func (w *scoring[T]) bytes() int64 { return primal.BytesOf(w.row) }

// NewSum returns the hypothesis 0 of a learner called name. The pool is for kernel rows of a
// [Batch]. The error is that of a kernel that is not valid.
func NewSum[T learner.Float](name string, form Form, k engine.Kernel, pool *engine.Pool) (Sum[T],
	error) {
	list, err := newList[T](name, k)
	if err != nil {
		return Sum[T]{}, err
	}
	p := Sum[T]{Name: name, Form: form, Divisor: 1, pool: pool}
	p.keep(list)
	return p, nil
}

// newList returns an empty list for a learner called name.
func newList[T learner.Float](name string, k engine.Kernel) (*engine.Points[T], error) {
	list, err := engine.NewPoints[T](k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// keep makes the examples of the list those of the sum.
func (p *Sum[T]) keep(list *engine.Points[T]) {
	p.List, p.spares = list, new(scratch.Stack[scoring[T]])
	if p.Form == Batch {
		p.rows = engine.NewRows(list, 0, 0, p.pool)
	}
}

// empty returns an empty list with the kernel of the sum, which is valid.
func (p *Sum[T]) empty() *engine.Points[T] {
	list, err := engine.NewPoints[T](p.List.Kernel())
	if err != nil {
		panic(err)
	}
	return list
}

// Cleared returns the hypothesis 0 of the same settings.
func (p *Sum[T]) Cleared() Sum[T] {
	q := Sum[T]{Name: p.Name, Form: p.Form, Divisor: p.Divisor, pool: p.pool}
	q.keep(p.empty())
	return q
}

// SetSupport makes the examples of b whose coefficient is not 0 those of the sum, copies without
// zeros. coefs are one an example of b.
func (p *Sum[T]) SetSupport(b *engine.Block[T], coefs []float64) {
	size, nnz := 0, 0 // so that each slice is made once, as long as it has to be
	for t, c := range coefs {
		if c != 0 {
			_, val := b.Example(t)
			size, nnz = size+1, nnz+len(val)
		}
	}
	sv, coef := engine.Block[T]{Dim: b.Dim, Ptr: make([]int, 1, size+1), Idx: make([]int32, 0, nnz),
		Val: make([]T, 0, nnz)}, make([]float64, 0, size)
	for t, c := range coefs {
		if c == 0 {
			continue
		}
		coef = append(coef, c)
		idx, val := b.Example(t)
		for n, v := range val {
			if v != 0 {
				sv.Idx, sv.Val = append(sv.Idx, int32(engine.FeatureOf(idx, n))), append(sv.Val, v)
			}
		}
		sv.Ptr = append(sv.Ptr, len(sv.Idx))
	}
	sv.Y = slices.Repeat([]T{1}, size) // a list takes labeled blocks; labels are in coef
	list := p.empty()
	list.Append(&sv, 0, size)
	p.Coef, p.dim = coef, b.Dim
	p.keep(list)
}

// Score is Predictor.Score. One row of kernel values at a time is computed and none is kept:
// examples to be scored seldom come again.
func (p *Sum[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows(p.Name, b, len(dst)); err != nil {
		return err
	}
	w := p.spares.Take()
	defer p.spares.Give(w)
	if cap(w.row) < len(p.Coef) { // twice as many: a list may grow by one at a time
		w.row = make([]T, 2*len(p.Coef))
	}
	row := w.row[:len(p.Coef)]
	for i := range b.Len() {
		if p.Form != Batch {
			p.List.RowOf(row, b, i, 0, len(row))
		} else if err := p.rows.RowOf(context.Background(), row, w.known(b, i, p.dim),
			0); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		dst[i] = vecmath.DotMixed(p.Coef, row)/p.Divisor + p.Bias
	}
	w.one.Idx, w.one.Val, w.one.X = nil, nil, nil // the examples are not the learner's
	return nil
}

// known returns example i of b, without a copy of it, as a block of one. Features from dim on,
// which the data set lacks, are left out, also of |x|^2 in an RBF kernel: the hypothesis has no
// weights for them.
func (w *scoring[T]) known(b *engine.Block[T], i, dim int) *engine.Block[T] {
	idx, val := primal.ExampleUpTo(b, i, dim)
	one := &w.one
	if b.Dense() {
		one.Dim, one.Stride, one.Ptr, one.Idx, one.Val, one.X = len(val), len(val), nil, nil, nil,
			val
		return one
	}
	w.ends[1] = len(val)
	one.Dim, one.Stride, one.Ptr, one.Idx, one.Val, one.X = dim, 0, w.ends[:], idx, val, nil
	return one
}

// Weights returns nil: the hypothesis is a sum over kept examples.
func (p *Sum[T]) Weights() []float64 { return nil }

// Hypothesis is for [learner.HypothesisOf]: empty slots are left out.
func (p *Sum[T]) Hypothesis() learner.Hypothesis {
	o := learner.Output{Coef: []float64{}, Bias: p.Bias, Divisor: 1,
		Points: engine.Block[float64]{Dim: p.dim, Ptr: []int{0}}}
	var (
		idx []int32
		val []T
	)
	for j, c := range p.Coef {
		if c == 0 {
			continue
		}
		o.Coef = append(o.Coef, c/p.Divisor)
		idx, val = p.List.NonZeros(idx[:0], val[:0], j)
		o.Points.Idx = append(o.Points.Idx, idx...)
		for _, v := range val {
			o.Points.Val = append(o.Points.Val, float64(v))
		}
		o.Points.Ptr = append(o.Points.Ptr, len(o.Points.Idx))
		if n := len(idx); n > 0 {
			o.Points.Dim = max(o.Points.Dim, int(idx[n-1])+1)
		}
	}
	return learner.Hypothesis{Outputs: []learner.Output{o}, Kernel: p.List.Kernel()}
}

// Bytes is Predictor.Bytes.
func (p *Sum[T]) Bytes() int64 {
	if p.List == nil { // of a learner without a kernel
		return 0
	}
	return p.List.Bytes() + primal.BytesOf(p.Coef) + p.spares.Bytes((*scoring[T]).bytes) +
		int64(unsafe.Sizeof(*p))
}

// State is Predictor.State: the kept examples and their coefficients, and what [Form] says.
func (p *Sum[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *Sum[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.Name, s, p.Fields)
}

// Restored is for [learner.Restored].
func (p *Sum[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	r := p.Cleared()
	return primal.Restored(p.Name, &r, s)
}

// Fields walks what State says.
func (p *Sum[T]) Fields(c *learner.Codec) {
	if p.Form == Scaled {
		divisor := c.Scalar("divisor", &p.Divisor)
		c.Want(divisor > 0, "scalar %q is %v, want a number > 0", "divisor", divisor)
	}
	if p.Form != Stream {
		c.Scalar("bias", &p.Bias)
	}
	p.SupportFields(c)
}

// SupportFields walks the kept examples and their coefficients, and returns how many there are: the
// tensors coef, sv_end, sv_idx, sv_val and, of a [Batch], the counter dim. Kernel values are not in
// the State, since they follow from the examples.
func (p *Sum[T]) SupportFields(c *learner.Codec) int {
	dim := -1
	if p.Form == Batch {
		dim = learner.Count(c, "dim", &p.dim)
	}
	coef := learner.Vector(c, "coef", &p.Coef)
	b := ExampleFields(c, "sv", p.List, dim)
	c.Want(c.Writing() || len(coef) == b.Len(), "%d coefficients of %d examples", len(coef),
		b.Len())
	c.Then(func() {
		list := p.empty()
		list.Append(&b, 0, b.Len())
		p.keep(list)
	})
	return len(coef)
}

// Copied returns a copy with memory of its own.
func (p Sum[T]) Copied() *Sum[T] {
	p.Coef = slices.Clone(p.Coef)
	p.keep(p.List.Clone())
	return &p
}

// View returns the same examples; good until they change, which those of a [Batch] never do.
func (p Sum[T]) View() learner.Predictor[T] { return &p }
