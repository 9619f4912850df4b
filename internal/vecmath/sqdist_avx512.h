// Body of sqDist.
//
// SI a, DI b, CX elements left; Z0-Z3 the partial sums, Z4-Z7 differences, K1-K4 the tail.
	ZERO4
	SUBQ $BLOCK, CX
	JLT  tail

loop:
	MOVU 0(SI), Z4
	MOVU 64(SI), Z5
	MOVU 128(SI), Z6
	MOVU 192(SI), Z7
	SUB  0(DI), Z4, Z4
	SUB  64(DI), Z5, Z5
	SUB  128(DI), Z6, Z6
	SUB  192(DI), Z7, Z7
	FMA  Z4, Z4, Z0
	FMA  Z5, Z5, Z1
	FMA  Z6, Z6, Z2
	FMA  Z7, Z7, Z3
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $BLOCK, CX
	JGE  loop

tail:
	ADDQ   $BLOCK, CX
	JEQ    reduce
	TAILMASKS
	MOVU.Z 0(SI), K1, Z4
	SUB    0(DI), Z4, K1, Z4
	FMA    Z4, Z4, K1, Z0
	CMPQ   CX, $LANES
	JLE    reduce
	MOVU.Z 64(SI), K2, Z5
	SUB    64(DI), Z5, K2, Z5
	FMA    Z5, Z5, K2, Z1
	CMPQ   CX, $(2*LANES)
	JLE    reduce
	MOVU.Z 128(SI), K3, Z6
	SUB    128(DI), Z6, K3, Z6
	FMA    Z6, Z6, K3, Z2
	CMPQ   CX, $(3*LANES)
	JLE    reduce
	MOVU.Z 192(SI), K4, Z7
	SUB    192(DI), Z7, K4, Z7
	FMA    Z7, Z7, K4, Z3

reduce:
	HALVE
