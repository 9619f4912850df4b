package main

// kernel is one row of the table: all that dispatch and declarations are made of.
type kernel struct {
	name string

	// params and result are the dispatch function's. With a T in them it is generic over Float, and
	// each form stands for two functions of assembly, NAMETAGF32 and NAMETAGF64.
	params string
	result string

	// check names two lengths that checkLen compares, for the kernels whose exported function
	// leaves that to dispatch.
	check string

	// asm lists the parameters that assembly takes, in its order; "" is all.
	asm string

	// generic lists the arguments of NAMEGeneric, where p[n] is unsafe.Slice(p, n). Where there is
	// no such function, plain is the body made of other kernels.
	generic string
	plain   string

	// forms says who has an own form, and who takes another's:
	//
	//	AVX2         AVX2 has one
	//	AVX512=AVX2  AVX-512 takes that of AVX2
	//	amd64=AVX2   all of amd64 but generic take that of AVX2
	//	amd64=       all of amd64 but generic take the one form, whose name has no tag
	//	+VNNI        a form to declare that only dispatch written by hand calls
	//
	// An implementation not listed takes the generic form.
	forms string

	nosplit string // the targets where dispatch has //go:nosplit
	byHand  string // the targets whose dispatch does more than pass on; it is in dispatch_TARGET.go

	note  string // stands above the dispatch function where there is a form
	stubs string // stands above the declarations
}

const both = "amd64 arm64"

