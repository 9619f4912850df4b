package eval_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

func codes(ws []eval.Warning) (c []string) {
	for _, w := range ws {
		c = append(c, w.Code)
	}
	return c
}

// TestMetricsWarnings: what predictions of three classes are warned of.
func TestMetricsWarnings(t *testing.T) {
	for _, c := range []struct {
		name      string
		n         int
		predicted func(i int) int // of class i mod 3
		want      []eval.Warning
	}{
		{"right", 99, func(i int) int { return i % 3 }, nil},
		{"one", 99, func(int) int { return 2 }, []eval.Warning{{Code: eval.OneClass, Classes: 1,
			Class: 2, Count: eval.Count{Examples: 99, Errors: 66, Positives: 33}}}},
		{"one, of few", 27, func(int) int { return 2 }, nil},
		{"two never", 99, func(i int) int { return 3 * (i % 2) }, []eval.Warning{{Code: eval.Worse,
			Classes: 1, Count: eval.Count{Examples: 99, Errors: 82, Positives: 33}}}},
		{"all wrong", 99, func(i int) int { return (i + 1) % 3 }, []eval.Warning{{Code: eval.Worse,
			Classes: 1, Count: eval.Count{Examples: 99, Errors: 99, Positives: 33}}}},
		{"one never", 99, func(i int) int { return max(1, i%3) },
			[]eval.Warning{{Code: eval.NeverPredicted, Classes: 1, Count: eval.Count{Examples: 99,
				Errors: 33, Positives: 33}}}},
	} {
		m := eval.NewMetrics(eval.MetricsOptions{})
		for i := range c.n {
			o := eval.OutcomeOf(i%3, c.predicted(i))
			m.Add(&o)
		}
		if got := m.Warnings(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got := m.Rare(); got != nil {
			t.Errorf("%s: rare: %+v", c.name, got)
		}
		for k := 7; k < 9; k++ {
			o := eval.OutcomeOf(k, k)
			m.Add(&o)
		}
		if got := m.Rare(); c.n == 99 && !slices.Equal(got, []eval.Warning{{Code: eval.RareClass,
			Classes: 2, Class: 7, Count: eval.Count{Examples: 101}}}) {
			t.Errorf("%s: rare: %+v", c.name, got)
		}
	}
	if eval.NewMetrics(eval.MetricsOptions{}).Warnings() != nil {
		t.Error("of nothing")
	}
}

// TestCountWarnings tallies scores that say nothing, and ones that say little but something.
func TestCountWarnings(t *testing.T) {
	t.Parallel()
	count := func(n int, f func(i int) (y, score float64)) (c eval.Count) {
		for i := range n {
			c.Add(f(i))
		}
		return c
	}
	alternating := func(i int) float64 { return float64(1 - 2*(i%2)) }
	for _, c := range []struct {
		name string
		c    eval.Count
		want []string
	}{
		{"nothing", eval.Count{}, nil},
		{"good", count(100, func(i int) (float64, float64) {
			return alternating(i), alternating(i)
		}), nil},
		{"a NaN", count(100, func(i int) (float64, float64) {
			return 1,
				[]float64{1, math.NaN()}[i/99]
		}), []string{eval.NotFinite}},
		{"an infinity", count(2, func(i int) (float64, float64) {
			return 1, math.Inf(-i)
		}), []string{eval.NotFinite}},
		{"all positive", count(20, func(i int) (float64, float64) {
			return alternating(i), 0
		}), []string{eval.OneClass}},
		{"all negative", count(20, func(i int) (float64, float64) {
			return alternating(i), -1
		}), []string{eval.OneClass}},
		{"all negative, of few", count(18, func(i int) (float64, float64) {
			return alternating(i), -1
		}), nil},
		{"one class there and predicted", count(50, func(int) (float64, float64) {
			return 1, 1
		}), nil},
		{"one class there, the other predicted", count(50, func(int) (float64, float64) {
			return 1, -1
		}), nil},
		{"all wrong", count(50, func(i int) (float64, float64) {
			return alternating(i), -alternating(i)
		}), []string{eval.Worse}},
		// 300 of 1000 are of the rarer class, and half of these are found, against 150, 180 or 230
		// false alarms.
		{"as good as a guess", eval.Count{Examples: 1000, Errors: 300, Positives: 300,
			Predicted: 300}, nil},
		{"worse by chance", eval.Count{Examples: 1000, Errors: 330, Positives: 300, Predicted: 330},
			nil},
		{"worse", eval.Count{Examples: 1000, Errors: 380, Positives: 300, Predicted: 380},
			[]string{eval.Worse}},
		{"worse by chance, the rarer negative", eval.Count{Examples: 1000, Errors: 350,
			Positives: 700, Predicted: 470}, nil},
		{"worse, the rarer negative", eval.Count{Examples: 1000, Errors: 380, Positives: 700,
			Predicted: 620}, []string{eval.Worse}},
	} {
		if got := codes(c.c.Warnings()); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// labelled returns n examples of two features of the given size, with these labels.
func labelled(n int, size float64, y func(i int) float64) *engine.Block[float64] {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	rows := make([][3]float64, n)
	for i := range rows {
		rows[i] = [3]float64{y(i), y(i) + r.NormFloat64()/10, size * r.NormFloat64()}
	}
	return block(rows...)
}

// columns are n examples of two features around a mean; that share of the values is not 0.
func columns(n int, mean, share float64) *engine.Block[float64] {
	r := rand.New(rand.NewPCG(4, uint64(n)))
	rows := make([][3]float64, n)
	for i := range rows {
		rows[i][0] = float64(1 - 2*r.IntN(2))
		for j := 1; j < 3; j++ {
			if v := mean + r.NormFloat64(); r.Float64() < share {
				rows[i][j] = v
			}
		}
	}
	return block(rows...)
}

// constant makes the last feature one that never changes.
func constant(b *engine.Block[float64]) *engine.Block[float64] {
	for i := range b.Len() {
		b.Row(i)[b.Dim-1] = 0.3
	}
	return b
}

// TestRunWarnings looks at what a run says of the order of the labels and of the features.
func TestRunWarnings(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(2, 3))
	mixed := make([]float64, 4000)
	for i := range mixed {
		mixed[i] = math.Copysign(1, draw.Float64()-0.3)
	}
	// as a series in time: a label is that of the one before with probability 0.85
	hanging := make([]float64, 4000)
	for i := range hanging {
		hanging[i] = mixed[i]
		if i > 0 && draw.Float64() < 0.85 {
			hanging[i] = hanging[i-1]
		}
	}
	for _, c := range []struct {
		name string
		b    *engine.Block[float64]
		o    eval.Options
		want []string
	}{
		{"mixed", labelled(4000, 1, func(i int) float64 { return mixed[i] }), eval.Options{}, nil},
		{"hanging together", labelled(4000, 1, func(i int) float64 {
			return hanging[i]
		}), eval.Options{}, nil},
		{"sorted", labelled(4000, 1, func(i int) float64 {
			return math.Copysign(1, float64(i-2000))
		}), eval.Options{}, []string{eval.LabelRuns}},
		{"sorted, several epochs", labelled(400, 1, func(i int) float64 {
			return math.Copysign(1, float64(i-200))
		}), eval.Options{Epochs: 3}, []string{eval.LabelRuns}},
		{"sorted, shuffled", labelled(4000, 1, func(i int) float64 {
			return math.Copysign(1, float64(i-2000))
		}), eval.Options{Shuffle: true}, nil},
		{"long runs", labelled(4000, 1, func(i int) float64 {
			return float64(1 - 2*(i/100%2))
		}), eval.Options{}, []string{eval.LabelRuns}},
		{"sorted, few", labelled(30, 1, func(i int) float64 {
			return math.Copysign(1, float64(i-15))
		}), eval.Options{}, nil},
		{"one class", labelled(400, 1, func(i int) float64 { return 1 }), eval.Options{},
			[]string{eval.Uncentred}},
		{"about 0", columns(400, 0, 1), eval.Options{}, nil},
		{"to one side", columns(400, 2, 1), eval.Options{}, []string{eval.Uncentred}},
		{"few rows", columns(31, 2, 1), eval.Options{}, nil},
		{"mostly 0", columns(400, 2, 0.4), eval.Options{}, nil},
		{"a bias of their own", constant(columns(400, 2, 1)), eval.Options{}, nil},
		{"larger", labelled(4000, 20, func(i int) float64 {
			return mixed[i]
		}), eval.Options{}, nil},
		{"far larger", labelled(4000, 1e4, func(i int) float64 {
			return mixed[i]
		}), eval.Options{}, []string{eval.Unscaled}},
	} {
		var want []eval.Warning
		for _, size := range []int{1, 64, 0} {
			c.o.Block = size
			r, err := eval.Run(t.Context(), newOf(t, "perceptron", nil), memory(c.b), c.o)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(r.Warnings, func(w eval.Warning) bool {
				return w.Code == eval.Worse
			})
			if !slices.Equal(codes(got), c.want) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			if size > 1 && !slices.Equal(got, want) {
				t.Errorf("%s: blocks of %d change the warnings: %v, else %v", c.name, size, got,
					want)
			}
			want = got
			for _, w := range got {
				if w.Code == eval.Unscaled && (w.Feature != 1 || w.Ratio < 8000 ||
					w.Ratio > 12000) {
					t.Errorf("%s: feature %d, %v times as large", c.name, w.Feature, w.Ratio)
				}
			}
		}
	}
}

// TestHugeFeatures: of the largest features that are taken, whose squares sum up to nearly all of
// float64, none is called so many times as large as another, and least of all NaN times.
func TestHugeFeatures(t *testing.T) {
	b := &engine.Block[float64]{Dim: 2, Stride: 2}
	for i := range 40 {
		y := float64(1 - 2*(i%2))
		b.Y, b.X = append(b.Y, y), append(b.X, y*1e150, 1e150)
	}
	r, err := eval.Run(t.Context(), newOf(t, "perceptron", nil), memory(b), eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Warnings {
		if w.Code == eval.Unscaled {
			t.Errorf("%+v", w)
		}
	}
}

// TestLateWarnings teaches what begins badly and ends well: only the later half counts.
func TestLateWarnings(t *testing.T) {
	t.Parallel()
	mixed := func(i int) float64 { return float64(1 - 2*(i%2)) }
	for _, c := range []struct {
		name string
		n    int
		y    func(i int) float64
		from int // examples that are scored wrongly
		to   int
		want []string
	}{
		{"the beginning", 1000, mixed, 0, 240, nil},
		{"the end", 1000, mixed, 300, 1000, []string{eval.Worse}},
		{"the quarter before the last", 600, mixed, 260, 512, []string{eval.Worse}},
		{"none", 1000, mixed, 0, 0, nil},
		{"sorted", 1000, func(i int) float64 {
			return math.Copysign(1, float64(i-700))
		}, 300, 1000, []string{eval.LabelRuns}},
	} {
		b, at := labelled(c.n, 1, c.y), 0
		l := &scripted{score: func(y float64) float64 {
			at++
			if at > c.from && at <= c.to {
				return -y
			}
			return y
		}}
		r, err := eval.Run(t.Context(), l, memory(b), eval.Options{})
		if err != nil || !slices.Equal(codes(r.Warnings), c.want) {
			t.Errorf("%s: %v (%v), want %v", c.name, r.Warnings, err, c.want)
		}
	}
}

// scripted is a learner whose scores the test sets.
type scripted struct {
	fake
	score func(y float64) float64
}

func (s *scripted) Learn(b *engine.Block[float64], rounds []learner.Round) error {
	for i := range rounds {
		rounds[i] = learner.Round{Score: s.score(b.Y[i])}
	}
	return nil
}
