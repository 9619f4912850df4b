// Body of Exp, the steps of expOne in exp.go.
//
//    in   R0 dst, R1 x, R2 n, R3 constants, R7 32 bytes of memory
//    V8...  constant number i in every lane of V(8+i)
// V0, V1 x, then the remainder, V2, V3 k, then the polynomial and the result, V4, V5 t, V6, V7 for
// the moment
// R4 dst of the last, fewer than 2 registers of elements, R5 how many these are: they go through
// the memory
//    clobbers R0-R8
	LOADDUP(V8)
	LOADDUP(V9)
	LOADDUP(V10)
	LOADDUP(V11)
	LOADDUP(V12)
	LOADDUP(V13)
	LOADDUP(V14)
	LOADDUP(V15)
	LOADDUP(V16)
	LOADDUP(V17)
	LOADDUP(V18)
	LOADDUP(V19)
#ifndef F32
	LOADDUP(V20)
	LOADDUP(V21)
	LOADDUP(V22)
	LOADDUP(V23)
	LOADDUP(V24)
#endif
	MOVD $0, R5
	SUBS $PAIR, R2, R2
	BLT  rest
pair:
	VLD1.P 32(R1), [V0.B16, V1.B16]
#ifdef F32
    WORD $0x4ea8f400 // fmin v0.4s, v0.4s, v8.4s
    WORD $0x4ea8f421 // fmin v1.4s, v1.4s, v8.4s
    WORD $0x4e29f400 // fmax v0.4s, v0.4s, v9.4s
    WORD $0x4e29f421 // fmax v1.4s, v1.4s, v9.4s
#else
    WORD $0x4ee8f400 // fmin v0.2d, v0.2d, v8.2d
    WORD $0x4ee8f421 // fmin v1.2d, v1.2d, v8.2d
    WORD $0x4e69f400 // fmax v0.2d, v0.2d, v9.2d
    WORD $0x4e69f421 // fmax v1.2d, v1.2d, v9.2d
#endif
	COPY(V11, V4)
	COPY(V11, V5)
	FMLA(V0, V10, V4)
	FMLA(V1, V10, V5)
#ifdef F32
    WORD $0x4eabd482 // fsub v2.4s, v4.4s, v11.4s
    WORD $0x4eabd4a3 // fsub v3.4s, v5.4s, v11.4s
#else
    WORD $0x4eebd482 // fsub v2.2d, v4.2d, v11.2d
    WORD $0x4eebd4a3 // fsub v3.2d, v5.2d, v11.2d
#endif
	FMLA(V2, V12, V0)
	FMLA(V3, V12, V1)
	FMLA(V2, V13, V0)
	FMLA(V3, V13, V1)
	COPY(V16, V2)
	COPY(V16, V3)
	FMLA(V15, V0, V2)
	FMLA(V15, V1, V3)
	NEXT(V17, V2, V3, V6, V7)
	NEXT(V18, V6, V7, V2, V3)
	NEXT(V19, V2, V3, V6, V7)
#ifndef F32
	NEXT(V20, V6, V7, V2, V3)
	NEXT(V21, V2, V3, V6, V7)
	NEXT(V22, V6, V7, V2, V3)
	NEXT(V23, V2, V3, V6, V7)
	NEXT(V24, V6, V7, V2, V3)
	COPY(V2, V6)
	COPY(V3, V7)
#endif
#ifdef F32
    WORD $0x6e20dc02 // fmul v2.4s, v0.4s, v0.4s
    WORD $0x6e21dc23 // fmul v3.4s, v1.4s, v1.4s
#else
    WORD $0x6e60dc02 // fmul v2.2d, v0.2d, v0.2d
    WORD $0x6e61dc23 // fmul v3.2d, v1.2d, v1.2d
#endif
	FMLA(V2, V6, V0)
	FMLA(V3, V7, V1)
	HALF(V4, V6)
	HALF(V5, V7)
	REST(V6, V4)
	REST(V7, V5)
	POWER(V6)
	POWER(V7)
	POWER(V4)
	POWER(V5)
#ifdef F32
    WORD $0x4e2ed402 // fadd v2.4s, v0.4s, v14.4s
    WORD $0x4e2ed423 // fadd v3.4s, v1.4s, v14.4s
    WORD $0x6e26dc42 // fmul v2.4s, v2.4s, v6.4s
    WORD $0x6e27dc63 // fmul v3.4s, v3.4s, v7.4s
    WORD $0x6e24dc42 // fmul v2.4s, v2.4s, v4.4s
    WORD $0x6e25dc63 // fmul v3.4s, v3.4s, v5.4s
#else
    WORD $0x4e6ed402 // fadd v2.2d, v0.2d, v14.2d
    WORD $0x4e6ed423 // fadd v3.2d, v1.2d, v14.2d
    WORD $0x6e66dc42 // fmul v2.2d, v2.2d, v6.2d
    WORD $0x6e67dc63 // fmul v3.2d, v3.2d, v7.2d
    WORD $0x6e64dc42 // fmul v2.2d, v2.2d, v4.2d
    WORD $0x6e65dc63 // fmul v3.2d, v3.2d, v5.2d
#endif
	VST1.P [V2.B16, V3.B16], 32(R0)
	SUBS   $PAIR, R2, R2
	BGE    pair
rest:
	ADDS $PAIR, R2, R2
	BEQ  out
	MOVD R0, R4
	MOVD R2, R5
	MOVD R7, R0
in:
	LOADX(R1, R6)
	STOREX(R6, R0)
	SUBS $1, R2, R2
	BNE  in
	MOVD R7, R0
	MOVD R7, R1
	B    pair
out:
	CBZ  R5, done
	LOADX(R7, R6)
	STOREX(R6, R4)
	SUB  $1, R5, R5
	B    out
done:
