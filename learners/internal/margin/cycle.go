package margin

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// cycle passes over examples in their order, again and again, until a pass makes no update: the
// batch form of perceptron, ALMA (p = 2) and CRAMMA, as in the CRAMMA paper (P. Tsampouka, J.
// Shawe-Taylor, ECML 2006), whose equation numbers stand here. With the weights a, never
// normalised, and the dual coefficients alpha,
//
//	a = start + sum_k alpha_k y_k x_k,  s_k = y_k a.x_k + Delta^2 alpha_k
//	update of k where s_k <= threshold:  alpha_k += step,  s += step G_k,  G_ki = y_k y_i x_k.x_i
//
// with Delta^2 on the diagonal of G, and in s. Where examples have weights w_k it is Delta^2/w_k,
// so that what a slack costs is multiplied by w_k; one of weight 0 has a score of +Inf. An update
// works in one of three spaces, of which each leads through the same updates but for roundings:
//
//	scores    s by rows of G, O(examples); a only at a refresh
//	fixed     the same for the fixed rule of a perceptron, and a carried along: see BeginFixed
//	weights   a, O(features), and each score from it; where G would not fit into GramBytes
//
// All is float64, whatever T is, with alpha and what a refresh computes in twofold precision: the
// published counts, up to 10^8 updates, depend on comparisons of scores that differ by 1e-13.
type cycle[T learner.Float] struct {
	name  string
	b     *engine.Block[T]
	o     learner.FitOptions
	rule  marginRule
	ridge ridge

	lengths *LengthRule // the rule, where it is one

	place
	carry bool // a is kept up to date
	// the threshold of a fixed rule in score space: what is compared with it is small then, and its
	// roundings are
	shift float64

	gram   []float64 // y_i y_j x_i.x_j, and Delta^2 on the diagonal; nil: none
	stride int       // of its rows, each at a multiple of 64 bytes
	square []float64 // its diagonal once more: an update waits for L1 then, not for L2
	turn   turn

	// Of a fixed rule in score space: dense examples as rows of whole lines, and labels; nil: none
	x, y    []float64
	xStride int

	// where another run was cut that this one goes on from; nil: none
	resumed *learner.State
	before  struct{ updates, epochs, presented int64 } // of the runs that this one goes on from
	Cut     *learner.State                             // where this one was cut; nil: it ended
	learned int64                                      // updates before this run
	watch   watch
	mark    mark
	least   float64 // LeastMargin R
}

// place is where a run of a cycle stands, and what a cut has of it.
type place struct {
	data            uint64 // fingerprint of the examples; 0: not known
	n               int    // of them
	updates, epochs int64  // of this run and all that it goes on from
	from            int    // next example to look at
	since           int64  // updates since the last refresh
	fresh           bool   // none since: a pass without an update is of scores that are exact
	space           uint64 // of the updates
	clean           int    // in weights: examples since the last update

	norm2           float64 // |a|^2 + Delta^2 |alpha|^2
	Unit            float64 // a is 1/unit times what it would be without rescaling
	threshold, step float64
	sum             float64    // of all steps, where there is no alpha
	soft            float64    // Delta
	numbers         []*float64 // of the rule: [marginRule.StateNumbers]

	start []float64 // a before the first example was added; nil is 0
	// one a feature; aLow is the rounding errors' part. In score space as of the last refresh, but
	// for a fixed rule
	a, aLow []float64
	// dual coefficients, one an example, and their rounding errors; nil where neither Delta nor the
	// scores need them
	alpha, alphaLow []float64
	// one per example, less shift; without a Gram matrix as of the last refresh
	s []float64
}

// NewCycle checks what can be wrong and makes room, the Gram matrix included if it fits. start are
// the weights to go on from and updates their number. R2 is the squared length of the longest
// example, with Delta.
func NewCycle[T learner.Float](name string, b *engine.Block[T], o learner.FitOptions, start []T,
	updates int64) (c *cycle[T], R2 float64, err error) {
	if err := CheckFit(name, b, &o, Fits{Weights: o.Delta > 0}); err != nil {
		return nil, 0, err
	}
	if o.Refresh < 0 {
		return nil, 0, fmt.Errorf("%s: Refresh is %d, want >= 0: %w", name, o.Refresh,
			learner.ErrConfig)
	}
	m := b.Len()
	if o.Refresh == 0 {
		o.Refresh = learner.DefaultRefresh
	}
	if o.MaxUpdates == 0 {
		o.MaxUpdates = math.MaxInt64
	}
	c = &cycle[T]{name: name, b: b, o: o, ridge: ridgeOf(b, o.Delta), learned: updates,
		place: place{n: m, Unit: 1, fresh: true, soft: o.Delta},
		watch: NewWatch(&o), mark: newMark(&o)}
	shortest2 := math.Inf(1)
	for i := range m {
		if !c.ridge.counts(i) {
			continue
		}
		_, val := b.Example(i)
		n := engine.SumSqOrdered(val) + c.ridge.of(i)
		shortest2 = min(shortest2, n)
		if n == 0 {
			return nil, 0, fmt.Errorf("%s: example %d is 0 (or its squared length is, in "+
				"float64), which no weights separate: "+
				"give it a constant feature or Delta > 0: %w", name, i, learner.ErrFit)
		}
		R2 = max(R2, n)
	}
	if R2 > tooLong {
		return nil, 0, fmt.Errorf("%s: the square of the longest example's length is %g: scale "+
			"the data: %w", name, R2, learner.ErrFit)
	}
	c.least = primal.LeastMargin(shortest2, R2)
	c.s = engine.Aligned[float64](m)
	c.a, c.aLow = make([]float64, max(b.Dim, len(start))), make([]float64, max(b.Dim, len(start)))
	if slices.ContainsFunc(start, func(v T) bool { return v != 0 }) {
		for j, v := range start {
			c.a[j] = float64(v)
		}
		c.start = slices.Clone(c.a)
	}
	c.stride = (m + 7) &^ 7 // 8 float64 are 64 bytes
	inScores := 8*float64(m)*float64(c.stride) <= float64(o.GramBytes)
	c.carry = !inScores
	if inScores || o.Delta > 0 {
		c.alpha, c.alphaLow = make([]float64, m), make([]float64, m)
	}
	if inScores {
		c.gram, c.square = engine.Aligned[float64](m*c.stride), make([]float64, m) // Run fills them
		c.space = cutScores
	}
	return c, R2, nil
}

// makeGram computes the matrix of inner products, labels included, each once: m^2/2 of them. It
// reports whether it came to its end before ctx.
func (c *cycle[T]) makeGram(ctx context.Context) bool {
	m := c.b.Len()
	row := make([]float64, c.b.Dim) // example i, so that sparse ones meet by one gather each
	mean := c.nonZeros()/m + 1
	looker := looker{ctx: ctx}
	for i := range m {
		if looker.ended((i + 1) * mean) {
			return false
		}
		c.scatter(row, i)
		for j := range i + 1 {
			g := float64(c.b.Y[i]) * float64(c.b.Y[j]) * c.dot(row, j)
			if i == j {
				g += c.ridge.of(i)
				c.square[i] = g
			}
			c.gram[i*c.stride+j], c.gram[j*c.stride+i] = g, g
		}
	}
	return true
}

// nonZeros returns how many there are in all examples.
func (c *cycle[T]) nonZeros() (n int) {
	for i := range c.b.Len() {
		_, val := c.b.Example(i)
		n += len(val)
	}
	return n
}

// scatter writes example i as a full row.
func (c *cycle[T]) scatter(row []float64, i int) {
	clear(row)
	idx, val := c.b.Example(i)
	for n, v := range val {
		row[engine.FeatureOf(idx, n)] = float64(v)
	}
}

// dot returns w.x_i.
func (c *cycle[T]) dot(w []float64, i int) float64 {
	idx, val := c.b.Example(i)
	if idx == nil {
		return vecmath.DotMixed(w, val)
	}
	return vecmath.SparseDotMixed(idx, val, w)
}

// BeginFixed makes the rule one with a threshold and a step that never change. The scores of a
// perceptron grow large beside its steps, so that weights summed plainly over some 10^8 updates end
// far from the exact sum, and published counts contain that rounding. So for such a rule the
// weights are carried along in score space, too, at O(features) an update, and decide wherever a
// score is too near the threshold for its own rounding errors: within doubt.
func (c *cycle[T]) BeginFixed(rule *FixedMargin, cut *learner.State) error {
	c.carry = true
	if c.gram != nil {
		c.shift, c.space = rule.Margin, cutFixed
		// doubt grows with the square of the updates to the next refresh: at 2^18, with features
		// and weights around 1 and 100 of them, it is some 2^-51 2^18 100 (1 + 2^18) = 3e-3, so
		// that few scores lie within
		c.o.Refresh = min(c.o.Refresh, mostUpdates)
		c.rows()
	}
	if c.o.Delta == 0 {
		c.alpha, c.alphaLow = nil, nil // the weights are carried, and all steps are equal
	}
	if err := c.Resume(cut); err != nil {
		return err
	}
	c.begin(rule, false)
	return nil
}

// rows sets x and y, where the examples are dense and no more numbers than the Gram matrix has:
// many of them are added in one pass then, with the weights in registers.
func (c *cycle[T]) rows() {
	m, b := len(c.s), c.b
	if !b.Dense() || b.Dim > m {
		return
	}
	c.xStride = (b.Dim + 7) &^ 7
	c.x, c.y = engine.Aligned[float64](m*c.xStride), make([]float64, m)
	for k := range m {
		c.y[k] = float64(b.Y[k])
		for j, v := range b.Row(k) {
			c.x[k*c.xStride+j] = float64(v)
		}
	}
}

// Begin adds the first example once if that is how the algorithm starts, and takes the
// rule's first threshold.
func (c *cycle[T]) Begin(rule *LengthRule, first bool) {
	c.lengths = rule
	c.begin(rule, first)
}

// begin is Begin with any rule.
func (c *cycle[T]) begin(rule marginRule, first bool) {
	c.rule, c.numbers = rule, rule.StateNumbers()
	if c.resumed != nil {
		c.restore()
		return
	}
	if first {
		k := 0
		for !c.ridge.counts(k) {
			k++
		}
		c.add(k, 1) // CRAMMA's u_1
	}
	c.rescore()
	c.threshold, c.step = rule.AfterUpdate(c.norm2)
}

// add adds step times y_k x_k, extended, to a, or leaves a to the next refresh.
func (c *cycle[T]) add(k int, step float64) {
	if c.alpha != nil {
		c.addAlpha(k, step)
	}
	c.sum += step // for bound, where there is no alpha
	if c.carry {
		c.addWeights(k, step)
	}
}

// addWeights adds step times y_k x_k to a.
func (c *cycle[T]) addWeights(k int, step float64) {
	if idx, val := c.b.Example(k); idx == nil {
		vecmath.AxpyMixed(c.a[:len(val)], step*float64(c.b.Y[k]), val)
	} else {
		vecmath.SparseAxpyMixed(c.a, step*float64(c.b.Y[k]), idx, val)
	}
}

// addAlpha adds to a dual coefficient and keeps the rounding error: of some 10^8 small steps a
// plain sum would lose digits.
func (c *cycle[T]) addAlpha(k int, step float64) {
	sum, low := twoSum(c.alpha[k], step)
	c.alpha[k] = sum
	c.alphaLow[k] += low
}

// mostUpdates is the number of updates of one turn of Run, at most: as many as lie between two
// refreshes by default.
const mostUpdates = 1 << 18

// lookEvery is the work from one look at ctx to the next, in elements of rows and weights. One took
// 0.7 ns with 683 examples and 3.5 ns with the 5792 whose Gram matrix is the largest that
// DefaultGramBytes hold, on two cores shared with other work (2026-11-22): a run in score space
// ends 0.06 s after ctx, whatever the examples, and a look, some 50 ns, is nothing beside so much.
const lookEvery = 1 << 24

// looker looks at ctx once in a while. It changes no result.
type looker struct {
	ctx  context.Context
	done int // since the last look
}

// ended reports, so much work later, whether ctx has been seen to have ended.
func (l *looker) ended(work int) bool {
	if l.done += work; l.done < lookEvery {
		return false
	}
	l.done = 0
	return l.ctx.Err() != nil
}

// Run passes on until it has converged, reached its limits, or ctx ends. keep makes the learner one
// that has done what the result says, and completes that; it is called at checkpoints, too.
func (c *cycle[T]) Run(ctx context.Context, keep func(*learner.FitResult)) (learner.FitResult,
	error) {
	converged, err := c.run(ctx, keep)
	r := c.result(converged)
	keep(&r)
	return r, err
}

// run is Run up to the result.
func (c *cycle[T]) run(ctx context.Context, keep func(*learner.FitResult)) (converged bool,
	err error) {
	most := c.o.MaxUpdates // of this run; then of all that it goes on from, too
	if most < math.MaxInt64-c.before.updates {
		most += c.before.updates
	}
	made := c.gram == nil || ctx.Err() == nil && c.makeGram(ctx)
	for {
		if !made || ctx.Err() != nil {
			break
		}
		before := c.updates
		limit := min(mostUpdates, c.o.Refresh-c.since, most-c.updates, c.mark.most(c.presented()))
		var none bool // no example is at or under the threshold
		switch {
		case c.gram == nil:
			none = c.runWeights(ctx, limit)
		case c.carry:
			none = c.runFixed(ctx, limit)
		default:
			none = c.runScores(ctx, limit)
		}
		c.since += c.updates - before
		c.fresh = c.fresh && c.updates == before
		// Scores from the weights are always fresh, scores by steps only after a refresh.
		if none && (c.fresh || c.gram == nil) {
			if c.from > 0 {
				c.epochs++ // the pass of the last update
				c.from = 0
			}
			c.epochs++ // the one without
			return true, nil
		}
		if none || c.since >= c.o.Refresh {
			c.refresh()
			c.fresh, c.since = true, 0
		} else if c.watch.Due() {
			c.observe()
		}
		if none {
			continue // again, by the fresh scores
		}
		if c.fresh && c.hopeless() {
			return false, nil
		}
		if c.updates >= most || c.gram == nil && c.from == 0 && c.enough() {
			c.Cut = c.snapshot()
			return false, nil
		}
		if c.mark.due(c.presented()) {
			if err := c.checkpoint(keep); err != nil {
				c.Cut = c.snapshot()
				return false, err
			}
		}
	}
	c.Cut = c.snapshot()
	return false, context.Cause(ctx)
}

// checkpoint calls FitOptions.Checkpoint, and leaves all as it is.
func (c *cycle[T]) checkpoint(keep func(*learner.FitResult)) error {
	s, norm2 := slices.Clone(c.s), c.norm2
	c.Cut = c.snapshot()
	r := c.result(false)
	keep(&r)
	err := c.o.Checkpoint(r)
	copy(c.s, s)
	c.norm2, c.Cut = norm2, nil
	c.mark.set(c.presented())
	return err
}

// Flags of a cycle's cut: the space of the updates, and place.fresh.
const (
	cutWeights = iota
	cutScores
	cutFixed
	cutWhere = 3
	cutFresh = 4
)

// vectors returns what a cut has one an example or feature, by name: a, and with scores these and
// the coefficients, which a soft margin has in any space.
func (p *place) vectors() (names []string, of []*[]float64) {
	if p.space != cutScores {
		names, of = append(names, "a"), append(of, &p.a)
	}
	if p.space == cutScores || p.soft > 0 {
		names, of = append(names, "alpha", "alpha_low"), append(of, &p.alpha, &p.alphaLow)
	}
	if p.space != cutWeights {
		names, of = append(names, "s"), append(of, &p.s)
	}
	return names, of
}

// snapshot returns where the run stands.
func (c *cycle[T]) snapshot() *learner.State {
	if c.data == 0 {
		c.data = learner.Fingerprint(c.b)
	}
	s := learner.StateOf(c.place.fields)
	return &s
}

// Resume makes the run go on from a cut, if that is of the same examples and the same soft margin,
// and of a run whose updates worked in the space of this one's. Without it a soft margin, whose
// coordinates are nowhere else, can't go on from weights.
func (c *cycle[T]) Resume(cut *learner.State) error {
	if c.fits(cut) {
		c.resumed = cut
	} else if c.o.Delta > 0 && c.learned > 0 {
		return noSlacks(c.name, c.o.Delta, c.learned)
	}
	return nil
}

// fits reports whether the run can go on from that cut.
func (c *cycle[T]) fits(cut *learner.State) bool {
	if !cutOf(cut, c.b, c.o.Delta) || cut.Counters[learner.CutFlags]&cutWhere != c.space {
		return false
	}
	names, of := c.vectors()
	for i, name := range names {
		if len(floats(cut, name)) != len(*of[i]) {
			return false
		}
	}
	return true
}

// restore is Begin of a run that goes on.
func (c *cycle[T]) restore() {
	c.rule.AfterUpdate(c.resumed.Scalars["norm2"]) // as Begin calls it: rules count their calls
	s := c.s
	c.start = nil // unless the cut has it
	if err := learner.SetState(c.name, *c.resumed, c.place.fields); err != nil {
		panic(err) // it was checked when the learner was restored, or is the learner's own
	}
	copy(s, c.s)
	c.s = s // whose memory is aligned
	c.from %= c.n
	c.since = min(c.since, c.o.Refresh)
	c.before.updates, c.before.epochs, c.before.presented = c.updates, c.epochs, c.presented()
	c.mark.set(c.presented())
}

