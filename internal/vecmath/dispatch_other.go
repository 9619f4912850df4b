//go:build !amd64 && !arm64

package vecmath

// missing names what im needs and this machine lacks.
func missing(im Impl) []string {
	switch im {
	case AVX2, AVX512:
		return []string{"an amd64 CPU"}
	case NEON:
		return []string{"an arm64 CPU"}
	}
	return nil
}
