// w[rows[k]*width + l] += coef[l]*val[k] for the lanes l in mask (bit l%64 of word l/64).
//
// Contract: fused, in the order of k; lanes outside the mask keep their bits. width is a multiple
// of GROUP. Units (64 bytes of lanes) outer, rows inner: a unit without a lane in the mask costs
// one test.
//
//    in   R0 w, R1 width, R2 rows, R3 val, R4 n, R5 coef, R6 mask
// R7 bytes of a row, R8 units left, R9 index of the unit, R10 mask word, shifted, R11 mask of the
// unit
//    R12-R14 rows, val, n as they are walked, R15 the row
//    V0-V3 a unit of the row, V4-V7 the same updated, V16-V19 bit of each lane, V20-V23 coef,
//    V24-V27 lane masks, all ones or zero, V28 val[k] in every lane
//    clobbers R0-R15

#include "lanemask_neon.h"
	LSL  $SHIFT, R1, R7
	LSR  $6, R7, R8
	CBZ  R8, done
	CBZ  R4, done
	MOVD $0, R9
unit:
	TST    $(UNITSPERWORD-1), R9
	BNE    bits
	MOVD.P 8(R6), R10
bits:
	ANDS $((1<<GROUP)-1), R10, R11
	LSR  $GROUP, R10, R10
	BEQ  skip

	DUP(R11, V28)
	CMTST(V28, V16, V24)
	CMTST(V28, V17, V25)
	CMTST(V28, V18, V26)
	CMTST(V28, V19, V27)
	VLD1 (R5), [V20.B16, V21.B16, V22.B16, V23.B16]
	MOVD R2, R12
	MOVD R3, R13
	MOVD R4, R14
row:
	MOVW.P 4(R12), R15
	MADD   R7, R0, R15, R15
	LOADDUP(R13, V28)
	VLD1 (R15), [V0.B16, V1.B16, V2.B16, V3.B16]
	VMOV V0.B16, V4.B16
	VMOV V1.B16, V5.B16
	VMOV V2.B16, V6.B16
	VMOV V3.B16, V7.B16
	FMLA(V20, V28, V4)
	FMLA(V21, V28, V5)
	FMLA(V22, V28, V6)
	FMLA(V23, V28, V7)
	VBIT V24.B16, V4.B16, V0.B16
	VBIT V25.B16, V5.B16, V1.B16
	VBIT V26.B16, V6.B16, V2.B16
	VBIT V27.B16, V7.B16, V3.B16
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R15)
	SUB  $1, R14, R14
	CBNZ R14, row

skip:
	ADD  $64, R0, R0
	ADD  $64, R5, R5
	ADD  $1, R9, R9
	SUB  $1, R8, R8
	CBNZ R8, unit
done:
