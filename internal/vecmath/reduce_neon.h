// A dense reduction: dot (also MIXED: float64 a, float32 b), sum of squares (SUMSQ, no b), squared
// distance (SQDIST).
//
// Contract: element i is added, fused, to partial sum i mod 64 (float64: 32), in ascending i. The
// partial sums lie in V0-V15, PERREG to a register. They are combined by halving: p[i] += p[i+h]
// for h = 32 (16), ..., 2, 1.
//
//    in   R0 a, R1 b, R2 n
//    out  F0
// V0-V15 partial sums, V16-V19 and V20-V23 a group of a and of b, V24-V27 and V28-V31 the padded
// last group
//    clobbers R0-R8
//
// Elements come in groups of four registers. The n mod GROUP elements left over are read first,
// into a group padded so that adding it changes no other partial sum: (-0)*(+0) = -0, and p + (-0)
// = p for every p. (+0 would not do: a tiny negative product rounds to -0, and -0 + +0 = +0.) Sums
// of squares are never -0, there zeros do.

#ifdef SUMSQ
#define SQUARES
#endif
#ifdef SQDIST
#define SQUARES
#endif

	// A register of b for the padded group.
#ifdef SUMSQ
#define LOADB1(v)
#else
#ifdef MIXED
#define LOADB1(v) \
	FLDPS.P 8(R6), (F21, F22) \
	FCVTSD  F21, F21          \
	FCVTSD  F22, F22          \
	COPY(V21, v)              \
	VMOV    V22.D[0], v.D[1]
#else
#define LOADB1(v) LOAD1(R6, v)
#endif
#endif

#define ZERO(v) VEOR v.B16, v.B16, v.B16
#define COPY(s, d) VMOV s.B16, d.B16

	// The next register of the padded group, if the elements reach it.
#define PADREG(va, vb, last) \
	SUBS $PERREG, R4, R4 \
	BLT  last            \
	LOAD1(R5, va)        \
	LOADB1(vb)

	// The pads.
#ifdef SQUARES
	ZERO(V24)
#else
	MOVD $SIGNBIT, R3
	DUP(R3, V24)
#endif
	COPY(V24, V25)
	COPY(V24, V26)
	COPY(V24, V27)
	ZERO(V28)
	ZERO(V29)
	ZERO(V30)
	ZERO(V31)
	ANDS $(GROUP-1), R2, R4
	BEQ  padded

	// V16, V20: the elements of the last, incomplete register, and pads.
	COPY(V24, V16)
	COPY(V28, V20)
	SUB  R4, R2, R5
	ADD  R5<<BSHIFT, R1, R6
	ADD  R5<<SHIFT, R0, R5
	ANDS $(PERREG-1), R4, R3
	BEQ  whole
	SUB  R3, R4, R7
	ADD  R7<<BSHIFT, R6, R8
	ADD  R7<<SHIFT, R5, R7
#ifdef F32
	VLD1.P 4(R7), V16.S[0]
#ifndef SUMSQ
	VLD1.P 4(R8), V20.S[0]
#endif
	CMP $2, R3
	BLT whole
	VLD1.P 4(R7), V16.S[1]
#ifndef SUMSQ
	VLD1.P 4(R8), V20.S[1]
#endif
	BEQ whole
	VLD1 (R7), V16.S[2]
#ifndef SUMSQ
	VLD1 (R8), V20.S[2]
#endif
#else
	VLD1 (R7), V16.D[0]
#ifdef MIXED
	FMOVS  (R8), F20
	FCVTSD F20, F20
#else
#ifndef SUMSQ
	VLD1 (R8), V20.D[0]
#endif
#endif
#endif

whole:
	PADREG(V24, V28, last0)
	PADREG(V25, V29, last1)
	PADREG(V26, V30, last2)
	COPY(V16, V27)
	COPY(V20, V31)
	B squares
last0:
	COPY(V16, V24)
	COPY(V20, V28)
	B squares
last1:
	COPY(V16, V25)
	COPY(V20, V29)
	B squares
last2:
	COPY(V16, V26)
	COPY(V20, V30)
squares:
#ifdef SQDIST
#ifdef F32
    WORD $0x4ebcd718 // fsub v24.4s, v24.4s, v28.4s
    WORD $0x4ebdd739 // fsub v25.4s, v25.4s, v29.4s
    WORD $0x4ebed75a // fsub v26.4s, v26.4s, v30.4s
    WORD $0x4ebfd77b // fsub v27.4s, v27.4s, v31.4s
#else
    WORD $0x4efcd718 // fsub v24.2d, v24.2d, v28.2d
    WORD $0x4efdd739 // fsub v25.2d, v25.2d, v29.2d
    WORD $0x4efed75a // fsub v26.2d, v26.2d, v30.2d
    WORD $0x4effd77b // fsub v27.2d, v27.2d, v31.2d
#endif
#endif

padded:
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	ZERO(V3)
	ZERO(V4)
	ZERO(V5)
	ZERO(V6)
	ZERO(V7)
	ZERO(V8)
	ZERO(V9)
	ZERO(V10)
	ZERO(V11)
	ZERO(V12)
	ZERO(V13)
	ZERO(V14)
	ZERO(V15)

	// d += the products of the group, and of the padded group.
#ifdef SQUARES
#define ADDGROUP(d0, d1, d2, d3) \
	FMLA(V16, V16, d0) \
	FMLA(V17, V17, d1) \
	FMLA(V18, V18, d2) \
	FMLA(V19, V19, d3)
#define ADDPADDED(d0, d1, d2, d3) \
	FMLA(V24, V24, d0) \
	FMLA(V25, V25, d1) \
	FMLA(V26, V26, d2) \
	FMLA(V27, V27, d3)
#else
#define ADDGROUP(d0, d1, d2, d3) \
	FMLA(V20, V16, d0) \
	FMLA(V21, V17, d1) \
	FMLA(V22, V18, d2) \
	FMLA(V23, V19, d3)
#define ADDPADDED(d0, d1, d2, d3) \
	FMLA(V28, V24, d0) \
	FMLA(V29, V25, d1) \
	FMLA(V30, V26, d2) \
	FMLA(V31, V27, d3)
#endif

groups:
	SUBS $GROUP, R2, R2
	BLT  end0
#include "group_neon.h"
	ADDGROUP(V0, V1, V2, V3)
	SUBS $GROUP, R2, R2
	BLT  end1
#include "group_neon.h"
	ADDGROUP(V4, V5, V6, V7)
	SUBS $GROUP, R2, R2
	BLT  end2
#include "group_neon.h"
	ADDGROUP(V8, V9, V10, V11)
	SUBS $GROUP, R2, R2
	BLT  end3
#include "group_neon.h"
	ADDGROUP(V12, V13, V14, V15)
	B    groups

	// The padded group goes where the next group would have gone.
end0:
	ADDPADDED(V0, V1, V2, V3)
	B halve
end1:
	ADDPADDED(V4, V5, V6, V7)
	B halve
end2:
	ADDPADDED(V8, V9, V10, V11)
	B halve
end3:
	ADDPADDED(V12, V13, V14, V15)

halve:
#ifdef F32
	// h = 32
    WORD $0x4e28d400 // fadd v0.4s, v0.4s, v8.4s
    WORD $0x4e29d421 // fadd v1.4s, v1.4s, v9.4s
    WORD $0x4e2ad442 // fadd v2.4s, v2.4s, v10.4s
    WORD $0x4e2bd463 // fadd v3.4s, v3.4s, v11.4s
    WORD $0x4e2cd484 // fadd v4.4s, v4.4s, v12.4s
    WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
    WORD $0x4e2ed4c6 // fadd v6.4s, v6.4s, v14.4s
    WORD $0x4e2fd4e7 // fadd v7.4s, v7.4s, v15.4s
	// h = 16
    WORD $0x4e24d400 // fadd v0.4s, v0.4s, v4.4s
    WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s
    WORD $0x4e26d442 // fadd v2.4s, v2.4s, v6.4s
    WORD $0x4e27d463 // fadd v3.4s, v3.4s, v7.4s
	// h = 8
    WORD $0x4e22d400 // fadd v0.4s, v0.4s, v2.4s
    WORD $0x4e23d421 // fadd v1.4s, v1.4s, v3.4s
	// h = 4
    WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	// h = 2: the upper half onto the lower
	VDUP V0.D[1], V1.D2
    WORD $0x0e21d400 // fadd v0.2s, v0.2s, v1.2s
	// h = 1
    WORD $0x7e30d800 // faddp s0, v0.2s
#else
	// h = 16
    WORD $0x4e68d400 // fadd v0.2d, v0.2d, v8.2d
    WORD $0x4e69d421 // fadd v1.2d, v1.2d, v9.2d
    WORD $0x4e6ad442 // fadd v2.2d, v2.2d, v10.2d
    WORD $0x4e6bd463 // fadd v3.2d, v3.2d, v11.2d
    WORD $0x4e6cd484 // fadd v4.2d, v4.2d, v12.2d
    WORD $0x4e6dd4a5 // fadd v5.2d, v5.2d, v13.2d
    WORD $0x4e6ed4c6 // fadd v6.2d, v6.2d, v14.2d
    WORD $0x4e6fd4e7 // fadd v7.2d, v7.2d, v15.2d
	// h = 8
    WORD $0x4e64d400 // fadd v0.2d, v0.2d, v4.2d
    WORD $0x4e65d421 // fadd v1.2d, v1.2d, v5.2d
    WORD $0x4e66d442 // fadd v2.2d, v2.2d, v6.2d
    WORD $0x4e67d463 // fadd v3.2d, v3.2d, v7.2d
	// h = 4
    WORD $0x4e62d400 // fadd v0.2d, v0.2d, v2.2d
    WORD $0x4e63d421 // fadd v1.2d, v1.2d, v3.2d
	// h = 2
    WORD $0x4e61d400 // fadd v0.2d, v0.2d, v1.2d
	// h = 1
    WORD $0x7e70d800 // faddp d0, v0.2d
#endif

#ifdef SQUARES
#undef SQUARES
#endif
#undef LOADB1
#undef ZERO
#undef COPY
#undef PADREG
#undef ADDGROUP
#undef ADDPADDED
