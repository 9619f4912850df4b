// Bit l%64 of mask word l/64 = (y*s[l] <= t), the product rounded, false for NaN. All words are
// written whole.
//
//    in   R0 mask, R1 s, R2 width (a multiple of GROUP), F30 y, F31 t
//    R3 units left, R4 the mask word, R5 where the unit's bits go in it, R6 the unit's bits
//    V0-V3 a unit of s, then its bits, V16-V19 bit of each lane, V30 y, V31 t in every lane
//    clobbers R0-R6

#include "lanemask_neon.h"
	SPLAT(V30)
	SPLAT(V31)
	LSR  $UNITSHIFT, R2, R3
	CBZ  R3, done
word:
	MOVD $0, R4
	MOVD $0, R5
unit:
	LOAD4(R1, V0, V1, V2, V3)
#include "mul4_neon.h"
	// t >= y*s
#ifdef F32
    WORD $0x6e20e7e0 // fcmge v0.4s, v31.4s, v0.4s
    WORD $0x6e21e7e1 // fcmge v1.4s, v31.4s, v1.4s
    WORD $0x6e22e7e2 // fcmge v2.4s, v31.4s, v2.4s
    WORD $0x6e23e7e3 // fcmge v3.4s, v31.4s, v3.4s
#else
    WORD $0x6e60e7e0 // fcmge v0.2d, v31.2d, v0.2d
    WORD $0x6e61e7e1 // fcmge v1.2d, v31.2d, v1.2d
    WORD $0x6e62e7e2 // fcmge v2.2d, v31.2d, v2.2d
    WORD $0x6e63e7e3 // fcmge v3.2d, v31.2d, v3.2d
#endif
	// The bits differ from lane to lane, so their sum is their union. They are below 1<<16: adding
	// 32-bit parts will do for 64-bit lanes too.
	VAND  V16.B16, V0.B16, V0.B16
	VAND  V17.B16, V1.B16, V1.B16
	VAND  V18.B16, V2.B16, V2.B16
	VAND  V19.B16, V3.B16, V3.B16
	VORR  V1.B16, V0.B16, V0.B16
	VORR  V3.B16, V2.B16, V2.B16
	VORR  V2.B16, V0.B16, V0.B16
	VADDV V0.S4, V0
	VMOV  V0.S[0], R6
	LSL   R5, R6, R6
	ORR   R6, R4, R4
	ADD   $GROUP, R5, R5
	SUBS  $1, R3, R3
	BEQ   last
	CMP   $64, R5
	BNE   unit
	MOVD.P R4, 8(R0)
	B     word
last:
	MOVD R4, (R0)
done:
