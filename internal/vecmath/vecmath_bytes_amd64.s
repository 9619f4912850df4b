#include "textflag.h"

// Exact integer kernels; the contracts are in bytes.go. Bytes are widened to 16 bits, multiplied
// and added in pairs to 32 bits (VPMADDWD); four rows share each load of x. Two 255*255 fit an
// int32 with room to spare, and the caller sees to it that whole sums do.
//
//	DI dst   SI first of four rows   R8 rows left   R9 stride   DX x   CX n   AX offset
//	R10 3*stride   R11, R12, R13 the other rows   Y0-Y3 sums   Y4 x   Y5 products

// ADD16(row, sum): 16 bytes of one row.
#define ADD16(row, sum) \
	VPMOVZXBW (row)(AX*1), Y5; \
	VPMADDWD  Y4, Y5, Y5; \
	VPADDD    Y5, sum, sum

// ADD32(row, sum): 32 bytes.
#define ADD32(row, sum) \
	VPMOVZXBW (row)(AX*1), Z5; \
	VPMADDWD  Z4, Z5, Z5; \
	VPADDD    Z5, sum, sum

// AHEAD is how far ahead rows are fetched, in bytes. Rows lie one behind the other, but a CPU's own
// prefetching stops at the end of a page, which is every five rows of 784: on a Zen 3 with 60000 of
// them it took twice as long. From 2048 to 8192 there is no difference. A prefetch beyond the last
// row does nothing.
#define AHEAD 4096

#define FOUR \
	LEAQ  (SI)(R9*1), R11; \
	LEAQ  (SI)(R9*2), R12; \
	LEAQ  (SI)(R10*1), R13; \
	VPXOR Y0, Y0, Y0; \
	VPXOR Y1, Y1, Y1; \
	VPXOR Y2, Y2, Y2; \
	VPXOR Y3, Y3, Y3; \
	XORL  AX, AX

// STORE4: the sums of Y0-Y3 to dst.
#define STORE4 \
	VPHADDD      Y1, Y0, Y0; \
	VPHADDD      Y3, Y2, Y2; \
	VPHADDD      Y2, Y0, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD       X1, X0, X0; \
	VMOVDQU      X0, (DI); \
	ADDQ         $16, DI; \
	LEAQ         (SI)(R9*4), SI; \
	SUBQ         $4, R8

// STORE1: the sum of Y0 to dst.
#define STORE1 \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD       X1, X0, X0; \
	VPHADDD      X0, X0, X0; \
	VPHADDD      X0, X0, X0; \
	VMOVD        X0, (DI); \
	ADDQ         $4, DI; \
	ADDQ         R9, SI; \
	DECQ         R8

// func byteRowsDotAVX2(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int)
TEXT ·byteRowsDotAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ nrows+16(FP), R8
	MOVQ stride+24(FP), R9
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), CX
	LEAQ (R9)(R9*2), R10
	CMPQ R8, $4
	JLT  rest
four:
	FOUR
	CMPQ CX, $0
	JEQ  store4
inner4:
	PREFETCHT0 AHEAD(SI)(AX*4)
	VPMOVZXBW (DX)(AX*1), Y4
	ADD16(SI, Y0)
	ADD16(R11, Y1)
	ADD16(R12, Y2)
	ADD16(R13, Y3)
	ADDQ $16, AX
	CMPQ AX, CX
	JLT  inner4
store4:
	STORE4
	CMPQ R8, $4
	JGE  four
rest:
	TESTQ R8, R8
	JEQ   done
one:
	VPXOR Y0, Y0, Y0
	XORL  AX, AX
	CMPQ  CX, $0
	JEQ   store1
inner1:
	VPMOVZXBW (DX)(AX*1), Y4
	ADD16(SI, Y0)
	ADDQ $16, AX
	CMPQ AX, CX
	JLT  inner1
store1:
	STORE1
	JNE one
done:
	VZEROUPPER
	RET

// FOLD(z, y, t): the upper half of a sum onto the lower; t is scratch.
#define FOLD(z, y, t) \
	VEXTRACTI64X4 $1, z, t; \
	VPADDD        t, y, y

// func byteRowsDotAVX512(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int)
// An odd unit of 16 comes first, in Y registers.
TEXT ·byteRowsDotAVX512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ nrows+16(FP), R8
	MOVQ stride+24(FP), R9
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), CX
	LEAQ (R9)(R9*2), R10
	CMPQ R8, $4
	JLT  rest
four:
	FOUR
	TESTQ $16, CX
	JEQ   even4
	VPMOVZXBW (DX)(AX*1), Y4
	ADD16(SI, Y0)
	ADD16(R11, Y1)
	ADD16(R12, Y2)
	ADD16(R13, Y3)
	ADDQ $16, AX
even4:
	CMPQ AX, CX
	JGE  store4
inner4:
	PREFETCHT0 AHEAD(SI)(AX*4)
	PREFETCHT0 (AHEAD+64)(SI)(AX*4)
	VPMOVZXBW (DX)(AX*1), Z4
	ADD32(SI, Z0)
	ADD32(R11, Z1)
	ADD32(R12, Z2)
	ADD32(R13, Z3)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  inner4
	FOLD(Z0, Y0, Y5)
	FOLD(Z1, Y1, Y5)
	FOLD(Z2, Y2, Y5)
	FOLD(Z3, Y3, Y5)
store4:
	STORE4
	CMPQ R8, $4
	JGE  four
rest:
	TESTQ R8, R8
	JEQ   done
one:
	VPXOR Y0, Y0, Y0
	XORL  AX, AX
	TESTQ $16, CX
	JEQ   even1
	VPMOVZXBW (DX)(AX*1), Y4
	ADD16(SI, Y0)
	ADDQ $16, AX
even1:
	CMPQ AX, CX
	JGE  store1
inner1:
	VPMOVZXBW (DX)(AX*1), Z4
	ADD32(SI, Z0)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  inner1
	FOLD(Z0, Y0, Y5)
store1:
	STORE1
	JNE one
done:
	VZEROUPPER
	RET

// func byteRowsDotVNNI(dst *int32, rows *uint8, nrows, stride int, x *uint8, n int)
//
// VPDPBUSD multiplies unsigned by signed bytes and adds four products to a sum of 32 bits, modulo
// 2^32. A byte r of a row is taken as the signed r-128, which is r with its top bit flipped, and
// every sum begins at its part of 128 times the sum of x. The last bytes, 16, 32 or 48, are loaded
// under a mask; there x is 0.
//
//	Z6 128 in each byte   Z7 where sums begin   K1 mask of the last bytes   BX n less these

// ADD64(row, sum): 64 bytes of one row.
#define ADD64(row, sum) \
	VPXORD   (row)(AX*1), Z6, Z5; \
	VPDPBUSD Z5, Z4, sum

// ADDLAST(row, sum): the last bytes.
#define ADDLAST(row, sum) \
	VMOVDQU8.Z (row)(AX*1), K1, Z5; \
	VPXORD     Z6, Z5, Z5; \
	VPDPBUSD   Z5, Z4, sum

TEXT ·byteRowsDotVNNI(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ nrows+16(FP), R8
	MOVQ stride+24(FP), R9
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), CX
	LEAQ (R9)(R9*2), R10
	MOVL         $0x80808080, AX
	VPBROADCASTD AX, Z6
	MOVL         $0x01010101, AX
	VPBROADCASTD AX, Z8
	VPXORD       Z7, Z7, Z7
	MOVQ         CX, BX
	ANDQ         $-64, BX
	SUBQ         BX, CX
	MOVQ         $-1, AX
	BZHIQ        CX, AX, AX
	KMOVQ        AX, K1
	XORL         AX, AX
sum:
	CMPQ       AX, BX
	JGE        sumLast
	VMOVDQU64  (DX)(AX*1), Z4
	VPDPBUSD   Z8, Z4, Z7
	ADDQ       $64, AX
	JMP        sum
sumLast:
	VMOVDQU8.Z (DX)(AX*1), K1, Z4
	VPDPBUSD   Z8, Z4, Z7
	VPSLLD     $7, Z7, Z7
	CMPQ       R8, $4
	JLT        rest
four:
	LEAQ      (SI)(R9*1), R11
	LEAQ      (SI)(R9*2), R12
	LEAQ      (SI)(R10*1), R13
	VMOVDQA64 Z7, Z0
	VMOVDQA64 Z7, Z1
	VMOVDQA64 Z7, Z2
	VMOVDQA64 Z7, Z3
	XORL      AX, AX
	CMPQ      AX, BX
	JGE       last4
inner4:
	PREFETCHT0 AHEAD(SI)(AX*4)
	PREFETCHT0 (AHEAD+64)(SI)(AX*4)
	PREFETCHT0 (AHEAD+128)(SI)(AX*4)
	PREFETCHT0 (AHEAD+192)(SI)(AX*4)
	VMOVDQU64  (DX)(AX*1), Z4
	ADD64(SI, Z0)
	ADD64(R11, Z1)
	ADD64(R12, Z2)
	ADD64(R13, Z3)
	ADDQ       $64, AX
	CMPQ       AX, BX
	JLT        inner4
last4:
	TESTQ      CX, CX
	JEQ        fold4
	VMOVDQU8.Z (DX)(AX*1), K1, Z4
	ADDLAST(SI, Z0)
	ADDLAST(R11, Z1)
	ADDLAST(R12, Z2)
	ADDLAST(R13, Z3)
fold4:
	FOLD(Z0, Y0, Y5)
	FOLD(Z1, Y1, Y5)
	FOLD(Z2, Y2, Y5)
	FOLD(Z3, Y3, Y5)
	STORE4
	CMPQ R8, $4
	JGE  four
rest:
	TESTQ R8, R8
	JEQ   done
one:
	VMOVDQA64 Z7, Z0
	XORL      AX, AX
	CMPQ      AX, BX
	JGE       last1
inner1:
	VMOVDQU64 (DX)(AX*1), Z4
	ADD64(SI, Z0)
	ADDQ      $64, AX
	CMPQ      AX, BX
	JLT       inner1
last1:
	TESTQ      CX, CX
	JEQ        fold1
	VMOVDQU8.Z (DX)(AX*1), K1, Z4
	ADDLAST(SI, Z0)
fold1:
	FOLD(Z0, Y0, Y5)
	STORE1
	JNE one
done:
	VZEROUPPER
	RET

// Bytes to floats, 16 at a time.
//
// DI dst SI src CX bytes left; register 0 hi, 1 lo, from 2 on the bytes, from 8 on the results

