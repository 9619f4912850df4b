// The next group of a dense reduction: four registers of a (R0) in V16-V19, of b (R1) in V20-V23;
// both advanced. SUMSQ has no b. SQDIST leaves a-b in V16-V19.
	LOAD4(R0, V16, V17, V18, V19)
#ifdef MIXED
#include "widen4_neon.h"
#else
#ifndef SUMSQ
	LOAD4(R1, V20, V21, V22, V23)
#endif
#endif
#ifdef SQDIST
#include "sub4_neon.h"
#endif
