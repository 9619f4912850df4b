package engine

import (
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// Room returns for how many elements a table is made that has room for have and now needs more:
// exactly as many the first time, and a quarter more than it had when it moves, so that many small
// steps stay cheap. While it moves the old table is there too.
func Room(have, need int) int {
	switch {
	case need <= have:
		return have
	case have == 0:
		return need
	}
	return max(need, have+have/4+16)
}

// withRoom returns s with room for n elements, moved as [Room] says.
func withRoom[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s
	}
	return append(make([]E, 0, Room(cap(s), n)), s...)
}

// most is n with the quarter more that Room takes.
func most(n int64) int64 { return n + n/4 + 16 }

// FourierBytes bounds the bytes of [Fourier] of that size, with the features it makes of so many
// examples at a time: held for good, and moving, beside them, for as long as tables grow.
func FourierBytes(size, dim, examples, elem int64, growing bool) (held, moving int64) {
	row := (size/2*elem + cacheLine - 1) / cacheLine * cacheLine
	if held = row * dim; growing {
		held, moving = row*most(dim), row*dim
	}
	z := (max(size*elem, row) + cacheLine - 1) / cacheLine * cacheLine
	return held + examples*(z+elem), moving
}

// PointsBytes bounds the bytes of [Points] with n examples, the longest of which has that many
// non-zeros, of dim features: held for good, and moving, beside them, for as long as tables grow.
// An element takes elem bytes.
func PointsBytes(n, longest, dim, elem int64, dense bool) (held, moving int64) {
	wide := dim + dim/4 // rows of a list whose features keep coming
	floats := wide*elem + 2*cacheLine
	if !dense {
		// The forms that store zeros are for lists with at least a non-zero in so many features.
		packed := min(wide, bytesPerNonZero*(longest+1)*5/4) + vecmath.ByteUnit
		floats = max(packed, longest*(4+elem)*5/4)
	}
	table := elem*(min(wide, bitsPerNonZero*(longest+1)*5/4)+65) + 16
	if dense {
		table = elem*(wide+65) + 16
	}
	held = most(n)*(floats+16) + table + 4*cacheLine
	return held, held + 4*table
}

// Need returns what the list takes, with all that it takes while it moves, once example i of b has
// come: as one more, or in the place of one that is there.
func (p *Points[T]) Need(b *Block[T], i int, more bool) int64 {
	j := p.job()
	defer p.done(j)
	j.gather(b, i)
	n, dim, nnz, sparse := p.n, p.dim, p.nnz+len(j.val), p.sparse
	if more {
		n++
	}
	if p.n == 0 {
		sparse = !b.Dense()
	}
	if k := len(j.idx); k > 0 {
		dim = max(dim, int(j.idx[k-1])+1)
	}
	q := Points[T]{sparse: sparse}
	form := q.allowed(max(p.form, formOf(j.val)), dim, nnz, max(n, 1))
	same := p.store != nil && form == p.form
	moves := !same || dim > p.store.reach()
	st := p.store
	var features int
	switch {
	case moves:
		features = rowFeatures[T](form, sparse, dim, same)
		if !same {
			st = emptyStore[T](form, sparse)
		}
	case unitOf[T](form, sparse) > 0:
		features = p.store.reach()
	}
	need := 8 * int64(Room(cap(p.sq), n))
	again := int64(0)
	if n > cap(p.sq) {
		again += 8 * int64(cap(p.sq))
	}
	for _, t := range st.tables(n, nnz, features) {
		switch {
		case moves:
			need += t.count * t.elem
			again += t.have * t.elem
		case t.count > t.have:
			need += int64(Room(int(t.have), int(t.count))) * t.elem
			again += t.have * t.elem
		default:
			need += t.have * t.elem
		}
	}
	if form == formBits {
		table := int64(features+1) * int64(unsafe.Sizeof(T(0)))
		if need += table; moves {
			again += 4 * table
		}
	}
	if moves && form != p.form {
		again = p.Bytes()
	}
	return need + again
}
