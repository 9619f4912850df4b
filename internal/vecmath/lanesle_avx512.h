// Body of lanesLE.
//
// DI mask, SI s, DX units of 64 bytes left, R8 the mask word being built, CX where the next unit
// goes in it; Z0 y and Z1 t in every lane, Z2 products, K1 one unit's bits.
	SHRQ  $(6-SHIFT), DX
	JEQ   done
	XORL  R8, R8
	XORL  CX, CX

unit:
	MUL   (SI), Z0, Z2
	CMP   $0x12, Z1, Z2, K1 // LE_OQ: Z2 <= Z1, false for NaN
	KMOVW K1, AX
	SHLQ  CX, AX
	ORQ   AX, R8
	ADDQ  $64, SI
	ADDL  $LANES, CX
	CMPL  CX, $64
	JLT   next
	MOVQ  R8, (DI)
	ADDQ  $8, DI
	XORL  R8, R8
	XORL  CX, CX

next:
	DECQ  DX
	JNE   unit
	TESTL CX, CX
	JEQ   done
	MOVQ  R8, (DI)

done:
