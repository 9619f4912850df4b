package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"obpm", "alma", "perceptron"}
	for name, want := range map[string]string{"obmp": "obpm", "Alma": "alma",
		"perceptorn": "perceptron", "svm": "", "obpm": "obpm"} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same",
		0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
