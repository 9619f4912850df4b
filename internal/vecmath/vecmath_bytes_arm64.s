#include "textflag.h"

// Kernels over bytes; the contracts are in bytes.go. Go's assembler lacks UMULL, UADALP and, of
// vectors, UCVTF and FMUL: see neon_arm64.s.in for the encoded lines.

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

// Bytes to floats, 16 at a time.
//
// R0 dst R1 src R2 bytes left; V30 hi, V31 lo

// func widenBytesNEONF32(dst *float32, src *uint8, n int, hi, lo float32)
TEXT ·widenBytesNEONF32(SB), NOSPLIT, $0-32
	MOVD  dst+0(FP), R0
	MOVD  src+8(FP), R1
	MOVD  n+16(FP), R2
	FMOVS hi+24(FP), F30
	FMOVS lo+28(FP), F31
	VDUP  V30.S[0], V30.S4
	VDUP  V31.S[0], V31.S4
loop:
	VLD1.P 16(R1), [V0.B16]
	VUXTL  V0.B8, V1.H8
	VUXTL2 V0.B16, V2.H8
	VUXTL  V1.H4, V4.S4
	VUXTL2 V1.H8, V5.S4
	VUXTL  V2.H4, V6.S4
	VUXTL2 V2.H8, V7.S4
    WORD $0x6e21d884 // ucvtf v4.4s, v4.4s
    WORD $0x6e21d8a5 // ucvtf v5.4s, v5.4s
    WORD $0x6e21d8c6 // ucvtf v6.4s, v6.4s
    WORD $0x6e21d8e7 // ucvtf v7.4s, v7.4s
    WORD $0x6e3fdc80 // fmul v0.4s, v4.4s, v31.4s
    WORD $0x6e3fdca1 // fmul v1.4s, v5.4s, v31.4s
    WORD $0x6e3fdcc2 // fmul v2.4s, v6.4s, v31.4s
    WORD $0x6e3fdce3 // fmul v3.4s, v7.4s, v31.4s
	VFMLA V30.S4, V4.S4, V0.S4
	VFMLA V30.S4, V5.S4, V1.S4
	VFMLA V30.S4, V6.S4, V2.S4
	VFMLA V30.S4, V7.S4, V3.S4
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)
	SUBS   $16, R2, R2
	BNE    loop
	RET

// func widenBytesNEONF64(dst *float64, src *uint8, n int, hi, lo float64)
TEXT ·widenBytesNEONF64(SB), NOSPLIT, $0-40
	MOVD  dst+0(FP), R0
	MOVD  src+8(FP), R1
	MOVD  n+16(FP), R2
	FMOVD hi+24(FP), F30
	FMOVD lo+32(FP), F31
	VDUP  V30.D[0], V30.D2
	VDUP  V31.D[0], V31.D2
loop:
	VLD1.P 16(R1), [V0.B16]
	VUXTL  V0.B8, V1.H8
	VUXTL2 V0.B16, V2.H8
	VUXTL  V1.H4, V4.S4
	VUXTL2 V1.H8, V5.S4
	VUXTL  V2.H4, V6.S4
	VUXTL2 V2.H8, V7.S4
	VUXTL  V4.S2, V16.D2
	VUXTL2 V4.S4, V17.D2
	VUXTL  V5.S2, V18.D2
	VUXTL2 V5.S4, V19.D2
	VUXTL  V6.S2, V20.D2
	VUXTL2 V6.S4, V21.D2
	VUXTL  V7.S2, V22.D2
	VUXTL2 V7.S4, V23.D2
    WORD $0x6e61da10 // ucvtf v16.2d, v16.2d
    WORD $0x6e61da31 // ucvtf v17.2d, v17.2d
    WORD $0x6e61da52 // ucvtf v18.2d, v18.2d
    WORD $0x6e61da73 // ucvtf v19.2d, v19.2d
    WORD $0x6e61da94 // ucvtf v20.2d, v20.2d
    WORD $0x6e61dab5 // ucvtf v21.2d, v21.2d
    WORD $0x6e61dad6 // ucvtf v22.2d, v22.2d
    WORD $0x6e61daf7 // ucvtf v23.2d, v23.2d
    WORD $0x6e7fde00 // fmul v0.2d, v16.2d, v31.2d
    WORD $0x6e7fde21 // fmul v1.2d, v17.2d, v31.2d
    WORD $0x6e7fde42 // fmul v2.2d, v18.2d, v31.2d
    WORD $0x6e7fde63 // fmul v3.2d, v19.2d, v31.2d
    WORD $0x6e7fde84 // fmul v4.2d, v20.2d, v31.2d
    WORD $0x6e7fdea5 // fmul v5.2d, v21.2d, v31.2d
    WORD $0x6e7fdec6 // fmul v6.2d, v22.2d, v31.2d
    WORD $0x6e7fdee7 // fmul v7.2d, v23.2d, v31.2d
	VFMLA V30.D2, V16.D2, V0.D2
	VFMLA V30.D2, V17.D2, V1.D2
	VFMLA V30.D2, V18.D2, V2.D2
	VFMLA V30.D2, V19.D2, V3.D2
	VFMLA V30.D2, V20.D2, V4.D2
	VFMLA V30.D2, V21.D2, V5.D2
	VFMLA V30.D2, V22.D2, V6.D2
	VFMLA V30.D2, V23.D2, V7.D2
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(R0)
	SUBS   $16, R2, R2
	BNE    loop
	RET
