// Body of lanesRunInt16: see the reference, lanesRunInt16Plain.
//
// The sums of 32 lanes are four vectors of the 16 in V0-V15; what the width has not stays 0. Of
// integers y s <= margin is no s > margin where y is 1, and where it is -1 it is s > -margin-1,
// the complement of margin: so the bits of margin, and those of the comparisons, are flipped by
// those of y's sign. A vector of 8 lanes is updated if any of its lanes is.
//
//    in   R0 counts, R1 sums, R2 w, R3 width, R4 ptr, R5 n, R6 rows, R7 y, R8 seen, R9 stride,
//         R23 limit, V24 margin and V26 peak in every lane; LOADSIGN loads the sign of y to bit 63
//         of R11 and advances R7
//    R3 and R9 in bytes, R5 examples left, R10 non-zeros, R11 sign of y, 0 or -1, R12, R13 words of
//    who updates, R14 the example's rows, R24 these as they are walked, R15 the row, R19 non-zeros
//    left, R21 the word in row 0, R22 the vector there
//    V0-V15 sums, V16-V19 work space, V27 1 in every lane, V28 bit of each byte, V29 bit of each
//    lane, V30 sign of y, V31 margin flipped by it, then y
//    out  R5 examples left, R20 the new peak

#define CLEAR4(a, b, c, d) \
	VEOR a.B16, a.B16, a.B16; \
	VEOR b.B16, b.B16, b.B16; \
	VEOR c.B16, c.B16, c.B16; \
	VEOR d.B16, d.B16, d.B16

#define SUM4(a, b, c, d) \
	VLD1.P 64(R15), [V16.H8, V17.H8, V18.H8, V19.H8]; \
	VADD   V16.H8, a.H8, a.H8; \
	VADD   V17.H8, b.H8, b.H8; \
	VADD   V18.H8, c.H8, c.H8; \
	VADD   V19.H8, d.H8, d.H8

// BITS makes a word of 64 lanes that are all ones or zeros: bytes, of which each adds its bit.
#define BITS(a, b, c, d, e, f, g, h, word) \
	VUZP1 b.B16, a.B16, a.B16; \
	VUZP1 d.B16, c.B16, c.B16; \
	VUZP1 f.B16, e.B16, e.B16; \
	VUZP1 h.B16, g.B16, g.B16; \
	VAND  V28.B16, a.B16, a.B16; \
	VAND  V28.B16, c.B16, c.B16; \
	VAND  V28.B16, e.B16, e.B16; \
	VAND  V28.B16, g.B16, g.B16; \
	VADDP c.B16, a.B16, a.B16; \
	VADDP g.B16, e.B16, e.B16; \
	VADDP e.B16, a.B16, a.B16; \
	VADDP a.B16, a.B16, a.B16; \
	VMOV  a.D[0], word

	LSL   $1, R3, R3
	LSL   $3, R9, R9
	VMOVQ $0x0001000100010001, $0x0001000100010001, V27
	VMOVQ $0x8040201008040201, $0x8040201008040201, V28
	VMOVQ $0x0008000400020001, $0x0080004000200010, V29
example:
	MOVD.P 8(R4), R20
	MOVD   (R4), R10
	SUB    R20, R10, R10
	LOADSIGN
	ASR    $63, R11, R11
	VDUP   R11, V30.D2
	VEOR   V24.B16, V30.B16, V31.B16
	CLEAR4(V0, V1, V2, V3)
	CLEAR4(V4, V5, V6, V7)
	CLEAR4(V8, V9, V10, V11)
	CLEAR4(V12, V13, V14, V15)
	MOVD   R6, R14
	MOVD   R10, R19
	CBZ    R10, summed
sum:
	MOVW.P 4(R6), R15
	MADD   R3, R2, R15, R15
	SUM4(V0, V1, V2, V3)
	CMP    $64, R3
	BEQ    more
	SUM4(V4, V5, V6, V7)
	CMP    $128, R3
	BEQ    more
	SUM4(V8, V9, V10, V11)
	CMP    $192, R3
	BEQ    more
	SUM4(V12, V13, V14, V15)
more:
	SUB    $1, R19, R19
	CBNZ   R19, sum
