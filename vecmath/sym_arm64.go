package vecmath

// In sym_arm64.s. They check nothing; n is at least 1.

//go:noescape
func symRankOneMulNEONF32(y, v *float32, stride int, x *float32, a float32, u *float32, n int)

//go:noescape
func symRankOneMulNEONF64(y, v *float64, stride int, x *float64, a float64, u *float64, n int)

func symRankOneMul[T Float](y, v *T, stride int, x *T, a T, u *T, n int) {
	if active == NEON {
		if is32[T]() {
			symRankOneMulNEONF32(f32(y), f32(v), stride, f32(x), float32(a), f32(u), n)
		} else {
			symRankOneMulNEONF64(f64(y), f64(v), stride, f64(x), float64(a), f64(u), n)
		}
		return
	}
	symRankOneMulGeneric(y, v, stride, x, a, u, n)
}
