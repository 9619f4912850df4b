package vecmath

// AVX2 kernels, in vecmath_amd64.s. They check nothing; n, nrows, nl and width count elements, all may be 0.
// What each computes is the function of the same name in vecmath_generic.go.

//go:noescape
func dotAVX2F32(a, b *float32, n int) float32

//go:noescape
func dotAVX2F64(a, b *float64, n int) float64

//go:noescape
func axpyAVX2F32(y *float32, a float32, x *float32, n int)

//go:noescape
func axpyAVX2F64(y *float64, a float64, x *float64, n int)

//go:noescape
func scalAVX2F32(x *float32, a float32, n int)

//go:noescape
func scalAVX2F64(x *float64, a float64, n int)

//go:noescape
func sumSqAVX2F32(x *float32, n int) float32

//go:noescape
func sumSqAVX2F64(x *float64, n int) float64

//go:noescape
func sqDistAVX2F32(a, b *float32, n int) float32

//go:noescape
func sqDistAVX2F64(a, b *float64, n int) float64

//go:noescape
func rowsDotAVX2F32(dst, rows *float32, nrows, stride int, x *float32, n int)

//go:noescape
func rowsDotAVX2F64(dst, rows *float64, nrows, stride int, x *float64, n int)

//go:noescape
func sparseDotAVX2F32(idx *int32, val *float32, n int, w *float32) float32

//go:noescape
func sparseDotAVX2F64(idx *int32, val *float64, n int, w *float64) float64

//go:noescape
func sparseAxpyAVX2F32(w *float32, a float32, idx *int32, val *float32, n int)

//go:noescape
func sparseAxpyAVX2F64(w *float64, a float64, idx *int32, val *float64, n int)

//go:noescape
func lanesScoreAVX2F32(dst, w *float32, width int, rows *int32, val *float32, n int)

//go:noescape
func lanesScoreAVX2F64(dst, w *float64, width int, rows *int32, val *float64, n int)

//go:noescape
func lanesUpdateAVX2F32(w *float32, width int, rows *int32, val *float32, n int, coef *float32, mask *uint64)

//go:noescape
func lanesUpdateAVX2F64(w *float64, width int, rows *int32, val *float64, n int, coef *float64, mask *uint64)

//go:noescape
func lanesScoreLEAVX2F32(dst, w *float32, width int, rows *int32, val *float32, n int, mask *uint64, y, t float32)

//go:noescape
func lanesScoreLEAVX2F64(dst, w *float64, width int, rows *int32, val *float64, n int, mask *uint64, y, t float64)

//go:noescape
func lanesLEAVX2F32(mask *uint64, s *float32, width int, y, t float32)

//go:noescape
func lanesLEAVX2F64(mask *uint64, s *float64, width int, y, t float64)

//go:noescape
func activeScoreAVX2F32(dst, w *float32, width int, rows *int32, val *float32, n int, lanes *int32, nl int)

//go:noescape
func activeScoreAVX2F64(dst, w *float64, width int, rows *int32, val *float64, n int, lanes *int32, nl int)

//go:noescape
func activeUpdateAVX2F32(w *float32, width int, rows *int32, val *float32, n int, lanes *int32, coef *float32, nl int)

//go:noescape
func activeUpdateAVX2F64(w *float64, width int, rows *int32, val *float64, n int, lanes *int32, coef *float64, nl int)

//go:noescape
func dotMixedAVX2(a *float64, x *float32, n int) float64

//go:noescape
func axpyMixedAVX2(y *float64, a float64, x *float32, n int)

//go:noescape
func sparseDotMixedAVX2(idx *int32, val *float32, n int, w *float64) float64

//go:noescape
func sparseAxpyMixedAVX2(w *float64, a float64, idx *int32, val *float32, n int)

// drawBits does n sequences, a multiple of four.
//
//go:noescape
func drawBitsAVX2(x *uint64, n int, fin, step, first, turn uint64)

//go:noescape
func sparseDotAxpyMixedAVX2(w *float64, a float64, idx *int32, val *float32, n int) float64

//go:noescape
func maxIndexAVX2(idx *int32, n int) uint32
