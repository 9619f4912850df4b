package model

import (
	"runtime"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestCapturePredictorCopiesOnce: beside the State that the model has nothing of its size is made.
func TestCapturePredictorCopiesOnce(t *testing.T) {
	const dim = 1 << 20
	for _, name := range []string{"perceptron", "svm", "arow"} {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float64](e, e.Config(), learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
		b := &engine.Block[float64]{Dim: dim, Y: []float64{1, -1}, Ptr: []int{0, 1, 2},
			Idx: []int32{dim - 1, 7}, Val: []float64{1, 1}}
		if e.Config().Traits().Stream {
			err = l.Learn(b, make([]learner.Round, b.Len()))
		} else {
			_, err = learner.Fit(t.Context(), l, b, learner.FitOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		p := learner.ViewOf(l)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must(CapturePredictor(name, e.Config(), 1, p))(t)
		runtime.ReadMemStats(&after)
		if made := after.TotalAlloc - before.TotalAlloc; made > 8*dim*3/2 {
			t.Errorf("%s: %d bytes are made for a State of %d", name, made, 8*dim)
		}
	}
}
