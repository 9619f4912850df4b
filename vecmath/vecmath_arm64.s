#include "textflag.h"

// The NEON kernels. The bodies are in *_neon.h, one kernel a file, written in the macros below and
// instantiated for float32, float64 and, with MIXED, for a float64 vector and a float32 example.
// Each states its contract, which vecmath_generic.go defines. Here are the frames: arguments are
// loaded where go vet checks them.
//
// Go's assembler lacks the vector forms of FADD, FSUB, FMUL, FCMGE and FCVTL. They are encoded as
//
//	WORD $0x4e28d400 // fadd v0.4s, v0.4s, v8.4s
//
// indented by four spaces, from the comments, by .ci/encode-arm64; TestEncodedBytes checks every
// one. R18 is left alone: some systems reserve it.

// Loads and stores that advance p. Go's arm64 is little-endian, so bytes will do for every element.
#define LOAD4(p, a, b, c, d) VLD1.P 64(p), [a.B16, b.B16, c.B16, d.B16]
#define STORE4(p, a, b, c, d) VST1.P [a.B16, b.B16, c.B16, d.B16], 64(p)
#define LOAD1(p, v) VLD1.P 16(p), [v.B16]
#define STORE1(p, v) VST1.P [v.B16], 16(p)

// float32

#define F32
#define SIZE 4             // bytes of an element
#define SHIFT 2            // log2 SIZE
#define BSHIFT 2           // log2 of the bytes of an element of the second operand
#define PARTS 64           // partial sums of a dense reduction
// elements of four registers, 64 bytes: a group of a vector, a unit of lanes
#define GROUP 16
#define UNITSHIFT 4        // log2 GROUP
#define UNITSPERWORD 4     // units of a mask word
#define PERREG 4           // elements of a register
#define SIGNBIT 0x80000000 // -0
#define ONEBITS 0x3f800000 // 1

// LOADDUP loads an element to all lanes, SPLAT copies lane 0 to all, DUP a general register. FMLA:
// d += m*n. LOADX loads an element of the second operand.
#define LOADDUP(p, v) VLD1R.P SIZE(p), [v.S4]
#define SPLAT(v) VDUP v.S[0], v.S4
#define DUP(r, v) VDUP r, v.S4
#define CMTST(m, n, d) VCMTST m.S4, n.S4, d.S4
#define FMLA(m, n, d) VFMLA m.S4, n.S4, d.S4
#define FMADD FMADDS
#define FMOV FMOVS
#define FADD FADDS
#define FMUL FMULS
#define FABS FABSS
#define FCMP FCMPS
#define FCSEL FCSELS
#define LOADBITS MOVWU.P
#define CMEQ(m, n, d) VCMEQ m.S4, n.S4, d.S4
#define BITSOF FMOVS
#define MAGNITUDE(r) AND $0x7fffffff, r, r
#define FLDP FLDPS
#define LOADX(p, f) FMOV.P SIZE(p), f

// func dotNEONF32(a, b *float32, n int) float32
TEXT ·dotNEONF32(SB), NOSPLIT, $0-28
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
#include "reduce_neon.h"
	FMOVS F0, ret+24(FP)
	RET

// func axpyNEONF32(y *float32, a float32, x *float32, n int)
TEXT ·axpyNEONF32(SB), NOSPLIT, $0-32
	MOVD  y+0(FP), R0
	FMOVS a+8(FP), F30
	MOVD  x+16(FP), R1
	MOVD  n+24(FP), R2
#include "axpy_neon.h"
	RET

// func scalNEONF32(x *float32, a float32, n int)
TEXT ·scalNEONF32(SB), NOSPLIT, $0-24
	MOVD  x+0(FP), R0
	FMOVS a+8(FP), F30
	MOVD  n+16(FP), R1
#include "scal_neon.h"
	RET

// func sumSqNEONF32(x *float32, n int) float32
TEXT ·sumSqNEONF32(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R0
	MOVD n+8(FP), R2
#define SUMSQ
#include "reduce_neon.h"
#undef SUMSQ
	FMOVS F0, ret+16(FP)
	RET

// func rowsDotAtNEONF32(dst, rows *float32, stride int, at *int32, nat int, x *float32, n int)
TEXT ·rowsDotAtNEONF32(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R9
	MOVD rows+8(FP), R10
	MOVD stride+16(FP), R12
	MOVD at+24(FP), R15
	MOVD nat+32(FP), R11
	MOVD x+40(FP), R13
	MOVD n+48(FP), R14
#include "rowsdotat_neon.h"
	RET

// func sqDistNEONF32(a, b *float32, n int) float32
TEXT ·sqDistNEONF32(SB), NOSPLIT, $0-28
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
#define SQDIST
#include "reduce_neon.h"
#undef SQDIST
	FMOVS F0, ret+24(FP)
	RET

// func rowsDotNEONF32(dst, rows *float32, nrows, stride int, x *float32, n int)
TEXT ·rowsDotNEONF32(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R9
	MOVD rows+8(FP), R10
	MOVD nrows+16(FP), R11
	MOVD stride+24(FP), R12
	MOVD x+32(FP), R13
	MOVD n+40(FP), R14
#include "rowsdot_neon.h"
	RET

// func sparseDotNEONF32(idx *int32, val *float32, n int, w *float32) float32
TEXT ·sparseDotNEONF32(SB), NOSPLIT, $0-36
	MOVD idx+0(FP), R0
	MOVD val+8(FP), R1
	MOVD n+16(FP), R2
	MOVD w+24(FP), R3
#include "sparsedot_neon.h"
	FMOVS F0, ret+32(FP)
	RET

// func sparseAxpyNEONF32(w *float32, a float32, idx *int32, val *float32, n int)
TEXT ·sparseAxpyNEONF32(SB), NOSPLIT, $0-40
	MOVD  w+0(FP), R0
	FMOVS a+8(FP), F30
	MOVD  idx+16(FP), R1
	MOVD  val+24(FP), R2
	MOVD  n+32(FP), R3
#include "sparseaxpy_neon.h"
	RET

// func lanesScoreNEONF32(dst, w *float32, width int, rows *int32, val *float32, n int)
TEXT ·lanesScoreNEONF32(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD width+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD val+32(FP), R4
	MOVD n+40(FP), R5
#include "lanesscore_neon.h"
	RET

// func lanesUpdateNEONF32(w *float32, width int, rows *int32, val *float32, n int, coef *float32,
// mask *uint64)
TEXT ·lanesUpdateNEONF32(SB), NOSPLIT, $0-56
	MOVD w+0(FP), R0
	MOVD width+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD val+24(FP), R3
	MOVD n+32(FP), R4
	MOVD coef+40(FP), R5
	MOVD mask+48(FP), R6
#include "lanesupdate_neon.h"
	RET

// func lanesLENEONF32(mask *uint64, s *float32, width int, y, t float32)
TEXT ·lanesLENEONF32(SB), NOSPLIT, $0-32
	MOVD  mask+0(FP), R0
	MOVD  s+8(FP), R1
	MOVD  width+16(FP), R2
	FMOVS y+24(FP), F30
	FMOVS t+28(FP), F31
#include "lanesle_neon.h"
	RET

// func lanesRunNEONF32(counts *int32, w *float32, width int, ptr *int, n int, rows *int32, val *float32,
// y *float32, seen *uint64, stride int, margin, step float32)
TEXT ·lanesRunNEONF32(SB), NOSPLIT, $0-88
	MOVD  counts+0(FP), R0
	MOVD  w+8(FP), R1
	MOVD  width+16(FP), R2
	MOVD  ptr+24(FP), R3
	MOVD  n+32(FP), R4
	MOVD  rows+40(FP), R5
	MOVD  val+48(FP), R10
	MOVD  y+56(FP), R7
	MOVD  seen+64(FP), R8
	MOVD  stride+72(FP), R9
	FMOVS margin+80(FP), F31
	FMOVS step+84(FP), F29
#include "lanesrun_neon.h"
	RET

// func lanesRunInt16NEONF32(counts, sums *int32, w *int16, width int, ptr *int, n int, rows *int32,
// y *float32, seen *uint64, stride, margin, limit, peak, lanes int) (done, newPeak int)
TEXT ·lanesRunInt16NEONF32(SB), NOSPLIT, $0-128
	MOVD counts+0(FP), R0
	MOVD sums+8(FP), R1
	MOVD w+16(FP), R2
	MOVD width+24(FP), R3
	MOVD ptr+32(FP), R4
	MOVD n+40(FP), R5
	MOVD rows+48(FP), R6
	MOVD y+56(FP), R7
	MOVD seen+64(FP), R8
	MOVD stride+72(FP), R9
	MOVD margin+80(FP), R20
	VDUP R20, V24.H8
	MOVD limit+88(FP), R23
	MOVD peak+96(FP), R20
	VDUP R20, V26.H8
#define LOADSIGN MOVW.P 4(R7), R11
#include "lanesrunint16_neon.h"
#undef LOADSIGN
	MOVD n+40(FP), R19
	SUB  R5, R19, R19
	MOVD R19, done+112(FP)
	MOVD R20, newPeak+120(FP)
	RET

// float64

#undef F32
#undef SIZE
#undef SHIFT
#undef BSHIFT
#undef PARTS
#undef GROUP
#undef UNITSHIFT
#undef UNITSPERWORD
#undef PERREG
#undef SIGNBIT
#undef ONEBITS
#undef LOADDUP
#undef SPLAT
#undef DUP
#undef CMTST
#undef FMLA
#undef FMADD
#undef FMOV
#undef FADD
#undef FMUL
#undef FABS
#undef FCMP
#undef FCSEL
#undef LOADBITS
#undef CMEQ
#undef BITSOF
#undef MAGNITUDE
#undef FLDP
#undef LOADX

#define F64
#define SIZE 8
#define SHIFT 3
#define BSHIFT 3
#define PARTS 32
#define GROUP 8
#define UNITSHIFT 3
#define UNITSPERWORD 8
#define PERREG 2
#define SIGNBIT 0x8000000000000000
#define ONEBITS 0x3ff0000000000000
#define LOADDUP(p, v) VLD1R.P SIZE(p), [v.D2]
#define SPLAT(v) VDUP v.D[0], v.D2
#define DUP(r, v) VDUP r, v.D2
#define CMTST(m, n, d) VCMTST m.D2, n.D2, d.D2
#define FMLA(m, n, d) VFMLA m.D2, n.D2, d.D2
#define FMADD FMADDD
#define FMOV FMOVD
#define FADD FADDD
#define FMUL FMULD
#define FABS FABSD
#define FCMP FCMPD
#define FCSEL FCSELD
#define LOADBITS MOVD.P
#define CMEQ(m, n, d) VCMEQ m.D2, n.D2, d.D2
#define BITSOF FMOVD
#define MAGNITUDE(r) AND $0x7fffffffffffffff, r, r
#define FLDP FLDPD
#define LOADX(p, f) FMOV.P SIZE(p), f

// func dotNEONF64(a, b *float64, n int) float64
TEXT ·dotNEONF64(SB), NOSPLIT, $0-32
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
#include "reduce_neon.h"
	FMOVD F0, ret+24(FP)
	RET

// func axpyNEONF64(y *float64, a float64, x *float64, n int)
TEXT ·axpyNEONF64(SB), NOSPLIT, $0-32
	MOVD  y+0(FP), R0
	FMOVD a+8(FP), F30
	MOVD  x+16(FP), R1
	MOVD  n+24(FP), R2
#include "axpy_neon.h"
	RET

// func scalNEONF64(x *float64, a float64, n int)
TEXT ·scalNEONF64(SB), NOSPLIT, $0-24
	MOVD  x+0(FP), R0
	FMOVD a+8(FP), F30
	MOVD  n+16(FP), R1
#include "scal_neon.h"
	RET

// func sumSqNEONF64(x *float64, n int) float64
TEXT ·sumSqNEONF64(SB), NOSPLIT, $0-24
	MOVD x+0(FP), R0
	MOVD n+8(FP), R2
#define SUMSQ
#include "reduce_neon.h"
#undef SUMSQ
	FMOVD F0, ret+16(FP)
	RET

// func rowsDotAtNEONF64(dst, rows *float64, stride int, at *int32, nat int, x *float64, n int)
TEXT ·rowsDotAtNEONF64(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R9
	MOVD rows+8(FP), R10
	MOVD stride+16(FP), R12
	MOVD at+24(FP), R15
	MOVD nat+32(FP), R11
	MOVD x+40(FP), R13
	MOVD n+48(FP), R14
#include "rowsdotat_neon.h"
	RET

// func sqDistNEONF64(a, b *float64, n int) float64
TEXT ·sqDistNEONF64(SB), NOSPLIT, $0-32
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
#define SQDIST
#include "reduce_neon.h"
#undef SQDIST
	FMOVD F0, ret+24(FP)
	RET

// func rowsDotNEONF64(dst, rows *float64, nrows, stride int, x *float64, n int)
TEXT ·rowsDotNEONF64(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R9
	MOVD rows+8(FP), R10
	MOVD nrows+16(FP), R11
	MOVD stride+24(FP), R12
	MOVD x+32(FP), R13
	MOVD n+40(FP), R14
#include "rowsdot_neon.h"
	RET

// func sparseDotNEONF64(idx *int32, val *float64, n int, w *float64) float64
TEXT ·sparseDotNEONF64(SB), NOSPLIT, $0-40
	MOVD idx+0(FP), R0
	MOVD val+8(FP), R1
	MOVD n+16(FP), R2
	MOVD w+24(FP), R3
#include "sparsedot_neon.h"
	FMOVD F0, ret+32(FP)
	RET

// func sparseAxpyNEONF64(w *float64, a float64, idx *int32, val *float64, n int)
TEXT ·sparseAxpyNEONF64(SB), NOSPLIT, $0-40
	MOVD  w+0(FP), R0
	FMOVD a+8(FP), F30
	MOVD  idx+16(FP), R1
	MOVD  val+24(FP), R2
	MOVD  n+32(FP), R3
#include "sparseaxpy_neon.h"
	RET

// func lanesScoreNEONF64(dst, w *float64, width int, rows *int32, val *float64, n int)
TEXT ·lanesScoreNEONF64(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD width+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD val+32(FP), R4
	MOVD n+40(FP), R5
#include "lanesscore_neon.h"
	RET

// func lanesUpdateNEONF64(w *float64, width int, rows *int32, val *float64, n int, coef *float64,
// mask *uint64)
TEXT ·lanesUpdateNEONF64(SB), NOSPLIT, $0-56
	MOVD w+0(FP), R0
	MOVD width+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD val+24(FP), R3
	MOVD n+32(FP), R4
	MOVD coef+40(FP), R5
	MOVD mask+48(FP), R6
#include "lanesupdate_neon.h"
	RET

// func lanesLENEONF64(mask *uint64, s *float64, width int, y, t float64)
TEXT ·lanesLENEONF64(SB), NOSPLIT, $0-40
	MOVD  mask+0(FP), R0
	MOVD  s+8(FP), R1
	MOVD  width+16(FP), R2
	FMOVD y+24(FP), F30
	FMOVD t+32(FP), F31
#include "lanesle_neon.h"
	RET

// func lanesRunNEONF64(counts *int32, w *float64, width int, ptr *int, n int, rows *int32, val *float64,
// y *float64, seen *uint64, stride int, margin, step float64)
TEXT ·lanesRunNEONF64(SB), NOSPLIT, $0-96
	MOVD  counts+0(FP), R0
	MOVD  w+8(FP), R1
	MOVD  width+16(FP), R2
	MOVD  ptr+24(FP), R3
	MOVD  n+32(FP), R4
	MOVD  rows+40(FP), R5
	MOVD  val+48(FP), R10
	MOVD  y+56(FP), R7
	MOVD  seen+64(FP), R8
	MOVD  stride+72(FP), R9
	FMOVD margin+80(FP), F31
	FMOVD step+88(FP), F29
#include "lanesrun_neon.h"
	RET

// func lanesRunInt16NEONF64(counts, sums *int32, w *int16, width int, ptr *int, n int, rows *int32,
// y *float64, seen *uint64, stride, margin, limit, peak, lanes int) (done, newPeak int)
TEXT ·lanesRunInt16NEONF64(SB), NOSPLIT, $0-128
	MOVD counts+0(FP), R0
	MOVD sums+8(FP), R1
	MOVD w+16(FP), R2
	MOVD width+24(FP), R3
	MOVD ptr+32(FP), R4
	MOVD n+40(FP), R5
	MOVD rows+48(FP), R6
	MOVD y+56(FP), R7
	MOVD seen+64(FP), R8
	MOVD stride+72(FP), R9
	MOVD margin+80(FP), R20
	VDUP R20, V24.H8
	MOVD limit+88(FP), R23
	MOVD peak+96(FP), R20
	VDUP R20, V26.H8
#define LOADSIGN MOVD.P 8(R7), R11
#include "lanesrunint16_neon.h"
#undef LOADSIGN
	MOVD n+40(FP), R19
	SUB  R5, R19, R19
	MOVD R19, done+112(FP)
	MOVD R20, newPeak+120(FP)
	RET

// Mixed: a float64 vector and a float32 example, each element of which is widened exactly.

#define MIXED
#undef BSHIFT
#define BSHIFT 2
#undef LOADX
#define LOADX(p, f) FMOVS.P 4(p), f; FCVTSD f, f

// func dotMixedNEON(a *float64, x *float32, n int) float64
TEXT ·dotMixedNEON(SB), NOSPLIT, $0-32
	MOVD a+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
#include "reduce_neon.h"
	FMOVD F0, ret+24(FP)
	RET

// func rowsDotMixedNEON(dst *float64, rows *float32, nrows, stride int, x *float64, n int)
TEXT ·rowsDotMixedNEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R9
	MOVD rows+8(FP), R10
	MOVD nrows+16(FP), R11
	MOVD stride+24(FP), R12
	MOVD x+32(FP), R13
	MOVD n+40(FP), R14
#include "rowsdot_neon.h"
	RET

// func axpyMixedNEON(y *float64, a float64, x *float32, n int)
TEXT ·axpyMixedNEON(SB), NOSPLIT, $0-32
	MOVD  y+0(FP), R0
	FMOVD a+8(FP), F30
	MOVD  x+16(FP), R1
	MOVD  n+24(FP), R2
#include "axpy_neon.h"
	RET

// func sparseDotMixedNEON(idx *int32, val *float32, n int, w *float64) float64
TEXT ·sparseDotMixedNEON(SB), NOSPLIT, $0-40
	MOVD idx+0(FP), R0
	MOVD val+8(FP), R1
	MOVD n+16(FP), R2
	MOVD w+24(FP), R3
#include "sparsedot_neon.h"
	FMOVD F0, ret+32(FP)
	RET

// func sparseAxpyMixedNEON(w *float64, a float64, idx *int32, val *float32, n int)
TEXT ·sparseAxpyMixedNEON(SB), NOSPLIT, $0-40
	MOVD  w+0(FP), R0
	FMOVD a+8(FP), F30
	MOVD  idx+16(FP), R1
	MOVD  val+24(FP), R2
	MOVD  n+32(FP), R3
#include "sparseaxpy_neon.h"
	RET

// func maxIndexNEON(idx *int32, n int) uint32
//
// R0 idx, R1 indices left; V0 and V1 the largest of each lane, R4 the largest of the last few.
TEXT ·maxIndexNEON(SB), NOSPLIT, $0-20
	MOVD idx+0(FP), R0
	MOVD n+8(FP), R1
	MOVD ZR, R4
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	SUBS $8, R1, R1
	BLT  rest
eight:
	VLD1.P 32(R0), [V2.S4, V3.S4]
	VUMAX  V2.S4, V0.S4, V0.S4
	VUMAX  V3.S4, V1.S4, V1.S4
	SUBS   $8, R1, R1
	BGE    eight
rest:
	ADDS $8, R1, R1
	BEQ  reduce
one:
	MOVWU.P 4(R0), R5
	CMP     R5, R4
	CSEL    HI, R4, R5, R4
	SUBS    $1, R1, R1
	BNE     one
reduce:
	VUMAX V1.S4, V0.S4, V0.S4
	VMOV  V0.S[0], R5
	CMP   R5, R4
	CSEL  HI, R4, R5, R4
	VMOV  V0.S[1], R5
	CMP   R5, R4
	CSEL  HI, R4, R5, R4
	VMOV  V0.S[2], R5
	CMP   R5, R4
	CSEL  HI, R4, R5, R4
	VMOV  V0.S[3], R5
	CMP   R5, R4
	CSEL  HI, R4, R5, R4
	MOVW  R4, ret+16(FP)
	RET

// func addRowSumsNEON(dst *float64, w *int16, width, n int)
// R0 dst, R1 w, R2 width, R3 rows left, R4 lanes left; V16 and V17 the sums of a row.
TEXT ·addRowSumsNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD width+16(FP), R2
	MOVD n+24(FP), R3
row:
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	MOVD R2, R4
lanes:
	VLD1.P 64(R1), [V0.H8, V1.H8, V2.H8, V3.H8]
    WORD $0x4e606810 // sadalp v16.4s, v0.8h
    WORD $0x4e606831 // sadalp v17.4s, v1.8h
    WORD $0x4e606850 // sadalp v16.4s, v2.8h
    WORD $0x4e606871 // sadalp v17.4s, v3.8h
	SUBS $32, R4, R4
	BNE  lanes
	VADD  V17.S4, V16.S4, V16.S4
	VADDV V16.S4, V16
	VMOV  V16.S[0], R4
	SCVTFWD R4, F0
	FMOVD (R0), F1
	FADDD F0, F1, F1
	FMOVD.P F1, 8(R0)
	SUB   $1, R3, R3
	CBNZ  R3, row
	RET
