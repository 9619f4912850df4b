// Body of rowsDotAt.
//
// R9 = dst, R10 = the list, R11 = rows left, R12 = bytes from row to row, R13 = row 0, DX = x, BX =
// n.
	TESTQ R11, R11
	JEQ done

row:
	MOVLQSX (R10), SI
	ADDQ $4, R10
	IMULQ R12, SI
	ADDQ R13, SI
	MOVQ DX, DI
	MOVQ BX, CX
#include "reduce_avx2.h"
	MOVS X0, (R9)
	ADDQ $SZ, R9
	DECQ R11
	JNE row

done:
