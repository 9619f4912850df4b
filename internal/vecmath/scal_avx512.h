// Body of scal.
//
// DI x, CX elements left; Z0 a in every lane, Z1-Z4 elements, K1 the tail.
	SUBQ  $BLOCK, CX
	JLT   units

loop:
	MUL  0(DI), Z0, Z1
	MUL  64(DI), Z0, Z2
	MUL  128(DI), Z0, Z3
	MUL  192(DI), Z0, Z4
	MOVU Z1, 0(DI)
	MOVU Z2, 64(DI)
	MOVU Z3, 128(DI)
	MOVU Z4, 192(DI)
	ADDQ $256, DI
	SUBQ $BLOCK, CX
	JGE  loop

units:
	ADDQ $(BLOCK-LANES), CX
	JLT  tail

unit:
	MUL  (DI), Z0, Z1
	MOVU Z1, (DI)
	ADDQ $64, DI
	SUBQ $LANES, CX
	JGE  unit

tail:
	ADDQ  $LANES, CX
	JEQ   done
	TAILMASK
	MUL.Z (DI), Z0, K1, Z1
	MOVU  Z1, K1, (DI)

done:
