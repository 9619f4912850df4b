// Body of indexAbs. |x| and m are equal where their bits are: m is neither negative nor NaN.
//
// SI x, CX elements left, Y0 m in every lane, Y15 all bits but the sign; AX the elements before SI,
// at the end the result.
	ABSMASK(Y15)
	XORL AX, AX
	SUBQ $(4*LANES), CX
	JLT  singles

fours:
	VPAND  0(SI), Y15, Y1
	VPAND  32(SI), Y15, Y2
	VPAND  64(SI), Y15, Y3
	VPAND  96(SI), Y15, Y4
	EQBITS Y0, Y1, Y1
	EQBITS Y0, Y2, Y2
	EQBITS Y0, Y3, Y3
	EQBITS Y0, Y4, Y4
	VPOR   Y1, Y2, Y1
	VPOR   Y3, Y4, Y3
	VPOR   Y1, Y3, Y1
	VPTEST Y1, Y1
	JNE    singles // which find it
	ADDQ   $128, SI
	ADDQ   $(4*LANES), AX
	SUBQ   $(4*LANES), CX
	JGE    fours

singles:
	ADDQ $(3*LANES), CX
	JLT  last

single:
	VPAND  (SI), Y15, Y1
	EQBITS Y0, Y1, Y1
	MOVMSK Y1, R8
	TESTL  R8, R8
	JNE    found
	ADDQ   $32, SI
	ADDQ   $LANES, AX
	SUBQ   $LANES, CX
	JGE    single

	// Lanes past the end are 0, which m may be, too.
last:
	ADDQ    $LANES, CX
	JEQ     done
	NEGQ    CX
	LEAQ    tails<>(SB), R8
	MOVU    32(R8)(CX*SZ), Y2
	MASKMOV (SI), Y2, Y1
	VPAND   Y1, Y15, Y1
	EQBITS  Y0, Y1, Y1
	VPAND   Y2, Y1, Y1
	MOVMSK  Y1, R8
	TESTL   R8, R8
	JNE     found
	SUBQ    CX, AX
	JMP     done

found:
	TZCNTL R8, R8
	ADDQ   R8, AX

done:
