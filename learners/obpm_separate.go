package learners

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
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
// example that updates one. Memory: N times the base's, and 24 bytes a member and example of a run.
//
// An error that a member makes out of an example, which no learner here does in this place, leaves
// members that have not learned the same examples: the ensemble then refuses to learn any more.
type separateOBPM[T learner.Float] struct {
	cfg       OBPMConfig
	pool      *engine.Pool
	draws     ensemble.Masker
	members   []learner.Learner[T]
	make      func() error // the members, of a learner that SetState is to make; nil once made
	scorers   []scorer[T]  // of the members: themselves, or their Predictors in a committee
	dim       int          // features that all members have seen
	presented uint64       // examples, the number of the next one's draws
	failed    error        // of a member
	sum       []float64    // S, with Config.Cap
	sumSq     *float64     // |S|^2, with Config.Cap: a view's is its learner's
	weights   bool         // the base takes weights

	own  separateRun[T]                // of Learn
	runs scratch.Stack[separateRun[T]] // not in use; Learn's is one of them
}

// scorer is a learner or a Predictor.
type scorer[T learner.Float] interface {
	Score(b *engine.Block[T], dst []float64) error
	Weights() []float64
}

// biasedSeparateOBPM is that of a base that is Biased.
type biasedSeparateOBPM[T learner.Float] struct{ *separateOBPM[T] }

// Bias is Biased.Bias: the mean of the members'.
func (o biasedSeparateOBPM[T]) Bias() float64 {
	var sum float64
	for _, l := range o.members {
		bias, _ := learner.BiasOf(l)
		sum += bias
	}
	return sum / o.divisor()
}

// keepingSeparateOBPM is that of a base that keeps examples.
type keepingSeparateOBPM[T learner.Float] struct{ *separateOBPM[T] }

// Support is Keeper.Support: the examples that the members keep, each counted once a member.
func (o keepingSeparateOBPM[T]) Support() int { return o.support() }

// keepingBiasedSeparateOBPM is that of a base that is Biased and keeps examples.
type keepingBiasedSeparateOBPM[T learner.Float] struct{ biasedSeparateOBPM[T] }

func (o keepingBiasedSeparateOBPM[T]) Support() int { return o.support() }

func (o *separateOBPM[T]) support() (sum int) {
	for _, l := range o.members {
		n, _ := learner.SupportOf(l)
		sum += n
	}
	return sum
}

// separateRun is a run of examples in work, and scratch. It is the [engine.Job] of that: part m is
// member m.
type separateRun[T learner.Float] struct {
	o        *separateOBPM[T]
	learning bool
	b        engine.Block[T]
	mask     []uint64          // [example][word]: who sees it
	scores   []float64         // [member][example]
	rounds   []learner.Round   // [member][example]
	views    []engine.Block[T] // [member]: what it is given
	errs     []error           // [member]
}

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
	o := &separateOBPM[T]{cfg: cfg, pool: env.Pool, sumSq: new(float64),
		weights: base.Traits().Weights,
		draws:   engine.NewDraws(env.Seed, 0).Bernoulli(cfg.Tau)}
	o.make = func() error {
		seeds := engine.NewRand(env.Seed, memberSeeds)
		seed := env.Seed
		for range cfg.Members {
			l, err := learner.New[T](e, base, learner.Env{Seed: seed, Pool: env.Pool})
			if err != nil {
				return fmt.Errorf("obpm: base: %w", err)
			}
			o.members, o.scorers = append(o.members, l), append(o.scorers, l)
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
	switch t := base.Traits(); {
	case t.Biased && t.Support:
		return keepingBiasedSeparateOBPM[T]{biasedSeparateOBPM[T]{o}}, nil
	case t.Biased:
		return biasedSeparateOBPM[T]{o}, nil
	case t.Support:
		return keepingSeparateOBPM[T]{o}, nil
	}
	return o, nil
}

// separateMemory is Memory of members of their own.
func (c *OBPMConfig) separateMemory(base learner.Config, x learner.Extent) learner.Footprint {
	x.Whole, x.Kept = false, 0
	members := int64(c.Members)
	one := base.Memory(x)
	var f learner.Footprint
	for _, p := range one.Parts {
		f.Add("members' "+p.Name, learner.Times(p.Items, members), learner.Times(p.Bytes, members))
	}
	n := min(ensemble.RunExamples, max(1, ensemble.RunPartials/members))
	each := int64(unsafe.Sizeof(engine.Block[float64]{})) + 16 + 64
	run := learner.Times(members, each) + learner.Times(n, (members+63)/64, 8) + learner.Times(n,
		members, 24)*5/4
	f.Add("members' work space", members, run+primal.FixedBytes)
	f.Moving = learner.Times(one.Moving, members)
	f.Each = learner.Times(one.Each, members)
	f.Copied(x, 16, learner.Times(one.Copies, members))
	return f
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
		if d.BaseConfig = sized; d.Memory(x).Peak() <= bytes {
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
	r := &o.own
	r.o = o
	if err := o.reach(b); err != nil {
		return err
	}
	for lo := 0; lo < b.Len(); lo += r.b.Len() {
		if err := r.run(b, lo, true); err != nil {
			o.failed = err
			return err
		}
		n := r.b.Len()
		o.presented += uint64(n)
		for e := range n {
			rounds[lo+e] = learner.Round{Score: o.scoreOf(r.scores[e:], n), Updates: r.updates(e)}
		}
		if o.cfg.Cap && rounds[lo].Updates > 0 { // n is 1
			o.measure()
		}
	}
	r.b = engine.Block[T]{}
	return nil
}

// reach shows all members the features of b, before anything is learned: those that any member
// refuses, all do.
func (o *separateOBPM[T]) reach(b *engine.Block[T]) error {
	if b.Dim <= o.dim {
		return nil
	}
	r := &o.own
	r.views = grownViews(r.views, 1)
	r.views[0] = b.Slice(0, 0)
	r.views[0].Dim = b.Dim
	for _, l := range o.members {
		if err := l.Learn(&r.views[0], nil); err != nil {
			return fmt.Errorf("obpm: base: %w", err)
		}
	}
	o.dim = b.Dim
	return nil
}

// grownViews returns v with n elements, in its own memory if that is enough.
func grownViews[T learner.Float](v []engine.Block[T], n int) []engine.Block[T] {
	return slices.Grow(v[:0], n)[:n]
}

// run makes r.b the examples of b from lo on, as many as a run takes, and gives each member those
// that it sees to learn and the others to score.
func (r *separateRun[T]) run(b *engine.Block[T], lo int, learning bool) error {
	members := r.o.cfg.Members
	n := min(b.Len()-lo, ensemble.RunExamples, max(1, ensemble.RunPartials/members))
	if learning && r.o.cfg.Cap {
		n = 1 // what the next score is divided by follows from this one
	}
	r.learning, r.b = learning, b.Slice(lo, lo+n)
	r.scores = slices.Grow(r.scores[:0], n*members)[:n*members]
	r.views = grownViews(r.views, members)
	r.errs = slices.Grow(r.errs[:0], members)[:members]
	if learning {
		words := (members + 63) / 64
		r.rounds = slices.Grow(r.rounds[:0], n*members)[:n*members]
		clear(r.rounds)
		r.mask = slices.Grow(r.mask[:0], n*words)[:n*words]
		r.o.draws.Masks(r.mask, 0, members, r.o.presented)
	}
	// What a member takes for an example is not known; it is no less than this, in ns.
	const call, perProduct = 20, 4
	nnz := n * b.Dim
	if !b.Dense() {
		nnz = r.b.Ptr[n] - r.b.Ptr[0]
	}
	if err := r.o.pool.Spread(context.Background(), members*(n*call+nnz/perProduct), members,
		r); err != nil {
		return err
	}
	for _, err := range r.errs {
		if err != nil {
			return fmt.Errorf("obpm: base: %w", err)
		}
	}
	return nil
}

// Part implements engine.Job: member m goes through the examples of r.b.
func (r *separateRun[T]) Part(m int) {
	n := r.b.Len()
	v, scores := &r.views[m], r.scores[m*n:][:n]
	defer func() { *v = engine.Block[T]{} }()
	if !r.learning {
		*v = r.b
		r.errs[m] = r.o.scorers[m].Score(v, scores)
		return
	}
	l := r.o.members[m]
	rounds := r.rounds[m*n:][:n]
	r.errs[m] = nil
	// Runs of examples that the member sees, or does not: the scores are of before each example, as
	// Learn reports them and Score computes them in between.
	for lo, hi := 0, 0; lo < n && r.errs[m] == nil; lo = hi {
		sees := r.sees(m, lo)
		for hi = lo + 1; hi < n && r.sees(m, hi) == sees; {
			hi++
		}
		*v = r.b.Slice(lo, hi)
		if !sees {
			r.errs[m] = l.Score(v, scores[lo:hi])
			continue
		}
		r.errs[m] = l.Learn(v, rounds[lo:hi])
		for i := lo; i < hi; i++ {
			scores[i] = rounds[i].Score
		}
	}
}

// sees reports whether member m sees example e: b_{m,t} of Algorithm 2.
func (r *separateRun[T]) sees(m, e int) bool {
	words := (r.o.cfg.Members + 63) / 64
	return r.mask[e*words+m/64]>>(m%64)&1 != 0
}

// updates returns how many members changed by example e.
func (r *separateRun[T]) updates(e int) (sum int32) {
	for n := r.b.Len(); e < len(r.rounds); e += n {
		sum += r.rounds[e].Updates
	}
	return sum
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
	for _, l := range o.members {
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

// eachExample lets all members score the examples of b, which were checked, and calls visit for
// each example with the members' scores, which are n apart.
func (o *separateOBPM[T]) eachExample(b *engine.Block[T],
	visit func(i int, scores []float64, n int)) error {
	r := o.runs.Take()
	defer o.runs.Give(r)
	r.o = o
	for lo := 0; lo < b.Len(); lo += r.b.Len() {
		if err := r.run(b, lo, false); err != nil {
			return err
		}
		for e := range r.b.Len() {
			visit(lo+e, r.scores[e:], r.b.Len())
		}
	}
	r.b = engine.Block[T]{}
	return nil
}

func (o *separateOBPM[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows("obpm", b, len(dst)); err != nil {
		return err
	}
	return o.eachExample(b, func(i int, scores []float64, n int) { dst[i] = o.scoreOf(scores, n) })
}

// Proba is Prober.Proba, as [OBPM.Proba].
func (o *separateOBPM[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows("obpm", b, len(dst)); err != nil {
		return err
	}
	return o.eachExample(b, func(i int, scores []float64, n int) {
		dst[i] = float64(positive(scores, n, o.cfg.Members)) / float64(o.cfg.Members)
	})
}

// Mistakes is MistakeChecker.Mistakes, as [OBPM.Mistakes].
func (o *separateOBPM[T]) Mistakes(b *engine.Block[T]) (count int, err error) {
	if err := primal.CheckWeighted("obpm", b, b.Len()); err != nil {
		return 0, err
	}
	err = o.eachExample(b, func(i int, scores []float64, n int) {
		y := float64(b.Y[i])
		wrong := !(float64(y*o.scoreOf(scores, n)) > 0)
		for m := 0; m < o.cfg.Members && !wrong; m++ {
			wrong = !(float64(y*scores[m*n]) > 0)
		}
		if wrong && b.Weight(i) != 0 {
			count++
		}
	})
	return count, err
}

// Weights returns the mean of the members' weights, or nil for votes and for members that have
// none.
func (o *separateOBPM[T]) Weights() []float64 {
	if o.cfg.Combine == CombineVote {
		return nil
	}
	var sum []float64
	for _, l := range o.scorers {
		w := l.Weights()
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
	for _, l := range o.members {
		v := l.Weights()
		if v == nil || learner.HasBias(l) {
			return nil
		}
		w = append(w, v)
	}
	return w
}

// Updates returns the updates of all members together.
func (o *separateOBPM[T]) Updates() (sum int64) {
	for _, l := range o.members {
		sum += l.Updates()
	}
	return sum
}

// Bytes returns the memory of the members, and of what a run takes.
func (o *separateOBPM[T]) Bytes() int64 {
	n := o.runs.Bytes((*separateRun[T]).bytes) + int64(unsafe.Sizeof(*o)) +
		16*int64(len(o.members)) + primal.BytesOf(o.sum)
	for _, l := range o.members {
		n += l.Bytes()
	}
	return n
}

// bytes returns the memory of a run's scratch.
func (r *separateRun[T]) bytes() int64 {
	return 8*int64(cap(r.mask)+cap(r.scores)) + 16*int64(cap(r.rounds)+cap(r.errs)) +
		int64(cap(r.views))*int64(unsafe.Sizeof(engine.Block[T]{}))
}

// Forgetter is for [learner.ForgetterOf]: nil where the base can't forget.
func (o *separateOBPM[T]) Forgetter() learner.Forgetter {
	if learner.ForgetterOf(o.members[0]) == nil {
		return nil
	}
	return forgettingMembers[T]{o}
}

type forgettingMembers[T learner.Float] struct{ o *separateOBPM[T] }

// Forget is [learner.Forgetter.Forget]: all members forget.
func (f forgettingMembers[T]) Forget(keep float64) error {
	if err := forgetAll(f.o.members, keep); err != nil {
		return err
	}
	if f.o.cfg.Cap {
		f.o.measure()
	}
	return nil
}

// forgetAll has all of them forget, who can; what one refuses, the first does.
func forgetAll[T learner.Float](all []learner.Learner[T], keep float64) error {
	for _, l := range all {
		if err := learner.ForgetterOf(l).Forget(keep); err != nil {
			return err
		}
	}
	return nil
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
	learner.Count(c, "presented", &o.presented)
	dim := learner.Count(c, "dim", &o.dim)
	c.Want(dim <= math.MaxInt32, "counter %q is %d", "dim", dim)
	c.PerFeature("dim", dim)
	if o.cfg.Cap {
		sumSq := c.Scalar("sum_sq", o.sumSq)
		c.Want(sumSq >= 0, "scalar %q is %v, want a number >= 0", "sum_sq", sumSq)
	}
	learner.Inners(c, memberName, o.members)
	c.Then(func() { o.failed = nil })
}

// committee is the hypothesis of a [OBPMConfig]: a Predictor for each member.
type committee[T learner.Float] struct {
	primal.OneOutput
	o  *separateOBPM[T] // scores by members; has no learners
	of []memberPredictor[T]
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
	for _, m := range p.of {
		h, ok := learner.HypothesisOf(*m.p)
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

func (p *committee[T]) Bytes() int64 {
	n := p.o.Bytes() + int64(unsafe.Sizeof(*p)) + 40*int64(len(p.of))
	for _, m := range p.of {
		n += (*m.p).Bytes()
	}
	return n
}

// State is Predictor.State: the members' hypotheses, each with its number before the names.
func (p *committee[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *committee[T]) CheckState(s learner.State) error {
	return learner.CheckState("obpm", s, p.Fields)
}

func (p *committee[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	of := make([]learner.Predictor[T], len(p.of))
	for i, m := range p.of {
		of[i] = *m.p
	}
	r := p.o.committeeOf(of, new(float64))
	if err := learner.SetState("obpm", s, r.Fields); err != nil {
		return nil, err
	}
	return p.o.committeeOf(of, r.o.sumSq), nil // of those that were restored
}

func (p *committee[T]) Fields(c *learner.Codec) {
	if p.o.cfg.Cap {
		sumSq := c.Scalar("sum_sq", p.o.sumSq)
		c.Want(sumSq >= 0, "scalar %q is %v, want a number >= 0", "sum_sq", sumSq)
	}
	learner.Inners(c, memberName, p.of)
}

// memberPredictor is a Predictor that takes its State as a learner does.
type memberPredictor[T learner.Float] struct{ p *learner.Predictor[T] }

// State is the Predictor's.
func (p memberPredictor[T]) State() learner.State { return (*p.p).State() }

// CheckState returns the error that SetState would return.
func (p memberPredictor[T]) CheckState(s learner.State) error {
	return learner.CheckRestored(*p.p, s)
}

// SetState replaces the Predictor by one of that State.
func (p memberPredictor[T]) SetState(s learner.State) error {
	q, err := learner.Restored(*p.p, s)
	if err == nil {
		*p.p = q
	}
	return err
}

// committeeOf returns that of o's settings, with |S|^2.
func (o *separateOBPM[T]) committeeOf(of []learner.Predictor[T], sumSq *float64) *committee[T] {
	c := &committee[T]{o: &separateOBPM[T]{cfg: o.cfg, pool: o.pool, dim: o.dim, sumSq: sumSq}}
	for i := range of {
		c.of = append(c.of, memberPredictor[T]{&of[i]})
		c.o.scorers = append(c.o.scorers, of[i])
	}
	return c
}

// memberName is what the names of member m's parts of a State begin with.
func memberName(m int) string { return fmt.Sprintf("member%d.", m) }

// Snapshot is Learner.Snapshot: one of each member.
func (o *separateOBPM[T]) Snapshot() learner.Predictor[T] {
	of := make([]learner.Predictor[T], len(o.members))
	for m, l := range o.members {
		of[m] = l.Snapshot()
	}
	sumSq := *o.sumSq
	return o.committeeOf(of, &sumSq)
}

// View is for [learner.ViewOf].
func (o *separateOBPM[T]) View() learner.Predictor[T] {
	of := make([]learner.Predictor[T], len(o.members))
	for m, l := range o.members {
		of[m] = learner.ViewOf(l)
	}
	return o.committeeOf(of, o.sumSq)
}
