package vecmath

import (
	"math/bits"
	"unsafe"
)

// Exact integer kernels over packed examples: rows of bytes (pixels, counts) and of bit sets (0/1
// features). Integer sums have no order, so every implementation gives the same values by nature.
// Rows are packed by the caller, padded with zeros to the unit, so that no kernel has a tail.

// ByteUnit is what the length of packed byte rows is a multiple of.
const ByteUnit = 16

// MaxBytes is the longest byte row whose dot product with any other fits an int32: 255*255*MaxBytes
// < 2^31.
const MaxBytes = (1<<31 - 1) / (255 * 255) / ByteUnit * ByteUnit

const (
	panicBytes = "vecmath: the length of a byte row is not a multiple of ByteUnit, or above " +
		"MaxBytes"
	panicTable = "vecmath: table shorter than the number of bits + 1"
)

// ByteRowsDot sets dst[r] = the sum of rows[r*stride+i]*x[i], i < len(x), exactly. len(x) is a
// multiple of [ByteUnit], at most [MaxBytes]. Nothing is asked of the alignment.
func ByteRowsDot(dst []int32, rows []uint8, stride int, x []uint8) {
	if len(x)%ByteUnit != 0 || len(x) > MaxBytes {
		panic(panicBytes)
	}
	if len(dst) == 0 {
		return
	}
	checkStride(len(dst), len(rows), stride, len(x))
	if race {
		for r := range dst {
			raceRead(rows[r*stride:][:len(x)])
		}
		raceRead(x)
		raceWrite(dst)
	}
	byteRowsDot(data(dst), data(rows), len(dst), stride, data(x), len(x))
}

// WidenBytes sets dst[i] = fma(src[i], hi, src[i]*lo), the product rounded, then one rounding of
// product and sum: src[i]/s where hi is 1/s and lo what rounding has cut off of it. len(src) is a
// multiple of [ByteUnit], and dst is at least as long. Nothing is asked of the alignment.
func WidenBytes[T Float](dst []T, src []uint8, hi, lo T) {
	if len(src)%ByteUnit != 0 {
		panic(panicBytes)
	}
	if len(dst) < len(src) {
		panic(panicShort)
	}
	if len(src) == 0 {
		return
	}
	if race {
		raceRead(src)
		raceWrite(dst[:len(src)])
	}
	widenBytes(data(dst), data(src), len(src), hi, lo)
}

// XorCount sets dst[r] = table[number of bits in which row r differs from x]; row r is
// rows[r*stride:][:len(x)]. The table has an entry for each count from 0 to 64*len(x).
func XorCount[T Float](dst []T, rows []uint64, stride int, x []uint64, table []T) {
	if checkCount(dst, rows, stride, x, table) {
		xorCount(data(dst), data(rows), len(dst), stride, data(x), len(x), data(table))
	}
}

// AndCount sets dst[r] = table[number of bits set in both row r and x]; see [XorCount].
func AndCount[T Float](dst []T, rows []uint64, stride int, x []uint64, table []T) {
	if checkCount(dst, rows, stride, x, table) {
		andCount(data(dst), data(rows), len(dst), stride, data(x), len(x), data(table))
	}
}

// checkCount reports whether there is anything to do.
func checkCount[T Float](dst []T, rows []uint64, stride int, x []uint64, table []T) bool {
	if len(table) <= 64*len(x) {
		panic(panicTable)
	}
	if len(dst) == 0 {
		return false
	}
	checkStride(len(dst), len(rows), stride, len(x))
	if race {
		for r := range dst {
			raceRead(rows[r*stride:][:len(x)])
		}
		raceRead(x)
		raceRead(table)
		raceWrite(dst)
	}
	return true
}

// checkStride: the division keeps (nrows-1)*stride from overflowing.
func checkStride(nrows, have, stride, n int) {
	if room := have - n; room < 0 || stride < 0 || (stride > 0 && nrows-1 > room/stride) {
		panic(panicStride)
	}
}

func widenBytesGeneric[T Float](dst []T, src []uint8, hi, lo T) {
	for i, b := range src {
		v := T(b)
		dst[i] = fma(v, hi, T(v*lo))
	}
}

func byteRowsDotGeneric(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int) {
	d, v := unsafe.Slice(dst, nrows), unsafe.Slice(x, n)
	all := unsafe.Slice(rows, (nrows-1)*stride+n)
	for r := range d {
		row := all[r*stride:][:len(v)]
		var s int32
		for i, a := range v {
			s += int32(a) * int32(row[i])
		}
		d[r] = s
	}
}

func xorCountGeneric[T Float](dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T) {
	d, v, t := unsafe.Slice(dst, nrows), unsafe.Slice(x, n), unsafe.Slice(table, 64*n+1)
	all := unsafe.Slice(rows, (nrows-1)*stride+n)
	for r := range d {
		row := all[r*stride:][:len(v)]
		c := 0
		for i, a := range v {
			c += bits.OnesCount64(a ^ row[i])
		}
		d[r] = t[c]
	}
}

func andCountGeneric[T Float](dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T) {
	d, v, t := unsafe.Slice(dst, nrows), unsafe.Slice(x, n), unsafe.Slice(table, 64*n+1)
	all := unsafe.Slice(rows, (nrows-1)*stride+n)
	for r := range d {
		row := all[r*stride:][:len(v)]
		c := 0
		for i, a := range v {
			c += bits.OnesCount64(a & row[i])
		}
		d[r] = t[c]
	}
}
