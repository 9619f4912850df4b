// dst[k] = the dot of rows[at[k]*stride : at[k]*stride+n] with x, in the bits of the dot kernel.
//
//    in   R9 dst, R10 rows, R11 nat, R12 stride, R13 x, R14 n, R15 at
//    clobbers R0-R12, R15, R16 and all of the dot kernel
	LSL $SHIFT, R12, R12
row:
	CBZ    R11, done
	MOVW.P 4(R15), R16
	MADD   R12, R10, R16, R0
	MOVD   R13, R1
	MOVD   R14, R2
#include "reduce_neon.h"
	FMOV.P F0, SIZE(R9)
	SUB    $1, R11, R11
	B      row
done:
