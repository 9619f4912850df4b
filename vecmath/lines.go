package vecmath

import (
	"math"
	"math/bits"
	"unsafe"
)

// MaxLines is how many lines, of 64 bytes each, a vector has at most of which [Lines] lists those
// that are not zero: 1024 numbers of float32.
const MaxLines = 64

// Lines says which lines of a vector, of 64 bytes each from its beginning on, are not zeros: of
// pixels that is often half of them. The zero value says nothing. Not safe for concurrent use.
type Lines struct {
	// Where they begin, in bytes: section q has those whose number is q mod 4, ascending, and
	// behind them, up to n, a line of zeros.
	at    [MaxLines]int32
	n     int    // lines of a section, most
	of    int    // bytes of the vector; 0: not listed
	bits  uint64 // of its lines that are not zeros
	zeros int    // where a line of zeros begins, in bytes
}

// LineBit is the number of the bit that stands for a line in what [Lines.List] takes.
func LineBit(line int) int { return line%4*16 + line/4 }

// List makes l the lines of a vector of so many bytes: those whose [LineBit] is not set in bits are
// zeros, +0 all. It lists nothing where there is none of these, where there are more than
// [MaxLines], where a line is not whole, or where this implementation would gain nothing from it.
func (l *Lines) List(bitsOf uint64, bytes int) {
	l.of = 0
	if active != AVX512 || bytes%64 != 0 || uint(bytes) > 64*MaxLines {
		return
	}
	lines := uint(bytes) / 64
	// of all lines: as many of each section, then one more of the first ones
	const each = 1 | 1<<16 | 1<<32 | 1<<48
	there := uint64(1<<(lines/4)-1)*each | 1<<(lines/4)*(each&(1<<(lines%4*16)-1))
	zeros := there &^ bitsOf
	if zeros == 0 {
		return
	}
	first := bits.TrailingZeros64(zeros)
	l.bits, l.zeros = there&bitsOf, 64*(first%16*4+first/16)
	l.n = listLines(&l.at[0], l.bits, l.zeros)
	l.of = bytes
}

// Forget makes l say nothing.
func (l *Lines) Forget() { l.of = 0 }

// listLinesPlain is the reference of [Lines.List]: it returns how many lines the longest section
// has.
func listLinesPlain(at *int32, lines uint64, zeros int) (longest int) {
	to := unsafe.Slice(at, MaxLines)
	for q := range 4 {
		n := 0
		for i := range 16 {
			if lines>>(16*q+i)&1 != 0 {
				to[16*q+n] = int32(64 * (4*i + q))
				n++
			}
		}
		for k := n; k < 16; k++ {
			to[16*q+k] = int32(zeros)
		}
		longest = max(longest, n)
	}
	return longest
}

// RowsDotLines is [RowsDotAt] that leaves out the lines of x, of 64 bytes each from its beginning
// on, which are zeros: +0, bit for bit. So a weight that is not finite doesn't count there, and it
// never sets -0. Else the results are the same. l is what [Lines.List] made of x, or says
// nothing; each way leads to the same bits.
func RowsDotLines[T Float](dst, rows []T, stride int, at []int32, x []T, l *Lines) {
	if l.of == 0 {
		RowsDotAt(dst, rows, stride, at, x)
	} else {
		if l.of != len(x)*int(unsafe.Sizeof(T(0))) {
			panic(panicShort)
		}
		dst = dst[:len(at)]
		checkRowsAt(dst, rows, stride, at, x)
		if len(at) > 0 {
			rowsDotListed(data(dst), data(rows), stride, data(at), len(at), data(x), &l.at[0], l.n)
		}
	}
	for k, s := range dst[:len(at)] {
		switch {
		case s == 0:
			dst[k] = 0
		case s != s: // by a line of zeros, perhaps
			dst[k] = dotLines(rows[int(at[k])*stride:][:len(x)], x) + 0
		}
	}
}

// DotMixedLines is [DotMixed] that leaves out the lines of x that are zeros, as [RowsDotLines] does
// and with the same promises.
func DotMixedLines[T Float](a []float64, x []T, l *Lines) (s float64) {
	switch {
	case l.of == 0:
		s = DotMixed(a, x)
	case l.of != len(x)*int(unsafe.Sizeof(T(0))) || len(a) < len(x):
		panic(panicShort)
	default:
		if race {
			raceRead(a[:len(x)])
			raceRead(x)
		}
		if is32[T]() {
			s = dotMixedListed(data(a), f32(data(x)), l.bits, l.zeros)
		} else {
			var first int32
			rowsDotListed(&s, data(a), 0, &first, 1, f64(data(x)), &l.at[0], l.n)
		}
	}
	switch {
	case s == 0:
		return 0
	case s != s: // by a line of zeros, perhaps
		return dotMixedLines(a, x) + 0
	}
	return s
}

// dotMixedLines is the reference of [DotMixedLines].
func dotMixedLines[T Float](a []float64, x []T) float64 {
	var p [32]float64
	line := 64 / int(unsafe.Sizeof(T(0)))
	for lo := 0; lo < len(x); lo += line {
		hi := min(lo+line, len(x))
		if isZeros(x[lo:hi]) {
			continue
		}
		for i := lo; i < hi; i++ {
			p[i&31] = math.FMA(float64(x[i]), a[i], p[i&31])
		}
	}
	return halve(p[:])
}

// dotMixedListedPlain is the reference of DotMixedLines by the bits of lines, lines of zeros among
// them included.
func dotMixedListedPlain(a *float64, x *float32, lines uint64) float64 {
	var p [32]float64
	for l := range MaxLines {
		if lines>>LineBit(l)&1 == 0 {
			continue
		}
		for i := 16 * l; i < 16*l+16; i++ {
			v := *(*float32)(unsafe.Add(unsafe.Pointer(x), 4*i))
			w := *(*float64)(unsafe.Add(unsafe.Pointer(a), 8*i))
			p[i&31] = math.FMA(float64(v), w, p[i&31])
		}
	}
	return halve(p[:])
}

// dotLines is the reference of [RowsDotLines], of a row.
func dotLines[T Float](row, x []T) T {
	var acc [64]T
	p := acc[:parts[T]()]
	line := len(p) / 4
	for lo := 0; lo < len(x); lo += line {
		hi := min(lo+line, len(x))
		if isZeros(x[lo:hi]) {
			continue
		}
		for i := lo; i < hi; i++ {
			k := i & (len(p) - 1)
			p[k] = fma(x[i], row[i], p[k])
		}
	}
	return halve(p)
}

// isZeros reports whether all of x are +0.
func isZeros[T Float](x []T) bool {
	for _, v := range x {
		if !sameBits(v, 0) {
			return false
		}
	}
	return true
}

// rowsDotListedPlain is the reference of RowsDotLines by a list, lines of zeros between them
// included.
func rowsDotListedPlain[T Float](dst, rows *T, stride int, at *int32, nat int, x *T, lines *int32,
	n int) {
	size := int(unsafe.Sizeof(*x))
	listed := unsafe.Slice(lines, MaxLines)
	for k, r := range unsafe.Slice(at, nat) {
		var acc [64]T
		p := acc[:parts[T]()]
		line := len(p) / 4
		for q := range 4 {
			for _, from := range listed[16*q:][:n] {
				a := unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(rows), int(r)*stride*size+
					int(from))), line)
				b := unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(x), int(from))), line)
				for i, v := range b {
					p[q*line+i] = fma(v, a[i], p[q*line+i])
				}
			}
		}
		unsafe.Slice(dst, nat)[k] = halve(p)
	}
}

// checkRowsAt panics unless the listed rows, as long as x, are there.
func checkRowsAt[T Float](dst, rows []T, stride int, at []int32, x []T) {
	room := len(rows) - len(x)
	if len(at) > 0 && (room < 0 || stride < 0) {
		panic(panicStride)
	}
	for _, r := range at {
		if hi, lo := bits.Mul64(uint64(uint32(r)), uint64(stride)); r < 0 || hi != 0 ||
			lo > uint64(room) {
			panic(panicStride)
		}
	}
	if race {
		for _, r := range at {
			raceRead(rows[int(r)*stride:][:len(x)])
		}
		raceRead(x)
		raceWrite(dst)
	}
}
