package vecmath

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Benchmarks of every supported implementation, with gonum's beside where it has the kernel:
//
//	go test -run '^$' -bench . -count 10 ./vecmath | tee bench.txt
//	go tool benchstat -col /impl bench.txt

var peer gonum.Implementation

// benchImpls runs f under impl=/type=/n= names for every supported implementation.
func benchImpls[T Float](b *testing.B, n string, f func(b *testing.B)) {
	b.Helper()
	defer func(im Impl, w string) { active, why = im, w }(active, why)
	for _, info := range Implementations() {
		if !info.Supported {
			continue
		}
		if err := Use(info.Name); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("impl=%s/type=%T/n=%s", info.Name, T(0), n), f)
	}
}

func benchPeer[T Float](b *testing.B, n string, f func(b *testing.B)) {
	b.Run(fmt.Sprintf("impl=gonum/type=%T/n=%s", T(0), n), f)
}

// benchVector is 64-byte aligned, as the engine's storage is.
func benchVector[T Float](n int) []T {
	s := aligned[T](n)
	for i := range s {
		s[i] = T(rand.Float64()*2 - 1)
	}
	return s
}

func aligned[T Float](n int) []T {
	unit := LaneUnit[T]()
	s := make([]T, n+unit)
	for uintptr(unsafe.Pointer(data(s)))%64 != 0 {
		s = s[1:]
	}
	return s[:n:n]
}

var denseSizes = []int{16, 123, 784, 6125}

func BenchmarkDot(b *testing.B) { benchDot[float32](b); benchDot[float64](b) }
func benchDot[T Float](b *testing.B) {
	for _, n := range denseSizes {
		x, y := benchVector[T](n), benchVector[T](n)
		benchImpls[T](b, fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Dot(x, y)
			}
		})
		benchPeer[T](b, fmt.Sprint(n), func(b *testing.B) {
			if is32[T]() {
				x, y := as32(x), as32(y)
				for b.Loop() {
					peer.Sdot(n, x, 1, y, 1)
				}
			} else {
				x, y := as64(x), as64(y)
				for b.Loop() {
					peer.Ddot(n, x, 1, y, 1)
				}
			}
		})
	}
}

func BenchmarkAxpy(b *testing.B) { benchAxpy[float32](b); benchAxpy[float64](b) }
func benchAxpy[T Float](b *testing.B) {
	for _, n := range denseSizes {
		x, y := benchVector[T](n), benchVector[T](n)
		benchImpls[T](b, fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Axpy(y, 1e-9, x)
			}
		})
		benchPeer[T](b, fmt.Sprint(n), func(b *testing.B) {
			if is32[T]() {
				x, y := as32(x), as32(y)
				for b.Loop() {
					peer.Saxpy(n, 1e-9, x, 1, y, 1)
				}
			} else {
				x, y := as64(x), as64(y)
				for b.Loop() {
					peer.Daxpy(n, 1e-9, x, 1, y, 1)
				}
			}
		})
	}
}

func BenchmarkScal(b *testing.B) { benchScal[float32](b); benchScal[float64](b) }
func benchScal[T Float](b *testing.B) {
	for _, n := range denseSizes {
		x := benchVector[T](n)
		benchImpls[T](b, fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Scal(x, -1)
			}
		})
		benchPeer[T](b, fmt.Sprint(n), func(b *testing.B) {
			if is32[T]() {
				x := as32(x)
				for b.Loop() {
					peer.Sscal(n, -1, x, 1)
				}
			} else {
				x := as64(x)
				for b.Loop() {
					peer.Dscal(n, -1, x, 1)
				}
			}
		})
	}
}

// gonum has no sum of squares; its Nrm2 is what one would take instead.
func BenchmarkSumSq(b *testing.B) { benchSumSq[float32](b); benchSumSq[float64](b) }
func benchSumSq[T Float](b *testing.B) {
	for _, n := range denseSizes {
		x := benchVector[T](n)
		benchImpls[T](b, fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				SumSq(x)
			}
		})
		benchPeer[T](b, fmt.Sprint(n), func(b *testing.B) {
			if is32[T]() {
				x := as32(x)
				for b.Loop() {
					peer.Snrm2(n, x, 1)
				}
			} else {
				x := as64(x)
				for b.Loop() {
					peer.Dnrm2(n, x, 1)
				}
			}
		})
	}
}

func BenchmarkSqDist(b *testing.B) { benchSqDist[float32](b); benchSqDist[float64](b) }
func benchSqDist[T Float](b *testing.B) {
	for _, n := range denseSizes {
		x, y := benchVector[T](n), benchVector[T](n)
		benchImpls[T](b, fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				SqDist(x, y)
			}
		})
	}
}

func BenchmarkRowsDot(b *testing.B) { benchRowsDot[float32](b); benchRowsDot[float64](b) }
func benchRowsDot[T Float](b *testing.B) {
	for _, n := range []int{123, 784} {
		const rows = 100
		stride := (n + LaneUnit[T]() - 1) / LaneUnit[T]() * LaneUnit[T]()
		dst, a, x := make([]T, rows), benchVector[T](rows*stride), benchVector[T](n)
		benchImpls[T](b, fmt.Sprintf("%dx%d", rows, n), func(b *testing.B) {
			for b.Loop() {
				RowsDot(dst, a, stride, x)
			}
		})
	}
}

// Short rows, by themselves and right before a page that was never touched, which masked loads must
// not reach into.
func BenchmarkShortRowsDot(b *testing.B) {
	const rows = 64
	for _, n := range []int{2, 4, 8, 16, 21, 32, 57, 64} {
		dst, x := make([]float32, rows), benchVector[float32](n)
		for _, m := range []struct {
			where string
			rows  []float32
		}{{"", benchVector[float32](rows * n)}, {"/page", untouched(b, rows*n)}} {
			name := fmt.Sprintf("%dx%d%s", rows, n, m.where)
			benchImpls[float32](b, name, func(b *testing.B) {
				for b.Loop() {
					RowsDot(dst, m.rows, n, x)
				}
			})
			benchPeer[float32](b, name, func(b *testing.B) {
				for b.Loop() {
					peer.Sgemv(blas.NoTrans, rows, n, 1, m.rows, n, x, 1, 0, dst, 1)
				}
			})
		}
	}
}

// benchSparse draws nnz ascending indices below dim.
func benchSparse[T Float](nnz, dim int) (idx []int32, val []T) {
	for _, j := range rand.Perm(dim)[:nnz] {
		idx = append(idx, int32(j))
	}
	slices.Sort(idx)
	return idx, benchVector[T](nnz)
}

var sparseShapes = [][2]int{{14, 123}, {60, 6125}, {150, 784}}

func BenchmarkSparseDot(b *testing.B) { benchSparseDot[float32](b); benchSparseDot[float64](b) }
func benchSparseDot[T Float](b *testing.B) {
	for _, s := range sparseShapes {
		idx, val := benchSparse[T](s[0], s[1])
		w := benchVector[T](s[1])
		benchImpls[T](b, fmt.Sprintf("%dof%d", s[0], s[1]), func(b *testing.B) {
			for b.Loop() {
				SparseDot(idx, val, w)
			}
		})
	}
}

func BenchmarkSparseAxpy(b *testing.B) { benchSparseAxpy[float32](b); benchSparseAxpy[float64](b) }
func benchSparseAxpy[T Float](b *testing.B) {
	for _, s := range sparseShapes {
		idx, val := benchSparse[T](s[0], s[1])
		w := benchVector[T](s[1])
		benchImpls[T](b, fmt.Sprintf("%dof%d", s[0], s[1]), func(b *testing.B) {
			for b.Loop() {
				SparseAxpy(w, 1e-9, idx, val)
			}
		})
	}
}

// The shape of a9a with N = 100 members: 14 of 123 rows of 112 lanes.
const benchNonzeros, benchRows, benchLanes = 14, 123, 112

func BenchmarkLanesScore(b *testing.B) { benchLanesScore[float32](b); benchLanesScore[float64](b) }
func benchLanesScore[T Float](b *testing.B) {
	for _, width := range []int{benchLanes, 208} {
		rows, val := benchSparse[T](benchNonzeros, benchRows)
		w, dst := benchVector[T](benchRows*width), aligned[T](width)
		benchImpls[T](b, fmt.Sprintf("%dx%d", benchNonzeros, width), func(b *testing.B) {
			for b.Loop() {
				LanesScore(dst, w, rows, val)
			}
		})
	}
}

// n is the number of units of lanes with a set bit, x the non-zeros.
func BenchmarkLanesUpdate(b *testing.B) {
	benchLanesUpdate[float32](b)
	benchLanesUpdate[float64](b)
}
func benchLanesUpdate[T Float](b *testing.B) {
	rows, val := benchSparse[T](benchNonzeros, benchRows)
	w, coef := benchVector[T](benchRows*benchLanes), benchVector[T](benchLanes)
	for _, units := range []int{0, 1, 2, benchLanes / LaneUnit[T]()} {
		mask := make([]uint64, MaskWords(benchLanes))
		for u := range units {
			l := u * LaneUnit[T]() * (benchLanes / LaneUnit[T]() / max(units, 1)) // spread out
			mask[l/64] |= 1 << (l % 64)
			if units > 2 { // all lanes of all units
				for i := range LaneUnit[T]() {
					mask[(l+i)/64] |= 1 << ((l + i) % 64)
				}
			}
		}
		benchImpls[T](b, fmt.Sprintf("%dx%d", benchNonzeros, units), func(b *testing.B) {
			for b.Loop() {
				LanesUpdate(w, rows, val, coef, mask)
			}
		})
	}
}

func BenchmarkLanesLE(b *testing.B) { benchLanesLE[float32](b); benchLanesLE[float64](b) }
func benchLanesLE[T Float](b *testing.B) {
	s, mask := benchVector[T](benchLanes), make([]uint64, MaskWords(benchLanes))
	benchImpls[T](b, fmt.Sprint(benchLanes), func(b *testing.B) {
		ones := 0
		for b.Loop() {
			LanesLE(mask, s, -1, 0)
			ones += bits.OnesCount64(mask[0] | mask[1])
		}
	})
}

func BenchmarkDotMixed(b *testing.B) {
	for _, n := range denseSizes {
		a, x := benchVector[float64](n), benchVector[float32](n)
		benchImpls[float32](b, fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				DotMixed(a, x)
			}
		})
	}
}

func BenchmarkAxpyMixed(b *testing.B) {
	for _, n := range denseSizes {
		y, x := benchVector[float64](n), benchVector[float32](n)
		benchImpls[float32](b, fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				AxpyMixed(y, 1e-9, x)
			}
		})
	}
}

func BenchmarkRowsDotMixed(b *testing.B) {
	const rows = 64
	for _, n := range []int{2, 8, 21, 57, 64, 123, 784} {
		dst, m, x := make([]float64, rows), benchVector[float32](rows*n), benchVector[float64](n)
		benchImpls[float32](b, fmt.Sprintf("%dx%d", rows, n), func(b *testing.B) {
			for b.Loop() {
				RowsDotMixed(dst, m, n, x)
			}
		})
		benchImpls[float32](b, fmt.Sprintf("%dx%d/one by one", rows, n), func(b *testing.B) {
			for b.Loop() {
				for r := range dst {
					dst[r] = DotMixed(x, m[r*n:][:n])
				}
			}
		})
	}
}

func BenchmarkSparseDotMixed(b *testing.B) {
	for _, s := range sparseShapes {
		idx, val := benchSparse[float32](s[0], s[1])
		w := benchVector[float64](s[1])
		benchImpls[float32](b, fmt.Sprintf("%dof%d", s[0], s[1]), func(b *testing.B) {
			for b.Loop() {
				SparseDotMixed(idx, val, w)
			}
		})
	}
}

func BenchmarkSparseAxpyMixed(b *testing.B) {
	for _, s := range sparseShapes {
		idx, val := benchSparse[float32](s[0], s[1])
		w := benchVector[float64](s[1])
		benchImpls[float32](b, fmt.Sprintf("%dof%d", s[0], s[1]), func(b *testing.B) {
			for b.Loop() {
				SparseAxpyMixed(w, 1e-9, idx, val)
			}
		})
	}
}

func as32[T Float](s []T) []float32 { return unsafe.Slice(f32(data(s)), len(s)) }
