package measure

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReadLIBLINEAR: models as liblinear-train writes them.
func TestReadLIBLINEAR(t *testing.T) {
	file := filepath.Join(t.TempDir(), "model")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	head := "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel %\nnr_feature 2\nbias 1\nw\n"
	for label, want := range map[string][]float64{"1 -1": {0.5, -2, 0, 3}, "-1 1": {-0.5, 2, 0,
		-3}} {
		write(strings.Replace(head, "%", label, 1) + "0.5 \n-2 \n3 \n")
		w, err := readLIBLINEAR(file, 3)
		if err != nil || len(w) != 4 {
			t.Fatal(w, err)
		}
		for j := range w {
			if w[j] != want[j] {
				t.Errorf("labels %s: %v, want %v", label, w, want)
			}
		}
	}
	for _, text := range []string{"", "w\n", "w\none\n", "w\n1\n2\n3\n4\n5\n"} {
		write(text)
		if w, err := readLIBLINEAR(file, 3); err == nil {
			t.Errorf("%q: %v", text, w)
		}
	}
}

// TestLinearPrimal: the objective of a solution is the solver's own, and grows by what was asked of
// gapFor at most.
func TestLinearPrimal(t *testing.T) {
	ctx, b := context.Background(), oneHot(400, 5, 40)
	file := filepath.Join(t.TempDir(), "data")
	if err := writeScaled(file, b, 1); err != nil {
		t.Fatal(err)
	}
	for _, p := range linearProblems {
		for _, appended := range []bool{true, false} {
			best, err := p.fit(ctx, file, appended, 1e-8)
			if err != nil {
				t.Fatal(err)
			}
			got := p.primal(b, best.w, appended)
			if math.Abs(got-best.Primal) > 1e-6*got || got < best.Objective*(1-1e-9) {
				t.Errorf("%+v, %v: %v, the solver has %v, %v", p, appended, got, best.Primal,
					best.Objective)
			}
			const off = 1e-3
			gap, err := p.gapFor(ctx, file, b, appended, off)
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.fit(ctx, file, appended, gap)
			if err != nil {
				t.Fatal(err)
			}
			if v := p.primal(b, s.w, appended); v > best.Primal*(1+off) {
				t.Errorf("%+v, %v: %v with a gap of %v, the optimum is %v", p, appended, v, gap,
					best.Primal)
			}
		}
	}
}

// TestPeersSmall: each case beside its peer, or with a note that names the one that is missing.
func TestPeersSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("solves to a gap of 1e-9")
	}
	for _, path := range []string{os.Getenv("PATH"), t.TempDir()} {
		t.Setenv("PATH", path)
		results, err := Peers(context.Background(), "", Options{Rounds: 3, Each: time.Millisecond})
		if err != nil || len(results) != 5 {
			t.Fatal(len(results), err)
		}
		notes := ""
		for i, r := range results {
			if strings.Contains(r.Note, "installed") {
				notes += fmt.Sprint(i)
			}
			if r.Median <= 0 {
				t.Errorf("%+v", r)
			}
		}
		if results[0].RatioToPeer == nil != strings.Contains(notes, "0") ||
			results[4].RatioToPeer == nil != strings.Contains(notes, "4") ||
			strings.Trim(notes, "04") != "" {
			t.Errorf("with the path %s: peers are missing in the results %s", path, notes)
		}
	}
}
