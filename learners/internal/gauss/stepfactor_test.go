package gauss

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/halfspace-ml/halfspace/learners/internal/golden"
	"pgregory.net/rapid"
)

const bigPrec = 300

// bigExp returns e^x by the Taylor series of x/2^k, squared k times.
func bigExp(x float64) *big.Float {
	const halvings = 20
	y := new(big.Float).SetPrec(bigPrec).SetMantExp(big.NewFloat(x), -halvings)
	sum, term := big.NewFloat(1).SetPrec(bigPrec), big.NewFloat(1).SetPrec(bigPrec)
	for k := 1; k < 40; k++ {
		term.Mul(term, y)
		term.Quo(term, big.NewFloat(float64(k)).SetPrec(bigPrec))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog returns log x by Newton's method on bigExp.
func bigLog(x float64) *big.Float {
	y := new(big.Float).SetPrec(bigPrec).SetFloat64(math.Log(x))
	for range 3 { // y += x e^-y - 1, one bit of truth doubled each time
		f, _ := y.Float64()
		rest, _ := new(big.Float).Sub(y, big.NewFloat(f)).Float64()
		e := new(big.Float).SetPrec(bigPrec).Mul(bigExp(-f), bigExp(-rest))
		e.Mul(e, big.NewFloat(x))
		y.Add(y, e.Sub(e, big.NewFloat(1)))
	}
	return y
}

// bigMills returns (1-Phi(t))/N(t) = sqrt(pi/2) e^(t^2/2) - sum t^(2k+1)/(2k+1)!!.
func bigMills(t float64) *big.Float {
	pi, _,
		err := big.ParseFloat(
		"3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679", 10, bigPrec, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	root := new(big.Float).SetPrec(bigPrec).Quo(pi, big.NewFloat(2))
	root.Sqrt(root)
	square := new(big.Float).SetPrec(bigPrec).Mul(big.NewFloat(t), big.NewFloat(t))
	half, _ := new(big.Float).Quo(square, big.NewFloat(2)).Float64()
	rest := new(big.Float).SetPrec(bigPrec).Quo(square, big.NewFloat(2))
	low, _ := rest.Sub(rest, big.NewFloat(half)).Float64()
	root.Mul(root, bigExp(half))
	root.Mul(root, bigExp(low))
	sum, term := new(big.Float).SetPrec(bigPrec), big.NewFloat(t).SetPrec(bigPrec)
	for k := 1.0; k < 1500; k += 2 {
		sum.Add(sum, term)
		term.Mul(term, square)
		term.Quo(term, big.NewFloat(k+2).SetPrec(bigPrec))
	}
	return root.Sub(root, sum)
}

func bigOff(got float64, want *big.Float) float64 {
	d := new(big.Float).SetPrec(bigPrec).Sub(big.NewFloat(got).SetPrec(bigPrec), want)
	d.Quo(d, want)
	f, _ := d.Float64()
	return math.Abs(f)
}

// TestScalars holds the elementary functions to the errors that their comments state.
func TestScalars(t *testing.T) {
	var worst [3]float64
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-700, 700).Draw(t, "exp of")
		if e := bigOff(ExpScalar(x), bigExp(x)); !(e <= 4e-16) {
			t.Fatalf("exp(%v) is off by %.3g", x, e)
		} else {
			worst[0] = max(worst[0], e)
		}
		y := rapid.OneOf(rapid.Float64Range(1e-300, 1e300), rapid.Float64Range(0.5, 2),
			rapid.Float64Range(1e-9, 1)).Draw(t, "log of")
		if y != 1 {
			want := bigLog(y)
			f, _ := want.Float64()
			if e := bigOff(logScalar(y), want); !(e <= 3e-16 || math.Abs(logScalar(y)-f) <= 1e-16) {
				t.Fatalf("log(%v) = %v is off by %.3g", y, logScalar(y), e)
			} else {
				worst[1] = max(worst[1], e)
			}
		}
		m := rapid.OneOf(rapid.Float64Range(0, 8), rapid.Float64Range(8, 13)).Draw(t, "mills of")
		if e := bigOff(mills(m), bigMills(m)); !(e <= 1e-15) {
			t.Fatalf("mills(%v) is off by %.3g", m, e)
		} else {
			worst[2] = max(worst[2], e)
		}
	})
	t.Logf("off by exp %.2g, log %.2g, mills %.2g at most", worst[0], worst[1], worst[2])
	for n, m := range millsTable {
		if want, _ := bigMills(float64(n) / 4).Float64(); m != want {
			t.Errorf("millsTable[%d] is %x, want %x", n, m, want)
		}
	}
	if ExpScalar(-800) != 0 || ExpScalar(800) != math.Inf(1) || ExpScalar(0) != 1 ||
		logScalar(1) != 0 || logScalar(0) != math.Inf(-1) {
		t.Error("exp or log is wrong at an end")
	}
	for _, x := range []float64{1e-300, 1e-20, 1e-9, -1e-9, 0.3, -0.9, 5} {
		if e := golden.Off(log1pScalar(x), math.Log1p(x), false); e > 4e-16 {
			t.Errorf("log1p(%v) is off by %.3g", x, e)
		}
	}
	for z := -37.0; z <= 37; z += 0.37 {
		// math.Erfc of a rounded argument is off by z^2 2^-53
		if e := golden.Off(NormalCDF(z), 0.5*math.Erfc(-z/math.Sqrt2), false); e > (z*z+8)*0x1p-52 {
			t.Errorf("Phi(%v) is off by %.3g", z, e)
		}
	}
}

