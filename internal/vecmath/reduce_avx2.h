// Body of the dense reductions. The 64 (float32) or 32 (float64) partial sums are the lanes of
// Y0..Y7: element i of a block of BLOCK elements belongs to lane i%LANES of register i/LANES.
//
// With SUMSQ it is sumSq, with SQDIST sqDist, with MIXED dotMixed, else dot.
//
// In: CX = elements; SI = a (sumSq: x), DI = b (dotMixed: x). Out: X0 = result. Changes Y0..Y10,
// R8, CX, SI, DI. STEP(off, acc) adds the products of the LANES elements off bytes ahead to acc.
// LAST(off, acc) does so for the first elements only, of which there are -CX, with the table of
// masks at R8. ADVANCE moves the pointers by a block.
#ifdef SUMSQ
#define STEP(off, acc) MOVU off(SI), Y8; FMA Y8, Y8, acc
#define LAST(off, acc) \
	MOVU 32(R8)(CX*SZ), Y9; \
	MASKMOV off(SI), Y9, Y8; \
	FMA Y8, Y8, acc
#define ADVANCE ADDQ $256, SI
#else
#ifdef SQDIST
#define STEP(off, acc) MOVU off(SI), Y8; SUB off(DI), Y8, Y8; FMA Y8, Y8, acc
// A partial sum of squares is never -0, so lanes past the end may add 0*0.
#define LAST(off, acc) \
	MOVU 32(R8)(CX*SZ), Y9; \
	MASKMOV off(SI), Y9, Y8; \
	MASKMOV off(DI), Y9, Y10; \
	SUB Y10, Y8, Y8; \
	FMA Y8, Y8, acc
#define ADVANCE ADDQ $256, SI; ADDQ $256, DI
#else
// Lanes past the end get a = -0 and b = +0, so they add -0, which changes no partial sum; +0 would
// make +0 of a partial sum that is -0 (a product that underflowed).
#ifdef MIXED
#define STEP(off, acc) VCVTPS2PD (off/2)(DI), Y8; FMA off(SI), Y8, acc
#define LAST(off, acc) \
	VMOVUPS 32(R8)(CX*4), X9; \
	VMASKMOVPS (off/2)(DI), X9, X8; \
	VCVTPS2PD X8, Y8; \
	MOVU 32(R8)(CX*8), Y9; \
	MASKMOV off(SI), Y9, Y10; \
	VORPS SIGNS(R8)(CX*8), Y10, Y10; \
	FMA Y10, Y8, acc
#define ADVANCE ADDQ $256, SI; ADDQ $128, DI
#else
#define STEP(off, acc) MOVU off(SI), Y8; FMA off(DI), Y8, acc
#define LAST(off, acc) \
	MOVU 32(R8)(CX*SZ), Y9; \
	MASKMOV off(SI), Y9, Y8; \
	VORPS SIGNS(R8)(CX*SZ), Y8, Y8; \
	MASKMOV off(DI), Y9, Y10; \
	FMA Y10, Y8, acc
#define ADVANCE ADDQ $256, SI; ADDQ $256, DI
#endif
#endif
#endif
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	SUBQ $BLOCK, CX
	JLT rest

block:
	STEP(0, Y0)
	STEP(32, Y1)
	STEP(64, Y2)
	STEP(96, Y3)
	STEP(128, Y4)
	STEP(160, Y5)
	STEP(192, Y6)
	STEP(224, Y7)
	ADVANCE
	SUBQ $BLOCK, CX
	JGE block

rest:
	ADDQ $BLOCK, CX
	CMPQ CX, $LANES
	JLT last0
	STEP(0, Y0)
	CMPQ CX, $(2*LANES)
	JLT last1
	STEP(32, Y1)
	CMPQ CX, $(3*LANES)
	JLT last2
	STEP(64, Y2)
	CMPQ CX, $(4*LANES)
	JLT last3
	STEP(96, Y3)
	CMPQ CX, $(5*LANES)
	JLT last4
	STEP(128, Y4)
	CMPQ CX, $(6*LANES)
	JLT last5
	STEP(160, Y5)
	CMPQ CX, $(7*LANES)
	JLT last6
	STEP(192, Y6)
	TAIL(224, Y7)

last0:
	TAIL(0, Y0)

last1:
	TAIL(32, Y1)

last2:
	TAIL(64, Y2)

last3:
	TAIL(96, Y3)

last4:
	TAIL(128, Y4)

last5:
	TAIL(160, Y5)

last6:
	TAIL(192, Y6)

	// Halving: partial sums h = BLOCK/2, BLOCK/4, BLOCK/8 apart are whole registers apart.
tree:
	ADD Y4, Y0, Y0
	ADD Y5, Y1, Y1
	ADD Y6, Y2, Y2
	ADD Y7, Y3, Y3
	ADD Y2, Y0, Y0
	ADD Y3, Y1, Y1
	ADD Y1, Y0, Y0
	HALVE
#undef STEP
#undef LAST
#undef ADVANCE
