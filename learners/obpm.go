package learners

import (
	"encoding/json"
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*obpm[float32])(nil)

func init() { learner.Register("obpm", (*OBPMConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*OBPMConfig) Entry() learner.Entry {
	return learner.EntryFor(OBPMConfig{Members: 100, Tau: 0.3, Base: "perceptron",
		Combine: CombineWeights, Budget: 1000, Removal: RemoveProject, Together: true,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newOBPM[float32], newOBPM[float64], learner.Entry{
			Summary: "online Bayes point machine: the average of many learners, each on random " +
				"parts of the stream",
			Default:  true, // it needs no setting for data that can't be separated
			Optional: []string{"grown"},
		})
}

// Values of OBPMConfig.Combine.
const (
	CombineWeights = "weights"
	CombineVote    = "vote"
)

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
//	L, S         rule                  Config.Base: update rule and its step sizes, with a state of
//	                                   each member's own
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
// TestOBPMOneMember. TestOBPMTable1 checks the paper's update counts.
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

// OBPMConfig holds the settings of OBPM.
type OBPMConfig struct {
	// Members is the number N of base learners. Default 100; 1 to 2^20.
	Members int `json:"members" flag:"members"`
	// Tau is the probability that a member sees an example. Default 0.3; 0 to 1.
	Tau float64 `json:"tau" flag:"tau" tune:"0.05|0.1|0.3|0.6"`
	// Base is the base learner, whose own settings are taken, too. Default perceptron; a learner of
	// streams that is no ensemble.
	Base string `json:"base" flag:"base"`
	// Combine is weights for the average of the members' weights, or vote to count their signs.
	// Default weights; weights or vote.
	Combine string `json:"combine" flag:"combine" values:"weights|vote"`
	// Cap bounds the average's length by 1 (step 15), which changes no label. Default false.
	Cap bool `json:"cap" flag:"cap"`
	// Budget is the number of examples kept at most, for all members together, 0 for no limit.
	//
	// It counts with a kernel only, as Removal does: see KernelOBPM. Default 1000; 0 to 2^31-1.
	Budget int `json:"budget" flag:"budget" with:"kernel=poly|rbf,scale"`
	// Removal is the kept example that makes room: that of least norm (project, norm), the oldest,
	// or that whose removal causes the fewest errors.
	//
	// With project the nearest kept examples take over its part in all members. Default project;
	// project, norm, oldest or errors.
	Removal string `json:"removal" flag:"removal" values:"project|norm|oldest|errors" with:"budget"`

	learner.KernelConfig

	// Together keeps members that stretch their weights side by side: several times as fast as
	// learners of their own.
	//
	// These models of before have; scores are rounded otherwise. It counts for romma, cramma and
	// micra. Default true.
	Together bool `json:"together,omitempty" flag:"together"`

	// Part says which members of a whole ensemble these are; nil: they are all. See
	// [learner.Traits].Shard. Default nil; a part of as many members.
	Part *learner.Part `json:"part,omitempty"`

	// BaseConfig is the base's own settings, of the type that its Entry.Config returns; nil stands
	// for those defaults. Default nil; any that are valid.
	BaseConfig learner.Config `json:"base_config"`
}

// MaxMembers is the largest number of members.
const MaxMembers = 1 << 20

// Validate checks all fields and the base's settings.
func (c *OBPMConfig) Validate() error {
	bad := func(field string, v any, want string) error {
		return fmt.Errorf("obpm: %s is %v, want %s: %w", field, v, want, learner.ErrConfig)
	}
	if c.Members < 1 || c.Members > MaxMembers {
		return bad("members", c.Members, fmt.Sprintf("1 to %d", MaxMembers))
	}
	if err := learner.CheckSetting("obpm", "tau", c.Tau, c.Tau >= 0 && c.Tau <= 1,
		"a probability, 0 to 1"); err != nil {
		return err
	}
	if c.Combine != CombineWeights && c.Combine != CombineVote {
		return bad("combine", fmt.Sprintf("%q", c.Combine), "weights or vote")
	}
	if c.Cap && c.Combine == CombineVote {
		return bad("cap", c.Cap, "false with combine vote, which averages no weights")
	}
	base, err := c.baseSettings()
	if err != nil {
		return err
	}
	if err := c.validateBase(base); err != nil {
		return err
	}
	if err := c.validatePart(base); err != nil {
		return err
	}
	return c.validateKernel(base.Traits().Members)
}

// form is the base's members' form, if any, that counts for these settings.
func (c *OBPMConfig) form(base learner.Config) *learner.MemberForm {
	if f := base.Traits().Members; f != nil && (c.Together || !f.Optional) {
		return f
	}
	return nil
}

// validateBase wants a base that learns one example after another, with its settings valid, and
// Cap only where S is kept or never longer than 1.
func (c *OBPMConfig) validateBase(base learner.Config) error {
	bad := func(why string) error {
		return fmt.Errorf("obpm: base is %q, %s: want a learner of streams: %w", c.Base, why,
			learner.ErrConfig)
	}
	if err := base.Validate(); err != nil {
		return fmt.Errorf("obpm: base: %w", err)
	}
	t := base.Traits()
	switch {
	case t.Ensemble:
		return bad("an ensemble itself")
	case t.Classes:
		return bad("of any number of classes, where members of two are averaged")
	case !t.Stream:
		return bad("which learns from whole data sets only")
	case t.Soft:
		return bad("with a soft margin, whose slacks belong to places in a data set")
	case c.Cap && c.Linear() && !(t.Linear && t.Vector):
		return fmt.Errorf("obpm: cap is true, want false with base %q, which has no weight vector "+
			"to be averaged: %w", c.Base, learner.ErrConfig)
	}
	return nil
}

// linearMemory is Memory without a kernel. Lanes have rows for the features that were seen.
func (c *OBPMConfig) linearMemory(form *learner.MemberForm, x learner.Extent) learner.Footprint {
	var f learner.Footprint
	members, words := int64(c.Members), int64(c.Members+63)/64
	seen := min(x.Features, x.NonZeros)
	var held, moving, work, partials int64
	if x.Dense {
		seen = x.Features
		held, moving = engine.DenseMembersBytes(members, x.Features, x.Elem, x.Growing)
		lanes, _ := engine.LanesBytes(members, 0, 0, x.Elem, false, false)
		moving = max(moving, lanes) // a learner begins with lanes
		parts := (members + ensemble.DenseGroup - 1) / ensemble.DenseGroup
		work = laneWorkBytes(parts*64, x.Elem) + parts*(x.Features*x.Elem+128) +
			12*ensemble.RunRows*words
		partials = parts * min(ensemble.RunRows, max(1, ensemble.RunPartials/parts))
	} else {
		held, moving = engine.LanesBytes(members, seen, x.Features, x.Elem, x.Growing, false)
		seen = engine.LaneRows(members, seen, x.Features, x.Elem, x.Growing)
		n := min(ensemble.RunExamples, max(1, ensemble.RunPartials/words))
		work = laneWorkBytes(members, x.Elem)
		work += 20*words*n + 6*(ensemble.RunNonZeros+x.Longest) + 33*ensemble.RunExamples
		partials = words * n
	}
	f.Add("members' weights", learner.Times(members, seen), held)
	if form.Bytes > 0 {
		f.Add("members' settings", members, learner.Times(form.Bytes, members))
	}
	if c.Combine != CombineVote && form.Additive {
		f.Tables(x, "sum", 8)
	}
	f.Add("members' work space", members, work+partials*int64(unsafe.Sizeof(
		ensemble.Partial{}))*3/2+members*x.Elem+primal.FixedBytes)
	f.Moving = learner.Plus(f.Moving, moving)
	f.Copied(x, 8, learner.Plus(learner.Times(seen, members*x.Elem+4+8), 24*members))
	return f
}

// laneWorkBytes bounds [ensemble.NewLaneWork] for the tiles of so many members: two slices of T a
// lane, aligned to 64 bytes, and two masks.
func laneWorkBytes(members, elem int64) int64 {
	const lanes = engine.WideTile
	each := 2*(lanes*elem+64) + 2*lanes/8 + 16 + 64 +
		int64(unsafe.Sizeof(ensemble.LaneWork[float64]{}))
	return (members + 63) / 64 * each
}

// baseSettings returns BaseConfig or the defaults that nil stands for.
func (c *OBPMConfig) baseSettings() (learner.Config, error) {
	return baseSettings("obpm", c.Base, c.BaseConfig)
}

// UnmarshalJSON reads the base's settings as what the base's Entry says they are. Fields that are
// not there keep their values, unknown ones are refused.
func (c *OBPMConfig) UnmarshalJSON(data []byte) error {
	type fields OBPMConfig // without this method
	raw := struct {
		*fields
		BaseConfig json.RawMessage `json:"base_config"` // hides the field of that name
	}{fields: (*fields)(c)}
	c.Together = false // as settings of before are, which do not say
	err := decodeSettings(data, &raw)
	if err != nil {
		return fmt.Errorf("obpm: settings: %w", err)
	}
	if c.BaseConfig, err = decodeBase("obpm", c.Base, raw.BaseConfig); err != nil {
		return err
	}
	c.Together = c.Together || !c.optional()
	return nil
}

// MarshalJSON writes "together" only where it counts, and is true. So settings of before there was
// a choice stay as they were.
func (c *OBPMConfig) MarshalJSON() ([]byte, error) {
	type fields OBPMConfig
	d := fields(*c)
	d.Together = c.Together && c.optional()
	return json.Marshal(&d)
}

// optional reports whether Together counts.
func (c *OBPMConfig) optional() bool {
	base, err := c.baseSettings()
	if err != nil {
		return false
	}
	form := base.Traits().Members
	return form != nil && form.Optional
}

// Traits is Config.Traits: what the settings are relative to is the base's.
func (c *OBPMConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	if !c.Linear() {
		t = learner.KernelTraits(c.EngineKernel(), c.keeps())
		t.Sizes, t.FitMemory = []string{"budget"}, c.fitMemory
	}
	t.Threads = learner.ThreadsMembers
	t.Ensemble, t.Mistakes, t.Proba = true, true, c.Linear()
	t.Vector = t.Vector && c.Combine != CombineVote
	if base, err := c.baseSettings(); err == nil {
		b := base.Traits()
		t.Relative, t.ScaleFree, t.Remedies = b.Relative, b.ScaleFree, b.Remedies
		t.Weights, t.Forgets = b.Weights, b.Forgets && c.Linear()
		form := c.form(base)
		apart := form == nil
		c.shardTraits(&t, form)
		if c.Linear() && !apart && form.Additive && form.Bytes == 0 {
			t.Mixes = c.Combine != CombineVote && c.Part == nil
		}
		if c.Linear() && apart && b.Keeps > 0 { // members of their own, which keep
			t.Keeps, t.Kept, t.KeptWidth = learner.Any, b.Kept, b.KeptWidth
			if b.Keeps < learner.Any/int64(max(c.Members, 1)) {
				t.Keeps = b.Keeps * int64(c.Members)
			}
			if t.Sizes = b.Sizes; b.FitMemory != nil {
				t.FitMemory = c.separateFit
			}
		}
		t.Support = t.Support || b.Support && apart
		t.Linear, t.Vector, t.Biased = t.Linear && b.Linear, t.Vector && b.Vector, b.Biased
	}
	return t
}

// Resolve resolves the base's settings: the members see the examples as they are.
func (c *OBPMConfig) Resolve(f learner.Facts) (learner.Config, error) {
	r := *c
	base, err := c.baseSettings()
	if err != nil {
		return nil, err
	}
	if r.BaseConfig, err = learner.Resolve(base, f); err != nil {
		return nil, fmt.Errorf("obpm: base: %w", err)
	}
	return &r, nil
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
