package engine

import (
	"math"
	"testing"
)

// byteExamples are floats of bytes divided by their length, as readers divide them.
func byteExamples[T Float](rng *Rand, n, dim int, unit bool, bias float64) (x [][]T,
	div []float64) {
	for range n {
		row, sum := make([]T, dim), float64(0)
		for j := range row {
			if row[j] = T(uint8(256 * rng.Uniform() * rng.Uniform())); j == 0 && bias > 0 {
				row[j] = T(bias)
			}
			sum += float64(float64(row[j]) * float64(row[j]))
		}
		d := 0.0
		if unit && sum > 0 {
			d = math.Sqrt(sum)
			for j, v := range row {
				row[j] = T(float64(v) / d)
			}
		}
		x, div = append(x, row), append(div, d)
	}
	return x, div
}

func testByteRows[T Float](t *testing.T) {
	rng := NewRand(1, 0)
	for _, dim := range []int{1, 2, 15, 16, 17, 100} {
		for _, bias := range []float64{0, 1, 0.1} {
			for _, unit := range []bool{false, true} {
				const n = 300
				x, div := byteExamples[T](rng, n, dim, unit, bias)
				r := NewByteRows[T](dim, bias > 0, 10)
				y := make([]T, n)
				for i := range x {
					y[i] = T(1 - 2*(i%3%2))
					if !r.Append(x[i], y[i], div[i]) {
						t.Fatalf("row %d of %d was refused: %v by %v", i, dim, x[i], div[i])
					}
				}
				if r.Len() != n || r.Dim() != dim {
					t.Fatalf("%d rows of %d, want %d of %d", r.Len(), r.Dim(), n, dim)
				}
				order := []int32{7, 299, 0, 7}
				var b Block[T]
				var room []T
				check := func(k, i int) {
					t.Helper()
					v := b.Slice(k, k+1)
					if !sameBits(b.Row(k), x[i]) || b.Y[k] != y[i] ||
						!sameBits(b.RowApart(&room, k), b.Row(k)) ||
						!sameBits(v.RowApart(&room, 0), b.Row(k)) {
						t.Fatalf("row %d of %d features: %v, want %v", i, dim, b.Row(k), x[i])
					}
					for _, v := range b.X[k*b.Stride+dim : (k+1)*b.Stride] {
						if v != 0 {
							t.Fatalf("padding of row %d is %v", i, v)
						}
					}
				}
				r.Gather(&b, order)
				for k, i := range order {
					check(k, int(i))
				}
				r.Block(&b, 5, n)
				for i := 5; i < n; i++ {
					check(i-5, i)
				}
				b.checked = 0
				if err := b.Check(); err != nil || b.Len() != n-5 {
					t.Fatal(b.Len(), err)
				}
				if allocs := testing.AllocsPerRun(3, func() { r.Block(&b, 0, n-5) }); allocs > 0 {
					t.Errorf("%v allocations", allocs)
				}
			}
		}
	}
}

// TestByteRows: the bits that were appended come back.
func TestByteRows(t *testing.T) {
	t.Run("f32", testByteRows[float32])
	t.Run("f64", testByteRows[float64])
}

// TestByteRowsRefuse: what are no bytes, up to roundings, is refused, and nothing is added.
func TestByteRowsRefuse(t *testing.T) {
	r := NewByteRows[float32](2, false, 0)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, x := range [][]float32{{0, 256}, {-1, 0}, {0.5, 1}, {nan, 0}, {0, inf}, {1}, {1, 2, 3},
		{255.5, 0}} {
		if r.Append(x, 1, 0) || r.Len() != 0 {
			t.Errorf("%v was taken", x)
		}
	}
	// rows that a division gives, but not of bytes: some are kept as they are, not all
	kept := 0
	for range 1000 {
		if r.Append([]float32{1.00001, 2}, 1, 0) {
			kept++
		}
	}
	if kept == 0 || kept > 100 {
		t.Errorf("%d of 1000 rows kept as floats", kept)
	}
	negative := float32(math.Copysign(0, -1))
	var b Block[float32]
	if r = NewByteRows[float32](2, false, 0); r.Append([]float32{negative, 3}, 1, 0) {
		if r.Block(&b, 0, 1); !math.Signbit(float64(b.X[0])) {
			t.Error("-0 became +0")
		}
	}
}

// TestByteRowsWhole: a quotient so near to the middle of two float32 that 1/s in two parts misses
// it is kept as it is.
func TestByteRowsWhole(t *testing.T) {
	rng := NewRand(3, 0)
	r := NewByteRows[float32](256, false, 0)
	var rows [][]float32
	for range 20000 {
		x, s := make([]float32, 256), 100+5000*rng.Uniform()
		for v := range x {
			x[v] = float32(float64(v) / s)
		}
		if !r.Append(x, 1, s) {
			t.Fatalf("division by %v was refused", s)
		}
		rows = append(rows, x)
	}
	if n := len(r.whole); n > 100 {
		t.Errorf("%d of 20000 rows as floats", n)
	}
	var b Block[float32]
	for i := range r.whole {
		if r.Block(&b, i, i+1); !sameBits(b.Row(0), rows[i]) {
			t.Errorf("row %d: %v, want %v", i, b.Row(0), rows[i])
		}
	}
	t.Logf("%d whole rows", len(r.whole))
}

// TestByteRowsDivide: as a division of each value.
func TestByteRowsDivide(t *testing.T) {
	rng := NewRand(2, 0)
	x, _ := byteExamples[float32](rng, 20, 50, false, 0.3)
	for _, s := range []float64{0.1, 1, 17.25, 1234.5678, 1e6} {
		r := NewByteRows[float32](50, true, 0)
		for _, row := range x {
			r.Append(row, 1, 0)
		}
		if !r.Divide(s) {
			t.Errorf("no division by %v", s)
			continue
		}
		var b Block[float32]
		r.Block(&b, 0, len(x))
		for i, row := range x {
			for j, v := range row {
				if want := float32(float64(v) / s); b.Row(i)[j] != want {
					t.Fatalf("%v by %v: %v, want %v", v, s, b.Row(i)[j], want)
				}
			}
		}
	}
}
