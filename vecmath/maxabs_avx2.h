// Body of maxAbs.
//
// SI x, CX elements left; Y0-Y3 the largest, Y15 all bits but the sign. Of two operands MAX takes
// the first one written, which is the largest so far, if any is NaN.
	ABSMASK(Y15)
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	SUBQ   $(4*LANES), CX
	JLT    singles

fours:
	VANDPS 0(SI), Y15, Y4
	VANDPS 32(SI), Y15, Y5
	VANDPS 64(SI), Y15, Y6
	VANDPS 96(SI), Y15, Y7
	MAX    Y0, Y4, Y0
	MAX    Y1, Y5, Y1
	MAX    Y2, Y6, Y2
	MAX    Y3, Y7, Y3
	ADDQ   $128, SI
	SUBQ   $(4*LANES), CX
	JGE    fours

singles:
	ADDQ $(3*LANES), CX
	JLT  last

single:
	VANDPS (SI), Y15, Y4
	MAX    Y0, Y4, Y0
	ADDQ   $32, SI
	SUBQ   $LANES, CX
	JGE    single

	// Lanes past the end are +0.
last:
	ADDQ    $LANES, CX
	JEQ     join
	NEGQ    CX
	LEAQ    tails<>(SB), R8
	MOVU    32(R8)(CX*SZ), Y5
	MASKMOV (SI), Y5, Y4
	VANDPS  Y4, Y15, Y4
	MAX     Y0, Y4, Y0

join:
	MAX          Y1, Y0, Y0
	MAX          Y3, Y2, Y2
	MAX          Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	MAX          X1, X0, X0
	MAXHALVES
