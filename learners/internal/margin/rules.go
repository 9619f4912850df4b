package margin

import (
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// marginRule is what the batch margin learners differ in, once the weights a are never normalised:
// their length stands in threshold and step instead. Both are in units of a and of the examples as
// given.
type marginRule interface {
	// AfterUpdate is called before the first and after every update. It returns, for |a|^2 = norm2,
	// the threshold of y a.x, at or under which an example is added to a, and the step by which it
	// will be.
	AfterUpdate(norm2 float64) (threshold, step float64)
	// AtLength is AfterUpdate for another |a|^2 after the same update.
	AtLength(norm2 float64) (threshold, step float64)
	// Rescale is called when a was multiplied by f, a power of two.
	Rescale(f float64)
	// StateNumbers are what Rescale and AfterUpdate change, other than by the number of updates:
	// they become part of a cut.
	StateNumbers() []*float64
}

// FixedMargin is the marginRule of the perceptron: threshold b and step eta, whatever a is.
type FixedMargin struct{ Margin, Eta float64 }

// AfterUpdate is marginRule.AfterUpdate.
func (r *FixedMargin) AfterUpdate(float64) (threshold, step float64) { return r.Margin, r.Eta }

// AtLength is marginRule.AtLength.
func (r *FixedMargin) AtLength(float64) (threshold, step float64) { return r.Margin, r.Eta }

// Rescale keeps the margin that of a, and the step that of what is added to it.
func (r *FixedMargin) Rescale(f float64) {
	r.Margin *= f
	r.Eta *= f
}

// StateNumbers are both, since Rescale changes them.
func (r *FixedMargin) StateNumbers() []*float64 { return []*float64{&r.Margin, &r.Eta} }

// LengthRule is the marginRule of ALMA and CRAMMA, whose threshold and step go by the length of a:
//
//	threshold = thresholds_t f, step = Rate f, f = |a|, or the largest |a| so far over divisors_t
//
// behind t - 1 updates.
type LengthRule struct {
	Rate float64
	// Factors sets the thresholds_t and the divisors_t of t and those that follow it; divisors is
	// empty without Divides.
	Factors func(t int64, thresholds, divisors []float64)
	Divides bool
	Longest float64 // the largest |a| so far, with Divides
	Updates int64   // before this run; t from the first AfterUpdate on
	one     [2]float64
}

// AfterUpdate is marginRule.AfterUpdate.
func (r *LengthRule) AfterUpdate(norm2 float64) (threshold, step float64) {
	r.Updates++
	if a := math.Sqrt(norm2); r.Divides && a > r.Longest {
		r.Longest = a
	}
	return r.AtLength(norm2)
}

// AtLength is marginRule.AtLength.
func (r *LengthRule) AtLength(norm2 float64) (threshold, step float64) {
	f := math.Sqrt(norm2)
	if r.Divides {
		r.Factors(r.Updates, r.one[:1], r.one[1:])
		f = r.Longest / r.one[1]
	} else {
		r.Factors(r.Updates, r.one[:1], nil)
	}
	return float64(r.one[0] * f), float64(r.Rate * f)
}

// made is AfterUpdate of n updates that a turn has made.
func (r *LengthRule) made(n int, longest float64) {
	r.Updates += int64(n)
	r.Longest = longest
}

// Rescale makes the largest length that of a.
func (r *LengthRule) Rescale(f float64) { r.Longest *= f }

// StateNumbers are the largest length, where it counts.
func (r *LengthRule) StateNumbers() []*float64 {
	if !r.Divides {
		return nil
	}
	return []*float64{&r.Longest}
}

// mostSteps is how many updates a turn makes, at most: what they need lies in L1 beside the scores,
// and a turn's beginning and end, some 50 ns, are little beside as many.
const mostSteps = 256

// turn is what updates of scores need that are made without a look in between.
type turn struct {
	vecmath.LengthSteps
	thresholds, divisors [mostSteps]float64
	picked               [mostSteps]int32 // by a fixed rule
}

// begin makes ready for up to limit updates by a rule.
func (t *turn) begin(r *LengthRule, limit int64) {
	t.Thresholds = t.thresholds[:min(limit, mostSteps)]
	t.Rate, t.Longest, t.Least, t.Most = r.Rate, r.Longest, cancelled, tooLong
	if r.Divides {
		t.Divisors = t.divisors[:len(t.Thresholds)]
	}
	r.Factors(r.Updates+1, t.Thresholds, t.Divisors)
}
