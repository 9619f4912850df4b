// Body of lanesRun. Up to four units of 64 bytes are a group: its sums stay in V0-V15 over an
// example's non-zeros, are compared there, and its members that update do so, before the next
// group's: lanes don't mix.
//
//    in   R0 counts, R1 w, R2 width, R3 ptr, R4 n, R5 rows, R10 val, R7 y, R8 seen, R9 stride, F29
//         step, F31 margin
//    R2 and R9 in bytes, R4 examples left, R6 a unit's bits, R11 and R12 non-zeros of the example,
//    R13 members that update, R14 bytes of a row before the group, R15 who of the group sees the
//    example, then who updates, R16 units of the group less one (0-3), R17 the group in row 0, R22
//    the unit there, R19-R21 rows, val, non-zeros as they are walked, R23 the row
//    V0-V15 sums, then V0-V3 a unit of a row, V4-V7 the same updated, V8-V11 ones where a lane
//    updates; V16-V19 bit of each lane, V20-V23 a unit of the row, V24 the value, V28 coefficient,
//    V30 y, V31 margin, each in every lane

#define UNIT(d0, d1, d2, d3) \
	LOAD4(R23, V20, V21, V22, V23) \
	FMLA(V20, V24, d0) \
	FMLA(V21, V24, d1) \
	FMLA(V22, V24, d2) \
	FMLA(V23, V24, d3)
#define ZERO4(d0, d1, d2, d3) \
	VEOR d0.B16, d0.B16, d0.B16 \
	VEOR d1.B16, d1.B16, d1.B16 \
	VEOR d2.B16, d2.B16, d2.B16 \
	VEOR d3.B16, d3.B16, d3.B16
#define FIRST(d0, d1, d2, d3) \
	VMOV d0.B16, V0.B16 \
	VMOV d1.B16, V1.B16 \
	VMOV d2.B16, V2.B16 \
	VMOV d3.B16, V3.B16
#ifdef F32
#define LOADSEEN MOVD
#else
#define LOADSEEN MOVWU
#endif

#include "lanemask_neon.h"
	SPLAT(V31)
	LSL  $SHIFT, R2, R2
	LSL  $3, R9, R9
	CBZ  R4, done
example:
	MOVD.P 8(R3), R11
	MOVD   (R3), R12
	SUB    R11, R12, R12
	LOADDUP(R7, V30)
	FMUL   F30, F29, F28
	SPLAT(V28)
	MOVD   $0, R13
	MOVD   $0, R14
group:
	ADD  R14>>(SHIFT+3), R8, R15
	LOADSEEN (R15), R15
	CBZ  R15, next
	SUB  R14, R2, R16
	LSR  $6, R16, R16
	SUB  $1, R16, R16
	CMP  $3, R16
	BLE  clear
	MOVD $3, R16
clear:
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	ZERO4(V8, V9, V10, V11)
	ZERO4(V12, V13, V14, V15)
	ADD  R14, R1, R17
	MOVD R5, R19
	MOVD R10, R20
	MOVD R12, R21
	CBZ  R21, summed
sum:
	MOVW.P 4(R19), R23
	MADD   R2, R17, R23, R23
	LOADDUP(R20, V24)
	UNIT(V0, V1, V2, V3)
	CBZ    R16, more
	UNIT(V4, V5, V6, V7)
	TBZ    $1, R16, more
	UNIT(V8, V9, V10, V11)
	TBZ    $0, R16, more
	UNIT(V12, V13, V14, V15)
more:
	SUB  $1, R21, R21
	CBNZ R21, sum

summed:
#include "mul4_neon.h"
#include "le4_neon.h"
	MOVD R6, R22
	CBZ  R16, compared
	FIRST(V4, V5, V6, V7)
#include "mul4_neon.h"
#include "le4_neon.h"
	ORR  R6<<GROUP, R22, R22
	TBZ  $1, R16, compared
	FIRST(V8, V9, V10, V11)
#include "mul4_neon.h"
#include "le4_neon.h"
	ORR  R6<<(2*GROUP), R22, R22
	TBZ  $0, R16, compared
	FIRST(V12, V13, V14, V15)
#include "mul4_neon.h"
#include "le4_neon.h"
	ORR  R6<<(3*GROUP), R22, R22
compared:
	AND     R22, R15, R15
	CBZ     R15, next
	VMOV    R15, V20.D[0]
	VCNT    V20.B8, V20.B8
	VUADDLV V20.B8, V20
	VMOV    V20.H[0], R22
	ADD     R22, R13, R13
	CBZ     R12, next

unit:
	RBIT R15, R22
	CLZ  R22, R22
	AND  $(64-GROUP), R22, R22
	LSR  R22, R15, R23
	AND  $((1<<GROUP)-1), R23, R23
	LSL  R22, R23, R11
	BIC  R11, R15, R15
	DUP(R23, V24)
	CMTST(V24, V16, V8)
	CMTST(V24, V17, V9)
	CMTST(V24, V18, V10)
	CMTST(V24, V19, V11)
	ADD  R22<<SHIFT, R17, R22
	MOVD R5, R19
	MOVD R10, R20
	MOVD R12, R21
row:
	MOVW.P 4(R19), R23
	MADD   R2, R22, R23, R23
	LOADDUP(R20, V24)
	VLD1 (R23), [V0.B16, V1.B16, V2.B16, V3.B16]
	VMOV V0.B16, V4.B16
	VMOV V1.B16, V5.B16
	VMOV V2.B16, V6.B16
	VMOV V3.B16, V7.B16
	FMLA(V28, V24, V4)
	FMLA(V28, V24, V5)
	FMLA(V28, V24, V6)
	FMLA(V28, V24, V7)
	VBIT V8.B16, V4.B16, V0.B16
	VBIT V9.B16, V5.B16, V1.B16
	VBIT V10.B16, V6.B16, V2.B16
	VBIT V11.B16, V7.B16, V3.B16
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R23)
	SUB  $1, R21, R21
	CBNZ R21, row
	CBNZ R15, unit

next:
	ADD    $256, R14, R14
	CMP    R2, R14
	BLT    group
	MOVW.P R13, 4(R0)
	ADD    R12<<2, R5, R5
	ADD    R12<<SHIFT, R10, R10
	ADD    R9, R8, R8
	SUB    $1, R4, R4
	CBNZ   R4, example
done:
#undef UNIT
#undef ZERO4
#undef FIRST
#undef LOADSEEN
