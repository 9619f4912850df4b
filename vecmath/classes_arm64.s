#include "textflag.h"

// Kernels of classes side by side; the contracts are in classesrun.go and classsums.go. Go's
// assembler lacks SMLAL, SXTL, SQXTN, CMGT, MLA, ABS, UMAX and UMAXV: see vecmath_arm64.s for the
// encoded lines. No PRFM: what it is worth was not measured on such a machine.

// LANEMASKS sets four vectors of 8 lanes to ones where a word has their bits; t is work space.
#define LANEMASKS(word, t, a, b, c, d) \
	VDUP   word, t.S4; \
	VDUP   t.B[0], a.B16; \
	VDUP   t.B[1], b.B16; \
	VDUP   t.B[2], c.B16; \
	VDUP   t.B[3], d.B16; \
	VCMTST V29.H8, a.H8, a.H8; \
	VCMTST V29.H8, b.H8, b.H8; \
	VCMTST V29.H8, c.H8, c.H8; \
	VCMTST V29.H8, d.H8, d.H8

// SIGNED sets dst to yes where it is all ones, to no where it is 0, and to 0 where took is 0.
#define SIGNED(dst, yes, no, took) \
	VBSL no.B16, yes.B16, dst.B16; \
	VAND took.B16, dst.B16, dst.B16

// PASTSUM sets V8-V11 to what examples before have in common with one: those of the numbers R19 to
// R20-1.
//
// R8 took, R9 own, R12 slots, R13 coef; R15 the slot, R21 who took it, R22 of those its own class,
// R23 the place of what is in common, V20 that, V21 less than nothing of it; V4-V7, V12-V16 work
// space.
#define PASTSUM(loop, done) \
	VEOR V8.B16, V8.B16, V8.B16; \
	VEOR V9.B16, V9.B16, V9.B16; \
	VEOR V10.B16, V10.B16, V10.B16; \
	VEOR V11.B16, V11.B16, V11.B16; \
	CMP  R20, R19; \
	BGE  done; \
loop: \
	MOVW  (R12)(R19<<2), R15; \
	MOVWU (R8)(R15<<2), R21; \
	MOVWU (R9)(R15<<2), R22; \
	ADD   R19<<1, R13, R23; \
	VLD1R (R23), [V20.H8]; \
	VEOR  V21.B16, V21.B16, V21.B16; \
	VSUB  V20.H8, V21.H8, V21.H8; \
	LANEMASKS(R21, V16, V4, V5, V6, V7); \
	LANEMASKS(R22, V16, V12, V13, V14, V15); \
	SIGNED(V12, V20, V21, V4); \
	SIGNED(V13, V20, V21, V5); \
	SIGNED(V14, V20, V21, V6); \
	SIGNED(V15, V20, V21, V7); \
	VADD  V12.H8, V8.H8, V8.H8; \
	VADD  V13.H8, V9.H8, V9.H8; \
	VADD  V14.H8, V10.H8, V10.H8; \
	VADD  V15.H8, V11.H8, V11.H8; \
	ADD   $1, R19; \
	CMP   R20, R19; \
	BLT   loop; \
done:

// func classesRunNEON(counts *int16, narrow *int8, w *int16, ptr, wide, rows *int32, val *int16,
// past, slots *int32, coef *int16, took, own *uint32, first int, seen *int32, nseen, lanes, margin,
// peak int) int
//
// A row is four vectors, one of narrow too, once it is widened; its sums are eight, V0-V7. They are
// narrowed to 16 bits by saturation, which changes no comparison with the margin or its negative.
//
// R0 counts, R1 w, R2 ptr, R3 rows, R4 val, R5 past, R6 seen, R7 examples left, R8 took, R9 own, R10
// first, R11 lanes, R12 slots, R13 coef, R25 narrow; R14 the example, R16 a row, R17 the place of
// its bounds, R19, R20 the non-zero and the end of them, R24 the example's number, R26 where its
// rows of w begin; V24 margin, V25 -margin, V26 peak, V27
// 1, V30 -1: each in every lane; V28 bit of each byte, V29 bit of each lane.
TEXT ·classesRunNEON(SB), NOSPLIT, $0-152
	MOVD  counts+0(FP), R0
	MOVD  narrow+8(FP), R25
	MOVD  w+16(FP), R1
	MOVD  ptr+24(FP), R2
	MOVD  rows+40(FP), R3
	MOVD  val+48(FP), R4
	MOVD  past+56(FP), R5
	MOVD  slots+64(FP), R12
	MOVD  coef+72(FP), R13
	MOVD  took+80(FP), R8
	MOVD  own+88(FP), R9
	MOVD  first+96(FP), R10
	MOVD  seen+104(FP), R6
	MOVD  nseen+112(FP), R7
	MOVD  lanes+120(FP), R11
	MOVD  margin+128(FP), R19
	VDUP  R19, V24.H8
	NEG   R19, R19
	VDUP  R19, V25.H8
	MOVD  peak+136(FP), R19
	VDUP  R19, V26.H8
	VMOVQ $0x0001000100010001, $0x0001000100010001, V27
	VMOVQ $0x8040201008040201, $0x8040201008040201, V28
	VMOVQ $0x0008000400020001, $0x0080004000200010, V29
	VEOR  V30.B16, V30.B16, V30.B16
	VSUB  V27.H8, V30.H8, V30.H8

