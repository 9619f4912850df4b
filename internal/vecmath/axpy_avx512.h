// Body of axpy.
//
// DI y, SI x, CX elements left; Z0 a in every lane, Z1-Z4 elements of y, K1 the tail.
	SUBQ  $BLOCK, CX
	JLT   units

loop:
	MOVU 0(DI), Z1
	MOVU 64(DI), Z2
	MOVU 128(DI), Z3
	MOVU 192(DI), Z4
	FMA  0(SI), Z0, Z1
	FMA  64(SI), Z0, Z2
	FMA  128(SI), Z0, Z3
	FMA  192(SI), Z0, Z4
	MOVU Z1, 0(DI)
	MOVU Z2, 64(DI)
	MOVU Z3, 128(DI)
	MOVU Z4, 192(DI)
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $BLOCK, CX
	JGE  loop

units:
	ADDQ $(BLOCK-LANES), CX
	JLT  tail

unit:
	MOVU (DI), Z1
	FMA  (SI), Z0, Z1
	MOVU Z1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $LANES, CX
	JGE  unit

tail:
	ADDQ   $LANES, CX
	JEQ    done
	TAILMASK
	MOVU.Z (DI), K1, Z1
	FMA    (SI), Z0, K1, Z1
	MOVU   Z1, K1, (DI)

done:
