// Body of Exp: four registers at a time, then single ones, then a part of one.
//
// DI dst, SI x, CX elements left; the registers are those of EACH4 and EACH1.
	SUBQ $(4*LANES), CX
	JLT  singles

fours:
	LOAD4
	EXP(EACH4)
	STORE4
	ADDQ $(4*LANES*ESIZE), SI
	ADDQ $(4*LANES*ESIZE), DI
	SUBQ $(4*LANES), CX
	JGE  fours

singles:
	ADDQ $(3*LANES), CX
	JLT  last

single:
	LOAD1
	EXP(EACH1)
	STORE1
	ADDQ $(LANES*ESIZE), SI
	ADDQ $(LANES*ESIZE), DI
	SUBQ $LANES, CX
	JGE  single

last:
	ADDQ $LANES, CX
	JEQ  done
	LOADTAIL
	EXP(EACH1)
	STORETAIL

done:
	VZEROUPPER
	RET
