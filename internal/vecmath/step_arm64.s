#include "textflag.h"

// Score-space kernels, NEON. The contract is in step.go; encoded instructions are explained in
// neon_arm64.s.in.
//
// addScaledNext goes down from the end and gathers one bit an element, 64 to a word. Whatever it
// finds replaces what it found before, so the last word in which there is something holds the first
// index.

#define FMLA(m, n, d) VFMLA m.D2, n.D2, d.D2

// FOUND looks at the word R4 that begins at element R2: R10 becomes the first index in it, R11 the
// first from R3 on, if there is one. Clears R4.
#define FOUND \
	RBIT R4, R6; \
	CLZ  R6, R6; \
	ADD  R2, R6, R6; \
	CMP  $0, R4; \
	CSEL NE, R6, R10, R10; \
	SUBS R2, R3, R7; \
	CSEL GE, R7, ZR, R7; \
	CMP  $64, R7; \
	CSEL LT, R4, ZR, R4; \
	LSR  R7, R4, R4; \
	RBIT R4, R6; \
	CLZ  R6, R6; \
	ADD  R2, R6, R6; \
	ADD  R7, R6, R6; \
	CMP  $0, R4; \
	CSEL NE, R6, R11, R11; \
	MOVD $0, R4

// func addScaledNextNEON(s *float64, e float64, row *float64, n, from int, thr float64) int
//
// R0 end of the elements of s left, R1 of row, R2 elements left, R3 from, R4, R10 and R11 as in
// FOUND; V0-V3 scores, then their bits, V16-V19 bit of each lane, V20-V23 of row, V30 e and V31 thr
// in both lanes.
TEXT ·addScaledNextNEON(SB), NOSPLIT, $0-56
	MOVD  s+0(FP), R0
	FMOVD e+8(FP), F30
	MOVD  row+16(FP), R1
	MOVD  n+24(FP), R2
	MOVD  from+32(FP), R3
	FMOVD thr+40(FP), F31
	VDUP  V30.D[0], V30.D2
	VDUP  V31.D[0], V31.D2
#include "lanemask_neon.h"
	ADD   R2<<3, R0, R0
	ADD   R2<<3, R1, R1
	MOVD  $0, R4
	MOVD  $-1, R10
	MOVD  $-1, R11
one:
	TST    $7, R2
	BEQ    word
	SUB    $1, R2, R2
	FMOVD.W -8(R0), F0
	FMOVD.W -8(R1), F20
	FMADDD F20, F0, F30, F0
	FMOVD  F0, (R0)
	FCMPD  F31, F0
	CSET   LS, R6 // not greater, and not unordered
	ADD    R4<<1, R6, R4
	B      one
word:
	TST $63, R2
	BNE group
	FOUND
	CBZ R2, done
group:
	SUB  $8, R2, R2
	SUB  $64, R0, R0
	SUB  $64, R1, R1
	VLD1 (R0), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1 (R1), [V20.B16, V21.B16, V22.B16, V23.B16]
	FMLA(V20, V30, V0)
	FMLA(V21, V30, V1)
	FMLA(V22, V30, V2)
	FMLA(V23, V30, V3)
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R0)
#include "le4_neon.h"
	ORR  R4<<8, R6, R4
	B    word
done:
	CMP  $0, R11
	CSEL LT, R10, R11, R11
	MOVD R11, ret+48(FP)
	RET

// func nextLENEON(s *float64, n, from int, thr float64) int
//
// R0 s at the element R5, R2 elements left, R3 elements before those, R8 s; V0-V3 and V16-V19 as
// above, V31 thr in both lanes.
TEXT ·nextLENEON(SB), NOSPLIT, $0-40
	MOVD  s+0(FP), R8
	MOVD  n+8(FP), R2
	MOVD  from+16(FP), R3
	FMOVD thr+24(FP), F31
	VDUP  V31.D[0], V31.D2
#include "lanemask_neon.h"
	MOVD  R3, R5
	SUB   R3, R2, R2
range:
	ADD  R5<<3, R8, R0
	SUBS $8, R2, R2
	BLT  rest
group:
	VLD1.P 64(R0), [V0.B16, V1.B16, V2.B16, V3.B16]
#include "le4_neon.h"
	CBNZ R6, found
	ADD  $8, R5, R5
	SUBS $8, R2, R2
	BGE  group
rest:
	ADDS $8, R2, R2
	BEQ  turn
one:
	FMOVD.P 8(R0), F0
	FCMPD   F31, F0
	BLS     here
	ADD     $1, R5, R5
	SUBS    $1, R2, R2
	BNE     one
turn:
	MOVD R3, R2
	MOVD $0, R3
	MOVD $0, R5
	CBNZ R2, range
	MOVD $-1, R5
here:
	MOVD R5, ret+32(FP)
	RET
found:
	RBIT R6, R6
	CLZ  R6, R6
	ADD  R6, R5, R5
	MOVD R5, ret+32(FP)
	RET
