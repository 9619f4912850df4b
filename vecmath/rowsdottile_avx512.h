// Body of rowsDotTile: six vectors by four rows.
//
// All partial sums of a dot are four registers, of 24 dots more than there are. So a pass takes one
// register of each four, those 64 bytes of every 256, for all dots: 24 partial sums from 10 loads.
// The sums of a pass go to part, [pass][vector][row]; the halving tree takes them from there. Dot
// (i, k), of vector i and row k, has its partial sums in Z(4i+k).
//
// A pass fetches one row of those ahead.
//
// SI DX BX R8 R9 R10 the vectors, R11 R12 R13 R14 the rows, R15 a row ahead, AX bytes into them, CX
// elements left, DI part; Z24-Z27 elements of rows, Z28 Z29 of vectors, K1 the tail of the pass, K2-K4 of those
// behind it. LOADN loads n, DST dst, PART part, X, ROWS and AHEAD the lists, PASS counts passes.
#define BY(x, z, a, b, c, d) \
	MOVU (x)(AX*1), z; \
	FMA  z, Z24, a; \
	FMA  z, Z25, b; \
	FMA  z, Z26, c; \
	FMA  z, Z27, d
#define BYTAIL(x, z, a, b, c, d) \
	MOVU.Z (x)(AX*1), K1, z; \
	FMA    z, Z24, K1, a; \
	FMA    z, Z25, K1, b; \
	FMA    z, Z26, K1, c; \
	FMA    z, Z27, K1, d
#define PUT(i, a, b, c, d) \
	MOVU a, (256*i)(DI); \
	MOVU b, (256*i+64)(DI); \
	MOVU c, (256*i+128)(DI); \
	MOVU d, (256*i+192)(DI)
#define HALVE4(off, z, a, b, c) \
	MOVU off(DI), z; \
	MOVU (off+1536)(DI), a; \
	MOVU (off+3072)(DI), b; \
	MOVU (off+4608)(DI), c; \
	ADD  b, z, z; \
	ADD  c, a, a; \
	ADD  a, z, z
	LOADN(CX)
	ANDQ $(BLOCK-1), CX
	TAILMASKS
	X(AX)
	MOVQ 0(AX), SI
	MOVQ 8(AX), DX
	MOVQ 16(AX), BX
	MOVQ 24(AX), R8
	MOVQ 32(AX), R9
	MOVQ 40(AX), R10
	ROWS(AX)
	MOVQ 0(AX), R11
	MOVQ 8(AX), R12
	MOVQ 16(AX), R13
	MOVQ 24(AX), R14
	PART(DI)
	MOVQ $0, PASS

pass:
	ZERO16
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19
	VPXORD Z20, Z20, Z20
	VPXORD Z21, Z21, Z21
	VPXORD Z22, Z22, Z22
	VPXORD Z23, Z23, Z23
	AHEAD(CX)
	MOVQ   PASS, AX
	MOVQ   (CX)(AX*8), R15
	LOADN(CX)
	XORL   AX, AX
	SUBQ   $BLOCK, CX
	JLT    tail

loop:
	MOVU (R11)(AX*1), Z24
	MOVU (R12)(AX*1), Z25
	MOVU (R13)(AX*1), Z26
	MOVU (R14)(AX*1), Z27
	PREFETCHT1 (R15)(AX*1)
	PREFETCHT1 64(R15)(AX*1)
	BY(SI, Z28, Z0, Z1, Z2, Z3)
	BY(DX, Z29, Z4, Z5, Z6, Z7)
	PREFETCHT1 128(R15)(AX*1)
	PREFETCHT1 192(R15)(AX*1)
	BY(BX, Z28, Z8, Z9, Z10, Z11)
	BY(R8, Z29, Z12, Z13, Z14, Z15)
	BY(R9, Z28, Z16, Z17, Z18, Z19)
	BY(R10, Z29, Z20, Z21, Z22, Z23)
	ADDQ $(BLOCK*ESIZE), AX
	SUBQ $BLOCK, CX
	JGE  loop

tail:
	KORTESTW K1, K1
	JEQ      put
	MOVU.Z   (R11)(AX*1), K1, Z24
	MOVU.Z   (R12)(AX*1), K1, Z25
	MOVU.Z   (R13)(AX*1), K1, Z26
	MOVU.Z   (R14)(AX*1), K1, Z27
	BYTAIL(SI, Z28, Z0, Z1, Z2, Z3)
	BYTAIL(DX, Z29, Z4, Z5, Z6, Z7)
	BYTAIL(BX, Z28, Z8, Z9, Z10, Z11)
	BYTAIL(R8, Z29, Z12, Z13, Z14, Z15)
	BYTAIL(R9, Z28, Z16, Z17, Z18, Z19)
	BYTAIL(R10, Z29, Z20, Z21, Z22, Z23)

put:
	PUT(0, Z0, Z1, Z2, Z3)
	PUT(1, Z4, Z5, Z6, Z7)
	PUT(2, Z8, Z9, Z10, Z11)
	PUT(3, Z12, Z13, Z14, Z15)
	PUT(4, Z16, Z17, Z18, Z19)
	PUT(5, Z20, Z21, Z22, Z23)
	KMOVQ K2, K1
	KMOVQ K3, K2
	KMOVQ K4, K3
	ADDQ  $1536, DI
	ADDQ  $64, SI
	ADDQ  $64, DX
	ADDQ  $64, BX
	ADDQ  $64, R8
	ADDQ  $64, R9
	ADDQ  $64, R10
	ADDQ  $64, R11
	ADDQ  $64, R12
	ADDQ  $64, R13
	ADDQ  $64, R14
	INCQ  PASS
	CMPQ  PASS, $4
	JLT   pass

	// The halving tree of four dots at a time: first to one register a dot, then two dots to a
	// register, and one dot to each 128-bit lane.
	MOVL  $RESULTS, AX
	KMOVW AX, K5
	DST(SI)
	SUBQ  $6144, DI
	MOVL  $6, CX

fold:
	HALVE4(0, Z0, Z1, Z2, Z3)
	HALVE4(64, Z4, Z5, Z6, Z7)
	HALVE4(128, Z8, Z9, Z10, Z11)
	HALVE4(192, Z12, Z13, Z14, Z15)
	VSHUFF64X2 $0xee, Z4, Z0, Z1
	VSHUFF64X2 $0x44, Z4, Z0, Z0
	ADD        Z1, Z0, Z0
	VSHUFF64X2 $0xee, Z12, Z8, Z3
	VSHUFF64X2 $0x44, Z12, Z8, Z2
	ADD        Z3, Z2, Z2
	VSHUFF64X2 $0xdd, Z2, Z0, Z1
	VSHUFF64X2 $0x88, Z2, Z0, Z0
	ADD        Z1, Z0, Z0
	HALVELANE(Z0, Z1)
	COMPRESS   Z0, K5, Z0
	MOVU       FOUR, (SI)
	ADDQ       $(4*ESIZE), SI
	ADDQ       $256, DI
	DECL       CX
	JNE        fold
#undef BY
#undef BYTAIL
#undef PUT
#undef HALVE4
