package engine

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
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

	x      []T // dense: n rows of stride, 64-byte aligned
	bytes  []uint8
	words  []uint64
	stride int // of x, bytes or words
	table  []T // bits: the kernel value of each count

	ptr []int // csr
	idx []int32
	val []T

	jobs scratch.Stack[rowJob[T]]
}

// pointForm is how examples are stored, the tightest first.
type pointForm uint8

const (
	formBits pointForm = iota
	formBytes
	formFloats
)

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

// Form tells how the examples are stored: bits, bytes, dense or csr.
func (p *Points[T]) Form() string {
	switch {
	case p.form == formBits:
		return "bits"
	case p.form == formBytes:
		return "bytes"
	case p.sparse:
		return "csr"
	}
	return "dense"
}

// Bytes returns the memory held by the examples.
func (p *Points[T]) Bytes() int64 {
	size := int64(unsafe.Sizeof(T(0)))
	return int64(cap(p.sq)+cap(p.words)+cap(p.ptr))*8 + int64(cap(p.bytes)) + int64(cap(p.idx))*4 +
		int64(cap(p.x)+cap(p.val)+cap(p.table))*size
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
	switch {
	case p.form == formBits:
		for w, word := range p.words[i*p.stride:][:p.stride] {
			for ; word != 0; word &= word - 1 {
				idx, val = append(idx, int32(w*64+bits.TrailingZeros64(word))), append(val, 1)
			}
		}
	case p.form == formBytes:
		for j, v := range p.bytes[i*p.stride:][:p.stride] {
			if v != 0 {
				idx, val = append(idx, int32(j)), append(val, T(v))
			}
		}
	case p.sparse:
		idx, val = append(idx, p.idx[p.ptr[i]:p.ptr[i+1]]...), append(val,
			p.val[p.ptr[i]:p.ptr[i+1]]...)
	default:
		idx, val = nonZeros(idx, val, p.x[i*p.stride:][:p.dim])
	}
	return idx, val
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
	p.room(p.n+hi-lo, nnz)
	for i := lo; i < hi; i++ {
		j.gather(b, i)
		p.put(p.n, j.idx, j.val)
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
	old := 0
	if p.form == formFloats && p.sparse {
		old = p.ptr[at+1] - p.ptr[at]
		nnz += len(j.val) - old
	}
	p.reshape(p.allowed(max(p.form, formOf(j.val)), dim, nnz, p.n), dim)
	switch {
	case p.form == formBits:
		row := p.words[at*p.stride:][:p.stride]
		clear(row)
		for _, f := range j.idx {
			row[f>>6] |= 1 << (f & 63)
		}
	case p.form == formBytes:
		row := p.bytes[at*p.stride:][:p.stride]
		clear(row)
		for k, f := range j.idx {
			row[f] = uint8(j.val[k])
		}
	case p.sparse:
		p.room(p.n, nnz)
		lo, hi := p.ptr[at], p.ptr[at+1]
		p.idx, p.val = slices.Replace(p.idx, lo, hi, j.idx...), slices.Replace(p.val, lo, hi,
			j.val...)
		for k := at + 1; k < len(p.ptr); k++ {
			p.ptr[k] += len(j.idx) - (hi - lo)
		}
	default:
		row := p.x[at*p.stride:][:p.stride]
		clear(row)
		for k, f := range j.idx {
			row[f] = j.val[k]
		}
	}
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
	old := Points[T]{form: p.form, sparse: p.sparse, dim: p.dim, stride: p.stride,
		x: p.x, bytes: p.bytes, words: p.words, ptr: p.ptr, idx: p.idx, val: p.val}
	per := unitOf[T](form, p.sparse)
	fits := per == 0 || dim <= p.stride*strideUnit[T](form)
	p.dim = dim
	if form == p.form && fits && p.n > 0 {
		return
	}
	p.form = form
	p.x, p.bytes, p.words, p.ptr, p.idx, p.val, p.table, p.stride = nil, nil, nil, nil, nil, nil,
		nil, 0
	if per > 0 {
		p.stride = strideFor[T](form, p.sparse, dim, p.n > 0 && form == old.form)
	}
	if p.n > 0 {
		p.room(p.n, p.nnz)
	}
	var idx []int32
	var val []T
	for i := range p.n {
		idx, val = old.NonZeros(idx[:0], val[:0], i)
		p.put(i, idx, val)
	}
	if form == formBits {
		p.makeTable()
	}
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

// strideFor is the stride of rows of dim features, with room for a quarter more where features keep
// coming.
func strideFor[T Float](form pointForm, sparse bool, dim int, coming bool) int {
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
	return (room + per - 1) / per * per / strideUnit[T](form)
}

// room makes room for n examples with nnz non-zeros.
func (p *Points[T]) room(n, nnz int) {
	p.sq = withRoom(p.sq, n)
	switch {
	case p.form == formBits:
		p.words = withRoom(p.words, n*p.stride)
	case p.form == formBytes:
		p.bytes = withRoom(p.bytes, n*p.stride)
	case p.sparse:
		p.ptr = withRoom(p.ptr, n+1)
		p.idx, p.val = withRoom(p.idx, nnz), withRoom(p.val, nnz)
	default:
		if need := n * p.stride; need > cap(p.x) {
			x := Aligned[T](Room(cap(p.x), need) / p.stride * p.stride)
			p.x = x[:copy(x, p.x)]
		}
	}
}

// strideUnit is the number of features in an element of a row.
func strideUnit[T Float](form pointForm) int {
	if form == formBits {
		return 64
	}
	return 1
}

// makeTable computes the kernel value of each count of bits: of |x-z|^2 for rbf, of x.z for others.
func (p *Points[T]) makeTable() {
	p.table = make([]T, 64*p.stride+1)
	count := make([]float64, len(p.table))
	for c := range count {
		count[c] = float64(c)
	}
	if p.kernel.Kind == RBF {
		kernelValues(p.table, &p.kernel, 0, count, make([]float64, len(count)))
	} else {
		kernelValues(p.table, &p.kernel, 0, count, count)
	}
}

// put stores example i, the next one, for which there is room.
func (p *Points[T]) put(i int, idx []int32, val []T) {
	switch {
	case p.form == formBits:
		p.words = extend(p.words, (i+1)*p.stride)
		row := p.words[i*p.stride:]
		for _, j := range idx {
			row[j>>6] |= 1 << (j & 63)
		}
	case p.form == formBytes:
		p.bytes = extend(p.bytes, (i+1)*p.stride)
		row := p.bytes[i*p.stride:]
		for k, j := range idx {
			row[j] = uint8(val[k])
		}
	case p.sparse:
		if len(p.ptr) == 0 {
			p.ptr = append(p.ptr, 0)
		}
		p.idx, p.val = append(p.idx, idx...), append(p.val, val...)
		p.ptr = append(p.ptr, len(p.idx))
	default:
		p.x = p.x[:(i+1)*p.stride]
		row := p.x[i*p.stride:]
		for k, j := range idx {
			row[j] = val[k]
		}
	}
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

// rowJob computes values of one row: an example made ready for dot products with all of the list.
// It is scratch, and a [Job] whose parts are runs of the row.
type rowJob[T Float] struct {
	p    *Points[T]
	form pointForm // of the example
	sq   float64
	row  []uint8
	word []uint64
	x    []float64 // dim elements

	idx   []int32 // non-zeros of an example
	val   []T
	wide  []float64 // memory of x; zero between two rows
	bytes []uint8   // of row
	words []uint64  // of word

	dst  []T // the row from lo on, in parts of size
	lo   int
	size int
}

// gather takes the non-zeros of example i of b.
func (j *rowJob[T]) gather(b *Block[T], i int) {
	j.idx, j.val = j.idx[:0], j.val[:0]
	if b.Dense() {
		j.idx, j.val = nonZeros(j.idx, j.val, b.Row(i))
		return
	}
	idx, val := b.Sparse(i)
	for k, v := range val {
		if v != 0 {
			j.idx, j.val = append(j.idx, idx[k]), append(j.val, v)
		}
	}
}

// point makes example i of the list ready.
func (j *rowJob[T]) point(i int) {
	p := j.p
	if i < 0 || i >= p.n {
		panic(fmt.Sprintf("engine: row %d of %d examples", i, p.n))
	}
	j.form, j.sq, j.idx = p.form, p.sq[i], j.idx[:0]
	switch {
	case p.form == formBits:
		j.word = p.words[i*p.stride:][:p.stride]
	case p.form == formBytes:
		j.row = p.bytes[i*p.stride:][:p.stride]
	case p.sparse:
		j.scatter(p.idx[p.ptr[i]:p.ptr[i+1]], p.val[p.ptr[i]:p.ptr[i+1]])
	default:
		j.widen(p.x[i*p.stride:][:p.dim])
	}
}

// outside makes example i of b ready.
func (j *rowJob[T]) outside(b *Block[T], i int) {
	p := j.p
	j.gather(b, i)
	j.sq = sumSq(j.val, j.idx, p.sparse)
	j.form = p.form
	if n := len(j.idx); formOf(j.val) > p.form || n > 0 &&
		int(j.idx[n-1]) >= p.stride*strideUnit[T](p.form) {
		j.form = formFloats // values or features that the packed rows haven't got
	}
	switch {
	case j.form == formBits:
		j.words = extend(j.words[:0], p.stride)
		for _, f := range j.idx {
			j.words[f>>6] |= 1 << (f & 63)
		}
		j.word = j.words
	case j.form == formBytes:
		j.bytes = extend(j.bytes[:0], p.stride)
		for k, f := range j.idx {
			j.bytes[f] = uint8(j.val[k])
		}
		j.row = j.bytes
	default:
		j.scatter(j.idx, j.val)
	}
}

// scatter spreads non-zeros over dim zeros; features that the list hasn't got count in the norm
// only.
func (j *rowJob[T]) scatter(idx []int32, val []T) {
	j.room()
	j.idx = append(j.idx[:0], idx...)
	for k, f := range idx {
		if int(f) < len(j.x) {
			j.x[f] = float64(val[k])
		}
	}
}

// widen copies a dense example, or takes it as it is.
func (j *rowJob[T]) widen(x []T) {
	if x64, ok := any(x).([]float64); ok {
		j.x = x64
		return
	}
	j.idx = j.idx[:0]
	j.room()
	for f, v := range x {
		j.x[f] = float64(v)
	}
}

func (j *rowJob[T]) room() {
	if cap(j.wide) < j.p.dim {
		j.wide = Aligned[float64](Room(cap(j.wide), j.p.dim))
	}
	j.wide = j.wide[:cap(j.wide)]
	j.x = j.wide[:j.p.dim]
}

// clear leaves zeros in wide, and nothing that would keep a row or an old storage alive. form is
// that of the last row, or bits, where nothing has used wide.
func (j *rowJob[T]) clear() {
	if j.form == formFloats {
		if len(j.idx) > 0 {
			for _, f := range j.idx {
				if int(f) < len(j.wide) {
					j.wide[f] = 0
				}
			}
		} else {
			clear(j.wide)
		}
	}
	j.form, j.row, j.word, j.x, j.dst = formBits, nil, nil, nil, nil
}

// Part computes part i.
func (j *rowJob[T]) Part(i int) {
	lo := i * j.size
	j.fill(j.dst[lo:min(lo+j.size, len(j.dst))], j.lo+lo)
}

// run computes the row from lo on, on the pool where that pays.
func (j *rowJob[T]) run(ctx context.Context, pool *Pool, dst []T, lo int) error {
	if pool.Worth(len(dst) * j.p.cost()) {
		return j.runParts(ctx, pool, dst, lo)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	j.fill(dst, lo)
	return nil
}

func (j *rowJob[T]) runParts(ctx context.Context, pool *Pool, dst []T, lo int) error {
	j.dst, j.lo = dst, lo
	j.size = max(1, partNS/j.p.cost()/rowChunk) * rowChunk
	return pool.Run(ctx, (len(dst)+j.size-1)/j.size, j)
}

// partNS is about how long a part takes: long against handing it out, and short against a row.
const partNS = 10_000

// cost is about how many ns a value takes.
func (p *Points[T]) cost() int {
	switch {
	case p.form == formBits:
		return 1 + p.stride/2
	case p.form == formBytes:
		return 3 + p.dim/32
	case p.sparse:
		return 5 + p.nnz/max(1, p.n)
	}
	return 5 + p.dim/8
}

// rowChunk values at a time go from dot products to kernel values, in L1.
const rowChunk = 256

// fill computes K of the example and those from lo on.
func (j *rowJob[T]) fill(dst []T, lo int) {
	p := j.p
	if lo < 0 || lo+len(dst) > p.n {
		panic(fmt.Sprintf("engine: values %d to %d of a row of %d", lo, lo+len(dst), p.n))
	}
	var dots [rowChunk]float64
	var ints [rowChunk]int32
	for len(dst) > 0 {
		n := min(rowChunk, len(dst))
		switch {
		case j.form != p.form:
			for r := range n {
				dots[r] = p.dotAny(lo+r, j.x)
			}
		case p.form == formBits:
			if p.kernel.Kind == RBF {
				vecmath.XorCount(dst[:n], p.words[lo*p.stride:], p.stride, j.word, p.table)
			} else {
				vecmath.AndCount(dst[:n], p.words[lo*p.stride:], p.stride, j.word, p.table)
			}
		case p.form == formBytes:
			vecmath.ByteRowsDot(ints[:n], p.bytes[lo*p.stride:], p.stride, j.row)
			for r, v := range ints[:n] {
				dots[r] = float64(v)
			}
		case p.sparse:
			for r := range n {
				a, b := p.ptr[lo+r], p.ptr[lo+r+1]
				dots[r] = vecmath.SparseDotMixedUnchecked(trusted.Indices{}, p.idx[a:b], p.val[a:b],
					j.x)
			}
		default:
			p.denseDots(dots[:n], lo, j.x)
		}
		if j.form != formBits {
			kernelValues(dst[:n], &p.kernel, j.sq, p.sq[lo:], dots[:n])
		}
		dst, lo = dst[n:], lo+n
	}
}

// denseDots: rows of float64 go to the kernel in one call; rows of float32 are widened on the way.
func (p *Points[T]) denseDots(dots []float64, lo int, x []float64) {
	if rows, ok := any(p.x[lo*p.stride:]).([]float64); ok {
		vecmath.RowsDot(dots, rows, p.stride, x)
		return
	}
	for r := range dots {
		dots[r] = vecmath.DotMixed(x, p.x[(lo+r)*p.stride:][:p.dim])
	}
}

// dotAny is the dot product of a packed example of the list with any other, in the order of the
// float form.
func (p *Points[T]) dotAny(i int, x []float64) float64 {
	var s [32]float64
	k := 0
	add := func(f int, v float64) {
		part := k & 7
		if !p.sparse {
			part = f & 31
		}
		s[part] = math.FMA(v, x[f], s[part])
		k++
	}
	if p.form == formBits {
		for w, word := range p.words[i*p.stride:][:p.stride] {
			for ; word != 0; word &= word - 1 {
				add(w*64+bits.TrailingZeros64(word), 1)
			}
		}
	} else {
		for f, v := range p.bytes[i*p.stride:][:p.stride] {
			if v != 0 {
				add(f, float64(v))
			}
		}
	}
	return halve(&s)
}
