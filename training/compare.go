package training

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval/stat"
	"github.com/halfspace-ml/halfspace/model"
)

// Verdicts of a Pair.
const (
	// FirstBetter: the first makes fewer errors.
	FirstBetter = "first"
	// SecondBetter: the second does.
	SecondBetter = "second"
	// Undecided: these examples don't show which one does.
	Undecided = "undecided"
)

// leastBatches is how many batches Student's test of them needs to be believed.
const leastBatches = 20

// Standing is what one of several made of the examples.
type Standing struct {
	Errors  int64   `json:"errors"`
	Error   float64 `json:"error"`    // share of them
	PM      float64 `json:"error_pm"` // half its 95 % interval, as if it stood alone
	Seconds float64 `json:"seconds"`  // of predicting, and learning
	// Score is what Contest.Score came to, and ScorePM half its 95 % interval; nil without.
	Score   *float64 `json:"score,omitempty"`
	ScorePM *float64 `json:"score_pm,omitempty"`
	Failed  string   `json:"failed,omitempty"`
}

// Pair is how two of several differ.
type Pair struct {
	First  int `json:"first"` // numbers of the two
	Second int `json:"second"`
	// FirstAlone and SecondAlone are the examples that one alone got wrong.
	FirstAlone  int64 `json:"first_alone"`
	SecondAlone int64 `json:"second_alone"`
	// Difference is the first's share of errors less the second's, PM half its 95 % interval: the
	// wider of those by pairs of examples and by batches.
	Difference float64 `json:"difference"`
	PM         float64 `json:"difference_pm"`
	McNemar    float64 `json:"mcnemar"` // p
	// With a Score, Difference and PM are of that, and ExamplesT is p of Student's test of the
	// differences in each example, which then stands in for McNemar's in P; nil without.
	ExamplesT *float64 `json:"examples_t,omitempty"`
	// PairedT is p of Student's test of the differences in batches of examples that follow each
	// other, which counts with it that errors of neighbours are not independent; Batches is how
	// many there were, 0 for fewer than 20, where PairedT is 1.
	PairedT float64 `json:"paired_t"`
	Batches int64   `json:"batches"`
	Batch   int64   `json:"batch"` // examples of each
	// P is the larger of McNemar's and Student's, adjusted for all pairs (Holm).
	P       float64 `json:"p"`
	Verdict string  `json:"verdict"` // at a level of 0.05
}

// Comparison is what came of Compare.
type Comparison struct {
	Examples  int64
	Standings []Standing
	Order     []int   // numbers, the fewest errors or least Score first
	Pairs     []Pair  // of all that did not fail, in order
	Q, P      float64 // Cochran's Q of three or more, and its probability; 0 and 1 of two
	Info      dataset.Info
	Total     time.Duration
}

// Contest says what Compare compares, on which examples. There are Settings, or there are Models.
type Contest struct {
	// Settings are Options of learners, which learn as Tune says: side by side in one pass, each
	// example predicted before it is learned. They may differ in Precision, too. Default nil; two
	// or more.
	Settings []Options
	// Models predict the examples and learn nothing. Their labels and formats must be the same.
	// Default nil; two or more.
	Models []*model.Model
	// Files, Data and Threads are those of the examples that the Models predict, as in Options.
	// Bias, Normalize and Scale are the models' own. With Settings they are not looked at.
	Files   []string
	Data    Data
	Threads int
	// Score is what is compared: ScoreLogLoss and ScoreBrier are means over the examples, as errors
	// are, and take probabilities of all; other scores are refused. "" stands for ScoreError.
	// Default "".
	Score string
	// Names are those of the settings or models, for the label "setting" or "model" of profiles'
	// samples. Default nil: their numbers, from 0.
	Names []string
	// Watch, if there, is called now and then with how far it is, by the goroutine of Compare.
	Watch func(TuneStatus)
}

