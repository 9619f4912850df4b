// Body of lanesScore and the first half of lanesScoreLE. The lanes of up to seven units of 64 bytes are accumulated in Y0..Y13 over all non-zeros; wider
// rows take more than one group.
//
// DI = dst, SI = w, both at the first lane of the group; DX = bytes of a row, R10 = bytes of lanes not done;
// R8 = rows, R9 = val, CX = non-zeros, BX = k, AX = row k of w, Y15 = val[k] in all lanes.
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
