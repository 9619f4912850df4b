package vecmath

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// symSizes go once around the loops: every size to three units, those around more, and one that is
// in no cache line's favour.
func symSizes[T Float]() []int {
	var s []int
	u := LaneUnit[T]()
	for n := range 3*u + 3 {
		s = append(s, n)
	}
	return append(s, 5*u-1, 5*u, 5*u+1, 9*u+3, 16*u+5)
}

// symmetric fills a matrix of mode 0 values; unused elements are NaN.
func symmetric[T Float](g *generator[T], n, stride int) []T {
	v := make([]T, max(0, (n-1)*stride+SymStride[T](n)))
	for i := range v {
		v[i] = T(math.NaN())
	}
	for i := range n {
		for j := range i + 1 {
			v[i*stride+j] = g.float()
			if j >= i/LaneUnit[T]()*LaneUnit[T]() {
				v[j*stride+i] = v[i*stride+j]
			}
		}
	}
	return v
}

// Against exact arithmetic: V within one rounding of a*u[i] and one of the sum, y within the bound
// of a dot product of n terms, diagonal blocks exactly symmetric, all else (NaN here) left alone.
func TestSymRankOneMul(t *testing.T) {
	t.Run("float32", testSym[float32])
	t.Run("float64", testSym[float64])
}

func testSym[T Float](t *testing.T) {
	eps := 0x1p-24
	if !is32[T]() {
		eps = 0x1p-53
	}
	unit := LaneUnit[T]()
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for _, n := range symSizes[T]() {
			if testing.Short() && n%3 != 1 { // emulators are slow
				continue
			}
			g := newGenerator[T](n, 0, nil)
			stride := SymStride[T](n) + n%2*unit
			v := symmetric(g, n, stride)
			before := slices.Clone(v)
			x, u, a := g.floats(n), g.floats(n), g.float()
			y := slices.Repeat([]T{T(math.NaN())}, n)
			SymRankOneMul(y, v, stride, x, a, u)
			for i := range n {
				for j := range stride {
					at := i*stride + j
					switch {
					case at >= len(v):
					case j >= min(n, i/unit*unit+unit):
						if v[at] == v[at] {
							t.Fatalf("n %d: V[%d][%d] was written", n, i, j)
						}
					default:
						d := errorOf(v[at], []T{before[at], 1, 1}, []T{-a, u[i], u[j]})
						bound := eps * (math.Abs(float64(v[at])) +
							math.Abs(float64(a)*float64(u[i])*float64(u[j]))) * (1 + 1e-6)
						if !(d <= bound) {
							t.Fatalf("n %d: V[%d][%d] is off by %g, bound %g", n, i, j, d, bound)
						}
						if j > i && !sameBits(v[at], v[j*stride+i]) {
							t.Fatalf("n %d: V[%d][%d] is not V[%d][%d]", n, i, j, j, i)
						}
					}
				}
			}
			for i := range n {
				var terms [][]T
				size := 0.0
				for j := range n {
					terms = append(terms, []T{v[max(i, j)*stride+min(i, j)], x[j], 1})
					size += math.Abs(float64(terms[j][0]) * float64(x[j]))
				}
				if d := errorOf(y[i], terms...); !(d <= float64(n+unit)*eps*size*(1+1e-6)) {
					t.Fatalf("n %d: y[%d] is off by %g", n, i, d)
				}
			}
		}
	})
}

// errorOf is how far got is from the sum of the products of three, in exact arithmetic.
func errorOf[T Float](got T, terms ...[]T) float64 {
	exact := func(v T) *big.Float { return new(big.Float).SetPrec(500).SetFloat64(float64(v)) }
	sum := exact(-got)
	for _, f := range terms {
		p := exact(f[0])
		sum.Add(sum, p.Mul(p, exact(f[1])).Mul(p, exact(f[2])))
	}
	d, _ := sum.Float64()
	return math.Abs(d)
}

// The order of the contract, in other words than those of the reference: a y[i] is the halving tree
// over its row, then a chain.
func TestSymRankOneMulOrder(t *testing.T) {
	t.Run("float32", testSymOrder[float32])
	t.Run("float64", testSymOrder[float64])
}

func testSymOrder[T Float](t *testing.T) {
	unit := LaneUnit[T]()
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for _, n := range []int{1, unit - 1, unit, unit + 1, 3*unit + 2, 6*unit + 5} {
			g := newGenerator[T](n, 0, nil)
			stride := SymStride[T](n)
			v := symmetric(g, n, stride)
			x, u, a := g.floats(n), g.floats(n), g.float()
			y, none := make([]T, n), make([]T, n)
			SymRankOneMul(y, v, stride, x, a, u) // V is the new one from here
			again := make([]T, n)
			SymRankOneMul(again, v, stride, x, 0, none)
			if d := diffFloats(again, y); d != "" {
				t.Fatalf("n %d: without a change, y%s", n, d)
			}
			for i := range n {
				end := min(n, i/unit*unit+unit)
				var tree func(first, step int) T
				tree = func(first, step int) T {
					if step == unit {
						var p T
						for j := first; j < end; j += unit {
							p = fma(v[i*stride+j], x[j], p)
						}
						return p
					}
					return tree(first, 2*step) + tree(first+step, 2*step)
				}
				want := tree(0, 1)
				for k := end; k < n; k++ {
					want = fma(v[k*stride+i], x[k], want)
				}
				if !sameBits(y[i], want) {
					t.Fatalf("n %d: y[%d] = %v, want %v", n, i, y[i], want)
				}
			}
		}
	})
}

// The product alone has the bits of SymRankOneMul where nothing changes, and leaves V as it is.
func TestSymMul(t *testing.T) {
	t.Run("float32", testSymMul[float32])
	t.Run("float64", testSymMul[float64])
}

func testSymMul[T Float](t *testing.T) {
	unit := LaneUnit[T]()
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for _, n := range symSizes[T]() {
			g := newGenerator[T](n, 0, nil)
			stride := SymStride[T](n) + n%2*unit
			v, x := symmetric(g, n, stride), g.floats(n)
			before := slices.Clone(v)
			y, want := slices.Repeat([]T{T(math.NaN())}, n), make([]T, n)
			SymMul(y, v, stride, x)
			if d := diffFloats(v, before); d != "" {
				t.Fatalf("n %d: V%s", n, d)
			}
			SymRankOneMul(want, v, stride, x, 0, make([]T, n))
			if d := diffFloats(y, want); d != "" {
				t.Fatalf("n %d: y%s", n, d)
			}
		}
	})
}

// The recursion of a posterior with a pending change: V shrinks along each example.
func ExampleSymRankOneMul() {
	const n = 2
	stride := SymStride[float64](n)
	v := make([]float64, n*stride)
	v[0], v[stride+1] = 1, 1 // the identity
	y, u, a := make([]float64, n), make([]float64, n), 0.0
	for _, x := range [][]float64{{1, 0}, {1, 1}} {
		SymRankOneMul(y, v, stride, x, a, u)
		fmt.Println(y, "variance", Dot(x, y))
		a, u, y = 1/(1+Dot(x, y)), y, u // noise of variance 1
	}
	// Output:
	// [1 0] variance 1
	// [0.5 1] variance 1.5
}
