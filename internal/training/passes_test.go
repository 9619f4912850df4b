package training_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/compare"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// few is what is done to small files of columns where nothing is said of passes.
func few(o training.Options) training.Options {
	o.Epochs, o.Shuffle = training.FewEpochs, true
	return o
}

// once is o with one pass.
func once(o training.Options) training.Options {
	o.Epochs = 1
	return o
}

// TestFewPasses: files of columns and few rows are gone through several times, each in a fresh
// order, where nothing else is said; all else once, as it comes.
func TestFewPasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small, more := columns(t, 0, 200), columns(t, 200, 100)
	most, many := columns(t, 0, training.FewRows-1), columns(t, 0, training.FewRows)
	before := filepath.Join(dir, "before")
	must(training.Run(t.Context(), training.Options{Learner: "pa", Model: before,
		Files: []string{more}}, training.Env{}))(t)
	wide := filepath.Join(dir, "wide.csv")
	fields := training.FewFields / 40
	ok(t, os.WriteFile(wide, bytes.Repeat([]byte(strings.Repeat("1,", fields)+"a\n"+
		strings.Repeat("2,", fields)+"b\n"), 20), 0o600))
	late := third(t, dir)
	for name, c := range map[string]struct {
		o    training.Options
		want func(training.Options) training.Options
	}{
		"csv":         {training.Options{Files: []string{small}}, few},
		"shuffled":    {training.Options{Files: []string{small}, Shuffle: true}, few},
		"f64":         {training.Options{Files: []string{small}, Precision: "f64"}, few},
		"two files":   {training.Options{Files: []string{small, more}}, few},
		"9999 rows":   {training.Options{Files: []string{most}}, few},
		"third label": {training.Options{Files: []string{late}}, few},
		"of a kernel": {training.Options{Learner: "tbp", Files: []string{small}}, few},
		"10000 rows":  {training.Options{Files: []string{many}}, once},
		"two of half": {training.Options{Files: []string{most, more}}, once},
		"wide":        {training.Options{Files: []string{wide}}, once},
		"svmlight":    {training.Options{Files: []string{examples(t, 0, 200)}}, once},
		"goes on":     {training.Options{Files: []string{small}, From: before}, once},
		"delay":       {training.Options{Files: []string{small}, Delay: 3}, once},
		"window":      {training.Options{Files: []string{small}, Window: 9}, once},
		"fading":      {training.Options{Files: []string{small}, Fading: 0.9}, once},
		"drift":       {training.Options{Files: []string{small}, Drift: "adwin"}, once},
		"posterior":   {training.Options{Learner: "adf", Files: []string{small}}, once},
		"soft margin": {training.Options{Learner: "perceptron", Files: []string{small},
			Settings: map[string]any{"margin": 1}, Data: asItIs}, few},
	} {
		if c.o.Learner == "" && c.o.From == "" {
			c.o.Learner = "pa"
		}
		if got := trained(t, c.o); !bytes.Equal(got, trained(t, c.want(c.o))) {
			t.Errorf("%s: passes are not as they should be", name)
		}
	}
}

// third writes columns whose third label comes in the last of many rows.
func third(t *testing.T, dir string) string {
	var b strings.Builder
	for i := range training.FewRows - 2 {
		fmt.Fprintf(&b, "%d.25,%d.125,%d.0625,%c\n", i*37%101, i*53%89, i*7%31, "ab"[i%2])
	}
	b.WriteString("1,2,3,c\n")
	name := filepath.Join(dir, "third.csv")
	ok(t, os.WriteFile(name, []byte(b.String()), 0o600))
	return name
}

// TestFewPassesOfSources: what comes from no file comes once, however little it is; one pass over a
// file is the same.
func TestFewPassesOfSources(t *testing.T) {
	t.Parallel()
	o := training.Options{Learner: "obpm", Files: []string{columns(t, 0, 200)}}
	want := trained(t, once(o))
	text := content(t, o.Files[0])
	o.Files, o.Model = []string{"a source"}, filepath.Join(t.TempDir(), "m")
	for _, repeats := range []bool{false, true} {
		env := training.Env{Repeats: repeats, Open: func(context.Context, string) (training.Source,
			error) {
			return training.Source{Reader: io.NopCloser(bytes.NewReader(text))}, nil
		}}
		must(training.Run(t.Context(), o, env))(t)
		if !bytes.Equal(content(t, o.Model), want) {
			t.Errorf("repeats %v: not one pass", repeats)
		}
	}
}

// badRows counts the bad rows that it hears of.
type badRows struct {
	training.Silent
	n int
}

func (b *badRows) BadRow(error) { b.n++ }

// TestFewPassesTold: the plan and the options of the run say what the data decided, the error is
// that of the first pass, and bad rows are told once.
func TestFewPassesTold(t *testing.T) {
	t.Parallel()
	file := columns(t, 0, 200)
	text := append(content(t, file), "1,x,yes\n2,y,no\n"...)
	ok(t, os.WriteFile(file, text, 0o600))
	o := training.Options{Learner: "pa", Files: []string{file}}
	if _, err := training.Run(t.Context(), o, training.Env{}); err == nil ||
		!strings.Contains(err.Error(), ":202:3: expected a number") {
		t.Errorf("a bad row: %v", err)
	}
	o.OnError = "skip"
	heard := &badRows{}
	res := must(training.Run(t.Context(), o, training.Env{Observer: heard}))(t)
	if p := res.Plan; heard.n != 2 || res.Info.BadRows != 2 || !p.Few || p.Epochs != 5 ||
		!p.Shuffle || p.Way != training.Passes ||
		!strings.Contains(p.String(), "passes: 5 passes, shuffled, as of csv of "+
			"fewer than 10000 rows") {
		t.Errorf("%d bad rows, %v", heard.n, p)
	}
	if c := res.Counts; c.Epochs != 5 || c.Examples != 200 || c.Presented != 1000 {
		t.Errorf("%d epochs, %d examples, %d presented", c.Epochs, c.Examples, c.Presented)
	}
	j := must(training.New(o, training.Env{}))(t)
	if o := j.Options(); o.Epochs != 5 || !o.Shuffle {
		t.Errorf("options: %d epochs, shuffle %v", o.Epochs, o.Shuffle)
	}
	first := must(training.Run(t.Context(), training.Options{Learner: "pa", Files: o.Files,
		Shuffle: true, Epochs: 1, Data: training.Data{OnError: "skip"}},
		training.Env{}))(t)
	if res.Counts.Errors != first.Counts.Errors {
		t.Errorf("%d errors, %d in the first pass", res.Counts.Errors, first.Counts.Errors)
	}
}

// TestFewPassesResumed: a run that was cut goes on with the passes that it began with, whatever has
// become of the file behind its place; one that was begun with one pass takes no more.
func TestFewPassesResumed(t *testing.T) {
	t.Parallel()
	for _, epochs := range []int{0, 1} {
		o := training.Options{Learner: "pa", Files: []string{columns(t, 0, 200)}, Epochs: epochs,
			CheckpointEvery: "90", Model: filepath.Join(t.TempDir(), "m")}
		k := &keeper{t: t}
		must(training.Run(t.Context(), o, training.Env{Observer: k}))(t)
		want := content(t, o.Model)
		if n := len(k.copies); n != map[int]int{0: 12, 1: 3}[epochs] {
			t.Errorf("%d epochs: %d checkpoints", epochs, n)
		}
		for _, file := range k.copies[:len(k.copies)-1] {
			again := training.Options{Model: file, Resume: true, Files: o.Files}
			must(training.Run(t.Context(), again, training.Env{}))(t)
			if !bytes.Equal(content(t, file), want) {
				t.Errorf("%d epochs: %s ends elsewhere", epochs, filepath.Base(file))
			}
		}
	}
}

// TestFewPassesStudied: folds, and the best of several settings, are learned as a run would, and
// settings are compared on its first pass.
func TestFewPassesStudied(t *testing.T) {
	t.Parallel()
	file := columns(t, 0, 200)
	c := must(compare.CrossValidate(t.Context(), training.Options{Learner: "pa",
		Files: []string{file}}, compare.Folds{Folds: 3}, training.Env{}, nil))(t)
	for _, f := range c.Folds {
		if f.Epochs != training.FewEpochs {
			t.Errorf("fold %d: %d epochs", f.Fold, f.Epochs)
		}
	}
	for _, by := range []string{compare.Progressive, compare.ByFolds} {
		for _, other := range []string{"pa", "adf"} {
			settings := []training.Options{
				{Learner: other, Files: []string{file}},
				{Learner: "pa", Files: []string{file}, Settings: map[string]any{"C": 0.01}},
				{Learner: "obpm", Files: []string{file}},
			}
			settings[0].Model = filepath.Join(t.TempDir(), "m")
			res := must(compare.Tune(t.Context(), settings, compare.TuneOptions{By: by},
				training.Env{}))(t)
			best := settings[res.Best]
			if !bytes.Equal(content(t, settings[0].Model), trained(t, best)) {
				t.Errorf("%s, %s: the model of %s is not that of its run", by, other, best.Learner)
			}
			for i, o := range settings {
				o.Model = ""
				if o.Epochs, o.Shuffle = 1, true; by == compare.ByFolds {
					continue
				}
				one := must(training.Run(t.Context(), o, training.Env{}))(t)
				if res.Trials[i].Errors != one.Counts.Errors {
					t.Errorf("%s: %d errors, %d in the run's first pass", o.Learner,
						res.Trials[i].Errors, one.Counts.Errors)
				}
			}
		}
	}
}
