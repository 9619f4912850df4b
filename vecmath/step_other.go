//go:build !amd64 && !arm64

package vecmath

import "unsafe"

func addScaledNext(s *float64, e float64, g *float64, n, from int, thr float64) int {
	return addScaledNextGeneric(unsafe.Slice(s, n), e, unsafe.Slice(g, n), from, thr)
}

func nextLE(s *float64, n, from int, thr float64) int {
	return nextLEGeneric(unsafe.Slice(s, n), from, thr)
}

func countStepLE(s *float64, e float64, g *float64, n int) int {
	return countStepLEGeneric(unsafe.Slice(s, n), e, unsafe.Slice(g, n))
}
