// V20-V23: the next 8 float32 at R1, widened to float64. R1 is advanced.
	VLD1.P 32(R1), [V20.S4, V21.S4]
    WORD $0x0e617ab6 // fcvtl v22.2d, v21.2s
    WORD $0x4e617ab7 // fcvtl2 v23.2d, v21.4s
    WORD $0x4e617a95 // fcvtl2 v21.2d, v20.4s
    WORD $0x0e617a94 // fcvtl v20.2d, v20.2s
