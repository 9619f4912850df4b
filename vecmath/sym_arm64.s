#include "textflag.h"

// A symmetric matrix's rank-1 change and its product with a vector, or the product alone: CHANGE is
// defined where a body changes the matrix. The contracts are in sym.go; encoded instructions are
// explained in vecmath_arm64.s.

#define LOAD4(p, a, b, c, d) VLD1.P 64(p), [a.B16, b.B16, c.B16, d.B16]
#define STORE4(p, a, b, c, d) VST1.P [a.B16, b.B16, c.B16, d.B16], 64(p)

// float32

#define F32
#define SIZE 4             // bytes of an element
#define SHIFT 2            // log2 SIZE
#define SPLAT(v) VDUP v.S[0], v.S4
#define FMLA(m, n, d) VFMLA m.S4, n.S4, d.S4
#define FMADD FMADDS
#define FMOV FMOVS
#define FMUL FMULS

// func symRankOneMulNEONF32(y, v *float32, stride int, x *float32, a float32, u *float32, n int)
TEXT ·symRankOneMulNEONF32(SB), NOSPLIT, $64-56
	MOVD  y+0(FP), R0
	MOVD  v+8(FP), R3
	MOVD  stride+16(FP), R4
	LSL   $SHIFT, R4, R4
	MOVD  x+24(FP), R1
	FMOVS a+32(FP), F15
	FNEGS F15, F15
	MOVD  u+40(FP), R2
	MOVD  n+48(FP), R5
	LSL   $SHIFT, R5, R7
#define CHANGE
#include "sym_neon.h"
#undef CHANGE
	RET

// func symMulNEONF32(y, v *float32, stride int, x *float32, n int)
TEXT ·symMulNEONF32(SB), NOSPLIT, $64-40
	MOVD  y+0(FP), R0
	MOVD  v+8(FP), R3
	MOVD  stride+16(FP), R4
	LSL   $SHIFT, R4, R4
	MOVD  x+24(FP), R1
	MOVD  n+32(FP), R5
	LSL   $SHIFT, R5, R7
#include "sym_neon.h"
	RET

#undef F32
#undef SIZE
#undef SHIFT
#undef SPLAT
#undef FMLA
#undef FMADD
#undef FMOV
#undef FMUL

// float64

#define SIZE 8             // bytes of an element
#define SHIFT 3            // log2 SIZE
#define SPLAT(v) VDUP v.D[0], v.D2
#define FMLA(m, n, d) VFMLA m.D2, n.D2, d.D2
#define FMADD FMADDD
#define FMOV FMOVD
#define FMUL FMULD

// func symRankOneMulNEONF64(y, v *float64, stride int, x *float64, a float64, u *float64, n int)
TEXT ·symRankOneMulNEONF64(SB), NOSPLIT, $64-56
	MOVD  y+0(FP), R0
	MOVD  v+8(FP), R3
	MOVD  stride+16(FP), R4
	LSL   $SHIFT, R4, R4
	MOVD  x+24(FP), R1
	FMOVD a+32(FP), F15
	FNEGD F15, F15
	MOVD  u+40(FP), R2
	MOVD  n+48(FP), R5
	LSL   $SHIFT, R5, R7
#define CHANGE
#include "sym_neon.h"
#undef CHANGE
	RET

// func symMulNEONF64(y, v *float64, stride int, x *float64, n int)
TEXT ·symMulNEONF64(SB), NOSPLIT, $64-40
	MOVD  y+0(FP), R0
	MOVD  v+8(FP), R3
	MOVD  stride+16(FP), R4
	LSL   $SHIFT, R4, R4
	MOVD  x+24(FP), R1
	MOVD  n+32(FP), R5
	LSL   $SHIFT, R5, R7
#include "sym_neon.h"
	RET
