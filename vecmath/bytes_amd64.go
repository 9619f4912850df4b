package vecmath

import "github.com/klauspost/cpuid/v2"

// The kernels of vecmath_bytes_amd64.s. They check nothing and read and write nothing outside their operands. nrows is
// at least 1. The counts use POPCNT, which every CPU with AVX2 has; AVX-512's own population count is not
// part of the AVX-512 that this package asks for.

//go:noescape
func byteRowsDotAVX2(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int)

//go:noescape
func byteRowsDotAVX512(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int)

//go:noescape
func byteRowsDotVNNI(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int)

// vnni: 8-bit products go by VPDPBUSD, which some of the CPUs with AVX-512 have.
var vnni = cpuid.CPU.Has(cpuid.AVX512VNNI)

//go:noescape
func xorCountF32(dst *float32, rows *uint64, nrows, stride int, x *uint64, n int, table *float32)

//go:noescape
func xorCountF64(dst *float64, rows *uint64, nrows, stride int, x *uint64, n int, table *float64)

//go:noescape
func andCountF32(dst *float32, rows *uint64, nrows, stride int, x *uint64, n int, table *float32)

//go:noescape
func andCountF64(dst *float64, rows *uint64, nrows, stride int, x *uint64, n int, table *float64)

func byteRowsDot(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int) {
	switch active {
	case AVX512:
		if vnni {
			byteRowsDotVNNI(dst, rows, nrows, stride, x, n)
			return
		}
		byteRowsDotAVX512(dst, rows, nrows, stride, x, n)
	case AVX2:
		byteRowsDotAVX2(dst, rows, nrows, stride, x, n)
	default:
		byteRowsDotGeneric(dst, rows, nrows, stride, x, n)
	}
}

func xorCount[T Float](dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T) {
	switch {
	case active == Generic:
		xorCountGeneric(dst, rows, nrows, stride, x, n, table)
	case is32[T]():
		xorCountF32(f32(dst), rows, nrows, stride, x, n, f32(table))
	default:
		xorCountF64(f64(dst), rows, nrows, stride, x, n, f64(table))
	}
}

func andCount[T Float](dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T) {
	switch {
	case active == Generic:
		andCountGeneric(dst, rows, nrows, stride, x, n, table)
	case is32[T]():
		andCountF32(f32(dst), rows, nrows, stride, x, n, f32(table))
	default:
		andCountF64(f64(dst), rows, nrows, stride, x, n, f64(table))
	}
}
