package papers

import (
	"strings"
	"testing"
)

// TestSteps: the marks are round numbers within the axis, and there are some, but not many.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-0.1, 3, "0.0 0.5 1.0 1.5 2.0 2.5 3.0"},
		{6.3, 27.5, "10 15 20 25"},
		{-0.003, 0.0031, "-0.003 -0.002 -0.001 0.000 0.001 0.002 0.003"},
		{0, 60000, "0 10000 20000 30000 40000 50000 60000"},
	} {
		var labels []string
		for _, tick := range (steps{}).Ticks(c.low, c.high) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %g to %g: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}
