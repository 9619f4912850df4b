// Body of addRowsAt: y += sum of alpha*x[r] * row r, in the order of the list, whose end is R13,
// each element on its own. x and R10 begin with row 0.
//
// DI y, CX elements left, R10 the rows from there on, R9 bytes from row to row, R11 behind x, DX
// minus the number of rows, Y15 alpha in every lane. Tiles of up to 8 units of y stay in Y0-Y7
// while R8 goes down the rows; BX counts up to 0, Y14 alpha*x[r], Y13 the tail.
#define LOADY(i, y) MOVU (32*i)(DI), y
#define ADDY(i, y) FMA (32*i)(R8), Y14, y
#define STOREY(i, y) MOVU y, (32*i)(DI)
#define FIRSTROW MOVQ DX, BX
#define STEPOF \
	MOVLQSX (R13)(BX*4), R8; \
	BCAST   (R11)(R8*SZ), Y14; \
	IMULQ   R9, R8; \
	MUL     Y15, Y14, Y14; \
	ADDQ    R10, R8
#define NEXTROW INCQ BX
	SUBQ $(8*LANES), CX
	JLT  last

eight:
	LOADY(0, Y0)
	LOADY(1, Y1)
	LOADY(2, Y2)
	LOADY(3, Y3)
	LOADY(4, Y4)
	LOADY(5, Y5)
	LOADY(6, Y6)
	LOADY(7, Y7)
	FIRSTROW

eightrows:
	STEPOF
	ADDY(0, Y0)
	ADDY(1, Y1)
	ADDY(2, Y2)
	ADDY(3, Y3)
	ADDY(4, Y4)
	ADDY(5, Y5)
	ADDY(6, Y6)
	ADDY(7, Y7)
	NEXTROW
	JNE  eightrows
	STOREY(0, Y0)
	STOREY(1, Y1)
	STOREY(2, Y2)
	STOREY(3, Y3)
	STOREY(4, Y4)
	STOREY(5, Y5)
	STOREY(6, Y6)
	STOREY(7, Y7)
	ADDQ $256, DI
	ADDQ $256, R10
	SUBQ $(8*LANES), CX
	JGE  eight

	// What is left is less than 8 units: BX whole ones, and the lanes of Y13 of one more, those past
	// the end neither read nor written. A row's sums wait for those of the row before, so all of it
	// is gone through at once.
last:
	ADDQ $(8*LANES), CX
	JEQ  done
	LEAQ -1(CX), BX
	SHRQ $(5-LOGSZ), BX
	MOVQ BX, AX
	SHLQ $(5-LOGSZ), AX
	SUBQ AX, CX           // 1 to LANES
	NEGQ CX
	LEAQ tails<>(SB), R8
	MOVU 32(R8)(CX*SZ), Y13
	CMPQ BX, $4
	JLT  last0to3
	JEQ  last4
	CMPQ BX, $6
	JLT  last5
	JEQ  last6
	JMP  last7

last0to3:
	CMPQ BX, $2
	JGT  last3
	JEQ  last2
	CMPQ BX, $1
	JEQ  last1

last0:
	MASKMOV (0)(DI), Y13, Y0
	FIRSTROW

rows0:
	STEPOF
	MASKMOV (0)(R8), Y13, Y12
	FMA  Y12, Y14, Y0
	NEXTROW
	JNE  rows0
	MASKMOV Y0, Y13, (0)(DI)
	JMP  done

last1:
	LOADY(0, Y0)
	MASKMOV (32)(DI), Y13, Y1
	FIRSTROW

rows1:
	STEPOF
	MASKMOV (32)(R8), Y13, Y12
	ADDY(0, Y0)
	FMA  Y12, Y14, Y1
	NEXTROW
	JNE  rows1
	STOREY(0, Y0)
	MASKMOV Y1, Y13, (32)(DI)
	JMP  done

last2:
	LOADY(0, Y0)
	LOADY(1, Y1)
	MASKMOV (64)(DI), Y13, Y2
	FIRSTROW

rows2:
	STEPOF
	MASKMOV (64)(R8), Y13, Y12
	ADDY(0, Y0)
	ADDY(1, Y1)
	FMA  Y12, Y14, Y2
	NEXTROW
	JNE  rows2
	STOREY(0, Y0)
	STOREY(1, Y1)
	MASKMOV Y2, Y13, (64)(DI)
	JMP  done

last3:
	LOADY(0, Y0)
	LOADY(1, Y1)
	LOADY(2, Y2)
	MASKMOV (96)(DI), Y13, Y3
	FIRSTROW

rows3:
	STEPOF
	MASKMOV (96)(R8), Y13, Y12
	ADDY(0, Y0)
	ADDY(1, Y1)
	ADDY(2, Y2)
	FMA  Y12, Y14, Y3
	NEXTROW
	JNE  rows3
	STOREY(0, Y0)
	STOREY(1, Y1)
	STOREY(2, Y2)
	MASKMOV Y3, Y13, (96)(DI)
	JMP  done

last4:
	LOADY(0, Y0)
	LOADY(1, Y1)
	LOADY(2, Y2)
	LOADY(3, Y3)
	MASKMOV (128)(DI), Y13, Y4
	FIRSTROW

rows4:
	STEPOF
	MASKMOV (128)(R8), Y13, Y12
	ADDY(0, Y0)
	ADDY(1, Y1)
	ADDY(2, Y2)
	ADDY(3, Y3)
	FMA  Y12, Y14, Y4
	NEXTROW
	JNE  rows4
	STOREY(0, Y0)
	STOREY(1, Y1)
	STOREY(2, Y2)
	STOREY(3, Y3)
	MASKMOV Y4, Y13, (128)(DI)
	JMP  done

last5:
	LOADY(0, Y0)
	LOADY(1, Y1)
	LOADY(2, Y2)
	LOADY(3, Y3)
	LOADY(4, Y4)
	MASKMOV (160)(DI), Y13, Y5
	FIRSTROW

rows5:
	STEPOF
	MASKMOV (160)(R8), Y13, Y12
	ADDY(0, Y0)
	ADDY(1, Y1)
	ADDY(2, Y2)
	ADDY(3, Y3)
	ADDY(4, Y4)
	FMA  Y12, Y14, Y5
	NEXTROW
	JNE  rows5
	STOREY(0, Y0)
	STOREY(1, Y1)
	STOREY(2, Y2)
	STOREY(3, Y3)
	STOREY(4, Y4)
	MASKMOV Y5, Y13, (160)(DI)
	JMP  done

last6:
	LOADY(0, Y0)
	LOADY(1, Y1)
	LOADY(2, Y2)
	LOADY(3, Y3)
	LOADY(4, Y4)
	LOADY(5, Y5)
	MASKMOV (192)(DI), Y13, Y6
	FIRSTROW

rows6:
	STEPOF
	MASKMOV (192)(R8), Y13, Y12
	ADDY(0, Y0)
	ADDY(1, Y1)
	ADDY(2, Y2)
	ADDY(3, Y3)
	ADDY(4, Y4)
	ADDY(5, Y5)
	FMA  Y12, Y14, Y6
	NEXTROW
	JNE  rows6
	STOREY(0, Y0)
	STOREY(1, Y1)
	STOREY(2, Y2)
	STOREY(3, Y3)
	STOREY(4, Y4)
	STOREY(5, Y5)
	MASKMOV Y6, Y13, (192)(DI)
	JMP  done

last7:
	LOADY(0, Y0)
	LOADY(1, Y1)
	LOADY(2, Y2)
	LOADY(3, Y3)
	LOADY(4, Y4)
	LOADY(5, Y5)
	LOADY(6, Y6)
	MASKMOV (224)(DI), Y13, Y7
	FIRSTROW

rows7:
	STEPOF
	MASKMOV (224)(R8), Y13, Y12
	ADDY(0, Y0)
	ADDY(1, Y1)
	ADDY(2, Y2)
	ADDY(3, Y3)
	ADDY(4, Y4)
	ADDY(5, Y5)
	ADDY(6, Y6)
	FMA  Y12, Y14, Y7
	NEXTROW
	JNE  rows7
	STOREY(0, Y0)
	STOREY(1, Y1)
	STOREY(2, Y2)
	STOREY(3, Y3)
	STOREY(4, Y4)
	STOREY(5, Y5)
	STOREY(6, Y6)
	MASKMOV Y7, Y13, (224)(DI)

done:
#undef LOADY
#undef ADDY
#undef STOREY
#undef STEPOF
#undef FIRSTROW
#undef NEXTROW
