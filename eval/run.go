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
	"iter"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
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

// Source gives examples in order, some at a time. Next returns io.EOF after the last one; a block
// is good until the next call. Streams of package dataset are sources, and so is [Memory].
type Source[T engine.Float] interface {
	Next() (*engine.Block[T], error)
}

// Waiter is a Source that may have to wait for examples. Wait waits until Next would return at
// once, or for d, and reports whether it would. The block that Next returned before is not to be
// used any more.
type Waiter interface {
	Wait(d time.Duration) bool
}

// Wait is src's Wait; true for a source that has none.
func Wait[T engine.Float](src Source[T], d time.Duration) bool {
	w, ok := src.(Waiter)
	return !ok || w.Wait(d)
}

// Memory is a data set in memory: a Source that can be read again, in any order. Not safe
// for concurrent use.
type Memory[T engine.Float] struct {
	all    *engine.Block[T]    // nil until asked for, if there are
	bytes  *engine.ByteRows[T] // else nil
	gather func(dst *engine.Block[T], order []int32)
	order  []int32 // of the present pass; nil is the order of the data
	at     int     // examples given in this pass
	size   int
	view   engine.Block[T]
	buf    engine.Block[T]
}

// NewMemory makes a source of the block. gather copies examples into a buffer block in the order
// given; it is needed for shuffled passes only.
func NewMemory[T engine.Float](b *engine.Block[T], gather func(dst *engine.Block[T],
	order []int32)) *Memory[T] {
	return &Memory[T]{all: b, gather: gather, size: DefaultBlock}
}

// NewBytes makes a source of examples that are kept as bytes. It widens them block by block, a few
// at a time, so that what is learned comes from the cache. Shuffled passes need nothing more.
func NewBytes[T engine.Float](rows *engine.ByteRows[T]) *Memory[T] {
	return &Memory[T]{bytes: rows, gather: rows.Gather, size: DefaultBlock}
}

// Len returns the number of examples.
func (m *Memory[T]) Len() int {
	if m.bytes != nil {
		return m.bytes.Len()
	}
	return m.all.Len()
}

// All returns the whole block. Of examples that are kept as bytes it makes floats, once, which take
// four or eight times as much memory; see Blocks.
func (m *Memory[T]) All() *engine.Block[T] {
	if m.all == nil {
		m.all = new(engine.Block[T])
		m.bytes.Block(m.all, 0, m.bytes.Len())
	}
	return m.all
}

// Blocks are the examples in their order, in blocks that are good until the next one; of bytes a
// few at a time, else one of all. It doesn't disturb the present pass.
func (m *Memory[T]) Blocks() iter.Seq[*engine.Block[T]] {
	return func(yield func(*engine.Block[T]) bool) {
		if m.bytes == nil {
			yield(m.all)
			return
		}
		var b engine.Block[T]
		for lo, n := 0, m.Len(); lo < n; {
			hi := min(lo+engine.DenseRun[T](m.bytes.Dim()), n)
			if m.bytes.Block(&b, lo, hi); !yield(&b) {
				return
			}
			lo = hi
		}
	}
}

// Bytes returns the memory that the examples take, in bytes, if they are kept as bytes; else 0.
func (m *Memory[T]) Bytes() int64 {
	if m.bytes == nil {
		return 0
	}
	return m.bytes.Bytes()
}

// Rewind starts a pass; a nil order is the order of the data.
func (m *Memory[T]) Rewind(order []int32) { m.order, m.at = order, 0 }

// Next returns the next examples of the pass, or io.EOF.
func (m *Memory[T]) Next() (*engine.Block[T], error) {
	size := m.size
	if m.bytes != nil {
		size = min(size, engine.DenseRun[T](m.bytes.Dim()))
	}
	lo, hi := m.at, min(m.at+size, m.Len())
	if lo >= hi {
		return nil, io.EOF
	}
	m.at = hi
	if m.order == nil {
		if m.bytes != nil {
			m.bytes.Block(&m.buf, lo, hi)
			return &m.buf, nil
		}
		m.view = m.all.Slice(lo, hi)
		return &m.view, nil
	}
	m.gather(&m.buf, m.order[lo:hi])
	return &m.buf, nil
}

// Options say how Run goes about it. The zero value is one pass in the order of the data. Block
// never changes a result.
type Options struct {
	Epochs int // passes; 0 is 1
	// pass until converged (see Result), or MaxUpdates is reached; excludes Epochs
	UntilConverged bool
	// of this run; looked at after each pass, so that the result does not depend on blocks; 0 is no
	// limit, and with another one a run until converged also ends by learner.Enough
	MaxUpdates int64
	// a fresh order for every pass, drawn from Seed and the number of the pass
	Shuffle bool
	Seed    uint64 // of the orders
	// go on here, where a run was stopped, if it was over these examples with the same Shuffle;
	// nil: nowhere
	Resume *learner.Pass
	// go on where a run with the same options over the same examples stood, and count on from
	// what it had counted; a Source that is no Memory gives the examples behind that place. nil:
	// begin. Excludes Resume; ErrStanding if the examples are others, ErrTallies if no run has been
	// there
	Continue *Standing
	// how many features and classes an example in Continue's Tallies may have at most: more are an
	// ErrTallies; 0 is any number
	Features, Classes int
	// examples the learner was presented before this run: passes are counted on from there
	Before int64
	// examples given to the learner at once, at most; 0 is DefaultBlock, or fewer if they take long
	Block int
	// ask for the probability of each example before it is learned, which makes blocks of one;
	// ErrOptions if the learner has none
	Proba bool
	// find the probabilities that scores stand for, by Platt or Temperature: Result.Calibration.
	// Of more than two classes it scores each of SampleEach examples before it is learned. "": no
	Calibrate string
	// find the score from which on to predict +1, of two classes: Result.Threshold
	Target Target
	// tally Metrics.AUC too, of two classes
	AUC bool
	// of the last so many outcomes, or of all with weights that fade by this factor, over all
	// passes: Result.Recent. They exclude each other; 0 is neither
	Window int
	Fading float64
	// the label of an example comes when so many more have been predicted, each by what had been
	// learned by then ("delayed progressive validation"); those that wait are kept. One pass only.
	// The learner learns what it would without; the labels left at the end come then. Where the run
	// is stopped, those that wait are in Result.Standing, with what was predicted of them
	Delay int
	// labels come in rows of their own, by ids, of a Source that is no Memory; excludes Delay. What
	// waits is in Result.Standing as with Delay; at the end it is left out. nil: they don't
	IDs *IDs
	// keep a learning curve of at most so many points: Result.Curve. 0 keeps none
	Curve int

	// Prepare, if there, is called with examples lo to hi of the block that the source gave last,
	// once for each, in order and before any is scored; it may change their values. It is for what
	// depends on all examples so far. With IDs bare rows are left out. nil: nothing is left to
	// prepare.
	Prepare func(lo, hi int)

	// Drift, if there, is given the loss of each example, 1 where the predicted label is wrong, as
	// it was before the example was learned. It is used by this run alone. OnDrift, if there, is
	// called where it finds drift, before the next example is learned; an error ends the run.
	Drift   DriftDetector
	OnDrift func(Drift) error

	Progress Progress // nil shows nothing

	// Trace, if there, is told of the examples that were learned. nil: nothing is.
	Trace *Trace

	// Timed, if there, gets the time of learning each example, which then are learned one by one,
	// whatever Block.
	Timed func(time.Duration)

	// called between blocks, at the marks below; an error ends the run
	Checkpoint      func(Result) error
	CheckpointEvery int64 // examples presented
	// since the last one, also while a Source that is a Waiter gives nothing
	CheckpointAfter time.Duration
}

// Result is what a run counted.
type Result struct {
	Examples  int64 // presented in the first pass
	Presented int64 // in all passes
	Behind    int64 // of Presented, those before Options.Continue
	Epochs    int   // passes completed
	Updates   int64 // sum of Round.Updates
	Mistakes  int64 // rounds with y f(x) <= 0 when they were learned, all passes
	Errors    int64 // rounds with a wrong predicted label, first pass only
	// with Options.Proba: of the first pass, each before its label was shown
	Proba *Probabilities
	// with Options.Calibrate: by the first pass, in units of the scores at the end; nil where that
	// says nothing, see Calibrator
	Calibration *learner.Calibration
	// with Options.Target, in the same way; nil where no threshold reaches it
	Threshold *learner.Threshold
	// of the first pass: classes, what Options.Proba and AUC add, with the examples' weights; nil
	// where scores were not finite and nothing more than their labels was tallied, and after Fit
	Metrics *Metrics
	Recent  *Metrics // at the end, with Options.Window or Fading
	// with Options.Curve: at equal distances of examples, and at the end
	Curve []LearningPoint
	// with Options.Drift: where it was found, the first 1000; Drifted is how often in all
	Drifts  []Drift
	Drifted int64
	// the last pass was complete and made no update, and Mistaken is 0 or nil
	Converged bool
	// after such a pass of a learner.MistakeChecker: examples that are mistakes still; else nil
	Mistaken *int
	// with Options.UntilConverged: where it stands, while it is not at an end; nil after it
	Pass *learner.Pass
	// where it stands, at a checkpoint and where it was stopped; nil at its end
	Standing *Standing
	Resumed  bool               // went on at Resume or Continue, or a Fit where it was cut
	Fit      *learner.FitResult // of Fit; nil after Run
	Read     time.Duration      // spent waiting for the source
	Learn    time.Duration      // spent learning, tallies included
	// with Options.Delay, where the run was stopped, or with IDs: examples that were predicted,
	// whose labels had not come; they are neither learned nor counted
	Waiting   int64
	Late      *Late // with Options.IDs; else nil
	NotFinite int64 // rounds whose score was NaN or infinite, all passes
	// at the end: of the order of the first pass, the features, and the scores of the later half of
	// all passes
	Warnings []Warning
}

