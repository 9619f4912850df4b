#include "textflag.h"

// Score-space kernels, AVX2 and AVX-512. The contract is in step.go. Go writes the operands of a
// comparison so that VCMPPD $2, b, a, d is a <= b, false for NaN.
//
// addScaledNext looks for the next element first, by sums that it does not keep, and then adds all
// of the row: the index, on which the caller's next call waits, does not wait for the stores. A
// search mostly ends in its first 16 elements; it begins at the multiple of 4 (AVX-512: 8) before
// from, so that every load finds its elements in one store of the call before.
//
// DI s SI row DX n R12 from BX index R10 where to turn round R8 whether turned R11 mask of the
// elements from `from` on
//	R9 what was found   Y0 e and Y1 thr in all lanes

// NEXTSTART sets the rest, from the arguments.
#define NEXTSTART \
	XORL    R8, R8; \
	CMPQ    R12, DX; \
	CMOVQEQ R8, R12; \
	MOVQ    R12, BX; \
	MOVQ    R12, CX; \
	MOVQ    DX, R10; \
	MOVQ    $-1, R11; \
	MOVQ    $-1, R9

// func addScaledNextAVX2(s *float64, e float64, row *float64, n, from int, thr float64) int
TEXT ·addScaledNextAVX2(SB), NOSPLIT, $0-56
	MOVQ         s+0(FP), DI
	MOVQ         row+16(FP), SI
	MOVQ         n+24(FP), DX
	MOVQ         from+32(FP), R12
	NEXTSTART
	VBROADCASTSD e+8(FP), Y0
	VBROADCASTSD thr+40(FP), Y1
	ANDQ         $-4, BX
	ANDQ         $3, CX
	SHLXQ        CX, R11, R11

look16:
	CMPQ        BX, R10
	JGE         turn
	LEAQ        16(BX), AX
	CMPQ        AX, DX
	JGT         look4
	VMOVUPD     0(DI)(BX*8), Y2
	VMOVUPD     32(DI)(BX*8), Y3
	VMOVUPD     64(DI)(BX*8), Y4
	VMOVUPD     96(DI)(BX*8), Y5
	VFMADD231PD 0(SI)(BX*8), Y0, Y2
	VFMADD231PD 32(SI)(BX*8), Y0, Y3
	VFMADD231PD 64(SI)(BX*8), Y0, Y4
	VFMADD231PD 96(SI)(BX*8), Y0, Y5
	VCMPPD      $2, Y1, Y2, Y2
	VCMPPD      $2, Y1, Y3, Y3
	VCMPPD      $2, Y1, Y4, Y4
	VCMPPD      $2, Y1, Y5, Y5
	VMOVMSKPD   Y2, AX
	VMOVMSKPD   Y3, CX
	VMOVMSKPD   Y4, R13
	VMOVMSKPD   Y5, R14
	SHLL        $4, CX
	SHLL        $8, R13
	SHLL        $12, R14
	ORL         CX, AX
	ORL         R14, R13
	ORL         R13, AX
	ANDQ        R11, AX
	JNE         found
	ADDQ        $16, BX
	MOVQ        $-1, R11
	JMP         look16

look4:
	CMPQ        BX, R10
	JGE         turn
	LEAQ        4(BX), AX
	CMPQ        AX, DX
	JGT         look1
	VMOVUPD     (DI)(BX*8), Y2
	VFMADD231PD (SI)(BX*8), Y0, Y2
	VCMPPD      $2, Y1, Y2, Y2
	VMOVMSKPD   Y2, AX
	ANDQ        R11, AX
	JNE         found
	ADDQ        $4, BX
	MOVQ        $-1, R11
	JMP         look4

look1:
	CMPQ        BX, R10
	JGE         turn
	VMOVSD      (DI)(BX*8), X2
	VFMADD231SD (SI)(BX*8), X0, X2
	VCMPSD      $2, X1, X2, X2
	VMOVMSKPD   X2, AX
	ANDQ        R11, AX
	ANDL        $1, AX
	JNE         found
	INCQ        BX
	SARQ        $1, R11
	JMP         look1

turn:
	TESTQ R8, R8
	JNE   add
	MOVQ  R12, R10
	INCL  R8
	XORL  BX, BX
	MOVQ  $-1, R11
	JMP   look16

found:
	TZCNTQ AX, R9
	ADDQ   BX, R9

add:
	XORL BX, BX
	SUBQ $32, DX
	JLT  fours

block:
	VMOVUPD     0(DI)(BX*8), Y2
	VMOVUPD     32(DI)(BX*8), Y3
	VMOVUPD     64(DI)(BX*8), Y4
	VMOVUPD     96(DI)(BX*8), Y5
	VMOVUPD     128(DI)(BX*8), Y6
	VMOVUPD     160(DI)(BX*8), Y7
	VMOVUPD     192(DI)(BX*8), Y8
	VMOVUPD     224(DI)(BX*8), Y9
	VFMADD231PD 0(SI)(BX*8), Y0, Y2
	VFMADD231PD 32(SI)(BX*8), Y0, Y3
	VFMADD231PD 64(SI)(BX*8), Y0, Y4
	VFMADD231PD 96(SI)(BX*8), Y0, Y5
	VFMADD231PD 128(SI)(BX*8), Y0, Y6
	VFMADD231PD 160(SI)(BX*8), Y0, Y7
	VFMADD231PD 192(SI)(BX*8), Y0, Y8
	VFMADD231PD 224(SI)(BX*8), Y0, Y9
	VMOVUPD     Y2, 0(DI)(BX*8)
	VMOVUPD     Y3, 32(DI)(BX*8)
	VMOVUPD     Y4, 64(DI)(BX*8)
	VMOVUPD     Y5, 96(DI)(BX*8)
	VMOVUPD     Y6, 128(DI)(BX*8)
	VMOVUPD     Y7, 160(DI)(BX*8)
	VMOVUPD     Y8, 192(DI)(BX*8)
	VMOVUPD     Y9, 224(DI)(BX*8)
	ADDQ        $32, BX
	SUBQ        $32, DX
	JGE         block

fours:
	ADDQ $(32-4), DX
	JLT  ones

four:
	VMOVUPD     (DI)(BX*8), Y2
	VFMADD231PD (SI)(BX*8), Y0, Y2
	VMOVUPD     Y2, (DI)(BX*8)
	ADDQ        $4, BX
	SUBQ        $4, DX
	JGE         four

ones:
	ADDQ $4, DX
	JEQ  done

one:
	VMOVSD      (DI)(BX*8), X2
	VFMADD231SD (SI)(BX*8), X0, X2
	VMOVSD      X2, (DI)(BX*8)
	INCQ        BX
	DECQ        DX
	JNE         one

done:
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

// func addScaledNextAVX512(s *float64, e float64, row *float64, n, from int, thr float64) int
//
// Masked loads and stores do not fault.
TEXT ·addScaledNextAVX512(SB), NOSPLIT, $0-56
	MOVQ         s+0(FP), DI
	MOVQ         row+16(FP), SI
	MOVQ         n+24(FP), DX
	MOVQ         from+32(FP), R12
	NEXTSTART
	VBROADCASTSD e+8(FP), Z0
	VBROADCASTSD thr+40(FP), Z1
	ANDQ         $-8, BX
	ANDQ         $7, CX
	SHLXQ        CX, R11, R11
	MOVQ         DX, CX
	ANDQ         $7, CX
	MOVL         $-1, AX
	BZHIL        CX, AX, AX
	KMOVW        AX, K3          // the last elements, fewer than 8

look16:
	CMPQ        BX, R10
	JGE         turn
	LEAQ        16(BX), AX
	CMPQ        AX, DX
	JGT         look8
	VMOVUPD     0(DI)(BX*8), Z2
	VMOVUPD     64(DI)(BX*8), Z3
	VFMADD231PD 0(SI)(BX*8), Z0, Z2
	VFMADD231PD 64(SI)(BX*8), Z0, Z3
	VCMPPD      $0x12, Z1, Z2, K1
	VCMPPD      $0x12, Z1, Z3, K2
	KUNPCKBW    K1, K2, K1              // K2 above K1
	KMOVW       K1, AX
	ANDQ        R11, AX
	JNE         found
	ADDQ        $16, BX
	MOVQ        $-1, R11
	JMP         look16

look8:
	CMPQ        BX, R10
	JGE         turn
	LEAQ        8(BX), AX
	CMPQ        AX, DX
	JGT         look
	VMOVUPD     (DI)(BX*8), Z2
	VFMADD231PD (SI)(BX*8), Z0, Z2
	VCMPPD      $0x12, Z1, Z2, K1
	KMOVW       K1, AX
	ANDQ        R11, AX
	JNE         found
	ADDQ        $8, BX
	MOVQ        $-1, R11

look:
	CMPQ        BX, R10
	JGE         turn
	VMOVUPD.Z   (DI)(BX*8), K3, Z2
	VFMADD231PD (SI)(BX*8), Z0, K3, Z2
	VCMPPD      $0x12, Z1, Z2, K3, K1
	KMOVW       K1, AX
	ANDQ        R11, AX
	JNE         found

turn:
	TESTQ R8, R8
	JNE   add
	MOVQ  R12, R10
	INCL  R8
	XORL  BX, BX
	MOVQ  $-1, R11
	JMP   look16

found:
	TZCNTQ AX, R9
	ADDQ   BX, R9

add:
	XORL BX, BX
	SUBQ $32, DX
	JLT  eights

block:
	VMOVUPD     0(DI)(BX*8), Z2
	VMOVUPD     64(DI)(BX*8), Z3
	VMOVUPD     128(DI)(BX*8), Z4
	VMOVUPD     192(DI)(BX*8), Z5
	VFMADD231PD 0(SI)(BX*8), Z0, Z2
	VFMADD231PD 64(SI)(BX*8), Z0, Z3
	VFMADD231PD 128(SI)(BX*8), Z0, Z4
	VFMADD231PD 192(SI)(BX*8), Z0, Z5
	VMOVUPD     Z2, 0(DI)(BX*8)
	VMOVUPD     Z3, 64(DI)(BX*8)
	VMOVUPD     Z4, 128(DI)(BX*8)
	VMOVUPD     Z5, 192(DI)(BX*8)
	ADDQ        $32, BX
	SUBQ        $32, DX
	JGE         block

eights:
	ADDQ $(32-8), DX
	JLT  rest

eight:
	VMOVUPD     (DI)(BX*8), Z2
	VFMADD231PD (SI)(BX*8), Z0, Z2
	VMOVUPD     Z2, (DI)(BX*8)
	ADDQ        $8, BX
	SUBQ        $8, DX
	JGE         eight

rest:
	ADDQ        $8, DX
	JEQ         done
	VMOVUPD.Z   (DI)(BX*8), K3, Z2
	VFMADD231PD (SI)(BX*8), Z0, K3, Z2
	VMOVUPD     Z2, K3, (DI)(BX*8)

done:
	MOVQ R9, ret+48(FP)
	VZEROUPPER
	RET

// func nextLEAVX512(s *float64, n, from int, thr float64) int
//
// DI s, DX the index, CX elements left, R10 elements before those, Z1 thr in all lanes.
TEXT ·nextLEAVX512(SB), NOSPLIT, $0-40
	MOVQ         s+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVQ         from+16(FP), DX
	VBROADCASTSD thr+24(FP), Z1
	MOVQ         DX, R10
	SUBQ         DX, CX

range:
	SUBQ $8, CX
	JLT  last

single:
	VCMPPD $0x1d, (DI)(DX*8), Z1, K1 // thr >= s
	KMOVW  K1, AX
	TESTL  AX, AX
	JNE    found
	ADDQ   $8, DX
	SUBQ   $8, CX
	JGE    single

last:
	ADDQ   $8, CX
	JEQ    turn
	MOVL   $-1, AX
	BZHIL  CX, AX, AX
	KMOVW  AX, K1
	VCMPPD $0x1d, (DI)(DX*8), Z1, K1, K1
	KMOVW  K1, AX
	TESTL  AX, AX
	JNE    found

turn:
	MOVQ  R10, CX
	XORL  R10, R10
	XORL  DX, DX
	TESTQ CX, CX
	JNE   range
	MOVQ  $-1, ret+32(FP)
	VZEROUPPER
	RET

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
