package vecmath

import (
	"math"
	"testing"
)

// What stands where x has a line of zeros doesn't count, listed or not.
func TestRowsDotLinesLeavesOut(t *testing.T) {
	defer func(before Impl) { active = before }(active)
	for _, info := range Implementations() {
		if !info.Supported {
			continue
		}
		if err := Use(info.Name); err != nil {
			t.Fatal(err)
		}
		const n = 5 * 16
		x, w := make([]float32, n), make([]float32, n)
		x[3*16] = 2
		for i := range w {
			w[i] = float32(math.Inf(1))
		}
		w[3*16] = 0.75
		for i := 3*16 + 1; i < 4*16; i++ {
			w[i] = 1
		}
		got := make([]float32, 1)
		for _, lines := range []uint64{0, 1 << LineBit(3)} {
			var l Lines
			if lines != 0 {
				l.List(lines, 4*n)
			}
			if RowsDotLines(got, w, n, []int32{0}, x, &l); got[0] != 1.5 {
				t.Errorf("%s, lines %#x: %v, want 1.5", info.Name, lines, got[0])
			}
		}
	}
}
