// The kernels of one precision. vecmath_amd64.s includes this twice, with the macros of float32 and of float64.

// func activeScoreAVX2(dst, w *T, width int, rows *int32, val *T, n int, lanes *int32, nl int)
// LANE sets r to w at lane number min(i, lanes left - 1) of the four, SCORE stores that lane's.
#define CLAMP(i, r) MOVL $i, r; CMPQ R11, r; CMOVQLT R11, r
#define LANE(i, r) CLAMP(i, r); MOVLQSX (R10)(r*4), r; SHLQ $LOGSZ, r; ADDQ w+8(FP), r
#define SCORE(i, x) CLAMP(i, R13); MOVS x, (DI)(R13*SZ)
TEXT ACTIVESCORE(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
	MOVQ lanes+48(FP), R10
	MOVQ nl+56(FP), R11
#include "activescore_avx2.h"
#undef CLAMP
#undef LANE
#undef SCORE

// func activeUpdateAVX2(w *T, width int, rows *int32, val *T, n int, lanes *int32, coef *T, nl int)
// UPDATEONE adds coef*val[k+i] to the lane in row k+i.
#define UPDATEONE(i, off, x) \
	MOVLQSX (4*i)(R8)(DX*4), off; \
	IMULQ DI, off; \
	MOVS (SI)(off*SZ), x; \
	FMAS (i*SZ)(R9)(DX*SZ), X0, x; \
	MOVS x, (SI)(off*SZ)
TEXT ACTIVEUPDATE(SB), NOSPLIT, $0-64
	MOVQ width+8(FP), DI
	MOVQ rows+16(FP), R8
	MOVQ val+24(FP), R9
	MOVQ n+32(FP), CX
	MOVQ lanes+40(FP), R10
	MOVQ coef+48(FP), R12
	MOVQ nl+56(FP), R11
#include "activeupdate_avx2.h"
#undef UPDATEONE
