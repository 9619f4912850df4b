package learner

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// What a learner of Traits can do beside learning is asked here, and nowhere else is a learner
// looked at for what it is. Each function follows a wrapper to the learner that it wraps, where the
// answer is that one's.

// wrapper is a Learner that gives its examples, in another form, to one other learner, whose state
// is the wrapper's: that learns through the wrapper alone.
type wrapper[T Float] interface{ Inner() Learner[T] }

// AsFitter returns what passes over a whole data set for l, or nil if l learns one example after
// another only. With which settings it can is said by Traits.Whole.
func AsFitter[T Float](l Learner[T]) Fitter[T] {
	if w, ok := l.(interface{ Fitter() Fitter[T] }); ok {
		return w.Fitter()
	}
	f, _ := l.(Fitter[T])
	return f
}

// Fit passes over the whole of b with l; see Fitter. The error wraps ErrFit if l learns one example
// after another only.
func Fit[T Float](ctx context.Context, l Learner[T], b *engine.Block[T], o FitOptions) (FitResult,
	error) {
	if f := AsFitter(l); f != nil {
		return f.Fit(ctx, b, o)
	}
	return FitResult{}, fmt.Errorf("it learns one example after another only: %w", ErrFit)
}

// ProberOf returns what gives l's probabilities, or nil if it has none (Traits.Proba): l itself, or
// what stands for the learner that l gives its examples to.
func ProberOf[T Float](l Learner[T]) Prober[T] {
	return proberOf[T](l)
}

func proberOf[T Float](l any) Prober[T] {
	if w, ok := l.(interface{ Prober() Prober[T] }); ok {
		return w.Prober()
	}
	p, _ := l.(Prober[T])
	return p
}

// PosteriorOf returns l's posterior, or nil if it has none that can be joined with another
// (Traits.Merges): l itself, or what stands for the learner that l gives its examples to.
func PosteriorOf[T Float](l Learner[T]) PosteriorMerger[T] {
	if w, ok := l.(interface{ Posterior() PosteriorMerger[T] }); ok {
		return w.Posterior()
	}
	p, _ := l.(PosteriorMerger[T])
	return p
}

// MixerOf returns what averages l with others, or nil if its hypothesis is not made of weights that
// can be (Traits.Mixes).
func MixerOf[T Float](l Learner[T]) Mixer[T] {
	if w, ok := l.(interface{ Mixer() Mixer[T] }); ok {
		return w.Mixer()
	}
	m, _ := l.(Mixer[T])
	return m
}

// ReportOf returns what the posterior of l met so far; nil if l has none (Traits.Posterior).
func ReportOf[T Float](l Learner[T]) *PosteriorReport {
	if p, ok := l.(interface{ Report() PosteriorReport }); ok {
		r := p.Report()
		return &r
	}
	if w, ok := l.(wrapper[T]); ok {
		return ReportOf(w.Inner())
	}
	return nil
}

// MistakeCheckerOf returns what checks l, or nil if a pass without an update is all
// (Traits.Mistakes): l itself, or what stands for the learner that l gives its examples to.
func MistakeCheckerOf[T Float](l Learner[T]) MistakeChecker[T] {
	if w, ok := l.(interface{ MistakeChecker() MistakeChecker[T] }); ok {
		return w.MistakeChecker()
	}
	c, _ := l.(MistakeChecker[T])
	return c
}

// SupportOf returns how many examples l's hypothesis is a sum over, and whether it is one
// (Traits.Support).
func SupportOf[T Float](l Learner[T]) (n int, ok bool) {
	k, ok := l.(Keeper)
	if w, asks := l.(interface{ Keeper() Keeper }); asks {
		k = w.Keeper()
		ok = k != nil
	}
	if ok {
		return k.Support(), true
	}
	if w, ok := l.(wrapper[T]); ok {
		return SupportOf(w.Inner())
	}
	return 0, false
}

// BiasOf returns the part of l's scores that no feature has, and whether there is one
// (Traits.Biased). Of a learner whose hypothesis is one weight vector, scores are those of
// Weights plus it.
func BiasOf[T Float](l Learner[T]) (bias float64, ok bool) {
	b, ok := l.(Biased)
	if w, asks := l.(interface{ Biased() Biased }); asks {
		b = w.Biased()
		ok = b != nil
	}
	if ok {
		return b.Bias(), true
	}
	if w, ok := l.(wrapper[T]); ok {
		return BiasOf(w.Inner())
	}
	return 0, false
}

// AddWeights adds l's weights to sum, which grows as needed, and returns it; ok is false if l has
// none (Traits.Vector). Some learners do it without a copy of their weights.
func AddWeights[T Float](l Learner[T], sum []float64) (_ []float64, ok bool) {
	if a, ok := l.(interface{ AddWeights([]float64) []float64 }); ok {
		return a.AddWeights(sum), true
	}
	w := l.Weights()
	if w == nil {
		return sum, false
	}
	if n := len(w) - len(sum); n > 0 {
		sum = append(sum, make([]float64, n)...)
	}
	for j, v := range w {
		sum[j] += v
	}
	return sum, true
}

// FiniteWeights reports whether all of l's weights are finite, or it has none (Traits.Vector). Some
// learners know it without a copy of them.
func FiniteWeights[T Float](l Learner[T]) bool {
	if f, ok := l.(interface{ FiniteWeights() bool }); ok {
		return f.FiniteWeights()
	}
	return AllFinite(l.Weights())
}

// Learn has l learn b, and looks whether its state is still finite: programs that teach a learner
// do so through it. The error is that of [Learner.Learn], or wraps ErrDiverged: then b was learned,
// and l can neither be saved nor learn on.
//
// The state is looked at only behind a score that is no number, or beyond the square root of the
// largest T: a step from a smaller one stays in the range of numbers, unless its example alone is
// beyond that root. Cost: a comparison an example.
func Learn[T Float](l Learner[T], b *engine.Block[T], rounds []Round) error {
	if err := l.Learn(b, rounds); err != nil {
		return err
	}
	most := 0x1p512
	if _, single := any(l).(Learner[float32]); single {
		most = 0x1p64
	}
	for _, r := range rounds[:b.Len()] {
		if !(math.Abs(r.Score) < most) {
			s := l.State()
			if err := s.CheckFinite(); err != nil {
				return fmt.Errorf("%w: %w; %s", err, ErrDiverged, WhyDiverged)
			}
			return nil
		}
	}
	return nil
}

// WhyDiverged says what to do about a learner that has diverged. Options are those of package
// dataset.
const WhyDiverged = "it diverged: try a smaller step, or Options.Normalize unit"

// AllFinite reports whether no element is infinite or NaN.
func AllFinite(w []float64) bool {
	return !slices.ContainsFunc(w, func(v float64) bool { return v-v != 0 })
}

// TracerOf returns what writes down what l, a part of an ensemble, does; nil of learners that are
// none (Traits.Part).
func TracerOf[T Float](l Learner[T]) Tracer {
	if w, ok := l.(wrapper[T]); ok {
		return TracerOf(w.Inner())
	}
	t, _ := l.(Tracer)
	return t
}

// JoinerOf returns what makes l of parts that have learned apart, or nil if it can't be
// (Traits.Splits).
func JoinerOf[T Float](l Learner[T]) Joiner {
	if w, ok := l.(wrapper[T]); ok {
		return JoinerOf(w.Inner())
	}
	j, _ := l.(Joiner)
	return j
}

// MembersOf returns the weights of the members of an ensemble l, one vector a member, and whether
// there are any: not of learners that are no ensembles (Traits.Ensemble), nor where members have a
// bias, or no weights. A combination of members that has signs in place of weights (Traits.Vector
// is false) has them, too. Memory: one float64 a member and feature. More than most of these, or of
// the members' inner products, are none.
func MembersOf[T Float](l Learner[T], most int) (weights [][]float64, ok bool) {
	if e, ok := l.(interface{ MemberWeights(int) [][]float64 }); ok {
		weights = e.MemberWeights(most)
	}
	return weights, weights != nil
}

// OutputsOf returns how many scores an example l has: those of the classes that have come
// (Traits.Classes), else 1.
func OutputsOf[T Float](l Learner[T]) int {
	if o, ok := l.(interface{ Outputs() int }); ok {
		return o.Outputs()
	}
	if w, ok := l.(wrapper[T]); ok {
		return OutputsOf(w.Inner())
	}
	return 1
}

// Solver is a Learner whose Fit solves an optimisation problem to an accuracy that it knows.
type Solver interface {
	// Solved describes the solution of the last Fit.
	Solved() Solution
}

// Solution is what a Solver's last Fit reached.
type Solution struct {
	Gap     float64 // between the objective and a bound of it, relative to the objective
	Support int64   // examples with a dual coefficient; -1 before the first Fit
}

// SolutionOf returns what the last Fit of l reached, and whether l is a Solver (Traits.Dual).
func SolutionOf[T Float](l Learner[T]) (s Solution, ok bool) {
	if solver, ok := l.(Solver); ok {
		return solver.Solved(), true
	}
	return s, false
}

// HardMargin returns a registered learner whose Fit finds the hyperplane of the largest margin,
// with a bias or through the origin, and settings for that (Traits.HardMargin); ok is false if none
// is registered.
func HardMargin(bias bool) (e Entry, c Config, ok bool) {
	for _, name := range Names() {
		e, err := Lookup(name)
		if err != nil {
			continue
		}
		if hard := e.Config().Traits().HardMargin; hard != nil {
			return e, hard(bias), true
		}
	}
	return e, nil, false
}
