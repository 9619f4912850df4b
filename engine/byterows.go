package engine

import (
	"bytes"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// ByteRows holds dense examples whose values are whole numbers from 0 to 255, such as pixels and
// counts, each example perhaps divided by a number of its own, its length: a byte a value, an
// eighth to a quarter of the memory of floats. A few at a time become a [Block], in a buffer that
// stays in a core's own cache, so that all that is read from memory are the bytes. The values are
// those that were appended, bit for bit: each example was compared.
//
// A feature 0 of any value, which is what a bias is, may stand before the others.
//
// Memory: Dim bytes an example, padded to 16, and four numbers of T. Append and Divide
// need the rows for themselves; all else is safe for concurrent use.
type ByteRows[T Float] struct {
	y      []T     // labels, -1 or +1
	class  []int32 // numbers of the classes; nil for none
	weight []T     // nil for 1 each
	dim    int
	stride int  // bytes from one row to the next
	biased bool // feature 0 is in bias
	bias   []T
	rows   []uint8
	hi, lo []T         // one over what a row is divided by, and the rest of that
	whole  map[int][]T // the few rows whose bits that would miss
	buf    []T         // one row
}

// NewByteRows returns no examples, with room for n, of dim features. biased says that feature 0 may
// have any value.
func NewByteRows[T Float](dim int, biased bool, n int) *ByteRows[T] {
	stride := (dim + vecmath.ByteUnit - 1) / vecmath.ByteUnit * vecmath.ByteUnit
	r := &ByteRows[T]{dim: dim, stride: stride, biased: biased, buf: Aligned[T](stride)}
	r.y, r.rows = make([]T, 0, n), make([]uint8, 0, n*stride)
	r.hi, r.lo = make([]T, 0, n), make([]T, 0, n)
	if biased {
		r.bias = make([]T, 0, n)
	}
	return r
}

// Len returns the number of examples.
func (r *ByteRows[T]) Len() int { return len(r.y) }

// Dim returns the number of features.
func (r *ByteRows[T]) Dim() int { return r.dim }

// Bytes returns the memory that the examples take, in bytes.
func (r *ByteRows[T]) Bytes() int64 {
	floats := cap(r.y) + cap(r.weight) + cap(r.hi) + cap(r.lo) + cap(r.bias) + len(r.whole)*r.dim
	return int64(cap(r.rows)) + 4*int64(cap(r.class)) + int64(floats)*int64(unsafe.Sizeof(T(0)))
}

// wholeShare is the share of the rows that may be kept as floats, one in so many. Of rows divided
// by their length it is one in some 20,000.
const wholeShare = 64

// Append adds an example of Dim finite values and a label, -1 or +1. They are whole numbers from 0
// to 255 divided by div, where 0 stands for 1. It returns false, and adds nothing, if they are not.
func (r *ByteRows[T]) Append(x []T, y T, div float64) bool {
	if len(x) != r.dim {
		return false
	}
	if div == 0 {
		div = 1
	}
	r.rows = slices.Grow(r.rows, r.stride)
	row := r.rows[len(r.rows) : len(r.rows)+r.stride]
	clear(row)
	values := x
	if r.biased {
		values = x[1:]
	}
	to := row[r.dim-len(values):][:len(values)]
	if div == 1 {
		for j, v := range values {
			to[j] = uint8(int32(v))
		}
	} else {
		for j, v := range values { // any byte where there is none: the bits differ
			to[j] = uint8(int32(float64(float64(v)*div) + 0.5))
		}
	}
	hi, lo := inverse[T](div)
	r.widen(r.buf, row, hi, lo, x)
	if !sameBits(r.buf[:r.dim], x) {
		if len(r.whole) >= 16+len(r.y)/wholeShare || !nearBytes(values, div) {
			return false
		}
		if r.whole == nil {
			r.whole = map[int][]T{}
		}
		r.whole[len(r.y)] = slices.Clone(x)
	}
	if r.biased {
		r.bias = append(r.bias, x[0])
	}
	r.rows, r.y = r.rows[:len(r.rows)+r.stride], append(r.y, y)
	r.hi, r.lo = append(r.hi, hi), append(r.lo, lo)
	return true
}

// nearBytes reports whether values are bytes divided by div, up to roundings.
func nearBytes[T Float](values []T, div float64) bool {
	for _, v := range values {
		f := float64(float64(v) * div)
		if !(f > -0.25 && f < 255.25) || math.Abs(f-math.Round(f)) > 0.25 {
			return false
		}
	}
	return true
}

// Truncate leaves the first n examples.
func (r *ByteRows[T]) Truncate(n int) {
	r.y, r.rows, r.hi, r.lo = r.y[:n], r.rows[:n*r.stride], r.hi[:n], r.lo[:n]
	if r.biased {
		r.bias = r.bias[:n]
	}
	for i := range r.whole {
		if i >= n {
			delete(r.whole, i)
		}
	}
}

// inverse returns 1/div in two parts.
func inverse[T Float](div float64) (hi, lo T) {
	hi = T(1 / div)
	return hi, T(math.FMA(-div, float64(hi), 1) / div)
}

// widen sets dst to a row; of bias feature 0 is taken, where it is no byte.
func (r *ByteRows[T]) widen(dst []T, row []uint8, hi, lo T, bias []T) {
	vecmath.WidenBytes(dst, row, hi, lo)
	if r.biased {
		dst[0] = bias[0]
	}
}

// Divide divides all values by s, as a division of each would, and reports whether that can be done
// to the bit: if not, nothing is changed. The rows have not been divided before. Cost: a pass over
// the examples' numbers, not over their values.
func (r *ByteRows[T]) Divide(s float64) bool {
	hi, lo := inverse[T](s)
	var all [256]uint8
	var got, want [256]T
	for v := range all {
		all[v], want[v] = uint8(v), T(float64(v)/s)
	}
	vecmath.WidenBytes(got[:], all[:], hi, lo)
	if !sameBits(got[:], want[:]) || len(r.whole) > 0 {
		return false
	}
	for i := range r.hi {
		r.hi[i], r.lo[i] = hi, lo
	}
	for i, v := range r.bias {
		r.bias[i] = T(float64(v) / s)
	}
	return true
}

// SetClass gives each example the number of its class: the blocks have it as Class. The slice is
// the receiver's from then on.
func (r *ByteRows[T]) SetClass(class []int32) { r.class = class }

// SetWeights gives each example its weight: the blocks have it as W. Weights are those of the
// examples that there are then; the slice is the receiver's.
func (r *ByteRows[T]) SetWeights(w []T) { r.weight = w }

// Labels returns what the blocks have as Y, Class and W; they are not to be changed.
func (r *ByteRows[T]) Labels() (y []T, class []int32, w []T) { return r.y, r.class, r.weight }

// sameBits compares two slices bit by bit: 0 is not -0.
func sameBits[T Float](a, b []T) bool {
	return bytes.Equal(bitsOf(a), bitsOf(b))
}

// bitsOf returns the memory of x.
func bitsOf[T Float](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))),
		len(x)*int(unsafe.Sizeof(T(0))))
}

