package vecmath

// The NEON kernels, one for each function of vecmath_generic.go of the same name; there is the contract. They check
// nothing: the exported functions have checked lengths, widths (multiples of LaneUnit) and mask bits.

//go:noescape
func dotNEONF32(a, b *float32, n int) float32

//go:noescape
func axpyNEONF32(y *float32, a float32, x *float32, n int)

//go:noescape
func scalNEONF32(x *float32, a float32, n int)

//go:noescape
func sumSqNEONF32(x *float32, n int) float32

//go:noescape
func sqDistNEONF32(a, b *float32, n int) float32

//go:noescape
func rowsDotNEONF32(dst, rows *float32, nrows, stride int, x *float32, n int)

//go:noescape
func sparseDotNEONF32(idx *int32, val *float32, n int, w *float32) float32

//go:noescape
func sparseAxpyNEONF32(w *float32, a float32, idx *int32, val *float32, n int)

//go:noescape
func lanesScoreNEONF32(dst, w *float32, width int, rows *int32, val *float32, n int)

//go:noescape
func lanesUpdateNEONF32(w *float32, width int, rows *int32, val *float32, n int, coef *float32, mask *uint64)

//go:noescape
func lanesLENEONF32(mask *uint64, s *float32, width int, y, t float32)

//go:noescape
func activeScoreNEONF32(dst, w *float32, width int, rows *int32, val *float32, n int, lanes *int32, nl int)

//go:noescape
func activeUpdateNEONF32(w *float32, width int, rows *int32, val *float32, n int, lanes *int32, coef *float32, nl int)

//go:noescape
func dotNEONF64(a, b *float64, n int) float64

//go:noescape
func axpyNEONF64(y *float64, a float64, x *float64, n int)

//go:noescape
func scalNEONF64(x *float64, a float64, n int)

//go:noescape
func sumSqNEONF64(x *float64, n int) float64

//go:noescape
func sqDistNEONF64(a, b *float64, n int) float64

//go:noescape
func rowsDotNEONF64(dst, rows *float64, nrows, stride int, x *float64, n int)

//go:noescape
func sparseDotNEONF64(idx *int32, val *float64, n int, w *float64) float64

//go:noescape
func sparseAxpyNEONF64(w *float64, a float64, idx *int32, val *float64, n int)

//go:noescape
func lanesScoreNEONF64(dst, w *float64, width int, rows *int32, val *float64, n int)

//go:noescape
func lanesUpdateNEONF64(w *float64, width int, rows *int32, val *float64, n int, coef *float64, mask *uint64)

//go:noescape
func lanesLENEONF64(mask *uint64, s *float64, width int, y, t float64)

//go:noescape
func activeScoreNEONF64(dst, w *float64, width int, rows *int32, val *float64, n int, lanes *int32, nl int)

//go:noescape
func activeUpdateNEONF64(w *float64, width int, rows *int32, val *float64, n int, lanes *int32, coef *float64, nl int)

//go:noescape
func dotMixedNEON(a *float64, x *float32, n int) float64

//go:noescape
func axpyMixedNEON(y *float64, a float64, x *float32, n int)

//go:noescape
func sparseDotMixedNEON(idx *int32, val *float32, n int, w *float64) float64

//go:noescape
func sparseAxpyMixedNEON(w *float64, a float64, idx *int32, val *float32, n int)

//go:noescape
func maxIndexNEON(idx *int32, n int) uint32
