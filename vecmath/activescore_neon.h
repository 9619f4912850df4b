// dst[j] = the sum over k of val[k]*w[rows[k]*width + lanes[j]].
//
// Contract: each sum starts at +0 and adds its products, fused, in the order of k. One chain of
// additions is bound by latency, so four lanes go at a time; of fewer, the first fills the places
// of those that are missing.
//
//    in   R0 dst, R1 w, R2 width, R3 rows, R4 val, R5 n, R6 lanes, R7 nl
// R2 bytes of a row, R8-R11 the lanes in row 0, R12-R14 rows, val, n as they are walked, R15 offset
// of the row
//    F0-F3 the sums, F4-F7 weights, F16 val[k]
//    clobbers R0-R15

	LSL $SHIFT, R2, R2
four:
	CBZ  R7, done
	MOVW (R6), R8
	ADD  R8<<SHIFT, R1, R8
	MOVD R8, R9
	MOVD R8, R10
	MOVD R8, R11
	CMP  $2, R7
	BLT  sum
	MOVW 4(R6), R9
	ADD  R9<<SHIFT, R1, R9
	BEQ  sum
	MOVW 8(R6), R10
	ADD  R10<<SHIFT, R1, R10
	CMP  $4, R7
	BLT  sum
	MOVW 12(R6), R11
	ADD  R11<<SHIFT, R1, R11
sum:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD R3, R12
	MOVD R4, R13
	MOVD R5, R14
	CBZ  R14, store
row:
	MOVW.P 4(R12), R15
	MUL    R2, R15, R15
	FMOV.P SIZE(R13), F16
	FMOV   (R8)(R15), F4
	FMOV   (R9)(R15), F5
	FMOV   (R10)(R15), F6
	FMOV   (R11)(R15), F7
	FMADD  F4, F0, F16, F0
	FMADD  F5, F1, F16, F1
	FMADD  F6, F2, F16, F2
	FMADD  F7, F3, F16, F3
	SUB    $1, R14, R14
	CBNZ   R14, row
store:
	FMOV F0, (R0)
	CMP  $2, R7
	BLT  done
	FMOV F1, SIZE(R0)
	BEQ  done
	FMOV F2, (2*SIZE)(R0)
	CMP  $4, R7
	BLT  done
	FMOV F3, (3*SIZE)(R0)
	ADD  $(4*SIZE), R0, R0
	ADD  $16, R6, R6
	SUB  $4, R7, R7
	B    four
done:
