package vecmath

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// The other tests compare implementations with the reference; these check the reference against the
// words of the contract.

// fma32 and math.FMA must be the exact multiply-add, rounded once.
func TestFMA32(t *testing.T) {
	special := []uint32{0, 1, 2, 3, 0x7fffff, 0x800000, 0x800001, 0xffffff, 0x3f800000, 0x3f800001,
		0x3f7fffff, 0x33800000,
		0x34000000, 0x7f7fffff, 0x7f7ffffe, 0x5f800000, 0x1f800000, 0x4b7fffff, 0x4b800000,
		0x4b800001, 0x7f800000, 0x7fc00000}
	var bits []uint32
	for _, u := range special {
		bits = append(bits, u, u|1<<31)
	}
	check := func(ua, ub, uc uint32) {
		a, b, c := math.Float32frombits(ua), math.Float32frombits(ub), math.Float32frombits(uc)
		if got, want := fma32(a, b, c), exactFMA32(a, b, c); !sameBits(got, want) {
			t.Fatalf("fma32(%b, %b, %b) = %b, want %b", a, b, c, got, want)
		}
	}
	for _, a := range bits {
		for _, b := range bits {
			for _, c := range bits {
				check(a, b, c)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	trials := 300000
	if testing.Short() {
		trials = 20000
	}
	for i := range trials {
		a, b, c := rng.Uint32(), rng.Uint32(), rng.Uint32()
		if i%2 == 0 {
			// c near the product, so that the sum is about to be rounded either way, or cancels.
			p := math.Float32frombits(a) * math.Float32frombits(b)
			e := int32(math.Float32bits(p)>>23&0xff) + int32(rng.IntN(60)) - 30
			c = c&0x807fffff | uint32(min(max(e, 0), 254))<<23
			if i%4 == 0 {
				c &= 0xff800000 | rng.Uint32()&rng.Uint32()&rng.Uint32() // few bits: ties
				a &^= 0xfff
				b &^= 0xfff
			}
		}
		check(a, b, c)
	}
}

// exactFMA32 rounds the exact value of a*b + c once.
func exactFMA32(a, b, c float32) float32 {
	for _, v := range []float32{a, b, c} {
		if math.IsInf(float64(v), 0) || v != v {
			return float32(float64(a)*float64(b) + float64(c)) // no rounding to decide
		}
	}
	exact := func(v float32) *big.Float {
		return new(big.Float).SetPrec(2000).SetFloat64(
			float64(v))
	}
	sum := exact(a)
	sum.Mul(sum, exact(b)).Add(sum, exact(c))
	if sum.Sign() == 0 {
		return float32(float64(a)*float64(b)) + c // signs of zeros add up as they do without fusing
	}
	f, _ := sum.Float32()
	return f
}

// A dense reduction: element i belongs to partial sum i mod 64 (32); the sums are combined by
// halving.
func TestDotOrder(t *testing.T) {
	t.Run("float32", testDotOrder[float32])
	t.Run("float64", testDotOrder[float64])
}

func testDotOrder[T Float](t *testing.T) {
	parts := 64
	if !is32[T]() {
		parts = 32
	}
	g := newGenerator[T](1, 0, nil)
	for _, n := range []int{0, 1, 31, 63, 64, 65, 200} {
		a, b := g.floats(n), g.floats(n)
		var tree func(first, step int) T // the sum of the partial sums first, first+step, ...
		tree = func(first, step int) T {
			if step == parts {
				var p T
				for i := first; i < n; i += parts {
					p = fma(a[i], b[i], p)
				}
				return p
			}
			return tree(first, 2*step) + tree(first+step, 2*step)
		}
		forEachImpl(t, func(t *testing.T, _ Impl) {
			if got, want := Dot(a, b), tree(0, 1); !sameBits(got, want) {
				t.Errorf("n = %d: %v, want %v", n, got, want)
			}
			dst := make([]T, 1)
			RowsDot(dst, a, n, b)
			if !sameBits(dst[0], tree(0, 1)) {
				t.Errorf("n = %d: RowsDot is not Dot", n)
			}
			if got := SumSq(a); !sameBits(got, Dot(a, a)) {
				t.Errorf("n = %d: SumSq(a) = %v is not Dot(a, a)", n, got)
			}
			if got := SqDist(a, make([]T, n)); !sameBits(got, SumSq(a)) {
				t.Errorf("n = %d: SqDist(a, 0) = %v is not SumSq(a)", n, got)
			}
		})
	}
}

// Rows that end at any place near the end of a page, which AVX-512 reads in another way.
func TestRowsNearPageEnd(t *testing.T) {
	t.Run("float32", testRowsNearPageEnd[float32])
	t.Run("float64", testRowsNearPageEnd[float64])
}

func testRowsNearPageEnd[T Float](t *testing.T) {
	guard := newGuard(t)
	unit := LaneUnit[T]()
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := 1; n <= 5*unit; n += 1 + n/unit {
			for behind := range unit + 1 {
				guard.start(true)
				g := newGenerator[T](n, behind%valueModes, guard.place)
				rows, stride := 1+(n+behind)%9, n+behind%3
				x, y := g.floats(n), g.floats((rows-1)*stride+n+behind)
				y = y[:len(y)-behind]
				got, want := make([]T, rows), make([]T, rows)
				RowsDot(got, y, stride, x)
				rowsDotGeneric(want, y, stride, x)
				if d := diffFloats(got, want); d != "" {
					t.Fatalf("%d rows of %d, %d elements before the end: %s", rows, n, behind, d)
				}
				wide, sums := make([]float64, n), make([]float64, rows)
				for i, v := range x {
					wide[i] = float64(v) * math.Pi
				}
				RowsDotMixed(sums, y, stride, wide)
				for r, s := range sums {
					if want := DotMixed(wide, y[r*stride:][:n]); !sameBits(s, want) {
						t.Fatalf("row %d of %d, %d elements before the end: %v, want %v", n, r,
							behind, s, want)
					}
				}
			}
		}
	})
}

// A lane sees its own products only, in the order of the non-zeros: lanes, active lists and plain
// loops agree.
func TestLanesAgree(t *testing.T) {
	t.Run("float32", testLanesAgree[float32])
	t.Run("float64", testLanesAgree[float64])
}

func testLanesAgree[T Float](t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := 1; n < 120; n += 2 {
			o := makeLanes(newGenerator[T](n, 0, nil), n)
			width := o.n
			if width == 0 {
				continue
			}
			before := slices.Clone(o.y)
			scores, mask := make([]T, width), slices.Clone(o.mask)
			LanesScore(scores, o.y, o.idx, o.x)
			for _, r := range o.idx { // in place
				w := slices.Clone(o.y)
				row := w[int(r)*width:][:width]
				LanesScore(row, w, o.idx, o.x)
				if d := diffFloats(row, scores); d != "" {
					t.Fatalf("width %d: LanesScore into row %d%s", width, r, d)
				}
			}
			y, bound := T(-1), T(0.25)
			LanesUpdate(o.y, o.idx, o.x, o.z, mask)
			for l := range width {
				var want T
				for k, r := range o.idx {
					want = fma(o.x[k], before[int(r)*width+l], want)
				}
				if !sameBits(scores[l], want) {
					t.Fatalf("size %d, lane %d: %v, want %v", n, l, scores[l], want)
				}
				if mask[l/64]>>(l%64)&1 == 1 {
					for k, r := range o.idx {
						p := &before[int(r)*width+l]
						*p = fma(o.z[l], o.x[k], *p)
					}
				}
			}
			if d := diffFloats(o.y, before); d != "" {
				t.Fatalf("size %d: LanesUpdate: w%s", n, d)
			}
			LanesLE(mask, scores, y, bound)
			for l, s := range scores {
				if got := mask[l/64]>>(l%64)&1 == 1; got != (y*s <= bound) {
					t.Fatalf("lane %d of %d: score %v, LE %v", l, width, s, got)
				}
			}
		}
	})
}

// The mixed kernels are those of float64 on a widened example; with a float64 example they are
// those of float64.
func TestMixedWidens(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := range 150 {
			g := newGenerator[float32](n, 0, nil)
			dense, sparse := makeDense(g, n), makeSparse(g, n)
			x, val := widened(dense.x), widened(sparse.x)
			idx := sparse.idx
			f := Dot(dense.d, x)
			sum := slices.Clone(dense.d)
			Axpy(sum, 1.7, x)
			sf := SparseDot(idx, val, sparse.d)
			ssum := slices.Clone(sparse.d)
			SparseAxpy(ssum, 1.7, idx, val)
			nothing := func([]float64) {}
			for name, c := range map[string]struct {
				w, want []float64
				f       float64
				dot     func(w []float64) float64 // returns f
				axpy    func(w []float64)         // makes w want
			}{
				"dense, float32": {dense.d, sum, f,
					func(w []float64) float64 { return DotMixed(w, dense.x) },
					func(w []float64) { AxpyMixed(w, 1.7, dense.x) }},
				"dense, float64": {dense.d, sum, f,
					func(w []float64) float64 { return DotMixed(w, x) },
					func(w []float64) { AxpyMixed(w, 1.7, x) }},
				"dense in one, float32": {dense.d, sum, f,
					func(w []float64) float64 { return DotAxpyMixed(w, 1.7, dense.x) }, nothing},
				"dense in one, float64": {dense.d, sum, f,
					func(w []float64) float64 { return DotAxpyMixed(w, 1.7, x) }, nothing},
				"sparse, float32": {sparse.d, ssum, sf,
					func(w []float64) float64 { return SparseDotMixed(idx, sparse.x, w) },
					func(w []float64) { SparseAxpyMixed(w, 1.7, idx, sparse.x) }},
				"sparse, float64": {sparse.d, ssum, sf,
					func(w []float64) float64 { return SparseDotMixed(idx, val, w) },
					func(w []float64) { SparseAxpyMixed(w, 1.7, idx, val) }},
				"sparse in one, float32": {sparse.d, ssum, sf,
					func(w []float64) float64 {
						return SparseDotAxpyMixed(w, 1.7, idx, sparse.x)
					}, nothing},
				"sparse in one, float64": {sparse.d, ssum, sf,
					func(w []float64) float64 { return SparseDotAxpyMixed(w, 1.7, idx, val) },
					nothing},
			} {
				w := slices.Clone(c.w)
				if got := c.dot(w); !sameBits(got, c.f) {
					t.Fatalf("%s, n = %d: dot %v, want %v", name, n, got, c.f)
				}
				c.axpy(w)
				if d := diffFloats(w, c.want); d != "" {
					t.Fatalf("%s, n = %d: w%s", name, n, d)
				}
			}
		}
	})
}

func widened(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}

// Broken promises that are checked panic with a sentence, on every implementation.
func TestPanics(t *testing.T) {
	f, i := make([]float32, 32), func(v ...int32) []int32 { return v }
	mask, n1 := make([]uint64, 1), make([]int32, 1)
	run := func(w []float32, width int, ptr []int, rows []int32, val []float32, seen []uint64) {
		LanesRun(n1, w, width, ptr, rows, val, f, seen, 1, 0, 1)
	}
	d := make([]float64, 1)
	d8, d9 := make([]float64, 8), make([]float64, 9)
	rows, bytes, picked := make([]float64, 8*9+9), make([]uint8, 40), make([]int32, 4)
	lengths := func(s []float64, k int, squares []float64, change func(r *LengthSteps)) {
		r := LengthSteps{Norm2: 1, Step: 0.1, Rate: 0.1, Most: 100, Alpha: d9, AlphaLow: d9,
			Thresholds: make([]float64, 4)}
		change(&r)
		r.Run(s, rows, 9, squares, k)
	}
	none, long := func(*LengthSteps) {}, make([]uint8, MaxBytes+ByteUnit)
	matrix := make([]float64, 9*16)
	run16 := func(width int, ptr []int, rows []int32, limit, peak int) {
		w := make([]int16, 64)
		LanesRunInt16(n1, n1, w, width, width, ptr, rows, f, mask, 1, 0, limit,
			peak)
	}
	run8 := func(width int, ptr []int, rows []int32, limit, peak int) {
		w := make([]int8, 64)
		LanesRunInt8(n1, n1, w, width, ptr, rows, f, mask, 1, 0, limit, peak)
	}
	for _, c := range []struct {
		want string
		call func()
	}{
		{panicShort, func() { Dot(f, f[:31]) }},
		{panicShort, func() { SqDist(f, f[:31]) }},
		{panicShort, func() { Axpy(f, 1, f[:31]) }},
		{panicShort, func() { DotMixed(make([]float64, 31), f) }},
		{panicShort, func() { AxpyMixed(make([]float64, 33), 1, f) }},
		{panicShort, func() { DotAxpyMixed(make([]float64, 33), 1, f) }},
		{panicStride, func() { RowsDot(f[:2], f, 17, f[:16]) }},
		{panicStride, func() { RowsDot(f[:2], f, -1, f[:16]) }},
		{panicStride, func() { RowsDot(f[:3], f, math.MaxInt, f[:16]) }},
		{panicStride, func() { RowsDot(f[:1], f[:15], 0, f[:16]) }},
		{panicStride, func() { RowsDotAt(f[:2], f, 16, i(0, 2), f[:1]) }},
		{panicStride, func() { RowsDotAt(f[:2], f, 16, i(0, 1), f[:17]) }},
		{panicStride, func() { RowsDotAt(f[:2], f, math.MaxInt, i(0, 4), f[:1]) }},
		{panicStride, func() { RowsDotAt(f[:2], f, 16, i(0, -1), f[:1]) }},
		{panicStride, func() { RowsDotAt(f[:1], f, -1, i(0), f[:1]) }},
		{panicStride, func() { RowsDotMixed(make([]float64, 2), f, 17, make([]float64, 16)) }},
		{panicShort, func() { SparseDot(i(1, 2), f[:1], f) }},
		{panicShort, func() { SparseAxpy(f, 1, i(1, 2), f[:1]) }},
		{panicShort, func() {
			SparseDotAxpyMixed(make([]float64, 32), 1, i(1, 2), f[:1])
		}},
		{panicShort, func() { Exp(f, f[:31]) }},
		{panicShort, func() { SinCos(f[:3], f, f[:4], 1) }},
		{panicShort, func() { SinCos(f, f[:3], f[:4], 1) }},
		{panicStride, func() { AddRowsAt(f[:16], 1, f, 17, f[:2], i(0)) }},
		{panicBytes, func() { ByteRowsDot(n1, long, 0, long) }},
		{panicBytes, func() { ByteRowsDot(n1, bytes, 0, bytes[:8]) }},
		{panicStride, func() { ByteRowsDot(picked[:3], bytes, 16, bytes[:16]) }},
		{panicTable, func() { XorCount(f[:1], mask, 1, mask, f) }},
		{panicStride, func() {
			AndCount(d9[:2], make([]uint64, 3), 2, make([]uint64, 2), matrix[:129])
		}},
		{panicShort, func() { AddScaledNext(d9, 1, d8, 0, 0) }},
		{panicFrom, func() { AddScaledNext(d8, 1, d8, 9, 0) }},
		{panicFrom, func() { AddScaledNext(d8, 1, d8, -1, 0) }},
		{panicFrom, func() { NextLE(d8, 9, 0) }},
		{panicFrom, func() { NextLE(d8, -1, 0) }},
		{panicFrom, func() { NextLE(nil, 1, 0) }},
		{panicFrom, func() { FixedSteps(d9, rows, 9, 1, 0, 0, 9, picked) }},
		{panicFrom, func() { FixedSteps(d9, rows, 9, 1, 0, 0, -1, picked) }},
		{panicFrom, func() { FixedSteps(d9, rows, 9, 1, 0, 0, 0, nil) }},
		{panicFrom, func() { FixedSteps(d9, rows, 8, 1, 0, 0, 0, picked) }},
		{panicShort, func() { FixedSteps(d9, rows[1:], 9, 1, 0, 0, 0, picked) }},
		{panicShort, func() { FixedSteps(d9, rows, math.MaxInt, 1, 0, 0, 0, picked) }},
		{panicFrom, func() { lengths(d9, 9, d9, none) }},
		{panicShort, func() { lengths(d9, 0, d8, none) }},
		{panicShort, func() { lengths(d9, 0, d9, func(r *LengthSteps) { r.Alpha = d8 }) }},
		{panicShort, func() { lengths(d9, 0, d9, func(r *LengthSteps) { r.AlphaLow = d8 }) }},
		{panicFrom, func() { lengths(d9, 0, d9, func(r *LengthSteps) { r.Thresholds = nil }) }},
		{panicShort, func() { lengths(d9, 0, d9, func(r *LengthSteps) { r.Divisors = d8[:3] }) }},
		{panicShort, func() { SymRankOneMul(d9, matrix, 16, d9, 0, d8) }},
		{panicShort, func() { SymRankOneMul(d8, matrix, 16, d9, 0, d9) }},
		{panicSym, func() { SymRankOneMul(d9, matrix[1:], 16, d9, 0, d9) }},
		{panicSym, func() { SymRankOneMul(d9, matrix, 17, d9, 0, d9) }},
		{panicSym, func() { SymRankOneMul(d9, matrix, 8, d9, 0, d9) }},
		{panicSym, func() { SymRankOneMul(d9, matrix, -16, d9, 0, d9) }},
		{panicSym, func() { SymRankOneMul(d9, matrix, math.MaxInt&^15, d9, 0, d9) }},
		{panicShort, func() { SymMul(d8, matrix, 16, d9) }},
		{panicSym, func() { SymMul(d9, matrix[1:], 16, d9) }},
		{panicSym, func() { SymMul(d9, matrix, 17, d9) }},
		{panicWidth, func() { LanesScore(f[:8], f, i(0), f) }},
		{panicShort, func() { LanesScore(f[:16], f, i(0, 1), f[:1]) }},
		{panicWidth, func() { LanesUpdate(f, i(0), f, f[:15], mask) }},
		{panicShort, func() { LanesUpdate(f, i(0), f, f[:16], nil) }},
		{panicMask, func() {
			LanesUpdate(f, i(0), f, f[:16], []uint64{1 << 16})
		}},
		{panicWidth, func() { LanesLE(mask, f[:17], 1, 0) }},
		{panicShort, func() { LanesLE(nil, f[:16], 1, 0) }},
		{panicWidth, func() { run(f, 8, []int{0, 1}, i(0), f, mask) }},
		{panicWidth, func() { run(make([]float32, 144), 144, []int{0, 1}, i(0), f, mask) }},
		{panicWidth, func() { run(f, -16, []int{0, 1}, i(0), f, mask) }},
		{panicShort, func() { run(f, 16, []int{0}, i(0), f, mask) }},
		{panicShort, func() { run(f, 16, []int{1, 0}, i(0), f, mask) }},
		{panicShort, func() { run(f, 16, []int{0, 3}, i(0, 1), f, mask) }},
		{panicShort, func() { run(f, 16, []int{0, 2}, i(0, 1), f[:1], mask) }},
		{panicShort, func() { run(f, 16, []int{0, 1}, i(0), f, nil) }},
		{panicShort, func() {
			LanesRun(n1, f, 16, []int{0, 1}, i(0), f, nil, mask, 1, 0, 1)
		}},
		{panicShort, func() {
			LanesRun(n1, f, 16, []int{0, 1}, i(0), f, f, mask, -1, 0, 1)
		}},
		{panicShort, func() {
			SparseDotAxpyRun(d, d, nil, []int{0, 1}, i(0), d)
		}},
		{panicShort, func() { SparseDotAxpyRun(d, d, d, []int{0}, i(0), d) }},
		{panicShort, func() { SparseDotAxpyRun(d, d, d, []int{1, 0}, i(0), d) }},
		{panicShort, func() { SparseDotAxpyRun(d, d, d, []int{0, 2}, i(0), d) }},
		{panicShort, func() { SparseOnesAddRun(d, d, []int{0}, i(0)) }},
		{panicShort, func() { SparseOnesAddRun(d, d, []int{1, 0}, i(0)) }},
		{panicWidth, func() {
			LanesRunInt16(n1, n1, make([]int16, 32), 32, 33, []int{0, 0}, nil, f,
				mask, 1, 0, 1, 0)
		}},
		{panicWidth, func() { run16(16, []int{0, 1}, i(0), 1, 0) }},
		{panicWidth, func() { run16(160, []int{0, 1}, i(0), 1, 0) }},
		{panicShort, func() { run16(32, []int{0}, i(0), 1, 0) }},
		{panicShort, func() { run16(32, []int{1, 0}, i(0), 1, 0) }},
		{panicShort, func() { run16(32, []int{0, 3}, i(0, 1), 1, 0) }},
		{panicShort, func() {
			LanesRunInt16(n1, nil, nil, 32, 32, []int{0, 0}, nil, f, mask, 1, 0,
				1, 0)
		}},
		{panicLimit, func() { run16(32, []int{0, 1}, i(0), 1, 2) }},
		{panicLimit, func() { run16(32, []int{0, 1}, i(0), 1, -1) }},
		{panicLimit, func() { run16(32, []int{0, 1}, i(0), math.MaxInt16, 0) }},
		{panicWidth, func() { run8(32, []int{0, 1}, i(0), 1, 0) }},
		{panicWidth, func() { run8(192, []int{0, 1}, i(0), 1, 0) }},
		{panicShort, func() { run8(64, []int{0, 3}, i(0, 1), 1, 0) }},
		{panicLimit, func() { run8(64, []int{0, 1}, i(0), 1, 2) }},
		{panicLimit, func() { run8(64, []int{0, 1}, i(0), Int8Limit+1, 0) }},
		{panicWidth, func() { AddRowSumsInt8(d, make([]int8, 32), 32) }},
		{panicShort, func() { AddRowSumsInt8(d[:1], make([]int8, 32), 64) }},
		{panicIndex, func() { SparseDot(i(1, 32), f, f) }},
		{panicIndex, func() { SparseDot(i(-1, 3), f, f) }},
		{panicRow, func() { LanesScore(f[:16], f, i(2, 0), f) }},
		{panicRow, func() { LanesUpdate(f, i(-1), f, f[:16], mask) }},
		{panicShort, func() {
			LanesRun(n1, f, 16, []int{0, 40}, i(0), f, f, mask, 1, 0, 1)
		}},
		{panicShort, func() {
			LanesRunInt16(n1, n1, make([]int16, 32), 32, 32,
				[]int{0, 2}, i(0), f, mask, 1, 0, 1, 0)
		}},
		{panicShort, func() {
			SparseDotAxpyRun(d, d, d, []int{0, 1}, i(0), d[:0])
		}},
		{panicShort, func() {
			SparseOnesAddRun(d, d, []int{0, 2}, i(0))
		}},
	} {
		forEachImpl(t, func(t *testing.T, im Impl) {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %q", got, c.want)
				}
			}()
			c.call()
		})
	}
}

