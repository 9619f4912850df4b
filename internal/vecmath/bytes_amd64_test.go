package vecmath

import "testing"

// On a CPU with VNNI, the form without it gives the same.
func TestByteRowsDotWithoutVNNI(t *testing.T) {
	if !vnni || len(missing(AVX512)) > 0 {
		t.Skip("no AVX-512 with VNNI here: there is one form only")
	}
	defer func() { vnni = true }()
	vnni = false
	g := newGuard(t)
	forEachKernel(t, func(t *testing.T, im Impl, k kernel[float32]) {
		if k.name == "byteRowsDot" {
			testSizes(t, im, k)
			testGuarded(t, g, im, k)
		}
	})
	TestByteRowsDotBound(t)
}
