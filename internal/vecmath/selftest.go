package vecmath

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// SelfTest runs every kernel of the named implementation against the plain Go reference, on fixed
// inputs of many lengths with zeros of both signs, denormals, infinities and NaN among them, and
// reports the first difference in bits. It takes some milliseconds. The error wraps [ErrImpl] if
// the implementation does not run here. Like [Use], not safe while kernels run; [Active] is as
// before when it returns.
func SelfTest(name string) error {
	im, err := lookup(name)
	if err != nil {
		return err
	}
	defer func(before Impl) { active = before }(active)
	if err := selfTest[float32](im); err != nil {
		return err
	}
	return selfTest[float64](im)
}

func selfTest[T Float](im Impl) error {
	for _, k := range kernelTable[T]() {
		for n := 0; n <= 300; n += 1 + n/40 {
			for mode := range valueModes {
				g := &generator[T]{rng: rand.New(rand.NewPCG(uint64(n), uint64(mode))), mode: mode}
				got := k.make(g, n)
				want := got.clone()
				active = im
				k.run(got)
				active = Generic
				k.run(want)
				if d := got.diff(want); d != "" {
					return fmt.Errorf("vecmath: %s %s[%T], size %d, values %d differs from "+
						"generic: %s", im, k.name, T(0), n, mode, d)
				}
			}
		}
	}
	return nil
}

// kernel is one row of the table that SelfTest and the tests go through. n of make is a size:
// elements of dense kernels, non-zeros of sparse ones; lane kernels derive width and non-zeros from
// it.
type kernel[T Float] struct {
	name string
	make func(g *generator[T], n int) *operands[T]
	run  func(o *operands[T])
}

// operands are what a kernel reads and writes; a kernel uses some of the fields.
type operands[T Float] struct {
	x, y, z    []T
	d          []float64
	idx, lanes []int32
	ptr        []int
	mask, bits []uint64
	bytes      []uint8
	byte       []uint8 // one row
	words      [4]uint64
	a, t       T
	da         float64
	n          int // stride, width or the index a search begins at
	stride     int // of the masks of a run
	used       int // lanes of the width
	int16s     []int16
	int8s      []int8
	int32s     []int32 // sums of the lanes' scores, or of members' weights
	limit      int     // of int16s or int8s
	peak, done int
	sum        T
	dsum       float64
}

