package vecmath

import "unsafe"

// A posterior covariance in place: its pending rank-1 change and its next product with a vector in
// one pass over half of the matrix, which is all that its memory has to move.
//
// The layout: row i of a symmetric n x n matrix V is v[i*stride:][:n], stride a multiple of
// [LaneUnit]. Kept are the blocks of LaneUnit x LaneUnit elements on the diagonal, and all that is
// left of them. What is right of them, and the padding behind column n, is neither used nor
// changed. So V[i][j] with j <= i is always good, and to set up a matrix, write all n*n elements,
// or the lower triangle and the blocks' other halves.

const panicSym = "vecmath: a symmetric matrix needs a stride that is a multiple of LaneUnit, " +
	"at least n, and n-1 strides + SymStride(n) elements"

// SymStride is the least stride of a symmetric n x n matrix: n rounded up to a multiple of
// [LaneUnit].
func SymStride[T Float](n int) int {
	u := LaneUnit[T]()
	return (n + u - 1) / u * u
}

// SymRankOneMul subtracts a*u*u' from the symmetric matrix V and then sets y = V*x, in one pass; n
// = len(x). v is laid out as above; it is fastest when 64-byte aligned. len(u) and len(y) are at
// least n. y must overlap none of the others; u may be x.
//
// A learner that needs v = V*x before it knows how V changes keeps that change, (a, u), and hands
// it to the next call:
//
//	SymRankOneMul(y, v, stride, x, a, u) // the change of the example before, y for this one
//	a, u, y = gain(...), y, u            // this one's change
//
// The first call gets a = 0 and any finite u. To read or save V, apply what is pending with a call
// whose y is not used.
//
// Cost: 3 n^2/2 multiply-adds; the memory of half of V, read once and written once. The order of
// operations: c[i] = -(a*u[i]) rounded, V[i][j] = c[i]*u[j] + V[i][j] fused, for j > i in a block
// on the diagonal c[j]*u[i] + V[i][j], so that a block stays exactly symmetric. y[i] begins with
// the products V[i][j]*x[j] of row i, j up to the end of its block (or n), with LaneUnit partial
// sums: all start at +0, element j belongs to j mod LaneUnit, fused, ascending; they are combined
// by halving. Then the rows k below the block add V[k][i]*x[k] to it, fused, ascending.
func SymRankOneMul[T Float](y, v []T, stride int, x []T, a T, u []T) {
	n := len(x)
	checkLen(n, min(len(y), len(u)))
	if n == 0 {
		return
	}
	checkSym(v, stride, n)
	if race {
		raceRead(x)
		raceRead(u[:n])
		raceWrite(y[:n])
		for i := range n {
			raceWrite(v[i*stride:][:min(n, SymStride[T](i+1))])
		}
	}
	symRankOneMul(data(y), data(v), stride, data(x), a, data(u), n)
}

// SymMul sets y = V*x for the symmetric matrix V, which it only reads, so that any number of calls
// may run at the same time; n = len(x). v is laid out as above; it is fastest when 64-byte aligned.
// len(y) is at least n. y must overlap none of the others.
//
// Cost: n^2 multiply-adds; the memory of half of V, read once. The bits are those of y of
// [SymRankOneMul] with a = 0 and u = 0: the order of operations is that one's, without the change.
func SymMul[T Float](y, v []T, stride int, x []T) {
	n := len(x)
	checkLen(n, len(y))
	if n == 0 {
		return
	}
	checkSym(v, stride, n)
	if race {
		raceRead(x)
		raceWrite(y[:n])
		for i := range n {
			raceRead(v[i*stride:][:min(n, SymStride[T](i+1))])
		}
	}
	symMul(data(y), data(v), stride, data(x), n)
}

// checkSym panics unless v holds a symmetric matrix of n >= 1 rows.
func checkSym[T Float](v []T, stride, n int) {
	last := SymStride[T](n)
	// The division keeps (n-1)*stride from overflowing.
	if stride < last || stride%LaneUnit[T]() != 0 || len(v) < last || n-1 > (len(v)-last)/stride {
		panic(panicSym)
	}
}

func symRankOneMulGeneric[T Float](y, v *T, stride int, x *T, a T, u *T, n int) {
	symRankOneMulSlices(unsafe.Slice(y, n), unsafe.Slice(v, (n-1)*stride+SymStride[T](n)), stride,
		unsafe.Slice(x, n), a, unsafe.Slice(u, n))
}

func symRankOneMulSlices[T Float](y, v []T, stride int, x []T, a T, u []T) {
	n, unit := len(x), LaneUnit[T]()
	for i := range n {
		row := v[i*stride:]
		c := -T(a * u[i])
		var acc [16]T
		p := acc[:unit]
		block := i / unit * unit
		for j := range block {
			w := fma(c, u[j], row[j])
			row[j] = w
			p[j&(unit-1)] = fma(w, x[j], p[j&(unit-1)])
			y[j] = fma(w, x[i], y[j])
		}
		for j := block; j < min(block+unit, n); j++ {
			var w T
			if j <= i {
				w = fma(c, u[j], row[j])
			} else {
				w = fma(-T(a*u[j]), u[i], row[j])
			}
			row[j] = w
			p[j-block] = fma(w, x[j], p[j-block])
		}
		y[i] = halve(p)
	}
}

func symMulGeneric[T Float](y, v *T, stride int, x *T, n int) {
	symMulSlices(unsafe.Slice(y, n), unsafe.Slice(v, (n-1)*stride+SymStride[T](n)), stride,
		unsafe.Slice(x, n))
}

func symMulSlices[T Float](y, v []T, stride int, x []T) {
	n, unit := len(x), LaneUnit[T]()
	for i := range n {
		row := v[i*stride:]
		var acc [16]T
		p := acc[:unit]
		block := i / unit * unit
		for j := range block {
			p[j&(unit-1)] = fma(row[j], x[j], p[j&(unit-1)])
			y[j] = fma(row[j], x[i], y[j])
		}
		for j := block; j < min(block+unit, n); j++ {
			p[j-block] = fma(row[j], x[j], p[j-block])
		}
		y[i] = halve(p)
	}
}
