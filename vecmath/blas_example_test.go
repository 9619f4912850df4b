package vecmath_test

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/vecmath"
)

// A is 2 x 3, row by row; gonum's blas64.Gemv(blas.NoTrans, 2, A, x, 0.5, y) is this call.
func ExampleGemv() {
	a := []float64{1, 2, 3, 4, 5, 6}
	x, y := []float64{1, 0, -1}, []float64{10, 20}
	vecmath.Gemv(y, 0.5, 2, a, 3, x)
	fmt.Println(y)
	vecmath.GemvT(x, 0, 1, a, 3, y) // and with the transpose
	fmt.Println(x)
	// Output:
	// [1 6]
	// [25 32 39]
}

// The square of the norm is no float64, the norm is.
func ExampleNrm2() {
	fmt.Println(vecmath.Nrm2([]float64{3e300, -4e300}))
	fmt.Println(vecmath.SumSq([]float64{3e300, -4e300}))
	// Output:
	// 5e+300
	// +Inf
}

func ExampleIamax() {
	fmt.Println(vecmath.Iamax([]float32{1, -7, 7, 2}))
	// Output: 1
}
