// Body of lanesRun.
//
// The sums of up to 16 units of 64 bytes stay in registers over an example's non-zeros, are
// compared there, two units at a time, and become the bits of two words. Where there is an odd
// number of units one beyond them is compared, too, in which no member sees an example. It begins
// as zero: what was left there, such as whole numbers of draws, would as floats be subnormal and
// stay so, and to multiply those takes 50 ns each time. A unit with members that update is loaded
// and stored whole, merged in the register: a store under a mask could not be forwarded to the load
// of the next score.
//
// Whether an example updates any lane can not be predicted. A branch on that which has to wait for
// the sums costs as much as they do. So those of the next example are begun between comparisons and
// branch, with the weights as they are. After an update they are right for all lanes but those that
// updated, and of these only the ones that see the next example, too, matter: where a unit has any,
// its sums are made anew. That is rare where few lanes see an example; where more than MANY do, the
// update goes before the next sums.
//
// DI ptr, BX seen, R9 y and R15 counts of the next example, SI w, R13 width in bytes, R10 and R11
// the end of its rows and val, or of this one's where the next one has no sums yet and DX is 0;
// else -DX is the number of its non-zeros, which are behind this one's, R12 the non-zero counted
// up to DX; AX and R14 the words of who updates, CX the non-zero, then the unit within row 0 of w; K5
// the end of counts, K6 w, K7 stride in words; Z0-Z15 sums, Z16 those made anew, Z27 coefficient,
// Z28 step, Z29 margin, Z30 y, Z31 the value, each in every lane.
#define MANY 12
#define RUNTILE(tile, loop, ZERO, MADD) \
tile: \
	ZERO; \
	MOVQ  DX, CX; \
	TESTQ DX, DX; \
	JEQ   summed; \
loop: \
	MOVLQSX (R10)(CX*4), R8; \
	IMULQ   R13, R8; \
	ADDQ    SI, R8; \
	BCAST   (R11)(CX*ESIZE), Z31; \
	MADD; \
	INCQ    CX; \
	JNE     loop; \
	JMP     summed

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
	LEAQ  (R15)(DX*4), R8
	KMOVQ R8, K5
	KMOVQ SI, K6
	XORL  AX, AX
	XORL  R14, R14
	ZERO16

ahead:
	KMOVQ   K5, R8
	CMPQ    R15, R8
	JEQ     last
	MOVQ    8(DI), DX
	SUBQ    (DI), DX
	POPCNTQ (BX), CX
	CMPQ    R13, $(64*ESIZE)
	JLE     sees
	POPCNTQ 8(BX), R8
	ADDQ    R8, CX

sees:
	CMPQ  CX, $MANY
	JGT   many

sums:
	LEAQ  (R10)(DX*4), R10
	LEAQ  (R11)(DX*ESIZE), R11
	NEGQ  DX
	TESTQ CX, CX
	JEQ   unseen
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

many:
	MOVQ AX, R8
	ORQ  R14, R8
	JEQ  sums
	XORL DX, DX
	JMP  unit

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

	RUNTILE(tile16, loop16, ZERO16, FMA16)
	RUNTILE(tile15, loop15, ZERO15, FMA15)
	RUNTILE(tile14, loop14, ZERO14, FMA14)
	RUNTILE(tile13, loop13, ZERO13, FMA13)
	RUNTILE(tile12, loop12, ZERO12, FMA12)
	RUNTILE(tile11, loop11, ZERO11, FMA11)
	RUNTILE(tile10, loop10, ZERO10, FMA10)
	RUNTILE(tile9, loop9, ZERO9, FMA9)
	RUNTILE(tile8, loop8, ZERO8, FMA8)
	RUNTILE(tile7, loop7, ZERO7, FMA7)
	RUNTILE(tile6, loop6, ZERO6, FMA6)
	RUNTILE(tile5, loop5, ZERO5, FMA5)
	RUNTILE(tile4, loop4, ZERO4, FMA4)
	RUNTILE(tile3, loop3, ZERO3, FMA3)
	RUNTILE(tile2, loop2, ZERO2, FMA2)
	RUNTILE(tile1, loop1, ZERO1, FMA1)

unseen:
	MOVQ AX, R8
	ORQ  R14, R8
	JNE  unit
	MOVL R8, (R15)
	JMP  step

last:
	XORL DX, DX
	MOVQ AX, R8
	ORQ  R14, R8
	JNE  unit
	JMP  done

summed:
	MOVQ AX, R8
	ORQ  R14, R8
	JEQ  updated

unit:
	LEAQ (R10)(DX*4), R10
	LEAQ (R11)(DX*ESIZE), R11
	NEGQ DX

more:
	// in the lower word as long as that has any, then in the other
	XORL    R8, R8
	TESTQ   AX, AX
	CMOVQEQ R14, AX
	CMOVQEQ R8, R14
	SETEQ   R8
	SHLL    $(6+SHIFT), R8
	ADDQ    R8, SI
	TZCNTQ  AX, CX
	ANDL    $~(LANES-1), CX
	SHRXQ   CX, AX, R8
	KMOVW   R8, K1
	MOVL    $((1<<LANES)-1), R8
	SHLXQ   CX, R8, R8
	ANDNQ   AX, R8, AX
	LEAQ    (SI)(CX*ESIZE), CX

row:
	MOVLQSX  (R10)(R12*4), R8
	IMULQ    R13, R8
	MOVU     (CX)(R8*1), Z17
	FMA.BCST (R11)(R12*ESIZE), Z27, K1, Z17
	MOVU     Z17, (CX)(R8*1)
	INCQ     R12
	JNE      row
	TESTQ    DX, DX
	JEQ      right
	KMOVQ    K6, R8
	NEGQ     R8
	ADDQ     CX, R8
	SHRQ     $SHIFT, R8
	MOVQ     R8, R12
	SHRQ     $6, R12
	SHRXQ    R8, (BX)(R12*8), R12
	KMOVUNIT R12, K2
	KANDW    K1, K2, K2
	KORTESTW K2, K2
	JEQ      right
	VPXORD   Z16, Z16, Z16
	XORL     R12, R12

anew:
	MOVLQSX (R10)(R12*4), R8
	IMULQ   R13, R8
	BCAST   (R11)(R12*ESIZE), Z31
	FMA     (CX)(R8*1), Z31, Z16
	INCQ    R12
	CMPQ    R12, DX
	JNE     anew
	KMOVQ   K6, R8
	SUBQ    R8, CX
	SHRQ    $SHIFT, CX
	KMOVW   K2, R8
	SHLXQ   CX, R8, R8
	KMOVQ   R8, K1
	CMPQ    CX, $64
	JGE     high
	TAKELOW
	JMP     right

high:
	TAKEHIGH

right:
	MOVQ  -8(DI), R12
	SUBQ  (DI), R12
	MOVQ  AX, R8
	ORQ   R14, R8
	JNE   more
	KMOVQ K6, SI
	LEAQ  (R10)(DX*4), R10
	LEAQ  (R11)(DX*ESIZE), R11
	NEGQ  DX
	JEQ   ahead // there are no sums of the next example yet, or none are needed

updated:
	// The next example becomes this one.
	XORL  AX, AX
	XORL  R14, R14
	BCAST (R9), Z30
	MUL   Z30, Z28, Z27
	CMPQ  R13, $(8*64)
	JGT   compareWide
	CMPQ  R13, $(4*64)
	JGT   compare8
	JMP   compare4

compareWide:
	CMPQ R13, $(12*64)
	JLE  compare12
	COMPARETWO(Z14, Z15)
	COMPARETWO(Z12, Z13)

compare12:
	COMPARETWO(Z10, Z11)
	COMPARETWO(Z8, Z9)
	SECONDWORD64

compare8:
	COMPARETWO(Z6, Z7)
	COMPARETWO(Z4, Z5)
	SECONDWORD32

compare4:
	COMPARETWO(Z2, Z3)
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
	TESTQ   DX, DX
	CMOVQEQ DX, AX
	CMOVQEQ DX, R14

step:
	MOVQ  DX, R12
	ADDQ  $8, DI
	ADDQ  $ESIZE, R9
	ADDQ  $4, R15
	KMOVQ K7, R8
	LEAQ  (BX)(R8*8), BX
	JMP   ahead

done:
#undef MANY
#undef RUNTILE
#undef COMPARETWO