// kernels is in the order of kernels.go, then of the families' files.
var kernels = []kernel{
	{
		name: "dot", params: "a, b *T, n, nb int", result: "T", check: "n, nb",
		asm: "a b n", generic: "a[n], b[n]",
		forms: "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name: "axpy", params: "y *T, a T, x *T, n, nx int", check: "n, nx",
		asm: "y a x n", generic: "y[n], a, x[n]",
		forms: "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name: "scal", params: "x *T, a T, n int", generic: "x[n], a",
		forms: "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name: "sumSq", params: "x *T, n int", result: "T", generic: "x[n]",
		forms: "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name: "sqDist", params: "a, b *T, n, nb int", result: "T", check: "n, nb",
		asm: "a b n", generic: "a[n], b[n]",
		forms: "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name: "rowsDot", params: "dst, rows *T, nrows, stride int, x *T, n int",
		generic: "dst[nrows], rows[(nrows-1)*stride+n], stride, x[n]",
		forms:   "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name:   "rowsDotAt",
		params: "dst, rows *T, stride int, at *int32, nat int, x *T, n int",
		plain:  "rowsDotAtByRow(dst, rows, stride, at, nat, x, n)",
		forms:  "AVX512 AVX2 NEON",
	},
	{
		name: "sparseDot", params: "idx *int32, val *T, n int, w *T, nw int", result: "T",
		asm: "idx val n w", generic: "idx[n], val[n], w[nw]",
		forms: "AVX512=AVX2 AVX2 NEON", nosplit: both,
		note: "AVX-512's gathers gain nothing over AVX2.",
	},
	{
		name: "sparseAxpy", params: "w *T, nw int, a T, idx *int32, val *T, n int",
		asm: "w a idx val n", generic: "w[nw], a, idx[n], val[n]",
		forms: "AVX512=AVX2 AVX2 NEON", nosplit: both,
		note: "AVX-512's scatters lose to AVX2.",
	},
	{
		name: "lanesScore", params: "dst, w *T, nw, width int, rows *int32, val *T, n int",
		asm: "dst w width rows val n", generic: "dst[width], w[nw], rows[n], val[n]",
		forms: "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name:    "lanesUpdate",
		params:  "w *T, nw, width int, rows *int32, val *T, n int, coef *T, mask *uint64",
		asm:     "w width rows val n coef mask",
		generic: "w[nw], rows[n], val[n], coef[width], mask[MaskWords(width)]",
		forms:   "AVX512 AVX2 NEON", nosplit: both,
		stubs: "reads ceil(width/64) words of mask; no bit beyond the width may be set.\n" +
			"Where any lane of a unit of 64 bytes is in the mask, the unit's other lanes may be\n" +
			"written too, with the bits they had.",
	},
	{
		name: "lanesLE", params: "mask *uint64, s *T, width int, y, t T",
		generic: "mask[MaskWords(width)], s[width], y, t",
		forms:   "AVX512 AVX2 NEON", nosplit: both,
		stubs: "writes ceil(width/64) words of mask; the bits beyond the width become 0.",
	},
	{
		name: "lanesRun",
		params: "counts *int32, w *T, nw, width int, ptr *int, n int, rows *int32, val *T, " +
			"y *T, seen *uint64, stride int, margin, step T",
		asm: "counts w width ptr n rows val y seen stride margin step",
		plain: "lanesRunByExample(counts, w, nw, width, ptr, n, rows, val, y, seen, stride, " +
			"margin, step)",
		forms: "AVX512 AVX2 NEON", nosplit: "",
		stubs: "takes widths of 1 to MaxRunWidth lanes and no bit of seen beyond.",
	},
	{
		name: "lanesRunInt16",
		params: "counts, sums *int32, w *int16, nw, width int, ptr *int, n int, rows *int32, " +
			"y *T, seen *uint64, stride, margin, limit, peak, lanes int",
		result: "(done, newPeak int)",
		asm:    "counts sums w width ptr n rows y seen stride margin limit peak lanes",
		plain: "return lanesRunInt16Plain(counts, sums, w, nw, width, ptr, n, rows, y, seen, " +
			"stride, margin, limit, peak, lanes)",
		forms: "AVX512 AVX2 NEON",
		stubs: "takes widths of 32 to MaxRunWidth lanes, of which one at least is in use, one\n" +
			"example at least, and no bit of seen beyond the lanes in use.",
	},
	{
		name: "lanesRunInt8",
		params: "counts, sums *int32, w *int8, nw, width int, ptr *int, n int, rows *int32, " +
			"y *byte, ysize int, seen *uint64, stride, margin, limit, peak int",
		result: "(done, newPeak int)",
		asm:    "counts sums w width ptr n rows y ysize seen stride margin limit peak",
		plain: "return lanesRunInt8Plain(counts, sums, w, nw, width, ptr, n, rows, y, ysize, " +
			"seen, stride, margin, limit, peak)",
		forms: "AVX512",
		stubs: "takes widths of 64 and 128 lanes, one example at least, and labels of ysize\n" +
			"bytes each, of which it looks at the sign alone.",
	},
	{
		name: "allOnes", params: "x *T, n int", result: "bool", generic: "x[n]",
		forms: "amd64=AVX2", nosplit: "amd64",
	},
	{
		name: "addRowSums", params: "dst *float64, w *int16, width, n int",
		plain: "addRowSumsPlain(dst, w, width, n)",
		forms: "amd64=AVX2 NEON",
		stubs: "takes widths of 32 to MaxRunWidth lanes, and one row at least.",
	},
	{
		name: "addRowSumsInt8", params: "dst *float64, w *int8, width, n int",
		plain: "addRowSumsInt8Plain(dst, w, width, n)",
		forms: "AVX512",
		stubs: "takes widths of 64 and 128 lanes, and one row at least.",
	},
	{
		name: "dotMixed", params: "a *float64, x *float32, n int", result: "float64",
		generic: "a[n], x[n]",
		forms:   "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name:    "rowsDotMixed",
		params:  "dst *float64, rows *float32, nrows, stride int, x *float64, n int",
		generic: "dst[nrows], rows[(nrows-1)*stride+n], stride, x[n]",
		forms:   "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name: "axpyMixed", params: "y *float64, a float64, x *float32, n int",
		generic: "y[n], a, x[n]",
		forms:   "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name: "dotAxpyMixed", params: "y *float64, a float64, x *float32, n int",
		result: "float64",
		plain:  "f := dotMixed(y, x, n)\naxpyMixed(y, a, x, n)\nreturn f",
		forms:  "AVX512",
	},
	{
		name:   "sparseDotMixed",
		params: "idx *int32, val *float32, n int, w *float64, nw int", result: "float64",
		asm: "idx val n w", generic: "idx[n], val[n], w[nw]",
		forms: "AVX512=AVX2 AVX2 NEON", nosplit: both,
		note: "AVX-512's gathers gain nothing over AVX2.",
	},
	{
		name:   "sparseAxpyMixed",
		params: "w *float64, nw int, a float64, idx *int32, val *float32, n int",
		asm:    "w a idx val n", generic: "w[nw], a, idx[n], val[n]",
		forms: "AVX512=AVX2 AVX2 NEON", nosplit: both,
		note: "AVX-512's scatters lose to AVX2.",
	},
	{
		name:   "sparseDotAxpyMixed",
		params: "w *float64, nw int, a float64, idx *int32, val *float32, n int", result: "float64",
		asm: "w a idx val n",
		plain: "f := sparseDotMixed(idx, val, n, w, nw)\n" +
			"sparseAxpyMixed(w, nw, a, idx, val, n)\nreturn f",
		forms: "AVX512=AVX2 AVX2", nosplit: "amd64",
	},
	{
		name: "sparseDotAxpyRun", params: "f, w *float64, nw int, a *float64, ptr *int, n int, " +
			"idx *int32, val *float32",
		asm:   "f w a ptr n idx val",
		plain: "sparseDotAxpyRunPlain(f, w, nw, a, ptr, n, idx, val)",
		forms: "AVX512=AVX2 AVX2",
		stubs: "takes one example at least.",
	},
	{
		name: "drawBits", params: "x *uint64, n, words int, last, fin, step, first, turn uint64",
		asm:     "x n fin step first turn",
		generic: "x[n], words, last, fin, step, first, turn",
		forms:   "AVX512 AVX2", byHand: "amd64",
		stubs: "does n sequences, a multiple of four (AVX-512: of sixteen).",
	},
	{
		name:    "mixCounters",
		params:  "x *uint64, n, words int, first, example, word uint64",
		generic: "x[n], words, first, example, word",
		forms:   "AVX512", nosplit: "amd64",
		note: "AVX2 and NEON multiply no 64 bits by 64.",
	},
	{
		name: "byteRowsDot", params: "dst *int32, rows *uint8, nrows, stride int, x *uint8, n int",
		generic: "dst, rows, nrows, stride, x, n",
		forms:   "AVX512 AVX2 NEON +VNNI", byHand: "amd64",
		stubs: "wants nrows of at least 1.",
	},
	{
		name: "addRowsAt",
		params: "y *T, n int, rows *T, stride int, x *T, list *int32, nlist int, " +
			"alpha T",
		plain: "addRowsAtByRow(y, n, rows, stride, x, list, nlist, alpha)",
		forms: "amd64=AVX2",
		stubs: "wants nlist of at least 1.",
	},
	{
		name: "widenBytes", params: "dst *T, src *uint8, n int, hi, lo T",
		generic: "dst[n], src[n], hi, lo",
		forms:   "AVX512 AVX2 NEON", nosplit: both,
		stubs: "wants n to be a multiple of 16, and at least that.",
	},
	{
		name:    "xorCount",
		params:  "dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T",
		generic: "dst, rows, nrows, stride, x, n, table",
		forms:   "amd64=",
		stubs: "wants nrows of at least 1. It uses POPCNT, which every CPU with AVX2 has;\n" +
			"AVX-512's own population count is not part of the AVX-512 asked for here.\n" +
			"On arm64 the compiler makes CNT and UADDLV of bits.OnesCount64.",
	},
	{
		name:    "andCount",
		params:  "dst *T, rows *uint64, nrows, stride int, x *uint64, n int, table *T",
		generic: "dst, rows, nrows, stride, x, n, table",
		forms:   "amd64=",
		stubs:   "is as xorCount.",
	},
	{
		name: "exp", params: "dst, x *T, n int", generic: "dst[n], x[n]",
		forms: "AVX512 AVX2 NEON", nosplit: both,
	},
	{
		name:    "powersAlong",
		params:  "r, u, d *float64, n int, tau, scale, e float64, sums *float64",
		generic: "r[n], u[n], d[n], tau, scale, e, sums[5]",
		forms:   "AVX512 AVX2", nosplit: "amd64",
	},
	{
		name: "sinCos", params: "sin, cos, x *T, n int, scale float64",
		generic: "sin[n], cos[n], x[n], scale",
		forms:   "AVX512=AVX2 AVX2", byHand: "amd64",
		stubs: "wants n to be a multiple of 4.",
	},
	{
		name:   "addScaledNext",
		params: "s *float64, e float64, row *float64, n, from int, thr float64", result: "int",
		generic: "s[n], e, row[n], from, thr",
		forms:   "amd64=AVX2 NEON", nosplit: both,
		stubs: "wants from to be at most n.",
	},
	{
		name: "fixedSteps",
		params: "s *float64, n int, rows *float64, stride int, e, thr, sure float64, k int, " +
			"picked *int32, most int",
		result: "(count, next int)",
		plain:  "return fixedStepsPlain(s, n, rows, stride, e, thr, sure, k, picked, most)",
		forms:  "amd64=AVX2",
		stubs:  "wants k to be below n, and most to be at least 1.",
	},
	{
		name: "lengthSteps",
		params: "s *float64, n int, rows *float64, stride int, squares *float64, " +
			"run *float64, k int",
		result: "(count, next int)",
		plain:  "return lengthStepsPlain(s, n, rows, stride, squares, run, k)",
		forms:  "amd64=AVX2",
		stubs:  "wants k to be below n, and one update to make at least.",
	},
	{
		name: "nextLE", params: "s *float64, n, from int, thr float64", result: "int",
		generic: "s[n], from, thr",
		forms:   "amd64=AVX2 NEON", nosplit: both,
		stubs: "wants from to be at most n.",
	},
	{
		name: "countStepLE", params: "s *float64, e float64, row *float64, n int", result: "int",
		generic: "s[n], e, row[n]",
		forms:   "amd64=AVX2", nosplit: "amd64",
		note: "On AVX-512, too: rows are short, and counting is bound by the loads.",
	},
	{
		name:    "symRankOneMul",
		params:  "y, v *T, stride int, x *T, a T, u *T, n int",
		generic: "y, v, stride, x, a, u, n",
		forms:   "AVX512 AVX2 NEON",
		stubs:   "wants n to be at least 1.",
	},
	{
		name: "symMul", params: "y, v *T, stride int, x *T, n int",
		generic: "y, v, stride, x, n",
		forms:   "AVX512 AVX2 NEON",
		stubs:   "wants n to be at least 1.",
	},
}
