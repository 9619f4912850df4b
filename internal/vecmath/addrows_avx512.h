// Body of addRowsAt: y += sum of alpha*x[r] * row r, in the order of the list, whose end is R13,
// each element on its own. x and R10 begin with row 0.
//
// DI y, CX elements left, R10 the rows from there on, R9 bytes from row to row, R11 behind x, DX
// minus the number of rows, Z30 alpha in every lane. Tiles of up to 8 units of y stay in Z0-Z7
// while R8 goes down the rows; BX counts up to 0, Z31 alpha*x[r], K1 the tail.
#define LOADY(i, z) MOVU (64*i)(DI), z
#define ADDY(i, z) FMA (64*i)(R8), Z31, z
#define STOREY(i, z) MOVU z, (64*i)(DI)
#define FIRSTROW MOVQ DX, BX
#define STEPOF \
	MOVLQSX (R13)(BX*4), R8; \
	BCAST   (R11)(R8*ESIZE), Z31; \
	IMULQ   R9, R8; \
	MUL     Z30, Z31, Z31; \
	ADDQ    R10, R8
#define NEXTROW INCQ BX
	SUBQ $(8*LANES), CX
	JLT  last

eight:
	LOADY(0, Z0)
	LOADY(1, Z1)
	LOADY(2, Z2)
	LOADY(3, Z3)
	LOADY(4, Z4)
	LOADY(5, Z5)
	LOADY(6, Z6)
	LOADY(7, Z7)
	FIRSTROW

eightrows:
	STEPOF
	FMA8
	NEXTROW
	JNE  eightrows
	STORE8
	ADDQ $512, DI
	ADDQ $512, R10
	SUBQ $(8*LANES), CX
	JGE  eight

	// What is left is less than 8 units: BX whole ones, and K1 of one more. A row's sums wait for
	// those of the row before, so all of it is gone through at once.
last:
	ADDQ $(8*LANES), CX
	JEQ  done
	LEAQ -1(CX), BX
	SHRQ $(6-SHIFT), BX
	MOVQ BX, AX
	SHLQ $(6-SHIFT), AX
	SUBQ AX, CX           // 1 to LANES
	TAILMASK
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
	MOVU.Z (0)(DI), K1, Z0
	FIRSTROW

rows0:
	STEPOF
	FMA  (0)(R8), Z31, K1, Z0
	NEXTROW
	JNE  rows0
	MOVU Z0, K1, (0)(DI)
	JMP  done

last1:
	LOADY(0, Z0)
	MOVU.Z (64)(DI), K1, Z1
	FIRSTROW

rows1:
	STEPOF
	ADDY(0, Z0)
	FMA  (64)(R8), Z31, K1, Z1
	NEXTROW
	JNE  rows1
	STOREY(0, Z0)
	MOVU Z1, K1, (64)(DI)
	JMP  done

last2:
	LOADY(0, Z0)
	LOADY(1, Z1)
	MOVU.Z (128)(DI), K1, Z2
	FIRSTROW

rows2:
	STEPOF
	ADDY(0, Z0)
	ADDY(1, Z1)
	FMA  (128)(R8), Z31, K1, Z2
	NEXTROW
	JNE  rows2
	STOREY(0, Z0)
	STOREY(1, Z1)
	MOVU Z2, K1, (128)(DI)
	JMP  done

last3:
	LOADY(0, Z0)
	LOADY(1, Z1)
	LOADY(2, Z2)
	MOVU.Z (192)(DI), K1, Z3
	FIRSTROW

rows3:
	STEPOF
	ADDY(0, Z0)
	ADDY(1, Z1)
	ADDY(2, Z2)
	FMA  (192)(R8), Z31, K1, Z3
	NEXTROW
	JNE  rows3
	STOREY(0, Z0)
	STOREY(1, Z1)
	STOREY(2, Z2)
	MOVU Z3, K1, (192)(DI)
	JMP  done

last4:
	LOADY(0, Z0)
	LOADY(1, Z1)
	LOADY(2, Z2)
	LOADY(3, Z3)
	MOVU.Z (256)(DI), K1, Z4
	FIRSTROW

rows4:
	STEPOF
	ADDY(0, Z0)
	ADDY(1, Z1)
	ADDY(2, Z2)
	ADDY(3, Z3)
	FMA  (256)(R8), Z31, K1, Z4
	NEXTROW
	JNE  rows4
	STOREY(0, Z0)
	STOREY(1, Z1)
	STOREY(2, Z2)
	STOREY(3, Z3)
	MOVU Z4, K1, (256)(DI)
	JMP  done

last5:
	LOADY(0, Z0)
	LOADY(1, Z1)
	LOADY(2, Z2)
	LOADY(3, Z3)
	LOADY(4, Z4)
	MOVU.Z (320)(DI), K1, Z5
	FIRSTROW

rows5:
	STEPOF
	ADDY(0, Z0)
	ADDY(1, Z1)
	ADDY(2, Z2)
	ADDY(3, Z3)
	ADDY(4, Z4)
	FMA  (320)(R8), Z31, K1, Z5
	NEXTROW
	JNE  rows5
	STOREY(0, Z0)
	STOREY(1, Z1)
	STOREY(2, Z2)
	STOREY(3, Z3)
	STOREY(4, Z4)
	MOVU Z5, K1, (320)(DI)
	JMP  done

last6:
	LOADY(0, Z0)
	LOADY(1, Z1)
	LOADY(2, Z2)
	LOADY(3, Z3)
	LOADY(4, Z4)
	LOADY(5, Z5)
	MOVU.Z (384)(DI), K1, Z6
	FIRSTROW

rows6:
	STEPOF
	ADDY(0, Z0)
	ADDY(1, Z1)
	ADDY(2, Z2)
	ADDY(3, Z3)
	ADDY(4, Z4)
	ADDY(5, Z5)
	FMA  (384)(R8), Z31, K1, Z6
	NEXTROW
	JNE  rows6
	STOREY(0, Z0)
	STOREY(1, Z1)
	STOREY(2, Z2)
	STOREY(3, Z3)
	STOREY(4, Z4)
	STOREY(5, Z5)
	MOVU Z6, K1, (384)(DI)
	JMP  done

last7:
	LOADY(0, Z0)
	LOADY(1, Z1)
	LOADY(2, Z2)
	LOADY(3, Z3)
	LOADY(4, Z4)
	LOADY(5, Z5)
	LOADY(6, Z6)
	MOVU.Z (448)(DI), K1, Z7
	FIRSTROW

rows7:
	STEPOF
	ADDY(0, Z0)
	ADDY(1, Z1)
	ADDY(2, Z2)
	ADDY(3, Z3)
	ADDY(4, Z4)
	ADDY(5, Z5)
	ADDY(6, Z6)
	FMA  (448)(R8), Z31, K1, Z7
	NEXTROW
	JNE  rows7
	STOREY(0, Z0)
	STOREY(1, Z1)
	STOREY(2, Z2)
	STOREY(3, Z3)
	STOREY(4, Z4)
	STOREY(5, Z5)
	STOREY(6, Z6)
	MOVU Z7, K1, (448)(DI)

done:
#undef LOADY
#undef ADDY
#undef STOREY
#undef STEPOF
#undef FIRSTROW
#undef NEXTROW
