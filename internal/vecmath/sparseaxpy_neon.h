// w[idx[k]] += a*val[k], fused, in the order of k. MIXED: float64 w and a, float32 val.
//
//    in   R0 w, R1 idx, R2 val, R3 n, F30 a
//    R4, R5 indices, F16, F17 values, F0 weight
//    clobbers R0-R5

#define ADDTO(i, f) \
	FMOV  (R0)(i<<SHIFT), F0 \
	FMADD f, F0, F30, F0     \
	FMOV  F0, (R0)(i<<SHIFT)

	SUBS $2, R3, R3
	BLT  rest
two:
	LDPSW.P 8(R1), (R4, R5)
	LOADX(R2, F16)
	LOADX(R2, F17)
	ADDTO(R4, F16)
	ADDTO(R5, F17)
	SUBS $2, R3, R3
	BGE  two
rest:
	TBZ  $0, R3, done
	MOVW (R1), R4
	LOADX(R2, F16)
	ADDTO(R4, F16)
done:
#undef ADDTO
