// Body of lanesRunInt16.
//
// The sums of up to 4 units of 32 lanes stay in Z0-Z3 over an example's non-zeros. They become
// the bits of two words, and are summed: two lanes at a time by products with 1, in int32. Units
// that the width has not stay 0, as do those beyond the lanes in use: of the last unit half is
// added where that has them all. CMPLANES compares with their number. Of integers y s <= margin
// is s <= margin where y is 1, and where it is -1 the opposite of s <= -margin-1, which is the
// complement of margin: so the bits of margin, and those of the comparisons, are flipped by
// those of y's sign.
//
// Whether an example updates any lane can not be predicted. A branch on that which has to wait
// for the sums costs more than the sums do. So those of the next example are begun between
// comparisons and branch, with the weights as they are, and what an update changes of them is
// added: y times the number of non-zeros that the two examples share, for the lanes that update.
// They are counted beside the update of the first unit, which waits for its stores, and only if the
// next example's non-zeros fit a vector; else the update goes before its sums.
//
// DI ptr of the next example, SI w, R13 width in bytes, R10 the end of the example's rows, R11
// that of the next one's, then the sign of y, 0 or -1, R12 the non-zero counted up from -n to 0,
// or 1 before the first example, BX seen, R9 y, DX examples left behind the next, R15 counts; AX
// and R14 the words of who updates, CX the non-zero, then the unit within row 0 of w; K3 and K4
// -n of the next and of this example, K5 sums relative to counts; in an update K0 and K7 the words
// of who updates, K6 the lanes of Z6, the next example's non-zeros, while the shared ones are
// counted in Z4; Z0-Z3 sums of the next example, Z8-Z11 of this, Z25 1 in 32 bits, Z26 1, Z27 peak,
// Z28 limit, Z29 margin, Z30 the sign of y, Z31 margin flipped by it, then y: each in every lane.
// At the end AX is the peak and DX the examples left.
#define HALF1 VPADDW 0(R8), Y0, Y0
#define SUMS1 VPADDW 0(R8), Z0, Z0
#define HALF2 SUMS1; VPADDW 64(R8), Y1, Y1
#define SUMS2 SUMS1; VPADDW 64(R8), Z1, Z1
#define HALF3 SUMS2; VPADDW 128(R8), Y2, Y2
#define SUMS3 SUMS2; VPADDW 128(R8), Z2, Z2
#define HALF4 SUMS3; VPADDW 192(R8), Y3, Y3
#define SUMS4 SUMS3; VPADDW 192(R8), Z3, Z3
#define RUNTILE(tile, loop, ZERO, SUMS) \
tile: \
	ZERO; \
	TESTQ CX, CX; \
	JEQ   summed; \
loop: \
	MOVLQSX (R11)(CX*4), R8; \
	IMULQ   R13, R8; \
	ADDQ    SI, R8; \
	SUMS; \
	INCQ    CX; \
	JNE     loop; \
	JMP     summed

// REDUCE adds up the 16 elements of 32 bits of Z4, to X4.
#define REDUCE \
	VEXTRACTI64X4 $1, Z4, Y5; \
	VPADDD        Y5, Y4, Y4; \
	VEXTRACTI128  $1, Y4, X5; \
	VPADDD        X5, X4, X4; \
	VPSHUFD       $0x4E, X4, X5; \
	VPADDD        X5, X4, X4; \
	VPSHUFD       $0xB1, X4, X5; \
	VPADDD        X5, X4, X4

	SHLQ         $1, R13
	MOVL         $0x10001, R8
	VPBROADCASTD R8, Z26
	MOVL         $1, R8
	VPBROADCASTD R8, Z25
	ZERO4
	XORL         AX, AX
	XORL         R14, R14
	MOVL         $1, R12
	JMP          ahead

example:
	LOADSIGN
	SARQ         $63, R11
	VPBROADCASTQ R11, Z30
	VPXORQ       Z29, Z30, Z31
	XORL         R14, R14
	CMPQ         R13, $128
	JLE          low
	VPCMPW       $2, Z31, Z10, K1 // LE
	VPCMPW       $2, Z31, Z11, K2
	KUNPCKDQ     K1, K2, K1
	KMOVQ        K1, R14
	XORQ         R11, R14
	ANDQ         8(BX), R14

low:
	VPCMPW   $2, Z31, Z8, K1
	VPCMPW   $2, Z31, Z9, K2
	KUNPCKDQ K1, K2, K1
	KMOVQ    K1, AX
	XORQ     R11, AX
	ANDQ     (BX), AX
	VPMADDWD Z26, Z8, Z4
	VPMADDWD Z26, Z9, Z5
	VPMADDWD Z26, Z10, Z6
	VPMADDWD Z26, Z11, Z7
	VPADDD   Z5, Z4, Z4
	VPADDD   Z7, Z6, Z6
	VPADDD   Z6, Z4, Z4
	REDUCE
	KMOVQ    K5, R8
	VMOVD    X4, (R15)(R8*1)
	POPCNTQ  R14, CX
	POPCNTQ  AX, R8
	ADDQ     CX, R8
	MOVL     R8, (R15)

ahead:
	SUBQ  $1, DX
	JLT   last
	MOVQ  8(DI), CX
	SUBQ  (DI), CX
	ADDQ  $8, DI
	LEAQ  (R10)(CX*4), R11
	NEGQ  CX
	KMOVQ CX, K3
	CMPQ  CX, $-16
	JLT   long

