// Body of dotAxpyMixed.
//
// DI y, SI x, CX elements left; Z0-Z3 the partial sums, Z4 a in every lane, Z5-Z8 elements of x,
// widened, Z9-Z12 elements of y, K1-K4 the tail.
#define STEP(i, x, y, sum) \
	VCVTPS2PD (32*i)(SI), x; \
	MOVU      (64*i)(DI), y; \
	FMA       x, y, sum; \
	FMA       x, Z4, y; \
	MOVU      y, (64*i)(DI)
#define STEPMASKED(i, k, x, y, sum) \
	VCVTPS2PD.Z (32*i)(SI), k, x; \
	MOVU.Z      (64*i)(DI), k, y; \
	FMA         x, y, k, sum; \
	FMA         x, Z4, y; \
	MOVU        y, k, (64*i)(DI)
	ZERO4
	SUBQ $BLOCK, CX
	JLT  tail

loop:
	STEP(0, Z5, Z9, Z0)
	STEP(1, Z6, Z10, Z1)
	STEP(2, Z7, Z11, Z2)
	STEP(3, Z8, Z12, Z3)
	ADDQ $128, SI
	ADDQ $256, DI
	SUBQ $BLOCK, CX
	JGE  loop

tail:
	ADDQ $BLOCK, CX
	JEQ  reduce
	TAILMASKS
	STEPMASKED(0, K1, Z5, Z9, Z0)
	CMPQ CX, $LANES
	JLE  reduce
	STEPMASKED(1, K2, Z6, Z10, Z1)
	CMPQ CX, $(2*LANES)
	JLE  reduce
	STEPMASKED(2, K3, Z7, Z11, Z2)
	CMPQ CX, $(3*LANES)
	JLE  reduce
	STEPMASKED(3, K4, Z8, Z12, Z3)

reduce:
	HALVE
#undef STEP
#undef STEPMASKED
