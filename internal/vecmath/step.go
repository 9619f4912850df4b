package vecmath

import "math"

// Kernels for learning in score space: a batch learner keeps the margins s of its few examples, an
// update adds a row of the Gram matrix to them, and the next example to look at is the next one in
// cyclic order with a margin at or below a threshold.

// AddScaledNext adds e*g to s, fused, and returns the first index in the order from, from+1, ...,
// len(s)-1, 0, ..., from-1 at which the new s[i] is <= thr (NaN never is), or -1. All of s is
// updated. from is at most len(s), which stands for 0: the search behind index i starts from i+1. g
// may be s, but must not overlap it otherwise.
func AddScaledNext(s []float64, e float64, g []float64, from int, thr float64) int {
	checkLen(len(s), len(g))
	checkFrom(from, len(s))
	if race {
		raceRead(g[:len(s)])
		raceWrite(s)
	}
	return addScaledNext(data(s), e, data(g), len(s), from, thr)
}

// NextLE returns the first index in the order from, from+1, ..., len(s)-1, 0, ..., from-1 at which
// s[i] is <= thr (NaN never is), or -1. from is at most len(s), which stands for 0. It stops where
// it finds one.
func NextLE(s []float64, from int, thr float64) int {
	checkFrom(from, len(s))
	if race {
		raceRead(s)
	}
	return nextLE(data(s), len(s), from, thr)
}

// CountStepLE returns the number of elements at which s[i] + e*g[i], fused, is <= 0 (NaN never is):
// how many margins s a step e along g would leave or make errors. g has at least len(s) elements.
func CountStepLE(s []float64, e float64, g []float64) int {
	checkLen(len(s), len(g))
	if race {
		raceRead(s)
		raceRead(g[:len(s)])
	}
	return countStepLE(data(s), e, data(g), len(s))
}

const panicFrom = "vecmath: search from outside the slice"

// checkFrom: a negative one becomes large as uint.
func checkFrom(from, n int) {
	if uint(from) > uint(n) {
		panic(panicFrom)
	}
}

func addScaledNextGeneric(s []float64, e float64, g []float64, from int, thr float64) int {
	g = g[:len(s)]
	before, next := -1, -1 // the first one below from, and from there
	for i := range s {
		s[i] = math.FMA(e, g[i], s[i])
		if s[i] <= thr {
			if i >= from {
				if next < 0 {
					next = i
				}
			} else if before < 0 {
				before = i
			}
		}
	}
	if next < 0 {
		return before
	}
	return next
}

func countStepLEGeneric(s []float64, e float64, g []float64) (n int) {
	g = g[:len(s)]
	for i, v := range s {
		if math.FMA(e, g[i], v) <= 0 {
			n++
		}
	}
	return n
}

func nextLEGeneric(s []float64, from int, thr float64) int {
	for i := from; i < len(s); i++ {
		if s[i] <= thr {
			return i
		}
	}
	for i, v := range s[:from] {
		if v <= thr {
			return i
		}
	}
	return -1
}
