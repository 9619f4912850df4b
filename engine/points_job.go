package engine

import (
	"context"
	"fmt"
	"math"
)

// rowJob computes values of one row: an example made ready for dot products with all of the list.
// It is scratch, and a [Job] whose parts are runs of the row.
type rowJob[T Float] struct {
	p    *Points[T]
	form pointForm // of the example
	sq   float64
	row  []uint8
	word []uint64
	x    []float64 // dim elements

	idx   []int32 // non-zeros of an example
	val   []T
	wide  []float64 // memory of x; zero between two rows
	bytes []uint8   // of row
	words []uint64  // of word

	dst  []T // the row from lo on, in parts of size
	lo   int
	size int
}

// gather takes the non-zeros of example i of b.
func (j *rowJob[T]) gather(b *Block[T], i int) {
	j.idx, j.val = j.idx[:0], j.val[:0]
	if b.Dense() {
		j.idx, j.val = nonZeros(j.idx, j.val, b.Row(i))
		return
	}
	idx, val := b.Sparse(i)
	for k, v := range val {
		if v != 0 {
			j.idx, j.val = append(j.idx, idx[k]), append(j.val, v)
		}
	}
}

// point makes example i of the list ready.
func (j *rowJob[T]) point(i int) {
	p := j.p
	if i < 0 || i >= p.n {
		panic(fmt.Sprintf("engine: row %d of %d examples", i, p.n))
	}
	j.form, j.sq, j.idx = p.form, p.sq[i], j.idx[:0]
	p.store.ready(j, i)
}

// outside makes example i of b ready.
func (j *rowJob[T]) outside(b *Block[T], i int) {
	p := j.p
	j.gather(b, i)
	j.sq = sumSq(j.val, j.idx, p.sparse)
	j.form = p.form
	n := len(j.idx)
	if p.store == nil || formOf(j.val) > p.form || n > 0 && int(j.idx[n-1]) >= p.store.reach() {
		j.form = formFloats // values or features that the packed rows haven't got
		j.scatter(j.idx, j.val)
		return
	}
	p.store.pack(j)
}

// scatter spreads non-zeros over dim zeros; features that the list hasn't got count in the norm
// only.
func (j *rowJob[T]) scatter(idx []int32, val []T) {
	j.room()
	j.idx = append(j.idx[:0], idx...)
	for k, f := range idx {
		if int(f) < len(j.x) {
			j.x[f] = float64(val[k])
		}
	}
}

// widen copies a dense example, or takes it as it is.
func (j *rowJob[T]) widen(x []T) {
	if x64, ok := any(x).([]float64); ok {
		j.x = x64
		return
	}
	j.idx = j.idx[:0]
	j.room()
	for f, v := range x {
		j.x[f] = float64(v)
	}
}

func (j *rowJob[T]) room() {
	if cap(j.wide) < j.p.dim {
		j.wide = Aligned[float64](Room(cap(j.wide), j.p.dim))
	}
	j.wide = j.wide[:cap(j.wide)]
	j.x = j.wide[:j.p.dim]
}

// clear leaves zeros in wide, and nothing that would keep a row or an old storage alive. form is
// that of the last row, or bits, where nothing has used wide.
func (j *rowJob[T]) clear() {
	if j.form == formFloats {
		if len(j.idx) > 0 {
			for _, f := range j.idx {
				if int(f) < len(j.wide) {
					j.wide[f] = 0
				}
			}
		} else {
			clear(j.wide)
		}
	}
	j.form, j.row, j.word, j.x, j.dst = formBits, nil, nil, nil, nil
}

// Part computes part i.
func (j *rowJob[T]) Part(i int) {
	lo := i * j.size
	j.fill(j.dst[lo:min(lo+j.size, len(j.dst))], j.lo+lo)
}

// run computes the row from lo on, on the pool where that pays.
func (j *rowJob[T]) run(ctx context.Context, pool *Pool, dst []T, lo int) error {
	if len(dst) > 0 && pool.Worth(len(dst)*j.p.store.cost()) {
		return j.runParts(ctx, pool, dst, lo)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	j.fill(dst, lo)
	return nil
}

func (j *rowJob[T]) runParts(ctx context.Context, pool *Pool, dst []T, lo int) error {
	j.dst, j.lo = dst, lo
	j.size = max(1, partNS/j.p.store.cost()/rowChunk) * rowChunk
	n := (len(dst) + j.size - 1) / j.size
	return pool.run(ctx, n, n, j)
}

// partNS is about how long a part takes: long against handing it out, and short against a row.
const partNS = 10_000

// rowChunk values at a time go from dot products to kernel values, in L1.
const rowChunk = 256

// fill computes K of the example and those from lo on.
func (j *rowJob[T]) fill(dst []T, lo int) {
	p := j.p
	if lo < 0 || lo+len(dst) > p.n {
		panic(fmt.Sprintf("engine: values %d to %d of a row of %d", lo, lo+len(dst), p.n))
	}
	for len(dst) > 0 {
		n := min(rowChunk, len(dst))
		if j.form == p.form {
			p.store.values(j, dst[:n], p.sq[lo:], lo)
		} else {
			var dots [rowChunk]float64
			for r := range n {
				dots[r] = p.store.wideDot(lo+r, j.x, p.sparse)
			}
			kernelValues(dst[:n], &p.kernel, j.sq, p.sq[lo:], dots[:n])
		}
		dst, lo = dst[n:], lo+n
	}
}

// wideSum adds up a dot product in the order of the float forms: by place in a list of non-zeros if
// sparse, else by feature.
type wideSum struct {
	parts  [32]float64
	k      int
	sparse bool
}

func (s *wideSum) add(f int, v float64, x []float64) {
	part := s.k & 7
	if !s.sparse {
		part = f & 31
	}
	s.parts[part] = math.FMA(v, x[f], s.parts[part])
	s.k++
}
