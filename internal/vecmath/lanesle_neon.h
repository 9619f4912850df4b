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
#include "le4_neon.h"
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
