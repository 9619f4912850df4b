// Body of lanesLE. A word is put together from its last unit to its first.
//
// DI = mask, SI = s at the first lane of the word, CX = lanes not done, Y0 = y, Y1 = t in all
// lanes; R8 = lanes of this word not done, R9 = the word.
word:
	TESTQ CX, CX
	JEQ done
	MOVL $64, R8
	CMPQ CX, R8
	CMOVQLT CX, R8
	SUBQ R8, CX
	LEAQ (SI)(R8*SZ), DX    // the next word's lanes
	XORL R9, R9

unit:
	MUL -32(SI)(R8*SZ), Y0, Y3
	MUL -64(SI)(R8*SZ), Y0, Y2
	CMPLE Y1, Y3, Y3
	CMPLE Y1, Y2, Y2
	MOVMSK Y3, BX
	MOVMSK Y2, AX
	SHLQ $(2*LANES), R9
	SHLL $LANES, BX
	ORL BX, AX
	ORQ AX, R9
	SUBQ $(2*LANES), R8
	JNE unit

	MOVQ R9, (DI)
	ADDQ $8, DI
	MOVQ DX, SI
	JMP word

done:
