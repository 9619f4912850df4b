package compare

import (
	"context"
	"maps"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// TestFoldsShareRows: folds, of several settings too, come out the same whether they share kernel
// rows or not, with any number of threads, and no row of all examples is computed twice for a
// kernel.
func TestFoldsShareRows(t *testing.T) {
	const n = 300
	for _, c := range []struct {
		learner string
		classes int
		rows    int // a fold asks for them once for all its classes
	}{{"svm", 2, n}, {"pumma", 2, n}, {"svm", 3, n}} {
		file, lines, _ := noisy(t, n, c.classes)
		put(t, file, lines)
		o := training.Options{Learner: c.learner, Files: []string{file}, UntilConverged: true,
			Threads: 1, Settings: map[string]any{"kernel": "rbf", "gamma": 0.5}}
		if c.learner == "pumma" {
			o.Settings["soft_c"] = 1.0
		}
		f := Folds{Folds: 4, Repeats: 2}
		alone := foldsWithoutRoom(t, o, f)
		var of engine.RowStats
		for threads := 1; threads <= 2; threads++ {
			o.Threads = threads
			cv := must(CrossValidate(context.Background(), o, f, training.Env{}, nil))(t)
			sameFolds(t, cv.Folds, alone.Folds)
			s, a := cv.KernelRows, alone.KernelRows
			switch {
			case s.Hits+s.Misses != a.Hits+a.Misses || s.Misses > uint64(c.rows) ||
				a.Misses < 3*s.Misses || s.Evictions != 0 || s.Bytes <= a.Bytes ||
				s.Bytes > s.Limit:
				t.Errorf("%+v, %d threads: %+v; alone %+v", c, threads, s, a)
			case threads == 2 && s != of:
				t.Errorf("%+v: %+v, on one thread %+v", c, s, of)
			}
			of = s
		}
		settings := []training.Options{o, o, o}
		settings[1].Settings = maps.Clone(o.Settings)
		settings[1].Settings["gamma"] = 0.25
		settings[2].Data.Normalize = "max" // by the longest of each fold: other examples
		tuned := must(Tune(context.Background(), settings,
			TuneOptions{By: ByFolds, Folds: f}, training.Env{}))(t)
		sameFolds(t, tuned.Trials[0].CV.Folds, alone.Folds)
		max := foldsWithoutRoom(t, settings[2], f)
		sameFolds(t, tuned.Trials[2].CV.Folds, max.Folds)
		if s := tuned.KernelRows; s.Misses > 2*uint64(c.rows)+max.KernelRows.Misses {
			t.Errorf("%+v, three settings: %+v", c, s)
		}
	}
}

// foldsWithoutRoom is CrossValidate where folds have no room for rows in common.
func foldsWithoutRoom(t *testing.T, o training.Options, f Folds) *CrossValidation {
	t.Helper()
	jobs := must(jobsOf([]training.Options{o}, training.Env{}, false))(t)
	cv := must(crossValidate[float32](context.Background(), jobs[0], f,
		training.Env{Machine: training.Machine{Bytes: 8}}, nil, nil))(t)
	return cv
}

// sameFolds compares all of folds but for times and where their kernel rows came from.
func sameFolds(t *testing.T, got, want []Fold) {
	t.Helper()
	plain := func(folds []Fold) (all []Fold) {
		for _, f := range folds {
			f.Seconds, f.rows = 0, engine.RowStats{}
			all = append(all, f)
		}
		return all
	}
	if g, w := plain(got), plain(want); !reflect.DeepEqual(g, w) {
		t.Errorf("folds %+v, want %+v", g, w)
	}
}
