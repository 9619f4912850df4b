package learners

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// rule is an online learner whose update is w <- c w + a y x: when it is due, and which step it
// takes. A learner states its rule once. Four carriers apply it: [additive] and [scaled] to one
// weight vector, [OnlineConfig] in the space of a kernel, [additiveMembers] and [scaledMembers] to
// the members of an ensemble.
type rule struct {
	name    string
	weights bool   // the rule takes weights; else examples with weights are refused
	lengths bool   // it divides by |x|^2: examples without features are skipped
	length  length // where the rule keeps |w|
	// first: the first example with features makes weights of length 1, which is no update.
	first bool

	margin float64 // examples of a margin up to it are learned
	// due returns margin for the next update; nil: it is always the same.
	due func(updates int64, norm2 float64) float64
	// relative: due depends on |w|^2.
	relative bool

	// add returns a of an update w + a y x; 0 is none. Rules that do more have step. The margin is
	// y w.x. The example need not be due: with a kernel that forgets, its margin is that of weights
	// that have shrunk since.
	add func(margin, sq, weight float64) float64
	// step returns the update by an example; nil: it is that of add.
	step func(x example) update
}

// example is what a rule knows of an example and of the weights.
type example struct {
	margin  float64 // y w.x
	sq      float64 // |x|^2
	norm2   float64 // |w|^2
	weight  float64 // above 0
	updates int64   // so far
}

// update is w <- stretch w + add y x.
type update struct {
	stretch, add float64
	norm2        float64 // |w|^2 after it, before the length is brought back
	ok           bool    // else there is no update
}

// adds returns the update w + a y x.
func (x example) adds(a float64) update {
	norm2 := x.norm2 + float64(a*(float64(2*x.margin)+float64(a*x.sq)))
	return update{1, a, norm2, a != 0}
}

// stepping returns the rule with a step.
func (r rule) stepping() rule {
	if add := r.add; add != nil {
		r.step = func(x example) update { return x.adds(add(x.margin, x.sq, x.weight)) }
	}
	return r
}

// dueAt returns the margin up to which an example is learned.
func (r *rule) dueAt(updates int64, norm2 float64) float64 {
	if r.due == nil {
		return r.margin
	}
	return r.due(updates, norm2)
}

// length says where a rule keeps |w| after each update.
type length int

const (
	anyLength  length = iota
	atMostUnit        // |w| <= 1
	unitLength        // |w| = 1
)

// factor returns the factor that brings weights of that squared length there.
func (k length) factor(norm2 float64) float64 {
	if k == atMostUnit && norm2 > 1 || k == unitLength && norm2 > 0 {
		return 1 / math.Sqrt(norm2)
	}
	return 1
}

// precision has the limits of rules that divide by lengths, in numbers of T.
type precision struct {
	sine2 float64 // margin.ParallelSine2
	most  float64 // primal.MostSquare
}

func precisionOf[T learner.Float]() precision {
	return precision{margin.ParallelSine2[T](), primal.MostSquare[T]()}
}

// additive learns one weight vector by a rule that adds a multiple of the example.
type additive[T learner.Float] struct {
	primal.Linear[T]
	rule rule
}

func newAdditive[T learner.Float](r rule) *additive[T] {
	l := &additive[T]{Linear: primal.NewLinear[T](r.name, 1), rule: r}
	l.Walk = func(c *learner.Codec) { l.Fields(c) }
	return l
}

func (l *additive[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := l.Begin(b, rounds, l.rule.weights); err != nil {
		return err
	}
	due, lengths, add := l.rule.margin, l.rule.lengths, l.rule.add
	for i := range b.Len() {
		f, y, w := l.Dot(b, i), float64(b.Y[i]), float64(b.Weight(i))
		rounds[i] = learner.Round{Score: f}
		m := float64(y * f)
		if m > due || w == 0 {
			continue
		}
		sq := 0.0
		if lengths {
			sq = primal.SumSq(b, i)
		}
		step := add(m, sq, w)
		// An infinite step by a rule that divides by |x|^2 would end all learning. Others diverge,
		// and say so.
		if a := T(step * y); step != 0 && (a-a == 0 || !lengths) {
			l.Add(b, i, a)
			l.UpdateCount++
			rounds[i].Updates = 1
		}
	}
	return nil
}

func (l *additive[T]) Forget(keep float64) error { return l.Weaken(keep) }

func (l *additive[T]) Mix(of []learner.Learner[T], share []float64,
	before learner.Learner[T]) error {
	return mixWeights(l, of, share, before)
}

// scaled learns one weight vector by any rule. The factor on the weights takes the stretch.
type scaled[T learner.Float] struct {
	margin.ScaledLinear[T]
	rule  rule
	due   float64 // of the next update
	sum   float64 // of the dual coefficients; NaN if it is not known
	whole passes
}

// passes is what a rule's Fit by passes over whole data needs.
type passes struct {
	// bound is FitResult.Bound if all that was learned are the examples of one Fit. sum is that of
	// the dual coefficients.
	bound func(norm2, sum float64) float64
	sums  bool                  // bound uses sum
	delta float64               // accuracy
	least float64               // a bound this low ends the run
	goal  func(float64) float64 // sets the accuracy, and returns margin; nil if there is none
}

func newScaledLinear[T learner.Float](r rule, whole passes) *scaled[T] {
	l := &scaled[T]{ScaledLinear: margin.NewScaledLinear[T](r.name), rule: r.stepping(),
		whole: whole}
	l.Walk = func(c *learner.Codec) {
		l.Fields(c)
		if whole.sums {
			l.SumField(c, &l.sum)
		}
	}
	return l
}

func (l *scaled[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := l.Begin(b, rounds, l.rule.weights); err != nil {
		return err
	}
	l.aim()
	for i := range b.Len() {
		rounds[i] = l.learn(b, i, float64(b.Weight(i)))
	}
	return nil
}

func (l *scaled[T]) aim() { l.due = l.rule.dueAt(l.UpdateCount, l.Norm2) }

// violates reports whether an example of that margin is due. |w| also changes without an update,
// where a run with a soft margin is cut and goes on.
func (l *scaled[T]) violates(m float64) bool {
	if l.rule.relative {
		l.aim()
	}
	return m <= l.due
}

// learn learns example i with weight w.
func (l *scaled[T]) learn(b *engine.Block[T], i int, w float64) learner.Round {
	f := l.ScoreExample(b, i)
	m := l.ExtendedMargin(i, float64(b.Y[i]), f)
	if w == 0 || !l.violates(m) {
		return learner.Round{Score: f}
	}
	u := l.rule.step(example{m, l.SquaredLength(b, i), l.Norm2, w, l.UpdateCount})
	if !u.ok || !l.Representable(u.stretch, u.add) {
		return learner.Round{Score: f}
	}
	l.ScaleAndAdd(u.stretch, b, i, u.add)
	l.sum = float64(u.stretch*l.sum) + u.add
	next, kept := u.kept(l.Norm2)
	if l.rule.length == unitLength {
		length := math.Sqrt(next)
		l.Divide(length)
		l.sum /= length
		next = 1
	}
	l.CountUpdate(next, kept)
	l.Norm2 = min(l.Norm2, math.MaxFloat64)
	l.aim()
	return learner.Round{Score: f, Updates: 1}
}

// kept returns |w|^2 after the update and the part of it that is from the weights before, whose
// squared length is norm2. That is infinite if the sum says nothing, so that it is measured.
func (u update) kept(norm2 float64) (next, kept float64) {
	if u.stretch == 0 {
		return u.norm2, 0
	}
	if u.norm2 > 0 && u.norm2 <= math.MaxFloat64 {
		return u.norm2, float64(u.stretch*u.stretch) * (norm2 / u.norm2)
	}
	return 0, math.Inf(1)
}

// Fit is Fitter.Fit: cyclic passes on the weights, whatever GramBytes.
func (l *scaled[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	l.aim()
	p := margin.PassRule[T]{
		Learn:    func(b *engine.Block[T], i int) learner.Round { return l.learn(b, i, 1) },
		Violates: l.violates,
		Bound:    func() float64 { return l.whole.bound(l.Norm2, l.sum) },
		Delta:    l.whole.delta, Least: l.whole.least,
	}
	if l.whole.goal != nil {
		p.Goal = func(delta float64) { l.rule.margin = l.whole.goal(delta); l.aim() }
	}
	if l.whole.sums {
		p.Own = func() map[string]float64 { return map[string]float64{"sum": l.sum} }
	}
	return l.FitByPasses(ctx, b, o, &p)
}
