package dataset

import (
	"errors"
	"testing"
)

// TestConcepts: the share of labels that the first concept gives other examples falls from all to
// about half where the concept changes, at once or in so many examples, and comes back where it
// recurs.
func TestConcepts(t *testing.T) {
	first := generate(t, "concepts", "n=4000", "every=100000")
	for _, c := range []struct {
		kind   string
		shares [8]float64 // of each 500
	}{
		{"abrupt", [8]float64{1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}},
		{"gradual", [8]float64{1, 1, 0.75, 0.5, 0.5, 0.5, 0.5, 0.5}},
		{"recurring", [8]float64{1, 1, 0.5, 0.5, 1, 1, 0.5, 0.5}},
	} {
		d := generate(t, "concepts", "n=4000", "every=1000", "width=500", "kind="+c.kind)
		for k, want := range c.shares {
			same := 0
			for i := k * 500; i < (k+1)*500; i++ {
				for j, v := range d.Block.Row(i) {
					if v != first.Block.Row(i)[j] {
						t.Fatalf("%s: example %d is another", c.kind, i)
					}
				}
				if d.Block.Y[i] == first.Block.Y[i] {
					same++
				}
			}
			// two hyperplanes at random in 20 dimensions are within 0.13 of a right angle's share
			if got := float64(same) / 500; got < want-0.2 || got > want+0.2 ||
				want == 1 && same != 500 {
				t.Errorf("%s: examples from %d: %v as at first, want %v", c.kind, k*500, got, want)
			}
		}
	}
	for _, bad := range []map[string]string{{"kind": "slow"}, {"every": "0"}, {"d": "0"},
		{"kind": "gradual", "every": "10", "width": "11"}} {
		if _, err := Generate[float32]("concepts", bad); !errors.Is(err, ErrOption) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
