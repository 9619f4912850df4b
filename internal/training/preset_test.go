package training_test

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/compare"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/model"
)

// preset is what is done to csv where nothing is said.
var preset = training.Data{Scale: "std", Bias: "append", Normalize: "unit"}

// asItIs has nothing done.
var asItIs = training.Data{Scale: "none", Bias: "none", Normalize: "none"}

// trained is the model file of a run, without its place in the examples.
func trained(t *testing.T, o training.Options) []byte {
	t.Helper()
	o.Model = filepath.Join(t.TempDir(), "m")
	must(training.Run(t.Context(), o, training.Env{}))(t)
	return content(t, o.Model)
}

// TestPreset: csv is scaled, gets a bias and unit length unless something else is said, examples of
// svmlight stay as they are, and each word is of its own field.
func TestPreset(t *testing.T) {
	t.Parallel()
	for _, o := range []training.Options{{Learner: "pa"},
		{Learner: "pa", Epochs: 2, Shuffle: true}} {
		for _, c := range []struct {
			file      string
			said, all training.Data
		}{
			{columns(t, 0, 100), training.Data{}, preset},
			{columns(t, 0, 100), training.Data{Scale: "none"},
				training.Data{Scale: "none", Bias: "append", Normalize: "unit"}},
			{columns(t, 0, 100), training.Data{Bias: "none", Normalize: "auto"},
				training.Data{Scale: "std", Bias: "none", Normalize: "unit"}},
			{examples(t, 0, 100), training.Data{}, asItIs},
		} {
			o.Files, o.Data = []string{c.file}, c.said
			got := trained(t, o)
			o.Data = c.all
			if want := trained(t, o); !bytes.Equal(got, want) {
				t.Errorf("%s: %+v is not %+v", c.file, c.said, c.all)
			}
		}
	}
}

// TestPresetBeside: learners beside each other, and folds, are prepared as one alone.
func TestPresetBeside(t *testing.T) {
	t.Parallel()
	file := columns(t, 0, 200)
	for _, epochs := range []int{1, 2} {
		list := func(data ...training.Data) (errors []int64) {
			var settings []training.Options
			for _, d := range data {
				settings = append(settings, training.Options{Learner: "pa", Files: []string{file},
					Data: d, Epochs: epochs})
			}
			c := must(compare.Compare(t.Context(), compare.CompareOptions{Settings: settings},
				training.Env{}))(t)
			for _, s := range c.Results {
				errors = append(errors, s.Errors)
			}
			return errors
		}
		auto, unit, none := training.Data{}, training.Data{Normalize: "unit", Bias: "append"},
			training.Data{Normalize: "none", Bias: "none"}
		got := list(auto, none)
		if want := list(unit, none); !slices.Equal(got, want) || got[0] == got[1] {
			t.Errorf("%d epochs: errors %v, want %v", epochs, got, want)
		}
	}
	folds := func(d training.Data) (errors []int64) {
		c := must(compare.CrossValidate(t.Context(), training.Options{Learner: "pa", Data: d,
			Files: []string{file}}, compare.Folds{Folds: 3, Repeats: 1}, training.Env{}, nil))(t)
		for _, f := range c.Folds {
			errors = append(errors, f.Errors)
		}
		return errors
	}
	if got, want := folds(training.Data{}), folds(preset); !slices.Equal(got, want) {
		t.Errorf("folds: %v, want %v", got, want)
	}
}

// TestPresetResumed: what the format decided is the run's when it is gone on with, and a run that
// began before it decided anything goes on as it began.
func TestPresetResumed(t *testing.T) {
	t.Parallel()
	files := []string{columns(t, 0, 120), columns(t, 120, 80)}
	for _, data := range []training.Data{{}, asItIs} {
		o := training.Options{Learner: "pa", Files: files, Data: data, CheckpointEvery: "50",
			Model: filepath.Join(t.TempDir(), "m")}
		k := &keeper{t: t}
		must(training.Run(context.Background(), o, training.Env{Observer: k}))(t)
		want := content(t, o.Model)
		for _, file := range k.copies[:len(k.copies)-1] {
			m := must(model.Load(file))(t)
			said := string(m.Position.Options)
			if old := data.Scale == "none"; old { // nothing was left to the format then
				for _, field := range []string{"scale", "bias", "normalize"} {
					said = strings.Replace(said, `"`+field+`":"none",`, "", 1)
					said = strings.Replace(said, `,"`+field+`":"none"`, "", 1)
				}
				if strings.Contains(said, `"none"`) {
					t.Fatal(said)
				}
				m.Position.Options = []byte(said)
				must(model.Save(file, m))(t)
			} else if !strings.Contains(said, `"scale":"std"`) {
				t.Fatal(said)
			}
			again := training.Options{Model: file, Resume: true, Files: files}
			must(training.Run(t.Context(), again, training.Env{}))(t)
			if !bytes.Equal(content(t, file), want) {
				t.Errorf("%+v: %s ends elsewhere", data, filepath.Base(file))
			}
		}
	}
}
