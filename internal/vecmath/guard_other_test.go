//go:build !linux

package vecmath

import (
	"testing"
	"unsafe"
)

// guard is the plain form of the one in guard_linux_test.go: it can not see reads outside an
// operand.
type guard struct{}

func newGuard(*testing.T) *guard { return new(guard) }

func (*guard) start(bool) {}

func (*guard) place(n, size int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, (n*size+15)/8)))
}
