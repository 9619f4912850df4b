package gauss

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/vecmath"
)

// symMulAdd is y += M x for a symmetric M, of which there is the lower triangle row by row.
func symMulAdd(y, M, x []float64) {
	for i, xi := range x {
		row := M[i*(i+1)/2:][:i+1]
		y[i] += math.FMA(row[i], xi, vecmath.Dot(row[:i], x))
		vecmath.Axpy(y[:i], xi, row)
	}
}

// cholesky returns the lower triangular L with L L^T = M, both row by row, or nil if M is not
// positive definite.
func cholesky(M []float64, d int) []float64 {
	at := func(i int) int { return i * (i + 1) / 2 }
	L := slices.Clone(M[:at(d)])
	for i := range d {
		row := L[at(i):][:i+1]
		for j := range i {
			row[j] = (row[j] - vecmath.Dot(row[:j], L[at(j):])) / L[at(j)+j]
		}
		v := row[i] - vecmath.SumSq(row[:i])
		if !(v > 0) || math.IsInf(v, 0) {
			return nil
		}
		row[i] = math.Sqrt(v)
	}
	return L
}

// inverse returns the inverse of a symmetric matrix, both as lower triangles row by row, or nil if
// it is not positive definite: by its Cholesky factor L and the inverse of that.
func inverse(M []float64, d int) []float64 {
	at := func(i int) int { return i * (i + 1) / 2 }
	L := cholesky(M, d)
	if L == nil {
		return nil
	}
	// Row i of L^-1 is (e_i - sum_{j<i} L_ij row j)/L_ii; M^-1 is the sum of the rows' squares.
	inv, R := make([]float64, at(d)), make([]float64, at(d))
	for i := range d {
		row := R[at(i):][:i+1]
		for j := range i {
			vecmath.Axpy(row[:j+1], -L[at(i)+j], R[at(j):])
		}
		row[i] = 1
		vecmath.Scal(row, 1/L[at(i)+i])
		for j, v := range row {
			vecmath.Axpy(inv[at(j):][:j+1], v, row)
		}
	}
	return inv
}

// Pair holds a mean and a covariance matrix in two dimensions, or the like.
type Pair struct{ A, B float64 }

type Sym2 struct{ Aa, Ab, Bb float64 }

func (s Sym2) Mul(x Pair) Pair {
	return Pair{math.FMA(s.Aa, x.A, float64(s.Ab*x.B)), math.FMA(s.Ab, x.A, float64(s.Bb*x.B))}
}

// det returns the determinant to within a few roundings, however much of it cancels.
func (s Sym2) det() float64 {
	b2 := float64(s.Ab * s.Ab)
	return math.FMA(s.Aa, s.Bb, -b2) + math.FMA(-s.Ab, s.Ab, b2)
}

// sandwich returns s h s.
func (s Sym2) sandwich(h Sym2) Sym2 {
	u, v := h.Mul(Pair{s.Aa, s.Ab}), h.Mul(Pair{s.Ab, s.Bb}) // the columns of h s
	first, second := s.Mul(u), s.Mul(v)
	return Sym2{first.A, first.B, second.B}
}
