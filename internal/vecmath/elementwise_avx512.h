// Body of the elementwise kernels: with SCAL it is scal, with MIXED axpyMixed, else axpy.
//
// DI y (scal: x), SI x, CX elements left; Z0 a in every lane, Z1-Z4 elements of y, Z5-Z8 elements of
// x, widened, K1 the tail. READ loads register i, EACH makes the new elements, LAST those in K1.
#ifdef SCAL
#define READ(i, x, y)
#define EACH(i, x, y) MUL (64*i)(DI), Z0, y
#define LAST(x, y) MUL.Z (DI), Z0, K1, y
#define ADVANCE(n) ADDQ $(64*n), DI
#else
#ifdef MIXED
#define READ(i, x, y) VCVTPS2PD (32*i)(SI), x; MOVU (64*i)(DI), y
#define EACH(i, x, y) FMA x, Z0, y
#define LAST(x, y) VCVTPS2PD.Z (SI), K1, x; MOVU.Z (DI), K1, y; FMA x, Z0, K1, y
#define ADVANCE(n) ADDQ $(32*n), SI; ADDQ $(64*n), DI
#else
#define READ(i, x, y) MOVU (64*i)(DI), y
#define EACH(i, x, y) FMA (64*i)(SI), Z0, y
#define LAST(x, y) MOVU.Z (DI), K1, y; FMA (SI), Z0, K1, y
#define ADVANCE(n) ADDQ $(64*n), SI; ADDQ $(64*n), DI
#endif
#endif
	SUBQ $BLOCK, CX
	JLT  units

loop:
	READ(0, Z5, Z1)
	READ(1, Z6, Z2)
	READ(2, Z7, Z3)
	READ(3, Z8, Z4)
	EACH(0, Z5, Z1)
	EACH(1, Z6, Z2)
	EACH(2, Z7, Z3)
	EACH(3, Z8, Z4)
	MOVU Z1, 0(DI)
	MOVU Z2, 64(DI)
	MOVU Z3, 128(DI)
	MOVU Z4, 192(DI)
	ADVANCE(4)
	SUBQ $BLOCK, CX
	JGE  loop

units:
	ADDQ $(BLOCK-LANES), CX
	JLT  tail

unit:
	READ(0, Z5, Z1)
	EACH(0, Z5, Z1)
	MOVU Z1, (DI)
	ADVANCE(1)
	SUBQ $LANES, CX
	JGE  unit

tail:
	ADDQ $LANES, CX
	JEQ  done
	TAILMASK
	LAST(Z5, Z1)
	MOVU Z1, K1, (DI)

done:
#undef READ
#undef EACH
#undef LAST
#undef ADVANCE
