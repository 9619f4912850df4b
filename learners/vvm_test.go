package learners

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
	"github.com/halfspace-ml/halfspace/learners/internal/golden"
)

// The golden traces of the family were written by independent reference code with dense matrices,
// EP to 1e-14.
const bayesTol = 1e-8

func bayesData(t testing.TB) map[string][][]float64 {
	t.Helper()
	var doc map[string]any
	golden.Read(t, "bayes/data", &doc)
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

// points returns label * features as a block. A row whose last feature, the bias, is negative has
// the label -1.
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

func virtual(t testing.TB, name string, c learner.Config) *vvm[float64] {
	t.Helper()
	e, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New[float64](e, c, learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if ep, ok := l.(*epLearner[float64]); ok {
		return ep.vvm
	}
	return l.(*vvm[float64])
}

func learnOne[T learner.Float](t testing.TB, l learner.Learner[T], b *engine.Block[T],
	i int) learner.Round {
	t.Helper()
	one := b.Slice(i, i+1)
	var r [1]learner.Round
	if err := l.Learn(&one, r[:]); err != nil {
		t.Fatal(err)
	}
	return r[0]
}

func residualCov(p *gauss.Posterior) [][]float64 {
	p.Flush()
	V := make([][]float64, len(p.ResidualMean))
	for i := range V {
		V[i] = make([]float64, len(p.ResidualMean))
		for j := range V {
			hi, lo := max(i, j), min(i, j)
			V[i][j] = p.V[hi*p.Stride+lo]
		}
	}
	return V
}

// cov returns Vr - W^T (T - T S T) W.
func fullCov(p *gauss.Posterior) [][]float64 {
	V := residualCov(p)
	p.Refresh()
	for a := range p.K {
		for b := range p.K {
			c := -p.Tau[a] * p.S[a*p.Width+b] * p.Tau[b]
			if a == b {
				c += p.Tau[a]
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

func sameMatrix(t testing.TB, what string, got, want [][]float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d rows, want %d", what, len(got), len(want))
	}
	for i := range want {
		approx.AllNear(t, fmt.Sprintf("%s[%d]", what, i), got[i], want[i], tol)
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
	golden.Read(t, "bayes/adf_trace", &g)
	data := bayesData(t)
	for _, c := range g {
		b := pointsBlock(data[c.Data])
		l := virtual(t, "adf", &ADFConfig{Covariance: "full", Noise: c.Eps})
		for i, s := range c.Steps {
			r := learnOne(t, learner.Learner[float64](l), b, i)
			if r.Score*b.Y[i] < 0 != (s.Z < 0) {
				t.Errorf("%s step %d: score %v, z %v", c.Data, i, r.Score, s.Z)
			}
			approx.AllNear(t, fmt.Sprintf("%s step %d: m", c.Data, i), l.Weights(), s.M, bayesTol)
			sameMatrix(t, fmt.Sprintf("%s step %d: V", c.Data, i), fullCov(l.p), s.V, bayesTol)
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
	golden.Read(t, "bayes/ep_batch", &g)
	data := bayesData(t)
	for _, c := range g {
		for _, damping := range []float64{1, 0.5} {
			cfg := PointsConfig{Noise: c.Eps, Tolerance: 1e-12, Sweeps: 2000, Damping: damping}
			b := pointsBlock(data[c.Data])
			l := virtual(t, "ep", &EPConfig{cfg})
			ep := &epLearner[float64]{l}
			r, err := ep.Fit(context.Background(), b, learner.FitOptions{})
			if err != nil || !r.Converged || r.Violators != wrong(t, learner.Learner[float64](ep),
				b) {
				t.Fatalf("%s: %+v, %v", c.Data, r, err)
			}
			approx.AllNear(t, c.Data+": m", ep.Weights(), c.M, bayesTol)
			sameMatrix(t, c.Data+": V", fullCov(l.p), c.V, bayesTol)
			// The same core with the points kept.
			v := virtual(t, "vvm", &VVMConfig{Buffer: b.Len(), PointsConfig: cfg})
			for i := range b.Len() {
				learnOne(t, learner.Learner[float64](v), b, i)
			}
			approx.AllNear(t, c.Data+": m of vvm", v.Weights(), c.M, bayesTol)
			sameMatrix(t, c.Data+": V of vvm", fullCov(v.p), c.V, bayesTol)
			approx.AllNear(t, c.Data+": tau", v.p.Tau[:v.p.K], c.Tau, bayesTol)
			approx.AllNear(t, c.Data+": nu", v.p.Nu[:v.p.K], c.Nu, bayesTol)
			for i, want := range c.KL {
				mc, vc, ok := v.p.Cavity(i, v.p.Spread(i))
				f := gauss.NewStepFactor(mc/math.Sqrt(vc), c.Eps)
				if !ok || golden.Off(f.Divergence(), want, true) > bayesTol {
					t.Errorf("%s: KL of %d is %v, want %v", c.Data, i, f.Divergence(), want)
				}
			}
		}
	}
}

func wrong[T learner.Float](t testing.TB, l learner.Learner[T], b *engine.Block[T]) int {
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
		golden.Read(t, "bayes/"+name, &g)
		merges := 0
		for _, c := range g {
			cfg := PointsConfig{Noise: c.Eps, Tolerance: 1e-12, Sweeps: 2000, Damping: 1}
			var l *vvm[float64]
			switch {
			case name == "wep_trace":
				l = virtual(t, "wep", &WEPConfig{c.Buffer, cfg})
			case c.Pairs == nil:
				l = virtual(t, "vvm", &VVMConfig{Buffer: c.Buffer, PointsConfig: cfg})
			default:
				l = virtual(t, "vvm", &VVMConfig{Buffer: c.Buffer, Pairs: *c.Pairs,
					PointsConfig: cfg})
			}
			b := pointsBlock(data[c.Data])
			if len(c.Steps) != b.Len() {
				t.Fatalf("%d steps, %d examples", len(c.Steps), b.Len())
			}
			for i, s := range c.Steps {
				what := fmt.Sprintf("%s %s step %d (%s %v): ", name, c.Data, i, s.Action, s.Index)
				merged := l.Report().Merged
				learnOne(t, learner.Learner[float64](l), b, i)
				if (l.Report().Merged > merged) != (s.Action == "merge") {
					t.Fatalf("%s%d merges before, %d after", what, merged, l.Report().Merged)
				}
				if s.Action == "merge" {
					merges++
				}
				sameMatrix(t, what+"points", l.Points(), s.Buffer, bayesTol)
				approx.AllNear(t, what+"m", l.Weights(), s.M, bayesTol)
				sameMatrix(t, what+"V", fullCov(l.p), s.V, bayesTol)
				approx.AllNear(t, what+"m_r", l.p.ResidualMean, s.Mr, bayesTol)
				sameMatrix(t, what+"V_r", residualCov(l.p), s.Vr, bayesTol)
				approx.AllNear(t, what+"tau", l.p.Tau[:l.p.K], s.Tau, bayesTol)
				approx.AllNear(t, what+"nu", l.p.Nu[:l.p.K], s.Nu, bayesTol)
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
		f := 0.0
		for i := range d {
			x := rand.Normal() / math.Sqrt(float64(d))
			b.X = append(b.X, x)
			f += w[i] * x
		}
		y := math.Copysign(1, f)
		if rand.Normal() > flip {
			y = -y
		}
		b.Y = append(b.Y, y)
	}
	return b
}

func stateOf[T learner.Float](l learner.Learner[T]) string {
	s := l.State()
	return fmt.Sprint(s.Counters, s.Scalars, s.Tensors)
}

// TestOneFamily: the four learners are one, also where scores have noise.
func TestOneFamily(t *testing.T) {
	for _, probit := range []float64{0, 0.3} {
		t.Run(fmt.Sprintf("noise=%v", probit), func(t *testing.T) { oneFamily(t, probit) })
	}
}

func oneFamily(t *testing.T, probit float64) {
	n := 120
	if testing.Short() {
		n = 40 // still many more than features
	}
	b := vvmStream(n, 12, 1.3)
	adf, none := virtual(t, "adf", &ADFConfig{Covariance: "full", Noise: 0.1,
		Probit: probit}), virtual(t, "vvm", &VVMConfig{PointsConfig: PointsConfig{Noise: 0.1,
		Tolerance: 1e-9, Sweeps: 4, Damping: 1, Probit: probit}})
	cfg := PointsConfig{Noise: 0.1, Tolerance: 1e-12, Sweeps: 500, Damping: 1, Probit: probit}
	wep, all := virtual(t, "wep", &WEPConfig{b.Len(), cfg}), virtual(t, "vvm",
		&VVMConfig{Buffer: b.Len(), PointsConfig: cfg})
	for _, l := range []*vvm[float64]{adf, none, wep, all} {
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			t.Fatal(err)
		}
	}
	if stateOf(learner.Learner[float64](adf)) != stateOf(learner.Learner[float64](none)) {
		t.Error("vvm without points is not adf")
	}
	if stateOf(learner.Learner[float64](wep)) != stateOf(learner.Learner[float64](all)) {
		t.Error("before anything is evicted wep is not vvm")
	}
	// Few points are refined in the space of their scores, many in that of the weights.
	for _, n := range []int{10, b.Len()} {
		head := b.Slice(0, n)
		kept := virtual(t, "vvm", &VVMConfig{Buffer: n, PointsConfig: cfg})
		if err := kept.Learn(&head, make([]learner.Round, n)); err != nil {
			t.Fatal(err)
		}
		for _, gram := range []int64{0, -1} {
			ep := &epLearner[float64]{virtual(t, "ep", &EPConfig{cfg})}
			r, err := ep.Fit(context.Background(), &head, learner.FitOptions{GramBytes: gram})
			if err != nil || !r.Converged || r.ScoreSpace != (n == 10 && gram == 0) {
				t.Fatalf("%+v, %v", r, err)
			}
			approx.AllNear(t, fmt.Sprintf("n %d, gram %d: mean", n, gram), ep.Weights(), kept.Weights(),
				bayesTol)
			sameMatrix(t, fmt.Sprintf("n %d, gram %d: covariance", n, gram), fullCov(ep.p),
				fullCov(kept.p), bayesTol)
		}
	}
}

// TestNaiveVVM: after each example the mean is that of the plain form with dense covariances;
// points are evicted after the first few.
func TestNaiveVVM(t *testing.T) {
	for _, c := range []struct {
		name        string
		buffer      int
		oldest      bool
		margin      bool
		noise, flip float64 // without label noise wrong ones have no posterior
	}{{"adf", 0, true, false, 0.1, 1.3}, {"wep", 6, true, false, 0.1, 1.3},
		{"wep", 6, true, false, 0, math.Inf(1)}, {"vvm", 6, false, false, 0, math.Inf(1)},
		{"vvm", 6, false, true, 0, math.Inf(1)}, {"vvm", 6, false, true, 0.1, 1.3}} {
		points := PointsConfig{Noise: c.noise, Tolerance: 1e-3, Sweeps: 20, Damping: 1}
		configs := map[string]learner.Config{"adf": &ADFConfig{Covariance: "full", Noise: c.noise},
			"wep": &WEPConfig{c.buffer, points}, "vvm": &VVMConfig{Buffer: c.buffer,
				LargestMargin: c.margin, PointsConfig: points}}
		stream := vvmStream(60, 8, c.flip)
		l, plain := virtual(t, c.name, configs[c.name]), naive.NewVVM(8, c.buffer, c.oldest,
			c.noise, points.Tolerance, points.Sweeps)
		plain.LargestMargin = c.margin
		for i := range stream.Len() {
			r := learnOne(t, learner.Learner[float64](l), stream, i)
			f, x := 0.0, slices.Clone(stream.Row(i))
			for j := range x {
				f += plain.M[j] * x[j]
				x[j] *= stream.Y[i]
			}
			plain.Learn(x)
			approx.AllNear(t, fmt.Sprintf("%s, noise %v, example %d: score", c.name, c.noise, i),
				[]float64{r.Score}, []float64{f}, bayesTol)
			approx.AllNear(t, fmt.Sprintf("%s, noise %v, example %d: mean", c.name, c.noise, i),
				l.Weights(), plain.M, bayesTol)
		}
		if l.p.K != c.buffer {
			t.Errorf("%s: %d points are left, want %d", c.name, l.p.K, c.buffer)
		}
	}
}

// TestLargestMargin: without label noise the point of the largest |R(x)| is the one of the smallest
// KL, to the bit; with noise it is another in the end.
func TestLargestMargin(t *testing.T) {
	for _, c := range []struct {
		noise, flip float64
		same        bool
	}{{0, math.Inf(1), true}, {0.1, 1.3, false}} {
		var states [2]string
		for i := range states {
			l := virtual(t, "vvm", &VVMConfig{Buffer: 6, LargestMargin: i > 0,
				PointsConfig: PointsConfig{Noise: c.noise, Tolerance: 1e-3, Sweeps: 20,
					Damping: 1}})
			b := vvmStream(60, 8, c.flip)
			if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
				t.Fatal(err)
			}
			states[i] = stateOf(learner.Learner[float64](l))
		}
		if same := states[0] == states[1]; same != c.same {
			t.Errorf("label noise %v: the same state is %v, want %v", c.noise, same, c.same)
		}
	}
}

// TestPosteriorStands: flipped labels, with and without noise in the model, opposite and equal
// examples, and examples of any length leave a finite mean and a positive definite covariance.
func TestPosteriorStands(t *testing.T) {
	const d = 12
	n := 6000
	if testing.Short() {
		n = 1500
	}
	scaled := func(f func(i int) float64) *engine.Block[float64] {
		b := vvmStream(n, d, 1.64)
		for i := range n {
			for j := range d {
				b.X[i*d+j] *= f(i)
			}
		}
		return b
	}
	opposite := scaled(func(int) float64 { return 1 })
	for i := 1; i < n; i++ { // four examples, now with one label, now with the other
		copy(opposite.X[i*d:(i+1)*d], opposite.X[i%4*d:])
		opposite.Y[i] = 1 - 2*float64(i/4%2)
	}
	for what, b := range map[string]*engine.Block[float64]{
		"flipped":  scaled(func(int) float64 { return 1 }),
		"long":     scaled(func(i int) float64 { return math.Pow(10, float64(i%60-30)) }),
		"extreme":  scaled(func(i int) float64 { return math.Pow(10, float64(i%7-3)*50) }),
		"opposite": opposite,
	} {
		for _, eps := range []float64{0, 0.01, 0.05} {
			points := PointsConfig{Noise: eps, Tolerance: 1e-3, Sweeps: 10, Damping: 1}
			for name, c := range map[string]learner.Config{"adf": &ADFConfig{Covariance: "full",
				Noise: eps}, "wep": &WEPConfig{6, points}, "vvm": &VVMConfig{Buffer: 6,
				Pairs: 2, PointsConfig: points}} {
				l := virtual(t, name, c)
				if err := l.Learn(b, make([]learner.Round, n)); err != nil {
					t.Fatal(err)
				}
				for _, w := range append(l.Weights(), l.p.ResidualMean...) {
					if w-w != 0 {
						t.Fatalf("%s, %s, eps %v: weight %v", what, name, eps, w)
					}
				}
				// features to come, which a file has made known, decide nothing
				more := virtual(t, name, c)
				if err := more.Learn(wider(b, 3), make([]learner.Round, n)); err != nil {
					t.Fatal(err)
				}
				if w := more.Weights(); !slices.Equal(w[:d], l.Weights()) || w[d] != 0 {
					t.Errorf("%s, %s, eps %v: with three features more %v, without %v", what, name,
						eps, w, l.Weights())
				}
				if lower(residualCov(l.p)) == nil {
					t.Errorf("%s, %s, eps %v: the covariance is not positive definite", what, name,
						eps)
				}
				p := make([]float64, n)
				if err := l.Proba(b, p); err != nil {
					t.Fatal(err)
				}
				for _, v := range p {
					if !(v >= eps*(1-1e-9) && v <= 1) {
						t.Fatalf("%s, %s, eps %v: probability %v", what, name, eps, v)
					}
				}
				r := l.Report()
				if what == "opposite" && eps == 0 && r.Passed+r.Lost+r.Unconverged == 0 {
					t.Errorf("%s, %s: contradictions without noise, and no report: %+v", what, name,
						r)
				}
			}
		}
	}
}

// wider returns dense examples with so many features more, all 0.
func wider(b *engine.Block[float64], more int) *engine.Block[float64] {
	w := &engine.Block[float64]{Dim: b.Dim + more, Stride: b.Dim + more, Y: b.Y}
	for i := range b.Y {
		w.X = append(append(w.X, b.X[i*b.Stride:][:b.Dim]...), make([]float64, more)...)
	}
	return w
}

// TestGuards: an eviction or a merge that would leave no covariance is refused and changes nothing.
func TestGuards(t *testing.T) {
	with := func(tau float64, points ...[]float64) *gauss.Posterior {
		p := gauss.NewPosterior(0.05, 2)
		if err := p.Grow("vvm", len(points[0])); err != nil {
			t.Fatal(err)
		}
		for _, x := range points {
			copy(p.X[p.K], x)
			if !p.Add() {
				t.Fatal("no point")
			}
		}
		p.Tau[0] = tau
		p.Refresh()
		return p
	}
	moments := func(p *gauss.Posterior) string {
		q := *p
		q.Precision = nil // a closer bound of the same distribution
		return fmt.Sprint(learner.StateOf(func(c *learner.Codec) { q.Fields(c, q.K) }))
	}
	for _, c := range []struct {
		tau, variance float64 // 1/variance = 1 + tau
		ok            bool
	}{{3, 0.25, true}, {-0.5, 2, true}, {-1, 0, false}, {-1.5, 0, false}, {0x1p41, 0, false},
		{math.Inf(1), 0, false}} {
		p := with(0, []float64{1, 0, 0})
		p.Tau[0] = c.tau
		before := moments(p)
		if p.Absorb(0) != c.ok {
			t.Errorf("tau %v: absorbed %v", c.tau, !c.ok)
		}
		if c.ok && math.Abs(residualCov(p)[0][0]-c.variance) > 1e-15 {
			t.Errorf("tau %v: variance %v", c.tau, residualCov(p)[0][0])
		}
		if !c.ok && moments(p) != before {
			t.Errorf("tau %v: refused, and changed", c.tau)
		}
	}
	// The eigenvalues of I + K G; the second has the determinant of a good one.
	G := gauss.Sym2{AA: 2, AB: 1, BB: 2}
	for _, c := range []struct {
		K  gauss.Sym2
		ok bool
	}{{gauss.Sym2{AA: 1, AB: 0, BB: -0.2}, true}, {gauss.Sym2{AA: -2, AB: 0, BB: -2}, false},
		{gauss.Sym2{AA: -2, AB: 0, BB: 1}, false}, {gauss.Sym2{AA: -1. / 3, AB: 0, BB: -1. / 3},
			false}} {
		M, ok := gauss.InverseOfSum(c.K, G)
		if ok != c.ok {
			t.Errorf("%v: %v", c.K, ok)
		}
		if ok { // M (K^-1 + G) = I
			inv := gauss.Sym2{AA: 1/c.K.AA + G.AA, AB: G.AB, BB: 1/c.K.BB + G.BB}
			if a, b := M.Mul(gauss.Pair{A: inv.AA, B: inv.AB}), M.Mul(gauss.Pair{A: inv.AB,
				B: inv.BB}); math.Abs(a.A-1)+math.Abs(a.B)+math.Abs(b.A)+math.Abs(b.B-1) > 1e-14 {
				t.Errorf("%v: the inverse is %v", c.K, M)
			}
		}
	}
	p := with(0.5, []float64{1, 0, 0}, []float64{0.9, 0.1, 0})
	before := moments(p)
	if p.Merge(&gauss.TwoPoints{I: 0, J: 1, K2: gauss.Sym2{AA: 0.1, AB: 0, BB: 0.1},
		Growth: gauss.Addition{X: p.X[0], Y: p.X[1], K: gauss.Sym2{AA: 0x1p41, AB: 0, BB: 0},
			Trace: 0x1p41}}) || moments(p) != before {
		t.Error("a merge beyond the bound is not refused, or changes the posterior")
	}
}

// onlineRate is the limit of n/d times the error rate, on labels without noise, of the best that
// learns online from n examples of d features in random directions and keeps one vector and one
// variance C of its elements, of the order 1 at first: by ADF's rule C falls as dC/d(n/d) = -J
// C^(3/2)/sqrt(2 pi), where J is the integral over z of (1-2 eps)^2 N(z)^2/(Z(z) (1 - Z(z))), and
// the error rate is sqrt(C)/pi. For eps = 0 it is the 0.88 of O. Kinouchi, N. Caticha, "Optimal
// generalization in perceptrons", Journal of Physics A 25, 1992. To know the variance of every
// direction is worth a third: 0.6 to 0.75 of that rate was seen.
func onlineRate(eps float64) float64 {
	const step = 1. / 64
	J := 0.0
	for z := -10.0; z <= 10; z += step {
		Z := eps + (1-2*eps)*0.5*math.Erfc(-z/math.Sqrt2)
		n := (1 - 2*eps) * math.Exp(-z*z/2)
		J += step * n * n / (2 * math.Pi * Z * (eps + (1-2*eps)*0.5*math.Erfc(z/math.Sqrt2)))
	}
	return 2 * math.Sqrt(2/math.Pi) / J
}

// TestLongStream: of a stream with 5 % flipped labels the posterior learns faster than without a
// covariance at best, in memory that does not grow, and stays finite and positive definite. adf
// takes a million examples.
func TestLongStream(t *testing.T) {
	const d, eps, warmUp = 100, 0.05, 2000
	if rate := onlineRate(0); math.Abs(rate-0.8825) > 1e-3 {
		t.Errorf("the rate without noise is %v", rate)
	}
	points := PointsConfig{Noise: eps, Tolerance: 1e-3, Sweeps: 20, Damping: 1}
	for _, c := range []struct {
		name    string
		config  learner.Config
		n, less int
	}{
		{"adf", &ADFConfig{Covariance: "full", Noise: eps}, 1000000, 50000},
		{"wep", &WEPConfig{30, points}, 50000, 10000},
		{"vvm", &VVMConfig{Buffer: 30, Pairs: 1, PointsConfig: points}, 50000, 10000},
	} {
		n := c.n
		if testing.Short() {
			n = c.less
		}
		l := virtual(t, c.name, c.config)
		rand := engine.NewRand(3, 1)
		target := make([]float64, d)
		for i := range target {
			target[i] = rand.Normal()
		}
		b := &engine.Block[float64]{Dim: d, Stride: d, X: make([]float64, 1000*d),
			Y: make([]float64, 1000)}
		rounds := make([]learner.Round, b.Len())
		var memory [2]uint64
		for at := 0; at < n; at += b.Len() {
			if at == warmUp {
				memory[0] = heap()
			}
			for i := range b.Len() {
				x := b.Row(i)
				for j := range x {
					x[j] = (rand.Uniform() - 0.5) * math.Sqrt(12./d)
				}
				if b.Y[i] = math.Copysign(1, vecmath.Dot(x, target)); rand.Uniform() < eps {
					b.Y[i] = -b.Y[i]
				}
			}
			if err := l.Learn(b, rounds); err != nil {
				t.Fatal(err)
			}
		}
		memory[1] = heap()
		// A float64 kept of every example would be 64 kB after 8000.
		if grown := int64(memory[1] - memory[0]); grown > 1<<16 {
			t.Errorf("%s: the heap grew by %d bytes over %d examples", c.name, grown, n-warmUp)
		}
		m := l.Weights()
		for _, w := range append(m, l.p.ResidualMean...) {
			if w-w != 0 {
				t.Fatalf("%s: weight %v", c.name, w)
			}
		}
		if lower(residualCov(l.p)) == nil || lower(fullCov(l.p)) == nil {
			t.Errorf("%s: a covariance is not positive definite", c.name)
		}
		if r := l.Report(); r.Passed+r.Lost+r.Unconverged != 0 {
			t.Errorf("%s: %+v", c.name, r)
		}
		cosine := vecmath.Dot(m, target) / math.Sqrt(vecmath.SumSq(m)*vecmath.SumSq(target))
		e, limit := math.Acos(cosine)/math.Pi, onlineRate(eps)*d/float64(n)
		t.Logf("%s, %d examples: %.5f of clean labels wrong, limit %.5f", c.name, n, e, limit)
		if !(e <= limit) {
			t.Errorf("%s: %v of clean labels wrong after %d examples, the limit is %v", c.name, e,
				n, limit)
		}
	}
}

// heap returns the bytes that live on the heap.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestDiagonalADF: where no two features meet the covariance is diagonal anyway.
func TestDiagonalADF(t *testing.T) {
	b := vvmStream(60, 5, 1.3)
	for i := range b.Len() {
		for j := range 5 {
			if j != i*i%5 {
				b.X[i*5+j] = 0
			} else if i%9 > 0 { // one label in nine as it was
				b.Y[i] = math.Copysign(1, b.X[i*5+j])
			}
		}
	}
	for _, c := range []ADFConfig{{Noise: 0.01}, {Noise: 0.1}, {Noise: 0.1, Probit: 0.5}} {
		eps := c.Noise
		e, err := learner.Lookup("adf")
		if err != nil {
			t.Fatal(err)
		}
		other := c
		c.Covariance, other.Covariance = "diagonal", "full"
		l, err := learner.New[float64](e, &c, learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
		diagonal, full := l.(*diagonalADF[float64]),
			virtual(t, "adf", &other)
		var p, q [60]float64
		if err := errors.Join(diagonal.Learn(b, make([]learner.Round, 60)), full.Learn(b,
			make([]learner.Round, 60)), diagonal.Proba(b, p[:]), full.Proba(b, q[:])); err != nil {
			t.Fatal(err)
		}
		approx.AllNear(t, "mean", diagonal.Weights(), full.Weights(), 1e-9)
		for i, row := range fullCov(full.p) {
			for j, v := range row {
				want := 0.0
				if i == j {
					want = diagonal.q.V[i]
				}
				if !(math.Abs(v-want) <= 1e-9) {
					t.Errorf("eps %v: covariance %d, %d is %v, want %v", eps, i, j, v, want)
				}
			}
		}
		approx.AllNear(t, "probability", p[:], q[:], 1e-9)
	}
}

// TestProba: the probability under the posterior itself; features that were never learned have the
// prior; half without features. Labels drawn from the model are as frequent as predicted.
func TestProba(t *testing.T) {
	const d, n, eps = 8, 3000, 0.05
	b := vvmStream(n, d, 1.64)
	for name, c := range map[string]learner.Config{"adf": &ADFConfig{Covariance: "full",
		Noise: eps},
		"vvm": &VVMConfig{Buffer: 5, Pairs: 2, PointsConfig: PointsConfig{Noise: eps,
			Tolerance: 1e-6, Sweeps: 50, Damping: 1}},
		"wep": &WEPConfig{5, PointsConfig{Noise: eps, Tolerance: 1e-6, Sweeps: 50, Damping: 1}}} {
		l := virtual(t, name, c)
		head := b.Slice(0, 60)
		if err := l.Learn(&head, make([]learner.Round, 60)); err != nil {
			t.Fatal(err)
		}
		p := make([]float64, n)
		if err := l.Proba(b, p); err != nil {
			t.Fatal(err)
		}
		V, m := fullCov(l.p), l.Weights()
		sum, variance, right := 0.0, 0.0, 0.0
		for i := range n {
			x, mean, v := b.Row(i), 0.0, 0.0
			for j := range x {
				mean += m[j] * x[j]
				for k := range x {
					v += x[j] * V[j][k] * x[k]
				}
			}
			want := eps + (1-2*eps)*0.5*math.Erfc(-mean/math.Sqrt(2*v))
			if !(math.Abs(p[i]-want) <= 1e-9) {
				t.Fatalf("%s: probability %d is %v, want %v", name, i, p[i], want)
			}
			if i >= 60 {
				sum += p[i]
				variance += p[i] * (1 - p[i])
				if b.Y[i] > 0 {
					right++
				}
			}
		}
		if z := (right - sum) / math.Sqrt(variance); math.Abs(z) > 6 {
			t.Errorf("%s: %v positive labels, predicted %v, %.1f standard deviations", name, right,
				sum, z)
		}
		wide := &engine.Block[float64]{Y: []float64{1, 1, 1}, Dim: d + 2, Stride: d + 2,
			X: make([]float64, 3*(d+2))}
		wide.X[d], wide.X[d+2] = 3, 1
		wide.X[2*(d+2)], wide.X[2*(d+2)+d] = 1, 1e9
		if err := l.Proba(wide, p); err != nil {
			t.Fatal(err)
		}
		if math.Abs(p[0]-0.5) > 1e-15 || p[1] < 0.6 || math.Abs(p[2]-0.5) > 1e-6 {
			t.Errorf("%s: unseen feature %v, seen %v, both %v", name, p[0], p[1], p[2])
		}
		if err := l.Proba(b, p[1:]); !errors.Is(err, learner.ErrOut) {
			t.Errorf("short dst: %v", err)
		}
		if n := testing.AllocsPerRun(5, func() {
			if err := l.Proba(&head, p); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: Proba allocates %v times a call", name, n)
		}
	}
}

// TestPosteriorLimits: what can't be learned is refused and changes nothing.
func TestPosteriorLimits(t *testing.T) {
	l := virtual(t, "vvm", &VVMConfig{Buffer: 3, PointsConfig: defaultPoints})
	b := vvmStream(20, 3, 1.64)
	if err := l.Learn(b, make([]learner.Round, 20)); err != nil {
		t.Fatal(err)
	}
	before := stateOf(learner.Learner[float64](l))
	wide := &engine.Block[float64]{Y: []float64{1}, Dim: gauss.MaxPosteriorDim + 1, Ptr: []int{0,
		1}, Idx: []int32{gauss.MaxPosteriorDim}, Val: []float64{1}}
	if err := l.Learn(wide, make([]learner.Round, 1)); !errors.Is(err, learner.ErrDim) {
		t.Errorf("too many features: %v", err)
	}
	for name, change := range map[string]func(*learner.State){
		"not finite": func(s *learner.State) {
			s.Tensor("residual_mean").Data.([]float64)[1] = math.NaN()
		},
		"no variance": func(s *learner.State) {
			s.Tensor("residual_cov").Data.([]float64)[2] =
				0
		},
		"precision below 1": func(s *learner.State) { s.Scalars["precision"] = 0.5 },
		"too many points": func(s *learner.State) {
			s.Tensor("tau").Data,
				s.Tensor("tau").Shape = make([]float64, 4), []int{4}
		},
	} {
		s := l.State()
		change(&s)
		if err := l.SetState(s); !errors.Is(err, learner.ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if stateOf(learner.Learner[float64](l)) != before {
		t.Error("a rejected call changed the state")
	}
}

// TestMergePosterior: learners of the two halves of a stream are merged. Where the halves share no
// direction, that is the learner of all to rounding.
func TestMergePosterior(t *testing.T) {
	n, d := mergeSize(), 10
	all := vvmStream(n, d, 1.64)
	apart := vvmStream(n, d, 1.64)
	// the first half has the even features, the second the odd ones; the labels follow from these,
	// one in twenty doesn't
	for i := range n {
		f := 0.0
		for j := range d {
			if j%2 != i*2/n {
				apart.X[i*d+j] = 0
			}
			f += apart.X[i*d+j] * float64(j-4)
		}
		if apart.Y[i] = math.Copysign(1, f); i%20 == 7 {
			apart.Y[i] *= -1
		}
	}
	points := PointsConfig{Noise: 0.1, Tolerance: 1e-11, Sweeps: 1000, Damping: 1}
	for name, c := range map[string]learner.Config{
		"adf":      &ADFConfig{Covariance: "full", Noise: 0.1},
		"diagonal": &ADFConfig{Covariance: "diagonal", Noise: 0.1}, "ep": &EPConfig{points},
		"wep": &WEPConfig{n, points}, "vvm": &VVMConfig{Buffer: 5, Pairs: 2, PointsConfig: points},
	} {
		first, second := apart.Slice(0, n/2), apart.Slice(n/2, n)
		l, o := learntPosterior(t, c, &first), learntPosterior(t, c, &second)
		want := learntPosterior(t, c, apart)
		before := stateOf(o)
		if err := l.(learner.PosteriorMerger[float64]).MergePosterior(o); err != nil {
			t.Fatal(err)
		}
		if stateOf(o) != before {
			t.Errorf("%s: the other learner was changed", name)
		}
		if name != "ep" && l.Updates() != int64(n) {
			t.Errorf("%s: %d updates, want %d", name, l.Updates(), n)
		}
		if name != "vvm" { // which points are kept differs
			approx.AllNear(t, name+": mean", l.Weights(), want.Weights(), 1e-8)
			p, q := make([]float64, n), make([]float64, n)
			if err := errors.Join(l.(learner.Prober[float64]).Proba(all, p),
				want.(learner.Prober[float64]).Proba(all, q)); err != nil {
				t.Fatal(err)
			}
			approx.AllNear(t, name+": probabilities", p, q, 1e-8)
		}
		// Of a common problem the merged posterior knows more than either half.
		first, second = all.Slice(0, n/2), all.Slice(n/2, n)
		l, o = learntPosterior(t, c, &first), learntPosterior(t, c, &second)
		a, b := wrong(t, l, all), wrong(t, o, all)
		if err := l.(learner.PosteriorMerger[float64]).MergePosterior(o); err != nil {
			t.Fatal(err)
		}
		if m := wrong(t, l, all); m > max(a, b) {
			t.Errorf("%s: %d wrong after merging, %d and %d before", name, m, a, b)
		}
		if v, ok := l.(*vvm[float64]); ok && (v.p.K > v.buffer || lower(residualCov(v.p)) == nil) {
			t.Errorf("%s: %d points, or the covariance is not positive definite", name, v.p.K)
		}
		// What was merged can learn on.
		if name != "ep" {
			if err := l.Learn(all, make([]learner.Round, n)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// mergeSize is the number of examples that tests of merging learn.
func mergeSize() int {
	if testing.Short() {
		return 60
	}
	return 100
}

// learntPosterior returns the learner of these settings after b.
func learntPosterior(t *testing.T, c learner.Config,
	b *engine.Block[float64]) learner.Learner[float64] {
	t.Helper()
	name := map[string]string{"*learners.ADFConfig": "adf", "*learners.VVMConfig": "vvm",
		"*learners.WEPConfig": "wep", "*learners.EPConfig": "ep"}[fmt.Sprintf("%T", c)]
	l, err := learner.Make[float64](name, c, learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := l.(*epLearner[float64]); ok {
		_, err = f.Fit(context.Background(), b, learner.FitOptions{})
	} else {
		err = l.Learn(b, make([]learner.Round, b.Len()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMergePosteriorFeatures: posteriors over random features are merged if these are of one seed.
func TestMergePosteriorFeatures(t *testing.T) {
	n := mergeSize()
	all := vvmStream(n, 10, 1.64)
	first, second := all.Slice(0, n/2), all.Slice(n/2, n)
	l1, l2 := learntFeatures(t, 1, "adf", &first), learntFeatures(t, 1, "adf", &second)
	want := virtual(t, "adf", &ADFConfig{Covariance: "full", Noise: 0.05})
	if err := errors.Join(want.SetState(l1.State()),
		want.MergePosterior(l2.(*rffLearner[float64]).inner),
		learner.PosteriorOf(l1).MergePosterior(l2)); err != nil {
		t.Fatal(err)
	}
	if stateOf(l1) != stateOf(learner.Learner[float64](want)) ||
		learner.PosteriorOf(l1).Report().Sweeps != int64(n) {
		t.Error("random features: merged differently")
	}
	for _, other := range []learner.Learner[float64]{learntFeatures(t, 2, "adf", &second), want,
		learntFeatures(t, 1, "pa", &second)} {
		if err := learner.PosteriorOf(l1).MergePosterior(other); !errors.Is(err, learner.ErrPrior) {
			t.Errorf("random features, %T: %v", other, err)
		}
	}
	if learner.PosteriorOf(learntFeatures(t, 1, "pa", &first)) != nil {
		t.Error("pa has a posterior")
	}
}

// learntFeatures returns the learner of that name over the random features of a seed after b.
func learntFeatures(t *testing.T, seed uint64, base string,
	b *engine.Block[float64]) learner.Learner[float64] {
	t.Helper()
	l, err := learner.Make[float64]("rff", &RFFConfig{D: 20, Sigma: 2, Base: base},
		learner.Env{Seed: seed})
	if err == nil {
		err = l.Learn(b, make([]learner.Round, b.Len()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMergePosteriorProduct: the product, by hand in one dimension: 1/v = 1/v1 + 1/v2 - 1. Others
// have none.
func TestMergePosteriorProduct(t *testing.T) {
	line := &engine.Block[float64]{Y: []float64{1, -1, 1}, X: []float64{1, 0.5, 2}, Dim: 1,
		Stride: 1}
	head, tail := line.Slice(0, 1), line.Slice(1, 3)
	full := &ADFConfig{Covariance: "full", Noise: 0.05}
	l, o := learntPosterior(t, full, &head).(*vvm[float64]),
		learntPosterior(t, full, &tail).(*vvm[float64])
	v1, v2, m1, m2 := fullCov(l.p)[0][0], fullCov(o.p)[0][0], l.Weights()[0], o.Weights()[0]
	if err := l.MergePosterior(o); err != nil {
		t.Fatal(err)
	}
	v := 1 / (1/v1 + 1/v2 - 1)
	approx.AllNear(t, "product", []float64{fullCov(l.p)[0][0], l.Weights()[0]},
		[]float64{v, v * (m1/v1 + m2/v2)}, 1e-14)
	for _, c := range []*ADFConfig{{Covariance: "full", Noise: 0.1},
		{Covariance: "diagonal", Noise: 0.05}} {
		if err := l.MergePosterior(learntPosterior(t, c, line)); !errors.Is(err,
			learner.ErrPrior) {
			t.Errorf("another noise or form: %v", err)
		}
	}
}
