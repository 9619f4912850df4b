package vecmath

import "unsafe"

// In step_arm64.s. They check nothing; n counts elements and may be 0, from is at most n.

//go:noescape
func addScaledNextNEON(s *float64, e float64, row *float64, n, from int, thr float64) int

//go:noescape
func nextLENEON(s *float64, n, from int, thr float64) int

//go:nosplit
func addScaledNext(s *float64, e float64, g *float64, n, from int, thr float64) int {
	switch active {
	case NEON:
		return addScaledNextNEON(s, e, g, n, from, thr)
	}
	return addScaledNextGeneric(unsafe.Slice(s, n), e, unsafe.Slice(g, n), from, thr)
}

//go:nosplit
func nextLE(s *float64, n, from int, thr float64) int {
	switch active {
	case NEON:
		return nextLENEON(s, n, from, thr)
	}
	return nextLEGeneric(unsafe.Slice(s, n), from, thr)
}

func countStepLE(s *float64, e float64, g *float64, n int) int {
	return countStepLEGeneric(unsafe.Slice(s, n), e, unsafe.Slice(g, n))
}
