//go:build !amd64

package vecmath

import "unsafe"

func sinCos[T Float](sin, cos, x *T, n int, scale float64) {
	sinCosGeneric(unsafe.Slice(sin, n), unsafe.Slice(cos, n), unsafe.Slice(x, n), scale)
}
