package vecmath

import "unsafe"

// In exp_arm64.s. n counts elements and may be 0.

//go:noescape
func expNEONF32(dst, x *float32, n int)

//go:noescape
func expNEONF64(dst, x *float64, n int)

//go:nosplit
func exp[T Float](dst, x *T, n int) {
	switch active {
	case NEON:
		if is32[T]() {
			expNEONF32(f32(dst), f32(x), n)
		} else {
			expNEONF64(f64(dst), f64(x), n)
		}
		return
	}
	expGeneric(unsafe.Slice(dst, n), unsafe.Slice(x, n))
}
