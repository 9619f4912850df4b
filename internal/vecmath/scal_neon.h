// x *= a.
//
//    in   R0 x, R1 n, F30 a
//    V0-V3 a group of x, V30 a in every lane
//    clobbers R0, R1
	SPLAT(V30)
	SUBS $GROUP, R1, R1
	BLT  rest
group:
	VLD1 (R0), [V0.B16, V1.B16, V2.B16, V3.B16]
#include "mul4_neon.h"
	STORE4(R0, V0, V1, V2, V3)
	SUBS $GROUP, R1, R1
	BGE  group
rest:
	ADDS $GROUP, R1, R1
	BEQ  done
	SUBS $PERREG, R1, R1
	BLT  lanes
register:
	VLD1 (R0), [V0.B16]
#ifdef F32
    WORD $0x6e3edc00 // fmul v0.4s, v0.4s, v30.4s
#else
    WORD $0x6e7edc00 // fmul v0.2d, v0.2d, v30.2d
#endif
	STORE1(R0, V0)
	SUBS $PERREG, R1, R1
	BGE  register
lanes:
	ADDS $PERREG, R1, R1
	BEQ  done
one:
	FMOV   (R0), F0
	FMUL   F30, F0, F0
	FMOV.P F0, SIZE(R0)
	SUBS   $1, R1, R1
	BNE    one
done:
