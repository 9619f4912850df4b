// Body of symRankOneMul and, without CHANGE, of symMul: two rows at a time and the last of an odd
// number alone. A group of four registers is a block of a row.
//
// in R0 y, R1 x, R2 u, R3 row i, R4 stride, R5 rows left, R6 i, R7 n, R4, R6 and R7 in bytes; F15
// -a
// R8 the block of i, R9 bytes left of it R10-R12 places in u, x and y R13, R14 in rows i and i+1
// R15 rows of
//    this turn   R16 place in the block, R17 its end   R19 the sums, R20 a place there
// V0-V3, V4-V7 partial sums of the rows V8, V9 their c V10, V11 their x V16-V19 u V20-V23 x V24-V27
// elements of a
//    row   V28-V31 y
//
// The block on the diagonal goes element by element: each is the only one of its partial sum.

#define ZERO(v) VEOR v.B16, v.B16, v.B16
#define COPY(s, d) VMOV s.B16, d.B16
#ifdef CHANGE
#define COEF(p, f, c) \
	FMOV p, f \
	FMUL f, F15, f \
	SPLAT(c)
#define CHANGES LOAD4(R10, V16, V17, V18, V19)
#define ELEMENTS(p, c) \
	VLD1 (p), [V24.B16, V25.B16, V26.B16, V27.B16] \
	FMLA(V16, c, V24) \
	FMLA(V17, c, V25) \
	FMLA(V18, c, V26) \
	FMLA(V19, c, V27) \
	VST1.P [V24.B16, V25.B16, V26.B16, V27.B16], 64(p)
#else
#define COEF(p, f, c)
#define CHANGES
#define ELEMENTS(p, c) LOAD4(p, V24, V25, V26, V27)
#endif
#define ROW(p, c, x, s0, s1, s2, s3) \
	ELEMENTS(p, c) \
	FMLA(V20, V24, s0) \
	FMLA(V21, V25, s1) \
	FMLA(V22, V26, s2) \
	FMLA(V23, V27, s3) \
	FMLA(V24, x, V28) \
	FMLA(V25, x, V29) \
	FMLA(V26, x, V30) \
	FMLA(V27, x, V31)

	MOVD $0, R6
	MOVD $sums-64(SP), R19
turn:
	CBZ  R5, done
	AND  $~63, R6, R8
	MOVD R8, R9
	MOVD R2, R10
	MOVD R1, R11
	MOVD R0, R12
	MOVD R3, R13
	ADD  R4, R3, R14
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	ZERO(V3)
#ifdef CHANGE
	ADD  R6, R2, R20
#endif
	COEF((R20), F8, V8)
	ADD  R6, R1, R21
	FMOV (R21), F10
	SPLAT(V10)
	CMP  $1, R5
	BEQ  alone

	MOVD $2, R15
	ZERO(V4)
	ZERO(V5)
	ZERO(V6)
	ZERO(V7)
	COEF(SIZE(R20), F9, V9)
	FMOV SIZE(R21), F11
	SPLAT(V11)
	CBZ  R9, block
pair:
	CHANGES
	LOAD4(R11, V20, V21, V22, V23)
	VLD1 (R12), [V28.B16, V29.B16, V30.B16, V31.B16]
	ROW(R13, V8, V10, V0, V1, V2, V3)
	ROW(R14, V9, V11, V4, V5, V6, V7)
	STORE4(R12, V28, V29, V30, V31)
	SUBS $64, R9, R9
	BNE  pair
	B    block

alone:
	MOVD $1, R15
	CBZ  R9, block
single:
	CHANGES
	LOAD4(R11, V20, V21, V22, V23)
	VLD1 (R12), [V28.B16, V29.B16, V30.B16, V31.B16]
	ROW(R13, V8, V10, V0, V1, V2, V3)
	STORE4(R12, V28, V29, V30, V31)
	SUBS $64, R9, R9
	BNE  single

	// R10, R11 and R13 are at the block. F8 is c[i], F12 becomes u[i].
block:
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R19)
	MOVD R19, R20
#ifdef CHANGE
	ADD  R6, R2, R21
	FMOV (R21), F12
	MOVD R10, R21
#endif
	MOVD R11, R22
	MOVD R8, R16
	ADD  $64, R8, R17
	CMP  R7, R17
	CSEL GT, R7, R17, R17
element:
	FMOV.P SIZE(R22), F20
	FMOV   (R20), F0
#ifdef CHANGE
	FMOV.P SIZE(R21), F16
	FMOV   (R13), F24
	CMP    R6, R16
	BGT    right
	FMADD  F16, F24, F8, F24
	B      changed
right:
	FMUL   F16, F15, F17
	FMADD  F17, F24, F12, F24
changed:
	FMOV.P F24, SIZE(R13)
#else
	FMOV.P SIZE(R13), F24
#endif
	FMADD  F20, F0, F24, F0
	FMOV.P F0, SIZE(R20)
	ADD    $SIZE, R16, R16
	CMP    R17, R16
	BLT    element
	VLD1   (R19), [V0.B16, V1.B16, V2.B16, V3.B16]
#ifdef F32
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
	// h = 4
    WORD $0x4e62d400 // fadd v0.2d, v0.2d, v2.2d
    WORD $0x4e63d421 // fadd v1.2d, v1.2d, v3.2d
	// h = 2
    WORD $0x4e61d400 // fadd v0.2d, v0.2d, v1.2d
	// h = 1
    WORD $0x7e70d800 // faddp d0, v0.2d
#endif
	ADD  R6, R0, R21
	FMOV F0, (R21)

	// The next row, of this turn if there is one.
	ADD  R4, R3, R3
	ADD  $SIZE, R6, R6
	SUB  $1, R5, R5
	SUBS $1, R15, R15
	BEQ  turn
	MOVD R14, R13
	COPY(V9, V8)
	COPY(V4, V0)
	COPY(V5, V1)
	COPY(V6, V2)
	COPY(V7, V3)
	B    block
done:
#undef ZERO
#undef COPY
#undef COEF
#undef CHANGES
#undef ELEMENTS
#undef ROW