// TestStepFactor: the golden table to 1e-12, KL to an absolute 1e-10, and to the errors that
// NewStepFactor states.
func TestStepFactor(t *testing.T) {
	var g struct {
		Rows []struct{ Eps, Z, LogZ, H, D, W, KL, Ratio float64 }
	}
	golden.Read(t, "bayes/step_factor", &g)
	if len(g.Rows) != 51 {
		t.Fatalf("%d rows, want 51", len(g.Rows))
	}
	worst, worstKL := 0.0, 0.0
	stated := [3][3]float64{{3e-16, 8e-16, 1.1e-15}, {1e-15, 2.1e-14, 1.2e-14}, {5e-16, 4e-16,
		1e-16}}
	for _, r := range g.Rows {
		s := NewStepFactor(r.Z, r.Eps)
		class := 0
		for _, bound := range []float64{-4, 0} {
			if r.Z > bound {
				class++
			}
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{{"log Z", s.logZ(), r.LogZ}, {"h", s.H, r.H}, {"d", s.D, r.D}, {"w", s.w, r.W}, {"ratio",
			s.D / math.Sqrt(s.w), r.Ratio}, {"1+zd", s.e, 1 + r.Z*r.D}} {
			if c.name == "1+zd" && math.Abs(r.Z*r.D) > 0.5 && math.Abs(c.want) < 0.5 {
				continue // the right side has no digits; TestStepFactorLaws has it
			}
			e := golden.Off(c.got, c.want, false)
			if math.Abs(c.want) < 1e-307 { // a denormal number, which is taken for 0
				e = math.Abs(c.got - c.want)
			}
			bound := 1e-12
			switch c.name {
			case "log Z", "h", "d":
				bound = stated[class][0]
			case "w":
				bound = stated[class][1]
			}
			if worst = max(worst, e); !(e <= bound) {
				t.Errorf("eps %v, z %v: %s is %v, want %v", r.Eps, r.Z, c.name, c.got, c.want)
			}
		}
		e := golden.Off(s.Divergence(), r.KL, true)
		if worstKL = max(worstKL, e); !(e <= stated[class][2]) {
			t.Errorf("eps %v, z %v: KL is %v, want %v", r.Eps, r.Z, s.Divergence(), r.KL)
		}
		if r.Eps == 0 {
			if e := golden.Off(logNormalCDF(r.Z), r.LogZ, false); e > 1e-12 {
				t.Errorf("log Phi(%v) is off by %.3g", r.Z, e)
			}
		}
	}
	t.Logf("off by %.2g at most, KL by %.2g", worst, worstKL)
}

// TestStepFactorLaws: for every z and eps the pieces hold together, the site gives the moments
// back, and nothing breaks in the tails.
func TestStepFactorLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.OneOf(rapid.Float64Range(-50, 50), rapid.Float64Range(-4.001, -3.999),
			rapid.Float64Range(-1e9, 1e9)).Draw(t, "z")
		eps := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 0.49),
			rapid.Map(rapid.Float64Range(-300, -1), func(x float64) float64 {
				return math.Pow(10,
					x)
			})).Draw(t, "eps")
		s := NewStepFactor(z, eps)
		if !(s.w > 0) || !(s.H >= 0) || math.IsInf(s.w, 0) || math.IsNaN(s.D) || math.IsNaN(s.e) {
			t.Fatalf("h %v, d %v, w %v, e %v", s.H, s.D, s.w, s.e)
		}
		if eps == 0 && !(s.D > 0 && s.w < 1 || z > 8) {
			t.Fatalf("without noise: d %v, w %v", s.D, s.w)
		}
		const vc = 2.3
		tau, nu := s.site(vc)
		precision := 1/vc + tau
		if !(precision > 0) {
			t.Fatalf("tau is %v", tau)
		}
		mean := (z/math.Sqrt(vc) + nu) / precision
		if want := s.D * math.Sqrt(vc); golden.Off(mean, want, false) > 1e-9*max(1,
			math.Abs(z)/math.Abs(s.D)) {
			t.Fatalf("the site's mean is %v, want %v", mean, want)
		}
		if golden.Off(1/precision, vc*s.w, false) > 1e-12*max(1, s.w) {
			t.Fatalf("the site's variance is %v, want %v", 1/precision, vc*s.w)
		}
		if k := s.Divergence(); !(k > -1e-12*max(1, math.Abs(s.logZ()))) {
			t.Fatalf("KL is %v", k)
		}
	})
	for _, eps := range []float64{0, 1e-12, 0.01, 0.4} { // the two formulas meet at -4
		a, b := NewStepFactor(-4, eps), NewStepFactor(math.Nextafter(-4, 0), eps)
		for i, e := range []float64{golden.Off(a.H, b.H, false), golden.Off(a.D, b.D, false),
			golden.Off(a.w, b.w, false), golden.Off(a.e, b.e, false)} {
			if e > 1e-12 {
				t.Errorf("eps %v: part %d jumps by %.3g at z = -4", eps, i, e)
			}
		}
	}
}

