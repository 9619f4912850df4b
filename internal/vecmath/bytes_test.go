package vecmath

import (
	"math/bits"
	"slices"
	"testing"
)

// The references of the integer kernels against their definitions.
func TestIntegersByDefinition(t *testing.T) {
	for n := range 60 {
		o := makeBytes(newGenerator[float32](n, 0, nil), n)
		ByteRowsDot(o.lanes, o.bytes, o.n, o.byte)
		for r, got := range o.lanes {
			var want int64
			for i, v := range o.byte {
				want += int64(v) * int64(o.bytes[r*o.n+i])
			}
			if int64(got) != want {
				t.Fatalf("rows of %d bytes: dst[%d] = %d, want %d", len(o.byte), r, got, want)
			}
		}
		c := makeCounts(newGenerator[float32](n, 0, nil), n)
		for _, op := range []struct {
			count func(dst []float32, rows []uint64, stride int, x []uint64, table []float32)
			of    func(a, b uint64) uint64
		}{
			{XorCount[float32], func(a, b uint64) uint64 { return a ^ b }},
			{AndCount[float32], func(a, b uint64) uint64 { return a & b }},
		} {
			op.count(c.z, c.bits, c.n, c.mask, c.x)
			for r, got := range c.z {
				want := 0
				for i, v := range c.mask {
					want += bits.OnesCount64(op.of(v, c.bits[r*c.n+i]))
				}
				if got != float32(want) {
					t.Fatalf("rows of %d words: dst[%d] = %v, want %v", len(c.mask), r, got, want)
				}
			}
		}
	}
}

// The longest row with all bytes 255 must not overflow.
func TestByteRowsDotBound(t *testing.T) {
	x := slices.Repeat([]uint8{255}, MaxBytes+ByteUnit)
	forEachImpl(t, func(t *testing.T, _ Impl) {
		dst := make([]int32, 5)
		ByteRowsDot(dst, slices.Repeat(x, 5), MaxBytes+ByteUnit, x[:MaxBytes])
		for _, d := range dst {
			if d != MaxBytes*255*255 {
				t.Fatalf("%d, want %d", d, MaxBytes*255*255)
			}
		}
	})
}
