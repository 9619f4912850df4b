package vecmath

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// byteCase lays out operands of byteRowsDot: values up to top, the rows' padding between them left
// as it is.
func byteCase(place func(n, size int) unsafe.Pointer, rng *rand.Rand, nrows, n, gap,
	top int) (dst []int32, rows []uint8, stride int, x []uint8) {
	stride = n + gap
	dst, x = take[int32](place, nrows), take[uint8](place, n)
	rows = take[uint8](place, max(0, (nrows-1)*stride+n))
	for i := range rows {
		rows[i] = uint8(rng.IntN(top + 1))
	}
	for i := range x {
		x[i] = uint8(rng.IntN(top + 1))
	}
	return dst, rows, stride, x
}

func checkBytes(t *testing.T, place func(n, size int) unsafe.Pointer, nrows, n, gap, top int) {
	t.Helper()
	dst, rows, stride, x := byteCase(place, rand.New(rand.NewPCG(uint64(n), uint64(nrows))), nrows,
		n, gap, top)
	ByteRowsDot(dst, rows, stride, x)
	for r := range dst {
		var want int64
		for i, v := range x {
			want += int64(v) * int64(rows[r*stride+i])
		}
		if int64(dst[r]) != want {
			t.Fatalf("%d rows of %d bytes, stride %d: dst[%d] = %d, want %d", nrows, n, stride, r,
				dst[r], want)
		}
	}
}

func TestByteRowsDot(t *testing.T) {
	g := newGuard(t)
	forEachImpl(t, func(t *testing.T, _ Impl) {
		var f fence
		for nrows := range 10 {
			for n := 0; n <= 160; n += ByteUnit {
				gap := []int{0, 16, 5}[n/16%3]
				f.start(n + nrows)
				checkBytes(t, f.place, nrows, n, gap, 255)
				if !f.intact() {
					t.Fatalf("%d rows of %d: wrote outside its operands", nrows, n)
				}
				for _, tail := range []bool{true, false} {
					g.start(tail)
					checkBytes(t, g.place, nrows, n, gap, 255)
				}
			}
		}
		checkBytes(t, nil, 37, 784, 0, 255)
	})
}

// The longest row with all bytes 255 must not overflow, and one unit more must be refused.
func TestByteRowsDotBound(t *testing.T) {
	x := slices.Repeat([]uint8{255}, MaxBytes+ByteUnit)
	forEachImpl(t, func(t *testing.T, _ Impl) {
		dst := make([]int32, 5)
		ByteRowsDot(dst, slices.Repeat(x, 5), MaxBytes+ByteUnit, x[:MaxBytes])
		for _, d := range dst {
			if d != MaxBytes*255*255 {
				t.Fatalf("%d, want %d", d, MaxBytes*255*255)
			}
		}
	})
	for _, f := range []func(){
		func() { ByteRowsDot(make([]int32, 1), x, 0, x) },
		func() { ByteRowsDot(make([]int32, 1), x, 0, x[:8]) },
		func() { ByteRowsDot(make([]int32, 3), x[:40], 16, x[:16]) },
		func() {
			XorCount(make([]float32, 1), make([]uint64, 1), 1, make([]uint64, 1),
				make([]float32, 64))
		},
		func() {
			AndCount(make([]float64, 2), make([]uint64, 3), 2, make([]uint64, 2),
				make([]float64, 129))
		},
	} {
		mustPanic(t, f)
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

func TestCounts(t *testing.T) {
	t.Run("float32", testCounts[float32])
	t.Run("float64", testCounts[float64])
}

func testCounts[T Float](t *testing.T) {
	g := newGuard(t)
	forEachImpl(t, func(t *testing.T, _ Impl) {
		var f fence
		places := []func(int){func(s int) { f.start(s) }, func(int) { g.start(true) },
			func(int) { g.start(false) }}
		for which, start := range places {
			place := f.place
			if which > 0 {
				place = g.place
			}
			for nrows := range 6 {
				for n := range 6 {
					start(n + nrows)
					rng := rand.New(rand.NewPCG(uint64(n), uint64(nrows)))
					stride := n + nrows%2
					dst, x, table := take[T](place, nrows), take[uint64](place, n), take[T](place,
						64*n+1)
					rows := take[uint64](place, max(0, (nrows-1)*stride+n))
					for i := range table {
						table[i] = T(1000 + i)
					}
					for _, s := range [][]uint64{rows, x} {
						for i := range s {
							s[i] = rng.Uint64() | -uint64(rng.IntN(2)) // all ones now and then
						}
					}
					for _, op := range []string{"xor", "and"} {
						if op == "xor" {
							XorCount(dst, rows, stride, x, table)
						} else {
							AndCount(dst, rows, stride, x, table)
						}
						for r := range dst {
							c := 0
							for i, v := range x {
								if op == "xor" {
									c += bits.OnesCount64(v ^ rows[r*stride+i])
								} else {
									c += bits.OnesCount64(v & rows[r*stride+i])
								}
							}
							if dst[r] != T(1000+c) {
								t.Fatalf("%s, %d rows of %d words: dst[%d] = %v, want %v", op,
									nrows, n, r, dst[r], 1000+c)
							}
						}
					}
					if which == 0 && !f.intact() {
						t.Fatalf("%d rows of %d words: wrote outside its operands", nrows, n)
					}
				}
			}
		}
	})
}

// forEachImplB runs a benchmark for every implementation that this machine supports.
func forEachImplB(b *testing.B, f func(b *testing.B)) {
	defer func(im Impl, w string) { active, why = im, w }(active, why)
	for _, info := range Implementations() {
		if !info.Supported {
			continue
		}
		if err := Use(info.Name); err != nil {
			b.Fatal(err)
		}
		b.Run("impl="+info.Name, f)
	}
}

func BenchmarkByteRowsDot(b *testing.B) {
	forEachImplB(b, func(b *testing.B) {
		for _, nrows := range []int{5000, 60000} {
			b.Run(fmt.Sprintf("n=784/rows=%d", nrows), func(b *testing.B) {
				dst, rows, stride, x := byteCase(nil, rand.New(rand.NewPCG(1, 2)), nrows, 784, 0,
					255)
				for b.Loop() {
					for lo := 0; lo < nrows; lo += 250 {
						ByteRowsDot(dst[:250], rows[lo*stride:], stride, x)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nrows),
					"ns/value")
			})
		}
	})
}

func BenchmarkXorCount(b *testing.B) {
	forEachImplB(b, func(b *testing.B) {
		for _, n := range []int{1, 2, 5} {
			b.Run(fmt.Sprintf("words=%d", n), func(b *testing.B) {
				const nrows = 10000
				rows, x := make([]uint64, nrows*n), make([]uint64, n)
				dst, table := make([]float32, nrows), make([]float32, 64*n+1)
				for b.Loop() {
					XorCount(dst, rows, n, x, table)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nrows, "ns/value")
			})
		}
	})
}
