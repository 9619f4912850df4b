// Body of activeUpdate.
//
// R10 = lanes, R12 = coef, R11 = lanes left; SI = w at the lane, X0 = coef of the lane;
// R8 = rows, R9 = val, CX = non-zeros, DX = k, DI = width, AX = rows[k]*width.
	TESTQ CX, CX
	JEQ done
	TESTQ R11, R11
	JEQ done

lane:
	MOVLQSX (R10), SI
	MOVQ w+0(FP), AX
	LEAQ (AX)(SI*SZ), SI
	MOVS (R12), X0
	XORL DX, DX

nonzero:
	MOVLQSX (R8)(DX*4), AX
	IMULQ DI, AX
	MOVS (SI)(AX*SZ), X1
	MOVS (R9)(DX*SZ), X2
	FMAS X2, X0, X1
	MOVS X1, (SI)(AX*SZ)
	INCQ DX
	CMPQ DX, CX
	JLT nonzero

	ADDQ $4, R10
	ADDQ $SZ, R12
	DECQ R11
	JNE lane

done:
	RET
