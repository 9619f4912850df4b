// Package eval measures learners: progressive validation while they learn, and error and margin of
// what they have learned.
//
// There is one way for an example: the learner scores it, the score is tallied, then the learner
// learns it. [Run] drives that over a stream or over a data set in memory; [Test], [Measure] and
// [Score] only look.
//
// Conventions: a mistake is y f(x) <= 0, so a score of 0 is a mistake whatever the label; the
// predicted label of a score of 0 is +1, so it is an error on negatives only.
package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/calibration"
	"github.com/halfspace-ml/halfspace/internal/drift"
	"github.com/halfspace-ml/halfspace/internal/waiting"
	"github.com/halfspace-ml/halfspace/learner"
)

// DefaultBlock is the number of examples that a learner is given at once: enough that the cost of a
// call is nothing beside theirs.
const DefaultBlock = 256

// Of a learner that is slow, blocks are shorter, so that progress, checkpoints and interrupts come
// in time: the first is of firstBlock examples, and what takes longer than longBlock is cut.
const (
	firstBlock = 4
	longBlock  = 100 * time.Millisecond
)

var (
	// ErrOnePass is returned when a stream, which passes once, is asked for epochs, for an order or
	// for convergence.
	ErrOnePass = errors.New("a stream can be read only once")
	// ErrOptions is returned for options that contradict each other.
	ErrOptions = errors.New("bad options")
)

// Run teaches l what src gives. When ctx ends it stops between two blocks and returns the context's
// cause; the learner and the Result then hold what was done so far, as they do on any error of src,
// l or Checkpoint.
//
// Cost beside the learner's: some ns an example; nothing is allocated after the first block.
func Run[T engine.Float](ctx context.Context, l learner.Learner[T], src Source[T],
	o Options) (Result, error) {
	mem, inMemory := src.(*Memory[T])
	if err := o.check(inMemory, inMemory && mem.gather != nil); err != nil {
		return Result{}, err
	}
	if o.Epochs == 0 {
		o.Epochs = 1
	}
	size := o.Block
	if o.Block == 0 {
		o.Block, size = DefaultBlock, firstBlock
	}
	if o.Timed != nil {
		o.Block, size = 1, 1
	}
	r := run[T]{l: l, o: o, size: size, rounds: make([]learner.Round, o.Block), nextLine: 1,
		started: time.Now()}
	r.marked, r.mark = r.started, r.started
	if o.Proba {
		if r.prober = learner.ProberOf(l); r.prober == nil {
			return Result{}, fmt.Errorf("eval: probabilities of a learner that has none: %w",
				ErrOptions)
		}
		r.status.Proba = NewMetrics(MetricsOptions{})
		r.res.Proba = NewMetrics(MetricsOptions{})
	}
	r.meters = newMeters(&o)
	if o.Calibrate != "" || o.Threshold != "" {
		r.fitter = calibration.New(o.Calibrate, 0)
	}
	if o.Drift != "" {
		r.drift = &driftWatcher{detector: drift.New(o.Drift), on: o.OnDrift}
	}
	if o.Delay > 0 {
		r.waits = new(queue[T])
	}
	if o.IDs != nil {
		r.ids = &byID[T]{list: waiting.New[*unlabelled[T]](o.IDs.Most, o.IDs.Bytes)}
		r.res.Late = new(Late)
	}
	if o.Continue != nil {
		if err := r.goOn(o.Continue, mem); err != nil {
			return Result{}, err
		}
	}
	end, err := r.trace.begin(l, o.Trace)
	if err != nil {
		return Result{}, err
	}
	defer end()
	if inMemory {
		return r.finish(r.passes(ctx, mem))
	}
	r.status.Epoch = 1
	if err = r.pass(ctx, src); err != nil {
		r.stands()
	}
	return r.finish(err)
}

