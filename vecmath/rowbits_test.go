package vecmath

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestRowBits holds the bits against those of each number, and the bound they are for against the
// largest magnitude.
func TestRowBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "rows")
		narrow := make([]int8, n*ClassLanes)
		limit := rapid.IntRange(0, math.MaxInt8+1).Draw(t, "limit")
		for range rapid.IntRange(0, 9).Draw(t, "numbers") {
			v := rapid.IntRange(-limit, min(limit, math.MaxInt8)).Draw(t, "number")
			narrow[rapid.IntRange(0, len(narrow)-1).Draw(t, "place")] = int8(v)
		}
		rows := rapid.SliceOf(rapid.Int32Range(0, int32(n)-1)).Draw(t, "of")
		bits, want := make([]uint8, len(rows)), make([]uint8, len(rows))
		for i, r := range rows {
			bits[i] = rapid.Uint8Max(3).Draw(t, "bits")
			want[i] = bits[i]
			for _, v := range narrow[int(r)*ClassLanes:][:ClassLanes] {
				if v < 0 {
					want[i] |= uint8(-1 - int(v))
				} else {
					want[i] |= uint8(v)
				}
			}
		}
		RowBits(bits, narrow, rows)
		for i, r := range rows {
			if bits[i] != want[i] {
				t.Fatalf("row %d has bits %b, want %b", r, bits[i], want[i])
			}
			for _, v := range narrow[int(r)*ClassLanes:][:ClassLanes] {
				if max(int(v), -int(v)) > int(bits[i])+1 {
					t.Fatalf("%d is larger than %d", v, int(bits[i])+1)
				}
			}
		}
	})
}
