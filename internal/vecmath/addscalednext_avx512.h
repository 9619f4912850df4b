// Body of addScaledNext, AVX-512. What it takes and leaves is said in step_amd64.s, besides K3, the
// last elements, fewer than 8; it uses AX, BX, CX, DX, R8, R10 to R12, Z2 to Z5, K1 and K2. Masked
// loads and stores do not fault.
//
// With GUESSED Z1 may come late: NEAR is some threshold near it, by which the index is known
// before, and a branch, nearly always guessed right, says that Z1 finds the same. Else NEAR is Z1.
	NEXTSTART
	ANDQ  $-8, BX
	ANDQ  $7, CX
	SHLXQ CX, R11, R11

look16:
	CMPQ        BX, R10
	JGE         turn
	LEAQ        16(BX), AX
	CMPQ        AX, DX
	JGT         look8
	VMOVUPD     0(DI)(BX*8), Z2
	VMOVUPD     64(DI)(BX*8), Z3
	VFMADD231PD 0(SI)(BX*8), Z0, Z2
	VFMADD231PD 64(SI)(BX*8), Z0, Z3
	VCMPPD      $0x12, NEAR, Z2, K1
	VCMPPD      $0x12, NEAR, Z3, K2
	KMOVW       K1, AX
	KMOVW       K2, CX
	SHLL        $8, CX
	ORL         CX, AX
	ANDQ        R11, AX

#ifdef GUESSED
	VCMPPD      $0x12, Z1, Z2, K1
	VCMPPD      $0x12, Z1, Z3, K2
	KUNPCKBW    K1, K2, K1              // K2 above K1
	KMOVW       K1, CX
	ANDQ        R11, CX
	CMPQ        AX, CX
	JNE         other16

known16:
	TESTQ       AX, AX
#endif
	JNE         found
	ADDQ        $16, BX
	MOVQ        $-1, R11
	JMP         look16

look8:
	CMPQ        BX, R10
	JGE         turn
	LEAQ        8(BX), AX
	CMPQ        AX, DX
	JGT         look
	VMOVUPD     (DI)(BX*8), Z2
	VFMADD231PD (SI)(BX*8), Z0, Z2
	VCMPPD      $0x12, NEAR, Z2, K1
	KMOVW       K1, AX
	ANDQ        R11, AX

#ifdef GUESSED
	VCMPPD      $0x12, Z1, Z2, K1
	KMOVW       K1, CX
	ANDQ        R11, CX
	CMPQ        AX, CX
	JNE         other8

known8:
	TESTQ       AX, AX
#endif
	JNE         found
	ADDQ        $8, BX
	MOVQ        $-1, R11

look:
	CMPQ        BX, R10
	JGE         turn
	VMOVUPD.Z   (DI)(BX*8), K3, Z2
	VFMADD231PD (SI)(BX*8), Z0, K3, Z2
	VCMPPD      $0x12, Z1, Z2, K3, K1
	KMOVW       K1, AX
	ANDQ        R11, AX
	JNE         found

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
	MOVQ CX, AX
	JMP  known16

other8:
	MOVQ CX, AX
	JMP  known8
#endif

found:
	TZCNTQ AX, R9
	ADDQ   BX, R9

add:
	XORL BX, BX
	SUBQ $32, DX
	JLT  eights

block:
	VMOVUPD     0(DI)(BX*8), Z2
	VMOVUPD     64(DI)(BX*8), Z3
	VMOVUPD     128(DI)(BX*8), Z4
	VMOVUPD     192(DI)(BX*8), Z5
	VFMADD231PD 0(SI)(BX*8), Z0, Z2
	VFMADD231PD 64(SI)(BX*8), Z0, Z3
	VFMADD231PD 128(SI)(BX*8), Z0, Z4
	VFMADD231PD 192(SI)(BX*8), Z0, Z5
	VMOVUPD     Z2, 0(DI)(BX*8)
	VMOVUPD     Z3, 64(DI)(BX*8)
	VMOVUPD     Z4, 128(DI)(BX*8)
	VMOVUPD     Z5, 192(DI)(BX*8)
	ADDQ        $32, BX
	SUBQ        $32, DX
	JGE         block

eights:
	ADDQ $(32-8), DX
	JLT  rest

eight:
	VMOVUPD     (DI)(BX*8), Z2
	VFMADD231PD (SI)(BX*8), Z0, Z2
	VMOVUPD     Z2, (DI)(BX*8)
	ADDQ        $8, BX
	SUBQ        $8, DX
	JGE         eight

rest:
	ADDQ        $8, DX
	JEQ         done
	VMOVUPD.Z   (DI)(BX*8), K3, Z2
	VFMADD231PD (SI)(BX*8), Z0, K3, Z2
	VMOVUPD     Z2, K3, (DI)(BX*8)

done:
