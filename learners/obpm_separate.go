package learners

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*separateOBPM[float32])(nil)

// separateOBPM is [OBPMConfig] over a base that has no members' form: N learners of their own, each
// made with a seed of its own, each given the examples that it is drawn for, in the order in which
// they come. f is the mean of the members' scores, or with votes the members that score >= 0 minus
// the others, over N.
//
// Deviations: with Config.Cap (step 15) the average's weights and its bias are divided by max(1,
// |w~'|), the length without the bias.
//
// Guarantee: with tau 1 and one member it is its base: TestSeparateOneMember. Members that update
// as those of a members' form do make the same ensemble: TestEnsembleIsThatOfLanes in
// internal/outside.
//
// Cost: the base's score of each member for each example, and its learning for tau of them; on the
// pool, a member a part; with Config.Cap all weights of all members for each
// example that updates one. Memory: N times the base's, and 32 bytes a member and example of a run.
type separateOBPM[T learner.Float] struct {
	fleet[T]
	cfg     OBPMConfig
	draws   ensemble.Masker
	mask    []uint64     // [example of a run][word]: who sees it
	make    func() error // the members, of a learner that SetState is to make; nil once made
	sum     []float64    // S, with Config.Cap
	sumSq   *float64     // |S|^2, with Config.Cap: a view's is its learner's
	weights bool         // the base takes weights
	biased  bool         // and has a bias
	keeps   bool         // and keeps examples
}

// Biased is for [learner.BiasOf]: the mean of the members' bias, if they have one.
func (o *separateOBPM[T]) Biased() learner.Biased {
	if !o.biased {
		return nil
	}
	return bias(func() (sum float64) {
		for _, l := range o.learners {
			b, _ := learner.BiasOf(l)
			sum += b
		}
		return sum / o.divisor()
	})
}

// Keeper is for [learner.SupportOf]: the examples that the members keep, each counted once a
// member.
func (o *separateOBPM[T]) Keeper() learner.Keeper { return o.keeper(o.keeps) }

// memberSeeds is the stream of the seeds of members.
const memberSeeds = 0x6d656d62

// newSeparateOBPM returns new members of their own. The first has the ensemble's seed. They keep
// as many examples as their settings allow, of any length: a member that refused one by Env.Kept
// would leave the others ahead of it, so Memory counts the longest examples there are instead.
func newSeparateOBPM[T learner.Float](cfg OBPMConfig, base learner.Config, env learner.Env) (
	learner.Learner[T], error) {
	e, err := learner.Lookup(cfg.Base)
	if err != nil {
		return nil, err
	}
	t := base.Traits()
	o := &separateOBPM[T]{fleet: fleet[T]{name: "obpm", pool: env.Pool}, cfg: cfg,
		sumSq: new(float64), weights: t.Weights, biased: t.Biased, keeps: t.Support,
		draws: engine.NewDraws(env.Seed, 0).Bernoulli(cfg.Tau)}
	o.teach = o.learnPart
	o.make = func() error {
		seeds := engine.NewRand(env.Seed, memberSeeds)
		seed := env.Seed
		for range cfg.Members {
			l, err := learner.New[T](e, base, learner.Env{Seed: seed, Pool: env.Pool})
			if err != nil {
				return fmt.Errorf("obpm: base: %w", err)
			}
			o.learners = append(o.learners, l)
			seed = seeds.Uint64()
		}
		o.make = nil
		return nil
	}
	if !env.Restored {
		if err := o.make(); err != nil {
			return nil, err
		}
	}
	o.runs.Give(&o.own)
	return o, nil
}

// separateFit is Traits.FitMemory of members that keep examples: the base's own, for a member's
// share. What is not a member's own, and examples longer than the mean, for which members have no
// bound of their own, make the share smaller until all is within.
func (c *OBPMConfig) separateFit(bytes int64, x learner.Extent, mean, largest int64) (
	learner.Config, error) {
	base, err := c.baseSettings()
	if err != nil {
		return nil, err
	}
	for share := bytes / int64(c.Members); ; share -= max(1, share/16) {
		sized, err := base.Traits().FitMemory(share, x, mean, largest)
		if err != nil {
			return nil, fmt.Errorf("obpm: a member of %d: %w", c.Members, err)
		}
		d := *c
		if d.BaseConfig = sized; d.memory(x).Peak() <= bytes {
			return &d, nil
		}
	}
}

