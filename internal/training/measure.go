package training

import (
	"context"
	"errors"
	"slices"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/margins"
	"github.com/halfspace-ml/halfspace/learner"
)

// Margins are what Options.MarginReport adds. All are least margins over the training set as
// prepared.
type Margins struct {
	// Over |w|_2, without the weight of an appended feature where there is one.
	Geometric float64 `json:"geometric"`
	// Over |w|_2, that weight included.
	Directional float64 `json:"directional"`
	// The learner's p; nil for one that has none, and 2 below.
	P *float64 `json:"p"`
	// Over |w|_q, 1/p + 1/q = 1.
	PNorm float64 `json:"p_norm"`
	// The largest directional margin there is, where MarginSVM found it, and Directional/Max.
	Max   *float64 `json:"max"`
	OfMax *float64 `json:"of_max"`
	// Bounds of the directional margin of an ensemble's average, from its members' margins and
	// inner products; nil where there are none, or no room for them.
	Average *AverageBound `json:"average,omitempty"`
}

// AverageBound is [margins.AverageBound] without what is said of each member.
type AverageBound struct {
	Averaged float64 `json:"averaged"` // the bound of the average
	Equal    float64 `json:"equal"`    // members of length 1, each weighing 1/N
	Best     float64 `json:"best"`     // members weighted for the largest bound
}

// Tested is what was counted on Options.Test.
type Tested struct {
	Count   eval.Count
	Metrics *eval.Metrics
	Proba   *eval.Metrics // with Options.Proba or Calibrate; nil else
	Info    dataset.Info  // of these examples
}

// afterwards measures the final hypothesis: the margin over the training set and the errors on the
// test set. It returns what it counted of the training set, nil if it didn't look there.
func (r *run[T]) afterwards(ctx context.Context, res *Result) (measured *eval.Count, err error) {
	r.j.collect()
	if r.inMemory || r.j.o.MarginReport {
		if measured, err = r.overTraining(ctx, res); err != nil {
			return measured, err
		}
	}
	if len(r.j.o.Test) == 0 {
		return measured, nil
	}
	return measured, r.overTest(ctx, res)
}

// overTraining measures margins over the training set, which is read again if it was a stream.
func (r *run[T]) overTraining(ctx context.Context, res *Result) (*eval.Count, error) {
	j, src := r.j, r.in
	if !r.inMemory {
		o := alike(j.data, r.info())
		o.Rows = j.data.Rows
		again, _, done, err := r.stream(ctx, o)
		if err != nil {
			return nil, err
		}
		defer done()
		src = again
	}
	m, bound, ok, err := r.measure(ctx, src)
	if err != nil {
		return nil, err
	}
	if !ok {
		if res.Counts.Fit != nil {
			res.Margin = finite(res.Counts.Fit.Margin) // a kernel: no weights
		}
		return nil, nil
	}
	margin := m.Norm(2, 0) // the least distance from the hyperplane, in units of the features
	res.Margin = &margin
	if j.o.MarginReport {
		if res.Margins = j.margins(m); res.Margins != nil {
			res.Margins.Average = bound
		}
		if err := r.largestMargin(ctx, res.Margins); err != nil {
			return &m.Count, err
		}
	}
	return &m.Count, nil
}

// averageBytes is the memory that the weights of members may take for their average's bound, and
// their inner products as much again.
const averageBytes = 32 << 20

// measure takes the margins over src, and with Options.MarginReport the bound of an ensemble's
// average, where there is room for it.
func (r *run[T]) measure(ctx context.Context, src eval.Source[T]) (m margins.Margins,
	bound *AverageBound, ok bool, err error) {
	p, room := learner.ViewOf(r.l), int64(2*averageBytes)
	if r.j.o.MemBudget > 0 {
		room = min(room, r.room.left()-r.j.config.Traits().Memory(r.room.x).Held())
	}
	var members [][]float64
	if r.j.o.MarginReport && r.j.traits.Ensemble && room > 0 {
		members, _ = learner.MembersOf(r.l, int(room/2/8))
	}
	for _, w := range members {
		if !slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
			members = nil // one that has learned nothing has no margin
			break
		}
	}
	if members == nil {
		m, ok, err = margins.Measure(ctx, p, src)
		return m, nil, ok, err
	}
	m, b, ok, err := margins.MeasureAverage(ctx, p, members, src)
	if ok && err == nil {
		bound = &AverageBound{Averaged: b.Averaged, Equal: b.Equal, Best: b.Best}
	}
	return m, bound, ok, err
}

// finite is v, or nil where that is no number that JSON has.
func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// margins returns what Options.MarginReport adds, nil if nothing but a bias was learned.
func (j *Job) margins(m margins.Margins) *Margins {
	skip, p := 0, 2.0 // weights of an appended feature; the norm of learners that have none
	if j.data.Bias == "append" {
		skip = 1
	}
	r := &Margins{Geometric: m.Norm(2, skip), Directional: m.Norm(2, 0)}
	if norm := j.traits.Norm; norm == norm { // NaN: the learner has no norm of its own
		p = norm
		r.P = &p
	}
	r.PNorm = m.Norm(p, skip)
	if r.Geometric != r.Geometric || r.PNorm != r.PNorm {
		return nil
	}
	return r
}

// largestMargin is Options.MarginSVM: the largest margin there is, of a hyperplane of the learner's
// kind. Where the examples can't be separated there is none.
func (r *run[T]) largestMargin(ctx context.Context, to *Margins) error {
	if !r.j.o.MarginSVM || to == nil {
		return nil
	}
	_, biased := learner.BiasOf(r.l)
	entry, c, ok := learner.HardMargin(biased)
	if !ok {
		return badOption("", "{margin_svm}: no learner that finds the largest margin is registered")
	}
	l, err := learner.New[T](entry, c, learner.Env{Seed: r.j.seed, Pool: r.j.pool})
	if err != nil {
		return err
	}
	res, err := Learn(ctx, l, r.in,
		LearnOptions{Fit: &learner.FitOptions{GramBytes: r.room.svm}})
	if errors.Is(err, learner.ErrNotSeparable) {
		return nil
	}
	if err != nil {
		return err
	}
	share := to.Directional / res.Fit.Margin // 1 but for roundings where it is the largest
	to.Max, to.OfMax = &res.Fit.Margin, &share
	return nil
}

// largestMarginMemory is what that takes, at most.
func largestMarginMemory(x learner.Extent) learner.Footprint {
	_, c, ok := learner.HardMargin(true)
	if !ok {
		return learner.Footprint{}
	}
	return c.Traits().Memory(x)
}

// overTest counts errors on the test set.
func (r *run[T]) overTest(ctx context.Context, res *Result) error {
	j := r.j
	var src eval.Source[T] = r.test
	info := func() dataset.Info { return r.testInfo }
	if r.test == nil {
		s, err := dataset.Open[T](ctx, j.o.Test, alike(j.data, r.info()))
		if err != nil {
			return err
		}
		defer s.Close()
		src, info = s, s.Info
	}
	var t Tested
	var err error
	t.Metrics = eval.NewMetrics(eval.MetricsOptions{AUC: j.o.AUC})
	c := res.Counts.Calibration
	proba := j.o.Proba || c != nil
	if t.Count, err = eval.Tally(ctx, calibrated(r.l, c), src, t.Metrics, proba); err != nil {
		return err
	}
	if proba {
		t.Proba = t.Metrics.Probabilities()
	}
	t.Info = info()
	res.Test = &t
	return nil
}

// loadTest reads the test set into memory, prepared as the training set was: its labels, columns
// and scale are those of training.
func (r *run[T]) loadTest(ctx context.Context, beside *eval.Memory[T]) error {
	if len(r.j.o.Test) == 0 {
		return nil
	}
	o := alike(r.j.data, r.info())
	o.Bytes, o.Fits = true, r.room.loads(r.j.o.Test, held(beside))
	data, err := dataset.Load[T](ctx, r.j.o.Test, o)
	if err != nil {
		return err
	}
	r.test, r.testInfo = memoryOf(data), data.Info
	return nil
}

// checkTest looks, before a stream is learned, whether the test set is of its kind: format and
// columns. What can be read only once is left alone.
func (r *run[T]) checkTest(ctx context.Context) error {
	files := r.j.o.Test
	for _, name := range files {
		if st, err := r.j.data.Stat(name); err != nil || !st.Mode().IsRegular() {
			return nil
		}
	}
	if len(files) == 0 {
		return nil
	}
	s, err := dataset.Open[T](ctx, files, alike(r.j.data, r.info()))
	if err != nil {
		return err
	}
	return s.Close()
}
