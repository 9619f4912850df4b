package primal

import (
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// Linear is what learners of one weight vector share: weights over the features seen so far, which
// start at 0 and grow with the blocks, and a factor on them. It has all methods of a learner but
// Learn.
type Linear[T learner.Float] struct {
	Stored
	W           []T     // one a feature seen, in the precision of the examples
	Scale       float64 // the weights are Scale W
	UpdateCount int64   // how often the rule has fired
	// where a Fit was cut; nil if none was, or something was learned since
	Cut *learner.State
}

// NewLinear returns weights without features, with that factor.
func NewLinear[T learner.Float](name string, scale float64) Linear[T] {
	return Linear[T]{Stored: Stored{Name: name}, Scale: scale}
}

// Begin checks all that can be wrong with a call of Learn, then makes room for the features of b.
// weights says whether the rule takes weights.
func (l *Linear[T]) Begin(b *engine.Block[T], rounds []learner.Round, weights bool) error {
	check := CheckBlock[T]
	if weights {
		check = CheckWeighted[T]
	}
	if err := check(l.Name, b, len(rounds)); err != nil {
		return err
	}
	l.W, l.Cut = Grown(l.W, b.Dim), nil
	return nil
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
	vecmath.SparseAxpy(l.W, a, idx, val)
}

// Fold moves the factor into the weights, all but its mantissa, where it has come far from 1: long
// before it matters to the range of T. A power of two rounds nothing.
func (l *Linear[T]) Fold() {
	if l.Scale < 0x1p-32 || l.Scale > 0x1p32 {
		m, e := math.Frexp(l.Scale)
		vecmath.Scal(l.W, T(math.Ldexp(1, e)))
		l.Scale = m
	}
}

// hypothesis is f(x) = scale w.x over the learner's own weights: it changes with them until it is
// copied.
func (l *Linear[T]) hypothesis() weights[T] {
	return weights[T]{name: l.Name, w: l.W, scale: l.Scale}
}

// Score is Learner.Score.
func (l *Linear[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.hypothesis()
	return p.Score(b, dst)
}

// Snapshot is Learner.Snapshot.
func (l *Linear[T]) Snapshot() learner.Predictor[T] { return l.hypothesis().Copied() }

// View is for [learner.ViewOf].
func (l *Linear[T]) View() learner.Predictor[T] { return l.hypothesis().View() }

// Weaken is [learner.Forgetter.Forget] of a learner that has nothing but weights: they are
// multiplied by keep, in the precision of the examples.
func (l *Linear[T]) Weaken(keep float64) error {
	if err := learner.CheckKeep(l.Name, keep); err != nil {
		return err
	}
	l.Cut = nil
	for j := range l.W {
		l.W[j] *= T(keep)
	}
	return nil
}

// Weights returns a copy of the weights, one a feature seen so far.
func (l *Linear[T]) Weights() []float64 { return Scaled(l.W, l.Scale) }

// AddWeights is for [learner.AddWeights].
func (l *Linear[T]) AddWeights(sum []float64) []float64 {
	sum = Grown(sum, len(l.W))
	for j, v := range l.W {
		sum[j] += float64(l.Scale * float64(v))
	}
	return sum
}

// Updates returns how often the rule has fired.
func (l *Linear[T]) Updates() int64 { return l.UpdateCount }

// Bytes returns the memory of the weights.
func (l *Linear[T]) Bytes() int64 { return BytesOf(l.W) + int64(unsafe.Sizeof(*l)) }

// Fields walks the number of updates and the weights, and returns these.
func (l *Linear[T]) Fields(c *learner.Codec) []T {
	learner.Count(c, "updates", &l.UpdateCount)
	w := learner.Vector(c, "w", &l.W)
	c.PerFeature("w", len(w))
	return w
}
