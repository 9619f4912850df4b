package shard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/frames"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// rows writes n examples of a noisy halfspace to a file: ones, or numbers.
func rows(t *testing.T, dir string, n int, seed uint64, ones bool) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range n {
		label, side := "+1", 0
		if r.IntN(2) == 0 {
			label, side = "-1", 5
		}
		b.WriteString(label)
		for j := range 20 {
			if r.IntN(20) < 3+(j+side)%10/3 {
				v := 1.0
				if !ones {
					v = r.NormFloat64() + 1
				}
				fmt.Fprintf(&b, " %d:%.4g", j+1, v)
			}
		}
		b.WriteByte('\n')
	}
	name := filepath.Join(dir, fmt.Sprintf("%d-%d.svm", n, seed))
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// columns writes a csv file.
func columns(t *testing.T, dir string) string {
	var b strings.Builder
	for i := range 300 {
		x, y := i*37%101, i*53%89
		fmt.Fprintf(&b, "%d,%d,%v\n", x, y, (x > 50) != (y > 80))
	}
	name := filepath.Join(dir, "columns.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// parts trains all of n parts and returns what joins them.
func parts(t *testing.T, dir string, o training.Options, n int) shard.Parts {
	t.Helper()
	p := shard.Parts{Files: o.Files, Model: filepath.Join(dir, "all.model")}
	for k := range n {
		o := o
		o.Shard = fmt.Sprintf("%d/%d", k+1, n)
		o.Model = filepath.Join(dir, fmt.Sprintf("%d.model", k))
		trace := filepath.Join(dir, fmt.Sprintf("%d.trace", k))
		if _, err := shard.Train(t.Context(), o, training.Env{}, trace); err != nil {
			t.Fatal(err)
		}
		p.Models, p.Traces = append(p.Models, o.Model), append(p.Traces, trace)
	}
	slices.Reverse(p.Traces) // they come in any order
	return p
}

// TestSameBytes: parts that are joined have the model of one machine, to the byte, and its
// progressive error; with any number of classes, known before or not, too.
func TestSameBytes(t *testing.T) {
	many := func(classes int, known bool) (o training.Options) {
		o.Settings, o.Epochs = map[string]any{"members": 300, "tau": 0.2}, 2
		for c := 0; known && c < classes; c++ {
			o.Classes = append(o.Classes, fmt.Sprint(c))
		}
		return o
	}
	for _, c := range []struct {
		name string
		ones bool
		o    training.Options
	}{
		{"perceptron", true, training.Options{}},
		{"numbers", false, training.Options{Precision: "f64"}},
		{"epochs", true, training.Options{Epochs: 3, Shuffle: true}},
		{"pa", false, training.Options{Settings: map[string]any{"base": "pa"}}},
		{"alma", false, training.Options{Settings: map[string]any{"base": "alma"}}},
		{"vote", true, training.Options{Settings: map[string]any{"combine": "vote"}}},
		{"rff", false, training.Options{Learner: "rff", Settings: map[string]any{"base": "obpm",
			"D": 20, "sigma": 1, "base_config": map[string]any{"members": 300, "tau": 0.1}}}},
		{"unit", false, training.Options{Data: training.Data{Bias: "append", Normalize: "unit"},
			Calibrate: "platt"}},
		{"few columns", false, training.Options{}},
		{"3 classes", true, many(3, false)},
		{"3 classes, known", true, many(3, true)},
		{"20 classes", true, many(20, false)},
		{"20 classes, known", true, many(20, true)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			o := c.o
			o.Files = []string{rows(t, dir, 1500, 1, c.ones)}
			classes := 0
			if c.name == "few columns" { // which are gone through several times
				o.Files[0] = columns(t, dir)
			} else if fmt.Sscan(c.name, &classes); classes > 0 {
				o.Files[0] = manyClasses(t, dir, classes)
			}
			if o.Learner == "" {
				settings := map[string]any{"members": 300, "tau": 0.1}
				maps.Copy(settings, o.Settings)
				o.Learner, o.Settings = "obpm", settings
			}
			one := o
			one.Model = filepath.Join(dir, "one.model")
			want, err := training.Run(t.Context(), one, training.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= 5; n += 2 {
				p := parts(t, dir, o, n)
				got, err := shard.Join(t.Context(), p, training.Env{})
				if err != nil {
					t.Fatal(err)
				}
				if got.Counts.Errors != want.Counts.Errors ||
					got.Counts.Updates != want.Counts.Updates {
					t.Errorf("%d parts: %d errors, %d updates, want %d, %d", n, got.Counts.Errors,
						got.Counts.Updates, want.Counts.Errors, want.Counts.Updates)
				}
				if !bytes.Equal(content(t, p.Model), content(t, one.Model)) {
					t.Errorf("%d parts: another model", n)
				}
			}
		})
	}
}

// manyClasses writes examples of so many classes to a file, of which some come late.
func manyClasses(t *testing.T, dir string, n int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 1))
	var b strings.Builder
	for i := range 1200 {
		c := r.IntN(max(3, min(n, 1+i/20)))
		fmt.Fprintf(&b, "%d", c)
		for j := range 30 {
			if r.IntN(30) < 2+3*(j%n/(c+1)%2) {
				fmt.Fprintf(&b, " %d:1", j+1)
			}
		}
		b.WriteByte('\n')
	}
	file := filepath.Join(dir, "x.svm")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestByClasses: parts of the classes, of any learner of two that takes a stream, are the model of
// one process, with all that it counts; parts that are missing, double or of another cut are not.
func TestByClasses(t *testing.T) {
	for _, c := range []struct {
		name  string
		known bool
		n     int
		parts []int
		o     training.Options
	}{
		{"pa", false, 20, []int{1, 2, 7}, training.Options{Learner: "pa"}},
		{"pa late", false, 40, []int{3}, training.Options{Learner: "pa", Precision: "f64"}},
		{"pa known", true, 20, []int{2, 20}, training.Options{Learner: "pa", Precision: "f64"}},
		{"perceptron", false, 3, []int{3, 5}, training.Options{Learner: "perceptron",
			Epochs: 2, Shuffle: true}},
		{"obpm", false, 20, []int{3}, training.Options{Learner: "obpm",
			Settings: map[string]any{"members": 70, "tau": 0.2}}},
		{"adf", true, 3, []int{2}, training.Options{Learner: "adf"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := c.o
			o.Files = []string{manyClasses(t, dir, c.n)}
			for k := 0; c.known && k < c.n; k++ {
				o.Classes = append(o.Classes, fmt.Sprint(k))
			}
			one := o
			one.Model = filepath.Join(dir, "one.model")
			want, err := training.Run(t.Context(), one, training.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if want.Counts.Errors == 0 || want.Counts.Updates == 0 {
				t.Errorf("%+v", want.Counts)
			}
			o.ShardBy = training.ShardClasses
			var p shard.Parts
			for _, n := range c.parts {
				p = parts(t, dir, o, n)
				got, err := shard.Join(t.Context(), p, training.Env{})
				if err != nil {
					t.Fatal(err)
				}
				a, b := got.Counts, want.Counts
				if a.Errors != b.Errors || a.Updates != b.Updates || a.Examples != b.Examples ||
					!bytes.Equal(content(t, p.Model), content(t, one.Model)) {
					t.Errorf("%d parts: %+v, want %+v, or another model", n, a, b)
				}
			}
			more := filepath.Join(dir, "more")
			goesOn := func(from string) []byte {
				if _, err := training.Run(t.Context(), training.Options{From: from, Model: more,
					Files: o.Files}, training.Env{}); err != nil {
					t.Fatal(err)
				}
				return content(t, more)
			}
			if !bytes.Equal(goesOn(p.Model), goesOn(one.Model)) {
				t.Error("it goes on in another way")
			}
			if p.Models = p.Models[1:]; len(p.Models) > 0 {
				p.Traces = p.Traces[:len(p.Models)] // from behind
				if _, err := shard.Join(t.Context(), p, training.Env{}); !errors.Is(err,
					learner.ErrParts) || !strings.Contains(err.Error(), "classes 0, ") {
					t.Errorf("one part less: %v", err)
				}
			}
		})
	}
}

// ending ends a run when it has saved so often.
type ending struct {
	training.Silent
	left   int
	cancel context.CancelFunc
}

func (e *ending) Saved(training.Saved) {
	if e.left--; e.left == 0 {
		e.cancel()
	}
}

// TestResume: a part whose run ends anywhere goes on where it was saved, with its trace, and a part
// that is whole is taken as it is.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	o := training.Options{Learner: "obpm", Files: []string{rows(t, dir, 2000, 1, true)},
		Settings: map[string]any{"members": 130}, Epochs: 2, Shuffle: true, CheckpointEvery: "300"}
	one := o
	one.CheckpointEvery, one.Model = "", filepath.Join(dir, "one.model")
	if _, err := training.Run(t.Context(), one, training.Env{}); err != nil {
		t.Fatal(err)
	}
	whole := parts(t, dir, o, 2)
	trace := content(t, whole.Traces[0])
	for left := 1; left <= 12; left += 5 {
		p := whole
		o := o
		o.Shard, o.Model = "2/2", filepath.Join(dir, "again.model")
		p.Traces = []string{whole.Traces[1], filepath.Join(dir, "again.trace")}
		p.Models = []string{whole.Models[0], o.Model}
		os.Remove(p.Traces[1])
		ctx, cancel := context.WithCancel(t.Context())
		_, err := shard.Train(ctx, o, training.Env{Observer: &ending{left: left, cancel: cancel}},
			p.Traces[1])
		cancel()
		if !errors.Is(err, training.ErrStopped) {
			t.Fatalf("stopped at save %d: %v", left, err)
		}
		if _, err := shard.Join(t.Context(), p, training.Env{}); !errors.Is(err,
			shard.ErrTraceFile) || !strings.Contains(err.Error(), "not finished") {
			t.Errorf("a trace that is open: %v", err)
		}
		// what was written behind the last model doesn't count
		f, err := os.OpenFile(p.Traces[1]+".open", os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("half of a record")
		f.Close()
		again := training.Options{Resume: true, Model: o.Model, Files: o.Files}
		for range 2 { // the second one finds it whole
			if _, err := shard.Train(t.Context(), again, training.Env{}, p.Traces[1]); err != nil {
				t.Fatal(err)
			}
		}
		if left == 1 && !bytes.Equal(content(t, whole.Models[1]), content(t, o.Model)) {
			t.Error("another model of the part")
		}
		if _, err := shard.Join(t.Context(), p, training.Env{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(content(t, p.Model), content(t, one.Model)) {
			t.Errorf("stopped at save %d: another model", left)
		}
	}
	if !bytes.Equal(trace, content(t, whole.Traces[0])) {
		t.Error("a trace was written again")
	}
	// killed between the model and the end of the trace: the name is given then
	os.Rename(whole.Traces[0], whole.Traces[0]+".open")
	data := content(t, whole.Traces[0]+".open")
	os.WriteFile(whole.Traces[0]+".open", data[:len(data)-frames.Begins-frames.Ends-16-64], 0o600)
	if _, err := shard.Train(t.Context(), training.Options{Resume: true, Model: whole.Models[1],
		Files: o.Files}, training.Env{}, whole.Traces[0]); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(trace, content(t, whole.Traces[0])) {
		t.Error("another trace")
	}
}

// TestWrong: what is not the parts of one run over these examples is refused, and nothing is
// written.
func TestWrong(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	o := training.Options{Learner: "obpm", Files: []string{rows(t, dir, 500, 1, true)},
		Settings: map[string]any{"members": 200}}
	p := parts(t, dir, o, 3)
	changed := o
	changed.Settings = map[string]any{"members": 200, "tau": 0.2}
	foreign := parts(t, other, changed, 3)
	stream := o
	stream.Files = []string{rows(t, dir, 500, 2, true)}
	elsewhere := parts(t, t.TempDir(), stream, 3)
	truncated := filepath.Join(dir, "truncated")
	os.WriteFile(truncated, content(t, p.Traces[0])[:150], 0o600)
	damaged := filepath.Join(dir, "damaged")
	data := slices.Clone(content(t, p.Traces[0]))
	data[len(data)/2] ^= 1
	os.WriteFile(damaged, data, 0o600)
	with := func(models, traces []string, files ...string) shard.Parts {
		return shard.Parts{Models: models, Traces: traces, Files: files,
			Model: filepath.Join(dir, "none.model")}
	}
	two := func(list []string, last string) []string { return append(list[:2:2], last) }
	for _, c := range []struct {
		name string
		p    shard.Parts
		want error
		says string
	}{
		{"missing", with(p.Models[:2], p.Traces[1:], o.Files...), learner.ErrParts, "128 to 199"},
		{"no trace", with(p.Models, p.Traces[:2], o.Files...), learner.ErrParts, "3 models and 2"},
		{"twice", with(two(p.Models, p.Models[0]), p.Traces, o.Files...), learner.ErrParts,
			"twice"},
		{"of other settings", with(p.Models, two(p.Traces, foreign.Traces[2]), o.Files...),
			shard.ErrForeign, "tau"},
		{"model of other settings", with(two(p.Models, foreign.Models[2]), p.Traces, o.Files...),
			shard.ErrForeign, "is not the trace"},
		{"of another stream", with(p.Models, two(p.Traces, elsewhere.Traces[2]), o.Files...),
			shard.ErrForeign, "other examples"},
		{"another stream", with(p.Models, p.Traces, stream.Files...), learner.ErrTrace, ""},
		{"a shorter stream", with(p.Models, p.Traces, rows(t, dir, 400, 1, true)),
			learner.ErrTrace, ""},
		{"a longer stream", with(p.Models, p.Traces, rows(t, dir, 600, 1, true)), learner.ErrTrace,
			""},
		{"truncated", with(p.Models, two(p.Traces, truncated), o.Files...), shard.ErrTraceFile,
			"truncated"},
		{"damaged", with(p.Models, two(p.Traces, damaged), o.Files...), shard.ErrTraceFile,
			"damaged"},
		{"a model for a trace", with(p.Models, two(p.Traces, p.Models[0]), o.Files...),
			shard.ErrTraceFile, "does not begin"},
	} {
		_, err := shard.Join(t.Context(), c.p, training.Env{})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Stat(c.p.Model); err == nil {
			t.Fatalf("%s: a model was written", c.name)
		}
	}
	for what, says := range map[string]string{"5/5": "has none", "0/2": "not the number",
		"3/2": "not the number", "2": "not the number", "": "learns the whole"} {
		o := o
		o.Shard, o.Model = what, filepath.Join(dir, "none.model")
		_, err := shard.Train(t.Context(), o, training.Env{}, filepath.Join(dir, "none.trace"))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("part %q: %v", what, err)
		}
	}
}

// FuzzTrace: what is no trace is refused, whatever it is.
func FuzzTrace(f *testing.F) {
	f.Add([]byte("halfspace trace 1\n"))
	f.Add(frames.Append([]byte("halfspace trace 1\n"), 'H', make([]byte, 16), []byte("{}")))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := shard.Join(t.Context(), shard.Parts{Models: []string{name},
			Traces: []string{name}, Files: []string{name}}, training.Env{})
		if err == nil {
			t.Fatal("no error")
		}
	})
}
