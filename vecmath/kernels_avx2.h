// The kernels of one precision. vecmath_amd64.s includes this twice, with the macros of float32 and of float64.

// func lanesScoreAVX2(dst, w *T, width int, rows *int32, val *T, n int)
#define NEXTROW \
	MOVLQSX (R8)(BX*4), AX; \
	IMULQ DX, AX; \
	BCAST (R9)(BX*SZ), Y15; \
	ADDQ SI, AX; \
	INCQ BX
#define ZERO2(r, s) VXORPS r, r, r; VXORPS s, s, s
#define ROW2(off, r, s) FMA off(AX), Y15, r; FMA (off+32)(AX), Y15, s
#define STORE2(off, r, s) MOVU r, off(DI); MOVU s, (off+32)(DI)
#define ZERO8 ZERO2(Y0, Y1); ZERO2(Y2, Y3); ZERO2(Y4, Y5); ZERO2(Y6, Y7)
#define ROW8 ROW2(0, Y0, Y1); ROW2(64, Y2, Y3); ROW2(128, Y4, Y5); ROW2(192, Y6, Y7)
#define STORE8 STORE2(0, Y0, Y1); STORE2(64, Y2, Y3); STORE2(128, Y4, Y5); STORE2(192, Y6, Y7)
#define ZERO12 ZERO8; ZERO2(Y8, Y9); ZERO2(Y10, Y11)
#define ROW12 ROW8; ROW2(256, Y8, Y9); ROW2(320, Y10, Y11)
#define STORE12 STORE8; STORE2(256, Y8, Y9); STORE2(320, Y10, Y11)
TEXT LANESSCORE(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), DX
	SHLQ $LOGSZ, DX
	MOVQ DX, R10
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
#include "lanesscore_avx2.h"
	VZEROUPPER
	RET

// func lanesScoreLEAVX2(dst, w *T, width int, rows *int32, val *T, n int, mask *uint64, y, t T)
// The scores are read back for the comparison: they are at hand, and widths of more than seven units need no other way.
TEXT LANESSCORELE(SB), NOSPLIT, $0-SCORELESIZE
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), DX
	SHLQ $LOGSZ, DX
	MOVQ DX, R10
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
#include "lanesscore_avx2.h"
	MOVQ mask+48(FP), DI
	MOVQ dst+0(FP), SI
	MOVQ width+16(FP), CX
	BCAST y+56(FP), Y0
	BCAST t+SCORELET(FP), Y1
#include "lanesle_avx2.h"
#undef NEXTROW
#undef ZERO2
#undef ROW2
#undef STORE2
#undef ZERO8
#undef ROW8
#undef STORE8
#undef ZERO12
#undef ROW12
#undef STORE12

// func lanesUpdateAVX2(w *T, width int, rows *int32, val *T, n int, coef *T, mask *uint64)
// VECTOR loads what the list says, i bytes into it, of a vector: its offset, the coefficients, and ones in the lanes that stay.
#define VECTOR(i, off, coef, stay) \
	MOVQ list-(96-i)(SP), off; \
	MOVU (R12)(off*1), coef; \
	BROADBITS list-(88-i)(SP), stay; \
	VPAND Y0, stay, stay; \
	EQBITS Y14, stay, stay
#define NEXTROW \
	MOVLQSX (R8)(DX*4), AX; \
	IMULQ R11, AX; \
	BCAST (R9)(DX*SZ), Y15; \
	ADDQ DI, AX
#define UPDATEVECTOR(off, coef, stay) \
	MOVU (AX)(off*1), Y13; \
	FMA coef, Y15, Y13; \
	BLENDV stay, (AX)(off*1), Y13, Y13; \
	MOVU Y13, (AX)(off*1)
TEXT LANESUPDATE(SB), NOSPLIT, $120-56
#include "lanesupdate_avx2.h"
#undef VECTOR
#undef NEXTROW
#undef UPDATEVECTOR

// func lanesLEAVX2(mask *uint64, s *T, width int, y, t T)
TEXT LANESLE(SB), NOSPLIT, $0-LESIZE
	MOVQ mask+0(FP), DI
	MOVQ s+8(FP), SI
	MOVQ width+16(FP), CX
	BCAST y+24(FP), Y0
	BCAST t+LET(FP), Y1
#include "lanesle_avx2.h"

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
