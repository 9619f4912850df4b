// R6 = the bits of the elements of V0-V3 that are <= V31, never of NaN. V16-V19 as lanemask_neon.h
// leaves them. The bits differ from lane to lane, so their sum is their union. They are below
// 1<<16: adding 32-bit parts will do for 64-bit lanes too.
#ifdef F32
    WORD $0x6e20e7e0 // fcmge v0.4s, v31.4s, v0.4s
    WORD $0x6e21e7e1 // fcmge v1.4s, v31.4s, v1.4s
    WORD $0x6e22e7e2 // fcmge v2.4s, v31.4s, v2.4s
    WORD $0x6e23e7e3 // fcmge v3.4s, v31.4s, v3.4s
#else
    WORD $0x6e60e7e0 // fcmge v0.2d, v31.2d, v0.2d
    WORD $0x6e61e7e1 // fcmge v1.2d, v31.2d, v1.2d
    WORD $0x6e62e7e2 // fcmge v2.2d, v31.2d, v2.2d
    WORD $0x6e63e7e3 // fcmge v3.2d, v31.2d, v3.2d
#endif
	VAND  V16.B16, V0.B16, V0.B16
	VAND  V17.B16, V1.B16, V1.B16
	VAND  V18.B16, V2.B16, V2.B16
	VAND  V19.B16, V3.B16, V3.B16
	VORR  V1.B16, V0.B16, V0.B16
	VORR  V3.B16, V2.B16, V2.B16
	VORR  V2.B16, V0.B16, V0.B16
	VADDV V0.S4, V0
	VMOV  V0.S[0], R6
