package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// fourierData makes n examples whose values are multiples of 1/64; sparse or dense.
func fourierData[T Float](n, dim int, dense bool) *Block[T] {
	rng := NewRand(4, uint64(dim))
	b := &Block[T]{Dim: dim, Ptr: []int{0}}
	if dense {
		b.Ptr, b.Stride = nil, dim
	}
	for range n {
		b.Y = append(b.Y, T(1-2*rng.IntN(2)))
		for j := range dim {
			v := T(0)
			if rng.IntN(3) == 0 {
				v = T(rng.IntN(129)-64) / 64
			}
			switch {
			case dense:
				b.X = append(b.X, v)
			case v != 0:
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, v)
			}
		}
		if !dense {
			b.Ptr = append(b.Ptr, len(b.Idx))
		}
	}
	return b
}

func mapped[T Float](t *testing.T, f *Fourier[T], b *Block[T]) *Block[T] {
	t.Helper()
	var dst Block[T]
	if err := f.Map(&dst, b); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dst.checkRows(), dst.checkLabels()); err != nil {
		t.Fatal(err)
	}
	return &dst
}

func newFourier[T Float](t *testing.T, size int, sigma float64, seed uint64,
	pool *Pool) *Fourier[T] {
	t.Helper()
	f, err := NewFourier[T](size, sigma, seed, pool)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Inner products are the kernel's values: over many pairs, e/sqrt(Var e) has mean 0 and mean square
// 1. The maps of different seeds are independent, so that the mean of the square, whose variance is
// that of a squared normal number, is within 6 standard deviations of 1. All lengths are 1.
func TestFourierKernel(t *testing.T) {
	const sigma, size = 1.7, 300
	n, seeds := 6, 200
	if testing.Short() { // emulators are slow
		n, seeds = 3, 50
	}
	b := fourierData[float64](n, 20, false)
	for i := range b.Len() {
		for j := range i {
			mean, square := 0.0, 0.0
			k := math.Exp(-pairDistance(b, i, j) / (2 * sigma * sigma))
			for seed := range uint64(seeds) {
				z := mapped(t, newFourier[float64](t, size, sigma, seed, nil), b)
				e := (vecmath.Dot(z.Row(i), z.Row(j)) - k) / ((1 - k*k) / math.Sqrt(size))
				mean, square = mean+e/float64(seeds), square+e*e/float64(seeds)
				if d := math.Abs(vecmath.SumSq(z.Row(i)) - 1); d > size*0x1p-52 {
					t.Fatalf("seed %d: |z|^2 is off by %g", seed, d)
				}
			}
			if math.Abs(mean) > 6/math.Sqrt(float64(seeds)) || math.Abs(square-1) > 6*math.Sqrt(
				2/float64(seeds)) {
				t.Errorf("examples %d and %d, K = %.3f: error of mean %.3f and mean square %.3f "+
					"standard deviations", i, j, k, mean, square)
			}
		}
	}
}

func pairDistance(b *Block[float64], i, j int) float64 {
	x := make([]float64, b.Dim)
	for s, e := range []int{i, j} {
		idx, val := b.Sparse(e)
		for k, v := range val {
			x[idx[k]] += v * float64(1-2*s)
		}
	}
	return vecmath.SumSq(x)
}

// The same bits for dense and sparse examples, every implementation, number of threads and cut into
// blocks, with features known at once or one by one; pinned over architectures.
func TestFourierBits(t *testing.T) {
	t.Run("float32", func(t *testing.T) { fourierBits[float32](t, "0ff6bda9cb83") })
	t.Run("float64", func(t *testing.T) { fourierBits[float64](t, "f4056437e98d") })
}

func fourierBits[T Float](t *testing.T, pin string) {
	before := vecmath.Active().String()
	t.Cleanup(func() {
		if err := vecmath.Use(before); err != nil {
			t.Error(err)
		}
	})
	const n, dim, size = 300, 61, 202
	steps := []int{1, 7, 256, n}
	if testing.Short() {
		steps = []int{1, n}
	}
	var want string
	for _, im := range vecmath.Implementations() {
		if !im.Supported {
			continue
		}
		if err := vecmath.Use(im.Name); err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 2, 3} {
			pool := NewPool(threads)
			for _, dense := range []bool{false, true} {
				b := fourierData[T](n, dim, dense)
				for _, step := range steps {
					f, sum := newFourier[T](t, size, 2, 9, pool), sha256.New()
					var dst Block[T]
					for lo := 0; lo < n; lo += step {
						part := b.Slice(lo, min(lo+step, n))
						if !dense && step == 1 && part.Ptr[1] > part.Ptr[0] {
							part.Dim = int(part.Idx[part.Ptr[1]-1]) + 1 // features come one by one
						}
						if err := f.Map(&dst, &part); err != nil {
							t.Fatal(err)
						}
						for i := range dst.Len() {
							binary.Write(sum, binary.LittleEndian, dst.Row(i))
						}
					}
					got := fmt.Sprintf("%x", sum.Sum(nil)[:6])
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%s, %d threads, dense %v, blocks of %d: other features", im.Name,
							threads, dense, step)
					}
				}
			}
			pool.Close()
		}
	}
	if want != pin {
		t.Errorf("features %s, want %s", want, pin)
	}
}

// More features leave the first as they are, but for the scale.
func TestFourierLarger(t *testing.T) {
	b := fourierData[float64](5, 10, true)
	small, large := mapped(t, newFourier[float64](t, 8, 1, 3, nil), b), mapped(t,
		newFourier[float64](t, 32, 1, 3, nil), b)
	for i := range b.Len() {
		for k := range 4 {
			if s, l := small.Row(i)[k], large.Row(i)[k]; math.Abs(s/2-l) > 0x1p-53 {
				t.Errorf("example %d, cosine %d: %v of 8 features, %v of 32", i, k, s, l)
			}
			if s, l := small.Row(i)[4+k], large.Row(i)[16+k]; math.Abs(s/2-l) > 0x1p-53 {
				t.Errorf("example %d, sine %d: %v of 8 features, %v of 32", i, k, s, l)
			}
		}
	}
}

func TestFourierRefuses(t *testing.T) {
	for _, c := range []struct {
		size  int
		sigma float64
	}{{0, 1}, {-2, 1}, {7, 1}, {MaxFourierSize + 2, 1}, {10, 0}, {10, -1}, {10, math.NaN()},
		{10, math.Inf(1)}, {10, 0x1p-1074}} {
		if _, err := NewFourier[float32](c.size, c.sigma, 1, nil); !errors.Is(err, ErrFourier) {
			t.Errorf("size %d, sigma %v: %v, want %v", c.size, c.sigma, err, ErrFourier)
		}
	}
	f := newFourier[float32](t, 1000, 1, 1, nil)
	var dst Block[float32]
	if err := f.Map(&dst, &Block[float32]{Y: []float32{1}, Dim: 1 << 30, Ptr: []int{0,
		0}}); !errors.Is(err, ErrFourier) {
		t.Errorf("2^30 features: %v, want %v", err, ErrFourier)
	}
	// Labels are copied, good or not: they matter to who learns from the features.
	if err := f.Map(&dst, &Block[float32]{Y: []float32{2}, Dim: 1, Ptr: []int{0, 0}}); err != nil ||
		!errors.Is(dst.Check(), ErrLabel) {
		t.Errorf("label 2: %v, and the features: %v, want %v", err, dst.Check(), ErrLabel)
	}
	if err := f.Map(&dst, &Block[float32]{Dim: 1, Ptr: []int{0, 0, 0}}); err != nil ||
		dst.Len() != 2 || !errors.Is(dst.Check(), ErrLabel) {
		t.Errorf("no labels: %v, %d examples, and the features: %v, want %v", err, dst.Len(),
			dst.Check(), ErrLabel)
	}
	if err := f.Map(&dst, &Block[float32]{}); err != nil || dst.Len() != 0 || dst.Dim != 1000 {
		t.Errorf("an empty block: %v, %d examples of %d features", err, dst.Len(), dst.Dim)
	}
	// Values so large that angles overflow still give features.
	huge := &Block[float32]{Y: []float32{1}, Dim: 2, X: []float32{3e38, -3e38}, Stride: 2}
	mapped(t, f, huge)
}

func TestFourierNoAllocs(t *testing.T) {
	if race.Enabled {
		return // its annotations of the kernels allocate
	}
	pool := NewPool(2)
	defer pool.Close()
	for _, dense := range []bool{false, true} {
		b := fourierData[float32](200, 50, dense)
		f := newFourier[float32](t, 500, 1, 1, pool)
		var dst Block[float32]
		if n := testing.AllocsPerRun(5, func() {
			if err := f.Map(&dst, b); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("dense %v: Map allocates %v times", dense, n)
		}
	}
}

// An example at the shapes of Adult (14 of 123 features) and MNIST (150 of 784), D = 1000.
func BenchmarkFourier(b *testing.B) {
	for _, c := range []struct{ nnz, dim int }{{14, 123}, {150, 784}} {
		b.Run(fmt.Sprintf("nnz=%d/D=1000", c.nnz), func(b *testing.B) {
			src := &Block[float32]{Dim: c.dim, Ptr: []int{0}}
			for range 256 {
				for k := range c.nnz {
					src.Idx, src.Val = append(src.Idx, int32(k*c.dim/c.nnz)), append(src.Val, 0.1)
				}
				src.Y, src.Ptr = append(src.Y, 1), append(src.Ptr, len(src.Idx))
			}
			f, err := NewFourier[float32](1000, 1, 1, nil)
			if err != nil {
				b.Fatal(err)
			}
			var dst Block[float32]
			for b.Loop() {
				if err := f.Map(&dst, src); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/example")
		})
	}
}
