// Body of rowsDot.
//
// Four rows share the loads of x: row r of the four has its partial sums in Z(4r)-Z(4r+3). The rows
// that are left are done one at a time.
//
// DI dst, BX rows left, R8 stride in bytes, SI R9 R10 R11 the four rows, R12 the row after them, DX
// x, R13 x while it advances, CX elements left; Z16-Z19 elements of x, K1-K4 the tail, K5 the lanes
// that hold results. LOADN loads n.
	MOVL  $RESULTS, AX
	KMOVW AX, K5

four:
	SUBQ $4, BX
	JLT  rest
	MOVQ R12, SI
	LEAQ (SI)(R8*1), R9
	LEAQ (R9)(R8*1), R10
	LEAQ (R10)(R8*1), R11
	LEAQ (R11)(R8*1), R12
	MOVQ DX, R13
	LOADN(CX)
	ZERO4
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	SUBQ $BLOCK, CX
	JLT  tail4

loop4:
	MOVU 0(R13), Z16
	MOVU 64(R13), Z17
	MOVU 128(R13), Z18
	MOVU 192(R13), Z19
	FMA  0(SI), Z16, Z0
	FMA  64(SI), Z17, Z1
	FMA  128(SI), Z18, Z2
	FMA  192(SI), Z19, Z3
	FMA  0(R9), Z16, Z4
	FMA  64(R9), Z17, Z5
	FMA  128(R9), Z18, Z6
	FMA  192(R9), Z19, Z7
	FMA  0(R10), Z16, Z8
	FMA  64(R10), Z17, Z9
	FMA  128(R10), Z18, Z10
	FMA  192(R10), Z19, Z11
	FMA  0(R11), Z16, Z12
	FMA  64(R11), Z17, Z13
	FMA  128(R11), Z18, Z14
	FMA  192(R11), Z19, Z15
	ADDQ $256, R13
	ADDQ $256, SI
	ADDQ $256, R9
	ADDQ $256, R10
	ADDQ $256, R11
	SUBQ $BLOCK, CX
	JGE  loop4

tail4:
	ADDQ   $BLOCK, CX
	JEQ    reduce4
	TAILMASKS
	MOVU.Z 0(R13), K1, Z16
	MOVU.Z 64(R13), K2, Z17
	MOVU.Z 128(R13), K3, Z18
	MOVU.Z 192(R13), K4, Z19
	FMA    0(SI), Z16, K1, Z0
	FMA    64(SI), Z17, K2, Z1
	FMA    128(SI), Z18, K3, Z2
	FMA    192(SI), Z19, K4, Z3
	FMA    0(R9), Z16, K1, Z4
	FMA    64(R9), Z17, K2, Z5
	FMA    128(R9), Z18, K3, Z6
	FMA    192(R9), Z19, K4, Z7
	FMA    0(R10), Z16, K1, Z8
	FMA    64(R10), Z17, K2, Z9
	FMA    128(R10), Z18, K3, Z10
	FMA    192(R10), Z19, K4, Z11
	FMA    0(R11), Z16, K1, Z12
	FMA    64(R11), Z17, K2, Z13
	FMA    128(R11), Z18, K3, Z14
	FMA    192(R11), Z19, K4, Z15

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
	FMA  0(SI), Z16, Z0
	FMA  64(SI), Z17, Z1
	FMA  128(SI), Z18, Z2
	FMA  192(SI), Z19, Z3
	ADDQ $256, R13
	ADDQ $256, SI
	SUBQ $BLOCK, CX
	JGE  loop

tail:
	ADDQ   $BLOCK, CX
	JEQ    reduce
	TAILMASKS
	MOVU.Z 0(R13), K1, Z16
	MOVU.Z 64(R13), K2, Z17
	MOVU.Z 128(R13), K3, Z18
	MOVU.Z 192(R13), K4, Z19
	FMA    0(SI), Z16, K1, Z0
	FMA    64(SI), Z17, K2, Z1
	FMA    128(SI), Z18, K3, Z2
	FMA    192(SI), Z19, K4, Z3

reduce:
	HALVE
	MOVS X0, (DI)
	ADDQ $ESIZE, DI
	DECQ BX
	JNE  one

done:
