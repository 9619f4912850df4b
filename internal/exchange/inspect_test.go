package exchange

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// TestInspect: models of all learners are shown, and no more weights than asked for.
func TestInspect(t *testing.T) {
	t.Parallel()
	for name, m := range kept(t) {
		s, err := Inspect(m, 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		pairs := name[:3] == "ovo" // of which there is an output each
		if vote := votes(name) && !pairs; vote != (s.Form == "other") ||
			vote != (len(s.Outputs) == 0) {
			t.Errorf("%s: form %s of %d outputs", name, s.Form, len(s.Outputs))
		}
		for k, o := range s.Outputs {
			if i, j := pairOf(k); pairs && (o.Class != s.Classes[i] || o.Against != s.Classes[j] ||
				pairAt(i, j) != k || pairAt(j, i) != k) {
				t.Errorf("%s: output %d is of %s against %s", name, k, o.Class, o.Against)
			}
		}
		if len(s.Tensors) != len(m.State.Tensors) || s.Learner != m.Learner {
			t.Errorf("%s: %d tensors of %s", name, len(s.Tensors), s.Learner)
		}
		for _, o := range s.Outputs {
			if len(o.Top) > 1 || len(o.Examples) > 1 || s.Form == "weights" && o.NonZeros > 0 &&
				len(o.Top) == 0 {
				t.Errorf("%s: %d weights and %d examples, want one at most", name, len(o.Top),
					len(o.Examples))
			}
		}
	}
}

// TestExplain: parts and bias add up to the score, where that is said; else each part is what the
// score loses without the feature. Kept examples add up to a kernel's score.
func TestExplain(t *testing.T) {
	t.Parallel()
	for name, m := range kept(t) {
		p := m.Prep
		p.Bias, p.Normalize = "append", "unit"
		m.Prep = p
		if m.Precision == "f64" {
			explainAll[float64](t, name, m, 0x1p-40)
		} else {
			explainAll[float32](t, name, m, 0x1p-12)
		}
	}
}

// explainAll looks at a few rows; tol is above all roundings of a dozen terms below 100.
func explainAll[T learner.Float](t *testing.T, name string, m *model.Model, tol float64) {
	t.Helper()
	for _, row := range rows(3, 3, 5) {
		x := prepared(&m.Prep, row)
		b := &engine.Block[T]{Dim: len(x), Stride: len(x), X: make([]T, len(x))}
		for j, v := range x {
			b.X[j] = T(v)
		}
		want := scores(t, m, [][]float64{row})
		e := must(Explain(m, b, 0, 100))(t)
		if len(e.Outputs) != len(want) {
			t.Fatalf("%s: %d outputs, want %d", name, len(e.Outputs), len(want))
		}
		for k, o := range e.Outputs {
			if math.Abs(o.Score-want[k]) > tol {
				t.Errorf("%s: score %v, want %v", name, o.Score, want[k])
			}
			if e.Exact {
				sum := *o.Bias
				for _, p := range o.Parts {
					sum += p.Adds
				}
				if !(math.Abs(sum-o.Score) <= tol) {
					t.Errorf("%s: parts add up to %v, want %v", name, sum, o.Score)
				}
			}
			if len(o.Examples) > 0 {
				sum := hypothesisBias(t, m, k)
				for _, p := range o.Examples {
					sum += p.Adds
				}
				if !(math.Abs(sum-o.Score) <= tol) {
					t.Errorf("%s: kept examples add up to %v, want %v", name, sum, o.Score)
				}
			}
			if !slices.IsSortedFunc(o.Parts, func(a, b Part) int {
				return cmp.Compare(math.Abs(b.Adds), math.Abs(a.Adds))
			}) {
				t.Errorf("%s: parts %v are not sorted", name, o.Parts)
			}
		}
	}
}

func hypothesisBias(t *testing.T, m *model.Model, k int) float64 {
	t.Helper()
	h := must(hypothesisOf(m, false))(t)
	return h.Outputs[k].Bias / h.Outputs[k].Divisor
}

// TestDiff: a model is the same as itself, and differs from another in what was changed.
func TestDiff(t *testing.T) {
	t.Parallel()
	all := kept(t)
	for name, m := range all {
		d, err := Diff(m, m, 5)
		if err != nil || !d.Same || len(d.Fields)+len(d.Tensors)+len(d.Outputs) > 0 {
			t.Errorf("%s and itself: %+v, %v", name, d, err)
		}
	}
	a := all["perceptron-f64"]
	b := *a
	b.Presented++
	b.State.Tensors = slices.Clone(a.State.Tensors)
	w := slices.Clone(b.State.Tensor("w").Data.([]float64))
	old := w[0]
	w[0] = -2 * old
	b.State.Tensor("w").Data = w
	d := must(Diff(a, &b, 5))(t)
	if d.Same || len(d.Fields) != 1 || d.Fields[0].Name != "presented" || len(d.Tensors) != 1 ||
		*d.Tensors[0].Differ != 1 || *d.Tensors[0].Largest != math.Abs(3*old) {
		t.Errorf("%+v", d)
	}
	if len(d.Outputs) != 1 || d.Outputs[0].Differ != 1 || d.Outputs[0].Signs != 1 ||
		len(d.Outputs[0].Top) != 1 || d.Outputs[0].Top[0].A != old ||
		d.Outputs[0].Top[0].B != -2*old || d.Outputs[0].Largest != math.Abs(3*old) {
		t.Errorf("%+v", d.Outputs)
	}
	if d, err := Diff(a, all["svm-rbf-f64"], 5); err != nil || d.Same || d.Outputs != nil {
		t.Errorf("of other learners: %+v, %v", d, err)
	}
}
