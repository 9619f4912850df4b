package eval_test

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/halfspace-ml/halfspace/internal/eval"
)

// sample is that of testdata/metrics.py: 200 examples of two classes and of six.
func sample() (two, weighted, classes []eval.Outcome) {
	s := int64(1)
	draw := func() float64 {
		s = (1103515245*s + 12345) % (1 << 31)
		return float64(s) / (1 << 31)
	}
	for i := range 200 {
		u := [3]float64{draw(), draw(), draw()}
		y := -1.0
		if u[0] < 0.3 {
			y = 1
		}
		o := eval.Outcome2(y, y*0.5+(u[1]-0.5)*4)
		o.Believe(1 / (1 + math.Exp(-o.Score)))
		two = append(two, o)
		o.Weight = 1 + math.Floor(4*u[2])
		weighted = append(weighted, o)

		class := int(math.Floor(5 * u[0] * u[0]))
		predicted := class
		if !(u[1] < 0.6) {
			predicted = int(math.Floor(6 * u[2]))
		}
		o = eval.OutcomeOf(class, predicted)
		q, sum := make([]float64, 6), 0.0
		for k := range q {
			q[k] = math.Exp(3 * math.Sin(float64(7*i+3*k)))
			if k == class {
				q[k] *= math.Exp(2)
			}
			sum += q[k]
		}
		for k := range q {
			q[k] /= sum
		}
		o.BelieveEach(q)
		classes = append(classes, o)
	}
	return two, weighted, classes
}

func tallied(o eval.MetricsOptions, all []eval.Outcome) *eval.Metrics {
	m := eval.NewMetrics(o)
	for i := range all {
		m.Add(&all[i])
	}
	return m
}

func close(t *testing.T, what string, got, want float64) {
	t.Helper()
	// sums of 200 terms, each rounded some times
	if !(math.Abs(got-want) <= 1000*0x1p-53*max(1, math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestMetricsOfSklearn: the values of scikit-learn 1.2.1, which testdata/metrics.py prints.
func TestMetricsOfSklearn(t *testing.T) {
	two, weighted, classes := sample()
	for _, c := range []struct {
		all  []eval.Outcome
		want [7]float64
	}{
		{two, [7]float64{0.375, 0.38690476190476186, 0.4827586206896552, 0.7019047619047619,
			0.5706420192740902, 0.6227501834508715, 0.22160343836397764}},
		{weighted, [7]float64{0.404296875, 0.4030812324929972, 0.4732824427480916,
			0.6869793078521732, 0.5870145534865479, 0.6475744749360974, 0.23227833367868694}},
	} {
		m := tallied(eval.MetricsOptions{AUC: true}, c.all)
		var scored []eval.Scored
		for _, o := range c.all {
			scored = append(scored, eval.Scored{Score: o.Score, Weight: o.Weight,
				Positive: o.Class == 1})
		}
		curve := eval.CurveOf(scored)
		for i, got := range []float64{m.Error(), m.BalancedError(), m.F1(), curve.AUC(),
			curve.AveragePrecision(), m.LogLoss(), m.Brier()} {
			close(t, []string{"error", "balanced error", "F1", "AUC", "average precision",
				"log-loss", "Brier"}[i], got, c.want[i])
		}
		auc, bound := m.AUC()
		if !(math.Abs(auc-c.want[3]) <= bound && bound < 0.01) {
			t.Errorf("binned AUC %v ± %v, want %v", auc, bound, c.want[3])
		}
		binned := m.Curve()
		close(t, "AUC of the bins' curve", binned.AUC(), auc)
		if before := curve.AUC(); len(curve.Points) > 50 {
			curve.Thin(1 << 20)
			close(t, "AUC of the thinned curve", curve.AUC(), before)
			curve.Thin(20)
			if n := len(curve.Points); n > 30 || math.Abs(curve.AUC()-before) > 0.02 {
				t.Errorf("thinned to %d points: AUC %v, was %v", n, curve.AUC(), before)
			}
		}
	}

	m := tallied(eval.MetricsOptions{}, classes)
	for i, got := range []float64{m.Error(), m.BalancedError(), m.F1(), m.LogLoss(), m.Brier()} {
		close(t, []string{"error", "balanced error", "F1", "log-loss", "Brier"}[i], got,
			[]float64{0.34, 0.3688187648336111, 0.531915905631659, 1.8475120782819225,
				0.6571101942174775}[i])
	}
	want := [][]float64{{65, 4, 4, 7, 6, 6}, {2, 26, 5, 2, 3, 3}, {1, 2, 12, 1, 3, 2},
		{0, 0, 1, 18, 2, 4}, {0, 0, 3, 1, 11, 6}, {0, 0, 0, 0, 0, 0}}
	if got := m.Confusion(); !reflect.DeepEqual(got, want) {
		t.Errorf("confusion %v, want %v", got, want)
	}
	c := m.Class(3)
	for i, got := range []float64{c.Came, c.Predicted, c.Right, c.Precision, c.Recall, c.F1} {
		close(t, "class 3", got, []float64{25, 29, 18, 18.0 / 29, 18.0 / 25, 36.0 / 54}[i])
	}
	if auc, bound := m.AUC(); auc == auc || bound == bound {
		t.Errorf("AUC of six classes: %v, %v", auc, bound)
	}
}

// TestNoMetrics: without outcomes nothing is divided by 0.
func TestNoMetrics(t *testing.T) {
	m := eval.NewMetrics(eval.MetricsOptions{AUC: true})
	for i, v := range []float64{m.Error(), m.BalancedError(), m.F1(), m.LogLoss(), m.Brier(),
		m.CalibrationError()} {
		if v != 0 {
			t.Errorf("value %d is %v", i, v)
		}
	}
	if auc, _ := m.AUC(); auc == auc || m.Proba() || m.Classes() != 0 || m.Confusion() != nil ||
		m.Calibration() != nil || m.Class(3) != (eval.ClassMetrics{}) {
		t.Error("there is something of nothing")
	}
}

// drawn is outcomes of any kind, of k classes.
func drawn(t *rapid.T, k int) (all []eval.Outcome) {
	n := rapid.IntRange(0, 60).Draw(t, "n")
	score := rapid.OneOf(rapid.Float64Range(-4, 4), rapid.SampledFrom([]float64{0, 1, -1,
		math.NaN(), math.Inf(1), math.Inf(-1), 1e-300, -1e300, math.Copysign(0, -1)}))
	weight := float64(1)
	for range n {
		class := rapid.IntRange(0, k-1).Draw(t, "class")
		o := eval.OutcomeOf(class, rapid.IntRange(-1, k-1).Draw(t, "predicted"))
		if k == 2 {
			o = eval.Outcome2(float64(2*class-1), score.Draw(t, "score"))
		}
		o.Weight = weight
		all = append(all, o)
	}
	return all
}

// TestMetricsReset: Metrics are as new after Reset, and a window is its outcomes.
func TestMetricsReset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]int{2, 3, 7, 99, 100, 101, 130}).Draw(t, "classes")
		all := drawn(t, k)
		cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
		o := eval.MetricsOptions{AUC: k == 2}
		want := tallied(o, all)
		a := tallied(o, all[:cut])
		a.Reset()
		for i := range all {
			a.Add(&all[i])
		}
		same(t, "after Reset", a, want)

		size := rapid.IntRange(1, 70).Draw(t, "size")
		w := eval.NewWindow(size, o)
		for i := range all {
			w.Add(&all[i])
			last := tallied(o, all[max(0, i+1-size):i+1])
			same(t, "window", w.Metrics(), last)
			if w.Error() != last.Error() || w.Len() != min(i+1, size) {
				t.Fatalf("window of %d after %d: error %v, want %v", size, i+1, w.Error(),
					last.Error())
			}
		}
	})
}

