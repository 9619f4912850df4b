// w[rows[k]*width + lanes[j]] += coef[j]*val[k], fused; j outer, k inner, each in order.
//
//    in   R0 w, R1 width, R2 rows, R3 val, R4 n, R5 lanes, R6 coef, R7 nl
// R1 bytes of a row, R8 the lane in row 0, R9-R11 rows, val, n as they are walked, R12 offset of
// the row
//    F0 weight, F16 val[k], F30 coef[j]
//    clobbers R0-R12

	LSL $SHIFT, R1, R1
	CBZ R4, done
lane:
	CBZ    R7, done
	MOVW.P 4(R5), R8
	ADD    R8<<SHIFT, R0, R8
	FMOV.P SIZE(R6), F30
	MOVD   R2, R9
	MOVD   R3, R10
	MOVD   R4, R11
row:
	MOVW.P 4(R9), R12
	MUL    R1, R12, R12
	FMOV.P SIZE(R10), F16
	FMOV   (R8)(R12), F0
	FMADD  F16, F0, F30, F0
	FMOV   F0, (R8)(R12)
	SUB    $1, R11, R11
	CBNZ   R11, row
	SUB    $1, R7, R7
	B      lane
done:
