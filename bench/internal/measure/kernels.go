package measure

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// peerBLAS is gonum's BLAS: what a Go program would use otherwise.
var peerBLAS gonum.Implementation

// Kernels measures the kernels of the active implementation, beside gonum where gonum has the
// operation, and as a share of what loads and stores of their operands alone would take here.
func Kernels(ctx context.Context, o Options) ([]Result, error) {
	var cases []pair
	for _, n := range []int{16, 123, 784, 6125} {
		cases = append(cases, dense32(n)...)
		cases = append(cases, dense64(n)...)
	}
	for _, n := range []int{2, 8, 16, 32, 64} {
		cases = append(cases, rowsAtPage(n), mixedRows(n))
	}
	cases = append(cases, sparse(14, 123), sparse(49, 6125), sparse(150, 784))
	cases = append(cases, lanes(14, 123, 100)...)
	p, err := measurePeaks(ctx, largest(cases))
	if err != nil {
		return nil, err
	}
	out, err := runAll(ctx, cases, o)
	for i := range out {
		p.limit(&out[i], cases[i].traffic)
	}
	return out, err
}

func runAll(ctx context.Context, cases []pair, o Options) ([]Result, error) {
	var out []Result
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		out = append(out, c.run(ctx, vecmath.Active().String(), o))
	}
	return out, nil
}

// keep makes a plain loop's result count as used. Calls need no such thing: the compiler leaves
// none out.
//
//go:noinline
func keep(float32) {}

// vectors returns two aligned vectors of normal deviates, the same for every run.
func vectors[T engine.Float](n int) (a, b []T) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	a, b = engine.Aligned[T](n), engine.Aligned[T](n)
	for i := range a {
		a[i], b[i] = T(rng.NormFloat64()), T(rng.NormFloat64())
	}
	return a, b
}

// loop makes a pair's side of a single call.
func loop(f func()) func(int) {
	return func(k int) {
		for range k {
			f()
		}
	}
}

// kernel is a case of one call, which loads and stores so much.
func kernel(name string, t traffic, ours func()) pair {
	return pair{name: name, unit: "ns/op", traffic: t, ours: loop(ours)}
}

// beside gives a case its peer.
func (p pair) beside(name string, peer func()) pair {
	p.peerName, p.peer = name, loop(peer)
	return p
}

func dense32(n int) []pair {
	x, y := vectors[float32](n)
	v := 4 * n // bytes
	name := func(op string) string { return fmt.Sprintf("%s/f32/n=%d", op, n) }
	const rows = 64
	m := engine.Aligned[float32](rows * n)
	for r := range rows {
		copy(m[r*n:], x)
	}
	dst := make([]float32, rows)
	return []pair{
		kernel(name("dot"), through(2*v, 0, 2*v), func() { vecmath.Dot(x, y) }).
			beside("gonum", func() { peerBLAS.Sdot(n, x, 1, y, 1) }),
		kernel(name("axpy"), through(2*v, v, 2*v), func() { vecmath.Axpy(y, 1e-9, x) }).
			beside("gonum", func() { peerBLAS.Saxpy(n, 1e-9, x, 1, y, 1) }),
		kernel(name("scal"), through(v, v, v), func() { vecmath.Scal(x, -1) }).
			beside("gonum", func() { peerBLAS.Sscal(n, -1, x, 1) }),
		kernel(name("sumsq"), through(v, 0, v), func() { vecmath.SumSq(x) }).
			beside("gonum-nrm2", func() { peerBLAS.Snrm2(n, x, 1) }),
		kernel(name("sqdist"), through(2*v, 0, 2*v), func() { vecmath.SqDist(x, y) }),
		kernel(fmt.Sprintf("rowsdot/f32/n=%dx%d", rows, n),
			through((rows+1)*v, 4*rows, (rows+1)*v), func() { vecmath.RowsDot(dst, m, n, y) }).
			beside("gonum-gemv",
				func() { peerBLAS.Sgemv(blas.NoTrans, rows, n, 1, m, n, y, 1, 0, dst, 1) }),
	}
}

func dense64(n int) []pair {
	x, y := vectors[float64](n)
	x32, _ := vectors[float32](n)
	v := 8 * n // bytes
	name := func(op string) string { return fmt.Sprintf("%s/f64/n=%d", op, n) }
	return []pair{
		kernel(name("dot"), through(2*v, 0, 2*v), func() { vecmath.Dot(x, y) }).
			beside("gonum", func() { peerBLAS.Ddot(n, x, 1, y, 1) }),
		kernel(name("axpy"), through(2*v, v, 2*v), func() { vecmath.Axpy(y, 1e-9, x) }).
			beside("gonum", func() { peerBLAS.Daxpy(n, 1e-9, x, 1, y, 1) }),
		kernel(name("sumsq"), through(v, 0, v), func() { vecmath.SumSq(x) }).
			beside("gonum-nrm2", func() { peerBLAS.Dnrm2(n, x, 1) }),
		kernel(fmt.Sprintf("dotmixed/f64f32/n=%d", n), through(v+v/2, 0, v+v/2),
			func() { vecmath.DotMixed(y, x32) }),
	}
}

// rowsAtPage measures short rows right before a page that was never touched, as the last ones of
// new memory are.
func rowsAtPage(n int) pair {
	const rows = 64
	m := beforeUntouched(rows * n)
	x, _ := vectors[float32](n)
	for r := range rows {
		copy(m[r*n:], x)
	}
	dst := make([]float32, rows)
	return kernel(fmt.Sprintf("rowsdot/f32/n=%dx%d/page", rows, n), traffic{},
		func() { vecmath.RowsDot(dst, m, n, x) }).beside("gonum-gemv",
		func() { peerBLAS.Sgemv(blas.NoTrans, rows, n, 1, m, n, x, 1, 0, dst, 1) })
}

// mixedRows measures float64 sums over short rows of float32, as rows of kernel values take them,
// beside a call a row.
func mixedRows(n int) pair {
	const rows = 64
	m, _ := vectors[float32](rows * n)
	x, _ := vectors[float64](n)
	dst := make([]float64, rows)
	return kernel(fmt.Sprintf("rowsdotmixed/f64f32/n=%dx%d", rows, n), traffic{},
		func() { vecmath.RowsDotMixed(dst, m, n, x) }).beside("dotmixed-each", func() {
		for r := range dst {
			dst[r] = vecmath.DotMixed(x, m[r*n:][:n])
		}
	})
}

// sparse measures a dot of nnz non-zeros with a dense vector of d against the plain loop.
func sparse(nnz, d int) pair {
	w, v := vectors[float32](d)
	idx := make([]int32, nnz)
	for k := range idx {
		idx[k] = int32(k * d / nnz)
	}
	v = v[:nnz]
	return kernel(fmt.Sprintf("sparsedot/f32/nnz=%d/d=%d", nnz, d), traffic{},
		func() { vecmath.SparseDot(idx, v, w) }).beside("go-loop",
		func() {
			var s float32
			for k, j := range idx {
				s += v[k] * w[j]
			}
			keep(s)
		})
}

// lanes measures the member-lane kernels at the shape of a9a: one example, all members.
func lanes(nnz, d, members int) []pair {
	width := (members + 15) / 16 * 16
	w, _ := vectors[float32](d * width)
	_, val := vectors[float32](nnz)
	rows := make([]int32, nnz)
	for k := range rows {
		rows[k] = int32(k * d / nnz)
	}
	s, coef := engine.Aligned[float32](width), engine.Aligned[float32](width)
	mask := make([]uint64, (width+63)/64)
	mask[0] = 1<<3 | 1<<40 // two members of different units update
	name := func(op string) string {
		return fmt.Sprintf("%s/f32/nnz=%d/N=%d", op, nnz, members)
	}
	return []pair{
		kernel(name("lanesscore"), through(4*nnz*width, 4*width, 4*nnz*width), func() {
			vecmath.LanesScore(s, w, rows, val)
		}).beside("go-loop", func() {
			clear(s)
			for k, r := range rows {
				row := w[int(r)*width:][:width]
				for l := range s {
					s[l] += val[k] * row[l]
				}
			}
		}),
		kernel(name("lanesle"), traffic{}, func() { vecmath.LanesLE(mask, s, 1, -1e9) }),
		{name: name("lanesupdate"), unit: "ns/op", ours: func(k int) {
			mask[0] = 1<<3 | 1<<40
			for range k {
				vecmath.LanesUpdate(w, rows, val, coef, mask)
			}
		}},
	}
}
