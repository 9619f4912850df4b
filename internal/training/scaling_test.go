package training_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/model"
)

// columns writes rows from to from+n of csv whose columns have different units.
func columns(t testing.TB, from, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("grams,metres,label\n")
	for i := from; i < from+n; i++ {
		x, y := i*37%101, i*53%89
		label := "no"
		if (x > 50) != (i%10 == 3) {
			label = "yes"
		}
		fmt.Fprintf(&b, "%d,0.00%d,%s\n", 1000*x, y, label)
	}
	file := filepath.Join(t.TempDir(), "columns.csv")
	ok(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// TestScaledGoesOn: with features scaled as they come, training on A and B gives the file that
// training on A, saving, loading and training on B gives; a checkpoint knows of no example that was
// not learned; and the test set is scaled as the model says.
func TestScaledGoesOn(t *testing.T) {
	ctx := context.Background()
	for _, data := range []training.Data{{Scale: "std"}, {Scale: "maxabs", Bias: "append"},
		{Scale: "std", Bias: "append", Normalize: "unit"}} {
		for name, file := range map[string]func(testing.TB, int, int) string{
			"columns": columns, "examples": examples,
		} {
			dir := t.TempDir()
			run := func(o training.Options, to string) []byte {
				t.Helper()
				if o.Learner = "perceptron"; o.From == "" {
					o.Data = data
				}
				o.Model, o.Epochs = filepath.Join(dir, to), 1
				must(training.Run(ctx, o, training.Env{}))(t)
				text := must(os.ReadFile(o.Model))(t)
				return text
			}
			a, b := file(t, 0, 300), file(t, 300, 400)
			want := run(training.Options{Files: []string{a, b}}, "ab")
			first := run(training.Options{Files: []string{a}}, "a")
			got := run(training.Options{Files: []string{b}, From: filepath.Join(dir, "a")}, "b")
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %+v: A and then B is not A and B", name, data)
			}
			seen := &saved{t: t, at: 300}
			must(training.Run(ctx, training.Options{Learner: "perceptron", Data: data,
				Epochs: 1, Files: []string{a, b}, Model: filepath.Join(dir, "c"),
				CheckpointEvery: "150"}, training.Env{Observer: seen}))(t)
			if !bytes.Equal(withoutPosition(t, seen.text), first) {
				t.Errorf("%s, %+v: the checkpoint after A is not the model of A", name, data)
			}
			m := must(model.Load(filepath.Join(dir, "ab")))(t)
			if m.Prep.Scaling == nil || m.Prep.Scaling.Method != data.Scale ||
				m.Prep.Scaling.Known[0] != 700 && name == "columns" {
				t.Errorf("%s, %+v: kept %+v", name, data, m.Prep.Scaling)
			}
		}
	}
}

// saved keeps the file as it was saved after some examples.
type saved struct {
	training.Silent
	t    *testing.T
	at   int64
	text []byte
}

func (s *saved) Saved(x training.Saved) {
	if x.Presented != s.at {
		return
	}
	var err error
	if s.text, err = os.ReadFile(x.Path); err != nil {
		s.t.Fatal(err)
	}
}

// TestScaleInMemory: several passes go by the scale of all examples, so that the order of the
// examples doesn't matter to it, and the threads don't.
func TestScaleInMemory(t *testing.T) {
	ctx, file := context.Background(), columns(t, 0, 500)
	var known [][]float64
	for threads := range 3 {
		r := must(training.Run(ctx, training.Options{Learner: "obpm", Files: []string{file},
			Data: training.Data{Scale: "std", Bias: "append"}, Epochs: 2, Threads: threads,
			Test: []string{file}}, training.Env{}))(t)
		if e := r.Test.Count.Error(); e > 0.2 {
			t.Errorf("error on the training set %v", e)
		}
		known = append(known, r.Info.Scaling.Known)
	}
	if !slices.Equal(known[0], known[1]) || !slices.Equal(known[0], known[2]) {
		t.Errorf("known %v", known)
	}
}

// TestScaleContradicts: with a model its scale is kept.
func TestScaleContradicts(t *testing.T) {
	ctx, file := context.Background(), columns(t, 0, 50)
	to := filepath.Join(t.TempDir(), "m")
	must(training.Run(ctx, training.Options{Learner: "pa", Files: []string{file},
		Data: training.Data{Scale: "std"}, Model: to}, training.Env{}))(t)
	for _, scale := range []string{"none", "maxabs"} {
		_, err := training.New(training.Options{From: to, Files: []string{file},
			Data: training.Data{Scale: scale}}, training.Env{})
		if e := (*training.Error)(nil); !errors.As(err, &e) {
			t.Errorf("%s: %v", scale, err)
		}
	}
}

// withoutPosition is the file of the same model at the end of a run.
func withoutPosition(t *testing.T, file []byte) []byte {
	t.Helper()
	m := must(model.Decode(file))(t)
	m.Position = nil
	var b bytes.Buffer
	ok(t, model.Encode(&b, m))
	return b.Bytes()
}

// TestScalesPlanned: a budget counts what is known of the features' scale.
func TestScalesPlanned(t *testing.T) {
	for scale, want := range map[string]int64{"none": 0, "std": 2 * 24 * 3, "": 2 * 24 * 3} {
		r := must(training.Run(t.Context(), training.Options{Learner: "pa", MemBudget: 64 << 20,
			Files: []string{columns(t, 0, 50)}, Data: training.Data{Scale: scale, Bias: "append"}},
			training.Env{Machine: training.Machine{Bytes: 1 << 40}}))(t)
		if r.Memory.Scales != want {
			t.Errorf("scale %q: %d bytes, want %d", scale, r.Memory.Scales, want)
		}
	}
}
