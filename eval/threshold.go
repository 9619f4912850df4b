package eval

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/learner"
)

// Target is what a threshold of two classes is to reach: a precision, with the most recall that
// goes with it, or a recall, with the most precision. The zero value is none.
type Target struct {
	Recall bool    // else precision
	Share  float64 // above 0, below 1
}

// ErrTarget is returned for a text that is no Target.
var ErrTarget = errors.New("want precision=P or recall=R, a share above 0 and below 1")

// ParseTarget reads "precision=0.9" or "recall=0.9"; "" is none.
func ParseTarget(text string) (t Target, err error) {
	if text == "" {
		return t, nil
	}
	of, share, _ := strings.Cut(text, "=")
	t.Recall = of == "recall"
	t.Share, err = strconv.ParseFloat(share, 64)
	if err != nil || of != "recall" && of != "precision" || !(t.Share > 0 && t.Share < 1) {
		return Target{}, fmt.Errorf("%q: %w", text, ErrTarget)
	}
	return t, nil
}

// String is what ParseTarget reads.
func (t Target) String() string {
	of := "precision="
	if t.Recall {
		of = "recall="
	}
	if t.Share == 0 {
		return ""
	}
	return of + strconv.FormatFloat(t.Share, 'g', -1, 64)
}

// Threshold returns the score from which on to predict +1, by what was counted so far: the least
// one whose precision reaches the target, or the largest one whose recall does, among the borders
// of the bins, 1/32 of the root of the mean square of the scores apart. Late examples weigh more,
// as in Fit. Low and High are Wilson's interval, at 95 %, of the share that was to be reached, of
// so many examples as weights say; they don't know that the threshold was chosen by the same
// examples, which makes it look a little better than it is. ok is false without examples of both
// labels, and where no threshold reaches the target.
func (c *Calibrator) Threshold(t Target) (best learner.Threshold, ok bool) {
	var positive, negative float64
	for i := range c.bins {
		positive += c.bins[i].positive
		negative += c.bins[i].negative
	}
	if !(positive > 0) || !(negative > 0) || t.Share <= 0 {
		return best, false
	}
	examples := c.weights / c.squares // that a weight of 1 stands for
	var right, predicted float64
	for i := calibratorBins - 1; i >= 0; i-- {
		b := &c.bins[i]
		if b.positive+b.negative == 0 {
			continue
		}
		right += b.positive
		predicted += b.positive + b.negative
		precision, recall := right/predicted, right/positive
		share, n := precision, predicted
		if t.Recall {
			share, n = recall, positive
		}
		if share < t.Share {
			continue
		}
		best = learner.Threshold{Target: t.String(), Precision: precision, Recall: recall,
			Score: float64(i-calibratorBins/2) / binsPerUnit * math.Sqrt(c.square)}
		best.Low, best.High = wilson(share, n*examples)
		if ok = true; t.Recall {
			break
		}
	}
	return best, ok && best.Check() == nil
}

// wilson is the interval of a share of n, at 95 % (E. B. Wilson, 1927).
func wilson(p, n float64) (low, high float64) {
	const z = 1.959963984540054
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, mid-half), min(1, mid+half)
}
