// What bodies for listed rows share.
//
// ROW takes the list's next row to its address: R12 the list, R8 the stride in bytes. HALVE2 adds up
// a row's four partial sums. FOLD takes Z0, Z4, Z8 and Z12, each the partial sums of a row, to those
// rows' sums in FOUR; K5 the lanes that hold results. Who includes it has FROM, and undefines these.
#define ROW(r) \
	MOVLQSX (R12), r; \
	ADDQ    $4, R12; \
	IMULQ   R8, r; \
	FROM(r)
#define HALVE2(p, q, r, s) \
	ADD r, p, p; \
	ADD s, q, q; \
	ADD q, p, p
#define FOLD \
	VSHUFF64X2 $0xee, Z4, Z0, Z1; \
	VSHUFF64X2 $0x44, Z4, Z0, Z0; \
	ADD        Z1, Z0, Z0; \
	VSHUFF64X2 $0xee, Z12, Z8, Z3; \
	VSHUFF64X2 $0x44, Z12, Z8, Z2; \
	ADD        Z3, Z2, Z2; \
	VSHUFF64X2 $0xdd, Z2, Z0, Z1; \
	VSHUFF64X2 $0x88, Z2, Z0, Z0; \
	ADD        Z1, Z0, Z0; \
	HALVELANE(Z0, Z1); \
	COMPRESS   Z0, K5, Z0
