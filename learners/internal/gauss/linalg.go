package gauss

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learners/internal/linalg"
)

// symMulAdd is y += M x for a symmetric M, of which there is the lower triangle row by row.
func symMulAdd(y, M, x []float64) {
	for i, xi := range x {
		row := M[i*(i+1)/2:][:i+1]
		y[i] += math.FMA(row[i], xi, vecmath.Dot(row[:i], x))
		vecmath.Axpy(y[:i], xi, row)
	}
}

// cholesky returns the factor L of M, both row by row, or nil if M is not positive definite or
// beyond the numbers.
func cholesky(M []float64, d int) []float64 {
	L := linalg.Lower{A: slices.Clone(M[:d*(d+1)/2])}
	if !linalg.Cholesky(L, d) {
		return nil
	}
	for i := range d {
		if math.IsInf(L.Row(i)[i], 0) {
			return nil
		}
	}
	return L.A
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

// Sym2 is a symmetric matrix of 2 x 2: AB is both off the diagonal.
type Sym2 struct{ AA, AB, BB float64 }

// Mul returns s x, its second products fused.
func (s Sym2) Mul(x Pair) Pair {
	return Pair{math.FMA(s.AA, x.A, float64(s.AB*x.B)), math.FMA(s.AB, x.A, float64(s.BB*x.B))}
}

// det returns the determinant to within a few roundings, however much of it cancels.
func (s Sym2) det() float64 {
	b2 := float64(s.AB * s.AB)
	return math.FMA(s.AA, s.BB, -b2) + math.FMA(-s.AB, s.AB, b2)
}

// sandwich returns s h s.
func (s Sym2) sandwich(h Sym2) Sym2 {
	u, v := h.Mul(Pair{s.AA, s.AB}), h.Mul(Pair{s.AB, s.BB}) // the columns of h s
	first, second := s.Mul(u), s.Mul(v)
	return Sym2{first.A, first.B, second.B}
}

// Jacobi makes the symmetric n x n matrix a, of which the lower triangle is given, diagonal by
// rotations: row j of V becomes the eigenvector of the eigenvalue a[j][j], which is >= 0 but for
// rounding if a has no negative ones. Cyclic Jacobi, some 5 sweeps of 6 n^3 operations. Only
// operations with one correct result are used.
//
// Source: G. H. Golub, C. F. Van Loan, "Matrix Computations", 8.5.
func Jacobi(a, V []float64, n int) {
	clear(V)
	for i := range n {
		V[i*n+i] = 1
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
	// A matrix full of small, which is 2^-53 of the trace over n, has the norm n small: leaving
	// such elements moves no eigenvalue by more than 2^-53 of the trace.
	small := 0.0
	for i := range n {
		small += a[i*n+i]
	}
	small *= 0x1p-53 / float64(n)
	rotate := func(x, y []float64, c, s float64) {
		y = y[:len(x)]
		for r, u := range x {
			v := y[r]
			x[r], y[r] = math.FMA(c, u, -float64(s*v)), math.FMA(s, u, float64(c*v))
		}
	}
	for range 64 { // more than are ever needed: convergence is quadratic
		turned := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				pq, pp, qq := a[p*n+q], a[p*n+p], a[q*n+q]
				if math.Abs(pq) <= small {
					continue
				}
				turned = true
				theta := (qq - pp) / float64(2*pq)
				t := 1 / (math.Abs(theta) + math.Sqrt(math.FMA(theta, theta, 1)))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(math.FMA(t, t, 1))
				s := float64(t * c)
				// Rows, then the same in columns, of which the rows hold all but the 2 x 2 block.
				rotate(a[p*n:][:n], a[q*n:][:n], c, s)
				for r := range n {
					a[r*n+p], a[r*n+q] = a[p*n+r], a[q*n+r]
				}
				a[p*n+p], a[q*n+q] = math.FMA(-t, pq, pp), math.FMA(t, pq, qq)
				a[p*n+q], a[q*n+p] = 0, 0
				rotate(V[p*n:][:n], V[q*n:][:n], c, s)
			}
		}
		if !turned {
			return
		}
	}
}
