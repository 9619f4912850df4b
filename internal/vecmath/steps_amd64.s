#include "textflag.h"
#include "addscalednext_amd64.h"

// Runs of updates in score space, AVX2. The contract is in steps.go, the body of an
// update is that of addScaledNext, whose registers step_amd64.s tells.
//
// R9 is the index of the next update, R15 counts those that are made. What a run needs once an
// update is loaded from the arguments, beside the chain from one index to the next.

// The fields of LengthSteps.
#define NORM2 0
#define STEP 8
#define THRESHOLD 16
#define RATE 24
#define LONGEST 32
#define LEAST 40
#define MOST 48
#define FLOOR 56
#define LAST 64
#define WRAPS 72
#define ALPHA 80
#define ALPHALOW 104
#define THRESHOLDS 128
#define DIVISORS 152

// The macros below have AX the run, X10 |a|^2, X11 the step, X15 2. X12 becomes f; X2, X3, X4 and
// X13 are free.
//
// The chain from one step to the next, through the root, is longer than what it takes to find an
// index, but a threshold is hardly another one than that before: the index is found by the latter,
// and from then on the two chains run beside each other.

// LENGTHNEXT makes X12 the new |a|. CX has the squares.
#define LENGTHNEXT \
	VMOVSD      (DI)(R9*8), X13; \
	VMULSD      (CX)(R9*8), X11, X12; \
	VFMADD231SD X15, X13, X12; \
	VMULSD      X11, X12, X12; \
	VMULSD      LEAST(AX), X10, X13; \
	VMOVSD      X13, FLOOR(AX); \
	VADDSD      X12, X10, X10; \
	VSQRTSD     X10, X10, X12

// LENGTHALPHA adds the step to alpha.
#define LENGTHALPHA \
	MOVQ   R9, LAST(AX); \
	MOVQ   ALPHA(AX), CX; \
	VMOVSD (CX)(R9*8), X2; \
	VADDSD X11, X2, X3; \
	VMOVSD X3, (CX)(R9*8); \
	VSUBSD X2, X3, X4; \
	VSUBSD X4, X3, X3; \
	VSUBSD X3, X2, X2; \
	VSUBSD X4, X11, X3; \
	VADDSD X3, X2, X2; \
	MOVQ   ALPHALOW(AX), CX; \
	VADDSD (CX)(R9*8), X2, X2; \
	VMOVSD X2, (CX)(R9*8)

// LENGTHDIVIDE makes X12 the largest |a| so far over the divisor. CX has the divisors.
#define LENGTHDIVIDE \
	VMOVSD LONGEST(AX), X13; \
	VMAXSD X12, X13, X12; \
	VMAXSD X13, X12, X13; \
	VMOVSD X13, LONGEST(AX); \
	VDIVSD (CX)(R15*8), X12, X12

// LENGTHSTEP makes X11 the next step and X12 the threshold, and counts the update.
#define LENGTHSTEP \
	MOVQ   THRESHOLDS(AX), CX; \
	VMULSD RATE(AX), X12, X11; \
	VMULSD (CX)(R15*8), X12, X12; \
	INCQ   R15

// LENGTHMORE goes to out if |a|^2 is where the run ends, and counts a wrap.
#define LENGTHMORE \
	VUCOMISD FLOOR(AX), X10; \
	JLS      out; \
	VMOVSD   MOST(AX), X13; \
	VUCOMISD X10, X13; \
	JCS      out; \
	XORL     CX, CX; \
	CMPQ     R9, LAST(AX); \
	SETLE    CX; \
	ADDQ     CX, WRAPS(AX)

// func fixedStepsAVX2(s *float64, n int, rows *float64, stride int, e, thr, sure float64, k int,
//	picked *int32, most int) (count, next int)
TEXT ·fixedStepsAVX2(SB), NOSPLIT, $0-96
	MOVQ         s+0(FP), DI
	VBROADCASTSD e+32(FP), Y0
	VBROADCASTSD thr+40(FP), Y1
	MOVQ         k+56(FP), R9
	XORL         R15, R15

update:
	MOVQ  picked+64(FP), CX
	MOVL  R9, (CX)(R15*4)
	INCQ  R15
	LEAQ  1(R9), R12
	MOVQ  stride+24(FP), SI
	IMULQ R9, SI
	SHLQ  $3, SI
	ADDQ  rows+16(FP), SI
	MOVQ  n+8(FP), DX
#define NEAR Y1
#include "addscalednext_avx2.h"
#undef NEAR
	TESTQ R9, R9
	JLT   out
	CMPQ  R15, most+72(FP)
	JGE   out
	VMOVSD   (DI)(R9*8), X2
	VUCOMISD sure+48(FP), X2
	JLS      update

out:
	MOVQ R15, count+80(FP)
	MOVQ R9, next+88(FP)
	VZEROUPPER
	RET

// func lengthStepsAVX2(s *float64, n int, rows *float64, stride int, squares *float64,
//	run *float64, k int) (count, next int)
TEXT ·lengthStepsAVX2(SB), NOSPLIT, $0-72
	MOVQ   s+0(FP), DI
	MOVQ   k+48(FP), R9
	XORL   R15, R15
	MOVQ   run+40(FP), AX
	VMOVSD NORM2(AX), X10
	VBROADCASTSD THRESHOLD(AX), Y1
	VMOVSD STEP(AX), X11
	MOVQ   $0x4000000000000000, CX
	VMOVQ  CX, X15

update:
	MOVQ         squares+32(FP), CX
	LENGTHNEXT
	LENGTHALPHA
	VBROADCASTSD X11, Y0
	LEAQ         1(R9), R12
	MOVQ         stride+24(FP), SI
	IMULQ        R9, SI
	SHLQ         $3, SI
	ADDQ         rows+16(FP), SI
	MOVQ         n+8(FP), DX
	MOVQ         DIVISORS(AX), CX
	TESTQ        CX, CX
	JEQ          length
	LENGTHDIVIDE

length:
	LENGTHSTEP
	VMOVAPD      Y1, Y14 // the threshold before
	VBROADCASTSD X12, Y1
#define NEAR Y14
#define GUESSED
#include "addscalednext_avx2.h"
#undef GUESSED
#undef NEAR
	TESTQ R9, R9
	JLT   out
	MOVQ  run+40(FP), AX
	CMPQ  R15, (THRESHOLDS+8)(AX)
	JGE   out
	LENGTHMORE
	JMP   update

out:
	MOVQ   run+40(FP), AX
	VMOVSD X10, NORM2(AX)
	VMOVSD X11, STEP(AX)
	VMOVSD X1, THRESHOLD(AX)
	MOVQ   R15, count+56(FP)
	MOVQ   R9, next+64(FP)
	VZEROUPPER
	RET
