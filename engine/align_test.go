package engine

import (
	"testing"
	"unsafe"
)

func testAligned[T Float](t *testing.T) {
	var keep [][]T // so that the allocator can't hand out the same place again
	for n := range 200 {
		s := Aligned[T](n)
		keep = append(keep, s)
		if len(s) != n || cap(s) != n {
			t.Fatalf("n = %d: length %d, capacity %d", n, len(s), cap(s))
		}
		if a := uintptr(unsafe.Pointer(unsafe.SliceData(s))); n > 0 && a%64 != 0 {
			t.Fatalf("n = %d: address is %d modulo 64", n, a%64)
		}
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("n = %d: element %d is %v", n, i, s[i])
			}
			s[i] = T(n)
		}
	}
	for n, s := range keep {
		for i := range s {
			if s[i] != T(n) {
				t.Fatalf("slice %d was written by another: %v", n, s[i])
			}
		}
	}
}

func TestAligned(t *testing.T) {
	t.Run("float32", testAligned[float32])
	t.Run("float64", testAligned[float64])
}
