// Body of dotMixed.
//
// SI a, DI x, CX elements left; Z0-Z3 the partial sums, Z4-Z7 elements of x, widened, K1-K4 the
// tail.
	ZERO4
	SUBQ $BLOCK, CX
	JLT  tail

loop:
	VCVTPS2PD 0(DI), Z4
	VCVTPS2PD 32(DI), Z5
	VCVTPS2PD 64(DI), Z6
	VCVTPS2PD 96(DI), Z7
	FMA       0(SI), Z4, Z0
	FMA       64(SI), Z5, Z1
	FMA       128(SI), Z6, Z2
	FMA       192(SI), Z7, Z3
	ADDQ      $256, SI
	ADDQ      $128, DI
	SUBQ      $BLOCK, CX
	JGE       loop

tail:
	ADDQ        $BLOCK, CX
	JEQ         reduce
	TAILMASKS
	VCVTPS2PD.Z 0(DI), K1, Z4
	FMA         0(SI), Z4, K1, Z0
	CMPQ        CX, $LANES
	JLE         reduce
	VCVTPS2PD.Z 32(DI), K2, Z5
	FMA         64(SI), Z5, K2, Z1
	CMPQ        CX, $(2*LANES)
	JLE         reduce
	VCVTPS2PD.Z 64(DI), K3, Z6
	FMA         128(SI), Z6, K3, Z2
	CMPQ        CX, $(3*LANES)
	JLE         reduce
	VCVTPS2PD.Z 96(DI), K4, Z7
	FMA         192(SI), Z7, K4, Z3

reduce:
	HALVE
