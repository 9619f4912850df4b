package kept

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// SupportSet is a hypothesis f(x) = sum_j y_j alpha_j K(x_j, x) over examples that were kept, which
// others may replace. Example j of all slices is that of slot j; what comes in the place of another
// takes its slot.
type SupportSet[T learner.Float] struct {
	Basis[T]
	name         string    // of the learner, for errors
	Signed       bool      // coefficients have either sign, whatever the example's label
	Alpha        []float64 // >= 0; 0 of an empty slot
	Coef         []float64 // y_j alpha_j
	Born         []int64   // number of the example presented, from 1: ties go to the oldest
	Hash         []uint64  // of example and label, by which equal ones are found
	OnKept       ErrorSet  // the kept examples themselves; empty where they are not counted on
	CurrentScore float64   // f of the example in hand, followed while others are removed

	idx2 []int32 // scratch: a kept example that one in hand is compared with
	val2 []T
}

// Basis is a list of kept examples, and the example that is being learned with its kernel values:
// each of these is computed once, for the score, and used again if the example is kept.
type Basis[T learner.Float] struct {
	List *engine.Points[T]
	CurrentExample[T]
	// of Scores that may run at the same time: their examples in hand are not the learner's
	Spares *scratch.Stack[CurrentExample[T]]
}

// CurrentExample is an example without its zeros, and its kernel values with those of a list.
type CurrentExample[T learner.Float] struct {
	Example engine.Block[T] // a block of this example, over Idx and Val or another's slices
	ends    [2]int          // its Ptr
	Row     []T             // K(x_j, x), one a listed example
	Wide    []float64       // the same, for products with float64 coefficients
	CK      []float64       // of sogp: C k, one a basis point
	Idx     []int32         // scratch: the non-zeros, features ascending
	Val     []T
}

// NewBasis returns an empty list for a learner called name. The error is that of a kernel that is
// not valid.
func NewBasis[T learner.Float](name string, k engine.Kernel) (Basis[T], error) {
	list, err := engine.NewPoints[T](k)
	if err != nil {
		return Basis[T]{}, fmt.Errorf("%s: %w", name, err)
	}
	return Basis[T]{List: list, Spares: new(scratch.Stack[CurrentExample[T]])}, nil
}

// take takes example i of b in hand and computes its kernel values.
func (s *Basis[T]) take(b *engine.Block[T], i int) { s.CurrentExample.Take(s.List, b, i) }

// Take takes example i of b in hand and computes its kernel values with the list.
func (s *CurrentExample[T]) Take(list *engine.Points[T], b *engine.Block[T], i int) {
	s.Idx, s.Val = s.Idx[:0], s.Val[:0]
	idx, val := b.Example(i)
	for n, v := range val {
		if v != 0 {
			s.Idx, s.Val = append(s.Idx, int32(engine.FeatureOf(idx, n))), append(s.Val, v)
		}
	}
	s.SetExample(s.Idx, s.Val)
	s.Row, s.Wide = s.Values(list, s.Row, s.Wide)
}

// Values returns the kernel values of the example in hand with those of the list, also as float64,
// in row and wide, or in longer ones.
func (s *CurrentExample[T]) Values(list *engine.Points[T], row []T, wide []float64) ([]T,
	[]float64) {
	n := list.Len()
	if cap(row) < n { // twice as many: the list grows by one at a time
		row, wide = make([]T, n, 2*n), make([]float64, n, 2*n)
	}
	row, wide = row[:n], wide[:n]
	list.RowOf(row, &s.Example, 0, 0, n)
	for j, v := range row {
		wide[j] = float64(v)
	}
	return row, wide
}

// SetExample takes an example in hand, of features in ascending order and no zeros, and keeps the
// slices. It computes no kernel values.
func (s *CurrentExample[T]) SetExample(idx []int32, val []T) {
	s.ends[1] = len(idx)
	s.Example.Ptr, s.Example.Idx, s.Example.Val, s.Example.Dim = s.ends[:], idx, val, 0
	if n := len(idx); n > 0 {
		s.Example.Dim = int(idx[n-1]) + 1
	}
}

// bytes returns the memory of the slices.
func (s *CurrentExample[T]) bytes() int64 {
	return primal.BytesOf(s.Row) + primal.BytesOf(s.Wide) + primal.BytesOf(s.CK) +
		4*int64(cap(s.Idx)) + primal.BytesOf(s.Val)
}

// Bytes returns the memory of list, example in hand and scratch.
func (s *Basis[T]) Bytes() int64 {
	return s.List.Bytes() + s.CurrentExample.bytes() + s.Spares.Bytes((*CurrentExample[T]).bytes)
}

// Support returns the number of examples kept.
func (s *Basis[T]) Support() int { return s.List.Len() }

// ErrorSet is a set of examples on which the errors of f, and of f without one of the kept
// examples, are counted.
//
// No kernel value is computed twice: rows hold those of all kept examples, and the margins follow
// each step of f. The label is in both, so that the error without kept example j is a comparison of
// Margins[k] - alpha_j y_j Rows[j][k] with 0, over two consecutive slices.
//
// An example that was seen several times is one entry with a count: the paper's sum over examples
// seen counts each occurrence.
type ErrorSet struct {
	Y       []float64   // -1 or +1, one an example of the set
	Margins []float64   // y_k f(x_k)
	Times   []int64     // how often example k was seen, 1 or more
	Rows    [][]float64 // [kept example j][example k of the set] = y_k K(x_j, x_k)
	slab    []float64   // room for rows to come, cut off from the front
}

// SetPoint makes (x, y) example k, the next one or in the place of another; f is f(x), values[j] =
// K(x_j, x) of kept example j.
func (e *ErrorSet) SetPoint(k int, y, f float64, values []float64) {
	m := float64(y * f)
	if k == len(e.Y) {
		e.Y, e.Margins, e.Times = append(e.Y, y), append(e.Margins, m), append(e.Times, 1)
		for j := range e.Rows {
			e.Rows[j] = append(e.Rows[j], float64(y*values[j]))
		}
		return
	}
	e.Y[k], e.Margins[k], e.Times[k] = y, m, 1
	for j := range e.Rows {
		e.Rows[j][k] = float64(y * values[j])
	}
}

// SetRow makes x the kept example j, the next one or in the place of another. values[k] = K(x,
// x_k).
func (e *ErrorSet) SetRow(j int, values []float64) {
	if j == len(e.Rows) {
		n, room := len(e.Y), max(len(e.Y), cap(e.Margins))
		if len(e.slab) < room {
			e.slab = make([]float64, room)
		}
		e.Rows, e.slab = append(e.Rows, e.slab[:n:room]), e.slab[room:]
	}
	for k, v := range values[:len(e.Y)] {
		e.Rows[j][k] = float64(e.Y[k] * v)
	}
}

// Follow keeps the margins those of f, after f += c K(x_j, .). The roundings of all steps add up in
// them; they are part of the State, so that a run that goes on has the same.
func (e *ErrorSet) Follow(j int, c float64) { vecmath.Axpy(e.Margins, c, e.Rows[j]) }

// See counts one more occurrence of example k.
func (e *ErrorSet) See(k int) {
	if e.Times[k] < learner.MaxCount {
		e.Times[k]++
	}
}

// errors counts the occurrences of examples of the set with y f <= 0 for f - c K(x_j, .): a score
// of 0 is an error. repeated lists the examples that were seen more than once.
func (e *ErrorSet) errors(j int, c float64, repeated []int32) int {
	n := vecmath.CountStepLE(e.Margins, -c, e.Rows[j])
	for _, k := range repeated {
		if math.FMA(-c, e.Rows[j][k], e.Margins[k]) <= 0 {
			n += int(e.Times[k] - 1)
		}
	}
	return n
}

// Bytes returns the memory of labels, margins, counts and rows, without room for rows to come.
func (e *ErrorSet) Bytes() int64 {
	n := primal.BytesOf(e.Y) + primal.BytesOf(e.Margins) + 8*int64(cap(e.Times))
	for _, r := range e.Rows {
		n += primal.BytesOf(r)
	}
	return n
}

// Reserve makes room for n examples in an empty support, and, if their errors on one another are to
// be counted (bounded), for the n^2 kernel values of those: a budget's memory is taken at once.
func (s *SupportSet[T]) Reserve(n int, bounded bool) {
	s.Alpha, s.Coef, s.Born, s.Hash = make([]float64, 0, n), make([]float64, 0, n), make([]int64, 0,
		n), make([]uint64, 0, n)
	s.Row, s.Wide = make([]T, 0, n), make([]float64, 0, n)
	if bounded {
		s.OnKept.Reserve(n, n)
	}
}

// Reserve makes room for that many points and rows of an empty one.
func (e *ErrorSet) Reserve(points, rows int) {
	e.Y, e.Margins, e.Times = make([]float64, 0, points), make([]float64, 0, points),
		make([]int64, 0, points)
	e.Rows = make([][]float64, 0, rows)
	e.slab = make([]float64, points*rows)
}

// NewSupport returns an empty support for a learner called name.
func NewSupport[T learner.Float](name string, k engine.Kernel) (SupportSet[T], error) {
	b, err := NewBasis[T](name, k)
	return SupportSet[T]{Basis: b, name: name}, err
}

// HasRoom returns an error that wraps ErrMemory if with the example in hand a list would take more
// than that many bytes, Env.Kept, where 0 is no bound. more says that the example is one more, not
// in the place of another.
func (s *SupportSet[T]) HasRoom(list *engine.Points[T], bytes int64, more bool) error {
	return HasRoom(s.name, list, &s.Example, bytes, more)
}

// HasRoom is [SupportSet.HasRoom] of a block of one example, for a learner called name.
func HasRoom[T learner.Float](name string, list *engine.Points[T], one *engine.Block[T],
	bytes int64,
	more bool) error {
	if bytes == 0 {
		return nil
	}
	if need := list.Need(one, 0, more); need > bytes {
		return fmt.Errorf("%s: an example of %d non-zeros beside %d that are kept: their "+
			"features would take %d bytes, and may take %d: %w",
			name, len(one.Val), list.Len(), need, bytes, learner.ErrMemory)
	}
	return nil
}

// ScoreExample takes example i of b in hand and scores it.
func (s *SupportSet[T]) ScoreExample(b *engine.Block[T], i int) float64 {
	s.take(b, i)
	s.CurrentScore = vecmath.Dot(s.Coef, s.Wide)
	return s.CurrentScore
}

// HashExample returns a hash of the example in hand and its label, unless coefficients are signed:
// 64 bits, mixed by the multipliers of MurmurHash3 and SplitMix64. Equal examples have equal
// hashes; [SupportSet.Find] compares those that do, so that a collision costs time and nothing
// else.
func (s *SupportSet[T]) HashExample(y float64) uint64 {
	if s.Signed {
		y = 1
	}
	h := math.Float64bits(y) ^ 0x9e3779b97f4a7c15
	for k, j := range s.Example.Idx {
		h = (h ^ uint64(j)) * 0xff51afd7ed558ccd
		h = (h ^ h>>32 ^ math.Float64bits(float64(s.Example.Val[k]))) * 0xc4ceb9fe1a85ec53
	}
	return h ^ h>>29
}

// Find returns the first place of the example in hand in a list with these hashes, whose hash is h,
// or -1.
func (s *SupportSet[T]) Find(list *engine.Points[T], hashes []uint64, h uint64) int {
	for j, v := range hashes {
		if v == h && s.Equals(list, j) {
			return j
		}
	}
	return -1
}

// Equals reports whether the example in hand is example j of a list.
func (s *SupportSet[T]) Equals(list *engine.Points[T], j int) bool {
	s.idx2, s.val2 = list.NonZeros(s.idx2[:0], s.val2[:0], j)
	return slices.Equal(s.idx2, s.Example.Idx) && slices.Equal(s.val2, s.Example.Val)
}

// Remove takes kept example j out of f, (1a) of the budget perceptrons; its slot is for the next to
// be kept. Margins and the score of the example in hand become those of the f that is left. bounded
// says whether errors on the kept examples are counted, here and below.
func (s *SupportSet[T]) Remove(j int, bounded bool) {
	if bounded {
		s.OnKept.Follow(j, -s.Coef[j])
	}
	s.CurrentScore -= float64(s.Coef[j] * s.Wide[j])
	s.Alpha[j], s.Coef[j] = 0, 0
}

// Keep keeps the example in hand, example t presented, of label y and hash h, in slot j, the next
// one or one that was removed: (2) of the budget perceptrons. Its coefficient is 0 until AddCoef.
func (s *SupportSet[T]) Keep(j int, y float64, t int64, h uint64, bounded bool) {
	if j == s.List.Len() {
		s.List.Append(&s.Example, 0, 1)
		s.Alpha, s.Coef, s.Born, s.Hash = append(s.Alpha, 0), append(s.Coef, 0), append(s.Born, t),
			append(s.Hash, h)
		s.Wide = append(s.Wide, 0)
	} else {
		s.List.Replace(j, &s.Example, 0)
		s.Born[j], s.Hash[j] = t, h
	}
	s.Wide[j] = float64(s.List.Diag(j)) // K(x, x): the row was of the list without it
	if bounded {                        // it is judged by the others, and they by it
		s.OnKept.SetPoint(j, y, s.CurrentScore, s.Wide)
		s.OnKept.SetRow(j, s.Wide)
	}
}

// AddCoef adds a >= 0 to alpha of slot j, whose label is y, up to most: (3), (4) of the budget
// perceptrons. What alpha has been before, of an example that weighed more then, it stays. The
// margins follow the change that the bound leaves.
func (s *SupportSet[T]) AddCoef(j int, y, a, most float64, bounded bool) {
	before := s.Coef[j]
	s.Alpha[j] = max(s.Alpha[j], min(most, s.Alpha[j]+a))
	s.Coef[j] = float64(y * s.Alpha[j])
	if bounded {
		s.OnKept.Follow(j, s.Coef[j]-before)
	}
}

// MarginWithout returns the margin of kept example j without itself, y_j (f - coef_j K(x_j,
// .))(x_j), what is largest for the one that the Budget Perceptron removes: (1a) there.
func (s *SupportSet[T]) MarginWithout(j int) float64 {
	return s.OnKept.Margins[j] - float64(s.Coef[j]*s.OnKept.Rows[j][j])
}

// Hypothesis is f over that divisor.
func (s *SupportSet[T]) Hypothesis(divisor float64) KeptSum[T] {
	return KeptSum[T]{Name: s.name, List: s.List, Coef: s.Coef, Divisor: divisor, Spares: s.Spares}
}

// Support returns the number of examples kept, without slots that are empty.
func (s *SupportSet[T]) Support() int {
	n := 0
	for _, a := range s.Alpha {
		if a != 0 {
			n++
		}
	}
	return n
}

// Bytes returns the memory of examples, coefficients, kernel values and scratch.
func (s *SupportSet[T]) Bytes() int64 {
	return s.Basis.Bytes() + primal.BytesOf(s.Alpha) + primal.BytesOf(s.Coef) +
		8*int64(cap(s.Born)+cap(s.Hash)) + s.OnKept.Bytes() +
		4*int64(cap(s.idx2)) + primal.BytesOf(s.val2) + int64(unsafe.Sizeof(*s))
}

// ExampleFields walks the examples of a list, under names that begin with prefix, and returns them
// in reading. Their slices are the State's.
func ExampleFields[T learner.Float](c *learner.Codec, prefix string,
	list *engine.Points[T]) (b engine.Block[T]) {
	var (
		ends []int64 // of each in idx and val
		idx  []int32
		val  []T
	)
	if c.Writing() {
		nnz := 0 // so that both are made once
		for i := range list.Len() {
			idx, val = list.NonZeros(idx[:0], val[:0], i)
			nnz += len(idx)
		}
		idx, val, ends = make([]int32, 0, nnz), make([]T, 0, nnz), make([]int64, list.Len())
		for i := range ends {
			idx, val = list.NonZeros(idx, val, i)
			ends[i] = int64(len(idx))
		}
	}
	ends = learner.View(c, prefix+"_end", ends)
	idx = learner.View(c, prefix+"_idx", idx)
	val = learner.View(c, prefix+"_val", val)
	dim := 0
	if c.Reading() {
		for _, j := range idx {
			dim = max(dim, int(j)+1)
		}
		c.Want(!slices.Contains(val, 0), "a zero among the values of %s", prefix)
	}
	return examplesAt(c, prefix, dim, ends, idx, val)
}

// examplesAt returns the examples of a State, in reading, of which ends says where each one's
// indices and values end.
func examplesAt[T learner.Float](c *learner.Codec, prefix string, dim int, ends []int64,
	idx []int32,
	val []T) (b engine.Block[T]) {
	c.Want(dim <= math.MaxInt32 && len(idx) == len(val), "%s: %d indices and %d values of %d "+
		"features",
		prefix, len(idx), len(val), dim)
	c.WithinFeatures(prefix, dim)
	if !c.Reading() {
		return b
	}
	b = engine.Block[T]{Y: slices.Repeat([]T{1}, len(ends)), Dim: dim, Ptr: []int{0}, Idx: idx,
		Val: val}
	for _, e := range ends {
		b.Ptr = append(b.Ptr, int(e))
	}
	err := b.Check()
	c.Want(err == nil, "%s: %w", prefix, err)
	return b
}

// keptExamples are the parts of a State that make a support; its slices are the State's. Kernel
// values follow from the examples.
type keptExamples[T learner.Float] struct {
	Alpha    []float64
	y        []int32         // -1 or +1, of empty slots, too
	born     []int64         // number of the example presented
	margin   []float64       // y f on the kept examples; none if these are not counted on
	examples engine.Block[T] // labels are all 1: theirs are y
}

// Presented reports whether n can be the number of an example of those seen so far, which are not
// counted beyond MaxCount.
func Presented(n, seen int64) bool { return n >= 1 && (n <= seen || seen == learner.MaxCount) }

// Fields walks all that learning has changed, and returns what is read; owners restore it. limit is
// the most examples that settings allow, 0 for any; seen the examples presented.
func (s *SupportSet[T]) Fields(c *learner.Codec, limit int, bounded bool,
	seen int64) (k keptExamples[T]) {
	if c.Writing() {
		k = keptExamples[T]{Alpha: slices.Clone(s.Alpha), y: Signs(s.Coef),
			born: slices.Clone(s.Born), margin: slices.Clone(s.OnKept.Margins)}
	}
	k.Alpha = learner.View(c, "alpha", k.Alpha)
	k.y = learner.View(c, "y", k.y)
	k.born = learner.View(c, "born", k.born)
	k.margin = learner.View(c, "margin", k.margin)
	k.examples = ExampleFields(c, "sv", s.List)
	if !c.Reading() {
		return k
	}
	n, margins := len(k.Alpha), 0
	if bounded {
		margins = n
	}
	if !c.Want(len(k.y) == n && len(k.born) == n && len(k.margin) == margins &&
		k.examples.Len() == n && (limit <= 0 || n <= limit),
		"%d coefficients, %d labels, %d numbers, %d margins of %d examples, at most %d", n,
		len(k.y), len(k.born), len(k.margin), k.examples.Len(), limit) {
		return k
	}
	for j, a := range k.Alpha {
		if !(a >= 0) || math.IsInf(a, 0) || k.y[j] != 1 && k.y[j] != -1 ||
			!Presented(k.born[j], seen) {
			c.Want(false, "example %d has coefficient %v, label %d, number %d of %d", j, a, k.y[j],
				k.born[j], seen)
			return k
		}
	}
	return k
}

// Signs returns the labels of coefficients y alpha, alpha >= 0, or of labels; of an empty slot, +1.
func Signs(x []float64) []int32 {
	y := make([]int32, len(x))
	for j, v := range x {
		if y[j] = 1; math.Signbit(v) {
			y[j] = -1
		}
	}
	return y
}

// Restore takes what Fields returned into a new support, an example at a time as learning did, so
// that tables and hashes become what they were.
func (s *SupportSet[T]) Restore(k keptExamples[T], bounded bool) {
	alpha, y, born, margin, b := k.Alpha, k.y, k.born, k.margin, &k.examples
	n := len(alpha)
	for j := range n {
		idx, val := b.Sparse(j)
		s.SetExample(idx, val)
		s.CurrentScore = 0 // margins are copied below
		s.Row, s.Wide = make([]T, j), make([]float64, j)
		s.Keep(j, float64(y[j]), born[j], s.HashExample(float64(y[j])), bounded)
		s.Alpha[j], s.Coef[j] = alpha[j], float64(float64(y[j])*alpha[j])
	}
	if !bounded {
		return
	}
	copy(s.OnKept.Margins, margin)
	// K(x_i, x_j) and K(x_j, x_i) may differ in the last bits: while they were learned the value of
	// two kept examples came from the row of the later one, so it is that here.
	row := make([]T, n)
	for j := range n {
		s.List.Row(row, j, 0, n)
		for i, v := range row {
			if born[i] < born[j] {
				s.OnKept.Rows[j][i], s.OnKept.Rows[i][j] = float64(float64(y[i])*float64(v)),
					float64(float64(y[j])*float64(v))
			}
		}
	}
}
