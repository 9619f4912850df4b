package vecmath

// In sym_amd64.s. They check nothing; n is at least 1.

//go:noescape
func symRankOneMulAVX2F32(y, v *float32, stride int, x *float32, a float32, u *float32, n int)

//go:noescape
func symRankOneMulAVX2F64(y, v *float64, stride int, x *float64, a float64, u *float64, n int)

//go:noescape
func symRankOneMulAVX512F32(y, v *float32, stride int, x *float32, a float32, u *float32, n int)

//go:noescape
func symRankOneMulAVX512F64(y, v *float64, stride int, x *float64, a float64, u *float64, n int)

func symRankOneMul[T Float](y, v *T, stride int, x *T, a T, u *T, n int) {
	switch active {
	case AVX512:
		if is32[T]() {
			symRankOneMulAVX512F32(f32(y), f32(v), stride, f32(x), float32(a), f32(u), n)
		} else {
			symRankOneMulAVX512F64(f64(y), f64(v), stride, f64(x), float64(a), f64(u), n)
		}
		return
	case AVX2:
		if is32[T]() {
			symRankOneMulAVX2F32(f32(y), f32(v), stride, f32(x), float32(a), f32(u), n)
		} else {
			symRankOneMulAVX2F64(f64(y), f64(v), stride, f64(x), float64(a), f64(u), n)
		}
		return
	}
	symRankOneMulGeneric(y, v, stride, x, a, u, n)
}
