#include "textflag.h"

// Exp, NEON. The steps and the constants are those of expOne in exp.go, the body is in exp_neon.h;
// encoded instructions are explained in neon_arm64.s.in.

#define COPY(m, d) VORR m.B16, m.B16, d.B16
// NEXT is a step of Horner's rule for both registers: the polynomials go from p to q.
#define NEXT(c, p0, p1, q0, q1) \
	COPY(c, q0); \
	COPY(c, q1); \
	FMLA(p0, V0, q0); \
	FMLA(p1, V1, q1)

// float32

#define F32
#define PAIR 8 // elements of two registers
#define LOADDUP(v) VLD1R.P 4(R3), [v.S4]
#define FMLA(m, n, d) VFMLA m.S4, n.S4, d.S4
#define HALF(m, d) VUSHR $1, m.S4, d.S4
#define REST(m, d) VSUB m.S4, d.S4, d.S4
#define POWER(d) VSHL $23, d.S4, d.S4
#define LOADX(p, r) MOVWU.P 4(p), r
#define STOREX(r, p) MOVW.P r, 4(p)

// func expNEONF32(dst, x *float32, n int)
TEXT ·expNEONF32(SB), NOSPLIT, $32-24
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
	MOVD $·exp32(SB), R3
	MOVD $memory-32(SP), R7
#include "exp_neon.h"
	RET

// float64

#undef F32
#undef PAIR
#undef LOADDUP
#undef FMLA
#undef HALF
#undef REST
#undef POWER
#undef LOADX
#undef STOREX
#define PAIR 4
#define LOADDUP(v) VLD1R.P 8(R3), [v.D2]
#define FMLA(m, n, d) VFMLA m.D2, n.D2, d.D2
#define HALF(m, d) VUSHR $1, m.D2, d.D2
#define REST(m, d) VSUB m.D2, d.D2, d.D2
#define POWER(d) VSHL $52, d.D2, d.D2
#define LOADX(p, r) MOVD.P 8(p), r
#define STOREX(r, p) MOVD.P r, 8(p)

// func expNEONF64(dst, x *float64, n int)
TEXT ·expNEONF64(SB), NOSPLIT, $32-24
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
	MOVD $·exp64(SB), R3
	MOVD $memory-32(SP), R7
#include "exp_neon.h"
	RET
