// Body of lanesUpdate. Mask bits are taken LANES at a time, one vector of lanes; vectors without a set bit cost nothing.
// (Units of two vectors gain nothing where many lanes are set and cost half as much again where few are.)
//
// For the mask word: DI = w at its first lane, R12 = coef at it, R13 = the word's address, R10 = lanes from here to the
// end, AX = bits not done. R11 = bytes of a row, R8 = rows, R9 = val, CX = non-zeros; Y0 = LANEBITS, the bit of each lane.
// For the vector: SI = w at its first lane, Y1 = mask, Y2 = coef, DX = k; BX, R15 = row offsets.
	VMOVDQU LANEBITS, Y0
	TESTQ CX, CX
	JEQ done

word:
	TESTQ R10, R10
	JLE done
	MOVQ (R13), AX

vector:
	TZCNTQ AX, BX
	JCS nextword            // no bit left
	ANDQ $~(LANES-1), BX
	SHRXQ BX, AX, SI
	VMOVQ SI, X1            // the bits of this vector lowest
	BROADBITS X1, Y1
	VPAND Y0, Y1, Y1
	EQBITS Y0, Y1, Y1
	MOVL $((1<<LANES)-1), SI
	SHLXQ BX, SI, SI
	ANDNQ AX, SI, AX
	MOVU (R12)(BX*SZ), Y2
	LEAQ (DI)(BX*SZ), SI
	XORL DX, DX
	TESTQ $1, CX
	JEQ rows
	UPDATEROW(0, BX, Y3, Y4)
	INCQ DX
	CMPQ DX, CX
	JEQ vector

	// A row may repeat: the store of one comes before the load of the next.
rows:
	UPDATEROW(0, BX, Y3, Y4)
	UPDATEROW(1, R15, Y5, Y6)
	ADDQ $2, DX
	CMPQ DX, CX
	JLT rows
	JMP vector

nextword:
	ADDQ $8, R13
	ADDQ $(64*SZ), R12
	ADDQ $(64*SZ), DI
	SUBQ $64, R10
	JMP word

done:
	VZEROUPPER
	RET
