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
