// Body of asum.
//
// SI x, CX elements left; Z0-Z3 the partial sums, Z4-Z7 elements, Z8 all bits but the sign, K1-K4
// the tail. A partial sum is never -0, so that adding +0 changes none.
	VPTERNLOGD $0xff, Z8, Z8, Z8
	ABSBITS    $1, Z8, Z8
	ZERO4
	SUBQ       $BLOCK, CX
	JLT        tail

loop:
	VPANDD 0(SI), Z8, Z4
	VPANDD 64(SI), Z8, Z5
	VPANDD 128(SI), Z8, Z6
	VPANDD 192(SI), Z8, Z7
	ADD    Z4, Z0, Z0
	ADD    Z5, Z1, Z1
	ADD    Z6, Z2, Z2
	ADD    Z7, Z3, Z3
	ADDQ   $256, SI
	SUBQ   $BLOCK, CX
	JGE    loop

tail:
	ADDQ   $BLOCK, CX
	JEQ    reduce
	TAILMASKS
	MOVU.Z 0(SI), K1, Z4
	VPANDD Z4, Z8, Z4
	ADD    Z4, Z0, Z0
	CMPQ   CX, $LANES
	JLE    reduce
	MOVU.Z 64(SI), K2, Z5
	VPANDD Z5, Z8, Z5
	ADD    Z5, Z1, Z1
	CMPQ   CX, $(2*LANES)
	JLE    reduce
	MOVU.Z 128(SI), K3, Z6
	VPANDD Z6, Z8, Z6
	ADD    Z6, Z2, Z2
	CMPQ   CX, $(3*LANES)
	JLE    reduce
	MOVU.Z 192(SI), K4, Z7
	VPANDD Z7, Z8, Z7
	ADD    Z7, Z3, Z3

reduce:
	HALVE
