package training_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// keeper copies each model that is written, and ends the run at one of them.
type keeper struct {
	training.Silent
	t      *testing.T
	copies []string
	last   int // that ends it; 0: none
	cancel context.CancelFunc
}

func (k *keeper) Saved(s training.Saved) {
	data, err := os.ReadFile(s.Path)
	if err != nil {
		k.t.Fatal(err)
	}
	to := fmt.Sprintf("%s.copy%d", s.Path, len(k.copies))
	if err := os.WriteFile(to, data, 0o600); err != nil {
		k.t.Fatal(err)
	}
	if k.copies = append(k.copies, to); len(k.copies) == k.last {
		k.cancel()
	}
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	data := must(os.ReadFile(name))(t)
	return data
}

// figures are all that was counted and tallied, as text.
func figures(res *training.Result) string {
	r := res.Counts
	var b strings.Builder
	for _, m := range []*eval.Metrics{r.Metrics, r.Recent} {
		if m != nil {
			auc, bound := m.AUC()
			fmt.Fprintln(&b, m.Examples(), m.Error(), m.BalancedError(), m.F1(), m.Confusion(), auc,
				bound, m.LogLoss(), m.Brier(), m.CalibrationError())
		}
	}
	if p := r.Proba; p != nil {
		fmt.Fprintln(&b, p.Examples(), p.LogLoss(), p.Brier(), p.CalibrationError())
	}
	if r.Late != nil {
		fmt.Fprintln(&b, *r.Late, r.Waiting)
	}
	fmt.Fprintln(&b, r.Examples, r.Presented, r.Epochs, r.Updates, r.Mistakes, r.Errors, r.Curve,
		r.Drifts, r.Drifted, r.Converged, r.NotFinite, r.Warnings)
	return b.String()
}

// lateRows writes a csv file of examples whose labels come in rows of their own, some of them
// never, some before others, and some with features.
func lateRows(t *testing.T) string {
	rows := []string{"id,x,y,label"}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		x, y := r.Float64(), r.Float64()
		rows = append(rows, fmt.Sprintf("r%d,%.3f,%.3f,", i, x, y))
		if k := i - 5 - r.IntN(20); k >= 0 && i%7 > 0 {
			label := 2*(k%2) - 1
			if i%5 == 0 {
				rows = append(rows, fmt.Sprintf("r%d,%.3f,%.3f,%d", k, x, y, label))
			} else {
				rows = append(rows, fmt.Sprintf("r%d,,,%d", k, label))
			}
		}
		if i%11 == 0 {
			rows = append(rows, fmt.Sprintf(",%.3f,%.3f,%d", y, x, 2*(i%2)-1))
		}
	}
	name := filepath.Join(t.TempDir(), "late.csv")
	ok(t, os.WriteFile(name, []byte(strings.Join(rows, "\n")+"\n"), 0o600))
	return name
}

// TestResume goes on from every checkpoint of runs, and from where a context stopped them.
func TestResume(t *testing.T) {
	t.Parallel()
	one, two := examples(t, 0, 150), examples(t, 150, 100)
	from := filepath.Join(t.TempDir(), "from")
	must(training.Run(t.Context(), training.Options{Learner: "pa", Files: []string{two},
		Model: from, Data: training.Data{Scale: "std"}}, training.Env{}))(t)
	for name, o := range map[string]training.Options{
		"stream":   {Learner: "pa", Data: training.Data{Bias: "append"}},
		"positive": {Learner: "alma", Data: training.Data{Positive: "-1", Normalize: "unit"}},
		"epochs": {Learner: "obpm", Epochs: 3, Shuffle: true,
			Data: training.Data{Normalize: "max"}},
		"updates": {Learner: "perceptron", UntilConverged: true, Shuffle: true,
			MaxUpdates: new(int64(300))},
		"active set": {Learner: "micra", UntilConverged: true, ActiveSet: true,
			MaxUpdates: new(int64(500))},
		"active set, halving": {Learner: "romma", UntilConverged: true, ActiveSet: true,
			Halving: true, Settings: map[string]any{"aggressive": true, "delta": 0.1},
			MaxUpdates: new(int64(500)), Calibrate: "platt"},
		"halving": {Learner: "pumma", UntilConverged: true, Halving: true,
			MaxUpdates: new(int64(300))},
		"soft": {Learner: "cramma", UntilConverged: true, SoftDelta: 1,
			Data: training.Data{Scale: "std"}, MaxUpdates: new(int64(500))},
		"soft, weighted": {Learner: "perceptron", UntilConverged: true, SoftDelta: 0.5,
			ClassWeight: "balanced", Settings: map[string]any{"margin": 3},
			MaxUpdates: new(int64(500))},
		"soft, active set": {Learner: "micra", UntilConverged: true, SoftDelta: 0.5,
			ActiveSet: true, MaxUpdates: new(int64(500))},
		"scaled":                {Learner: "pa", Data: training.Data{Scale: "std", Bias: "append"}},
		"scaled in memory":      {Learner: "pa", Epochs: 2, Data: training.Data{Scale: "maxabs"}},
		"scaled from":           {From: from, Data: training.Data{Scale: "std"}},
		"scaled from in memory": {From: from, Epochs: 2, Data: training.Data{Scale: "std"}},
		"from":                  {From: from, Epochs: 2, Shuffle: true},
		"relative": {Learner: "perceptron",
			Settings: map[string]any{"margin_rel": 0.1}},
		"classes": {Learner: "pa", Data: training.Data{Classes: []string{"1", "-1"}}},
		"tallied": {Learner: "pa", AUC: true, Window: 40, Curve: 7, Calibrate: "platt",
			ClassWeight: "balanced"},
		"tallied in epochs": {Learner: "obpm", Settings: map[string]any{"members": 9}, Proba: true,
			Fading: 0.9, Curve: 100, Epochs: 2, Shuffle: true},
		"drift": {Learner: "pa", Drift: "page-hinkley"},
		"drift, reset": {Learner: "pa", Settings: map[string]any{"C": 0.001}, Drift: "ddm",
			OnDrift: training.DriftReset},
		"delayed": {Learner: "pa", Delay: 37, Calibrate: "platt",
			Data: training.Data{Scale: "std"}},
		"delayed more than there are": {Learner: "obpm", Delay: 200, Proba: true,
			ClassWeight: "balanced"},
		"labels by ids": {Learner: "obpm", IDCol: "id", Proba: true, Calibrate: "platt",
			WaitMax: 30},
		"labels by ids of classes": {Learner: "pa", IDCol: "id", Data: training.Data{
			Classes: []string{"1", "-1"}, Scale: "none"}},
		"delayed in memory": {Learner: "pa", Delay: 21, Shuffle: true, Window: 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o.Files, o.CheckpointEvery = []string{one, two}, "60"
			if o.IDCol != "" {
				o.Files = []string{lateRows(t)}
			}
			o.Model = filepath.Join(dir, "whole")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			k := &keeper{t: t}
			whole, err := training.Run(ctx, o, training.Env{Observer: k})
			if err != nil && !errors.Is(err, training.ErrNotConverged) {
				t.Fatal(err)
			}
			want := content(t, o.Model)
			copies := k.copies[:len(k.copies)-1] // the last is the end
			k = &keeper{t: t, last: 3, cancel: cancel}
			o.Model = filepath.Join(dir, "stopped")
			_, err = training.Run(ctx, o, training.Env{Observer: k})
			if errors.Is(err, training.ErrStopped) {
				copies = append(copies, o.Model)
			} else if err != nil { // else all was read already, and is learned
				t.Fatal(err)
			}
			for _, file := range copies {
				again := training.Options{Model: file, Resume: true, Files: o.Files}
				ok(t, again.Validate())
				res, err := training.Run(t.Context(), again, training.Env{})
				if err != nil && !errors.Is(err, training.ErrNotConverged) {
					t.Fatal(err)
				}
				if !bytes.Equal(content(t, file), want) {
					t.Errorf("%s: the end is another", file)
				}
				if a, b := figures(whole), figures(res); a != b || !res.Counts.Resumed {
					t.Errorf("%s:\n%s\nin one go:\n%s", file, b, a)
				}
				end := training.ErrFinished
				if m, err := model.Load(file); err != nil {
					t.Fatal(err)
				} else if learner.WasCut(m.State) {
					end = training.ErrModel // a cut, to go on with by From
				}
				if _, err = training.Run(t.Context(), again,
					training.Env{}); !errors.Is(err, end) {
					t.Errorf("%s, at its end: %v", file, err)
				}
			}
		})
	}
}

// TestResumeFit goes on with a learner that passes over the data set itself, where an interrupt cut
// it.
func TestResumeFit(t *testing.T) {
	t.Parallel()
	o := training.Options{Learner: "perceptron", UntilConverged: true,
		Files: []string{examples(t, 0, 600)}, MaxUpdates: new(int64(1_000_000))}
	o.Model = filepath.Join(t.TempDir(), "whole")
	if _, err := training.Run(t.Context(), o, training.Env{}); !errors.Is(err,
		training.ErrNotConverged) {
		t.Fatal(err)
	}
	want := content(t, o.Model)
	o.Model = filepath.Join(t.TempDir(), "cut")
	after := 20 * time.Millisecond // long enough that something is learned, or soon will be
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	_, err := training.Run(ctx, o, training.Env{})
	for range 100 {
		if errors.Is(err, training.ErrNotConverged) || errors.Is(err, training.ErrFinished) {
			break
		}
		if !errors.Is(err, training.ErrStopped) {
			t.Fatal(err)
		}
		if _, e := os.Stat(o.Model); e == nil {
			o = training.Options{Resume: true, Model: o.Model, Files: o.Files}
		} else {
			after *= 2
		}
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		_, err = training.Run(ctx, o, training.Env{})
	}
	if _, err = training.Run(t.Context(), training.Options{Resume: true, Model: o.Model,
		Files: o.Files}, training.Env{}); !errors.Is(err, training.ErrNotConverged) &&
		!errors.Is(err, training.ErrFinished) {
		t.Fatal(err)
	}
	if !bytes.Equal(content(t, o.Model), want) {
		t.Error("the end is another")
	}
}

// TestResumeRefused: positions that are no run's, and runs that are another's.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := examples(t, 0, 200)
	k := &keeper{t: t}
	o := training.Options{Learner: "pa", Files: []string{file}, CheckpointEvery: "90",
		Model: filepath.Join(dir, "m")}
	must(training.Run(t.Context(), o, training.Env{Observer: k}))(t)
	name := filepath.Join(dir, "forged")
	for what, c := range map[string]struct {
		old, with string
		want      error
	}{
		"as it is":        {"", "", nil},
		"another place":   {`"at":90`, `"at":91`, model.ErrDamaged},
		"counts":          {`"updates":`, `"updates":-`, model.ErrDamaged},
		"more mistakes":   {`"mistakes":`, `"mistakes":9`, model.ErrDamaged},
		"unknown count":   {`"at":90`, `"at":90,"more":1`, model.ErrDamaged},
		"of a whole":      {`"at":90`, `"at":90,"fit":true`, model.ErrDamaged},
		"unknown option":  {`"epochs":1`, `"epochs":1,"quantum":1`, model.ErrNewer},
		"bad option":      {`"epochs":1`, `"epochs":-1`, training.ErrOption},
		"another option":  {`"epochs":1`, `"epochs":2`, nil},
		"no such format":  {`"epochs":1`, `"epochs":1,"index_base":"7"`, nil},
		"other examples":  {"data", "data", training.ErrChanged},
		"tallies":         {"tallies", "tallies", training.ErrModel},
		"class counts":    {"class counts", "", model.ErrDamaged},
		"another example": {"example", "example", model.ErrDamaged},
		"rows beyond":     {"rows", "rows", model.ErrDamaged},
		"from, not there": {`"epochs":1`, `"epochs":1,"from":"none"`, nil},
	} {
		m := must(model.Load(k.copies[0]))(t)
		p := m.Position
		for _, text := range []*[]byte{(*[]byte)(&p.Counts), (*[]byte)(&p.Options)} {
			if c.old != "" {
				*text = []byte(strings.Replace(string(*text), c.old, c.with, 1))
			}
		}
		switch c.old {
		case "data":
			p.Data++
		case "tallies":
			p.Tallies = append(p.Tallies, 7)
		case "example":
			p.Example++
		case "rows":
			p.Sources[0].Rows = p.Example + 1
		case "class counts":
			p.ClassCounts = []uint64{90, 1}
		}
		must(model.Save(name, m))(t)
		_, err := training.Run(t.Context(), training.Options{Resume: true, Model: name,
			Files: o.Files}, training.Env{})
		if c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		if c.old == "" && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, o := range map[string]training.Options{
		"no model": {}, "model and from": {Model: "m", From: "m"}, "no files": {Model: "m"},
	} {
		if o.Resume = true; o.From != "" {
			o.Files = []string{file}
		}
		if err := o.Validate(); !errors.Is(err, training.ErrOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestResumeTallies: a run that is gone on with may tally its last examples another way than it
// did.
func TestResumeTallies(t *testing.T) {
	t.Parallel()
	k := &keeper{t: t}
	o := training.Options{Learner: "pa", Files: []string{examples(t, 0, 200)},
		CheckpointEvery: "90", Model: filepath.Join(t.TempDir(), "m"), Window: 40}
	must(training.Run(t.Context(), o, training.Env{Observer: k}))(t)
	for name, again := range map[string]training.Options{"as before": {}, "longer": {Window: 60},
		"fading": {Fading: 0.9}} {
		again.Resume, again.Files, again.Model = true, o.Files, k.copies[0]+name
		ok(t, os.WriteFile(again.Model, content(t, k.copies[0]), 0o600))
		res := must(training.Run(t.Context(), again, training.Env{}))(t)
		m := res.Counts.Recent
		switch {
		case m == nil:
			t.Errorf("%s: nothing was tallied", name)
		case name == "as before" && m.Examples() != 40, name == "longer" && m.Examples() != 60,
			name == "fading" && m.Examples() != 110: // all since
			t.Errorf("%s: %v examples", name, m.Examples())
		}
	}
}

// TestMostCounts: counters of a model that are as large as can be stay so, and it can be saved.
func TestMostCounts(t *testing.T) {
	t.Parallel()
	o := training.Options{Learner: "pa", Files: []string{examples(t, 0, 50)},
		Model: filepath.Join(t.TempDir(), "m")}
	must(training.Run(t.Context(), o, training.Env{}))(t)
	m := must(model.Load(o.Model))(t)
	m.Presented, m.Mistakes = model.MaxCount, model.MaxCount-1
	must(model.Save(o.Model, m))(t)
	on := training.Options{From: o.Model, Files: o.Files, Model: o.Model + "2"}
	res, err := training.Run(t.Context(), on, training.Env{})
	if err != nil || res.Counts.Mistakes < 2 {
		t.Fatal(res, err)
	}
	if m, err = model.Load(on.Model); err != nil || m.Presented != model.MaxCount ||
		m.Mistakes != model.MaxCount {
		t.Errorf("%d examples, %d mistakes, %v", m.Presented, m.Mistakes, err)
	}
}

// messages is a source of rows, one a message, whose place is the number of the next one.
type messages struct {
	mu   sync.Mutex // place is asked for while Read goes on
	rows []string
	at   int   // the next one
	ends []int // bytes given after each since the beginning
	from int
}

func (m *messages) Read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at == len(m.rows) {
		return 0, io.EOF
	}
	n := 0 // some a read
	for ; m.at < len(m.rows) && n+len(m.rows[m.at]) <= len(p) && n < 100; m.at++ {
		n += copy(p[n:], m.rows[m.at])
		before := 0
		if k := len(m.ends); k > 0 {
			before = m.ends[k-1]
		}
		m.ends = append(m.ends, before+len(m.rows[m.at]))
	}
	return n, nil
}

func (m *messages) place(n int64) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, there := slices.BinarySearch(m.ends, int(n))
	if !there {
		panic(fmt.Sprint(n, " is the end of no message"))
	}
	return fmt.Sprint(m.from + k + 1)
}

// TestResumeSource goes on with a run whose examples come from elsewhere, where the source says.
func TestResumeSource(t *testing.T) {
	t.Parallel()
	all := strings.SplitAfter(string(content(t, examples(t, 0, 20000))), "\n")
	rows := slices.Concat(all[:500], []string{"no row\n"}, all[500:len(all)-1])
	opened := []int{}
	env := training.Env{Open: func(_ context.Context, at string) (training.Source, error) {
		from := 0
		if at != "" {
			var err error
			if from, err = strconv.Atoi(at); err != nil {
				return training.Source{}, err
			}
		}
		opened = append(opened, from)
		m := &messages{rows: rows, at: from, from: from}
		return training.Source{Reader: m, Place: m.place}, nil
	}}
	dir := t.TempDir()
	k := &keeper{t: t}
	with := env
	with.Observer = k
	o := training.Options{Learner: "pa", Files: []string{"log:0"}, CheckpointEvery: "1777",
		Model: filepath.Join(dir, "whole"), Data: training.Data{OnError: "skip", Scale: "std"},
		ClassWeight: "balanced", Window: 100}
	whole := must(training.Run(t.Context(), o, with))(t)
	want := content(t, o.Model)
	for i, file := range k.copies[:len(k.copies)-1] {
		m := must(model.Load(file))(t)
		from := m.Position.Sources[0]
		if from.Name != "log:0" || from.Rows > 20000 || i > 8 && from.At == "" {
			t.Errorf("%s stands at %+v", file, from)
		}
		// once more from a checkpoint, so that a place has a place behind it
		again := training.Options{Model: file, Resume: true, Files: o.Files}
		part := &keeper{t: t}
		with := env
		with.Observer = part
		res := must(training.Run(t.Context(), again, with))(t)
		if !bytes.Equal(content(t, file), want) {
			t.Errorf("from %+v: the end is another", from)
		}
		if a, b := figures(whole), figures(res); a != b {
			t.Errorf("from %+v:\n%s\nin one go:\n%s", from, b, a)
		}
		if at := opened[len(opened)-1]; from.At != "" && fmt.Sprint(at) != from.At {
			t.Errorf("opened at %d, want %s", at, from.At)
		}
		if len(part.copies) < 2 {
			continue
		}
		again.Model = part.copies[0]
		must(training.Run(t.Context(), again, env))(t)
		if !bytes.Equal(content(t, again.Model), want) {
			t.Errorf("from the checkpoint after %+v: the end is another", from)
		}
	}
	if slices.Max(opened) == 0 {
		t.Error("it always began at the beginning")
	}
	for what, o := range map[string]training.Options{
		"epochs":  {Learner: "pa", Files: []string{"log:0"}, Epochs: 2},
		"margins": {Learner: "pa", Files: []string{"log:0"}, MarginReport: true},
		"two":     {Learner: "pa", Files: []string{"log:0", "log:1"}},
	} {
		if _, err := training.New(o, env); !errors.Is(err, training.ErrOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
