package vecmath

import "unsafe"

// In step_amd64.s. They check nothing; n counts elements and may be 0, from is at most n.

//go:noescape
func addScaledNextAVX2(s *float64, e float64, row *float64, n, from int, thr float64) int

//go:noescape
func nextLEAVX2(s *float64, n, from int, thr float64) int

//go:noescape
func countStepLEAVX2(s *float64, e float64, row *float64, n int) int

//go:noescape
func addScaledNextAVX512(s *float64, e float64, row *float64, n, from int, thr float64) int

//go:noescape
func nextLEAVX512(s *float64, n, from int, thr float64) int

//go:nosplit
func addScaledNext(s *float64, e float64, g *float64, n, from int, thr float64) int {
	switch active {
	case AVX512:
		return addScaledNextAVX512(s, e, g, n, from, thr)
	case AVX2:
		return addScaledNextAVX2(s, e, g, n, from, thr)
	}
	return addScaledNextGeneric(unsafe.Slice(s, n), e, unsafe.Slice(g, n), from, thr)
}

//go:nosplit
func nextLE(s *float64, n, from int, thr float64) int {
	switch active {
	case AVX512:
		return nextLEAVX512(s, n, from, thr)
	case AVX2:
		return nextLEAVX2(s, n, from, thr)
	}
	return nextLEGeneric(unsafe.Slice(s, n), from, thr)
}

//go:nosplit
func countStepLE(s *float64, e float64, g *float64, n int) int {
	if active == Generic {
		return countStepLEGeneric(unsafe.Slice(s, n), e, unsafe.Slice(g, n))
	}
	return countStepLEAVX2(s, e, g, n) // on AVX-512, too: rows are short, and counting is bound by the loads
}