func TestInverseADF(t *testing.T) {
	var g struct {
		Rows []struct {
			Eps  float64
			Mean float64 `json:"m_new"`
			Var  float64 `json:"v_new"`
			Z    float64
			M, V float64
		}
	}
	golden.Read(t, "bayes/inverse_adf", &g)
	for _, r := range g.Rows {
		s, m, v, ok := inverseADF(r.Mean, r.Var, r.Eps)
		if !ok {
			t.Fatalf("%+v: no solution", r)
		}
		tol := 1e-12
		if math.Abs(r.Mean/math.Sqrt(r.Var)-1) < 0.1 {
			tol = 1e-9 // z = -(R-1)^-1/2: half the digits
		}
		for i, e := range []float64{golden.Off(s.Z, r.Z, false), golden.Off(m, r.M, false),
			golden.Off(v, r.V, false)} {
			if !(e <= tol) {
				t.Errorf("%+v: z, m, v = %v, %v, %v: number %d is off by %.3g", r, s.Z, m, v, i, e)
			}
		}
	}
	if _, _, _, ok := inverseADF(1, 1.1, 0); ok {
		t.Error("without noise a mean below the standard deviation has a solution")
	}
	rapid.Check(t, func(t *rapid.T) {
		z, eps := rapid.Float64Range(-40, 20).Draw(t, "z"), rapid.SampledFrom([]float64{0, 1e-12,
			1e-6, 1e-3, 0.01, 0.1, 0.4}).Draw(t, "eps")
		want := NewStepFactor(z, eps)
		_, m, v, ok := inverseADF(want.D, want.w, eps)
		if !ok {
			t.Fatal("no solution")
		}
		if tol := 1e-9 * max(1, math.Pow(z, 4)); golden.Off(m, z, false) > tol &&
			math.Abs(m-z) > 1e-9 || golden.Off(v, 1, false) > tol {
			t.Fatalf("came back to m %v, v %v, want %v, 1", m, v, z)
		}
	})
}

func BenchmarkStepFactor(b *testing.B) {
	for _, z := range []float64{2, -2, 6, -6} {
		b.Run(fmt.Sprintf("z=%v", z), func(b *testing.B) {
			sum := 0.0
			for range b.N {
				s := NewStepFactor(z, 0)
				sum += s.w
			}
			if sum == 0 {
				b.Fatal(sum)
			}
		})
	}
}

// logNormalCDF returns log Phi(z).
func logNormalCDF(z float64) float64 {
	s := NewStepFactor(z, 0)
	return s.logZ()
}
