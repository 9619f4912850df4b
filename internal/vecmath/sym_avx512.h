// Body of symRankOneMul and, without CHANGE, of symMul: four rows at a time and what is left one by
// one. A block of a row is one register, and so are its partial sums; the FMAs in the block on the
// diagonal merge under a mask.
//
// DI y SI x DX u R8 row i R9 row i+2 R10 stride R11 rows left R12 i R13 n BX the block of i (R10,
// R12, R13 and
//    BX in bytes)   CX place in the row   AX, R14 masks
// Z0-Z3 partial sums of the rows Z4-Z7 their c Z8-Z11 their x Z12 u Z13 x Z14 y Z15-Z18 elements of
// the rows Z19 -a Z20 -a*u in the block K1 columns that there are K2 those up to the diagonal

// The macros are those of AVX2, with no offsets, for row is i + ahead. In the block on the diagonal
// BLOCKMASK finds K1, and CX becomes the number of columns up to the diagonal of row i.
#define BLOCKMASK \
	MOVQ  R13, CX; \
	SUBQ  BX, CX; \
	MOVL  $64, AX; \
	CMPQ  CX, AX; \
	CMOVQGT AX, CX; \
	SHRQ  $LOGSZ, CX; \
	MOVL  $-1, R14; \
	BZHIL CX, R14, AX; \
	KMOVW AX, K1
#ifdef CHANGE
#define COEF(u, c) MUL.BCST u, Z19, c
#define COLUMNS \
	MOVU (DX)(CX*1), Z12; \
	MOVU (SI)(CX*1), Z13; \
	MOVU (DI)(CX*1), Z14
#define ROW(row, v, c, xi, acc) \
	MOVU (row)(CX*1), v; \
	FMA  Z12, c, v; \
	MOVU v, (row)(CX*1); \
	FMA  Z13, v, acc; \
	FMA  v, xi, Z14
#define BLOCKCOLUMNS \
	MOVU.Z (DX)(BX*1), K1, Z12; \
	MOVU.Z (SI)(BX*1), K1, Z13; \
	MUL   Z19, Z12, Z20; \
	MOVQ  R12, CX; \
	SUBQ  BX, CX; \
	SHRQ  $LOGSZ, CX; \
	INCQ  CX
#define BLOCKROW(ahead, row, c, acc) \
	BZHIL CX, R14, AX; \
	KMOVW AX, K2; \
	INCQ  CX; \
	MOVU  row, Z15; \
	BCAST (ahead*SZ)(DX)(R12*1), Z16; \
	MOVU  c, K2, Z16; \
	MOVU  Z20, Z17; \
	MOVU  Z12, K2, Z17; \
	FMA   Z16, Z17, K1, Z15; \
	MOVU  Z15, row; \
	FMA   Z13, Z15, K1, acc
#else
#define COEF(u, c)
#define COLUMNS \
	MOVU (SI)(CX*1), Z13; \
	MOVU (DI)(CX*1), Z14
#define ROW(row, v, c, xi, acc) \
	MOVU (row)(CX*1), v; \
	FMA  Z13, v, acc; \
	FMA  v, xi, Z14
#define BLOCKCOLUMNS \
	MOVU.Z (SI)(BX*1), K1, Z13
#define BLOCKROW(ahead, row, c, acc) \
	FMA   row, Z13, K1, acc
#endif

	XORL R12, R12

four:
	SUBQ   $4, R11
	JLT    rest
	LEAQ   (R8)(R10*2), R9
	MOVQ   R12, BX
	ANDQ   $~63, BX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	COEF((0*SZ)(DX)(R12*1), Z4)
	COEF((1*SZ)(DX)(R12*1), Z5)
	COEF((2*SZ)(DX)(R12*1), Z6)
	COEF((3*SZ)(DX)(R12*1), Z7)
	BCAST  (0*SZ)(SI)(R12*1), Z8
	BCAST  (1*SZ)(SI)(R12*1), Z9
	BCAST  (2*SZ)(SI)(R12*1), Z10
	BCAST  (3*SZ)(SI)(R12*1), Z11
	LEAQ   (R8)(R10*1), AX
	LEAQ   (R9)(R10*1), R14
	XORL   CX, CX
	TESTQ  BX, BX
	JEQ    fourBlock

fourLeft:
	COLUMNS
	ROW(R8, Z15, Z4, Z8, Z0)
	ROW(AX, Z16, Z5, Z9, Z1)
	ROW(R9, Z17, Z6, Z10, Z2)
	ROW(R14, Z18, Z7, Z11, Z3)
	MOVU Z14, (DI)(CX*1)
	ADDQ $64, CX
	CMPQ CX, BX
	JLT  fourLeft

fourBlock:
	BLOCKMASK
	BLOCKCOLUMNS
	BLOCKROW(0, (R8)(BX*1), Z4, Z0)
	ADDQ R10, R8
	BLOCKROW(1, (R8)(BX*1), Z5, Z1)
	BLOCKROW(2, (R9)(BX*1), Z6, Z2)
	ADDQ R10, R9
	BLOCKROW(3, (R9)(BX*1), Z7, Z3)
	HALVE(Z0, Y0, X0)
	HALVE(Z1, Y1, X1)
	HALVE(Z2, Y2, X2)
	HALVE(Z3, Y3, X3)
	MOVS X0, (0*SZ)(DI)(R12*1)
	MOVS X1, (1*SZ)(DI)(R12*1)
	MOVS X2, (2*SZ)(DI)(R12*1)
	MOVS X3, (3*SZ)(DI)(R12*1)
	LEAQ (R9)(R10*1), R8
	ADDQ $(4*SZ), R12
	JMP  four

rest:
	ADDQ   $4, R11
	JEQ    done

one:
	MOVQ   R12, BX
	ANDQ   $~63, BX
	VPXORD Z0, Z0, Z0
	COEF((DX)(R12*1), Z4)
	BCAST  (SI)(R12*1), Z8
	XORL   CX, CX
	TESTQ  BX, BX
	JEQ    oneBlock

oneLeft:
	COLUMNS
	ROW(R8, Z15, Z4, Z8, Z0)
	MOVU Z14, (DI)(CX*1)
	ADDQ $64, CX
	CMPQ CX, BX
	JLT  oneLeft

oneBlock:
	BLOCKMASK
	BLOCKCOLUMNS
	BLOCKROW(0, (R8)(BX*1), Z4, Z0)
	HALVE(Z0, Y0, X0)
	MOVS X0, (DI)(R12*1)
	ADDQ R10, R8
	ADDQ $SZ, R12
	DECQ R11
	JNE  one

done:
	VZEROUPPER
	RET
#undef COEF
#undef COLUMNS
#undef ROW
#undef BLOCKMASK
#undef BLOCKCOLUMNS
#undef BLOCKROW