// Rows are widened in the order of their memory, from further away than L2, and a few at a time
// with other work between: what comes next is fetched early. A prefetch never faults.
//
// func widenBytesAVX512F32(dst *float32, src *uint8, n int, hi, lo float32)
TEXT ·widenBytesAVX512F32(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS hi+24(FP), Z0
	VBROADCASTSS lo+28(FP), Z1
loop:
	PREFETCHT0  2048(SI)
	VPMOVZXBD   0(SI), Z2
	VCVTDQ2PS   Z2, Z2
	VMULPS      Z2, Z1, Z8
	VFMADD231PS Z2, Z0, Z8
	VMOVUPS     Z8, 0(DI)
	ADDQ        $16, SI
	ADDQ        $64, DI
	SUBQ        $16, CX
	JNE         loop
	VZEROUPPER
	RET

// func widenBytesAVX512F64(dst *float64, src *uint8, n int, hi, lo float64)
TEXT ·widenBytesAVX512F64(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD hi+24(FP), Z0
	VBROADCASTSD lo+32(FP), Z1
loop:
	VPMOVZXBD   0(SI), Y2
	VPMOVZXBD   8(SI), Y3
	VCVTDQ2PD   Y2, Z2
	VCVTDQ2PD   Y3, Z3
	VMULPD      Z2, Z1, Z8
	VMULPD      Z3, Z1, Z9
	VFMADD231PD Z2, Z0, Z8
	VFMADD231PD Z3, Z0, Z9
	VMOVUPD     Z8, 0(DI)
	VMOVUPD     Z9, 64(DI)
	ADDQ        $16, SI
	ADDQ        $128, DI
	SUBQ        $16, CX
	JNE         loop
	VZEROUPPER
	RET

// func widenBytesAVX2F32(dst *float32, src *uint8, n int, hi, lo float32)
TEXT ·widenBytesAVX2F32(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS hi+24(FP), Y0
	VBROADCASTSS lo+28(FP), Y1
loop:
	VPMOVZXBD   0(SI), Y2
	VPMOVZXBD   8(SI), Y3
	VCVTDQ2PS   Y2, Y2
	VCVTDQ2PS   Y3, Y3
	VMULPS      Y2, Y1, Y8
	VMULPS      Y3, Y1, Y9
	VFMADD231PS Y2, Y0, Y8
	VFMADD231PS Y3, Y0, Y9
	VMOVUPS     Y8, 0(DI)
	VMOVUPS     Y9, 32(DI)
	ADDQ        $16, SI
	ADDQ        $64, DI
	SUBQ        $16, CX
	JNE         loop
	VZEROUPPER
	RET

// func widenBytesAVX2F64(dst *float64, src *uint8, n int, hi, lo float64)
TEXT ·widenBytesAVX2F64(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD hi+24(FP), Y0
	VBROADCASTSD lo+32(FP), Y1
loop:
	VPMOVZXBD   0(SI), X2
	VPMOVZXBD   4(SI), X3
	VPMOVZXBD   8(SI), X4
	VPMOVZXBD   12(SI), X5
	VCVTDQ2PD   X2, Y2
	VCVTDQ2PD   X3, Y3
	VCVTDQ2PD   X4, Y4
	VCVTDQ2PD   X5, Y5
	VMULPD      Y2, Y1, Y8
	VMULPD      Y3, Y1, Y9
	VMULPD      Y4, Y1, Y10
	VMULPD      Y5, Y1, Y11
	VFMADD231PD Y2, Y0, Y8
	VFMADD231PD Y3, Y0, Y9
	VFMADD231PD Y4, Y0, Y10
	VFMADD231PD Y5, Y0, Y11
	VMOVUPD     Y8, 0(DI)
	VMOVUPD     Y9, 32(DI)
	VMOVUPD     Y10, 64(DI)
	VMOVUPD     Y11, 96(DI)
	ADDQ        $16, SI
	ADDQ        $128, DI
	SUBQ        $16, CX
	JNE         loop
	VZEROUPPER
	RET

// The counts, with POPCNT. Rows of one and of two words, the usual ones, have loops of their own.
//
// DI dst SI row R8 rows left R9 stride in bytes DX x CX n BX table R10, R11 words of x AX count

// func xorCountF32(dst *float32, rows *uint64, nrows, stride int, x *uint64, n int, table *float32)
#define OP XORQ
#define LOOKUP MOVL (BX)(AX*4), AX; MOVL AX, (DI); ADDQ $4, DI
TEXT ·xorCountF32(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ nrows+16(FP), R8
	MOVQ stride+24(FP), R9
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), CX
	MOVQ table+48(FP), BX
#include "count_amd64.h"

// func andCountF32(dst *float32, rows *uint64, nrows, stride int, x *uint64, n int, table *float32)
#undef OP
#define OP ANDQ
TEXT ·andCountF32(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ nrows+16(FP), R8
	MOVQ stride+24(FP), R9
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), CX
	MOVQ table+48(FP), BX
#include "count_amd64.h"

// func andCountF64(dst *float64, rows *uint64, nrows, stride int, x *uint64, n int, table *float64)
#undef LOOKUP
#define LOOKUP MOVQ (BX)(AX*8), AX; MOVQ AX, (DI); ADDQ $8, DI
TEXT ·andCountF64(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ nrows+16(FP), R8
	MOVQ stride+24(FP), R9
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), CX
	MOVQ table+48(FP), BX
#include "count_amd64.h"

// func xorCountF64(dst *float64, rows *uint64, nrows, stride int, x *uint64, n int, table *float64)
#undef OP
#define OP XORQ
TEXT ·xorCountF64(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ nrows+16(FP), R8
	MOVQ stride+24(FP), R9
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), CX
	MOVQ table+48(FP), BX
#include "count_amd64.h"
