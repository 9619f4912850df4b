package learners

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// natural returns the precision matrix and that times the mean, of a posterior of d features.
func natural(t *testing.T, l learner.Learner[float64], d int) (A [][]float64, b []float64) {
	t.Helper()
	m := append(l.Weights(), make([]float64, d)...)[:d]
	A, b = make([][]float64, d), make([]float64, d)
	if a, ok := l.(*diagonalADF[float64]); ok {
		for i := range d {
			A[i] = make([]float64, d)
			A[i][i] = 1 / a.q.V[i]
		}
	} else {
		v := l.(*vvm[float64])
		if v.p.K > 0 {
			t.Fatalf("%d points are left", v.p.K)
		}
		V := mat.NewDense(d, d, slices.Concat(fullCov(v.p)...))
		var inverse mat.Dense
		if err := inverse.Inverse(V); err != nil {
			t.Fatal(err)
		}
		for i := range d {
			A[i] = inverse.RawRowView(i)
		}
	}
	for i := range d {
		for j := range d {
			b[i] += A[i][j] * m[j]
		}
	}
	return A, b
}

// TestDividePrior: of learners that went on from one, the natural parameters add up and those of
// the one count once: L1 + L2 - L0.
func TestDividePrior(t *testing.T) {
	n, d := mergeSize(), 10
	all := vvmStream(n, d, 1.64)
	points := PointsConfig{Noise: 0.1, Tolerance: 1e-11, Sweeps: 100, Damping: 1}
	for name, c := range map[string]learner.Config{
		"adf":      &ADFConfig{Covariance: "full", Noise: 0.1},
		"diagonal": &ADFConfig{Covariance: "diagonal", Noise: 0.1},
		"auto":     &ADFConfig{Covariance: "full", Noise: 0.1, NoiseAuto: true},
		"wep":      &WEPConfig{4, points}, "vvm": &VVMConfig{Buffer: 5, Pairs: 2,
			PointsConfig: points},
	} {
		parts := []engine.Block[float64]{all.Slice(0, n/3), all.Slice(n/3, n/2), all.Slice(n/2, n)}
		from := learntPosterior(t, c, &parts[0])
		merge := func(l learner.Learner[float64]) learner.PosteriorMerger[float64] {
			return learner.PosteriorOf(l)
		}
		var went [2]learner.Learner[float64]
		for i := range went {
			went[i] = learntPosterior(t, c, &parts[0])
			b := &parts[i+1]
			if err := went[i].Learn(b, make([]learner.Round, b.Len())); err != nil {
				t.Fatal(err)
			}
		}
		before := stateOf(from)
		// the natural parameters of each as it is: dividing the prior N(0, I) leaves no points
		var A [3][][]float64
		var b [3][]float64
		for i, l := range []learner.Learner[float64]{from, went[0], went[1]} {
			plain := learntPosterior(t, c, &parts[0])
			if err := plain.SetState(l.State()); err != nil {
				t.Fatal(err)
			}
			if err := merge(plain).DividePrior(nil, 0); err != nil {
				t.Fatal(name, err)
			}
			A[i], b[i] = natural(t, plain, d)
		}
		first, updates := went[0], went[0].Updates()+went[1].Updates()-from.Updates()
		if err := errors.Join(merge(went[0]).DividePrior(nil, 0), merge(went[1]).DividePrior(nil,
			0), merge(first).MergePosterior(went[1]), merge(first).DividePrior(from,
			1)); err != nil {
			t.Fatal(name, err)
		}
		if stateOf(from) != before {
			t.Errorf("%s: the prior was changed", name)
		}
		if first.Updates() != updates {
			t.Errorf("%s: %d updates, want %d", name, first.Updates(), updates)
		}
		// Six inversions of matrices of d rows and a condition of cond, each with errors of
		// d 2^-53 cond of the largest element, come between these and those.
		got, gotB := natural(t, first, d)
		for i := range d {
			for j := range d {
				terms := math.Abs(A[1][i][j]) + math.Abs(A[2][i][j]) + math.Abs(A[0][i][j])
				want := A[1][i][j] + A[2][i][j] - A[0][i][j]
				if e := math.Abs(got[i][j] - want); e > tolerance(A, d)*(terms+1) {
					t.Fatalf("%s: precision %d, %d is %v, want %v", name, i, j, got[i][j], want)
				}
			}
			terms := math.Abs(b[1][i]) + math.Abs(b[2][i]) + math.Abs(b[0][i])
			want := b[1][i] + b[2][i] - b[0][i]
			if e := math.Abs(gotB[i] - want); e > tolerance(A, d)*(terms+maxAbs(gotB)) {
				t.Fatalf("%s: precision times mean %d is %v, want %v", name, i, gotB[i], want)
			}
		}
		// a prior that knows more is none, and changes nothing
		small := learntPosterior(t, c, &parts[1])
		was := stateOf(small)
		if err := merge(small).DividePrior(first, 1); !errors.Is(err, learner.ErrPrior) ||
			stateOf(small) != was {
			t.Errorf("%s: a prior that knows more: %v", name, err)
		}
	}
}

// tolerance is what rounding leaves of inverses: see TestDividePrior. No eigenvalue of A is below
// 1/2, so its condition is at most twice its trace.
func tolerance(A [3][][]float64, d int) float64 {
	cond := 0.0
	for _, m := range A {
		trace := 0.0
		for i := range d {
			trace += m[i][i]
		}
		cond = max(cond, 2*trace)
	}
	return 6 * float64(d) * 0x1p-53 * cond
}
