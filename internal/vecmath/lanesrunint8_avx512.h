// Body of lanesRunInt8, which goes through a run as lanesRunInt16 does (lanesrunint16_avx512.h says
// why the next example's sums are begun before the branch on updates); below is what differs.
//
// Of weights of 31 at most the sum of four fits a byte, of weights of 63 that of two. So four rows
// are added at a time, byte by byte; then lanes of even and of odd numbers are widened and added to
// sums of 16 bits: Z0 and Z1 of the first 64 lanes, Z2 and Z3 of the others, which stay 0 if there
// are none. The last one to four rows of an example are read under masks, which are all ones or
// empty: a branch on their number would often be guessed wrong. Z8-Z11 are the sums of this example,
// Z22 1 in each byte of even number, Z23 1 in each byte, Z24 27, 28 and 31 are bytes, too.
//
// DI ptr of the next example, SI w, R13 the table of masks, R10 the end of the example's rows, R11
// that of the next one's, then the sign of y, 0 or -1, R12 the non-zero counted up from -n to 0, or
// 1 before the first example, BX seen, R9 behind the label, of which the last byte has the sign, DX
// examples left behind the next, R15 counts; AX and R14 the words of who updates, CX the non-zero,
// then the even bits; K3 and K4 -n of the next and of this example, K5 sums relative to counts; in
// an update K0 and K7 the words of who updates, K6 the lanes of Z6, the next example's non-zeros,
// while the shared ones are counted in Z4; Z25 1 in 32 bits, Z26 in 16, Z27 peak, Z28 limit, Z29
// margin in 16 bits, Z30 the sign of y, Z31 margin flipped by it, then y: each in every lane. At the
// end AX is the peak and DX the examples left.

// WIDENBYTES adds the bytes of v to the sums of its lanes of even and of odd numbers.
#define WIDENBYTES(v, even, odd) \
	VPMADDUBSW v, Z22, Z6; \
	VPSRAW     $8, v, v; \
	VPADDW     Z6, even, even; \
	VPADDW     v, odd, odd
#define WIDEN64  WIDENBYTES(Z4, Z0, Z1)
#define WIDEN128 WIDEN64; WIDENBYTES(Z5, Z2, Z3)

// ROWAT is the row of the non-zero at CX + i, LASTAT the same or, behind the last one, that of CX.
#define ROWAT(i, shift) \
	MOVLQSX (4*i)(R11)(CX*4), R8; \
	SHLQ    $shift, R8
#define LASTAT(i, shift) \
	LEAQ     i(CX), R8; \
	TESTQ    R8, R8; \
	CMOVQPL  CX, R8; \
	MOVLQSX  (R11)(R8*4), R8; \
	SHLQ     $shift, R8
#define TAKE64         VMOVDQU64 (SI)(R8*1), Z4
#define TAKE128        TAKE64; VMOVDQU64 64(SI)(R8*1), Z5
#define TAKEMASKED64(k)  VMOVDQU8.Z (SI)(R8*1), k, Z4
#define TAKEMASKED128(k) TAKEMASKED64(k); VMOVDQU8.Z 64(SI)(R8*1), k, Z5
#define ADD64          VPADDB (SI)(R8*1), Z4, Z4
#define ADD128         ADD64; VPADDB 64(SI)(R8*1), Z5, Z5
#define ADDMASKED64(k)  VPADDB (SI)(R8*1), Z4, k, Z4
#define ADDMASKED128(k) ADDMASKED64(k); VPADDB 64(SI)(R8*1), Z5, k, Z5

// FOURROWS is one width's loop. BETWEEN and BETWEENMASKED take the third row.
#define FOURROWS(loop, tail, shift, TAKEROW, ADDROW, ADDMASKED, BETWEEN, BETWEENMASKED, WIDEN) \
	CMPQ CX, $-4; \
	JGE  tail; \
loop: \
	ROWAT(0, shift); \
	TAKEROW; \
	ROWAT(1, shift); \
	ADDROW; \
	ROWAT(2, shift); \
	BETWEEN; \
	ROWAT(3, shift); \
	ADDROW; \
	WIDEN; \
	ADDQ $4, CX; \
	CMPQ CX, $-4; \
	JLT  loop; \
tail: \
	KMOVQ 8(R13)(CX*8), K1; \
	KMOVQ 16(R13)(CX*8), K2; \
	KMOVQ 24(R13)(CX*8), K6; \
	ROWAT(0, shift); \
	TAKEROW; \
	LASTAT(1, shift); \
	ADDMASKED(K1); \
	LASTAT(2, shift); \
	BETWEENMASKED(K2); \
	LASTAT(3, shift); \
	ADDMASKED(K6); \
	WIDEN; \
	JMP  summed

#define TWO64         WIDEN64; TAKE64
#define TWO128        WIDEN128; TAKE128
#define TWOMASKED64(k)  WIDEN64; TAKEMASKED64(k)
#define TWOMASKED128(k) WIDEN128; TAKEMASKED128(k)

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

// BELOW puts those lanes of a word whose sums are at most the margin into dst. CX has the even bits.
#define BELOW(even, odd, dst) \
	VPCMPW $2, Z31, even, K1; \
	VPCMPW $2, Z31, odd, K2; \
	KMOVD  K1, dst; \
	KMOVD  K2, R8; \
	PDEPQ  CX, dst, dst; \
	PDEPQ  CX, R8, R8; \
	ADDQ   R8, R8; \
	ORQ    R8, dst; \
	XORQ   R11, dst

// SHARED adds Z4 to the sums of those lanes of a word that update.
#define SHARED(k, even, odd) \
	KMOVQ  k, R8; \
	PEXTQ  CX, R8, R11; \
	KMOVD  R11, K1; \
	VPADDW Z4, even, K1, even; \
	SHRQ   $1, R8; \
	PEXTQ  CX, R8, R11; \
	KMOVD  R11, K1; \
	VPADDW Z4, odd, K1, odd

	LEAQ         int8Tails<>+32(SB), R13
	MOVL         $0x10001, R8
	VPBROADCASTD R8, Z26
	VPBROADCASTW R8, Z22
	MOVL         $0x01010101, R8
	VPBROADCASTD R8, Z23
	MOVL         $1, R8
	VPBROADCASTD R8, Z25
	ZERO4
	XORL         AX, AX
	XORL         R14, R14
	MOVL         $1, R12
	JMP          ahead

example:
	MOVBQSX      -1(R9), R11
	SARQ         $63, R11
	MOVQ         $0x5555555555555555, CX
	VPBROADCASTQ R11, Z30
	VPXORQ       Z29, Z30, Z31
	XORL         R14, R14
	VPADDW       Z9, Z8, Z4
	CMPWIDTH($64)
	JEQ          low
	BELOW(Z10, Z11, R14)
	ANDQ         8(BX), R14
	VPADDW       Z11, Z10, Z5
	VPADDW       Z5, Z4, Z4

low:
	BELOW(Z8, Z9, AX)
	ANDQ     (BX), AX
	VPMADDWD Z26, Z4, Z4
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
	ZERO4
	TESTQ CX, CX
	JEQ   summed
	CMPLIMIT($31)
	JGT   two
	CMPWIDTH($64)
	JNE   wide

	FOURROWS(four64, tail64, 6, TAKE64, ADD64, ADDMASKED64, ADD64, ADDMASKED64, WIDEN64)

wide:
	FOURROWS(four128, tail128, 7, TAKE128, ADD128, ADDMASKED128, ADD128, ADDMASKED128, WIDEN128)

two:
	CMPWIDTH($64)
	JNE two128

	FOURROWS(twice64, rest64, 6, TAKE64, ADD64, ADDMASKED64, TWO64, TWOMASKED64, WIDEN64)

two128:
	FOURROWS(twice128, rest128, 7, TAKE128, ADD128, ADDMASKED128, TWO128, TWOMASKED128, WIDEN128)

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
	VPORQ Z23, Z30, Z31

unit:
	// the first word of lanes as long as that has any, then the other
	XORL        R8, R8
	TESTQ       AX, AX
	CMOVQEQ     R14, AX
	CMOVQEQ     R8, R14
	SETEQ       R8
	SHLL        $6, R8
	ADDQ        R8, SI
	KMOVQ       AX, K1
	XORL        AX, AX
	VMOVDQU8.Z  Z31, K1, Z7

row:
	MOVLQSX       (R10)(R12*4), R8
	VPCMPEQD.BCST (R10)(R12*4), Z6, K6, K2
	VPADDD        Z25, Z4, K2, Z4
	MULWIDTH(R8)
	VPADDB        (SI)(R8*1), Z7, Z5
	VMOVDQU64     Z5, (SI)(R8*1)
	VPABSB        Z5, Z5
	VPMAXUB       Z5, Z27, Z27
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
	MOVQ          $0x5555555555555555, CX
	SHARED(K0, Z0, Z1)
	SHARED(K7, Z2, Z3)

more:
	TESTQ     R14, R14
	JNE       unit
	LOADTILE(SI)
	VPCMPUB   $6, Z28, Z27, K1 // beyond the limit
	KORTESTQ  K1, K1
	JNE       done
	KMOVQ     K3, CX
	CMPQ      CX, $-16
	JLT       sums

next:
	LOADSTRIDE(R8)
	LEAQ (BX)(R8*8), BX
	NEXTLABEL
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
	VPMAXUB       Y1, Y27, Y1
	VEXTRACTI128  $1, Y1, X2
	VPMAXUB       X2, X1, X1
	VPSRLW        $8, X1, X2
	VPMAXUB       X2, X1, X1 // the lower byte of each word is the larger one
	VPCMPEQD      X2, X2, X2 // the largest is the complement of the least complement
	VPXOR         X2, X1, X1
	VPSLLW        $8, X1, X1
	VPHMINPOSUW   X1, X1
	VMOVD         X1, AX
	NOTL          AX
	MOVBLZX       AH, AX
#undef WIDENBYTES
#undef WIDEN64
#undef WIDEN128
#undef ROWAT
#undef LASTAT
#undef TAKE64
#undef TAKE128
#undef TAKEMASKED64
#undef TAKEMASKED128
#undef ADD64
#undef ADD128
#undef ADDMASKED64
#undef ADDMASKED128
#undef FOURROWS
#undef TWO64
#undef TWO128
#undef TWOMASKED64
#undef TWOMASKED128
#undef REDUCE
#undef BELOW
#undef SHARED
