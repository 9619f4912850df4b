package learners

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*tbp[float32])(nil)

func init() { learner.Register("tbp", (*TBPConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*TBPConfig) Entry() learner.Entry {
	return learner.EntryFor(TBPConfig{Budget: 100, ErrorCache: "random", ErrorSize: 3000,
		Ties: "oldest", UpdateConfig: UpdateConfig{Update: "perceptron", C: 1},
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newTBP[float32], newTBP[float64], learner.Entry{
			Summary: "the Tighter Budget Perceptron: within a number of kept examples, by the " +
				"errors that a removal would cause",
			Optional: []string{"times", "cache_times"},
		})
}

// tbp is a kernel perceptron that keeps at most p examples: when one more is to be learned, it
// first removes the one without which the fewest errors are made on a set of examples seen. So
// examples with a wrong label go, which [BudgetConfig] keeps.
//
// Reference: J. Weston, A. Bordes, L. Bottou, "Online (and Offline) on an Even Tighter Budget",
// AISTATS 2005, figures 3 and 5:
//
//	(U) update if y f(x) <= beta
//	(1a) if p examples are kept, remove argmin_j sum_k [y_k (f - alpha_j y_j K(x_j, .))(x_k) <= 0]
//	    over the error cache Q
//	(2,3) keep x with the alpha of the update rule, see [UpdateConfig]
//
// The error cache is
//
//	all       all examples seen; memory and time grow with the distinct ones
//	sv        the kept examples (3)
//	random    the first q distinct examples seen (4): a random sample of a stream of independent
//	          ones
//	flips     q examples that were learned, those whose predicted label changed most often for their
//	          time in the cache (figure 5)
//
// An example that is seen again while it is in the cache counts once more: the sum of (1a) is over
// all k = 1..t, so a label that is right nine times outweighs one that is wrong once. In sv it
// counts as often as it was learned.
//
//	paper       here               shape, unit
//	beta        Config.Beta        margin at which examples are learned
//	p           Config.Budget      examples kept at most
//	q           Config.ErrorSize   examples of the error cache, random and flips
//	C_t, alpha  support            kept examples and their coefficients
//	Q_t         q, on              examples of the error cache; their margins and kernel values
//	s_i         flips, since       changes of the predicted label; number of the example presented
//	                               that came into the cache
//
// The paper names two ways to spend less on removals, as future work:
//
//	Candidates    (1a) is over so many kept examples, drawn anew for each removal
//	Removals      (1a) takes the n that are the worst by one count, every n updates
//
// Deviations: figure 5 prints argmax, the text wants the examples that seldom change label removed,
// and that is done; FlipsMost takes the figure at its word. alpha is computed after the removal. An
// example equal to a kept one of the same label raises its coefficient and removes nothing. Ties go
// to the oldest, or with Ties = margin to the one recognised with the largest margin without
// itself. A weight scales the step, see [UpdateConfig]; errors count the same whatever examples
// weigh, and one of weight 0 is not in the error cache.
//
// Guarantee: the traces of an independent implementation, with every removal: TestGoldenBudget.
//
// Cost: a kernel row over the kept examples an example; an update costs a kernel row over Q and p
// passes over its margins, O(pq), on the pool where that pays; with Candidates so many passes, on
// one thread, with Removals the n-th part of them. Memory: kept examples and error cache, and p (p
// + q) float64; with all, q is the number of examples seen.
type tbp[T learner.Float] struct {
	cfg  TBPConfig
	pool *engine.Pool
	kept.SupportSet[T]
	seen, updates int64

	q      *engine.Points[T] // error cache; nil for sv
	qhash  []uint64          // of the examples of q and their labels
	qplace map[uint64]int32  // place of a hash there, the first one; nil for sv
	flips  []int64           // flips: how often the sign of y f has changed, one an example of q
	since  []int64           // number of the example presented that came into q
	cache  kept.ErrorSet     // margins and kernel values of q
	before []bool            // y f > 0 before the update
	qrow   []T               // scratch: kernel values of an example with q, and the same in float64
	qwide  []float64
	count  kept.LeaveOneOut
	rand   *engine.Rand
	among  []int32 // scratch: slots to choose from, which are in use or drawn; none: all
	leave  []int32 // scratch: slots that are to be emptied

	kept, cached int64 // Env.Kept: of the support, of the error cache
}

// TBPConfig holds the settings of TBP.
type TBPConfig struct {
	// Budget is the number of examples kept at most. Default 100; 1 to 2^31-1.
	Budget int `json:"budget" flag:"budget"`
	// ErrorCache is the examples on which errors are counted: all, sv (those kept), random ones, or
	// flips (whose label flips most). Default random; all, sv, random or flips.
	ErrorCache string `json:"error_cache" flag:"error-cache" values:"all|sv|random|flips"`
	// ErrorSize is the number of examples on which errors are counted. Default 3000; 1 to 2^31-1.
	ErrorSize int `json:"error_size" flag:"error-size" with:"error-cache=random|flips"`
	// FlipsMost drops the example that changes its label most often, as the paper's figure 5
	// prints, not least often. Default false.
	FlipsMost bool `json:"flips_most" flag:"flips-most" with:"error-cache=flips"`
	// Ties is what goes where removals cause equal errors: the oldest, or by margin what is
	// recognised best without itself. Default oldest; oldest or margin.
	Ties string `json:"ties" flag:"ties" values:"oldest|margin"`
	// Candidates is the number of kept examples that a removal chooses among, drawn anew each time,
	// 0 for all. Default 0; 0 to 2^31-1.
	Candidates int `json:"candidates,omitzero" flag:"candidates"`
	// Removals is the number of examples that make room at once, the worst by one count of errors,
	// 0 for 1. Default 0; 0 to 2^31-1.
	Removals int `json:"removals,omitzero" flag:"removals"`

	UpdateConfig
	learner.KernelConfig
}

// Validate wants Budget and ErrorSize > 0, a known ErrorCache and Ties, Candidates and Removals >=
// 0, an update rule and a kernel; no Removals > 1 where the error cache is what is kept.
func (c *TBPConfig) Validate() error {
	switch {
	case c.Budget < 1 || c.Budget > math.MaxInt32:
		return fmt.Errorf("tbp: budget is %d, want a number of examples up to %d: %w", c.Budget,
			math.MaxInt32, learner.ErrConfig)
	case c.ErrorSize < 1 || c.ErrorSize > math.MaxInt32:
		return fmt.Errorf("tbp: error-size is %d, want a number of examples up to %d: %w",
			c.ErrorSize, math.MaxInt32, learner.ErrConfig)
	case !slices.Contains([]string{"all", "sv", "random", "flips"}, c.ErrorCache):
		return fmt.Errorf("tbp: error-cache is %q, want all, sv, random or flips: %w", c.ErrorCache,
			learner.ErrConfig)
	case c.Ties != "oldest" && c.Ties != "margin":
		return fmt.Errorf("tbp: ties is %q, want oldest or margin: %w", c.Ties, learner.ErrConfig)
	}
	if err := c.validateRemovals(); err != nil {
		return err
	}
	return errors.Join(c.UpdateConfig.validate("tbp"), c.KernelConfig.Validate("tbp"))
}

func (c *TBPConfig) validateRemovals() error {
	switch {
	case c.Candidates < 0 || c.Candidates > math.MaxInt32:
		return fmt.Errorf("tbp: candidates is %d, want a number of examples, or 0 for all: %w",
			c.Candidates, learner.ErrConfig)
	case c.Removals < 0 || c.Removals > math.MaxInt32:
		return fmt.Errorf("tbp: removals is %d, want a number of examples, or 0 for 1: %w",
			c.Removals, learner.ErrConfig)
	case c.ErrorCache == "sv" && c.empties():
		return fmt.Errorf("tbp: error-cache is sv and removals %d, by which its size changes: "+
			"want all, random or flips: %w", c.Removals, learner.ErrConfig)
	}
	return nil
}

// empties reports whether a removal leaves more than one slot empty.
func (c *TBPConfig) empties() bool { return c.Removals > 1 }

// keeps is Traits.Keeps.
func (c *TBPConfig) keeps() int64 {
	switch c.ErrorCache {
	case "all":
		return learner.Any
	case "sv":
		return int64(c.Budget)
	}
	return int64(c.Budget) + int64(c.ErrorSize)
}

// Traits is Config.Traits.
func (c *TBPConfig) Traits() learner.Traits {
	t := learner.KernelTraits(c.EngineKernel(), c.keeps())
	if c.Candidates == 0 {
		t.Threads = "the errors without each kept example"
	}
	if t.Keeps < learner.Any { // else no size bounds the error cache
		t.Sizes, t.FitMemory = []string{"budget", "error-size"}, c.fitMemory
	}
	t.Weights = true
	return t
}

// Memory is Config.Memory: the kept examples, the error cache, and the kernel values among these.
func (c *TBPConfig) Memory(x learner.Extent) learner.Footprint {
	var f learner.Footprint
	p, q := int64(c.Budget), int64(c.ErrorSize)
	room, cached := c.share(x.Kept)
	kept.AddKept(&f, x, "kept examples", p, room, true)
	if c.ErrorCache == "all" {
		q = learner.Any
	}
	if c.ErrorCache != "sv" {
		kept.AddKept(&f, x, "error cache", q, cached, false)
		p, q = kept.TableLength(p, cached, x), kept.TableLength(q, cached, x)
		list := q
		if cached == 0 {
			list = primal.ListRoom(q)
		}
		if q < learner.Any {
			// Hashes, flips, times and counts are lists that grow, as is the list of repeated
			// examples; a map of hashes has up to 40 bytes a place.
			lists := learner.Times(primal.ListRoom(q), 24+3*8+1+4+40) + 24*primal.ListRoom(p)
			f.Add("kernel values of it", learner.Times(p, q), learner.Plus(learner.Times(p, list,
				8), lists))
		}
	}
	if c.Candidates > 0 || c.empties() {
		f.Add("candidates", p, learner.Times(primal.ListRoom(int64(c.Budget)), 2*4))
	}
	kept.AddCurrent(&f, x, 2)
	return f
}

// fitMemory is Traits.FitMemory: it sets Budget and ErrorSize.
func (c *TBPConfig) fitMemory(bytes int64, x learner.Extent, mean, largest int64) (learner.Config,
	error) {
	return kept.LargestWithin("tbp", bytes, kept.MaxKept, x, mean, largest,
		func(n int) learner.Config {
			d := *c
			d.Budget, d.ErrorSize = n, max(1, int(float64(n)*float64(c.ErrorSize)/float64(
				c.Budget)))
			return &d
		})
}

// share splits the room for kept features between kept examples and error cache.
func (c *TBPConfig) share(room int64) (kept, cached int64) {
	if room == 0 || c.ErrorCache == "all" || c.ErrorCache == "sv" {
		return room, 0
	}
	cached = int64(float64(room) * float64(c.ErrorSize) / float64(c.keeps()))
	return room - cached, cached
}

func newTBP[T learner.Float](cfg TBPConfig, env learner.Env) (learner.Learner[T], error) {
	l := &tbp[T]{cfg: cfg, pool: env.Pool, rand: engine.NewRand(env.Seed, candidateDraws)}
	l.kept, l.cached = cfg.share(env.Kept)
	return l, l.reset()
}

// candidateDraws is the stream of the draws of candidates. Those of example t begin at 2^32 t.
const candidateDraws = 0x74627063

// reset makes the learner a new one.
func (l *tbp[T]) reset() (err error) {
	if l.SupportSet, err = kept.NewSupport[T]("tbp", l.cfg.EngineKernel()); err != nil {
		return err
	}
	l.seen, l.updates, l.q, l.qplace = 0, 0, nil, nil
	l.qhash, l.flips, l.since, l.cache = nil, nil, nil, kept.ErrorSet{}
	if l.kept > 0 {
		l.Reserve(l.cfg.Budget, true)
	}
	switch l.cfg.ErrorCache {
	case "sv":
		return nil
	}
	l.qplace = map[uint64]int32{}
	if l.cached > 0 {
		l.cache.Reserve(l.cfg.ErrorSize, l.cfg.Budget)
	}
	l.q, err = engine.NewPoints[T](l.cfg.EngineKernel())
	return err
}

// Learn is Learner.Learn.
func (l *tbp[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckWeighted("tbp", b, len(rounds)); err != nil {
		return err
	}
	for i := range b.Len() {
		f, y := l.ScoreExample(b, i), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		l.seen++
		w := float64(b.Weight(i))
		if w == 0 {
			continue
		}
		wrong := float64(y*f) <= l.cfg.Beta // (U)
		if wrong || l.q != nil {
			h := l.HashExample(y)
			if err := l.haveRoom(h, wrong); err != nil {
				l.seen--
				return err
			}
			l.collect(y, h, wrong)
			if wrong {
				l.update(y, w, h)
				rounds[i].Updates = 1
			}
		}
	}
	return nil
}

// haveRoom returns the error of [kept.HasRoom] for all lists that the example in hand comes into.
func (l *tbp[T]) haveRoom(h uint64, wrong bool) error {
	if l.cached > 0 && l.place(h) < 0 {
		if more := l.q.Len() < l.cfg.ErrorSize; more || wrong && l.cfg.ErrorCache == "flips" {
			if err := l.HasRoom(l.q, l.cached, more); err != nil {
				return err
			}
		}
	}
	if l.kept > 0 && wrong && l.Find(l.List, l.Hash, h) < 0 {
		return l.HasRoom(l.List, l.kept, l.List.Len() < l.cfg.Budget)
	}
	return nil
}

// place returns where the example in hand, of hash h, is in the error cache, or -1.
func (l *tbp[T]) place(h uint64) int {
	if k, ok := l.qplace[h]; ok && l.Equals(l.q, int(k)) {
		return int(k)
	}
	return -1
}

// collect takes the example in hand into the error cache, if it belongs there, or counts it once
// more: before the update, so that the example counts in the choice of what is removed for it.
func (l *tbp[T]) collect(y float64, h uint64, wrong bool) {
	if l.q == nil {
		return
	}
	if k := l.place(h); k >= 0 {
		l.cache.See(k)
		return
	}
	k := l.q.Len()
	full := k == l.cfg.ErrorSize && l.cfg.ErrorCache != "all"
	switch {
	case l.cfg.ErrorCache == "flips" && !wrong, l.cfg.ErrorCache == "random" && full:
		return
	case full:
		k = l.stale()
		delete(l.qplace, l.qhash[k])
	}
	if k == l.q.Len() {
		l.q.Append(&l.Example, 0, 1)
		l.qhash, l.flips, l.since, l.before = append(l.qhash, h), append(l.flips, 0),
			append(l.since, l.seen), append(l.before, false)
	} else {
		l.q.Replace(k, &l.Example, 0)
		l.qhash[k], l.flips[k], l.since[k] = h, 0, l.seen
	}
	if _, taken := l.qplace[h]; !taken {
		l.qplace[h] = int32(k)
	}
	l.cache.SetPoint(k, y, l.CurrentScore, l.Wide)
}

// stale returns the example of the error cache to drop, figure 5: that of the fewest flips s_i/(t -
// t_i) for the examples presented since it came. The oldest of equals.
func (l *tbp[T]) stale() int {
	rate := func(k int) float64 {
		r := float64(l.flips[k]) / float64(max(1, l.seen-l.since[k]))
		if l.cfg.FlipsMost {
			return -r
		}
		return r
	}
	best := 0
	for k := 1; k < l.q.Len(); k++ {
		a, b := rate(k), rate(best)
		if a < b || a == b && l.since[k] < l.since[best] {
			best = k
		}
	}
	return best
}

// update learns the example in hand, of label y, weight w and hash h. Margins on the error cache
// follow each change of f; those on the kept examples, and the score of the one in hand, are the
// support's.
func (l *tbp[T]) update(y, w float64, h uint64) {
	flips := l.cfg.ErrorCache == "flips"
	if flips {
		for k, m := range l.cache.Margins {
			l.before[k] = float64(l.cache.Y[k]*m) > 0
		}
	}
	j := l.Find(l.List, l.Hash, h)
	first := l.List.Len() == 0 // f is 0: mira's step is 1
	if j < 0 {
		if l.cfg.empties() {
			j = l.emptied()
			first = l.Support() == 0
		} else if j = l.List.Len(); j == l.cfg.Budget { // (1)
			l.judge()
			j = l.best()
			l.drop(j)
			first = l.cfg.Budget == 1 // nothing is left of f
		}
		l.Keep(j, y, l.seen, h, true) // (2)
		if l.q != nil {
			l.errorRow(j)
		}
	} else {
		l.OnKept.See(j)
	}
	a, most := l.cfg.step(float64(y*l.CurrentScore), l.Wide[j], w, first)
	before := l.Coef[j]
	l.AddCoef(j, y, a, most, true) // (3), (4)
	if l.q != nil {
		l.cache.Follow(j, l.Coef[j]-before)
	}
	if flips {
		for k, m := range l.cache.Margins {
			if float64(l.cache.Y[k]*m) > 0 != l.before[k] {
				l.flips[k]++
			}
		}
	}
	l.updates++
}

// errorRow takes the kernel values of the example in hand, kept in slot j, and the error cache.
func (l *tbp[T]) errorRow(j int) {
	l.qrow, l.qwide = l.Values(l.q, l.qrow, l.qwide)
	l.cache.SetRow(j, l.qwide)
}

// drop removes what is kept in slot j from f.
func (l *tbp[T]) drop(j int) {
	if l.q != nil {
		l.cache.Follow(j, -l.Coef[j])
	}
	l.Remove(j, true)
}

// emptied returns an empty slot for the example in hand, after several removals if there is none.
func (l *tbp[T]) emptied() int {
	if j := slices.Index(l.Alpha, 0); j >= 0 {
		return j
	}
	if n := l.List.Len(); n < l.cfg.Budget {
		return n
	}
	l.judge()
	l.leave = l.leave[:0]
	for range max(1, min(l.cfg.Removals, len(l.among))) {
		j := int32(l.best())
		l.leave = append(l.leave, j)
		l.among = slices.DeleteFunc(l.among, func(k int32) bool { return k == j })
	}
	for _, j := range l.leave {
		l.drop(int(j))
	}
	return int(l.leave[0])
}

// judge counts the errors without each kept example that a removal may choose.
func (l *tbp[T]) judge() {
	e := &l.cache
	if l.q == nil {
		e = &l.OnKept
	}
	l.among = l.among[:0]
	if l.cfg.Candidates == 0 && !l.cfg.empties() {
		l.count.Run(l.pool, e, l.Coef)
		return
	}
	for j, a := range l.Alpha {
		if a != 0 || !l.cfg.empties() {
			l.among = append(l.among, int32(j))
		}
	}
	some := l.cfg.Candidates
	if some == 0 || some >= len(l.among) {
		l.count.Run(l.pool, e, l.Coef)
		return
	}
	l.rand.Seek(uint64(l.seen) << 32)
	for i := range some {
		k := i + l.rand.IntN(len(l.among)-i)
		l.among[i], l.among[k] = l.among[k], l.among[i]
	}
	l.among = l.among[:some]
	l.count.Some(e, l.Coef, l.among)
}

// best returns the example to remove, (1a), of those that judge has looked at.
func (l *tbp[T]) best() int {
	n, slot := len(l.Coef), func(i int) int { return i }
	if len(l.among) > 0 {
		n, slot = len(l.among), func(i int) int { return int(l.among[i]) }
	}
	best := slot(0)
	for i := 1; i < n; i++ {
		j := slot(i)
		a, b := l.count.Errors[j], l.count.Errors[best]
		older := l.Born[j] < l.Born[best]
		if a == b && l.cfg.Ties == "margin" { // equal margins: the oldest after all
			if m, most := l.MarginWithout(j), l.MarginWithout(best); m != most {
				older = m > most
			}
		}
		if a < b || a == b && older {
			best = j
		}
	}
	return best
}

// Score is Learner.Score.
func (l *tbp[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.Hypothesis(1)
	return p.Score(b, dst)
}

// Snapshot is Learner.Snapshot.
func (l *tbp[T]) Snapshot() learner.Predictor[T] { return l.Hypothesis(1).Copied() }

// View is for [learner.ViewOf].
func (l *tbp[T]) View() learner.Predictor[T] { return l.Hypothesis(1).View() }

// Weights returns nil: the hypothesis is a sum over kept examples.
func (l *tbp[T]) Weights() []float64 { return nil }

// Updates is Learner.Updates.
func (l *tbp[T]) Updates() int64 { return l.updates }

// Bytes is Learner.Bytes.
func (l *tbp[T]) Bytes() int64 {
	n := l.SupportSet.Bytes() + l.cache.Bytes() + 8*int64(cap(l.qhash)+cap(l.flips)+cap(l.since)) +
		int64(cap(l.before)) + primal.BytesOf(l.qrow) + primal.BytesOf(l.qwide) +
		4*int64(cap(l.among)+cap(l.leave)) + l.count.Bytes()
	if l.q != nil {
		n += l.q.Bytes()
	}
	return n + 16*int64(len(l.qplace))
}

// State is Learner.State: kept examples and error cache, with coefficients and margins.
func (l *tbp[T]) State() learner.State { return learner.StateOf(l.fields) }

// SetState is Learner.SetState.
func (l *tbp[T]) SetState(s learner.State) error { return learner.SetState("tbp", s, l.fields) }

// CheckState is Learner.CheckState.
func (l *tbp[T]) CheckState(s learner.State) error { return learner.CheckState("tbp", s, l.fields) }

func (l *tbp[T]) fields(c *learner.Codec) {
	seen := learner.Count(c, "seen", &l.seen)
	updates := learner.Count(c, "updates", &l.updates)
	kept := l.SupportSet.Fields(c, l.cfg.Budget, true, seen)
	var cache errorCache[T]
	var times []int64 // sv: of the kept examples
	if l.q != nil {
		cache = l.cacheFields(c, seen)
	} else {
		times = timesField(c, "times", l.OnKept.Times, len(kept.Alpha))
	}
	if !c.Keeping() {
		return
	}
	n := tbp[T]{cfg: l.cfg, pool: l.pool, kept: l.kept, cached: l.cached, rand: l.rand}
	err := n.reset()
	c.Want(err == nil, "%w", err)
	c.Then(func() {
		n.seen, n.updates = seen, updates
		if n.q != nil {
			n.restoreCache(&cache)
		}
		n.SupportSet.Restore(kept, true)
		if n.q != nil {
			n.restoreRows()
		} else {
			copy(n.OnKept.Times, times)
		}
		*l = n
	})
}

// timesField walks how often each of n examples was seen. A State in which none was seen twice, as
// all states of version 1.0, has no such part.
func timesField(c *learner.Codec, name string, times []int64, n int) []int64 {
	repeated := slices.ContainsFunc(times, func(t int64) bool { return t > 1 })
	if !c.Optional(name, repeated) {
		return slices.Repeat([]int64{1}, n)
	}
	times = learner.View(c, name, slices.Clone(times))
	if c.Reading() {
		c.Want(len(times) == n, "%s has %d counts of %d examples", name, len(times), n)
		c.Want(!slices.ContainsFunc(times, func(t int64) bool {
			return t < 1 || t > learner.MaxCount
		}), "%s has a count that is not from 1 to %d", name, int64(learner.MaxCount))
	}
	return times
}

// errorCache are the parts of a State that make an error cache; its slices are the State's.
type errorCache[T learner.Float] struct {
	y            []int32   // labels
	m            []float64 // margins y f
	times        []int64
	flips, since []int64
	examples     engine.Block[T]
}

// cacheFields walks the error cache, and returns what is read.
func (l *tbp[T]) cacheFields(c *learner.Codec, seen int64) (k errorCache[T]) {
	if c.Writing() {
		k = errorCache[T]{y: kept.Signs(l.cache.Y), m: slices.Clone(l.cache.Margins),
			flips: slices.Clone(l.flips), since: slices.Clone(l.since)}
	}
	k.y = learner.View(c, "cache_y", k.y)
	k.m = learner.View(c, "cache_margin", k.m)
	k.flips = learner.View(c, "cache_flips", k.flips)
	k.since = learner.View(c, "cache_since", k.since)
	k.examples = kept.ExampleFields(c, "cache", l.q)
	k.times = timesField(c, "cache_times", l.cache.Times, k.examples.Len())
	if !c.Reading() {
		return k
	}
	n := k.examples.Len()
	if !c.Want(len(k.y) == n && len(k.m) == n && len(k.flips) == n && len(k.since) == n &&
		(l.cfg.ErrorCache == "all" || n <= l.cfg.ErrorSize),
		"error cache of %d examples, %d labels, %d margins, %d and %d counts", n, len(k.y),
		len(k.m), len(k.flips), len(k.since)) {
		return k
	}
	for i, y := range k.y {
		if y != 1 && y != -1 || k.m[i]-k.m[i] != 0 || k.flips[i] < 0 ||
			k.flips[i] > learner.MaxCount ||
			!kept.Presented(k.since[i], seen) {
			c.Want(false, "error cache: example %d has label %d, margin %v, %d flips since %d "+
				"of %d",
				i, y, k.m[i], k.flips[i], k.since[i], seen)
			return k
		}
	}
	return k
}

// restoreCache takes all of the error cache but the kernel values.
func (l *tbp[T]) restoreCache(c *errorCache[T]) {
	for k, y := range c.y {
		idx, val := c.examples.Sparse(k)
		l.SetExample(idx, val)
		h := l.HashExample(float64(y))
		l.qhash = append(l.qhash, h)
		if _, taken := l.qplace[h]; !taken {
			l.qplace[h] = int32(k)
		}
		l.cache.Y, l.cache.Margins = append(l.cache.Y, float64(y)), append(l.cache.Margins, c.m[k])
		l.cache.Times = append(l.cache.Times, c.times[k])
	}
	l.q.Append(&c.examples, 0, c.examples.Len())
	l.flips, l.since, l.before = slices.Clone(c.flips), slices.Clone(c.since),
		make([]bool, len(c.y))
}

// restoreRows takes the kernel values of kept examples and error cache: a value is of the row of
// whichever came later, and where both came with one example, of the kept one's row over the cache.
func (l *tbp[T]) restoreRows() {
	row := make([]T, l.List.Len())
	for j := range l.List.Len() {
		l.Idx, l.Val = l.List.NonZeros(l.Idx[:0], l.Val[:0], j)
		l.SetExample(l.Idx, l.Val)
		l.errorRow(j)
	}
	for k := range l.q.Len() {
		l.Idx, l.Val = l.q.NonZeros(l.Idx[:0], l.Val[:0], k)
		l.SetExample(l.Idx, l.Val)
		l.List.RowOf(row, &l.Example, 0, 0, len(row))
		for j, v := range row {
			if l.Born[j] < l.since[k] {
				l.cache.Rows[j][k] = float64(l.cache.Y[k] * float64(v))
			}
		}
	}
}

// UpdateConfig holds the update rule of the budget perceptrons (figure 2 of the Tighter Budget
// paper). Let m = y f(x), K = K(x, x):
//
//	perceptron    alpha = 1
//	mira          alpha = min(1, max(0, -m/K)); 1 for the first example
//	svm           alpha = min(C, max(0, (1-m)/K))
//
// The weight of an example multiplies the perceptron's 1 and what the others have at most, 1 and C.
type UpdateConfig struct {
	// Beta is the margin up to which an example is learned: y f(x) <= beta. Default 0; 0 or more.
	Beta float64 `json:"beta" flag:"beta"`
	// Update is the step along an example: perceptron 1; mira up to a margin of 0, at most 1; svm
	// up to a margin of 1, at most C. Default perceptron; perceptron, mira or svm.
	Update string `json:"update" flag:"update" values:"perceptron|mira|svm"`
	// C is the largest coefficient of an example. Default 1; above 0.
	C float64 `json:"C" flag:"C" with:"update=svm"`
}

func (c *UpdateConfig) validate(name string) error {
	switch c.Update {
	case "perceptron", "mira", "svm":
	default:
		return fmt.Errorf("%s: update is %q, want perceptron, mira or svm: %w", name, c.Update,
			learner.ErrConfig)
	}
	return errors.Join(
		learner.CheckSetting(name, "beta", c.Beta, c.Beta >= 0, "a number >= 0"),
		learner.CheckSetting(name, "C", c.C, c.C > 0, "a number > 0"))
}

// step returns what an example of margin m, |x|^2 = K and weight w adds to its coefficient, and
// what that is at most, also of an example that is learned again.
func (c *UpdateConfig) step(m, K, w float64, first bool) (a, most float64) {
	most = math.Inf(1)
	if c.Update == "svm" {
		most = float64(w * c.C)
	}
	switch {
	case c.Update == "perceptron", c.Update == "mira" && first:
		return w, most
	case K == 0:
		return 0, most
	case c.Update == "mira":
		return min(w, max(0, -m/K)), most
	}
	return min(most, max(0, (1-m)/K)), most
}
