package training_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
)

// examples writes n of them; the label is the sign of the first feature, but of one in ten.
func examples(t testing.TB, from, n int) string {
	t.Helper()
	var b strings.Builder
	for i := from; i < from+n; i++ {
		x, y := i*37%101-50, 1
		if (x < 0) != (i%10 == 3) {
			y = -1
		}
		fmt.Fprintf(&b, "%+d 1:%d 2:%d 3:0.5\n", y, x, i*53%89-44)
	}
	file := filepath.Join(t.TempDir(), "examples.svm")
	ok(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// TestOptionsAsText: JSON and TOML hold Options, those with a typed Config too.
func TestOptionsAsText(t *testing.T) {
	all := training.Options{
		Learner: "pa", Precision: "f64", Seed: new(uint64(1 << 60)),
		Settings: map[string]any{"c": 0.5, "variant": "1"}, Files: []string{"a", "b"},
		Data: training.Data{Format: "csv", LabelCol: "y", Positive: "1", Bias: "append",
			Normalize: "unit", OnError: "skip", MaxLine: 1 << 20},
		Epochs: 3, MaxUpdates: new(int64(0)), Shuffle: true, SoftDelta: 0.5, Rho: 2, Model: "m",
		From: "f", CheckpointEvery: "60s", Test: []string{"t"}, Proba: true, MarginReport: true,
		MarginSVM: true, Threads: 2, MemBudget: 512 << 20,
	}
	for _, want := range []training.Options{{}, all} {
		var fromJSON, fromTOML training.Options
		text, err := json.Marshal(want)
		if err == nil {
			err = json.Unmarshal(text, &fromJSON)
		}
		if err != nil || !reflect.DeepEqual(fromJSON, want) {
			t.Errorf("JSON: %s is %+v (%v), want %+v", text, fromJSON, err, want)
		}
		if text, err = toml.Marshal(want); err == nil {
			err = toml.Unmarshal(text, &fromTOML)
		}
		if err != nil || !reflect.DeepEqual(fromTOML, want) {
			t.Errorf("TOML: %s is %+v (%v), want %+v", text, fromTOML, err, want)
		}
	}
	typed := training.Options{Learner: "alma", Files: []string{"a"},
		Config: &learners.ALMAConfig{P: 4, B: 1.5, C: 0.25}}
	text := must(json.Marshal(typed))(t)
	var named training.Options
	ok(t, json.Unmarshal(text, &named))
	_, c, err := named.Entry()
	if err != nil || !reflect.DeepEqual(c, typed.Config) {
		t.Errorf("%s has the settings %+v (%v), want %+v", text, c, err, typed.Config)
	}
}

// TestValidate: what is wrong names its fields, under the names that the reader has for them.
func TestValidate(t *testing.T) {
	files := []string{"a"}
	for _, c := range []struct {
		o      training.Options
		fields []string // that Text names
	}{
		{training.Options{Learner: "pa"}, []string{"files"}},
		{training.Options{Learner: "nosuch", Files: files}, []string{"learner"}},
		{training.Options{Learner: "pa", Files: files, Threads: -1}, []string{"threads"}},
		{training.Options{Learner: "pa", Files: files, Threads: 1e9}, []string{"threads"}},
		{training.Options{Learner: "pa", Files: files, MemBudget: -1}, []string{"mem_budget"}},
		{training.Options{Learner: "pa", Files: files, Epochs: -1}, []string{"epochs"}},
		{training.Options{Learner: "pa", Files: files, Epochs: 2, UntilConverged: true},
			[]string{"epochs", "until_converged"}},
		{training.Options{Learner: "pa", Files: files, MaxUpdates: new(int64(9))},
			[]string{"max_updates", "until_converged"}},
		{training.Options{Learner: "pa", Files: files, Precision: "f16"}, []string{"precision"}},
		{training.Options{Learner: "pa", Files: files, MarginSVM: true},
			[]string{"margin_svm", "margin_report"}},
		{training.Options{Learner: "pa", Files: files, Rho: 1}, []string{"rho"}},
		{training.Options{Learner: "romma", Files: files, Rho: 1,
			Data: training.Data{Bias: "append"}}, []string{"rho", "bias"}},
		{training.Options{Learner: "romma", Files: files, Rho: 1, UntilConverged: true,
			Proba: true, Data: training.Data{Bias: "none"}}, []string{"proba"}}, // not the two
		{training.Options{Learner: "pa", Files: files, Proba: true}, []string{"proba"}},
		{training.Options{Learner: "pa", Files: files, CheckpointEvery: "9"},
			[]string{"checkpoint_every"}},
		{training.Options{Learner: "pa", Files: files, Model: "m", CheckpointEvery: "soon"},
			[]string{"checkpoint_every"}},
		{training.Options{Learner: "pa", Files: files, Test: []string{"-"}}, []string{"test"}},
		{training.Options{Learner: "pa", Files: files, Settings: map[string]any{"nosuch": 1}},
			[]string{"config"}},
		{training.Options{Learner: "pa", Files: files, SoftDelta: 1}, []string{"soft_delta"}},
	} {
		err := c.o.Validate()
		e := (*training.Error)(nil)
		if !errors.As(err, &e) || !errors.Is(err, training.ErrOption) {
			t.Errorf("%v: %v, want an error of options", c.fields, err)
			continue
		}
		text := e.Text(func(field string) string { return "<" + field + ">" })
		for _, f := range c.fields {
			if !strings.Contains(text, "<"+f+">") || !strings.Contains(err.Error(), f) {
				t.Errorf("%q and %q don't name %s", text, err, f)
			}
		}
	}
	o := training.Options{Learner: "pa", Files: files, Settings: map[string]any{"c": -1}}
	if err := o.Validate(); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("a bad setting: %v", err)
	}
	o = training.Options{Learner: "svm", Files: files}
	if err := o.Validate(); !errors.Is(err, training.ErrOption) {
		t.Errorf("svm over a stream: %v", err)
	}
	o.UntilConverged = true
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// TestConfigByHand: a Config needs no more fields than a user wants to set; a zero that Settings
// ask for by name is not the default.
func TestConfigByHand(t *testing.T) {
	o := training.Options{Learner: "obpm", Config: &learners.OBPMConfig{Members: 5, Tau: 1},
		Files: []string{"a"}}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	o = training.Options{Learner: "obpm", Settings: map[string]any{"members": 0},
		Files: []string{"a"}}
	if err := o.Validate(); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("0 members: %v, want %v", err, learner.ErrConfig)
	}
}

// TestSoftSetting: the setting that asks for a soft margin is named, by whoever needs to know.
func TestSoftSetting(t *testing.T) {
	soft := map[string]any{"soft_c": 1}
	for name, settings := range map[string]map[string]any{"pumma": soft,
		"rff": {"base": "pumma", "base_config": soft}} {
		o := training.Options{Learner: name, Settings: settings, Files: []string{"a"}}
		if err := o.Validate(); err != nil { // each example once: it has one slack
			t.Errorf("%s with a soft margin in one pass: %v", name, err)
		}
		o.Epochs = 2
		e := (*training.Error)(nil)
		if err := o.Validate(); !errors.As(err, &e) {
			t.Errorf("%s with a soft margin in two passes: %v", name, err)
			continue
		}
		next := e.Next(func(field string) string { return "<" + field + ">" })
		if !strings.Contains(next, "eave out <soft_c>") {
			t.Errorf("%s: %q doesn't say which setting makes the margin soft", name, next)
		}
	}
}

// TestUnknownLearner: the error alone says which names there are, the nearest where one is near.
func TestUnknownLearner(t *testing.T) {
	all := strings.Join(learner.Names(), ", ")
	for name, want := range map[string]string{"peceptron": "did you mean perceptron?",
		"OBPM": "there are " + all, "vvn": "did you mean vvm?", "nosuch": "there are " + all,
		"": "there are " + all} {
		_, _, err := (&training.Options{Learner: name}).Entry()
		if !errors.Is(err, training.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("learner %q: %v, want an error with %q", name, err, want)
		}
	}
}

// watch is an Observer that keeps what it was called with.
type watch struct {
	training.Silent
	plan     *training.Plan
	saved    []training.Saved
	warnings []string
	at       func(training.Saved)
}

func (w *watch) Planned(p *training.Plan) { w.plan = p }
func (w *watch) Saved(s training.Saved) {
	if w.saved = append(w.saved, s); w.at != nil {
		w.at(s)
	}
}
func (w *watch) Warn(x training.Warning) { w.warnings = append(w.warnings, x.Code) }

// TestWays: the plan says how the run goes, and it goes so.
func TestWays(t *testing.T) {
	file := examples(t, 0, 100)
	for _, c := range []struct {
		o    training.Options
		want training.Way
	}{
		{training.Options{Learner: "pa"}, training.Stream},
		{training.Options{Learner: "pa", Epochs: 2}, training.Passes},
		{training.Options{Learner: "pa", Shuffle: true}, training.Passes},
		{training.Options{Learner: "pa", Data: training.Data{Normalize: "max"}}, training.Passes},
		{training.Options{Learner: "perceptron", Settings: map[string]any{"margin_rel": 0.5}},
			training.Passes},
		{training.Options{Learner: "perceptron", UntilConverged: true, SoftDelta: 30},
			training.Whole},
		{training.Options{Learner: "svm", UntilConverged: true, Settings: map[string]any{"C": 1}},
			training.Whole},
	} {
		c.o.Files = []string{file}
		w := &watch{}
		res, err := training.Run(context.Background(), c.o, training.Env{Observer: w})
		if err != nil {
			t.Errorf("%+v: %v", c.o, err)
			continue
		}
		if w.plan.Way != c.want || res.Plan != w.plan || (res.Counts.Fit != nil) !=
			(c.want == training.Whole) {
			t.Errorf("%s: the way is %s, want %s", c.o.Learner, w.plan.Way, c.want)
		}
		if w.plan.Config.Traits().Relative {
			t.Errorf("%s: the plan's settings are relative to the data", c.o.Learner)
		}
		if text := w.plan.String(); !strings.Contains(text, string(c.want)+": ") ||
			!strings.Contains(text, "svmlight") || !strings.Contains(text, "3 features") {
			t.Errorf("the plan says %s", text)
		}
		if _, err := json.Marshal(w.plan); err != nil {
			t.Error(err)
		}
	}
}

// TestGoOn: a model that was written on the way, and gone on from with the rest, is the model of
// all, to the byte; and so is one that a context has ended.
func TestGoOn(t *testing.T) {
	first, rest := examples(t, 0, 300), examples(t, 300, 200)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"obpm", "adf", "tbp"} {
		o := training.Options{Learner: name, Files: []string{first, rest}, Model: file("all")}
		run := func(ctx context.Context, o training.Options, w training.Observer) (*training.Result,
			error) {
			t.Helper()
			return training.Run(ctx, o, training.Env{Observer: w})
		}
		must(run(context.Background(), o, nil))(t)
		o.Files, o.Model, o.CheckpointEvery = []string{first}, file("part"), "100"
		w := &watch{}
		res := must(run(context.Background(), o, w))(t)
		var at []int64
		for _, s := range w.saved {
			at = append(at, s.Presented)
		}
		if !slices.Equal(at, []int64{100, 200, 300, 300}) || *res.Saved != w.saved[3] {
			t.Errorf("%s: written after %v", name, at)
		}
		further := training.Options{From: o.Model, Files: []string{rest}, Model: o.Model}
		res = must(run(context.Background(), further, nil))(t)
		if res.Plan.Presented != 300 || res.Plan.From != o.Model {
			t.Errorf("%s: %s", name, res.Plan)
		}
		want, err := os.ReadFile(file("all"))
		got, err2 := os.ReadFile(o.Model)
		if err != nil || err2 != nil || string(got) != string(want) {
			t.Errorf("%s: going on gives another model (%v, %v)", name, err, err2)
		}
	}
	o := training.Options{Learner: "pa", From: file("all"), Files: []string{rest}}
	if _, err := training.New(o, training.Env{}); !errors.Is(err, training.ErrOption) {
		t.Errorf("another learner than the model's: %v", err)
	}
	o = training.Options{From: file("all"), Files: []string{rest},
		Settings: map[string]any{"budget": 7}}
	if _, err := training.New(o, training.Env{}); !errors.Is(err, training.ErrOption) {
		t.Errorf("other settings than the model's: %v", err)
	}
	o = training.Options{From: file("none"), Files: []string{rest}}
	if _, err := training.New(o, training.Env{}); !errors.Is(err, training.ErrModel) ||
		!errors.Is(err, os.ErrNotExist) {
		t.Errorf("no model: %v", err)
	}
}

// TestStop: a run whose context ends keeps what it has learned.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := training.Options{Learner: "pa", Epochs: 1000, Files: []string{examples(t, 0, 1000)},
		Model: filepath.Join(t.TempDir(), "m"), CheckpointEvery: "5000"}
	w := &watch{at: func(training.Saved) { cancel() }}
	res, err := training.Run(ctx, o, training.Env{Observer: w})
	if !errors.Is(err, training.ErrStopped) || res == nil || !res.Stopped {
		t.Fatalf("%+v, %v; want that it was stopped", res, err)
	}
	if res.Counts.Presented < 5000 || res.Counts.Presented > 10000 ||
		res.Saved.Presented != res.Counts.Presented {
		t.Errorf("%d examples, saved %+v", res.Counts.Presented, res.Saved)
	}
	m, err := model.Load(o.Model)
	if err != nil || int64(m.Presented) != res.Counts.Presented {
		t.Errorf("the model: %+v, %v", m, err)
	}
}

// TestMemory: a budget is split, and kept: what there is no room for is refused.
func TestMemory(t *testing.T) {
	o := training.Options{Learner: "budget", Files: []string{examples(t, 0, 500)},
		MemBudget: 32 << 20, Settings: map[string]any{"kernel": "rbf", "sigma": 1}}
	limit := int64(0)
	machine := training.Machine{Bytes: 1 << 40, By: "this machine has", Program: 22 << 20,
		Limit: func(bytes int64) { limit = bytes }, Peak: func() int64 { return 7 }}
	res := must(training.Run(context.Background(), o, training.Env{Machine: machine}))(t)
	m := res.Memory
	if m.Budget != 32<<20 || m.Planned() > m.Budget || m.Planned() < m.Budget*9/10 ||
		m.Peak != 7 || limit != m.Budget || res.Plan.Memory != m {
		t.Errorf("%+v, limit %d", m, limit)
	}
	e := must(learner.Lookup(o.Learner))(t)
	if keeps := res.Plan.Config.Traits().Keeps; *res.Support == 0 ||
		keeps == e.Config().Traits().Keeps {
		t.Errorf("%d of %d kept, which is the default", *res.Support, keeps)
	}
	o.Learner, o.Settings = "obpm", map[string]any{"members": 1_000_000, "tau": 0.1}
	refused := (*training.Error)(nil)
	if _, err := training.Run(context.Background(), o, training.Env{Machine: machine}); !errors.As(
		err, &refused) || refused.Kind != training.ErrMemory || !refused.Late {
		t.Errorf("a million members: %v", err)
	}
	o.MemBudget = 1 << 50
	if _, err := training.Run(context.Background(), o, training.Env{Machine: machine}); !errors.Is(
		err, training.ErrOption) {
		t.Errorf("more than the machine has: %v", err)
	}
}

// TestMemoryBytes: dense examples of whole numbers have room as bytes where floats would not fit.
func TestMemoryBytes(t *testing.T) {
	run := func(value string) (*training.Result, error) {
		var text strings.Builder
		for i := range 14000 {
			fmt.Fprintf(&text, "%d", i%2)
			for j := range 64 {
				fmt.Fprintf(&text, ",%d", (i*j+i%2*j)%256)
			}
			fmt.Fprintf(&text, ",%s\n", value)
		}
		file := filepath.Join(t.TempDir(), "x.csv")
		ok(t, os.WriteFile(file, []byte(text.String()), 0o600))
		return training.Run(t.Context(), training.Options{Learner: "perceptron", Epochs: 2,
			Data:  training.Data{LabelCol: "1", Scale: "none", Normalize: "none"},
			Files: []string{file}, Threads: 1,
			MemBudget: 12 << 20}, training.Env{Machine: training.Machine{Bytes: 1 << 40}})
	}
	r := must(run("7"))(t)
	if data := r.Memory.Data; data < 14000*65 || data > 14000*(80+24)*5/4 {
		t.Errorf("%d bytes of examples", data)
	}
	refused := (*training.Error)(nil)
	if _, err := run("0.5"); !errors.As(err, &refused) || refused.Kind != training.ErrMemory {
		t.Errorf("floats: %v", err)
	}
}

