package bench

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// CochranQ tests whether classifiers are wrong equally often on the same examples: W. G. Cochran,
// "The comparison of percentages in matched samples", Biometrika 37, 1950. right[j][i] is
// whether classifier j is right on example i. With G_j examples right of classifier j and L_i
// classifiers right on example i,
//
//	Q = (k-1) (k sum G_j^2 - (sum G_j)^2) / (k sum L_i - sum L_i^2)
//
// has nearly the chi-squared distribution with k-1 degrees of freedom if they are; p is the
// probability of a Q at least as large. For two classifiers it is McNemar's test. Where all agree
// on every example Q is 0 and p is 1. Cost: O(k) an example.
func CochranQ(right ...[]bool) (q, p float64, err error) {
	k := len(right)
	if k < 2 {
		return 0, 0, fmt.Errorf("bench: Cochran's Q of %d classifiers, want 2 or more", k)
	}
	for j, r := range right {
		if len(r) != len(right[0]) {
			return 0, 0, fmt.Errorf("bench: Cochran's Q: classifier %d has %d examples, "+
				"classifier 0 has %d", j, len(r), len(right[0]))
		}
	}
	var sum, squares, within float64
	for _, r := range right {
		var g float64
		for _, ok := range r {
			if ok {
				g++
			}
		}
		sum += g
		squares += g * g
	}
	for i := range right[0] {
		l := 0
		for _, r := range right {
			if r[i] {
				l++
			}
		}
		within += float64(l * (k - l))
	}
	if within == 0 {
		return 0, 1, nil
	}
	q = float64(k-1) * (float64(k)*squares - sum*sum) / within
	return q, ChiSquaredTail(q, k-1), nil
}

// ChiSquaredTail returns the probability of a chi-squared variable of at least x.
func ChiSquaredTail(x float64, degrees int) float64 {
	return distuv.ChiSquared{K: float64(degrees)}.Survival(x)
}
