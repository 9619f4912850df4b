package learners

import (
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*obpm[float32])(nil)

// obpm runs N base learners ("members") side by side, shows each example to each member with
// probability tau, and averages their weights: a cheap approximation of the Bayes point, the centre
// of mass of the version space.
//
// Reference: E. Harrington, R. Herbrich, J. Kivinen, J. C. Platt, R. C. Williamson, "Online Bayes
// Point Machines", PAKDD 2003, Algorithm 2.
//
//	paper        here                  shape, unit
//	x_t, y_t     block                 example; label, -1 or +1
//	N            Config.Members        number of members
//	tau          Config.Tau            probability
//	b_{j,t}      draws                 Bernoulli(tau) of (seed, member j, example number t)
//	L, S         rule                  Config.Base: update rule and step sizes; a state of each
//	                                   member's own
//	w_{j,t}      lanes or dense        one a feature and member, of T
//	w~'_t        sum / N               sum = S = the sum of the members' weights, one float64 a
//	                                   feature
//	w~_t         Weights               with Config.Cap after step 15, without it w~'
//
// Deviations: step 15, w~ = w~'/max(1, |w~'|), is optional as in the paper (it changes no label);
// the members never see it. Where S is not kept and may be longer than 1 (romma, and members of
// their own) Cap measures all members after each example that updates one. The example number t
// goes on over epochs. Combine "vote" is not in the paper: f = (members that score >= 0 minus the
// others) / N, so that members count by sign and not by length.
//
// For additive bases (perceptron, pa, lms) S is not summed over members anew (step 13) but kept
// beside them: an example that changes members by the coefficients c_j adds (sum of c_j) x to S. So
// the online prediction is one dot, S.x/N. ALMA, ROMMA, CRAMMA and MICRA scale their weights, so
// with them f is the mean of all members' scores, both in Learn and in Score.
//
// Converged: a pass without an update shows little, as each member sees a part of it. An ensemble
// has converged if besides neither the average (the vote) nor any member makes a mistake on any
// example: each member separates them all. See Mistakes.
//
// Guarantee: the members are what the base learner is; with tau 1 and one member OBPM is its base:
// TestOBPMBases. TestOBPMTable1 checks the paper's update counts.
//
// Cost: O(non-zeros * N) an example for sparse blocks, by lanes of members; O(Dim * tau N) for
// dense blocks; both plus O(non-zeros) for f and S.
// Votes, and bases that scale their weights, score all N members always. Memory: N of T and one
// float64 a feature seen; with sparse blocks also a feature not seen, while all take 1 MiB at most.
// Results never depend on the blocks or the workers.
type obpm[T learner.Float] struct {
	cfg OBPMConfig
	ensemble.Ensemble[T]

	// what f is computed from: S where that is kept, else the members' scores or votes
	aggregate ensemble.Aggregate
	sumSq     float64         // |S|^2, kept if cfg.Cap; 0 where S/N is never longer than 1
	column    []T             // of a feature: room for what measure takes
	one       engine.Block[T] // the run's example, where the cap needs S after each
	presented uint64          // examples, the number of the next one's draws
	weights   bool            // the base takes weights
	updates   uint64          // of members
	trace     *learner.Trace  // of what the members do; nil: none is kept
	joining   *joining        // of parts that have learned; nil: the members learn
}

func newOBPM[T learner.Float](cfg OBPMConfig, env learner.Env) (learner.Learner[T], error) {
	if !cfg.Linear() {
		return newKernelOBPM[T](cfg, env)
	}
	base, err := cfg.baseSettings()
	if err != nil {
		return nil, err
	}
	form := cfg.form(base)
	if form == nil {
		return newSeparateOBPM[T](cfg, base, env)
	}
	step, err := ensemble.NewStepper[T](form, cfg.Members)
	if err != nil {
		return nil, err
	}
	o := &obpm[T]{cfg: cfg, weights: base.Traits().Weights}
	switch {
	case cfg.Combine == CombineVote:
		o.aggregate = ensemble.AggregateVotes
	case !step.Form.Additive:
		o.aggregate = ensemble.AggregateScores
	}
	first := 0
	if o.cfg.Part != nil {
		first = o.cfg.Part.First
	}
	o.Ensemble = ensemble.NewEnsemble[T](first, o.cfg.Members, o.cfg.Tau, step,
		o.aggregate == ensemble.AggregateNone, env)
	o.Lengths = o.Lengths || o.cfg.Cap
	o.LearnRun.Owner = &o.Ensemble
	o.SpareRuns.Give(&o.LearnRun)
	o.UseLanes(o.NewLanes())
	return o, nil
}

func (o *obpm[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := checkMembers(o.weights, b, len(rounds)); err != nil {
		return err
	}
	o.UseFormOf(b)
	o.GrowTo(b.Dim)
	if o.cfg.Cap && !o.KeepsSum && !o.Stepper.Form.Unit {
		return o.learnMeasured(b, rounds)
	}
	for lo := 0; lo < b.Len(); lo += o.LearnRun.B.Len() {
		if err := o.run(b, lo, rounds[lo:]); err != nil {
			return err
		}
	}
	o.LearnRun.Release()
	return nil
}

// run has the members go through the next examples of b, from lo on, and reports their rounds.
func (o *obpm[T]) run(b *engine.Block[T], lo int, rounds []learner.Round) (err error) {
	if o.joining != nil {
		err = o.LearnRun.RunGiven(b, lo, o.aggregate, o.joining.traces)
	} else {
		err = o.LearnRun.Run(b, lo, o.aggregate, o.presented)
	}
	if err != nil {
		return err
	}
	o.report(rounds[:o.LearnRun.B.Len()])
	o.presented += uint64(o.LearnRun.B.Len())
	return nil
}

// checkMembers is primal.CheckBlock for members that take weights, or don't.
func checkMembers[T learner.Float](weights bool, b *engine.Block[T], out int) error {
	if weights {
		return primal.CheckWeighted("obpm", b, out)
	}
	return primal.CheckBlock("obpm", b, out)
}

// learnMeasured is Learn where step 15 needs S after each example, and S is not kept: it is made of
// the members after each one that updates any.
func (o *obpm[T]) learnMeasured(b *engine.Block[T], rounds []learner.Round) error {
	for i := range b.Len() {
		o.one = b.Slice(i, i+1)
		if err := o.run(&o.one, 0, rounds[i:]); err != nil {
			return err
		}
		if rounds[i].Updates > 0 {
			o.sumSq = o.measure()
		}
	}
	o.one = engine.Block[T]{}
	o.LearnRun.Release()
	return nil
}

// measure returns |S|^2. Cost: all weights of all members.
func (o *obpm[T]) measure() (sumSq float64) {
	if o.column == nil {
		o.column = make([]T, o.cfg.Members)
	}
	store := o.Store()
	for j := range o.Room {
		if store.Column(o.column, j) {
			s := o.Rule.Total(0, o.column)
			sumSq += float64(s * s)
		}
	}
	return sumSq
}

// report fills in the rounds of the run's examples, and takes their part in S.
func (o *obpm[T]) report(rounds []learner.Round) {
	if o.trace != nil {
		for e := range rounds {
			o.LearnRun.AppendTrace(o.trace, e)
		}
	}
	if o.aggregate != ensemble.AggregateNone {
		for e := range rounds {
			_, total, updates := o.LearnRun.Sums(e)
			o.updates += uint64(updates)
			rounds[e] = learner.Round{Score: o.scoreOf(total), Updates: int32(updates)}
		}
		return
	}
	n, total := float64(o.cfg.Members), uint64(0)
	f, a, updates := o.Replay()
	for e := range rounds {
		rounds[e] = learner.Round{Score: f[e] / n, Updates: updates[e]}
		total += uint64(updates[e])
		if o.cfg.Cap { // |S + a x|^2 = |S|^2 + a (2 S.x + a |x|^2)
			rounds[e].Score = o.scoreOf(f[e])
			o.sumSq = max(0, o.sumSq+float64(a[e]*(float64(2*f[e])+
				float64(a[e]*o.LearnRun.SquaredLengths[e]))))
		}
	}
	o.updates += total
}

func (o *obpm[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows("obpm", b, len(dst)); err != nil {
		return err
	}
	if o.KeepsSum {
		p := o.average()
		return p.Score(b, dst)
	}
	if err := o.ownMembers(); err != nil {
		return err
	}
	if err := o.AggregateMembers(b, dst, o.aggregate); err != nil {
		return err
	}
	for i, v := range dst[:b.Len()] {
		dst[i] = o.scoreOf(v)
	}
	return nil
}

// Proba is Prober.Proba: the share of the members that predict +1. That is a vote of perceptrons
// and not a posterior: it is 0 or 1 where all agree, however few examples they have seen, and f may
// be on the other side. Cost: the scores of all members.
func (o *obpm[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows("obpm", b, len(dst)); err != nil {
		return err
	}
	if err := o.ownMembers(); err != nil {
		return err
	}
	if err := o.AggregateMembers(b, dst, ensemble.AggregateVotes); err != nil {
		return err
	}
	for i, v := range dst[:b.Len()] {
		dst[i] = v / float64(o.cfg.Members)
	}
	return nil
}

// Mistakes is MistakeChecker.Mistakes: an example is a mistake if it is one of the average, or of
// the vote, or of any member. A member that never learned is wrong everywhere.
// Examples of weight 0 are none.
func (o *obpm[T]) Mistakes(b *engine.Block[T]) (int, error) {
	if err := primal.CheckWeighted("obpm", b, b.Len()); err != nil {
		return 0, err
	}
	f, wrong := make([]float64, b.Len()), make([]float64, b.Len())
	if err := o.Score(b, f); err != nil {
		return 0, err
	}
	if err := o.AggregateMembers(b, wrong, ensemble.AggregateMistakes); err != nil {
		return 0, err
	}
	return countMistakes(b, f, wrong), nil
}

// scoreOf returns f from S.x, from the sum of the members' scores, or from the number of votes for
// +1.
func (o *obpm[T]) scoreOf(v float64) float64 {
	n := float64(o.cfg.Members)
	switch {
	case o.cfg.Cap:
		n *= o.length()
	case o.aggregate == ensemble.AggregateVotes:
		v = float64(2*v) - n
	}
	return v / n
}

// length is the divisor of step 15, max(1, |S/N|).
func (o *obpm[T]) length() float64 {
	return max(1, math.Sqrt(o.sumSq)/float64(o.cfg.Members))
}

// Weights returns the averaged weights (after step 15 with Cap), one a feature seen, or nil for
// votes.
func (o *obpm[T]) Weights() []float64 {
	if o.aggregate == ensemble.AggregateVotes {
		return nil
	}
	w := make([]float64, o.Room)
	if o.KeepsSum {
		for j, s := range o.Sum() {
			w[j] = o.scoreOf(s)
		}
		return w
	}
	col := make([]T, o.cfg.Members)
	for j := range w {
		if o.Column(col, j) {
			w[j] = o.scoreOf(o.Rule.Total(0, col))
		}
	}
	return w
}

// FiniteWeights is for [learner.FiniteWeights].
func (o *obpm[T]) FiniteWeights() bool {
	if !o.KeepsSum || o.cfg.Cap {
		return learner.AllFinite(o.Weights())
	}
	return learner.AllFinite(o.Sum())
}

// MemberWeights is for [learner.MembersOf].
func (o *obpm[T]) MemberWeights(most int) [][]float64 {
	if max(o.Room, o.cfg.Members) > most/o.cfg.Members {
		return nil
	}
	w, col := make([][]float64, o.cfg.Members), make([]T, o.cfg.Members)
	for m := range w {
		w[m] = make([]float64, o.Room)
	}
	for j := range o.Room {
		if o.Column(col, j) {
			for m := range w {
				w[m][j] = o.Rule.Total(m, col[m:m+1])
			}
		}
	}
	return w
}

// Updates returns the updates of all members together.
func (o *obpm[T]) Updates() int64 { return int64(o.updates) }

// countMistakes returns how many of the scores f of b's examples are mistakes, or whose members'
// mistakes aren't 0.
func countMistakes[T learner.Float](b *engine.Block[T], f, members []float64) (n int) {
	for i, y := range b.Y {
		if (!(float64(y)*f[i] > 0) || members[i] != 0) && b.Weight(i) != 0 {
			n++
		}
	}
	return n
}

// Bytes returns the memory of members and S, and of what a run takes.
func (o *obpm[T]) Bytes() int64 {
	return o.Ensemble.Bytes() + int64(unsafe.Sizeof(*o)) + primal.BytesOf(o.column)
}

// Forgetter is for [learner.ForgetterOf]: nil where the base can't forget. All members forget, and
// S is summed over them anew.
func (o *obpm[T]) Forgetter() learner.Forgetter {
	if !o.cfg.Traits().Forgets {
		return nil
	}
	return forgets(func(keep float64) error {
		if err := learner.CheckKeep("obpm", keep); err != nil || keep == 1 {
			return err
		}
		o.rewrite(func(col []T) {
			for m := range col {
				col[m] *= T(keep)
			}
		})
		return nil
	})
}

// rewrite has change give the members other weights of each feature that any of them has one of,
// and sums them up anew.
func (o *obpm[T]) rewrite(change func(col []T)) {
	col, store, sum := make([]T, o.cfg.Members), o.Store(), o.Sum()
	o.sumSq = 0
	for j := range o.Room {
		if store.Column(col, j) {
			change(col)
			store.SetColumn(j, col)
		}
		if !o.KeepsSum {
			continue
		}
		sum[j] = o.Rule.Total(0, col)
		if o.cfg.Cap {
			o.sumSq += float64(sum[j] * sum[j])
		}
	}
}