// Block makes examples lo to hi-1 those of dst, a block of its own memory that is used again. The
// rows must not change as long as dst is in use.
func (r *ByteRows[T]) Block(dst *Block[T], lo, hi int) {
	r.begin(dst, hi-lo)
	dst.from, dst.first = r, lo
	for i := lo; i < hi; i++ {
		r.put(dst, i)
	}
}

// Gather is Block for the listed examples, in the listed order; the list must not change either.
func (r *ByteRows[T]) Gather(dst *Block[T], order []int32) {
	r.begin(dst, len(order))
	dst.from, dst.at = r, order
	for _, i := range order {
		r.put(dst, int(i))
	}
}

// begin empties dst and makes room for n examples.
func (r *ByteRows[T]) begin(dst *Block[T], n int) {
	dst.Reset()
	dst.Ptr, dst.Dim, dst.Stride = nil, r.dim, r.stride
	if cap(dst.X) < n*r.stride {
		dst.X = Aligned[T](n * r.stride)[:0]
	}
	dst.Y = slices.Grow(dst.Y, n)
	if r.class != nil {
		dst.Class = slices.Grow(dst.Class, n)
	}
	if r.weight != nil {
		dst.W = slices.Grow(dst.W, n)
	}
	dst.MarkChecked()
}

// put appends example i to dst, where there is room.
func (r *ByteRows[T]) put(dst *Block[T], i int) {
	n := len(dst.X)
	dst.X, dst.Y = dst.X[:n+r.stride], append(dst.Y, r.y[i])
	if r.class != nil {
		dst.Class = append(dst.Class, r.class[i])
	}
	if r.weight != nil {
		dst.W = append(dst.W, r.weight[i])
	}
	r.row(dst.X[n:], i)
}

// row sets dst, of stride elements, to example i.
func (r *ByteRows[T]) row(dst []T, i int) {
	if whole := r.whole[i]; whole != nil {
		clear(dst[copy(dst, whole):])
		return
	}
	var bias []T
	if r.biased {
		bias = r.bias[i : i+1]
	}
	r.widen(dst, r.rows[i*r.stride:][:r.stride], r.hi[i], r.lo[i], bias)
}

// denseRunBytes is how many bytes of dense rows a run has at most: they stay in L2, beside the
// weights that go over them.
const denseRunBytes = 256 << 10

// DenseRun returns how many dense examples of that many features are worked on together, so that
// they stay in L2: 16 to 128.
func DenseRun[T Float](dim int) int {
	n := denseRunBytes / (max(1, dim) * int(unsafe.Sizeof(T(0))))
	return min(max(n, 16), 128)
}
