package vecmath

import (
	"math"
	"unsafe"
)

// The operations that BLAS has and learners do without: composed of the kernels before them where
// that costs nothing, with their own kernels asum, maxAbs, indexAbs and addRows where it would.

// Nrm2 returns the Euclidean norm of x: the root of [SumSq], unless that is below the smallest
// normal number or above the largest. Then x is scaled by a power of two, so that the norm itself
// neither overflows nor loses digits where its square does.
//
// Of no elements it is 0; of any NaN NaN; otherwise of any infinity +Inf. The second pass goes
// through pieces of 512 elements, each multiplied by 2^600 or 2^-600 (float32: 2^90, 2^-90) and
// summed as SumSq does it; the sums of the pieces are added in their order.
func Nrm2[T Float](x []T) T {
	s := SumSq(x)
	smallest, largest := T(0x1p-126), T(math.MaxFloat32)
	if !is32[T]() {
		// of variables, since as constants they would not fit a float32
		smallest, largest = T(smallest64), T(largest64)
	}
	// What is fused with a normal sum is rounded once, as in any sum: such a sum has lost nothing.
	if (s >= smallest && s <= largest) || s != s {
		return sqrt(s)
	}
	return nrm2Scaled(x, s > largest)
}

var smallest64, largest64 float64 = 0x1p-1022, math.MaxFloat64

// nrm2Scaled is Nrm2 by a second pass, over numbers whose squares are too large, or too small.
func nrm2Scaled[T Float](x []T, large bool) T {
	up, down := T(0x1p90), T(0x1p-90)
	if !is32[T]() {
		up, down = T(up64), T(down64)
	}
	if large {
		up, down = down, up
	}
	var piece [512]T
	var sum T
	for len(x) > 0 {
		p := piece[:copy(piece[:], x)]
		x = x[len(p):]
		scal(data(p), up, len(p))
		sum += sumSq(data(p), len(p))
	}
	return T(sqrt(sum) * down)
}

var up64, down64 float64 = 0x1p600, 0x1p-600

// sqrt is the correctly rounded root: for float32, too, that of float64 rounded again is.
func sqrt[T Float](x T) T { return T(math.Sqrt(float64(x))) }

// Asum returns the sum of |x[i]|, added up in the order of [Dot]: element i to partial sum i mod 64
// (float64: 32).
func Asum[T Float](x []T) T {
	if race {
		raceRead(x)
	}
	return asum(data(x), len(x))
}

// Iamax returns the first index of the largest |x[i]|, -1 of no elements. NaN is no number that
// others are compared with: it is left out, unless it is x[0], for which Iamax returns 0, as BLAS
// does.
//
// It reads x once, and some hundred elements of it twice.
func Iamax[T Float](x []T) int {
	if len(x) == 0 || x[0] != x[0] {
		return min(len(x), 1) - 1
	}
	if race {
		raceRead(x)
	}
	const piece = 4096 // bytes, which are still in the first cache when they are looked at again
	step := piece / int(unsafe.Sizeof(x[0]))
	at, largest := 0, T(-1)
	for from := 0; from < len(x); from += step {
		n := min(step, len(x)-from)
		if m := maxAbs(data(x[from:]), n); m > largest {
			at, largest = from, m
		}
	}
	return at + indexAbs(data(x[at:]), min(step, len(x)-at), largest)
}

// gemvPiece is the number of products that Gemv keeps on the stack.
const gemvPiece = 128

// Gemv sets y to beta*y + alpha*A*x, where row r of the matrix A is a[r*stride:][:len(x)] and
// len(y) is the number of rows. y must overlap neither a nor x.
//
// y[r] becomes alpha*d + beta*y[r], d = [Dot] of row r and x: beta*y[r] is rounded, the
// multiply-add with alpha fused. Where beta is 0, y is not read and becomes alpha*d; where alpha is
// 0, a and x are not read and y becomes beta*y.
func Gemv[T Float](y []T, beta, alpha T, a []T, stride int, x []T) {
	if len(y) == 0 {
		return
	}
	checkRowsDot(len(y), a, stride, len(x))
	if race {
		raceRead(x)
		raceWrite(y)
	}
	if alpha == 0 {
		scaleOrClear(y, beta)
		return
	}
	if beta == 0 {
		rowsDot(data(y), data(a), len(y), stride, data(x), len(x))
		if alpha != 1 {
			scal(data(y), alpha, len(y))
		}
		return
	}
	var piece [gemvPiece]T
	for from := 0; from < len(y); from += gemvPiece {
		part := y[from:min(from+gemvPiece, len(y))]
		rowsDot(&piece[0], data(a[from*stride:]), len(part), stride, data(x), len(x))
		if beta != 1 {
			scal(data(part), beta, len(part))
		}
		axpy(data(part), alpha, &piece[0], len(part), len(part))
	}
}

// GemvT sets y to beta*y + alpha*A'*x, A' the transpose of the matrix A whose row r is
// a[r*stride:][:len(y)]; len(x) is the number of rows. y must overlap neither a nor x.
//
// beta*y[j] is rounded, and +0 where beta is 0: y is not read then. To it the rows are added in
// their order, each as by [Axpy] with alpha*x[r], rounded. Where alpha is 0, a and x are not read.
func GemvT[T Float](y []T, beta, alpha T, a []T, stride int, x []T) {
	if len(y) == 0 {
		return
	}
	if len(x) > 0 {
		checkRowsDot(len(x), a, stride, len(y))
	}
	if race {
		raceRead(x)
		raceWrite(y)
	}
	scaleOrClear(y, beta)
	if alpha == 0 || len(x) == 0 {
		return
	}
	addRows(data(y), len(y), data(a), stride, data(x), len(x), alpha)
}

// AddRowsAt adds rows of a matrix to y, those whose numbers at lists, in its order: row r is
// a[r*stride:][:len(y)], and it is added as by [Axpy] with alpha*x[r], rounded. a has len(x) rows.
// y must overlap neither a nor x.
func AddRowsAt[T Float](y []T, alpha T, a []T, stride int, x []T, at []int32) {
	if len(y) == 0 || len(at) == 0 {
		return
	}
	checkRowsDot(len(x), a, stride, len(y))
	checkIndices(at, len(x))
	if race {
		raceRead(x)
		raceWrite(y)
	}
	addRowsAt(data(y), len(y), data(a), stride, data(x), data(at), len(at), alpha)
}

// scaleOrClear makes y beta*y, without reading it where beta is 0.
func scaleOrClear[T Float](y []T, beta T) {
	switch beta {
	case 0:
		clear(y)
	case 1:
	default:
		scal(data(y), beta, len(y))
	}
}

// addRowsByRow is addRows by an axpy a row.
func addRowsByRow[T Float](y *T, n int, rows *T, stride int, x *T, nrows int, alpha T) {
	at := unsafe.Pointer(rows)
	for _, v := range unsafe.Slice(x, nrows) {
		axpy(y, T(alpha*v), (*T)(at), n, n)
		at = unsafe.Add(at, stride*int(unsafe.Sizeof(alpha)))
	}
}

// addRowsAtByRow is addRowsAt by an axpy a row.
func addRowsAtByRow[T Float](y *T, n int, rows *T, stride int, x *T, list *int32, nlist int,
	alpha T) {
	for _, r := range unsafe.Slice(list, nlist) {
		axpy(y, T(alpha**at(x, int(r))), at(rows, int(r)*stride), n, n)
	}
}

func asumGeneric[T Float](x []T) T {
	var acc [64]T
	p := acc[:parts[T]()]
	for i, v := range x {
		p[i&(len(p)-1)] += abs(v)
	}
	return halve(p)
}

// maxAbsGeneric is the largest |x[i]|, +0 if there is none; NaN is left out.
func maxAbsGeneric[T Float](x []T) T {
	var m T
	for _, v := range x {
		if v = abs(v); v > m {
			m = v
		}
	}
	return m
}

// indexAbsGeneric is the first index with |x[i]| == m, len(x) if there is none. m is neither
// negative nor NaN.
func indexAbsGeneric[T Float](x []T, m T) int {
	for i, v := range x {
		if abs(v) == m {
			return i
		}
	}
	return len(x)
}

// abs clears the sign.
func abs[T Float](v T) T {
	if is32[T]() {
		return T(math.Float32frombits(math.Float32bits(float32(v)) &^ (1 << 31)))
	}
	return T(math.Abs(float64(v)))
}
