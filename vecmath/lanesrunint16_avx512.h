// Body of lanesRunInt16.
//
// The sums of up to 4 units of 32 lanes stay in Z0-Z3 over an example's non-zeros, become the bits
// of two words, and are summed: two lanes at a time by products with 1, in int32. Units that the
// width has not stay 0. Of integers y s <= margin is s <= margin where y is 1, and where it is -1
// the opposite of s <= -margin-1, which is the complement of margin: so the bits of margin, and
// those of the comparisons, are flipped by those of y's sign.
//
// DI ptr of the example, SI w, R13 width in bytes, R10 the end of its rows, R12 the non-zero counted
// up from -n to 0, BX seen, R9 y, DX examples left, R15 counts, R11 the sign of y, 0 or -1; AX and
// R14 the words of who updates, CX the non-zero, then the unit within row 0 of w; K7 stride in
// words, K6 w, K5 sums relative to counts; Z0-Z3 sums, Z26 1, Z27 peak, Z28 limit, Z29 margin, Z30
// the sign of y, Z31 margin flipped by it, then y: each in every lane. At the end AX is the peak and
// DX the examples left.
#define SUMS1 VPADDW 0(R8), Z0, Z0
#define SUMS2 SUMS1; VPADDW 64(R8), Z1, Z1
#define SUMS3 SUMS2; VPADDW 128(R8), Z2, Z2
#define SUMS4 SUMS3; VPADDW 192(R8), Z3, Z3
#define RUNTILE(tile, loop, ZERO, SUMS) \
tile: \
	ZERO; \
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

	SHLQ         $1, R13
	KMOVQ        SI, K6
	MOVL         $0x10001, R8
	VPBROADCASTD R8, Z26
	ZERO4

example:
	MOVQ 8(DI), R12
	SUBQ (DI), R12
	LEAQ (R10)(R12*4), R10
	NEGQ R12
	LOADSIGN
	SARQ         $63, R11
	VPBROADCASTQ R11, Z30
	VPXORQ       Z29, Z30, Z31
	CMPQ         R13, $128
	JLT          tile1
	JEQ          tile2
	CMPQ         R13, $256
	JLT          tile3

	RUNTILE(tile4, loop4, ZERO4, SUMS4)
	RUNTILE(tile3, loop3, ZERO3, SUMS3)
	RUNTILE(tile2, loop2, ZERO2, SUMS2)
	RUNTILE(tile1, loop1, ZERO1, SUMS1)

compare:
	XORL     R14, R14
	CMPQ     R13, $128
	JLE      low
	VPCMPW   $2, Z31, Z2, K2 // LE
	VPCMPW   $2, Z31, Z3, K3
	KUNPCKDQ K2, K3, K2
	KMOVQ    K2, R14
	XORQ     R11, R14
	ANDQ     8(BX), R14

low:
	VPCMPW        $2, Z31, Z0, K2
	VPCMPW        $2, Z31, Z1, K3
	KUNPCKDQ      K2, K3, K2
	KMOVQ         K2, AX
	XORQ          R11, AX
	ANDQ          (BX), AX
	KMOVQ         K5, R8
	VPMADDWD      Z26, Z0, Z4
	VPMADDWD      Z26, Z1, Z5
	VPMADDWD      Z26, Z2, Z6
	VPMADDWD      Z26, Z3, Z7
	VPADDD        Z5, Z4, Z4
	VPADDD        Z7, Z6, Z6
	VPADDD        Z6, Z4, Z4
	VEXTRACTI64X4 $1, Z4, Y5
	VPADDD        Y5, Y4, Y4
	VEXTRACTI128  $1, Y4, X5
	VPADDD        X5, X4, X4
	VPSHUFD       $0x4E, X4, X5
	VPADDD        X5, X4, X4
	VPSHUFD       $0xB1, X4, X5
	VPADDD        X5, X4, X4
	VMOVD         X4, (R15)(R8*1)
	POPCNTQ  R14, CX
	POPCNTQ  AX, R8
	ADDQ     CX, R8
	MOVL     R8, (R15)
	JEQ      next
	TESTQ    R12, R12
	JEQ      next
	VPORQ    Z26, Z30, Z31
	TESTQ    AX, AX
	JEQ      second

unit:
	TZCNTQ      AX, CX
	ANDL        $32, CX
	SHRXQ       CX, AX, R8
	KMOVD       R8, K1
	MOVL        $0xFFFFFFFF, R8
	SHLXQ       CX, R8, R8
	ANDNQ       AX, R8, AX
	LEAQ        (SI)(CX*2), CX
	VMOVDQU16.Z Z31, K1, Z4

row:
	MOVLQSX   (R10)(R12*4), R8
	IMULQ     R13, R8
	VPADDW    (CX)(R8*1), Z4, Z5
	VMOVDQU64 Z5, (CX)(R8*1)
	VPABSW    Z5, Z5
	VPMAXUW   Z5, Z27, Z27
	INCQ      R12
	JNE       row
	MOVQ      (DI), R12
	SUBQ      8(DI), R12
	TESTQ     AX, AX
	JNE       unit

second:
	MOVQ     R14, AX
	XORL     R14, R14
	ADDQ     $128, SI
	TESTQ    AX, AX
	JNE      unit
	KMOVQ    K6, SI
	VPCMPUW  $6, Z28, Z27, K1 // beyond the limit
	KORTESTD K1, K1
	JNE      beyond

next:
	KMOVQ K7, R8
	LEAQ  (BX)(R8*8), BX
	ADDQ  $8, DI
	ADDQ  $ESIZE, R9
	ADDQ  $4, R15
	DECQ  DX
	JNE   example
	JMP   done

beyond:
	DECQ DX

done:
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
#undef RUNTILE
