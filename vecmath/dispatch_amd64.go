package vecmath

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// cpuid reports a vector feature only if the operating system saves its registers, too.
var (
	needAVX2   = []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2}
	needAVX512 = []cpuid.FeatureID{cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512BW,
		cpuid.FMA3, cpuid.BMI1, cpuid.BMI2}
)

// missing names what im needs and this machine lacks.
func missing(im Impl) []string {
	var need []cpuid.FeatureID
	switch im {
	case NEON:
		return []string{"an arm64 CPU"}
	case AVX2:
		need = needAVX2
	case AVX512:
		need = needAVX512
	}
	var lacks []string
	for _, id := range need {
		if !cpuid.CPU.Has(id) {
			lacks = append(lacks, id.String())
		}
	}
	return lacks
}

// The dispatch that does more than pass its arguments on; the rest is in zdispatch_amd64.go.

// drawBits leaves to assembly what fills whole vectors.
func drawBits(x *uint64, n int, fin, step, first, turn uint64) {
	s := unsafe.Slice(x, n)
	switch active {
	case AVX2, AVX512:
		n &^= 3
		drawBitsAVX2(x, n, fin, step, first, turn)
		s = s[n:]
	}
	drawBitsGeneric(s, fin, step, first, turn)
}

// vnni: 8-bit products go by VPDPBUSD, which some of the CPUs with AVX-512 have.
var vnni = cpuid.CPU.Has(cpuid.AVX512VNNI)

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
