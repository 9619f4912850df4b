// Body of lanesScore. The lanes of up to seven units of 64 bytes are accumulated in Y0..Y13 over all
// non-zeros; wider rows take more than one group.
//
// DI = dst, SI = w, both at the first lane of the group; DX = bytes of a row, R10 = bytes of lanes
// not done; R8 = rows, R9 = val, CX = non-zeros, BX = k, AX = row k of w, Y15 = val[k] in all
// lanes.
#define NEXTROW \
	MOVLQSX (R8)(BX*4), AX; \
	IMULQ DX, AX; \
	BCAST (R9)(BX*SZ), Y15; \
	ADDQ SI, AX; \
	INCQ BX
#define ZERO2(r, s) VXORPS r, r, r; VXORPS s, s, s
#define ROW2(off, r, s) FMA off(AX), Y15, r; FMA (off+32)(AX), Y15, s
#define STORE2(off, r, s) MOVU r, off(DI); MOVU s, (off+32)(DI)
#define ZERO8 ZERO2(Y0, Y1); ZERO2(Y2, Y3); ZERO2(Y4, Y5); ZERO2(Y6, Y7)
#define ROW8 ROW2(0, Y0, Y1); ROW2(64, Y2, Y3); ROW2(128, Y4, Y5); ROW2(192, Y6, Y7)
#define STORE8 STORE2(0, Y0, Y1); STORE2(64, Y2, Y3); STORE2(128, Y4, Y5); STORE2(192, Y6, Y7)
#define ZERO12 ZERO8; ZERO2(Y8, Y9); ZERO2(Y10, Y11)
#define ROW12 ROW8; ROW2(256, Y8, Y9); ROW2(320, Y10, Y11)
#define STORE12 STORE8; STORE2(256, Y8, Y9); STORE2(320, Y10, Y11)
group:
	TESTQ R10, R10
	JEQ scored
	CMPQ R10, $128
	JLT unit1
	JEQ units2
	CMPQ R10, $256
	JLT units3
	JEQ units4
	CMPQ R10, $384
	JLT units5
	JEQ units6

	ZERO12
	ZERO2(Y12, Y13)
	XORL BX, BX
	TESTQ CX, CX
	JEQ store7
score7:
	NEXTROW
	ROW12
	ROW2(384, Y12, Y13)
	CMPQ BX, CX
	JLT score7
store7:
	STORE12
	STORE2(384, Y12, Y13)
	ADDQ $448, SI
	ADDQ $448, DI
	SUBQ $448, R10
	JMP group

units6:
	ZERO12
	XORL BX, BX
	TESTQ CX, CX
	JEQ store6
score6:
	NEXTROW
	ROW12
	CMPQ BX, CX
	JLT score6
store6:
	STORE12
	JMP scored

units5:
	ZERO8
	ZERO2(Y8, Y9)
	XORL BX, BX
	TESTQ CX, CX
	JEQ store5
score5:
	NEXTROW
	ROW8
	ROW2(256, Y8, Y9)
	CMPQ BX, CX
	JLT score5
store5:
	STORE8
	STORE2(256, Y8, Y9)
	JMP scored

units4:
	ZERO8
	XORL BX, BX
	TESTQ CX, CX
	JEQ store4
score4:
	NEXTROW
	ROW8
	CMPQ BX, CX
	JLT score4
store4:
	STORE8
	JMP scored

units3:
	ZERO2(Y0, Y1)
	ZERO2(Y2, Y3)
	ZERO2(Y4, Y5)
	XORL BX, BX
	TESTQ CX, CX
	JEQ store3
score3:
	NEXTROW
	ROW2(0, Y0, Y1)
	ROW2(64, Y2, Y3)
	ROW2(128, Y4, Y5)
	CMPQ BX, CX
	JLT score3
store3:
	STORE2(0, Y0, Y1)
	STORE2(64, Y2, Y3)
	STORE2(128, Y4, Y5)
	JMP scored

units2:
	ZERO2(Y0, Y1)
	ZERO2(Y2, Y3)
	XORL BX, BX
	TESTQ CX, CX
	JEQ store2
score2:
	NEXTROW
	ROW2(0, Y0, Y1)
	ROW2(64, Y2, Y3)
	CMPQ BX, CX
	JLT score2
store2:
	STORE2(0, Y0, Y1)
	STORE2(64, Y2, Y3)
	JMP scored

unit1:
	ZERO2(Y0, Y1)
	XORL BX, BX
	TESTQ CX, CX
	JEQ store1
score1:
	NEXTROW
	ROW2(0, Y0, Y1)
	CMPQ BX, CX
	JLT score1
store1:
	STORE2(0, Y0, Y1)

scored:
#undef NEXTROW
#undef ZERO2
#undef ROW2
#undef STORE2
#undef ZERO8
#undef ROW8
#undef STORE8
#undef ZERO12
#undef ROW12
#undef STORE12