summed:
	VEOR   V16.B16, V16.B16, V16.B16
	VEOR   V17.B16, V17.B16, V17.B16
    WORD $0x4e606810 // sadalp v16.4s, v0.8h
    WORD $0x4e606831 // sadalp v17.4s, v1.8h
    WORD $0x4e606850 // sadalp v16.4s, v2.8h
    WORD $0x4e606871 // sadalp v17.4s, v3.8h
    WORD $0x4e606890 // sadalp v16.4s, v4.8h
    WORD $0x4e6068b1 // sadalp v17.4s, v5.8h
    WORD $0x4e6068d0 // sadalp v16.4s, v6.8h
    WORD $0x4e6068f1 // sadalp v17.4s, v7.8h
    WORD $0x4e606910 // sadalp v16.4s, v8.8h
    WORD $0x4e606931 // sadalp v17.4s, v9.8h
    WORD $0x4e606950 // sadalp v16.4s, v10.8h
    WORD $0x4e606971 // sadalp v17.4s, v11.8h
    WORD $0x4e606990 // sadalp v16.4s, v12.8h
    WORD $0x4e6069b1 // sadalp v17.4s, v13.8h
    WORD $0x4e6069d0 // sadalp v16.4s, v14.8h
    WORD $0x4e6069f1 // sadalp v17.4s, v15.8h
	VADD    V17.S4, V16.S4, V16.S4
	VADDV   V16.S4, V16
	FMOVS.P F16, 4(R1)

	MOVD $0, R13
	CMP  $128, R3
	BLE  low
    WORD $0x4e7f3508 // cmgt v8.8h, v8.8h, v31.8h
    WORD $0x4e7f3529 // cmgt v9.8h, v9.8h, v31.8h
    WORD $0x4e7f354a // cmgt v10.8h, v10.8h, v31.8h
    WORD $0x4e7f356b // cmgt v11.8h, v11.8h, v31.8h
    WORD $0x4e7f358c // cmgt v12.8h, v12.8h, v31.8h
    WORD $0x4e7f35ad // cmgt v13.8h, v13.8h, v31.8h
    WORD $0x4e7f35ce // cmgt v14.8h, v14.8h, v31.8h
    WORD $0x4e7f35ef // cmgt v15.8h, v15.8h, v31.8h
	BITS(V8, V9, V10, V11, V12, V13, V14, V15, R13)
	EOR  R11, R13, R13
	MOVD 8(R8), R20
	BIC  R13, R20, R13
low:
    WORD $0x4e7f3400 // cmgt v0.8h, v0.8h, v31.8h
    WORD $0x4e7f3421 // cmgt v1.8h, v1.8h, v31.8h
    WORD $0x4e7f3442 // cmgt v2.8h, v2.8h, v31.8h
    WORD $0x4e7f3463 // cmgt v3.8h, v3.8h, v31.8h
    WORD $0x4e7f3484 // cmgt v4.8h, v4.8h, v31.8h
    WORD $0x4e7f34a5 // cmgt v5.8h, v5.8h, v31.8h
    WORD $0x4e7f34c6 // cmgt v6.8h, v6.8h, v31.8h
    WORD $0x4e7f34e7 // cmgt v7.8h, v7.8h, v31.8h
	BITS(V0, V1, V2, V3, V4, V5, V6, V7, R12)
	EOR  R11, R12, R12
	MOVD (R8), R20
	BIC  R12, R20, R12

	VMOV    R12, V16.D[0]
	VMOV    R13, V16.D[1]
	VCNT    V16.B16, V16.B16
	VUADDLV V16.B16, V16
	VMOV    V16.H[0], R20
	MOVW.P  R20, 4(R0)
	CBZ     R20, next
	CBZ     R10, next
	VORR    V27.B16, V30.B16, V31.B16
	MOVD    R2, R21
	CBZ     R12, second
unit:
	RBIT   R12, R20
	CLZ    R20, R20
	AND    $56, R20, R20
	LSR    R20, R12, R22
	VDUP   R22, V16.H8
	VCMTST V29.H8, V16.H8, V16.H8
	VAND   V31.B16, V16.B16, V16.B16
	MOVD   $255, R22
	LSL    R20, R22, R22
	BIC    R22, R12, R12
	ADD    R20<<1, R21, R22
	MOVD   R14, R24
	MOVD   R10, R19
row:
	MOVW.P 4(R24), R15
	MADD   R3, R22, R15, R15
	VLD1   (R15), [V17.H8]
	VADD   V16.H8, V17.H8, V17.H8
	VST1   [V17.H8], (R15)
    WORD $0x4e60ba31 // abs v17.8h, v17.8h
    WORD $0x6e71675a // umax v26.8h, v26.8h, v17.8h
	SUB    $1, R19, R19
	CBNZ   R19, row
	CBNZ   R12, unit
second:
	MOVD R13, R12
	MOVD $0, R13
	ADD  $128, R21, R21
	CBNZ R12, unit
    WORD $0x6e70ab50 // umaxv h16, v26.8h
	VMOV V16.H[0], R20
	CMP  R23, R20
	BGT  beyond
next:
	ADD  R9, R8, R8
	SUB  $1, R5, R5
	CBNZ R5, example
	B    done
beyond:
	SUB  $1, R5, R5
done:
    WORD $0x6e70ab50 // umaxv h16, v26.8h
	VMOV V16.H[0], R20
#undef CLEAR4
#undef SUM4
#undef BITS
