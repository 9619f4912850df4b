package learners

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

func init() {
	Register(Entry{"obpm", "online Bayes point machine: the average of many learners, each on random parts of the stream",
		func() Config {
			return &OBPMConfig{Members: 100, Tau: 0.3, Base: "perceptron", Combine: CombineWeights, Path: PathAuto,
				Budget: 1000, Removal: RemoveOldest, KernelConfig: KernelConfig{Kernel: "linear"}}
		}, newOBPM[float32], newOBPM[float64]})
}

// Values of OBPMConfig.Combine and OBPMConfig.Path.
const (
	CombineWeights = "weights"
	CombineVote    = "vote"

	PathAuto   = "auto"
	PathLanes  = "lanes"
	PathActive = "active"
)

// OBPM runs N base learners ("members") side by side, shows each example to each member with probability tau, and
// averages their weights: a cheap approximation of the Bayes point, the centre of mass of the version space.
//
// Reference: E. Harrington, R. Herbrich, J. Kivinen, J. C. Platt, R. C. Williamson, "Online Bayes Point Machines",
// PAKDD 2003, Algorithm 2.
//
//	paper        here                  shape, unit
//	x_t, y_t     block                 example; label, -1 or +1
//	N            Config.Members        number of members
//	tau          Config.Tau            probability
//	b_{j,t}      draws                 Bernoulli(tau) of (seed, member j, example number t)
//	L, S         rule                  Config.Base: update rule and its step sizes, with a state of each member's own
//	w_{j,t}      lanes or dense        one a feature and member, of T
//	w~'_t        sum / N               sum = S = the sum of the members' weights, one float64 a feature
//	w~_t         Weights               with Config.Cap after step 15, without it w~'
//
// Deviations: step 15, w~ = w~'/max(1, |w~'|), is optional as in the paper (it changes no label); the members never see it.
// The example number t goes on over epochs. Combine "vote" is not in the paper: f = (members that score >= 0 minus
// the others) / N, so that members count by sign and not by length.
//
// For additive bases (perceptron, pa, lms) S is not summed over members anew (step 13) but kept beside them: an example that
// changes members by the coefficients c_j adds (sum of c_j) x to S. So the online prediction is one dot, S.x/N. ALMA scales
// its weights, so with it f is the mean of all members' scores, both in Learn and in Score.
//
// Converged: a pass without an update shows little, as each member sees a part of it. An ensemble
// has converged if besides neither the average (the vote) nor any member makes a mistake on any
// example: each member separates them all. See Mistakes.
//
// Guarantee: the members are what the base learner is; with tau 1 and one member OBPM is its base: TestOBPMOneMember.
// TestOBPMTable1 checks the paper's update counts.
//
// Cost: O(non-zeros * N) an example for sparse blocks, by lanes of members, or O(non-zeros * tau N) where few members see
// it; O(Dim * tau N) for dense blocks; both plus O(non-zeros) for f and S. Votes and ALMA score all N members always.
// Memory: N of T and one float64 a feature seen. Results never depend on Path, the blocks or the workers.
type OBPM[T Float] struct {
	cfg   OBPMConfig
	pool  *engine.Pool
	draws *engine.Bernoulli
	masks func(example uint64, mask []uint64) // tests set it to draw otherwise
	rule  memberRule[T]

	// The members' weights: exactly one of these is there, in the layout of the last blocks.
	lanes *engine.Lanes[T]
	dense *engine.DenseMembers[T]

	votes     bool      // Combine is vote
	keepsSum  bool      // S is kept, and f comes from it; else f needs the scores of all members
	dim       int       // features seen
	held      int       // those that there is room for: dim, but after SetState up to the last that has a weight
	sum       []float64 // S, one a feature seen, if keepsSum
	sumSq     float64   // |S|^2, kept if cfg.Cap
	presented uint64    // examples, the number of the next one's draws
	updates   uint64    // of members

	words int // of an example's mask

	memberRun[T] // of Learn

	// Score may run more than once at the same time. A form that the members are not in yet is one
	// that only one may bring about.
	form sync.RWMutex
	runs scratch.Stack[memberRun[T]] // that nobody uses; Learn's is one of them
}

// memberRun is a run of examples in work: all members go through them. It is the [engine.Job] of
// that, and scratch.
type memberRun[T Float] struct {
	o               *OBPM[T]
	votes, keepsSum bool // as in OBPM, where it is not for probabilities
	wrong           bool // with votes: tally the members that are wrong instead

	b       engine.Block[T]
	none    []T      // labels of those that have none
	mask    []uint64 // [example][word]: who sees it
	sees    []uint64 // dense: [member][word of 64 examples], the transpose
	rows    []int32  // sparse: rows of the non-zeros, from the run's first
	norms   []float64
	parts   int
	tallies []tally // [part][example]
	work    []laneWork[T]
}

// tally is what the members of one part did on one example. Sums are per word of a mask, and words are added in order,
// so that they don't depend on how members are cut into tiles.
type tally struct {
	coef    [tileWords]float64 // sums of the updates' coefficients, in units of rule.unit
	total   [tileWords]float64 // unless keepsSum: sums of the members' scores, or their votes for +1
	updates int
}

const tileWords = engine.WideTile / 64

// laneWork is the scratch of one part.
type laneWork[T Float] struct {
	s, coef, compact []T // one a lane
	mask, votes      []uint64
	list             []int32
	_                [64]byte // parts run on different cores
}

// OBPMConfig holds the settings of OBPM.
type OBPMConfig struct {
	Members int     `json:"members" flag:"members" help:"number of base learners N"`
	Tau     float64 `json:"tau" flag:"tau" help:"probability that a member sees an example, 0..1"`
	Base    string  `json:"base" flag:"base" help:"base learner: perceptron, pa, lms, or alma with p = 2"`
	Combine string  `json:"combine" flag:"combine" help:"weights: average the members' weights; vote: count their signs"`
	Cap     bool    `json:"cap" flag:"cap" help:"bound the average's length by 1 (step 15); labels don't change"`
	Path    string  `json:"-" flag:"path" help:"sparse members by lanes or by lists of active ones: auto, lanes, active; results don't change"`

	// With a kernel, see KernelOBPM.
	Budget  int    `json:"budget" flag:"budget" with:"kernel=poly|rbf,scale" help:"with a kernel: examples kept at most, for all members (0: no limit)"`
	Removal string `json:"removal" flag:"removal" with:"kernel=poly|rbf,scale" help:"with a kernel: the kept example that makes room: oldest, norm (the smallest) or errors"`
	KernelConfig

	// BaseConfig holds the base's own settings, of the type that its Entry.Config returns; nil means those defaults.
	BaseConfig Config `json:"base_config"`
}

// MaxMembers is the largest number of members.
const MaxMembers = 1 << 20

// Validate checks all fields and the base's settings.
func (c *OBPMConfig) Validate() error {
	bad := func(field string, v any, want string) error {
		return fmt.Errorf("obpm: %s is %v, want %s: %w", field, v, want, ErrConfig)
	}
	if c.Members < 1 || c.Members > MaxMembers {
		return bad("members", c.Members, fmt.Sprintf("1 to %d", MaxMembers))
	}
	if err := checkSetting("obpm", "tau", c.Tau, c.Tau >= 0 && c.Tau <= 1, "a probability, 0 to 1"); err != nil {
		return err
	}
	if c.Combine != CombineWeights && c.Combine != CombineVote {
		return bad("combine", fmt.Sprintf("%q", c.Combine), "weights or vote")
	}
	if c.Cap && c.Combine == CombineVote {
		return bad("cap", c.Cap, "false with combine vote, which averages no weights")
	}
	if c.Path != PathAuto && c.Path != PathLanes && c.Path != PathActive {
		return bad("path", fmt.Sprintf("%q", c.Path), "auto, lanes or active")
	}
	base, err := c.baseSettings()
	if err != nil {
		return err
	}
	if err := validateBase(c.Base, base); err != nil {
		return err
	}
	return c.validateKernel()
}

// linearMemory is Memory without a kernel. Lanes have rows for the features that were seen.
func (c *OBPMConfig) linearMemory(x Extent) Footprint {
	var f Footprint
	members, words := int64(c.Members), int64(c.Members+63)/64
	seen := min(x.Features, x.NonZeros)
	var held, moving, work, tallies int64
	if x.Dense {
		seen = x.Features
		held, moving = engine.DenseMembersBytes(members, x.Features, x.Elem, x.Growing)
		lanes, _ := engine.LanesBytes(members, 0, 0, x.Elem, false, false)
		moving = max(moving, lanes) // a learner begins with lanes
		parts := (members + denseGroup - 1) / denseGroup
		work = laneWorkBytes(parts*64, 1, x.Elem) + 64*words*runRows/64*8 + 12*runRows*words
		tallies = parts * min(runRows, max(1, runTallies/parts))
	} else {
		held, moving = engine.LanesBytes(members, seen, x.Features, x.Elem, x.Growing, false)
		n := min(runExamples, max(1, runTallies/words))
		work = laneWorkBytes(members, engine.WideTile, x.Elem)
		work += 12*words*n + 6*(runNonZeros+x.Longest) + 12*runExamples
		tallies = words * n
	}
	f.add("members' weights", times(members, seen), held)
	if c.Base == "alma" {
		f.add("members' settings", members, 32*members)
	}
	if c.Combine != CombineVote && c.Base != "alma" {
		f.tables(x, "sum", 8)
	}
	f.add("members' work space", members, work+tallies*int64(unsafe.Sizeof(tally{}))*3/2+fixed)
	f.Moving = plus(f.Moving, moving)
	f.copied(x, 8, plus(times(seen, members*x.Elem+4+8), 24*members))
	return f
}

// laneWorkBytes bounds newLaneWork for the tiles of so many members.
func laneWorkBytes(members, lanes, elem int64) int64 {
	each := 3*(lanes*elem+64) + 2*lanes/8 + 16 + 4*lanes + 64 +
		int64(unsafe.Sizeof(laneWork[float64]{}))
	return (members + 63) / 64 * each
}

// baseSettings returns BaseConfig or the defaults that nil stands for.
func (c *OBPMConfig) baseSettings() (Config, error) {
	return baseSettings("obpm", c.Base, c.BaseConfig)
}

// UnmarshalJSON reads the base's settings as what the base's Entry says they are. Fields that are not there keep their
// values, unknown ones are refused.
func (c *OBPMConfig) UnmarshalJSON(data []byte) error {
	type fields OBPMConfig // without this method
	raw := struct {
		*fields
		BaseConfig json.RawMessage `json:"base_config"` // hides the field of that name
	}{fields: (*fields)(c)}
	err := decodeSettings(data, &raw)
	if err != nil {
		return fmt.Errorf("obpm: settings: %w", err)
	}
	c.BaseConfig, err = decodeBase("obpm", c.Base, raw.BaseConfig)
	return err
}

// Relative reports whether the base's settings are still relative to the data.
func (c *OBPMConfig) Relative() bool { return c.BaseConfig != nil && Relative(c.BaseConfig) }

// Resolve resolves the base's settings: the members see the examples as they are.
func (c *OBPMConfig) Resolve(f Facts) (Config, error) {
	r := *c
	if c.BaseConfig != nil {
		base, err := Resolve(c.BaseConfig, f)
		if err != nil {
			return nil, fmt.Errorf("obpm: base: %w", err)
		}
		r.BaseConfig = base
	}
	return &r, nil
}

func newOBPM[T Float](c Config, env Env) (Learner[T], error) {
	cfg, err := configAs[OBPMConfig]("obpm", c)
	if err != nil {
		return nil, err
	}
	if !cfg.linear() {
		return newKernelOBPM[T](cfg, env)
	}
	base, err := cfg.baseSettings()
	if err != nil {
		return nil, err
	}
	rule, err := newRule[T](base, cfg.Members)
	if err != nil {
		return nil, err
	}
	o := &OBPM[T]{
		cfg: cfg, pool: env.Pool, rule: rule,
		draws: engine.NewDraws(env.Seed, 0).Bernoulli(cfg.Tau),
		words: (cfg.Members + 63) / 64,
	}
	o.votes = cfg.Combine == CombineVote
	o.keepsSum = rule.additive() && !o.votes
	o.memberRun.o, o.memberRun.votes, o.memberRun.keepsSum = o, o.votes, o.keepsSum
	o.runs.Give(&o.memberRun)
	o.useLanes(engine.NewLanes[T](cfg.Members))
	return o, nil
}

// useLanes and useDense make a store the one that holds the members.
func (o *OBPM[T]) useLanes(l *engine.Lanes[T]) {
	o.lanes, o.dense = l, nil
	o.rule.bind(l)
}

func (o *OBPM[T]) useDense(d *engine.DenseMembers[T]) {
	o.lanes, o.dense = nil, d
	o.rule.bind(d)
}

// suits reports whether the members are in the form for b's examples, and suit brings them into it.
func (o *OBPM[T]) suits(b *engine.Block[T]) bool {
	return b.Dense() == (o.dense != nil) || b.Len() == 0
}

func (o *OBPM[T]) suit(b *engine.Block[T]) {
	switch {
	case o.suits(b):
	case b.Dense():
		d := engine.NewDenseMembers[T](o.cfg.Members)
		d.Grow(max(o.held, b.Dim))
		move(d, o.lanes, o.held, o.cfg.Members)
		o.useDense(d)
	default:
		l := engine.NewLanes[T](o.cfg.Members)
		l.Reach(o.held)
		move(l, o.dense, o.held, o.cfg.Members)
		o.useLanes(l)
	}
}

// room makes scratch for the parts of the form that the members are in.
func (r *memberRun[T]) room() {
	parts, lanes := r.o.words, engine.WideTile
	if r.o.dense != nil {
		parts, lanes = (r.o.cfg.Members+denseGroup-1)/denseGroup, 1
	}
	if len(r.work) != parts || len(r.work[0].s) != lanes {
		r.work = newLaneWork[T](parts, lanes)
	}
}

func newLaneWork[T Float](parts, lanes int) []laneWork[T] {
	work := make([]laneWork[T], parts)
	for i := range work {
		w := &work[i]
		w.s, w.coef, w.compact = engine.Aligned[T](lanes), engine.Aligned[T](lanes), engine.Aligned[T](lanes)
		w.mask, w.votes = make([]uint64, vecmath.MaskWords(lanes)), make([]uint64, vecmath.MaskWords(lanes))
		w.list = make([]int32, 0, lanes)
	}
	return work
}

// Learn is Learner.Learn.
func (o *OBPM[T]) Learn(b *engine.Block[T], rounds []Round) error {
	if err := checkBlock("obpm", b, len(rounds)); err != nil {
		return err
	}
	o.suit(b)
	o.reach(b.Dim)
	for lo := 0; lo < b.Len(); lo += o.b.Len() {
		if err := o.run(b, lo, true); err != nil {
			return err
		}
		o.replay(rounds[lo:])
	}
	o.b = engine.Block[T]{}
	return nil
}

// Score is Learner.Score.
func (o *OBPM[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkRows("obpm", b, len(dst)); err != nil {
		return err
	}
	if o.keepsSum {
		for i := range b.Len() {
			dst[i] = o.scoreOf(o.sumDot(b, i))
		}
		return nil
	}
	if err := o.ask(b, dst, o.votes, false); err != nil {
		return err
	}
	for i, v := range dst[:b.Len()] {
		dst[i] = o.scoreOf(v)
	}
	return nil
}

// Proba is Prober.Proba: the share of the members that predict +1. That is a vote of perceptrons and not a posterior: it is 0 or 1 where all
// agree, however few examples they have seen, and f may be on the other side. Cost: the scores of all members.
func (o *OBPM[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := checkRows("obpm", b, len(dst)); err != nil {
		return err
	}
	if err := o.ask(b, dst, true, false); err != nil {
		return err
	}
	for i, v := range dst[:b.Len()] {
		dst[i] = v / float64(o.cfg.Members)
	}
	return nil
}

// Mistakes is MistakeChecker.Mistakes: an example is a mistake if it is one of the average, or of
// the vote, or of any member. A member that never learned is wrong everywhere.
func (o *OBPM[T]) Mistakes(b *engine.Block[T]) (int, error) {
	if err := checkBlock("obpm", b, b.Len()); err != nil {
		return 0, err
	}
	f, wrong := make([]float64, b.Len()), make([]float64, b.Len())
	if err := o.Score(b, f); err != nil {
		return 0, err
	}
	if err := o.ask(b, wrong, true, true); err != nil {
		return 0, err
	}
	return countMistakes(b, f, wrong), nil
}

// ask sets dst to the sums of the members' scores, or to the numbers of their votes for +1, or of
// those that are wrong.
func (o *OBPM[T]) ask(b *engine.Block[T], dst []float64, votes, wrong bool) error {
	o.form.RLock()
	if o.suits(b) {
		defer o.form.RUnlock()
	} else {
		o.form.RUnlock()
		o.form.Lock()
		defer o.form.Unlock()
		o.suit(b)
	}
	r := o.runs.Take()
	defer o.runs.Give(r)
	r.o, r.votes, r.keepsSum, r.wrong = o, votes, false, wrong
	defer func() {
		r.votes, r.keepsSum, r.wrong, r.b = o.votes, o.keepsSum, false,
			engine.Block[T]{}
	}()
	for lo := 0; lo < b.Len(); lo += r.b.Len() {
		if err := r.run(b, lo, false); err != nil {
			return err
		}
		for e := range r.b.Len() {
			_, dst[lo+e], _ = r.tallied(e)
		}
	}
	return nil
}

// sumDot returns S.x of example i. Features that S does not reach have weight 0.
func (o *OBPM[T]) sumDot(b *engine.Block[T], i int) float64 {
	if b.Dense() {
		x := b.Row(i)
		n := min(len(x), len(o.sum))
		return vecmath.DotMixed(o.sum[:n], x[:n])
	}
	idx, val := b.Sparse(i)
	if n := len(idx); n > 0 && int(idx[n-1]) >= len(o.sum) {
		n, _ = slices.BinarySearch(idx, int32(len(o.sum)))
		idx, val = idx[:n], val[:n]
	}
	return vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, o.sum)
}

// scoreOf returns f from S.x, from the sum of the members' scores, or from the number of votes for +1.
func (o *OBPM[T]) scoreOf(v float64) float64 {
	n := float64(o.cfg.Members)
	switch {
	case o.cfg.Cap:
		n *= o.length()
	case o.votes:
		v = float64(2*v) - n
	}
	return v / n
}

// length is the divisor of step 15, max(1, |S/N|).
func (o *OBPM[T]) length() float64 {
	return max(1, math.Sqrt(o.sumSq)/float64(o.cfg.Members))
}

// Sizes of a run: by the data alone, never by the workers.
const (
	runExamples = 1024      // sparse: enough for two workers to be worth waking
	runNonZeros = 1 << 15   // sparse: rows, indices and values stay in L2
	runRows     = 128       // dense, most
	runRowsMin  = 16        // dense, least: a member's weights come from far for each run
	runRowBytes = 256 << 10 // dense: the rows stay in L2, beside a member's weights
	runTallies  = 1 << 16   // part x example: bounds the scratch of ensembles of thousands
	denseGroup  = 8         // members of a dense part: fine enough to share 100 members evenly
)

// activeMembers is up to how many of a tile's members that see an example the list of them beats all lanes, so that with N = 100
// lists serve up to tau N of about 4. In float32 the two are equal there, in float64 the list gains a fifth.
// AMD EPYC (Zen 3, 2 vCPUs), 2026-11-20: go test ./learners -run Calibrate -calibrate -v.
const activeMembers = 4

// run makes r.b the examples of b from lo on, as many as a run takes, and lets all members go
// through them; what they did is in r.tallies. Without learning nobody sees an example and only
// scores are tallied.
func (r *memberRun[T]) run(b *engine.Block[T], lo int, learning bool) error {
	r.room()
	if b.Dense() {
		r.beginDense(b, lo, learning)
	} else {
		r.beginSparse(b, lo, learning)
	}
	n := r.b.Len()
	r.parts = len(r.work)
	if !b.Dense() {
		r.parts = len(r.o.lanes.Tiles) // after rows were added
	}
	r.tallies = slices.Grow(r.tallies[:0], r.parts*n)[:r.parts*n]
	if r.o.pool.Worth(r.cost()) {
		return r.o.pool.Run(context.Background(), r.parts, r)
	}
	for p := range r.parts {
		r.Part(p)
	}
	return nil
}

// cost estimates the time of a run in ns, within a factor of two on a core of 2026: 1/20 ns a lane and non-zero, 1/12 ns a
// product of a dense row, 20 ns for each turn of a part.
func (r *memberRun[T]) cost() int {
	const perLane, perProduct, turn = 20, 12, 20
	n := r.b.Len()
	if r.b.Dense() {
		members := r.o.cfg.Members
		if r.keepsSum {
			members = int(float64(members)*r.o.cfg.Tau) + 1
		}
		return n * members * (r.b.Dim/perProduct + turn)
	}
	return len(r.rows)*r.o.cfg.Members/perLane + n*r.parts*turn
}

// draw fills in who sees the examples of r.b and, where they are needed, the examples' squared
// lengths.
func (r *memberRun[T]) draw(learning bool) {
	n := r.b.Len()
	r.mask = slices.Grow(r.mask[:0], n*r.o.words)[:n*r.o.words]
	if !learning {
		clear(r.mask)
		return
	}
	if r.o.masks == nil {
		r.o.draws.Masks(r.mask, r.o.cfg.Members, r.o.presented)
	} else {
		for e := range n {
			r.o.masks(r.o.presented+uint64(e), r.mask[e*r.o.words:][:r.o.words])
		}
	}
	if r.o.cfg.Cap || r.o.rule.needsNorm() {
		r.norms = slices.Grow(r.norms[:0], n)[:n]
		for e := range n {
			r.norms[e] = squaredLength(&r.b, e)
		}
	}
}

// squaredLength returns |x|^2 of example i in float64, summed in four parts.
func squaredLength[T Float](b *engine.Block[T], i int) float64 {
	var x []T
	if b.Dense() {
		x = b.Row(i)
	} else {
		_, x = b.Sparse(i)
	}
	var p [4]float64
	for ; len(x) >= 4; x = x[4:] {
		for k, v := range x[:4] {
			p[k] += float64(float64(v) * float64(v))
		}
	}
	for k, v := range x {
		p[k] += float64(float64(v) * float64(v))
	}
	return (p[0] + p[2]) + (p[1] + p[3])
}

// reach makes room for features below dim.
func (o *OBPM[T]) reach(dim int) {
	o.dim, o.held = max(o.dim, dim), max(o.held, dim)
	if o.lanes != nil {
		o.lanes.Reach(dim)
	}
	if o.keepsSum {
		o.sum = grown(o.sum, o.held)
	}
}

// take makes examples lo to hi-1 of b those of the run.
func (r *memberRun[T]) take(b *engine.Block[T], lo, hi int) {
	r.b = b.Slice(lo, hi)
	if r.b.Y == nil {
		r.none = grown(r.none, hi-lo)
		r.b.Y = r.none[:hi-lo]
	}
}

func (r *memberRun[T]) beginSparse(b *engine.Block[T], lo int, learning bool) {
	most := min(b.Len()-lo, runExamples, max(1, runTallies/r.o.words))
	n := 1
	for n < most && b.Ptr[lo+n+1]-b.Ptr[lo] <= runNonZeros {
		n++
	}
	r.take(b, lo, lo+n)
	r.draw(learning)
	idx := r.b.Idx[r.b.Ptr[0]:r.b.Ptr[n]]
	if learning {
		r.rows = r.o.lanes.Rows(r.rows[:0], idx)
	} else {
		r.rows = r.o.lanes.Find(r.rows[:0], idx)
	}
}

func (r *memberRun[T]) beginDense(b *engine.Block[T], lo int, learning bool) {
	n := runRowBytes / max(1, b.Dim*int(unsafe.Sizeof(T(0))))
	n = min(b.Len()-lo, max(n, runRowsMin), runRows, max(1, runTallies/len(r.work)))
	r.take(b, lo, lo+n)
	r.draw(learning)
	if learning {
		r.o.dense.Grow(b.Dim)
	}
	// sees[m*groups + g], bit i: member m sees example 64*g + i.
	const groups = runRows / 64
	r.sees = slices.Grow(r.sees[:0], 64*r.o.words*groups)[:64*r.o.words*groups]
	var t [64]uint64
	for g := range groups {
		for w := range r.o.words {
			clear(t[:])
			for i := range min(64, max(0, n-64*g)) {
				t[i] = r.mask[(64*g+i)*r.o.words+w]
			}
			engine.Transpose64(&t)
			for l, bits := range t {
				r.sees[(64*w+l)*groups+g] = bits
			}
		}
	}
}

// columns is what both stores of members are.
type columns[T Float] interface {
	Column(dst []T, j int) bool
	SetColumn(j int, src []T)
	Scale(m int, f T)
	Bytes() int64
}

// store returns the one in use.
func (o *OBPM[T]) store() columns[T] {
	if o.lanes != nil {
		return o.lanes
	}
	return o.dense
}

// move copies all weights that are not +0.
func move[T Float](dst, src columns[T], dim, members int) {
	col := make([]T, members)
	for j := range dim {
		if src.Column(col, j) {
			dst.SetColumn(j, col)
		}
	}
}

// Part implements engine.Job: a tile of members, or a group of dense ones, goes through the
// examples of r.b.
func (r *memberRun[T]) Part(p int) {
	if r.b.Dense() {
		r.densePart(p)
	} else {
		r.sparsePart(p)
	}
}

func (r *memberRun[T]) sparsePart(p int) {
	n := r.b.Len()
	tile, w, tallies := &r.o.lanes.Tiles[p], &r.work[p], r.tallies[p*n:][:n]
	s, coef := w.s[:tile.Width], w.coef[:tile.Width]
	words := vecmath.MaskWords(tile.Lanes)
	seen, mask := r.mask[tile.Lo/64:], w.mask[:words]
	ptr, rows, val, base := r.b.Ptr[:n+1], r.rows, r.b.Val[r.b.Ptr[0]:], r.b.Ptr[0]
	perceptron, _ := r.o.rule.(*perceptronRule[T])
	stride, keepsSum := r.o.words, r.keepsSum
	short := perceptron != nil && keepsSum // the usual case takes fewer calls
	few := activeMembers
	switch r.o.cfg.Path {
	case PathLanes:
		few = 0
	case PathActive:
		few = engine.WideTile
	}
	if !r.keepsSum {
		few = -1 // all scores are needed
	}
	for e, y := range r.b.Y[:n] {
		t := &tallies[e]
		*t = tally{}
		sees, seeing := seen[e*stride:][:words], 0
		for _, m := range sees {
			seeing += bits.OnesCount64(m)
		}
		if seeing == 0 && keepsSum {
			continue
		}
		from, to := ptr[e]-base, ptr[e+1]-base
		rows, val := rows[from:to], val[from:to]
		active := seeing <= few
		if short && active {
			w.list = engine.ActiveList(w.list, sees)
			scores := w.compact[:len(w.list)]
			vecmath.ActiveScoreUnchecked(trusted.Indices{}, scores, tile.W, tile.Width, rows, val,
				w.list)
			n := 0
			for k, s := range scores {
				if T(y*s) <= perceptron.margin {
					w.list[n] = w.list[k]
					n++
				}
			}
			if t.updates = n; n != 0 {
				vecmath.ActiveUpdateUnchecked(trusted.Indices{}, tile.W, tile.Width, rows, val,
					w.list[:n], perceptron.coef(t, n, y)[:n])
			}
			continue
		}
		if short {
			vecmath.LanesScoreLEUnchecked(trusted.Indices{}, s, tile.W, rows, val, mask, y,
				perceptron.margin)
			if t.updates = keep(mask, sees); t.updates != 0 {
				vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val,
					perceptron.coef(t, t.updates, y)[:len(s)], mask)
			}
			continue
		}
		copy(mask, sees)
		if active {
			w.list = engine.ActiveList(w.list, mask)
			vecmath.ActiveScoreUnchecked(trusted.Indices{}, w.compact[:len(w.list)], tile.W,
				tile.Width, rows, val, w.list)
			for k, l := range w.list {
				s[l] = w.compact[k]
			}
		} else {
			vecmath.LanesScoreUnchecked(trusted.Indices{}, s, tile.W, rows, val)
		}
		if !r.keepsSum {
			r.total(t, tile, w, s, y)
			if seeing == 0 {
				continue
			}
		}
		var c []T
		if perceptron != nil {
			t.updates, c = perceptron.step(t, mask, 0, s, y, 0, nil)
		} else {
			var norm2 float64
			if r.o.rule.needsNorm() {
				norm2 = r.norms[e]
			}
			t.updates, c = r.o.rule.step(t, mask, tile.Lo, s, y, norm2, coef)
		}
		if t.updates == 0 {
			continue
		}
		if !active {
			vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val, c, mask)
			continue
		}
		w.list = engine.ActiveList(w.list, mask)
		for k, l := range w.list {
			w.compact[k] = c[l]
		}
		vecmath.ActiveUpdateUnchecked(trusted.Indices{}, tile.W, tile.Width, rows, val, w.list,
			w.compact[:len(w.list)])
	}
}

// side is what a member's score is multiplied by, so that it counts if the product is at most 0:
// its vote for +1, or that it is wrong about the label y.
func (r *memberRun[T]) side(y T) T {
	if r.wrong {
		return y
	}
	return -1
}

// total tallies a tile's scores, or its votes for +1, or its members that are wrong about y.
func (r *memberRun[T]) total(t *tally, tile *engine.LaneTile[T], w *laneWork[T], s []T, y T) {
	if !r.votes {
		for i := range len(w.mask) {
			lo, hi := min(64*i, tile.Lanes), min(64*(i+1), tile.Lanes)
			t.total[i] = r.o.rule.total(tile.Lo+lo, s[lo:hi])
		}
		return
	}
	vecmath.LanesLE(w.votes, s, r.side(y), 0)
	n := tile.Lanes - tile.Width // the padding's zeros count too
	for _, m := range w.votes {
		n += bits.OnesCount64(m)
	}
	t.total[0] = float64(n)
}

func (r *memberRun[T]) densePart(p int) {
	n := r.b.Len()
	w, tallies := &r.work[p], r.tallies[p*n:][:n]
	clear(tallies)
	s := w.s[:1]
	perceptron, _ := r.o.rule.(*perceptronRule[T])
	var norm2 float64
	for m := p * denseGroup; m < min((p+1)*denseGroup, r.o.cfg.Members); m++ {
		row := r.o.dense.Row(m)
		row = row[:min(len(row), r.b.Dim)]
		for g, sees := range r.sees[m*runRows/64:][:runRows/64] {
			todo := sees
			if !r.keepsSum {
				todo = ^uint64(0)
			}
			if left := n - 64*g; left < 64 {
				todo &= 1<<max(0, left) - 1
			}
			for ; todo != 0; todo &= todo - 1 {
				i := bits.TrailingZeros64(todo)
				t, x := &tallies[64*g+i], r.b.Row(64*g+i)
				s[0] = vecmath.Dot(row, x[:len(row)])
				if !r.keepsSum {
					if !r.votes {
						t.total[0] += r.o.rule.total(m, s)
					} else if T(r.side(r.b.Y[64*g+i])*s[0]) <= 0 {
						t.total[0]++
					}
					if sees>>i&1 == 0 {
						continue
					}
				}
				if r.o.rule.needsNorm() {
					norm2 = r.norms[64*g+i]
				}
				if perceptron != nil { // its step, in short
					if y := r.b.Y[64*g+i]; T(y*s[0]) <= perceptron.margin {
						t.updates++
						t.coef[0] += float64(y)
						vecmath.Axpy(row, y*perceptron.plus[0], x)
					}
					continue
				}
				w.mask[0] = 1
				if u, c := r.o.rule.step(t, w.mask[:1], m, s, r.b.Y[64*g+i], norm2,
					w.coef[:1]); u != 0 {
					t.updates++
					vecmath.Axpy(row, c[0], x)
				}
			}
		}
	}
}

// tallied adds up the parts' tallies of example e of r.b, in order.
func (r *memberRun[T]) tallied(e int) (coef, total float64, updates int) {
	for i, n := e, r.b.Len(); i < len(r.tallies); i += n {
		t := &r.tallies[i]
		for w := range tileWords {
			coef += t.coef[w]
			total += t.total[w]
		}
		updates += t.updates
	}
	return coef, total, updates
}

// replay goes through the examples of o.b once more, for f and S.
func (o *OBPM[T]) replay(rounds []Round) {
	n, unit := o.b.Len(), o.rule.unit()
	rounds = rounds[:n]
	for e := range rounds {
		coef, total, updates := o.tallied(e)
		o.updates += uint64(updates)
		if !o.keepsSum {
			rounds[e] = Round{o.scoreOf(total), int32(updates)}
			continue
		}
		a := float64(unit * coef) // steps 8 and 13: S += (sum of coefficients) x
		var f float64             // S.x
		if o.b.Dense() {
			x := o.b.Row(e)
			f = vecmath.DotMixed(o.sum, x)
			if a != 0 {
				vecmath.AxpyMixed(o.sum[:len(x)], a, x)
			}
		} else {
			idx, val := o.b.Sparse(e)
			if a != 0 {
				f = vecmath.SparseDotAxpyMixedUnchecked(trusted.Indices{}, o.sum, a, idx, val)
			} else {
				f = vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, o.sum)
			}
		}
		rounds[e] = Round{o.scoreOf(f), int32(updates)}
		if o.cfg.Cap { // |S + a x|^2 = |S|^2 + a (2 S.x + a |x|^2)
			o.sumSq = max(0, o.sumSq+float64(a*(float64(2*f)+float64(a*o.norms[e]))))
		}
	}
	o.presented += uint64(n)
}

// Weights returns the averaged weights (after step 15 with Cap), one a feature seen, or nil for votes.
func (o *OBPM[T]) Weights() []float64 {
	if o.votes {
		return nil
	}
	w := make([]float64, o.held)
	if o.keepsSum {
		for j, s := range o.sum {
			w[j] = o.scoreOf(s)
		}
		return w
	}
	col := make([]T, o.cfg.Members)
	for j := range w {
		if o.store().Column(col, j) {
			w[j] = o.rule.total(0, col) / float64(o.cfg.Members)
		}
	}
	return w
}

// Updates returns the updates of all members together.
func (o *OBPM[T]) Updates() int64 { return int64(o.updates) }

// workBytes returns the memory of newLaneWork.
func workBytes[T Float](work []laneWork[T]) (bytes int64) {
	for i := range work {
		w := &work[i]
		bytes += bytesOf(w.s) + bytesOf(w.coef) + bytesOf(w.compact) + int64(unsafe.Sizeof(*w))
		bytes += 8*int64(cap(w.mask)+cap(w.votes)) + 4*int64(cap(w.list))
	}
	return bytes
}

// Bytes returns the memory of members and sum, and of what a run takes.
func (o *OBPM[T]) Bytes() int64 {
	n := o.store().Bytes() + bytesOf(o.sum) + o.rule.bytes() + int64(unsafe.Sizeof(*o))
	n += bytesOf(o.norms) + 4*int64(cap(o.rows)) + 8*int64(cap(o.mask)+cap(o.sees))
	return n + int64(cap(o.tallies))*int64(unsafe.Sizeof(tally{})) + workBytes(o.work)
}

