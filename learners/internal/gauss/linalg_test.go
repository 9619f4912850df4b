package gauss

import (
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/learners/internal/linalg"
)

// TestCholesky: both layouts give the same bits, L L^T is M, and a matrix that is not positive
// definite, or beyond the numbers, has no factor.
func TestCholesky(t *testing.T) {
	const d, stride = 7, 9
	packed, strided := make([]float64, 0, d*(d+1)/2), make([]float64, d*stride)
	for i := range d {
		for j := range i + 1 { // a Hilbert matrix, of condition 5e8
			v := 1 / float64(i+j+1)
			packed, strided[i*stride+j] = append(packed, v), v
		}
	}
	L := cholesky(packed, d)
	if L == nil || !linalg.Cholesky(linalg.Lower{A: strided, Stride: stride}, d) {
		t.Fatal("no factor")
	}
	row := func(i int) []float64 { return L[i*(i+1)/2:][:i+1] }
	for i := range d {
		for j := range i + 1 {
			sum := 0.0
			for k := range j + 1 {
				sum += row(i)[k] * row(j)[k]
			}
			if math.Abs(sum-1/float64(i+j+1)) > 1e-15 {
				t.Errorf("(L L^T)_%d%d is %v", i, j, sum)
			}
			if a, b := row(i)[j], strided[i*stride+j]; a != b {
				t.Errorf("L_%d%d is %v and %v", i, j, a, b)
			}
		}
	}
	for _, m := range [][]float64{{1, 2, 3}, {0, 0, 1}, {math.Inf(1), 0, 1}, {math.NaN(), 0, 1}} {
		if L := cholesky(m, 2); L != nil {
			t.Errorf("%v has the factor %v", m, L)
		}
	}
}
