package compare

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/stat"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// Ways of judging settings.
const (
	// Progressive: each example is predicted before it is learned, in one pass.
	Progressive = "progressive"
	// ByFolds: by cross-validation.
	ByFolds = "cv"
)

// DefaultAlpha is TuneOptions.Alpha of the command.
const DefaultAlpha = 0.05

// TuneOptions say how Tune judges settings. The zero value is one pass in which no setting is
// dropped.
type TuneOptions struct {
	// By is Progressive or ByFolds; "" stands for Progressive. Default "".
	By string
	// Score is what settings are judged by; "" stands for ScoreError. In one pass it may be
	// ScoreLogLoss or ScoreBrier, which are means over the examples: Student's paired test of these
	// is in the place of McNemar's. With ByFolds it may be any, and is the mean of the folds, which
	// are compared by the corrected test of stat.Sample.Resampled, from the third on. Probabilities
	// are the learner's, or with ByFolds those of Options.Calibrate. Default ""; one of Scores.
	Score string
	// Alpha is the level of the paired tests by which settings leave early: those that McNemar's
	// test of one side, or that of Score, finds worse than the best so far, at this level for all
	// settings of a look together (Holm). Looks are at 256 examples, 384, 512, 768 and so on, or
	// after each fold. 0 keeps all settings to the end. Default 0; 0 to below 1.
	Alpha float64
	// Folds are those of ByFolds. Its zero value is five, stratified. Its Score is that above.
	Folds Folds
	// Names are those of the settings, for the label "setting" of profiles' samples. Default nil:
	// their numbers, from 0.
	Names []string
	// Watch, if there, is called now and then with how far it is, by the goroutine of Tune.
	Watch func(TuneStatus)
}

// TuneStatus is how far Tune is.
type TuneStatus struct {
	Examples int64         // judged on, so far
	Share    float64       // of all the work, from 0 to 1; 0 where it is not known
	Alive    int           // settings that are not dropped
	Leader   int           // number of the best so far
	Error    float64       // its share of errors
	Score    float64       // likewise, what settings are judged by where that isn't errors
	Elapsed  time.Duration // since the beginning
	Left     time.Duration // as the latest stretch went; 0 where it is not known
}

// TrialResult is the result of one setting.
type TrialResult struct {
	Examples int64   `json:"examples"` // that it was judged on: fewer than others if it was dropped
	Errors   int64   `json:"errors"`
	Error    float64 `json:"error"` // share of them
	Dropped  bool    `json:"dropped"`
	// Failed says why it could not go on, or why it can't be saved; "" where it could.
	Failed string `json:"failed,omitempty"`
	// Score is what TuneOptions.Score came to: the mean of the examples, or of the folds; nil where
	// that is errors.
	Score *float64 `json:"score,omitempty"`
	// Behind is the share of errors less that of the best, on the examples that both were judged
	// on, PM half its 95 % interval, and P McNemar's, adjusted for all settings (Holm). Of the best
	// one 0, 0 and 1. With a Score it is how much worse that is, by the examples or folds of both,
	// and PM and P are Student's.
	Behind float64 `json:"behind"`
	PM     float64 `json:"behind_pm"`
	P      float64 `json:"p"`
	// CV is the result of the folds; nil without.
	CV *CVResult `json:"cv,omitempty"`
	// Seconds that it was learned for.
	Seconds float64 `json:"seconds"`
}

// TuneResult is the result of Tune.
type TuneResult struct {
	Best     int   // number of the best setting
	Order    []int // of all settings: the best first, those that were dropped last
	Trials   []TrialResult
	Examples int64 // that the best was judged on
	Info     dataset.Info
	Saved    *training.Saved // the best one's model, where Options.Model asks for it
	// KernelRows counts those that the folds of all settings asked for, as CrossValidation's do.
	KernelRows engine.RowStats
	Total      time.Duration
}

