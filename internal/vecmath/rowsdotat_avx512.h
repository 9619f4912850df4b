// Body of rowsDotAt.
//
// Four rows at a time, then two, then one: row r of the four has its partial sums in Z(4r)-Z(4r+3).
// The last elements of x, less than BLOCK, stay in Z20-Z23.
//
// DI dst, BX rows left, R8 stride in bytes, R12 the list, SI R9 R10 R11 the rows, DX x, R13 x while
// it advances, CX elements left; Z16-Z19 elements of x, K1-K4 the tail, K5 the lanes that hold
// results. LOADN loads n, FROM adds the address of row 0.
#include "rowsat_avx512.h"
	MOVL   $RESULTS, AX
	KMOVW  AX, K5
	LOADN(CX)
	MOVQ   CX, R13
	ANDQ   $(BLOCK-1), CX
	JEQ    four
	SUBQ   CX, R13
	LEAQ   (DX)(R13*ESIZE), R13
	TAILMASKS
	MOVU.Z 0(R13), K1, Z20
	CMPQ   CX, $LANES
	JLE    four
	MOVU.Z 64(R13), K2, Z21
	CMPQ   CX, $(2*LANES)
	JLE    four
	MOVU.Z 128(R13), K3, Z22
	CMPQ   CX, $(3*LANES)
	JLE    four
	MOVU.Z 192(R13), K4, Z23

four:
	SUBQ $4, BX
	JLT  rest
	ROW(SI)
	ROW(R9)
	ROW(R10)
	ROW(R11)
	LOADN(CX)
	MOVQ DX, R13
	ZERO16
	SUBQ $BLOCK, CX
	JLT  tail4

loop4:
	MOVU 0(R13), Z16
	MOVU 64(R13), Z17
	MOVU 128(R13), Z18
	MOVU 192(R13), Z19
	FMA 0(SI), Z16, Z0
	FMA 64(SI), Z17, Z1
	FMA 128(SI), Z18, Z2
	FMA 192(SI), Z19, Z3
	FMA 0(R9), Z16, Z4
	FMA 64(R9), Z17, Z5
	FMA 128(R9), Z18, Z6
	FMA 192(R9), Z19, Z7
	FMA 0(R10), Z16, Z8
	FMA 64(R10), Z17, Z9
	FMA 128(R10), Z18, Z10
	FMA 192(R10), Z19, Z11
	FMA 0(R11), Z16, Z12
	FMA 64(R11), Z17, Z13
	FMA 128(R11), Z18, Z14
	FMA 192(R11), Z19, Z15
	ADDQ $(BLOCK*ESIZE), R13
	ADDQ $(BLOCK*ESIZE), SI
	ADDQ $(BLOCK*ESIZE), R9
	ADDQ $(BLOCK*ESIZE), R10
	ADDQ $(BLOCK*ESIZE), R11
	SUBQ $BLOCK, CX
	JGE  loop4

tail4:
	ADDQ $BLOCK, CX
	JEQ  reduce4
	FMA 0(SI), Z20, K1, Z0
	FMA 0(R9), Z20, K1, Z4
	FMA 0(R10), Z20, K1, Z8
	FMA 0(R11), Z20, K1, Z12
	CMPQ CX, $LANES
	JLE  reduce4
	FMA 64(SI), Z21, K2, Z1
	FMA 64(R9), Z21, K2, Z5
	FMA 64(R10), Z21, K2, Z9
	FMA 64(R11), Z21, K2, Z13
	CMPQ CX, $(2*LANES)
	JLE  reduce4
	FMA 128(SI), Z22, K3, Z2
	FMA 128(R9), Z22, K3, Z6
	FMA 128(R10), Z22, K3, Z10
	FMA 128(R11), Z22, K3, Z14
	CMPQ CX, $(3*LANES)
	JLE  reduce4
	FMA 192(SI), Z23, K4, Z3
	FMA 192(R9), Z23, K4, Z7
	FMA 192(R10), Z23, K4, Z11
	FMA 192(R11), Z23, K4, Z15

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
	LOADN(CX)
	MOVQ   DX, R13
	ZERO8
	VPXORD Z8, Z8, Z8
	VPXORD Z12, Z12, Z12
	SUBQ   $BLOCK, CX
	JLT    tail2

loop2:
	MOVU 0(R13), Z16
	MOVU 64(R13), Z17
	MOVU 128(R13), Z18
	MOVU 192(R13), Z19
	FMA 0(SI), Z16, Z0
	FMA 64(SI), Z17, Z1
	FMA 128(SI), Z18, Z2
	FMA 192(SI), Z19, Z3
	FMA 0(R9), Z16, Z4
	FMA 64(R9), Z17, Z5
	FMA 128(R9), Z18, Z6
	FMA 192(R9), Z19, Z7
	ADDQ $(BLOCK*ESIZE), R13
	ADDQ $(BLOCK*ESIZE), SI
	ADDQ $(BLOCK*ESIZE), R9
	SUBQ $BLOCK, CX
	JGE  loop2

tail2:
	ADDQ $BLOCK, CX
	JEQ  reduce2
	FMA 0(SI), Z20, K1, Z0
	FMA 0(R9), Z20, K1, Z4
	CMPQ CX, $LANES
	JLE  reduce2
	FMA 64(SI), Z21, K2, Z1
	FMA 64(R9), Z21, K2, Z5
	CMPQ CX, $(2*LANES)
	JLE  reduce2
	FMA 128(SI), Z22, K3, Z2
	FMA 128(R9), Z22, K3, Z6
	CMPQ CX, $(3*LANES)
	JLE  reduce2
	FMA 192(SI), Z23, K4, Z3
	FMA 192(R9), Z23, K4, Z7

reduce2:
	HALVE2(Z0, Z1, Z2, Z3)
	HALVE2(Z4, Z5, Z6, Z7)
	FOLD
	TWO
	ADDQ $(2*ESIZE), DI
	SUBQ $2, BX

one:
	ADDQ $2, BX
	JEQ  done
	ROW(SI)
	LOADN(CX)
	MOVQ DX, R13
	ZERO4
	SUBQ $BLOCK, CX
	JLT  tail

loop:
	MOVU 0(R13), Z16
	MOVU 64(R13), Z17
	MOVU 128(R13), Z18
	MOVU 192(R13), Z19
	FMA 0(SI), Z16, Z0
	FMA 64(SI), Z17, Z1
	FMA 128(SI), Z18, Z2
	FMA 192(SI), Z19, Z3
	ADDQ $(BLOCK*ESIZE), R13
	ADDQ $(BLOCK*ESIZE), SI
	SUBQ $BLOCK, CX
	JGE  loop

tail:
	ADDQ $BLOCK, CX
	JEQ  reduce
	FMA 0(SI), Z20, K1, Z0
	CMPQ CX, $LANES
	JLE  reduce
	FMA 64(SI), Z21, K2, Z1
	CMPQ CX, $(2*LANES)
	JLE  reduce
	FMA 128(SI), Z22, K3, Z2
	CMPQ CX, $(3*LANES)
	JLE  reduce
	FMA 192(SI), Z23, K4, Z3

reduce:
	HALVE
	MOVS X0, (DI)

done:
#undef ROW
#undef HALVE2
#undef FOLD
