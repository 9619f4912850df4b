package kept

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// ScaledSet is w = sum_j coef_j phi(x_j) / Divisor in the space of a kernel, over examples kept
// from a stream, for rules that stretch all of w and add an example: w <- c w + a y phi(x). The
// divisor takes the stretch, so that this costs what one coefficient does. An example whose
// coefficient has become 0 leaves its slot to the next one.
//
// With a limit the example that makes room is the one whose part of w, coef_j phi(x_j), is the
// shortest: without it w changes least. Of equals the oldest goes.
type ScaledSet[T learner.Float] struct {
	SupportSet[T]
	Divisor     float64 // > 0
	Norm2       float64 // |w|^2 as the rule has it; Put takes off what is removed
	grown       float64 // see primal.Growth
	Seen        int64   // examples presented
	UpdateCount int64
	Gone        float64 // what the last Put removed had in w, label included; 0: nothing
	// w_j of a soft margin, whose kernel is K + ridge/w_j delta_ij; nil where all are 1
	Price []float64

	limit  int       // examples kept at most, 0 for any number
	room   int64     // Env.Kept
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

// NewScaled returns w = 0 for a learner called name that keeps up to limit examples, 0 for any
// number, whose features may take room bytes, Env.Kept.
func NewScaled[T learner.Float](name string, k engine.Kernel, limit int, room int64) (ScaledSet[T],
	error) {
	s := ScaledSet[T]{Divisor: 1, limit: limit, room: room}
	var err error
	if s.SupportSet, err = NewSupport[T](name, k); err == nil && limit > 0 && room > 0 {
		s.Reserve(limit, false)
		s.length, s.row = make([]float64, 0, limit), make([]T, 0, limit)
	}
	return s, err
}

// Empty returns a set of the same settings with w = 0.
func (s *ScaledSet[T]) Empty() (ScaledSet[T], error) {
	return NewScaled[T](s.name, s.List.Kernel(), s.limit, s.room)
}

// Self returns K(x, x) of the example in hand.
func (s *ScaledSet[T]) Self() float64 { return float64(s.List.DiagOf(&s.Example, 0)) }

// PlaceFor returns where the example in hand, of label y, is or would be kept. An equal example of
// that label is the same one, unless apart. The examples of the slots in stay are kept. The error
// is that of [HasRoom].
func (s *ScaledSet[T]) PlaceFor(y float64, apart bool, stay ...int) (Place, error) {
	p := Place{hash: s.HashExample(y)}
	if !apart {
		if p.Slot = s.Find(s.List, s.Hash, p.hash); p.Slot >= 0 {
			p.kept = true
			return p, nil
		}
	}
	more := s.limit == 0 || len(s.Alpha) < s.limit
	empty, shortest, least := -1, -1, math.Inf(1)
	for j, a := range s.Alpha {
		if slices.Contains(stay, j) {
			continue
		}
		if a == 0 {
			empty = j
			break
		}
		if more {
			continue
		}
		part := float64(a * s.length[j])
		if shortest < 0 || part < least || part == least && s.Born[j] < s.Born[shortest] {
			shortest, least = j, part
		}
	}
	switch p.Slot = len(s.Alpha); {
	case empty >= 0:
		p.Slot, more = empty, false
	case !more:
		p.Slot = shortest
	}
	return p, s.HasRoom(s.List, s.room, more)
}

// Stretch multiplies w by c >= 0. Of 0, and where the product is beyond all range, nothing is left
// of w.
func (s *ScaledSet[T]) Stretch(c float64) {
	s.Divisor /= c
	if !(s.Divisor <= math.MaxFloat64) || s.Divisor == 0 {
		for j, v := range s.Coef {
			s.Alpha[j], s.Coef[j] = 0, math.Copysign(0, v) // the label stays that of the hash
		}
		s.Divisor, s.lost, s.grown = 1, 0, 0
		return
	}
	if s.Divisor > 0x1p-32 && s.Divisor < 0x1p32 {
		return
	}
	// all but its mantissa goes into the coefficients: a power of two rounds nothing
	m, e := math.Frexp(s.Divisor)
	vecmath.Scal(s.Alpha, math.Ldexp(1, -e))
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
		if p.Slot < len(s.Alpha) && s.Alpha[p.Slot] > 0 {
			s.remove(p.Slot, float64(y*a))
		}
		s.Keep(p.Slot, y, s.Seen, p.hash, false)
		length := math.Sqrt(s.Wide[p.Slot])
		if p.Slot == len(s.length) {
			s.length = append(s.length, length)
		} else {
			s.length[p.Slot] = length
		}
		s.Alpha[p.Slot] = 0
		s.setPrice(p.Slot, price)
	}
	s.AddCoef(p.Slot, y, a, math.Inf(1), false)
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
		s.Price = make([]float64, 0, cap(s.Alpha))
	}
	for len(s.Price) < len(s.Alpha) {
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
	if s.Norm2 > 0 && s.lost <= float64(max(mostLost, len(s.Alpha))) {
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
func (s *ScaledSet[T]) Part(j int) float64 { return s.Alpha[j] / s.Divisor }

// AddTo adds a y phi(x_j) to w, x_j the kept example of slot j and label y.
func (s *ScaledSet[T]) AddTo(j int, y, a float64) {
	s.AddCoef(j, y, float64(a*s.Divisor), math.Inf(1), false)
}

// Take keeps the support vectors of e, with factor times their coefficients, in place of all, and
// returns w.phi of each. Norm2 becomes the square of w's length. Cost: n kernel rows.
func (s *ScaledSet[T]) Take(e *Expansion[T], factor float64) (scores []float64, err error) {
	n, err := s.Empty()
	if err != nil {
		return nil, err
	}
	n.Seen, n.UpdateCount = max(s.Seen, int64(len(e.Coef))), s.UpdateCount
	k := keptExamples[T]{Alpha: make([]float64, len(e.Coef)), y: Signs(e.Coef),
		born: make([]int64, len(e.Coef)), examples: e.SupportVectors}
	for j, c := range e.Coef {
		k.Alpha[j], k.born[j] = float64(factor*math.Abs(c)), int64(j+1)
	}
	n.Restore(k, false)
	n.measure()
	scores = make([]float64, len(e.Coef))
	for j := range scores {
		scores[j] = n.dotKept(j)
		n.Norm2 += float64(n.Coef[j] * scores[j])
	}
	n.Norm2 = max(0, n.Norm2)
	*s = n
	return scores, nil
}

// measure makes the lengths anew.
func (s *ScaledSet[T]) measure() {
	for j := len(s.length); j < len(s.Alpha); j++ {
		s.length = append(s.length, math.Sqrt(float64(s.List.Diag(j))))
	}
}

// Sum is the hypothesis w.phi(x)/divisor + bias.
func (s *ScaledSet[T]) Sum(divisor, bias float64) ScaledSum[T] {
	return ScaledSum[T]{KeptSum: s.Hypothesis(float64(s.Divisor * divisor)), Bias: bias}
}

// Bytes returns the memory of examples, coefficients and scratch.
func (s *ScaledSet[T]) Bytes() int64 {
	return s.SupportSet.Bytes() + primal.BytesOf(s.length) + primal.BytesOf(s.row) +
		primal.BytesOf(s.Price) + int64(unsafe.Sizeof(*s)-unsafe.Sizeof(s.SupportSet))
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
	k := s.SupportSet.Fields(c, s.limit, false, seen)
	grown := primal.GrowthField(c, &s.grown)
	prices := PriceField(c, s.Price, len(k.Alpha))
	if !c.Keeping() {
		return len(k.Alpha), norm2
	}
	n, err := s.Empty()
	c.Want(err == nil, "%w", err)
	c.Then(func() {
		n.Restore(k, false)
		n.measure()
		n.Seen, n.UpdateCount, n.Divisor, n.Norm2, n.lost = seen, updates, divisor, norm2, lost
		n.grown = grown
		n.Price = slices.Clone(prices)
		*s = n
	})
	return len(k.Alpha), norm2
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

// ScaledSum is the hypothesis f(x) = sum_j coef_j K(x_j, x)/divisor + bias: the Predictor and the
// Score of learners that keep a [ScaledSet].
type ScaledSum[T learner.Float] struct {
	KeptSum[T]
	Bias float64
}

// Score is Predictor.Score.
func (p *ScaledSum[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := p.KeptSum.Score(b, dst); err != nil {
		return err
	}
	for i := range b.Len() {
		dst[i] += p.Bias
	}
	return nil
}

// Hypothesis is for [learner.HypothesisOf].
func (p *ScaledSum[T]) Hypothesis() learner.Hypothesis {
	h := p.KeptSum.Hypothesis()
	h.Outputs[0].Bias = p.Bias
	return h
}

// State is Predictor.State: the kept examples and their coefficients, divisor and bias.
func (p *ScaledSum[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *ScaledSum[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.Name, s, p.Fields)
}

// Restored is Restorer.Restored.
func (p *ScaledSum[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	sum, err := p.Empty()
	if err != nil {
		return nil, err
	}
	return primal.Restored(p.Name, &ScaledSum[T]{KeptSum: sum}, s)
}

// Fields walks what State says.
func (p *ScaledSum[T]) Fields(c *learner.Codec) {
	divisor := c.Scalar("divisor", &p.Divisor)
	c.Want(divisor > 0, "scalar %q is %v, want a number > 0", "divisor", divisor)
	c.Scalar("bias", &p.Bias)
	p.KeptSum.Fields(c)
}

// Copied returns a copy with memory of its own.
func (p ScaledSum[T]) Copied() *ScaledSum[T] {
	p.KeptSum = *p.KeptSum.Copied()
	return &p
}

// View returns the same examples; good until they change.
func (p ScaledSum[T]) View() learner.Predictor[T] { return &p }
