// Body of addRows: y += sum of alpha*x[r] * row r, in the order of r, each element on its own.
//
// DI y, CX elements left, R10 the rows from there on, R9 bytes from row to row, R11 behind x, DX
// minus the number of rows, Z30 alpha in every lane. Tiles of up to 8 units of y stay in Z0-Z7
// while R8 goes down the rows; BX counts up to 0, Z31 alpha*x[r], K1 the tail.
#define LOADY(i, z) MOVU (64*i)(DI), z
#define STEPOF \
	BCAST (R11)(BX*ESIZE), Z31; \
	MUL   Z30, Z31, Z31
	SUBQ $(8*LANES), CX
	JLT  fours

eight:
	LOADY(0, Z0)
	LOADY(1, Z1)
	LOADY(2, Z2)
	LOADY(3, Z3)
	LOADY(4, Z4)
	LOADY(5, Z5)
	LOADY(6, Z6)
	LOADY(7, Z7)
	MOVQ R10, R8
	MOVQ DX, BX

eightrows:
	STEPOF
	FMA8
	ADDQ R9, R8
	INCQ BX
	JNE  eightrows
	STORE8
	ADDQ $512, DI
	ADDQ $512, R10
	SUBQ $(8*LANES), CX
	JGE  eight

fours:
	ADDQ $(4*LANES), CX
	JLT  twos
	LOADY(0, Z0)
	LOADY(1, Z1)
	LOADY(2, Z2)
	LOADY(3, Z3)
	MOVQ R10, R8
	MOVQ DX, BX

fourrows:
	STEPOF
	FMA4
	ADDQ R9, R8
	INCQ BX
	JNE  fourrows
	STORE4
	ADDQ $256, DI
	ADDQ $256, R10
	SUBQ $(4*LANES), CX

twos:
	ADDQ $(2*LANES), CX
	JLT  ones
	LOADY(0, Z0)
	LOADY(1, Z1)
	MOVQ R10, R8
	MOVQ DX, BX

tworows:
	STEPOF
	FMA2
	ADDQ R9, R8
	INCQ BX
	JNE  tworows
	STORE2
	ADDQ $128, DI
	ADDQ $128, R10
	SUBQ $(2*LANES), CX

	// Whatever is left is less than two units.
ones:
	ADDQ $LANES, CX
	JLT  tail
	LOADY(0, Z0)
	MOVQ R10, R8
	MOVQ DX, BX

onerows:
	STEPOF
	FMA1
	ADDQ R9, R8
	INCQ BX
	JNE  onerows
	STORE1
	ADDQ $64, DI
	ADDQ $64, R10
	SUBQ $LANES, CX

tail:
	ADDQ   $LANES, CX
	JEQ    done
	TAILMASK
	MOVU.Z (DI), K1, Z0
	MOVQ   R10, R8
	MOVQ   DX, BX

tailrows:
	STEPOF
	FMA  (R8), Z31, K1, Z0
	ADDQ R9, R8
	INCQ BX
	JNE  tailrows
	MOVU Z0, K1, (DI)

done:
#undef LOADY
#undef STEPOF
