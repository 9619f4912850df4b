package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/report"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// The paper tbp's pictures of two features, figures 6 to 8. It says neither how the data were drawn
// nor, but for figure 8, any number: ours are drawn as its text has them, many times over, and rows
// compare what it says about its one drawing with the means of all.

func init() {
	register(Experiment{
		Name: "tbp/figure6",
		Summary: "two classes with a very small margin, a linear kernel, one pass: perceptron, " +
			"budget, tbp (figure 6)",
		Seconds: 8, Runs: 120, Run: tbpFigure6})
	register(Experiment{
		Name: "tbp/figure7",
		Summary: "two classes that overlap, a linear kernel, one pass: perceptron, budget, tbp " +
			"beside the Bayes rule (figure 7)",
		Seconds: 7, Runs: 40, Run: tbpFigure7})
	register(Experiment{
		Name: "tbp/figure8",
		Summary: "two classes with a wave between them, a Gaussian kernel, passes until nothing " +
			"is learned: tbp, budget, perceptron, svm, kmp (figure 8)",
		Seconds: 3, Runs: 100, Run: tbpFigure8})
}

// toy is a distribution of two features.
type toy struct {
	one   bool // a third feature of 1, so that linear rules need not go through the origin
	point func(r *engine.Rand) (x, z, y float64)
	f     func(x, z float64) float64 // the sign of the likelier class
}

func (t toy) draw(seed, stream uint64, n int) *engine.Block[float64] {
	r, b := engine.NewRand(seed, stream), &engine.Block[float64]{}
	for range n {
		x, z, y := t.point(r)
		t.add(b, x, z, y)
	}
	return b
}

func (t toy) add(b *engine.Block[float64], x, z, y float64) {
	b.X, b.Y, b.Dim = append(b.X, x, z), append(b.Y, y), 2
	if t.one {
		b.X, b.Dim = append(b.X, 1), 3
	}
	b.Stride = b.Dim
}

// toyRun is a learner after a run, and what it was shown.
type toyRun struct {
	toy
	l           tbpLearner
	model       learner.Learner[float64]
	train, test *engine.Block[float64]
	kept        []int   // examples of train
	passes      int     // 0 of a learner of whole data sets
	missed      float64 // percent of test
	seconds     float64
}

// learn passes over the run's examples until a pass learns nothing, at most so often; each pass but
// the first in a new order.
func (r *toyRun) learn(ctx context.Context, o RunOptions, passes int) error {
	ofLearner(ctx, r.l.learner)
	pool := o.freshPool()
	defer pool.Close()
	var err error
	if r.model, err = learner.Make[float64](r.l.learner, r.l.config, learner.Env{Seed: o.Seed,
		Pool: pool}); err != nil {
		return err
	}
	began := time.Now()
	if f := learner.AsFitter(r.model); f != nil {
		if _, err := f.Fit(ctx, r.train, learner.FitOptions{}); err != nil {
			return err
		}
	} else {
		d := dataset.Data[float64]{Block: *r.train}
		b, order, rounds := r.train, make([]int32, r.train.Len()), make([]learner.Round,
			r.train.Len())
		for before := int64(-1); r.passes < passes && before != r.model.Updates(); r.passes++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if r.passes > 0 {
				engine.Permute(order, o.Seed, uint64(r.passes))
				b = &engine.Block[float64]{}
				d.Gather(b, order)
			}
			before = r.model.Updates()
			if err := r.model.Learn(b, rounds); err != nil {
				return err
			}
		}
	}
	r.seconds = time.Since(began).Seconds()
	r.findKept()
	r.missed, err = r.errorOn(r.test)
	return err
}

// findKept finds what the model keeps among the examples.
func (r *toyRun) findKept() {
	at := map[[3]float64]int{}
	for i := range r.train.Len() {
		var x [3]float64
		copy(x[:], r.train.Row(i))
		at[x] = i
	}
	s := r.model.State()
	idx, val, from := s.Tensor("sv_idx").Data.([]int32), s.Tensor("sv_val").Data.([]float64),
		int64(0)
	for _, end := range s.Tensor("sv_end").Data.([]int64) {
		var x [3]float64
		for ; from < end; from++ {
			x[idx[from]] = val[from]
		}
		r.kept = append(r.kept, at[x])
	}
}

// score returns the scores at points of the plane.
func (r *toyRun) score(x, z []float64) ([]float64, error) {
	b := &engine.Block[float64]{}
	for i := range x {
		r.add(b, x[i], z[i], 1)
	}
	f := make([]float64, len(x))
	return f, r.model.Score(b, f)
}

// wrong returns the share of examples on the wrong side, in percent. A score of 0 is wrong.
func wrong(b *engine.Block[float64], f []float64) float64 {
	n := 0
	for i, y := range b.Y {
		if float64(y*f[i]) <= 0 {
			n++
		}
	}
	return 100 * float64(n) / float64(b.Len())
}

func (r *toyRun) errorOn(b *engine.Block[float64]) (float64, error) {
	f := make([]float64, b.Len())
	err := r.model.Score(b, f)
	return wrong(b, f), err
}

// best returns the error of the likelier class.
func (r *toyRun) best(b *engine.Block[float64]) float64 {
	f := make([]float64, b.Len())
	for i := range f {
		f[i] = r.f(b.Row(i)[0], b.Row(i)[1])
	}
	return wrong(b, f)
}

// noise reports whether example i of train is of the less likely class.
func (r *toyRun) noise(i int) bool {
	x := r.train.Row(i)
	return float64(r.train.Y[i]*r.f(x[0], x[1])) < 0
}

// toyQuantity is what rows tell of a run. paper holds the paper's values, if any, by the learner.
type toyQuantity struct {
	name  string
	of    func(r *toyRun) (float64, error)
	paper map[string]float64
}

var (
	toyError = toyQuantity{name: "test_error_percent",
		of: func(r *toyRun) (float64, error) { return r.missed, nil }}
	toyKept = toyQuantity{name: "support",
		of: func(r *toyRun) (float64, error) { return float64(len(r.kept)), nil }}
)

// toyFigure is one of figures 6 to 8, under one reading.
type toyFigure struct {
	part, title, note string                   // part: of the files' names and the rows'
	toy               func(r *engine.Rand) toy // of a run
	examples, passes  int
	list              []tbpLearner
	panels            []string // learners that are drawn,
	// in the first run whose perceptron keeps more than this, or else in that whose perceptron
	// keeps most
	most       int
	quantities []toyQuantity
	orders     []paperOrder
}

const toyTests = 10_000 // examples of a run's test set

func (t *toyFigure) run(ctx context.Context, o RunOptions) error {
	values := map[string]map[string][]float64{} // [quantity][learner] one a run
	for _, q := range t.quantities {
		values[q.name] = map[string][]float64{}
	}
	seconds := map[string]float64{}
	figure := report.Figure{Name: o.name, Title: t.title, XLabel: "x1", YLabel: "x2"}
	if t.part != "" {
		figure.Name += "-" + nameOf(t.part)
	}
	drawn := 0 // examples that the Perceptron of the panels keeps
	for run := range o.Runs {
		seed := o.Seed + uint64(run)
		toy := t.toy(engine.NewRand(seed, 0))
		train, test := toy.draw(seed, 1, t.examples), toy.draw(seed, 2, toyTests)
		panels, keeps := make([]report.Figure, len(t.panels)), 0
		for _, l := range t.list {
			r := toyRun{toy: toy, l: l, train: train, test: test}
			if err := r.learn(ctx, o, t.passes); err != nil {
				return err
			}
			seconds[l.text] += r.seconds
			for _, q := range t.quantities {
				v, err := q.of(&r)
				if err != nil {
					return err
				}
				values[q.name][l.text] = append(values[q.name][l.text], v)
			}
			if l.text == "perceptron" {
				keeps = len(r.kept)
			}
			if i := slices.Index(t.panels, l.text); i >= 0 && drawn <= t.most {
				p, err := r.panel()
				if err != nil {
					return err
				}
				panels[i] = p
			}
		}
		if drawn <= t.most && keeps > drawn {
			figure.Panels, drawn = panels, keeps
		}
	}
	prefix := t.part
	if prefix != "" {
		prefix += ", "
	}
	for _, l := range t.list {
		for _, q := range t.quantities {
			if math.IsNaN(values[q.name][l.text][0]) { // the learner has none
				continue
			}
			row := Row{Row: prefix + l.text, Quantity: q.name, differs: true,
				Seconds: seconds[l.text], Note: "data drawn by us: " + t.note}
			if v, ok := q.paper[l.text]; ok {
				row.Paper = at(v)
			} else {
				row.Note += "; the paper has a picture, no number"
			}
			o.add(row, values[q.name][l.text]...)
		}
	}
	for _, c := range t.orders {
		c.add(o, prefix, values[c.quantity][c.high], values[c.quantity][c.low])
	}
	o.drawn(figure)
	return nil
}

// panel draws the examples, the kept ones, where the score is 0 and where the likelier class
// changes.
func (r *toyRun) panel() (report.Figure, error) {
	p := report.Figure{Lines: []report.Line{{Name: "class +1", Form: report.Dots},
		{Name: "class -1", Form: report.Dots},
		{Name: "kept", Form: report.Rings}}}
	var x, z []float64
	for i := range r.train.Len() {
		v, l := r.train.Row(i), &p.Lines[0]
		if r.train.Y[i] < 0 {
			l = &p.Lines[1]
		}
		l.X, l.Y = append(l.X, v[0]), append(l.Y, v[1])
		x, z = append(x, v[0]), append(z, v[1])
	}
	for _, i := range r.kept {
		l := &p.Lines[2]
		l.X, l.Y = append(l.X, x[i]), append(l.Y, z[i])
	}
	const squares = 60
	f, err1 := zeros("score 0", slices.Min(x), slices.Max(x), slices.Min(z), slices.Max(z), squares,
		r.score)
	best, err2 := zeros("likelier class changes", slices.Min(x), slices.Max(x), slices.Min(z),
		slices.Max(z), squares, func(x, z []float64) ([]float64, error) {
			out := make([]float64, len(x))
			for i := range x {
				out[i] = r.f(x[i], z[i])
			}
			return out, nil
		})
	best.Form = report.Shadow
	p.Title = fmt.Sprintf("%s: %d kept, %.2f %% wrong", r.l.text, len(r.kept), r.missed)
	p.Lines = append(p.Lines, best, f)
	for _, err := range []error{err1, err2} {
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// toyReadings are those of a linear rule.
var toyReadings = []struct {
	text string
	one  bool
}{{"with a feature of 1", true}, {"through the origin", false}}

func tbpFigure6(ctx context.Context, o RunOptions) error {
	const gap = 0.01
	for _, reading := range toyReadings {
		t := toyFigure{
			part: reading.text, title: "Figure 6, " + reading.text,
			note: fmt.Sprintf("1000 points, uniform in a square of side 2, on two sides of a "+
				"line through its centre at a random angle, at least %g away from it", gap),
			toy: func(r *engine.Rand) toy {
				s, c := math.Sincos(2 * math.Pi * r.Uniform())
				side := func(x, z float64) float64 { return float64(c*x) + float64(s*z) }
				return toy{reading.one, func(r *engine.Rand) (x, z, y float64) {
					for {
						x, z = 2*r.Uniform()-1, 2*r.Uniform()-1
						if d := side(x, z); math.Abs(d) >= gap {
							return x, z, math.Copysign(1, d)
						}
					}
				}, side}
			},
			examples: 1000, passes: 1, list: tbpLearners(learner.KernelConfig{Kernel: "linear"}, 1,
				[]int{5, 10, 20}, 0, 0)[1:],
			panels: []string{"perceptron", "budget p=10", "budget p=20", "tbp p=5", "tbp p=10",
				"tbp p=20"}, most: 20,
			quantities: []toyQuantity{toyError, toyKept, {name: "angle_degrees",
				of: func(r *toyRun) (float64, error) {
					f, err := r.score([]float64{0, 1, 0}, []float64{0, 0, 1})
					w := [2]float64{f[1] - f[0], f[2] - f[0]}
					cos := (w[0]*r.f(1, 0) + w[1]*r.f(0, 1)) / math.Hypot(w[0], w[1])
					return 180 / math.Pi * math.Acos(min(1, cos)), err
				}}},
		}
		for _, p := range []int{5, 10, 20} {
			b, tb := fmt.Sprintf("budget p=%d", p), fmt.Sprintf("tbp p=%d", p)
			t.orders = append(t.orders,
				paperOrder{quantity: "support", high: "perceptron", low: tb,
					says: "both Budget Perceptrons are sparser than the Perceptron"},
				paperOrder{quantity: "test_error_percent", high: b, low: tb,
					says: "the Budget Perceptron is slightly less accurate, even with more kept " +
						"examples"})
		}
		if err := t.run(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func tbpFigure7(ctx context.Context, o RunOptions) error {
	share := func(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
	for _, reading := range toyReadings {
		t := toyFigure{
			part: reading.text, title: "Figure 7, " + reading.text,
			note: "1000 points, x1 = y + N(0, 1) and x2 uniform in [-2, 2]: the Bayes rule is " +
				"x1 = 0, its error 15.87 %",
			toy: func(*engine.Rand) toy {
				return toy{reading.one, func(r *engine.Rand) (x, z, y float64) {
					y = 1
					if r.Uniform() < 0.5 {
						y = -1
					}
					return y + r.Normal(), 4*r.Uniform() - 2, y
				}, func(x, _ float64) float64 { return x }}
			},
			examples: 1000, passes: 1, list: tbpLearners(learner.KernelConfig{Kernel: "linear"}, 1,
				[]int{10, 20, 50}, 0, 0)[1:],
			panels: []string{"perceptron", "budget p=20", "budget p=50", "tbp p=10", "tbp p=20",
				"tbp p=50"},
			quantities: []toyQuantity{toyError, toyKept,
				{name: "above_bayes_percent",
					of: func(r *toyRun) (float64, error) { return r.missed - r.best(r.test), nil }},
				// of the examples on the wrong side of the Bayes rule
				{name: "noise_kept_percent", of: func(r *toyRun) (float64, error) {
					n, of := 0, 0
					for i := range r.train.Len() {
						if r.noise(i) {
							of++
						}
					}
					for _, i := range r.kept {
						if r.noise(i) {
							n++
						}
					}
					return share(n, of), nil
				}},
				// of the kept examples
				{name: "kept_noise_percent", of: func(r *toyRun) (float64, error) {
					n := 0
					for _, i := range r.kept {
						if r.noise(i) {
							n++
						}
					}
					return share(n, len(r.kept)), nil
				}}},
		}
		t.orders = append(t.orders, paperOrder{quantity: "noise_kept_percent", high: "perceptron",
			floor: 50,
			says:  "most examples on the wrong side of the Bayes rule are support vectors"})
		for _, p := range []int{10, 20, 50} {
			b, tb := fmt.Sprintf("budget p=%d", p), fmt.Sprintf("tbp p=%d", p)
			t.orders = append(t.orders,
				paperOrder{quantity: "above_bayes_percent", high: "perceptron", low: tb,
					says: "the Perceptron fails, and the Tighter Budget Perceptron comes very " +
						"close to the Bayes rule"},
				paperOrder{quantity: "above_bayes_percent", high: b, low: tb,
					says: "the Budget Perceptron fails, whatever the size of its cache"},
				paperOrder{quantity: "kept_noise_percent", high: b, low: tb,
					says: "noise is what the Budget Perceptron removes last"})
		}
		if err := t.run(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func tbpFigure8(ctx context.Context, o RunOptions) error {
	const (
		gap    = 0.1
		p      = 10 // as many as the paper's SVM keeps
		passes = 400
	)
	wave := func(x, z float64) float64 { return z - float64(0.5*math.Sin(float64(math.Pi*x))) }
	u, k := learners.UpdateConfig{Update: "perceptron", C: 1}, learner.KernelConfig{Kernel: "rbf",
		Sigma: 0.7}
	t := toyFigure{
		title: "Figure 8",
		note: fmt.Sprintf("100 points, uniform in a square of side 2, on two sides of x2 = "+
			"sin(pi x1)/2 and at least %g above or below it; Gaussian kernel of sigma %g, svm "+
			"without slack, "+
			"all passes but the first in a new order, at most %d", gap, k.Sigma, passes),
		toy: func(*engine.Rand) toy {
			return toy{false, func(r *engine.Rand) (x, z, y float64) {
				for {
					x, z = 2*r.Uniform()-1, 2*r.Uniform()-1
					if d := wave(x, z); math.Abs(d) >= gap {
						return x, z, math.Copysign(1, d)
					}
				}
			}, wave}
		},
		examples: 100, passes: passes,
		list: []tbpLearner{
			{text: "tbp p=10", learner: "tbp", config: &learners.TBPConfig{Budget: p,
				ErrorCache: "all", ErrorSize: 1, Ties: "oldest", UpdateConfig: u, KernelConfig: k}},
			{text: "budget p=10", learner: "budget", config: &learners.BudgetConfig{Budget: p,
				UpdateConfig: u, KernelConfig: k}},
			{text: "perceptron", learner: "budget", config: &learners.BudgetConfig{UpdateConfig: u,
				KernelConfig: k}},
			{text: "svm", learner: "svm", config: &learners.SVMConfig{Norm: 1, Gap: 1e-6,
				KernelConfig: k}},
			{text: "kmp backfit, p=10", learner: "kmp", config: &learners.KMPConfig{Size: p,
				Backfit: true, KernelConfig: k}},
			{text: "kmp basic, 400", learner: "kmp", config: &learners.KMPConfig{Size: 400,
				KernelConfig: k}},
		},
		quantities: []toyQuantity{toyError, toyKept,
			{name: "training_error_percent",
				of: func(r *toyRun) (float64, error) { return r.errorOn(r.train) },
				paper: map[string]float64{"tbp p=10": 0, "budget p=10": 0, "perceptron": 0,
					"svm": 0}},
			{name: "passes", of: func(r *toyRun) (float64, error) {
				if r.passes == 0 {
					return math.NaN(), nil
				}
				return float64(r.passes), nil
			},
				paper: map[string]float64{"tbp p=10": 22, "budget p=10": 26, "perceptron": 14}},
			// from the wave, along x2
			{name: "distance_of_kept", of: func(r *toyRun) (float64, error) {
				var d []float64
				for _, i := range r.kept {
					d = append(d, math.Abs(wave(r.train.Row(i)[0], r.train.Row(i)[1])))
				}
				return stat.Mean(d, nil), nil
			}}},
	}
	t.quantities[1].paper = map[string]float64{"tbp p=10": p, "budget p=10": p, "perceptron": 19,
		"svm": 10, "kmp backfit, p=10": 10, "kmp basic, 400": 37}
	for _, l := range t.list {
		t.panels = append(t.panels, l.text)
	}
	basic, backfitting := "kmp basic, 400", "kmp backfit, p=10"
	const more = "the Perceptron and basic KMP are not as sparse as the SVM"
	t.orders = []paperOrder{
		{quantity: "support", high: "perceptron", low: "tbp p=10", says: "the budget variants " +
			"are sparser than the Perceptron and still separate the data"},
		{quantity: "support", high: "perceptron", low: "svm", says: more},
		{quantity: "support", high: basic, low: "svm", says: more},
		{quantity: "passes", high: "tbp p=10", low: "perceptron", says: "14 passes of the " +
			"Perceptron, 22 of the Tighter Budget Perceptron"},
		{quantity: "passes", high: "budget p=10", low: "perceptron", says: "14 passes of the " +
			"Perceptron, 26 of the Budget Perceptron, with a narrower kernel"},
		{quantity: "training_error_percent", high: basic, says: "no zero error even after 400 " +
			"steps"},
	}
	for _, high := range []string{basic, backfitting} {
		for _, low := range []string{"tbp p=10", "budget p=10", "perceptron", "svm"} {
			t.orders = append(t.orders, paperOrder{quantity: "distance_of_kept", high: high,
				low: low, says: "all but KMP keep examples near the margin"})
		}
	}
	return t.run(ctx, o)
}
