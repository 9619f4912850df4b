// y += a*x, fused, each element on its own. MIXED: float64 y and a, float32 x.
//
//    in   R0 y, R1 x, R2 n, F30 a
//    V0-V3 a group of y, V20-V23 of x, V30 a in every lane
//    clobbers R0-R2
	SPLAT(V30)
	SUBS $GROUP, R2, R2
	BLT  rest
group:
#ifdef MIXED
#include "widen4_neon.h"
#else
	LOAD4(R1, V20, V21, V22, V23)
#endif
	VLD1 (R0), [V0.B16, V1.B16, V2.B16, V3.B16]
	FMLA(V20, V30, V0)
	FMLA(V21, V30, V1)
	FMLA(V22, V30, V2)
	FMLA(V23, V30, V3)
	STORE4(R0, V0, V1, V2, V3)
	SUBS $GROUP, R2, R2
	BGE  group
rest:
	ADDS $GROUP, R2, R2
	BEQ  done
#ifndef MIXED
	SUBS $PERREG, R2, R2
	BLT  lanes
register:
	LOAD1(R1, V20)
	VLD1 (R0), [V0.B16]
	FMLA(V20, V30, V0)
	STORE1(R0, V0)
	SUBS $PERREG, R2, R2
	BGE  register
lanes:
	ADDS $PERREG, R2, R2
	BEQ  done
#endif
one:
	LOADX(R1, F20)
	FMOV  (R0), F0
	FMADD F20, F0, F30, F0
	FMOV.P F0, SIZE(R0)
	SUBS  $1, R2, R2
	BNE   one
done:
