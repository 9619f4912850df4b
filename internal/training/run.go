package training

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Env is what a run is given besides its Options. The zero value will do.
type Env struct {
	Pool     *engine.Pool // workers; nil: Options.Threads of them, for this run alone
	Observer Observer     // may be nil
	Machine  Machine

	// Logger gets a record of what an Observer hears: the plan, what was read and written, the
	// counts at the end at level Info; skipped rows (BadRowsLogged of them), odd data, drift and
	// warnings at Warn; counts in between at Debug. Its Handler is called by the goroutine of Run,
	// which waits for it. nil: nothing is logged.
	Logger *slog.Logger

	// Open opens what stands for Options.Files, which then has one name, of the source: nothing
	// more is done with it than to write it into the model. With Options.Resume it begins at the
	// place that the source gave when the model was written; "" is the beginning. nil: there are
	// files.
	Open func(ctx context.Context, at string) (Source, error)
	// OpenFile opens Options.Files and Test by their names, for what no file system has: see
	// dataset.Options.OpenFile. nil: as os.Open does.
	OpenFile func(name string) (dataset.File, error)
	// Trace, if there, is told of the examples that were learned: see eval.Trace.
	Trace *eval.Trace
	// Join is the parts of an ensemble that the run makes one, of the examples that these have
	// learned: it learns nothing, and ends in what a run of the whole would have. An error of the
	// learner wraps learner.ErrParts or learner.ErrTrace, and nothing is saved then, nor where the
	// run is stopped. nil: the run learns.
	Join *Join

	// Repeats says that Open gives the same examples whenever it is called. Of a source that
	// doesn't, a run is one pass in the order of what comes.
	Repeats bool

	few *fewness // of the files, where several jobs have the same; nil: this job's alone
}

// Workers returns Pool, or one with that number of threads, 0 standing for one a processor, which
// done closes.
func (e *Env) Workers(threads int) (pool *engine.Pool, done func()) {
	if e.Pool != nil {
		return e.Pool, func() {}
	}
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	pool = engine.NewPool(threads)
	return pool, pool.Close
}

// Job is a run that can begin: all that can be checked before data are read was found good.
type Job struct {
	o        Options
	env      Env
	observer Observer
	pool     *engine.Pool

	name      string // of the learner
	entry     learner.Entry
	config    learner.Config
	traits    learner.Traits // of config
	precision string
	seed      uint64
	before    *model.Model // that is gone on from; nil: none
	from      string       // its Sum, with Options.Rows
	wasCut    bool         // the run that wrote it was stopped before it had converged
	data      dataset.Options
	auto      []string      // fields that the examples' format set, which they were left to
	few       bool          // passes were left to the examples, which are few
	every     int64         // checkpoint after so many examples; 0: not by examples
	after     time.Duration // and after so long; 0: not by time

	at *resumed // where the run stood that is gone on with; nil: it begins
	// of the first n examples of a stream, and behind them; see dataset.Stream
	sum   func(n int64) uint64
	place func(n int64) (at string, rows int64)
	// of the first n examples of a stream, with balanced classes; see classCounts
	counted func(n int64) []uint64
	passed  uint64 // examples that the posterior had left out before the run began

	started time.Time // of New
	split   *Split    // with MemBudget, when it is made
	saved   *Saved    // the last model that was written
	large   bool      // so much memory is planned that what isn't needed any more must go early
}

// Result is what came of a run.
type Result struct {
	Plan    *Plan
	Counts  eval.Result
	Info    dataset.Info // what was found in the data
	Stopped bool         // the context ended it

	Bias     bool // a feature was appended
	Unscaled bool // a feature was found far larger than the others

	Bytes     int64                    // that the learner's state holds
	Support   *int64                   // examples kept, or of a dual coefficient; nil: none
	Gap       *float64                 // relative, that Fit reached; nil if that isn't known
	Posterior *learner.PosteriorReport // nil for learners without one
	Margin    *float64                 // least over the training set, where it was measured
	Margins   *Margins                 // with Options.MarginReport, where there are any
	Test      *Tested                  // nil without Options.Test
	Memory    *Split                   // nil without Options.MemBudget
	Saved     *Saved                   // the model that was written last; nil if none was
	Read      time.Duration            // spent on reading
	Total     time.Duration            // from New's end to the last measurement

	capture func() (*model.Model, error)
}

// Model returns a model of what was learned, whether or not it was written to a file. Errors are
// those of model.Capture. It is to be called before anything else is done with the learner.
func (r *Result) Model() (*model.Model, error) { return r.capture() }

// New checks o, and loads the model of o.From. Where o.Epochs is left to files of columns it counts
// their rows, up to FewRows. It returns an Error; an error of the learner's settings, which wraps
// learner.ErrConfig; or one of package model.
func New(o Options, env Env) (*Job, error) {
	j := &Job{o: o, env: env, observer: env.observer(), started: time.Now(), precision: o.Precision,
		seed: DefaultSeed, name: o.Learner}
	if o.Resume {
		if err := j.resume(); err != nil {
			return nil, err
		}
		o = j.o
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if j.precision == "" {
		j.precision = "f32"
	}
	if o.Seed != nil {
		j.seed = *o.Seed
	}
	if o.CheckpointEvery != "" {
		j.every, j.after, _ = checkpointMarks(o.CheckpointEvery) // validate has seen to it
	}
	j.reads()
	if err := j.begin(); err != nil {
		return nil, err
	}
	if err := o.suits(j.name, j.config); err != nil {
		return nil, err
	}
	j.settlePasses()
	if j.traits.Classes && j.trained() == nil && j.data.Classes == nil {
		j.data.Classes = []string{} // of two labels, too
	}
	if j.at != nil && j.at.standing.Fit != j.Whole() {
		return nil, wrapped(ErrModel, fmt.Errorf("%s: position: its counts are not those of its "+
			"options: %w; restore a copy, or train anew", o.Model, model.ErrDamaged))
	}
	if !j.InMemory() {
		j.data.Sums = o.Model != "" && !o.PredictOnly || o.Resume
		if o.Resume && j.trained() == nil && j.data.Base == nil {
			j.data.Base = &j.before.Prep.IndexBase // found in what had come by then
		}
	}
	return j, j.readAgain()
}

// reads says how the examples are read.
func (j *Job) reads() {
	o := &j.o
	j.data = o.Data.Reading()
	j.data.OpenFile = j.env.OpenFile
	j.data.Rows, _ = dataset.ParseRowShard(o.Rows) // validate has seen to it
	j.data.AnyClasses = len(o.Classes) == 0 && o.Positive == ""
	j.data.Workers, j.data.OnBad, j.data.OnWarn = o.Threads, j.observer.BadRow, j.observer.Odd
	if o.IDCol != "" {
		j.data.IDCol, j.data.LabelsLater = o.IDCol, true
	}
	if o.Rho > 0 {
		j.data.Bias, j.data.BiasValue = "append", o.Rho
	}
	if o.Rho > 0 || o.Resume { // in units of the features; settled when the run began
		j.data = j.data.For("")
	}
}

// begin finds the learner and its settings, or takes them from the model that is gone on from.
func (j *Job) begin() (err error) {
	o := &j.o
	if o.From == "" && !o.Resume {
		var c learner.Config
		if j.entry, c, err = o.Entry(); err != nil {
			return err
		}
		j.set(c)
		return j.takeShard()
	}
	if err := o.roomForModel(&j.env.Machine); err != nil {
		return err
	}
	if !o.Resume {
		if j.before, err = j.load(o.From); err != nil {
			return err
		}
	}
	m := j.before
	if err := m.Learnable(); err != nil {
		return wrapped(ErrModel, err)
	}
	if j.from, err = j.begunFrom(m); err != nil {
		return err
	}
	e, c, err := o.keeps(m)
	if err != nil {
		return err
	}
	if j.trained() != nil {
		if err := o.sameClasses(&m.Prep); err != nil {
			return err
		}
		AsTrained(&j.data, m)
		if j.data.Scaled != nil && !(o.Resume && j.InMemory()) { // else it has seen them all
			j.data.Scaling = j.data.Scaled.Method // which goes on with what comes
		}
	}
	j.data.FixedNames = false
	j.entry, j.name, j.precision, j.seed = e, m.Learner, m.Precision, m.Seed
	j.set(c)
	return nil
}

// load reads a model to go on from; an Error of kind ErrModel if there is none.
func (j *Job) load(path string) (*model.Model, error) {
	m, err := Load(path, j.env.Machine)
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		err = wrapped(ErrModel, err)
	}
	return m, err
}

// set makes c the learner's settings.
func (j *Job) set(c learner.Config) { j.config, j.traits = c, c.Traits() }

// Whole reports whether the run is one of Fit.
func (j *Job) Whole() bool { return j.o.whole(j.traits) }

// readAgain refuses measurements for which examples that come but once would be needed twice.
func (j *Job) readAgain() error {
	switch {
	case j.env.Open != nil && (len(j.o.Files) != 1 ||
		!j.env.Repeats && (j.InMemory() || j.o.MarginReport)):
		return badOption("One epoch in the order of the data, without {shuffle}, "+
			"{until_converged}, {normalize} max, settings relative to the data and "+
			"{margin_report}.",
			"{files}: a source passes once, and has one name")
	case j.env.Open != nil && j.o.Rows != "":
		return badOption("Put the examples into files.", "{rows}: a source is not cut")
	case j.o.IDCol != "" && (j.InMemory() || j.Whole()):
		return badOption("Without {normalize} max, and settings relative to the data.",
			"{id_col} is for a stream, and these settings need all examples in memory")
	case j.InMemory():
	case j.o.MarginSVM:
		return badOption("Add {until_converged}, or several epochs.",
			"{margin_svm} needs the examples in memory")
	case j.o.MarginReport && slices.Contains(j.o.Files, "-"):
		return badOption("Put the examples into a file.",
			"{margin_report}: examples that come from stdin can't be read again")
	}
	return nil
}

// Learner returns the name of the learner.
func (j *Job) Learner() string { return j.name }

// Config returns its settings, which may be relative to the data until these are read.
func (j *Job) Config() learner.Config { return j.config }

// Options are those of the run: with Resume, of the run that is gone on with.
func (j *Job) Options() Options { return j.o }

// NeedsWhole reports whether the learner must see the data set as a whole: to learn at all, or for
// the soft margin that was asked for. Then it has nothing to save before its end.
func (j *Job) NeedsWhole() bool { return j.o.needsWhole(j.traits) && !j.traits.Cut }

// GoesOnAlone reports whether the run can go on where it was cut, by Options.Resume, but no other
// can begin with what it has learned, by Options.From.
func (j *Job) GoesOnAlone() bool { return j.o.whole(j.traits) && j.traits.Anew }

// Seed returns that of all draws.
func (j *Job) Seed() uint64 { return j.seed }

// Behind returns how many examples the run that is gone on with had learned when its model was
// saved; 0 without Options.Resume.
func (j *Job) Behind() int64 {
	if j.at == nil {
		return 0
	}
	return j.at.standing.Presented()
}

// Precision returns that of weights and examples: f32 or f64.
func (j *Job) Precision() string { return j.precision }

// Run carries out the run that o describes; see [New] and [Job.Run].
func Run(ctx context.Context, o Options, env Env) (*Result, error) {
	j, err := New(o, env)
	if err != nil {
		return nil, err
	}
	return j.Run(ctx)
}

// Run reads, learns, saves and measures. When ctx ends it saves, and returns ErrStopped: after the
// block that is being learned, which takes a tenth of a second, or one example that takes longer.
// What a pipe has brought, which can't be read again, it learns before that, for up to two seconds.
//
// The Result is there if learning came to its end or was stopped, and it may be with these errors:
// ErrStopped, ErrNotConverged, and of kind ErrDiverged (nothing was saved) or ErrUseless. It is nil
// with all others, of which those of the data are package dataset's and those of the learner
// package learner's.
//
// Samples of profiles (runtime/pprof) have the labels learner, its name, and stage: read, learn or
// measure. Those of a stream's readers are read while others learn. Where work is spread over the
// workers they also have part, its number: of members, which tile. Workers of Env.Pool have none.
func (j *Job) Run(ctx context.Context) (*Result, error) {
	var (
		res *Result
		err error
	)
	Labelled(ctx, "learner", j.name, func(ctx context.Context) {
		var done func()
		j.pool, done = j.env.Workers(j.o.Threads)
		defer done()
		res, err = j.all(ctx)
		if errors.Is(err, dataset.ErrThird) && j.Again() {
			res, err = j.all(ctx)
		}
	})
	return res, err
}

// all is Run in the precision that was asked for.
func (j *Job) all(ctx context.Context) (*Result, error) {
	if j.precision == "f64" {
		return (&run[float64]{j: j}).all(ctx)
	}
	return (&run[float32]{j: j}).all(ctx)
}

// Again prepares the run for a second beginning, after a stream's first rows had two labels and
// later ones have more: with classes, where all files can be read again.
func (j *Job) Again() bool {
	again := j.env.Repeats
	if j.env.Open == nil {
		again = j.regular()
	}
	if !again || j.trained() != nil || j.data.Classes != nil {
		return false
	}
	j.before, j.at = nil, nil
	j.data.Classes = []string{}
	j.observer.Odd("a third label came after the first rows had two: beginning again, with classes")
	return true
}

// Labelled does some work whose samples in profiles have that label, those of goroutines that it
// starts too. It costs some allocations, so it is for stages, not for examples.
func Labelled(ctx context.Context, key, value string, work func(context.Context)) {
	pprof.Do(ctx, pprof.Labels(key, value), work)
}

// manyParts is how many parts have labels of their own. Those behind share the last one.
const manyParts = 64

// labelParts has the parts of the job's own pool labelled, beside the labels of ctx, until done is
// called. What costs allocations is made before.
func (j *Job) labelParts(ctx context.Context) (done func()) {
	if j.env.Pool != nil {
		return func() {}
	}
	var parts [manyParts]context.Context
	for i := range parts {
		parts[i] = pprof.WithLabels(ctx, pprof.Labels("part", strconv.Itoa(i)))
	}
	j.pool.Mark(func(i int) {
		if i < 0 {
			pprof.SetGoroutineLabels(ctx)
			return
		}
		pprof.SetGoroutineLabels(parts[min(i, manyParts-1)])
	})
	return func() { j.pool.Mark(nil) }
}

// run is a Job in the precision of T.
type run[T engine.Float] struct {
	j        *Job
	room     *room[T]
	inMemory bool
	in       eval.Source[T]
	info     func() dataset.Info // of in
	row      func(i int) (id []byte, labelled, bare bool)
	scale    func(lo, hi int) // scales examples of a stream before they are learned; nil: none
	work     context.Context  // for work on in
	facts    learner.Facts
	loading  time.Duration

	l   learner.Learner[T]
	met *learner.PosteriorReport // what its posterior met before

	broke error // that l has diverged in learning, and at which examples; nil: it hasn't

	test     *eval.Memory[T] // nil: not in memory
	testInfo dataset.Info
}

// all is Job.Run, in this order: open or read the data, resolve settings and plan memory, make the
// learner, learn, save, measure, warn. What is refused is refused as early as it can be known.
func (r *run[T]) all(ctx context.Context) (*Result, error) {
	r.inMemory, r.work = r.j.InMemory(), ctx
	var (
		done   func()
		plan   *Plan
		counts eval.Result
		res    *Result
		err    error
	)
	// a stream's readers are started here, and read while others learn
	Labelled(ctx, "stage", "read", func(ctx context.Context) { done, err = r.open(ctx) })
	if err != nil {
		return nil, Unread(ctx, err)
	}
	defer done()
	if plan, err = r.prepare(); err != nil {
		return nil, err
	}
	Labelled(r.work, "stage", "learn", func(ctx context.Context) {
		r.work = ctx
		defer r.j.labelParts(ctx)()
		counts, err = r.learn()
	})
	stopped := err != nil && Interrupted(ctx, err)
	if err != nil && !stopped && !errors.Is(err, ErrPaused) {
		return nil, r.j.explainWeights(err)
	}
	Labelled(ctx, "stage", "measure", func(ctx context.Context) {
		defer r.j.labelParts(ctx)()
		res, err = r.finish(ctx, &Result{Plan: plan, Counts: counts, Stopped: stopped})
	})
	return res, err
}

// Unread is an error before anything was learned.
func Unread(ctx context.Context, err error) error {
	if Interrupted(ctx, err) {
		return fmt.Errorf("training: %w: nothing was learned yet", ErrStopped)
	}
	return err
}

// open reads the examples into memory, or opens them as a stream, which done closes.
func (r *run[T]) open(ctx context.Context) (done func(), err error) {
	j := r.j
	if r.room, err = newRoom[T](j, r.inMemory); err != nil {
		return nil, err
	}
	if r.inMemory {
		o := j.data
		o.Bytes, o.Fits = j.packs(), r.room.loads(j.o.Files, 0)
		data, err := await(ctx, func() (*dataset.Data[T], error) {
			return r.load(ctx, o)
		})
		r.loading = time.Since(j.started)
		if err != nil {
			return nil, err
		}
		j.Settle(data.Info)
		if err := r.takeClasses(data.Info); err != nil {
			return nil, err
		}
		if err := Weigh(&j.o, data); err != nil {
			return nil, err
		}
		mem := memoryOf(data)
		r.in, r.facts = mem, factsOf(j, data, mem)
		r.info, done = func() dataset.Info { return data.Info }, func() {}
		if err := r.loadTest(ctx, mem); err != nil { // bad rows in it are found early
			return nil, err
		}
	} else {
		o := j.data
		o.PrepareByHand = true // so that a model knows of no example that wasn't learned
		s, work, end, err := r.stream(ctx, o)
		if err != nil {
			return nil, err
		}
		r.info, r.work, done, r.scale = s.Info, work, end, s.Prepare
		j.Settle(s.Info())
		r.in = WeighStream[T](&j.o, s, r.info)
		keepClassCounts(j, r.in)
		r.row = rowOf(s, func(i int) int { return i })
		before := int64(0) // rows that this stream hasn't
		if j.at != nil {
			b := &behind[T]{src: r.in, j: j, left: j.at.toSkip(), stream: s}
			r.row = rowOf(s, func(i int) int { return b.lo + i })
			r.in, r.scale, before = b, b.prepare, j.at.standing.At-b.left
		}
		j.sum = func(n int64) uint64 { return s.Sum(s.Info().Rows - int(n-before)) }
		j.place = func(n int64) (string, int64) { return s.Place(s.Info().Rows - int(n-before)) }
		if err := r.takeClasses(s.Info()); err != nil {
			done()
			return nil, err
		}
		if err := r.checkTest(ctx); err != nil {
			done()
			return nil, err
		}
	}
	if err = r.resolve(held(r.test)); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// rowOf says what rows of a stream's last block are; at has their numbers in it.
func rowOf[T engine.Float](s *dataset.Stream[T], at func(i int) int) func(i int) (id []byte,
	labelled, bare bool) {
	return func(i int) (id []byte, labelled, bare bool) {
		i = at(i)
		id, bare = s.ID(i)
		return id, s.Labelled(i), bare
	}
}

// ids is what waits for labels, nil without Options.IDCol.
func (r *run[T]) ids() *eval.IDs {
	if r.j.o.IDCol == "" {
		return nil
	}
	most, bytes := r.j.o.waits()
	return &eval.IDs{Row: r.row, Most: most, Bytes: bytes}
}

// takeClasses makes the learner one of any number of classes where the data have more than two.
func (r *run[T]) takeClasses(info dataset.Info) error {
	j := r.j
	r.room.x.Classes = int64(len(info.Classes))
	if j.o.ShardBy == ShardClasses && j.before == nil && len(info.Classes) < 3 {
		return badOption("Learn the whole: it is one learner.", "{shard} by classes: there are %d",
			max(2, len(info.Classes)))
	}
	if info.Classes == nil || j.traits.Classes {
		return nil
	}
	if j.before != nil && j.trained() == nil { // they came later when it was taught
		return fmt.Errorf("%s tells two classes, the data have more: %w", j.name, dataset.ErrThird)
	}
	if j.before != nil {
		return wrapped(ErrModel, fmt.Errorf("%s tells two classes, the data have more: %w", j.name,
			dataset.ErrLabels))
	}
	e, c, err := learner.ForClasses(j.entry, j.config, learner.OverName(j.o.Pairs),
		len(j.o.Classes))
	if err != nil {
		return newError(ErrOption, "Choose the label that is +1 against all others by {positive}, "+
			"or another learner.", "%d classes: %w", len(info.Classes), err)
	}
	j.entry, j.name = e, e.Name
	j.set(c)
	return j.o.suits(j.name, c)
}

// resolve gives the settings that are relative to the data their values, and plans memory; the test
// examples take so many bytes.
func (r *run[T]) resolve(test int64) error {
	j := r.j
	found := r.info().Format
	if err := j.o.Idle(found); err != nil {
		return err
	}
	if j.o.IDCol != "" && !format.Lookup(found).Takes("IDCol") {
		return badOption("Leave it out.", "{id_col} %s has no effect: the examples are %s, not %s",
			j.o.IDCol, found, format.Or(format.Taking("IDCol")))
	}
	c, err := learner.Resolve(j.config, r.facts)
	if err != nil {
		if R2 := r.facts.R2(); math.IsInf(R2, 1) { // no setting is at fault
			return fmt.Errorf("%s: the longest example's squared length is %v: %w", j.name, R2,
				learner.ErrLength)
		}
		return err
	}
	j.set(c)
	r.in, err = r.room.begin(r.in, test)
	return err
}

// prepare makes the learner, as it was where it goes on.
func (r *run[T]) prepare() (*Plan, error) {
	j := r.j
	l, err := learner.New[T](j.entry, j.config,
		learner.Env{Seed: j.seed, Pool: j.pool, Kept: r.room.kept})
	if err != nil {
		return nil, err
	}
	r.l = l
	plan := j.plan(r.info(), r.inMemory)
	j.observer.Planned(plan)
	if j.env.Join != nil {
		if err := r.join(); err != nil {
			return nil, err
		}
	}
	if j.before != nil {
		if err := r.goOn(); err != nil {
			return nil, err
		}
	}
	if r.met = learner.ReportOf(l); r.met != nil {
		if j.at != nil { // the run's, from its beginning on
			r.met.Passed, r.met.Lost = int64(j.at.position.Passed), 0
		}
		j.passed = uint64(r.met.Passed + r.met.Lost)
	}
	return plan, nil
}

// goOn gives the learner the state of the model that is gone on from.
func (r *run[T]) goOn() error {
	j := r.j
	if err := r.l.SetState(j.before.State); err != nil {
		return wrapped(ErrModel, err)
	}
	j.wasCut = j.before.Pass != nil || learner.WasCut(j.before.State)
	j.before.State = learner.State{} // the learner has a copy
	j.collect()
	return r.room.restored(r.l.Bytes())
}

// how says how the learner is taught.
func (r *run[T]) how() LearnOptions {
	j, o := r.j, &r.j.o
	most := int64(DefaultMaxUpdates)
	switch { // what the caller says, else the learner's own limit, else that
	case o.MaxUpdates != nil:
		most = *o.MaxUpdates
	case j.traits.OwnLimit && j.Whole():
		most = 0
	}
	lo := LearnOptions{Options: eval.Options{
		UntilConverged: o.UntilConverged, MaxUpdates: most, Shuffle: o.Shuffle, Seed: j.seed,
		Proba: o.Proba, Calibrate: j.calibrates(), Threshold: j.target(), AUC: o.AUC,
		Window: o.Window, Fading: o.Fading, Curve: o.Curve, Delay: o.Delay,
		IDs: r.ids(), Progress: j.observer.Progress(),
		CheckpointEvery: j.every, CheckpointAfter: j.after, Prepare: r.scale,
		Trace: j.env.Trace,
	}}
	if j.before != nil {
		lo.Before = int64(j.before.Presented)
	}
	if !o.UntilConverged {
		lo.Epochs = max(1, o.Epochs)
	}
	switch {
	case j.at != nil:
		lo.Continue = j.at.standing
		lo.Features, lo.Classes = j.extentOfKept()
	case j.before != nil && o.UntilConverged:
		lo.Resume = j.before.Pass
	}
	if j.every > 0 || j.after > 0 { // examples, or time
		lo.Checkpoint = func(res eval.Result) error {
			j.countOn(&res)
			if err := model.Keep(o.Model); err != nil {
				return wrapped(ErrSave, err)
			}
			return save(j, r.l, r.info(), res)
		}
	}
	// One that keeps examples takes longer for some than for others: worth a report each time.
	if _, keeps := learner.SupportOf(r.l); keeps || o.Latency {
		lo.Timed = j.observer.Timed
	}
	if j.Whole() {
		lo.Fit = &learner.FitOptions{MaxUpdates: most, Delta: o.SoftDelta, GramBytes: r.room.gram,
			ActiveSet: o.ActiveSet, Halving: o.Halving}
	}
	r.watchDrift(&lo.Options)
	return lo
}

// learn teaches the learner.
func (r *run[T]) learn() (eval.Result, error) {
	j := r.j
	lo := r.how()
	var found eval.Result // of folds
	if lo.Fit != nil {
		if err := r.folded(r.work, &lo, &found); err != nil {
			return found, j.nowhere(err)
		}
	}
	if j.at != nil && j.Whole() {
		if mem, ok := r.in.(*eval.Memory[T]); !ok || !eval.Matches(j.at.standing, mem) {
			return eval.Result{}, j.changed("")
		}
		if lo.Continue = nil; lo.MaxUpdates > 0 && j.traits.Cut {
			lo.Fit.MaxUpdates = max(1, lo.MaxUpdates-j.at.standing.Updates)
		}
	}
	if save := lo.Checkpoint; lo.Fit != nil && save != nil {
		lo.Checkpoint = func(res eval.Result) error {
			res.Calibration, res.Threshold = found.Calibration, found.Threshold
			return save(res)
		}
	}
	res, err := Learn(r.work, r.l, r.in, lo)
	if lo.Fit != nil {
		res.Calibration, res.Threshold = found.Calibration, found.Threshold
	}
	if errors.Is(err, learner.ErrSlacks) {
		return res, badOption("Go on with the examples and options of a run that was cut, "+
			"{mem_budget} and {soft_delta} included, or train anew.",
			"{soft_delta} %v: a soft margin goes on only where its run was cut: %w", j.o.SoftDelta,
			err)
	}
	if err == nil {
		err = r.joined()
	}
	err = j.nowhere(err)
	j.countOn(&res)
	if errors.Is(err, learner.ErrDiverged) { // the run ended there, and finish says so
		r.broke, err = err, nil
	}
	return res, err
}

// countOn has what a Fit counted begin where its run did, of one that is gone on with.
func (j *Job) countOn(res *eval.Result) {
	if j.at == nil || !j.at.standing.Fit || res.Fit == nil || !res.Resumed {
		return
	}
	from, fit := j.at.standing, *res.Fit
	fit.Updates, fit.Epochs = fit.Updates+from.Updates, fit.Epochs+int64(from.Epochs)
	if fit.Presented > 0 {
		fit.Presented += from.Presented()
	}
	res.Fit, res.Behind = &fit, from.Presented()
	res.Updates, res.Epochs = res.Updates+from.Updates, res.Epochs+from.Epochs
	res.Presented += from.Presented()
	if s := res.Standing; s != nil {
		s.Updates, s.Epochs, s.Count.Examples = res.Updates, res.Epochs, res.Presented
	}
}

// extentOfKept returns how many features and classes examples in the model's position have at most;
// 0 is any number.
func (j *Job) extentOfKept() (features, classes int) {
	p := &j.before.Prep
	if features = p.Dim; features > 0 && p.Bias == "append" {
		features++
	}
	return features, len(p.Classes)
}

// finish saves what was learned, measures it and says what may be wrong with it. It saves before it
// measures, which may take long: an interrupt then costs the measurements and not the model.
func (r *run[T]) finish(ctx context.Context, res *Result) (*Result, error) {
	j := r.j
	res.Info, res.Bias, res.Unscaled = r.info(), j.data.Bias == "append", unscaled(res.Counts)
	j.observer.Learned(res.Info)
	j.missed(res)
	j.collect()
	j.warnRestart(res.Counts)
	res.capture = func() (*model.Model, error) { return capture(j, r.l, res.Info, res.Counts) }
	diverged := r.diverged(res.Counts)
	// Not saved: what has diverged, what has learned nothing, and what was stopped of a learner
	// that must see the whole data set and has nothing to save before its end.
	learned := res.Counts.Presented > 0 || res.Counts.Updates > 0
	if j.o.Model != "" && diverged == nil && learned &&
		!(res.Stopped && (j.NeedsWhole() || j.env.Join != nil)) {
		if err := save(j, r.l, res.Info, res.Counts); err != nil {
			return nil, err
		}
	}
	r.tell(res)
	var measured *eval.Count
	if !res.Stopped && diverged == nil {
		var err error
		if measured, err = r.afterwards(ctx, res); err != nil {
			if !Interrupted(ctx, err) {
				return nil, err
			}
			res.Stopped = true
		}
	}
	_, biased := learner.BiasOf(r.l)
	j.warn(res, measured, biased)
	j.warnPassed(res, r.met)
	res.Total = time.Since(j.started)
	switch {
	case diverged != nil:
		return res, diverged
	case res.Test != nil && res.Test.Count.Examples > 0 &&
		res.Test.Count.NotFinite == res.Test.Count.Examples:
		return res, newError(ErrUseless, "The features are too large for the weights.",
			"in the test no score is a finite number")
	case res.Stopped:
		return res, fmt.Errorf("training: %w after %d examples", ErrStopped, res.Counts.Presented)
	case j.o.UntilConverged && !res.Counts.Converged:
		return res, fmt.Errorf("training: %w: %d updates in %d epochs", ErrNotConverged,
			res.Counts.Updates, res.Counts.Epochs)
	}
	return res, nil
}

// missed says what was asked for and not found, or not learned.
func (j *Job) missed(res *Result) {
	if j.o.Calibrate != "" && res.Counts.Calibration == nil && !res.Stopped {
		j.observer.Odd("no probabilities were found: there are no scores of examples of both " +
			"labels")
	}
	if j.o.Threshold != "" && res.Counts.Threshold == nil && !res.Stopped {
		j.observer.Odd("no threshold was found: no score reaches " + j.o.Threshold + " on " +
			"examples that were not learned yet; labels are those of 0")
	}
	n := res.Counts.Waiting
	if l := res.Counts.Late; l != nil && !res.Stopped && l.Expired+l.Unknown+n > 0 {
		j.observer.Odd(fmt.Sprintf("of rows whose labels come by ids %d were learned; %d were "+
			"left out when there was no room for more, %d had no label at the end, and %d labels "+
			"were of ids that were not waited for", l.Answered, l.Expired, n, l.Unknown))
	}
	if n > 0 && res.Stopped {
		kept := "their labels had not come; a run that goes on with the model's has them"
		if j.o.Model == "" || j.o.PredictOnly {
			kept = "the run was stopped before their labels came"
		}
		j.observer.Odd(fmt.Sprintf("%d examples were predicted and not learned: %s", n, kept))
	}
}

// tell fills in what is known when learning has ended.
func (r *run[T]) tell(res *Result) {
	res.Bytes, res.Posterior, res.Saved = r.l.Bytes(), learner.ReportOf(r.l), r.j.saved
	res.Read = r.loading + res.Counts.Read
	if s, ok := learner.SolutionOf(r.l); ok && res.Counts.Fit != nil {
		res.Gap = finite(s.Gap)
		if s.Support >= 0 {
			res.Support = &s.Support
		}
	}
	if n, keeps := learner.SupportOf(r.l); keeps {
		support := int64(n)
		res.Support = &support
	}
	if res.Memory = r.j.split; res.Memory != nil && r.j.env.Machine.Peak != nil {
		res.Memory.Peak = r.j.env.Machine.Peak()
	}
}

// diverged is the error of a learner whose state is no longer finite, whether or not it is to be
// saved. The state is looked at only where a score or a weight says that it may be so.
func (r *run[T]) diverged(res eval.Result) error {
	if r.broke != nil {
		return wrapped(ErrDiverged, fmt.Errorf("%s: %w", r.j.name, r.broke))
	}
	if res.NotFinite == 0 && learner.FiniteWeights(r.l) {
		return nil
	}
	if err := model.Diverged(r.j.name, r.l); err != nil {
		return wrapped(ErrDiverged, err)
	}
	return nil
}

// refused reports whether err is about Options or settings, or of memory that there isn't: it comes
// from the plan, not from the data.
func refused(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) || errors.Is(err, learner.ErrConfig)
}