// TestMeasured: tests, margins and warnings are those of the run.
func TestMeasured(t *testing.T) {
	file := examples(t, 0, 300)
	w := &watch{}
	res := must(training.Run(context.Background(), training.Options{Learner: "adf", Epochs: 2,
		Files: []string{file}, Test: []string{file}, Proba: true, MarginReport: true,
		MarginSVM: true}, training.Env{Observer: w}))(t)
	if c := res.Test.Count; c.Examples != 300 || c.Errors < 20 || c.Errors > 60 ||
		res.Test.Proba.Examples() != 300 || res.Counts.Proba == nil {
		t.Errorf("test: %+v", res.Test)
	}
	if res.Margins == nil || res.Margin == nil || *res.Margin != res.Margins.Directional ||
		res.Margins.Max != nil { // labels are wrong: there is none
		t.Errorf("margins: %+v", res.Margins)
	}
	m, err := res.Model()
	if err != nil || m.Learner != "adf" || m.Presented != 600 {
		t.Errorf("%+v, %v", m, err)
	}
	one := filepath.Join(t.TempDir(), "one.svm")
	os.WriteFile(one, []byte(strings.Repeat("+1 1:1\n+1 1:2\n", 20)), 0o600)
	w = &watch{}
	if _, err := training.Run(context.Background(), training.Options{Learner: "pa",
		Files: []string{one}}, training.Env{Observer: w}); err != nil ||
		!slices.Contains(w.warnings, training.OneLabel) {
		t.Errorf("one label: %v, warned of %v", err, w.warnings)
	}
}

