package calibration

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/learner"
)

// Target is what a threshold of two classes is to reach: a precision, with the most recall that
// goes with it, a recall, with the most precision, or the least cost of errors. The zero value is
// none.
type Target struct {
	Recall bool    // else precision
	Share  float64 // above 0, below 1

	// What an error of either kind costs, in any unit; above 0, and then there is no Share.
	FalsePositive, FalseNegative float64
}

// ErrTarget is returned for a text that is no Target.
var ErrTarget = errors.New("want precision=P or recall=R, a share above 0 and below 1, or " +
	"cost=FP:FN with two costs above 0")

// ParseTarget reads "precision=0.9", "recall=0.9" or "cost=1:5"; "" is none.
func ParseTarget(text string) (t Target, err error) {
	if text == "" {
		return t, nil
	}
	of, value, _ := strings.Cut(text, "=")
	if of == "cost" {
		fp, fn, _ := strings.Cut(value, ":")
		if t.FalsePositive, err = strconv.ParseFloat(fp, 64); err == nil {
			t.FalseNegative, err = strconv.ParseFloat(fn, 64)
		}
		if p := t.Proba(); err != nil || !(t.FalsePositive > 0) || !(p > 0 && p < 1) {
			return Target{}, fmt.Errorf("%q: %w", text, ErrTarget)
		}
		return t, nil
	}
	t.Recall = of == "recall"
	t.Share, err = strconv.ParseFloat(value, 64)
	if err != nil || of != "recall" && of != "precision" || !(t.Share > 0 && t.Share < 1) {
		return Target{}, fmt.Errorf("%q: %w", text, ErrTarget)
	}
	return t, nil
}

// Proba is, of costs, the probability of +1 from which on predicting it is the cheaper; NaN of
// other targets.
func (t Target) Proba() float64 { return t.FalsePositive / (t.FalsePositive + t.FalseNegative) }

// String is what ParseTarget reads.
func (t Target) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	switch {
	case t == Target{}:
		return ""
	case t.FalsePositive > 0:
		return "cost=" + number(t.FalsePositive) + ":" + number(t.FalseNegative)
	case t.Recall:
		return "recall=" + number(t.Share)
	}
	return "precision=" + number(t.Share)
}

// Threshold returns the score from which on to predict +1, by what was counted so far: the least
// one whose precision reaches the target, the largest one whose recall does, or the largest of
// those whose errors cost least, among the borders of the bins, 1/32 of the root of the mean square
// of the scores apart. Late examples weigh more, as in Fit. Low and High are Wilson's interval, at
// 95 %, of the share that was to be reached, of so many examples as weights say; or of the mean
// cost, which is a share of the larger cost at most, and has a narrower one if anything. They don't
// know that the threshold was chosen by the same examples, which makes it look a little better than
// it is. Precision is 0 where nothing is predicted to be +1, since that costs least. ok is false
// without examples of both labels, and where no threshold reaches the target.
func (c *Calibrator) Threshold(t Target) (best learner.Threshold, ok bool) {
	var positive, negative float64
	for i := range c.Bins {
		positive += c.Bins[i].Positive
		negative += c.Bins[i].Negative
	}
	if !(positive > 0) || !(negative > 0) || t == (Target{}) {
		return best, false
	}
	examples := c.Weights / c.Squares // that a weight of 1 stands for
	if t.FalsePositive > 0 {
		best = c.cheapest(t, positive, negative)
		dearest := max(t.FalsePositive, t.FalseNegative)
		low, high := wilson(*best.Cost/dearest, (positive+negative)*examples)
		best.Low, best.High = low*dearest, high*dearest
		return best, best.Check() == nil
	}
	var right, predicted float64
	for i := calibratorBins - 1; i >= 0; i-- {
		b := &c.Bins[i]
		if b.Positive+b.Negative == 0 {
			continue
		}
		right += b.Positive
		predicted += b.Positive + b.Negative
		precision, recall := right/predicted, right/positive
		share, n := precision, predicted
		if t.Recall {
			share, n = recall, positive
		}
		if share < t.Share {
			continue
		}
		best = learner.Threshold{Target: t.String(), Precision: precision, Recall: recall,
			Score: c.border(i)}
		best.Low, best.High = wilson(share, n*examples)
		if ok = true; t.Recall {
			break
		}
	}
	return best, ok && best.Check() == nil
}

// border is the least score of the i-th bin.
func (c *Calibrator) border(i int) float64 {
	return float64(i-calibratorBins/2) / binsPerUnit * math.Sqrt(c.Square)
}

// cheapest returns the threshold whose errors cost least, of examples of such weights, without its
// interval.
func (c *Calibrator) cheapest(t Target, positive, negative float64) learner.Threshold {
	var right, wrong float64 // weights of what is predicted to be +1
	cost := math.Inf(1)
	best := learner.Threshold{Target: t.String(), Cost: &cost}
	for i := calibratorBins; i >= 0; i-- {
		if i < calibratorBins {
			b := &c.Bins[i]
			if b.Positive+b.Negative == 0 {
				continue
			}
			right += b.Positive
			wrong += b.Negative
		}
		mean := (float64(t.FalsePositive*wrong) + float64(t.FalseNegative*(positive-right))) /
			(positive + negative)
		if mean >= cost {
			continue
		}
		cost = mean
		best.Score, best.Recall, best.Precision = c.border(i), right/positive, 0
		if right > 0 {
			best.Precision = right / (right + wrong)
		}
	}
	return best
}

// wilson is the interval of a share of n, at 95 % (E. B. Wilson, 1927).
func wilson(p, n float64) (low, high float64) {
	const z = 1.959963984540054
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, mid-half), min(1, mid+half)
}
