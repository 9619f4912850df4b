package vecmath

// byteRowsDotNEON is in vecmath_bytes_arm64.s. It checks nothing and reads and writes nothing outside its operands.
// nrows is at least 1. The counts need no assembly: the compiler makes CNT and UADDLV of bits.OnesCount64.
//
//go:noescape
func byteRowsDotNEON(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int)

func byteRowsDot(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int) {
	if active == NEON {
		byteRowsDotNEON(dst, rows, nrows, stride, x, n)
		return
	}
	byteRowsDotGeneric(dst, rows, nrows, stride, x, n)
}

func xorCount[T Float](dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T) {
	xorCountGeneric(dst, rows, nrows, stride, x, n, table)
}

func andCount[T Float](dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T) {
	andCountGeneric(dst, rows, nrows, stride, x, n, table)
}
