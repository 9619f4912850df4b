// Body of allOnes.
//
// SI x, CX elements left; Y1 and DX = bits that differ from those of 1, which Y0 and R8 are; AX
// becomes the result.
	MOVQ ONEBITS, R8
	VMOVQ R8, X0
	BROADBITS X0, Y0
	VPXOR Y1, Y1, Y1
	XORL AX, AX
	SUBQ $(2*LANES), CX
	JLT rest

two:
	VPXOR (SI), Y0, Y2
	VPXOR 32(SI), Y0, Y3
	VPOR Y2, Y1, Y1
	VPOR Y3, Y1, Y1
	ADDQ $64, SI
	SUBQ $(2*LANES), CX
	JGE two

rest:
	ADDQ $(2*LANES), CX
	JEQ done

one:
	MOVINT (SI), DX
	XORQ R8, DX
	ORQ DX, AX
	ADDQ $SZ, SI
	DECQ CX
	JNE one

done:
	VPTEST Y1, Y1
	SETEQ CX
	TESTQ AX, AX
	SETEQ AX
	ANDB CX, AX
