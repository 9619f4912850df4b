// V0-V3 *= V30, each product rounded.
#ifdef F32
    WORD $0x6e3edc00 // fmul v0.4s, v0.4s, v30.4s
    WORD $0x6e3edc21 // fmul v1.4s, v1.4s, v30.4s
    WORD $0x6e3edc42 // fmul v2.4s, v2.4s, v30.4s
    WORD $0x6e3edc63 // fmul v3.4s, v3.4s, v30.4s
#else
    WORD $0x6e7edc00 // fmul v0.2d, v0.2d, v30.2d
    WORD $0x6e7edc21 // fmul v1.2d, v1.2d, v30.2d
    WORD $0x6e7edc42 // fmul v2.2d, v2.2d, v30.2d
    WORD $0x6e7edc63 // fmul v3.2d, v3.2d, v30.2d
#endif
