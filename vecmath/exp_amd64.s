#include "textflag.h"

// Exp, AVX2 and AVX-512. The steps and the constants are those of expOne in exp.go, the body is in
// exp_amd64.h.
//
// A register of x has three others: EACH4(M) is M(x, p, t, u) for four of x, EACH1(M) for the
// first; the registers u are those of the constants, C0 to C3, too, which are not needed any more
// then. The four chains of dependent operations run side by side.
#define CONST(i, c) BCAST TABLE+(i*ESIZE)(SB), c
#define BELOW(x, p, t, u) MIN x, C0, x; MAX x, C1, x // the second operand, x, if that is NaN
#define SCALED(x, p, t, u) VMOVAPS C3, t; FMA231 C2, x, t; SUB C3, t, p
#define REDUCE1(x, p, t, u) FMA231 C0, p, x
#define REDUCE2(x, p, t, u) FMA231 C1, p, x
#define FIRST(x, p, t, u) VMOVAPS C0, p; FMA213 C1, x, p
#define NEXT(x, p, t, u) FMA213 C0, x, p
#define SQUARE(x, p, t, u) MUL x, x, u; FMA213 x, u, p
#define PLUS1(x, p, t, u) ADD C0, p, p
#define POWER(x, p, t, u) SHIFTR t, u; ISUB u, t, t; SHIFTL u, u; \
	MUL u, p, p; SHIFTL t, t; MUL t, p, p

#define EXP(EACH) \
	CONST(0, C0); \
	CONST(1, C1); \
	CONST(2, C2); \
	CONST(3, C3); \
	EACH(BELOW); \
	EACH(SCALED); \
	CONST(4, C0); \
	CONST(5, C1); \
	EACH(REDUCE1); \
	EACH(REDUCE2); \
	CONST(7, C0); \
	CONST(8, C1); \
	EACH(FIRST); \
	HORNER(EACH); \
	EACH(SQUARE); \
	CONST(6, C0); \
	EACH(PLUS1); \
	EACH(POWER)

#define STEP(i, EACH) CONST(i, C0); EACH(NEXT)

// 32 - r*ESIZE bytes into the table begin r lanes of ones, then zeros.
DATA expTails<>+0(SB)/8, $-1
DATA expTails<>+8(SB)/8, $-1
DATA expTails<>+16(SB)/8, $-1
DATA expTails<>+24(SB)/8, $-1
DATA expTails<>+32(SB)/8, $0
DATA expTails<>+40(SB)/8, $0
DATA expTails<>+48(SB)/8, $0
DATA expTails<>+56(SB)/8, $0
GLOBL expTails<>(SB), RODATA|NOPTR, $64

// float32

#define ESIZE 4
#define TABLE ·exp32
#define MOVU VMOVUPS
#define MASKMOV VMASKMOVPS
#define BCAST VBROADCASTSS
#define MIN VMINPS
#define MAX VMAXPS
#define ADD VADDPS
#define SUB VSUBPS
#define MUL VMULPS
#define FMA231 VFMADD231PS
#define FMA213 VFMADD213PS
#define SHIFTR VPSRLD $1,
#define SHIFTL VPSLLD $23,
#define ISUB VPSUBD
#define HORNER(EACH) STEP(9, EACH); STEP(10, EACH); STEP(11, EACH)

#define C0 Y12
#define C1 Y13
#define C2 Y14
#define C3 Y15
#define EACH1(M) M(Y0, Y4, Y8, Y12)
#define EACH4(M) M(Y0, Y4, Y8, Y12); M(Y1, Y5, Y9, Y13); M(Y2, Y6, Y10, Y14); M(Y3, Y7, Y11, Y15)
#define LOAD1 MOVU (SI), Y0
#define STORE1 MOVU Y4, (DI)
#define LOAD4 MOVU 0(SI), Y0; MOVU 32(SI), Y1; MOVU 64(SI), Y2; MOVU 96(SI), Y3
#define STORE4 MOVU Y4, 0(DI); MOVU Y5, 32(DI); MOVU Y6, 64(DI); MOVU Y7, 96(DI)
#define TAILMASK LEAQ expTails<>+32(SB), R8; NEGQ CX; MOVU (R8)(CX*ESIZE), Y1
#define LOADTAIL TAILMASK; MASKMOV (SI), Y1, Y0
#define STORETAIL MASKMOV Y4, Y1, (DI)
#define LANES 8

// func expAVX2F32(dst, x *float32, n int)
TEXT ·expAVX2F32(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
#include "exp_amd64.h"

// float64

#undef ESIZE
#undef TABLE
#undef MOVU
#undef MASKMOV
#undef BCAST
#undef MIN
#undef MAX
#undef ADD
#undef SUB
#undef MUL
#undef FMA231
#undef FMA213
#undef SHIFTR
#undef SHIFTL
#undef ISUB
#undef HORNER
#undef LANES
#define ESIZE 8
#define TABLE ·exp64
#define MOVU VMOVUPD
#define MASKMOV VMASKMOVPD
#define BCAST VBROADCASTSD
#define MIN VMINPD
#define MAX VMAXPD
#define ADD VADDPD
#define SUB VSUBPD
#define MUL VMULPD
#define FMA231 VFMADD231PD
#define FMA213 VFMADD213PD
#define SHIFTR VPSRLQ $1,
#define SHIFTL VPSLLQ $52,
#define ISUB VPSUBQ
#define HORNER(EACH) STEP(9, EACH); STEP(10, EACH); STEP(11, EACH); STEP(12, EACH); \
	STEP(13, EACH); STEP(14, EACH); STEP(15, EACH); STEP(16, EACH)
#define LANES 4

// func expAVX2F64(dst, x *float64, n int)
TEXT ·expAVX2F64(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
#include "exp_amd64.h"

// AVX-512, float64

#undef C0
#undef C1
#undef C2
#undef C3
#undef EACH1
#undef EACH4
#undef LOAD1
#undef STORE1
#undef LOAD4
#undef STORE4
#undef TAILMASK
#undef LOADTAIL
#undef STORETAIL
#undef LANES
#define C0 Z12
#define C1 Z13
#define C2 Z14
#define C3 Z15
#define EACH1(M) M(Z0, Z4, Z8, Z12)
#define EACH4(M) M(Z0, Z4, Z8, Z12); M(Z1, Z5, Z9, Z13); M(Z2, Z6, Z10, Z14); M(Z3, Z7, Z11, Z15)
#define LOAD1 MOVU (SI), Z0
#define STORE1 MOVU Z4, (DI)
#define LOAD4 MOVU 0(SI), Z0; MOVU 64(SI), Z1; MOVU 128(SI), Z2; MOVU 192(SI), Z3
#define STORE4 MOVU Z4, 0(DI); MOVU Z5, 64(DI); MOVU Z6, 128(DI); MOVU Z7, 192(DI)
#define TAILMASK MOVL $-1, AX; BZHIL CX, AX, AX; KMOVW AX, K1
#define LOADTAIL TAILMASK; MOVU.Z (SI), K1, Z0
#define STORETAIL MOVU Z4, K1, (DI)
#define LANES 8

// func expAVX512F64(dst, x *float64, n int)
TEXT ·expAVX512F64(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
#include "exp_amd64.h"

// AVX-512, float32

#undef ESIZE
#undef TABLE
#undef MOVU
#undef BCAST
#undef MIN
#undef MAX
#undef ADD
#undef SUB
#undef MUL
#undef FMA231
#undef FMA213
#undef SHIFTR
#undef SHIFTL
#undef ISUB
#undef HORNER
#undef LANES
#define ESIZE 4
#define TABLE ·exp32
#define MOVU VMOVUPS
#define BCAST VBROADCASTSS
#define MIN VMINPS
#define MAX VMAXPS
#define ADD VADDPS
#define SUB VSUBPS
#define MUL VMULPS
#define FMA231 VFMADD231PS
#define FMA213 VFMADD213PS
#define SHIFTR VPSRLD $1,
#define SHIFTL VPSLLD $23,
#define ISUB VPSUBD
#define HORNER(EACH) STEP(9, EACH); STEP(10, EACH); STEP(11, EACH)
#define LANES 16

// func expAVX512F32(dst, x *float32, n int)
TEXT ·expAVX512F32(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
#include "exp_amd64.h"

// SinCos, AVX2. The steps and the constants are those of sinCosOne in sincos.go; ANGLE(i) is
// constant i in four lanes. Two polynomials and the next elements, which depend on nothing, keep
// the multipliers busy.
//
// The second operand of a minimum is the result for NaN: the bound.
//
// Y0 x, then r; Y1 t, the quarter in its last bits; Y2 k; Y3 r^2; Y4 sine; Y5 cosine; Y15 scale.
#define ANGLE(i) ·sinCosTable+(32*i)(SB)
#define POLYS(i) VFMADD213PD ANGLE(i), Y3, Y4; VFMADD213PD ANGLE((i+6)), Y3, Y5

#define SINCOS \
	VMINPD       ANGLE(0), Y0, Y0; \
	VXORPD       Y14, Y13, Y2; \
	VMAXPD       Y2, Y0, Y0; \
	VMOVUPD      ANGLE(2), Y1; \
	VFMADD231PD  ANGLE(1), Y0, Y1; \
	VSUBPD       ANGLE(2), Y1, Y2; \
	VFNMADD231PD ANGLE(3), Y2, Y0; \
	VFNMADD231PD ANGLE(4), Y2, Y0; \
	VMULPD       Y0, Y0, Y3; \
	VMOVUPD      ANGLE(5), Y4; \
	VMOVUPD      ANGLE(11), Y5; \
	POLYS(6); \
	POLYS(7); \
	POLYS(8); \
	POLYS(9); \
	POLYS(10); \
	VFMADD213PD  ANGLE(17), Y3, Y5; \
	VMULPD       Y3, Y0, Y6; \
	VFMADD213PD  Y0, Y6, Y4; \
	VFMADD213PD  ANGLE(18), Y3, Y5; \
	VPSLLQ       $63, Y1, Y7; \
	VBLENDVPD    Y7, Y5, Y4, Y8; \
	VBLENDVPD    Y7, Y4, Y5, Y9; \
	VPSLLQ       $62, Y1, Y1; \
	VPXOR        Y7, Y1, Y7; \
	VPAND        Y14, Y1, Y1; \
	VPAND        Y14, Y7, Y7; \
	VPXOR        Y1, Y8, Y8; \
	VPXOR        Y7, Y9, Y9; \
	VMULPD       Y15, Y8, Y8; \
	VMULPD       Y15, Y9, Y9

// func sinCosAVX2F64(sin, cos, x *float64, n int, scale float64)
TEXT ·sinCosAVX2F64(SB), NOSPLIT, $0-40
	MOVQ         sin+0(FP), DI
	MOVQ         cos+8(FP), BX
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
	VBROADCASTSD scale+32(FP), Y15
	VMOVUPD      ANGLE(19), Y14
	VMOVUPD      ANGLE(0), Y13
	XORL         DX, DX

four:
	VMOVUPD (SI)(DX*8), Y0
	SINCOS
	VMOVUPD Y8, (DI)(DX*8)
	VMOVUPD Y9, (BX)(DX*8)
	ADDQ    $4, DX
	CMPQ    DX, CX
	JLT     four
	VZEROUPPER
	RET

// func sinCosAVX2F32(sin, cos, x *float32, n int, scale float64)
TEXT ·sinCosAVX2F32(SB), NOSPLIT, $0-40
	MOVQ         sin+0(FP), DI
	MOVQ         cos+8(FP), BX
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
	VBROADCASTSD scale+32(FP), Y15
	VMOVUPD      ANGLE(19), Y14
	VMOVUPD      ANGLE(0), Y13
	XORL         DX, DX

four:
	VCVTPS2PD  (SI)(DX*4), Y0
	SINCOS
	VCVTPD2PSY Y8, X8
	VCVTPD2PSY Y9, X9
	VMOVUPS    X8, (DI)(DX*4)
	VMOVUPS    X9, (BX)(DX*4)
	ADDQ       $4, DX
	CMPQ       DX, CX
	JLT        four
	VZEROUPPER
	RET
