package papers

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/internal/report"
)

// find returns the row whose text and quantity begin with these words.
func find(t *testing.T, rows []Row, row, quantity string) Row {
	t.Helper()
	for _, r := range rows {
		if strings.HasPrefix(r.Row, row) && r.Quantity == quantity {
			return r
		}
	}
	t.Fatalf("no row %q, %s", row, quantity)
	return Row{}
}

// overlaps fails unless the 95 % intervals of a row's mean and of a published one overlap.
func overlaps(t *testing.T, r Row, value, pm float64) {
	t.Helper()
	if math.Abs(r.Ours-value) > r.OursPM+pm {
		t.Errorf("%s: %s, want %g ± %g", r.Row, r.OursText(), value, pm)
	}
}

func TestOBPMTable1(t *testing.T) {
	t.Parallel()
	rows, _ := drawing(t, "obpm/table1", RunOptions{})
	overlaps(t, find(t, rows, "generated e=0, perceptron", "test_error_percent"), 2.03, 0.32)
	overlaps(t, find(t, rows, "generated e=0, alma", "test_error_percent"), 0.07, 0.04)
	if r := find(t, rows, "generated e=0, obpm N=100 tau=0.35",
		"test_error_percent"); r.Ours > 0.05 {
		t.Errorf("%s: %s, want at most 0.05", r.Row, r.OursText())
	}
	for row, want := range map[string]float64{"generated e=0, obpm N=25 tau=0.3": 1334,
		"generated e=0, obpm N=100 tau=0.3": 5306} {
		if r := find(t, rows, row, "updates"); math.Abs(r.Ours/want-1) > 0.03 {
			t.Errorf("%s: %s updates, want %g within 3 %%", r.Row, r.OursText(), want)
		}
	}
	perceptron := find(t, rows, "generated e=0.1, perceptron", "test_error_percent")
	alma := find(t, rows, "generated e=0.1, alma", "test_error_percent")
	obpm := find(t, rows, "generated e=0.1, obpm", "test_error_percent")
	if !(alma.Ours < obpm.Ours && obpm.Ours < perceptron.Ours/5) {
		t.Errorf("e=0.1: want alma < obpm << perceptron, got %s, %s, %s", alma.OursText(),
			obpm.OursText(), perceptron.OursText())
	}
	for _, r := range rows {
		if r.Verdict == Outside && r.Note == "" {
			t.Errorf("%s is outside without a note", r.Row)
		}
	}
}

// TestOBPMTable2 holds the Adult column against means of 30 runs by an independent implementation
// (perceptron, ALMA) and against the value that OBPM at tau = 0.05 is known to reach.
func TestOBPMTable2(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("30 runs of seven learners")
	}
	pool := engine.NewPool(0)
	defer pool.Close()
	rows, err := collect("obpm/table2", RunOptions{Seed: 1, Runs: 30, Pool: pool},
		func(o RunOptions) error {
			return obpmAdultWeb(t.Context(), o, prepared(t, "a9a.gz"), prepared(t, "a9a.t.gz"),
				prepared(t, "w8a.gz"))
		})
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string][2]float64{
		"Adult, perceptron, epoch 1":          {19.69, 0.97},
		"Adult, perceptron, epoch 2":          {20.18, 1.43},
		"Adult, perceptron, epoch 3":          {20.56, 1.28},
		"Adult, alma B=20 C=0.7071, epoch 1":  {15.85, 0.08},
		"Adult, alma B=20 C=0.7071, epoch 2":  {15.37, 0.05},
		"Adult, alma B=20 C=0.7071, epoch 3":  {15.13, 0.04},
		"Adult, obpm N=200 tau=0.05, epoch 3": {15.19, 0.15},
		"Adult, obpm N=200 tau=0.01, epoch 1": {15.51, 0.03},
		"Web, perceptron, epoch 1":            {2.11, 0.19},
		"Web, alma B=0.625 C=1.414, epoch 1":  {1.63, 0.06},
		"Web, obpm N=200 tau=0.3, epoch 3":    {1.44, 0.02},
	} {
		overlaps(t, find(t, rows, row, "test_error_percent"), want[0], want[1])
	}
}

// prepared loads examples as Table 2 takes them.
func prepared(t *testing.T, name string) *dataset.Data[float32] {
	t.Helper()
	d, err := dataset.Load[float32](context.Background(), []string{realdata.File(t, name)},
		dataset.Options{Bias: "append", Normalize: "unit"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOBPMElegans runs the C. elegans part on a fifth of the examples: OBPM comes as near to the
// SVM as the paper's, ALMA and OBPM beat the perceptron, and the rows carry the times that the
// paper gives.
func TestOBPMElegans(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("unpacks 80 MB")
	}
	pool := engine.NewPool(0)
	defer pool.Close()
	train, test := prepared(t, elegansTrain), prepared(t, elegansTest)
	train.Block, test.Block = train.Block.Slice(0, 20000), test.Block.Slice(0, 20000)
	rows, err := collect("obpm/table2", RunOptions{Seed: 1, Runs: 2, Pool: pool},
		func(o RunOptions) error { return obpmElegans(t.Context(), o, train, test) })
	if err != nil {
		t.Fatal(err)
	}
	errorOf := func(row string) float64 {
		return find(t, rows, "C. elegans, "+row,
			"test_error_percent").Ours
	}
	svm, obpm, alma, perceptron := errorOf("svm linear"), errorOf("obpm N=100 tau=0.05, epoch 20"),
		errorOf("alma B=3.33 C=0.7071, epoch 3"), errorOf("perceptron, epoch 3")
	if math.Abs(obpm-svm) > 0.3 {
		t.Errorf("OBPM %v %%, svm %v %%", obpm, svm)
	}
	if few := errorOf("obpm N=200 tau=0.2, epoch 3"); !(alma < perceptron && few < perceptron) {
		t.Errorf("ALMA %v %%, OBPM %v %%, perceptron %v %%", alma, few, perceptron)
	}
	for row, want := range map[string]float64{"svm linear": 1.08e6, "obpm N=100 tau=0.05, " +
		"epoch 20": 1140, "alma B=3.33 C=0.7071, epoch 20": 180} {
		if r := find(t, rows, "C. elegans, "+row, "test_error_percent"); r.PaperSeconds == nil ||
			*r.PaperSeconds != want || r.Seconds <= 0 || r.Seconds > want {
			t.Errorf("%+v: want the paper's seconds, %v, and fewer of ours", r, want)
		}
	}
	q, p := find(t, rows, "C. elegans, ALMA, OBPM and svm on 10000", "cochran_q"), find(t, rows,
		"C. elegans, ALMA, OBPM and svm on 10000", "p_value")
	if *q.Paper != 3.77 || math.Abs(p.Ours-math.Exp(-q.Ours/2)) > 1e-12 { // two degrees of freedom
		t.Errorf("Q %+v, p %+v", q, p)
	}
	for _, r := range rows {
		if strings.HasSuffix(r.Row, "do not differ") && r.Verdict == Supported {
			t.Errorf("%s: a test that did not reject supports nothing", r.Row)
		}
		if r.Kind == Number && r.Verdict != NotComparable || r.Note == "" {
			t.Errorf("%s: %s, %q", r.Row, r.Verdict, r.Note)
		}
		if r.Quantity == "test_error_percent" && !strings.Contains(r.Row, "svm") &&
			(r.NaiveSeconds == nil || *r.NaiveSeconds <= 0) {
			t.Errorf("%s: no time of the plain form", r.Row)
		}
	}
}

// holding fails for each claim of the paper that is contradicted, and demands that there are so
// many.
func holding(t *testing.T, rows []Row, claims int) {
	t.Helper()
	for _, r := range rows {
		if r.Kind == Claim {
			claims--
			if r.Verdict == Contradicted {
				t.Errorf("%s: %s (%s)", r.Row, r.OursText(), r.Note)
			}
		}
	}
	if claims != 0 {
		t.Errorf("%d claims are missing", claims)
	}
}

// drawing runs an experiment, on public data if it needs some.
func drawing(t *testing.T, name string, o RunOptions) (rows []Row, figures []report.Figure) {
	t.Helper()
	pool := engine.NewPool(0)
	defer pool.Close()
	e := experiments[name]
	for _, file := range e.Needs {
		o.DataDir = filepath.Dir(realdata.File(t, file))
	}
	o.Seed, o.Pool, o.Drawn = 1, pool, func(f report.Figure) { figures = append(figures, f) }
	rows, err := Repro(t.Context(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	return rows, figures
}

func TestOBPMFigure1(t *testing.T) {
	t.Parallel()
	runs := 30
	if testing.Short() {
		runs = 10
	}
	rows, figures := drawing(t, "obpm/figure1", RunOptions{Runs: runs})
	holding(t, rows, 2)
	if len(figures) != 2 || len(figures[0].Lines) != 3 || len(figures[1].Lines[2].X) != 12 {
		t.Errorf("%+v", figures)
	}
	// an independent implementation
	overlaps(t, find(t, rows, "generated e=0, obpm N=100 tau=0.35", "margin"), 0.018, 0)
}

// TestOBPMFigure2 holds the errors against means of 30 runs by an independent implementation,
// taking its runs to scatter as ours.
func TestOBPMFigure2(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("loads MNIST")
	}
	rows, figures := drawing(t, "obpm/figure2", RunOptions{Runs: 30})
	holding(t, rows, 12)
	for row, want := range map[string]float64{
		"0.1 positive, obpm": 90.7, "0.1 positive, lms": 94.4, "0.1 positive, alma": 95.1,
		"0.1 positive, perceptron": 125,
		"0.5 positive, obpm":       186, "0.5 positive, lms": 189.9, "0.5 positive, alma": 192.8,
		"0.5 positive, perceptron": 230.2,
	} {
		r := find(t, rows, "MNIST drift, "+row, "prediction_errors")
		overlaps(t, r, want, r.OursPM)
	}
	for _, f := range figures {
		for _, l := range f.Lines {
			if n := len(l.X); l.X[n-1] != 1000 || !slices.IsSorted(l.Y) {
				t.Errorf("%s, %s: ends at %v", f.Name, l.Name, l.X[n-1])
			}
		}
	}
}

// TestDriftingDigits: no row twice, and the positive digits follow the schedule.
func TestDriftingDigits(t *testing.T) {
	t.Parallel()
	digits := make([]uint8, 20000)
	for i := range digits {
		digits[i] = uint8(i % 10)
	}
	var late, ones int
	for seed := range uint64(20) {
		order, y := driftingDigits(digits, seed, 1000, 0.5, false)
		seen := map[int32]bool{}
		for k, i := range order {
			if seen[i] {
				t.Fatalf("row %d comes twice", i)
			}
			seen[i] = true
			d, positive := digits[i], y[k] > 0
			switch at := k + 1; {
			case positive && (d < 1 || d > 3), positive && at >= 500 && d == 1, positive &&
				at > 900 && d != 3, !positive && at > 900 && d == 3:
				t.Fatalf("example %d: digit %d with the label %v", at, d, y[k])
			case positive && at >= 400 && at < 500:
				late++
				if d == 1 {
					ones++
				}
			}
		}
	}
	// 1 - 2t/T, from 0.2 to 0; 1000 of them: sd 0.01
	if share := float64(ones) / float64(late); math.Abs(share-0.1) > 0.05 {
		t.Errorf("share of 1 among the positives of 400 to 499: %v, want 0.1", share)
	}
}

func TestOBPMFigure3(t *testing.T) {
	t.Parallel()
	rows, figures := drawing(t, "obpm/figure3", RunOptions{Runs: 3})
	holding(t, rows, 2)
	for i, quantity := range []string{"prediction_errors", "updates"} {
		for k, learner := range []string{"obpm", "alma"} {
			l := figures[i].Lines[k]
			if n, r := len(l.Y), find(t, rows, "Web, "+learner, quantity); math.Abs(
				l.Y[n-1]-r.Ours) > 1e-6*r.Ours || l.X[n-1] != 49749 || n > curvePoints+1 {
				t.Errorf("%s: the curve ends at %v, %v, the row says %v", r.Row, l.X[n-1], l.Y[n-1],
					r.Ours)
			}
		}
	}
}

// TestOBPMKernel: over shared kernel rows, too, the average beats the kernel perceptron, with and
// without a budget.
func TestOBPMKernel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	rows, _ := drawing(t, "obpm/kernel", RunOptions{Runs: 3})
	mean := map[string]float64{}
	for _, r := range rows {
		if r.Quantity == "test_error_percent" {
			mean[r.Row] = r.Ours
		}
	}
	for _, data := range []string{"banana, ", "waveform, ", "MNIST 8 against the rest, "} {
		for _, l := range []string{"obpm, no limit", "obpm at defaults"} {
			if o, p := mean[data+l], mean[data+"perceptron"]; !(o > 0 && o < p) {
				t.Errorf("%s%s %v %%, perceptron %v %%", data, l, o, p)
			}
		}
	}
}

// Examples generated together on a pool are those of each run alone, also behind the first lot.
func TestProblems(t *testing.T) {
	pool := engine.NewPool(2)
	defer pool.Close()
	o := RunOptions{Runs: problemRuns + 2, Seed: 5, Pool: pool}
	var p problems
	for _, noise := range []float64{0.1, 0} {
		for run := problemRuns; run < o.Runs; run++ {
			train, test, err := p.of(t.Context(), o, noise, run)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range []*dataset.Data[float32]{train, test} {
				share := []float64{noise, 0}[i]
				want, err := measure.MarginProblem[float32](o.Seed+uint64(run), 1000, 100, 0.05,
					share, i == 1)
				if err != nil {
					t.Fatal(err)
				}
				a, b := &d.Block, &want.Block
				if !slices.Equal(a.X, b.X) || !slices.Equal(a.Y, b.Y) {
					t.Errorf("run %d, noise %v: other examples than those of its seed", run, share)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := new(problems).of(ctx, o, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestTimesOfBusyMachine: the times of learners and of their plain forms are CPU times, in which
// what else is at work does not count.
func TestTimesOfBusyMachine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var stop atomic.Bool
	defer stop.Store(true)
	go func() { // has the processor half of the time
		for n := 0; !stop.Load(); n++ {
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d, err := measure.MarginProblem[float32](1, 2000, 100, .05, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	began := measure.ThreadTime()
	found, err := follow(t.Context(), RunOptions{Runs: 1}, []made{obpm(100, .3)},
		func(int) *engine.Block[float32] { return &d.Block })
	if err != nil {
		t.Fatal(err)
	}
	took := (measure.ThreadTime() - began).Seconds()
	if c := found[0]; c.learn <= 0 || c.plain <= 0 || c.learn.Seconds()+c.plain > took {
		t.Errorf("learning took %v, its plain form %v s, all of it %v s of CPU time", c.learn, c.plain,
			took)
	}
}
