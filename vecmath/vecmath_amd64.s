// AVX2 and FMA. Each body is written once, in *_avx2.h, and assembled for float32, for float64 and,
// with MIXED, for a float64 vector and a float32 example: the macros below name the instructions.
// Here are the frames: arguments are loaded and results stored where go vet checks them.
//
// All kernels restore the upper halves of the registers (VZEROUPPER) before they return, unless
// they use X registers only: the Go compiler's own float code would crawl otherwise. Nothing is
// read or written past the end of an operand.
//
// Go writes operands source first: FMA b, a, c is c += a*b.
#include "textflag.h"

// Masks for the last, partial vector. For r lanes of SZ bytes that count, 32 - r*SZ bytes into the
// first table begin r lanes of ones, then zeros; into the second or third begin r lanes of +0, then
// -0, float32 or float64.
DATA tails<>+0(SB)/8, $-1
DATA tails<>+8(SB)/8, $-1
DATA tails<>+16(SB)/8, $-1
DATA tails<>+24(SB)/8, $-1
DATA tails<>+32(SB)/8, $0
DATA tails<>+40(SB)/8, $0
DATA tails<>+48(SB)/8, $0
DATA tails<>+56(SB)/8, $0
DATA tails<>+64(SB)/8, $0
DATA tails<>+72(SB)/8, $0
DATA tails<>+80(SB)/8, $0
DATA tails<>+88(SB)/8, $0
DATA tails<>+96(SB)/8, $0x8000000080000000
DATA tails<>+104(SB)/8, $0x8000000080000000
DATA tails<>+112(SB)/8, $0x8000000080000000
DATA tails<>+120(SB)/8, $0x8000000080000000
DATA tails<>+128(SB)/8, $0
DATA tails<>+136(SB)/8, $0
DATA tails<>+144(SB)/8, $0
DATA tails<>+152(SB)/8, $0
DATA tails<>+160(SB)/8, $0x8000000000000000
DATA tails<>+168(SB)/8, $0x8000000000000000
DATA tails<>+176(SB)/8, $0x8000000000000000
DATA tails<>+184(SB)/8, $0x8000000000000000
GLOBL tails<>(SB), RODATA|NOPTR, $192

// Bit l in lane l, for 8 lanes of 32 bits, 16 of 16 and 4 of 64.
DATA bits32<>+0(SB)/8, $0x0000000200000001
DATA bits32<>+8(SB)/8, $0x0000000800000004
DATA bits32<>+16(SB)/8, $0x0000002000000010
DATA bits32<>+24(SB)/8, $0x0000008000000040
GLOBL bits32<>(SB), RODATA|NOPTR, $32
DATA bits16<>+0(SB)/8, $0x0008000400020001
DATA bits16<>+8(SB)/8, $0x0080004000200010
DATA bits16<>+16(SB)/8, $0x0800040002000100
DATA bits16<>+24(SB)/8, $0x8000400020001000
GLOBL bits16<>(SB), RODATA|NOPTR, $32
DATA bits64<>+0(SB)/8, $1
DATA bits64<>+8(SB)/8, $2
DATA bits64<>+16(SB)/8, $4
DATA bits64<>+24(SB)/8, $8
GLOBL bits64<>(SB), RODATA|NOPTR, $32

// TAIL does the last CX%LANES elements of a reduction.
#define TAIL(off, acc) \
	ANDQ $(LANES-1), CX; \
	JEQ tree; \
	NEGQ CX; \
	LEAQ tails<>(SB), R8; \
	LAST(off, acc); \
	JMP tree

// float32
#define SZ 4
#define LOGSZ 2
#define XSZ 4 // bytes of an element of x
#define XB 32 // bytes of x that go with a register
#define LANES 8
#define BLOCK 64
#define SIGNS 96
#define LANEBITS bits32<>(SB)
#define MOVU VMOVUPS
#define MOVS VMOVSS
#define MASKMOV VMASKMOVPS
#define BCAST VBROADCASTSS
#define ADD VADDPS
#define ADDS VADDSS
#define SUB VSUBPS
#define MUL VMULPS
#define MULS VMULSS
#define FMA VFMADD231PS
#define FMAS VFMADD231SS
#define FMA213 VFMADD213PS
#define BLENDV VBLENDVPS
#define CMPLE VCMPPS $2,
#define MOVMSK VMOVMSKPS
#define BROADBITS VPBROADCASTD
#define EQBITS VPCMPEQD
#define MAX VMAXPS
// all bits but the sign
#define ABSMASK(r) VPCMPEQD r, r, r; VPSRLD $1, r, r
#define MAXHALVES \
	VMOVHLPS X0, X0, X1; \
	VMAXPS X1, X0, X0; \
	VMOVSHDUP X0, X1; \
	VMAXSS X1, X0, X0
#define HALVE \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0; \
	VMOVHLPS X0, X0, X1; \
	VADDPS X1, X0, X0; \
	VMOVSHDUP X0, X1; \
	VADDSS X1, X0, X0

// func dotAVX2F32(a, b *float32, n int) float32
TEXT ·dotAVX2F32(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
#include "reduce_avx2.h"
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func rowsDotAVX2F32(dst, rows *float32, nrows, stride int, x *float32, n int)
TEXT ·rowsDotAVX2F32(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), R9
	MOVQ rows+8(FP), R10
	MOVQ nrows+16(FP), R11
	MOVQ stride+24(FP), R12
	SHLQ $LOGSZ, R12
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), BX
#include "rowsdot_avx2.h"
	VZEROUPPER
	RET

// func rowsDotAtAVX2F32(dst, rows *float32, stride int, at *int32, nat int, x *float32, n int)
TEXT ·rowsDotAtAVX2F32(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), R9
	MOVQ rows+8(FP), R13
	MOVQ stride+16(FP), R12
	SHLQ $LOGSZ, R12
	MOVQ at+24(FP), R10
	MOVQ nat+32(FP), R11
	MOVQ x+40(FP), DX
	MOVQ n+48(FP), BX
#include "rowsdotat_avx2.h"
	VZEROUPPER
	RET

// func sqDistAVX2F32(a, b *float32, n int) float32
TEXT ·sqDistAVX2F32(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
#define SQDIST
#include "reduce_avx2.h"
#undef SQDIST
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func sumSqAVX2F32(x *float32, n int) float32
TEXT ·sumSqAVX2F32(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
#define SUMSQ
#include "reduce_avx2.h"
#undef SUMSQ
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func asumAVX2F32(x *float32, n int) float32
TEXT ·asumAVX2F32(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	ABSMASK(Y10)
#define ASUM
#include "reduce_avx2.h"
#undef ASUM
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func maxAbsAVX2F32(x *float32, n int) float32
TEXT ·maxAbsAVX2F32(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
#include "maxabs_avx2.h"
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func indexAbsAVX2F32(x *float32, n int, m float32) int
TEXT ·indexAbsAVX2F32(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS m+16(FP), Y0
#include "indexabs_avx2.h"
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET

// func addRowsAVX2F32(y *float32, n int, rows *float32, stride int, x *float32, nrows int, alpha float32)
TEXT ·addRowsAVX2F32(SB), NOSPLIT, $0-52
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ rows+16(FP), R10
	MOVQ stride+24(FP), R9
	SHLQ $LOGSZ, R9
	MOVQ x+32(FP), R11
	MOVQ nrows+40(FP), DX
	LEAQ (R11)(DX*SZ), R11
	NEGQ DX
	VBROADCASTSS alpha+48(FP), Y15
#include "addrows_avx2.h"
	VZEROUPPER
	RET

// func addRowsAtAVX2F32(y *float32, n int, rows *float32, stride int, x *float32, list *int32,
//	nlist int, alpha float32)
TEXT ·addRowsAtAVX2F32(SB), NOSPLIT, $0-60
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ rows+16(FP), R10
	MOVQ stride+24(FP), R9
	SHLQ $LOGSZ, R9
	MOVQ x+32(FP), R11
	MOVQ list+40(FP), R13
	MOVQ nlist+48(FP), DX
	LEAQ (R13)(DX*4), R13
	NEGQ DX
	VBROADCASTSS alpha+56(FP), Y15
#define LISTED
#include "addrows_avx2.h"
#undef LISTED
	VZEROUPPER
	RET

// func axpyAVX2F32(y *float32, a float32, x *float32, n int)
TEXT ·axpyAVX2F32(SB), NOSPLIT, $0-32
	MOVQ         y+0(FP), DI
	VBROADCASTSS a+8(FP), Y0
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
#include "elementwise_avx2.h"
	VZEROUPPER
	RET

// func scalAVX2F32(x *float32, a float32, n int)
TEXT ·scalAVX2F32(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), DI
	VBROADCASTSS a+8(FP), Y0
	MOVQ         n+16(FP), CX
#define SCAL
#include "elementwise_avx2.h"
#undef SCAL
	VZEROUPPER
	RET

// func sparseDotAVX2F32(idx *int32, val *float32, n int, w *float32) float32
TEXT ·sparseDotAVX2F32(SB), NOSPLIT, $0-36
	MOVQ idx+0(FP), R8
	MOVQ val+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ w+24(FP), DI
#include "sparsedot_avx2.h"
	VMOVSS X0, ret+32(FP)
	RET

// func sparseAxpyAVX2F32(w *float32, a float32, idx *int32, val *float32, n int)
TEXT ·sparseAxpyAVX2F32(SB), NOSPLIT, $0-40
	MOVQ   w+0(FP), DI
	VMOVSS a+8(FP), X0
	MOVQ   idx+16(FP), R8
	MOVQ   val+24(FP), SI
	MOVQ   n+32(FP), CX
#include "sparseaxpy_avx2.h"
	RET

// func lanesScoreAVX2F32(dst, w *float32, width int, rows *int32, val *float32, n int)
TEXT ·lanesScoreAVX2F32(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), DX
	SHLQ $LOGSZ, DX
	MOVQ DX, R10
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
#include "lanesscore_avx2.h"
	VZEROUPPER
	RET

// func lanesScoreLEAVX2F32(dst, w *float32, width int, rows *int32, val *float32, n int, mask
// *uint64, y, t float32)
//
// The scores are read back for the comparison: they are at hand, and widths of more than seven
// units need no other way.
TEXT ·lanesScoreLEAVX2F32(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), DX
	SHLQ $LOGSZ, DX
	MOVQ DX, R10
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
#include "lanesscore_avx2.h"
	MOVQ mask+48(FP), DI
	MOVQ dst+0(FP), SI
	MOVQ width+16(FP), CX
	VBROADCASTSS y+56(FP), Y0
	VBROADCASTSS t+60(FP), Y1
#include "lanesle_avx2.h"
	VZEROUPPER
	RET

// func lanesUpdateAVX2F32(w *float32, width int, rows *int32, val *float32, n int, coef *float32,
// mask *uint64)
TEXT ·lanesUpdateAVX2F32(SB), NOSPLIT, $120-56
	MOVQ w+0(FP), DI
	MOVQ width+8(FP), R11
	SHLQ $LOGSZ, R11
	JEQ  done
	CMPQ n+32(FP), $0
	JEQ  done
	MOVQ coef+40(FP), R12
	MOVQ mask+48(FP), R8
#define LOADLISTS \
	MOVQ n+32(FP), DX; \
	MOVQ rows+16(FP), R8; \
	MOVQ val+24(FP), R9
#include "lanesupdate_avx2.h"
#undef LOADLISTS
	VZEROUPPER
	RET

// func lanesLEAVX2F32(mask *uint64, s *float32, width int, y, t float32)
TEXT ·lanesLEAVX2F32(SB), NOSPLIT, $0-32
	MOVQ         mask+0(FP), DI
	MOVQ         s+8(FP), SI
	MOVQ         width+16(FP), CX
	VBROADCASTSS y+24(FP), Y0
	VBROADCASTSS t+28(FP), Y1
#include "lanesle_avx2.h"
	VZEROUPPER
	RET

// func activeScoreAVX2F32(dst, w *float32, width int, rows *int32, val *float32, n int, lanes
// *int32, nl int)
TEXT ·activeScoreAVX2F32(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
	MOVQ lanes+48(FP), R10
	MOVQ nl+56(FP), R11
#define ADDW(r) \
	ADDQ w+8(FP), r
#define MULWIDTH(r) \
	IMULQ width+16(FP), r
#include "activescore_avx2.h"
#undef ADDW
#undef MULWIDTH
	RET

// func activeUpdateAVX2F32(w *float32, width int, rows *int32, val *float32, n int, lanes *int32,
// coef *float32, nl int)
TEXT ·activeUpdateAVX2F32(SB), NOSPLIT, $0-64
	MOVQ width+8(FP), DI
	MOVQ rows+16(FP), R8
	MOVQ val+24(FP), R9
	MOVQ n+32(FP), CX
	MOVQ lanes+40(FP), R10
	MOVQ coef+48(FP), R12
	MOVQ nl+56(FP), R11
#define ADDW(r) \
	ADDQ w+0(FP), r
#include "activeupdate_avx2.h"
#undef ADDW
	RET

// func lanesRunAVX2F32(counts *int32, w *float32, width int, ptr *int, n int, rows *int32, val *float32,
// y *float32, seen *uint64, stride int, margin, step float32)
TEXT ·lanesRunAVX2F32(SB), NOSPLIT, $0-88
	MOVQ    counts+0(FP), R15
	MOVQ    w+8(FP), SI
	MOVQ    width+16(FP), R13
	MOVQ    ptr+24(FP), DI
	MOVQ    n+32(FP), DX
	MOVQ    rows+40(FP), R10
	MOVQ    val+48(FP), R11
	MOVQ    y+56(FP), R9
	MOVQ    seen+64(FP), BX
	VBROADCASTSS margin+80(FP), Y15
	VBROADCASTSS step+84(FP), Y14
	VMOVDQU LANEBITS, Y11
#define LOADSTRIDE \
	MOVQ stride+72(FP), R8
#define LOADSEEN MOVQ
#include "lanesrun_avx2.h"
#undef LOADSTRIDE
#undef LOADSEEN
	VZEROUPPER
	RET

// func lanesRunInt16AVX2F32(counts, sums *int32, w *int16, width int, ptr *int, n int, rows *int32, y *float32,
// seen *uint64, stride, margin, limit, peak, lanes int) (done, newPeak int)
TEXT ·lanesRunInt16AVX2F32(SB), NOSPLIT, $0-128
	MOVQ         counts+0(FP), R15
	MOVQ         w+16(FP), SI
	MOVQ         width+24(FP), R13
	MOVQ         ptr+32(FP), DI
	MOVQ         n+40(FP), DX
	MOVQ         rows+48(FP), R10
	MOVQ         y+56(FP), R9
	MOVQ         seen+64(FP), BX
	MOVQ         margin+80(FP), R8
	VMOVQ        R8, X11
	VPBROADCASTW X11, Y11
	MOVQ         limit+88(FP), R8
	VMOVQ        R8, X14
	VPBROADCASTW X14, Y14
	MOVQ         peak+96(FP), R8
	VMOVQ        R8, X13
	VPBROADCASTW X13, Y13
	VMOVDQU      bits16<>(SB), Y15
#define LOADSIGN MOVLQSX (R9), R11
#define LOADW \
	MOVQ w+16(FP), SI
#define LOADSTRIDE \
	MOVQ stride+72(FP), R8
#define LOADSUMS \
	MOVQ sums+8(FP), R8; \
	SUBQ counts+0(FP), R8
#define CMPLANES(x) \
	CMPQ lanes+104(FP), x
#include "lanesrunint16_avx2.h"
#undef CMPLANES
#undef LOADSIGN
#undef LOADW
#undef LOADSTRIDE
#undef LOADSUMS
	MOVQ n+40(FP), CX
	SUBQ DX, CX
	MOVQ CX, done+112(FP)
	MOVQ AX, newPeak+120(FP)
	VZEROUPPER
	RET
#undef SZ
#undef LOGSZ
#undef XSZ
#undef XB
#undef LANES
#undef BLOCK
#undef SIGNS
#undef LANEBITS
#undef MOVU
#undef MOVS
#undef MASKMOV
#undef BCAST
#undef ADD
#undef ADDS
#undef SUB
#undef MUL
#undef MULS
#undef FMA
#undef FMAS
#undef FMA213
#undef BLENDV
#undef CMPLE
#undef MOVMSK
#undef BROADBITS
#undef EQBITS
#undef MAX
#undef ABSMASK
#undef MAXHALVES
#undef HALVE

// float64
#define SZ 8
#define LOGSZ 3
#define XSZ 8
#define XB 32
#define LANES 4
#define BLOCK 32
#define SIGNS 160
#define LANEBITS bits64<>(SB)
#define MOVU VMOVUPD
#define MOVS VMOVSD
#define MASKMOV VMASKMOVPD
#define BCAST VBROADCASTSD
#define ADD VADDPD
#define ADDS VADDSD
#define SUB VSUBPD
#define MUL VMULPD
#define MULS VMULSD
#define FMA VFMADD231PD
#define FMAS VFMADD231SD
#define FMA213 VFMADD213PD
#define BLENDV VBLENDVPD
#define CMPLE VCMPPD $2,
#define MOVMSK VMOVMSKPD
#define BROADBITS VPBROADCASTQ
#define EQBITS VPCMPEQQ
#define MAX VMAXPD
#define ABSMASK(r) VPCMPEQD r, r, r; VPSRLQ $1, r, r
#define MAXHALVES \
	VUNPCKHPD X0, X0, X1; \
	VMAXSD X1, X0, X0
#define HALVE \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPD X1, X0, X0; \
	VPERMILPD $1, X0, X1; \
	VADDSD X1, X0, X0

// func dotAVX2F64(a, b *float64, n int) float64
TEXT ·dotAVX2F64(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
#include "reduce_avx2.h"
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func rowsDotAVX2F64(dst, rows *float64, nrows, stride int, x *float64, n int)
TEXT ·rowsDotAVX2F64(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), R9
	MOVQ rows+8(FP), R10
	MOVQ nrows+16(FP), R11
	MOVQ stride+24(FP), R12
	SHLQ $LOGSZ, R12
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), BX
#include "rowsdot_avx2.h"
	VZEROUPPER
	RET

// func rowsDotAtAVX2F64(dst, rows *float64, stride int, at *int32, nat int, x *float64, n int)
TEXT ·rowsDotAtAVX2F64(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), R9
	MOVQ rows+8(FP), R13
	MOVQ stride+16(FP), R12
	SHLQ $LOGSZ, R12
	MOVQ at+24(FP), R10
	MOVQ nat+32(FP), R11
	MOVQ x+40(FP), DX
	MOVQ n+48(FP), BX
#include "rowsdotat_avx2.h"
	VZEROUPPER
	RET

// func sqDistAVX2F64(a, b *float64, n int) float64
TEXT ·sqDistAVX2F64(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
#define SQDIST
#include "reduce_avx2.h"
#undef SQDIST
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func sumSqAVX2F64(x *float64, n int) float64
TEXT ·sumSqAVX2F64(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
#define SUMSQ
#include "reduce_avx2.h"
#undef SUMSQ
	VMOVSD X0, ret+16(FP)
	VZEROUPPER
	RET

// func asumAVX2F64(x *float64, n int) float64
TEXT ·asumAVX2F64(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	ABSMASK(Y10)
#define ASUM
#include "reduce_avx2.h"
#undef ASUM
	VMOVSD X0, ret+16(FP)
	VZEROUPPER
	RET

// func maxAbsAVX2F64(x *float64, n int) float64
TEXT ·maxAbsAVX2F64(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
#include "maxabs_avx2.h"
	VMOVSD X0, ret+16(FP)
	VZEROUPPER
	RET

// func indexAbsAVX2F64(x *float64, n int, m float64) int
TEXT ·indexAbsAVX2F64(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSD m+16(FP), Y0
#include "indexabs_avx2.h"
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET

// func addRowsAVX2F64(y *float64, n int, rows *float64, stride int, x *float64, nrows int, alpha float64)
TEXT ·addRowsAVX2F64(SB), NOSPLIT, $0-56
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ rows+16(FP), R10
	MOVQ stride+24(FP), R9
	SHLQ $LOGSZ, R9
	MOVQ x+32(FP), R11
	MOVQ nrows+40(FP), DX
	LEAQ (R11)(DX*SZ), R11
	NEGQ DX
	VBROADCASTSD alpha+48(FP), Y15
#include "addrows_avx2.h"
	VZEROUPPER
	RET

// func addRowsAtAVX2F64(y *float64, n int, rows *float64, stride int, x *float64, list *int32,
//	nlist int, alpha float64)
TEXT ·addRowsAtAVX2F64(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ rows+16(FP), R10
	MOVQ stride+24(FP), R9
	SHLQ $LOGSZ, R9
	MOVQ x+32(FP), R11
	MOVQ list+40(FP), R13
	MOVQ nlist+48(FP), DX
	LEAQ (R13)(DX*4), R13
	NEGQ DX
	VBROADCASTSD alpha+56(FP), Y15
#define LISTED
#include "addrows_avx2.h"
#undef LISTED
	VZEROUPPER
	RET

// func axpyAVX2F64(y *float64, a float64, x *float64, n int)
TEXT ·axpyAVX2F64(SB), NOSPLIT, $0-32
	MOVQ         y+0(FP), DI
	VBROADCASTSD a+8(FP), Y0
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
#include "elementwise_avx2.h"
	VZEROUPPER
	RET

// func scalAVX2F64(x *float64, a float64, n int)
TEXT ·scalAVX2F64(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), DI
	VBROADCASTSD a+8(FP), Y0
	MOVQ         n+16(FP), CX
#define SCAL
#include "elementwise_avx2.h"
#undef SCAL
	VZEROUPPER
	RET

// func sparseDotAVX2F64(idx *int32, val *float64, n int, w *float64) float64
TEXT ·sparseDotAVX2F64(SB), NOSPLIT, $0-40
	MOVQ idx+0(FP), R8
	MOVQ val+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ w+24(FP), DI
#include "sparsedot_avx2.h"
	VMOVSD X0, ret+32(FP)
	RET

// func sparseAxpyAVX2F64(w *float64, a float64, idx *int32, val *float64, n int)
TEXT ·sparseAxpyAVX2F64(SB), NOSPLIT, $0-40
	MOVQ   w+0(FP), DI
	VMOVSD a+8(FP), X0
	MOVQ   idx+16(FP), R8
	MOVQ   val+24(FP), SI
	MOVQ   n+32(FP), CX
#include "sparseaxpy_avx2.h"
	RET

// func lanesScoreAVX2F64(dst, w *float64, width int, rows *int32, val *float64, n int)
TEXT ·lanesScoreAVX2F64(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), DX
	SHLQ $LOGSZ, DX
	MOVQ DX, R10
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
#include "lanesscore_avx2.h"
	VZEROUPPER
	RET

// func lanesScoreLEAVX2F64(dst, w *float64, width int, rows *int32, val *float64, n int, mask
// *uint64, y, t float64)
TEXT ·lanesScoreLEAVX2F64(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), DX
	SHLQ $LOGSZ, DX
	MOVQ DX, R10
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
#include "lanesscore_avx2.h"
	MOVQ mask+48(FP), DI
	MOVQ dst+0(FP), SI
	MOVQ width+16(FP), CX
	VBROADCASTSD y+56(FP), Y0
	VBROADCASTSD t+64(FP), Y1
#include "lanesle_avx2.h"
	VZEROUPPER
	RET

// func lanesUpdateAVX2F64(w *float64, width int, rows *int32, val *float64, n int, coef *float64,
// mask *uint64)
TEXT ·lanesUpdateAVX2F64(SB), NOSPLIT, $120-56
	MOVQ w+0(FP), DI
	MOVQ width+8(FP), R11
	SHLQ $LOGSZ, R11
	JEQ  done
	CMPQ n+32(FP), $0
	JEQ  done
	MOVQ coef+40(FP), R12
	MOVQ mask+48(FP), R8
#define LOADLISTS \
	MOVQ n+32(FP), DX; \
	MOVQ rows+16(FP), R8; \
	MOVQ val+24(FP), R9
#include "lanesupdate_avx2.h"
#undef LOADLISTS
	VZEROUPPER
	RET

// func lanesLEAVX2F64(mask *uint64, s *float64, width int, y, t float64)
TEXT ·lanesLEAVX2F64(SB), NOSPLIT, $0-40
	MOVQ         mask+0(FP), DI
	MOVQ         s+8(FP), SI
	MOVQ         width+16(FP), CX
	VBROADCASTSD y+24(FP), Y0
	VBROADCASTSD t+32(FP), Y1
#include "lanesle_avx2.h"
	VZEROUPPER
	RET

// func activeScoreAVX2F64(dst, w *float64, width int, rows *int32, val *float64, n int, lanes
// *int32, nl int)
TEXT ·activeScoreAVX2F64(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ rows+24(FP), R8
	MOVQ val+32(FP), R9
	MOVQ n+40(FP), CX
	MOVQ lanes+48(FP), R10
	MOVQ nl+56(FP), R11
#define ADDW(r) \
	ADDQ w+8(FP), r
#define MULWIDTH(r) \
	IMULQ width+16(FP), r
#include "activescore_avx2.h"
#undef ADDW
#undef MULWIDTH
	RET

// func activeUpdateAVX2F64(w *float64, width int, rows *int32, val *float64, n int, lanes *int32,
// coef *float64, nl int)
TEXT ·activeUpdateAVX2F64(SB), NOSPLIT, $0-64
	MOVQ width+8(FP), DI
	MOVQ rows+16(FP), R8
	MOVQ val+24(FP), R9
	MOVQ n+32(FP), CX
	MOVQ lanes+40(FP), R10
	MOVQ coef+48(FP), R12
	MOVQ nl+56(FP), R11
#define ADDW(r) \
	ADDQ w+0(FP), r
#include "activeupdate_avx2.h"
#undef ADDW
	RET

// func lanesRunAVX2F64(counts *int32, w *float64, width int, ptr *int, n int, rows *int32, val *float64,
// y *float64, seen *uint64, stride int, margin, step float64)
TEXT ·lanesRunAVX2F64(SB), NOSPLIT, $0-96
	MOVQ    counts+0(FP), R15
	MOVQ    w+8(FP), SI
	MOVQ    width+16(FP), R13
	MOVQ    ptr+24(FP), DI
	MOVQ    n+32(FP), DX
	MOVQ    rows+40(FP), R10
	MOVQ    val+48(FP), R11
	MOVQ    y+56(FP), R9
	MOVQ    seen+64(FP), BX
	VBROADCASTSD margin+80(FP), Y15
	VBROADCASTSD step+88(FP), Y14
	VMOVDQU LANEBITS, Y11
#define LOADSTRIDE \
	MOVQ stride+72(FP), R8
#define LOADSEEN MOVL
#include "lanesrun_avx2.h"
#undef LOADSTRIDE
#undef LOADSEEN
	VZEROUPPER
	RET

// func lanesRunInt16AVX2F64(counts, sums *int32, w *int16, width int, ptr *int, n int, rows *int32, y *float64,
// seen *uint64, stride, margin, limit, peak, lanes int) (done, newPeak int)
TEXT ·lanesRunInt16AVX2F64(SB), NOSPLIT, $0-128
	MOVQ         counts+0(FP), R15
	MOVQ         w+16(FP), SI
	MOVQ         width+24(FP), R13
	MOVQ         ptr+32(FP), DI
	MOVQ         n+40(FP), DX
	MOVQ         rows+48(FP), R10
	MOVQ         y+56(FP), R9
	MOVQ         seen+64(FP), BX
	MOVQ         margin+80(FP), R8
	VMOVQ        R8, X11
	VPBROADCASTW X11, Y11
	MOVQ         limit+88(FP), R8
	VMOVQ        R8, X14
	VPBROADCASTW X14, Y14
	MOVQ         peak+96(FP), R8
	VMOVQ        R8, X13
	VPBROADCASTW X13, Y13
	VMOVDQU      bits16<>(SB), Y15
#define LOADSIGN MOVQ (R9), R11
#define LOADW \
	MOVQ w+16(FP), SI
#define LOADSTRIDE \
	MOVQ stride+72(FP), R8
#define LOADSUMS \
	MOVQ sums+8(FP), R8; \
	SUBQ counts+0(FP), R8
#define CMPLANES(x) \
	CMPQ lanes+104(FP), x
#include "lanesrunint16_avx2.h"
#undef CMPLANES
#undef LOADSIGN
#undef LOADW
#undef LOADSTRIDE
#undef LOADSUMS
	MOVQ n+40(FP), CX
	SUBQ DX, CX
	MOVQ CX, done+112(FP)
	MOVQ AX, newPeak+120(FP)
	VZEROUPPER
	RET

// Mixed: a float64 vector and a float32 example. The float64 macros above stay.

#define MIXED
#undef XB
#define XB 16
#undef XSZ
#define XSZ 4

// func dotMixedAVX2(a *float64, x *float32, n int) float64
TEXT ·dotMixedAVX2(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ n+16(FP), CX
#include "reduce_avx2.h"
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func rowsDotMixedAVX2(dst *float64, rows *float32, nrows, stride int, x *float64, n int)
TEXT ·rowsDotMixedAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), R9
	MOVQ rows+8(FP), R10
	MOVQ nrows+16(FP), R11
	MOVQ stride+24(FP), R12
	SHLQ $2, R12
	MOVQ x+32(FP), DX
	MOVQ n+40(FP), BX
#include "rowsdot_avx2.h"
	VZEROUPPER
	RET

// func axpyMixedAVX2(y *float64, a float64, x *float32, n int)
TEXT ·axpyMixedAVX2(SB), NOSPLIT, $0-32
	MOVQ         y+0(FP), DI
	VBROADCASTSD a+8(FP), Y0
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
#include "elementwise_avx2.h"
	VZEROUPPER
	RET

// func sparseDotMixedAVX2(idx *int32, val *float32, n int, w *float64) float64
TEXT ·sparseDotMixedAVX2(SB), NOSPLIT, $0-40
	MOVQ idx+0(FP), R8
	MOVQ val+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ w+24(FP), DI
#include "sparsedot_avx2.h"
	VMOVSD X0, ret+32(FP)
	RET

// func sparseAxpyMixedAVX2(w *float64, a float64, idx *int32, val *float32, n int)
TEXT ·sparseAxpyMixedAVX2(SB), NOSPLIT, $0-40
	MOVQ   w+0(FP), DI
	VMOVSD a+8(FP), X0
	MOVQ   idx+16(FP), R8
	MOVQ   val+24(FP), SI
	MOVQ   n+32(FP), CX
#include "sparseaxpy_avx2.h"
	RET

// func sparseDotAxpyMixedAVX2(w *float64, a float64, idx *int32, val *float32, n int) float64
TEXT ·sparseDotAxpyMixedAVX2(SB), NOSPLIT, $0-48
	MOVQ   w+0(FP), DI
	VMOVSD a+8(FP), X14
	MOVQ   idx+16(FP), R8
	MOVQ   val+24(FP), SI
	MOVQ   n+32(FP), CX
#define AXPY
#include "sparsedot_avx2.h"
#undef AXPY
	VMOVSD X0, ret+40(FP)
	RET

// func sparseDotAxpyRunAVX2(f, w, a *float64, ptr *int, n int, idx *int32, val *float32)
// R9 = ptr, R10 = f, R11 = a of the example, DX = examples left; R12 and R13 are ends of its idx
// and val.
TEXT ·sparseDotAxpyRunAVX2(SB), NOSPLIT, $0-56
	MOVQ f+0(FP), R10
	MOVQ w+8(FP), DI
	MOVQ a+16(FP), R11
	MOVQ ptr+24(FP), R9
	MOVQ n+32(FP), DX
	MOVQ idx+40(FP), R12
	MOVQ val+48(FP), R13

example:
	MOVQ R12, R8
	MOVQ R13, SI
	MOVQ 8(R9), CX
	SUBQ (R9), CX
	LEAQ (R12)(CX*4), R12
	LEAQ (R13)(CX*4), R13
	VMOVSD (R11), X14
#define AXPY
#include "sparsedot_avx2.h"
#undef AXPY
	VMOVSD X0, (R10)
	ADDQ $8, R9
	ADDQ $8, R10
	ADDQ $8, R11
	DECQ DX
	JNE example
	RET

// func allOnesAVX2F32(x *float32, n int) bool
// Y1 and AX = bits that differ from those of 1, which Y0 and R8 are.
TEXT ·allOnesAVX2F32(SB), NOSPLIT, $0-17
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ $0x3f800000, R8
	VMOVQ R8, X0
	VPBROADCASTD X0, Y0
	VPXOR Y1, Y1, Y1
	XORL AX, AX
	SUBQ $16, CX
	JLT rest

two:
	VPXOR (SI), Y0, Y2
	VPXOR 32(SI), Y0, Y3
	VPOR Y2, Y1, Y1
	VPOR Y3, Y1, Y1
	ADDQ $64, SI
	SUBQ $16, CX
	JGE two

rest:
	ADDQ $16, CX
	JEQ done

one:
	MOVL (SI), DX
	XORQ R8, DX
	ORQ DX, AX
	ADDQ $4, SI
	DECQ CX
	JNE one

done:
	VPTEST Y1, Y1
	SETEQ CX
	TESTQ AX, AX
	SETEQ AX
	ANDB CX, AX
	MOVB AX, ret+16(FP)
	VZEROUPPER
	RET

// func allOnesAVX2F64(x *float64, n int) bool
// Y1 and AX = bits that differ from those of 1, which Y0 and R8 are.
TEXT ·allOnesAVX2F64(SB), NOSPLIT, $0-17
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ $0x3ff0000000000000, R8
	VMOVQ R8, X0
	VPBROADCASTQ X0, Y0
	VPXOR Y1, Y1, Y1
	XORL AX, AX
	SUBQ $8, CX
	JLT rest

two:
	VPXOR (SI), Y0, Y2
	VPXOR 32(SI), Y0, Y3
	VPOR Y2, Y1, Y1
	VPOR Y3, Y1, Y1
	ADDQ $64, SI
	SUBQ $8, CX
	JGE two

rest:
	ADDQ $8, CX
	JEQ done

one:
	MOVQ (SI), DX
	XORQ R8, DX
	ORQ DX, AX
	ADDQ $8, SI
	DECQ CX
	JNE one

done:
	VPTEST Y1, Y1
	SETEQ CX
	TESTQ AX, AX
	SETEQ AX
	ANDB CX, AX
	MOVB AX, ret+16(FP)
	VZEROUPPER
	RET

// func sparseOnesAddRunAVX2(w, a *float64, ptr *int, n int, idx *int32)
// R8 = end of the example's idx, BX = non-zero counted up from -n to 0, DX = example counted up
// from -n to 0; R9, R11 = ends of ptr and a, DI = w.
TEXT ·sparseOnesAddRunAVX2(SB), NOSPLIT, $0-40
	MOVQ w+0(FP), DI
	MOVQ a+8(FP), R11
	MOVQ ptr+16(FP), R9
	MOVQ n+24(FP), DX
	MOVQ idx+32(FP), R8
	LEAQ (R9)(DX*8), R9
	LEAQ (R11)(DX*8), R11
	NEGQ DX
	VXORPS X2, X2, X2

example:
	MOVQ (R9)(DX*8), BX
	SUBQ 8(R9)(DX*8), BX
	MOVQ BX, AX
	NEGQ AX
	LEAQ (R8)(AX*4), R8
	VMOVSD (R11)(DX*8), X1
	VUCOMISD X2, X1
	JPS some // NaN
	JEQ next

some:
	TESTQ BX, BX
	JEQ next

add:
	MOVLQSX (R8)(BX*4), AX
	VADDSD (DI)(AX*8), X1, X0
	VMOVSD X0, (DI)(AX*8)
	INCQ BX
	JNE add

next:
	INCQ DX
	JNE example
	RET

// ADDROW adds 32 lanes of a row, in pairs, to a sum; Y5 is 1 in every lane.
#define ADDROW(row, sum) \
	VPMADDWD (row)(AX*1), Y5, Y6; \
	VPMADDWD 32(row)(AX*1), Y5, Y7; \
	VPADDD Y6, sum, sum; \
	VPADDD Y7, sum, sum

// func addRowSumsAVX2(dst *float64, w *int16, width, n int)
// DI = dst, SI = the row, R9 = bytes of a row, DX = rows left, AX = offset in a row; four rows at a
// time, R11, R12 and R13 being the other three, of sums Y0-Y3.
TEXT ·addRowSumsAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ width+16(FP), R9
	MOVQ n+24(FP), DX
	SHLQ $1, R9
	VPCMPEQW Y5, Y5, Y5
	VPSRLW $15, Y5, Y5
	SUBQ $4, DX
	JLT rest

four:
	LEAQ (SI)(R9*1), R11
	LEAQ (SI)(R9*2), R12
	LEAQ (R11)(R9*2), R13
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	XORL AX, AX

lanes4:
	ADDROW(SI, Y0)
	ADDROW(R11, Y1)
	ADDROW(R12, Y2)
	ADDROW(R13, Y3)
	ADDQ $64, AX
	CMPQ AX, R9
	JLT lanes4
	VPHADDD Y1, Y0, Y0
	VPHADDD Y3, Y2, Y2
	VPHADDD Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VCVTDQ2PD X0, Y0
	VADDPD (DI), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	LEAQ (SI)(R9*4), SI
	SUBQ $4, DX
	JGE four

rest:
	ADDQ $4, DX
	JEQ done

one:
	VPXOR Y0, Y0, Y0
	XORL AX, AX

lanes1:
	ADDROW(SI, Y0)
	ADDQ $64, AX
	CMPQ AX, R9
	JLT lanes1
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPHADDD X0, X0, X0
	VPHADDD X0, X0, X0
	VCVTDQ2PD X0, X0
	VADDSD (DI), X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, DI
	ADDQ R9, SI
	DECQ DX
	JNE one

done:
	VZEROUPPER
	RET

// func drawBitsAVX2(x *uint64, n int, fin, step, first, turn uint64)
// Four sequences at a time. The 128-bit product of xh:xl and yh:yl comes from four of 32 bits: with
// t = xl*yh + (xl*yl >> 32) and u = xh*yl + (t mod 2^32), which don't overflow, hi = xh*yh +
// (t>>32) + (u>>32) and lo = u<<32 | (xl*yl mod 2^32).
//
// Y0 = x, Y1 = bits set in all words so far, Y2 = the result; Y3 = y = x^fin, Y4 = xh, Y5 = yh, Y6
// = xl*yl and lo, Y7 = t, Y8 = u, Y9 = hi; Y11 = fin, Y12 = step, Y13 = first, Y14 = 2^32-1 in all
// lanes. AX = digits of turn left.
TEXT ·drawBitsAVX2(SB), NOSPLIT, $0-48
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VPBROADCASTQ fin+16(FP), Y11
	VPBROADCASTQ step+24(FP), Y12
	VPBROADCASTQ first+32(FP), Y13
	MOVQ turn+40(FP), R8
	VPCMPEQD Y14, Y14, Y14
	VPSRLQ $32, Y14, Y14
	SUBQ $4, CX
	JLT done

group:
	VMOVDQU (DI), Y0
	VPCMPEQD Y1, Y1, Y1
	VMOVDQA Y13, Y2
	MOVQ R8, AX
	TESTQ AX, AX
	JEQ store
word:
	VPXOR Y11, Y0, Y3
	VPSRLQ $32, Y0, Y4
	VPSRLQ $32, Y3, Y5
	VPMULUDQ Y3, Y0, Y6
	VPMULUDQ Y5, Y0, Y7
	VPMULUDQ Y3, Y4, Y8
	VPMULUDQ Y5, Y4, Y9
	VPADDQ Y12, Y0, Y0
	VPSRLQ $32, Y6, Y10
	VPADDQ Y10, Y7, Y7
	VPAND Y14, Y7, Y10
	VPADDQ Y10, Y8, Y8
	VPSRLQ $32, Y7, Y7
	VPADDQ Y7, Y9, Y9
	VPSRLQ $32, Y8, Y10
	VPADDQ Y10, Y9, Y9
	VPSLLQ $32, Y8, Y8
	VPBLENDD $0xAA, Y8, Y6, Y6
	VPXOR Y9, Y6, Y6
	VPAND Y6, Y1, Y1
	ADDQ AX, AX             // the digit to the carry
	JCC next
	VPXOR Y1, Y2, Y2
	VPTEST Y1, Y1
	JEQ store
next:
	TESTQ AX, AX
	JNE word

store:
	VMOVDQU Y2, (DI)
	ADDQ $32, DI
	SUBQ $4, CX
	JGE group

done:
	VZEROUPPER
	RET

// func maxIndexAVX2(idx *int32, n int) uint32
//
// SI idx, CX indices left; Y0 and Y1 the largest of each lane. The lanes past the end are 0, which
// changes no maximum.
TEXT ·maxIndexAVX2(SB), NOSPLIT, $0-20
	MOVQ idx+0(FP), SI
	MOVQ n+8(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	SUBQ $16, CX
	JLT eight

sixteen:
	VPMAXUD 0(SI), Y0, Y0
	VPMAXUD 32(SI), Y1, Y1
	ADDQ $64, SI
	SUBQ $16, CX
	JGE sixteen

eight:
	ADDQ $8, CX
	JLT rest
	VPMAXUD (SI), Y0, Y0
	ADDQ $32, SI
	SUBQ $8, CX

rest:
	ADDQ $8, CX
	JEQ reduce
	SHLQ $2, CX
	LEAQ tails<>+32(SB), R8
	SUBQ CX, R8
	VMOVDQU (R8), Y2
	VPMASKMOVD (SI), Y2, Y2
	VPMAXUD Y2, Y1, Y1

reduce:
	VPMAXUD Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPMAXUD X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPMAXUD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPMAXUD X1, X0, X0
	VMOVD X0, AX
	MOVL AX, ret+16(FP)
	VZEROUPPER
	RET

// classBits has, of each byte's lane, which byte of a mask has its bit, and that bit.
DATA classBits<>+0(SB)/8, $0
DATA classBits<>+8(SB)/8, $0x0101010101010101
DATA classBits<>+16(SB)/8, $0x0202020202020202
DATA classBits<>+24(SB)/8, $0x0303030303030303
DATA classBits<>+32(SB)/8, $0x8040201008040201
DATA classBits<>+40(SB)/8, $0x8040201008040201
DATA classBits<>+48(SB)/8, $0x8040201008040201
DATA classBits<>+56(SB)/8, $0x8040201008040201
GLOBL classBits<>(SB), RODATA|NOPTR, $64

// CLASSLANES loads these tables to Y13 and Y12, and 1 in every byte to Y15.
#define CLASSLANES \
	VMOVDQU  classBits<>+0(SB), Y13; \
	VMOVDQU  classBits<>+32(SB), Y12; \
	VPCMPEQB Y15, Y15, Y15; \
	VPABSB   Y15, Y15

// LABELS sets Y2, in each of 32 bytes, to 1 where the masks in Y2 and Y3 have its lane, to -1 where
// that in Y2 alone has it, and else to 0.
#define LABELS \
	VPSHUFB  Y13, Y2, Y2; \
	VPSHUFB  Y13, Y3, Y3; \
	VPAND    Y12, Y2, Y2; \
	VPAND    Y12, Y3, Y3; \
	VPCMPEQB Y12, Y2, Y2; \
	VPCMPEQB Y12, Y3, Y3; \
	VPOR     Y15, Y3, Y3; \
	VPSIGNB  Y3, Y2, Y2

// PASTSUM goes through the numbers CX to R14-1 of what examples before have in common with one: add
// adds it, where Y2 has the labels.
//
// R8 took, R9 own, R12 slots; AX the slot.
#define PASTSUM(loop, done, add) \
	CMPQ CX, R14; \
	JGE  done; \
loop: \
	MOVLQSX      (R12)(CX*4), AX; \
	VPBROADCASTD (R8)(AX*4), Y2; \
	VPBROADCASTD (R9)(AX*4), Y3; \
	LABELS; \
	add; \
	INCQ         CX; \
	CMPQ         CX, R14; \
	JLT          loop; \
done:

// ADDWORDS adds to Y0 and Y1; R13 coef.
#define ADDWORDS \
	VPBROADCASTW (R13)(CX*2), Y6; \
	VPMOVSXBW    X2, Y4; \
	VEXTRACTI128 $1, Y2, X5; \
	VPMOVSXBW    X5, Y5; \
	VPSIGNW      Y4, Y6, Y4; \
	VPADDW       Y4, Y0, Y0; \
	VPSIGNW      Y5, Y6, Y5; \
	VPADDW       Y5, Y1, Y1

// ADDBYTES adds to Y0, in 8 bits.
#define ADDBYTES \
	VPBROADCASTB (R13)(CX*2), Y6; \
	VPSIGNB      Y2, Y6, Y6; \
	VPADDB       Y6, Y0, Y0

// MULPAIR adds to Y0-Y3 the products of the non-zeros CX and CX+1, whose rows of base take 1<<bits
// bytes, half bytes 16 lanes, which load makes words.
#define MULPAIR(load, base, bits, half) \
	MOVLQSX      (R10)(CX*4), AX; \
	SHLQ         $bits, AX; \
	load         (base)(AX*1), Y4; \
	load         half(base)(AX*1), Y5; \
	MOVLQSX      4(R10)(CX*4), AX; \
	SHLQ         $bits, AX; \
	load         (base)(AX*1), Y8; \
	load         half(base)(AX*1), Y9; \
	VPBROADCASTD (R11)(CX*2), Y6; \
	VPUNPCKLWD   Y8, Y4, Y7; \
	VPUNPCKHWD   Y8, Y4, Y4; \
	VPMADDWD     Y6, Y7, Y7; \
	VPMADDWD     Y6, Y4, Y4; \
	VPADDD       Y7, Y0, Y0; \
	VPADDD       Y4, Y1, Y1; \
	VPUNPCKLWD   Y9, Y5, Y7; \
	VPUNPCKHWD   Y9, Y5, Y5; \
	VPMADDWD     Y6, Y7, Y7; \
	VPMADDWD     Y6, Y5, Y5; \
	VPADDD       Y7, Y2, Y2; \
	VPADDD       Y5, Y3, Y3

// func classesRunAVX2(counts *int16, narrow *int8, w *int16, ptr, wide, rows *int32,
// val *int16, past, slots *int32, coef *int16, took, own *uint32, first int, seen *int32,
// nseen, lanes, margin, peak int) int
//
// As classesRunAVX512, a row being two registers: Y0 and Y1 have what is in common, then Y0 and Y1
// the products of the first 16 lanes, Y2 and Y3 those of the others; Y14 is the peak.
TEXT ·classesRunAVX2(SB), NOSPLIT, $0-152
	MOVQ         narrow+8(FP), SI
	MOVQ         w+16(FP), R15
	MOVQ         rows+40(FP), R10
	MOVQ         val+48(FP), R11
	MOVQ         slots+64(FP), R12
	MOVQ         coef+72(FP), R13
	MOVQ         took+80(FP), R8
	MOVQ         own+88(FP), R9
	MOVQ         seen+104(FP), DI
	MOVQ         nseen+112(FP), DX
	MOVQ         peak+136(FP), AX
	VMOVD        AX, X14
	VPBROADCASTW X14, Y14
	CLASSLANES

example:
	MOVLQSX (DI), BX
	CMPQ    DX, $1
	JEQ     fetched
	MOVLQSX 4(DI), CX
	MOVQ    ptr+24(FP), AX
	MOVQ    wide+32(FP), R14
	MOVLQSX (R14)(CX*4), R14
	MOVLQSX (AX)(CX*4), CX
	CMPQ    CX, R14
	JGE     wideNext

fetch:
	MOVLQSX    (R10)(CX*4), AX
	SHLQ       $5, AX
	PREFETCHT1 (SI)(AX*1)
	INCQ       CX
	CMPQ       CX, R14
	JLT        fetch

wideNext:
	MOVLQSX 4(DI), R14
	MOVQ    ptr+24(FP), AX
	MOVLQSX 4(AX)(R14*4), R14
	CMPQ    CX, R14
	JGE     fetched

fetchWide:
	MOVLQSX    (R10)(CX*4), AX
	SHLQ       $6, AX
	PREFETCHT1 (R15)(AX*1)
	INCQ       CX
	CMPQ       CX, R14
	JLT        fetchWide

fetched:
	MOVQ    past+56(FP), AX
	MOVLQSX (AX)(BX*4), CX
	MOVLQSX 4(AX)(BX*4), R14
	VPXOR   Y0, Y0, Y0
	VPXOR   Y1, Y1, Y1
	PASTSUM(common, shared, ADDWORDS)
	VPCMPEQD   Y6, Y6, Y6
	VPABSD     Y6, Y6 // 1 in 32 bits
	VPUNPCKHWD Y1, Y1, Y3
	VPUNPCKLWD Y1, Y1, Y2
	VPUNPCKHWD Y0, Y0, Y1
	VPUNPCKLWD Y0, Y0, Y0
	VPMADDWD   Y6, Y0, Y0
	VPMADDWD   Y6, Y1, Y1
	VPMADDWD   Y6, Y2, Y2
	VPMADDWD   Y6, Y3, Y3
	MOVQ       ptr+24(FP), AX
	MOVLQSX    (AX)(BX*4), CX
	MOVQ       wide+32(FP), AX
	MOVLQSX    (AX)(BX*4), R14
	CMPQ       CX, R14
	JGE        wide

narrow:
	MULPAIR(VPMOVSXBW, SI, 5, 16)
	ADDQ $2, CX
	CMPQ CX, R14
	JLT  narrow

wide:
	MOVQ    ptr+24(FP), AX
	MOVLQSX 4(AX)(BX*4), R14
	CMPQ    CX, R14
	JGE     summed

pair:
	MULPAIR(VMOVDQU, R15, 6, 32)
	ADDQ $2, CX
	CMPQ CX, R14
	JLT  pair

summed:
	VPACKSSDW    Y1, Y0, Y0
	VPACKSSDW    Y3, Y2, Y2
	MOVQ         margin+128(FP), AX
	VMOVD        AX, X4
	VPBROADCASTW X4, Y4
	VPXOR        Y5, Y5, Y5
	VPSUBW       Y4, Y5, Y5
	VPCMPGTW     Y4, Y0, Y6 // beyond the margin of their own class
	VPCMPGTW     Y4, Y2, Y7
	VPACKSSWB    Y7, Y6, Y6
	VPERMQ       $0xD8, Y6, Y6
	VPMOVMSKB    Y6, CX
	VPCMPGTW     Y0, Y5, Y6 // beyond that of the rest
	VPCMPGTW     Y2, Y5, Y7
	VPACKSSWB    Y7, Y6, Y6
	VPERMQ       $0xD8, Y6, Y6
	VPMOVMSKB    Y6, AX
	XORL         AX, CX
	MOVQ         first+96(FP), R14
	ADDQ         BX, R14
	ANDL         (R9)(R14*4), CX
	XORL         CX, AX
	NOTL         AX
	MOVQ         lanes+120(FP), CX
	ANDL         CX, AX
	MOVL         AX, (R8)(R14*4)
	JEQ          next
	VPBROADCASTD (R8)(R14*4), Y2
	VPBROADCASTD (R9)(R14*4), Y3
	LABELS
	VPMOVSXBW    X2, Y0
	VEXTRACTI128 $1, Y2, X1
	VPMOVSXBW    X1, Y1
	MOVQ         BX, AX
	SHLQ         $6, AX
	ADDQ         counts+0(FP), AX
	VPABSW       Y0, Y4
	VPABSW       Y1, Y5
	VPADDW       (AX), Y4, Y4
	VPADDW       32(AX), Y5, Y5
	VMOVDQU      Y4, (AX)
	VMOVDQU      Y5, 32(AX)
	MOVQ         ptr+24(FP), AX
	MOVLQSX      (AX)(BX*4), CX
	MOVQ         wide+32(FP), AX
	MOVLQSX      (AX)(BX*4), R14
	CMPQ         CX, R14
	JGE          wideRows

narrowRow:
	MOVLQSX      (R10)(CX*4), AX
	SHLQ         $5, AX
	VPBROADCASTB (R11)(CX*2), Y4
	VPSIGNB      Y2, Y4, Y4
	VPADDB       (SI)(AX*1), Y4, Y4
	VMOVDQU      Y4, (SI)(AX*1)
	MOVLQSX      4(R10)(CX*4), AX
	SHLQ         $5, AX
	VPBROADCASTB 2(R11)(CX*2), Y5
	VPSIGNB      Y2, Y5, Y5
	VPADDB       (SI)(AX*1), Y5, Y5
	VMOVDQU      Y5, (SI)(AX*1)
	ADDQ         $2, CX
	CMPQ         CX, R14
	JLT          narrowRow

wideRows:
	MOVQ    ptr+24(FP), AX
	MOVLQSX 4(AX)(BX*4), R14
	CMPQ    CX, R14
	JGE     next

row:
	MOVLQSX      (R10)(CX*4), AX
	SHLQ         $6, AX
	VPBROADCASTW (R11)(CX*2), Y4
	VPSIGNW      Y1, Y4, Y5
	VPSIGNW      Y0, Y4, Y4
	VPADDW       (R15)(AX*1), Y4, Y4
	VPADDW       32(R15)(AX*1), Y5, Y5
	VMOVDQU      Y4, (R15)(AX*1)
	VMOVDQU      Y5, 32(R15)(AX*1)
	VPABSW       Y4, Y4
	VPABSW       Y5, Y5
	VPMAXUW      Y4, Y14, Y14
	VPMAXUW      Y5, Y14, Y14
	INCQ         CX
	CMPQ         CX, R14
	JLT          row

next:
	ADDQ         $4, DI
	DECQ         DX
	JNE          example
	VEXTRACTI128 $1, Y14, X2
	VPMAXUW      X2, X14, X1
	VPCMPEQD     X2, X2, X2  // the largest is the complement of the least complement
	VPXOR        X2, X1, X1
	VPHMINPOSUW  X1, X1
	VMOVD        X1, AX
	NOTL         AX
	MOVWLZX      AX, AX
	MOVQ         AX, ret+144(FP)
	VZEROUPPER
	RET

// func pastRowsAVX2(narrow *int8, rows *int32, n int, past, slots *int32, coef *int16,
// took, own *uint32)
//
// As classesRunAVX2; DI past, BX rows, DX rows left.
TEXT ·pastRowsAVX2(SB), NOSPLIT, $0-64
	MOVQ narrow+0(FP), SI
	MOVQ rows+8(FP), BX
	MOVQ n+16(FP), DX
	MOVQ past+24(FP), DI
	MOVQ slots+32(FP), R12
	MOVQ coef+40(FP), R13
	MOVQ took+48(FP), R8
	MOVQ own+56(FP), R9
	CLASSLANES

row:
	MOVLQSX (DI), CX
	MOVLQSX 4(DI), R14
	VPXOR   Y0, Y0, Y0
	PASTSUM(common, shared, ADDBYTES)
	MOVLQSX (BX), AX
	SHLQ    $5, AX
	VMOVDQU Y0, (SI)(AX*1)
	ADDQ    $4, DI
	ADDQ    $4, BX
	DECQ    DX
	JNE     row
	VZEROUPPER
	RET
#undef PASTSUM
#undef MULPAIR
#undef ADDWORDS
#undef ADDBYTES
#undef LABELS
#undef CLASSLANES

// func widenRowsAVX2(w *int16, to *int32, narrow *int8, from *int32, n int)
TEXT ·widenRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ w+0(FP), DI
	MOVQ to+8(FP), R8
	MOVQ narrow+16(FP), SI
	MOVQ from+24(FP), R9
	MOVQ n+32(FP), DX

row:
	MOVLQSX   (R9), AX
	SHLQ      $5, AX
	VPMOVSXBW (SI)(AX*1), Y0
	VPMOVSXBW 16(SI)(AX*1), Y1
	MOVLQSX   (R8), AX
	SHLQ      $6, AX
	VMOVDQU   Y0, (DI)(AX*1)
	VMOVDQU   Y1, 32(DI)(AX*1)
	ADDQ      $4, R8
	ADDQ      $4, R9
	DECQ      DX
	JNE       row
	VZEROUPPER
	RET

// SUMROW adds to Y0 to Y3 the row at AX times Y8.
#define SUMROW \
	VPMULLD (AX), Y8, Y4; \
	VPMULLD 32(AX), Y8, Y5; \
	VPMULLD 64(AX), Y8, Y6; \
	VPMULLD 96(AX), Y8, Y7; \
	VPADDD  Y4, Y0, Y0; \
	VPADDD  Y5, Y1, Y1; \
	VPADDD  Y6, Y2, Y2; \
	VPADDD  Y7, Y3, Y3

// func classSumsAVX2(f, w, ptr *int32, n int, rows *int32, val *int16, past, slots *int32,
// coef *int16, first int, steps *int16)
//
// As classSumsAVX512, a row being four registers: Y0 to Y3 have the product, then the steps.
TEXT ·classSumsAVX2(SB), NOSPLIT, $0-88
	MOVQ f+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ ptr+16(FP), R8
	MOVQ n+24(FP), DX
	MOVQ rows+32(FP), R10
	MOVQ val+40(FP), R11
	MOVQ past+48(FP), R9
	MOVQ slots+56(FP), R12
	MOVQ coef+64(FP), R13
	MOVQ first+72(FP), R15
	MOVQ steps+80(FP), BX
	SHLQ $6, R15
	ADDQ BX, R15

example:
	VPXOR   Y0, Y0, Y0
	VPXOR   Y1, Y1, Y1
	VPXOR   Y2, Y2, Y2
	VPXOR   Y3, Y3, Y3
	MOVLQSX (R9), CX
	MOVLQSX 4(R9), R14
	CMPQ    CX, R14
	JGE     shared

common:
	MOVWLSX      (R13)(CX*2), AX
	VMOVD        AX, X8
	VPBROADCASTD X8, Y8
	MOVLQSX      (R12)(CX*4), AX
	SHLQ         $6, AX
	VPMOVSXWD    (BX)(AX*1), Y4
	VPMOVSXWD    16(BX)(AX*1), Y5
	VPMOVSXWD    32(BX)(AX*1), Y6
	VPMOVSXWD    48(BX)(AX*1), Y7
	VPMULLD      Y8, Y4, Y4
	VPMULLD      Y8, Y5, Y5
	VPMULLD      Y8, Y6, Y6
	VPMULLD      Y8, Y7, Y7
	VPADDD       Y4, Y0, Y0
	VPADDD       Y5, Y1, Y1
	VPADDD       Y6, Y2, Y2
	VPADDD       Y7, Y3, Y3
	INCQ         CX
	CMPQ         CX, R14
	JLT          common

shared:
	MOVLQSX (R8), CX
	MOVLQSX 4(R8), R14
	CMPQ    CX, R14
	JGE     empty

product:
	MOVWLSX      (R11)(CX*2), AX
	VMOVD        AX, X8
	VPBROADCASTD X8, Y8
	MOVLQSX      (R10)(CX*4), AX
	SHLQ         $7, AX
	ADDQ         SI, AX
	SUMROW
	INCQ         CX
	CMPQ         CX, R14
	JLT          product
	VMOVDQU      Y0, (DI)
	VMOVDQU      Y1, 32(DI)
	VMOVDQU      Y2, 64(DI)
	VMOVDQU      Y3, 96(DI)
	MOVLQSX      (R8), CX
	VPMOVSXWD    (R15), Y0
	VPMOVSXWD    16(R15), Y1
	VPMOVSXWD    32(R15), Y2
	VPMOVSXWD    48(R15), Y3

update:
	MOVWLSX      (R11)(CX*2), AX
	VMOVD        AX, X8
	VPBROADCASTD X8, Y8
	MOVLQSX      (R10)(CX*4), AX
	SHLQ         $7, AX
	ADDQ         SI, AX
	VPMULLD      Y8, Y0, Y4
	VPMULLD      Y8, Y1, Y5
	VPMULLD      Y8, Y2, Y6
	VPMULLD      Y8, Y3, Y7
	VPADDD       (AX), Y4, Y4
	VPADDD       32(AX), Y5, Y5
	VPADDD       64(AX), Y6, Y6
	VPADDD       96(AX), Y7, Y7
	VMOVDQU      Y4, (AX)
	VMOVDQU      Y5, 32(AX)
	VMOVDQU      Y6, 64(AX)
	VMOVDQU      Y7, 96(AX)
	INCQ         CX
	CMPQ         CX, R14
	JLT          update
	JMP          next

empty:
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)

next:
	ADDQ $128, DI
	ADDQ $64, R15
	ADDQ $4, R8
	ADDQ $4, R9
	DECQ DX
	JNE  example
	VZEROUPPER
	RET
#undef SUMROW
