package papers

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

func TestMeanPM(t *testing.T) {
	// Student's t with 4 degrees of freedom is 2.776 at 97.5 %; the standard deviation of 1..5 is
	// sqrt(2.5).
	mean, pm := meanPM([]float64{1, 2, 3, 4, 5})
	if want := 2.7764451 * math.Sqrt(2.5/5); mean != 3 || math.Abs(pm-want) > 1e-6 {
		t.Errorf("got %v ± %v, want 3 ± %v", mean, pm, want)
	}
}

func TestReproRefuses(t *testing.T) {
	ctx := context.Background()
	if _, err := Repro(ctx, experiments["obpm/table1"], RunOptions{Runs: 1}); err == nil {
		t.Error("one run has no interval, yet no error")
	}
	for _, dir := range []string{"", t.TempDir()} {
		if _, err := Repro(ctx, experiments["obpm/table2"], RunOptions{Runs: 2,
			DataDir: dir}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("data in %q: %v, want fs.ErrNotExist", dir, err)
		}
	}
}

// TestSideBySide: every part is run once, the first error ends it, and a canceled run says why.
func TestSideBySide(t *testing.T) {
	pool := engine.NewPool(3)
	defer pool.Close()
	o := RunOptions{Pool: pool, Seed: 7}
	ran := make([]int, 50)
	if err := sideBySide(context.Background(), o, len(ran), func(o RunOptions, i int) error {
		if o.Pool != nil || o.Seed != 7 {
			t.Errorf("options of a part: %+v", o)
		}
		ran[i]++
		return nil
	}); err != nil || slices.Min(ran) != 1 || slices.Max(ran) != 1 {
		t.Error(ran, err)
	}
	broken := errors.New("broken")
	if err := sideBySide(context.Background(), RunOptions{}, 9, func(_ RunOptions, i int) error {
		if i > 3 {
			t.Error("went on after an error")
		}
		if i == 3 {
			return broken
		}
		return nil
	}); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(broken)
	if err := sideBySide(ctx, o, 9, func(RunOptions, int) error { return nil }); !errors.Is(err,
		broken) {
		t.Error(err)
	}
}

// TestRows: only rows with all the words are made, shown and returned, the slow ones among them.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		text, of string
		want     bool
	}{{"MNIST class=1 against the rest, svm", "class=1", true},
		{"MNIST class=10 against the rest, svm", "class=1", false},
		{"MNIST class=1 against the rest, svm", "svm, class=1", true},
		{"MNIST class=1 against the rest, svm", "pumma class=1", false}, {"any", "", true}} {
		if got := hasWords(c.text, c.of); got != c.want {
			t.Errorf("%q has %q: %v", c.text, c.of, got)
		}
	}
	if o := (RunOptions{}); o.slow("a") || !o.wants("a") {
		t.Error("all rows are wanted, but for slow ones")
	}
	if o := (RunOptions{Rows: "a"}); !o.slow("a b") || o.slow("b") {
		t.Error("a slow row that is named is wanted")
	}
	var told []string
	rows, err := Repro(context.Background(), experiments["obpm/table1"], RunOptions{Runs: 2, Seed: 1,
		Rows: "perceptron e=0.1", Done: func(r Row) { told = append(told, r.Row) }})
	if err != nil || len(rows) != 2 || len(told) != 2 || told[0] != "generated e=0.1, perceptron" {
		t.Errorf("%v: %v, %v", rows, told, err)
	}
}

// TestKnown: what is known is of an experiment that there is, each reason is used, and a row that
// is known says why.
func TestKnown(t *testing.T) {
	for _, k := range knownRows {
		if _, ok := experiments[k.experiment]; !ok || k.why == "" || k.words == "" {
			t.Errorf("%+v", k)
		}
		r := Row{Experiment: k.experiment, Row: k.words, Paper: at(2)}
		if r.fillOne(1, 0.1); r.Known == "" || !strings.Contains(r.Note, r.Known) {
			t.Errorf("%+v: %+v", k, r)
		}
		if r.fillOne(2, 0.1); r.Known != "" {
			t.Errorf("exact, and known to be outside: %+v", r)
		}
	}
}
