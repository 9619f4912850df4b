package vecmath

import "golang.org/x/sys/cpu"

// missing names what im needs and this machine lacks.
func missing(im Impl) []string {
	switch im {
	case AVX2, AVX512:
		return []string{"an amd64 CPU"}
	case NEON:
		if !cpu.ARM64.HasASIMD {
			return []string{"ASIMD"}
		}
	}
	return nil
}
