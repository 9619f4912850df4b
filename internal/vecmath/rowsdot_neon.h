// dst[r] = the dot of rows[r*stride : r*stride+n] with x, in the bits of the dot kernel.
//
// With MIXED in those of dotMixed.
//
//    in   R9 dst, R10 rows, R11 nrows, R12 stride, R13 x, R14 n
//    clobbers R0-R12 and all of the dot kernel
#ifdef MIXED
#define ROWS R1
#define VECTOR R0
#else
#define ROWS R0
#define VECTOR R1
#endif
	LSL $BSHIFT, R12, R12
row:
	CBZ  R11, done
	MOVD R10, ROWS
	MOVD R13, VECTOR
	MOVD R14, R2
#include "reduce_neon.h"
	FMOV.P F0, SIZE(R9)
	ADD  R12, R10, R10
	SUB  $1, R11, R11
	B    row
done:
#undef ROWS
#undef VECTOR
