// Body of the elementwise kernels: with SCAL it is scal, with MIXED axpyMixed, else axpy.
//
// In: DI = destination (and operand), SI = x, CX = elements, Y0 = a in all lanes.
// EACH(y, x, r) sets r to the LANES new elements at address y, ONE(y, x, r) to a single one; x has
// XB bytes where y has 32.
//
// The last vector may overlap the one before it. It is computed first, from elements that nothing
// has written yet, and stored last, so each element gets the bits of one operation on the old
// value: no scalar tail, no masked stores.
#ifdef SCAL
#define EACH(y, x, r) MUL y, Y0, r
#define ONE(y, x, r) MULS y, X0, r
#else
#ifdef MIXED
#define EACH(y, x, r) MOVU y, r; VCVTPS2PD x, Y5; FMA Y5, Y0, r
#define ONE(y, x, r) MOVS y, r; VMOVSS x, X5; VCVTSS2SD X5, X5, X5; FMAS X5, X0, r
#else
#define EACH(y, x, r) MOVU y, r; FMA x, Y0, r
#define ONE(y, x, r) MOVS y, r; FMAS x, X0, r
#endif
#endif
	CMPQ CX, $LANES
	JLT few
	EACH(-32(DI)(CX*SZ), -XB(SI)(CX*XSZ), Y15)
	LEAQ -32(DI)(CX*SZ), R8
	SUBQ $(4*LANES), CX
	JLT singles

fours:
	EACH(0(DI), 0(SI), Y1)
	EACH(32(DI), XB(SI), Y2)
	EACH(64(DI), (2*XB)(SI), Y3)
	EACH(96(DI), (3*XB)(SI), Y4)
	MOVU Y1, 0(DI)
	MOVU Y2, 32(DI)
	MOVU Y3, 64(DI)
	MOVU Y4, 96(DI)
	ADDQ $128, DI
	ADDQ $(4*XB), SI
	SUBQ $(4*LANES), CX
	JGE fours

singles:
	ADDQ $(3*LANES), CX
	JLT last

single:
	EACH(0(DI), 0(SI), Y1)
	MOVU Y1, 0(DI)
	ADDQ $32, DI
	ADDQ $XB, SI
	SUBQ $LANES, CX
	JGE single

last:
	MOVU Y15, (R8)
	VZEROUPPER
	RET

few:
	TESTQ CX, CX
	JEQ done

one:
	ONE(0(DI), 0(SI), X1)
	MOVS X1, (DI)
	ADDQ $SZ, DI
	ADDQ $XSZ, SI
	DECQ CX
	JNE one

done:
#undef EACH
#undef ONE