func kernelTable[T Float]() []kernel[T] {
	table := []kernel[T]{
		{"dot", makeDense[T], func(o *operands[T]) { o.sum = Dot(o.x, o.y) }},
		{"axpy", makeDense[T], func(o *operands[T]) { Axpy(o.y, o.a, o.x) }},
		{"axpy y=x", makeDense[T], func(o *operands[T]) { Axpy(o.x, o.a, o.x) }},
		{"scal", makeDense[T], func(o *operands[T]) { Scal(o.x, o.a) }},
		{"sumSq", makeDense[T], func(o *operands[T]) { o.sum = SumSq(o.x) }},
		{"sqDist", makeDense[T], func(o *operands[T]) { o.sum = SqDist(o.x, o.y) }},
		{"rowsDot", makeRows[T], func(o *operands[T]) { RowsDot(o.z, o.y, o.n, o.x) }},
		{"rowsDotAt", makeRowsAt[T], func(o *operands[T]) {
			RowsDotAt(o.z, o.y, o.n, o.idx, o.x)
		}},
		{"addRowsAt", makeRowsAt[T], func(o *operands[T]) {
			AddRowsAt(o.x, 0.75, o.y, o.n, o.z, o.idx)
		}},
		{"sparseDot", makeSparse[T], func(o *operands[T]) { o.sum = SparseDot(o.idx, o.x, o.y) }},
		{"sparseAxpy", makeSparse[T], func(o *operands[T]) { SparseAxpy(o.y, o.a, o.idx, o.x) }},
		{"lanesScore", makeLanes[T], func(o *operands[T]) {
			LanesScore(o.z, o.y, o.idx, o.x)
		}},
		{"lanesUpdate", makeLanes[T], func(o *operands[T]) {
			LanesUpdate(o.y, o.idx, o.x, o.z, o.mask)
		}},
		{"lanesLE", makeLanes[T], func(o *operands[T]) { LanesLE(o.mask, o.z, o.a, o.t) }},
		{"lanesRun", makeRun[T], func(o *operands[T]) {
			LanesRun(o.lanes, o.y, o.n, o.ptr, o.idx, o.x, o.z, o.mask, o.stride, o.t, o.a)
		}},
		{"lanesRunInt16", makeRunInt16[T], func(o *operands[T]) {
			o.done, o.peak = LanesRunInt16(o.lanes, o.int32s, o.int16s, o.n,
				o.used, o.ptr, o.idx, o.z, o.mask, o.stride, int16(o.words[0]), o.limit, o.peak)
		}},
		{"lanesRunInt8", makeRunInt8[T], func(o *operands[T]) {
			o.done, o.peak = LanesRunInt8(o.lanes, o.int32s, o.int8s, o.n, o.ptr,
				o.idx, o.z, o.mask, o.stride, int16(o.words[0]), o.limit, o.peak)
		}},
		{"allOnes", makeOnes[T], func(o *operands[T]) {
			if AllOnes(o.x) {
				o.done = 1
			}
		}},
		{"drawBits", makeDraws[T], func(o *operands[T]) {
			DrawBits(o.mask, 1+o.n%3, ^uint64(0)>>(o.words[0]%64), o.words[0], o.words[1],
				o.words[2], o.words[3])
		}},
		{"mixCounters", makeDraws[T], func(o *operands[T]) {
			MixCounters(o.mask, o.n, o.words[0], o.words[1], o.words[2])
		}},
		{"xorCount", makeCounts[T], func(o *operands[T]) {
			XorCount(o.z, o.bits, o.n, o.mask, o.x)
		}},
		{"andCount", makeCounts[T], func(o *operands[T]) {
			AndCount(o.z, o.bits, o.n, o.mask, o.x)
		}},
	}
	table = append(table,
		kernel[T]{"widenBytes", makeWiden[T], func(o *operands[T]) {
			WidenBytes(o.y, o.bytes, o.a, o.t)
		}},
		kernel[T]{"exp", makeExp[T], func(o *operands[T]) { Exp(o.y, o.x) }},
		kernel[T]{"exp dst=x", makeExp[T], func(o *operands[T]) { Exp(o.x, o.x) }},
		kernel[T]{"symRankOneMul", makeSym[T], func(o *operands[T]) {
			SymRankOneMul(o.z, o.y, o.n, o.x[:len(o.z)], o.a, o.x[len(o.z):])
		}},
		kernel[T]{"symMul", makeSym[T], func(o *operands[T]) {
			SymMul(o.z, o.y, o.n, o.x[len(o.z):])
		}},
		kernel[T]{"sinCos", makeAngles[T], func(o *operands[T]) {
			SinCos(o.y, o.z, o.x, float64(o.a))
		}},
		kernel[T]{"sinCos cos=x", makeAngles[T], func(o *operands[T]) {
			SinCos(o.y, o.x, o.x, float64(o.a))
		}},
	)
	if !is32[T]() {
		table = append(table,
			kernel[T]{"addScaledNext", makeNext[T], func(o *operands[T]) {
				o.sum = T(AddScaledNext(as64(o.y), float64(o.a), as64(o.x), o.n, float64(o.t)))
			}},
			kernel[T]{"fixedSteps", makeSteps[T], func(o *operands[T]) {
				o.done, o.peak = FixedSteps(as64(o.y), as64(o.x), o.stride, float64(o.a),
					float64(o.t), o.da, o.n, o.int32s)
			}},
			kernel[T]{"lengthSteps", makeSteps[T], func(o *operands[T]) {
				n := len(o.y)
				r := LengthSteps{Norm2: math.Abs(o.da), Step: float64(o.a), Rate: float64(o.t),
					Longest: 1, Least: 0x1p-24, Most: 0x1p512, Alpha: o.d[:n], AlphaLow: o.d[n:],
					Thresholds: as64(o.z[:len(o.z)-1])}
				if o.used > 0 {
					r.Divisors = as64(o.z[1:])
				}
				o.done, o.peak, _ = r.Run(as64(o.y), as64(o.x), o.stride, as64(o.x), o.n)
				o.d = append(o.d, r.Norm2, r.Step, r.Threshold, r.Longest, float64(r.Wraps))
			}},
			kernel[T]{"countStepLE", makeNext[T], func(o *operands[T]) {
				o.sum = T(CountStepLE(as64(o.y), float64(o.a), as64(o.x)))
			}},
			kernel[T]{"sparseOnesAddRun", makeOnesRun[T], func(o *operands[T]) {
				SparseOnesAddRun(as64(o.y), as64(o.x), o.ptr, o.idx)
			}},
			kernel[T]{"addRowSums", makeRowSums[T], func(o *operands[T]) {
				AddRowSums(as64(o.y), o.int16s, o.n)
			}},
			kernel[T]{"addRowSumsInt8", makeRowSumsInt8[T], func(o *operands[T]) {
				AddRowSumsInt8(as64(o.y), o.int8s, o.n)
			}},
			kernel[T]{"powersAlong", makePowers[T], func(o *operands[T]) {
				var s PowerSums
				PowersAlong(&s, as64(o.z), as64(o.x), as64(o.y), float64(o.a), float64(o.t), o.da)
				o.d = append(o.d[:0], s.VD, s.VV, s.DU, s.DD, s.VU)
			}},
			kernel[T]{"nextLE", makeNext[T], func(o *operands[T]) {
				o.sum = T(NextLE(as64(o.y), o.n, float64(o.t)))
			}},
		)
	}
	if is32[T]() {
		table = append(table,
			kernel[T]{"byteRowsDot", makeBytes[T], func(o *operands[T]) {
				ByteRowsDot(o.lanes, o.bytes, o.n, o.byte)
			}},
			kernel[T]{"dotMixed", makeDense[T], func(o *operands[T]) {
				o.dsum = DotMixed(o.d, o.x)
			}},
			kernel[T]{"rowsDotMixed", makeRowsMixed[T], func(o *operands[T]) {
				rows := len(o.d) - len(o.x)
				RowsDotMixed(o.d[:rows], o.y, o.n, o.d[rows:])
			}},
			kernel[T]{"axpyMixed", makeDense[T], func(o *operands[T]) {
				AxpyMixed(o.d, o.da, o.x)
			}},
			kernel[T]{"dotAxpyMixed", makeDense[T], func(o *operands[T]) {
				o.dsum = DotAxpyMixed(o.d, o.da, o.x)
			}},
			kernel[T]{"sparseDotMixed", makeSparse[T],
				func(o *operands[T]) { o.dsum = SparseDotMixed(o.idx, o.x, o.d) }},
			kernel[T]{"sparseAxpyMixed", makeSparse[T], func(o *operands[T]) {
				SparseAxpyMixed(o.d, o.da, o.idx, o.x)
			}},
			kernel[T]{"sparseDotAxpyMixed", makeSparse[T], func(o *operands[T]) {
				o.dsum = SparseDotAxpyMixed(o.d, o.da, o.idx, o.x)
			}},
			kernel[T]{"sparseDotAxpyRun", makeDotAxpyRun[T], func(o *operands[T]) {
				n := len(o.ptr) - 1
				SparseDotAxpyRun(o.d[:n], o.d[2*n:], o.d[n:2*n], o.ptr, o.idx, o.x)
			}},
		)
	}
	return table
}

func makeDense[T Float](g *generator[T], n int) *operands[T] {
	o := &operands[T]{x: g.floats(n), y: g.floats(n), a: g.float()}
	g.doubles(o, n)
	return o
}

// makeExp spreads the values of mode 0 over all cases that Exp distinguishes, also what is beyond
// the largest result and below the smallest.
func makeExp[T Float](g *generator[T], n int) *operands[T] {
	o := &operands[T]{x: g.floats(n), y: g.floats(n)}
	if g.mode == 0 {
		for i := range o.x {
			o.x[i] *= [...]T{1, 30, 110, 750}[i%4]
		}
	}
	return o
}

// makePowers has points of a segment of any size, exponents up to 40 and, in mode 0, powers beyond
// both bounds.
func makePowers[T Float](g *generator[T], n int) *operands[T] {
	o := &operands[T]{x: g.floats(n), y: g.floats(n), z: g.floats(n), a: T(g.rng.Float64()),
		t: T(0.01 + g.rng.Float64()), da: 40 * g.rng.Float64()}
	if g.mode == 0 {
		for i := range o.x {
			o.x[i] *= [...]T{1, 1e-8, 1e18, 0}[i%4]
		}
	}
	return o
}

// makeAngles spreads the angles of mode 0 over all sizes, also beyond the bound.
func makeAngles[T Float](g *generator[T], n int) *operands[T] {
	o := &operands[T]{x: g.floats(n), y: g.floats(n), z: g.floats(n), a: g.float()}
	if g.mode == 0 {
		for i := range o.x {
			o.x[i] *= [...]T{1, 30, 1e5, 0x1p31}[i%4]
		}
	}
	return o
}

func makeNext[T Float](g *generator[T], n int) *operands[T] {
	return &operands[T]{x: g.floats(n), y: g.floats(n), a: g.float(), t: g.float(),
		n: g.rng.IntN(n + 1)}
}

// makeSteps: scores, rows, and room for some updates; n is the first one's index.
func makeSteps[T Float](g *generator[T], n int) *operands[T] {
	n = 1 + n%70
	o := &operands[T]{y: g.floats(n), stride: n + n%5, n: g.rng.IntN(n), a: g.float(), t: g.float(),
		da: float64(g.float()), used: g.rng.IntN(2)}
	o.x = g.floats((n-1)*o.stride + n)
	most := 1 + g.rng.IntN(9)
	o.int32s, o.z, o.d = take[int32](g.place, most), g.floats(most+1), take[float64](g.place, 2*n)
	for i := range o.d {
		o.d[i] = float64(g.float())
	}
	return o
}

func makeRows[T Float](g *generator[T], n int) *operands[T] {
	o := &operands[T]{x: g.floats(n), n: n + n%3}
	rows := n % 7 // kernels take up to 4 at once, and the rest
	o.z = g.floats(rows)
	o.y = g.floats(max(0, (rows-1)*o.n+n))
	return o
}

// makeRowsAt: any of the rows, in any order; the last one is among them.
func makeRowsAt[T Float](g *generator[T], n int) *operands[T] {
	rows := n % 11 // kernels take up to 4 at once, then 2
	o := &operands[T]{x: g.floats(n), n: n + n%3, z: g.floats(rows)}
	o.y = g.floats(max(0, (rows-1)*o.n+n))
	g.indices(o, rows)
	return o
}

// makeRowsMixed: results and vector lie behind each other in d; x says how long the vector is.
func makeRowsMixed[T Float](g *generator[T], n int) *operands[T] {
	o := makeRows(g, n)
	g.doubles(o, len(o.z)+n)
	return o
}

// makeSym: x and u lie behind each other in x. The matrix is not symmetric, which no kernel sees.
func makeSym[T Float](g *generator[T], n int) *operands[T] {
	n %= 5*LaneUnit[T]() + 7
	o := &operands[T]{x: g.floats(2 * n), z: g.floats(n), a: g.float(), n: SymStride[T](n) +
		n%3*LaneUnit[T]()}
	o.y = g.floats(max(0, (n-1)*o.n+SymStride[T](n)))
	return o
}

// makeSparse: the last index is the last element of the dense slice.
func makeSparse[T Float](g *generator[T], n int) *operands[T] {
	o := &operands[T]{idx: take[int32](g.place, n), x: g.floats(n), a: g.float()}
	dim := 0
	for k := range o.idx {
		dim += 1 + g.rng.IntN(1+n%4)
		o.idx[k] = int32(dim - 1)
	}
	o.y = g.floats(dim)
	g.doubles(o, dim)
	return o
}

// rows draws non-zeros of a lane kernel, and its weights.
func (g *generator[T]) rows(o *operands[T], nnz, width int) {
	g.indices(o, nnz)
	o.x, o.n = g.floats(nnz), width
	o.y = g.floats(nnz * width)
}

// indices draws as many rows as there are; one may repeat, and one is the last.
func (g *generator[T]) indices(o *operands[T], nnz int) {
	o.idx = take[int32](g.place, nnz)
	for k := range o.idx {
		o.idx[k] = int32(g.rng.IntN(nnz))
	}
	if nnz > 0 {
		o.idx[g.rng.IntN(nnz)] = int32(nnz - 1)
	}
}

func makeLanes[T Float](g *generator[T], n int) *operands[T] {
	width := n % 35 * LaneUnit[T]() // kernels take up to 16 units at once
	o := &operands[T]{z: g.floats(width), a: g.float(), t: g.float(), mask: take[uint64](g.place,
		MaskWords(width))}
	g.rows(o, n*5%31, width)
	density := []float64{0, 0.02, 0.1, 0.3, 1}[g.rng.IntN(5)]
	clear(o.mask)
	for l := range width {
		if g.rng.Float64() < density {
			o.mask[l/64] |= 1 << (l % 64)
		}
	}
	return o
}

func makeRun[T Float](g *generator[T], n int) *operands[T] {
	width := (1 + n%(MaxRunWidth/LaneUnit[T]())) * LaneUnit[T]()
	o := g.examples(n, width)
	o.t, o.a = g.float(), g.float()
	g.rows(o, o.ptr[len(o.z)]-o.ptr[0], width)
	return o
}

// examples makes up to five examples of a run, some without non-zeros and some that few or no lanes
// see.
func (g *generator[T]) examples(n, width int) *operands[T] {
	examples, words := g.rng.IntN(6), MaskWords(width)
	o := &operands[T]{lanes: take[int32](g.place, examples), z: take[T](g.place, examples),
		ptr: take[int](g.place, examples+1), stride: words + n%2}
	o.mask = take[uint64](g.place, max(0, (examples-1)*o.stride+words))
	clear(o.mask)
	o.ptr[0] = n % 3
	for e := range o.z {
		length := max(0, g.rng.IntN(20)-4)
		if length > 13 { // a vector has 16
			length += 3
		}
		o.ptr[e+1] = o.ptr[e] + length
		o.z[e] = T(2*g.rng.IntN(2) - 1)
		density := []float64{0, 0.02, 0.1, 0.3, 1}[g.rng.IntN(5)]
		for l := range width {
			if g.rng.Float64() < density {
				o.mask[e*o.stride+l/64] |= 1 << (l % 64)
			}
		}
	}
	return o
}

// makeRunInt16: makeRun in int16, with limits so small that some runs end early, and so large that
// sums come near the ends of int16.
func makeRunInt16[T Float](g *generator[T], n int) *operands[T] {
	return g.wholeRun(n, Int16Unit, func(longest int) int { return math.MaxInt16/longest - 1 })
}

// makeRunInt8: makeRunInt16 in int8, with any limit.
func makeRunInt8[T Float](g *generator[T], n int) *operands[T] {
	o := g.wholeRun(n, Int8Unit, func(int) int {
		return [...]int{Int8Limit, Int8Small, Int8Small + 1, g.rng.IntN(Int8Limit)}[g.rng.IntN(4)]
	})
	o.int8s = take[int8](g.place, len(o.int16s))
	for i, v := range o.int16s {
		o.int8s[i] = int8(v)
	}
	o.int16s = nil
	return o
}

func (g *generator[T]) wholeRun(n, unit int, limit func(longest int) int) *operands[T] {
	width := (1 + n%(MaxRunWidth/unit)) * unit
	o, nnz, longest := g.examples(n, width), 0, 1
	for e := range o.z {
		longest = max(longest, o.ptr[e+1]-o.ptr[e])
	}
	nnz = o.ptr[len(o.z)] - o.ptr[0]
	g.indices(o, nnz)
	o.n, o.limit, o.used = width, limit(longest), width
	if n%3 != 0 {
		o.used = width - g.rng.IntN(unit)
	}
	for e := range o.z { // who is not there sees nothing
		for l := o.used; l < width; l++ {
			o.mask[e*o.stride+l/64] &^= 1 << (l % 64)
		}
	}
	if n%2 != 0 {
		o.limit = min(o.limit, g.rng.IntN(5))
	}
	o.int16s = take[int16](g.place, nnz*width)
	o.int32s = take[int32](g.place, len(o.z))
	for e := range o.int32s { // the sums of examples not gone through stay
		o.int32s[e] = int32(e) - 9
	}
	for i := range o.int16s {
		v := g.rng.IntN(2*o.limit+1) - o.limit
		switch g.mode {
		case 1: // sums as large as they get
			v = o.limit
		case 2:
			v = -o.limit
		case 3: // all are on one side of the margin and change
			v /= 100
		}
		if i%width >= o.used {
			v = 0
		}
		o.int16s[i] = int16(v)
		o.peak = max(o.peak, v, -v)
	}
	o.words[0] = uint64([]int{0, 3, -3, math.MaxInt16, math.MinInt16, g.rng.IntN(1 << 12),
		-g.rng.IntN(1 << 12)}[g.rng.IntN(7)])
	return o
}

