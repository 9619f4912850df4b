// V16-V19: the mask bit of each lane of a unit, 1 << l.
#ifdef F32
	VMOVQ $0x0000000200000001, $0x0000000800000004, V16
	VSHL  $4, V16.S4, V17.S4
	VSHL  $8, V16.S4, V18.S4
	VSHL  $12, V16.S4, V19.S4
#else
	VMOVQ $1, $2, V16
	VSHL  $2, V16.D2, V17.D2
	VSHL  $4, V16.D2, V18.D2
	VSHL  $6, V16.D2, V19.D2
#endif
