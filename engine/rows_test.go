package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/race"
)

// Rows asked for in a random order of a list that grows are the same bits for every size of the
// cache, number of workers and implementation, and those of Points.Row.
func TestRowsMetamorphic(t *testing.T) {
	t.Run("float32", testRowsMetamorphic[float32])
	t.Run("float64", testRowsMetamorphic[float64])
}

func testRowsMetamorphic[T Float](t *testing.T) {
	ctx := context.Background()
	n, threads := 1200, []int{1, 2, 3, 8}
	if testing.Short() { // emulators and the race detector are slow
		n, threads = 300, []int{1, 3}
	}
	for _, tc := range []struct {
		c     content
		dense bool
		dim   int
		k     Kernel
	}{
		{zeroOne, false, 123, Kernel{Kind: RBF, Gamma: 1.0 / 123}},
		{pixels, true, 200, Kernel{Kind: Poly, Gamma: 1, Degree: 5, Coef0: 1, Scale: 1100}},
		{reals, false, 300, RBFSigma(5)},
		{reals, true, 150, RBFSigma(5)},
	} {
		b := randomBlock[T](9, tc.c, tc.dense, n, tc.dim, 0.15)
		z := randomBlock[T](8, tc.c, tc.dense, 1, tc.dim, 0.15)
		var want map[string][]T // by what was asked for
		check := func(t *testing.T, what string, got []T, first map[string][]T) {
			t.Helper()
			if old, ok := first[what]; !ok {
				first[what] = append([]T(nil), got...)
			} else if d := differ(got, old); d != "" {
				t.Fatalf("%s: %s", what, d)
			}
		}
		run := func(t *testing.T, cache int64, workers int) {
			if want == nil {
				want = map[string][]T{}
			}
			pool := NewPool(workers)
			defer pool.Close()
			r := NewRows(mustPoints[T](t, tc.k), cache, n, pool)
			rng := rand.New(rand.NewPCG(5, 5))
			for lo := 0; lo < n; lo += n / 4 {
				r.Append(b, lo, min(n, lo+n/4))
				for range 12 {
					i, have := rng.IntN(min(r.Len(), 20)), r.Len()-rng.IntN(10)
					row, err := r.Row(ctx, i, have)
					if err != nil {
						t.Fatal(err)
					}
					check(t, fmt.Sprintf("row %d, %d values", i, have), row, want)
				}
				dst := make([]T, r.Len())
				if err := r.RowOf(ctx, dst, z, 0); err != nil {
					t.Fatal(err)
				}
				check(t, fmt.Sprintf("another, %d values", len(dst)), dst, want)
				r.Points.Row(dst, 0, 0, len(dst))
				check(t, fmt.Sprintf("row 0, %d values", len(dst)), dst, want)
			}
			if s := r.Stats(); s.Bytes > cache || cache == 0 && s.Hits != 0 || cache == 64<<20 &&
				s.Hits == 0 {
				t.Fatalf("cache of %d: %+v", cache, s)
			}
		}
		eachImpl(t, func(t *testing.T) {
			for _, cache := range []int64{0, int64(n)*10 + 500, 64 << 20} {
				for _, workers := range threads {
					run(t, cache, workers)
				}
			}
		})
	}
}

// Many goroutines share rows, some give up before they begin; all read the right values.
func TestRowsConcurrent(t *testing.T) {
	const n = 400
	b := randomBlock[float32](9, pixels, true, n, 100, 0.3)
	p := mustPoints(t, RBFSigma(900), b)
	want := allRows(p, n)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	pool := NewPool(3)
	defer pool.Close()
	for _, cache := range []int64{0, 2500, 20_000, 64 << 20} {
		r := NewRows(p, cache, n, pool)
		var wait sync.WaitGroup
		for g := range 8 {
			wait.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(g), 1))
				dst := make([]float32, n)
				for range 150 {
					i, have := rng.IntN(60), 1+rng.IntN(n)
					ctx := context.Background()
					if rng.IntN(5) == 0 {
						ctx = gone
					}
					row, err := r.Row(ctx, i, have)
					switch {
					case err != nil && (ctx != gone || !errors.Is(err, context.Canceled)):
						t.Error(err)
						return
					case err == nil:
						if d := differ(row, want[i*n:][:have]); d != "" {
							t.Errorf("row %d: %s", i, d)
							return
						}
					}
					if err := r.RowOf(context.Background(), dst[:have], b, i); err != nil {
						t.Error(err)
						return
					}
					if d := differ(dst[:have], want[i*n:][:have]); d != "" {
						t.Errorf("example %d: %s", i, d)
						return
					}
				}
			})
		}
		wait.Wait()
	}
}

// A row that could not be computed is asked for again without harm, and a prefix that was there
// stays there.
func TestRowsCancelled(t *testing.T) {
	const n = 5000
	p := mustPoints(t, RBFSigma(5), randomBlock[float64](9, reals, true, n, 100, 0.9))
	pool := NewPool(2)
	defer pool.Close()
	r := NewRows(p, 1<<20, n, pool)
	if _, err := r.Row(context.Background(), 7, 10); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Row(gone, 7, n); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if row, err := r.Row(gone, 7, 10); err != nil || len(row) != 10 {
		t.Fatalf("what is there needs no computing: %v", err)
	}
	row, err := r.Row(context.Background(), 7, n)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, n)
	p.Row(want, 7, 0, n)
	if d := differ(row, want); d != "" {
		t.Error(d)
	}
}

func TestRowsHitsAllocateNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	const n = 3000
	b := randomBlock[float32](9, reals, true, n, 100, 0.9)
	pool := NewPool(2)
	defer pool.Close()
	r := NewRows(mustPoints(t, RBFSigma(5), b), 1<<20, n, pool)
	ctx := context.Background()
	dst := make([]float32, n)
	f := func() {
		if _, err := r.Row(ctx, 3, n); err != nil {
			t.Fatal(err)
		}
		if err := r.RowOf(ctx, dst, b, 0); err != nil {
			t.Fatal(err)
		}
	}
	f()
	if a := testing.AllocsPerRun(50, f); a != 0 {
		t.Errorf("%v allocations a call", a)
	}
}
