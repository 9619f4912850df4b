package kept

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Set is a hypothesis f(x) = sum_j coef_j K(x_j, x), coef_j = y_j alpha_j, over examples that were
// kept, which others may replace. Example j of all slices is that of slot j; what comes in the
// place of another takes its slot.
type Set[T learner.Float] struct {
	Settings
	Current[T]
	List         *engine.Points[T]
	Coef         []float64 // y_j alpha_j, alpha_j >= 0; 0 of an empty slot
	Born         []int64   // number of the example presented, from 1: ties go to the oldest
	Hash         []uint64  // of example and label, by which equal ones are found
	OnKept       ErrorSet  // the kept examples themselves; empty without Settings.Errors
	CurrentScore float64   // f of the example in hand, followed while others are removed

	spares *scratch.Stack[scoring[T]] // of Scores that may run at the same time
	idx2   []int32                    // scratch: a kept example that one in hand is compared with
	val2   []T
}

// Settings say what a [Set] may hold.
type Settings struct {
	Name   string // of the learner, for errors
	Kernel engine.Kernel
	Limit  int   // examples kept at most, 0 for any number
	Room   int64 // Env.Kept: what their features may take, 0 for any number
	Errors bool  // errors on the kept examples are counted
	Signed bool  // coefficients have either sign, whatever the example's label
}

// NewSet returns an empty set. With limits for both examples and bytes its memory, that of the
// kernel values for the errors included, is allocated at once. The error is that of a kernel that
// is not valid.
func NewSet[T learner.Float](o Settings) (Set[T], error) {
	s := Set[T]{Settings: o, spares: new(scratch.Stack[scoring[T]])}
	var err error
	if s.List, err = newList[T](o.Name, o.Kernel); err != nil || o.Limit == 0 || o.Room == 0 {
		return s, err
	}
	n := o.Limit
	s.Coef, s.Born, s.Hash = make([]float64, 0, n), make([]int64, 0, n), make([]uint64, 0, n)
	s.Row, s.Wide = make([]T, 0, n), make([]float64, 0, n)
	if o.Errors {
		s.OnKept.Reserve(n, n)
	}
	return s, nil
}

// Full reports whether no more slots may be added.
func (s *Set[T]) Full() bool { return s.Limit > 0 && s.List.Len() >= s.Limit }

// ScoreExample takes example i of b in hand and scores it.
func (s *Set[T]) ScoreExample(b *engine.Block[T], i int) float64 {
	s.Take(s.List, b, i)
	s.CurrentScore = vecmath.Dot(s.Coef, s.Wide)
	return s.CurrentScore
}

// HashExample returns a hash of the example in hand and its label, unless coefficients are signed:
// 64 bits, mixed by the multipliers of MurmurHash3 and SplitMix64. Equal examples have equal
// hashes; [Set.Find] compares those that do, so that a collision costs time and nothing else.
func (s *Set[T]) HashExample(y float64) uint64 {
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

// Find returns the first slot of the example in hand, whose hash is h, or -1.
func (s *Set[T]) Find(h uint64) int {
	for j, v := range s.Hash {
		if v == h && s.Equals(s.List, j) {
			return j
		}
	}
	return -1
}

// Equals reports whether the example in hand is example j of a list.
func (s *Set[T]) Equals(list *engine.Points[T], j int) bool {
	s.idx2, s.val2 = list.NonZeros(s.idx2[:0], s.val2[:0], j)
	return slices.Equal(s.idx2, s.Example.Idx) && slices.Equal(s.val2, s.Example.Val)
}

// CheckSlot returns an error that wraps ErrMemory if the set has no memory for the example in hand.
// more says that it is one more, not in the place of another.
func (s *Set[T]) CheckSlot(more bool) error { return s.CheckRoom(s.Name, s.List, s.Room, more) }

// Remove takes kept example j out of f, (1a) of the budget perceptrons; its slot is for the next to
// be kept. Margins and the score of the example in hand become those of the f that is left.
func (s *Set[T]) Remove(j int) {
	if s.Errors {
		s.OnKept.Follow(j, -s.Coef[j])
	}
	s.CurrentScore -= float64(s.Coef[j] * s.Wide[j])
	s.Coef[j] = 0
}

// Keep keeps the example in hand, example t presented, of label y and hash h, in slot j, the next
// one or one that was removed: (2) of the budget perceptrons. Its coefficient is 0 until AddCoef.
func (s *Set[T]) Keep(j int, y float64, t int64, h uint64) {
	if j == s.List.Len() {
		s.List.Append(&s.Example, 0, 1)
		s.Coef, s.Born, s.Hash = append(s.Coef, 0), append(s.Born, t), append(s.Hash, h)
		s.Wide = append(s.Wide, 0)
	} else {
		s.List.Replace(j, &s.Example, 0)
		s.Coef[j], s.Born[j], s.Hash[j] = 0, t, h
	}
	s.Wide[j] = float64(s.List.Diag(j)) // K(x, x): the row was of the list without it
	if s.Errors {                       // it is judged by the others, and they by it
		s.OnKept.SetPoint(j, y, s.CurrentScore, s.Wide)
		s.OnKept.SetRow(j, s.Wide)
	}
}

// AddCoef adds a >= 0 to alpha of slot j, whose label is y, up to most: (3), (4) of the budget
// perceptrons. An alpha above most, of an example that weighed more then, stays. The margins follow
// the change that the bound leaves, which is returned.
func (s *Set[T]) AddCoef(j int, y, a, most float64) (change float64) {
	before := s.Coef[j]
	alpha := math.Abs(before)
	s.Coef[j] = float64(y * max(alpha, min(most, alpha+a)))
	if s.Errors {
		s.OnKept.Follow(j, s.Coef[j]-before)
	}
	return s.Coef[j] - before
}

// MarginWithout returns the margin of kept example j without itself, y_j (f - coef_j K(x_j,
// .))(x_j): (1a) of the Budget Perceptron removes the largest.
func (s *Set[T]) MarginWithout(j int) float64 {
	return s.OnKept.Margins[j] - float64(s.Coef[j]*s.OnKept.Rows[j][j])
}

// Sum is f over that divisor, a view of the set.
func (s *Set[T]) Sum(divisor float64) Sum[T] {
	return Sum[T]{Name: s.Name, List: s.List, Coef: s.Coef, Divisor: divisor, spares: s.spares}
}

// Score is Learner.Score of a learner whose f is that of the set.
func (s *Set[T]) Score(b *engine.Block[T], dst []float64) error {
	p := s.Sum(1)
	return p.Score(b, dst)
}

// Snapshot is Learner.Snapshot.
func (s *Set[T]) Snapshot() learner.Predictor[T] { return s.Sum(1).Copied() }

// View is for [learner.ViewOf].
func (s *Set[T]) View() learner.Predictor[T] { return s.Sum(1).View() }

// Weights returns nil: the hypothesis is a sum over kept examples.
func (s *Set[T]) Weights() []float64 { return nil }

// Support returns the number of examples kept, without slots that are empty.
func (s *Set[T]) Support() int {
	n := 0
	for _, a := range s.Coef {
		if a != 0 {
			n++
		}
	}
	return n
}

// Bytes returns the memory of examples, coefficients, kernel values and scratch.
func (s *Set[T]) Bytes() int64 {
	return s.List.Bytes() + s.Current.Bytes() + s.spares.Bytes((*scoring[T]).bytes) +
		primal.BytesOf(s.Coef) + 8*int64(cap(s.Born)+cap(s.Hash)) + s.OnKept.Bytes() +
		4*int64(cap(s.idx2)) + primal.BytesOf(s.val2) + int64(unsafe.Sizeof(*s))
}

// ExampleFields walks the examples of a list, under names that begin with prefix, and returns them
// in reading. Their slices are the State's. They have dim features, or with -1 as many as their
// indices need.
func ExampleFields[T learner.Float](c *learner.Codec, prefix string, list *engine.Points[T],
	dim int) (b engine.Block[T]) {
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
	if !c.Reading() {
		return b
	}
	if dim < 0 {
		dim = 0
		for _, j := range idx {
			dim = max(dim, int(j)+1)
		}
		c.Want(!slices.Contains(val, 0), "a zero among the values of %s", prefix)
	}
	c.Want(dim <= math.MaxInt32 && len(idx) == len(val), "%s: %d indices and %d values of %d "+
		"features", prefix, len(idx), len(val), dim)
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

// Presented reports whether n can be the number of an example of those seen so far, which are not
// counted beyond MaxCount.
func Presented(n, seen int64) bool { return n >= 1 && (n <= seen || seen == learner.MaxCount) }

// Fields walks all that learning has changed, and returns the number of slots. seen counts the
// examples presented.
func (s *Set[T]) Fields(c *learner.Codec, seen int64) int {
	var alpha, margin []float64 // margin: y f on the kept examples, with Errors
	var y []int32               // -1 or +1, of empty slots, too
	var born []int64
	if c.Writing() {
		alpha, y = make([]float64, len(s.Coef)), Signs(s.Coef)
		for j, v := range s.Coef {
			alpha[j] = math.Abs(v)
		}
		born, margin = slices.Clone(s.Born), slices.Clone(s.OnKept.Margins)
	}
	alpha, y = learner.View(c, "alpha", alpha), learner.View(c, "y", y)
	born, margin = learner.View(c, "born", born), learner.View(c, "margin", margin)
	b := ExampleFields(c, "sv", s.List, -1)
	n, margins := len(alpha), 0
	if s.Errors {
		margins = n
	}
	if !c.Reading() || !c.Want(len(y) == n && len(born) == n && len(margin) == margins &&
		b.Len() == n && (s.Limit <= 0 || n <= s.Limit),
		"%d coefficients, %d labels, %d numbers, %d margins of %d examples, at most %d", n, len(y),
		len(born), len(margin), b.Len(), s.Limit) {
		return n
	}
	for j, a := range alpha {
		if !(a >= 0) || math.IsInf(a, 0) || y[j] != 1 && y[j] != -1 || !Presented(born[j], seen) {
			c.Want(false, "example %d has coefficient %v, label %d, number %d of %d", j, a, y[j],
				born[j], seen)
			return n
		}
	}
	c.Then(func() {
		coef := slices.Clone(alpha)
		for j := range coef {
			coef[j] *= float64(y[j])
		}
		s.restore(&b, coef, born, margin)
	})
	return n
}

// Signs returns the labels of coefficients y alpha, alpha >= 0, or of labels.
func Signs(x []float64) []int32 {
	y := make([]int32, len(x))
	for j, v := range x {
		if y[j] = 1; math.Signbit(v) {
			y[j] = -1
		}
	}
	return y
}

// restore replaces all that is kept by these examples, one at a time as learning did, so that
// tables and hashes become what they were.
func (s *Set[T]) restore(b *engine.Block[T], coef []float64, born []int64, margin []float64) {
	fresh, err := NewSet[T](s.Settings)
	if err != nil {
		panic(err) // the kernel is valid: it was before
	}
	*s = fresh
	y := Signs(coef)
	for j := range coef {
		idx, val := b.Sparse(j)
		s.SetExample(idx, val)
		s.CurrentScore = 0 // margins are copied below
		s.Row, s.Wide = make([]T, j), make([]float64, j)
		s.Keep(j, float64(y[j]), born[j], s.HashExample(float64(y[j])))
		s.Coef[j] = coef[j]
	}
	if !s.Errors {
		return
	}
	copy(s.OnKept.Margins, margin)
	// K(x_i, x_j) and K(x_j, x_i) may differ in the last bits: while they were learned the value of
	// two kept examples came from the row of the later one, so it is that here.
	row := make([]T, len(coef))
	for j := range row {
		s.List.Row(row, j, 0, len(row))
		for i, v := range row {
			if born[i] < born[j] {
				s.OnKept.Rows[j][i], s.OnKept.Rows[i][j] = float64(float64(y[i])*float64(v)),
					float64(float64(y[j])*float64(v))
			}
		}
	}
}
