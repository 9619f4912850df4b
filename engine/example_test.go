package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/halfspace-ml/halfspace/engine"
)

// Two sparse examples of four features, and one dense example of two.
func ExampleBlock() {
	sparse := engine.Block[float32]{Dim: 4, Y: []float32{1, -1},
		Ptr: []int{0, 2, 3}, Idx: []int32{0, 3, 1}, Val: []float32{0.5, 2, 1}}
	fmt.Println(sparse.Check(), sparse.Len(), sparse.NonZeros(0), sparse.At(0, 3), sparse.At(1, 3))
	dense := engine.Block[float32]{Dim: 2, Stride: 2, X: []float32{0.5, 2}}
	fmt.Println(dense.CheckRows(), dense.Row(0), dense.Check())
	// Output:
	// <nil> 2 2 2 0
	// <nil> [0.5 2] 1 examples without labels: label is neither -1 nor +1
}

// Two examples of whole numbers, the second one divided by its length, as bytes.
func ExampleByteRows() {
	rows := engine.NewByteRows[float32](3, false, 2)
	fmt.Println(rows.Append([]float32{7, 0, 255}, 1, 0), rows.Append([]float32{0.6, 0, 0.8}, -1, 5),
		rows.Append([]float32{0.5, 0, 0}, 1, 0))
	var b engine.Block[float32]
	rows.Block(&b, 0, rows.Len())
	fmt.Println(b.Row(0), b.Row(1))
	// Output:
	// true true false
	// [7 0 255] [0.6 0 0.8]
}

// squares is work in parts, each with a place of its own.
type squares []int

func (s squares) Part(i int) { s[i] = i * i }

// Any number of workers gives the same result, as each part writes to its own place.
func ExampleJob() {
	pool := engine.NewPool(2)
	defer pool.Close()
	var job engine.Job = make(squares, 6)
	err := pool.Run(context.Background(), 6, job)
	fmt.Println(job, err)
	// Output:
	// [0 1 4 9 16 25] <nil>
}

// Without a pool all parts run on the caller, so a learner need not ask whether there is one.
func ExamplePool() {
	var none *engine.Pool
	sum := make(squares, 4)
	err := none.Run(context.Background(), 4, sum)
	fmt.Println(none.Workers(), sum, err)
	// Output:
	// 1 [0 1 4 9] <nil>
}

// A draw depends on seed, stream, member and example alone, not on the draws before it.
func ExampleDraws() {
	draws := engine.NewDraws(1, 0)
	var b *engine.Bernoulli = draws.Bernoulli(0.3)
	drawn := 0
	for example := range uint64(10_000) {
		if b.Draw(5, example) {
			drawn++
		}
	}
	fmt.Println(drawn, "of 10000 are for member 5; example 7:", b.Draw(5, 7))
	// Output:
	// 2987 of 10000 are for member 5; example 7: true
}

// Masks draws for all members at once, bit by bit what Draw gives.
func ExampleBernoulli_Masks() {
	b := engine.NewDraws(1, 0).Bernoulli(0.3)
	mask := make([]uint64, 2)
	b.Masks(mask, 0, 16, 7) // 16 members, examples 7 and 8
	fmt.Printf("%016b %v\n", mask[0], b.Draw(14, 7))
	// Output:
	// 0100001100110001 true
}

// A sequence can be entered anywhere.
func ExampleRand() {
	r := engine.NewRand(1, 0)
	fmt.Printf("%d %.3f %.3f\n", r.IntN(100), r.Uniform(), r.Normal())
	r.Seek(1)
	fmt.Printf("%.3f\n", r.Uniform())
	// Output:
	// 91 0.585 0.493
	// 0.585
}

// points are three examples of three features, and a kernel of width 1.
func points() *engine.Points[float64] {
	p, err := engine.NewPoints[float64](engine.RBFSigma(1))
	if err != nil {
		panic(err)
	}
	b := engine.Block[float64]{Dim: 3, Stride: 3, X: []float64{0, 1, 1, 1, 1, 0, 0, 0, 0}}
	p.Append(&b, 0, b.Len())
	return p
}

// Kernel values of one example with all that are listed. These are zeros and ones, so they are kept
// as bits.
func ExamplePoints() {
	p := points()
	row := make([]float64, p.Len())
	p.Row(row, 0, 0, p.Len())
	fmt.Printf("%.3f as %s\n", row, p.Form())
	// Output:
	// [1.000 0.368 0.368] as bits
}

// Rows keeps what it has computed, so a second look costs nothing.
func ExampleRows() {
	rows := engine.NewRows(points(), 1<<20, 3, nil)
	for range 2 {
		row, err := rows.Row(context.Background(), 2, 3)
		fmt.Printf("%.3f %v\n", row, err)
	}
	var s engine.RowStats = rows.Stats()
	fmt.Println(s.Hits, "hit,", s.Misses, "miss")
	// Output:
	// [0.368 0.368 1.000] <nil>
	// [0.368 0.368 1.000] <nil>
	// 1 hit, 1 miss
}

// Learners of the same examples, as of several classes, share the kernel rows: labels don't matter.
func ExampleSharedRows() {
	var shared engine.SharedRows
	b := &engine.Block[float64]{Dim: 1, Stride: 1, X: []float64{0, 1, 2}, Y: []float64{1, -1, -1}}
	for range 2 {
		k := engine.Kernel{Kind: engine.RBF, Gamma: 1}
		rows, err := engine.RowsOf(&shared, k, b, 1<<20, nil)
		if err != nil {
			panic(err)
		}
		row, err := rows.Row(context.Background(), 1, 3)
		fmt.Printf("%.3f %v, %d of them computed\n", row, err, rows.Stats().Misses)
	}
	// Output:
	// [0.368 1.000 0.368] <nil>, 1 of them computed
	// [0.368 1.000 0.368] <nil>, 1 of them computed
}

// Learners of parts of a data set, as of folds, select theirs of rows over all examples.
func ExampleCommonRows() {
	all := &engine.Block[float64]{Dim: 1, Stride: 1, X: []float64{0, 0.5, 1, 2},
		Y: []float64{1, 1, -1, -1}}
	common := engine.NewCommonRows(slices.Values([]*engine.Block[float64]{all}), 4, 1<<20)
	for _, numbers := range [][]int32{{0, 1, 2}, {1, 2, 3}} {
		b := &engine.Block[float64]{Dim: 1, Stride: 1}
		for _, i := range numbers {
			b.X, b.Y = append(b.X, all.X[i]), append(b.Y, all.Y[i])
		}
		k := engine.Kernel{Kind: engine.RBF, Gamma: 1}
		rows, err := engine.RowsOf(common.Part(b, numbers), k, b, 1<<20, nil)
		if err != nil {
			panic(err)
		}
		row, err := rows.Row(context.Background(), slices.Index(numbers, 1), 3)
		fmt.Printf("%.3f %v, %d computed\n", row, err, common.Stats().Misses)
	}
	// Output:
	// [0.779 1.000 0.779] <nil>, 1 computed
	// [1.000 0.779 0.105] <nil>, 1 computed
}

// A kernel's settings name what is wrong with them.
func ExampleKernel() {
	k := engine.Kernel{Kind: engine.Poly, Gamma: 1, Degree: 2, Coef0: 1}
	fmt.Println(k.Validate(), k.Self(2)) // K(x, x) = (1 + x.x)^2
	k.Degree = 0
	fmt.Println(k.Validate())
	// Output:
	// <nil> 9
	// degree 0: must be 1 or more: bad kernel
}

// The kernel functions have the names that models and commands use.
func ExampleKernelKind() {
	for _, kind := range []engine.KernelKind{engine.Linear, engine.Poly, engine.RBF} {
		k := engine.Kernel{Kind: kind, Gamma: 0.5, Degree: 3}
		fmt.Printf("%s %g\n", kind, k.Self(2))
	}
	// Output:
	// linear 2
	// poly 1
	// rbf 1
}

// Inner products of random features are near to values of the kernel.
func ExampleFourier() {
	f, err := engine.NewFourier[float64](4096, 1, 1, nil)
	if err != nil {
		panic(err)
	}
	x := engine.Block[float64]{Dim: 2, Stride: 2, X: []float64{0.5, -1, 0, 0}}
	var z engine.Block[float64]
	if err := f.Map(&z, &x); err != nil {
		panic(err)
	}
	var dot float64
	for j, v := range z.Row(0) {
		dot += float64(v * z.Row(1)[j])
	}
	fmt.Printf("%d features, %.2f; exp(-|x-y|^2/2) is 0.54\n", f.Size(), dot)
	// Output:
	// 4096 features, 0.55; exp(-|x-y|^2/2) is 0.54
}

// Any number of goroutines may read and check a block.
func ExampleBlock_Check() {
	b := engine.Block[float32]{Dim: 1, Stride: 1, X: []float32{1, 2}, Y: []float32{1, 0}}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { _ = b.Check() })
	}
	all.Wait()
	fmt.Println(errors.Is(b.Check(), engine.ErrLabel), b.CheckRows())
	// Output:
	// true <nil>
}

// Solvers take rows of any Gram matrix; those of a list of examples are one.
func ExampleRowSource() {
	var rows engine.RowSource[float64] = engine.NewRows(points(), 0, 3, nil)
	row, err := rows.Row(context.Background(), 1, 2)
	fmt.Printf("%d %.3f %.3f %v\n", rows.Len(), rows.Diag(1), row, err)
	// Output:
	// 3 1.000 [0.368 1.000] <nil>
}
