// Body of drawBits: sixteen sequences at a time, in two registers, since one alone waits for its
// multiplications. FOLD makes the next word of eight sequences, ands it to the bits set in all
// words so far and steps on.
//
// DI x, CX its length, R8 turn, AX digits of turn left; Z0 Z1 = x, Z2 Z3 = bits set in all words so
// far, Z4 Z5 = the results; Z22 = fin, Z23 = step, Z24 = first.
	SUBQ $16, CX
	JLT  done

group:
	VMOVDQU64  (DI), Z0
	VMOVDQU64  64(DI), Z1
	VPTERNLOGQ $0xff, Z2, Z2, Z2
	VPTERNLOGQ $0xff, Z3, Z3, Z3
	VMOVDQA64  Z24, Z4
	VMOVDQA64  Z24, Z5
	MOVQ       R8, AX
	TESTQ      AX, AX
	JEQ        store

word:
	FOLD(Z0, Z2, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13)
	FOLD(Z1, Z3, Z14, Z15, Z16, Z17, Z18, Z19, Z20, Z21)
	ADDQ     AX, AX // the digit to the carry
	JCC      next
	VPXORQ   Z2, Z4, Z4
	VPXORQ   Z3, Z5, Z5
	VPORQ    Z2, Z3, Z6
	VPTESTMQ Z6, Z6, K2
	KTESTB   K2, K2
	JEQ      store

next:
	TESTQ AX, AX
	JNE   word

store:
	VMOVDQU64 Z4, (DI)
	VMOVDQU64 Z5, 64(DI)
	ADDQ      $128, DI
	SUBQ      $16, CX
	JGE       group

done:
