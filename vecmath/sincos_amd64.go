package vecmath

import "unsafe"

// In exp_amd64.s. n counts elements and is a multiple of 4.

//go:noescape
func sinCosAVX2F32(sin, cos, x *float32, n int, scale float64)

//go:noescape
func sinCosAVX2F64(sin, cos, x *float64, n int, scale float64)

// On AVX-512, too: the results are stored as fast as the learners that follow can take them.
func sinCos[T Float](sin, cos, x *T, n int, scale float64) {
	whole := n &^ 3
	if active == Generic {
		whole = 0
	}
	if whole > 0 {
		if is32[T]() {
			sinCosAVX2F32(f32(sin), f32(cos), f32(x), whole, scale)
		} else {
			sinCosAVX2F64(f64(sin), f64(cos), f64(x), whole, scale)
		}
	}
	sinCosGeneric(unsafe.Slice(sin, n)[whole:], unsafe.Slice(cos, n)[whole:], unsafe.Slice(x, n)[whole:], scale)
}