// State returns the features (ascending) for which any member's weight or S is not +0 as "features", the members' weights of those
// as "members" [feature][member], S of those as "sum" (unless votes or ALMA go without), and the members' own settings
// where the base has any. The counters tell the examples presented, the updates, and the features seen.
func (o *OBPM[T]) State() State {
	s := State{Counters: map[string]uint64{"presented": o.presented, "updates": o.updates, "dim": uint64(o.dim)}}
	most := o.held // features of the state
	if o.lanes != nil {
		most = o.lanes.Features()
	}
	var (
		features = make([]int32, 0, most)
		members  = make([]T, 0, most*o.cfg.Members)
		sum      = make([]float64, 0, most)
	)
	col := make([]T, o.cfg.Members)
	for j := range o.held {
		if any := o.store().Column(col, j); !any && (!o.keepsSum || math.Float64bits(o.sum[j]) == 0) {
			continue
		}
		features, members = append(features, int32(j)), append(members, col...)
		if o.keepsSum {
			sum = append(sum, o.sum[j])
		}
	}
	n := len(features)
	s.Tensors = []Tensor{{"features", []int{n}, features}, {"members", []int{n, o.cfg.Members}, members}}
	if o.keepsSum {
		s.Tensors = append(s.Tensors, Tensor{"sum", []int{n}, sum})
	}
	s.Tensors = append(s.Tensors, o.rule.tensors()...)
	if o.cfg.Cap {
		s.Scalars = map[string]float64{"sum_sq": o.sumSq}
	}
	return s
}

// SetState is Learner.SetState.
func (o *OBPM[T]) SetState(s State) error { return o.takeState(s, true) }

// CheckState is StateChecker.CheckState.
func (o *OBPM[T]) CheckState(s State) error { return o.takeState(s, false) }

// takeState is SetState, or CheckState if the state shall not be kept.
func (o *OBPM[T]) takeState(s State, keep bool) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("obpm: %s: %w", fmt.Sprintf(format, args...), ErrState)
	}
	names, scalars := []string{"features", "members"}, []string(nil)
	if o.keepsSum {
		names = append(names, "sum")
	}
	for _, t := range o.rule.tensors() {
		names = append(names, t.Name)
	}
	if o.cfg.Cap {
		scalars = []string{"sum_sq"}
	}
	if err := s.holds("obpm", names, []string{"presented", "updates", "dim"}, scalars); err != nil {
		return err
	}
	if v := s.Scalars["sum_sq"]; !(v >= 0) {
		return bad("scalar %q is %v", "sum_sq", v)
	}
	presented, err1 := count(&s, "obpm", "presented")
	updates, err2 := count(&s, "obpm", "updates")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	dim := s.Counters["dim"]
	if dim > math.MaxInt32 {
		return bad("counter %q is %d", "dim", dim)
	}
	features, err := vector[int32](&s, "obpm", "features")
	if err != nil {
		return err
	}
	last := int32(-1)
	for _, j := range features {
		if j <= last || uint64(j) >= dim {
			return bad("feature %d after %d, of %d", j, last, dim)
		}
		last = j
	}
	n := o.cfg.Members
	t := s.Tensor("members")
	members, ok := t.Data.([]T)
	if !ok || !slices.Equal(t.Shape, []int{len(features), n}) || len(members) != len(features)*n {
		return bad("tensor %q is %T of shape %v, want %T of shape %v", t.Name, t.Data, t.Shape, members, []int{len(features), n})
	}
	var sum []float64
	if o.keepsSum {
		if sum, err = vector[float64](&s, "obpm", "sum"); err != nil {
			return err
		}
		if len(sum) != len(features) {
			return bad("tensor %q has %d elements, want %d", "sum", len(sum), len(features))
		}
	}
	if err := o.rule.takeTensors(&s, keep); err != nil || !keep {
		return err
	}
	o.presented, o.updates, o.sumSq = uint64(presented), uint64(updates), s.Scalars["sum_sq"]
	o.dim, o.held, o.sum = int(dim), 0, nil
	o.useLanes(engine.NewLanes[T](n))
	o.reach(int(last) + 1)
	for i, j := range features {
		o.lanes.SetColumn(int(j), members[i*n:(i+1)*n])
		if o.keepsSum {
			o.sum[j] = sum[i]
		}
	}
	return nil
}