// presented returns the examples gone over so far.
func (c *cycle[T]) presented() int64 { return c.epochs*int64(c.b.Len()) + int64(c.from) }

// enough reports whether this run was presented as many examples as it may be.
func (c *cycle[T]) enough() bool {
	return learner.Enough(c.presented()-c.before.presented, c.o.MaxUpdates)
}

// CheckCycleCut checks the cut of a learner on a cycle.
func CheckCycleCut(c *learner.Codec) { new(place).fields(c) }

// fields walks a cut. With an empty place what is read is checked and not stored.
func (p *place) fields(c *learner.Codec) {
	flags := p.space
	if p.fresh {
		flags |= cutFresh
	}
	n, _, flags := cutFields(c, &p.data, &p.n, &p.from, &p.epochs, &flags)
	cutCounter(c, "updates", &p.updates)
	cutCounter(c, "since", &p.since)
	cutCounter(c, "clean", &p.clean)
	c.Scalar("norm2", &p.norm2)
	c.Scalar("unit", &p.Unit)
	c.Scalar("threshold", &p.threshold)
	c.Scalar("step", &p.step)
	c.Scalar("sum", &p.sum)
	for i, name := range []string{"rule0", "rule1"} {
		var v *float64
		if i < len(p.numbers) {
			v = p.numbers[i]
		}
		if c.Optional(name, v != nil) {
			c.Scalar(name, v)
		}
	}
	soft := softField(c, &p.soft)
	c.Want(flags&cutWhere != cutWhere && flags <= cutWhere|cutFresh,
		"where a run was cut: counter %q is %d", learner.CutFlags, flags)
	c.Then(func() { p.fresh = flags&cutFresh != 0 })
	start, read, keep := &p.start, p, p.n > 0
	if !keep {
		start, read = nil, &place{space: flags & cutWhere}
		if soft {
			read.soft = 1
		}
	}
	if c.Optional("start", p.start != nil) {
		learner.Vector(c, "start", start)
	}
	names, of := read.vectors()
	for i, name := range names {
		if !keep {
			of[i] = nil
		}
		v := learner.Vector(c, name, of[i])
		c.Want(name == "a" || len(v) == int(n), "where a run was cut: tensor %q has %d elements "+
			"for %d examples", name, len(v), n)
	}
}

// hopeless reports, of fresh scores, that no weights have a margin that counts as one, and that
// there are violators left.
func (c *cycle[T]) hopeless() bool {
	if !(c.bound() <= c.least) {
		return false
	}
	violators, _ := c.violatorsAndMargin(c.s)
	return violators > 0
}

// runScores makes up to limit updates, or those until ctx is seen to have ended, and stands at the
// next example that wants one, or reports that there is none: the rest of this pass and the whole
// next one would make no update. Examples above the threshold cost a comparison each, in vectors,
// and the update of the scores looks for the next violator while it is at it.
func (c *cycle[T]) runScores(ctx context.Context, limit int64) (none bool) {
	m, s := len(c.s), c.s
	looker := looker{ctx: ctx}
	r := &c.turn.LengthSteps
	for k, work := vecmath.NextLE(s, c.from, c.threshold), 0; ; {
		if !c.next(k) {
			return true
		}
		if limit == 0 || looker.ended(work) {
			return false
		}
		c.turn.begin(c.lengths, limit)
		r.Norm2, r.Step, r.Threshold = c.norm2, c.step, c.threshold
		r.Alpha, r.AlphaLow = c.alpha, c.alphaLow
		// |a + step y|^2 = |a|^2 + step (2 a.y + step |y|^2)
		n, next, within := r.Run(s, c.gram, c.stride, c.square, k)
		c.norm2, c.step, c.threshold = r.Norm2, r.Step, r.Threshold
		c.lengths.made(n, r.Longest)
		c.went(n, r.Wraps, r.Last)
		limit -= int64(n)
		work = n * m
		if k = next; !within {
			c.repairLength()
			k = vecmath.NextLE(s, c.from, c.threshold)
		}
	}
}

// next goes to example k, the next update, or reports that there is none.
func (c *cycle[T]) next(k int) bool {
	if k < 0 {
		return false
	}
	if k < c.from {
		c.epochs++ // found behind the end of the pass
	}
	c.from = k
	return true
}