// makeOnes: ones, and in most modes another value among them.
func makeOnes[T Float](g *generator[T], n int) *operands[T] {
	o := &operands[T]{x: g.floats(n)}
	another := g.float()
	for i := range o.x {
		o.x[i] = 1
	}
	if n > 0 && g.mode > 0 {
		o.x[g.rng.IntN(n)] = another
	}
	return o
}

// makeOnesRun: up to five examples, of up to as many non-zeros as the size, whose indices may
// repeat.
func makeOnesRun[T Float](g *generator[T], n int) *operands[T] {
	examples := n % 6
	o := &operands[T]{z: take[T](g.place, examples), x: g.floats(examples), y: g.floats(n%90 + 1),
		ptr: take[int](g.place, examples+1)}
	o.ptr[0] = n % 3
	for e := range examples {
		o.ptr[e+1] = o.ptr[e] + g.rng.IntN(min(n, 50)+1)
		if g.rng.IntN(3) == 0 {
			o.x[e] = T(math.Copysign(0, float64(o.x[e])))
		}
	}
	o.idx = take[int32](g.place, o.ptr[examples]-o.ptr[0])
	for k := range o.idx {
		o.idx[k] = int32(g.rng.IntN(len(o.y)))
	}
	return o
}

// makeRowSums: kernels take up to 4 rows at once; modes 1 and 2 have the largest sums.
func makeRowSums[T Float](g *generator[T], n int) *operands[T] {
	rows := n % 11
	o := &operands[T]{n: n % (MaxRunWidth/Int16Unit + 1) * Int16Unit, y: take[T](g.place, rows)}
	o.int16s = take[int16](g.place, rows*o.n)
	for i := range o.int16s {
		o.int16s[i] = [...]int16{int16(g.word()), math.MaxInt16, math.MinInt16}[g.mode%3]
	}
	for r := range o.y { // whole numbers, as sums are
		o.y[r] = T(g.rng.IntN(1<<20) - 1<<19)
	}
	return o
}

// makeDotAxpyRun: as makeOnesRun, without indices that repeat in an example; d is one product and
// one multiple an example, then the weights.
func makeDotAxpyRun[T Float](g *generator[T], n int) *operands[T] {
	examples, dim := n%6, n+1
	o := &operands[T]{ptr: take[int](g.place, examples+1)}
	o.ptr[0] = n % 3
	for e := range examples {
		o.ptr[e+1] = o.ptr[e] + g.rng.IntN(min(n, 50)+1)
	}
	o.idx = take[int32](g.place, o.ptr[examples]-o.ptr[0])
	for e := range examples {
		j := g.rng.IntN(dim)
		for k := o.ptr[e]; k < o.ptr[e+1]; k++ {
			o.idx[k-o.ptr[0]] = int32((j + k) % dim)
		}
	}
	o.x = g.floats(len(o.idx))
	g.doubles(o, 2*examples+dim)
	return o
}

// makeCounts: bit sets of up to 5 words, as many rows as kernels take at once, and some.
func makeCounts[T Float](g *generator[T], n int) *operands[T] {
	words, rows := n%6, n%7
	o := &operands[T]{n: words + n%2, mask: take[uint64](g.place, words), z: take[T](g.place, rows),
		x: take[T](g.place, 64*words+1)}
	o.bits = take[uint64](g.place, max(0, (rows-1)*o.n+words))
	for _, s := range [][]uint64{o.mask, o.bits} {
		for i := range s {
			s[i] = g.word()
		}
	}
	for i := range o.x {
		o.x[i] = T(i)
	}
	return o
}

func makeBytes[T Float](g *generator[T], n int) *operands[T] {
	units, rows := n%13*ByteUnit, n%7
	o := &operands[T]{n: units + n%3, byte: take[uint8](g.place, units), lanes: take[int32](g.place,
		rows)}
	o.bytes = take[uint8](g.place, max(0, (rows-1)*o.n+units))
	for _, s := range [][]uint8{o.byte, o.bytes} {
		for i := range s {
			s[i] = uint8(g.word())
		}
	}
	return o
}

// makeWiden has factors of any size, and in mode 0 those of a division: 1/s and its rest.
func makeWiden[T Float](g *generator[T], n int) *operands[T] {
	n = n % 13 * ByteUnit
	o := &operands[T]{bytes: take[uint8](g.place, n), y: g.floats(n), a: g.float(), t: g.float()}
	if g.mode == 0 {
		s := 1 + 1000*g.rng.Float64()
		o.a = T(1 / s)
		o.t = T(math.FMA(-s, float64(o.a), 1) / s)
	}
	for i := range o.bytes {
		o.bytes[i] = uint8(g.word())
	}
	return o
}

func makeDraws[T Float](g *generator[T], n int) *operands[T] {
	// up to two whole blocks of the AVX-512 kernel in front of the tail
	o := &operands[T]{mask: take[uint64](g.place, n%43+512*(g.mode%3)), n: 1 + n%19}
	for i := range o.mask {
		o.mask[i] = g.word()
	}
	for i := range o.words {
		o.words[i] = g.word()
	}
	o.words[3] <<= []int{0, 11, 40, 63, 64}[g.mode] // short ones end early
	return o
}

// word is any word, often one whose halves are all ones or zeros.
func (g *generator[T]) word() uint64 {
	w := g.rng.Uint64()
	switch g.rng.IntN(6) {
	case 0:
		w |= 1<<32 - 1
	case 1:
		w |= (1<<32 - 1) << 32
	case 2:
		w &= 1<<32 - 1
	}
	return w
}

func (g *generator[T]) doubles(o *operands[T], n int) {
	if !is32[T]() {
		return
	}
	o.d, o.da = take[float64](g.place, n), float64(g.float())
	for i := range o.d {
		o.d[i] = float64(g.float())
		switch {
		case g.mode == 4:
			o.d[i] = -0x1p-1060 // x is positive then
		case g.rng.IntN(2) == 0:
			o.d[i] *= 1 + 0x1p-40 // more bits than a float32 has
		}
	}
}

// generator makes operands. Values come from raw, reused from the start when it ends, or else from
// rng and mode.
type generator[T Float] struct {
	rng    *rand.Rand
	mode   int
	raw    []byte
	at     int                              // in raw
	slices int                              // made so far
	place  func(n, size int) unsafe.Pointer // where n elements of a size lie; nil is the heap
}

// valueModes: 0 ordinary values, 1 small integers (exact zeros, ties), 2 tiny values whose products
// underflow to zeros of both signs, 3 everything, infinities and NaN included, 4 products that all
// underflow to -0, so that every partial sum is -0 and so is the result (an added +0 would show).
const valueModes = 5

func (g *generator[T]) float() T {
	if len(g.raw) >= 8 {
		g.at = (g.at + int(unsafe.Sizeof(T(0)))) % (len(g.raw) - 7)
		u := binary.LittleEndian.Uint64(g.raw[g.at:])
		if is32[T]() {
			return T(math.Float32frombits(uint32(u)))
		}
		return T(math.Float64frombits(u))
	}
	v := 2*g.rng.Float64() - 1
	tiny, huge := 0x1p-149, 0x1p127
	if !is32[T]() {
		tiny, huge = 0x1p-1074, 0x1p1023
	}
	switch g.mode {
	case 0:
		return T(v)
	case 1:
		return T(math.Round(2 * v))
	case 2:
		return T(v * math.Sqrt(tiny))
	case 4:
		return T(float64(g.slices%2*2-1) * math.Sqrt(tiny) / 8)
	}
	switch g.rng.IntN(24) {
	case 0:
		return T(math.Copysign(0, v))
	case 1:
		return T(math.Copysign(tiny, v))
	case 2:
		return T(v * tiny * 1000)
	case 3:
		return T(v * math.Sqrt(tiny))
	case 4:
		return T(v * huge)
	case 5:
		if g.rng.IntN(20) == 0 {
			return T(math.Inf(g.rng.IntN(2)*2 - 1))
		}
	case 6:
		if g.rng.IntN(40) == 0 {
			return T(math.NaN())
		}
	}
	return T(v)
}

func (g *generator[T]) floats(n int) []T {
	s := take[T](g.place, n)
	g.slices++
	for i := range s {
		s[i] = g.float()
	}
	return s
}

// makeRowSumsInt8: makeRowSums in int8.
func makeRowSumsInt8[T Float](g *generator[T], n int) *operands[T] {
	o := makeRowSums(g, n)
	o.n, o.int16s = n%(MaxRunWidth/Int8Unit+1)*Int8Unit, nil
	o.int8s = take[int8](g.place, len(o.y)*o.n)
	for i := range o.int8s {
		o.int8s[i] = [...]int8{int8(g.word()), math.MaxInt8, math.MinInt8}[g.mode%3]
	}
	return o
}

// take lays a slice out by place, or on the heap.
func take[E any](place func(n, size int) unsafe.Pointer, n int) []E {
	if place == nil {
		return make([]E, n)
	}
	var e E
	return unsafe.Slice((*E)(place(n, int(unsafe.Sizeof(e)))), n)
}

// clone copies the operands to the heap.
func (o *operands[T]) clone() *operands[T] {
	c := *o
	c.x, c.y, c.z, c.d = slices.Clone(o.x), slices.Clone(o.y), slices.Clone(o.z), slices.Clone(o.d)
	c.idx, c.lanes, c.mask = slices.Clone(o.idx), slices.Clone(o.lanes), slices.Clone(o.mask)
	c.ptr, c.int16s = slices.Clone(o.ptr), slices.Clone(o.int16s)
	c.int8s, c.int32s = slices.Clone(o.int8s), slices.Clone(o.int32s)
	c.bits, c.bytes, c.byte = slices.Clone(o.bits), slices.Clone(o.bytes), slices.Clone(o.byte)
	return &c
}

// diff describes the first difference in bits, where any NaN equals any other; "" if there is none.
func (o *operands[T]) diff(want *operands[T]) string {
	for _, s := range []struct {
		name      string
		got, want []T
	}{{"sum", []T{o.sum}, []T{want.sum}}, {"x", o.x, want.x}, {"y", o.y, want.y}, {"z", o.z,
		want.z}} {
		if d := diffFloats(s.got, s.want); d != "" {
			return s.name + d
		}
	}
	if d := diffFloats([]float64{o.dsum}, []float64{want.dsum}); d != "" {
		return "sum" + d
	}
	if d := diffFloats(o.d, want.d); d != "" {
		return "d" + d
	}
	switch {
	case o.done != want.done || o.peak != want.peak || !slices.Equal(o.int16s, want.int16s):
		return fmt.Sprintf("%d examples done, peak %d, want %d and %d; weights %d, want %d", o.done,
			o.peak, want.done, want.peak, o.int16s, want.int16s)
	case !slices.Equal(o.int8s, want.int8s):
		return fmt.Sprintf("weights %d, want %d", o.int8s, want.int8s)
	case !slices.Equal(o.int32s, want.int32s):
		return fmt.Sprintf("sums %d, want %d", o.int32s, want.int32s)
	case !slices.Equal(o.mask, want.mask):
		return fmt.Sprintf("mask %x, want %x", o.mask, want.mask)
	case !slices.Equal(o.lanes, want.lanes):
		return fmt.Sprintf("lanes %d, want %d", o.lanes, want.lanes)
	case !slices.Equal(o.idx, want.idx) || !slices.Equal(o.ptr, want.ptr) ||
		!slices.Equal(o.bits, want.bits) || !slices.Equal(o.bytes, want.bytes) ||
		!slices.Equal(o.byte, want.byte):
		return "an operand that is only read was written"
	}
	return ""
}

func diffFloats[T Float](got, want []T) string {
	for i, w := range want {
		if g := got[i]; !sameBits(g, w) {
			return fmt.Sprintf("[%d] of %d is %v (%b), want %v (%b)", i, len(want), g, g, w, w)
		}
	}
	return ""
}

func sameBits[T Float](a, b T) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b))
}

// as64 is s, which T says is one of float64.
func as64[T Float](s []T) []float64 { return unsafe.Slice(f64(data(s)), len(s)) }
