package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// ErrFourier is returned for settings that are no [Fourier], and for more frequencies than fit in
// memory.
var ErrFourier = errors.New("no such Fourier features")

// Limits of Fourier.
const (
	MaxFourierSize = 1 << 21
	fourierBytes   = 4 << 30 // of frequencies
)

// Fourier maps examples to random Fourier features: D numbers whose inner products stand for a
// Gaussian kernel, so that a linear learner learns what a kernel learner would, at a cost that does
// not grow with the examples kept.
//
// Reference: A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007:
//
//	z(x) = [cos w_1.x ... cos w_D/2.x, sin w_1.x ... sin w_D/2.x] / sqrt(D/2)
//	w_k ~ N(0, I/sigma^2)
//	z(x).z(y) = K(x, y) + e,   K = exp(-|x-y|^2 / (2 sigma^2)),   E e = 0
//	Var e = (1 - K^2)^2 / D
//
// z has length 1. sigma is a width; papers that write exp(-|x-y|^2 / (2 s)) give its square: sigma
// = sqrt(s).
//
// Component j of w_k is drawn from (seed, j, k) alone: more features in the data or a larger D
// leave the others as they are. So the map needs no state beside D, sigma and the seed, and it is
// the same function on every CPU: the angles add up as [vecmath.LanesScore] says, cosine
// and sine are [vecmath.SinCos]. It knows no unseen features: all of an example's count.
//
// Cost: D/2 multiply-adds a non-zero and D/2 sines and cosines an example, spread over the pool
// where that pays; D/2 normal draws a feature when it is first seen. Memory: D/2 elements a
// feature. Safe for concurrent use.
type Fourier[T Float] struct {
	half  int // frequencies
	sigma float64
	key   key
	pool  *Pool

	w     []T // [feature][width], 0 beyond half
	width int
	dim   int // features it has frequencies of

	// w, dim: a Map reads them, one with features not met before draws more first
	grows sync.RWMutex

	jobs scratch.Stack[fourierJob[T]]
}

// fourierParts is the number of parts of a Map at most: each has scratch of its own.
const fourierParts = 16

// fourierJob is the [Job] of a Map.
type fourierJob[T Float] struct {
	f        *Fourier[T]
	dst, src *Block[T]
	n        int // examples
	size     int // of a part
	parts    [fourierParts]fourierPart[T]
}

// fourierPart is scratch: the non-zeros of a dense example.
type fourierPart[T Float] struct {
	idx []int32
	val []T
}

// NewFourier returns a map to size features, an even number from 2 to [MaxFourierSize], of a
// Gaussian kernel of width sigma > 0. pool may be nil.
func NewFourier[T Float](size int, sigma float64, seed uint64, pool *Pool) (*Fourier[T], error) {
	if size < 2 || size > MaxFourierSize || size%2 != 0 {
		return nil, fmt.Errorf("size %d: must be an even number from 2 to %d: %w", size,
			MaxFourierSize, ErrFourier)
	}
	if !(sigma > 0) || math.IsInf(sigma, 0) || math.IsInf(1/sigma, 0) {
		return nil, fmt.Errorf("sigma %v: must be a positive number: %w", sigma, ErrFourier)
	}
	return &Fourier[T]{half: size / 2, sigma: sigma, key: newKey(kindFourier, seed, 0), pool: pool,
		width: padded[T](size / 2)}, nil
}

// Size returns D.
func (f *Fourier[T]) Size() int { return 2 * f.half }

// Bytes returns the memory that the frequencies take.
func (f *Fourier[T]) Bytes() int64 {
	f.grows.RLock()
	defer f.grows.RUnlock()
	return int64(len(f.w)) * int64(unsafe.Sizeof(*new(T)))
}

// Frequencies returns a copy of w_1 ... w_D/2 over so many features, [feature][D/2]. The error is
// ErrFourier when there are too many features. Safe for concurrent use.
func (f *Fourier[T]) Frequencies(features int) ([]T, error) {
	f.grows.Lock()
	defer f.grows.Unlock()
	if err := f.grow(features); err != nil {
		return nil, err
	}
	w := make([]T, 0, features*f.half)
	for j := range features {
		w = append(w, f.w[j*f.width:][:f.half]...)
	}
	return w, nil
}

// Map makes dst, a block with memory of its own, the features of all examples of src, with their
// labels if it has any (zeros if not) and weights. It allocates nothing once it has seen all
// features and dst has had as many examples. The errors are those of [Block.CheckRows], and
// ErrFourier when the data have too many features. Any number of goroutines may map at once, to
// blocks of their own.
func (f *Fourier[T]) Map(dst, src *Block[T]) error {
	if err := src.CheckRows(); err != nil {
		return err
	}
	f.grows.RLock()
	for src.Dim > f.dim {
		f.grows.RUnlock()
		f.grows.Lock()
		err := f.grow(src.Dim)
		f.grows.Unlock()
		if err != nil {
			return err
		}
		f.grows.RLock()
	}
	defer f.grows.RUnlock()
	n := src.Len()
	if src.Y != nil {
		dst.Y = append(dst.Y[:0], src.Y...)
	} else {
		dst.Y = slices.Grow(dst.Y[:0], n)[:n]
		clear(dst.Y)
	}
	if dst.Class = append(dst.Class[:0], src.Class...); src.Class == nil {
		dst.Class = nil
	}
	dst.W, dst.equal = append(dst.W[:0], src.W...), 0
	dst.Dim, dst.Ptr, dst.Idx, dst.Val = f.Size(), nil, nil, nil
	dst.Stride = padded[T](max(f.Size(), f.width))
	if need := n * dst.Stride; cap(dst.X) < need {
		dst.X = Aligned[T](need)
	} else {
		dst.X = dst.X[:need]
	}
	dst.markAs(src)
	if n == 0 {
		return nil
	}
	each := f.cost(src, n)
	j := f.jobs.Take()
	defer func() { j.dst, j.src = nil, nil; f.jobs.Give(j) }()
	j.f, j.dst, j.src, j.n = f, dst, src, n
	j.size = max((n+fourierParts-1)/fourierParts, min(n, 1+minShareNS/each))
	parts := (n + j.size - 1) / j.size
	if err := f.pool.Spread(context.Background(), n*each, parts, j); err != nil {
		panic(err) // no context that could end
	}
	return nil
}

// cost is about how many ns one of b's n examples takes.
func (f *Fourier[T]) cost(b *Block[T], n int) int {
	nnz := b.Dim
	if !b.Dense() {
		nnz = (b.Ptr[n] - b.Ptr[0]) / n
	}
	return 20 + 2*f.half + nnz*f.half/16
}

// grow draws the frequencies of features up to dim.
func (f *Fourier[T]) grow(dim int) error {
	if dim <= f.dim {
		return nil
	}
	size := int64(unsafe.Sizeof(*new(T)))
	if need := int64(dim) * int64(f.width) * size; need > fourierBytes {
		return fmt.Errorf("%d features with %d frequencies each take %d MiB, more than %d: take "+
			"fewer: %w", dim, f.half, need>>20, fourierBytes>>20, ErrFourier)
	}
	if dim*f.width > len(f.w) {
		rows := max(dim, min(Room(len(f.w)/f.width, dim), int(fourierBytes/size)/f.width))
		w := Aligned[T](rows * f.width)
		copy(w, f.w)
		f.w = w
	}
	r := Rand{key: f.key}
	for j := f.dim; j < dim; j++ {
		r.Seek(uint64(j) * MaxFourierSize / 2) // a normal draw takes one word
		for k, row := 0, f.w[j*f.width:][:f.half]; k < len(row); k++ {
			row[k] = T(r.Normal() / f.sigma)
		}
	}
	f.dim = dim
	return nil
}

// Part maps some examples.
func (j *fourierJob[T]) Part(i int) {
	f, p, scale := j.f, &j.parts[i], 1/math.Sqrt(float64(j.f.half))
	for e := i * j.size; e < min((i+1)*j.size, j.n); e++ {
		var idx []int32
		var val []T
		if j.src.Dense() {
			x := j.src.Row(e)
			p.idx, p.val = nonZeros(slices.Grow(p.idx[:0], len(x)), slices.Grow(p.val[:0], len(x)),
				x)
			idx, val = p.idx, p.val
		} else {
			idx, val = j.src.Sparse(e)
		}
		z := j.dst.X[e*j.dst.Stride:][:j.dst.Stride]
		vecmath.LanesScore(z[:f.width], f.w, idx, val)
		vecmath.SinCos(z[f.half:2*f.half], z[:f.half], z[:f.half], scale)
	}
}