// Compare has learners, or models, predict the same examples, and says how they differ: by
// McNemar's test, by Student's paired test over batches, and of three or more by Cochran's Q. The
// examples are read once, in a pass that a stream of any length will do for, and standard input
// too, in the order that Tune says. Results depend on the contest and the data alone, not on
// Threads.
//
// Errors are those of Run, and of kind ErrModel for models that don't belong together; one that a
// single learner meets is its Standing's Failed, that it diverged by the end among them: it is in
// no pair then. With ErrStopped comes what was found by then, if
// anything was. Cost: reading once, predicting and learning of
// all; memory of all, and of their pairs.
//
// Samples of profiles (runtime/pprof) have the label stage: read, judge, and learn, or of models
// predict. The latter two also have learner and setting, or model (Contest.Names); workers of
// Env.Pool have none.
func Compare(ctx context.Context, c Contest, env Env) (*Comparison, error) {
	started := time.Now()
	if (len(c.Settings) < 2) == (len(c.Models) < 2) {
		return nil, badOption("", "{settings}, {models}: want two or more of either")
	}
	var jobs []*Job
	err := checkScore(&c.Score)
	if err == nil {
		err = notInOnePass(c.Score, "Judge by cross-validation.")
	}
	if err != nil {
		return nil, err
	}
	threads := c.Threads
	if len(c.Models) > 0 {
		jobs, err = c.predictors(env)
	} else if jobs, err = c.learners(env); err == nil {
		threads = c.Settings[0].Threads
		err = oneFor(jobs)
	}
	if err != nil {
		return nil, err
	}
	run := func() (*Comparison, error) {
		pool, done := env.workers(threads)
		defer done()
		return compare(ctx, &c, jobs, pool, &clock{started: started}, env)
	}
	res, err := run()
	if len(c.Models) == 0 && thirdLabel(jobs, err) {
		res, err = run()
	}
	if res == nil {
		return nil, err
	}
	res.Total = time.Since(started)
	return res, err
}

// learners makes jobs of the settings.
func (c *Contest) learners(env Env) ([]*Job, error) {
	judged := slices.Clone(c.Settings)
	for i, o := range judged {
		judged[i] = scoresOf(c.Score, false, o)
	}
	jobs, err := rivalsOf(judged, env, true)
	if err != nil {
		return nil, err
	}
	return jobs, haveProbabilities(c.Score, jobs, calibrations(c.Settings), false,
		"Train with {calibrate} platt, and compare the models.")
}

// oneFor refuses jobs that one pass is not enough for.
func oneFor(jobs []*Job) error {
	for _, j := range jobs {
		if j.o.needsWhole(j.traits) || j.o.UntilConverged {
			return badOption("Train it, and compare models.",
				"one pass is taken, and %s is to pass over a whole data set", j.name)
		}
	}
	return nil
}

// predictors makes jobs of models, for how their examples are read.
func (c *Contest) predictors(env Env) (jobs []*Job, err error) {
	if len(c.Files) == 0 {
		return nil, badOption("Name one; - is standard input.", "{files}: none is given")
	}
	observer := env.observer()
	for _, m := range c.Models {
		j := &Job{o: Options{Files: c.Files}, observer: observer, env: Env{Pool: env.Pool},
			name: m.Learner, before: m, precision: m.Precision, data: c.Data.Reading()}
		j.data.Workers = c.Threads
		AsTrained(&j.data, m)
		jobs = append(jobs, j)
	}
	for i, j := range jobs[1:] {
		o, first := j.data, jobs[0].data
		jobs[0].data.Dim = max(o.Dim, first.Dim) // of features beyond, readers only count
		if o.Dim = first.Dim; !reflect.DeepEqual(unprepared(o), unprepared(first)) {
			return nil, newError(ErrModel, "Train them on files of one kind, with the same labels.",
				"models 1 and %d read examples differently: other labels or columns", i+2)
		}
	}
	jobs[0].data.OnBad, jobs[0].data.OnWarn = observer.BadRow, observer.Odd
	return jobs, nil
}

// compare is Compare of jobs.
func compare(ctx context.Context, c *Contest, jobs []*Job, pool *engine.Pool, clock *clock,
	env Env) (*Comparison, error) {
	s := &side{race: newRace(len(jobs)), pool: pool, rivals: make([]contender, len(jobs)),
		jobs: jobs, labels: []string{"stage", "learn", "setting"}, names: c.Names}
	if len(c.Models) > 0 {
		s.labels = []string{"stage", "predict", "model"}
	}
	var of [2][]*Job // f32, f64
	for _, j := range jobs {
		wide := 0
		if j.precision == "f64" {
			wide = 1
		}
		of[wide] = append(of[wide], j)
	}
	s.race.judge(c.Score, 0)
	inMemory := len(c.Models) == 0 && slices.ContainsFunc(jobs, (*Job).inMemory)
	narrow, wide := newReading[float32](of[0]), newReading[float64](of[1])
	defer narrow.close()
	defer wide.close()
	var err error
	labelled(ctx, "stage", "read", func(ctx context.Context) {
		switch {
		case len(of[1]) == 0:
			s.in, err = narrow, narrow.open(ctx, jobs[0], inMemory)
		case len(of[0]) == 0:
			s.in, err = wide, wide.open(ctx, jobs[0], inMemory)
		default:
			narrow.apart, wide.apart, wide.also = true, true, true
			b := &both{wide: wide, narrow: narrow}
			s.in, err = b, wide.open(ctx, jobs[0], inMemory)
			if err == nil {
				err = b.open(jobs[0])
			}
		}
	})
	if err != nil {
		return nil, unread(ctx, err)
	}
	if err := enter(c, s, jobs, narrow); err != nil {
		return nil, err
	}
	if err := enter(c, s, jobs, wide); err != nil {
		return nil, err
	}
	order := orderOf(jobs, max(narrow.total, wide.total))
	narrow.rewind(order)
	wide.rewind(order)
	watch := TuneOptions{Watch: c.Watch, Score: c.Score}
	s.watch = func(share float64, examples int64) { watch.tell(s.race, clock, share, examples) }
	stopped := s.pass(ctx)
	if stopped != nil && !s.judges(stopped) {
		return nil, stopped
	}
	if len(c.Models) == 0 {
		if err := s.diverged(env, c.Names); err != nil {
			return nil, err
		}
		s.warn(env)
	}
	res := &Comparison{Info: s.rivals[0].data(), P: 1}
	for i, rival := range s.rivals {
		v := rival.stands()
		st := Standing{Errors: s.race.errors[i], Seconds: v.res.Learn.Seconds()}
		st.Error = float64(st.Errors) / float64(max(1, s.race.seen[i]))
		_, st.PM = stat.Split{N: max(1, s.race.seen[i]), First: st.Errors}.Difference()
		if s.race.losing() {
			loss := s.race.judged[i]
			_, half := s.race.test(loss)
			st.Score, st.ScorePM = &loss.Mean, &half
		}
		if v.err != nil {
			st.Failed = v.err.Error()
		}
		res.Standings = append(res.Standings, st)
		res.Order = append(res.Order, i)
	}
	res.pairs(s.race)
	return res, stopped
}

// enter makes the rivals of the jobs that a reading is for.
func enter[T engine.Float](c *Contest, s *side, jobs []*Job, in *reading[T]) error {
	for k, j := range in.jobs {
		v := &rival[T]{run: run[T]{j: j}, prep: in.of[k]}
		i := slices.Index(jobs, j)
		s.rivals[i] = v
		var err error
		if len(c.Models) == 0 {
			err = v.begin(in)
		} else {
			v.info = func() dataset.Info { return in.info(v.prep) }
			if v.view, err = model.RestorePredictor[T](c.Models[i], nil); err != nil {
				err = wrapped(ErrModel, err)
			}
		}
		if err == nil {
			err = v.judge(c.Score)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pairs fills in how they differ.
func (res *Comparison) pairs(r *race) {
	res.Examples = r.seen[r.alive[0]]
	slices.SortStableFunc(res.Order, func(a, b int) int {
		x, y := res.Standings[a], res.Standings[b]
		switch {
		case (x.Failed == "") != (y.Failed == ""):
			return len(x.Failed) - len(y.Failed)
		}
		return cmp.Compare(r.mean(a), r.mean(b))
	})
	var p []float64
	for k, i := range r.alive {
		for _, j := range r.alive[k+1:] {
			s, b := r.split(i, j), r.batches(i, j)
			d, pm, one := r.differ(i, j)
			q := Pair{First: i, Second: j, FirstAlone: s.First, SecondAlone: s.Second,
				McNemar: s.P(), PairedT: 1, Batch: r.batch, Difference: d, PM: pm}
			most := one
			if r.losing() {
				q.ExamplesT = &one
			}
			if b.N >= leastBatches {
				var half float64
				_, q.PairedT, half = b.TTest()
				q.Batches, q.PM, most = b.N, max(q.PM, half), max(most, q.PairedT)
			}
			p = append(p, most)
			res.Pairs = append(res.Pairs, q)
		}
	}
	for k, p := range stat.Holm(p) {
		q := &res.Pairs[k]
		switch q.P = p; {
		case p > 0.05:
			q.Verdict = Undecided
		case q.Difference < 0:
			q.Verdict = FirstBetter
		default:
			q.Verdict = SecondBetter
		}
	}
	if len(r.alive) == len(r.seen) && len(r.alive) > 2 && !r.losing() {
		res.Q, res.P = r.cochran()
	}
}
