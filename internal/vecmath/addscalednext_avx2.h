// Body of addScaledNext, AVX2. What it takes and leaves is said in step_amd64.s; it uses AX, BX,
// CX, DX, R8, R10 to R14 and Y2 to Y9. For GUESSED and NEAR see addscalednext_avx512.h.
	NEXTSTART
	ANDQ  $-4, BX
	ANDQ  $3, CX
	SHLXQ CX, R11, R11

look16:
	CMPQ        BX, R10
	JGE         turn
	LEAQ        16(BX), AX
	CMPQ        AX, DX
	JGT         look4
	VMOVUPD     0(DI)(BX*8), Y2
	VMOVUPD     32(DI)(BX*8), Y3
	VMOVUPD     64(DI)(BX*8), Y4
	VMOVUPD     96(DI)(BX*8), Y5
	VFMADD231PD 0(SI)(BX*8), Y0, Y2
	VFMADD231PD 32(SI)(BX*8), Y0, Y3
	VFMADD231PD 64(SI)(BX*8), Y0, Y4
	VFMADD231PD 96(SI)(BX*8), Y0, Y5

#ifdef GUESSED
	VCMPPD      $2, Y1, Y2, Y6
	VCMPPD      $2, Y1, Y3, Y7
	VCMPPD      $2, Y1, Y4, Y8
	VCMPPD      $2, Y1, Y5, Y9
#endif

	VCMPPD      $2, NEAR, Y2, Y2
	VCMPPD      $2, NEAR, Y3, Y3
	VCMPPD      $2, NEAR, Y4, Y4
	VCMPPD      $2, NEAR, Y5, Y5
	VMOVMSKPD   Y2, AX
	VMOVMSKPD   Y3, CX
	VMOVMSKPD   Y4, R13
	VMOVMSKPD   Y5, R14
	SHLL        $4, CX
	SHLL        $8, R13
	SHLL        $12, R14
	ORL         CX, AX
	ORL         R14, R13
	ORL         R13, AX
	ANDQ        R11, AX

#ifdef GUESSED
	VXORPD      Y2, Y6, Y6
	VXORPD      Y3, Y7, Y7
	VXORPD      Y4, Y8, Y8
	VXORPD      Y5, Y9, Y9
	VORPD       Y6, Y7, Y2
	VORPD       Y8, Y9, Y3
	VORPD       Y2, Y3, Y2
	VMOVMSKPD   Y2, CX
	TESTL       CX, CX
	JNE         other16

known16:
	TESTQ       AX, AX
#endif
	JNE         found
	ADDQ        $16, BX
	MOVQ        $-1, R11
	JMP         look16

look4:
	CMPQ        BX, R10
	JGE         turn
	LEAQ        4(BX), AX
	CMPQ        AX, DX
	JGT         look1
	VMOVUPD     (DI)(BX*8), Y2
	VFMADD231PD (SI)(BX*8), Y0, Y2
	VCMPPD      $2, NEAR, Y2, Y3
	VMOVMSKPD   Y3, AX
	ANDQ        R11, AX

#ifdef GUESSED
	VCMPPD      $2, Y1, Y2, Y2
	VMOVMSKPD   Y2, CX
	ANDQ        R11, CX
	CMPQ        AX, CX
	JNE         other4

known4:
	TESTQ       AX, AX
#endif
	JNE         found
	ADDQ        $4, BX
	MOVQ        $-1, R11
	JMP         look4

look1:
	CMPQ        BX, R10
	JGE         turn
	VMOVSD      (DI)(BX*8), X2
	VFMADD231SD (SI)(BX*8), X0, X2
	VCMPSD      $2, X1, X2, X2
	VMOVMSKPD   X2, AX
	ANDQ        R11, AX
	ANDL        $1, AX
	JNE         found
	INCQ        BX
	SARQ        $1, R11
	JMP         look1

turn:
	TESTQ R8, R8
	JNE   add
	MOVQ  R12, R10
	INCL  R8
	XORL  BX, BX
	MOVQ  $-1, R11
	JMP   look16

#ifdef GUESSED
other16:
	VMOVMSKPD Y6, CX
	VMOVMSKPD Y7, R13
	VMOVMSKPD Y8, R14
	SHLL      $4, R13
	SHLL      $8, R14
	ORL       R13, CX
	VMOVMSKPD Y9, R13
	ORL       R14, CX
	SHLL      $12, R13
	ORL       R13, CX
	ANDQ      R11, CX
	XORQ      CX, AX
	JMP       known16

other4:
	MOVQ CX, AX
	JMP  known4
#endif

found:
	TZCNTQ AX, R9
	ADDQ   BX, R9

add:
	XORL BX, BX
	SUBQ $32, DX
	JLT  fours

block:
	VMOVUPD     0(DI)(BX*8), Y2
	VMOVUPD     32(DI)(BX*8), Y3
	VMOVUPD     64(DI)(BX*8), Y4
	VMOVUPD     96(DI)(BX*8), Y5
	VMOVUPD     128(DI)(BX*8), Y6
	VMOVUPD     160(DI)(BX*8), Y7
	VMOVUPD     192(DI)(BX*8), Y8
	VMOVUPD     224(DI)(BX*8), Y9
	VFMADD231PD 0(SI)(BX*8), Y0, Y2
	VFMADD231PD 32(SI)(BX*8), Y0, Y3
	VFMADD231PD 64(SI)(BX*8), Y0, Y4
	VFMADD231PD 96(SI)(BX*8), Y0, Y5
	VFMADD231PD 128(SI)(BX*8), Y0, Y6
	VFMADD231PD 160(SI)(BX*8), Y0, Y7
	VFMADD231PD 192(SI)(BX*8), Y0, Y8
	VFMADD231PD 224(SI)(BX*8), Y0, Y9
	VMOVUPD     Y2, 0(DI)(BX*8)
	VMOVUPD     Y3, 32(DI)(BX*8)
	VMOVUPD     Y4, 64(DI)(BX*8)
	VMOVUPD     Y5, 96(DI)(BX*8)
	VMOVUPD     Y6, 128(DI)(BX*8)
	VMOVUPD     Y7, 160(DI)(BX*8)
	VMOVUPD     Y8, 192(DI)(BX*8)
	VMOVUPD     Y9, 224(DI)(BX*8)
	ADDQ        $32, BX
	SUBQ        $32, DX
	JGE         block

fours:
	ADDQ $(32-4), DX
	JLT  ones

four:
	VMOVUPD     (DI)(BX*8), Y2
	VFMADD231PD (SI)(BX*8), Y0, Y2
	VMOVUPD     Y2, (DI)(BX*8)
	ADDQ        $4, BX
	SUBQ        $4, DX
	JGE         four

ones:
	ADDQ $4, DX
	JEQ  done

one:
	VMOVSD      (DI)(BX*8), X2
	VFMADD231SD (SI)(BX*8), X0, X2
	VMOVSD      X2, (DI)(BX*8)
	INCQ        BX
	DECQ        DX
	JNE         one

done:
