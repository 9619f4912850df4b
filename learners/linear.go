package learners

import (
	"fmt"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// linear is what the single linear learners share: a primal weight vector over the features seen so far, which starts
// at 0 and grows with the blocks.
type linear[T Float] struct {
	made    bool // by newLinear: the zero value of a learner has no settings, and would learn nothing in silence
	w       []T
	updates int64
	cut     *State // where a Fit was cut; nil if none was, or something was learned since
}

func newLinear[T Float]() linear[T] { return linear[T]{made: true} }

// check wants a learner of that name that New has made.
func (l *linear[T]) check(name string) error {
	if !l.made {
		return fmt.Errorf("%s: a zero value without settings: make learners with New: %w", name,
			ErrConfig)
	}
	return nil
}

// begin checks all that can be wrong with a call of Learn, then makes room for the features of b.
func (l *linear[T]) begin(name string, b *engine.Block[T], rounds []Round) error {
	if err := l.check(name); err != nil {
		return err
	}
	if err := checkBlock(name, b, len(rounds)); err != nil {
		return err
	}
	l.learns(b)
	return nil
}

// learns makes room for the features of b, of which something is going to be learned.
func (l *linear[T]) learns(b *engine.Block[T]) {
	l.w, l.cut = grown(l.w, b.Dim), nil
}

// dot returns w.x of example i of a checked block. Features that w does not reach have weight 0; leaving them out gives
// the same bits as zeros in w would.
func (l *linear[T]) dot(b *engine.Block[T], i int) float64 { return dotOf(l.w, b, i) }

// add adds a times example i to w, which reaches all its features.
func (l *linear[T]) add(b *engine.Block[T], i int, a T) {
	if b.Dense() {
		x := b.Row(i)
		vecmath.Axpy(l.w[:len(x)], a, x)
		return
	}
	idx, val := b.Sparse(i)
	vecmath.SparseAxpyUnchecked(trusted.Indices{}, l.w, a, idx, val)
}

// scores is Score of a learner called name whose weights have that factor.
func (l *linear[T]) scores(name string, scale float64, b *engine.Block[T], dst []float64) error {
	if err := l.check(name); err != nil {
		return err
	}
	p := l.hypothesis(name, scale)
	return p.Score(b, dst)
}

// hypothesis is that of a learner called name whose weights have that factor.
func (l *linear[T]) hypothesis(name string, scale float64) weights[T] {
	return weights[T]{name: name, w: l.w, scale: scale}
}

// Weights returns a copy of the weights, one a feature seen so far.
func (l *linear[T]) Weights() []float64 { return scaled(l.w, 1) }

// Updates returns how often the rule has fired.
func (l *linear[T]) Updates() int64 { return l.updates }

// Bytes returns the memory that the weights hold.
func (l *linear[T]) Bytes() int64 { return bytesOf(l.w) + int64(unsafe.Sizeof(*l)) }

// State returns a copy of the weights and the number of updates.
func (l *linear[T]) State() State { return learner.StateOf(l.fields) }

func (l *linear[T]) fields(c *learner.Codec) { l.weights(c) }

// weights is fields, and returns the weights.
func (l *linear[T]) weights(c *learner.Codec) []T {
	learner.Count(c, "updates", &l.updates)
	return learner.Vector(c, "w", &l.w)
}
