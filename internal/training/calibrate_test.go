package training_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// noisy is a file of examples on a line, of which the share 1/(1 + exp(-2x)) is +1; of three
// classes the middle is a third.
func noisy(t *testing.T, n int, seed uint64, three bool) string {
	t.Helper()
	var text strings.Builder
	r := rand.New(engine.NewRand(seed, 0))
	for range n {
		x, y := 6*r.Float64()-3, "-1"
		if r.Float64() < 1/(1+math.Exp(-2*x)) {
			y = "+1"
		}
		if three && math.Abs(x) < 1 {
			y = "0"
		}
		fmt.Fprintf(&text, "%s 1:%.4f 2:1\n", y, x)
	}
	file := filepath.Join(t.TempDir(), "noisy.svm")
	ok(t, os.WriteFile(file, []byte(text.String()), 0o600))
	return file
}

// entropy is the mean log-loss of the shares of noisy: nothing but from lo to hi, of 3.
func entropy(lo, hi float64) (sum float64) {
	const n = 3000
	for i := range n {
		p := 1 / (1 + math.Exp(-2*(lo+(hi-lo)*(float64(i)+0.5)/n)))
		sum -= p*math.Log(p) + (1-p)*math.Log1p(-p)
	}
	return sum / n * (hi - lo) / 3
}

// TestCalibrateWhole: probabilities of learners of a whole data set hold on examples that they have
// not seen, also of one that knows what it has learned by heart, whose own scores would say that it
// is never wrong. Threads change nothing.
func TestCalibrateWhole(t *testing.T) {
	ctx := context.Background()
	two, three := noisy(t, 700, 1, false), noisy(t, 500, 2, true)
	byHeart := map[string]any{"kernel": "rbf", "gamma": 4000, "c": 1e4}
	for _, c := range []struct {
		name, file, method string
		settings           map[string]any
		soft               float64
		more               float64 // than the log-loss of the shares by which they are drawn
	}{
		{"svm", two, "platt", map[string]any{"c": 1}, 0, 0.03},
		{"svm", two, "temperature", map[string]any{"c": 1}, 0, 0.03},
		{"cramma", two, "platt", nil, 1, 0.03},
		{"svm", two, "platt", byHeart, 0, math.Ln2 - 0.24}, // no worse than knowing nothing
		{"svm", three, "platt", map[string]any{"kernel": "rbf", "gamma": 1, "c": 1}, 0, 0.25},
		{"svm", three, "temperature", map[string]any{"kernel": "rbf", "gamma": 1, "c": 1}, 0, 0.25},
	} {
		// the mean of 2000 has a standard error of 0.01: 3 of them below, and 3 above for what is
		// found of 700
		least := entropy(0, 3)
		if c.file == three {
			least = entropy(1, 3)
		}
		test := noisy(t, 2000, 3, c.file == three)
		o := training.Options{Learner: c.name, Settings: c.settings, UntilConverged: true,
			SoftDelta: c.soft, Files: []string{c.file}, Test: []string{test}, Calibrate: c.method}
		var models [][]byte
		for _, threads := range []int{1, 3} {
			o.Threads, o.Model = threads, filepath.Join(t.TempDir(), "m")
			r := must(training.Run(ctx, o, training.Env{}))(t)
			if p := r.Test.Proba; p == nil || r.Counts.Calibration == nil ||
				!(p.LogLoss() > least-0.03) || !(p.LogLoss() < least+c.more) {
				t.Errorf("%s %v, %s: %+v, log-loss %v, want %v to %v", c.name, c.settings, c.method,
					r.Counts.Calibration, p.LogLoss(), least-0.03, least+c.more)
			}
			models = append(models, content(t, o.Model))
		}
		if !bytes.Equal(models[0], models[1]) {
			t.Errorf("%s %s: threads change the model", c.name, c.method)
		}
	}
	o := training.Options{Learner: "svm", UntilConverged: true, Files: []string{two},
		Settings: map[string]any{"c": 1}, Threshold: "precision=0.9"}
	plain := o
	plain.Threshold = ""
	a := must(training.Run(ctx, o, training.Env{}))(t)
	b := must(training.Run(ctx, plain, training.Env{}))(t)
	if th := a.Counts.Threshold; th == nil || th.Precision < 0.9 || th.Precision > 0.99 {
		t.Errorf("a threshold %+v", th)
	}
	o.Threshold = "cost=1:5"
	c := must(training.Run(ctx, o, training.Env{}))(t)
	if th := c.Counts.Threshold; th == nil || th.Cost == nil ||
		th.Score >= a.Counts.Threshold.Score || th.Recall <= a.Counts.Threshold.Recall {
		t.Errorf("a threshold of least cost %+v, for a precision %+v", th, a.Counts.Threshold)
	}
	a.Counts.Learn, b.Counts.Learn = 0, 0
	if a.Counts.Threshold = nil; !reflect.DeepEqual(a.Counts, b.Counts) {
		t.Errorf("folds change the run: %+v, without %+v", a.Counts, b.Counts)
	}
}

// TestCalibrateWholeStops: a run that is stopped in its folds has learned nothing, few examples
// have no folds, and one that goes on from a model is refused.
func TestCalibrateWholeStops(t *testing.T) {
	file := noisy(t, 700, 1, false)
	model := filepath.Join(t.TempDir(), "m")
	o := training.Options{Learner: "cramma", UntilConverged: true, SoftDelta: 1,
		Files: []string{file}, Calibrate: "platt", Model: model}
	ctx, stop := context.WithCancel(context.Background())
	_, err := training.Run(ctx, o, training.Env{Observer: &stopper{stop: stop}})
	if !errors.Is(err, training.ErrStopped) {
		t.Errorf("stopped in its folds: %v", err)
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("what was stopped in its folds was saved")
	}
	few := o
	few.Files = []string{filepath.Join(t.TempDir(), "few.svm")}
	ok(t, os.WriteFile(few.Files[0], []byte("+1 1:1\n-1 2:1\n-1 2:2\n"), 0o600))
	if r, err := training.Run(context.Background(), few, training.Env{}); err != nil ||
		r.Counts.Calibration != nil {
		t.Errorf("one example of a label: %+v, %v", r, err)
	}
	o = training.Options{Learner: "perceptron", Epochs: 1, Files: []string{file}, Model: model}
	must(training.Run(context.Background(), o, training.Env{}))(t)
	o = training.Options{From: model, UntilConverged: true, Files: []string{file},
		Calibrate: "platt"}
	if _, err := training.Run(context.Background(), o,
		training.Env{}); !errors.Is(err, training.ErrOption) {
		t.Errorf("gone on from a model: %v", err)
	}
}

// stopper stops the run when it has planned.
type stopper struct {
	training.Silent
	stop func()
}

// Planned is Observer's.
func (s *stopper) Planned(*training.Plan) { s.stop() }
