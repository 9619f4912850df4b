package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/halfspace-ml/halfspace/engine"
)

// Scaling brings features to one scale, by what it has seen of each.
//
// Of columns, which every example has, "std" subtracts the mean and divides by the standard
// deviation (of n values: the sum of squares over n), as sklearn's StandardScaler does; a column
// that never changes becomes 0. Of features that examples may lack, it divides by the root of the
// mean square of the values that are there: those that are there or not, all of value 1, stay as
// they are, and what isn't there stays 0. "maxabs" divides by the largest absolute value.
//
// Means and squares are Welford's, in float64 and in the order of the examples, so that they depend
// on these alone. Cost: 24 bytes a feature.
type Scaling struct {
	// Method is "std", "maxabs" or "none".
	Method string `json:"method"`
	// Columns says that examples have all the features, so that means are subtracted.
	Columns bool `json:"columns,omitempty"`
	// Known has three numbers for each feature, an appended one aside: how many values were seen;
	// of columns their mean, else 0; and of "std" the sum of the squared distances from it, of
	// "maxabs" the largest absolute value.
	Known []float64 `json:"-"`
}

// perFeature is how many numbers Scaling.Known has for each feature.
const perFeature = 3

// ScalingBytes is what a Scaling takes for each feature.
const ScalingBytes = 8 * perFeature

// Clone returns a copy; nil of nil.
func (s *Scaling) Clone() *Scaling {
	if s == nil {
		return nil
	}
	c := *s
	c.Known = slices.Clone(s.Known)
	return &c
}

// Features returns how many features are known.
func (s *Scaling) Features() int { return len(s.Known) / perFeature }

// Check names what is wrong with a Scaling that comes from outside.
func (s *Scaling) Check() error {
	switch {
	case !slices.Contains([]string{"std", "maxabs", "none"}, s.Method):
		return fmt.Errorf("method is %s, want std, maxabs or none", strconv.Quote(s.Method))
	case len(s.Known)%perFeature != 0:
		return fmt.Errorf("%d numbers are known, want %d a feature", len(s.Known), perFeature)
	}
	for i := 0; i < len(s.Known); i += perFeature {
		n, mean, spread := s.Known[i], s.Known[i+1], s.Known[i+2]
		if !(n >= 0 && n <= 1<<53 && n == math.Trunc(n)) || mean-mean != 0 ||
			!(spread >= 0 && spread <= math.MaxFloat64) || !s.Columns && mean != 0 {
			return fmt.Errorf("feature %d has %v values, mean %v and spread %v, which are of no "+
				"data", i/perFeature, n, mean, spread)
		}
	}
	return nil
}

// see takes up a value of the feature whose numbers are known; most says that "maxabs" is asked.
func (s *Scaling) see(known []float64, x float64, most bool) {
	known[0]++
	d, e := x, x
	if s.Columns {
		d = within(x - known[1])
		known[1] += d * (1 / known[0])
		e = within(x - known[1])
	}
	if most {
		known[2] = max(known[2], math.Abs(x))
	} else {
		known[2] = within(known[2] + float64(d*e)) // the conversion keeps it from being fused
	}
}

// within keeps what is too large for a float64 finite.
func within(x float64) float64 {
	if x-x == 0 {
		return x
	}
	return math.Copysign(math.MaxFloat64, x)
}

// scaled returns the value as it comes to the learner. NaN, a value that is missing, is the mean. A
// column that never changed says nothing, and becomes 0; a feature that never was there stays.
func (s *Scaling) scaled(known []float64, x float64, most bool) float64 {
	if x != x {
		x = known[1]
	}
	d := known[2]
	if !most {
		x = within(x - known[1]) // 0 where there are no columns
		d = math.Sqrt(d * (1 / max(known[0], 1)))
	}
	switch {
	case d > 0:
		return within(x / d)
	case s.Columns:
		return 0
	}
	return x
}

// Affine returns what is done to the value x of a feature, from 0 and without the bias, that is
// there: (x - shift) factor, up to rounding.
func (s *Scaling) Affine(feature int) (shift, factor float64) {
	if s.Method == "none" || feature >= s.Features() {
		return 0, 1
	}
	known, most := s.Known[feature*perFeature:][:perFeature], s.Method == "maxabs"
	d := known[2]
	if !most {
		shift, d = known[1], math.Sqrt(d/max(known[0], 1))
	}
	switch {
	case d > 0:
		return shift, 1 / d
	case s.Columns:
		return shift, 0
	}
	return 0, 1
}

