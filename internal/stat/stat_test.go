package stat

import (
	"math"
	"testing"
)

// near compares with a value of another program, to the 10 digits that the package promises.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-10*math.Abs(want)) && got != want {
		t.Errorf("%s: %.17g, want %.17g", what, got, want)
	}
}

// TestTails: values of SciPy 1.x (stats.t, stats.chi2).
func TestTails(t *testing.T) {
	for _, c := range [][3]float64{
		{0.5, 1, 0.35241638234956679}, {2.0, 4, 0.058058261758407753},
		{3.5, 9, 0.0033617578815294761}, {1.96, 1000, 0.025136592477874354},
		{12.7, 1, 0.025012163844672076}, {0, 3, 0.5}, {-1.5, 7, 0.91135075650501496},
		{5, 30, 1.1648342733503893e-05}, {40, 6, 8.1591804652712357e-09},
	} {
		near(t, "StudentTail", StudentTail(c[0], c[1]), c[2])
	}
	// the quantiles of 1 and 2 degrees of freedom in closed form, others by their tails
	near(t, "StudentHalf", StudentHalf(0.95, 1), math.Tan(0.95*math.Pi/2))
	near(t, "StudentHalf", StudentHalf(0.5, 2), math.Sqrt(2./3))
	for _, c := range [][2]float64{{0.95, 4}, {0.95, 9}, {0.95, 1e6}, {0.99, 3}} {
		near(t, "StudentTail of StudentHalf", StudentTail(StudentHalf(c[0], c[1]), c[1]),
			(1-c[0])/2)
	}
	for _, c := range []struct {
		x       float64
		degrees int
		p       float64
	}{
		{0.1, 1, 0.75182963404584924}, {3.84, 1, 0.050043521248705189},
		{10, 3, 0.018566135463043251}, {0.5, 10, 0.99999338828943896},
		{25, 10, 0.0053455054871340687}, {100, 2, 1.9287498479639183e-22},
		{1200, 1000, 1.2255942330622893e-05}, {7.3, 4, 0.12085874882121235}, {0, 3, 1},
	} {
		near(t, "ChiSquaredTail", ChiSquaredTail(c.x, c.degrees), c.p)
	}
	if !math.IsInf(StudentHalf(0.95, 0), 1) || StudentTail(math.NaN(), 3) == 0 {
		t.Error("no degrees of freedom, or no number")
	}
}

// TestMcNemar: values of SciPy's stats.binom, both sides and one.
func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		first, second int64
		p, worse      float64
	}{
		{0, 0, 1, 1}, {1, 0, 1, 0.5}, {5, 0, 0.0625, 0.03125},
		{10, 3, 0.09228515625, 0.046142578125}, {3, 10, 0.09228515625, 0.98876953125},
		{7, 7, 1, 0.604736328125}, {40, 60, 0.056887933640980881, 0.98239989989114762},
		{400, 500, 0.00095644413691893732, 0.99962402653226179},
		{5100, 4900, 0.046585527704947234, 0.023292763852473617},
	} {
		near(t, "McNemar", McNemar(c.first, c.second), c.p)
		near(t, "McNemarWorse", McNemarWorse(c.first, c.second), c.worse)
	}
	// where the exact form ends: within 1 % of it
	exact, approx := McNemar(5150, 4850), McNemar(5151, 4850)
	if math.Abs(exact/approx-1) > 0.05 {
		t.Errorf("%v of 10000 examples, %v of 10001", exact, approx)
	}
	d, half := Split{1000, 60, 40}.Difference()
	near(t, "Difference", d, 0.02)
	near(t, "half", half, 1.959963984540054*math.Sqrt((0.1-0.0004)/1000))
}

// TestTTest: SciPy's ttest_1samp, and its interval.
func TestTTest(t *testing.T) {
	var s Sample
	for _, v := range []float64{.1, .4, -.2, .3, .25} {
		s.Add(v)
	}
	tt, p, half := s.TTest()
	near(t, "t", tt, 1.6283046848759573)
	near(t, "p", p, 0.17879118170584307)
	near(t, "half", half, 0.28986937903429416)
	// the corrected variance is (1/5 + 1/4) instead of 1/5 times the spread
	rt, _, rhalf := s.Resampled(20, 80)
	near(t, "resampled t", rt, tt*math.Sqrt(0.2/0.45))
	near(t, "resampled half", rhalf, half*math.Sqrt(0.45/0.2))
	for _, c := range []struct {
		values []float64
		p      float64
	}{{nil, 1}, {[]float64{3}, 1}, {[]float64{0, 0}, 1}, {[]float64{2, 2, 2}, 0}} {
		var s Sample
		for _, v := range c.values {
			s.Add(v)
		}
		if _, p, _ := s.TTest(); p != c.p {
			t.Errorf("%v: p %v, want %v", c.values, p, c.p)
		}
	}
}

// TestHolm: a case worked by hand: 0.01*4, 0.013*3 (raised to 0.04), 0.03*2, 0.5*1.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.03, 0.01, 0.5, 0.013})
	for i, want := range []float64{0.06, 0.04, 0.5, 0.04} {
		near(t, "Holm", got[i], want)
	}
	if Holm([]float64{0.4, 0.9})[0] != 0.8 || len(Holm(nil)) != 0 {
		t.Error("two tests, or none")
	}
}
