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

// PowersAlong. The steps are those of powerOne in powersums.go.
//
// AVX2: Y8 e, Y9 scale, Y10 tau; Y11 to Y15 are the sums of these four elements, and on the stack
// are those of the four before and behind. LOAD sets Y0 to u and Y1 to d.
#define PCONST(i, y) VBROADCASTSD ·powerTable+(8*i)(SB), y
#define ECONST(i, y) VBROADCASTSD ·exp64+(8*i)(SB), y
#define LNSTEP(i, y) PCONST(i, Y2); VFMADD213PD Y2, Y1, y
#define EXPSTEP(i, y) ECONST(i, Y2); VFMADD213PD Y2, Y3, y
#define OTHERSUM(i, y) VMOVUPD (32*i)(SP), Y7; VMOVUPD y, (32*i)(SP); VMOVAPD Y7, y

// POWERS sets Y6 to r and adds to the sums.
#define POWERS(LOAD) \
	LOAD; \
	VFMADD231PD Y1, Y10, Y0; \
	PCONST(0, Y2); \
	VANDPD      Y2, Y0, Y3; \
	VMULPD      Y9, Y3, Y3; \
	PCONST(1, Y2); \
	VMAXPD      Y2, Y3, Y3; \
	PCONST(2, Y2); \
	VPADDQ      Y2, Y3, Y4; \
	PCONST(5, Y2); \
	VPAND       Y2, Y4, Y5; \
	PCONST(6, Y2); \
	VPADDQ      Y2, Y5, Y5; \
	PCONST(7, Y2); \
	VSUBPD      Y2, Y5, Y6; /* f */ \
	PCONST(8, Y2); \
	VADDPD      Y2, Y6, Y5; \
	VDIVPD      Y5, Y6, Y5; /* s */ \
	VMULPD      Y5, Y5, Y7; /* z */ \
	VMULPD      Y7, Y7, Y1; \
	PCONST(10, Y3); \
	PCONST(11, Y0); \
	LNSTEP(12, Y3); \
	LNSTEP(13, Y0); \
	LNSTEP(14, Y3); \
	LNSTEP(15, Y0); \
	LNSTEP(16, Y3); \
	VFMADD231PD Y7, Y0, Y3; \
	VMULPD      Y7, Y3, Y3; \
	VMULPD      Y6, Y6, Y7; \
	PCONST(9, Y2); \
	VMULPD      Y2, Y7, Y7; /* half */ \
	VADDPD      Y7, Y3, Y3; \
	VMULPD      Y5, Y3, Y3; \
	VPSRLQ      $52, Y4, Y4; \
	PCONST(3, Y2); \
	VPOR        Y2, Y4, Y4; \
	PCONST(4, Y2); \
	VSUBPD      Y2, Y4, Y4; /* k */ \
	PCONST(18, Y2); \
	VFMADD231PD Y2, Y4, Y3; \
	VSUBPD      Y3, Y7, Y7; \
	VSUBPD      Y6, Y7, Y7; \
	PCONST(17, Y5); \
	VFMSUB213PD Y7, Y4, Y5; /* ln */ \
	VMULPD      Y8, Y5, Y5; \
	PCONST(19, Y2); \
	VMAXPD      Y2, Y5, Y5; \
	PCONST(20, Y2); \
	VMINPD      Y2, Y5, Y5; /* y */ \
	PCONST(21, Y7); \
	VMOVAPD     Y7, Y4; \
	ECONST(2, Y2); \
	VFMADD231PD Y2, Y5, Y4; /* n */ \
	VSUBPD      Y7, Y4, Y7; \
	ECONST(4, Y2); \
	VFMADD231PD Y2, Y7, Y5; \
	ECONST(5, Y2); \
	VFMADD231PD Y2, Y7, Y5; /* x */ \
	VMULPD      Y5, Y5, Y3; \
	ECONST(8, Y6); \
	ECONST(7, Y0); \
	EXPSTEP(10, Y6); \
	EXPSTEP(9, Y0); \
	EXPSTEP(12, Y6); \
	EXPSTEP(11, Y0); \
	EXPSTEP(14, Y6); \
	EXPSTEP(13, Y0); \
	EXPSTEP(16, Y6); \
	EXPSTEP(15, Y0); \
	VFMADD231PD Y5, Y0, Y6; \
	VFMADD213PD Y5, Y3, Y6; \
	PCONST(7, Y2); \
	VADDPD      Y2, Y6, Y6; \
	VPSLLQ      $52, Y4, Y4; \
	VPADDQ      Y4, Y6, Y6; \
	LOAD; \
	VMOVAPD     Y0, Y2; \
	VFMADD231PD Y1, Y10, Y2; \
	VMULPD      Y1, Y6, Y3; \
	VMULPD      Y0, Y6, Y4; \
	VMULPD      Y2, Y6, Y5; \
	VFMADD231PD Y2, Y3, Y11; \
	VFMADD231PD Y1, Y3, Y12; \
	VFMADD231PD Y2, Y4, Y13; \
	VFMADD231PD Y1, Y4, Y14; \
	VFMADD231PD Y2, Y5, Y15

#define OTHERSUMS \
	OTHERSUM(0, Y11); \
	OTHERSUM(1, Y12); \
	OTHERSUM(2, Y13); \
	OTHERSUM(3, Y14); \
	OTHERSUM(4, Y15)

#define LOADFOUR VMOVUPD (SI), Y0; VMOVUPD (DX), Y1
#define LOADREST VMOVUPD (R8), Y7; VMASKMOVPD (SI), Y7, Y0; VMASKMOVPD (DX), Y7, Y1

// POWERSUM stores the sum of the four of y, whose first two are x.
#define POWERSUM(i, y, x) \
	VEXTRACTF128 $1, y, X0; \
	VADDPD       X0, x, X0; \
	VHADDPD      X0, X0, X0; \
	VMOVSD       X0, (8*i)(BX)

// func powersAlongAVX2(r, u, d *float64, n int, tau, scale, e float64, sums *float64)
TEXT ·powersAlongAVX2(SB), NOSPLIT, $160-64
	MOVQ         r+0(FP), DI
	MOVQ         u+8(FP), SI
	MOVQ         d+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD tau+32(FP), Y10
	VBROADCASTSD scale+40(FP), Y9
	VBROADCASTSD e+48(FP), Y8
	MOVQ         sums+56(FP), BX
	VXORPD       Y11, Y11, Y11
	VXORPD       Y12, Y12, Y12
	VXORPD       Y13, Y13, Y13
	VXORPD       Y14, Y14, Y14
	VXORPD       Y15, Y15, Y15
	VMOVUPD      Y11, 0(SP)
	VMOVUPD      Y11, 32(SP)
	VMOVUPD      Y11, 64(SP)
	VMOVUPD      Y11, 96(SP)
	VMOVUPD      Y11, 128(SP)
	XORL         AX, AX
	SUBQ         $4, CX
	JLT          powersRest

powersFour:
	POWERS(LOADFOUR)
	VMOVUPD Y6, (DI)
	OTHERSUMS
	XORL    $1, AX
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX
	JGE     powersFour

powersRest:
	ADDQ       $4, CX
	JEQ        powersEven
	LEAQ       expTails<>+32(SB), R8
	SHLQ       $3, CX
	SUBQ       CX, R8
	POWERS(LOADREST)
	VMOVUPD    (R8), Y7
	VMASKMOVPD Y6, Y7, (DI)
	OTHERSUMS
	XORL       $1, AX

powersEven:
	TESTL  AX, AX
	JEQ    powersDone
	VXORPD Y0, Y0, Y0 // what zeros add
	VADDPD Y0, Y11, Y11
	VADDPD Y0, Y12, Y12
	VADDPD Y0, Y13, Y13
	VADDPD Y0, Y14, Y14
	VADDPD Y0, Y15, Y15

powersDone:
	VADDPD 0(SP), Y11, Y11
	VADDPD 32(SP), Y12, Y12
	VADDPD 64(SP), Y13, Y13
	VADDPD 96(SP), Y14, Y14
	VADDPD 128(SP), Y15, Y15
	POWERSUM(0, Y11, X11)
	POWERSUM(1, Y12, X12)
	POWERSUM(2, Y13, X13)
	POWERSUM(3, Y14, X14)
	POWERSUM(4, Y15, X15)
	VZEROUPPER
	RET

// AVX-512: Z0 u, Z1 d, Z2 v; Z24 e, Z25 scale, Z26 tau; Z27 to Z31 the sums.
#define P(i) ·powerTable+(8*i)(SB)
#define E(i) ·exp64+(8*i)(SB)

#define POWERS512 \
	VMOVAPD           Z0, Z2; \
	VFMADD231PD       Z1, Z26, Z2; \
	VPANDQ.BCST       P(0), Z2, Z3; \
	VMULPD            Z25, Z3, Z3; \
	VMAXPD.BCST       P(1), Z3, Z3; \
	VPADDQ.BCST       P(2), Z3, Z4; \
	VPANDQ.BCST       P(5), Z4, Z5; \
	VPADDQ.BCST       P(6), Z5, Z5; \
	VSUBPD.BCST       P(7), Z5, Z6; /* f */ \
	VADDPD.BCST       P(8), Z6, Z5; \
	VDIVPD            Z5, Z6, Z5; /* s */ \
	VMULPD            Z5, Z5, Z7; /* z */ \
	VMULPD            Z7, Z7, Z8; \
	VBROADCASTSD      P(10), Z3; \
	VBROADCASTSD      P(11), Z9; \
	VFMADD213PD.BCST  P(12), Z8, Z3; \
	VFMADD213PD.BCST  P(13), Z8, Z9; \
	VFMADD213PD.BCST  P(14), Z8, Z3; \
	VFMADD213PD.BCST  P(15), Z8, Z9; \
	VFMADD213PD.BCST  P(16), Z8, Z3; \
	VFMADD231PD       Z7, Z9, Z3; \
	VMULPD            Z7, Z3, Z3; \
	VMULPD            Z6, Z6, Z7; \
	VMULPD.BCST       P(9), Z7, Z7; /* half */ \
	VADDPD            Z7, Z3, Z3; \
	VMULPD            Z5, Z3, Z3; \
	VPSRLQ            $52, Z4, Z4; \
	VPORQ.BCST        P(3), Z4, Z4; \
	VSUBPD.BCST       P(4), Z4, Z4; /* k */ \
	VFMADD231PD.BCST  P(18), Z4, Z3; \
	VSUBPD            Z3, Z7, Z7; \
	VSUBPD            Z6, Z7, Z7; \
	VFMSUB132PD.BCST  P(17), Z7, Z4; /* ln */ \
	VMULPD            Z24, Z4, Z5; \
	VMAXPD.BCST       P(19), Z5, Z5; \
	VMINPD.BCST       P(20), Z5, Z5; /* y */ \
	VBROADCASTSD      P(21), Z7; \
	VMOVAPD           Z7, Z4; \
	VFMADD231PD.BCST  E(2), Z5, Z4; /* n */ \
	VSUBPD            Z7, Z4, Z7; \
	VFMADD231PD.BCST  E(4), Z7, Z5; \
	VFMADD231PD.BCST  E(5), Z7, Z5; /* x */ \
	VMULPD            Z5, Z5, Z3; \
	VBROADCASTSD      E(8), Z6; \
	VBROADCASTSD      E(7), Z8; \
	VFMADD213PD.BCST  E(10), Z3, Z6; \
	VFMADD213PD.BCST  E(9), Z3, Z8; \
	VFMADD213PD.BCST  E(12), Z3, Z6; \
	VFMADD213PD.BCST  E(11), Z3, Z8; \
	VFMADD213PD.BCST  E(14), Z3, Z6; \
	VFMADD213PD.BCST  E(13), Z3, Z8; \
	VFMADD213PD.BCST  E(16), Z3, Z6; \
	VFMADD213PD.BCST  E(15), Z3, Z8; \
	VFMADD231PD       Z5, Z8, Z6; \
	VFMADD213PD       Z5, Z3, Z6; \
	VADDPD.BCST       P(7), Z6, Z6; \
	VPSLLQ            $52, Z4, Z4; \
	VPADDQ            Z4, Z6, Z6; \
	VMULPD            Z1, Z6, Z3; \
	VMULPD            Z0, Z6, Z4; \
	VMULPD            Z2, Z6, Z5; \
	VFMADD231PD       Z2, Z3, Z27; \
	VFMADD231PD       Z1, Z3, Z28; \
	VFMADD231PD       Z2, Z4, Z29; \
	VFMADD231PD       Z1, Z4, Z30; \
	VFMADD231PD       Z2, Z5, Z31

#define POWERSUM512(i, z, y) \
	VEXTRACTF64X4 $1, z, Y0; \
	VADDPD        Y0, y, Y1; \
	POWERSUM(i, Y1, X1)

// func powersAlongAVX512(r, u, d *float64, n int, tau, scale, e float64, sums *float64)
TEXT ·powersAlongAVX512(SB), NOSPLIT, $0-64
	MOVQ         r+0(FP), DI
	MOVQ         u+8(FP), SI
	MOVQ         d+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD tau+32(FP), Z26
	VBROADCASTSD scale+40(FP), Z25
	VBROADCASTSD e+48(FP), Z24
	MOVQ         sums+56(FP), BX
	VPXORQ       Z27, Z27, Z27
	VPXORQ       Z28, Z28, Z28
	VPXORQ       Z29, Z29, Z29
	VPXORQ       Z30, Z30, Z30
	VPXORQ       Z31, Z31, Z31
	SUBQ         $8, CX
	JLT          powersRest512

powersEight:
	VMOVUPD (SI), Z0
	VMOVUPD (DX), Z1
	POWERS512
	VMOVUPD Z6, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $64, DI
	SUBQ    $8, CX
	JGE     powersEight

powersRest512:
	ADDQ      $8, CX
	JEQ       powersDone512
	MOVL      $1, AX
	SHLL      CX, AX
	DECL      AX
	KMOVB     AX, K1
	VMOVUPD.Z (SI), K1, Z0
	VMOVUPD.Z (DX), K1, Z1
	POWERS512
	VMOVUPD   Z6, K1, (DI)

powersDone512:
	POWERSUM512(0, Z27, Y27)
	POWERSUM512(1, Z28, Y28)
	POWERSUM512(2, Z29, Y29)
	POWERSUM512(3, Z30, Y30)
	POWERSUM512(4, Z31, Y31)
	VZEROUPPER
	RET
