package engine

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/halfspace-ml/halfspace/kernelcache"
)

// Rows are the kernel rows of a list of examples: computed on the pool a block of values at a time,
// kept in a cache as prefixes, so that a list that has grown costs the new values only. Values
// depend neither on the size of the cache, nor on who computed them, nor on how many workers there
// are.
//
// Safe for concurrent use while nothing is appended to the list; a row that several ask for is
// computed once.
type Rows[T Float] struct {
	*Points[T]
	cache *kernelcache.Cache[T]
	pool  *Pool
	limit int64        // of the cache, in bytes
	made  atomic.Int64 // bytes of rows since all that the cache has let go were collected

	whole *commonRows[T] // of more examples, of whose rows these are parts; nil: of none
	at    []int32        // then: the number of each example among those
}

// RowsBytes bounds what the rows of n examples take with a cache of that limit, two of them in
// hand.
func RowsBytes(limit, n, elem int64) int64 {
	return limit + idleRows(limit) + 3*n*elem
}

// idleRows is how many bytes of rows that went for others may lie there until they are collected.
// The collector alone would let more lie on a busy machine: rows are made quickly, and no goroutine
// waits for the collector.
func idleRows(limit int64) int64 { return max(limit/2, 4<<20) }

// NewRows returns the rows of p. cacheBytes is the hard limit of the cache (0: none is kept); n is
// how long rows will be, as far as known: the number of training examples, or 0. pool may be nil.
func NewRows[T Float](p *Points[T], cacheBytes int64, n int, pool *Pool) *Rows[T] {
	return &Rows[T]{Points: p, cache: kernelcache.New[T](cacheBytes, n), pool: pool,
		limit: cacheBytes}
}

// Row returns K(x_i, x_0 ... x_n-1). The slice is shared: callers must not write it, and it stays
// as it is for ever. The error is ctx's, and then there is no row.
//
// Cost: a look-up if the cache has it, which allocates nothing; else one allocation of the row or
// of its larger storage, and the values that are missing.
func (r *Rows[T]) Row(ctx context.Context, i, n int) ([]T, error) {
	if i < 0 || i >= r.n || n < 0 || n > r.n {
		panic(fmt.Sprintf("engine: %d values of row %d of %d examples", n, i, r.n))
	}
	row := r.cache.Row(uint64(i), n)
	if row.Have() == n {
		return row.Values, nil
	}
	return r.compute(ctx, row, i)
}

func (r *Rows[T]) compute(ctx context.Context, row kernelcache.Row[T], i int) ([]T, error) {
	defer row.Release() // after an error or a panic another gets the turn
	have := row.Have()
	size := int64(len(row.Values)) * int64(unsafe.Sizeof(T(0)))
	if n := r.made.Add(size); n > r.limit+idleRows(r.limit) && r.made.CompareAndSwap(n, r.limit) {
		runtime.GC()
	}
	if err := r.fill(ctx, row.Values[have:], i, have); err != nil {
		return nil, err
	}
	row.Commit()
	return row.Values, nil
}

// fill sets dst to the values of row i from lo on.
func (r *Rows[T]) fill(ctx context.Context, dst []T, i, lo int) error {
	if r.whole != nil {
		row, err := r.whole.row(ctx, int(r.at[i]))
		if err != nil {
			return err
		}
		if row != nil {
			for j, at := range r.at[lo:][:len(dst)] {
				dst[j] = row[at]
			}
			return nil
		}
	}
	j := r.job()
	j.point(i)
	err := j.run(ctx, r.pool, dst, lo)
	r.done(j)
	return err
}

// RowsInto sets dst[r][j] = K(x_i+r, x_j) for all j < len(dst[r]), on the pool. Nothing is looked
// up or kept: it is for passes over more rows than the cache has room for, where each would be let
// go before it is wanted again. The others' features are read once for all of dst.
func (r *Rows[T]) RowsInto(ctx context.Context, dst [][]T, i int) error {
	j, longest := rowsJob[T]{dst: dst}, 0
	for k, row := range dst {
		job := r.job()
		defer r.done(job)
		job.point(i + k)
		j.jobs, longest = append(j.jobs, job), max(longest, len(row))
	}
	parts := (longest + rowChunk - 1) / rowChunk
	if r.store != nil && r.pool.Worth(len(dst)*longest*r.store.cost()) {
		return r.pool.Run(ctx, parts, &j)
	}
	for i := range parts {
		j.Part(i)
	}
	return ctx.Err()
}

// rowsJob computes values of several rows, a [Job] whose parts are as many columns as stay in L2.
type rowsJob[T Float] struct {
	jobs []*rowJob[T]
	dst  [][]T
}

// Part computes columns i rowChunk to (i+1) rowChunk - 1.
func (j *rowsJob[T]) Part(i int) {
	lo := i * rowChunk
	for k, dst := range j.dst {
		if hi := min(lo+rowChunk, len(dst)); lo < hi {
			j.jobs[k].fill(dst[lo:hi], lo)
		}
	}
}

// RowOf sets dst[j] = K(z, x_j) for all j < len(dst), where z is example i of b: [Points.RowOf] on
// the pool. Nothing is kept.
func (r *Rows[T]) RowOf(ctx context.Context, dst []T, b *Block[T], i int) error {
	j := r.job()
	j.outside(b, i)
	err := j.run(ctx, r.pool, dst, 0)
	r.done(j)
	return err
}

// RowStats counts what became of the kernel rows that were asked for.
type RowStats = kernelcache.Stats

// Stats returns the counters of the cache.
func (r *Rows[T]) Stats() RowStats { return r.cache.Stats() }
