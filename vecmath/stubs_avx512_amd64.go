package vecmath

// The AVX-512 kernels, in vecmath_avx512_amd64.s. They need AVX-512 F, DQ and BW and BMI2, check nothing, and give the
// bits of the functions in vecmath_generic.go. Any length will do, 0 included, and no alignment is asked for;
// nothing outside the slices is read or written. Strides and widths are elements; a width is a multiple of 64 bytes.
// The sparse and the active kernels have no AVX-512 form, since 512-bit gathers gain nothing over 256-bit ones.

//go:noescape
func dotAVX512F32(a, b *float32, n int) float32

//go:noescape
func dotAVX512F64(a, b *float64, n int) float64

//go:noescape
func axpyAVX512F32(y *float32, a float32, x *float32, n int)

//go:noescape
func axpyAVX512F64(y *float64, a float64, x *float64, n int)

//go:noescape
func scalAVX512F32(x *float32, a float32, n int)

//go:noescape
func scalAVX512F64(x *float64, a float64, n int)

//go:noescape
func sumSqAVX512F32(x *float32, n int) float32

//go:noescape
func sumSqAVX512F64(x *float64, n int) float64

//go:noescape
func sqDistAVX512F32(a, b *float32, n int) float32

//go:noescape
func sqDistAVX512F64(a, b *float64, n int) float64

//go:noescape
func rowsDotAVX512F32(dst, rows *float32, nrows, stride int, x *float32, n int)

//go:noescape
func rowsDotAVX512F64(dst, rows *float64, nrows, stride int, x *float64, n int)

//go:noescape
func lanesScoreAVX512F32(dst, w *float32, width int, rows *int32, val *float32, n int)

//go:noescape
func lanesScoreAVX512F64(dst, w *float64, width int, rows *int32, val *float64, n int)

// lanesUpdate reads ceil(width/64) words of mask; no bit beyond the width may be set. Where any lane of a unit of 64
// bytes is in the mask, the unit's other lanes are written too, with the bits they had.
//
//go:noescape
func lanesUpdateAVX512F32(w *float32, width int, rows *int32, val *float32, n int, coef *float32, mask *uint64)

//go:noescape
func lanesUpdateAVX512F64(w *float64, width int, rows *int32, val *float64, n int, coef *float64, mask *uint64)

// lanesLE writes ceil(width/64) words of mask; the bits beyond the width become 0.
//
//go:noescape
func lanesLEAVX512F32(mask *uint64, s *float32, width int, y, t float32)

//go:noescape
func lanesLEAVX512F64(mask *uint64, s *float64, width int, y, t float64)

//go:noescape
func dotMixedAVX512(a *float64, x *float32, n int) float64

//go:noescape
func axpyMixedAVX512(y *float64, a float64, x *float32, n int)

//go:noescape
func maxIndexAVX512(idx *int32, n int) uint32
