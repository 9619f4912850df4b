package learners

import (
	"fmt"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// mapped is a hypothesis over random Fourier features. The map is the learner's: it never changes
// but for features not met before, and is safe for concurrent use.
type mapped[T learner.Float] struct {
	rff   *rffLearner[T] // without its learner
	inner learner.Predictor[T]
}

func (p *mapped[T]) Score(b *engine.Block[T], dst []float64) error {
	return p.rff.outputs(b, dst, p.inner.Outputs(), p.inner.Score)
}

// Prober is for ProberOf: probabilities are the inner hypothesis's.
func (p *mapped[T]) Prober() learner.Prober[T] {
	if inner := learner.ProbaOf(p.inner); inner != nil {
		return proberFunc[T](func(b *engine.Block[T], dst []float64) error {
			return p.rff.outputs(b, dst, p.inner.Outputs(), inner.Proba)
		})
	}
	return nil
}

// Weights returns nil: the weights are those of the random features.
func (p *mapped[T]) Weights() []float64 { return nil }

func (p *mapped[T]) Hypothesis() learner.Hypothesis {
	h, ok := learner.HypothesisOf(p.inner)
	if !ok {
		return learner.Hypothesis{}
	}
	h.Fourier = &learner.Fourier{Half: p.rff.cfg.D / 2,
		Frequencies: func(features int) ([]float64, error) {
			w, err := p.rff.fourier.Frequencies(features)
			return primal.Scaled(w, 1), err
		}}
	return h
}

func (p *mapped[T]) Outputs() int { return p.inner.Outputs() }

// Bytes is Predictor.Bytes, the map counted.
func (p *mapped[T]) Bytes() int64 {
	return p.inner.Bytes() + p.rff.fourier.Bytes() + p.rff.runs.Bytes((*rffRun[T]).bytes) +
		int64(unsafe.Sizeof(*p)+unsafe.Sizeof(*p.rff))
}

// State is that of the inner hypothesis: the frequencies follow from the seed.
func (p *mapped[T]) State() learner.State { return p.inner.State() }

func (p *mapped[T]) CheckState(s learner.State) error {
	s.Features = p.rff.cfg.D
	if err := learner.CheckRestored(p.inner, s); err != nil {
		return fmt.Errorf("rff: %w", err)
	}
	return nil
}

func (p *mapped[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	s.Features = p.rff.cfg.D
	inner, err := learner.Restored(p.inner, s)
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	return p.rff.over(inner), nil
}

// over returns inner over the features of l.
func (l *rffLearner[T]) over(inner learner.Predictor[T]) learner.Predictor[T] {
	rff := *l
	rff.inner = nil
	return &mapped[T]{&rff, inner}
}

func (l *rffLearner[T]) Snapshot() learner.Predictor[T] { return l.over(l.inner.Snapshot()) }
func (l *rffLearner[T]) View() learner.Predictor[T]     { return l.over(learner.ViewOf(l.inner)) }