func (o *separateOBPM[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := checkMembers(o.weights, b, len(rounds)); err != nil {
		return err
	}
	if o.failed != nil {
		return o.failed
	}
	if err := o.reach(b, o.learners); err != nil {
		return err
	}
	r, members := &o.own, o.cfg.Members
	for lo := 0; lo < b.Len(); lo += r.b.Len() {
		hi := min(b.Len(), lo+runOf(members))
		if o.cfg.Cap {
			hi = lo + 1 // what the next score is divided by follows from this one
		}
		r.take(&o.fleet, fleetLearn, b, lo, hi, members)
		words := (members + 63) / 64
		o.mask = slices.Grow(o.mask[:0], (hi-lo)*words)[:(hi-lo)*words]
		o.draws.Masks(o.mask, 0, members, o.presented)
		if err := r.run(); err != nil {
			o.failed = err
			return err
		}
		o.presented += uint64(hi - lo)
		for e := range hi - lo {
			rounds[lo+e] = learner.Round{Score: o.scoreOf(r.scores[e:], hi-lo),
				Updates: r.updates(e, members)}
		}
		if o.cfg.Cap && rounds[lo].Updates > 0 {
			o.measure()
		}
	}
	r.b = engine.Block[T]{}
	return nil
}

// learnPart has member m learn those of the run's examples that it sees: b_{m,t} of Algorithm 2.
func (o *separateOBPM[T]) learnPart(r *fleetRun[T], m int, v *engine.Block[T]) error {
	n, words := r.b.Len(), (o.cfg.Members+63)/64
	y := r.y[m*n:][:n]
	for e := range y { // a branch on draws would often be mispredicted
		y[e] = T(r.b.Y[e] * T(o.mask[e*words+m/64]>>(m%64)&1))
	}
	return r.learn(m, o.learners[m], v, true)
}

// scoreOf returns f from the members' scores, which are n apart.
func (o *separateOBPM[T]) scoreOf(scores []float64, n int) float64 {
	if o.cfg.Combine == CombineVote {
		return float64(2*positive(scores, n, o.cfg.Members)-o.cfg.Members) / float64(o.cfg.Members)
	}
	var sum float64
	for m := range o.cfg.Members {
		sum += scores[m*n]
	}
	return sum / o.divisor()
}

// divisor is what S is divided by: N, and with Config.Cap max(1, |S/N|), step 15.
func (o *separateOBPM[T]) divisor() float64 {
	n := float64(o.cfg.Members)
	if o.cfg.Cap {
		n *= max(1, math.Sqrt(*o.sumSq)/n)
	}
	return n
}

// measure makes |S|^2 of the members.
func (o *separateOBPM[T]) measure() {
	clear(o.sum)
	for _, l := range o.learners {
		o.sum, _ = learner.AddWeights(l, o.sum)
	}
	*o.sumSq = engine.SumSqOrdered(o.sum)
}

// positive returns how many of so many scores, n apart, are >= 0.
func positive(scores []float64, n, members int) (votes int) {
	for m := range members {
		if scores[m*n] >= 0 {
			votes++
		}
	}
	return votes
}

func (o *separateOBPM[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows("obpm", b, len(dst)); err != nil {
		return err
	}
	return o.each(b, fleetScore, func(i int, scores []float64, n int) {
		dst[i] = o.scoreOf(scores, n)
	})
}

// Proba is Prober.Proba, as [OBPM.Proba].
func (o *separateOBPM[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows("obpm", b, len(dst)); err != nil {
		return err
	}
	return o.each(b, fleetScore, func(i int, scores []float64, n int) {
		dst[i] = float64(positive(scores, n, o.cfg.Members)) / float64(o.cfg.Members)
	})
}

// Mistakes is MistakeChecker.Mistakes, as [OBPM.Mistakes].
func (o *separateOBPM[T]) Mistakes(b *engine.Block[T]) (int, error) {
	if err := primal.CheckWeighted("obpm", b, b.Len()); err != nil {
		return 0, err
	}
	f, wrong := make([]float64, b.Len()), make([]float64, b.Len())
	err := o.each(b, fleetScore, func(i int, scores []float64, n int) {
		f[i] = o.scoreOf(scores, n)
		for m := range o.cfg.Members {
			if !(float64(float64(b.Y[i])*scores[m*n]) > 0) {
				wrong[i]++
			}
		}
	})
	return countMistakes(b, f, wrong), err
}

// Weights returns the mean of the members' weights, or nil for votes and for members that have
// none.
func (o *separateOBPM[T]) Weights() []float64 {
	if o.cfg.Combine == CombineVote {
		return nil
	}
	var sum []float64
	for k := range o.size() {
		w := o.scorer(k).Weights()
		if w == nil {
			return nil
		}
		sum = primal.Grown(sum, len(w))
		for j, v := range w {
			sum[j] += v
		}
	}
	for j := range sum {
		sum[j] /= o.divisor()
	}
	return sum
}

// MemberWeights is for [learner.MembersOf]: nil where the members have a bias, or no weights.
func (o *separateOBPM[T]) MemberWeights(most int) (w [][]float64) {
	if max(o.dim, o.cfg.Members) > most/o.cfg.Members {
		return nil
	}
	for _, l := range o.learners {
		v := l.Weights()
		if _, biased := learner.BiasOf(l); v == nil || biased {
			return nil
		}
		w = append(w, v)
	}
	return w
}

// Updates returns the updates of all members together.
func (o *separateOBPM[T]) Updates() (sum int64) {
	for _, l := range o.learners {
		sum += l.Updates()
	}
	return sum
}

// Bytes returns the memory of the members, and of what a run takes.
func (o *separateOBPM[T]) Bytes() int64 {
	return o.bytes() + int64(unsafe.Sizeof(*o)) + primal.BytesOf(o.sum) + 8*int64(cap(o.mask))
}

// Forgetter is for [learner.ForgetterOf]: nil where the base can't forget.
func (o *separateOBPM[T]) Forgetter() learner.Forgetter {
	if learner.ForgetterOf(o.learners[0]) == nil {
		return nil
	}
	return forgets(func(keep float64) error {
		err := forgetAll(o.learners, keep)
		if err == nil && o.cfg.Cap {
			o.measure()
		}
		return err
	})
}

// State returns the members' states, each with its number before the names, and as counters the
// examples presented and the features that all members have seen.
func (o *separateOBPM[T]) State() learner.State { return learner.StateOf(o.fields) }

func (o *separateOBPM[T]) SetState(s learner.State) error {
	if err := o.makeFor(&s); err != nil {
		return err
	}
	return learner.SetState("obpm", s, o.fields)
}

func (o *separateOBPM[T]) CheckState(s learner.State) error {
	if err := o.makeFor(&s); err != nil {
		return err
	}
	return learner.CheckState("obpm", s, o.fields)
}

// makeFor makes the members that are not there yet, if s has as many parts: each member's State has
// one or more. So settings that lie about the members take no memory.
func (o *separateOBPM[T]) makeFor(s *learner.State) error {
	if o.make == nil {
		return nil
	}
	if n := len(s.Counters) + len(s.Scalars) + len(s.Tensors); n < o.cfg.Members {
		return fmt.Errorf("obpm: a state of %d parts, want those of %d members: %w", n,
			o.cfg.Members, learner.ErrState)
	}
	return o.make()
}

func (o *separateOBPM[T]) fields(c *learner.Codec) {
	o.fleet.fields(c)
	o.capFields(c)
	learner.Inners(c, memberName, o.learners)
}

// capFields walks |S|^2, where it is kept.
func (o *separateOBPM[T]) capFields(c *learner.Codec) {
	if o.cfg.Cap {
		sumSq := c.Scalar("sum_sq", o.sumSq)
		c.Want(sumSq >= 0, "scalar %q is %v, want a number >= 0", "sum_sq", sumSq)
	}
}

// committee is the hypothesis of a [OBPMConfig]: a Predictor for each member.
type committee[T learner.Float] struct {
	primal.OneOutput
	o *separateOBPM[T] // scores by predictors; has no learners
}

func (p *committee[T]) Score(b *engine.Block[T], dst []float64) error { return p.o.Score(b, dst) }

// Proba is Prober.Proba, as [OBPM.Proba].
func (p *committee[T]) Proba(b *engine.Block[T], dst []float64) error { return p.o.Proba(b, dst) }

func (p *committee[T]) Weights() []float64 { return p.o.Weights() }

// Hypothesis is for [learner.HypothesisOf]: the mean of the members', none of votes.
func (p *committee[T]) Hypothesis() learner.Hypothesis {
	var (
		all learner.Hypothesis
		sum learner.Output
	)
	sum.Points.Ptr, sum.Divisor = []int{0}, 1
	for _, m := range p.o.predictors {
		h, ok := learner.HypothesisOf(m)
		if !ok || p.o.cfg.Combine == CombineVote {
			return learner.Hypothesis{}
		}
		one := &h.Outputs[0]
		divisor := float64(p.o.divisor() * one.Divisor)
		sum.Weights = primal.Grown(sum.Weights, len(one.Weights))
		for j, v := range one.Weights {
			sum.Weights[j] += v / divisor
		}
		for i, c := range one.Coef {
			idx, val := one.Points.Sparse(i)
			sum.Points.Idx = append(sum.Points.Idx, idx...)
			sum.Points.Val = append(sum.Points.Val, val...)
			sum.Points.Ptr = append(sum.Points.Ptr, len(sum.Points.Idx))
			sum.Coef = append(sum.Coef, c/divisor)
		}
		sum.Points.Dim = max(sum.Points.Dim, one.Points.Dim)
		sum.Bias += one.Bias / divisor
		all.Kernel = h.Kernel
		if one.Weights != nil && sum.Weights == nil {
			sum.Weights = []float64{}
		}
	}
	all.Outputs = []learner.Output{sum}
	return all
}

func (p *committee[T]) Bytes() int64 { return p.o.Bytes() + int64(unsafe.Sizeof(*p)) }

// State is Predictor.State: the members' hypotheses, each with its number before the names.
func (p *committee[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *committee[T]) CheckState(s learner.State) error {
	return learner.CheckState("obpm", s, p.Fields)
}

func (p *committee[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	return primal.Restored("obpm", p.o.committee(slices.Clone(p.o.predictors), new(float64)), s)
}

// Fields walks what State says.
func (p *committee[T]) Fields(c *learner.Codec) {
	p.o.capFields(c)
	p.o.predictorFields(c, memberName)
}

// committee returns that of o's settings, with |S|^2.
func (o *separateOBPM[T]) committee(of []learner.Predictor[T], sumSq *float64) *committee[T] {
	return &committee[T]{o: &separateOBPM[T]{cfg: o.cfg, sumSq: sumSq,
		fleet: fleet[T]{name: o.name, pool: o.pool, dim: o.dim, predictors: of}}}
}

// memberName is what the names of member m's parts of a State begin with.
func memberName(m int) string { return fmt.Sprintf("member%d.", m) }

// Snapshot is Learner.Snapshot: one of each member.
func (o *separateOBPM[T]) Snapshot() learner.Predictor[T] {
	sumSq := *o.sumSq
	return o.committee(o.snapshots(), &sumSq)
}

// View is for [learner.ViewOf].
func (o *separateOBPM[T]) View() learner.Predictor[T] { return o.committee(o.views(), o.sumSq) }
