#include "textflag.h"

// Score-space kernels, AVX2 and AVX-512. The contract is in step.go. Go writes the operands of a comparison so that
// VCMPPD $2, b, a, d is a <= b, false for NaN.
//
// addScaledNext goes down from the end and gathers one bit an element, 64 to a word. Whatever it finds replaces what it
// found before, so the last word in which there is something holds the first index; no branch depends on the scores.
// Loads and stores of one update are those of the next, so the scores are forwarded from store to load.

// FOUND looks at the word R9 that begins at element DX: R10 becomes the first index in it, R11 the first from R12 on,
// if there is one. R13 = 0. Clears R9.
#define FOUND \
	TZCNTQ  R9, AX; \
	ADDQ    DX, AX; \
	TESTQ   R9, R9; \
	CMOVQNE AX, R10; \
	MOVQ    R12, R8; \
	SUBQ    DX, R8; \
	CMOVQLT R13, R8; \
	CMPQ    R8, $64; \
	CMOVQGE R13, R9; \
	SHRXQ   R8, R9, R9; \
	TZCNTQ  R9, AX; \
	ADDQ    DX, AX; \
	ADDQ    R8, AX; \
	TESTQ   R9, R9; \
	CMOVQNE AX, R11; \
	XORL    R9, R9

// Eight comparisons are packed to a byte an element, half by half of the registers, which leaves elements 0, 1, 4, 5, 8,
// ... 29 in the first 16 bytes and 2, 3, 6, 7, ... 31 in the last. With the middle quarters exchanged, these pairs of
// bytes have to be interleaved in each half.
DATA pairs<>+0(SB)/8, $0x0b0a030209080100
DATA pairs<>+8(SB)/8, $0x0f0e07060d0c0504
DATA pairs<>+16(SB)/8, $0x0b0a030209080100
DATA pairs<>+24(SB)/8, $0x0f0e07060d0c0504
GLOBL pairs<>(SB), RODATA|NOPTR, $32

// func addScaledNextAVX2(s *float64, e float64, row *float64, n, from int, thr float64) int
//
// DI s, SI row, DX elements left, R9-R13 as in FOUND, Y0 e and Y1 thr in all lanes, Y2-Y9 scores. With one VMOVMSKPD for
// each register instead of packing, 104 elements take a quarter longer.
TEXT ·addScaledNextAVX2(SB), NOSPLIT, $0-56
	MOVQ         s+0(FP), DI
	VBROADCASTSD e+8(FP), Y0
	MOVQ         row+16(FP), SI
	MOVQ         n+24(FP), DX
	MOVQ         from+32(FP), R12
	VBROADCASTSD thr+40(FP), Y1
	MOVQ         $-1, R10
	MOVQ         $-1, R11
	XORL         R9, R9
	XORL         R13, R13
	VMOVDQU      pairs<>(SB), Y15

one:
	TESTQ        $3, DX
	JEQ          single
	DECQ         DX
	VMOVSD       (DI)(DX*8), X2
	VFMADD231SD  (SI)(DX*8), X0, X2
	VMOVSD       X2, (DI)(DX*8)
	VCMPSD       $2, X1, X2, X2
	VMOVMSKPD    X2, AX
	ANDL         $1, AX
	LEAQ         (AX)(R9*2), R9
	JMP          one

single:
	TESTQ       $28, DX
	JEQ         word
	SUBQ        $4, DX
	VMOVUPD     (DI)(DX*8), Y2
	VFMADD231PD (SI)(DX*8), Y0, Y2
	VMOVUPD     Y2, (DI)(DX*8)
	VCMPPD      $2, Y1, Y2, Y2
	VMOVMSKPD   Y2, AX
	SHLQ        $4, R9
	ORQ         AX, R9
	JMP         single

word:
	TESTQ $63, DX
	JNE   block
	FOUND
	TESTQ DX, DX
	JEQ   done

