// Body of lanesUpdate. The vectors of LANES lanes with a set bit are listed, up to six of them;
// then one pass over the rows updates those, so that what a row costs is shared. Vectors without a
// set bit cost nothing.
//
// R11 = bytes of a row, R12 = coef, DI = w; Y0 = LANEBITS, the bit of each lane, Y14 = 0. LOADLISTS
// loads n, rows and val, to DX, R8 and R9. Listing: AX = bits of the mask word that are not listed,
// R8 = the word's address, R9 = bytes of the lanes before it, CX = 16 * vectors listed; BX, SI.
// These three are kept in the frame during the pass. Pass: R8, R9 = ends of rows and val, DX = k -
// n, AX = row k of w, Y15 = val[k] in all lanes; of the vectors BX, SI, R10, R13, R15, CX = offset
// in a row, Y1-Y6 = coef, Y7-Y12 = ones in the lanes that stay. VECTOR loads what the list says, i
// bytes into it, of a vector: its offset, the coefficients, and ones in the lanes that stay.
#define VECTOR(i, off, coef, stay) \
	MOVQ list-(96-i)(SP), off; \
	MOVU (R12)(off*1), coef; \
	BROADBITS list-(88-i)(SP), stay; \
	VPAND Y0, stay, stay; \
	EQBITS Y14, stay, stay
#define NEXTROW \
	MOVLQSX (R8)(DX*4), AX; \
	IMULQ R11, AX; \
	BCAST (R9)(DX*SZ), Y15; \
	ADDQ DI, AX
#define UPDATEVECTOR(off, coef, stay) \
	MOVU (AX)(off*1), Y13; \
	FMA coef, Y15, Y13; \
	BLENDV stay, (AX)(off*1), Y13, Y13; \
	MOVU Y13, (AX)(off*1)
	MOVQ (R8), AX
	XORL R9, R9
	VMOVDQU LANEBITS, Y0
	VPXOR Y14, Y14, Y14

group:
	XORL CX, CX
list:
	TZCNTQ AX, BX
	JCS nextword            // no bit left
	ANDQ $~(LANES-1), BX
	SHRXQ BX, AX, SI        // the bits of this vector lowest
	MOVQ SI, list-88(SP)(CX*1)
	MOVL $((1<<LANES)-1), SI
	SHLXQ BX, SI, SI
	ANDNQ AX, SI, AX
	LEAQ (R9)(BX*SZ), BX
	MOVQ BX, list-96(SP)(CX*1)
	ADDL $16, CX
	CMPL CX, $96
	JLT list
	JMP pass

nextword:
	ADDQ $(64*SZ), R9
	CMPQ R9, R11
	JGE pass
	ADDQ $8, R8
	MOVQ (R8), AX
	JMP list

	// A row may repeat: the store of one comes before the load of the next.
pass:
	MOVQ AX, bits-104(SP)
	MOVQ R8, word-112(SP)
	MOVQ R9, before-120(SP)
	LOADLISTS
	LEAQ (R8)(DX*4), R8
	LEAQ (R9)(DX*SZ), R9
	NEGQ DX
	CMPL CX, $32
	JLT upto1
	JEQ two
	CMPL CX, $64
	JLT three
	JEQ four
	CMPL CX, $96
	JLT five

	VECTOR(0, BX, Y1, Y7)
	VECTOR(16, SI, Y2, Y8)
	VECTOR(32, R10, Y3, Y9)
	VECTOR(48, R13, Y4, Y10)
	VECTOR(64, R15, Y5, Y11)
	VECTOR(80, CX, Y6, Y12)
update6:
	NEXTROW
	UPDATEVECTOR(BX, Y1, Y7)
	UPDATEVECTOR(SI, Y2, Y8)
	UPDATEVECTOR(R10, Y3, Y9)
	UPDATEVECTOR(R13, Y4, Y10)
	UPDATEVECTOR(R15, Y5, Y11)
	UPDATEVECTOR(CX, Y6, Y12)
	INCQ DX
	JNE update6
	MOVQ bits-104(SP), AX
	MOVQ word-112(SP), R8
	MOVQ before-120(SP), R9
	JMP group

five:
	VECTOR(0, BX, Y1, Y7)
	VECTOR(16, SI, Y2, Y8)
	VECTOR(32, R10, Y3, Y9)
	VECTOR(48, R13, Y4, Y10)
	VECTOR(64, R15, Y5, Y11)
update5:
	NEXTROW
	UPDATEVECTOR(BX, Y1, Y7)
	UPDATEVECTOR(SI, Y2, Y8)
	UPDATEVECTOR(R10, Y3, Y9)
	UPDATEVECTOR(R13, Y4, Y10)
	UPDATEVECTOR(R15, Y5, Y11)
	INCQ DX
	JNE update5
	JMP done

four:
	VECTOR(0, BX, Y1, Y7)
	VECTOR(16, SI, Y2, Y8)
	VECTOR(32, R10, Y3, Y9)
	VECTOR(48, R13, Y4, Y10)
update4:
	NEXTROW
	UPDATEVECTOR(BX, Y1, Y7)
	UPDATEVECTOR(SI, Y2, Y8)
	UPDATEVECTOR(R10, Y3, Y9)
	UPDATEVECTOR(R13, Y4, Y10)
	INCQ DX
	JNE update4
	JMP done

three:
	VECTOR(0, BX, Y1, Y7)
	VECTOR(16, SI, Y2, Y8)
	VECTOR(32, R10, Y3, Y9)
update3:
	NEXTROW
	UPDATEVECTOR(BX, Y1, Y7)
	UPDATEVECTOR(SI, Y2, Y8)
	UPDATEVECTOR(R10, Y3, Y9)
	INCQ DX
	JNE update3
	JMP done

two:
	VECTOR(0, BX, Y1, Y7)
	VECTOR(16, SI, Y2, Y8)
update2:
	NEXTROW
	UPDATEVECTOR(BX, Y1, Y7)
	UPDATEVECTOR(SI, Y2, Y8)
	INCQ DX
	JNE update2
	JMP done

upto1:
	TESTL CX, CX
	JEQ done
	VECTOR(0, BX, Y1, Y7)
update1:
	NEXTROW
	UPDATEVECTOR(BX, Y1, Y7)
	INCQ DX
	JNE update1

done:
#undef VECTOR
#undef NEXTROW
#undef UPDATEVECTOR
