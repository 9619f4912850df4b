// dst[r] = table[number of bits of row OP x]. The registers are those of vecmath_bytes_amd64.s.
	SHLQ $3, R9
	CMPQ CX, $1
	JEQ  words1
	CMPQ CX, $2
	JEQ  words2
rows:
	XORL AX, AX
	XORL R12, R12
	CMPQ CX, $0
	JEQ  stored
inner:
	MOVQ    (SI)(R12*8), R10
	OP      (DX)(R12*8), R10
	POPCNTQ R10, R10
	ADDQ    R10, AX
	INCQ    R12
	CMPQ    R12, CX
	JLT     inner
stored:
	LOOKUP
	ADDQ R9, SI
	DECQ R8
	JNE  rows
	RET
words1:
	MOVQ (DX), R10
loop1:
	MOVQ    (SI), AX
	OP      R10, AX
	POPCNTQ AX, AX
	LOOKUP
	ADDQ R9, SI
	DECQ R8
	JNE  loop1
	RET
words2:
	MOVQ (DX), R10
	MOVQ 8(DX), R11
loop2:
	MOVQ    (SI), AX
	MOVQ    8(SI), R12
	OP      R10, AX
	OP      R11, R12
	POPCNTQ AX, AX
	POPCNTQ R12, R12
	ADDQ    R12, AX
	LOOKUP
	ADDQ R9, SI
	DECQ R8
	JNE  loop2
	RET
