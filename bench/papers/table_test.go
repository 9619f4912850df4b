package papers

import "testing"

func TestPlusMinus(t *testing.T) {
	for _, c := range []struct {
		v, pm float64
		want  string
	}{
		{1735836937, 0, "1735836937"}, {0.00827, 0, "0.00827"}, {2.03, 0.32, "2.03 ± 0.32"},
		{5162, 317.6, "5162 ± 318"}, {0.0226, 0.009, "0.0226 ± 0.0090"},
		{-0.4, 12, "0 ± 12"}, {-0.6, 12, "-1 ± 12"}, {1.3953488372, 5.6e-15, "1.395"}, {0, 0, "0"},
	} {
		if got := plusMinus(c.v, c.pm); got != c.want {
			t.Errorf("%g, %g: %s, want %s", c.v, c.pm, got, c.want)
		}
	}
}
