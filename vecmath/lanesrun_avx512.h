// Body of lanesRun.
//
// The sums of up to 16 units of 64 bytes stay in registers over an example's non-zeros, are
// compared there, two units at a time, and become the bits of two words. Where there is an odd
// number of units the one beyond holds anything: no member there sees an example. A unit with
// members that update is loaded and stored whole, merged in the register: a store under a mask
// could not be forwarded to the load of the next score.
//
// DI ptr of the example, SI w, R13 width in bytes, R10 and R11 the ends of its rows and val, R12
// the non-zero counted up from -n to 0, BX seen, R9 y, DX examples left, R15 counts; AX and R14 the
// words of who updates, CX the non-zero, then the unit within row 0 of w; K7 stride in words, K6 w;
// Z0-Z15 sums, Z27 coefficient, Z28 step, Z29 margin, Z30 y, Z31 the value, each in every lane.
#define RUNTILE(tile, loop, ZERO, MADD, compare) \
tile: \
	ZERO; \
	MOVQ    R12, CX; \
	TESTQ   CX, CX; \
	JEQ     compare; \
loop: \
	MOVLQSX (R10)(CX*4), R8; \
	IMULQ   R13, R8; \
	ADDQ    SI, R8; \
	BCAST   (R11)(CX*ESIZE), Z31; \
	MADD; \
	INCQ    CX; \
	JNE     loop; \
	JMP     compare

	// LE_OQ: false for NaN
#define COMPARETWO(low, high) \
	MUL    low, Z30, low; \
	MUL    high, Z30, high; \
	CMP    $0x12, Z29, low, K2; \
	CMP    $0x12, Z29, high, K3; \
	KUNPCK K2, K3, K2; \
	KMOVD  K2, R8; \
	SHLQ   $(2*LANES), AX; \
	ORQ    R8, AX

	SHLQ  $SHIFT, R13
	KMOVQ SI, K6
	TESTQ DX, DX
	JEQ   done

example:
	MOVQ 8(DI), R12
	SUBQ (DI), R12
	LEAQ (R10)(R12*4), R10
	LEAQ (R11)(R12*ESIZE), R11
	NEGQ R12
	MOVQ (BX), AX
	CMPQ R13, $(64*ESIZE)
	JLE  sees
	ORQ  8(BX), AX

sees:
	XORL  R14, R14
	TESTQ AX, AX
	JEQ   none
	XORL  AX, AX
	BCAST (R9), Z30
	CMPQ  R13, $(8*64)
	JGT   wide
	JEQ   tile8
	CMPQ  R13, $(6*64)
	JGT   tile7
	JEQ   tile6
	CMPQ  R13, $(4*64)
	JGT   tile5
	JEQ   tile4
	CMPQ  R13, $(2*64)
	JGT   tile3
	JEQ   tile2
	JMP   tile1

wide:
	CMPQ R13, $(12*64)
	JGT  widest
	JEQ  tile12
	CMPQ R13, $(10*64)
	JGT  tile11
	JEQ  tile10
	JMP  tile9

widest:
	CMPQ R13, $(14*64)
	JLT  tile13
	JEQ  tile14
	CMPQ R13, $(16*64)
	JLT  tile15

	RUNTILE(tile16, loop16, ZERO16, FMA16, compare16)
	RUNTILE(tile15, loop15, ZERO15, FMA15, compare16)
	RUNTILE(tile14, loop14, ZERO14, FMA14, compare14)
	RUNTILE(tile13, loop13, ZERO13, FMA13, compare14)
	RUNTILE(tile12, loop12, ZERO12, FMA12, compare12)
	RUNTILE(tile11, loop11, ZERO11, FMA11, compare12)
	RUNTILE(tile10, loop10, ZERO10, FMA10, compare10)
	RUNTILE(tile9, loop9, ZERO9, FMA9, compare10)
	RUNTILE(tile8, loop8, ZERO8, FMA8, compare8)
	RUNTILE(tile7, loop7, ZERO7, FMA7, compare8)
	RUNTILE(tile6, loop6, ZERO6, FMA6, compare6)
	RUNTILE(tile5, loop5, ZERO5, FMA5, compare6)
	RUNTILE(tile4, loop4, ZERO4, FMA4, compare4)
	RUNTILE(tile3, loop3, ZERO3, FMA3, compare4)
	RUNTILE(tile2, loop2, ZERO2, FMA2, compare2)
	RUNTILE(tile1, loop1, ZERO1, FMA1, compare2)

compare16:
	COMPARETWO(Z14, Z15)

compare14:
	COMPARETWO(Z12, Z13)

compare12:
	COMPARETWO(Z10, Z11)

compare10:
	COMPARETWO(Z8, Z9)
	SECONDWORD64

compare8:
	COMPARETWO(Z6, Z7)

compare6:
	COMPARETWO(Z4, Z5)
	SECONDWORD32

compare4:
	COMPARETWO(Z2, Z3)

compare2:
	COMPARETWO(Z0, Z1)
	CMPQ R13, $(64*ESIZE)
	JLE  count
	ANDQ 8(BX), R14

count:
	ANDQ    (BX), AX
	POPCNTQ R14, CX
	POPCNTQ AX, R8
	ADDQ    CX, R8
	MOVL    R8, (R15)
	JEQ     next
	TESTQ   R12, R12
	JEQ     next
	MUL     Z30, Z28, Z27
	TESTQ   AX, AX
	JEQ     second

unit:
	TZCNTQ AX, CX
	ANDL   $~(LANES-1), CX
	SHRXQ  CX, AX, R8
	KMOVW  R8, K1
	MOVL   $((1<<LANES)-1), R8
	SHLXQ  CX, R8, R8
	ANDNQ  AX, R8, AX
	LEAQ   (SI)(CX*ESIZE), CX

row:
	MOVLQSX  (R10)(R12*4), R8
	IMULQ    R13, R8
	MOVU     (CX)(R8*1), Z1
	FMA.BCST (R11)(R12*ESIZE), Z27, K1, Z1
	MOVU     Z1, (CX)(R8*1)
	INCQ     R12
	JNE      row
	MOVQ     (DI), R12
	SUBQ     8(DI), R12
	TESTQ    AX, AX
	JNE      unit

second:
	MOVQ  R14, AX
	XORL  R14, R14
	ADDQ  $(64*ESIZE), SI
	TESTQ AX, AX
	JNE   unit
	KMOVQ K6, SI

next:
	KMOVQ K7, R8
	LEAQ  (BX)(R8*8), BX
	ADDQ  $8, DI
	ADDQ  $ESIZE, R9
	ADDQ  $4, R15
	DECQ  DX
	JNE   example
	JMP   done

none:
	MOVL R14, (R15)
	JMP  next

done:
#undef RUNTILE
#undef COMPARETWO
