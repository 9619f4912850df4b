package learners

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
)

var _ learner.Learner[float32] = (*marginalPerceptron[float32])(nil)

// marginalPerceptron is a [Perceptron] with Beta: the factor of its weights stays 1.
type marginalPerceptron[T learner.Float] struct {
	margin.ScaledLinear[T]
	cfg PerceptronConfig
	sum float64 // of all steps; NaN where they are not known
}

// Learn is Learner.Learn.
func (p *marginalPerceptron[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := p.BeginBounded("perceptron", b, rounds, true); err != nil {
		return err
	}
	for i := range b.Len() {
		rounds[i] = p.learn(b, i, float64(b.Weight(i)))
	}
	return nil
}

// learn learns example i with weight w.
func (p *marginalPerceptron[T]) learn(b *engine.Block[T], i int, w float64) learner.Round {
	f := p.ScoreExample(b, i)
	m := p.ExtendedMargin(i, float64(b.Y[i]), f)
	if w == 0 || !p.violates(m) { // Algorithm 1, line 3
		return learner.Round{Score: f}
	}
	step := float64(p.cfg.Eta * w)
	next, kept := marginalNext(p.Norm2, m, step, p.SquaredLength(b, i))
	p.ScaleAndAdd(1, b, i, step) // line 4
	p.sum += step
	p.CountUpdate(next, kept)
	p.Norm2 = min(p.Norm2, math.MaxFloat64)
	return learner.Round{Score: f, Updates: 1}
}

func (p *marginalPerceptron[T]) violates(m float64) bool {
	return m <= float64(p.cfg.Beta*math.Sqrt(p.Norm2))
}

// marginalNext returns |w + step y x|^2, where |w|^2 is norm2, y w.x = m and |x|^2 = X, and the
// part of it that is |w|^2. That is infinite where the sum says nothing, so that it is measured.
func marginalNext(norm2, m, step, X float64) (next, kept float64) {
	next = norm2 + float64(step*(float64(2*m)+float64(step*X)))
	if next > 0 && next <= math.MaxFloat64 {
		return next, norm2 / next
	}
	return 0, math.Inf(1)
}

// Fit is Fitter.Fit: cyclic passes on the weights, whatever GramBytes. It ends where no weights
// have a margin above Beta, as FitResult.Bound shows.
func (p *marginalPerceptron[T]) Fit(ctx context.Context, b *engine.Block[T],
	o learner.FitOptions) (learner.FitResult, error) {
	return p.FitByPasses(ctx, "perceptron", b, o,
		func(b *engine.Block[T], i int) learner.Round { return p.learn(b, i, 1) }, p.violates,
		p.bound, 0, p.cfg.Beta, nil,
		func() map[string]float64 { return map[string]float64{"sum": p.sum} })
}

// bound: for every v of length 1, |w| >= w.v >= margin(v) times the sum of the steps.
func (p *marginalPerceptron[T]) bound() float64 {
	if !(p.sum > 0) {
		return math.Inf(1)
	}
	return math.Sqrt(p.Norm2) / p.sum
}

// Score is Learner.Score.
func (p *marginalPerceptron[T]) Score(b *engine.Block[T], dst []float64) error {
	return p.Scores("perceptron", p.Scale, b, dst)
}

// Snapshot is Learner.Snapshot.
func (p *marginalPerceptron[T]) Snapshot() learner.Predictor[T] {
	return p.Hypothesis("perceptron", p.Scale).Copied()
}

// View is for [learner.ViewOf].
func (p *marginalPerceptron[T]) View() learner.Predictor[T] {
	return p.Hypothesis("perceptron", p.Scale).View()
}

// State is Learner.State: that of [margin.ScaledLinear].
func (p *marginalPerceptron[T]) State() learner.State { return learner.StateOf(p.fields) }

// SetState is Learner.SetState.
func (p *marginalPerceptron[T]) SetState(s learner.State) error {
	return learner.SetState("perceptron", s, p.fields)
}

// CheckState is Learner.CheckState.
func (p *marginalPerceptron[T]) CheckState(s learner.State) error {
	return learner.CheckState("perceptron", s, p.fields)
}

func (p *marginalPerceptron[T]) fields(c *learner.Codec) {
	p.FieldsWithSum(c, &p.sum)
}

// marginalMembers is the rule for the members of an ensemble.
type marginalMembers[T learner.Float] struct {
	ensemble.Scaled[T]
	cfg PerceptronConfig
}

// Step is learner.MemberRule.Step. S is not kept, so the sums of the coefficients are not needed.
func (r *marginalMembers[T]) Step(_ []float64, mask []uint64, lo int, s []T, y, w T,
	norm2 float64, coef []T) (int, []T) {
	step := float64(r.cfg.Eta * float64(w))
	return ensemble.EachMember(mask, func(l int) bool {
		p := &r.Members[lo+l]
		if p.Threshold < 0 { // of a length that is to be measured first
			r.Fold(lo + l)
			p.Norm2 = min(p.Norm2, math.MaxFloat64)
			p.Threshold = float64(r.cfg.Beta * math.Sqrt(p.Norm2))
		}
		m := float64(float64(y) * float64(p.Scale*float64(s[l])))
		if m > p.Threshold { // Algorithm 1, line 3
			return false
		}
		coef[l] = T(float64(y) * step) // line 4
		p.CountUpdate(marginalNext(p.Norm2, m, step, norm2))
		r.aim(p)
		return true
	}), coef
}

// aim sets the threshold of a member's next example, below 0 where |w|^2 is to be measured first.
func (r *marginalMembers[T]) aim(p *ensemble.ScaledMember) {
	if p.Threshold = float64(r.cfg.Beta * math.Sqrt(p.Norm2)); p.Due() {
		p.Threshold = -1
	}
}

// Fields is learner.MemberRule.Fields.
func (r *marginalMembers[T]) Fields(c *learner.Codec, weights []T) {
	r.MemberFields(c, weights, false, r.aim)
}

// marginalMembers is the members' form of the perceptron with Beta.
func (c *PerceptronConfig) marginalMembers() *learner.MemberForm {
	return &learner.MemberForm{Norm2: true, Bytes: ensemble.ScaledMemberBytes,
		Rule32: func(n int) (learner.MemberRule[float32], error) {
			return &marginalMembers[float32]{newScaled[float32](n, 1), *c}, nil
		},
		Rule64: func(n int) (learner.MemberRule[float64], error) {
			return &marginalMembers[float64]{newScaled[float64](n, 1), *c}, nil
		},
	}
}
