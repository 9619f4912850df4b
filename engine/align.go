package engine

import (
	"unsafe"
)

// cacheLine is the alignment of [Aligned] in bytes: a cache line of amd64 and most arm64, and an
// AVX-512 register.
const cacheLine = 64

// Aligned returns n zeros, the first at an address divisible by 64. Its capacity is n, so an append
// moves it elsewhere. A cache line of the same allocation lies behind them: kernels read whole
// registers under a mask, and where what it leaves out is in a page that was never touched, a CPU
// takes a hundred times as long.
//
// It is never inlined: a slice that the compiler put on the stack would lose its alignment when the
// stack grows.
//
//go:noinline
func Aligned[T Float | int8 | int16](n int) []T {
	s, off := unaligned[T](n)
	if bytes := len(s) * int(unsafe.Sizeof(s[0])); bytes >= 2*hugePage {
		memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), bytes)
		from := -int(uintptr(unsafe.Pointer(&memory[0]))) & (hugePage - 1)
		useHugePages(memory[from : from+(bytes-from)&^(hugePage-1)])
	}
	return s[off : off+n : off+n]
}

// unaligned returns memory for that, and where in it the first element is.
func unaligned[T Float | int8 | int16 | int32 | uint32](n int) (s []T, off int) {
	size := int(unsafe.Sizeof(T(0)))
	s = make([]T, n+2*cacheLine/size-1)
	if rest := int(uintptr(unsafe.Pointer(unsafe.SliceData(s))) % cacheLine); rest != 0 {
		off = (cacheLine - rest) / size
	}
	return s, off
}

// padded rounds n elements up to a multiple of 64 bytes.
func padded[T Float](n int) int {
	per := cacheLine / int(unsafe.Sizeof(T(0)))
	return (n + per - 1) / per * per
}