example:
	MOVW.P 4(R6), R14
	ADD    R14, R10, R24
	ADD    R14<<2, R5, R17
	MOVW   (R17), R19
	MOVW   4(R17), R20
	PASTSUM(common, shared)
    WORD $0x0f10a500 // sxtl v0.4s, v8.4h
    WORD $0x4f10a501 // sxtl2 v1.4s, v8.8h
    WORD $0x0f10a522 // sxtl v2.4s, v9.4h
    WORD $0x4f10a523 // sxtl2 v3.4s, v9.8h
    WORD $0x0f10a544 // sxtl v4.4s, v10.4h
    WORD $0x4f10a545 // sxtl2 v5.4s, v10.8h
    WORD $0x0f10a566 // sxtl v6.4s, v11.4h
    WORD $0x4f10a567 // sxtl2 v7.4s, v11.8h
	MOVD wide+32(FP), R26
	ADD  R14<<2, R26, R26
	MOVW (R26), R26
	ADD  R14<<2, R2, R17
	MOVW (R17), R19
	MOVW 4(R17), R20
	CMP  R26, R19
	BGE  wide

narrow:
	MOVW  (R3)(R19<<2), R16
	ADD   R16<<5, R25, R16
	VLD1  (R16), [V16.B16, V17.B16]
    WORD $0x4f08a633 // sxtl2 v19.8h, v17.16b
    WORD $0x0f08a632 // sxtl v18.8h, v17.8b
    WORD $0x4f08a611 // sxtl2 v17.8h, v16.16b
    WORD $0x0f08a610 // sxtl v16.8h, v16.8b
	ADD   R19<<1, R4, R23
	VLD1R (R23), [V20.H8]
    WORD $0x0e748200 // smlal v0.4s, v16.4h, v20.4h
    WORD $0x4e748201 // smlal2 v1.4s, v16.8h, v20.8h
    WORD $0x0e748222 // smlal v2.4s, v17.4h, v20.4h
    WORD $0x4e748223 // smlal2 v3.4s, v17.8h, v20.8h
    WORD $0x0e748244 // smlal v4.4s, v18.4h, v20.4h
    WORD $0x4e748245 // smlal2 v5.4s, v18.8h, v20.8h
    WORD $0x0e748266 // smlal v6.4s, v19.4h, v20.4h
    WORD $0x4e748267 // smlal2 v7.4s, v19.8h, v20.8h
	ADD $1, R19
	CMP R26, R19
	BLT narrow

wide:
	CMP R20, R19
	BGE summed

product:
	MOVW  (R3)(R19<<2), R16
	ADD   R16<<6, R1, R16
	VLD1  (R16), [V16.H8, V17.H8, V18.H8, V19.H8]
	ADD   R19<<1, R4, R23
	VLD1R (R23), [V20.H8]
    WORD $0x0e748200 // smlal v0.4s, v16.4h, v20.4h
    WORD $0x4e748201 // smlal2 v1.4s, v16.8h, v20.8h
    WORD $0x0e748222 // smlal v2.4s, v17.4h, v20.4h
    WORD $0x4e748223 // smlal2 v3.4s, v17.8h, v20.8h
    WORD $0x0e748244 // smlal v4.4s, v18.4h, v20.4h
    WORD $0x4e748245 // smlal2 v5.4s, v18.8h, v20.8h
    WORD $0x0e748266 // smlal v6.4s, v19.4h, v20.4h
    WORD $0x4e748267 // smlal2 v7.4s, v19.8h, v20.8h
	ADD $1, R19
	CMP R20, R19
	BLT product

summed:
    WORD $0x0e614800 // sqxtn v0.4h, v0.4s
    WORD $0x4e614820 // sqxtn2 v0.8h, v1.4s
    WORD $0x0e614842 // sqxtn v2.4h, v2.4s
    WORD $0x4e614862 // sqxtn2 v2.8h, v3.4s
    WORD $0x0e614884 // sqxtn v4.4h, v4.4s
    WORD $0x4e6148a4 // sqxtn2 v4.8h, v5.4s
    WORD $0x0e6148c6 // sqxtn v6.4h, v6.4s
    WORD $0x4e6148e6 // sqxtn2 v6.8h, v7.4s
	MOVWU (R9)(R24<<2), R22
	LANEMASKS(R22, V16, V12, V13, V14, V15)
    WORD $0x4e783410 // cmgt v16.8h, v0.8h, v24.8h
    WORD $0x4e783451 // cmgt v17.8h, v2.8h, v24.8h
    WORD $0x4e783492 // cmgt v18.8h, v4.8h, v24.8h
    WORD $0x4e7834d3 // cmgt v19.8h, v6.8h, v24.8h
    WORD $0x4e603720 // cmgt v0.8h, v25.8h, v0.8h
    WORD $0x4e623722 // cmgt v2.8h, v25.8h, v2.8h
    WORD $0x4e643724 // cmgt v4.8h, v25.8h, v4.8h
    WORD $0x4e663726 // cmgt v6.8h, v25.8h, v6.8h
	VBIT  V12.B16, V16.B16, V0.B16     // beyond the margin: those of their own class, and the rest
	VBIT  V13.B16, V17.B16, V2.B16
	VBIT  V14.B16, V18.B16, V4.B16
	VBIT  V15.B16, V19.B16, V6.B16
	VUZP1 V2.B16, V0.B16, V0.B16
	VUZP1 V6.B16, V4.B16, V4.B16
	VAND  V28.B16, V0.B16, V0.B16
	VAND  V28.B16, V4.B16, V4.B16
	VADDP V4.B16, V0.B16, V0.B16
	VADDP V0.B16, V0.B16, V0.B16
	VADDP V0.B16, V0.B16, V0.B16
	VMOV  V0.S[0], R21
	BICW  R21, R11, R21
	MOVW  R21, (R8)(R24<<2)
	CBZW  R21, next
	LANEMASKS(R21, V16, V4, V5, V6, V7)
	ADD   R14<<6, R0, R23
	VLD1  (R23), [V16.H8, V17.H8, V18.H8, V19.H8]
	VSUB  V4.H8, V16.H8, V16.H8
	VSUB  V5.H8, V17.H8, V17.H8
	VSUB  V6.H8, V18.H8, V18.H8
	VSUB  V7.H8, V19.H8, V19.H8
	VST1  [V16.H8, V17.H8, V18.H8, V19.H8], (R23)
	SIGNED(V12, V27, V30, V4)
	SIGNED(V13, V27, V30, V5)
	SIGNED(V14, V27, V30, V6)
	SIGNED(V15, V27, V30, V7)
	VUZP1 V13.B16, V12.B16, V21.B16
	VUZP1 V15.B16, V14.B16, V22.B16
	MOVW  (R17), R19
	CMP   R26, R19
	BGE   wideRows

narrowRow:
	MOVW  (R3)(R19<<2), R16
	ADD   R16<<5, R25, R16
	VLD1  (R16), [V16.B16, V17.B16]
	ADD   R19<<1, R4, R23
	VLD1R (R23), [V20.B16]
    WORD $0x4e3496b0 // mla v16.16b, v21.16b, v20.16b
    WORD $0x4e3496d1 // mla v17.16b, v22.16b, v20.16b
	VST1 [V16.B16, V17.B16], (R16)
	ADD  $1, R19
	CMP  R26, R19
	BLT  narrowRow

wideRows:
	CMP R20, R19
	BGE next

row:
	MOVW  (R3)(R19<<2), R16
	ADD   R16<<6, R1, R16
	VLD1  (R16), [V16.H8, V17.H8, V18.H8, V19.H8]
	ADD   R19<<1, R4, R23
	VLD1R (R23), [V20.H8]
    WORD $0x4e749590 // mla v16.8h, v12.8h, v20.8h
    WORD $0x4e7495b1 // mla v17.8h, v13.8h, v20.8h
    WORD $0x4e7495d2 // mla v18.8h, v14.8h, v20.8h
    WORD $0x4e7495f3 // mla v19.8h, v15.8h, v20.8h
	VST1 [V16.H8, V17.H8, V18.H8, V19.H8], (R16)
    WORD $0x4e60ba10 // abs v16.8h, v16.8h
    WORD $0x4e60ba31 // abs v17.8h, v17.8h
    WORD $0x4e60ba52 // abs v18.8h, v18.8h
    WORD $0x4e60ba73 // abs v19.8h, v19.8h
    WORD $0x6e716610 // umax v16.8h, v16.8h, v17.8h
    WORD $0x6e736652 // umax v18.8h, v18.8h, v19.8h
    WORD $0x6e70675a // umax v26.8h, v26.8h, v16.8h
    WORD $0x6e72675a // umax v26.8h, v26.8h, v18.8h
	ADD $1, R19
	CMP R20, R19
	BLT row

next:
	SUB  $1, R7
	CBNZ R7, example
    WORD $0x6e70ab50 // umaxv h16, v26.8h
	VMOV V16.H[0], R19
	MOVD R19, ret+144(FP)
	RET

// func pastRowsNEON(narrow *int8, rows *int32, n int, past, slots *int32, coef *int16,
// took, own *uint32)
//
// As classesRunNEON; R5 past, R3 rows, R7 rows left.
TEXT ·pastRowsNEON(SB), NOSPLIT, $0-64
	MOVD  narrow+0(FP), R1
	MOVD  rows+8(FP), R3
	MOVD  n+16(FP), R7
	MOVD  past+24(FP), R5
	MOVD  slots+32(FP), R12
	MOVD  coef+40(FP), R13
	MOVD  took+48(FP), R8
	MOVD  own+56(FP), R9
	VMOVQ $0x0008000400020001, $0x0080004000200010, V29

row:
	MOVW.P 4(R5), R19
	MOVW   (R5), R20
	PASTSUM(common, shared)
	MOVW.P 4(R3), R16
	ADD    R16<<5, R1, R16
	VUZP1  V9.B16, V8.B16, V8.B16
	VUZP1  V11.B16, V10.B16, V9.B16
	VST1   [V8.B16, V9.B16], (R16)
	SUB    $1, R7
	CBNZ   R7, row
	RET
#undef PASTSUM
#undef SIGNED
#undef LANEMASKS

// func widenRowsNEON(w *int16, to *int32, narrow *int8, from *int32, n int)
TEXT ·widenRowsNEON(SB), NOSPLIT, $0-40
	MOVD w+0(FP), R0
	MOVD to+8(FP), R1
	MOVD narrow+16(FP), R2
	MOVD from+24(FP), R3
	MOVD n+32(FP), R4

row:
	MOVW.P 4(R3), R5
	ADD    R5<<5, R2, R5
	VLD1   (R5), [V16.B16, V17.B16]
    WORD $0x4f08a633 // sxtl2 v19.8h, v17.16b
    WORD $0x0f08a632 // sxtl v18.8h, v17.8b
    WORD $0x4f08a611 // sxtl2 v17.8h, v16.16b
    WORD $0x0f08a610 // sxtl v16.8h, v16.8b
	MOVW.P 4(R1), R5
	ADD    R5<<6, R0, R5
	VST1   [V16.H8, V17.H8, V18.H8, V19.H8], (R5)
	SUB    $1, R4
	CBNZ   R4, row
	RET

// func classSumsNEON(f, w, ptr *int32, n int, rows *int32, val *int16, past, slots *int32,
// coef *int16, first int, steps *int16)
//
// A row is eight vectors.
//
// R0 f, R1 w, R2 ptr, R3 rows, R4 val, R5 past, R7 examples left, R8 steps, R10 the example's row of
// them, R12 slots, R13 coef; R16 a row, R19, R20 the non-zero and the end of them; V0-V7 the
// product, V24-V27 the steps.
TEXT ·classSumsNEON(SB), NOSPLIT, $0-88
	MOVD f+0(FP), R0
	MOVD w+8(FP), R1
	MOVD ptr+16(FP), R2
	MOVD n+24(FP), R7
	MOVD rows+32(FP), R3
	MOVD val+40(FP), R4
	MOVD past+48(FP), R5
	MOVD slots+56(FP), R12
	MOVD coef+64(FP), R13
	MOVD first+72(FP), R10
	MOVD steps+80(FP), R8
	ADD  R10<<6, R8, R10

example:
	VEOR   V0.B16, V0.B16, V0.B16
	VEOR   V1.B16, V1.B16, V1.B16
	VEOR   V2.B16, V2.B16, V2.B16
	VEOR   V3.B16, V3.B16, V3.B16
	VEOR   V4.B16, V4.B16, V4.B16
	VEOR   V5.B16, V5.B16, V5.B16
	VEOR   V6.B16, V6.B16, V6.B16
	VEOR   V7.B16, V7.B16, V7.B16
	MOVW.P 4(R5), R19
	MOVW   (R5), R20
	CMP    R20, R19
	BGE    shared

common:
	MOVW  (R12)(R19<<2), R16
	ADD   R16<<6, R8, R16
	VLD1  (R16), [V16.H8, V17.H8, V18.H8, V19.H8]
	ADD   R19<<1, R13, R23
	VLD1R (R23), [V20.H8]
    WORD $0x0e748200 // smlal v0.4s, v16.4h, v20.4h
    WORD $0x4e748201 // smlal2 v1.4s, v16.8h, v20.8h
    WORD $0x0e748222 // smlal v2.4s, v17.4h, v20.4h
    WORD $0x4e748223 // smlal2 v3.4s, v17.8h, v20.8h
    WORD $0x0e748244 // smlal v4.4s, v18.4h, v20.4h
    WORD $0x4e748245 // smlal2 v5.4s, v18.8h, v20.8h
    WORD $0x0e748266 // smlal v6.4s, v19.4h, v20.4h
    WORD $0x4e748267 // smlal2 v7.4s, v19.8h, v20.8h
	ADD $1, R19
	CMP R20, R19
	BLT common

shared:
	MOVW.P 4(R2), R19
	MOVW   (R2), R20
	CMP    R20, R19
	BGE    empty

product:
	MOVW   (R3)(R19<<2), R16
	ADD    R16<<7, R1, R16
	VLD1.P 64(R16), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1   (R16), [V20.S4, V21.S4, V22.S4, V23.S4]
	ADD    R19<<1, R4, R23
	MOVH   (R23), R23
	VDUP   R23, V28.S4
    WORD $0x4ebc9600 // mla v0.4s, v16.4s, v28.4s
    WORD $0x4ebc9621 // mla v1.4s, v17.4s, v28.4s
    WORD $0x4ebc9642 // mla v2.4s, v18.4s, v28.4s
    WORD $0x4ebc9663 // mla v3.4s, v19.4s, v28.4s
    WORD $0x4ebc9684 // mla v4.4s, v20.4s, v28.4s
    WORD $0x4ebc96a5 // mla v5.4s, v21.4s, v28.4s
    WORD $0x4ebc96c6 // mla v6.4s, v22.4s, v28.4s
    WORD $0x4ebc96e7 // mla v7.4s, v23.4s, v28.4s
	ADD  $1, R19
	CMP  R20, R19
	BLT  product
	MOVW -4(R2), R19
	VLD1 (R10), [V24.H8, V25.H8, V26.H8, V27.H8]

update:
	MOVW   (R3)(R19<<2), R16
	ADD    R16<<7, R1, R16
	ADD    $64, R16, R17
	VLD1   (R16), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1   (R17), [V20.S4, V21.S4, V22.S4, V23.S4]
	ADD    R19<<1, R4, R23
	VLD1R  (R23), [V28.H8]
    WORD $0x0e7c8310 // smlal v16.4s, v24.4h, v28.4h
    WORD $0x4e7c8311 // smlal2 v17.4s, v24.8h, v28.8h
    WORD $0x0e7c8332 // smlal v18.4s, v25.4h, v28.4h
    WORD $0x4e7c8333 // smlal2 v19.4s, v25.8h, v28.8h
    WORD $0x0e7c8354 // smlal v20.4s, v26.4h, v28.4h
    WORD $0x4e7c8355 // smlal2 v21.4s, v26.8h, v28.8h
    WORD $0x0e7c8376 // smlal v22.4s, v27.4h, v28.4h
    WORD $0x4e7c8377 // smlal2 v23.4s, v27.8h, v28.8h
	VST1   [V16.S4, V17.S4, V18.S4, V19.S4], (R16)
	VST1   [V20.S4, V21.S4, V22.S4, V23.S4], (R17)
	ADD    $1, R19
	CMP    R20, R19
	BLT    update

empty:
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	ADD    $64, R10
	SUB    $1, R7
	CBNZ   R7, example
	RET
