// Body of lanesRun. Up to four units of 64 bytes are a group: its sums stay in Y0-Y7 over an
// example's non-zeros, are compared there, and its members that update do so, before the next
// group's: lanes don't mix. Where a group has fewer units the registers beyond hold anything: no
// member there sees an example. A vector with members that update is loaded and stored whole: a
// store under a mask could not be forwarded to the load of the next score.
//
// DI ptr of the example, SI w, both at the group's lanes, R13 width in bytes, R14 the bytes of a
// row before the group, R10 and R11 the ends of the example's rows and val, R12 the non-zero
// counted up from -n to 0, BX seen, R9 y, DX examples left, R15 counts; AX the group's members that
// see the example, then those that update, CX the non-zero, then the vector within row 0 of w; Y0-Y7
// sums, Y8 the value, Y9 ones where a lane updates, Y11 the bit of each lane, Y12 coefficient, Y13
// y, Y14 step, Y15 margin, each in every lane. LOADSTRIDE loads that argument to R8, and LOADSEEN
// as many bits as a group has lanes.
#define SUMS1 FMA 0(R8), Y8, Y0; FMA 32(R8), Y8, Y1
#define SUMS2 SUMS1; FMA 64(R8), Y8, Y2; FMA 96(R8), Y8, Y3
#define SUMS3 SUMS2; FMA 128(R8), Y8, Y4; FMA 160(R8), Y8, Y5
#define SUMS4 SUMS3; FMA 192(R8), Y8, Y6; FMA 224(R8), Y8, Y7
#define CLEAR1 VXORPS Y0, Y0, Y0; VXORPS Y1, Y1, Y1
#define CLEAR2 CLEAR1; VXORPS Y2, Y2, Y2; VXORPS Y3, Y3, Y3
#define CLEAR3 CLEAR2; VXORPS Y4, Y4, Y4; VXORPS Y5, Y5, Y5
#define CLEAR4 CLEAR3; VXORPS Y6, Y6, Y6; VXORPS Y7, Y7, Y7
#define RUNTILE(tile, loop, CLEAR, SUMS) \
tile: \
	CLEAR; \
	TESTQ CX, CX; \
	JEQ   compare; \
loop: \
	MOVLQSX (R10)(CX*4), R8; \
	IMULQ   R13, R8; \
	ADDQ    SI, R8; \
	BCAST   (R11)(CX*SZ), Y8; \
	SUMS; \
	INCQ    CX; \
	JNE     loop; \
	JMP     compare

// COMPARE puts the bits of two vectors' lanes with y s <= margin, which NaN never has, before those
// in R8.
#define COMPARE(low, high) \
	MUL    high, Y13, high; \
	MUL    low, Y13, low; \
	CMPLE  Y15, high, high; \
	CMPLE  Y15, low, low; \
	MOVMSK high, CX; \
	SHLQ   $LANES, R8; \
	ORQ    CX, R8; \
	MOVMSK low, CX; \
	SHLQ   $LANES, R8; \
	ORQ    CX, R8

	SHLQ  $LOGSZ, R13
	TESTQ DX, DX
	JEQ   done

example:
	MOVQ  8(DI), R12
	SUBQ  (DI), R12
	LEAQ  (R10)(R12*4), R10
	LEAQ  (R11)(R12*SZ), R11
	NEGQ  R12
	BCAST (R9), Y13
	MUL   Y13, Y14, Y12
	XORL  R14, R14
	MOVL  R14, (R15)

group:
	MOVQ  R14, CX
	SHRQ  $(LOGSZ+3), CX
	LOADSEEN (BX)(CX*1), AX
	TESTQ AX, AX
	JEQ   next
	MOVQ  R12, CX
	MOVQ  R13, R8
	SUBQ  R14, R8
	CMPQ  R8, $128
	JLT   tile1
	JEQ   tile2
	CMPQ  R8, $256
	JLT   tile3

	RUNTILE(tile4, loop4, CLEAR4, SUMS4)
	RUNTILE(tile3, loop3, CLEAR3, SUMS3)
	RUNTILE(tile2, loop2, CLEAR2, SUMS2)
	RUNTILE(tile1, loop1, CLEAR1, SUMS1)

compare:
	XORL R8, R8
	COMPARE(Y6, Y7)
	COMPARE(Y4, Y5)
	COMPARE(Y2, Y3)
	COMPARE(Y0, Y1)
	ANDQ    R8, AX
	JEQ     next
	POPCNTQ AX, CX
	ADDL    CX, (R15)
	TESTQ   R12, R12
	JEQ     next

vector:
	TZCNTQ AX, CX
	ANDL   $~(LANES-1), CX
	SHRXQ  CX, AX, R8
	VMOVQ  R8, X9
	BROADBITS X9, Y9
	VPAND  Y11, Y9, Y9
	EQBITS Y11, Y9, Y9
	MOVL   $((1<<LANES)-1), R8
	SHLXQ  CX, R8, R8
	ANDNQ  AX, R8, AX
	LEAQ   (SI)(CX*SZ), CX

row:
	MOVLQSX (R10)(R12*4), R8
	IMULQ   R13, R8
	BCAST   (R11)(R12*SZ), Y8
	MOVU    (CX)(R8*1), Y0
	VMOVAPS Y0, Y1
	FMA     Y12, Y8, Y1
	BLENDV  Y9, Y1, Y0, Y0
	MOVU    Y0, (CX)(R8*1)
	INCQ    R12
	JNE     row
	MOVQ    (DI), R12
	SUBQ    8(DI), R12
	TESTQ   AX, AX
	JNE     vector

next:
	ADDQ $256, SI
	ADDQ $256, R14
	CMPQ R14, R13
	JLT  group
	SUBQ R14, SI
	LOADSTRIDE
	LEAQ (BX)(R8*8), BX
	ADDQ $8, DI
	ADDQ $SZ, R9
	ADDQ $4, R15
	DECQ DX
	JNE  example

done:
#undef SUMS1
#undef SUMS2
#undef SUMS3
#undef SUMS4
#undef CLEAR1
#undef CLEAR2
#undef CLEAR3
#undef CLEAR4
#undef RUNTILE
#undef COMPARE
