package learners

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// The golden traces of the family were written by independent reference code with dense matrices, EP to 1e-14.
const bayesTol = 1e-8

func bayesData(t testing.TB) map[string][][]float64 {
	t.Helper()
	var doc map[string]any
	bayesGolden(t, "data", &doc)
	out := map[string][][]float64{}
	for name, v := range doc {
		rows, ok := v.([]any)
		if !ok {
			continue
		}
		for _, r := range rows {
			var x []float64
			for _, f := range r.([]any) {
				x = append(x, f.(float64))
			}
			out[name] = append(out[name], x)
		}
	}
	return out
}

// points returns label * features as a block. A row whose last feature, the bias, is negative has the label -1.
func pointsBlock(X [][]float64) *engine.Block[float64] {
	b := &engine.Block[float64]{Dim: len(X[0]), Stride: len(X[0])}
	for _, x := range X {
		y := 1.0
		if x[len(x)-1] < 0 {
			y = -1
		}
		b.Y = append(b.Y, y)
		for _, v := range x {
			b.X = append(b.X, y*v)
		}
	}
	return b
}

func virtual(t testing.TB, name string, c Config) *VVM[float64] {
	t.Helper()
	e, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New[float64](e, c, Env{})
	if err != nil {
		t.Fatal(err)
	}
	if ep, ok := l.(*EP[float64]); ok {
		return ep.VVM
	}
	return l.(*VVM[float64])
}

func learnOne[T Float](t testing.TB, l Learner[T], b *engine.Block[T], i int) Round {
	t.Helper()
	one := b.Slice(i, i+1)
	var r [1]Round
	if err := l.Learn(&one, r[:]); err != nil {
		t.Fatal(err)
	}
	return r[0]
}

func (p *posterior) residualCov() [][]float64 {
	p.flush()
	V := make([][]float64, len(p.mr))
	for i := range V {
		V[i] = make([]float64, len(p.mr))
		for j := range V {
			hi, lo := max(i, j), min(i, j)
			V[i][j] = p.V[hi*(hi+1)/2+lo]
		}
	}
	return V
}

// cov returns Vr - W^T (T - T S T) W.
func (p *posterior) cov() [][]float64 {
	V := p.residualCov()
	p.refresh()
	for a := range p.k {
		for b := range p.k {
			c := -p.tau[a] * p.S[a*p.width+b] * p.tau[b]
			if a == b {
				c += p.tau[a]
			}
			for i := range V {
				for j := range V {
					V[i][j] -= c * p.W[a][i] * p.W[b][j]
				}
			}
		}
	}
	return V
}

func sameVector(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		if e := off(got[i], want[i], math.Abs(want[i]) < 1); !(e <= tol) {
			t.Fatalf("%s[%d] is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func sameMatrix(t testing.TB, what string, got, want [][]float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d rows, want %d", what, len(got), len(want))
	}
	for i := range want {
		sameVector(t, fmt.Sprintf("%s[%d]", what, i), got[i], want[i], tol)
	}
}

func TestGoldenADF(t *testing.T) {
	var g []struct {
		Data  string
		Eps   float64
		Steps []struct {
			Z float64
			M []float64
			V [][]float64 `json:"V"`
		}
	}
	bayesGolden(t, "adf_trace", &g)
	data := bayesData(t)
	for _, c := range g {
		b := pointsBlock(data[c.Data])
		l := virtual(t, "adf", &ADFConfig{Covariance: "full", Noise: c.Eps})
		for i, s := range c.Steps {
			r := learnOne(t, Learner[float64](l), b, i)
			if r.Score*b.Y[i] < 0 != (s.Z < 0) {
				t.Errorf("%s step %d: score %v, z %v", c.Data, i, r.Score, s.Z)
			}
			sameVector(t, fmt.Sprintf("%s step %d: m", c.Data, i), l.Weights(), s.M, bayesTol)
			sameMatrix(t, fmt.Sprintf("%s step %d: V", c.Data, i), l.p.cov(), s.V, bayesTol)
		}
		if len(c.Steps) != b.Len() {
			t.Errorf("%d steps, %d examples", len(c.Steps), b.Len())
		}
	}
}

func TestGoldenEP(t *testing.T) {
	var g []struct {
		Data            string
		Eps             float64
		M, Tau, Nu      []float64
		V               [][]float64 `json:"V"`
		CavityZ, Margin []float64
		KL              []float64
	}
	bayesGolden(t, "ep_batch", &g)
	data := bayesData(t)
	for _, c := range g {
		for _, damping := range []float64{1, 0.5} {
			cfg := PointsConfig{Noise: c.Eps, Tolerance: 1e-12, Sweeps: 2000, Damping: damping}
			b := pointsBlock(data[c.Data])
			l := virtual(t, "ep", &EPConfig{cfg})
			ep := &EP[float64]{l}
			r, err := ep.Fit(context.Background(), b, FitOptions{})
			if err != nil || !r.Converged || r.Violators != wrong(t, Learner[float64](ep), b) {
				t.Fatalf("%s: %+v, %v", c.Data, r, err)
			}
			sameVector(t, c.Data+": m", ep.Weights(), c.M, bayesTol)
			sameMatrix(t, c.Data+": V", l.p.cov(), c.V, bayesTol)
			// The same core with the points kept.
			v := virtual(t, "vvm", &VVMConfig{Buffer: b.Len(), PointsConfig: cfg})
			for i := range b.Len() {
				learnOne(t, Learner[float64](v), b, i)
			}
			sameVector(t, c.Data+": m of vvm", v.Weights(), c.M, bayesTol)
			sameMatrix(t, c.Data+": V of vvm", v.p.cov(), c.V, bayesTol)
			sameVector(t, c.Data+": tau", v.p.tau[:v.p.k], c.Tau, bayesTol)
			sameVector(t, c.Data+": nu", v.p.nu[:v.p.k], c.Nu, bayesTol)
			for i, want := range c.KL {
				mc, vc, ok := v.p.cavity(i)
				f := newStepFactor(mc/math.Sqrt(vc), c.Eps)
				if !ok || off(f.kl(), want, true) > bayesTol {
					t.Errorf("%s: KL of %d is %v, want %v", c.Data, i, f.kl(), want)
				}
			}
		}
	}
}

