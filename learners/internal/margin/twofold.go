package margin

import (
	"math"
)

// twoSum returns a+b as the rounded sum and its error (D. E. Knuth, The Art of Computer Programming
// 2, 4.2.2).
func twoSum(a, b float64) (sum, low float64) {
	sum = a + b
	bb := sum - a
	return sum, (a - (sum - bb)) + (b - bb)
}

// addProduct adds x*y to the twofold number sum + low. Both errors, of the product (by the fused
// multiply-add) and of the sum, are exact, and add up in low, whose own roundings are some 2^-106
// of the terms: a sum of n products is as good as one in twice the precision, rounded at the end.
func addProduct(sum, low, x, y float64) (float64, float64) {
	p := float64(x * y)
	sum, e := twoSum(sum, p)
	return sum, low + (e + math.FMA(x, y, -p))
}
