// Body of rowsDot.
//
// R9 = dst, R10 = row, R11 = rows left, R12 = bytes from row to row, DX = x, BX = n.
	TESTQ R11, R11
	JEQ done

row:
	MOVQ R10, SI
	MOVQ DX, DI
	MOVQ BX, CX
#include "reduce_avx2.h"
	MOVS X0, (R9)
	ADDQ $SZ, R9
	ADDQ R12, R10
	DECQ R11
	JNE row

done:
