package calibration

import (
	"math"
	"testing"
)

// scored is a score with its label.
type scored struct {
	Score    float64
	Positive bool
}

func TestParseTarget(t *testing.T) {
	for _, text := range []string{"", "precision=0.9", "recall=0.25", "cost=1:5",
		"cost=0.5:1e+06"} {
		if got, err := ParseTarget(text); err != nil || got.String() != text {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"precision", "precision=", "precision=1", "recall=0", "f1=0.5",
		"recall=nan", "0.5", "recall=-1", "precision=1e999", "cost", "cost=1", "cost=1:", "cost=:1",
		"cost=0:1", "cost=1:0", "cost=-1:-2", "cost=nan:1", "cost=1:inf", "cost=1:2:3",
		"cost=1e308:1e308", "cost=1e-320:1e308"} {
		if got, err := ParseTarget(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// someScores are of 4000 examples, whose labels follow from score and number.
func someScores() (all []scored) {
	for i := range 4000 {
		f := float64(i*37%2003)/1000 - 1
		all = append(all, scored{Score: f, Positive: f+float64(i*53%1777)/2000-0.45 > 0.3})
	}
	return all
}

// TestThreshold: scikit-learn 1.2, precision_recall_curve, says 0.4400 for a precision of 0.9 and
// 0.3560 for a recall of 0.8 of the same scores, of which a bin knows less.
func TestThreshold(t *testing.T) {
	all := someScores()
	var c Calibrator
	for range 40 { // so that the first ones' smaller weights count for nothing
		for _, s := range all {
			c.Add(map[bool]float64{true: 1, false: -1}[s.Positive], s.Score, true)
		}
	}
	bin := math.Sqrt(c.Square) / binsPerUnit
	for target, want := range map[Target]float64{{Share: 0.9}: 0.4400,
		{Share: 0.8, Recall: true}: 0.3560} {
		got, ok := c.Threshold(target)
		share := got.Precision
		if target.Recall {
			share = got.Recall
		}
		if !ok || math.Abs(got.Score-want) > bin+1e-4 || share < target.Share ||
			!(got.Low < share && share < got.High) {
			t.Errorf("%v: %+v, want %v", target, got, want)
		}
	}
	if got, ok := c.Threshold(Target{}); ok {
		t.Errorf("without a target: %+v", got)
	}
}

// TestThresholdOfCosts: the least cost, of all borders between scores: none of bins can have less,
// and a bin has some 60 of 4000 examples in it, of which most are right on either side.
func TestThresholdOfCosts(t *testing.T) {
	all := someScores()
	equal := Calibrator{Unit: 1} // all weigh the same
	for _, s := range all {
		equal.Add(map[bool]float64{true: 1, false: -1}[s.Positive], s.Score, true)
	}
	for _, target := range []Target{{FalsePositive: 1, FalseNegative: 5},
		{FalsePositive: 3, FalseNegative: 0.5}, {FalsePositive: 1, FalseNegative: 1e6},
		{FalsePositive: 1e6, FalseNegative: 1}} {
		cost := func(from float64) (sum float64, right, predicted int) {
			for _, s := range all {
				switch up := s.Score >= from; {
				case up && s.Positive:
					right++
				case up:
					sum += target.FalsePositive
				case s.Positive:
					sum += target.FalseNegative
				}
				if s.Score >= from {
					predicted++
				}
			}
			return sum / float64(len(all)), right, predicted
		}
		least, _, _ := cost(math.Inf(1))
		for _, s := range all {
			v, _, _ := cost(s.Score)
			least = min(least, v)
		}
		got, ok := equal.Threshold(target)
		if !ok || got.Cost == nil || got.Target != target.String() {
			t.Fatalf("%v: %+v, %v", target, got, ok)
		}
		at, right, predicted := cost(got.Score)
		if math.Abs(at-*got.Cost) > 1e-9*at || at < least || at > least*1.05 ||
			!(got.Low <= at && at <= got.High) {
			t.Errorf("%v: %+v, cost there %v, the least %v", target, got, at, least)
		}
		if p := float64(right) / max(1, float64(predicted)); math.Abs(p-got.Precision) > 1e-9 {
			t.Errorf("%v: %+v, precision there %v", target, got, p)
		}
	}
}

// TestThresholdTies: of several thresholds whose errors cost least it is the largest.
func TestThresholdTies(t *testing.T) {
	c := Calibrator{Unit: 1}
	for score, y := range []float64{1, -1, 1} { // an error from 2 on, and one from 0 on
		c.Add(y, float64(score), true)
	}
	got, ok := c.Threshold(Target{FalsePositive: 1, FalseNegative: 1})
	if !ok || !(got.Score > 1 && got.Score <= 2) || *got.Cost != 1.0/3 {
		t.Errorf("%+v, %v, want a score above 1", got, ok)
	}
}

// TestNoThreshold: where there is none, and where that nothing is +1 costs least.
func TestNoThreshold(t *testing.T) {
	var none Calibrator
	if got, ok := none.Threshold(Target{Share: 0.5}); ok {
		t.Errorf("of nothing: %+v", got)
	}
	for range 100 {
		none.Add(-1, 1, true)
		none.Add(1, -1, true)
	}
	if got, ok := none.Threshold(Target{Share: 0.9}); ok {
		t.Errorf("out of reach: %+v", got)
	}
	// scores that say the opposite: nothing is +1, which costs least
	if got, ok := none.Threshold(Target{FalsePositive: 2, FalseNegative: 1}); !ok ||
		got.Precision != 0 || got.Recall != 0 || math.Abs(*got.Cost-0.5) > 0.01 ||
		!(got.Score > 1) {
		t.Errorf("nothing is +1: %+v, %v", got, ok)
	}
	// E. B. Wilson's interval, by statsmodels 0.14, proportion_confint(90, 100, method="wilson")
	low, high := wilson(0.9, 100)
	if math.Abs(low-0.825633) > 1e-5 || math.Abs(high-0.944771) > 1e-5 {
		t.Errorf("Wilson: %v to %v", low, high)
	}
}
