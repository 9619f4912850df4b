package vecmath

import (
	"math/rand/v2"
	"testing"
)

// FuzzKernels takes values from data, bit by bit, and compares all implementations with the
// reference.
func FuzzKernels(f *testing.F) {
	f.Add([]byte{}, uint16(17), uint8(0), uint8(3))
	f.Add([]byte("\x00\x00\x80\x3f\x00\x00\x00\x80\x01\x00\x00\x00\x00\x00\xc0\x7f"), uint16(100),
		uint8(1), uint8(0))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\xf0\x7f\x00\x00\x00\x00\x00\x00\x00\x80"), uint16(65),
		uint8(2), uint8(7))
	var fc fence // one: a worker runs its inputs in turn
	f.Fuzz(func(t *testing.T, data []byte, n uint16, seed, shift uint8) {
		fuzzKernels[float32](t, &fc, data, int(n)%600, seed, shift)
		fuzzKernels[float64](t, &fc, data, int(n)%600, seed, shift)
	})
}

func fuzzKernels[T Float](t *testing.T, f *fence, data []byte, n int, seed, shift uint8) {
	before := active
	defer func() { active = before }()
	for _, k := range kernelTable[T]() {
		for _, info := range Implementations() {
			if !info.Supported {
				continue
			}
			f.start(int(shift))
			g := &generator[T]{rng: rand.New(rand.NewPCG(uint64(seed), 0)),
				mode: int(seed) % valueModes, raw: data, place: f.place}
			compare(t, info.Impl, k, g, n, info.Name+" "+k.name)
			if !f.intact() {
				t.Fatalf("%s %s: wrote outside its operands", info.Name, k.name)
			}
		}
	}
}
