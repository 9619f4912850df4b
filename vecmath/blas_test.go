package vecmath

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// A norm loses nothing to squares that overflow or underflow: it is within two units of the last
// place of the exact one, wherever that is a number; n is small enough for that.
func TestNrm2Range(t *testing.T) {
	t.Run("float32", testNrm2Range[float32])
	t.Run("float64", testNrm2Range[float64])
}

func testNrm2Range[T Float](t *testing.T) {
	largest, least, lowest := math.MaxFloat32, -149, -126
	if !is32[T]() {
		largest, least, lowest = math.MaxFloat64, -1074, -1022
	}
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for exp := least; exp <= -lowest+1; exp += 7 {
			for _, n := range []int{1, 2, 17, 600} {
				x := newGenerator[T](n, 0, nil).floats(n)
				sum := new(big.Float).SetPrec(300)
				for i := range x {
					x[i] = T(math.Ldexp(float64(x[i]), exp))
					v := new(big.Float).SetPrec(300).SetFloat64(float64(x[i]))
					sum.Add(sum, v.Mul(v, v))
				}
				want, _ := sum.Sqrt(sum).Float64()
				got := float64(Nrm2(x))
				if want > largest {
					if !math.IsInf(got, 1) {
						t.Errorf("%d of 2^%d: %v, want +Inf", n, exp, got)
					}
					continue
				}
				ulp := math.Ldexp(1, max(least, math.Ilogb(want)-(lowest-least)))
				if d := math.Abs(got - want); !(d <= 2*ulp) {
					t.Errorf("%d of 2^%d: %v, want %v", n, exp, got, want)
				}
			}
		}
	})
}

func TestNrm2Special(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{nil, 0}, {[]float64{0, math.Copysign(0, -1)}, 0}, {[]float64{-3, 4}, 5},
		{[]float64{1, -inf}, inf}, {[]float64{nan, 1}, nan}, {[]float64{inf, nan}, nan},
		{[]float64{math.MaxFloat64}, math.MaxFloat64},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, inf},
		{[]float64{0x1p-1074, 0}, 0x1p-1074}, {[]float64{3e-320, 4e-320}, 5e-320},
		{[]float64{3e200, 4e200}, 5e200},
	} {
		if got := Nrm2(c.x); !sameBits(got, c.want) && !(math.Abs(got-c.want) <= 1e-15*c.want) {
			t.Errorf("Nrm2(%v) = %v, want %v", c.x, got, c.want)
		}
		if got := peer.Dnrm2(len(c.x), c.x, 1); math.Abs(got-c.want) > 1e-15*c.want {
			t.Errorf("gonum's of %v is %v, want %v", c.x, got, c.want)
		}
	}
}

// Asum adds as Dot with a vector of ones does.
func TestAsumOrder(t *testing.T) {
	t.Run("float32", testAsumOrder[float32])
	t.Run("float64", testAsumOrder[float64])
}

func testAsumOrder[T Float](t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := 0; n < 400; n += 1 + n/40 {
			x := newGenerator[T](n, n%valueModes, nil).floats(n)
			size, ones := make([]T, n), make([]T, n)
			for i, v := range x {
				size[i], ones[i] = T(math.Abs(float64(v))), 1
			}
			if got, want := Asum(x), Dot(size, ones); !sameBits(got, want) {
				t.Fatalf("n = %d: %v, want %v", n, got, want)
			}
		}
	})
}

// The index is gonum's, also of NaN, ties, zeros and infinities anywhere, and over the border of
// pieces.
func TestIamaxAsGonum(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := range 1100 {
			if n > 100 && n%13 != 0 {
				continue
			}
			for mode := range valueModes {
				g := newGenerator[float64](n, mode, nil)
				x := g.floats(n)
				for range n / 9 {
					special := [...]float64{math.NaN(), math.Inf(-1), 0, x[0]}
					x[g.rng.IntN(n)] = special[g.rng.IntN(2+mode%3)]
				}
				if mode == 2 { // nothing but NaN behind the first
					for i := 1; i < n; i++ {
						x[i] = math.NaN()
					}
				}
				narrow := make([]float32, n)
				for i, v := range x {
					narrow[i] = float32(v)
				}
				if got, want := Iamax(x), peer.Idamax(n, x, 1); got != want {
					t.Fatalf("float64, n = %d, values %d: %d, want %d", n, mode, got, want)
				}
				if got, want := Iamax(narrow), peer.Isamax(n, narrow, 1); got != want {
					t.Fatalf("float32, n = %d, values %d: %d, want %d", n, mode, got, want)
				}
			}
		}
	})
}

// Signalling NaN are NaN, too.
func TestIamaxSignalling(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := 2; n < 70; n++ {
			x := make([]float32, n)
			for i := range x {
				x[i] = math.Float32frombits(0x7f800001 + uint32(i))
			}
			x[0], x[n-1] = -1, 2
			if got := Iamax(x); got != n-1 {
				t.Fatalf("n = %d: %d", n, got)
			}
		}
	})
}

// Each element of both products is what the words say.
func TestGemvOrder(t *testing.T) {
	t.Run("float32", testGemvOrder[float32])
	t.Run("float64", testGemvOrder[float64])
}

