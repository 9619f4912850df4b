#include "textflag.h"

// A symmetric matrix's rank-1 change and its product with a vector, or the product alone: CHANGE is
// defined where a body changes the matrix. The contracts are in sym.go. y, x and u stay in the first
// level of the cache; the matrix comes from wherever it lies, once. Go writes FMA b, a, c for
// c += a*b.

// For r elements of a block that count, r*SZ bytes before the middle begin r lanes of ones, then
// zeros.
DATA symMasks<>+0(SB)/8, $-1
DATA symMasks<>+8(SB)/8, $-1
DATA symMasks<>+16(SB)/8, $-1
DATA symMasks<>+24(SB)/8, $-1
DATA symMasks<>+32(SB)/8, $-1
DATA symMasks<>+40(SB)/8, $-1
DATA symMasks<>+48(SB)/8, $-1
DATA symMasks<>+56(SB)/8, $-1
DATA symMasks<>+64(SB)/8, $0
DATA symMasks<>+72(SB)/8, $0
DATA symMasks<>+80(SB)/8, $0
DATA symMasks<>+88(SB)/8, $0
DATA symMasks<>+96(SB)/8, $0
DATA symMasks<>+104(SB)/8, $0
DATA symMasks<>+112(SB)/8, $0
DATA symMasks<>+120(SB)/8, $0
GLOBL symMasks<>(SB), RODATA|NOPTR, $128

// float32
#define SZ 4
#define LOGSZ 2
#define SIGN 31
#define SLL VPSLLD
#define MOVU VMOVUPS
#define MOVS VMOVSS
#define MASKMOV VMASKMOVPS
#define BCAST VBROADCASTSS
#define MUL VMULPS
#define MULS VMULSS
#define FMA VFMADD231PS
#define FMA213 VFMADD213PS
#define BLENDV VBLENDVPS
#define HALVE(lo, x, hi, t) \
	VADDPS hi, lo, lo; \
	VEXTRACTF128 $1, lo, t; \
	VADDPS t, x, x; \
	VMOVHLPS x, x, t; \
	VADDPS t, x, x; \
	VMOVSHDUP x, t; \
	VADDSS t, x, x

// func symRankOneMulAVX2F32(y, v *float32, stride int, x *float32, a float32, u *float32, n int)
TEXT ·symRankOneMulAVX2F32(SB), NOSPLIT, $0-56
	MOVQ  y+0(FP), DI
	MOVQ  v+8(FP), R8
	MOVQ  stride+16(FP), R10
	SHLQ  $LOGSZ, R10
	MOVQ  x+24(FP), SI
	BCAST a+32(FP), Y15
	VPCMPEQD Y0, Y0, Y0
	SLL   $SIGN, Y0, Y0
	VXORPS Y0, Y15, Y15
	MOVQ  u+40(FP), DX
	MOVQ  n+48(FP), R11
#define LOADN(r) \
	MOVQ n+48(FP), r
#define CHANGE
#include "sym_avx2.h"
#undef LOADN
#undef CHANGE

// func symMulAVX2F32(y, v *float32, stride int, x *float32, n int)
TEXT ·symMulAVX2F32(SB), NOSPLIT, $0-40
	MOVQ  y+0(FP), DI
	MOVQ  v+8(FP), R8
	MOVQ  stride+16(FP), R10
	SHLQ  $LOGSZ, R10
	MOVQ  x+24(FP), SI
	MOVQ  n+32(FP), R11
#define LOADN(r) \
	MOVQ n+32(FP), r
#include "sym_avx2.h"
#undef LOADN

#undef SZ
#undef LOGSZ
#undef SIGN
#undef SLL
#undef MOVU
#undef MOVS
#undef MASKMOV
#undef BCAST
#undef MUL
#undef MULS
#undef FMA
#undef FMA213
#undef BLENDV
#undef HALVE

// float64
#define SZ 8
#define LOGSZ 3
#define SIGN 63
#define SLL VPSLLQ
#define MOVU VMOVUPD
#define MOVS VMOVSD
#define MASKMOV VMASKMOVPD
#define BCAST VBROADCASTSD
#define MUL VMULPD
#define MULS VMULSD
#define FMA VFMADD231PD
#define FMA213 VFMADD213PD
#define BLENDV VBLENDVPD
#define HALVE(lo, x, hi, t) \
	VADDPD hi, lo, lo; \
	VEXTRACTF128 $1, lo, t; \
	VADDPD t, x, x; \
	VPERMILPD $1, x, t; \
	VADDSD t, x, x

// func symRankOneMulAVX2F64(y, v *float64, stride int, x *float64, a float64, u *float64, n int)
TEXT ·symRankOneMulAVX2F64(SB), NOSPLIT, $0-56
	MOVQ  y+0(FP), DI
	MOVQ  v+8(FP), R8
	MOVQ  stride+16(FP), R10
	SHLQ  $LOGSZ, R10
	MOVQ  x+24(FP), SI
	BCAST a+32(FP), Y15
	VPCMPEQD Y0, Y0, Y0
	SLL   $SIGN, Y0, Y0
	VXORPS Y0, Y15, Y15
	MOVQ  u+40(FP), DX
	MOVQ  n+48(FP), R11
#define LOADN(r) \
	MOVQ n+48(FP), r
#define CHANGE
#include "sym_avx2.h"
#undef LOADN
#undef CHANGE

// func symMulAVX2F64(y, v *float64, stride int, x *float64, n int)
TEXT ·symMulAVX2F64(SB), NOSPLIT, $0-40
	MOVQ  y+0(FP), DI
	MOVQ  v+8(FP), R8
	MOVQ  stride+16(FP), R10
	SHLQ  $LOGSZ, R10
	MOVQ  x+24(FP), SI
	MOVQ  n+32(FP), R11
#define LOADN(r) \
	MOVQ n+32(FP), r
#include "sym_avx2.h"
#undef LOADN

#undef SZ
#undef LOGSZ
#undef SIGN
#undef SLL
#undef MOVU
#undef MOVS
#undef MASKMOV
#undef BCAST
#undef MUL
#undef MULS
#undef FMA
#undef FMA213
#undef BLENDV
#undef HALVE

// AVX-512

// float32
#define SZ 4
#define LOGSZ 2
#define MOVU VMOVUPS
#define MOVS VMOVSS
#define BCAST VBROADCASTSS
#define MUL VMULPS
#define FMA VFMADD231PS
#define HALVE(z, y, x) \
	VEXTRACTF64X4 $1, z, Y15; \
	VADDPS Y15, y, y; \
	VEXTRACTF128 $1, y, X15; \
	VADDPS X15, x, x; \
	VMOVHLPS x, x, X15; \
	VADDPS x, X15, x; \
	VMOVSHDUP x, X15; \
	VADDSS X15, x, x

// func symRankOneMulAVX512F32(y, v *float32, stride int, x *float32, a float32, u *float32, n int)
TEXT ·symRankOneMulAVX512F32(SB), NOSPLIT, $0-56
	MOVQ  y+0(FP), DI
	MOVQ  v+8(FP), R8
	MOVQ  stride+16(FP), R10
	SHLQ  $LOGSZ, R10
	MOVQ  x+24(FP), SI
	BCAST a+32(FP), Z19
	VPTERNLOGD $0xff, Z0, Z0, Z0
	VPSLLD $31, Z0, Z0
	VPXORD Z0, Z19, Z19
	MOVQ  u+40(FP), DX
	MOVQ  n+48(FP), R11
	MOVQ  R11, R13
	SHLQ  $LOGSZ, R13
#define CHANGE
#include "sym_avx512.h"
#undef CHANGE

// func symMulAVX512F32(y, v *float32, stride int, x *float32, n int)
TEXT ·symMulAVX512F32(SB), NOSPLIT, $0-40
	MOVQ  y+0(FP), DI
	MOVQ  v+8(FP), R8
	MOVQ  stride+16(FP), R10
	SHLQ  $LOGSZ, R10
	MOVQ  x+24(FP), SI
	MOVQ  n+32(FP), R11
	MOVQ  R11, R13
	SHLQ  $LOGSZ, R13
#include "sym_avx512.h"

#undef SZ
#undef LOGSZ
#undef MOVU
#undef MOVS
#undef BCAST
#undef MUL
#undef FMA
#undef HALVE

// float64
#define SZ 8
#define LOGSZ 3
#define MOVU VMOVUPD
#define MOVS VMOVSD
#define BCAST VBROADCASTSD
#define MUL VMULPD
#define FMA VFMADD231PD
#define HALVE(z, y, x) \
	VEXTRACTF64X4 $1, z, Y15; \
	VADDPD Y15, y, y; \
	VEXTRACTF128 $1, y, X15; \
	VADDPD X15, x, x; \
	VPERMILPD $1, x, X15; \
	VADDSD X15, x, x

// func symRankOneMulAVX512F64(y, v *float64, stride int, x *float64, a float64, u *float64, n int)
TEXT ·symRankOneMulAVX512F64(SB), NOSPLIT, $0-56
	MOVQ  y+0(FP), DI
	MOVQ  v+8(FP), R8
	MOVQ  stride+16(FP), R10
	SHLQ  $LOGSZ, R10
	MOVQ  x+24(FP), SI
	BCAST a+32(FP), Z19
	VPTERNLOGD $0xff, Z0, Z0, Z0
	VPSLLQ $63, Z0, Z0
	VPXORD Z0, Z19, Z19
	MOVQ  u+40(FP), DX
	MOVQ  n+48(FP), R11
	MOVQ  R11, R13
	SHLQ  $LOGSZ, R13
#define CHANGE
#include "sym_avx512.h"
#undef CHANGE

// func symMulAVX512F64(y, v *float64, stride int, x *float64, n int)
TEXT ·symMulAVX512F64(SB), NOSPLIT, $0-40
	MOVQ  y+0(FP), DI
	MOVQ  v+8(FP), R8
	MOVQ  stride+16(FP), R10
	SHLQ  $LOGSZ, R10
	MOVQ  x+24(FP), SI
	MOVQ  n+32(FP), R11
	MOVQ  R11, R13
	SHLQ  $LOGSZ, R13
#include "sym_avx512.h"