sums:
	CMPLANES($64)
	JLE  narrow
	CMPLANES($96)
	JGT  wide
	CMPLANES($80)
	JLE  half3

	RUNTILE(tile3, loop3, ZERO3, SUMS3)
	RUNTILE(half3, loopHalf3, ZERO3, HALF3)

wide:
	CMPLANES($112)
	JLE  half4

	RUNTILE(tile4, loop4, ZERO4, SUMS4)
	RUNTILE(half4, loopHalf4, ZERO4, HALF4)

narrow:
	CMPLANES($32)
	JLE  narrowest
	CMPLANES($48)
	JLE  half2

	RUNTILE(tile2, loop2, ZERO2, SUMS2)
	RUNTILE(half2, loopHalf2, ZERO2, HALF2)

narrowest:
	CMPLANES($16)
	JLE  half1

	RUNTILE(tile1, loop1, ZERO1, SUMS1)
	RUNTILE(half1, loopHalf1, ZERO1, HALF1)

last:
	KXORQ K3, K3, K3

summed:
	TESTQ R12, R12
	JGT   step // there was none before
	MOVQ  AX, R8
	ORQ   R14, R8
	JEQ   next
	TESTQ R12, R12
	JEQ   next

	KMOVQ       AX, K0
	KMOVQ       R14, K7
	KMOVQ       K3, R8
	NEGQ        R8
	MOVL        $-1, CX
	BZHIL       R8, CX, CX
	KMOVW       CX, K6
	VMOVDQU32.Z (R10), K6, Z6
	VPXORQ      Z4, Z4, Z4

update:
	VPORQ Z26, Z30, Z31

unit:
	// in the lower word as long as that has any, then in the other
	XORL        R8, R8
	TESTQ       AX, AX
	CMOVQEQ     R14, AX
	CMOVQEQ     R8, R14
	SETEQ       R8
	SHLL        $7, R8
	ADDQ        R8, SI
	TZCNTQ      AX, CX
	ANDL        $32, CX
	SHRXQ       CX, AX, R8
	KMOVD       R8, K1
	MOVL        $0xFFFFFFFF, R8
	SHLXQ       CX, R8, R8
	ANDNQ       AX, R8, AX
	LEAQ        (SI)(CX*2), CX
	VMOVDQU16.Z Z31, K1, Z7

row:
	MOVLQSX       (R10)(R12*4), R8
	VPCMPEQD.BCST (R10)(R12*4), Z6, K6, K2
	VPADDD        Z25, Z4, K2, Z4
	IMULQ         R13, R8
	VPADDW        (CX)(R8*1), Z7, Z5
	VMOVDQU64     Z5, (CX)(R8*1)
	VPABSW        Z5, Z5
	VPMAXUW       Z5, Z27, Z27
	INCQ          R12
	JNE           row
	KMOVQ         K4, R12
	KORTESTW      K6, K6
	JEQ           more
	KXORW         K6, K6, K6
	REDUCE
	VPBROADCASTW  X4, Z4
	VPXORQ        Z30, Z4, Z4
	VPSUBW        Z30, Z4, Z4
	KMOVQ         K0, K1
	VPADDW        Z4, Z0, K1, Z0
	VPADDW        Z4, Z2, K7, Z2
	KSHIFTRQ      $32, K1, K1
	KSHIFTRQ      $32, K7, K2
	VPADDW        Z4, Z1, K1, Z1
	VPADDW        Z4, Z3, K2, Z3

more:
	MOVQ      AX, R8
	ORQ       R14, R8
	JNE       unit
	LOADTILE(SI)
	VPCMPUW   $6, Z28, Z27, K1 // beyond the limit
	KORTESTD  K1, K1
	JNE       done
	KMOVQ     K3, CX
	CMPQ      CX, $-16
	JLT       sums

next:
	LOADSTRIDE(R8)
	LEAQ (BX)(R8*8), BX
	ADDQ $ESIZE, R9
	ADDQ $4, R15

step:
	KMOVQ     K3, R12
	KMOVQ     R12, K4
	MOVQ      R12, R8
	NEGQ      R8
	LEAQ      (R10)(R8*4), R10
	VMOVDQA64 Z0, Z8
	VMOVDQA64 Z1, Z9
	VMOVDQA64 Z2, Z10
	VMOVDQA64 Z3, Z11
	TESTQ     DX, DX
	JGE       example
	JMP       done

long:
	TESTQ R12, R12
	JGE   sums
	MOVQ  AX, R8
	ORQ   R14, R8
	JEQ   sums
	KXORW K6, K6, K6
	JMP   update

done:
	INCQ          DX
	VEXTRACTI64X4 $1, Z27, Y1
	VPMAXUW       Y1, Y27, Y1
	VEXTRACTI128  $1, Y1, X2
	VPMAXUW       X2, X1, X1
	VPCMPEQD      X2, X2, X2 // the largest is the complement of the least complement
	VPXOR         X2, X1, X1
	VPHMINPOSUW   X1, X1
	VMOVD         X1, AX
	NOTL          AX
	MOVWLZX       AX, AX
#undef SUMS1
#undef SUMS2
#undef SUMS3
#undef SUMS4
#undef HALF1
#undef HALF2
#undef HALF3
#undef HALF4
#undef RUNTILE
#undef REDUCE
