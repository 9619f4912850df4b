// Body of lanesRunInt16, as that of AVX-512: a unit of 32 lanes is two vectors, the sums of up
// to 4 units stay in Y0-Y7 over an example's non-zeros, and what the width has not stays 0, as
// do those beyond the lanes in use: CMPLANES compares with their number. Of
// integers y s <= margin is no s > margin where y is 1, and where it is -1 it is s > -margin-1,
// the complement of margin: so the bits of margin, and those of the comparisons, are flipped by
// those of y's sign.
//
// DI ptr of the example, SI w, R13 width in bytes, R10 the end of its rows, R12 the non-zero
// counted up from -n to 0, BX seen, R9 y, DX examples left, R15 counts, R11 the sign of y, 0 or
// -1; AX and R14 the words of who updates, CX the non-zero, then the unit within row 0 of w; Y8,
// Y9 what an update adds, Y10 the sign of y, Y11 margin, Y12 margin flipped by it, then y, Y13
// peak, Y14 limit, Y15 the bit of each lane: each in every lane. LOADSIGN loads the sign of y to
// bit 63 of R11, LOADW and LOADSTRIDE those arguments to SI and R8, LOADSUMS sums relative to
// counts to R8. At the end AX
// is the peak and DX the examples left.
#define HALF1 VPADDW 0(R8), Y0, Y0
#define SUMS1 HALF1; VPADDW 32(R8), Y1, Y1
#define HALF2 SUMS1; VPADDW 64(R8), Y2, Y2
#define SUMS2 HALF2; VPADDW 96(R8), Y3, Y3
#define HALF3 SUMS2; VPADDW 128(R8), Y4, Y4
#define SUMS3 HALF3; VPADDW 160(R8), Y5, Y5
#define HALF4 SUMS3; VPADDW 192(R8), Y6, Y6
#define SUMS4 HALF4; VPADDW 224(R8), Y7, Y7
#define CLEAR1 VPXOR Y0, Y0, Y0; VPXOR Y1, Y1, Y1
#define CLEAR2 CLEAR1; VPXOR Y2, Y2, Y2; VPXOR Y3, Y3, Y3
#define CLEAR3 CLEAR2; VPXOR Y4, Y4, Y4; VPXOR Y5, Y5, Y5
#define CLEAR4 CLEAR3; VPXOR Y6, Y6, Y6; VPXOR Y7, Y7, Y7
#define RUNTILE(tile, loop, CLEAR, SUMS) \
tile: \
	CLEAR; \
	MOVQ  R12, CX; \
	TESTQ CX, CX; \
	JEQ   compare; \
loop: \
	MOVLQSX (R10)(CX*4), R8; \
	IMULQ   R13, R8; \
	ADDQ    SI, R8; \
	SUMS; \
	INCQ    CX; \
	JNE     loop; \
	JMP     compare

// ABOVE makes bits of the 32 lanes in lo and hi whose sum is above Y12. Packing interleaves halves.
#define ABOVE(lo, hi, bits) \
	VPCMPGTW  Y12, lo, Y8; \
	VPCMPGTW  Y12, hi, Y9; \
	VPACKSSWB Y9, Y8, Y8; \
	VPERMQ    $0xD8, Y8, Y8; \
	VPMOVMSKB Y8, bits

// SUMTWO makes 8 sums in int32 of the 32 lanes in lo and hi.
#define SUMTWO(lo, hi) \
	VPMADDWD Y9, lo, lo; \
	VPMADDWD Y9, hi, hi; \
	VPADDD   hi, lo, lo

// STEP makes, of the lowest bits of R8 in x, what an update adds to 16 lanes.
#define STEP(x, y) \
	VMOVD        R8, x; \
	VPBROADCASTW x, y; \
	VPAND        Y15, y, y; \
	VPCMPEQW     Y15, y, y; \
	VPAND        Y12, y, y

	SHLQ $1, R13
	CLEAR4

example:
	MOVQ 8(DI), R12
	SUBQ (DI), R12
	LEAQ (R10)(R12*4), R10
	NEGQ R12
	LOADSIGN
	SARQ         $63, R11
	VMOVQ        R11, X10
	VPBROADCASTQ X10, Y10
	VPXOR        Y11, Y10, Y12
	CMPLANES($64)
	JLE          narrow
	CMPLANES($96)
	JGT          wide
	CMPLANES($80)
	JLE          half3

	RUNTILE(tile3, loop3, CLEAR3, SUMS3)
	RUNTILE(half3, loopHalf3, CLEAR3, HALF3)

wide:
	CMPLANES($112)
	JLE          half4

	RUNTILE(tile4, loop4, CLEAR4, SUMS4)
	RUNTILE(half4, loopHalf4, CLEAR4, HALF4)

narrow:
	CMPLANES($32)
	JLE          narrowest
	CMPLANES($48)
	JLE          half2

	RUNTILE(tile2, loop2, CLEAR2, SUMS2)
	RUNTILE(half2, loopHalf2, CLEAR2, HALF2)

narrowest:
	CMPLANES($16)
	JLE          half1

	RUNTILE(tile1, loop1, CLEAR1, SUMS1)
	RUNTILE(half1, loopHalf1, CLEAR1, HALF1)

compare:
	XORL R14, R14
	CMPQ R13, $128
	JLE  low
	ABOVE(Y4, Y5, R14)
	ABOVE(Y6, Y7, R8)
	SHLQ  $32, R8
	ORQ   R8, R14
	XORQ  R11, R14
	ANDNQ 8(BX), R14, R14

low:
	ABOVE(Y0, Y1, AX)
	ABOVE(Y2, Y3, R8)
	SHLQ     $32, R8
	ORQ      R8, AX
	XORQ     R11, AX
	ANDNQ    (BX), AX, AX
	VPCMPEQW Y9, Y9, Y9
	VPSRLW   $15, Y9, Y9 // 1
	SUMTWO(Y0, Y1)
	SUMTWO(Y2, Y3)
	SUMTWO(Y4, Y5)
	SUMTWO(Y6, Y7)
	VPADDD       Y2, Y0, Y0
	VPADDD       Y6, Y4, Y4
	VPADDD       Y4, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	LOADSUMS
	VMOVD        X0, (R15)(R8*1)
	POPCNTQ R14, CX
	POPCNTQ AX, R8
	ADDQ    CX, R8
	MOVL    R8, (R15)
	JEQ     next
	TESTQ   R12, R12
	JEQ     next
	VPOR    Y10, Y9, Y12
	TESTQ   AX, AX
	JEQ      second

unit:
	TZCNTQ AX, CX
	ANDL   $32, CX
	SHRXQ  CX, AX, R8
	STEP(X8, Y8)
	SHRL   $16, R8
	STEP(X9, Y9)
	MOVL   $0xFFFFFFFF, R8
	SHLXQ  CX, R8, R8
	ANDNQ  AX, R8, AX
	LEAQ   (SI)(CX*2), CX

row:
	MOVLQSX (R10)(R12*4), R8
	IMULQ   R13, R8
	VPADDW  (CX)(R8*1), Y8, Y0
	VPADDW  32(CX)(R8*1), Y9, Y1
	VMOVDQU Y0, (CX)(R8*1)
	VMOVDQU Y1, 32(CX)(R8*1)
	VPABSW  Y0, Y0
	VPABSW  Y1, Y1
	VPMAXUW Y0, Y1, Y0
	VPMAXUW Y0, Y13, Y13
	INCQ    R12
	JNE     row
	MOVQ    (DI), R12
	SUBQ    8(DI), R12
	TESTQ   AX, AX
	JNE     unit

second:
	MOVQ  R14, AX
	XORL  R14, R14
	ADDQ  $128, SI
	TESTQ AX, AX
	JNE   unit
	LOADW
	VPCMPGTW  Y14, Y13, Y0 // beyond the limit
	VPMOVMSKB Y0, R8
	TESTL     R8, R8
	JNE       beyond

next:
	LOADSTRIDE
	LEAQ (BX)(R8*8), BX
	ADDQ $8, DI
	ADDQ $SZ, R9
	ADDQ $4, R15
	DECQ DX
	JNE  example
	JMP  done

beyond:
	DECQ DX

done:
	VEXTRACTI128 $1, Y13, X1
	VPMAXUW      X1, X13, X1
	VPCMPEQD     X2, X2, X2 // the largest is the complement of the least complement
	VPXOR        X2, X1, X1
	VPHMINPOSUW  X1, X1
	VMOVD        X1, AX
	NOTL         AX
	MOVWLZX      AX, AX
#undef SUMS1
#undef SUMS2
#undef SUMS3
#undef SUMS4
#undef HALF1
#undef HALF2
#undef HALF3
#undef HALF4
#undef CLEAR1
#undef CLEAR2
#undef CLEAR3
#undef CLEAR4
#undef RUNTILE
#undef ABOVE
#undef SUMTWO
#undef STEP
