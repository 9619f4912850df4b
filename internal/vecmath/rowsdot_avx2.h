// Body of rowsDot; with MIXED rowsDotMixed.
//
// R9 = dst, R10 = row, R11 = rows left, R12 = bytes from row to row, DX = x, BX = n.
	TESTQ R11, R11
	JEQ done

row:
#ifdef MIXED
	MOVQ DX, SI
	MOVQ R10, DI
#else
	MOVQ R10, SI
	MOVQ DX, DI
#endif
	MOVQ BX, CX
#include "reduce_avx2.h"
	MOVS X0, (R9)
	ADDQ $SZ, R9
	ADDQ R12, R10
	DECQ R11
	JNE row

done:
