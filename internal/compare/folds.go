package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/eval/stat"
	"github.com/halfspace-ml/halfspace/internal/folds"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/training"
)

// Folds say how a data set is split for cross-validation.
type Folds struct {
	// Folds is how many parts there are, each tested by what was learned of the others. 0 stands
	// for 5. Default 0; 2 to the number of examples, or 0.
	Folds int
	// Repeats is how often that is done, each time with other folds. 0 stands for 1. Default 0; 0
	// to 1000.
	Repeats int
	// Plain leaves the labels out of the draw; else each fold has its share of every class. Default
	// false.
	Plain bool
	// Score is what CrossValidate tallies beside the errors, one of Scores; Tune goes by its own.
	// "" and ScoreError are errors alone. Probabilities are the learner's, or those of
	// Options.Calibrate. Default ""; one of Scores.
	Score string `json:",omitempty"`
}

// mostRepeats is more than anybody waits for.
const mostRepeats = 1000

func (f *Folds) check() error {
	switch {
	case f.Folds != 0 && f.Folds < 2:
		return badOption("5 and 10 are usual.", "{folds} %d: want 2 or more", f.Folds)
	case f.Repeats < 0 || f.Repeats > mostRepeats:
		return badOption("", "{repeats} %d: want 1 to %d", f.Repeats, mostRepeats)
	}
	if f.Folds == 0 {
		f.Folds = 5
	}
	f.Repeats = max(1, f.Repeats)
	return checkScore(&f.Score)
}

// Fold is what came of one fold.
type Fold struct {
	Repeat int     `json:"repeat"` // from 1, as Fold
	Fold   int     `json:"fold"`
	Train  int     `json:"train"` // examples learned
	Test   int     `json:"test"`  // examples tested
	Errors int64   `json:"errors"`
	Error  float64 `json:"error"` // share of them
	// Score is what CVResult.Metric came to; nil where that is "".
	Score     *float64 `json:"score,omitempty"`
	Epochs    int      `json:"epochs"`
	Updates   int64    `json:"updates"`
	Converged bool     `json:"converged"`
	Seconds   float64  `json:"seconds"` // of learning
	// Failed says why nothing was tested: what was learned diverged. Else "".
	Failed string `json:"failed,omitempty"`

	rows engine.RowStats // that the learner asked for
}

// CVResult is what came of cross-validation.
type CVResult struct {
	Folds    []Fold  `json:"folds"`
	Examples int64   `json:"examples"` // tested, over all repeats
	Errors   int64   `json:"errors"`
	Error    float64 `json:"error"` // mean of the folds' shares of errors
	// PM is half a 95 % interval of Error, by the corrected variance of Nadeau and Bengio (2003):
	// folds share most of what they are trained on, so that their errors are not independent.
	PM float64 `json:"error_pm"`
	// NaivePM is the same by Student's test of the folds as if they were independent: too small.
	NaivePM float64 `json:"naive_pm"`
	// Metric is Folds.Score; "" where that is of errors, and the three below are nil then.
	Metric string `json:"metric,omitempty"`
	// Score is the mean of the folds' scores, and the others are its intervals as of Error.
	Score        *float64 `json:"score,omitempty"`
	ScorePM      *float64 `json:"score_pm,omitempty"`
	ScoreNaivePM *float64 `json:"score_naive_pm,omitempty"`
}

// sum fills in what follows from the folds, with that score.
func (r *CVResult) sum(score string) {
	var s stat.Sample
	var train, test float64
	r.Examples, r.Errors = 0, 0
	for _, f := range r.Folds {
		if f.Failed != "" {
			continue
		}
		r.Examples += int64(f.Test)
		r.Errors += f.Errors
		s.Add(f.Error)
		train, test = train+float64(f.Train), test+float64(f.Test)
	}
	r.Error = s.Mean
	_, _, r.NaivePM = s.TTest()
	_, _, r.PM = s.Resampled(test, train)
	r.PM, r.NaivePM = finiteOr0(r.PM), finiteOr0(r.NaivePM) // infinite of one fold so far
	r.scored(score, test, train)
}

// CrossValidation is what CrossValidate returns.
type CrossValidation struct {
	CVResult
	Info dataset.Info // what was found in the data
	// Plan of the first fold: the settings that it resolved among it, and of more than two classes
	// the learner that tells so many.
	Learner   string
	Config    learner.Config
	Precision string
	Seed      uint64
	// KernelRows counts the kernel rows that all folds asked for: hits were computed before, for
	// the same fold or another. Bytes and Limit are those of what folds have in common, and of the
	// fold with the most. Zero of learners without any.
	KernelRows engine.RowStats
	Total      time.Duration
}

// FoldStatus is how far CrossValidate is.
type FoldStatus struct {
	Done, Total int           // folds
	Error       float64       // mean of those done
	Score       float64       // likewise, of Folds.Score; 0 without
	Elapsed     time.Duration // since the beginning
	Left        time.Duration // as it went so far; 0 before the first fold has come to its end
}

// CrossValidate trains on all folds but one, as Run with these Options on those examples, and
// counts the errors on that one, for each fold. It ignores Model, Test, MarginReport,
// CheckpointEvery and the like. From must be empty.
//
// The files are read once. Folds are drawn from Options.Seed and trained in parallel. The examples
// of a fold are learned in the order of the data: set Options.Shuffle if they may be sorted.
// Normalize "max" divides by the longest training example, and ClassWeight counts those. Scale
// takes the scales of all examples, tested ones included. Results do not depend on Threads.
//
// Errors are those of Run, and of kind ErrOption for impossible folds. A fold that did not converge
// says so and is no error. With an error of kind ErrDiverged, the means are those of the other
// folds. watch, which may be nil, is called after each fold, by one goroutine at a time.
//
// Cost: one run a fold; folds share the kernel rows of batch learners (engine.CommonRows). Memory:
// the examples, once more for each worker, and for those rows learner.DefaultGramBytes or an eighth
// of Env.Machine.Bytes.
//
// Samples of profiles (runtime/pprof) have the labels learner and stage: read, split, learn or
// measure. Those of a fold also have fold, its number from 1, and with Repeats repeat. Workers of
// Env.Pool have none.
func CrossValidate(ctx context.Context, o training.Options, f Folds, env training.Env,
	watch func(FoldStatus)) (*CrossValidation, error) {
	started := time.Now()
	if o.From != "" {
		return nil, badOption("Leave it out.", "{from}: folds begin anew")
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	asked := o.Calibrate
	jobs, err := jobsOf([]training.Options{scoresOf(f.Score, true, o)}, env, false)
	if err != nil {
		return nil, err
	}
	if err := haveProbabilities(f.Score, jobs, []string{asked}, true, findThem); err != nil {
		return nil, err
	}
	pool, done := workers(&env, o.Threads)
	defer done()
	var res *CrossValidation
	labelled(ctx, "learner", jobs[0].Learner(), func(ctx context.Context) {
		if jobs[0].Precision() == "f64" {
			res, err = crossValidate[float64](ctx, jobs[0], f, env, pool, watch)
		} else {
			res, err = crossValidate[float32](ctx, jobs[0], f, env, pool, watch)
		}
	})
	if res == nil {
		return nil, err
	}
	res.Total = time.Since(started)
	return res, err
}

// folding is a data set and how it is split.
type folding[T engine.Float] struct {
	Folds
	preps []*preparation[T]
	fold  [][]int32               // of each repeat, of each example
	rows  []*engine.CommonRows[T] // of each preparation, of all folds; nil: there are none
	bytes int64                   // of the machine, where known
}

// read loads the examples in all preparations of the jobs. Division by the longest example is left
// to the folds: the longest of each is another.
func (f *folding[T]) read(ctx context.Context, jobs []*training.Job) (of []int, err error) {
	f.preps, of = preparationsOf[T](entrantsOf(jobs))
	undivided := entrantsOf(jobs)
	for _, e := range undivided {
		if e.data.Normalize == "max" {
			e.data.Normalize = ""
		}
	}
	in := newReading[T](undivided)
	in.weights = &training.Options{} // each fold weighs its own
	if err := in.open(ctx, jobs[0].Options().Files, true); err != nil {
		return nil, unread(ctx, err)
	}
	for i, p := range of {
		f.preps[p].data = in.of[i].data
	}
	data := f.preps[0].data
	n := data.Info.Rows
	if n < f.Folds.Folds {
		return nil, badOption("Take fewer folds.", "{folds} %d: there are %d examples",
			f.Folds.Folds, n)
	}
	class := func(i int) int {
		if b := &data.Block; b.Class != nil {
			return int(b.Class[i])
		} else {
			return int(b.Y[i])
		}
	}
	if f.Plain {
		class = nil
	}
	for r := range f.Repeats {
		f.fold = append(f.fold, folds.Assign(n, f.Folds.Folds, class, jobs[0].Seed(), r))
	}
	f.share(jobs)
	return of, nil
}

// share has the folds, and settings, share kernel rows. Those that are divided by the longest
// example of each fold have no examples in common.
func (f *folding[T]) share(jobs []*training.Job) {
	f.rows = make([]*engine.CommonRows[T], len(f.preps))
	if !slices.ContainsFunc(jobs, (*training.Job).Whole) {
		return
	}
	room := int64(learner.DefaultGramBytes)
	if f.bytes > 0 { // half of what isn't planned, see training.NewTrial
		room = min(room, f.bytes/8)
	}
	for i, p := range f.preps {
		if p.options.Normalize != "max" {
			mem := eval.NewMemory(&p.data.Block, p.data.Gather)
			f.rows[i] = engine.NewCommonRows(mem.Blocks(), mem.Len(), room/int64(len(f.preps)))
		}
	}
}

// kernelRows counts the rows that the folds of several settings asked for.
func (f *folding[T]) kernelRows(settings ...[]Fold) (s engine.RowStats) {
	for _, folds := range settings {
		for _, fold := range folds {
			one := fold.rows
			s.Hits, s.Misses = s.Hits+one.Hits, s.Misses+one.Misses
			s.Evictions += one.Evictions
			s.Rows, s.Bytes, s.Limit = max(s.Rows, one.Rows), max(s.Bytes, one.Bytes),
				max(s.Limit, one.Limit)
		}
	}
	for _, c := range f.rows {
		all := c.Stats()
		found := min(all.Hits, s.Misses) // a fold that failed found some, too
		s.Hits, s.Misses = s.Hits+found, s.Misses-found
		s.Rows, s.Bytes, s.Limit = s.Rows+all.Rows, s.Bytes+all.Bytes, s.Limit+all.Limit
		s.Evictions += all.Evictions
	}
	return s
}

// labels are those of the work on fold k in profiles: its number, and where it is drawn several
// times which time it is, both from 1.
func (f *Folds) labels(k int) []string {
	l := []string{"fold", strconv.Itoa(k%f.Folds + 1)}
	if f.Repeats > 1 {
		l = append(l, "repeat", strconv.Itoa(k/f.Folds+1))
	}
	return l
}

// split is what a fold is trained and tested on.
type split[T engine.Float] struct {
	repeat, number int
	train, test    dataset.Data[T]
	numbers        []int32               // of train, among all examples
	rows           *engine.CommonRows[T] // of those; or nil
}

// at makes the split of fold k, counted over all repeats, with the weights that o gives to classes,
// of that preparation.
func (f *folding[T]) at(o *training.Options, prep, k int) (*split[T], error) {
	p := f.preps[prep]
	s := &split[T]{repeat: k / f.Folds.Folds, number: k % f.Folds.Folds, rows: f.rows[prep]}
	var train, test []int32
	for i, fold := range f.fold[s.repeat] {
		if int(fold) == s.number {
			test = append(test, int32(i))
		} else {
			train = append(train, int32(i))
		}
	}
	s.train.Info, s.test.Info = p.data.Info, p.data.Info
	p.data.Gather(&s.train.Block, train)
	p.data.Gather(&s.test.Block, test)
	s.train.Info.Rows, s.test.Info.Rows, s.numbers = len(train), len(test), train
	if p.options.Normalize == "max" {
		longest := math.Sqrt(learner.MaxSumSq(&s.train.Block, 0))
		if longest == 0 { // nothing to divide
			longest = 1
		}
		s.train.Info.MaxNorm, s.train.Info.Scale = longest, longest
		for _, b := range []*engine.Block[T]{&s.train.Block, &s.test.Block} {
			format.Divide(b.Val, longest)
			format.Divide(b.X, longest)
		}
	}
	return s, training.Weigh(o, &s.train)
}

// learnFold trains on a split and tests. wrong gets whether each test example is an error, and own
// is the job, of the learner that the data made it.
func learnFold[T engine.Float](ctx context.Context, env *training.Env, j *training.Job, s *split[T],
	score string) (fold Fold, wrong []bool, own *training.Job, err error) {
	own = j.Clone()
	rows := s.rows.Part(&s.train.Block, s.numbers)
	trial, err := training.NewTrial(own, training.TrialData[T]{Data: &s.train,
		Info: func() dataset.Info { return s.train.Info }, Rows: rows})
	if err != nil {
		return fold, nil, nil, err
	}
	var res eval.Result
	labelledPart(ctx, env, func(ctx context.Context) {
		res, err = trial.Learn(ctx)
		rows.Release() // which the learner would keep while it scores
	}, "stage", "learn")
	fold = Fold{Repeat: s.repeat + 1, Fold: s.number + 1, Train: s.train.Info.Rows,
		Test: s.test.Info.Rows, Epochs: res.Epochs, Updates: res.Updates,
		Converged: res.Converged, Seconds: res.Learn.Seconds()}
	if res.Fit != nil {
		fold.rows = res.Fit.KernelRows
	}
	if errors.Is(err, training.ErrDiverged) {
		fold.Failed = err.Error()
	}
	if err != nil {
		return fold, nil, own, err
	}
	view := trial.Predictor(res)
	scorer, err := newFoldScorer(score, view)
	if err != nil {
		return fold, nil, nil, err
	}
	count := func(b *engine.Block[T], scores []float64) error {
		k := len(scores) / b.Len()
		for i := range b.Len() {
			var c eval.Count
			if b.Class != nil {
				c.Add(1, learner.ClassScore(scores[i*k:][:k], int(b.Class[i])))
			} else {
				c.Add(float64(b.Y[i]), scores[i])
			}
			fold.Errors += c.Errors
			wrong = append(wrong, c.Errors > 0)
		}
		return scorer.add(b, scores)
	}
	labelledPart(ctx, env, func(ctx context.Context) {
		err = eval.Score(ctx, view, eval.NewMemory(&s.test.Block, nil), count)
	}, "stage", "measure")
	fold.Error = float64(fold.Errors) / float64(fold.Test)
	if err == nil && scorer != nil {
		var v float64
		v, err = scorer.value()
		fold.Score = &v
	}
	return fold, wrong, own, err
}

// crossValidation is one under way.
type crossValidation[T engine.Float] struct {
	folding[T]
	ctx   context.Context
	env   *training.Env
	j     *training.Job
	folds []Fold
	own   []*training.Job
	errs  []error

	mu      sync.Mutex
	started time.Time
	done    int
	sum     float64
	score   float64
	watch   func(FoldStatus)
}

// Part is engine.Job's: one fold.
func (c *crossValidation[T]) Part(k int) {
	labelledPart(c.ctx, c.env, func(ctx context.Context) {
		o := c.j.Options()
		s, err := c.at(&o, 0, k)
		if err == nil {
			c.folds[k], _, c.own[k], err = learnFold(ctx, c.env, c.j, s, c.Score)
		}
		c.errs[k] = err
	}, append(c.labels(k), "stage", "split")...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errs[k] != nil {
		return
	}
	c.done++
	c.sum += c.folds[k].Error
	if v := c.folds[k].Score; v != nil {
		c.score += *v
	}
	if c.watch != nil {
		elapsed := time.Since(c.started)
		c.watch(FoldStatus{Done: c.done, Total: len(c.folds), Error: c.sum / float64(c.done),
			Score: c.score / float64(c.done), Elapsed: elapsed,
			Left: elapsed * time.Duration(len(c.folds)-c.done) / time.Duration(c.done)})
	}
}

// crossValidate is CrossValidate in the precision of T.
func crossValidate[T engine.Float](ctx context.Context, j *training.Job, f Folds, env training.Env,
	pool *engine.Pool, watch func(FoldStatus)) (*CrossValidation, error) {
	c := &crossValidation[T]{folding: folding[T]{Folds: f, bytes: env.Machine.Bytes}, ctx: ctx,
		env: &env, j: j, watch: watch, started: time.Now()}
	var err error
	labelled(ctx, "stage", "read", func(ctx context.Context) {
		_, err = c.read(ctx, []*training.Job{j})
	})
	if err != nil {
		return nil, err
	}
	n := f.Folds * f.Repeats
	c.folds, c.errs, c.own = make([]Fold, n), make([]error, n), make([]*training.Job, n)
	err = pool.Run(ctx, n, c)
	var diverged []error
	for _, e := range c.errs {
		if errors.Is(e, training.ErrDiverged) {
			diverged = append(diverged, e)
		} else if err == nil {
			err = e
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("training: %w after %d of %d folds", training.ErrStopped,
				c.done, n)
		}
		return nil, err
	}
	res := &CrossValidation{Info: c.preps[0].data.Info, Learner: c.own[0].Learner(),
		Config: c.own[0].Config(), Precision: j.Precision(), Seed: j.Seed(),
		KernelRows: c.kernelRows(c.folds)}
	res.Folds = c.folds
	res.CVResult.sum(f.Score)
	if e := (*training.Error)(nil); diverged != nil && errors.As(diverged[0], &e) {
		return res, training.NewError(training.ErrDiverged, "", "in %d of %d folds: %w",
			len(diverged), n, e.Err)
	}
	return res, nil
}

// foldRace is a fold that is learned by all settings that are left.
type foldRace[T engine.Float] struct {
	folding[T]
	ctx    context.Context
	env    *training.Env
	jobs   []*training.Job
	of     []int
	board  *board
	splits []*split[T] // of each preparation
	wrong  [][]bool
	errs   []error
	tried  []Tried
	names  []string // of the settings; nil: their numbers
	now    int      // number of the fold, over all repeats
}

// Part is engine.Job's: a setting.
func (f *foldRace[T]) Part(k int) {
	i := f.board.alive[k]
	var fold Fold
	labelledPart(f.ctx, f.env, func(ctx context.Context) {
		fold, f.wrong[i], _, f.errs[i] = learnFold(ctx, f.env, f.jobs[i],
			f.splits[f.of[i]], f.Score)
	}, append(f.labels(f.now), "learner", f.jobs[i].Learner(), "setting", nameOf(f.names, i))...)
	if f.errs[i] == nil {
		t := &f.tried[i]
		t.CV.Folds = append(t.CV.Folds, fold)
		t.Seconds += fold.Seconds
	}
}

// tuneFolds judges settings by cross-validation, one fold after another.
func tuneFolds[T engine.Float](ctx context.Context, jobs []*training.Job, t TuneOptions,
	env training.Env, pool *engine.Pool, res *Tuned, started time.Time, board *board) error {
	f := &foldRace[T]{folding: folding[T]{Folds: t.Folds, bytes: env.Machine.Bytes}, ctx: ctx,
		env: &env, jobs: jobs, board: board, wrong: make([][]bool, len(jobs)),
		errs: make([]error, len(jobs)), tried: res.Tried, names: t.Names}
	var err error
	labelled(ctx, "stage", "read", func(ctx context.Context) { f.of, err = f.read(ctx, jobs) })
	if err != nil {
		return err
	}
	res.Info = f.preps[0].data.Info
	for i := range f.tried {
		f.tried[i].CV = &CVResult{}
	}
	o := jobs[0].Options()
	clock, total := clock{started: started}, t.Folds.Folds*t.Folds.Repeats
	for k := range total {
		f.splits, f.now = f.splits[:0], k
		labelled(ctx, "stage", "split", func(context.Context) {
			for p := range f.preps {
				var s *split[T]
				if s, err = f.at(&o, p, k); err != nil {
					return
				}
				f.splits = append(f.splits, s)
			}
		})
		if err != nil {
			return err
		}
		if err := pool.Run(ctx, len(f.board.alive), f); err != nil {
			return fmt.Errorf("training: %w after %d of %d folds", training.ErrStopped, k, total)
		}
		if err := f.leave(); err != nil {
			return err
		}
		f.count()
		if k+1 < total {
			f.board.eliminate(t.Alpha)
		}
		t.tell(f.board, &clock, float64(k+1)/float64(total), f.board.records[f.board.alive[0]].n)
	}
	folds := make([][]Fold, len(f.tried))
	for i := range f.tried {
		f.tried[i].CV.sum(t.Score)
		folds[i] = f.tried[i].CV.Folds
	}
	res.KernelRows = f.kernelRows(folds...)
	return nil
}

// leave takes out settings that can't go on. It is an error if none can.
func (f *foldRace[T]) leave() error {
	for _, i := range slices.Clone(f.board.alive) {
		err := f.errs[i]
		if err == nil {
			continue
		}
		stopped := training.Interrupted(f.ctx, err) || errors.Is(err, training.ErrStopped)
		if f.tried[i].Failed = err.Error(); stopped || len(f.board.alive) == 1 {
			return err
		}
		f.board.leave(i)
	}
	return nil
}

// count adds the fold to the records.
func (f *foldRace[T]) count() {
	for _, i := range f.board.alive {
		r := &f.board.records[i]
		for _, wrong := range f.wrong[i] {
			r.add(wrong)
		}
		if f.Score != "" {
			folds := f.tried[i].CV.Folds
			r.lose(aLoss(f.Score, *folds[len(folds)-1].Score))
		}
	}
}
