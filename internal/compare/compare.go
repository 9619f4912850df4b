package compare

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
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
		pool, done := workers(&env, threads)
		defer done()
		if jobs != nil {
			entrants = entrantsOf(jobs)
		}
		return c.compare(ctx, entrants, jobs, files, pool, &clock{started: started}, env)
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

// compare is Compare of entrants.
func (c *CompareOptions) compare(ctx context.Context, all []*entrant, jobs []*training.Job,
	files []string, pool *engine.Pool, clock *clock, env training.Env) (*Comparison, error) {
	var narrow, wide []*entrant
	for _, e := range all {
		if e.precision == "f64" {
			wide = append(wide, e)
		} else {
			narrow = append(narrow, e)
		}
	}
	k := &contest{CompareOptions: c, all: all, files: files, pool: pool, env: &env, clock: clock,
		board: newBoard(len(all), c.Score, 0), res: &Comparison{P: 1},
		inMemory: slices.ContainsFunc(jobs, (*training.Job).InMemory)}
	if jobs != nil {
		k.shuffle, k.seed = shuffled(jobs), jobs[0].Seed()
	}
	k.res.Results = make([]CandidateResult, len(all))
	var err error
	switch {
	case len(wide) == 0:
		err = contend(ctx, k, newReading[float32](narrow), nil)
	case len(narrow) == 0:
		err = contend(ctx, k, newReading[float64](wide), nil)
	default:
		err = k.both(ctx, narrow, wide)
	}
	if err != nil && !k.board.found(err) {
		return nil, err
	}
	for i := range all {
		r, st := &k.board.records[i], &k.res.Results[i]
		st.Errors, st.Error = r.errors, r.rate()
		_, st.PM = stat.Split{N: max(1, r.n), First: r.errors}.Difference()
		if k.board.byLosses() {
			mean := r.judged.Mean
			_, half := k.board.test(r.judged)
			st.Score, st.ScorePM = &mean, &half
		}
		k.res.Order = append(k.res.Order, i)
	}
	k.res.pairs(k.board)
	return k.res, err
}

// contest is a CompareOptions under way.
type contest struct {
	*CompareOptions
	all      []*entrant
	files    []string
	inMemory bool
	shuffle  bool
	seed     uint64
	pool     *engine.Pool
	env      *training.Env
	clock    *clock
	board    *board
	res      *Comparison
}

// contend has the entrants of a reading make their pass, over data that are read already or over
// the files.
func contend[T engine.Float](ctx context.Context, k *contest, in *reading[T],
	data *dataset.Data[T]) (err error) {
	defer func() { in.done() }()
	labelled(ctx, "stage", "read", func(ctx context.Context) {
		in.weights = k.all[0].weights()
		switch {
		case data == nil:
			err = in.open(ctx, k.files, k.inMemory)
		case k.inMemory:
			err = in.take(data)
		default:
			in.total = int64(data.Info.Rows)
			err = in.stream(eval.NewMemory(&data.Block, data.Gather),
				func() dataset.Info { return data.Info })
		}
	})
	if err != nil {
		return unread(ctx, err)
	}
	p, err := newPass(k.board, in, k.all, k.pool)
	if err != nil {
		return err
	}
	p.labels, p.names = []string{"stage", "learn", "setting"}, k.Names
	if len(k.Models) > 0 {
		p.labels = []string{"stage", "predict", "model"}
	}
	in.rewind(k.shuffle, k.seed)
	watch := TuneOptions{Watch: k.Watch, Score: k.Score}
	p.watch = func(share float64, examples int64) { watch.tell(k.board, k.clock, share, examples) }
	stopped := p.run(ctx, k.env)
	if stopped != nil && !k.board.found(stopped) {
		return stopped
	}
	if len(k.Models) == 0 {
		if err := p.retireDiverged(k.env); err != nil {
			return err
		}
		p.warn(k.env)
	}
	for i, c := range p.candidates {
		if c == nil {
			continue
		}
		if k.res.Results[i].Seconds = c.res.Learn.Seconds(); i == 0 {
			k.res.Info = c.info()
		}
		if c.err != nil {
			k.res.Results[i].Failed = c.err.Error()
		}
	}
	return stopped
}

// both compares entrants of both precisions. The examples are read into memory in float64, and
// rounded for those of float32. That is the value that reading in float32 gives, except for one in
// 2^29 numbers of more digits than a float64 has.
func (k *contest) both(ctx context.Context, narrow, wide []*entrant) error {
	in32, in64 := newReading[float32](narrow), newReading[float64](wide)
	in32.apart, in64.apart = true, true
	data, err := training.LoadAll[float64](ctx, k.files, unprepared(k.all[0].data))
	if err != nil {
		return unread(ctx, err)
	}
	rounded, err := roundedData(data)
	if err != nil {
		return err
	}
	if err := contend(ctx, k, in32, rounded); err != nil {
		return err
	}
	err = contend(ctx, k, in64, data)
	if err != nil && k.board.found(err) { // all are judged on what the last ones had
		n := k.board.records[k.board.alive[0]].n
		for _, i := range k.board.alive {
			n = min(n, k.board.records[i].n)
		}
		for _, i := range k.board.alive {
			k.board.records[i].cut(n)
		}
	}
	return err
}

// roundedData are examples of float32.
func roundedData(d *dataset.Data[float64]) (*dataset.Data[float32], error) {
	src, r := &d.Block, &dataset.Data[float32]{Info: d.Info}
	r.Block = engine.Block[float32]{Dim: src.Dim, Ptr: src.Ptr, Idx: src.Idx, Stride: src.Stride,
		Class: src.Class, Y: round(src.Y), W: round(src.W), Val: round(src.Val), X: round(src.X)}
	for i := range src.Len() {
		_, val := r.Block.Example(i)
		_, whole := src.Example(i)
		for k, v := range val {
			if v-v != 0 && whole[k]-whole[k] == 0 {
				return nil, badOption("Compare in f64 alone.", "{precision}: example %d has the "+
					"value %v, which is too large for f32", i+1, whole[k])
			}
		}
	}
	return r, nil
}

// round returns the numbers of src; nil if there are none.
func round(src []float64) (dst []float32) {
	for _, v := range src {
		dst = append(dst, float32(v))
	}
	return dst
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
