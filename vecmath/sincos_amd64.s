#include "textflag.h"

// SinCos, AVX2. The steps and the constants are those of sinCosOne in sincos.go; C(i) is constant i in four lanes. Two polynomials and
// the next elements, which depend on nothing, keep the multipliers busy.
//
// The second operand of a minimum is the result for NaN: the bound.
//
// Y0 x, then r; Y1 t, the quarter in its last bits; Y2 k; Y3 r^2; Y4 sine; Y5 cosine; Y15 scale.
#define C(i) ·sinCosTable+(32*i)(SB)
#define STEP(i) VFMADD213PD C(i), Y3, Y4; VFMADD213PD C((i+6)), Y3, Y5

#define SINCOS \
	VMINPD       C(0), Y0, Y0; \
	VXORPD       Y14, Y13, Y2; \
	VMAXPD       Y2, Y0, Y0; \
	VMOVUPD      C(2), Y1; \
	VFMADD231PD  C(1), Y0, Y1; \
	VSUBPD       C(2), Y1, Y2; \
	VFNMADD231PD C(3), Y2, Y0; \
	VFNMADD231PD C(4), Y2, Y0; \
	VMULPD       Y0, Y0, Y3; \
	VMOVUPD      C(5), Y4; \
	VMOVUPD      C(11), Y5; \
	STEP(6); \
	STEP(7); \
	STEP(8); \
	STEP(9); \
	STEP(10); \
	VFMADD213PD  C(17), Y3, Y5; \
	VMULPD       Y3, Y0, Y6; \
	VFMADD213PD  Y0, Y6, Y4; \
	VFMADD213PD  C(18), Y3, Y5; \
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
	VMOVUPD      C(19), Y14
	VMOVUPD      C(0), Y13
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
	VMOVUPD      C(19), Y14
	VMOVUPD      C(0), Y13
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
