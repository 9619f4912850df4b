package vecmath

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// feature is one of the CPU, with the name that a message gives it. Package cpu says that a vector
// feature is there only if the operating system saves its registers, too.
type feature struct {
	name string
	has  bool
}

var (
	needScalar = []feature{{"FMA3", cpu.X86.HasFMA}, {"BMI1", cpu.X86.HasBMI1},
		{"BMI2", cpu.X86.HasBMI2}}
	needAVX2   = append([]feature{{"AVX2", cpu.X86.HasAVX2}}, needScalar...)
	needAVX512 = append([]feature{{"AVX512F", cpu.X86.HasAVX512F},
		{"AVX512VL", cpu.X86.HasAVX512VL}, {"AVX512DQ", cpu.X86.HasAVX512DQ},
		{"AVX512BW", cpu.X86.HasAVX512BW}}, needScalar...)
)

// missing names what im needs and this machine lacks.
func missing(im Impl) []string {
	var need []feature
	switch im {
	case NEON:
		return []string{"an arm64 CPU"}
	case AVX2:
		need = needAVX2
	case AVX512:
		need = needAVX512
	}
	var lacks []string
	for _, f := range need {
		if !f.has {
			lacks = append(lacks, f.name)
		}
	}
	return lacks
}

// The dispatch that does more than pass its arguments on; the rest is in zdispatch_amd64.go.

// drawBits leaves to assembly what fills whole vectors.
func drawBits(x *uint64, n, words int, last, fin, step, first, turn uint64) {
	s := unsafe.Slice(x, n)
	if active == Generic {
		drawBitsGeneric(s, words, last, fin, step, first, turn)
		return
	}
	all := s
	if whole := n &^ 15; whole > 0 && active == AVX512 {
		drawBitsAVX512(x, whole, fin, step, first, turn)
		s = s[whole:]
	}
	if whole := len(s) &^ 3; whole > 0 {
		drawBitsAVX2(data(s), whole, fin, step, first, turn)
		s = s[whole:]
	}
	drawBitsOf(s, fin, step, first, turn)
	keepLast(all, words, last)
}

// vnni: 8-bit products go by VPDPBUSD, which some of the CPUs with AVX-512 have.
var vnni = cpu.X86.HasAVX512VNNI

func byteRowsDot(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int) {
	switch active {
	case AVX512:
		if vnni {
			byteRowsDotVNNI(dst, rows, nrows, stride, x, n)
			return
		}
		byteRowsDotAVX512(dst, rows, nrows, stride, x, n)
	case AVX2:
		byteRowsDotAVX2(dst, rows, nrows, stride, x, n)
	default:
		byteRowsDotGeneric(dst, rows, nrows, stride, x, n)
	}
}

// On AVX-512, too: the results are stored as fast as the learners that follow can take them.
func sinCos[T Float](sin, cos, x *T, n int, scale float64) {
	whole := n &^ 3
	if active == Generic {
		whole = 0
	}
	if whole > 0 {
		if is32[T]() {
			sinCosAVX2F32(f32(sin), f32(cos), f32(x), whole, scale)
		} else {
			sinCosAVX2F64(f64(sin), f64(cos), f64(x), whole, scale)
		}
	}
	sinCosGeneric(unsafe.Slice(sin, n)[whole:], unsafe.Slice(cos, n)[whole:], unsafe.Slice(x,
		n)[whole:], scale)
}