// Wherever in a list an index lies outside, CheckIndices panics as a slice does.
func TestOutside(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := range 80 {
			o := makeSparse(newGenerator[float32](n, 0, nil), n)
			length := len(o.y)
			for at, good := range o.idx {
				for _, bad := range []int32{-1, math.MinInt32, math.MaxInt32, int32(length)} {
					o.idx[at] = bad
					want := fmt.Sprintf("index out of range [%d] with length %d", bad, length)
					if bad < 0 {
						want = fmt.Sprintf("index out of range [%d]", bad)
					}
					err, _ := panicOf(func() { CheckIndices(o.idx, length) }).(runtime.Error)
					if err == nil || err.Error() != "runtime error: "+want {
						t.Fatalf("index %d of %d is %d, of %d: panic %v, want %s", at, n, bad,
							length, err, want)
					}
				}
				o.idx[at] = good
			}
			if p := panicOf(func() { CheckIndices(o.idx, length) }); p != nil {
				t.Fatalf("%d good indices: panic %v", n, p)
			}
		}
	})
}

func panicOf(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// A longer slice is cut, and LanesLE clears what lies beyond the lanes.
func TestLonger(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		x, y := []float64{1, 2, 3}, []float64{4, 5, 6, 7}
		if got := Dot(x, y); got != 32 {
			t.Errorf("Dot = %v, want 32", got)
		}
		mask := []uint64{^uint64(0), ^uint64(0), ^uint64(0)}
		LanesLE(mask, []float64{1, -1, 0, math.NaN(), math.Inf(-1), math.Inf(1), 2, -2}, 1, 0)
		if want := []uint64{0b10010110, 0, 0}; !slices.Equal(mask, want) {
			t.Errorf("LanesLE: %b, want %b", mask, want)
		}
	})
}

func testNoAllocs[T Float](t *testing.T) {
	for _, k := range kernelTable[T]() {
		o := k.make(newGenerator[T](100, 0, nil), 100)
		if n := testing.AllocsPerRun(20, func() { k.run(o) }); n != 0 {
			t.Errorf("%s: %v allocations", k.name, n)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		testNoAllocs[float32](t)
		testNoAllocs[float64](t)
		if race { // what is reported to the race detector escapes
			return
		}
		// Operands on the stack stay there.
		if n := testing.AllocsPerRun(20, func() {
			var a, b [64]float64
			a[3], b[3] = 2, 3
			Axpy(a[:], Dot(a[:], b[:]), b[:])
		}); n != 0 {
			t.Errorf("stack operands: %v allocations", n)
		}
	})
}
