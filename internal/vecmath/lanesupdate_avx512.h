// Body of lanesUpdate.
//
// A unit of 64 bytes at a time, all rows of it. Lanes outside the mask are kept by merging within
// the register and then stored with the rest: a store under a mask could not be forwarded to the
// load of the next score.
//
// SI the unit within row 0 of w, R13 width in bytes, DX units left, R10 and R11 the ends of rows
// and val, R12 -n, CX the row counted up from -n to 0, R8 the unit within a row, DI coef, BX mask;
// Z0 coef, Z1 weights, K1 mask.
	LEAQ (R10)(R12*4), R10
	LEAQ (R11)(R12*ESIZE), R11
	NEGQ R12
	JEQ  done
	MOVQ R13, DX
	SHLQ $SHIFT, R13
	SHRQ $(6-SHIFT), DX
	JEQ  done

unit:
	LOADBITS (BX), AX
	TESTL    AX, AX
	JEQ      next
	KMOVW    AX, K1
	MOVU     (DI), Z0
	MOVQ     R12, CX

row:
	MOVLQSX  (R10)(CX*4), R8
	IMULQ    R13, R8
	MOVU     (SI)(R8*1), Z1
	FMA.BCST (R11)(CX*ESIZE), Z0, K1, Z1
	MOVU     Z1, (SI)(R8*1)
	INCQ     CX
	JNE      row

next:
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $(LANES/8), BX
	DECQ DX
	JNE  unit

done:
