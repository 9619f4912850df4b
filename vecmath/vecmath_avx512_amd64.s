#include "textflag.h"

// The AVX-512 kernels (F, DQ, BW; BMI2 for the tails). Contract: vecmath_generic.go, bit for bit.
// One body a kernel, in a file *_avx512.h, is included for each precision, written in the macros
// below. Here are the frames: arguments are loaded and results stored where go vet checks them.
//
// A dense reduction keeps its 64 (float64: 32) partial sums in Z0-Z3. Element i mod 64 belongs to
// lane i%16 of register i/16 (8 lanes for float64), so a block of four registers adds one element
// to every partial sum. In the tail the FMAs merge under a mask: a partial sum without an element
// must keep its bits, since underflow may have left -0 there, and -0 + 0*0 is +0. Loads and stores
// do not fault on lanes that are masked off; but where those lie in a page that was never touched,
// a load takes some hundred cycles. So none is made whose mask is empty.
//
// lanesScore and lanesRun keep up to 16 units in Z0-Z15, lanesRunInt16 up to 4 in Z0-Z3.
//
// VZEROUPPER stands before every RET: dirty upper halves would slow down the SSE code of the
// caller.

// TAILMASK puts the mask of CX < LANES elements into K1; TAILMASKS puts that of CX < BLOCK elements
// into K1-K4.
#define TAILMASK \
	MOVL  $-1, AX; \
	BZHIL CX, AX, AX; \
	KMOVW AX, K1

#define TAILMASKS \
	MOVQ     $-1, AX; \
	BZHIQ    CX, AX, AX; \
	KMOVQ    AX, K1; \
	KSHIFTRQ $LANES, K1, K2; \
	KSHIFTRQ $(2*LANES), K1, K3; \
	KSHIFTRQ $(3*LANES), K1, K4

// HALVE combines the partial sums in Z0-Z3 by the halving tree, into the first element of X0.
#define HALVE \
	ADD           Z2, Z0, Z0; \
	ADD           Z3, Z1, Z1; \
	ADD           Z1, Z0, Z0; \
	VEXTRACTF64X4 $1, Z0, Y1; \
	ADD           Y1, Y0, Y0; \
	VEXTRACTF128  $1, Y0, X1; \
	ADD           X1, X0, X0; \
	HALVELANE(X0, X1)

// What lanesScore does for a tile of a fixed number of units.
#define TILE(tile, loop, store, ZERO, MADD, STORE) \
tile: \
	ZERO; \
	MOVQ    R12, CX; \
	TESTQ   CX, CX; \
	JEQ     store; \
loop: \
	MOVLQSX (R10)(CX*4), R8; \
	IMULQ   R13, R8; \
	ADDQ    SI, R8; \
	BCAST   (R11)(CX*ESIZE), Z31; \
	MADD; \
	INCQ    CX; \
	JNE     loop; \
store: \
	STORE; \
	JMP     next

#define ZERO1 VPXORD Z0, Z0, Z0
#define ZERO2 ZERO1; VPXORD Z1, Z1, Z1
#define ZERO3 ZERO2; VPXORD Z2, Z2, Z2
#define ZERO4 ZERO3; VPXORD Z3, Z3, Z3
#define ZERO5 ZERO4; VPXORD Z4, Z4, Z4
#define ZERO6 ZERO5; VPXORD Z5, Z5, Z5
#define ZERO7 ZERO6; VPXORD Z6, Z6, Z6
#define ZERO8 ZERO7; VPXORD Z7, Z7, Z7
#define ZERO9 ZERO8; VPXORD Z8, Z8, Z8
#define ZERO10 ZERO9; VPXORD Z9, Z9, Z9
#define ZERO11 ZERO10; VPXORD Z10, Z10, Z10
#define ZERO12 ZERO11; VPXORD Z11, Z11, Z11
#define ZERO13 ZERO12; VPXORD Z12, Z12, Z12
#define ZERO14 ZERO13; VPXORD Z13, Z13, Z13
#define ZERO15 ZERO14; VPXORD Z14, Z14, Z14
#define ZERO16 ZERO15; VPXORD Z15, Z15, Z15

#define FMA1 FMA 0(R8), Z31, Z0
#define FMA2 FMA1; FMA 64(R8), Z31, Z1
#define FMA3 FMA2; FMA 128(R8), Z31, Z2
#define FMA4 FMA3; FMA 192(R8), Z31, Z3
#define FMA5 FMA4; FMA 256(R8), Z31, Z4
#define FMA6 FMA5; FMA 320(R8), Z31, Z5
#define FMA7 FMA6; FMA 384(R8), Z31, Z6
#define FMA8 FMA7; FMA 448(R8), Z31, Z7
#define FMA9 FMA8; FMA 512(R8), Z31, Z8
#define FMA10 FMA9; FMA 576(R8), Z31, Z9
#define FMA11 FMA10; FMA 640(R8), Z31, Z10
#define FMA12 FMA11; FMA 704(R8), Z31, Z11
#define FMA13 FMA12; FMA 768(R8), Z31, Z12
#define FMA14 FMA13; FMA 832(R8), Z31, Z13
#define FMA15 FMA14; FMA 896(R8), Z31, Z14
#define FMA16 FMA15; FMA 960(R8), Z31, Z15

#define STORE1 MOVU Z0, 0(DI)
#define STORE2 STORE1; MOVU Z1, 64(DI)
#define STORE3 STORE2; MOVU Z2, 128(DI)
#define STORE4 STORE3; MOVU Z3, 192(DI)
#define STORE5 STORE4; MOVU Z4, 256(DI)
#define STORE6 STORE5; MOVU Z5, 320(DI)
#define STORE7 STORE6; MOVU Z6, 384(DI)
#define STORE8 STORE7; MOVU Z7, 448(DI)
#define STORE9 STORE8; MOVU Z8, 512(DI)
#define STORE10 STORE9; MOVU Z9, 576(DI)
#define STORE11 STORE10; MOVU Z10, 640(DI)
#define STORE12 STORE11; MOVU Z11, 704(DI)
#define STORE13 STORE12; MOVU Z12, 768(DI)
#define STORE14 STORE13; MOVU Z13, 832(DI)
#define STORE15 STORE14; MOVU Z14, 896(DI)
#define STORE16 STORE15; MOVU Z15, 960(DI)

// TAKE takes lanes of Z16 to four registers, those in K1, one after the other.
#define TAKE(p, q, r, s) \
	MOVU     Z16, K1, p; \
	KSHIFTRQ $LANES, K1, K1; \
	MOVU     Z16, K1, q; \
	KSHIFTRQ $LANES, K1, K1; \
	MOVU     Z16, K1, r; \
	KSHIFTRQ $LANES, K1, K1; \
	MOVU     Z16, K1, s

// ---- float32 ----

#define ESIZE        4 // bytes of an element
#define SHIFT        2 // log2 of that
#define LOADSIGN     MOVLQSX (R9), R11 // an element with its sign in bit 63
#define LANES        16 // elements of a register
#define BLOCK        64 // elements of four registers, and partial sums
#define MOVU         VMOVUPS
#define MOVS         VMOVSS
#define BCAST        VBROADCASTSS
#define ADD          VADDPS
#define SUB          VSUBPS
#define MUL          VMULPS
#define FMA          VFMADD231PS
#define MAX          VMAXPS
#define EQBITS       VPCMPEQD
#define ABSBITS      VPSRLD // of ones, by 1: all but the sign
#define CMP          VCMPPS
#define COMPRESS     VCOMPRESSPS
#define RESULTS      0x1111 // the first element of each 128-bit lane
#define FOUR         X0 // register that holds four elements
#define LOADBITS     MOVWLZX // loads one mask bit for each lane of a register
#define KUNPCK       KUNPCKWD // joins the bits of two registers
#define SECONDWORD32 MOVQ AX, R14; XORL AX, AX // behind the units of a word, of 64 lanes
#define SECONDWORD64
#define KMOVUNIT     KMOVW // the lanes of a register
#define TAKELOW      TAKE(Z0, Z1, Z2, Z3) // of a word of lanes, those in K1
#define TAKEHIGH     TAKE(Z4, Z5, Z6, Z7)
#define HALVELANE(V0, V1) \
	VPERMILPS $0xee, V0, V1; \
	ADD       V1, V0, V0; \
	VPERMILPS $0x55, V0, V1; \
	ADD       V1, V0, V0
#define MAXLANE(V0, V1) \
	VPERMILPS $0xee, V0, V1; \
	VMAXPS    V1, V0, V0; \
	VPERMILPS $0x55, V0, V1; \
	VMAXPS    V1, V0, V0

// func dotAVX512F32(a, b *float32, n int) float32
TEXT ·dotAVX512F32(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
#include "dot_avx512.h"
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func addRowsAtAVX512F32(y *float32, n int, rows *float32, stride int, x *float32, list *int32,
//	nlist int, alpha float32)
TEXT ·addRowsAtAVX512F32(SB), NOSPLIT, $0-60
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ rows+16(FP), R10
	MOVQ stride+24(FP), R9
	SHLQ $SHIFT, R9
	MOVQ x+32(FP), R11
	MOVQ list+40(FP), R13
	MOVQ nlist+48(FP), DX
	LEAQ (R13)(DX*4), R13
	NEGQ DX
	VBROADCASTSS alpha+56(FP), Z30
#define LISTED
#include "addrows_avx512.h"
#undef LISTED
	VZEROUPPER
	RET

// func axpyAVX512F32(y *float32, a float32, x *float32, n int)
TEXT ·axpyAVX512F32(SB), NOSPLIT, $0-32
	MOVQ         y+0(FP), DI
	VBROADCASTSS a+8(FP), Z0
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
#include "axpy_avx512.h"
	VZEROUPPER
	RET

// func scalAVX512F32(x *float32, a float32, n int)
TEXT ·scalAVX512F32(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), DI
	VBROADCASTSS a+8(FP), Z0
	MOVQ         n+16(FP), CX
#include "scal_avx512.h"
	VZEROUPPER
	RET

// func sumSqAVX512F32(x *float32, n int) float32
TEXT ·sumSqAVX512F32(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
#include "sumsq_avx512.h"
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func sqDistAVX512F32(a, b *float32, n int) float32
TEXT ·sqDistAVX512F32(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
#include "sqdist_avx512.h"
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func rowsDotAVX512F32(dst, rows *float32, nrows, stride int, x *float32, n int)
TEXT ·rowsDotAVX512F32(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), R12
	MOVQ nrows+16(FP), BX
	MOVQ stride+24(FP), R8
	SHLQ $SHIFT, R8
	MOVQ x+32(FP), DX
#define LOADN(r) \
	MOVQ n+40(FP), r
#include "rowsdot_avx512.h"
#undef LOADN
	VZEROUPPER
	RET

// func rowsDotAtAVX512F32(dst, rows *float32, stride int, at *int32, nat int, x *float32, n int)
TEXT ·rowsDotAtAVX512F32(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ stride+16(FP), R8
	SHLQ $SHIFT, R8
	MOVQ at+24(FP), R12
	MOVQ nat+32(FP), BX
	MOVQ x+40(FP), DX
#define LOADN(r) \
	MOVQ n+48(FP), r
#define FROM(r) \
	ADDQ rows+8(FP), r
#define TWO VMOVSD X0, (DI)
#include "rowsdotat_avx512.h"
#undef LOADN
#undef FROM
#undef TWO
	VZEROUPPER
	RET

// func lanesScoreAVX512F32(dst, w *float32, width int, rows *int32, val *float32, n int)
TEXT ·lanesScoreAVX512F32(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), R13
	MOVQ rows+24(FP), R10
	MOVQ val+32(FP), R11
	MOVQ n+40(FP), R12
#include "lanesscore_avx512.h"
	VZEROUPPER
	RET

// func lanesUpdateAVX512F32(w *float32, width int, rows *int32, val *float32, n int, coef *float32,
// mask *uint64)
TEXT ·lanesUpdateAVX512F32(SB), NOSPLIT, $0-56
	MOVQ w+0(FP), SI
	MOVQ width+8(FP), R13
	MOVQ rows+16(FP), R10
	MOVQ val+24(FP), R11
	MOVQ n+32(FP), R12
	MOVQ coef+40(FP), DI
	MOVQ mask+48(FP), BX
#include "lanesupdate_avx512.h"
	VZEROUPPER
	RET

// func lanesLEAVX512F32(mask *uint64, s *float32, width int, y, t float32)
TEXT ·lanesLEAVX512F32(SB), NOSPLIT, $0-32
	MOVQ         mask+0(FP), DI
	MOVQ         s+8(FP), SI
	MOVQ         width+16(FP), DX
	VBROADCASTSS y+24(FP), Z0
	VBROADCASTSS t+28(FP), Z1
#include "lanesle_avx512.h"
	VZEROUPPER
	RET

// func lanesRunAVX512F32(counts *int32, w *float32, width int, ptr *int, n int, rows *int32, val *float32,
// y *float32, seen *uint64, stride int, margin, step float32)
TEXT ·lanesRunAVX512F32(SB), NOSPLIT, $0-88
	MOVQ         counts+0(FP), R15
	MOVQ         w+8(FP), SI
	MOVQ         width+16(FP), R13
	MOVQ         ptr+24(FP), DI
	MOVQ         n+32(FP), DX
	MOVQ         rows+40(FP), R10
	MOVQ         val+48(FP), R11
	MOVQ         y+56(FP), R9
	MOVQ         seen+64(FP), BX
	MOVQ         stride+72(FP), R8
	KMOVQ        R8, K7
	VBROADCASTSS margin+80(FP), Z29
	VBROADCASTSS step+84(FP), Z28
#include "lanesrun_avx512.h"
	VZEROUPPER
	RET

// func lanesRunInt16AVX512F32(counts, sums *int32, w *int16, width int, ptr *int, n int, rows *int32, y *float32,
// seen *uint64, stride, margin, limit, peak, lanes int) (done, newPeak int)
TEXT ·lanesRunInt16AVX512F32(SB), NOSPLIT, $0-128
	MOVQ         counts+0(FP), R15
	MOVQ         sums+8(FP), R8
	SUBQ         R15, R8
	KMOVQ        R8, K5
	MOVQ         w+16(FP), SI
	MOVQ         width+24(FP), R13
	MOVQ         ptr+32(FP), DI
	MOVQ         n+40(FP), DX
	MOVQ         rows+48(FP), R10
	MOVQ         y+56(FP), R9
	MOVQ         seen+64(FP), BX
	MOVQ         margin+80(FP), R8
	VPBROADCASTW R8, Z29
	MOVQ         limit+88(FP), R8
	VPBROADCASTW R8, Z28
	MOVQ         peak+96(FP), R8
	VPBROADCASTW R8, Z27
#define CMPLANES(x) \
	CMPQ lanes+104(FP), x
#define LOADTILE(r) \
	MOVQ w+16(FP), r
#define LOADSTRIDE(r) \
	MOVQ stride+72(FP), r
#include "lanesrunint16_avx512.h"
#undef LOADTILE
#undef LOADSTRIDE
#undef CMPLANES
	MOVQ         n+40(FP), CX
	SUBQ         DX, CX
	MOVQ         CX, done+112(FP)
	MOVQ         AX, newPeak+120(FP)
	VZEROUPPER
	RET

#undef ESIZE
#undef SHIFT
#undef LOADSIGN
#undef LANES
#undef BLOCK
#undef MOVU
#undef MOVS
#undef BCAST
#undef ADD
#undef SUB
#undef MUL
#undef FMA
#undef MAX
#undef EQBITS
#undef ABSBITS
#undef CMP
#undef COMPRESS
#undef RESULTS
#undef FOUR
#undef LOADBITS
#undef KUNPCK
#undef SECONDWORD32
#undef SECONDWORD64
#undef KMOVUNIT
#undef TAKELOW
#undef TAKEHIGH
#undef HALVELANE
#undef MAXLANE

// ---- float64 ----

#define ESIZE        8
#define SHIFT        3
#define LOADSIGN     MOVQ (R9), R11
#define LANES        8
#define BLOCK        32
#define MOVU         VMOVUPD
#define MOVS         VMOVSD
#define BCAST        VBROADCASTSD
#define ADD          VADDPD
#define SUB          VSUBPD
#define MUL          VMULPD
#define FMA          VFMADD231PD
#define MAX          VMAXPD
#define EQBITS       VPCMPEQQ
#define ABSBITS      VPSRLQ
#define CMP          VCMPPD
#define COMPRESS     VCOMPRESSPD
#define RESULTS      0x55
#define FOUR         Y0
#define LOADBITS     MOVBLZX
#define KUNPCK       KUNPCKBW
#define SECONDWORD32
#define SECONDWORD64 MOVQ AX, R14; XORL AX, AX
#define KMOVUNIT     KMOVB
#define TAKELOW      TAKE(Z0, Z1, Z2, Z3); KSHIFTRQ $LANES, K1, K1; TAKE(Z4, Z5, Z6, Z7)
#define TAKEHIGH     TAKE(Z8, Z9, Z10, Z11); KSHIFTRQ $LANES, K1, K1; TAKE(Z12, Z13, Z14, Z15)
#define HALVELANE(V0, V1) \
	VPERMILPD $0x55, V0, V1; \
	ADD       V1, V0, V0
#define MAXLANE(V0, V1) \
	VPERMILPD $0x55, V0, V1; \
	VMAXPD    V1, V0, V0

// func dotAVX512F64(a, b *float64, n int) float64
TEXT ·dotAVX512F64(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
#include "dot_avx512.h"
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func addRowsAtAVX512F64(y *float64, n int, rows *float64, stride int, x *float64, list *int32,
//	nlist int, alpha float64)
TEXT ·addRowsAtAVX512F64(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ rows+16(FP), R10
	MOVQ stride+24(FP), R9
	SHLQ $SHIFT, R9
	MOVQ x+32(FP), R11
	MOVQ list+40(FP), R13
	MOVQ nlist+48(FP), DX
	LEAQ (R13)(DX*4), R13
	NEGQ DX
	VBROADCASTSD alpha+56(FP), Z30
#define LISTED
#include "addrows_avx512.h"
#undef LISTED
	VZEROUPPER
	RET

// func axpyAVX512F64(y *float64, a float64, x *float64, n int)
TEXT ·axpyAVX512F64(SB), NOSPLIT, $0-32
	MOVQ         y+0(FP), DI
	VBROADCASTSD a+8(FP), Z0
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
#include "axpy_avx512.h"
	VZEROUPPER
	RET

// func scalAVX512F64(x *float64, a float64, n int)
TEXT ·scalAVX512F64(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), DI
	VBROADCASTSD a+8(FP), Z0
	MOVQ         n+16(FP), CX
#include "scal_avx512.h"
	VZEROUPPER
	RET

// func sumSqAVX512F64(x *float64, n int) float64
TEXT ·sumSqAVX512F64(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
#include "sumsq_avx512.h"
	VMOVSD X0, ret+16(FP)
	VZEROUPPER
	RET

// func sqDistAVX512F64(a, b *float64, n int) float64
TEXT ·sqDistAVX512F64(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
#include "sqdist_avx512.h"
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func rowsDotAVX512F64(dst, rows *float64, nrows, stride int, x *float64, n int)
TEXT ·rowsDotAVX512F64(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), R12
	MOVQ nrows+16(FP), BX
	MOVQ stride+24(FP), R8
	SHLQ $SHIFT, R8
	MOVQ x+32(FP), DX
#define LOADN(r) \
	MOVQ n+40(FP), r
#include "rowsdot_avx512.h"
#undef LOADN
	VZEROUPPER
	RET

// func rowsDotAtAVX512F64(dst, rows *float64, stride int, at *int32, nat int, x *float64, n int)
TEXT ·rowsDotAtAVX512F64(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ stride+16(FP), R8
	SHLQ $SHIFT, R8
	MOVQ at+24(FP), R12
	MOVQ nat+32(FP), BX
	MOVQ x+40(FP), DX
#define LOADN(r) \
	MOVQ n+48(FP), r
#define FROM(r) \
	ADDQ rows+8(FP), r
#define TWO VMOVUPD X0, (DI)
#include "rowsdotat_avx512.h"
#undef LOADN
#undef FROM
#undef TWO
	VZEROUPPER
	RET

// func lanesScoreAVX512F64(dst, w *float64, width int, rows *int32, val *float64, n int)
TEXT ·lanesScoreAVX512F64(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), R13
	MOVQ rows+24(FP), R10
	MOVQ val+32(FP), R11
	MOVQ n+40(FP), R12
#include "lanesscore_avx512.h"
	VZEROUPPER
	RET

// func lanesUpdateAVX512F64(w *float64, width int, rows *int32, val *float64, n int, coef *float64,
// mask *uint64)
TEXT ·lanesUpdateAVX512F64(SB), NOSPLIT, $0-56
	MOVQ w+0(FP), SI
	MOVQ width+8(FP), R13
	MOVQ rows+16(FP), R10
	MOVQ val+24(FP), R11
	MOVQ n+32(FP), R12
	MOVQ coef+40(FP), DI
	MOVQ mask+48(FP), BX
#include "lanesupdate_avx512.h"
	VZEROUPPER
	RET

// func lanesLEAVX512F64(mask *uint64, s *float64, width int, y, t float64)
TEXT ·lanesLEAVX512F64(SB), NOSPLIT, $0-40
	MOVQ         mask+0(FP), DI
	MOVQ         s+8(FP), SI
	MOVQ         width+16(FP), DX
	VBROADCASTSD y+24(FP), Z0
	VBROADCASTSD t+32(FP), Z1
#include "lanesle_avx512.h"
	VZEROUPPER
	RET

// func lanesRunAVX512F64(counts *int32, w *float64, width int, ptr *int, n int, rows *int32, val *float64,
// y *float64, seen *uint64, stride int, margin, step float64)
TEXT ·lanesRunAVX512F64(SB), NOSPLIT, $0-96
	MOVQ         counts+0(FP), R15
	MOVQ         w+8(FP), SI
	MOVQ         width+16(FP), R13
	MOVQ         ptr+24(FP), DI
	MOVQ         n+32(FP), DX
	MOVQ         rows+40(FP), R10
	MOVQ         val+48(FP), R11
	MOVQ         y+56(FP), R9
	MOVQ         seen+64(FP), BX
	MOVQ         stride+72(FP), R8
	KMOVQ        R8, K7
	VBROADCASTSD margin+80(FP), Z29
	VBROADCASTSD step+88(FP), Z28
#include "lanesrun_avx512.h"
	VZEROUPPER
	RET

// func lanesRunInt16AVX512F64(counts, sums *int32, w *int16, width int, ptr *int, n int, rows *int32, y *float64,
// seen *uint64, stride, margin, limit, peak, lanes int) (done, newPeak int)
TEXT ·lanesRunInt16AVX512F64(SB), NOSPLIT, $0-128
	MOVQ         counts+0(FP), R15
	MOVQ         sums+8(FP), R8
	SUBQ         R15, R8
	KMOVQ        R8, K5
	MOVQ         w+16(FP), SI
	MOVQ         width+24(FP), R13
	MOVQ         ptr+32(FP), DI
	MOVQ         n+40(FP), DX
	MOVQ         rows+48(FP), R10
	MOVQ         y+56(FP), R9
	MOVQ         seen+64(FP), BX
	MOVQ         margin+80(FP), R8
	VPBROADCASTW R8, Z29
	MOVQ         limit+88(FP), R8
	VPBROADCASTW R8, Z28
	MOVQ         peak+96(FP), R8
	VPBROADCASTW R8, Z27
#define CMPLANES(x) \
	CMPQ lanes+104(FP), x
#define LOADTILE(r) \
	MOVQ w+16(FP), r
#define LOADSTRIDE(r) \
	MOVQ stride+72(FP), r
#include "lanesrunint16_avx512.h"
#undef LOADTILE
#undef LOADSTRIDE
#undef CMPLANES
	MOVQ         n+40(FP), CX
	SUBQ         DX, CX
	MOVQ         CX, done+112(FP)
	MOVQ         AX, newPeak+120(FP)
	VZEROUPPER
	RET

// ---- float64 vector, float32 example ----

// func dotMixedAVX512(a *float64, x *float32, n int) float64
TEXT ·dotMixedAVX512(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ n+16(FP), CX
#include "dotmixed_avx512.h"
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func rowsDotMixedAVX512(dst *float64, rows *float32, nrows, stride int, x *float64, n int)
TEXT ·rowsDotMixedAVX512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), R12
	MOVQ nrows+16(FP), BX
	MOVQ stride+24(FP), R8
	SHLQ $2, R8
	MOVQ x+32(FP), DX
#define LOADN(r) \
	MOVQ n+40(FP), r
#define MIXED
#include "rowsdot_avx512.h"
#undef MIXED
#undef LOADN
	VZEROUPPER
	RET

// func axpyMixedAVX512(y *float64, a float64, x *float32, n int)
TEXT ·axpyMixedAVX512(SB), NOSPLIT, $0-32
	MOVQ         y+0(FP), DI
	VBROADCASTSD a+8(FP), Z0
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
#include "axpymixed_avx512.h"
	VZEROUPPER
	RET

// func dotAxpyMixedAVX512(y *float64, a float64, x *float32, n int) float64
TEXT ·dotAxpyMixedAVX512(SB), NOSPLIT, $0-40
	MOVQ         y+0(FP), DI
	VBROADCASTSD a+8(FP), Z4
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
#include "dotaxpymixed_avx512.h"
	VMOVSD X0, ret+32(FP)
	VZEROUPPER
	RET

// ---- draws ----

// FOLD makes the next word of eight sequences X, ands it to S and steps on: as in drawBitsAVX2, but
// the word's halves and S meet in one VPTERNLOGQ. Y = X^fin, XH and YH upper halves, L = xl*yl and
// lo, T = t, U = u, H = hi, Q scratch.
#define FOLD(X, S, Y, XH, YH, L, T, U, H, Q) \
	VPXORQ     Z22, X, Y; \
	VPSRLQ     $32, X, XH; \
	VPSRLQ     $32, Y, YH; \
	VPMULUDQ   Y, X, L; \
	VPMULUDQ   YH, X, T; \
	VPMULUDQ   Y, XH, U; \
	VPMULUDQ   YH, XH, H; \
	VPADDQ     Z23, X, X; \
	VPSRLQ     $32, L, Q; \
	VPADDQ     Q, T, T; \
	VPANDQ     Z25, T, Q; \
	VPADDQ     Q, U, U; \
	VPSRLQ     $32, T, T; \
	VPADDQ     T, H, H; \
	VPSRLQ     $32, U, Q; \
	VPADDQ     Q, H, H; \
	VPSLLQ     $32, U, U; \
	VPBLENDMD  U, L, K1, L; \
	VPTERNLOGQ $0x60, H, L, S // S & (L ^ H)

// func drawBitsAVX512(x *uint64, n int, fin, step, first, turn uint64)
//
// Z25 = 2^32-1 in all lanes, K1 = upper halves.
TEXT ·drawBitsAVX512(SB), 0, $8512-48
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	VPBROADCASTQ fin+16(FP), Z22
	VPBROADCASTQ step+24(FP), Z23
	VPBROADCASTQ first+32(FP), Z24
	MOVQ         turn+40(FP), R8
	MOVL         $0xffffffff, AX
	VPBROADCASTQ AX, Z25
	MOVL         $0xaaaa, AX
	KMOVW        AX, K1
#define LOADROOM(r) \
	LEAQ room-8512(SP), r
#include "drawbits_avx512.h"
#undef LOADROOM
	VZEROUPPER
	RET
#undef FOLD

// MIX sends eight words X through mix, with T as scratch.
#define MIX(X, T) \
	VPSRLQ  $30, X, T; \
	VPXORQ  T, X, X; \
	VPMULLQ Z20, X, X; \
	VPSRLQ  $27, X, T; \
	VPXORQ  T, X, X; \
	VPMULLQ Z21, X, X; \
	VPSRLQ  $31, X, T; \
	VPXORQ  T, X, X

// NEXT makes the counters X of eight words those of the next eight: Z1 their words within an
// example, Z23 and Z24 what eight words add to the two, Z25 words, Z26 what the first word of an
// example adds besides.
#define NEXT(X) \
	VPADDQ  Z23, X, X; \
	VPADDQ  Z24, Z1, Z1; \
	VPCMPUQ $5, Z25, Z1, K2; /* >= */ \
	VPADDQ  Z26, X, K2, X; \
	VPSUBQ  Z25, Z1, K2, Z1

// func mixCountersAVX512(x *uint64, n, words int, first, example, word uint64)
//
// DI x, CX words left; Z0 counters, Z20 Z21 the factors, K1 the tail. At first AX the counter of
// lane BX, DX its word within an example, R8 words, R11 word, R12 what the first word of an example
// adds besides word.
TEXT ·mixCountersAVX512(SB), NOSPLIT, $128-48
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVQ         words+16(FP), R8
	MOVQ         first+24(FP), AX
	MOVQ         word+40(FP), R11
	MOVQ         R8, R12
	IMULQ        R11, R12
	NEGQ         R12
	ADDQ         example+32(FP), R12
	XORL         BX, BX
	XORL         DX, DX

lane:
	MOVQ AX, counters-128(SP)(BX*8)
	MOVQ DX, places-64(SP)(BX*8)
	ADDQ R11, AX
	INCQ DX
	CMPQ DX, R8
	JNE  same
	ADDQ R12, AX
	XORL DX, DX

same:
	INCQ         BX
	CMPQ         BX, $8
	JLT          lane
	SUBQ         first+24(FP), AX
	VMOVDQU64    counters-128(SP), Z0
	VMOVDQU64    places-64(SP), Z1
	VPBROADCASTQ AX, Z23
	VPBROADCASTQ DX, Z24
	VPBROADCASTQ R8, Z25
	VPBROADCASTQ R12, Z26
	MOVQ         $0xbf58476d1ce4e5b9, AX
	VPBROADCASTQ AX, Z20
	MOVQ         $0x94d049bb133111eb, AX
	VPBROADCASTQ AX, Z21
	SUBQ         $8, CX
	JLT          tail

loop:
	VMOVDQA64 Z0, Z2
	NEXT(Z0)
	MIX(Z2, Z3)
	VMOVDQU64 Z2, (DI)
	ADDQ      $64, DI
	SUBQ      $8, CX
	JGE       loop

tail:
	ADDQ      $8, CX
	JEQ       done
	TAILMASK
	MIX(Z0, Z2)
	VMOVDQU64 Z0, K1, (DI)

done:
	VZEROUPPER
	RET

// ---- indices ----

// func maxIndexAVX512(idx *int32, n int) uint32
//
// SI idx, CX indices left; Z0 and Z1 the largest of each lane. The lanes past the end are 0, which
// changes no maximum.
TEXT ·maxIndexAVX512(SB), NOSPLIT, $0-20
	MOVQ idx+0(FP), SI
	MOVQ n+8(FP), CX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	SUBQ $32, CX
	JLT  tail

loop:
	VPMAXUD 0(SI), Z0, Z0
	VPMAXUD 64(SI), Z1, Z1
	ADDQ    $128, SI
	SUBQ    $32, CX
	JGE     loop

tail:
	ADDQ        $32, CX
	JEQ         reduce
	MOVL        $-1, AX
	BZHIL       CX, AX, AX
	KMOVD       AX, K1
	KSHIFTRD    $16, K1, K2
	VMOVDQU32.Z 0(SI), K1, Z2
	VMOVDQU32.Z 64(SI), K2, Z3
	VPMAXUD     Z2, Z0, Z0
	VPMAXUD     Z3, Z1, Z1

reduce:
	VPMAXUD       Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPMAXUD       Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPMAXUD       X1, X0, X0
	VPSHUFD       $0x4e, X0, X1
	VPMAXUD       X1, X0, X0
	VPSHUFD       $0xb1, X0, X1
	VPMAXUD       X1, X0, X0
	VMOVD         X0, AX
	MOVL          AX, ret+16(FP)
	VZEROUPPER
	RET

// int8Tails has at k, in words of 8 bytes from its middle on, all ones where k is below 0.
DATA int8Tails<>+0(SB)/8, $-1
DATA int8Tails<>+8(SB)/8, $-1
DATA int8Tails<>+16(SB)/8, $-1
DATA int8Tails<>+24(SB)/8, $-1
DATA int8Tails<>+32(SB)/8, $0
DATA int8Tails<>+40(SB)/8, $0
DATA int8Tails<>+48(SB)/8, $0
DATA int8Tails<>+56(SB)/8, $0
GLOBL int8Tails<>(SB), RODATA|NOPTR, $64

// func lanesRunInt8AVX512(counts, sums *int32, w *int8, width int, ptr *int, n int, rows *int32, y *byte,
// ysize int, seen *uint64, stride, margin, limit, peak int) (done, newPeak int)
TEXT ·lanesRunInt8AVX512(SB), NOSPLIT, $0-128
	MOVQ         counts+0(FP), R15
	MOVQ         sums+8(FP), R8
	SUBQ         R15, R8
	KMOVQ        R8, K5
	MOVQ         w+16(FP), SI
	MOVQ         ptr+32(FP), DI
	MOVQ         n+40(FP), DX
	MOVQ         rows+48(FP), R10
	MOVQ         y+56(FP), R9
	ADDQ         ysize+64(FP), R9
	MOVQ         seen+72(FP), BX
	MOVQ         margin+88(FP), R8
	VPBROADCASTW R8, Z29
	MOVQ         limit+96(FP), R8
	VPBROADCASTB R8, Z28
	MOVQ         peak+104(FP), R8
	VPBROADCASTB R8, Z27
#define CMPWIDTH(x) \
	CMPQ width+24(FP), x
#define MULWIDTH(r) \
	IMULQ width+24(FP), r
#define CMPLIMIT(x) \
	CMPQ limit+96(FP), x
#define LOADTILE(r) \
	MOVQ w+16(FP), r
#define LOADSTRIDE(r) \
	MOVQ stride+80(FP), r
#define NEXTLABEL \
	ADDQ ysize+64(FP), R9
#include "lanesrunint8_avx512.h"
#undef LOADTILE
#undef LOADSTRIDE
#undef CMPWIDTH
#undef MULWIDTH
#undef CMPLIMIT
#undef NEXTLABEL
	MOVQ         n+40(FP), CX
	SUBQ         DX, CX
	MOVQ         CX, done+112(FP)
	MOVQ         AX, newPeak+120(FP)
	VZEROUPPER
	RET

// func addRowSumsInt8AVX512(dst *float64, w *int8, width, n int)
// DI = dst, SI = the row, R9 = width, DX = rows left, R8 = what the flipped signs add to a row: bytes
// are summed without a sign, with 128 more each.
TEXT ·addRowSumsInt8AVX512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         width+16(FP), R9
	MOVQ         n+24(FP), DX
	MOVL         $0x80808080, AX
	VPBROADCASTD AX, Z6
	VPXORQ       Z7, Z7, Z7
	MOVQ         R9, R8
	SHLQ         $7, R8
	NEGQ         R8

row:
	VPXORQ  (SI), Z6, Z0
	VPSADBW Z7, Z0, Z0
	CMPQ    R9, $64
	JEQ     sum
	VPXORQ  64(SI), Z6, Z1
	VPSADBW Z7, Z1, Z1
	VPADDQ  Z1, Z0, Z0

sum:
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDQ        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDQ        X1, X0, X0
	VPSHUFD       $0x4E, X0, X1
	VPADDQ        X1, X0, X0
	VMOVQ         X0, AX
	ADDQ          R8, AX
	VXORPS        X2, X2, X2
	VCVTSI2SDQ    AX, X2, X2
	VADDSD        (DI), X2, X2
	VMOVSD        X2, (DI)
	ADDQ          $8, DI
	ADDQ          R9, SI
	DECQ          DX
	JNE           row
	VZEROUPPER
	RET

