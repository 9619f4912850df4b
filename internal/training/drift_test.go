package training_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// changing writes a stream whose concept changes after so many examples.
func changing(t *testing.T, kind string, n, every int, seed uint64) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.svm")
	var b bytes.Buffer
	err := dataset.GenerateEach[float32]("concepts", map[string]string{"n": strconv.Itoa(n),
		"kind": kind, "every": strconv.Itoa(every), "seed": strconv.FormatUint(seed, 10),
		"noise": "0.05"}, func(x []float32, positive bool) error {
		y := -1
		if positive {
			y = 1
		}
		fmt.Fprintf(&b, "%+d", y)
		for j, v := range x {
			fmt.Fprintf(&b, " %d:%.6g", j+1, v)
		}
		b.WriteString("\n")
		return nil
	})
	if err == nil {
		err = os.WriteFile(file, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var driftStreams = flag.Int("drift-streams", 4, "generated streams of each kind for TestDriftRun")

// TestDriftRun: what is found on generated streams, how late and how often for nothing. Beginning
// anew makes fewer errors than going on. The table of docs/drift.md has what this test logs with
// -drift-streams 30 -v.
func TestDriftRun(t *testing.T) {
	streams := *driftStreams
	if testing.Short() {
		streams = 1
	}
	for _, kind := range []string{"abrupt", "gradual", "none"} {
		every := 3000
		if kind == "none" {
			every = 1 << 30
		}
		files := make([]string, streams)
		for i := range files {
			how := kind
			if kind == "none" {
				how = "abrupt"
			}
			files[i] = changing(t, how, 6000, every, uint64(i))
		}
		for _, drift := range eval.DriftDetectors() {
			missed, early, delay := 0, 0, 0
			var plain, reset int64
			for _, file := range files {
				o := training.Options{Learner: "pa", Settings: map[string]any{"C": 0.1},
					Files: []string{file}, Drift: drift}
				r := must(training.Run(context.Background(), o, training.Env{}))(t)
				plain += r.Counts.Errors
				first := int64(0)
				for _, d := range r.Counts.Drifts {
					if d.Example <= int64(every) {
						early++
					} else if first == 0 {
						first = d.Example - int64(every)
					}
				}
				if delay += int(first); first == 0 {
					missed++
				}
				o.OnDrift = training.DriftReset
				r = must(training.Run(context.Background(), o, training.Env{}))(t)
				reset += r.Counts.Errors
			}
			mean := float64(delay) / float64(max(1, streams-missed))
			share := 100 / float64(6000*streams)
			t.Logf("%s, %s: %d of %d missed, delay %.0f, %d false alarms, error %.2f %%, anew "+
				"%.2f %%", kind, drift, missed, streams, mean, early, float64(plain)*share,
				float64(reset)*share)
			if kind == "none" {
				if early > streams {
					t.Errorf("%s: %d false alarms in %d streams", drift, early, streams)
				}
			} else if missed > 0 || mean > 1200 || reset >= plain {
				t.Errorf("%s, %s: %d missed, delay %v, %d errors, anew %d", kind, drift, missed,
					mean, plain, reset)
			}
		}
	}
}

// TestDriftReset: after a drift the learner is a new one: the model is that of a run on the
// examples behind it, but for what it counts; blocks and threads change nothing.
func TestDriftReset(t *testing.T) {
	ctx, file := context.Background(), changing(t, "abrupt", 5000, 3000, 1)
	o := training.Options{Learner: "obpm", Files: []string{file}, Drift: "adwin",
		OnDrift: training.DriftReset, Settings: map[string]any{"members": 20}, Test: []string{file}}
	var first *training.Result
	for threads := 1; threads <= 3; threads++ {
		o.Threads = threads
		r := must(training.Run(ctx, o, training.Env{}))(t)
		if first == nil {
			first = r
		}
		if len(r.Counts.Drifts) == 0 || fmt.Sprint(r.Counts.Drifts) != fmt.Sprint(
			first.Counts.Drifts) || r.Counts.Errors != first.Counts.Errors ||
			int64(len(r.Counts.Drifts)) != r.Counts.Drifted {
			t.Errorf("%d threads: drifts %v, want %v", threads, r.Counts.Drifts,
				first.Counts.Drifts)
		}
	}
	last := first.Counts.Drifts[len(first.Counts.Drifts)-1].Example
	text := must(os.ReadFile(file))(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	rest := filepath.Join(t.TempDir(), "rest.svm")
	ok(t, os.WriteFile(rest, bytes.Join(lines[last:], nil), 0o600))
	o.Files, o.Drift, o.OnDrift = []string{rest}, "", ""
	r, err := training.Run(ctx, o, training.Env{})
	if err != nil || r.Test.Count != first.Test.Count {
		t.Errorf("on the examples from %d on: test %+v (%v), anew %+v", last, r.Test.Count, err,
			first.Test.Count)
	}
	for name, o := range map[string]training.Options{
		"a detector": {Drift: "cusum"}, "alone": {OnDrift: training.DriftReset},
		"a policy": {Drift: "adwin", OnDrift: "panic"},
		"whole":    {Learner: "svm", Drift: "adwin", UntilConverged: true},
		"until":    {Drift: "adwin", OnDrift: training.DriftReset, UntilConverged: true},
	} {
		if o.Files = []string{file}; o.Learner == "" {
			o.Learner = "pa"
		}
		if _, err := training.New(o, training.Env{}); !errors.Is(err, training.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDriftPolicies: what is done where drift is found, on generated streams. The table of
// docs/drift.md has what this test logs with -drift-streams 30 -v.
func TestDriftPolicies(t *testing.T) {
	streams := *driftStreams
	if streams <= 4 {
		streams = 1
	}
	policies := []struct {
		name string
		o    training.Options
	}{
		{"report", training.Options{}},
		{"reset", training.Options{OnDrift: training.DriftReset}},
		{"forget", training.Options{OnDrift: training.DriftForget}},
	}
	if streams > 4 { // how the defaults were found
		for _, keep := range []float64{0.01, 0.1, 0.3} {
			policies = append(policies, struct {
				name string
				o    training.Options
			}{fmt.Sprint("forget ", keep), training.Options{OnDrift: training.DriftForget,
				DriftKeep: keep}})
		}
	}
	for _, kind := range []string{"abrupt", "gradual", "recurring"} {
		errs := map[string][]float64{} // of a learner and a policy, in percent, one a stream
		for seed := range streams {
			file := changing(t, kind, 6000, 1500, uint64(seed))
			for name, c := range map[string]map[string]any{"pa": {"C": 0.1},
				"arow": nil, "adf": nil, "obpm": {"members": 20}} {
				for _, p := range policies {
					o := p.o
					o.Learner, o.Settings, o.Files = name, c, []string{file}
					o.Drift = "adwin"
					r := must(training.Run(context.Background(), o, training.Env{}))(t)
					errs[name+", "+p.name] = append(errs[name+", "+p.name],
						float64(r.Counts.Errors)/60)
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(errs)) {
			name, _, _ := strings.Cut(key, ",")
			mean, less, half := errorsSaved(errs[key], errs[name+", report"])
			t.Logf("%s, %s: error %.2f %%, less than without by %.2f ± %.2f", kind, key, mean,
				less, half)
		}
		for _, key := range []string{"pa, reset", "pa, forget", "arow, forget", "adf, forget"} {
			name, _, _ := strings.Cut(key, ",")
			if mean, less, _ := errorsSaved(errs[key], errs[name+", report"]); less <= 0 {
				t.Errorf("%s, %s: error %.2f %%, less by %.2f", kind, key, mean, less)
			}
		}
	}
}

// errorsSaved returns the mean of errors, by how much they are less than those of the same streams
// without a policy, and half the 95 % interval of that.
func errorsSaved(errs, without []float64) (mean, less, half float64) {
	n := float64(len(errs))
	var sumSq float64
	for i, e := range errs {
		mean += e / n
		less += (without[i] - e) / n
	}
	for i, e := range errs {
		d := without[i] - e - less
		sumSq += d * d
	}
	return mean, less, 2.05 * math.Sqrt(sumSq/max(1, n-1)/n)
}
