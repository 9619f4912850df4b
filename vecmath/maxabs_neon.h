// The largest |x|, +0 of none; NaN is left out, since no comparison with it is true.
//
//    in   R0 x, R2 n
//    out  F0
//    V0-V3 the largest with their signs, V16-V19 a group, V20-V23 where that is larger
//    clobbers R0, R2
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	SUBS $GROUP, R2, R2
	BLT  join
group:
	LOAD4(R0, V16, V17, V18, V19)
#ifdef F32
    WORD $0x6ea0ee14 // facgt v20.4s, v16.4s, v0.4s
    WORD $0x6ea1ee35 // facgt v21.4s, v17.4s, v1.4s
    WORD $0x6ea2ee56 // facgt v22.4s, v18.4s, v2.4s
    WORD $0x6ea3ee77 // facgt v23.4s, v19.4s, v3.4s
#else
    WORD $0x6ee0ee14 // facgt v20.2d, v16.2d, v0.2d
    WORD $0x6ee1ee35 // facgt v21.2d, v17.2d, v1.2d
    WORD $0x6ee2ee56 // facgt v22.2d, v18.2d, v2.2d
    WORD $0x6ee3ee77 // facgt v23.2d, v19.2d, v3.2d
#endif
	VBIT V20.B16, V16.B16, V0.B16
	VBIT V21.B16, V17.B16, V1.B16
	VBIT V22.B16, V18.B16, V2.B16
	VBIT V23.B16, V19.B16, V3.B16
	SUBS $GROUP, R2, R2
	BGE  group
join:
#ifdef F32
    WORD $0x6ea0ec34 // facgt v20.4s, v1.4s, v0.4s
    WORD $0x6ea2ec75 // facgt v21.4s, v3.4s, v2.4s
#else
    WORD $0x6ee0ec34 // facgt v20.2d, v1.2d, v0.2d
    WORD $0x6ee2ec75 // facgt v21.2d, v3.2d, v2.2d
#endif
	VBIT V20.B16, V1.B16, V0.B16
	VBIT V21.B16, V3.B16, V2.B16
#ifdef F32
    WORD $0x6ea0ec54 // facgt v20.4s, v2.4s, v0.4s
#else
    WORD $0x6ee0ec54 // facgt v20.2d, v2.2d, v0.2d
#endif
	VBIT V20.B16, V2.B16, V0.B16
	VDUP V0.D[1], V1.D2
#ifdef F32
    WORD $0x6ea0ec34 // facgt v20.4s, v1.4s, v0.4s
	VBIT V20.B16, V1.B16, V0.B16
	VDUP V0.S[1], V1.S4
#endif
	FABS  F0, F0
	FABS  F1, F1
	FCMP  F0, F1
	FCSEL GT, F1, F0, F0
	ADDS  $GROUP, R2, R2
	BEQ   done
one:
	FMOV.P SIZE(R0), F1
	FABS   F1, F1
	FCMP   F0, F1
	FCSEL  GT, F1, F0, F0
	SUBS   $1, R2, R2
	BNE    one
done:
