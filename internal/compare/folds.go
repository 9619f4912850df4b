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
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/folds"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/stat"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
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

// Fold is the result of one fold.
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

// CVResult is the result of cross-validation.
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
	var errors, scores stat.Sample
	var train, test float64
	for _, f := range r.Folds {
		if f.Failed != "" {
			continue
		}
		r.Examples += int64(f.Test)
		r.Errors += f.Errors
		if errors.Add(f.Error); score != "" {
			scores.Add(*f.Score)
		}
		train, test = train+float64(f.Train), test+float64(f.Test)
	}
	intervals := func(s stat.Sample) (pm, naive float64) {
		_, _, naive = s.TTest()
		_, _, pm = s.Resampled(test, train)
		return finiteOr0(pm), finiteOr0(naive) // infinite of one fold
	}
	r.Error, r.Metric = errors.Mean, score
	r.PM, r.NaivePM = intervals(errors)
	if score != "" {
		pm, naive := intervals(scores)
		r.Score, r.ScorePM, r.ScoreNaivePM = &scores.Mean, &pm, &naive
	}
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
	pool, done := env.Workers(o.Threads)
	defer done()
	var res *CrossValidation
	training.Labelled(ctx, "learner", jobs[0].Learner(), func(ctx context.Context) {
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

// foldRuns trains settings on the folds of a data set.
type foldRuns[T engine.Float] struct {
	Folds
	jobs  []*training.Job
	names []string // of the settings, for profiles; nil: there is one without a name
	env   *training.Env
	pool  *engine.Pool
	preps []*preparation[T]
	of    []int                   // preparation of each job
	fold  [][]int32               // of each repeat, of each example
	rows  []*engine.CommonRows[T] // of each preparation, for all folds; nil: none

	ctx   context.Context
	units []*unit[T]
	told  func(*unit[T]) // of each unit that is done; may be nil
}

// unit is a setting on a fold.
type unit[T engine.Float] struct {
	setting, fold int       // the fold is counted over all repeats
	split         *split[T] // nil: the worker makes it

	result Fold
	wrong  []bool        // of each tested example
	own    *training.Job // of the learner that the data made it
	err    error
}

// read loads the examples in all preparations of the jobs. Division by the longest example is left
// to the folds, as the longest of each is another.
func (f *foldRuns[T]) read(ctx context.Context) (err error) {
	f.preps, f.of = preparationsOf[T](entrantsOf(f.jobs))
	undivided := entrantsOf(f.jobs)
	for _, e := range undivided {
		if e.data.Normalize == "max" {
			e.data.Normalize = ""
		}
	}
	in := newReading[T](undivided, &training.Options{}) // each fold weighs its own
	training.Labelled(ctx, "stage", "read", func(ctx context.Context) {
		err = in.open(ctx, f.jobs[0].Options().Files, true)
	})
	if err != nil {
		return training.Unread(ctx, err)
	}
	for i, p := range f.of {
		f.preps[p].data = in.of[i].data
	}
	data := f.preps[0].data
	n := data.Info.Rows
	if n < f.Folds.Folds {
		return badOption("Take fewer folds.", "{folds} %d: there are %d examples", f.Folds.Folds,
			n)
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
		f.fold = append(f.fold, folds.Assign(n, f.Folds.Folds, class, f.jobs[0].Seed(), r))
	}
	f.share()
	return nil
}

// share has the folds, and settings, share kernel rows. Those that are divided by the longest
// example of each fold have no examples in common.
func (f *foldRuns[T]) share() {
	f.rows = make([]*engine.CommonRows[T], len(f.preps))
	if !slices.ContainsFunc(f.jobs, (*training.Job).Whole) {
		return
	}
	room := int64(learner.DefaultGramBytes)
	if bytes := f.env.Machine.Bytes; bytes > 0 { // half of what isn't planned
		room = min(room, bytes/8)
	}
	for i, p := range f.preps {
		if p.options.Normalize != "max" {
			mem := eval.NewMemory(&p.data.Block, p.data.Gather)
			f.rows[i] = engine.NewCommonRows(mem.Blocks(), mem.Len(), room/int64(len(f.preps)))
		}
	}
}

// kernelRows counts the rows that the folds of several settings asked for.
func (f *foldRuns[T]) kernelRows(settings ...[]Fold) (s engine.RowStats) {
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

// train trains units in parallel.
func (f *foldRuns[T]) train(ctx context.Context, units []*unit[T]) error {
	f.ctx, f.units = ctx, units
	return f.pool.Run(ctx, len(units), f)
}

// Part is engine.Job's: a unit. Its samples in profiles have the number of the fold, from 1, and
// those of several repeats the number of the repeat.
func (f *foldRuns[T]) Part(k int) {
	u := f.units[k]
	labels := []string{"stage", "split", "fold", strconv.Itoa(u.fold%f.Folds.Folds + 1)}
	if f.Repeats > 1 {
		labels = append(labels, "repeat", strconv.Itoa(u.fold/f.Folds.Folds+1))
	}
	if f.names != nil {
		labels = append(labels, "learner", f.jobs[u.setting].Learner(), "setting",
			nameOf(f.names, u.setting))
	}
	labelledPart(f.ctx, f.env, func(ctx context.Context) {
		s := u.split
		if s == nil {
			if s, u.err = f.at(f.of[u.setting], u.fold); u.err != nil {
				return
			}
		}
		u.err = u.learn(ctx, f, s)
	}, labels...)
	if f.told != nil {
		f.told(u)
	}
}

// split is what a fold is trained and tested on.
type split[T engine.Float] struct {
	repeat, number int
	train, test    dataset.Data[T]
	numbers        []int32               // of train, among all examples
	rows           *engine.CommonRows[T] // of those; or nil
}

// at makes the split of fold k, counted over all repeats, of a preparation.
func (f *foldRuns[T]) at(prep, k int) (*split[T], error) {
	p, o := f.preps[prep], f.jobs[0].Options()
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
	return s, training.Weigh(&o, &s.train)
}

// learn trains on a split and tests.
func (u *unit[T]) learn(ctx context.Context, f *foldRuns[T], s *split[T]) error {
	u.own = f.jobs[u.setting].Clone()
	rows := s.rows.Part(&s.train.Block, s.numbers)
	trial, err := training.NewTrial(u.own, training.TrialData[T]{Data: &s.train,
		Info: func() dataset.Info { return s.train.Info }, Rows: rows})
	if err != nil {
		return err
	}
	var res eval.Result
	labelledPart(ctx, f.env, func(ctx context.Context) {
		res, err = trial.Learn(ctx)
		rows.Release() // which the learner would keep while it scores
	}, "stage", "learn")
	u.result = Fold{Repeat: s.repeat + 1, Fold: s.number + 1, Train: s.train.Info.Rows,
		Test: s.test.Info.Rows, Epochs: res.Epochs, Updates: res.Updates,
		Converged: res.Converged, Seconds: res.Learn.Seconds()}
	if res.Fit != nil {
		u.result.rows = res.Fit.KernelRows
	}
	if errors.Is(err, training.ErrDiverged) {
		u.result.Failed = err.Error()
	}
	if err != nil {
		return err
	}
	p := trial.Predictor(res)
	scorer, err := newFoldScorer(f.Score, p)
	if err != nil {
		return err
	}
	labelledPart(ctx, f.env, func(ctx context.Context) {
		err = eval.Score(ctx, p, eval.NewMemory(&s.test.Block, nil),
			func(b *engine.Block[T], scores []float64) error {
				u.count(b, scores)
				return scorer.add(b, scores)
			})
	}, "stage", "measure")
	u.result.Error = float64(u.result.Errors) / float64(u.result.Test)
	if err == nil && scorer != nil {
		var v float64
		v, err = scorer.value()
		u.result.Score = &v
	}
	return err
}

// count counts the errors in a tested block.
func (u *unit[T]) count(b *engine.Block[T], scores []float64) {
	k := len(scores) / b.Len()
	for i := range b.Len() {
		var c eval.Count
		if b.Class != nil {
			c.Add(1, learner.ClassScore(scores[i*k:][:k], int(b.Class[i])))
		} else {
			c.Add(float64(b.Y[i]), scores[i])
		}
		u.result.Errors += c.Errors
		u.wrong = append(u.wrong, c.Errors > 0)
	}
}

// crossValidate is CrossValidate in the precision of T.
func crossValidate[T engine.Float](ctx context.Context, j *training.Job, folds Folds,
	env training.Env, pool *engine.Pool, watch func(FoldStatus)) (*CrossValidation, error) {
	f := &foldRuns[T]{Folds: folds, jobs: []*training.Job{j}, env: &env, pool: pool}
	started := time.Now()
	if err := f.read(ctx); err != nil {
		return nil, err
	}
	n := folds.Folds * folds.Repeats
	units := make([]*unit[T], n)
	for k := range units {
		units[k] = &unit[T]{fold: k}
	}
	var mu sync.Mutex
	var status FoldStatus
	var sum, score float64
	f.told = func(u *unit[T]) {
		mu.Lock()
		defer mu.Unlock()
		if u.err != nil {
			return
		}
		status.Done++
		sum += u.result.Error
		if v := u.result.Score; v != nil {
			score += *v
		}
		if watch != nil {
			done := float64(status.Done)
			status.Total, status.Error, status.Score = n, sum/done, score/done
			status.Elapsed = time.Since(started)
			status.Left = time.Duration(float64(status.Elapsed) * (float64(n) - done) / done)
			watch(status)
		}
	}
	err := f.train(ctx, units)
	res := &CrossValidation{Info: f.preps[0].data.Info, Precision: j.Precision(), Seed: j.Seed()}
	var diverged []error
	for _, u := range units {
		if errors.Is(u.err, training.ErrDiverged) {
			diverged = append(diverged, u.err)
		} else if err == nil {
			err = u.err
		}
		res.Folds = append(res.Folds, u.result)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("training: %w after %d of %d folds", training.ErrStopped,
				status.Done, n)
		}
		return nil, err
	}
	res.Learner, res.Config = units[0].own.Learner(), units[0].own.Config()
	res.KernelRows = f.kernelRows(res.Folds)
	res.CVResult.sum(f.Score)
	if e := (*training.Error)(nil); diverged != nil && errors.As(diverged[0], &e) {
		return res, training.NewError(training.ErrDiverged, "", "in %d of %d folds: %w",
			len(diverged), n, e.Err)
	}
	return res, nil
}

// tuneFolds judges settings by cross-validation, one fold after another.
func tuneFolds[T engine.Float](ctx context.Context, jobs []*training.Job, t TuneOptions,
	env training.Env, pool *engine.Pool, res *TuneResult, started time.Time, board *board) error {
	f := &foldRuns[T]{Folds: t.Folds, jobs: jobs, env: &env, pool: pool,
		names: append([]string{}, t.Names...)}
	if err := f.read(ctx); err != nil {
		return err
	}
	res.Info = f.preps[0].data.Info
	for i := range res.Trials {
		res.Trials[i].CV = &CVResult{}
	}
	clock, total := clock{started: started}, t.Folds.Folds*t.Folds.Repeats
	for k := range total {
		splits := make([]*split[T], len(f.preps))
		var err error
		training.Labelled(ctx, "stage", "split", func(context.Context) {
			for p := range splits {
				if err == nil {
					splits[p], err = f.at(p, k)
				}
			}
		})
		if err != nil {
			return err
		}
		var units []*unit[T]
		for _, i := range board.alive {
			units = append(units, &unit[T]{setting: i, fold: k, split: splits[f.of[i]]})
		}
		if err := f.train(ctx, units); err != nil {
			return fmt.Errorf("training: %w after %d of %d folds", training.ErrStopped, k, total)
		}
		for _, u := range units {
			if err := u.judge(ctx, &res.Trials[u.setting], board, t.Score); err != nil {
				return err
			}
		}
		if k+1 < total {
			board.eliminate(t.Alpha)
		}
		t.tell(board, &clock, float64(k+1)/float64(total), board.records[board.alive[0]].n)
	}
	folds := make([][]Fold, len(res.Trials))
	for i := range res.Trials {
		res.Trials[i].CV.sum(t.Score)
		folds[i] = res.Trials[i].CV.Folds
	}
	res.KernelRows = f.kernelRows(folds...)
	return nil
}

// judge adds the fold to the record of the setting, or takes the setting out if it failed. It is an
// error if none is left.
func (u *unit[T]) judge(ctx context.Context, t *TrialResult, b *board, score string) error {
	if u.err != nil {
		stopped := training.Interrupted(ctx, u.err) || errors.Is(u.err, training.ErrStopped)
		if t.Failed = u.err.Error(); stopped || len(b.alive) == 1 {
			return u.err
		}
		b.leave(u.setting)
		return nil
	}
	t.CV.Folds = append(t.CV.Folds, u.result)
	t.Seconds += u.result.Seconds
	r := &b.records[u.setting]
	for _, wrong := range u.wrong {
		r.add(wrong)
	}
	if score != "" {
		r.lose(aLoss(score, *u.result.Score))
	}
	return nil
}
