// Body of rowsDot; with MIXED rowsDotMixed: rows of float32, x and sums of float64.
//
// Four rows at a time: row r of the four has its partial sums in Z(4r)-Z(4r+3). The rows that are
// left are done one at a time. The last elements of x, less than BLOCK, stay in Z20-Z23.
//
// DI dst, BX rows left, R8 stride in bytes, SI R9 R10 R11 the four rows, R12 the row after them, DX
// x, R13 x while it advances, CX elements left; Z16-Z19 elements of x, Z24-Z27 elements of rows,
// widened, Z28 zeros, K1-K4 the tail, K5 the lanes that hold results. LOADN loads n.
//
// A load may reach beyond the rows, under its mask. Where that is another page, which may never have
// been touched, it takes a hundred times as long; then a row of less than a register is read by a
// load that ends with it. R14 is the last place where a whole register ends within the rows' pages.
//
// MADD adds the products of a register of x and the elements of a row off bytes ahead (counted in
// those of x), MADDTAIL those under a mask. MULTAIL multiplies instead, by K1, and BEFORE loads the
// lanes K6 of the register that ends with the last elements, AX elements behind its begin.
#ifdef MIXED
#define ROWSIZE 4
#define MADD(off, row, x, v, acc) \
	VCVTPS2PD (off/2)(row), v; \
	FMA       v, x, acc
#define MADDTAIL(off, row, x, k, v, acc) \
	VCVTPS2PD.Z (off/2)(row), k, v; \
	FMA         v, x, k, acc
#define MULTAIL(row, x, acc) \
	VCVTPS2PD.Z (row), K1, acc; \
	MUL         x, acc, acc
#define BEFORE \
	VMOVUPS.Z     (SI)(AX*4), K6, Y24; \
	VCOMPRESSPS.Z Y24, K6, Y24; \
	VCVTPS2PD     Y24, Z24
#else
#define ROWSIZE ESIZE
#define MADD(off, row, x, v, acc) FMA off(row), x, acc
#define MADDTAIL(off, row, x, k, v, acc) FMA off(row), x, k, acc
#define MULTAIL(row, x, acc) MUL.Z (row), x, K1, acc
#define BEFORE \
	MOVU.Z     (SI)(AX*ESIZE), K6, Z24; \
	COMPRESS.Z Z24, K6, Z24
#endif
	MOVL   $RESULTS, AX
	KMOVW  AX, K5
	VPXORD Z28, Z28, Z28
	LOADN(CX)
	MOVQ   CX, R13
	ANDQ   $(BLOCK-1), CX
	JEQ    four
	SUBQ   CX, R13
	LEAQ   (DX)(R13*ESIZE), R13
	TAILMASKS
	LEAQ   -1(BX), R14
	IMULQ  R8, R14
	ADDQ   R12, R14
	LOADN(AX)
	LEAQ   -1(R14)(AX*ROWSIZE), R14
	ORQ    $4095, R14
	SUBQ   $(LANES*ROWSIZE-1), R14
	MOVU.Z 0(R13), K1, Z20
	CMPQ   CX, $LANES
	JLE    four
	MOVU.Z 64(R13), K2, Z21
	CMPQ   CX, $(2*LANES)
	JLE    four
	MOVU.Z 128(R13), K3, Z22
	CMPQ   CX, $(3*LANES)
	JLE    four
	MOVU.Z 192(R13), K4, Z23

four:
	SUBQ $4, BX
	JLT  rest
	MOVQ R12, SI
	LEAQ (SI)(R8*1), R9
	LEAQ (R9)(R8*1), R10
	LEAQ (R10)(R8*1), R11
	LEAQ (R11)(R8*1), R12
	LOADN(CX)
	LEAQ -1(CX), AX
	CMPQ AX, $LANES
	JCS  short4
	MOVQ DX, R13
	ZERO16
	SUBQ $BLOCK, CX
	JLT  tail4

loop4:
	MOVU 0(R13), Z16
	MOVU 64(R13), Z17
	MOVU 128(R13), Z18
	MOVU 192(R13), Z19
	MADD(0, SI, Z16, Z24, Z0)
	MADD(64, SI, Z17, Z25, Z1)
	MADD(128, SI, Z18, Z26, Z2)
	MADD(192, SI, Z19, Z27, Z3)
	MADD(0, R9, Z16, Z24, Z4)
	MADD(64, R9, Z17, Z25, Z5)
	MADD(128, R9, Z18, Z26, Z6)
	MADD(192, R9, Z19, Z27, Z7)
	MADD(0, R10, Z16, Z24, Z8)
	MADD(64, R10, Z17, Z25, Z9)
	MADD(128, R10, Z18, Z26, Z10)
	MADD(192, R10, Z19, Z27, Z11)
	MADD(0, R11, Z16, Z24, Z12)
	MADD(64, R11, Z17, Z25, Z13)
	MADD(128, R11, Z18, Z26, Z14)
	MADD(192, R11, Z19, Z27, Z15)
	ADDQ $(BLOCK*ESIZE), R13
	ADDQ $(BLOCK*ROWSIZE), SI
	ADDQ $(BLOCK*ROWSIZE), R9
	ADDQ $(BLOCK*ROWSIZE), R10
	ADDQ $(BLOCK*ROWSIZE), R11
	SUBQ $BLOCK, CX
	JGE  loop4

tail4:
	ADDQ $BLOCK, CX
	JEQ  reduce4
	MADDTAIL(0, SI, Z20, K1, Z24, Z0)
	MADDTAIL(0, R9, Z20, K1, Z25, Z4)
	MADDTAIL(0, R10, Z20, K1, Z26, Z8)
	MADDTAIL(0, R11, Z20, K1, Z27, Z12)
	CMPQ CX, $LANES
	JLE  reduce4
	MADDTAIL(64, SI, Z21, K2, Z24, Z1)
	MADDTAIL(64, R9, Z21, K2, Z25, Z5)
	MADDTAIL(64, R10, Z21, K2, Z26, Z9)
	MADDTAIL(64, R11, Z21, K2, Z27, Z13)
	CMPQ CX, $(2*LANES)
	JLE  reduce4
	MADDTAIL(128, SI, Z22, K3, Z24, Z2)
	MADDTAIL(128, R9, Z22, K3, Z25, Z6)
	MADDTAIL(128, R10, Z22, K3, Z26, Z10)
	MADDTAIL(128, R11, Z22, K3, Z27, Z14)
	CMPQ CX, $(3*LANES)
	JLE  reduce4
	MADDTAIL(192, SI, Z23, K4, Z24, Z3)
	MADDTAIL(192, R9, Z23, K4, Z25, Z7)
	MADDTAIL(192, R10, Z23, K4, Z26, Z11)
	MADDTAIL(192, R11, Z23, K4, Z27, Z15)

reduce4:
	// The halving tree of each row, first to one register a row: Z0, Z4, Z8, Z12.
	ADD Z2, Z0, Z0
	ADD Z3, Z1, Z1
	ADD Z1, Z0, Z0
	ADD Z6, Z4, Z4
	ADD Z7, Z5, Z5
	ADD Z5, Z4, Z4
	ADD Z10, Z8, Z8
	ADD Z11, Z9, Z9
	ADD Z9, Z8, Z8
	ADD Z14, Z12, Z12
	ADD Z15, Z13, Z13
	ADD Z13, Z12, Z12

fold4:
	// Lower plus upper 256 bits, two rows to a register: rows 0 1 in Z0, rows 2 3 in Z2.
	VSHUFF64X2 $0xee, Z4, Z0, Z1
	VSHUFF64X2 $0x44, Z4, Z0, Z0
	ADD        Z1, Z0, Z0
	VSHUFF64X2 $0xee, Z12, Z8, Z3
	VSHUFF64X2 $0x44, Z12, Z8, Z2
	ADD        Z3, Z2, Z2

	// Lower plus upper 128 bits: row r in 128-bit lane r of Z0. Then on within the lanes to their
	// first element.
	VSHUFF64X2 $0xdd, Z2, Z0, Z1
	VSHUFF64X2 $0x88, Z2, Z0, Z0
	ADD        Z1, Z0, Z0
	HALVELANE(Z0, Z1)
	COMPRESS   Z0, K5, Z0
	MOVU       FOUR, (DI)
	ADDQ       $(4*ESIZE), DI
	JMP        four

short4:
	// Rows of one register. Of their partial sums in the other three, all +0, the tree adds +0 to
	// the products, which makes +0 of a -0 and changes nothing else.
	CMPQ R11, R14
	JHI  near4
	MULTAIL(SI, Z20, Z0)
	MULTAIL(R9, Z20, Z4)
	MULTAIL(R10, Z20, Z8)
	MULTAIL(R11, Z20, Z12)
	ADD Z28, Z0, Z0
	ADD Z28, Z4, Z4
	ADD Z28, Z8, Z8
	ADD Z28, Z12, Z12
	JMP fold4

near4:
	MOVQ SI, R12

rest:
	ADDQ $4, BX
	JEQ  done

one:
	MOVQ R12, SI
	ADDQ R8, R12
	MOVQ DX, R13
	LOADN(CX)
	ZERO4
	SUBQ $BLOCK, CX
	JLT  tail

loop:
	MOVU 0(R13), Z16
	MOVU 64(R13), Z17
	MOVU 128(R13), Z18
	MOVU 192(R13), Z19
	MADD(0, SI, Z16, Z24, Z0)
	MADD(64, SI, Z17, Z25, Z1)
	MADD(128, SI, Z18, Z26, Z2)
	MADD(192, SI, Z19, Z27, Z3)
	ADDQ $(BLOCK*ESIZE), R13
	ADDQ $(BLOCK*ROWSIZE), SI
	SUBQ $BLOCK, CX
	JGE  loop

tail:
	ADDQ $BLOCK, CX
	JEQ  reduce
	CMPQ SI, R14
	JHI  near
	MADDTAIL(0, SI, Z20, K1, Z24, Z0)
	CMPQ CX, $LANES
	JLE  reduce
	MADDTAIL(64, SI, Z21, K2, Z25, Z1)
	CMPQ CX, $(2*LANES)
	JLE  reduce
	MADDTAIL(128, SI, Z22, K3, Z26, Z2)
	CMPQ CX, $(3*LANES)
	JLE  reduce
	MADDTAIL(192, SI, Z23, K4, Z27, Z3)

reduce:
	HALVE
	MOVS X0, (DI)
	ADDQ $ESIZE, DI
	DECQ BX
	JNE  one
	JMP  done

near:
	MOVQ  $LANES, AX
	SUBQ  CX, AX
	KMOVW K1, R9
	SHLXL AX, R9, R9
	KMOVW R9, K6
	NEGQ  AX
	BEFORE
	FMA   Z24, Z20, K1, Z0
	JMP   reduce

done:
#undef ROWSIZE
#undef MADD
#undef MADDTAIL
#undef MULTAIL
#undef BEFORE
