package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// testKernels are one kernel of each kind, and the ones with all parameters.
var testKernels = []Kernel{
	{},
	{Kind: Linear, Scale: 7},
	{Kind: Poly, Gamma: 1, Degree: 5, Coef0: 1, Scale: 1100},
	{Kind: Poly, Gamma: 0.01, Degree: 3},
	{Kind: RBF, Gamma: 0.01},
	RBFSigma(3000),
}

func mustPoints[T Float](t testing.TB, k Kernel, blocks ...*Block[T]) *Points[T] {
	t.Helper()
	p, err := NewPoints[T](k)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		p.Append(b, 0, b.Len())
	}
	return p
}

// What the examples of randomBlock hold.
type content int

const (
	zeroOne content = iota
	pixels          // integers from 0 to 255, the largest among them
	counts          // integers, some above 255
	reals
)

func (c content) value(rng *rand.Rand) float64 {
	switch c {
	case zeroOne:
		return 1
	case pixels:
		return float64(1 + rng.IntN(255))
	case counts:
		return float64(1 + rng.IntN(400))
	}
	return rng.NormFloat64()
}

// randomBlock makes n examples of dim features, of which the given share is not zero.
func randomBlock[T Float](seed uint64, c content, dense bool, n, dim int, share float64) *Block[T] {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := &Block[T]{Dim: dim}
	if dense {
		b.Stride = dim + 3
	} else {
		b.Ptr = []int{0}
	}
	for range n {
		b.Y = append(b.Y, 1)
		row := make([]T, b.Stride)
		for j := range dim {
			if rng.Float64() >= share {
				continue
			}
			v := T(c.value(rng))
			if dense {
				row[j] = v
			} else {
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, v)
			}
		}
		if dense {
			b.X = append(b.X, row...)
		} else {
			b.Ptr = append(b.Ptr, len(b.Idx))
		}
	}
	return b
}

// spoil returns an example that no packed form can hold.
func spoil[T Float](dense bool) *Block[T] {
	if dense {
		return &Block[T]{Y: []T{1}, Dim: 1, X: []T{0.5}, Stride: 1}
	}
	return &Block[T]{Y: []T{1}, Dim: 1, Ptr: []int{0, 1}, Idx: []int32{0}, Val: []T{0.5}}
}

// allRows returns K(x_i, x_j) for all i and j < n.
func allRows[T Float](p *Points[T], n int) []T {
	all := make([]T, n*n)
	for i := range n {
		p.Row(all[i*n:][:n], i, 0, n)
	}
	return all
}

func differ[T Float](got, want []T) string {
	for i, w := range want {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(w)) {
			return fmt.Sprintf("value %d of %d is %v, want %v", i, len(want), got[i], w)
		}
	}
	return ""
}

func eachImpl(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	before := vecmath.Active().String()
	defer func() {
		if err := vecmath.Use(before); err != nil {
			t.Error(err)
		}
	}()
	for _, info := range vecmath.Implementations() {
		if info.Supported {
			if err := vecmath.Use(info.Name); err != nil {
				t.Fatal(err)
			}
			t.Run(info.Name, f)
		}
	}
}

// The values of packed forms are those of the float form, to the last bit, on every implementation:
// the same examples with one more at the end that can't be packed. 700 pixels of 255 have a squared
// norm far above 2^24.
func TestPackedIsFloat(t *testing.T) {
	t.Run("float32", testPackedIsFloat[float32])
	t.Run("float64", testPackedIsFloat[float64])
}

func testPackedIsFloat[T Float](t *testing.T) {
	n := 40
	if testing.Short() {
		n = 12
	}
	var want [][]T // of the first implementation
	eachImpl(t, func(t *testing.T) {
		at := 0
		for _, tc := range []struct {
			c     content
			dense bool
			dim   int
			share float64
			form  string
		}{
			{zeroOne, false, 123, 0.11, "bits"},
			{zeroOne, false, 60, 0.2, "bits"},
			{zeroOne, true, 333, 0.5, "bits"},
			{zeroOne, false, 5000, 0.002, "csr"},
			{pixels, true, 784, 0.9, "bytes"},
			{pixels, false, 784, 0.2, "bytes"},
			{counts, false, 100, 0.2, "csr"},
			{counts, true, 100, 0.2, "dense"},
		} {
			b := randomBlock[T](uint64(tc.dim), tc.c, tc.dense, n, tc.dim, tc.share)
			for _, k := range testKernels {
				p := mustPoints(t, k, b)
				if p.Form() != tc.form {
					t.Fatalf("%+v: stored as %s", tc, p.Form())
				}
				q := mustPoints(t, k, b, spoil[T](tc.dense))
				if got := q.Form(); got != "csr" && got != "dense" {
					t.Fatalf("with 0.5 among them: stored as %s", got)
				}
				packed, floats := allRows(p, n), allRows(q, n)
				if d := differ(packed, floats); d != "" {
					t.Fatalf("%+v, %+v: %s", tc, k, d)
				}
				for i := range n {
					if math.Float64bits(p.sq[i]) != math.Float64bits(q.sq[i]) ||
						p.Diag(i) != packed[i*n+i] {
						t.Fatalf("%+v: squared norm %v and %v; Diag %v, in the row %v", tc, p.sq[i],
							q.sq[i], p.Diag(i), packed[i*n+i])
					}
				}
				if at == len(want) {
					want = append(want, packed)
				}
				if d := differ(packed, want[at]); d != "" {
					t.Fatalf("%+v, %+v: not the value of other implementations: %s", tc, k, d)
				}
				at++
			}
		}
	})
}

// Values against plain arithmetic. The dot product of m terms has an error of at most m eps
// sum|terms|; the kernel's own steps add a few roundings.
func TestRowValues(t *testing.T) {
	t.Run("float32", testRowValues[float32])
	t.Run("float64", testRowValues[float64])
}

func testRowValues[T Float](t *testing.T) {
	const n, dim = 30, 90
	unit := 0x1p-53
	if _, ok := any(T(0)).(float32); ok {
		unit = 0x1p-24
	}
	for _, dense := range []bool{false, true} {
		for _, c := range []content{zeroOne, pixels, reals} {
			b := randomBlock[T](3, c, dense, n, dim, 0.4)
			wide := make([][]float64, n)
			for i := range wide {
				wide[i] = make([]float64, dim)
				if dense {
					for j, v := range b.Row(i) {
						wide[i][j] = float64(v)
					}
					continue
				}
				idx, val := b.Sparse(i)
				for k, j := range idx {
					wide[i][j] = float64(val[k])
				}
			}
			for _, k := range testKernels {
				p := mustPoints(t, k, b)
				dst := make([]T, n)
				for i := range n {
					p.Row(dst, i, 0, n)
					for j := range n {
						var dot, abs, xx, zz float64
						for f, v := range wide[i] {
							dot += v * wide[j][f]
							abs += math.Abs(v * wide[j][f])
							xx += v * v
							zz += wide[j][f] * wide[j][f]
						}
						g := k.factor()
						dotErr := 2 * dim * 0x1p-53 * abs
						var want, tol float64
						switch k.Kind {
						case RBF:
							d2 := max(0, xx+zz-2*dot)
							d2Err := 2*dotErr + 2*(dim+3)*0x1p-53*(xx+zz)
							want = math.Exp(-g * d2)
							// error of the argument, its roundings, two exp
							tol = want * (math.Expm1(g*d2Err+3*unit*g*d2) + 4*unit)
						case Poly:
							base := k.Coef0 + g*dot
							want = math.Pow(base, float64(k.Degree))
							step := k.Coef0 + g*abs // |base| with room for its error
							rel := (g*dotErr + 4*0x1p-53*step)
							tol = float64(k.Degree)*math.Pow(step+rel, float64(k.Degree-1))*rel +
								math.Abs(want)*(float64(2*k.Degree)*0x1p-53+2*unit)
						default:
							want, tol = g*dot, g*dotErr+2*unit*math.Abs(g*dot)+0x1p-53*math.Abs(
								g*dot)
						}
						if math.Abs(float64(dst[j])-want) > tol {
							t.Fatalf("%+v, dense %v, content %d: K(%d, %d) = %v, want %v +- %v", k,
								dense, c, i, j, dst[j], want, tol)
						}
					}
				}
			}
		}
	}
}

// Examples one at a time, whatever they do to the form, give the list that one Append gives; parts
// of a row are the row.
func TestPointsGrow(t *testing.T) {
	t.Run("float32", testPointsGrow[float32])
	t.Run("float64", testPointsGrow[float64])
}

func testPointsGrow[T Float](t *testing.T) {
	kernels := testKernels
	if testing.Short() {
		kernels = kernels[3:5]
	}
	for _, dense := range []bool{false, true} {
		parts := []*Block[T]{
			randomBlock[T](1, zeroOne, dense, 5, 30, 0.3),
			randomBlock[T](2, zeroOne, dense, 20, 200, 0.3),
			randomBlock[T](3, pixels, dense, 20, 150, 0.3),
			randomBlock[T](4, pixels, dense, 10, 500, 0.3),
			randomBlock[T](5, reals, dense, 10, 100, 0.3),
			randomBlock[T](6, reals, dense, 10, 1200, 0.3),
		}
		forms := []string{"bits", "bits", "bytes", "bytes", "csr", "csr"}
		if dense {
			forms[4], forms[5] = "dense", "dense"
		}
		for _, k := range kernels {
			p := mustPoints[T](t, k)
			for at, b := range parts {
				for i := range b.Len() {
					p.Append(b, i, i+1)
				}
				q := mustPoints(t, k, parts[:at+1]...)
				if p.Len() != q.Len() || p.Form() != forms[at] || q.Form() != forms[at] {
					t.Fatalf("after part %d: %d examples as %s, %d as %s", at, p.Len(), p.Form(),
						q.Len(), q.Form())
				}
				n := p.Len()
				if d := differ(allRows(p, n), allRows(q, n)); d != "" {
					t.Fatalf("%+v, after part %d: %s", k, at, d)
				}
				dst, whole := make([]T, n), make([]T, n)
				p.Row(whole, n-1, 0, n)
				for lo := 0; lo <= n; lo += 7 {
					hi := min(n, lo+11)
					p.Row(dst[lo:], n-1, lo, hi)
					if d := differ(dst[lo:hi], whole[lo:hi]); d != "" {
						t.Fatalf("from %d to %d: %s", lo, hi, d)
					}
				}
			}
			var idx, gotIdx []int32
			var val, gotVal []T
			i := 0
			for _, b := range parts {
				for e := range b.Len() {
					idx, val = idx[:0], val[:0]
					if dense {
						idx, val = nonZeros(idx, val, b.Row(e))
					} else {
						idx, val = b.Sparse(e)
					}
					gotIdx, gotVal = p.NonZeros(gotIdx[:0], gotVal[:0], i)
					if !slices.Equal(idx, gotIdx) || !slices.Equal(val, gotVal) {
						t.Fatalf("example %d came back as %v %v, was %v %v", i, gotIdx, gotVal, idx,
							val)
					}
					i++
				}
			}
		}
	}
}

// An example that is not in the list has the row that it would have if it were, as far as the list
// goes.
func TestRowOf(t *testing.T) {
	t.Run("float32", testRowOf[float32])
	t.Run("float64", testRowOf[float64])
}

func testRowOf[T Float](t *testing.T) {
	kernels := []Kernel{{}, {Kind: RBF, Gamma: 0.01}}
	for _, dense := range []bool{false, true} {
		for _, c := range []content{zeroOne, pixels, reals} {
			b := randomBlock[T](1, c, dense, 40, 100, 0.3)
			for _, dim := range []int{90, 100, 120, 128, 129, 1000} {
				for _, of := range []content{zeroOne, pixels, reals} {
					z := randomBlock[T](2, of, dense, 2, dim, 0.3)
					if !dense { // a stored zero must not show
						z.Val[0] = 0
					}
					for _, k := range kernels {
						p := mustPoints(t, k, b)
						n := p.Len()
						got, want := make([]T, n), make([]T, n)
						q := mustPoints(t, k, b, z)
						for i := range z.Len() {
							p.RowOf(got, z, i, 0, n)
							q.Row(want, n+i, 0, n)
							if d := differ(got, want); d != "" {
								t.Fatalf("list %d as %s, example of %d features, %d: %s", c,
									p.Form(), dim, of, d)
							}
							p.RowOf(got[10:20], z, i, 10, 20)
							if d := differ(got, want); d != "" {
								t.Fatalf("a part of the row: %s", d)
							}
						}
						p.Row(got, 0, 0, n)
						q.Row(want, 0, 0, n)
						if d := differ(got, want); d != "" {
							t.Fatalf("a row after RowOf: %s", d)
						}
						p.RowAt(got[:3], 0, []int32{7, 0, 39})
						if d := differ(got[:3], []T{want[7], want[0], want[39]}); d != "" {
							t.Fatalf("values of a row: %s", d)
						}
					}
				}
			}
		}
	}
	var empty Block[T] // nothing is asked of an empty list
	empty.Y, empty.Dim, empty.X, empty.Stride = []T{1}, 1, []T{0.5}, 1
	mustPoints[T](t, Kernel{}).RowOf(nil, &empty, 0, 0, 0)
}

// Examples without features, and lists of them.
func TestEmptyExamples(t *testing.T) {
	b := &Block[float32]{Y: []float32{1, 1, 1}, Dim: 3, Ptr: []int{0, 0, 0, 0}}
	p := mustPoints(t, Kernel{Kind: RBF, Gamma: 1}, b)
	dst := make([]float32, 3)
	p.Row(dst, 1, 0, 3)
	if !slices.Equal(dst, []float32{1, 1, 1}) {
		t.Errorf("%v", dst)
	}
	p.Append(randomBlock[float32](1, pixels, false, 1, 3, 1), 0, 1)
	p.Row(dst, 3, 0, 3)
	if dst[0] != dst[2] || dst[0] >= 1 {
		t.Errorf("%v", dst)
	}
}

func TestRowBounds(t *testing.T) {
	p := mustPoints(t, Kernel{}, randomBlock[float32](1, reals, false, 3, 5, 1))
	for _, f := range []func(){
		func() { p.Row(make([]float32, 3), 3, 0, 3) },
		func() { p.Row(make([]float32, 3), -1, 0, 3) },
		func() { p.Row(make([]float32, 4), 0, 0, 4) },
		func() { p.Row(make([]float32, 4), 0, -1, 2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
}

func TestRowAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for _, dense := range []bool{false, true} {
		for _, c := range []content{zeroOne, pixels, reals} {
			b := randomBlock[float32](1, c, dense, 500, 100, 0.3)
			p := mustPoints(t, RBFSigma(2), b)
			dst := make([]float32, 500)
			f := func() {
				p.Row(dst, 3, 0, 500)
				p.RowOf(dst, b, 4, 0, 500)
			}
			f()
			if a := testing.AllocsPerRun(100, f); a > 0 {
				t.Errorf("%s: %v allocations a row", p.Form(), a)
			}
		}
	}
}

// BenchmarkKernelRow: ns a value, on one core. a9a has 123 features of which 14 are set, MNIST 784
// pixels of which a fifth is not 0.
func BenchmarkKernelRow(b *testing.B) {
	b.Run("type=float32", benchKernelRow[float32])
	b.Run("type=float64", benchKernelRow[float64])
}

func benchKernelRow[T Float](b *testing.B) {
	rbf, poly := Kernel{Kind: RBF, Gamma: 1.0 / 123}, Kernel{Kind: Poly, Gamma: 1, Degree: 5,
		Coef0: 1, Scale: 1100}
	for _, tc := range []struct {
		name  string
		k     Kernel
		c     content
		dense bool
		n     int
		dim   int
		share float64
	}{
		{"a9a/form=bits/rbf/n=10000", rbf, zeroOne, false, 10000, 123, 0.113},
		{"a9a/form=csr/rbf/n=10000", rbf, reals, false, 10000, 123, 0.113},
		{"mnist/form=bytes/rbf/n=5000", RBFSigma(2000), pixels, true, 5000, 784, 0.2},
		{"mnist/form=bytes/poly/n=5000", poly, pixels, true, 5000, 784, 0.2},
		{"mnist/form=bytes/rbf/n=60000", RBFSigma(2000), pixels, true, 60000, 784, 0.2},
		{"banana/form=dense/rbf/n=5000", rbf, reals, true, 5000, 2, 1},
		{"waveform/form=dense/rbf/n=5000", rbf, reals, true, 5000, 21, 1},
		{"spambase/form=dense/rbf/n=4000", rbf, reals, true, 4000, 57, 1},
		{"mnist/form=dense/rbf/n=5000", rbf, reals, true, 5000, 784, 0.2},
		{"mnist/form=csr/rbf/n=5000", rbf, reals, false, 5000, 784, 0.2},
	} {
		b.Run(tc.name, func(b *testing.B) {
			p := mustPoints(b, tc.k, randomBlock[T](1, tc.c, tc.dense, tc.n, tc.dim, tc.share))
			dst := make([]T, tc.n)
			i := 0
			for b.Loop() {
				p.Row(dst, i, 0, tc.n)
				i = (i + 1) % tc.n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tc.n),
				"ns/value")
		})
	}
}

// The squared norm is the dot product that a row of the example has with itself, so that K(x, x) of
// an rbf is 1; nearly equal examples, whose squared distance may come out below 0, have no more.
// Zeros that a block stores do not show.
func TestNearlyEqual(t *testing.T) {
	const n, dim = 40, 70
	for _, dense := range []bool{false, true} {
		b := randomBlock[float64](4, reals, dense, n, dim, 0.7)
		near := randomBlock[float64](4, reals, dense, n, dim, 0.7)
		rng := rand.New(rand.NewPCG(1, 1))
		for _, values := range [][]float64{near.Val, near.X} {
			for i := range values {
				values[i] *= 1 + float64(rng.IntN(3)-1)*0x1p-52
			}
		}
		p := mustPoints(t, Kernel{Kind: RBF, Gamma: 1e6}, b, near)
		row := make([]float64, 2*n)
		for i := range 2 * n {
			p.Row(row, i, 0, 2*n)
			if row[i] != 1 {
				t.Errorf("dense %v: K(x, x) = %v", dense, row[i])
			}
			for j, v := range row {
				if !(v <= 1) {
					t.Errorf("dense %v: K(%d, %d) = %v", dense, i, j, v)
				}
			}
			idx, val := p.NonZeros(nil, nil, i)
			x := make([]float64, dim)
			for k, f := range idx {
				x[f] = val[k]
			}
			want := vecmath.SumSq(x)
			if !dense {
				want = vecmath.SparseDot(idx, val, x)
			}
			if p.sq[i] != want {
				t.Errorf("dense %v: squared norm %v, want %v", dense, p.sq[i], want)
			}
		}
	}
	b := randomBlock[float64](4, reals, false, n, dim, 0.5)
	zeros := &Block[float64]{Y: b.Y, Dim: dim, Ptr: []int{0}}
	for i := range n {
		x := make([]float64, dim)
		idx, val := b.Sparse(i)
		for k, f := range idx {
			x[f] = val[k]
		}
		for f, v := range x {
			if v != 0 || f%3 == 0 {
				zeros.Idx, zeros.Val = append(zeros.Idx, int32(f)), append(zeros.Val, v)
			}
		}
		zeros.Ptr = append(zeros.Ptr, len(zeros.Idx))
	}
	k := RBFSigma(5)
	if d := differ(allRows(mustPoints(t, k, zeros), n), allRows(mustPoints(t, k, b), n)); d != "" {
		t.Errorf("stored zeros: %s", d)
	}
}

// TestPointsClone: a copy of a list in any form gives the same values, whatever becomes of the
// list.
func TestPointsClone(t *testing.T) {
	for _, c := range []content{zeroOne, pixels, reals} {
		for _, dense := range []bool{false, true} {
			const n = 9
			b, z := randomBlock[float32](3, c, dense, n, 70, 0.5),
				randomBlock[float32](4, c, dense, 1, 70, 0.5)
			p := mustPoints(t, RBFSigma(5), b)
			copied := p.Clone()
			// a copy is rounded up
			if copied.Len() != n || copied.Form() != p.Form() || copied.Bytes() > p.Bytes()*9/8 {
				t.Errorf("%s: %d examples as %s in %d bytes, want %d in %d", p.Form(),
					copied.Len(), copied.Form(), copied.Bytes(), n, p.Bytes())
			}
			want, got := make([]float32, n), make([]float32, n)
			p.RowOf(want, z, 0, 0, n)
			for i := range n {
				p.Replace(i, z, 0)
			}
			p.Append(b, 0, n)
			copied.RowOf(got, z, 0, 0, n)
			if d := differ(got, want); d != "" {
				t.Errorf("%s: %s", p.Form(), d)
			}
		}
	}
	if empty := mustPoints[float32](t, RBFSigma(5)).Clone(); empty.Len() != 0 {
		t.Error("a copy of no examples has some")
	}
}
