package engine

import "unsafe"

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
func Aligned[T Float | int16](n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	s := make([]T, n+2*cacheLine/size-1)
	if bytes := len(s) * size; bytes >= 2*hugePage {
		memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), bytes)
		from := -int(uintptr(unsafe.Pointer(&memory[0]))) & (hugePage - 1)
		useHugePages(memory[from : from+(bytes-from)&^(hugePage-1)])
	}
	off := 0
	if rest := int(uintptr(unsafe.Pointer(unsafe.SliceData(s))) % cacheLine); rest != 0 {
		off = (cacheLine - rest) / size
	}
	return s[off : off+n : off+n]
}
