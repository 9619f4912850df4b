//go:build !amd64 && !arm64

package vecmath

func byteRowsDot(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int) {
	byteRowsDotGeneric(dst, rows, nrows, stride, x, n)
}

func xorCount[T Float](dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T) {
	xorCountGeneric(dst, rows, nrows, stride, x, n, table)
}

func andCount[T Float](dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T) {
	andCountGeneric(dst, rows, nrows, stride, x, n, table)
}
