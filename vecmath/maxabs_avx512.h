// Body of maxAbs.
//
// SI x, CX elements left; Z0-Z3 the largest, Z4-Z7 elements, Z8 all bits but the sign, K1 the tail.
// Of two operands MAX takes the first one written, which is the largest so far, if any is NaN.
	VPTERNLOGD $0xff, Z8, Z8, Z8
	ABSBITS    $1, Z8, Z8
	ZERO4
	SUBQ       $BLOCK, CX
	JLT        units

loop:
	VPANDD 0(SI), Z8, Z4
	VPANDD 64(SI), Z8, Z5
	VPANDD 128(SI), Z8, Z6
	VPANDD 192(SI), Z8, Z7
	MAX    Z0, Z4, Z0
	MAX    Z1, Z5, Z1
	MAX    Z2, Z6, Z2
	MAX    Z3, Z7, Z3
	ADDQ   $256, SI
	SUBQ   $BLOCK, CX
	JGE    loop

units:
	ADDQ $(BLOCK-LANES), CX
	JLT  tail

unit:
	VPANDD (SI), Z8, Z4
	MAX    Z0, Z4, Z0
	ADDQ   $64, SI
	SUBQ   $LANES, CX
	JGE    unit

tail:
	ADDQ   $LANES, CX
	JEQ    join
	TAILMASK
	MOVU.Z (SI), K1, Z4
	VPANDD Z4, Z8, Z4
	MAX    Z0, Z4, Z0

join:
	MAX           Z1, Z0, Z0
	MAX           Z3, Z2, Z2
	MAX           Z2, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	MAX           Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	MAX           X1, X0, X0
	MAXLANE(X0, X1)
