package learners

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// support is a hypothesis f(x) = sum_j y_j alpha_j K(x_j, x) over examples that were kept, which others may replace. Example j of all slices
// is that of slot j; what comes in the place of another takes its slot.
type support[T Float] struct {
	basis[T]
	name  string
	alpha []float64
	coef  []float64 // y_j alpha_j
	born  []int64   // number of the example presented, from 1
	hash  []uint64  // of example and label
	on    evaluated // the kept examples themselves; empty without a limit
	f     float64   // of the example in hand

	idx2 []int32 // scratch
	val2 []T
}

// basis is a list of kept examples, and one example in hand with its kernel values.
type basis[T Float] struct {
	list *engine.Points[T]
	hand[T]
	spares *scratch.Stack[hand[T]] // for Score, which may run more than once at the same time
}

// hand is an example without its zeros, and its kernel values with those of a list.
type hand[T Float] struct {
	one  engine.Block[T]
	ends [2]int
	row  []T       // K(x_j, x)
	wide []float64 // the same
	ck   []float64 // of SOGP
	idx  []int32   // scratch
	val  []T
}

func newBasis[T Float](name string, k engine.Kernel) (basis[T], error) {
	list, err := engine.NewPoints[T](k)
	if err != nil {
		return basis[T]{}, fmt.Errorf("%s: %w", name, err)
	}
	return basis[T]{list: list, spares: new(scratch.Stack[hand[T]])}, nil
}

// take takes example i of b in hand and computes its kernel values.
func (s *basis[T]) take(b *engine.Block[T], i int) { s.hand.take(s.list, b, i) }

// take takes example i of b in hand and computes its kernel values with the list.
func (s *hand[T]) take(list *engine.Points[T], b *engine.Block[T], i int) {
	s.idx, s.val = s.idx[:0], s.val[:0]
	idx, val := b.Example(i)
	for n, v := range val {
		if v != 0 {
			s.idx, s.val = append(s.idx, int32(at(idx, n))), append(s.val, v)
		}
	}
	s.hold(s.idx, s.val)
	s.row, s.wide = s.values(list, s.row, s.wide)
}

// values returns the kernel values of the example in hand with those of the list, also as float64, in row and wide, or in longer ones.
func (s *hand[T]) values(list *engine.Points[T], row []T, wide []float64) ([]T, []float64) {
	n := list.Len()
	if cap(row) < n {
		row, wide = make([]T, n, 2*n), make([]float64, n, 2*n)
	}
	row, wide = row[:n], wide[:n]
	list.RowOf(row, &s.one, 0, 0, n)
	for j, v := range row {
		wide[j] = float64(v)
	}
	return row, wide
}

// hold takes an example in hand.
func (s *hand[T]) hold(idx []int32, val []T) {
	s.ends[1] = len(idx)
	s.one.Ptr, s.one.Idx, s.one.Val, s.one.Dim = s.ends[:], idx, val, 0
	if n := len(idx); n > 0 {
		s.one.Dim = int(idx[n-1]) + 1
	}
}

func (s *hand[T]) bytes() int64 {
	return bytesOf(s.row) + bytesOf(s.wide) + bytesOf(s.ck) + 4*int64(cap(s.idx)) + bytesOf(s.val)
}

func (s *basis[T]) bytes() int64 {
	return s.list.Bytes() + s.hand.bytes() + s.spares.Bytes((*hand[T]).bytes)
}

// Support returns the number of examples kept.
func (s *basis[T]) Support() int { return s.list.Len() }

// evaluated is a set of examples on which the errors of f, and of f without one of the kept examples, are counted.
//
// No kernel value is computed twice: rows hold those of all kept examples, and the margins follow each step of f.
type evaluated struct {
	y    []float64
	m    []float64   // y_k f(x_k)
	rows [][]float64 // rows[j][k] = y_k K(x_j, x_k)
	slab []float64   // room for rows to come
}

// point makes (x, y) example k, the next one or in the place of another. values[j] = K(x_j, x).
func (e *evaluated) point(k int, y, f float64, values []float64) {
	m := float64(y * f)
	if k == len(e.y) {
		e.y, e.m = append(e.y, y), append(e.m, m)
		for j := range e.rows {
			e.rows[j] = append(e.rows[j], float64(y*values[j]))
		}
		return
	}
	e.y[k], e.m[k] = y, m
	for j := range e.rows {
		e.rows[j][k] = float64(y * values[j])
	}
}

// kept makes x the kept example j, the next one or in the place of another. values[k] = K(x, x_k).
func (e *evaluated) kept(j int, values []float64) {
	if j == len(e.rows) {
		n, room := len(e.y), max(len(e.y), cap(e.m))
		if len(e.slab) < room {
			e.slab = make([]float64, room)
		}
		e.rows, e.slab = append(e.rows, e.slab[:n:room]), e.slab[room:]
	}
	for k, v := range values[:len(e.y)] {
		e.rows[j][k] = float64(e.y[k] * v)
	}
}

// step follows f += c K(x_j, .).
func (e *evaluated) step(j int, c float64) { vecmath.Axpy(e.m, c, e.rows[j]) }

// errors counts y f <= 0 for f - c K(x_j, .).
func (e *evaluated) errors(j int, c float64) int { return vecmath.CountStepLE(e.m, -c, e.rows[j]) }

func (e *evaluated) bytes() int64 {
	n := bytesOf(e.y) + bytesOf(e.m)
	for _, r := range e.rows {
		n += bytesOf(r)
	}
	return n
}

// reserve makes room for n examples in an empty support, and for the values of their errors on one another.
func (s *support[T]) reserve(n int, bounded bool) {
	s.alpha, s.coef, s.born, s.hash = make([]float64, 0, n), make([]float64, 0, n), make([]int64, 0, n), make([]uint64, 0, n)
	s.row, s.wide = make([]T, 0, n), make([]float64, 0, n)
	if bounded {
		s.on.reserve(n, n)
	}
}

// reserve makes room for that many points and rows of an empty one.
func (e *evaluated) reserve(points, rows int) {
	e.y, e.m, e.rows = make([]float64, 0, points), make([]float64, 0, points), make([][]float64, 0, rows)
	e.slab = make([]float64, points*rows)
}

func newSupport[T Float](name string, k engine.Kernel) (support[T], error) {
	b, err := newBasis[T](name, k)
	return support[T]{basis: b, name: name}, err
}

// hasRoom returns an error that wraps ErrMemory if with the example in hand a list would take more
// than that many bytes, which 0 doesn't bound. more says that none goes for it.
func (s *support[T]) hasRoom(list *engine.Points[T], bytes int64, more bool) error {
	return hasRoom(s.name, list, &s.one, bytes, more)
}

func hasRoom[T Float](name string, list *engine.Points[T], one *engine.Block[T], bytes int64,
	more bool) error {
	if bytes == 0 {
		return nil
	}
	if need := list.Need(one, 0, more); need > bytes {
		return fmt.Errorf("%s: an example of %d non-zeros beside %d that are kept: their "+
			"features would take %d bytes, and may take %d: %w",
			name, len(one.Val), list.Len(), need, bytes, ErrMemory)
	}
	return nil
}

// see takes example i of b in hand and scores it.
func (s *support[T]) see(b *engine.Block[T], i int) float64 {
	s.take(b, i)
	s.f = vecmath.Dot(s.coef, s.wide)
	return s.f
}

// digest returns a hash of the example in hand and its label.
func (s *support[T]) digest(y float64) uint64 {
	h := math.Float64bits(y) ^ 0x9e3779b97f4a7c15
	for k, j := range s.one.Idx {
		h = (h ^ uint64(j)) * 0xff51afd7ed558ccd
		h = (h ^ h>>32 ^ math.Float64bits(float64(s.one.Val[k]))) * 0xc4ceb9fe1a85ec53
	}
	return h ^ h>>29
}

// find returns the place in a list with these hashes of the example in hand, or -1.
func (s *support[T]) find(list *engine.Points[T], hashes []uint64, h uint64) int {
	for j, v := range hashes {
		if v == h && s.equals(list, j) {
			return j
		}
	}
	return -1
}

// equals reports whether the example in hand is example j of a list.
func (s *support[T]) equals(list *engine.Points[T], j int) bool {
	s.idx2, s.val2 = list.NonZeros(s.idx2[:0], s.val2[:0], j)
	return slices.Equal(s.idx2, s.one.Idx) && slices.Equal(s.val2, s.one.Val)
}

// remove takes a kept example out of f; its slot is for the next to be kept.
func (s *support[T]) remove(j int, bounded bool) {
	if bounded {
		s.on.step(j, -s.coef[j])
	}
	s.f -= float64(s.coef[j] * s.wide[j])
	s.alpha[j], s.coef[j] = 0, 0
}

// keep keeps the example in hand, example t presented, in slot j, the next one or one that was removed. Its coefficient is 0.
func (s *support[T]) keep(j int, y float64, t int64, h uint64, bounded bool) {
	if j == s.list.Len() {
		s.list.Append(&s.one, 0, 1)
		s.alpha, s.coef, s.born, s.hash = append(s.alpha, 0), append(s.coef, 0), append(s.born, t), append(s.hash, h)
		s.wide = append(s.wide, 0)
	} else {
		s.list.Replace(j, &s.one, 0)
		s.born[j], s.hash[j] = t, h
	}
	s.wide[j] = float64(s.list.Diag(j))
	if bounded {
		s.on.point(j, y, s.f, s.wide)
		s.on.kept(j, s.wide)
	}
}

// raise adds a to the coefficient of slot j, whose label is y.
func (s *support[T]) raise(j int, y, a, most float64, bounded bool) {
	before := s.coef[j]
	s.alpha[j] = min(most, s.alpha[j]+a)
	s.coef[j] = float64(y * s.alpha[j])
	if bounded {
		s.on.step(j, s.coef[j]-before)
	}
}

// left returns the margin of kept example j without itself, what is largest for the one that the Budget Perceptron removes.
func (s *support[T]) left(j int) float64 {
	return s.on.m[j] - float64(s.coef[j]*s.on.rows[j][j])
}

// hypothesis is f over that divisor.
func (s *support[T]) hypothesis(divisor float64) keptSum[T] {
	return keptSum[T]{name: s.name, list: s.list, coef: s.coef, divisor: divisor, spares: s.spares}
}

// Support returns the number of examples kept.
func (s *support[T]) Support() int {
	n := 0
	for _, a := range s.alpha {
		if a != 0 {
			n++
		}
	}
	return n
}

func (s *support[T]) bytes() int64 {
	return s.basis.bytes() + bytesOf(s.alpha) + bytesOf(s.coef) + 8*int64(cap(s.born)+cap(s.hash)) + s.on.bytes() +
		4*int64(cap(s.idx2)) + bytesOf(s.val2) + int64(unsafe.Sizeof(*s))
}

// exampleFields walks the examples of a list, under names that begin with prefix, and returns them
// in reading. Their slices are the State's.
func exampleFields[T Float](c *learner.Codec, prefix string,
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

// examplesAt returns the examples of a State, in reading, of which ends tells where each one's
// indices and values end.
func examplesAt[T Float](c *learner.Codec, prefix string, dim int, ends []int64, idx []int32,
	val []T) (b engine.Block[T]) {
	c.Want(dim <= math.MaxInt32 && len(idx) == len(val), "%s: %d indices and %d values of %d features",
		prefix, len(idx), len(val), dim)
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
type keptExamples[T Float] struct {
	alpha    []float64
	y        []int32
	born     []int64
	margin   []float64
	examples engine.Block[T]
}

// presented reports whether n can be the number of an example of those seen so far, which are not
// counted beyond MaxCount.
func presented(n, seen int64) bool { return n >= 1 && (n <= seen || seen == MaxCount) }

// fields walks all that learning has changed, and returns what is read; owners restore it.
func (s *support[T]) fields(c *learner.Codec, limit int, bounded bool,
	seen int64) (k keptExamples[T]) {
	if c.Writing() {
		k = keptExamples[T]{alpha: slices.Clone(s.alpha), y: signs(s.coef),
			born: slices.Clone(s.born), margin: slices.Clone(s.on.m)}
	}
	k.alpha = learner.View(c, "alpha", k.alpha)
	k.y = learner.View(c, "y", k.y)
	k.born = learner.View(c, "born", k.born)
	k.margin = learner.View(c, "margin", k.margin)
	k.examples = exampleFields(c, "sv", s.list)
	if !c.Reading() {
		return k
	}
	n, margins := len(k.alpha), 0
	if bounded {
		margins = n
	}
	if !c.Want(len(k.y) == n && len(k.born) == n && len(k.margin) == margins &&
		k.examples.Len() == n && (limit <= 0 || n <= limit),
		"%d coefficients, %d labels, %d numbers, %d margins of %d examples, at most %d", n,
		len(k.y), len(k.born), len(k.margin), k.examples.Len(), limit) {
		return k
	}
	for j, a := range k.alpha {
		if !(a >= 0) || math.IsInf(a, 0) || k.y[j] != 1 && k.y[j] != -1 ||
			!presented(k.born[j], seen) {
			c.Want(false, "example %d has coefficient %v, label %d, number %d of %d", j, a, k.y[j],
				k.born[j], seen)
			return k
		}
	}
	learner.Finite(c, "margin", k.margin)
	return k
}

// signs returns the labels of numbers that are those of examples, times a label.
func signs(x []float64) []int32 {
	y := make([]int32, len(x))
	for j, v := range x {
		if y[j] = 1; math.Signbit(v) {
			y[j] = -1
		}
	}
	return y
}

// restore takes what keptOf gave into a new support.
func (s *support[T]) restore(k keptExamples[T], bounded bool) {
	alpha, y, born, margin, b := k.alpha, k.y, k.born, k.margin, &k.examples
	n := len(alpha)
	for j := range n {
		idx, val := b.Sparse(j)
		s.hold(idx, val)
		s.f = 0
		s.row, s.wide = make([]T, j), make([]float64, j)
		s.keep(j, float64(y[j]), born[j], s.digest(float64(y[j])), bounded)
		s.alpha[j], s.coef[j] = alpha[j], float64(float64(y[j])*alpha[j])
	}
	if !bounded {
		return
	}
	// A value of two kept examples is of the later one's row.
	copy(s.on.m, margin)
	row := make([]T, n)
	for j := range n {
		s.list.Row(row, j, 0, n)
		for i, v := range row {
			if born[i] < born[j] {
				s.on.rows[j][i], s.on.rows[i][j] = float64(float64(y[i])*float64(v)), float64(float64(y[j])*float64(v))
			}
		}
	}
}
