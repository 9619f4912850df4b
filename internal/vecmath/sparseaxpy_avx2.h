// Body of the sparse axpy. Each element is loaded, updated and stored before the next, so an index
// that repeats adds up.
//
// In: DI = w, X0 = a, R8 = idx, SI = val, CX = non-zeros. X15 = 0 is what VCVTSS2SD merges into.
#ifdef MIXED
#define UPDATE(k) \
	MOVLQSX (4*k)(R8), AX; \
	VCVTSS2SD (4*k)(SI), X15, X2; \
	MOVS (DI)(AX*8), X1; \
	FMAS X2, X0, X1; \
	MOVS X1, (DI)(AX*8)
#else
#define UPDATE(k) \
	MOVLQSX (4*k)(R8), AX; \
	MOVS (DI)(AX*SZ), X1; \
	FMAS (k*XSZ)(SI), X0, X1; \
	MOVS X1, (DI)(AX*SZ)
#endif
	VXORPS X15, X15, X15
	SUBQ $4, CX
	JLT rest

four:
	UPDATE(0)
	UPDATE(1)
	UPDATE(2)
	UPDATE(3)
	ADDQ $16, R8
	ADDQ $(4*XSZ), SI
	SUBQ $4, CX
	JGE four

rest:
	ADDQ $4, CX
	JEQ done

one:
	UPDATE(0)
	ADDQ $4, R8
	ADDQ $XSZ, SI
	DECQ CX
	JNE one

done:
#undef UPDATE