func wrong[T Float](t testing.TB, l Learner[T], b *engine.Block[T]) int {
	t.Helper()
	f := make([]float64, b.Len())
	if err := l.Score(b, f); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range f {
		if float64(b.Y[i])*f[i] <= 0 {
			n++
		}
	}
	return n
}

// TestGoldenVVM: every state, eviction and merge of the reference.
func TestGoldenVVM(t *testing.T) {
	data := bayesData(t)
	for _, name := range []string{"wep_trace", "vvm_evict_trace", "vvm_merge_trace"} {
		var g []struct {
			Data   string
			Eps    float64
			Buffer int  `json:"buffer_kept"`
			Pairs  *int `json:"k_pairs"`
			Steps  []struct {
				Action  string
				Index   any
				M       []float64   `json:"m_w"`
				V       [][]float64 `json:"V_w"`
				Mr      []float64   `json:"m_r"`
				Vr      [][]float64 `json:"V_r"`
				Buffer  [][]float64
				Tau, Nu []float64
			}
		}
		bayesGolden(t, name, &g)
		merges := 0
		for _, c := range g {
			cfg := PointsConfig{Noise: c.Eps, Tolerance: 1e-12, Sweeps: 2000, Damping: 1}
			var l *VVM[float64]
			switch {
			case name == "wep_trace":
				l = virtual(t, "wep", &WEPConfig{c.Buffer, cfg})
			case c.Pairs == nil:
				l = virtual(t, "vvm", &VVMConfig{Buffer: c.Buffer, PointsConfig: cfg})
			default:
				l = virtual(t, "vvm", &VVMConfig{c.Buffer, *c.Pairs, cfg})
			}
			b := pointsBlock(data[c.Data])
			if len(c.Steps) != b.Len() {
				t.Fatalf("%d steps, %d examples", len(c.Steps), b.Len())
			}
			for i, s := range c.Steps {
				what := fmt.Sprintf("%s %s step %d (%s %v): ", name, c.Data, i, s.Action, s.Index)
				merged := l.Report().Merged
				learnOne(t, Learner[float64](l), b, i)
				if (l.Report().Merged > merged) != (s.Action == "merge") {
					t.Fatalf("%s%d merges before, %d after", what, merged, l.Report().Merged)
				}
				if s.Action == "merge" {
					merges++
				}
				sameMatrix(t, what+"points", l.Points(), s.Buffer, bayesTol)
				sameVector(t, what+"m", l.Weights(), s.M, bayesTol)
				sameMatrix(t, what+"V", l.p.cov(), s.V, bayesTol)
				sameVector(t, what+"m_r", l.p.mr, s.Mr, bayesTol)
				sameMatrix(t, what+"V_r", l.p.residualCov(), s.Vr, bayesTol)
				sameVector(t, what+"tau", l.p.tau[:l.p.k], s.Tau, bayesTol)
				sameVector(t, what+"nu", l.p.nu[:l.p.k], s.Nu, bayesTol)
			}
			if r := l.Report(); r.Lost+r.Passed+r.Unconverged != 0 {
				t.Errorf("%s %s: %+v", name, c.Data, r)
			}
		}
		if name == "vvm_merge_trace" && merges == 0 {
			t.Error("no merges")
		}
	}
}

func vvmStream(n, d int, flip float64) *engine.Block[float64] {
	rand := engine.NewRand(7, uint64(d))
	w := make([]float64, d)
	for i := range w {
		w[i] = rand.Normal()
	}
	b := &engine.Block[float64]{Dim: d, Stride: d}
	for range n {
		f, row := 0.0, len(b.X)
		for i := range d {
			x := rand.Normal() / math.Sqrt(float64(d))
			b.X = append(b.X, x)
			f += w[i] * x
		}
		_ = row
		y := math.Copysign(1, f)
		if rand.Normal() > flip {
			y = -y
		}
		b.Y = append(b.Y, y)
	}
	return b
}

// BenchmarkVVM is the time of an example in the steady state.
func BenchmarkVVM(b *testing.B) {
	for _, c := range []struct{ d, buffer int }{{100, 0}, {100, 10}, {100, 30}, {400, 50}} {
		for _, tol := range []float64{1e-3, 1e-8} {
			b.Run(fmt.Sprintf("d=%d/B=%d/tol=%v", c.d, c.buffer, tol), func(b *testing.B) {
				l := virtual(b, "vvm", &VVMConfig{Buffer: c.buffer, PointsConfig: PointsConfig{Noise: 0.05, Tolerance: tol, Sweeps: 50, Damping: 1}})
				block := vvmStream(2000, c.d, 1.64)
				rounds := make([]Round, block.Len())
				head := block.Slice(0, 1000)
				if err := l.Learn(&head, rounds); err != nil {
					b.Fatal(err)
				}
				before := l.Report().Sweeps
				b.ResetTimer()
				for i := range b.N {
					one := block.Slice(1000+i%1000, 1001+i%1000)
					if err := l.Learn(&one, rounds); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(l.Report().Sweeps-before)/float64(b.N), "sweeps/op")
			})
		}
	}
}
