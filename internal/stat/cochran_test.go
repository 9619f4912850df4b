package stat

import (
	"math"
	"testing"
)

// TestCochranQ: a value computed by hand, the case of two classifiers (McNemar's test), and data
// without a disagreement.
func TestCochranQ(t *testing.T) {
	bits := func(s string) (b []bool) {
		for _, c := range s {
			b = append(b, c == '1')
		}
		return b
	}
	for _, c := range []struct {
		right []string
		q, p  float64
	}{
		// G = 5, 4, 1; sum L (3-L) = 8; 2 (3 42 - 100)/8
		{[]string{"111101", "110101", "000100"}, 6.5, math.Exp(-6.5 / 2)},
		{[]string{"11110", "10001"}, 1, math.Erfc(math.Sqrt(1. / 2))}, // (3-1)^2/(3+1)
		{[]string{"101", "101", "101"}, 0, 1},
		{[]string{"", ""}, 0, 1},
	} {
		var right [][]bool
		for _, s := range c.right {
			right = append(right, bits(s))
		}
		if q, p, err := CochranQ(right...); err != nil || math.Abs(q-c.q) > 1e-12 ||
			math.Abs(p-c.p) > 1e-12 {
			t.Errorf("%v: Q %v, p %v, %v, want %v, %v", c.right, q, p, err, c.q, c.p)
		}
	}
	if _, _, err := CochranQ(bits("1")); err == nil {
		t.Error("one classifier was taken")
	}
	if _, _, err := CochranQ(bits("1"), bits("10")); err == nil {
		t.Error("lengths that differ were taken")
	}
}
