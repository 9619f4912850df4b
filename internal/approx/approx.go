// Package approx compares numbers in tests: with a tolerance that rounding explains, or with an
// interval that drawing does.
package approx

import (
	"fmt"
	"math"
	"testing"
)

// Within reports whether got is at most tol from want; NaN never is.
func Within(got, want, tol float64) bool { return math.Abs(got-want) <= tol }

// Equal reports whether got is within tol of want, relative to want or to 1 if that is larger.
func Equal(got, want, tol float64) bool { return Within(got, want, tol*max(1, math.Abs(want))) }

// AllEqual reports whether got and want are as long, and each element is Equal.
func AllEqual(got, want []float64, tol float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range want {
		if !Equal(got[i], want[i], tol) {
			return false
		}
	}
	return true
}

// Near ends the test unless Equal.
func Near(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !Equal(got, want, tol) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// AllNear ends the test unless AllEqual.
func AllNear(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		Near(t, fmt.Sprintf("%s[%d]", what, i), got[i], want[i], tol)
	}
}

// Mean fails the test unless got, the mean of n draws of standard deviation sd, is within five of
// its own standard deviations of want.
func Mean(t testing.TB, what string, got, want, sd float64, n int) {
	t.Helper()
	if tol := 5 * sd / math.Sqrt(float64(n)); !Within(got, want, tol) {
		t.Errorf("%s is %v, want %v +- %v", what, got, want, tol)
	}
}
