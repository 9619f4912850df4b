// Package linalg has triangular factors: for the posteriors, the natural gradient and
// the support vector machine. All is float64, and the same bits on every CPU.
package linalg

import (
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// Lower is a lower triangle by rows: row i begins at i Stride or, with a Stride of 0, behind row
// i-1.
type Lower struct {
	A      []float64
	Stride int
}

// Row returns row i, up to the diagonal.
func (l Lower) Row(i int) []float64 {
	if l.Stride == 0 {
		return l.A[i*(i+1)/2:][:i+1]
	}
	return l.A[i*l.Stride:][:i+1]
}

// Cholesky replaces d rows of a symmetric matrix M by the lower triangular L with L L^T = M. It
// reports whether M is positive definite; if it isn't, only the rows before the one that shows it
// are L's.
func Cholesky(M Lower, d int) bool {
	for i := range d {
		row := M.Row(i)
		for j := range i {
			other := M.Row(j)
			row[j] = (row[j] - vecmath.Dot(row[:j], other)) / other[j]
		}
		v := row[i] - vecmath.SumSq(row[:i])
		if !(v > 0) {
			return false
		}
		row[i] = math.Sqrt(v)
	}
	return true
}

// Solve replaces x by the solution of L L^T x, of d rows.
func Solve(L Lower, d int, x []float64) {
	for i := range d { // L v = x
		row := L.Row(i)
		x[i] = (x[i] - vecmath.Dot(row[:i], x)) / row[i]
	}
	for i := d - 1; i >= 0; i-- { // L^T x = v
		row := L.Row(i)
		x[i] /= row[i]
		vecmath.Axpy(x[:i], -x[i], row)
	}
}
