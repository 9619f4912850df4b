package compare

import (
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// TestBoard: counts are those of examples counted one by one, batches are joined without a loss,
// and one that is far worse is eliminated while equals stay.
func TestBoard(t *testing.T) {
	const n, candidates = 40_000, 4
	b, rng := newBoard(candidates, "", 0), engine.NewRand(3, 0)
	rates := []uint64{20, 20, 20, 40} // percent of errors
	var alone [candidates][candidates]int64
	var errors [candidates]int64
	dropped, look := int64(0), nextLook(0)
	for at := int64(1); at <= n; at++ {
		var wrong [candidates]bool
		for i := range wrong {
			wrong[i] = rng.Uint64()%100 < rates[i]
		}
		for _, i := range b.alive {
			b.records[i].add(wrong[i])
		}
		for i := range 3 {
			errors[i] += one(wrong[i])
			for j := range 3 {
				alone[i][j] += one(wrong[i] && !wrong[j])
			}
		}
		if at == look {
			for _, i := range b.eliminate(0.01) {
				if i != 3 {
					t.Errorf("%d was eliminated after %d examples", i, look)
				}
				dropped = max(dropped, look)
			}
			look = nextLook(look)
		}
	}
	if dropped == 0 || dropped > 1024 || b.records[3].n != dropped || b.records[0].n != n {
		t.Errorf("the worst left at %d, of %d seen", dropped, b.records[3].n)
	}
	for i := range 3 {
		if b.records[i].errors != errors[i] {
			t.Errorf("%d: %d errors, want %d", i, b.records[i].errors, errors[i])
		}
		for j := range 3 {
			if got := b.split(i, j).First; i != j && got != alone[i][j] {
				t.Errorf("%d alone against %d: %d, want %d", i, j, got, alone[i][j])
			}
		}
	}
	s, size := b.byBatch(0, 1)
	if all := int64(s.N) * size; s.N < mostBatches/2 || all > n || all < n-size {
		t.Errorf("%d batches of %d examples", s.N, size)
	}
	r := b.records[0]
	r.cut(100)
	if again := (&board{records: []record{r, b.records[1]}}).split(0, 1); r.n != 100 ||
		again.N != 100 || r.errors < again.First || r.errors > 40 {
		t.Errorf("the first 100: %+v, %+v", r.errors, again)
	}
	for at, want := range map[int64]int64{0: 256, 256: 384, 384: 512, 512: 768, 1000: 1024} {
		if got := nextLook(at); got != want {
			t.Errorf("the look after %d is at %d, want %d", at, got, want)
		}
	}
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
