//go:build !linux

package bench

// beforeUntouched returns n zeros, anywhere: it is of use on Linux only.
func beforeUntouched(n int) []float32 { return make([]float32, n) }
