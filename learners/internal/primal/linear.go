package primal

import (
	"fmt"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Linear is what the single linear learners share: a primal weight vector over the features seen so
// far, which starts at 0 and grows with the blocks.
type Linear[T learner.Float] struct {
	// set by NewLinear: the zero value of a learner has no settings, and would learn nothing in
	// silence
	made        bool
	W           []T   // one a feature seen, in the precision of the examples
	UpdateCount int64 // how often the rule has fired
	// where a Fit was cut; nil if none was, or something was learned since
	Cut *learner.State
}

// NewLinear returns weights without features, for a learner that New makes.
func NewLinear[T learner.Float]() Linear[T] { return Linear[T]{made: true} }

// CheckMade wants a learner of that name that New has made.
func (l *Linear[T]) CheckMade(name string) error {
	if !l.made {
		return fmt.Errorf("%s: a zero value without settings: make learners with New: %w", name,
			learner.ErrConfig)
	}
	return nil
}

// Begin checks all that can be wrong with a call of Learn, then makes room for the features of b,
// which may have weights.
func (l *Linear[T]) Begin(name string, b *engine.Block[T], rounds []learner.Round) error {
	if err := l.CheckMade(name); err != nil {
		return err
	}
	if err := CheckWeighted(name, b, len(rounds)); err != nil {
		return err
	}
	l.learns(b)
	return nil
}

// learns makes room for the features of b, of which something is going to be learned.
func (l *Linear[T]) learns(b *engine.Block[T]) {
	l.W, l.Cut = Grown(l.W, b.Dim), nil
}

// Dot returns w.x of example i of a checked block. Features that w does not reach have weight 0;
// leaving them out gives the same bits as zeros in w would.
func (l *Linear[T]) Dot(b *engine.Block[T], i int) float64 { return dotOf(l.W, b, i) }

// Add adds a times example i to w, which reaches all its features.
func (l *Linear[T]) Add(b *engine.Block[T], i int, a T) {
	if b.Dense() {
		x := b.Row(i)
		vecmath.Axpy(l.W[:len(x)], a, x)
		return
	}
	idx, val := b.Sparse(i)
	vecmath.SparseAxpyUnchecked(trusted.Indices{}, l.W, a, idx, val)
}

// Scores sets dst to the scores of b, for a learner called name whose weights have that factor.
func (l *Linear[T]) Scores(name string, scale float64, b *engine.Block[T], dst []float64) error {
	if err := l.CheckMade(name); err != nil {
		return err
	}
	p := l.Hypothesis(name, scale)
	return p.Score(b, dst)
}

// Hypothesis is f(x) = scale w.x of a learner called name, over the learner's own weights: it
// changes with them until it is copied.
func (l *Linear[T]) Hypothesis(name string, scale float64) weights[T] {
	return weights[T]{name: name, w: l.W, scale: scale}
}

// Weaken is [learner.Forgetter.Forget] of a learner of that name that has nothing but weights: they
// are multiplied by keep, in the precision of the examples.
func (l *Linear[T]) Weaken(name string, keep float64) error {
	if err := learner.CheckKeep(name, keep); err != nil {
		return err
	}
	l.Cut = nil
	for j := range l.W {
		l.W[j] *= T(keep)
	}
	return nil
}

// Weights returns a copy of the weights, one a feature seen so far.
func (l *Linear[T]) Weights() []float64 { return Scaled(l.W, 1) }

// Updates returns how often the rule has fired.
func (l *Linear[T]) Updates() int64 { return l.UpdateCount }

// Bytes returns the memory of the weights.
func (l *Linear[T]) Bytes() int64 { return BytesOf(l.W) + int64(unsafe.Sizeof(*l)) }

// State returns a copy of the weights and the number of updates.
func (l *Linear[T]) State() learner.State { return learner.StateOf(l.Fields) }

// Fields walks what State says.
func (l *Linear[T]) Fields(c *learner.Codec) { l.WeightFields(c) }

// WeightFields is Fields, and returns the weights.
func (l *Linear[T]) WeightFields(c *learner.Codec) []T {
	learner.Count(c, "updates", &l.UpdateCount)
	w := learner.Vector(c, "w", &l.W)
	c.PerFeature("w", len(w))
	return w
}
