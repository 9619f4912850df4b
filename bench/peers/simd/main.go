// Simd prints the table of docs/numerics.md: the CPU time of vecmath's kernels beside gonum's and
// vek's, in the same process and in turn.
//
//	go run . [-rounds 15] [-bits]
//
// It is a module of its own, so that nothing else needs vek.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/viterin/vek"
	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/halfspace-ml/halfspace/vecmath"
)

func main() {
	rounds := flag.Int("rounds", 15, "how often each is timed")
	bits := flag.Bool("bits", false, "whether the implementations agree, instead of the times")
	flag.Parse()
	if *bits {
		printBits(os.Stdout)
		return
	}
	printTimes(os.Stdout, *rounds, 400*time.Microsecond, []int{16, 100, 784, 10000})
}

// rows is the number of rows of matrices.
const rows = 64

// operation is one that vecmath has, and what the others have in its place: nil where they have
// none. Each returns what it computed, or one number of it.
type operation struct {
	name            string
	ours, blas, vek func() float64
}

// vectors are what operations of one size and precision work on.
type vectors[T vecmath.Float] struct {
	x, y, z, m, dst []T
}

func newVectors[T vecmath.Float](n int) *vectors[T] {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	draw := func(n int) []T {
		s := make([]T, n)
		for i := range s {
			s[i] = T(2*rng.Float64() - 1)
		}
		return s
	}
	return &vectors[T]{x: draw(n), y: draw(n), z: draw(rows), m: draw(rows * n), dst: draw(rows)}
}

// operations64 lists the operations on n elements of float64.
func operations64(n int) []operation {
	var g gonum.Implementation
	o := newVectors[float64](n)
	ops := ours(n, o)
	beside := [][2]func() float64{
		{func() float64 { return g.Ddot(n, o.x, 1, o.y, 1) },
			func() float64 { return vek.Dot(o.x, o.y) }},
		{func() float64 { g.Daxpy(n, 1e-9, o.x, 1, o.y, 1); return o.y[0] }, nil},
		{func() float64 { g.Dscal(n, -1, o.x, 1); return o.x[0] },
			func() float64 { vek.MulNumber_Inplace(o.x, -1); return o.x[0] }},
		{nil, func() float64 { d := vek.Distance(o.x, o.y); return d * d }},
		{func() float64 {
			g.Dgemv(blas.NoTrans, rows, n, 1, o.m, n, o.x, 1, 0, o.dst, 1)
			return o.dst[0]
		}, func() float64 { vek.MatMul_Into(o.dst, o.m, o.x, n); return o.dst[0] }},
		{nil, nil},
	}
	return join(ops, beside)
}

// operations32 is operations64 of float32.
func operations32(n int) []operation {
	var g gonum.Implementation
	o := newVectors[float32](n)
	ops := ours(n, o)
	beside := [][2]func() float64{
		{func() float64 { return float64(g.Sdot(n, o.x, 1, o.y, 1)) },
			func() float64 { return float64(vek32.Dot(o.x, o.y)) }},
		{func() float64 { g.Saxpy(n, 1e-9, o.x, 1, o.y, 1); return float64(o.y[0]) }, nil},
		{func() float64 { g.Sscal(n, -1, o.x, 1); return float64(o.x[0]) },
			func() float64 { vek32.MulNumber_Inplace(o.x, -1); return float64(o.x[0]) }},
		{nil, func() float64 { d := float64(vek32.Distance(o.x, o.y)); return d * d }},
		{func() float64 {
			g.Sgemv(blas.NoTrans, rows, n, 1, o.m, n, o.x, 1, 0, o.dst, 1)
			return float64(o.dst[0])
		}, func() float64 { vek32.MatMul_Into(o.dst, o.m, o.x, n); return float64(o.dst[0]) }},
		{nil, func() float64 { vek32.Exp_Into(o.y, o.x); return float64(o.y[0]) }},
	}
	return join(ops, beside)
}

// ours are vecmath's operations.
func ours[T vecmath.Float](n int, o *vectors[T]) []operation {
	return []operation{
		{name: "dot", ours: func() float64 { return float64(vecmath.Dot(o.x, o.y)) }},
		{name: "axpy", ours: func() float64 {
			vecmath.Axpy(o.y, 1e-9, o.x)
			return float64(o.y[0])
		}},
		{name: "scal", ours: func() float64 { vecmath.Scal(o.x, -1); return float64(o.x[0]) }},
		{name: "squared distance", ours: func() float64 {
			return float64(vecmath.SqDist(o.x, o.y))
		}},
		{name: fmt.Sprintf("gemv, %d rows", rows), ours: func() float64 {
			vecmath.RowsDot(o.dst, o.m, n, o.x)
			return float64(o.dst[0])
		}},
		{name: "exp", ours: func() float64 { vecmath.Exp(o.y, o.x); return float64(o.y[0]) }},
	}
}

func join(ops []operation, beside [][2]func() float64) []operation {
	for i, f := range beside {
		ops[i].blas, ops[i].vek = f[0], f[1]
	}
	return ops
}

// printTimes prints a row an operation and size: the median time of each, in ns, and the largest
// half-width of their middle half.
func printTimes(w io.Writer, rounds int, each time.Duration, sizes []int) {
	fmt.Fprintf(w, "| ns of CPU time, %s | n | f32 | gonum | vek | f64 | gonum | vek | ± |\n",
		vecmath.Active())
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	byName := map[string][]string{}
	var names []string
	for _, n := range sizes {
		wide := operations64(n)
		for i, op := range operations32(n) {
			var cells []string
			var worst float64
			for _, op := range []operation{op, wide[i]} {
				medians, spread := inTurn(rounds, each, op.ours, op.blas, op.vek)
				for k, m := range medians {
					cell := nanoseconds(m)
					if k == 0 {
						cell = "**" + cell + "**"
					}
					cells = append(cells, cell)
				}
				worst = max(worst, spread)
			}
			if byName[op.name] == nil {
				names = append(names, op.name)
			}
			byName[op.name] = append(byName[op.name], fmt.Sprintf("| %s | %d | %s | %.0f %% |",
				op.name, n, strings.Join(cells, " | "), 100*worst))
		}
	}
	for _, name := range names {
		fmt.Fprintln(w, strings.Join(byName[name], "\n"))
	}
}

func nanoseconds(t float64) string {
	switch {
	case t == 0:
		return "-"
	case t < 10:
		return fmt.Sprintf("%.1f", t)
	case t < 1000:
		return fmt.Sprintf("%.0f", t)
	}
	return fmt.Sprintf("%.*f", 0, math.Round(t/10)*10)
}

// inTurn times the functions one after another, so often that each takes as long as asked, round
// after round: what is medians in ns, 0 of nil, and the largest spread.
func inTurn(rounds int, each time.Duration, fs ...func() float64) (medians []float64,
	spread float64) {
	times := make([][]float64, len(fs))
	counts := make([]int, len(fs))
	for i, f := range fs {
		if f == nil {
			continue
		}
		f()
		for counts[i] = 1; ; counts[i] *= 2 {
			if timeOf(f, counts[i]) >= each {
				break
			}
		}
	}
	for range rounds {
		for i, f := range fs {
			if f != nil {
				times[i] = append(times[i], float64(timeOf(f, counts[i]))/float64(counts[i]))
			}
		}
	}
	for _, t := range times {
		if t == nil {
			medians = append(medians, 0)
			continue
		}
		slices.SortFunc(t, cmp.Compare[float64])
		m := t[len(t)/2]
		medians = append(medians, m)
		spread = max(spread, (t[len(t)*3/4]-t[len(t)/4])/2/m)
	}
	return medians, spread
}

var kept float64

func timeOf(f func() float64, count int) time.Duration {
	start := cpuTime()
	for range count {
		kept = f()
	}
	return cpuTime() - start
}

// printBits prints a line for each implementation of each library: a sum of the bits of all
// results, at lengths of 1 to 499. Where lines are equal, so are the bits.
func printBits(w io.Writer) {
	for _, line := range bitsOf() {
		fmt.Fprintln(w, line)
	}
}

func bitsOf() (lines []string) {
	line := func(library, implementation string, f func(op operation) func() float64) {
		h := fnv.New64a()
		for n := 1; n < 500; n += 1 + n/16 {
			for _, ops := range [][]operation{operations32(n), operations64(n)} {
				for _, op := range ops {
					if f := f(op); f != nil {
						fmt.Fprintf(h, "%x,", math.Float64bits(f()))
					}
				}
			}
		}
		lines = append(lines, fmt.Sprintf("%-8s %-12s %016x", library, implementation, h.Sum64()))
	}
	for _, info := range vecmath.Implementations() {
		if vecmath.Use(info.Name) == nil {
			line("vecmath", info.Name, func(op operation) func() float64 { return op.ours })
		}
	}
	line("gonum", gonumBuild, func(op operation) func() float64 { return op.blas })
	fromVek := func(op operation) func() float64 { return op.vek }
	if vek.Info().Acceleration {
		line("vek", "AVX2", fromVek)
		vek.SetAcceleration(false)
		vek32.SetAcceleration(false)
		line("vek", "Go", fromVek)
		vek.SetAcceleration(true)
		vek32.SetAcceleration(true)
	} else {
		line("vek", "Go", fromVek)
	}
	if err := vecmath.Use("auto"); err != nil {
		panic(err)
	}
	return lines
}
