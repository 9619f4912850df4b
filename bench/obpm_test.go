package bench

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/realdata"
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
	rows, err := Repro(context.Background(), experiments["obpm/table1"], RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	overlaps(t, find(t, rows, "generated e=0, perceptron", "test_error_percent"), 2.03, 0.32)
	overlaps(t, find(t, rows, "generated e=0, alma", "test_error_percent"), 0.07, 0.04)
	if r := find(t, rows, "generated e=0, obpm N=100 tau=0.35", "test_error_percent"); r.Ours > 0.05 {
		t.Errorf("%s: %s, want at most 0.05", r.Row, r.OursText())
	}
	for row, want := range map[string]float64{"generated e=0, obpm N=25 tau=0.3": 1334, "generated e=0, obpm N=100 tau=0.3": 5306} {
		if r := find(t, rows, row, "updates"); math.Abs(r.Ours/want-1) > 0.03 {
			t.Errorf("%s: %s updates, want %g within 3 %%", r.Row, r.OursText(), want)
		}
	}
	perceptron := find(t, rows, "generated e=0.1, perceptron", "test_error_percent")
	alma := find(t, rows, "generated e=0.1, alma", "test_error_percent")
	obpm := find(t, rows, "generated e=0.1, obpm", "test_error_percent")
	if !(alma.Ours < obpm.Ours && obpm.Ours < perceptron.Ours/5) {
		t.Errorf("e=0.1: want alma < obpm << perceptron, got %s, %s, %s", alma.OursText(), obpm.OursText(), perceptron.OursText())
	}
	for _, r := range rows {
		if r.Verdict == Outside && r.Note == "" {
			t.Errorf("%s is outside without a note", r.Row)
		}
	}
}

// TestOBPMTable2 holds the Adult column against means of 30 runs by an independent implementation (perceptron, ALMA) and against
// the value that OBPM at tau = 0.05 is known to reach.
func TestOBPMTable2(t *testing.T) {
	if testing.Short() {
		t.Skip("30 runs of seven learners")
	}
	dir := filepath.Dir(realdata.File(t, "a9a.gz"))
	pool := engine.NewPool(0)
	defer pool.Close()
	rows, err := Repro(context.Background(), experiments["obpm/table2"], RunOptions{Seed: 1, DataDir: dir, Pool: pool})
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

// TestReproThreads demands the same rows, times aside, for any number of threads.
func TestReproThreads(t *testing.T) {
	var want []byte
	for _, workers := range []int{1, 3} {
		pool := engine.NewPool(workers)
		rows, err := Repro(context.Background(), experiments["obpm/table1"], RunOptions{Runs: 2, Seed: 7, Pool: pool})
		pool.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			rows[i].Seconds = 0
		}
		got, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
}

// TestOBPMKernel: over shared kernel rows, too, the average beats the kernel perceptron.
func TestOBPMKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	pool := engine.NewPool(0)
	defer pool.Close()
	dir := filepath.Dir(realdata.File(t, bananaFile))
	rows, err := Repro(context.Background(), experiments["obpm/kernel"], RunOptions{Seed: 1, Runs: 3, DataDir: dir, Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	mean := map[string]float64{}
	for _, r := range rows {
		if r.Quantity == "test_error_percent" {
			mean[r.Row] = r.Ours
		}
	}
	for _, data := range []string{"banana, ", "MNIST 8 against the rest, "} {
		if o, p := mean[data+"obpm N=100, tau=.3"], mean[data+"perceptron"]; !(o > 0 && o < p) {
			t.Errorf("%sOBPM %v %%, perceptron %v %%", data, o, p)
		}
	}
}