// TestHugeExamples: that the longest example's squared length is beyond float64 is a fault of the
// data, not of a setting that is relative to it.
func TestHugeExamples(t *testing.T) {
	file := filepath.Join(t.TempDir(), "huge.svm")
	ok(t, os.WriteFile(file, []byte("+1 1:1e200\n-1 2:1\n"), 0o600))
	_, err := training.Run(t.Context(), training.Options{Files: []string{file}, Learner: "cramma",
		Precision: "f64"}, training.Env{})
	if !errors.Is(err, learner.ErrLength) || errors.Is(err, learner.ErrConfig) {
		t.Errorf("%v, want %v", err, learner.ErrLength)
	}
}

// TestLearnNeeds: to fit needs a learner that can.
func TestLearnNeeds(t *testing.T) {
	e := must(learner.Lookup("lms"))(t)
	l := must(learner.New[float64](e, e.Config(), learner.Env{}))(t)
	_, err := training.Learn(context.Background(), l, eval.NewMemory(block(), nil),
		training.LearnOptions{Fit: &learner.FitOptions{}})
	if !errors.Is(err, learner.ErrFit) {
		t.Errorf("lms: %v", err)
	}
}

// block is a data set in memory.
func block() *engine.Block[float64] {
	return &engine.Block[float64]{Dim: 2, Stride: 2, X: []float64{1, 2, -1, 0.5, 2, 1, -2, -1},
		Y: []float64{1, -1, 1, -1}}
}

// must returns what a call gave that does not fail here.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ok ends the test where a call fails that does not here.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
