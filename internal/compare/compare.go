package compare

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/stat"
	"github.com/halfspace-ml/halfspace/internal/training"
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

// CandidateResult is what one of several made of the examples.
type CandidateResult struct {
	Errors  int64   `json:"errors"`
	Error   float64 `json:"error"`    // share of them
	PM      float64 `json:"error_pm"` // half its 95 % interval, as if it stood alone
	Seconds float64 `json:"seconds"`  // of predicting, and learning
	// Score is what CompareOptions.Score came to, and ScorePM half its 95 % interval; nil without.
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

// Comparison is the result of Compare.
type Comparison struct {
	Examples int64
	Results  []CandidateResult
	Order    []int   // numbers, the fewest errors or least Score first
	Pairs    []Pair  // of all that did not fail, in order
	Q, P     float64 // Cochran's Q of three or more, and its probability; 0 and 1 of two
	Info     dataset.Info
	Total    time.Duration
}

// CompareOptions says what Compare compares, on which examples: either Settings or Models.
type CompareOptions struct {
	// Settings are Options of learners, which learn as Tune says: side by side in one pass, each
	// example predicted before it is learned. They may differ in Precision, too. Default nil; two
	// or more.
	Settings []training.Options
	// Models predict the examples and learn nothing. Their labels and formats must be the same.
	// Default nil; two or more.
	Models []*model.Model
	// Files, Data and Threads are those of the examples that the Models predict, as in Options.
	// Bias, Normalize and Scale are the models' own. With Settings they are not looked at.
	Files   []string
	Data    training.Data
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

// Compare has learners, or models, predict the same examples, and tests how they differ: by
// McNemar's test, by Student's paired test over batches, and of three or more by Cochran's Q. The
// examples are read once, in one pass in the order that Tune takes, from files, an endless stream
// or standard input. Only if both precisions are compared are all examples held in memory. Results
// depend on the contest and the data alone, not on Threads.
//
// Errors are those of Run, and of kind ErrModel for models that do not belong together. That of a
// single learner, such as weights that are not finite, is its Failed, and it is in no pair. With
// ErrStopped comes what was found so far, if anything was. Cost: reading once, predicting and
// learning; memory of all learners, and for each example and learner a bit, with a Score
// 8 bytes.
//
// Samples of profiles (runtime/pprof) have the label stage: read, judge, and learn, or of models
// predict. The latter two also have learner and setting, or model (CompareOptions.Names). Workers
// of Env.Pool have none.
func Compare(ctx context.Context, c CompareOptions, env training.Env) (*Comparison, error) {
	started := time.Now()
	if (len(c.Settings) < 2) == (len(c.Models) < 2) {
		return nil, badOption("", "{settings}, {models}: want two or more of either")
	}
	err := checkScore(&c.Score)
	if err == nil {
		err = notInOnePass(c.Score, "Judge by cross-validation.")
	}
	if err != nil {
		return nil, err
	}
	var jobs []*training.Job
	var entrants []*entrant
	files, threads := c.Files, c.Threads
	if len(c.Models) > 0 {
		entrants, err = c.predictors(env)
	} else if jobs, err = c.learners(env); err == nil {
		files, threads = c.Settings[0].Files, c.Settings[0].Threads
	}
	if err != nil {
		return nil, err
	}
	run := func() (*Comparison, error) {
		if jobs != nil {
			entrants = entrantsOf(jobs)
		}
		k := newContest(entrants, jobs, c.Score, c.Names, &env)
		defer k.close()
		clock, watch := clock{started: started}, TuneOptions{Watch: c.Watch, Score: c.Score}
		k.watch = func(share float64, examples int64) {
			watch.tell(k.board, &clock, share, examples)
		}
		return k.compared(k.judge(ctx, files, threads))
	}
	res, err := run()
	if thirdLabel(jobs, err) {
		res, err = run()
	}
	if res == nil {
		return nil, err
	}
	res.Total = time.Since(started)
	return res, err
}

// learners makes jobs of the settings.
func (c *CompareOptions) learners(env training.Env) ([]*training.Job, error) {
	judged := slices.Clone(c.Settings)
	for i, o := range judged {
		judged[i] = scoresOf(c.Score, false, o)
	}
	jobs, err := jobsOf(judged, env, true)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if !j.OnePass() {
			return nil, badOption("Train it, and compare models.",
				"one pass is taken, and %s is to pass over a whole data set", j.Learner())
		}
	}
	return jobs, haveProbabilities(c.Score, jobs, calibrations(c.Settings), false,
		"Train with {calibrate} platt, and compare the models.")
}

// predictors makes entrants of models.
func (c *CompareOptions) predictors(env training.Env) (all []*entrant, err error) {
	if len(c.Files) == 0 {
		return nil, badOption("Name one; - is standard input.", "{files}: none is given")
	}
	for _, m := range c.Models {
		e := &entrant{model: m, name: m.Learner, precision: m.Precision, data: c.Data.Reading()}
		e.data.Workers = c.Threads
		training.AsTrained(&e.data, m)
		all = append(all, e)
	}
	first := all[0]
	for i, e := range all[1:] {
		o, dim := e.data, first.data.Dim
		first.data.Dim = max(o.Dim, dim) // of features beyond, readers only count
		o.Dim = first.data.Dim
		if !reflect.DeepEqual(unprepared(o), unprepared(first.data)) {
			return nil, training.NewError(training.ErrModel,
				"Train them on files of one kind, with the same labels.",
				"models 1 and %d read examples differently: other labels or columns", i+2)
		}
	}
	first.data.OnBad, first.data.OnWarn = observer(&env).BadRow, observer(&env).Odd
	return all, nil
}

// compared is the result of a pass that ended with that error.
func (k *contest) compared(err error) (*Comparison, error) {
	if err != nil && !k.found(err) {
		return nil, err
	}
	if k.jobs != nil {
		if err := k.retireDiverged(); err != nil {
			return nil, err
		}
		k.warn()
	}
	res := &Comparison{P: 1, Info: k.entrants[0].worker.info()}
	for i, e := range k.entrants {
		r := &k.records[i]
		c := CandidateResult{Errors: r.errors, Error: r.rate(), Seconds: e.res.Learn.Seconds()}
		if _, c.PM = (stat.Split{N: max(1, r.n), First: r.errors}).Difference(); k.byLosses() {
			mean := r.judged.Mean
			_, half := k.test(r.judged)
			c.Score, c.ScorePM = &mean, &half
		}
		if e.err != nil {
			c.Failed = e.err.Error()
		}
		res.Results, res.Order = append(res.Results, c), append(res.Order, i)
	}
	res.pairs(k.board)
	return res, err
}

// pairs fills in how they differ.
func (res *Comparison) pairs(r *board) {
	res.Examples = r.records[r.alive[0]].n
	slices.SortStableFunc(res.Order, func(a, b int) int {
		x, y := res.Results[a], res.Results[b]
		switch {
		case (x.Failed == "") != (y.Failed == ""):
			return len(x.Failed) - len(y.Failed)
		}
		return cmp.Compare(r.mean(a), r.mean(b))
	})
	var p []float64
	for k, i := range r.alive {
		for _, j := range r.alive[k+1:] {
			s := r.split(i, j)
			b, size := r.byBatch(i, j)
			d, pm, one := r.differ(i, j)
			q := Pair{First: i, Second: j, FirstAlone: s.First, SecondAlone: s.Second,
				McNemar: s.P(), PairedT: 1, Batch: size, Difference: d, PM: pm}
			most := one
			if r.byLosses() {
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
	if len(r.alive) == len(r.records) && len(r.alive) > 2 && !r.byLosses() {
		res.Q, res.P = r.cochran()
	}
}