block:
	SUBQ        $32, DX
	VMOVUPD     0(DI)(DX*8), Y2
	VMOVUPD     32(DI)(DX*8), Y3
	VMOVUPD     64(DI)(DX*8), Y4
	VMOVUPD     96(DI)(DX*8), Y5
	VMOVUPD     128(DI)(DX*8), Y6
	VMOVUPD     160(DI)(DX*8), Y7
	VMOVUPD     192(DI)(DX*8), Y8
	VMOVUPD     224(DI)(DX*8), Y9
	VFMADD231PD 0(SI)(DX*8), Y0, Y2
	VFMADD231PD 32(SI)(DX*8), Y0, Y3
	VFMADD231PD 64(SI)(DX*8), Y0, Y4
	VFMADD231PD 96(SI)(DX*8), Y0, Y5
	VFMADD231PD 128(SI)(DX*8), Y0, Y6
	VFMADD231PD 160(SI)(DX*8), Y0, Y7
	VFMADD231PD 192(SI)(DX*8), Y0, Y8
	VFMADD231PD 224(SI)(DX*8), Y0, Y9
	VMOVUPD     Y2, 0(DI)(DX*8)
	VMOVUPD     Y3, 32(DI)(DX*8)
	VMOVUPD     Y4, 64(DI)(DX*8)
	VMOVUPD     Y5, 96(DI)(DX*8)
	VMOVUPD     Y6, 128(DI)(DX*8)
	VMOVUPD     Y7, 160(DI)(DX*8)
	VMOVUPD     Y8, 192(DI)(DX*8)
	VMOVUPD     Y9, 224(DI)(DX*8)
	VCMPPD      $2, Y1, Y2, Y2
	VCMPPD      $2, Y1, Y3, Y3
	VCMPPD      $2, Y1, Y4, Y4
	VCMPPD      $2, Y1, Y5, Y5
	VCMPPD      $2, Y1, Y6, Y6
	VCMPPD      $2, Y1, Y7, Y7
	VCMPPD      $2, Y1, Y8, Y8
	VCMPPD      $2, Y1, Y9, Y9
	VPACKSSDW   Y3, Y2, Y2
	VPACKSSDW   Y5, Y4, Y4
	VPACKSSDW   Y7, Y6, Y6
	VPACKSSDW   Y9, Y8, Y8
	VPACKSSDW   Y4, Y2, Y2
	VPACKSSDW   Y8, Y6, Y6
	VPACKSSWB   Y6, Y2, Y2
	VPERMQ      $0xd8, Y2, Y2
	VPSHUFB     Y15, Y2, Y2
	VPMOVMSKB   Y2, AX
	SHLQ        $32, R9
	ORQ         AX, R9
	JMP         word

done:
	CMPQ    R11, R13
	CMOVQLT R10, R11
	MOVQ    R11, ret+48(FP)
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
// DI s, SI row, DX elements left, R9-R13 as in FOUND, Z0 e and Z1 thr in all lanes.
TEXT ·addScaledNextAVX512(SB), NOSPLIT, $0-56
	MOVQ         s+0(FP), DI
	VBROADCASTSD e+8(FP), Z0
	MOVQ         row+16(FP), SI
	MOVQ         n+24(FP), DX
	MOVQ         from+32(FP), R12
	VBROADCASTSD thr+40(FP), Z1
	MOVQ         $-1, R10
	MOVQ         $-1, R11
	XORL         R9, R9
	XORL         R13, R13
	MOVQ         DX, CX
	ANDQ         $7, CX
	JEQ          single

	// The last elements, fewer than 8. Masked loads and stores do not fault.
	SUBQ        CX, DX
	MOVL        $-1, AX
	BZHIL       CX, AX, AX
	KMOVW       AX, K1
	VMOVUPD.Z   (DI)(DX*8), K1, Z2
	VFMADD231PD (SI)(DX*8), Z0, K1, Z2
	VMOVUPD     Z2, K1, (DI)(DX*8)
	VCMPPD      $0x12, Z1, Z2, K1, K2
	KMOVW       K2, R9

single:
	TESTQ       $24, DX
	JEQ         word
	SUBQ        $8, DX
	VMOVUPD     (DI)(DX*8), Z2
	VFMADD231PD (SI)(DX*8), Z0, Z2
	VMOVUPD     Z2, (DI)(DX*8)
	VCMPPD      $0x12, Z1, Z2, K1
	KMOVW       K1, AX
	SHLQ        $8, R9
	ORQ         AX, R9
	JMP         single

word:
	TESTQ $63, DX
	JNE   block
	FOUND
	TESTQ DX, DX
	JEQ   done

block:
	SUBQ        $32, DX
	VMOVUPD     0(DI)(DX*8), Z2
	VMOVUPD     64(DI)(DX*8), Z3
	VMOVUPD     128(DI)(DX*8), Z4
	VMOVUPD     192(DI)(DX*8), Z5
	VFMADD231PD 0(SI)(DX*8), Z0, Z2
	VFMADD231PD 64(SI)(DX*8), Z0, Z3
	VFMADD231PD 128(SI)(DX*8), Z0, Z4
	VFMADD231PD 192(SI)(DX*8), Z0, Z5
	VMOVUPD     Z2, 0(DI)(DX*8)
	VMOVUPD     Z3, 64(DI)(DX*8)
	VMOVUPD     Z4, 128(DI)(DX*8)
	VMOVUPD     Z5, 192(DI)(DX*8)
	VCMPPD      $0x12, Z1, Z2, K1
	VCMPPD      $0x12, Z1, Z3, K2
	VCMPPD      $0x12, Z1, Z4, K3
	VCMPPD      $0x12, Z1, Z5, K4
	KUNPCKBW    K1, K2, K1              // K2 above K1
	KUNPCKBW    K3, K4, K3
	KUNPCKWD    K1, K3, K1
	KMOVD       K1, AX
	SHLQ        $32, R9
	ORQ         AX, R9
	JMP         word

done:
	CMPQ    R11, R13
	CMOVQLT R10, R11
	MOVQ    R11, ret+48(FP)
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
// DI s, SI row, DX the index, CX elements left, Y0 e in all lanes, Y1 0, Y6-Y9 counts, AX the count of the rest.
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
