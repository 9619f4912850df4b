// Body of symRankOneMul, two rows at a time and the last of an odd number alone. A block is 64
// bytes of a row, that is two registers: so are its partial sums. Rows are too short for the CPU to
// see where the next ones begin, so they are fetched ahead; from 4 KiB on they would push y, x and
// u out of the first level, so that only what is next in the rows themselves is.
//
// DI y SI x DX u R8, R9 rows i and i+1 AX, R13 the two behind R10 stride R11 rows left R12 i BX the
// block
//    of i (R10, R12 and BX in bytes)   CX place in the row   R14 masks; AX and CX places of masks
//    Y0, Y1 and Y2, Y3 partial sums of the rows   Y4, Y5 their c   Y6, Y7 their x   Y15 -a
//    Y8 u   Y9 x   Y10, Y11 elements of the rows   Y12 y
	XORL R12, R12
	LEAQ symMasks<>+64(SB), R14

pair:
	XORL BX, BX
	SUBQ $2, R11
	JLT  odd
	LEAQ (R8)(R10*1), R9
	MOVQ R12, BX
	ANDQ $~63, BX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MULS   (DX)(R12*1), X15, X4
	MULS   SZ(DX)(R12*1), X15, X5
	BCAST  X4, Y4
	BCAST  X5, Y5
	BCAST  (SI)(R12*1), Y6
	BCAST  SZ(SI)(R12*1), Y7
	LEAQ   (R9)(R10*1), AX
	LEAQ   (AX)(R10*1), R13
	LEAQ   512(R8), CX
	CMPQ   BX, $4096
	CMOVQGT CX, AX
	LEAQ   512(R9), CX
	CMOVQGT CX, R13
	XORL   CX, CX
	TESTQ  BX, BX
	JEQ    pairBlock

pairLeft:
	PREFETCHT0 (AX)(CX*1)
	PREFETCHT0 (R13)(CX*1)
	COLUMNS(0)
	ROW(0, R8, Y10, Y4, Y6, Y0)
	ROW(0, R9, Y11, Y5, Y7, Y2)
	MOVU Y12, (DI)(CX*1)
	COLUMNS(32)
	ROW(32, R8, Y10, Y4, Y6, Y1)
	ROW(32, R9, Y11, Y5, Y7, Y3)
	MOVU Y12, 32(DI)(CX*1)
	ADDQ $64, CX
	CMPQ CX, BX
	JLT  pairLeft

pairBlock:
	PREFETCHT0 (AX)(BX*1)
	PREFETCHT0 (R13)(BX*1)
	BLOCKMASK
	BLOCKCOLUMNS(0)
	BLOCKROW(0, 0, R8, Y4, Y0)
	BLOCKROW(0, SZ, R9, Y5, Y2)
	BLOCKCOLUMNS(32)
	BLOCKROW(32, 0, R8, Y4, Y1)
	BLOCKROW(32, SZ, R9, Y5, Y3)
	HALVE(Y0, X0, Y1, X1)
	HALVE(Y2, X2, Y3, X3)
	MOVS X0, (DI)(R12*1)
	MOVS X2, SZ(DI)(R12*1)
	LEAQ (R9)(R10*1), R8
	ADDQ $(2*SZ), R12
	JMP  pair

odd:
	ADDQ   $2, R11
	JEQ    done
	MOVQ   R12, BX
	ANDQ   $~63, BX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MULS   (DX)(R12*1), X15, X4
	BCAST  X4, Y4
	BCAST  (SI)(R12*1), Y6
	XORL   CX, CX
	TESTQ  BX, BX
	JEQ    oddBlock

oddLeft:
	COLUMNS(0)
	ROW(0, R8, Y10, Y4, Y6, Y0)
	MOVU Y12, (DI)(CX*1)
	COLUMNS(32)
	ROW(32, R8, Y10, Y4, Y6, Y1)
	MOVU Y12, 32(DI)(CX*1)
	ADDQ $64, CX
	CMPQ CX, BX
	JLT  oddLeft

oddBlock:
	BLOCKMASK
	BLOCKCOLUMNS(0)
	BLOCKROW(0, 0, R8, Y4, Y0)
	BLOCKCOLUMNS(32)
	BLOCKROW(32, 0, R8, Y4, Y1)
	HALVE(Y0, X0, Y1, X1)
	MOVS X0, (DI)(R12*1)

done:
	VZEROUPPER
	RET
