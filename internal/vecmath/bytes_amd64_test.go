package vecmath

import "testing"

// On a CPU with VNNI, the form without it gives the same.
func TestByteRowsDotWithoutVNNI(t *testing.T) {
	if !vnni || len(missing(AVX512)) > 0 {
		t.Skip("no AVX-512 with VNNI here: there is one form only")
	}
	defer func() { vnni = true }()
	vnni = false
	TestByteRowsDot(t)
	TestByteRowsDotBound(t)
}
