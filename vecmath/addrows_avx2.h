// Body of addRows: y += sum of alpha*x[r] * row r, in the order of r, each element on its own.
//
// DI y, CX elements left, R10 the rows from there on, R9 bytes from row to row, R11 behind x, DX
// minus the number of rows, Y15 alpha in every lane. Tiles of up to 8 units of y stay in Y0-Y7
// while R8 goes down the rows; BX counts up to 0, Y14 alpha*x[r], Y13 the tail.
#define LOADY(i, y) MOVU (32*i)(DI), y
#define STEPOF \
	BCAST (R11)(BX*SZ), Y14; \
	MUL   Y15, Y14, Y14
	SUBQ $(8*LANES), CX
	JLT  fours

eight:
	LOADY(0, Y0)
	LOADY(1, Y1)
	LOADY(2, Y2)
	LOADY(3, Y3)
	LOADY(4, Y4)
	LOADY(5, Y5)
	LOADY(6, Y6)
	LOADY(7, Y7)
	MOVQ R10, R8
	MOVQ DX, BX

eightrows:
	STEPOF
	FMA  0(R8), Y14, Y0
	FMA  32(R8), Y14, Y1
	FMA  64(R8), Y14, Y2
	FMA  96(R8), Y14, Y3
	FMA  128(R8), Y14, Y4
	FMA  160(R8), Y14, Y5
	FMA  192(R8), Y14, Y6
	FMA  224(R8), Y14, Y7
	ADDQ R9, R8
	INCQ BX
	JNE  eightrows
	MOVU Y0, 0(DI)
	MOVU Y1, 32(DI)
	MOVU Y2, 64(DI)
	MOVU Y3, 96(DI)
	MOVU Y4, 128(DI)
	MOVU Y5, 160(DI)
	MOVU Y6, 192(DI)
	MOVU Y7, 224(DI)
	ADDQ $256, DI
	ADDQ $256, R10
	SUBQ $(8*LANES), CX
	JGE  eight

fours:
	ADDQ $(4*LANES), CX
	JLT  twos
	LOADY(0, Y0)
	LOADY(1, Y1)
	LOADY(2, Y2)
	LOADY(3, Y3)
	MOVQ R10, R8
	MOVQ DX, BX

fourrows:
	STEPOF
	FMA  0(R8), Y14, Y0
	FMA  32(R8), Y14, Y1
	FMA  64(R8), Y14, Y2
	FMA  96(R8), Y14, Y3
	ADDQ R9, R8
	INCQ BX
	JNE  fourrows
	MOVU Y0, 0(DI)
	MOVU Y1, 32(DI)
	MOVU Y2, 64(DI)
	MOVU Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $128, R10
	SUBQ $(4*LANES), CX

twos:
	ADDQ $(2*LANES), CX
	JLT  ones
	LOADY(0, Y0)
	LOADY(1, Y1)
	MOVQ R10, R8
	MOVQ DX, BX

tworows:
	STEPOF
	FMA  0(R8), Y14, Y0
	FMA  32(R8), Y14, Y1
	ADDQ R9, R8
	INCQ BX
	JNE  tworows
	MOVU Y0, 0(DI)
	MOVU Y1, 32(DI)
	ADDQ $64, DI
	ADDQ $64, R10
	SUBQ $(2*LANES), CX

	// Whatever is left is less than two units.
ones:
	ADDQ $LANES, CX
	JLT  tail
	LOADY(0, Y0)
	MOVQ R10, R8
	MOVQ DX, BX

onerows:
	STEPOF
	FMA  0(R8), Y14, Y0
	ADDQ R9, R8
	INCQ BX
	JNE  onerows
	MOVU Y0, 0(DI)
	ADDQ $32, DI
	ADDQ $32, R10
	SUBQ $LANES, CX

	// Lanes past the end are neither read nor written.
tail:
	ADDQ    $LANES, CX
	JEQ     done
	NEGQ    CX
	LEAQ    tails<>(SB), R8
	MOVU    32(R8)(CX*SZ), Y13
	MASKMOV (DI), Y13, Y0
	MOVQ    R10, R8
	MOVQ    DX, BX

tailrows:
	STEPOF
	MASKMOV (R8), Y13, Y1
	FMA     Y1, Y14, Y0
	ADDQ    R9, R8
	INCQ    BX
	JNE     tailrows
	MASKMOV Y0, Y13, (DI)

done:
#undef LOADY
#undef STEPOF
