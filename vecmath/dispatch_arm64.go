package vecmath

import "github.com/klauspost/cpuid/v2"

// missing names what im needs and this machine lacks.
func missing(im Impl) []string {
	switch im {
	case AVX2, AVX512:
		return []string{"an amd64 CPU"}
	case NEON:
		if !cpuid.CPU.Has(cpuid.ASIMD) {
			return []string{cpuid.ASIMD.String()}
		}
	}
	return nil
}
