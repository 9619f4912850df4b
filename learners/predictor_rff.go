package learners

import (
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// mapped is a hypothesis over random Fourier features. The map is the learner's: it never changes
// but for features not met before, and is safe for concurrent use.
type mapped[T Float] struct {
	rff   *RFF[T] // without its learner
	inner Predictor[T]
}

// mappedProber is one whose inner hypothesis knows probabilities.
type mappedProber[T Float] struct {
	mapped[T]
	prober Prober[T]
}

// over returns inner over the features of l.
func (l *RFF[T]) over(inner Predictor[T]) Predictor[T] {
	rff := *l
	rff.inner = nil
	m := mapped[T]{&rff, inner}
	if p := learner.ProbaOf(inner); p != nil {
		return &mappedProber[T]{m, p}
	}
	return &m
}

// Score is Predictor.Score.
func (p *mapped[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkRows("rff", b, len(dst)); err != nil {
		return err
	}
	return p.rff.each(b, func(z *engine.Block[T], lo, hi int) error {
		return p.inner.Score(z, dst[lo:hi])
	})
}

// Proba is Prober.Proba.
func (p *mappedProber[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := checkRows("rff", b, len(dst)); err != nil {
		return err
	}
	return p.rff.each(b, func(z *engine.Block[T], lo, hi int) error {
		return p.prober.Proba(z, dst[lo:hi])
	})
}

// Weights returns nil: the weights are those of the random features.
func (p *mapped[T]) Weights() []float64 { return nil }

// Outputs is Predictor.Outputs.
func (p *mapped[T]) Outputs() int { return p.inner.Outputs() }

// Bytes is Predictor.Bytes, the map counted.
func (p *mapped[T]) Bytes() int64 {
	return p.inner.Bytes() + p.rff.fourier.Bytes() + p.rff.runs.Bytes((*rffRun[T]).bytes) +
		int64(unsafe.Sizeof(*p)+unsafe.Sizeof(*p.rff))
}

// State is that of the inner hypothesis: the frequencies follow from the seed.
func (p *mapped[T]) State() State { return p.inner.State() }

// Restored is Restorer.Restored.
func (p *mapped[T]) Restored(s State) (Predictor[T], error) {
	if err := p.rff.checkFeatures(&s); err != nil {
		return nil, err
	}
	inner, err := learner.Restored(p.inner, s)
	if err != nil {
		return nil, err
	}
	return p.rff.over(inner), nil
}

// Snapshot is Learner.Snapshot.
func (l *RFF[T]) Snapshot() Predictor[T] { return l.over(l.inner.Snapshot()) }

// View is for [learner.ViewOf].
func (l *RFF[T]) View() Predictor[T] { return l.over(learner.ViewOf(l.inner)) }
