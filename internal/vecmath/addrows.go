package vecmath

import "unsafe"

// AddRowsAt adds rows of a matrix to y, those whose numbers at lists, in its order: row r is
// a[r*stride:][:len(y)], and it is added as by [Axpy] with alpha*x[r], rounded. a has len(x) rows.
// y must overlap neither a nor x.
func AddRowsAt[T Float](y []T, alpha T, a []T, stride int, x []T, at []int32) {
	if len(y) == 0 || len(at) == 0 {
		return
	}
	checkRowsDot(len(x), a, stride, len(y))
	CheckIndices(at, len(x))
	if race {
		raceRead(x)
		raceWrite(y)
	}
	addRowsAt(data(y), len(y), data(a), stride, data(x), data(at), len(at), alpha)
}

// addRowsAtByRow is addRowsAt by an axpy a row.
func addRowsAtByRow[T Float](y *T, n int, rows *T, stride int, x *T, list *int32, nlist int,
	alpha T) {
	for _, r := range unsafe.Slice(list, nlist) {
		axpy(y, T(alpha**at(x, int(r))), at(rows, int(r)*stride), n, n)
	}
}
