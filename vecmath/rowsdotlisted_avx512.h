// Body of rowsDotListed.
//
// Four rows at a time, then two, then one: row r of the four has its partial sums in Z(4r)-Z(4r+3).
//
// DI dst, BX rows left, R8 stride in bytes, R12 the list of rows, SI R9 R10 R11 the rows, DX x, R13
// behind the first section's steps, CX -4 times the steps left, AX where a line begins; Z16-Z19
// lines of x, K5 the lanes that hold results. LOADSTEPS loads -4 n, FROM adds the address of row 0.
#include "rowsat_avx512.h"
#define LINE4(section, v, a, b, c, d) \
	MOVLQSX section(R13)(CX*1), AX; \
	MOVU    (DX)(AX*1), v; \
	FMA     (SI)(AX*1), v, a; \
	FMA     (R9)(AX*1), v, b; \
	FMA     (R10)(AX*1), v, c; \
	FMA     (R11)(AX*1), v, d
#define LINE2(section, v, a, b) \
	MOVLQSX section(R13)(CX*1), AX; \
	MOVU    (DX)(AX*1), v; \
	FMA     (SI)(AX*1), v, a; \
	FMA     (R9)(AX*1), v, b
#define LINE1(section, v, a) \
	MOVLQSX section(R13)(CX*1), AX; \
	MOVU    (DX)(AX*1), v; \
	FMA     (SI)(AX*1), v, a
	MOVL  $RESULTS, AX
	KMOVW AX, K5
	LOADSTEPS(CX)
	SUBQ  CX, R13

four:
	SUBQ $4, BX
	JLT  rest
	ROW(SI)
	ROW(R9)
	ROW(R10)
	ROW(R11)
	LOADSTEPS(CX)
	ZERO16
	TESTQ CX, CX
	JEQ   reduce4

loop4:
	LINE4(0, Z16, Z0, Z4, Z8, Z12)
	LINE4(64, Z17, Z1, Z5, Z9, Z13)
	LINE4(128, Z18, Z2, Z6, Z10, Z14)
	LINE4(192, Z19, Z3, Z7, Z11, Z15)
	ADDQ $4, CX
	JLT  loop4

reduce4:
	HALVE2(Z0, Z1, Z2, Z3)
	HALVE2(Z4, Z5, Z6, Z7)
	HALVE2(Z8, Z9, Z10, Z11)
	HALVE2(Z12, Z13, Z14, Z15)
	FOLD
	MOVU FOUR, (DI)
	ADDQ $(4*ESIZE), DI
	JMP  four

rest:
	ADDQ $2, BX
	JLT  one
	ROW(SI)
	ROW(R9)
	LOADSTEPS(CX)
	ZERO8
	VPXORD Z8, Z8, Z8
	VPXORD Z12, Z12, Z12
	TESTQ  CX, CX
	JEQ    reduce2

loop2:
	LINE2(0, Z16, Z0, Z4)
	LINE2(64, Z17, Z1, Z5)
	LINE2(128, Z18, Z2, Z6)
	LINE2(192, Z19, Z3, Z7)
	ADDQ $4, CX
	JLT  loop2

reduce2:
	HALVE2(Z0, Z1, Z2, Z3)
	HALVE2(Z4, Z5, Z6, Z7)
	FOLD
	TWO
	ADDQ $(2*ESIZE), DI
	SUBQ $2, BX

one:
	ADDQ  $2, BX
	JEQ   done
	ROW(SI)
	LOADSTEPS(CX)
	ZERO4
	TESTQ CX, CX
	JEQ   reduce

loop:
	LINE1(0, Z16, Z0)
	LINE1(64, Z17, Z1)
	LINE1(128, Z18, Z2)
	LINE1(192, Z19, Z3)
	ADDQ $4, CX
	JLT  loop

reduce:
	HALVE
	MOVS X0, (DI)

done:
#undef ROW
#undef HALVE2
#undef FOLD
#undef LINE4
#undef LINE2
#undef LINE1
