package engine

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// Points is a growing list of examples with a kernel: it gives rows K(x_i, x_lo ... x_hi-1).
//
// # Storage
//
// The examples are kept in the tightest form that all of them allow, which may only go down this
// list as examples come:
//
//	bits    all values 0 or 1: bit sets; a value is a count of bits, looked up in a table of
//	        kernel values
//	bytes   all values integers from 0 to 255: bytes
//	dense, csr   anything else: floats, in the layout of the first block
//
// Sparse examples with many more features than non-zeros stay csr whatever their values.
//
// # The same bits
//
// A kernel value does not depend on the form. Dot products are in float64 for either precision:
// rows of the first two forms are exact integers below 2^31, which float64 arithmetic gives exactly
// in any order, so they are what the float form gives. Dense floats add up as [vecmath.Dot] of
// float64 does, csr as [vecmath.SparseDot] does over the non-zeros of the listed example (zeros
// that are stored in a block are left out, here and everywhere); K(x_i, x_j) and K(x_j, x_i) may
// therefore differ in the last bits for csr.
//
// Memory: the examples once, 8 bytes an example for its squared norm, and some rows of scratch, as
// many as calls ran at once. Append needs the list for itself; all else is safe for concurrent use.
type Points[T Float] struct {
	kernel Kernel
	n      int
	dim    int       // features: all indices are below
	nnz    int       // non-zeros of all
	sq     []float64 // squared norms
	sparse bool      // the first block was
	form   pointForm
	store  store[T] // of that form; nil while there are no examples

	jobs scratch.Stack[rowJob[T]]
}

// pointForm is how examples are stored, the tightest first.
type pointForm uint8

const (
	formBits pointForm = iota
	formBytes
	formFloats
)

// store holds the examples of a list in one form.
type store[T Float] interface {
	name() string
	bytes() int64 // memory in use
	clone(k *Kernel) store[T]
	reach() int // features that its rows have room for
	// tables are what it would hold of n examples with nnz non-zeros, in rows for that many
	// features.
	tables(n, nnz, features int) [3]pointTable
	makeRoom(n, nnz int)
	// stores example i, the next one, for which there is room
	put(i int, idx []int32, val []T)
	replace(i int, idx []int32, val []T) // makes room if need be
	// non-zeros more if example i is replaced by one with nnz
	grows(i, nnz int) int
	nonZeros(idx []int32, val []T, i int) ([]int32, []T) // appends those of example i
	cost() int                                           // about how many ns a value takes

	// ready makes example i ready for products with the others, pack the one whose non-zeros are
	// in the job.
	ready(j *rowJob[T], i int)
	pack(j *rowJob[T])
	// values computes K of the job's example, which has been made ready by this store, and those
	// from lo on; sq are the squared norms of these.
	values(j *rowJob[T], dst []T, sq []float64, lo int)
	// wideDot is the product of example i with any other, all of whose elements are in x, in the
	// order in which the float forms add up.
	wideDot(i int, x []float64, sparse bool) float64
}

// pointTable is a slice that a store holds: it has room for have elements of that many bytes, and
// would need count.
type pointTable struct{ have, count, elem int64 }

// A bit set costs about 0.5 ns a word, bytes 0.03 ns each, and a non-zero of csr 0.7 ns: forms that
// store zeros are worth it up to these sizes a non-zero.
const (
	bitsPerNonZero  = 64
	bytesPerNonZero = 16
)

// NewPoints returns an empty list. The error is that of [Kernel.Validate].
func NewPoints[T Float](k Kernel) (*Points[T], error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	return &Points[T]{kernel: k}, nil
}

// Len returns the number of examples.
func (p *Points[T]) Len() int { return p.n }

// Kernel returns the kernel.
func (p *Points[T]) Kernel() Kernel { return p.kernel }

// Clone returns a list of the same examples in the same form, with memory of its own. Cost: a copy
// of them.
func (p *Points[T]) Clone() *Points[T] {
	c := &Points[T]{kernel: p.kernel, n: p.n, dim: p.dim, nnz: p.nnz, sq: slices.Clone(p.sq),
		sparse: p.sparse, form: p.form}
	if p.store != nil {
		c.store = p.store.clone(&c.kernel)
	}
	return c
}

// Form names how the examples are stored: bits, bytes, dense or csr.
func (p *Points[T]) Form() string {
	if p.store == nil {
		return "bits"
	}
	return p.store.name()
}

// Bytes returns the memory that the examples take, in bytes.
func (p *Points[T]) Bytes() int64 {
	held := int64(cap(p.sq)) * 8
	if p.store != nil {
		held += p.store.bytes()
	}
	return held
}

// Diag returns K(x_i, x_i), the value that a row of i has at place i.
func (p *Points[T]) Diag(i int) T {
	var v [1]T
	kernelValues(v[:], &p.kernel, p.sq[i], p.sq[i:i+1], p.sq[i:i+1])
	return v[0]
}

// DiagOf returns K(z, z), where z is example i of b, which has been checked: the value that Diag
// has once z is in the list.
func (p *Points[T]) DiagOf(b *Block[T], i int) T {
	j := p.job()
	defer p.done(j)
	j.gather(b, i)
	sq := [1]float64{sumSq(j.val, j.idx, p.sparse || p.n == 0 && !b.Dense())}
	var v [1]T
	kernelValues(v[:], &p.kernel, sq[0], sq[:], sq[:])
	return v[0]
}

// NonZeros appends the non-zeros of example i to idx and val, in ascending order.
func (p *Points[T]) NonZeros(idx []int32, val []T, i int) ([]int32, []T) {
	return p.store.nonZeros(idx, val, i)
}

// Append adds examples lo to hi-1 of b, which has been checked ([Block.Check]). The first block
// decides whether the list is a sparse or a dense one; later blocks may be either. Cost: one pass
// over the examples, and over the whole list when it has to change its form.
func (p *Points[T]) Append(b *Block[T], lo, hi int) {
	if lo >= hi {
		return
	}
	if p.n == 0 {
		p.sparse = !b.Dense()
	}
	j := p.job()
	// What all of the new ones need, so that a block that can't be packed isn't packed first.
	need, dim, nnz := p.form, p.dim, p.nnz
	for i := lo; i < hi; i++ {
		j.gather(b, i)
		need, nnz = max(need, formOf(j.val)), nnz+len(j.val)
		if len(j.idx) > 0 {
			dim = max(dim, int(j.idx[len(j.idx)-1])+1)
		}
	}
	p.reshape(p.allowed(need, dim, nnz, p.n+hi-lo), dim)
	p.sq = withRoom(p.sq, p.n+hi-lo)
	p.store.makeRoom(p.n+hi-lo, nnz)
	for i := lo; i < hi; i++ {
		j.gather(b, i)
		p.store.put(p.n, j.idx, j.val)
		p.sq = append(p.sq, sumSq(j.val, j.idx, p.sparse))
		p.n++
	}
	p.nnz = nnz
	p.done(j)
}

// Replace puts example i of b, which has been checked, in the place of example at. Cost:
// O(features) for packed and dense lists, O(non-zeros of the list) for csr; allocates where memory
// must grow only. Like Append it needs the list for itself.
func (p *Points[T]) Replace(at int, b *Block[T], i int) {
	j := p.job()
	j.gather(b, i)
	dim, nnz := p.dim, p.nnz
	if n := len(j.idx); n > 0 {
		dim = max(dim, int(j.idx[n-1])+1)
	}
	nnz += p.store.grows(at, len(j.val))
	p.reshape(p.allowed(max(p.form, formOf(j.val)), dim, nnz, p.n), dim)
	p.store.replace(at, j.idx, j.val)
	p.sq[at], p.nnz = sumSq(j.val, j.idx, p.sparse), nnz
	p.done(j)
}

// allowed is the tightest form from need on whose rows are worth their zeros, for n examples.
func (p *Points[T]) allowed(need pointForm, dim, nnz, n int) pointForm {
	if need == formBits && p.sparse && dim > bitsPerNonZero*(nnz/n+1) {
		need = formBytes
	}
	if need == formBytes && (dim > vecmath.MaxBytes || p.sparse &&
		dim > bytesPerNonZero*(nnz/n+1)) {
		need = formFloats
	}
	return need
}

// formOf is the tightest form for values.
func formOf[T Float](val []T) pointForm {
	form := formBits
	for _, v := range val {
		if v == 1 {
			continue
		}
		if !(v >= 0 && v <= 255) || v != T(uint8(v)) {
			return formFloats
		}
		form = formBytes
	}
	return form
}

// nonZeros appends the non-zeros of a dense example.
func nonZeros[T Float](idx []int32, val []T, x []T) ([]int32, []T) {
	for j, v := range x {
		if v != 0 {
			idx, val = append(idx, int32(j)), append(val, v)
		}
	}
	return idx, val
}

// sumSq is the dot product of an example with itself: a dense one has 32 partial sums, to which
// zeros add nothing.
func sumSq[T Float](val []T, idx []int32, sparse bool) float64 {
	var s [32]float64
	for k, v := range val {
		part := k & 7
		if !sparse {
			part = int(idx[k] & 31)
		}
		s[part] = math.FMA(float64(v), float64(v), s[part])
	}
	return halve(&s)
}

// halve adds partial sums up as vecmath does; the upper 24 of csr's are +0 and add nothing.
func halve(s *[32]float64) float64 {
	for h := len(s) / 2; h >= 1; h /= 2 {
		for i := range h {
			s[i] += s[i+h]
		}
	}
	return s[0]
}

// reshape makes room for dim features in the given form, moving all examples if need be.
func (p *Points[T]) reshape(form pointForm, dim int) {
	p.dim = dim
	old := p.store
	if old != nil && form == p.form && dim <= old.reach() {
		return
	}
	features := rowFeatures[T](form, p.sparse, dim, old != nil && form == p.form)
	p.form, p.store = form, newStore[T](form, p.sparse, features, &p.kernel)
	if p.n > 0 {
		p.store.makeRoom(p.n, p.nnz)
	}
	var idx []int32
	var val []T
	for i := range p.n {
		idx, val = old.nonZeros(idx[:0], val[:0], i)
		p.store.put(i, idx, val)
	}
}

// newStore returns an empty store of a form whose rows have room for that many features.
func newStore[T Float](form pointForm, sparse bool, features int, k *Kernel) store[T] {
	switch {
	case form == formBits:
		return newBitStore[T](features, k)
	case form == formBytes:
		return &byteStore[T]{stride: features, kernel: k}
	case sparse:
		return &csrStore[T]{kernel: k}
	}
	return &denseStore[T]{stride: features, kernel: k}
}

// emptyStore is a store of a form without rows, to ask what they would take.
func emptyStore[T Float](form pointForm, sparse bool) store[T] {
	switch {
	case form == formBits:
		return &bitStore[T]{}
	case form == formBytes:
		return &byteStore[T]{}
	case sparse:
		return &csrStore[T]{}
	}
	return &denseStore[T]{}
}

// unitOf is what a row's number of features is a multiple of; 0 for csr, which has no rows.
func unitOf[T Float](form pointForm, sparse bool) int {
	switch {
	case form == formBits:
		return 64
	case form == formBytes:
		return vecmath.ByteUnit
	case !sparse:
		return padded[T](1)
	}
	return 0
}

// rowFeatures is how many features rows get for dim: whole units, and a quarter more where features
// keep coming.
func rowFeatures[T Float](form pointForm, sparse bool, dim int, coming bool) int {
	per := unitOf[T](form, sparse)
	if per == 0 {
		return 0
	}
	room := dim
	if coming {
		room += dim / 4
	}
	if form == formBytes {
		room = min(room, vecmath.MaxBytes)
	}
	return (room + per - 1) / per * per
}

// extend lengthens s to n with zeros.
func extend[E any](s []E, n int) []E { return append(s, make([]E, n-len(s))...) }

// Row sets dst[j-lo] = K(x_i, x_j) for j from lo to hi-1, on the caller. It allocates nothing once
// it has been called.
//
// Cost, one core: see BenchmarkKernelRow.
func (p *Points[T]) Row(dst []T, i, lo, hi int) {
	j := p.job()
	j.point(i)
	j.fill(dst[:hi-lo], lo)
	p.done(j)
}

// RowAt sets dst[k] = K(x_i, x_at[k]), the values that Row has at those places, on the caller. It
// allocates nothing once it has been called.
func (p *Points[T]) RowAt(dst []T, i int, at []int32) {
	j := p.job()
	j.point(i)
	for k, to := range at {
		j.fill(dst[k:k+1], int(to))
	}
	p.done(j)
}

// RowOf sets dst[j-lo] = K(z, x_j) for j from lo to hi-1, where z is example i of b, which has been
// checked. It is what Row would give if z were in the list. If z doesn't have the form of the list
// (say, bits), it is slower.
func (p *Points[T]) RowOf(dst []T, b *Block[T], i, lo, hi int) {
	j := p.job()
	j.outside(b, i)
	j.fill(dst[:hi-lo], lo)
	p.done(j)
}

// job returns scratch.
func (p *Points[T]) job() *rowJob[T] {
	j := p.jobs.Take()
	j.p = p
	return j
}

// done takes scratch back.
func (p *Points[T]) done(j *rowJob[T]) {
	j.clear()
	p.jobs.Give(j)
}