// seeStd is see and then scaled of a column's value by "std", where no square overflows, in a
// quarter of their time.
func seeStd(known *[perFeature]float64, x float64) float64 {
	n := known[0] + 1
	over := 1 / n
	d := x - known[1]
	mean := known[1] + float64(d*over)
	e := x - mean
	spread := known[2] + float64(d*e)
	known[0], known[1], known[2] = n, mean, spread
	if spread > 0 {
		return e / math.Sqrt(spread*over)
	}
	return 0
}

// grow makes room for so many features.
func (s *Scaling) grow(n int) {
	if n *= perFeature; n > len(s.Known) {
		old := len(s.Known)
		s.Known = slices.Grow(s.Known, n-old)[:n]
		clear(s.Known[old:])
	}
}

// Finishing is what is left to do to an example of which the values are read: to scale it, and then
// to normalise it. Rows of files, brokers, requests and of the Go API all go through [Finish].
type Finishing struct {
	Bias  int  // 1: the first feature is the bias
	Lead  int  // columns that sparse examples begin with; and that
	Words bool // these are columns, whose other features are as they are
	Unit  bool
	Scale float64  // of normalize max; 0: none, or not known yet
	By    *Scaling // scales by what was known before; nil: does not
	Known *Scaling // learns, and scales by it; nil: does not
	Only  bool     // learns, and leaves the values
}

// Finish finishes one example, whose indices are nil if it is of columns alone, and returns the sum
// of its squares.
func Finish[T engine.Float](f *Finishing, idx []int32, val []T) float64 {
	if len(val) == 0 {
		return 0
	}
	own := val[min(f.Bias, len(val)):]
	columns := idx == nil || f.Words
	if f.Words {
		own = own[:f.Lead]
	}
	var at []int32 // of the features that are there, where examples may lack some
	if !columns {
		at = idx[f.Bias:]
	}
	if f.By != nil {
		apply(f.By, at, own, int32(f.Bias), false, true)
	} else if f.Known != nil {
		apply(f.Known, at, own, int32(f.Bias), true, !f.Only)
	}
	if f.Only {
		return 0
	}
	sum := Squares(val)
	if f.Unit {
		ToUnit(val, sum)
	} else if f.Scale != 0 {
		Divide(val, f.Scale)
	}
	return sum
}

// apply scales the values of an example, without the bias; with see it first takes them up, so that
// they are scaled by what was seen up to and with this example. Their features are at, numbered
// from first, or nil: all, in order, of which NaN stands for a value that is missing. Features that
// aren't known stay. Many goroutines may scale by one Scaling, as long as none sees examples.
func apply[T engine.Float](s *Scaling, at []int32, val []T, first int32, see, scale bool) {
	if n := len(val); see && n > 0 {
		if at != nil {
			n = int(at[n-1]-first) + 1
		}
		s.grow(n)
	}
	features, most, none := s.Features(), s.Method == "maxabs", s.Method == "none"
	std := s.Method == "std" && see && scale && at == nil
	for i, v := range val {
		x := float64(v)
		if std && math.Abs(x) < 1e140 {
			known := (*[perFeature]float64)(s.Known[perFeature*i:])
			if math.Abs(known[1]) < 1e140 && known[2] < 1e300 {
				val[i] = T(seeStd(known, x))
				continue
			}
		}
		j := i
		if at != nil {
			j = int(at[i] - first)
		}
		if j >= features {
			break // features ascend
		}
		known := (*[perFeature]float64)(s.Known[perFeature*j:])
		if see && x == x {
			s.see(known[:], x, most)
		}
		switch {
		case !scale:
		case !none:
			val[i] = rounded[T](s.scaled(known[:], x, most))
		case x != x:
			val[i] = rounded[T](known[1])
		}
	}
}

// rounded is x as a T that is finite.
func rounded[T engine.Float](x float64) T {
	if v := T(x); v-v == 0 {
		return v
	}
	return T(math.Copysign(math.MaxFloat32, x))
}
