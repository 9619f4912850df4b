package vecmath

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// With and without products of 52 bits draws are the same, also of the largest and least words, and
// of few bits of every other one.
func TestDrawBitsIFMA(t *testing.T) {
	if !ifma || len(missing(AVX512)) > 0 {
		t.Skip("no AVX-512 with IFMA here: there is one form only")
	}
	before := active
	defer func() { active, ifma = before, true }()
	active = AVX512
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 600 {
		x := make([]uint64, 48+k%9)
		for i := range x {
			x[i] = rng.Uint64() << (rng.IntN(2) * rng.IntN(64)) >> (rng.IntN(2) * rng.IntN(64))
			if i%7 == k%7 {
				x[i] = ^uint64(0)
			}
		}
		fin := []uint64{rng.Uint64(), 0, ^uint64(0), 1<<52 - 1, 1 << 52}[k%5]
		step, turn := rng.Uint64(), rng.Uint64()>>(rng.IntN(2)*12)<<(rng.IntN(2)*rng.IntN(65))
		first, words, last := rng.Uint64(), 1+k%4, ^uint64(0)>>rng.IntN(65)
		got, want, slow := slices.Clone(x), slices.Clone(x), slices.Clone(x)
		drawBitsGeneric(want, words, last, fin, step, first, turn)
		ifma = true
		DrawBits(got, words, last, fin, step, first, turn)
		ifma = false
		DrawBits(slow, words, last, fin, step, first, turn)
		if !slices.Equal(got, want) || !slices.Equal(slow, want) {
			t.Fatalf("run %d: %x, without %x, want %x", k, got, slow, want)
		}
	}
}
