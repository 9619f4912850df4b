package vecmath

import "unsafe"

// In exp_amd64.s. n counts elements and may be 0.

//go:noescape
func expAVX2F32(dst, x *float32, n int)

//go:noescape
func expAVX2F64(dst, x *float64, n int)

//go:noescape
func expAVX512F32(dst, x *float32, n int)

//go:noescape
func expAVX512F64(dst, x *float64, n int)

//go:nosplit
func exp[T Float](dst, x *T, n int) {
	switch active {
	case AVX512:
		if is32[T]() {
			expAVX512F32(f32(dst), f32(x), n)
		} else {
			expAVX512F64(f64(dst), f64(x), n)
		}
		return
	case AVX2:
		if is32[T]() {
			expAVX2F32(f32(dst), f32(x), n)
		} else {
			expAVX2F64(f64(dst), f64(x), n)
		}
		return
	}
	expGeneric(unsafe.Slice(dst, n), unsafe.Slice(x, n))
}
