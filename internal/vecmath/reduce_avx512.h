// Body of the dense reductions: with SUMSQ it is sumSq, with SQDIST sqDist, with MIXED dotMixed,
// with MIXED and AXPY dotAxpyMixed, else dot.
//
// CX elements left, SI a (sumSq: x), DI b (dotMixed: x); dotAxpyMixed: DI y, SI x, Z12 the factor.
// Z0-Z3 are the partial sums, Z4-Z7 elements of a, differences, or widened elements of x, Z8-Z11
// elements of y, K1-K4 the tail. STEP adds the products of register i to a partial sum, LAST those
// of the lanes in k.
#ifdef SUMSQ
#define READ(i, v, w) MOVU (64*i)(SI), v
#define STEP(i, v, w, sum) FMA v, v, sum
#define LAST(i, k, v, w, sum) MOVU.Z (64*i)(SI), k, v; FMA v, v, k, sum
#define ADVANCE ADDQ $256, SI
#else
#ifdef SQDIST
#define READ(i, v, w) MOVU (64*i)(SI), v
#define STEP(i, v, w, sum) SUB (64*i)(DI), v, v; FMA v, v, sum
#define LAST(i, k, v, w, sum) MOVU.Z (64*i)(SI), k, v; SUB (64*i)(DI), v, k, v; FMA v, v, k, sum
#define ADVANCE ADDQ $256, SI; ADDQ $256, DI
#else
#ifdef AXPY
#define READ(i, v, w) VCVTPS2PD (32*i)(SI), v; MOVU (64*i)(DI), w
#define STEP(i, v, w, sum) FMA v, w, sum; FMA v, Z12, w; MOVU w, (64*i)(DI)
#define LAST(i, k, v, w, sum) \
	VCVTPS2PD.Z (32*i)(SI), k, v; \
	MOVU.Z      (64*i)(DI), k, w; \
	FMA         v, w, k, sum; \
	FMA         v, Z12, w; \
	MOVU        w, k, (64*i)(DI)
#define ADVANCE ADDQ $128, SI; ADDQ $256, DI
#else
#ifdef MIXED
#define READ(i, v, w) VCVTPS2PD (32*i)(DI), v
#define STEP(i, v, w, sum) FMA (64*i)(SI), v, sum
#define LAST(i, k, v, w, sum) VCVTPS2PD.Z (32*i)(DI), k, v; FMA (64*i)(SI), v, k, sum
#define ADVANCE ADDQ $256, SI; ADDQ $128, DI
#else
#define READ(i, v, w) MOVU (64*i)(SI), v
#define STEP(i, v, w, sum) FMA (64*i)(DI), v, sum
#define LAST(i, k, v, w, sum) MOVU.Z (64*i)(SI), k, v; FMA (64*i)(DI), v, k, sum
#define ADVANCE ADDQ $256, SI; ADDQ $256, DI
#endif
#endif
#endif
#endif
	ZERO4
	SUBQ $BLOCK, CX
	JLT  tail

loop:
	READ(0, Z4, Z8)
	READ(1, Z5, Z9)
	READ(2, Z6, Z10)
	READ(3, Z7, Z11)
	STEP(0, Z4, Z8, Z0)
	STEP(1, Z5, Z9, Z1)
	STEP(2, Z6, Z10, Z2)
	STEP(3, Z7, Z11, Z3)
	ADVANCE
	SUBQ $BLOCK, CX
	JGE  loop

tail:
	ADDQ $BLOCK, CX
	JEQ  reduce
	TAILMASKS
	LAST(0, K1, Z4, Z8, Z0)
	CMPQ CX, $LANES
	JLE  reduce
	LAST(1, K2, Z5, Z9, Z1)
	CMPQ CX, $(2*LANES)
	JLE  reduce
	LAST(2, K3, Z6, Z10, Z2)
	CMPQ CX, $(3*LANES)
	JLE  reduce
	LAST(3, K4, Z7, Z11, Z3)

reduce:
	HALVE
#undef READ
#undef STEP
#undef LAST
#undef ADVANCE
