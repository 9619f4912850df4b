#include "textflag.h"
#include "addscalednext_amd64.h"

// Score-space kernels, AVX2: on AVX-512, too, since rows are short and the index is what all waits
// for. The contract is in step.go. Go writes the operands of a
// comparison so that VCMPPD $2, b, a, d is a <= b, false for NaN.
//
// addScaledNext looks for the next element first, by sums that it does not keep, and then adds all
// of the row: the index, on which the caller's next call waits, does not wait for the stores. A
// search mostly ends in its first 16 elements; it begins at the multiple of 4 before
// from, so that every load finds its elements in one store of the call before.
//
// DI s SI row DX n R12 from BX index R10 where to turn round R8 whether turned R11 mask of the
// elements from `from` on
//	R9 what was found   Y0 e and Y1 thr in all lanes

// func addScaledNextAVX2(s *float64, e float64, row *float64, n, from int, thr float64) int
TEXT ·addScaledNextAVX2(SB), NOSPLIT, $0-56
	MOVQ         s+0(FP), DI
	MOVQ         row+16(FP), SI
	MOVQ         n+24(FP), DX
	MOVQ         from+32(FP), R12
	VBROADCASTSD e+8(FP), Y0
	VBROADCASTSD thr+40(FP), Y1
#define NEAR Y1
#include "addscalednext_avx2.h"
#undef NEAR
	MOVQ R9, ret+48(FP)
	VZEROUPPER
	RET

// func nextLEAVX2(s *float64, n, from int, thr float64) int
//
// DI s, DX the index, CX elements left, R10 elements before those, Y1 thr in all lanes.
TEXT ·nextLEAVX2(SB), NOSPLIT, $0-40
	MOVQ         s+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVQ         from+16(FP), DX
	VBROADCASTSD thr+24(FP), Y1
	MOVQ         DX, R10
	SUBQ         DX, CX

range:
	SUBQ $16, CX
	JLT  singles

block:
	VCMPPD    $0x1d, 0(DI)(DX*8), Y1, Y2  // thr >= s
	VCMPPD    $0x1d, 32(DI)(DX*8), Y1, Y3
	VCMPPD    $0x1d, 64(DI)(DX*8), Y1, Y4
	VCMPPD    $0x1d, 96(DI)(DX*8), Y1, Y5
	VORPD     Y2, Y3, Y6
	VORPD     Y4, Y5, Y7
	VORPD     Y6, Y7, Y6
	VMOVMSKPD Y6, AX
	TESTL     AX, AX
	JNE       foundBlock
	ADDQ      $16, DX
	SUBQ      $16, CX
	JGE       block

singles:
	ADDQ $(16-4), CX
	JLT  last

single:
	VCMPPD    $0x1d, (DI)(DX*8), Y1, Y2
	VMOVMSKPD Y2, AX
	TESTL     AX, AX
	JNE       found
	ADDQ      $4, DX
	SUBQ      $4, CX
	JGE       single

last:
	ADDQ $4, CX
	JEQ  turn

one:
	VMOVSD    (DI)(DX*8), X2
	VCMPSD    $2, X1, X2, X2
	VMOVMSKPD X2, AX
	TESTL     $1, AX
	JNE       found
	INCQ      DX
	DECQ      CX
	JNE       one

turn:
	MOVQ  R10, CX
	XORL  R10, R10
	XORL  DX, DX
	TESTQ CX, CX
	JNE   range
	MOVQ  $-1, ret+32(FP)
	VZEROUPPER
	RET

foundBlock:
	VMOVMSKPD Y2, AX
	VMOVMSKPD Y3, BX
	VMOVMSKPD Y4, R8
	VMOVMSKPD Y5, R9
	SHLL      $4, BX
	SHLL      $8, R8
	SHLL      $12, R9
	ORL       BX, AX
	ORL       R9, R8
	ORL       R8, AX

found:
	TZCNTQ AX, AX
	ADDQ   DX, AX
	MOVQ   AX, ret+32(FP)
	VZEROUPPER
	RET

// func countStepLEAVX2(s *float64, e float64, row *float64, n int) int
//
// DI s, SI row, DX the index, CX elements left, Y0 e in all lanes, Y1 0, Y6-Y9 counts, AX the count
// of the rest.
TEXT ·countStepLEAVX2(SB), NOSPLIT, $0-40
	MOVQ         s+0(FP), DI
	VBROADCASTSD e+8(FP), Y0
	MOVQ         row+16(FP), SI
	MOVQ         n+24(FP), CX
	VXORPD       Y1, Y1, Y1
	VXORPD       Y6, Y6, Y6
	VXORPD       Y7, Y7, Y7
	VXORPD       Y8, Y8, Y8
	VXORPD       Y9, Y9, Y9
	XORL         DX, DX
	XORL         AX, AX
	SUBQ         $16, CX
	JLT          fours

sixteen:
	VMOVUPD     0(DI)(DX*8), Y2
	VMOVUPD     32(DI)(DX*8), Y3
	VMOVUPD     64(DI)(DX*8), Y4
	VMOVUPD     96(DI)(DX*8), Y5
	VFMADD231PD 0(SI)(DX*8), Y0, Y2
	VFMADD231PD 32(SI)(DX*8), Y0, Y3
	VFMADD231PD 64(SI)(DX*8), Y0, Y4
	VFMADD231PD 96(SI)(DX*8), Y0, Y5
	VCMPPD      $2, Y1, Y2, Y2
	VCMPPD      $2, Y1, Y3, Y3
	VCMPPD      $2, Y1, Y4, Y4
	VCMPPD      $2, Y1, Y5, Y5
	VPSUBQ      Y2, Y6, Y6              // a true comparison is -1
	VPSUBQ      Y3, Y7, Y7
	VPSUBQ      Y4, Y8, Y8
	VPSUBQ      Y5, Y9, Y9
	ADDQ        $16, DX
	SUBQ        $16, CX
	JGE         sixteen

fours:
	ADDQ $(16-4), CX
	JLT  rest

four:
	VMOVUPD     (DI)(DX*8), Y2
	VFMADD231PD (SI)(DX*8), Y0, Y2
	VCMPPD      $2, Y1, Y2, Y2
	VPSUBQ      Y2, Y6, Y6
	ADDQ        $4, DX
	SUBQ        $4, CX
	JGE         four

rest:
	ADDQ $4, CX
	JEQ  sum

one:
	VMOVSD      (DI)(DX*8), X2
	VFMADD231SD (SI)(DX*8), X0, X2
	VCMPSD      $2, X1, X2, X2
	VMOVMSKPD   X2, R8
	ANDL        $1, R8
	ADDQ        R8, AX
	INCQ        DX
	DECQ        CX
	JNE         one

sum:
	VPADDQ       Y7, Y6, Y6
	VPADDQ       Y9, Y8, Y8
	VPADDQ       Y8, Y6, Y6
	VEXTRACTI128 $1, Y6, X7
	VPADDQ       X7, X6, X6
	VPSRLDQ      $8, X6, X7
	VPADDQ       X7, X6, X6
	VMOVQ        X6, R8
	ADDQ         R8, AX
	MOVQ         AX, ret+32(FP)
	VZEROUPPER
	RET
