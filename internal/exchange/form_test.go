package exchange

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
)

// rows draws rows of so many features, some of them 0.
func rows(n, dim int, seed uint64) [][]float64 {
	r := engine.NewRand(seed, 0)
	list := make([][]float64, n)
	for i := range list {
		list[i] = make([]float64, dim)
		for j := range list[i] {
			if r.Uint64()%4 != 0 {
				list[i][j] = float64(float32(r.Normal()))
			}
		}
	}
	return list
}

// prepared is a row as a learner is given it: what Prep says, step by step.
func prepared(p *model.Prep, x []float64) []float64 {
	x = append([]float64{}, x...)
	if s := p.Scaling; s != nil {
		for j, v := range x {
			mean, spread := s.Known[3*j+1], s.Known[3*j+2]
			if s.Method == "std" {
				v, spread = v-mean, math.Sqrt(spread/s.Known[3*j])
			}
			if x[j] = v / spread; spread == 0 {
				x[j] = 0
			}
		}
	}
	if p.Bias == "append" {
		v := p.BiasValue
		if v == 0 {
			v = 1
		}
		x = append([]float64{v}, x...)
	}
	divisor := 1.0
	switch p.Normalize {
	case "max":
		divisor = p.Scale
	case "unit":
		if divisor = length(x); divisor == 0 {
			divisor = 1
		}
	}
	for j := range x {
		x[j] /= divisor
	}
	return x
}

func length(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// scores returns the outputs of a model for rows.
func scores(t *testing.T, m *model.Model, list [][]float64) (all []float64) {
	t.Helper()
	if m.Precision == "f64" {
		return scoresOf[float64](t, m, list)
	}
	return scoresOf[float32](t, m, list)
}

func scoresOf[T learner.Float](t *testing.T, m *model.Model, list [][]float64) (all []float64) {
	t.Helper()
	p := must(model.RestorePredictor[T](m, nil))(t)
	for _, x := range list {
		x = prepared(&m.Prep, x)
		b := engine.Block[T]{Dim: len(x), Ptr: []int{0, 0}}
		for j, v := range x {
			if v != 0 {
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, T(v))
			}
		}
		b.Ptr[1] = len(b.Idx)
		out := make([]float64, p.Outputs())
		ok(t, p.Score(&b, out))
		all = append(all, out...)
	}
	return all
}

// evaluate computes the outputs of a form for a row, as its comment says, and the sum of the sizes
// of what is added up for each.
func evaluate(f *Form, x []float64) (outputs, sizes []float64) {
	z := append(append([]float64{}, x...), make([]float64, f.Dim-len(x))...)
	for j := range f.Shift {
		z[j] = (z[j] - f.Shift[j]) * f.Factor[j]
	}
	if f.Unit {
		if f.Constant != 0 {
			z = append(z, f.Constant)
		}
		l := length(z)
		for j := range z {
			if l > 0 {
				z[j] /= l
			}
		}
	}
	if r := f.Random; r != nil {
		angles := append([]float64{}, r.Offset...)
		for j, v := range z {
			for k := range angles {
				angles[k] += v * r.W[j*r.Half+k]
			}
		}
		z = nil
		for _, a := range angles {
			z = append(z, math.Cos(a)/math.Sqrt(float64(r.Half)))
		}
		for _, a := range angles {
			z = append(z, math.Sin(a)/math.Sqrt(float64(r.Half)))
		}
	}
	for _, o := range f.Outputs {
		sum, size := o.Bias, math.Abs(o.Bias)
		add := func(v float64) { sum, size = sum+v, size+math.Abs(v) }
		for j, v := range o.Weights {
			add(v * z[j])
		}
		for i, c := range o.Coef {
			add(c * kernelValue(f.Kernel, &o.Points, i, z))
		}
		outputs, sizes = append(outputs, sum/o.Divisor), append(sizes, size/o.Divisor)
	}
	return outputs, sizes
}

// kernelValue is K of point i and z.
func kernelValue(k engine.Kernel, points *engine.Block[float64], i int, z []float64) float64 {
	p := make([]float64, len(z))
	idx, val := points.Sparse(i)
	for n, j := range idx {
		p[j] = val[n]
	}
	var dot, square float64
	for j, v := range p {
		dot += v * z[j]
		square += (v - z[j]) * (v - z[j])
	}
	if k.Kind == engine.RBF {
		return math.Exp(-k.Gamma * square)
	}
	return math.Pow(k.Gamma*dot+k.Coef0, float64(k.Degree))
}

// preps are ways to prepare rows.
var preps = map[string]model.Prep{
	"plain":       {},
	"append":      {Bias: "append"},
	"rho":         {Bias: "append", BiasValue: 2.5},
	"max":         {Normalize: "max", Scale: 3},
	"append max":  {Bias: "append", BiasValue: 0.5, Normalize: "max", Scale: 3},
	"unit":        {Normalize: "unit"},
	"append unit": {Bias: "append", Normalize: "unit"},
	"std":         {Scaling: scaling("std")},
	"std, bias":   {Scaling: scaling("std"), Bias: "append", Normalize: "max", Scale: 3},
	"std, unit":   {Scaling: scaling("std"), Bias: "append", Normalize: "unit"},
	"maxabs":      {Scaling: scaling("maxabs"), Bias: "append"},
}

// scaling is what is known of columns, of which the third never changed.
func scaling(method string) *format.Scaling {
	s := &format.Scaling{Method: method, Columns: true}
	for j := range 64 {
		s.Known = append(s.Known, 4, float64(j%5)-1.5, float64((j+1)%3))
	}
	return s
}

// kept returns the model files of all learners by their names.
func kept(t testing.TB) map[string]*model.Model {
	t.Helper()
	files, err := filepath.Glob("../../model/testdata/kept/*.model")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d kept models (%v)", len(files), err)
	}
	all := map[string]*model.Model{}
	for _, file := range files {
		m := must(model.Load(file))(t)
		all[strings.TrimSuffix(filepath.Base(file), ".model")] = m
	}
	return all
}

// votes reports whether the model of that name scores by votes.
func votes(name string) bool { return strings.Contains(name, "vote") || name[:3] == "ovo" }

// TestOpen: forms of the models of all learners, whatever prepares rows, compute the models'
// scores.
func TestOpen(t *testing.T) {
	for name, m := range kept(t) {
		for prep, p := range preps {
			p.Labels, p.Classes = m.Prep.Labels, m.Prep.Classes
			p.Format, p.IndexBase, p.Dim = "svmlight", 1, 2
			m.Prep = p
			f, err := Open(m)
			if votes(name) {
				if !errors.Is(err, ErrForm) {
					t.Errorf("%s: votes: %v, want ErrForm", name, err)
				}
				continue
			}
			if p.Bias == "append" && p.Normalize != "unit" && poly(m) {
				continue // kept examples have an appended feature each of its own
			}
			if err != nil {
				t.Errorf("%s %s: %v", name, prep, err)
				continue
			}
			compareScores(t, name+" "+prep, m, f)
		}
	}
}

// poly reports whether a model has a polynomial kernel.
func poly(m *model.Model) bool { return strings.Contains(string(m.Config), `"kernel":"poly"`) }

// TestOpenCalibrated: a calibration leaves the scores as they are, those of a bias included.
func TestOpenCalibrated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pumma-f64", "svm-rbf-f32", "obpm-f64"} {
		m := kept(t)[name]
		m.Calibration = &learner.Calibration{Slope: 2, Intercept: -1}
		f, err := Open(m)
		if err != nil || f.Calibration == nil {
			t.Fatalf("%s: %v, no calibration", name, err)
		}
		compareScores(t, name, m, f)
	}
}

func compareScores(t *testing.T, name string, m *model.Model, f *Form) {
	t.Helper()
	eps := 0x1p-52
	if m.Precision == "f32" {
		eps = 0x1p-23
	}
	list := rows(20, f.Dim, 7)
	want := scores(t, m, list)
	for i, x := range list {
		outputs, sizes := evaluate(f, x)
		for k, got := range outputs {
			w := want[i*len(outputs)+k]
			// The row, each product, its place in the sum: a rounding each; the argument of a
			// kernel or of a cosine is within 64 here, and a power's exponent, too.
			tol := 64 * eps * float64(f.Dim+8) * (1 + sizes[k])
			if !(math.Abs(got-w) <= tol) {
				t.Errorf("%s: row %d, output %d: %v, want %v +- %v", name, i, k, got, w, tol)
				return
			}
		}
	}
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
