package training

import (
	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// Learners of both precisions learn one stream: it is read in float64, and rounded for those of
// float32. That is the value that reading in float32 gives, but for numbers of more digits than
// a float64 has that round to the middle of two float32s: one in some 2^29 of these.

// both is a reading in each precision.
type both struct {
	wide   *reading[float64]
	narrow *reading[float32]
}

// next is examples': the narrow one takes what the wide one has read.
func (b *both) next() (n int, err error) {
	if n, err = b.wide.next(); err == nil {
		n, err = b.narrow.next()
	}
	return n, err
}

func (b *both) slice(lo, hi int) {
	b.wide.slice(lo, hi)
	b.narrow.slice(lo, hi)
}

func (b *both) share(examples int64) float64 { return b.wide.share(examples) }

// open has the narrow reading go on from the wide one, which is open.
func (b *both) open(j *Job) error {
	if b.wide.data == nil {
		return b.narrow.goThrough(j, &narrowing{of: b.wide.tap}, b.wide.found)
	}
	d := &dataset.Data[float32]{Info: b.wide.data.Info}
	if err := narrowed(&d.Block, &b.wide.data.Block, 0); err != nil {
		return err
	}
	b.wide.data = nil
	return b.narrow.take(j, d)
}

// tap keeps the block that a source gave last.
type tap[T engine.Float] struct {
	src interface {
		Next() (*engine.Block[T], error)
	}
	block *engine.Block[T]
	err   error
}

// Next is eval.Source's.
func (t *tap[T]) Next() (*engine.Block[T], error) {
	t.block, t.err = t.src.Next()
	return t.block, t.err
}

// narrowing is a source of the blocks of a tap in float32, each after it was taken there.
type narrowing struct {
	of    *tap[float64]
	block engine.Block[float32]
	n     int // examples so far
}

// Next is eval.Source's.
func (s *narrowing) Next() (*engine.Block[float32], error) {
	if s.of.err != nil {
		return nil, s.of.err
	}
	err := narrowed(&s.block, s.of.block, s.n)
	s.n += s.of.block.Len()
	return &s.block, err
}

// narrowed makes dst of src, before which there were n examples.
func narrowed(dst *engine.Block[float32], src *engine.Block[float64], n int) error {
	*dst = engine.Block[float32]{Dim: src.Dim, Ptr: src.Ptr, Idx: src.Idx, Stride: src.Stride,
		Class: src.Class, Y: round(dst.Y, src.Y), W: round(dst.W, src.W),
		Val: round(dst.Val, src.Val), X: round(dst.X, src.X)}
	for i := range src.Len() {
		_, val := dst.Example(i)
		_, whole := src.Example(i)
		for k, v := range val {
			if v-v != 0 && whole[k]-whole[k] == 0 {
				return badOption("Compare in f64 alone.", "{precision}: example %d has the value "+
					"%v, which is too large for f32", n+i+1, whole[k])
			}
		}
	}
	return nil
}

// round returns the numbers of src in dst's memory; nil where there are none.
func round(dst []float32, src []float64) []float32 {
	dst = dst[:0]
	for _, v := range src {
		dst = append(dst, float32(v))
	}
	if len(src) == 0 {
		return nil
	}
	return dst
}
