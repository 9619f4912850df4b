package engine

import (
	"strings"
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

// Uncleared is [Aligned] for tables of which perhaps only the beginning is ever written: its
// numbers are anything until then, and it asks for no large pages, which would be there as a whole
// from the first byte on. [LargePages] does.
//
//go:noinline
func Uncleared[T Float | int8 | int16](n int) []T {
	var b strings.Builder // of the standard library the one that gives memory as it is
	b.Grow(n*int(unsafe.Sizeof(T(0))) + 2*cacheLine)
	b.WriteByte(0)
	p := unsafe.Pointer(unsafe.StringData(b.String()))
	off := -uintptr(p) % cacheLine
	return unsafe.Slice((*T)(unsafe.Add(p, off)), n)
}

// LargePages asks for large pages below the first n elements of a table of [Uncleared], from the
// one on up to which it has done so before, and returns up to which it has now: the last page may
// hold more. Where n elements are small it asks for none.
func LargePages[T Float | int8 | int16 | int32 | uint32](s []T, before, n int) int {
	size := int(unsafe.Sizeof(*new(T)))
	if n <= before || n*size < 2*hugePage {
		return before
	}
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size)
	first := -int(uintptr(unsafe.Pointer(&memory[0]))) & (hugePage - 1)
	page := func(bytes int) int { return first + (bytes-first+hugePage-1)&^(hugePage-1) }
	from, to := page(before*size), min(page(n*size), first+(len(memory)-first)&^(hugePage-1))
	if from >= to {
		return before
	}
	useHugePages(memory[from:to])
	return to / size
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
