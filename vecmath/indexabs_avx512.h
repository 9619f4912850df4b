// Body of indexAbs. |x| and m are equal where their bits are: m is neither negative nor NaN.
//
// SI x, CX elements left, Z0 m in every lane, Z8 all bits but the sign, K1 the tail; R8 the
// elements before SI, AX at the end the result.
	VPTERNLOGD $0xff, Z8, Z8, Z8
	ABSBITS    $1, Z8, Z8
	XORL       R8, R8
	SUBQ       $BLOCK, CX
	JLT        units

loop:
	VPANDD   0(SI), Z8, Z4
	VPANDD   64(SI), Z8, Z5
	VPANDD   128(SI), Z8, Z6
	VPANDD   192(SI), Z8, Z7
	EQBITS   Z0, Z4, K1
	EQBITS   Z0, Z5, K2
	EQBITS   Z0, Z6, K3
	EQBITS   Z0, Z7, K4
	KORW     K1, K2, K1
	KORW     K3, K4, K3
	KORTESTW K1, K3
	JNE      units // which find it
	ADDQ     $256, SI
	ADDQ     $BLOCK, R8
	SUBQ     $BLOCK, CX
	JGE      loop

units:
	ADDQ $(BLOCK-LANES), CX
	JLT  tail

unit:
	VPANDD (SI), Z8, Z4
	EQBITS Z0, Z4, K1
	KMOVW  K1, DX
	TESTL  DX, DX
	JNE    found
	ADDQ   $64, SI
	ADDQ   $LANES, R8
	SUBQ   $LANES, CX
	JGE    unit

tail:
	ADDQ   $LANES, CX
	JEQ    done
	TAILMASK
	MOVU.Z (SI), K1, Z4
	VPANDD Z4, Z8, Z4
	EQBITS Z0, Z4, K1, K1
	KMOVW  K1, DX
	TESTL  DX, DX
	JNE    found
	ADDQ   CX, R8
	JMP    done

found:
	TZCNTL DX, DX
	ADDQ   DX, R8

done:
	MOVQ R8, AX
