package measure

import (
	"context"
	"fmt"
	"math"
	"runtime/pprof"

	"github.com/halfspace-ml/halfspace/engine"
)

// RFF measures the map to random Fourier features on one core, float32, against plain loops that
// compute the same from the same frequencies with math.Sincos, and two threads against one. With a
// data folder on Adult (a9a) and MNIST, else on generated data of their shapes.
func RFF(ctx context.Context, dataDir string, o Options) ([]Result, error) {
	sparse, sparseName, err := adult(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	dense, denseName, err := digits(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	var cases []pair
	for _, d := range []struct {
		name string
		all  *engine.Block[float32]
	}{{sparseName, sparse}, {denseName, dense}} {
		b := d.all.Slice(0, 2*blockSize)
		if err := b.Check(); err != nil {
			return nil, err
		}
		const size = 1000
		name := fmt.Sprintf("rff/%s/D=%d", d.name, size)
		one, err := mapping(&b, size, nil)
		if err != nil {
			return nil, err
		}
		two := engine.NewPool(2)
		defer two.Close()
		var both func(int)
		threads := name + "/threads=2"
		pprof.Do(ctx, pprof.Labels("case", threads, "side", "ours"), func(context.Context) {
			both, err = mapping(&b, size, two) // which starts the pool's worker
		})
		if err != nil {
			return nil, err
		}
		cases = append(cases,
			pair{name: name, unit: "ns/example", scale: float64(b.Len()), ours: one,
				peerName: "go-loop", peer: plainMapping(&b, size)},
			pair{name: threads, unit: "ns/example", scale: float64(b.Len()), ours: both,
				peerName: "threads=1", peer: one, threads: true})
	}
	return runAll(ctx, cases, o)
}

func mapping(b *engine.Block[float32], size int, pool *engine.Pool) (func(k int), error) {
	f, err := engine.NewFourier[float32](size, 1, 1, pool)
	if err != nil {
		return nil, err
	}
	var z engine.Block[float32]
	if err := f.Map(&z, b); err != nil { // draws the frequencies
		return nil, err
	}
	return func(k int) {
		for range k {
			if err := f.Map(&z, b); err != nil {
				panic(err) // it went well before
			}
		}
	}, nil
}

// plainMapping is what a Go program would do: a dot product a frequency, zeros skipped, then
// math.Sincos.
func plainMapping(b *engine.Block[float32], size int) func(k int) {
	half := size / 2
	rng := engine.NewRand(1, 0)
	// [feature][frequency], so that the inner loop is one over consecutive numbers
	w := make([]float32, b.Dim*half)
	for i := range w {
		w[i] = float32(rng.Normal())
	}
	z, angle, scale := make([]float32, b.Len()*size), make([]float32, half),
		1/math.Sqrt(float64(half))
	return func(k int) {
		for range k {
			for i := range b.Len() {
				clear(angle)
				add := func(j int, v float32) {
					row := w[j*half:][:half]
					for l := range angle {
						angle[l] += v * row[l]
					}
				}
				if b.Dense() {
					for j, v := range b.Row(i) {
						if v != 0 {
							add(j, v)
						}
					}
				} else {
					idx, val := b.Sparse(i)
					for n, j := range idx {
						add(int(j), val[n])
					}
				}
				for l, a := range angle {
					s, c := math.Sincos(float64(a))
					z[i*size+l], z[i*size+half+l] = float32(scale*c), float32(scale*s)
				}
			}
		}
	}
}
