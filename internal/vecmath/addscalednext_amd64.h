// What the bodies of addScaledNext share. Their registers are told in step_amd64.s.

// NEXTSTART sets the rest, from the arguments.
#define NEXTSTART \
	XORL    R8, R8; \
	CMPQ    R12, DX; \
	CMOVQEQ R8, R12; \
	MOVQ    R12, BX; \
	MOVQ    R12, CX; \
	MOVQ    DX, R10; \
	MOVQ    $-1, R11; \
	MOVQ    $-1, R9