// same compares what two Metrics say.
func same(t *rapid.T, what string, a, b *eval.Metrics) {
	t.Helper()
	of := func(m *eval.Metrics) (s []float64) {
		auc, bound := m.AUC()
		for _, v := range []float64{auc, bound} {
			if v != v {
				v = -1
			}
			s = append(s, v)
		}
		for _, row := range m.Confusion() {
			s = append(s, row...)
		}
		for k := range m.Classes() {
			c := m.Class(k)
			s = append(s, c.Came, c.Predicted, c.Right)
		}
		return append(s, float64(m.Examples()), m.Error(), m.BalancedError(), m.F1(), m.LogLoss(),
			m.Brier(), m.CalibrationError())
	}
	if got, want := of(a), of(b); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// TestAUCBound: the true area, pair by pair, is within the bound of that of the bins.
func TestAUCBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawn(t, 2)
		m := tallied(eval.MetricsOptions{AUC: true}, all)
		var won, pairs float64
		var scored []eval.Scored
		for _, p := range all {
			scored = append(scored, eval.Scored{Score: p.Score, Weight: 1, Positive: p.Class == 1})
			for _, n := range all {
				if p.Class == 1 && n.Class == 0 {
					pairs++
					switch {
					case p.Score > n.Score, n.Score != n.Score && p.Score == p.Score:
						won++
					case p.Score == n.Score, n.Score != n.Score && p.Score != p.Score:
						won += 0.5
					}
				}
			}
		}
		auc, bound := m.AUC()
		curve := eval.CurveOf(scored)
		if pairs == 0 {
			if auc == auc || curve.AUC() == curve.AUC() {
				t.Fatalf("no pair: %v, %v", auc, curve.AUC())
			}
			return
		}
		if d := math.Abs(auc - won/pairs); !(d <= bound+1e-12) {
			t.Fatalf("binned %v ± %v, true %v", auc, bound, won/pairs)
		}
		if d := math.Abs(curve.AUC() - won/pairs); !(d <= 1e-12) {
			t.Fatalf("of the curve %v, true %v", curve.AUC(), won/pairs)
		}
	})
}

// TestCurveWithoutWeight: scores that weigh nothing are no points, not even the largest.
func TestCurveWithoutWeight(t *testing.T) {
	c := eval.CurveOf([]eval.Scored{{Score: 5, Positive: true}, {Score: 1, Weight: 1},
		{Score: 3, Weight: 1, Positive: true}, {Score: 2}})
	if len(c.Points) != 2 || c.AUC() != 1 || c.AveragePrecision() != 1 {
		t.Errorf("AUC %v, average precision %v, points %v", c.AUC(), c.AveragePrecision(), c.Points)
	}
}

// TestFading: weights that fade, against sums that are multiplied each time, beyond where they are
// made small again.
func TestFading(t *testing.T) {
	two, _, _ := sample()
	for _, f := range []float64{0.5, 0.9, 0.999} {
		m := eval.NewMetrics(eval.MetricsOptions{Fading: f, AUC: true})
		var sum, wrong, loss float64
		for i := range 5000 {
			o := two[i*i%len(two)]
			m.Add(&o)
			sum, wrong, loss = f*sum+1, f*wrong, f*loss-math.Log(o.Own)
			if o.Predicted != o.Class {
				wrong++
			}
			if i%97 == 0 {
				close(t, "error", m.Error(), wrong/sum)
				close(t, "log-loss", m.LogLoss(), loss/sum)
			}
		}
		if auc, bound := m.AUC(); !(auc > 0 && auc < 1 && bound >= 0) {
			t.Errorf("AUC %v ± %v", auc, bound)
		}
		close(t, "came", m.Class(0).Came+m.Class(1).Came, (1-math.Pow(f, 5000))/(1-f))
	}
}

// TestMetricsAllocs: an outcome takes no memory.
func TestMetricsAllocs(t *testing.T) {
	two, _, classes := sample()
	for _, all := range [][]eval.Outcome{two, classes} {
		m := tallied(eval.MetricsOptions{AUC: true, Fading: 0.99}, all)
		w := eval.NewWindow(50, eval.MetricsOptions{AUC: true})
		w.Add(&all[0])
		w.Metrics()
		for i := range all {
			w.Add(&all[i])
		}
		w.Metrics()
		if n := testing.AllocsPerRun(10, func() {
			for i := range all {
				m.Add(&all[i])
				w.Add(&all[i])
			}
			m.AUC()
			m.BalancedError()
			w.Metrics()
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
