package training

import (
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// TestRace: counts are those of bits counted one by one, batches are joined without a loss, and one
// who is far worse leaves while equals stay.
func TestRace(t *testing.T) {
	const n, rivals = 40_000, 4
	r, rng := newRace(rivals), engine.NewRand(3, 0)
	rates := []uint64{20, 20, 20, 40} // percent of errors
	var alone [rivals][rivals]int64
	var errors [rivals]int64
	dropped, look := int64(0), nextLook(0)
	for at := int64(0); at < n; at += 64 {
		var words [rivals]uint64
		for k := range 64 {
			var wrong [rivals]bool
			for i := range wrong {
				wrong[i] = rng.Uint64()%100 < rates[i]
				if wrong[i] {
					words[i] |= 1 << k
				}
			}
			for i := range 3 {
				errors[i] += one(wrong[i])
				for j := range 3 {
					alone[i][j] += one(wrong[i] && !wrong[j])
				}
			}
		}
		r.add(words[:], nil, 64)
		if at+64 == look {
			for _, i := range r.look(0.01) {
				if i != 3 {
					t.Errorf("%d left after %d examples", i, look)
				}
				dropped = max(dropped, look)
			}
			look = nextLook(look)
		}
	}
	if dropped == 0 || dropped > 1024 || r.seen[3] != dropped || r.seen[0] != n {
		t.Errorf("the worst left at %d, of %d seen", dropped, r.seen[3])
	}
	for i := range 3 {
		if r.errors[i] != errors[i] {
			t.Errorf("%d: %d errors, want %d", i, r.errors[i], errors[i])
		}
		for j := range 3 {
			if r.alone[i][j] != alone[i][j] {
				t.Errorf("%d alone against %d: %d, want %d", i, j, r.alone[i][j], alone[i][j])
			}
		}
	}
	s := r.batches(0, 1)
	if b := int64(s.N) * r.batch; s.N < mostBatches/2 || b > n || b < n-r.batch {
		t.Errorf("%d batches of %d examples", s.N, r.batch)
	}
	for at, want := range map[int64]int64{0: 256, 256: 384, 384: 512, 512: 768, 1000: 1024} {
		if got := nextLook(at); got != want {
			t.Errorf("the look behind %d is at %d, want %d", at, got, want)
		}
	}
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// TestAssign: folds differ by one example, in each class by one; another repeat draws others, and
// an example's fold does not depend on its label where folds are plain.
func TestAssign(t *testing.T) {
	f := Folds{Folds: 7}
	class := func(i int) int { return i % 10 / 7 }
	a := f.assign(500, class, 1, 0)
	var all, ones [7]int
	for i, k := range a {
		all[k]++
		ones[k] += class(i)
	}
	for k := range all {
		if all[k] < 71 || all[k] > 72 || ones[k] < 21 || ones[k] > 22 {
			t.Errorf("fold %d has %d examples, %d of the second class", k, all[k], ones[k])
		}
	}
	same := 0
	for i, k := range f.assign(500, class, 1, 1) {
		if a[i] == k {
			same++
		}
	}
	if same > 120 {
		t.Errorf("another repeat has %d of 500 examples in the same fold", same)
	}
}