// went counts n updates, each at the next example behind the one before, with so many passes begun
// between them, and goes to the example behind the last.
func (c *cycle[T]) went(n, passes, last int) {
	c.updates += int64(n)
	c.epochs += int64(passes)
	if c.from = last + 1; c.from == len(c.s) {
		c.from = 0
		c.epochs++
	}
}

// runFixed is runScores for a fixed rule. |a|^2 is left to the next refresh.
func (c *cycle[T]) runFixed(ctx context.Context, limit int64) (none bool) {
	m, s := len(c.s), c.s
	looker, mean := looker{ctx: ctx}, c.nonZeros()/len(c.s)+1
	doubt := c.doubt()
	// At most low is an update whatever the roundings, above high is none; between them the weights
	// decide.
	low, high := c.threshold-c.shift-doubt, c.threshold-c.shift+doubt
	for k, work := vecmath.NextLE(s, c.from, high), 0; ; {
		if k >= 0 && s[k] > low {
			var scored int
			k, scored = c.nextByWeights(k, c.from, low, high)
			work += scored * mean
		}
		if !c.next(k) {
			return true
		}
		if limit == 0 || looker.ended(work) {
			return false
		}
		picked := c.turn.picked[:min(limit, mostSteps)]
		n, next := vecmath.FixedSteps(s, c.gram, c.stride, c.step, high, low, k, picked)
		c.addFixed(picked[:n])
		c.went(n, wraps(picked[:n]), int(picked[n-1]))
		limit -= int64(n)
		k, work = next, n*(m+mean)
	}
}

// wraps returns how often an index is not above the one before.
func wraps(picked []int32) (n int) {
	before := picked[0]
	for _, k := range picked[1:] {
		if k <= before {
			n++
		}
		before = k
	}
	return n
}

// addFixed is add of all these examples, with the rule's one step.
func (c *cycle[T]) addFixed(picked []int32) {
	if all := c.sum + float64(float64(len(picked))*c.step); all <= 1<<53 &&
		math.Trunc(c.sum) == c.sum && math.Trunc(c.step) == c.step {
		c.sum = all // whole numbers: nothing is rounded either way
	} else {
		for range picked {
			c.sum += c.step
		}
	}
	if c.alpha != nil {
		for _, k := range picked {
			c.addAlpha(int(k), c.step)
		}
	}
	if c.x != nil {
		vecmath.AddRowsAt(c.a[:c.b.Dim], c.step, c.x, c.xStride, c.y, picked)
		return
	}
	for _, k := range picked {
		c.addWeights(int(k), c.step)
	}
}

// doubt bounds the difference of a score from that of the carried weights at any time before the
// next refresh: each of n updates rounds every weight, every score and every element of a Gram row
// once, by at most 2^-53 of their largest values until then. 2^-51 is for the three of them, and 64
// for the partial sums of an inner product.
func (c *cycle[T]) doubt() float64 {
	var weight, one, longest float64 // largest |a_j|, sum |x_j|, and |x_j|
	for _, v := range c.a {
		weight = max(weight, math.Abs(v))
	}
	for k := range c.s {
		_, val := c.b.Example(k)
		var sum float64
		for _, v := range val {
			x := math.Abs(float64(v))
			sum, longest = sum+x, max(longest, x)
		}
		one = max(one, sum)
	}
	n := float64(c.o.Refresh + 1) // with the rounding of the refresh
	// the largest score: sum |x_j| times the largest weight, which grows by step |x_j| an update
	score := float64(one*(weight+float64(n*c.step*longest))) + math.Abs(c.shift) +
		float64(64*c.step*float64(one*longest))
	if c.ridge.delta2 > 0 {
		score += float64(c.ridge.most() * (slices.Max(c.alpha) + float64(n*c.step)))
	}
	return n * 0x1p-51 * score
}

// nextByWeights returns the first example from k on, cyclically up to from, whose score is at most
// the threshold: by the weights where the score is between low and high. There were so many scored.
func (c *cycle[T]) nextByWeights(k, from int, low, high float64) (next, scored int) {
	for {
		if c.s[k] <= low {
			return k, scored
		}
		if c.s[k] <= high {
			s := c.score(k)
			scored++
			c.s[k] = s - c.shift
			if s <= c.threshold {
				return k, scored
			}
		}
		if k++; k == len(c.s) {
			k = 0
		}
		if k == from {
			return -1, scored // once around
		}
	}
}

// score takes a score from the carried weights.
func (c *cycle[T]) score(k int) float64 {
	if !c.ridge.counts(k) {
		return math.Inf(1)
	}
	s := float64(c.b.Y[k]) * c.dot(c.a, k)
	if c.ridge.delta2 > 0 {
		s += float64(c.ridge.of(k) * c.alpha[k])
	}
	return s
}

// runWeights is runScores on the weights, an example at a time. It also returns, at an example,
// when ctx ends, or it is time to call the observer or for a checkpoint.
func (c *cycle[T]) runWeights(ctx context.Context, limit int64) (none bool) {
	m := c.b.Len()
	for looked := 1; ; looked++ {
		k := c.from
		s := c.score(k)
		if s <= c.threshold {
			if limit == 0 {
				return false
			}
			limit--
			_, val := c.b.Example(k)
			step, before := c.step, c.norm2
			// |a + step y|^2, as in runScores
			c.norm2 += float64(step * (float64(2*s) +
				float64(step*(engine.SumSqOrdered(val)+c.ridge.of(k)))))
			c.add(k, step)
			c.updates++
			c.threshold, c.step = c.rule.AfterUpdate(c.norm2)
			if !(c.norm2 > cancelled*before && c.norm2 <= tooLong) {
				c.repairLength()
			}
			c.clean = -1 // this example is to be looked at again, too
		}
		c.clean++
		if c.from++; c.from == m {
			c.from = 0
			if c.clean >= m {
				return true
			}
			if c.epochs++; c.enough() {
				return false
			}
		}
		if looked%4096 == 0 && (ctx.Err() != nil || c.watch.Due() || c.mark.due(c.presented())) {
			return false
		}
	}
}

// tooLong is the |a|^2 above which a is scaled down, and scores and coefficients with it. It is
// half way to where float64 ends, 2^1024: the product of two such numbers is finite.
const tooLong = 0x1p512

// cancelled is the share of |a|^2 that an update may leave. The rounding errors of what is gone,
// 2^-53 of it, are then 2^-29 of what is left; below that |a|^2 is taken afresh from a.
const cancelled = 0x1p-24

// repairLength makes |a|^2 a number to go on with: not too large, and not the rounding errors of a
// difference.
func (c *cycle[T]) repairLength() {
	if c.norm2 > tooLong {
		c.rescale()
		return
	}
	c.rescore()
	c.threshold, c.step = c.rule.AtLength(c.norm2)
}

// rescale multiplies all that is linear in a by 2^-256, which rounds nothing that matters beside
// the rest.
func (c *cycle[T]) rescale() {
	const f = 0x1p-256
	for _, v := range [][]float64{c.start, c.a, c.aLow, c.alpha, c.alphaLow, c.s} {
		for i := range v {
			v[i] *= f
		}
	}
	c.sum *= f
	c.norm2 *= f * f
	c.threshold *= f
	c.step *= f
	c.Unit /= f
	c.rule.Rescale(f)
}

// refresh takes scores and length afresh, so that the rounding errors of the steps do not add up,
// and calls the observer.
func (c *cycle[T]) refresh() {
	c.rescore()
	if c.o.Observe != nil {
		c.report(c.s)
	}
}

// report calls the observer with what these scores say.
func (c *cycle[T]) report(scores []float64) {
	v, margin := c.violatorsAndMargin(scores)
	c.watch.Report(learner.FitStatus{Updates: c.updates, Epochs: c.epochs, Violators: v,
		Margin: margin, Bound: c.bound()})
}

// bound returns an upper bound of the margin, in the extended space: for every u of length 1, a.u =
// sum alpha_k y_k x_k.u >= margin(u) sum alpha_k, so that no margin exceeds |a| / sum alpha_k.
func (c *cycle[T]) bound() float64 {
	sum := c.sum
	switch {
	case c.start != nil:
		return math.Inf(1)
	case c.alpha != nil:
		sum = 0
		for _, v := range c.alpha {
			sum += v
		}
	case c.gram != nil: // a fixed rule
		sum = float64(float64(c.updates) * c.step)
	}
	if sum == 0 {
		return math.Inf(1)
	}
	return math.Sqrt(max(0, c.norm2)) / sum
}

// observe calls the observer between two refreshes, and leaves all as it is.
func (c *cycle[T]) observe() {
	s := c.s
	if c.gram == nil {
		s = make([]float64, len(c.s))
		for k := range s {
			s[k] = c.score(k) - c.shift
		}
	}
	c.report(s)
}

// rescore computes a from the dual coefficients (in score space), then scores and |a|^2 from a, all
// in twofold precision. Cost: O(non-zeros).
func (c *cycle[T]) rescore() {
	if !c.carry {
		clear(c.a)
		clear(c.aLow)
		copy(c.a, c.start)
		for k, v := range c.alpha {
			if v == 0 {
				continue
			}
			y := float64(c.b.Y[k])
			idx, val := c.b.Example(k)
			for n, x := range val {
				j := engine.FeatureOf(idx, n)
				c.a[j], c.aLow[j] = addProduct(c.a[j], c.aLow[j], y*v, float64(x))
				c.aLow[j] += float64(y * c.alphaLow[k] * float64(x))
			}
		}
		// terms that cancelled may have left more in the errors than in the sum
		for j, low := range c.aLow {
			c.a[j], c.aLow[j] = twoSum(c.a[j], low)
		}
	}
	for k := range c.s {
		if !c.ridge.counts(k) {
			c.s[k] = math.Inf(1)
			continue
		}
		var sum, low float64
		idx, val := c.b.Example(k)
		for n, x := range val {
			j := engine.FeatureOf(idx, n)
			sum, low = addProduct(sum, low, c.a[j], float64(x))
			low += float64(c.aLow[j] * float64(x))
		}
		y := float64(c.b.Y[k])
		sum, low = sum*y, low*y
		if c.ridge.delta2 > 0 {
			sum, low = addProduct(sum, low, c.ridge.of(k), c.alpha[k])
			low += float64(c.ridge.of(k) * c.alphaLow[k])
		}
		if c.shift != 0 {
			var e float64
			sum, e = twoSum(sum, -c.shift)
			low += e
		}
		c.s[k] = sum + low
	}
	var sum, low float64
	for j, v := range c.a {
		sum, low = addProduct(sum, low, v, v)
		low += float64(2 * v * c.aLow[j])
	}
	if c.ridge.delta2 > 0 {
		for k, v := range c.alpha {
			sum, low = addProduct(sum, low, float64(c.ridge.of(k)*v), v)
		}
	}
	c.norm2 = sum + low
}

// violatorsAndMargin counts the violators and takes the margin from the scores less shift.
func (c *cycle[T]) violatorsAndMargin(scores []float64) (violators int, margin float64) {
	for _, s := range scores {
		if s <= c.threshold-c.shift {
			violators++
		}
	}
	if c.norm2 == 0 {
		return violators, math.NaN()
	}
	return violators, (slices.Min(scores) + c.shift) / math.Sqrt(c.norm2)
}

// result is what the run did, judged by fresh scores.
func (c *cycle[T]) result(converged bool) learner.FitResult {
	c.rescore()
	r := learner.FitResult{Updates: c.updates - c.before.updates, Epochs: c.epochs -
		c.before.epochs,
		Presented: c.presented() - c.before.presented,
		Resumed:   c.resumed != nil, Converged: converged, Bound: c.bound(),
		ScoreSpace: c.gram != nil}
	r.Violators, r.Margin = c.violatorsAndMargin(c.s)
	if c.ridge.delta2 == 0 {
		return r
	}
	var ext float64 // |a extended|^2 - |a|^2
	for k, v := range c.alpha {
		ext += float64(c.ridge.of(k) * float64(v*v))
	}
	length := math.Sqrt(c.norm2 - ext)
	r.Gamma = r.Margin
	r.Gamma0 = r.Margin * math.Sqrt(c.norm2) / length
	var dp2 float64
	// D'_k = Delta e_k/|a|, e_k = Delta alpha_k the extended coordinate, is in s/|a|: without it
	// the rest is the example's margin.
	softMargin(&r, len(c.s), func(k int) (m, inverse float64) {
		dp := float64(c.ridge.of(k)*c.alpha[k]) / length
		if inverse = c.ridge.inverse(k); inverse > 0 {
			dp2 += float64(dp*dp) / inverse
		}
		return (c.s[k]+c.shift)/length - dp, inverse
	})
	r.DPrime = math.Sqrt(dp2)
	return r
}

// Weights returns f(|a|) a as the weights of a learner; features beyond those of the data keep
// theirs. |a| is without extended coordinates.
func (c *cycle[T]) Weights(scale func(length float64) float64) []T {
	var n2 float64
	for _, v := range c.a {
		n2 += float64(v * v)
	}
	f := scale(math.Sqrt(n2))
	w := make([]T, len(c.a))
	for j, v := range c.a {
		w[j] = T(f * (v + c.aLow[j]))
	}
	return w
}
