//go:build !amd64 && !arm64

package vecmath

import "unsafe"

func exp[T Float](dst, x *T, n int) {
	expGeneric(unsafe.Slice(dst, n), unsafe.Slice(x, n))
}
