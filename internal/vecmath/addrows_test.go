package vecmath

import "testing"

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
	f := make([]T, 32)
	func() {
		defer func() {
			if got := recover(); got != panicStride {
				t.Errorf("a stride that doesn't fit: %v", got)
			}
		}()
		AddRowsAt(f[:16], 1, f, 17, f[:2], []int32{0})
	}()
	if got := testing.AllocsPerRun(10, func() {
		AddRowsAt(f[:4], 0.5, f, 4, f[8:12], []int32{2, 0})
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