// passes goes over the data as often as the options say.
func (r *run[T]) passes(ctx context.Context, mem *Memory[T]) error {
	o, n := &r.o, int64(mem.Len())
	if !o.UntilConverged {
		r.status.Total = n * int64(o.Epochs)
	}
	var first int64 // the first pass's number: those begun over data of this size are behind us
	if n > 0 {
		first = (o.Before + n - 1) / n // a pass that was cut counts as one
	}
	var order []int32
	if o.Shuffle {
		order = make([]int32, n)
	}
	mem.size = o.Block
	defer func() { mem.size = DefaultBlock; mem.Rewind(nil) }()
	if o.UntilConverged {
		r.keeps = &learner.Pass{Examples: n, Shuffle: o.Shuffle}
	}
	var from learner.Pass // where the first pass begins
	if p := o.Resume; p != nil && r.keeps != nil && p.Examples == n && p.Shuffle == o.Shuffle &&
		p.Data == r.dataOf(mem) {
		from, first, r.res.Resumed = *p, int64(p.Number), true
	}
	e, inPass := 0, int64(0)
	if s := o.Continue; s != nil {
		e, first, inPass = s.Epochs, int64(s.Pass)-int64(s.Epochs), s.InPass
		from.At, from.Updated = s.At, s.Updated
	}
	if r.offset = from.At; o.Continue != nil {
		r.offset = o.Continue.Begun
	}
	for ; o.UntilConverged || e < o.Epochs; e++ {
		if o.Shuffle {
			engine.Permute(order, o.Seed, uint64(first)+uint64(e))
		}
		mem.Rewind(order)
		mem.at = int(from.At)
		r.status.Epoch = e + 1
		before, updated := r.res.Updates, from.Updated
		r.begins(mem, uint64(first)+uint64(e), from, inPass)
		if err := r.pass(ctx, mem); err != nil {
			r.stands()
			return err
		}
		from, inPass, r.res.Pass = learner.Pass{}, 0, nil
		if err := r.settle(mem, r.res.Updates == before && !updated, o.UntilConverged ||
			e == o.Epochs-1); err != nil {
			return err
		}
		if r.enough() {
			break
		}
	}
	return nil
}

// enough reports whether no further pass is wanted, whatever Options.Epochs says.
func (r *run[T]) enough() bool {
	return r.o.UntilConverged && (r.res.Converged || r.idle == mostIdle) ||
		r.o.MaxUpdates > 0 && (r.res.Updates >= r.o.MaxUpdates ||
			r.o.UntilConverged && learner.Enough(r.res.Presented-r.res.Behind, r.o.MaxUpdates))
}

// dataOf returns the fingerprint of the examples that a Pass has.
func (r *run[T]) dataOf(mem *Memory[T]) uint64 {
	if r.keeps.Data == 0 {
		r.keeps.Data = learner.FingerprintOf(mem.Len(), mem.Blocks())
	}
	return r.keeps.Data
}

// begins is called before a pass, the first of which may begin anywhere: then some updates of this
// run may have been in it.
func (r *run[T]) begins(mem *Memory[T], number uint64, from learner.Pass, inPass int64) {
	r.mem, r.number, r.res.Pass = mem, number, nil
	waiting, apart := r.waiting()
	r.began, r.before = r.res.Presented+waiting+apart-from.At, r.res.Updates-inPass
	if r.keeps != nil {
		r.keeps.Number, r.keeps.Updated = number, from.Updated
	}
}

// stands sets Result.Pass and Result.Standing.
func (r *run[T]) stands() {
	r.res.Standing = r.standing()
	if r.keeps == nil {
		return
	}
	r.dataOf(r.mem)
	p := *r.keeps
	p.At = r.res.Presented - r.began
	p.Updated = p.Updated || r.res.Updates > r.before
	r.res.Pass = &p
}

// mostIdle is how many passes in a row may make no update while mistakes are left, as of members
// that see few examples or of an example without features.
const mostIdle = 1000

// settle says whether the learner has converged in the pass behind it, in which it made no update,
// or some.
func (r *run[T]) settle(mem *Memory[T], none, ask bool) error {
	r.res.Converged, r.res.Mistaken = none, nil
	if !none {
		r.idle = 0
		return nil
	}
	r.idle++
	checker := learner.MistakeCheckerOf(r.l)
	if checker == nil || !ask {
		return nil
	}
	mistaken := 0
	for b := range mem.Blocks() {
		n, err := checker.Mistakes(b)
		if err != nil {
			return err
		}
		mistaken += n
	}
	r.res.Mistaken, r.res.Converged = &mistaken, mistaken == 0
	r.res.Learn += r.lap()
	return nil
}

// run is the state of one Run.
type run[T engine.Float] struct {
	l      learner.Learner[T]
	o      Options
	trace  tracing[T]
	size   int // examples in the next block
	rounds []learner.Round
	prober learner.Prober[T] // nil if not asked
	idle   int               // passes without an update since the last one

	keeps         *learner.Pass // where the present pass began; nil without UntilConverged
	mem           *Memory[T]    // nil: a stream
	data          uint64        // fingerprint of mem; 0: not found yet
	began, before int64         // presented examples and updates before the pass
	number        uint64        // of the pass
	offset        int64         // examples of the first pass that are not of this run

	res Result

	status   Status // tallies for progress; its Since counts are those at the last line
	nextLine int64  // presented examples at which the next progress line is due
	started  time.Time
	marked   time.Time // last checkpoint
	kept     int64     // presented examples in it
	mark     time.Time // end of the last thing timed
	view     engine.Block[T]
	proba    []float64
	ones     []T // labels +1

	count  Count    // all passes
	marks  [2]Count // the same, after the last two powers of two of examples
	first  Count    // the same, after the first pass
	scales scales
	meters
	fitter *calibration.Fitter // nil if not asked
	sample []float64           // scores for it of the example in hand; empty: none
	drift  *driftWatcher       // nil without Options.Drift

	waits    *queue[T]     // nil without Options.Delay
	ids      *byID[T]      // nil without Options.IDs
	answered learner.Round // with one of them, what was predicted of the example in hand
}

// pass takes src to its end.
func (r *run[T]) pass(ctx context.Context, src Source[T]) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.await(src); err != nil {
			return err
		}
		b, err := src.Next()
		r.res.Read += r.lap()
		if err == io.EOF {
			if r.waits != nil {
				if err := r.learn(ctx, 0); err != nil {
					return err
				}
			}
			r.res.Epochs++
			return nil
		}
		switch {
		case err != nil:
		case r.waits != nil:
			err = r.delayed(ctx, b)
		case r.ids != nil:
			err = r.identified(ctx, b)
		default:
			err = r.blocks(ctx, b)
		}
		if err != nil {
			return err
		}
	}
}

// blocks learns what src gave at once, in blocks of the present size.
func (r *run[T]) blocks(ctx context.Context, b *engine.Block[T]) error {
	for lo := 0; lo < b.Len(); {
		if lo > 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hi := min(lo+r.size, b.Len())
		if r.prober != nil {
			hi = lo + 1
		}
		// a checkpoint falls on its example, so cut there
		if every := r.o.CheckpointEvery; every > 0 {
			hi = min(hi, lo+int(every-r.res.Presented%every))
		}
		if r.drift != nil { // a look falls on its example, too
			hi = min(hi, lo+int(drift.Look-r.drift.Losses%drift.Look))
		}
		sampled := false
		if r.classes() && b.Class != nil { // so do those that are scored
			in := r.res.Presented % calibration.SampleEach
			if sampled = in == 0; sampled {
				hi = lo + 1
			} else {
				hi = min(hi, lo+int(calibration.SampleEach-in))
			}
		}
		if r.o.Prepare != nil {
			r.o.Prepare(lo, hi)
		}
		r.view = b.Slice(lo, hi)
		if sampled {
			if err := r.scoreSample(&r.view); err != nil {
				return err
			}
		}
		if err := r.believe(&r.view); err != nil {
			return err
		}
		if err := r.block(&r.view); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// block learns and tallies one block.
func (r *run[T]) block(b *engine.Block[T]) error {
	rounds := r.rounds[:b.Len()]
	r.probability()
	var began time.Time
	if r.o.Timed != nil {
		began = time.Now()
	}
	err := learner.Learn(r.l, b, rounds)
	if errors.Is(err, learner.ErrDiverged) {
		from := r.res.Presented
		return fmt.Errorf("examples %d to %d: %w", from+1, from+int64(b.Len()), err)
	}
	if err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	if r.o.Timed != nil {
		r.o.Timed(time.Since(began))
	}
	if err := r.trace.learned(b); err != nil {
		return err
	}
	if len(r.sample) > 0 {
		r.fitter.More.Add(int(b.Class[0]), r.sample, r.res.Epochs == 0)
		r.sample = r.sample[:0]
	}
	mistakes := r.res.Mistakes
	if r.late() {
		mistakes += r.answer(b, &rounds[0])
	}
	first, before := r.res.Epochs == 0, r.count
	add(&r.scales, b)
	// cut where a line is due, so that its counts don't depend on blocks
	for lo := 0; lo < len(rounds); {
		due := min(r.nextLine, r.curve.next()) - r.count.Examples
		hi := min(len(rounds), lo+int(min(due, int64(len(rounds)))))
		if b.Class != nil { // a Round's score is of the example's own class
			r.tallyClasses(rounds[lo:hi])
		} else {
			r.tally(b.Y[lo:hi], rounds[lo:hi])
		}
		addOutcomes(&r.meters, b, lo, rounds[lo:hi], first, &before)
		lo = hi
		if r.count.Examples == r.curve.next() {
			r.curve.add(r.point())
		}
		if r.count.Examples == r.nextLine {
			r.nextLine *= 2
			r.marks[0], r.marks[1] = r.marks[1], r.count
			if r.o.Progress != nil {
				s := r.snapshot()
				s.Recent = r.recent()
				r.o.Progress.Line(s)
				r.status.SinceExamples, r.status.SinceErrors = r.count.Examples, r.count.Errors
			}
		}
	}
	if r.late() {
		r.res.Mistakes = mistakes
	}
	if r.drift != nil {
		if err := watch(r.drift, b, rounds, r.res.Presented); err != nil {
			return err
		}
	}
	if first {
		r.first = r.count
		r.res.Examples, r.res.Errors = r.first.Examples, r.first.Errors
	}
	took := r.lap()
	r.res.Learn += took
	// A factor of 4 between the two marks keeps the size from swinging: what was doubled takes
	// about half of longBlock at most.
	if took > longBlock {
		r.size = max(1, b.Len()/2)
	} else if took < longBlock/4 {
		r.size = min(2*r.size, r.o.Block)
	}
	if r.o.Progress != nil {
		r.o.Progress.Step(r.snapshot())
	}
	return r.checkpoint()
}

// tally counts rounds.
func (r *run[T]) tally(labels []T, rounds []learner.Round) {
	if r.fitter != nil {
		for i, rd := range rounds {
			r.fitter.Two.Add(float64(labels[i]), rd.Score, r.res.Epochs == 0)
		}
	}
	c, updates, mistakes := r.count, int64(0), int64(0)
	for i, rd := range rounds {
		y := float64(labels[i])
		c.Add(y, rd.Score)
		updates += int64(rd.Updates)
		if !(y*rd.Score > 0) { // a NaN is a mistake too
			mistakes++
		}
	}
	r.count = c
	r.res.Presented = c.Examples
	r.res.Updates += updates
	r.res.Mistakes += mistakes
}

// tallyClasses is tally of examples of classes.
func (r *run[T]) tallyClasses(rounds []learner.Round) {
	for len(r.ones) < len(rounds) {
		r.ones = append(r.ones, 1)
	}
	r.tally(r.ones[:len(rounds)], rounds)
}

// believe asks for the probability of the one example of b, where they are asked for.
func (r *run[T]) believe(b *engine.Block[T]) error {
	if r.prober == nil {
		return nil
	}
	r.proba = slices.Grow(r.proba[:0], learner.OutputsOf(r.l))[:learner.OutputsOf(r.l)]
	if err := r.prober.Proba(b, r.proba); err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	r.believed = believedOf(b, r.proba)
	return nil
}

// believedOf is what is believed of the one example of b, whose classes have those probabilities.
func believedOf[T engine.Float](b *engine.Block[T], proba []float64) (o Outcome) {
	if b.Class != nil {
		o = OutcomeOf(int(b.Class[0]), -1)
		o.BelieveEach(proba)
		return o
	}
	o = Outcome2(float64(b.Y[0]), 0)
	o.Believe(proba[0])
	return o
}

// probability tallies it.
func (r *run[T]) probability() {
	if r.prober == nil {
		return
	}
	r.status.Proba.Add(&r.believed)
	if r.res.Epochs == 0 {
		r.res.Proba.Add(&r.believed)
	}
}

// checkpoint saves if a mark was reached: by examples exactly there, as pass cuts blocks at marks;
// by time at the first end of a block after it.
func (r *run[T]) checkpoint() error {
	if r.o.Checkpoint == nil {
		return nil
	}
	every, after := r.o.CheckpointEvery, r.o.CheckpointAfter
	if !(every > 0 && r.res.Presented%every == 0 || after > 0 && r.mark.Sub(r.marked) >= after) {
		return nil
	}
	return r.save()
}

// save calls Options.Checkpoint and begins the time to the next mark anew.
func (r *run[T]) save() error {
	r.stands()
	r.calibrate()
	if err := r.o.Checkpoint(r.res); err != nil {
		return fmt.Errorf("checkpoint after %d examples: %w", r.res.Presented, err)
	}
	r.mark = time.Now() // writing is neither reading nor learning
	r.marked = r.mark
	r.kept = r.res.Presented
	return nil
}

// await lets a checkpoint come in its time while src gives nothing.
func (r *run[T]) await(src Source[T]) error {
	after := r.o.CheckpointAfter
	if r.o.Checkpoint == nil || after <= 0 || r.res.Presented == r.kept ||
		Wait(src, after-time.Since(r.marked)) {
		return nil
	}
	r.res.Read += r.lap()
	return r.save()
}

// lap returns the time since the last lap, and begins the next: each moment of a run is counted
// once, as reading, learning or, in save, as neither.
func (r *run[T]) lap() time.Duration {
	now := time.Now()
	d := now.Sub(r.mark)
	r.mark = now
	return d
}

// snapshot is the Status now. Since is what came after the last Line: status has its counts.
func (r *run[T]) snapshot() Status {
	s := r.status
	s.Examples, s.Errors, s.Updates, s.Elapsed = r.count.Examples, r.count.Errors, r.res.Updates,
		time.Since(r.started)
	s.Metrics = r.whole
	s.SinceErrors, s.SinceExamples = s.Errors-s.SinceErrors, s.Examples-s.SinceExamples
	return s
}

// scoreSample scores the one example of b for the calibration of classes.
func (r *run[T]) scoreSample(b *engine.Block[T]) error {
	k := learner.OutputsOf(r.l)
	r.sample = slices.Grow(r.sample[:0], k)[:k]
	if err := r.l.Score(b, r.sample); err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	return nil
}

// classes reports whether scores of more than two classes are calibrated.
func (r *run[T]) classes() bool { return r.o.Calibrate != "" }

// calibrate sets Result.Calibration and Result.Threshold.
func (r *run[T]) calibrate() {
	if r.fitter == nil {
		return
	}
	target, _ := calibration.ParseTarget(r.o.Threshold) // check has looked at it
	if t, ok := r.fitter.Two.Threshold(target); ok {
		r.res.Threshold = &t
	}
	if c, ok := r.fitter.Fit(); ok && r.o.Calibrate != "" {
		r.res.Calibration = &c
	}
}

// finish ends the progress and says what is suspicious: the order of the labels in the first pass,
// the scales of features, and the scores of the later half of the run, since the first ones, of a
// learner that knows nothing yet, are wrong as a rule. marks[0] is at a quarter to a half of the
// run.
func (r *run[T]) finish(err error) (Result, error) {
	r.calibrate()
	if r.res.Metrics = r.whole; r.whole == nil {
		r.res.Metrics = r.first.Metrics()
	} else if r.res.Behind > 0 && r.whole.Examples() == 0 {
		r.res.Metrics = nil // the first pass was over
	}
	if r.res.Recent = r.recent(); r.o.Progress != nil {
		s := r.snapshot()
		s.Recent = r.res.Recent
		r.o.Progress.End(s)
	}
	if d := r.drift; d != nil {
		r.res.Drifts, r.res.Drifted = d.Drifts, d.Drifted
	}
	if r.curve.Step > 0 {
		r.res.Curve = r.curve.all(r.point())
	}
	r.res.NotFinite = r.count.NotFinite
	r.res.Waiting, _ = r.waiting()
	if err == nil {
		r.res.Standing = nil
	}
	runs, scales := r.first.Runs(), r.scales.warnings()
	late := r.count.since(r.marks[0])
	switch {
	case r.count.NotFinite > 0:
		late = r.count
	case len(runs) > 0:
		late = Count{} // of a run of one class the error says nothing
	}
	if len(runs) > 0 && len(scales) > 0 && scales[0].Code == Uncentred {
		scales = nil // nor do the first examples of where the others lie
	}
	r.res.Warnings = slices.Concat(runs, scales, late.Warnings())
	return r.res, err
}

// wrong reports whether the label predicted by score f is not y, which 0 never is. A NaN predicts
// nothing and is wrong.
func wrong(y, f float64) bool {
	if f >= 0 {
		return y <= 0
	}
	return !(y < 0 && f < 0)
}
