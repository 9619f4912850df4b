// The first index with |x| == m, n if there is none. Equal are the bits, since m is neither negative
// nor NaN.
//
//    in   R0 x, R2 n, F31 m
//    out  R5
//    R3 the bits of m; V16-V19 a group, V30 all bits but the sign, V31 m in every lane
//    clobbers R0, R2-R4, R6
	BITSOF F31, R3
	SPLAT(V31)
	MOVD   $(SIGNBIT-1), R4
	DUP(R4, V30)
	MOVD   $0, R5
	SUBS   $GROUP, R2, R2
	BLT    rest
group:
	LOAD4(R0, V16, V17, V18, V19)
	VAND V30.B16, V16.B16, V16.B16
	VAND V30.B16, V17.B16, V17.B16
	VAND V30.B16, V18.B16, V18.B16
	VAND V30.B16, V19.B16, V19.B16
	CMEQ(V31, V16, V16)
	CMEQ(V31, V17, V17)
	CMEQ(V31, V18, V18)
	CMEQ(V31, V19, V19)
	VORR V16.B16, V17.B16, V16.B16
	VORR V18.B16, V19.B16, V18.B16
	VORR V16.B16, V18.B16, V16.B16
	VMOV V16.D[0], R4
	VMOV V16.D[1], R6
	ORR  R6, R4, R4
	CBNZ R4, found
	ADD  $GROUP, R5, R5
	SUBS $GROUP, R2, R2
	BGE  group
	B    rest
found:
	SUB $64, R0, R0 // among the group, which is looked at again one by one
rest:
	ADDS $GROUP, R2, R2
	BEQ  done
one:
	LOADBITS SIZE(R0), R4
	MAGNITUDE(R4)
	CMP  R3, R4
	BEQ  done
	ADD  $1, R5, R5
	SUBS $1, R2, R2
	BNE  one
done:
