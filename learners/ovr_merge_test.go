package learners_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestOVRMerge: one-against-the-rest models are merged class by class, each column as the one of
// two classes is; where that fails nothing is changed.
func TestOVRMerge(t *testing.T) {
	const n = 60
	all := engine.Block[float64]{Dim: 4, Stride: 4, X: make([]float64, 4*n), Y: make([]float64, n),
		Class: make([]int32, n)}
	for i := range n {
		k := (i + i/5) % 3
		all.Class[i], all.Y[i] = int32(k), 1
		all.X[4*i+k], all.X[4*i+3] = 1+float64(i%5)/5, float64(i%7)/7
	}
	halves := []engine.Block[float64]{all.Slice(0, n/2), all.Slice(n/2, n)}
	for _, over := range []learner.Config{
		&learners.OVRConfig{Base: "adf"}, &learners.OVRConfig{Base: "vvm", Classes: 3},
		&learners.OVOConfig{Base: "adf", Classes: 3},
	} {
		name := "ovr"
		if _, pairs := over.(*learners.OVOConfig); pairs {
			name = "ovo"
		}
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		taught := func(b *engine.Block[float64]) learner.Learner[float64] {
			l, err := learner.New[float64](e, over, learner.Env{Seed: 3})
			if err == nil && b != nil {
				err = l.Learn(b, make([]learner.Round, b.Len()))
			}
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		a, b := taught(&halves[0]), taught(&halves[1])
		before := b.State()
		if err := learner.PosteriorOf(a).MergePosterior(b); err != nil {
			t.Fatal(name, err)
		}
		if !reflect.DeepEqual(b.State(), before) {
			t.Errorf("%s: the other one is changed", name)
		}
		if !over.Traits().Merges || a.Updates() == 0 {
			t.Errorf("%s: merges %v, %d updates", name, over.Traits().Merges, a.Updates())
		}
		if name == "ovr" {
			columnsMerged(t, a, over.(*learners.OVRConfig).Base, &all, halves)
		}
		state := a.State()
		if err := learner.PosteriorOf(a).MergePosterior(taught(nil)); name == "ovr" &&
			over.(*learners.OVRConfig).Classes == 0 && !errors.Is(err, learner.ErrPrior) {
			t.Errorf("%s: no classes: %v", name, err)
		} else if err != nil && !reflect.DeepEqual(a.State(), state) {
			t.Errorf("%s: changed by a merge that failed", name)
		}
		if l, err := learner.Lookup("adf"); err == nil {
			two, _ := learner.New[float64](l, l.Config(), learner.Env{})
			if err := learner.PosteriorOf(a).MergePosterior(two); !errors.Is(err,
				learner.ErrPrior) {
				t.Errorf("%s and one of two classes: %v", name, err)
			}
		}
	}
}

// columnsMerged looks whether each class's scores are those of merged learners of two classes.
func columnsMerged(t *testing.T, a learner.Learner[float64], base string,
	all *engine.Block[float64], halves []engine.Block[float64]) {
	t.Helper()
	n := all.Len()
	got, want := make([]float64, 3*n), make([]float64, n)
	if err := a.Score(all, got); err != nil {
		t.Fatal(err)
	}
	e, err := learner.Lookup(base)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		var two [2]learner.Learner[float64]
		for h := range two {
			part := halves[h].Slice(0, n/2)
			part.Y, part.Class = make([]float64, n/2), nil
			for i := range part.Y {
				part.Y[i] = -1
				if halves[h].Class[i] == int32(k) {
					part.Y[i] = 1
				}
			}
			two[h], err = learner.New[float64](e, e.Config(), learner.Env{Seed: 3})
			if err == nil {
				err = two[h].Learn(&part, make([]learner.Round, n/2))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		err := learner.PosteriorOf(two[0]).MergePosterior(two[1])
		if err == nil {
			err = two[0].Score(all, want)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if got[3*i+k] != want[i] {
				t.Fatalf("%s, class %d, example %d: %v, want %v", base, k, i, got[3*i+k], want[i])
			}
		}
	}
}
