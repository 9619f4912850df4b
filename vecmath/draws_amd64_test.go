package vecmath

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// With and without products of 52 bits draws are the same, also of the largest and least words.
func TestDrawBitsIFMA(t *testing.T) {
	if !ifma || len(missing(AVX512)) > 0 {
		t.Skip("no AVX-512 with IFMA here: there is one form only")
	}
	before := active
	defer func() { active, ifma = before, true }()
	active = AVX512
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 300 {
		x := make([]uint64, 48)
		for i := range x {
			x[i] = rng.Uint64() << (rng.IntN(2) * rng.IntN(64)) >> (rng.IntN(2) * rng.IntN(64))
			if i%7 == k%7 {
				x[i] = ^uint64(0)
			}
		}
		fin := []uint64{rng.Uint64(), 0, ^uint64(0), 1<<52 - 1, 1 << 52}[k%5]
		step, turn := rng.Uint64(), rng.Uint64()
		got, want, slow := slices.Clone(x), slices.Clone(x), slices.Clone(x)
		drawBitsGeneric(want, fin, step, ^uint64(0), turn)
		ifma = true
		DrawBits(got, fin, step, ^uint64(0), turn)
		ifma = false
		DrawBits(slow, fin, step, ^uint64(0), turn)
		if !slices.Equal(got, want) || !slices.Equal(slow, want) {
			t.Fatalf("run %d: %x, without %x, want %x", k, got, slow, want)
		}
	}
}
