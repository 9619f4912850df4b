package kept

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// ScaledSet is w = sum_j coef_j phi(x_j) / Divisor in the space of a kernel, over examples kept
// from a stream, for rules that stretch all of w and add an example: w <- c w + a y phi(x). The
// divisor takes the stretch, so that this costs what one coefficient does. An example whose
// coefficient has become 0 leaves its slot to the next one.
//
// With a limit the example that makes room is the one whose part of w, coef_j phi(x_j), is the
// shortest: without it w changes least. Of equals the oldest goes.
type ScaledSet[T learner.Float] struct {
	Set[T]
	Divisor     float64 // > 0
	Norm2       float64 // |w|^2 as the rule has it; Put takes off what is removed
	grown       float64 // see primal.Growth
	Seen        int64   // examples presented
	UpdateCount int64
	Gone        float64 // what the last Put removed had in w, label included; 0: nothing
	// w_j of a soft margin, whose kernel is K + ridge/w_j delta_ij; nil where all are 1
	Price []float64

	length []float64 // |phi(x_j)|
	row    []T       // scratch: kernel values of a kept example
	// about how large the roundings of removals have become in Norm2, in units of its last place
	lost float64
}

// mostLost is where Norm2 is made anew from the kept examples, or at as many as are kept: that
// takes their kernel rows, so that removals pay one each on average.
const mostLost = 1024

// Place is where an example is to be kept.
type Place struct {
	Slot int
	hash uint64
	kept bool // it is there already
}

// NewScaled returns w = 0. The error is that of a kernel that is not valid.
func NewScaled[T learner.Float](o Settings) (ScaledSet[T], error) {
	set, err := NewSet[T](o)
	s := ScaledSet[T]{Set: set, Divisor: 1}
	if o.Limit > 0 && o.Room > 0 {
		s.length, s.row = make([]float64, 0, o.Limit), make([]T, 0, o.Limit)
	}
	return s, err
}

// Clear makes w = 0 and forgets all that was counted.
func (s *ScaledSet[T]) Clear() {
	fresh, err := NewScaled[T](s.Settings)
	if err != nil {
		panic(err) // the kernel is valid: it was before
	}
	*s = fresh
}

// Self returns K(x, x) of the example in hand.
func (s *ScaledSet[T]) Self() float64 { return float64(s.List.DiagOf(&s.Example, 0)) }

// PlaceFor returns where the example in hand, of label y, is or would be kept. An equal example of
// that label is the same one, unless apart. The examples of the slots in stay are kept. The error
// is that of [Set.CheckSlot].
func (s *ScaledSet[T]) PlaceFor(y float64, apart bool, stay ...int) (Place, error) {
	p := Place{hash: s.HashExample(y)}
	if !apart {
		if p.Slot = s.Find(p.hash); p.Slot >= 0 {
			p.kept = true
			return p, nil
		}
	}
	more := !s.Full()
	empty, shortest, least := -1, -1, math.Inf(1)
	for j, c := range s.Coef {
		if slices.Contains(stay, j) {
			continue
		}
		if c == 0 {
			empty = j
			break
		}
		if more {
			continue
		}
		part := float64(math.Abs(c) * s.length[j])
		if shortest < 0 || part < least || part == least && s.Born[j] < s.Born[shortest] {
			shortest, least = j, part
		}
	}
	switch p.Slot = len(s.Coef); {
	case empty >= 0:
		p.Slot, more = empty, false
	case !more:
		p.Slot = shortest
	}
	return p, s.CheckSlot(more)
}

// Stretch multiplies w by c >= 0. Of 0, and where the product is beyond all range, nothing is left
// of w.
func (s *ScaledSet[T]) Stretch(c float64) {
	s.Divisor /= c
	if !(s.Divisor <= math.MaxFloat64) || s.Divisor == 0 {
		for j, v := range s.Coef {
			s.Coef[j] = math.Copysign(0, v) // the label stays that of the hash
		}
		s.Divisor, s.lost, s.grown = 1, 0, 0
		return
	}
	if s.Divisor > 0x1p-32 && s.Divisor < 0x1p32 {
		return
	}
	// all but its mantissa goes into the coefficients: a power of two rounds nothing
	m, e := math.Frexp(s.Divisor)
	vecmath.Scal(s.Coef, math.Ldexp(1, -e))
	s.Divisor = m
}

// mostGrown is where Norm2 is made anew because its error has grown. All its terms are those of
// float64, and the kernel values of examples are rounded once: some thousand updates and this leave
// 2^-26 of it. It takes the kernel rows of all examples, so it is as rare as that allows.
const mostGrown = 1 << 16

// Carry sets Norm2 after an update, of which kept times that is of the weights before. Call it
// before Put, and Measure after that.
func (s *ScaledSet[T]) Carry(next, kept float64) {
	s.Norm2, s.grown = next, primal.Growth(s.grown, kept)
	s.lost = float64(s.lost * kept)
}

// Measure makes Norm2 anew where its error has grown, and reports whether it did. ridge is as in
// Put.
func (s *ScaledSet[T]) Measure(ridge float64) bool {
	if s.grown <= mostGrown {
		return false
	}
	s.sumAnew(ridge)
	return true
}

// Put adds a y phi(x), x the example in hand, whose place is p. What is in its place goes, and
// Norm2, which is that of w with both, becomes that of w without it. ridge/Price is what is added
// to K(x_j, x_j) in it, of a soft margin, where price is that of x, or ridge is 0.
func (s *ScaledSet[T]) Put(p Place, y, a, ridge, price float64) {
	a *= s.Divisor
	s.Gone = 0
	gone := float64(ridge * s.Inverse(p.Slot))
	if !p.kept {
		if p.Slot < len(s.Coef) && s.Coef[p.Slot] != 0 {
			s.remove(p.Slot, float64(y*a))
		}
		s.Keep(p.Slot, y, s.Seen, p.hash)
		length := math.Sqrt(s.Wide[p.Slot])
		if p.Slot == len(s.length) {
			s.length = append(s.length, length)
		} else {
			s.length[p.Slot] = length
		}
		s.setPrice(p.Slot, price)
	}
	s.AddCoef(p.Slot, y, a, math.Inf(1))
	if s.Gone != 0 {
		s.Norm2 -= float64(gone * float64(s.Gone*s.Gone))
		s.renew(ridge)
	}
}

// Inverse returns 1/Price of slot j, by which the ridge is multiplied there.
func (s *ScaledSet[T]) Inverse(j int) float64 {
	if j >= len(s.Price) {
		return 1
	}
	return 1 / s.Price[j]
}

// setPrice sets Price of slot j, up to which all are taken.
func (s *ScaledSet[T]) setPrice(j int, price float64) {
	if s.Price == nil && price == 1 {
		return
	}
	if s.Price == nil {
		s.Price = make([]float64, 0, cap(s.Coef))
	}
	for len(s.Price) < len(s.Coef) {
		s.Price = append(s.Price, 1)
	}
	s.Price[j] = price
}

// ScoreKept returns w.phi(x_j) of kept example j. Cost: a kernel row.
func (s *ScaledSet[T]) ScoreKept(j int) float64 { return s.dotKept(j) / s.Divisor }

// dotKept is ScoreKept without the divisor; the kernel values are in row then.
func (s *ScaledSet[T]) dotKept(j int) float64 {
	n := s.List.Len()
	if cap(s.row) < n {
		s.row = make([]T, n, 2*n)
	}
	s.row = s.row[:n]
	s.List.Row(s.row, j, 0, n)
	return vecmath.DotMixed(s.Coef, s.row)
}

// remove takes example r out of w, to which a times the example in hand is about to be added.
func (s *ScaledSet[T]) remove(r int, a float64) {
	f := (s.dotKept(r) + float64(a*s.Wide[r])) / s.Divisor
	before := s.Norm2
	s.Gone = s.Coef[r] / s.Divisor
	// |w - c phi|^2 = |w|^2 - c (2 w.phi - c |phi|^2)
	s.Norm2 -= float64(s.Gone * (2*f - float64(s.Gone*float64(s.row[r]))))
	// each kernel value is rounded once, and what went takes digits of the rest along
	s.lost = (s.lost + 1) * max(1, before/s.Norm2)
}

// renew makes Norm2 anew where removals have left too few digits of it, after the last Put. ridge
// is what the squares of the coefficients add to it, over their Price.
func (s *ScaledSet[T]) renew(ridge float64) {
	if s.Norm2 > 0 && s.lost <= float64(max(mostLost, len(s.Coef))) {
		return
	}
	s.sumAnew(ridge)
}

// sumAnew makes Norm2 anew from the kept examples.
func (s *ScaledSet[T]) sumAnew(ridge float64) {
	s.Norm2, s.lost, s.grown = 0, 0, 0
	for j, c := range s.Coef {
		if c != 0 {
			own := float64(ridge * s.Inverse(j))
			s.Norm2 += float64(c * (s.dotKept(j) + float64(own*c)))
		}
	}
	s.Norm2 = max(0, s.Norm2/s.Divisor/s.Divisor)
}

// Part returns |coef_j| as it is in w.
func (s *ScaledSet[T]) Part(j int) float64 { return math.Abs(s.Coef[j]) / s.Divisor }

// AddTo adds a y phi(x_j) to w, x_j the kept example of slot j and label y.
func (s *ScaledSet[T]) AddTo(j int, y, a float64) {
	s.AddCoef(j, y, float64(a*s.Divisor), math.Inf(1))
}

// Resume keeps the examples of e, a hypothesis of a whole data set, with factor times their
// coefficients, in place of all, and returns w.phi of each. Norm2 becomes the square of w's length.
// Cost: n kernel rows.
func (s *ScaledSet[T]) Resume(e *Sum[T], factor float64) (scores []float64) {
	seen, updates := max(s.Seen, int64(len(e.Coef))), s.UpdateCount
	s.Clear()
	s.Seen, s.UpdateCount = seen, updates
	for j, c := range e.Coef {
		y := math.Copysign(1, c)
		s.TakeListed(e.List, j)
		s.Row, s.Wide = make([]T, j), make([]float64, j)
		s.Keep(j, y, int64(j+1), s.HashExample(y))
		s.Coef[j] = float64(y * float64(factor*math.Abs(c)))
	}
	s.measure()
	scores = make([]float64, len(e.Coef))
	for j := range scores {
		scores[j] = s.dotKept(j)
		s.Norm2 += float64(s.Coef[j] * scores[j])
	}
	s.Norm2 = max(0, s.Norm2)
	return scores
}

// measure makes the lengths anew.
func (s *ScaledSet[T]) measure() {
	for j := len(s.length); j < len(s.Coef); j++ {
		s.length = append(s.length, math.Sqrt(float64(s.List.Diag(j))))
	}
}

// Sum is the hypothesis w.phi(x)/divisor + bias, a view of the set.
func (s *ScaledSet[T]) Sum(divisor, bias float64) Sum[T] {
	p := s.Set.Sum(float64(s.Divisor * divisor))
	p.Form, p.Bias = Scaled, bias
	return p
}

// Bytes returns the memory of examples, coefficients and scratch.
func (s *ScaledSet[T]) Bytes() int64 {
	return s.Set.Bytes() + primal.BytesOf(s.length) + primal.BytesOf(s.row) +
		primal.BytesOf(s.Price) + int64(unsafe.Sizeof(*s)-unsafe.Sizeof(s.Set))
}

// Fields walks all that learning has changed, and returns the number of slots and Norm2.
func (s *ScaledSet[T]) Fields(c *learner.Codec) (slots int, norm2 float64) {
	seen, updates := learner.Count(c, "seen", &s.Seen), learner.Count(c, "updates", &s.UpdateCount)
	divisor := c.Scalar("divisor", &s.Divisor)
	norm2 = c.Scalar("norm2", &s.Norm2)
	c.Want(divisor > 0, "scalar %q is %v, want a number > 0", "divisor", divisor)
	c.Want(norm2 >= 0, "scalar %q is %v, want a number >= 0", "norm2", norm2)
	lost := c.Scalar("lost", &s.lost)
	c.Want(lost >= 0, "scalar %q is %v, want a number >= 0", "lost", lost)
	slots = s.Set.Fields(c, seen)
	grown := primal.GrowthField(c, &s.grown)
	prices := PriceField(c, s.Price, slots)
	c.Then(func() {
		set := s.Set // restored by now
		s.Clear()
		s.Set = set
		s.measure()
		s.Seen, s.UpdateCount, s.Divisor, s.Norm2, s.lost = seen, updates, divisor, norm2, lost
		s.grown = grown
		s.Price = slices.Clone(prices)
	})
	return slots, norm2
}

// PriceField walks the weights of n kept examples, which a State of weights of 1 lacks, and returns
// what is read, the State's.
func PriceField(c *learner.Codec, prices []float64, n int) []float64 {
	if !c.Optional("price", prices != nil) {
		return nil
	}
	prices = learner.View(c, "price", prices)
	bad := func(w float64) bool { return !(w > 0 && w <= math.MaxFloat64) }
	if c.Reading() {
		c.Want(len(prices) == n && !slices.ContainsFunc(prices, bad),
			"tensor %q: %d weights of %d examples, or one that is not above 0", "price",
			len(prices), n)
	}
	return prices
}

// AddScaled adds what a [ScaledSet] of up to n examples takes.
func AddScaled(f *learner.Footprint, x learner.Extent, n int64) {
	AddKept(f, x, "kept examples", n, x.Kept, false)
	if rows := TableLength(n, x.Kept, x); rows < learner.Any {
		list := rows
		if x.Kept == 0 {
			list = primal.ListRoom(rows)
		}
		f.Add("lengths, and a row of one that goes", rows, learner.Times(list, 8+x.Elem))
	}
	AddCurrent(f, x, 1)
}
