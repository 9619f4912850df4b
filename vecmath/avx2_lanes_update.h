// Body of lanesUpdate. Mask bits are taken LANES at a time, one vector of lanes; vectors without a set bit cost nothing.
//
// DI = w at lane 0 of the mask word, R12 = coef at the same lane, R13 = mask word, R14-free; R11 = bytes of a row,
// R10 = lanes not done; R8 = rows, R9 = val, CX = non-zeros. Y0 = LANEBITS, the bit of each lane.
// In the word: R15-free, AX = bits not done, BX = lane of the vector, SI = w at it, Y1 = mask, Y2 = coef.
// In the vector: DX = k, R14-free.
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
	MOVQ SI, X1             // the bits of this vector lowest
	BROADBITS X1, Y1
	VPAND Y0, Y1, Y1
	EQBITS Y0, Y1, Y1
	MOVL $((1<<LANES)-1), SI
	SHLXQ BX, SI, SI
	ANDNQ AX, SI, AX
	MOVU (R12)(BX*SZ), Y2
	LEAQ (DI)(BX*SZ), SI
	XORL DX, DX

row:
	MOVLQSX (R8)(DX*4), BX
	IMULQ R11, BX
	BCAST (R9)(DX*SZ), Y3
	MOVU (SI)(BX*1), Y4
	FMA213 Y4, Y2, Y3       // coef*val + w
	BLENDV Y1, Y3, Y4, Y4
	MOVU Y4, (SI)(BX*1)
	INCQ DX
	CMPQ DX, CX
	JLT row
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
