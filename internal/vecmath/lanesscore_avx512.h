// Body of lanesScore.
//
// Tiles of 1 to 16 units of 64 bytes, their sums in registers over all non-zeros. More than 16
// units are halved, or cut at 16 while more than 32 are left, so that no tile is too narrow to hide
// the latency of its sums.
//
// DI dst, SI the tile within row 0 of w, R13 width in bytes, DX units left, R9 units of the tile,
// R10 and R11 the ends of rows and val, R12 -n, CX the non-zero counted up from -n to 0, R8 the
// tile within a row; Z0-Z15 sums, Z31 the value of the non-zero in every lane.
	LEAQ (R10)(R12*4), R10
	LEAQ (R11)(R12*ESIZE), R11
	NEGQ R12
	MOVQ R13, DX
	SHLQ $SHIFT, R13
	SHRQ $(6-SHIFT), DX

tile:
	MOVQ DX, R9
	CMPQ DX, $16
	JLE  pick
	LEAQ 1(DX), R9
	SHRQ $1, R9
	CMPQ R9, $16
	JLE  pick
	MOVL $16, R9

pick:
	CMPQ R9, $8
	JGT  wide
	CMPQ R9, $1
	JLT  done
	JEQ  tile1
	CMPQ R9, $3
	JLT  tile2
	JEQ  tile3
	CMPQ R9, $5
	JLT  tile4
	JEQ  tile5
	CMPQ R9, $7
	JLT  tile6
	JEQ  tile7
	JMP  tile8

wide:
	CMPQ R9, $10
	JLT  tile9
	JEQ  tile10
	CMPQ R9, $12
	JLT  tile11
	JEQ  tile12
	CMPQ R9, $14
	JLT  tile13
	JEQ  tile14
	CMPQ R9, $16
	JLT  tile15

	TILE(tile16, loop16, store16, ZERO16, FMA16, STORE16)
	TILE(tile15, loop15, store15, ZERO15, FMA15, STORE15)
	TILE(tile14, loop14, store14, ZERO14, FMA14, STORE14)
	TILE(tile13, loop13, store13, ZERO13, FMA13, STORE13)
	TILE(tile12, loop12, store12, ZERO12, FMA12, STORE12)
	TILE(tile11, loop11, store11, ZERO11, FMA11, STORE11)
	TILE(tile10, loop10, store10, ZERO10, FMA10, STORE10)
	TILE(tile9, loop9, store9, ZERO9, FMA9, STORE9)
	TILE(tile8, loop8, store8, ZERO8, FMA8, STORE8)
	TILE(tile7, loop7, store7, ZERO7, FMA7, STORE7)
	TILE(tile6, loop6, store6, ZERO6, FMA6, STORE6)
	TILE(tile5, loop5, store5, ZERO5, FMA5, STORE5)
	TILE(tile4, loop4, store4, ZERO4, FMA4, STORE4)
	TILE(tile3, loop3, store3, ZERO3, FMA3, STORE3)
	TILE(tile2, loop2, store2, ZERO2, FMA2, STORE2)
	TILE(tile1, loop1, store1, ZERO1, FMA1, STORE1)

next:
	SUBQ R9, DX
	SHLQ $6, R9
	ADDQ R9, SI
	ADDQ R9, DI
	JMP  tile

done:
