// Body of symRankOneMul and, without CHANGE, of symMul: two rows at a time and the last of an odd
// number alone. A block is 64 bytes of a row, that is two registers: so are its partial sums. Rows
// are too short for the CPU to see where the next ones begin, so they are fetched ahead; from 4 KiB
// on they would push y, x and u out of the first level, so that only what is next in the rows
// themselves is.
//
// DI y SI x DX u R8, R9 rows i and i+1 AX, R13 the two behind R10 stride R11 rows left R12 i BX the
// block
//    of i (R10, R12 and BX in bytes)   CX place in the row   R14 masks; AX and CX places of masks
//    Y0, Y1 and Y2, Y3 partial sums of the rows   Y4, Y5 their c   Y6, Y7 their x   Y15 -a
//    Y8 u   Y9 x   Y10, Y11 elements of the rows   Y12 y

// COLUMNS loads a register of u, x and y, CX + off bytes into them. ROW changes those elements of a
// row, adds their products to its partial sums, and adds them times the row's x to y. COEF sets c.
//
// In the block on the diagonal: BLOCKMASK finds the masks, R9 before them in AX for the columns
// that there are; BLOCKCOLUMNS loads u and x there, with zeros behind, -a*u to Y10 and the mask of
// columns to Y14; BLOCKROW takes c[i]*u[j] up to the diagonal and c[j]*u[i] right of it, and leaves
// alone what is not there. row is iAhead bytes of u below i. LOADN loads n.
#ifdef CHANGE
#define COEF(u, x, c) \
	MULS  u, X15, x; \
	BCAST x, c
#define COLUMNS(off) \
	MOVU off(DX)(CX*1), Y8; \
	MOVU off(SI)(CX*1), Y9; \
	MOVU off(DI)(CX*1), Y12
#define ROW(off, row, v, c, xi, acc) \
	MOVU off(row)(CX*1), v; \
	FMA  Y8, c, v; \
	MOVU v, off(row)(CX*1); \
	FMA  Y9, v, acc; \
	FMA  v, xi, Y12
#define BLOCKCOLUMNS(off) \
	MOVU    off(R14)(AX*1), Y14; \
	MASKMOV off(DX)(BX*1), Y14, Y8; \
	MASKMOV off(SI)(BX*1), Y14, Y9; \
	MUL     Y15, Y8, Y10
#define BLOCKROW(off, iAhead, row, c, acc) \
	MOVU   off(row)(BX*1), Y11; \
	BCAST  iAhead(DX)(R12*1), Y12; \
	FMA213 Y11, Y10, Y12; \
	VMOVAPS Y11, Y13; \
	FMA    Y8, c, Y13; \
	MOVU   (off-SZ-iAhead)(R14)(CX*1), Y6; \
	BLENDV Y6, Y13, Y12, Y13; \
	BLENDV Y14, Y13, Y11, Y13; \
	MOVU   Y13, off(row)(BX*1); \
	VMOVAPS acc, Y12; \
	FMA    Y9, Y13, Y12; \
	BLENDV Y14, Y12, acc, acc
#else
#define COEF(u, x, c)
#define COLUMNS(off) \
	MOVU off(SI)(CX*1), Y9; \
	MOVU off(DI)(CX*1), Y12
#define ROW(off, row, v, c, xi, acc) \
	MOVU off(row)(CX*1), v; \
	FMA  Y9, v, acc; \
	FMA  v, xi, Y12
#define BLOCKCOLUMNS(off) \
	MOVU    off(R14)(AX*1), Y14; \
	MASKMOV off(SI)(BX*1), Y14, Y9
#define BLOCKROW(off, iAhead, row, c, acc) \
	VMOVAPS acc, Y12; \
	FMA    off(row)(BX*1), Y9, Y12; \
	BLENDV Y14, Y12, acc, acc
#endif
#define BLOCKMASK \
	LOADN(AX); \
	SHLQ $LOGSZ, AX; \
	SUBQ BX, AX; \
	MOVL $64, CX; \
	CMPQ AX, CX; \
	CMOVQGT CX, AX; \
	NEGQ AX; \
	MOVQ BX, CX; \
	SUBQ R12, CX

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
	COEF((DX)(R12*1), X4, Y4)
	COEF(SZ(DX)(R12*1), X5, Y5)
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
	COEF((DX)(R12*1), X4, Y4)
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
#undef COEF
#undef COLUMNS
#undef ROW
#undef BLOCKMASK
#undef BLOCKCOLUMNS
#undef BLOCKROW
