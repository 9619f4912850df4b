// Body of axpyMixed.
//
// DI y, SI x, CX elements left; Z0 a in every lane, Z1-Z4 elements of y, Z5-Z8 elements of x,
// widened, K1 the tail.
	SUBQ  $BLOCK, CX
	JLT   units

loop:
	VCVTPS2PD 0(SI), Z5
	VCVTPS2PD 32(SI), Z6
	VCVTPS2PD 64(SI), Z7
	VCVTPS2PD 96(SI), Z8
	MOVU      0(DI), Z1
	MOVU      64(DI), Z2
	MOVU      128(DI), Z3
	MOVU      192(DI), Z4
	FMA       Z5, Z0, Z1
	FMA       Z6, Z0, Z2
	FMA       Z7, Z0, Z3
	FMA       Z8, Z0, Z4
	MOVU      Z1, 0(DI)
	MOVU      Z2, 64(DI)
	MOVU      Z3, 128(DI)
	MOVU      Z4, 192(DI)
	ADDQ      $128, SI
	ADDQ      $256, DI
	SUBQ      $BLOCK, CX
	JGE       loop

units:
	ADDQ $(BLOCK-LANES), CX
	JLT  tail

unit:
	VCVTPS2PD (SI), Z5
	MOVU      (DI), Z1
	FMA       Z5, Z0, Z1
	MOVU      Z1, (DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $LANES, CX
	JGE       unit

tail:
	ADDQ        $LANES, CX
	JEQ         done
	TAILMASK
	VCVTPS2PD.Z (SI), K1, Z5
	MOVU.Z      (DI), K1, Z1
	FMA         Z5, Z0, K1, Z1
	MOVU        Z1, K1, (DI)

done:
