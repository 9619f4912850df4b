// dst[l] = the sum over k of val[k]*w[rows[k]*width + l].
//
// Contract: each lane starts at +0 and adds its products, fused, in the order of k. width is a
// multiple of GROUP. A unit is four registers, 64 bytes: up to four units of lanes stay in
// registers over one pass through the rows.
//
//    in   R0 dst, R1 w, R2 width, R3 rows, R4 val, R5 n
//    R6 bytes of a row, R7 units left, R8 units of this pass less one (0-3)
//    R9-R11 rows, val, n as they are walked, R12 the row
//    V0-V15 the lanes of units 0-3, V16-V19 a unit of the row, V20 val[k] in every lane
//    clobbers R0-R12

	// The unit at R12, which is advanced, times val[k].
#define UNIT(d0, d1, d2, d3) \
	LOAD4(R12, V16, V17, V18, V19) \
	FMLA(V16, V20, d0) \
	FMLA(V17, V20, d1) \
	FMLA(V18, V20, d2) \
	FMLA(V19, V20, d3)
#define ZERO4(d0, d1, d2, d3) \
	VEOR d0.B16, d0.B16, d0.B16 \
	VEOR d1.B16, d1.B16, d1.B16 \
	VEOR d2.B16, d2.B16, d2.B16 \
	VEOR d3.B16, d3.B16, d3.B16

	LSL $SHIFT, R2, R6
	LSR $6, R6, R7
pass:
	CBZ  R7, done
	SUB  $1, R7, R8
	CMP  $4, R7
	BLE  last
	MOVD $3, R8
last:
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	ZERO4(V8, V9, V10, V11)
	ZERO4(V12, V13, V14, V15)
	MOVD R3, R9
	MOVD R4, R10
	MOVD R5, R11
	CBZ  R11, store
row:
	MOVW.P 4(R9), R12
	MADD   R6, R1, R12, R12
	LOADDUP(R10, V20)
	UNIT(V0, V1, V2, V3)
	CBZ    R8, next
	UNIT(V4, V5, V6, V7)
	TBZ    $1, R8, next
	UNIT(V8, V9, V10, V11)
	TBZ    $0, R8, next
	UNIT(V12, V13, V14, V15)
next:
	SUB  $1, R11, R11
	CBNZ R11, row
store:
	STORE4(R0, V0, V1, V2, V3)
	CBZ R8, done
	STORE4(R0, V4, V5, V6, V7)
	TBZ $1, R8, done
	STORE4(R0, V8, V9, V10, V11)
	TBZ $0, R8, done
	STORE4(R0, V12, V13, V14, V15)
	ADD $256, R1, R1
	SUB $4, R7, R7
	B   pass
done:
#undef UNIT
#undef ZERO4