// Tune finds the best of several settings: Options that may differ in the learner, its settings,
// Seed, Scale, Bias, Normalize and Rho. Everything else, such as the files, is that of the first.
// All are judged on the same examples, which are read once. One worker at a time learns a setting.
//
// Progressive judges all settings in one pass, over files, an endless stream or standard input.
// Epochs count for the model alone, and batch learners are refused. The order is that of the first
// epoch of a Run: shuffled with Shuffle, or if a setting leaves Epochs to a small data set. ByFolds
// reads the examples into memory and trains each setting on each fold; see CrossValidate.
//
// The best setting has the fewest errors, or the best Score; the first of equals. If the first
// Options name a Model, it has the bytes that Run writes: from the pass if that was such a run (one
// epoch), else from a Run of its own.
//
// Results depend on the options and the data alone, not on Threads or time. Errors are those of
// Run; that of a single setting, such as weights that are not finite, is its Failed. With
// ErrStopped comes the result of the pass so far, without a model, if there is any.
//
// Cost: reading and preparing once, and learning of all settings that are left; memory of all
// learners, and for each example and setting a bit, with a Score 8 bytes. Env.Observer hears of bad
// rows, and of the Run at the end.
//
// Samples of profiles (runtime/pprof) have the label stage: read, learn, judge, and with ByFolds
// split and measure. Those of a setting also have learner, setting (its name of TuneOptions.Names),
// and with ByFolds fold, as CrossValidate says. Workers of Env.Pool have none.
func Tune(ctx context.Context, settings []training.Options, t TuneOptions,
	env training.Env) (*TuneResult, error) {
	started := time.Now()
	if err := t.check(); err != nil {
		return nil, err
	}
	judged, folds := slices.Clone(settings), t.By == ByFolds
	for i, o := range judged {
		judged[i] = scoresOf(t.Score, folds, o)
	}
	jobs, err := jobsOf(judged, env, false)
	if err != nil {
		return nil, err
	}
	next := findThem
	if !folds {
		next = "Judge by cross-validation: {by} " + ByFolds + ", with {calibrate} platt."
	}
	if err := haveProbabilities(t.Score, jobs, calibrations(settings), folds, next); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if t.By == Progressive && !j.OnePass() {
			return nil, badOption("Judge by cross-validation: {by} "+ByFolds+".",
				"{by} %s takes one pass, and %s is to pass over a whole data set", t.By,
				j.Learner())
		}
	}
	if err := t.readTwice(jobs, settings); err != nil {
		return nil, err
	}
	run := func() (*TuneResult, error) { return t.tune(ctx, jobs, settings, &env, started) }
	res, err := run()
	if thirdLabel(jobs, err) {
		res, err = run()
	}
	if err != nil && !(errors.Is(err, training.ErrStopped) && res != nil && res.Order != nil) {
		return nil, err
	}
	res.Total = time.Since(started)
	return res, err
}

// check fills in defaults and refuses what can't be.
func (t *TuneOptions) check() error {
	if t.By == "" {
		t.By = Progressive
	}
	switch {
	case t.By != Progressive && t.By != ByFolds:
		return badOption("", "{by} %q: want %s or %s", t.By, Progressive, ByFolds)
	case t.By == Progressive && t.Folds.Score != "":
		return badOption("", "{score} of folds, which are not judged")
	case !(t.Alpha >= 0 && t.Alpha < 1):
		return badOption("0 drops no setting.", "{alpha} %v: want 0 to below 1", t.Alpha)
	}
	if err := checkScore(&t.Score); err != nil {
		return err
	}
	if t.By == Progressive {
		return notInOnePass(t.Score, "Judge by cross-validation: {by} "+ByFolds+".")
	}
	t.Folds.Score = t.Score
	return t.Folds.check()
}

// tune is Tune of jobs.
func (t *TuneOptions) tune(ctx context.Context, jobs []*training.Job, settings []training.Options,
	env *training.Env, started time.Time) (*TuneResult, error) {
	res := &TuneResult{Trials: make([]TrialResult, len(jobs))}
	if t.By == ByFolds {
		board := newBoard(len(jobs), t.Score, t.Folds.Folds)
		pool, done := env.Workers(settings[0].Threads)
		defer done()
		inFolds := tuneFolds[float32]
		if jobs[0].Precision() == "f64" {
			inFolds = tuneFolds[float64]
		}
		var err error
		training.Labelled(ctx, "stage", "judge", func(ctx context.Context) {
			err = inFolds(ctx, jobs, *t, *env, pool, res, started, board)
		})
		if err != nil {
			return res, err
		}
		res.judge(t, board, nil)
		return res, tuneRun(ctx, settings, *env, res)
	}
	k := newContest(entrantsOf(jobs), jobs, t.Score, t.Names, env)
	defer k.close()
	k.alpha = t.Alpha
	clock := clock{started: started}
	k.watch = func(share float64, examples int64) { t.tell(k.board, &clock, share, examples) }
	stopped := k.judge(ctx, settings[0].Files, settings[0].Threads)
	if stopped != nil && !k.found(stopped) {
		return nil, stopped
	}
	k.warn()
	failed := make([]error, len(jobs))
	for i, e := range k.entrants {
		failed[i] = e.broken()
		res.Trials[i].Seconds = e.res.Learn.Seconds()
	}
	if err := res.judge(t, k.board, failed); err != nil {
		return nil, err
	}
	best := k.entrants[res.Best]
	if res.Info = best.worker.info(); stopped != nil || settings[0].Model == "" {
		return res, stopped
	}
	if t.trainedApart(jobs, settings, res.Best) {
		return res, tuneRun(ctx, settings, *env, res)
	}
	var err error
	res.Saved, err = best.worker.save(settings[0].Model, best.res)
	return res, err
}

// shuffled reports whether a job learns in a random order.
func shuffled(jobs []*training.Job) bool {
	return slices.ContainsFunc(jobs, func(j *training.Job) bool { return j.Options().Shuffle })
}

// trainedApart reports whether the model of setting i takes a run of its own: what it learns while
// it is judged is not what that run learns.
func (t *TuneOptions) trainedApart(jobs []*training.Job, settings []training.Options, i int) bool {
	j, o := jobs[i], &settings[i]
	own, mixed := j.Options(), shuffled(jobs)
	return t.By == ByFolds || own.Epochs > 1 || own.Shuffle != mixed ||
		j.InMemory() != slices.ContainsFunc(jobs, (*training.Job).InMemory) ||
		mixed && j.Seed() != jobs[0].Seed() || o.PredictOnly || len(o.Test) > 0
}

// readTwice refuses a model that takes a second reading of what can be read once.
func (t *TuneOptions) readTwice(jobs []*training.Job, settings []training.Options) error {
	name := jobs[0].ReadOnce()
	if settings[0].Model == "" || name == "" {
		return nil
	}
	for i := range jobs {
		if t.trainedApart(jobs, settings, i) {
			return badOption("Put the examples into a file, or leave the model out.",
				"{model}: the best setting is trained once more, and %s can be read once", name)
		}
	}
	return nil
}

// tuneRun trains the best setting as Run does, if its model is wanted.
func tuneRun(ctx context.Context, settings []training.Options, env training.Env,
	res *TuneResult) error {
	if settings[0].Model == "" {
		return nil
	}
	o := settings[res.Best]
	o.Model = settings[0].Model
	r, err := training.Run(ctx, o, env)
	if r != nil {
		res.Saved = r.Saved
	}
	return err
}

// judge orders the settings by their records. A setting that failed is none of the
// best; if all did, the first one's error is returned.
func (res *TuneResult) judge(by *TuneOptions, r *board, failed []error) error {
	n := len(res.Trials)
	whole := make([]bool, n)
	for _, i := range r.alive {
		whole[i] = failed == nil || failed[i] == nil
	}
	res.Order = make([]int, n)
	for i := range res.Order {
		res.Order[i] = i
	}
	slices.SortStableFunc(res.Order, func(a, b int) int {
		switch {
		case whole[a] != whole[b]:
			if whole[a] {
				return -1
			}
			return 1
		case r.records[a].n != r.records[b].n: // that came further
			return cmp.Compare(r.records[b].n, r.records[a].n)
		}
		return cmp.Compare(r.mean(a), r.mean(b))
	})
	res.Best = res.Order[0]
	if !whole[res.Best] {
		return failed[slices.IndexFunc(failed, func(err error) bool { return err != nil })]
	}
	res.Examples = r.records[res.Best].n
	var p []float64
	for i := range n {
		if i != res.Best {
			_, _, one := r.differ(i, res.Best)
			p = append(p, one)
		}
	}
	p = slices.Insert(stat.Holm(p), res.Best, 1)
	for i := range n {
		t := &res.Trials[i]
		t.Examples, t.Errors, t.P = r.records[i].n, r.records[i].errors, p[i]
		t.Error = r.records[i].rate()
		if by.Score != "" {
			v := aLoss(by.Score, r.mean(i))
			t.Score = &v
		}
		t.Dropped = !slices.Contains(r.alive, i)
		if i != res.Best {
			t.Behind, t.PM, _ = r.differ(i, res.Best)
		}
		if failed != nil && failed[i] != nil {
			t.Failed = failed[i].Error()
		}
	}
	return nil
}

// clock tells how long work will take.
type clock struct {
	started time.Time
	at      time.Duration
	share   float64
	rate    float64 // of shares to seconds
}

// left is how long it will take from here, where share of it is done: as it went since about a
// tenth of it before, since less is left to do where settings are dropped.
func (c *clock) left(share float64) (elapsed, left time.Duration) {
	elapsed = time.Since(c.started)
	if share <= 0 {
		return elapsed, 0
	}
	if took := (elapsed - c.at).Seconds(); share > c.share && took > 0 {
		c.rate = (share - c.share) / took
		if share-c.share > 0.1 {
			c.share, c.at = share, elapsed
		}
	}
	if c.rate <= 0 {
		return elapsed, 0
	}
	return elapsed, time.Duration(max(0, 1-share) / c.rate * float64(time.Second))
}

// tell calls Watch.
func (t *TuneOptions) tell(r *board, c *clock, share float64, examples int64) {
	if t.Watch == nil {
		return
	}
	s := TuneStatus{Examples: examples, Share: share, Alive: len(r.alive), Leader: r.leader()}
	s.Error = r.records[s.Leader].rate()
	if t.Score != "" {
		s.Score = aLoss(t.Score, r.mean(s.Leader))
	}
	s.Elapsed, s.Left = c.left(share)
	t.Watch(s)
}
