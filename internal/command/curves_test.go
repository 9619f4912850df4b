package command

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/eval"
)

// TestMacroCurves: the area below the mean of the classes' curves is the mean of their areas.
// Between two places, a thousandth apart, a rate that only rises errs by half of what it rises
// there, and a precision by what it varies, all together.
func TestMacroCurves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	e := &evaluator{labels: []string{"a", "b, c", "d", "never"},
		m: eval.NewMetrics(eval.MetricsOptions{AUC: true})}
	for i := range 5000 {
		class := i % 7 % 3
		scores := []float64{0, 0, 0, -3}
		for k := range 3 {
			scores[k] = rng.NormFloat64()
		}
		scores[class] += float64(class) + 0.5
		o := eval.OutcomeOf(class, 0)
		e.m.AddScored(&o, scores)
	}
	curves := e.classCurves(&eval.Curve{})
	if len(curves) != 3 || curves[1].class != "b, c" {
		t.Fatalf("%d curves", len(curves))
	}
	var roc, pr []drawnCurve
	area, precision, varies := 0.0, 0.0, 0.0
	for i := range curves {
		c := &curves[i]
		roc, pr = append(roc, rocCurve(c)), append(pr, prCurve(c))
		area += c.AUC() / 3
		precision += c.AveragePrecision() / 3
		for k := 1; k < len(pr[i].y); k++ {
			varies += math.Abs(pr[i].y[k]-pr[i].y[k-1]) / 3
		}
	}
	if p := meanPrecision(curves); math.Abs(p-precision) > 1e-15 {
		t.Errorf("average precision %v, want %v", p, precision)
	}
	mean, got := meanOf(roc, (*drawnCurve).rocAt), 0.0
	for i := 1; i < len(mean.x); i++ {
		got += (mean.x[i] - mean.x[i-1]) * (mean.y[i] + mean.y[i-1]) / 2
	}
	if math.Abs(got-area) > 0.5e-3 || mean.y[1000] != 1 {
		t.Errorf("the mean's area is %v, want %v", got, area)
	}
	mean, got = meanOf(pr, (*drawnCurve).prAt), 0
	for i := 1; i < len(mean.x); i++ {
		got += mean.y[i] / 1000
	}
	if math.Abs(got-precision) > 1e-3*varies+1e-12 {
		t.Errorf("the mean's average precision is %v, want %v within %v", got, precision,
			1e-3*varies)
	}
}

// TestCurvesWritten: the CSV has all points with their classes, and a picture of many the mean
// alone.
func TestCurvesWritten(t *testing.T) {
	all := []drawnCurve{{class: "a"}, {class: "b, c"}, {class: macroAverage}}
	for i := range all {
		for k := range i + 2 {
			all[i].add(float64(k), 1, 0.5)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(string(csvOf(all, []string{"x", "y",
		"threshold"})))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range rows {
		count[r[0]]++
	}
	if last := rows[len(rows)-1]; count["class"] != 1 || count["a"] != 2 || count["b, c"] != 3 ||
		count[macroAverage] != 4 || last[3] != "" {
		t.Errorf("rows %v, the last one %v", count, last)
	}
	if lines := linesOf(all, ""); len(lines) != 3 || lines[2].Form == "" {
		t.Errorf("%d lines", len(lines))
	}
	var many []drawnCurve
	for range mostCurves + 2 {
		many = append(many, all[2])
	}
	if lines := linesOf(many, ""); len(lines) != 1 || lines[0].Name != macroAverage ||
		lines[0].Form != "" {
		t.Errorf("of %d classes %d lines", mostCurves+1, len(lines))
	}
}
