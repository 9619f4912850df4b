// The sum of val[k]*w[idx[k]].
//
// Contract: non-zero k is added, fused, to partial sum k mod 8, then halving. NEON has no gather,
// so the partial sums are the scalars F0-F7.
//
//    in   R0 idx, R1 val, R2 n, R3 w
//    out  F0
//    R4-R11 indices, F16-F23 values, F24-F31 weights
//    clobbers R0-R11

	// Two values at R1, advanced.
#ifdef MIXED
#define LOADX2(f, g) \
	FLDPS.P 8(R1), (f, g) \
	FCVTSD  f, f          \
	FCVTSD  g, g
#else
#define LOADX2(f, g) FLDP.P (2*SIZE)(R1), (f, g)
#endif

	// A non-zero of the rest, which goes to partial sum p.
#define REST(p) \
	CBZ    R2, halve            \
	MOVW.P 4(R0), R4            \
	LOADX(R1, F16)              \
	FMOV   (R3)(R4<<SHIFT), F24 \
	FMADD  F24, p, F16, p       \
	SUB    $1, R2, R2

	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	SUBS $8, R2, R2
	BLT  rest
eight:
	LDPSW.P 8(R0), (R4, R5)
	LDPSW.P 8(R0), (R6, R7)
	LDPSW.P 8(R0), (R8, R9)
	LDPSW.P 8(R0), (R10, R11)
	LOADX2(F16, F17)
	LOADX2(F18, F19)
	LOADX2(F20, F21)
	LOADX2(F22, F23)
	FMOV  (R3)(R4<<SHIFT), F24
	FMOV  (R3)(R5<<SHIFT), F25
	FMOV  (R3)(R6<<SHIFT), F26
	FMOV  (R3)(R7<<SHIFT), F27
	FMOV  (R3)(R8<<SHIFT), F28
	FMOV  (R3)(R9<<SHIFT), F29
	FMOV  (R3)(R10<<SHIFT), F30
	FMOV  (R3)(R11<<SHIFT), F31
	FMADD F24, F0, F16, F0
	FMADD F25, F1, F17, F1
	FMADD F26, F2, F18, F2
	FMADD F27, F3, F19, F3
	FMADD F28, F4, F20, F4
	FMADD F29, F5, F21, F5
	FMADD F30, F6, F22, F6
	FMADD F31, F7, F23, F7
	SUBS  $8, R2, R2
	BGE   eight
rest:
	ADD $8, R2, R2
	REST(F0)
	REST(F1)
	REST(F2)
	REST(F3)
	REST(F4)
	REST(F5)
	REST(F6)
halve:
	FADD F4, F0, F0 // h = 4
	FADD F5, F1, F1
	FADD F6, F2, F2
	FADD F7, F3, F3
	FADD F2, F0, F0 // h = 2
	FADD F3, F1, F1
	FADD F1, F0, F0 // h = 1

#undef LOADX2
#undef REST
