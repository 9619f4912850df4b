// Body of activeUpdate.
//
// R10 = lanes, R12 = coef, R11 = lanes left; SI = w at the lane, X0 = coef of the lane;
// R8 = rows, R9 = val, CX = non-zeros, DX = k, DI = width; AX, BX = rows[k]*width.
// UPDATEONE adds coef*val[k+i] to the lane in row k+i, ADDW adds w.
#define UPDATEONE(i, off, x) \
	MOVLQSX (4*i)(R8)(DX*4), off; \
	IMULQ DI, off; \
	MOVS (SI)(off*SZ), x; \
	FMAS (i*SZ)(R9)(DX*SZ), X0, x; \
	MOVS x, (SI)(off*SZ)
	TESTQ CX, CX
	JEQ done
	TESTQ R11, R11
	JEQ done

lane:
	MOVLQSX (R10), SI
	SHLQ $LOGSZ, SI
	ADDW(SI)
	MOVS (R12), X0
	XORL DX, DX
	TESTQ $1, CX
	JEQ rows
	UPDATEONE(0, AX, X1)
	INCQ DX
	CMPQ DX, CX
	JEQ next

	// A row may repeat: the store of one comes before the load of the next.
rows:
	UPDATEONE(0, AX, X1)
	UPDATEONE(1, BX, X2)
	ADDQ $2, DX
	CMPQ DX, CX
	JLT rows

next:
	ADDQ $4, R10
	ADDQ $SZ, R12
	DECQ R11
	JNE lane

done:
#undef UPDATEONE
