// V16-V19 -= V20-V23, each difference rounded.
#ifdef F32
    WORD $0x4eb4d610 // fsub v16.4s, v16.4s, v20.4s
    WORD $0x4eb5d631 // fsub v17.4s, v17.4s, v21.4s
    WORD $0x4eb6d652 // fsub v18.4s, v18.4s, v22.4s
    WORD $0x4eb7d673 // fsub v19.4s, v19.4s, v23.4s
#else
    WORD $0x4ef4d610 // fsub v16.2d, v16.2d, v20.2d
    WORD $0x4ef5d631 // fsub v17.2d, v17.2d, v21.2d
    WORD $0x4ef6d652 // fsub v18.2d, v18.2d, v22.2d
    WORD $0x4ef7d673 // fsub v19.2d, v19.2d, v23.2d
#endif
