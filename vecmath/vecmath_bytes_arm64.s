#include "textflag.h"

// Exact integer kernels; the contracts are in bytes.go. Go's assembler lacks UMULL and UADALP: see
// vecmath_arm64.s for the encoded lines.

// func byteRowsDotNEON(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int)
//
// Products are 16 bits wide (255*255 fits), added in pairs to sums of 32 bits.
//
// R0 dst R1 row R2 rows left R3 stride R4 x R5 n R6, R7 places in row and x R8 bytes left
//    V0, V1 sums   V2, V3 bytes   V4, V5 products
TEXT ·byteRowsDotNEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD nrows+16(FP), R2
	MOVD stride+24(FP), R3
	MOVD x+32(FP), R4
	MOVD n+40(FP), R5
row:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	MOVD R1, R6
	MOVD R4, R7
	MOVD R5, R8
	CBZ  R8, store
inner:
	VLD1.P 16(R6), [V2.B16]
	VLD1.P 16(R7), [V3.B16]
    WORD $0x2e23c044 // umull v4.8h, v2.8b, v3.8b
    WORD $0x6e23c045 // umull2 v5.8h, v2.16b, v3.16b
    WORD $0x6e606880 // uadalp v0.4s, v4.8h
    WORD $0x6e6068a1 // uadalp v1.4s, v5.8h
	SUB  $16, R8, R8
	CBNZ R8, inner
store:
	VADD V1.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	FMOVS.P F0, 4(R0)
	ADD  R3, R1, R1
	SUB  $1, R2, R2
	CBNZ R2, row
	RET