// ProgressiveError returns the share of wrong predictions in the first pass, each made before its
// label was shown; 0 if nothing was presented.
func (r Result) ProgressiveError() float64 {
	if r.Examples == 0 {
		return 0
	}
	return float64(r.Errors) / float64(r.Examples)
}

// NsPerExample returns the nanoseconds of learning for one example that this run presented.
func (r Result) NsPerExample() float64 {
	if r.Presented == r.Behind {
		return 0
	}
	return float64(r.Learn.Nanoseconds()) / float64(r.Presented-r.Behind)
}

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
		r.status.Proba, r.res.Proba = &Probabilities{}, &Probabilities{}
	}
	r.meters = newMeters(&o)
	if o.Calibrate != "" || o.Target != (Target{}) {
		r.calibrator = &Calibrator{Temperature: o.Calibrate == Temperature}
	}
	if o.Calibrate != "" {
		r.classes = &ClassCalibrator{Temperature: o.Calibrate == Temperature}
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

// check refuses options that exclude each other, and those that a source lacks what is needed for.
func (o *Options) check(inMemory, gathers bool) error {
	switch {
	case o.UntilConverged && o.Epochs != 0:
		return fmt.Errorf("eval: %d epochs and until converged: %w", o.Epochs, ErrOptions)
	case o.Continue != nil && o.Resume != nil:
		return fmt.Errorf("eval: two places to go on at: %w", ErrOptions)
	case o.Epochs < 0 || o.Block < 0 || o.Before < 0 || o.MaxUpdates < 0 || o.CheckpointEvery < 0:
		return fmt.Errorf("eval: a negative count: %w", ErrOptions)
	case !inMemory && (o.Epochs > 1 || o.UntilConverged || o.Shuffle):
		return fmt.Errorf("eval: %w", ErrOnePass)
	case o.Shuffle && !gathers:
		return fmt.Errorf("eval: shuffling needs a gather function: %w", ErrOptions)
	}
	if o.IDs != nil {
		if err := o.checkIDs(inMemory); err != nil {
			return err
		}
	}
	return o.checkMeters()
}

// checkMeters is check of what is tallied.
func (o *Options) checkMeters() error {
	switch {
	case o.Window < 0 || o.Curve < 0 || !(o.Fading >= 0 && o.Fading < 1):
		return fmt.Errorf("eval: window %d, fading %v, curve %d: %w", o.Window, o.Fading, o.Curve,
			ErrOptions)
	case o.Window > 0 && o.Fading > 0:
		return fmt.Errorf("eval: a window and fading: %w", ErrOptions)
	case o.Delay < 0 || o.Delay > 0 && (o.Epochs > 1 || o.UntilConverged):
		return fmt.Errorf("eval: a delay of %d, which is for one pass: %w", o.Delay, ErrOptions)
	}
	return nil
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
	calibrator *Calibrator      // nil if not asked
	classes    *ClassCalibrator // the same, of more than two classes
	sample     []float64        // scores for it of the example in hand; empty: none

	waits    *queue[T] // nil without Options.Delay
	ids      *byID[T]  // nil without Options.IDs
	answered asked     // with one of them, what was predicted of the example in hand

	losses  int64 // given to Options.Drift
	stretch Count // since the last drift
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
		if r.o.Drift != nil { // a look falls on its example, too
			hi = min(hi, lo+int(DriftLook-r.losses%DriftLook))
		}
		if r.classes != nil && b.Class != nil { // so do those that are scored
			if in := r.res.Presented % SampleEach; in == 0 {
				hi = lo + 1
			} else {
				hi = min(hi, lo+int(SampleEach-in))
			}
		}
		if r.o.Prepare != nil {
			r.o.Prepare(lo, hi)
		}
		r.view = b.Slice(lo, hi)
		if r.classes != nil && b.Class != nil && r.res.Presented%SampleEach == 0 {
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
	if r.late() {
		r.believed, r.sample = r.answered.believed, append(r.sample[:0], r.answered.sample...)
	}
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
		r.classes.Add(int(b.Class[0]), r.sample, r.res.Epochs == 0)
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
	if err := r.watch(b, rounds); err != nil {
		return err
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
	if r.calibrator != nil {
		for i, rd := range rounds {
			r.calibrator.Add(float64(labels[i]), rd.Score, r.res.Epochs == 0)
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
	r.status.Proba.add(&r.believed)
	if r.res.Epochs == 0 {
		*r.res.Proba = *r.status.Proba
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

// calibrate sets Result.Calibration and Result.Threshold.
func (r *run[T]) calibrate() {
	if r.calibrator == nil {
		return
	}
	if t, ok := r.calibrator.Threshold(r.o.Target); ok {
		r.res.Threshold = &t
	}
	if r.classes == nil {
		return
	}
	c, ok := r.calibrator.Fit()
	if r.classes.some() {
		c, ok = r.classes.Fit()
	}
	if ok {
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
	if r.curve.step > 0 {
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
