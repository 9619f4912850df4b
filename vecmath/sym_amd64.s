#include "textflag.h"

// A symmetric matrix's rank-1 change and its product with a vector. The contract is in sym.go. y, x
// and u stay in the first level of the cache; the matrix comes from wherever it lies, once. Go
// writes FMA b, a, c for c += a*b.

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

// COLUMNS loads a register of u, x and y, CX + off bytes into them. ROW changes those elements of a
// row, adds their products to its partial sums, and adds them times the row's x to y.
#define COLUMNS(off) \
	MOVU off(DX)(CX*1), Y8; \
	MOVU off(SI)(CX*1), Y9; \
	MOVU off(DI)(CX*1), Y12
#define ROW(off, row, v, c, xi, acc) \
	MOVU off(row)(CX*1), v; \
	FMA  Y8, c, v; \
	MOVU v, off(row)(CX*1); \
	FMA  Y9, v, acc; \
	FMA  v, xi, Y12

// In the block on the diagonal: BLOCKMASK finds the masks, R9 before them in AX for the columns
// that there are; BLOCKCOLUMNS loads u and x there, with zeros behind, -a*u to Y10 and the mask of
// columns to Y14; BLOCKROW takes c[i]*u[j] up to the diagonal and c[j]*u[i] right of it, and leaves
// alone what is not there. row is iAhead bytes of u below i. LOADN loads n.
#define BLOCKMASK \
	LOADN(AX); \
	SHLQ $LOGSZ, AX; \
	SUBQ BX, AX; \
	MOVL $64, CX; \
	CMPQ AX, CX; \
	CMOVQGT CX, AX; \
	NEGQ AX; \
	MOVQ BX, CX; \
	SUBQ R12, CX
#define BLOCKCOLUMNS(off) \
	MOVU    off(R14)(AX*1), Y14; \
	MASKMOV off(DX)(BX*1), Y14, Y8; \
	MASKMOV off(SI)(BX*1), Y14, Y9; \
	MUL     Y15, Y8, Y10
#define BLOCKROW(off, iAhead, row, c, acc) \
	MOVU   off(row)(BX*1), Y11; \
	BCAST  iAhead(DX)(R12*1), Y12; \
	FMA213 Y11, Y10, Y12; \
	VMOVAPS Y11, Y13; \
	FMA    Y8, c, Y13; \
	MOVU   (off-SZ-iAhead)(R14)(CX*1), Y6; \
	BLENDV Y6, Y13, Y12, Y13; \
	BLENDV Y14, Y13, Y11, Y13; \
	MOVU   Y13, off(row)(BX*1); \
	VMOVAPS acc, Y12; \
	FMA    Y9, Y13, Y12; \
	BLENDV Y14, Y12, acc, acc

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
#undef COLUMNS
#undef ROW
#undef BLOCKMASK
#undef BLOCKCOLUMNS
#undef BLOCKROW

// AVX-512. The macros are those of above, with no offsets, for row is i + ahead.
#define COLUMNS \
	MOVU (DX)(CX*1), Z12; \
	MOVU (SI)(CX*1), Z13; \
	MOVU (DI)(CX*1), Z14
#define ROW(row, v, c, xi, acc) \
	MOVU (row)(CX*1), v; \
	FMA  Z12, c, v; \
	MOVU v, (row)(CX*1); \
	FMA  Z13, v, acc; \
	FMA  v, xi, Z14
// CX becomes the number of columns up to the diagonal of row i.
#define BLOCKCOLUMNS \
	MOVQ  R13, CX; \
	SUBQ  BX, CX; \
	MOVL  $64, AX; \
	CMPQ  CX, AX; \
	CMOVQGT AX, CX; \
	SHRQ  $LOGSZ, CX; \
	MOVL  $-1, R14; \
	BZHIL CX, R14, AX; \
	KMOVW AX, K1; \
	MOVU.Z (DX)(BX*1), K1, Z12; \
	MOVU.Z (SI)(BX*1), K1, Z13; \
	MUL   Z19, Z12, Z20; \
	MOVQ  R12, CX; \
	SUBQ  BX, CX; \
	SHRQ  $LOGSZ, CX; \
	INCQ  CX
#define BLOCKROW(ahead, row, c, acc) \
	BZHIL CX, R14, AX; \
	KMOVW AX, K2; \
	INCQ  CX; \
	MOVU  row, Z15; \
	BCAST (ahead*SZ)(DX)(R12*1), Z16; \
	MOVU  c, K2, Z16; \
	MOVU  Z20, Z17; \
	MOVU  Z12, K2, Z17; \
	FMA   Z16, Z17, K1, Z15; \
	MOVU  Z15, row; \
	FMA   Z13, Z15, K1, acc

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
#include "sym_avx512.h"