func testGemvOrder[T Float](t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for _, n := range []int{0, 1, 3, 15, 64, 130} {
			for _, m := range []int{0, 1, 2, 9, gemvPiece - 1, gemvPiece, 2*gemvPiece + 3} {
				stride := n + m%3
				g := newGenerator[T](n, m%3, nil)
				a, x, y := g.floats(m*stride+n), g.floats(n), g.floats(m)
				for _, f := range [][2]T{{1, 1}, {0, 1}, {0, -2.5}, {1, 0.3}, {-0.7, 1.1}, {3, 0}} {
					beta, alpha := f[0], f[1]
					what := fmt.Sprintf("%d x %d, %v y + %v A x", m, n, beta, alpha)
					got, want := append([]T{}, y...), append([]T{}, y...)
					Gemv(got, beta, alpha, a, stride, x)
					for r := range want {
						d := Dot(a[r*stride:][:n], x)
						switch {
						case alpha == 0:
							want[r] *= beta
						case beta == 0:
							want[r] = alpha * d
						default:
							want[r] = fma(alpha, d, T(beta*want[r]))
						}
					}
					if d := diffFloats(got, want); d != "" {
						t.Fatalf("Gemv, %s: y%s", what, d)
					}
					got, want = append([]T{}, x...), append([]T{}, x...)
					GemvT(got, beta, alpha, a, stride, y)
					for j := range want {
						v := T(beta * want[j])
						if beta == 0 {
							v = 0
						}
						for r := range y {
							if alpha != 0 {
								v = fma(T(alpha*y[r]), a[r*stride+j], v)
							}
						}
						want[j] = v
					}
					if d := diffFloats(got, want); d != "" {
						t.Fatalf("GemvT, %s: y%s", what, d)
					}
				}
			}
		}
	})
}

// With beta 0 y is not read, with alpha 0 neither a nor x is, as in BLAS.
func TestGemvNaN(t *testing.T) {
	nan := math.NaN()
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			gemv := Gemv[float64]
			if trans == blas.Trans {
				gemv = GemvT
			}
			for _, c := range []struct{ y, beta, alpha, a, x, want float64 }{
				{nan, 0, 2, 3, 5, 60}, {7, 2, 0, nan, nan, 14}, {nan, 0, 0, nan, nan, 0},
				{1, 1, 1, nan, 0, nan}, {1, 1, 1, 0, nan, nan},
			} {
				fill := func(n int, v float64) []float64 {
					s := make([]float64, n)
					for i := range s {
						s[i] = v
					}
					return s
				}
				got, want := fill(2, c.y), fill(2, c.y)
				gemv(got, c.beta, c.alpha, fill(4, c.a), 2, fill(2, c.x))
				peer.Dgemv(trans, 2, 2, c.alpha, fill(4, c.a), 2, fill(2, c.x), 1, c.beta, want, 1)
				if !sameBits(got[1], c.want) || !sameBits(want[1], c.want) {
					t.Errorf("%+v: %v, gonum's %v", c, got, want)
				}
			}
		}
	})
}

// Listed rows are added in the order of the list, each as Axpy adds it.
func TestAddRowsAt(t *testing.T) {
	t.Run("f32", testAddRowsAt[float32])
	t.Run("f64", testAddRowsAt[float64])
}

func testAddRowsAt[T Float](t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := range 300 {
			if testing.Short() && n > 40 && n%8 > 1 { // emulators are slow
				continue
			}
			g := newGenerator[T](n, 1, nil)
			rows, stride := 1+n%6, n+n%3
			a, x, y := g.floats((rows-1)*stride+n), g.floats(rows), g.floats(n)
			at := make([]int32, n%9)
			for i := range at {
				at[i] = int32(g.rng.IntN(rows))
			}
			got, want := append([]T{}, y...), append([]T{}, y...)
			AddRowsAt(got, 0.5, a, stride, x, at)
			for _, r := range at {
				Axpy(want, T(0.5*x[r]), a[int(r)*stride:][:n])
			}
			if d := diffFloats(got, want); d != "" {
				t.Fatalf("%d rows of %d listed: y%s", len(at), n, d)
			}
		}
	})
	for _, at := range [][]int32{{0, 2}, {-1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("rows %v of 2: no panic", at)
				}
			}()
			AddRowsAt(make([]T, 3), 1, make([]T, 6), 3, make([]T, 2), at)
		}()
	}
}

func TestBLASPanics(t *testing.T) {
	f := make([]float32, 32)
	for i, call := range []func(){
		func() { Gemv(f[:2], 1, 1, f, 17, f[:16]) },
		func() { Gemv(f[:2], 1, 0, f, 17, f[:16]) },
		func() { Gemv(f[:2], 0, 1, f, -1, f[:16]) },
		func() { GemvT(f[:16], 1, 1, f, 17, f[:2]) },
		func() { GemvT(f[:16], 0, 1, f[:15], 0, f[:1]) },
		func() { GemvT(f[:16], 0, 1, f, math.MaxInt, f[:3]) },
		func() { AddRowsAt(f[:16], 1, f, 17, f[:2], []int32{0}) },
	} {
		func() {
			defer func() {
				if got := recover(); got != panicStride {
					t.Errorf("call %d: %v", i, got)
				}
			}()
			call()
		}()
	}
	if got := testing.AllocsPerRun(10, func() {
		Gemv(f[:4], 0.5, 2, f, 4, f[8:12])
		GemvT(f[:4], 0.5, 2, f, 4, f[8:12])
		AddRowsAt(f[:4], 0.5, f, 4, f[8:12], []int32{2, 0})
		Nrm2(f)
		Iamax(f)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
