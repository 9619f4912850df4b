package dataset

import (
	"math"

	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/engine"
)

// Preparer appends a bias to examples that were read without, and normalises them: what reading
// with these Options would have given, to the bit. So several preparations of one stream take one
// pass over its text. Not safe for concurrent use.
type Preparer[T engine.Float] struct {
	set    format.Settings
	scaled bool // by "max"
	rows   format.Rows[T]
	out    engine.Block[T]
}

// NewPreparer makes one of the options' Bias, BiasValue, Normalize and Scale; the others are not
// looked at. With Normalize "max" it needs Scale (ErrScale).
func NewPreparer[T engine.Float](o Options) (*Preparer[T], error) {
	c, err := Options{Bias: o.Bias, BiasValue: o.BiasValue, Normalize: o.Normalize,
		Scale: o.Scale}.resolve()
	if err != nil {
		return nil, err
	}
	p := &Preparer[T]{set: format.Settings{Bias: c.bias, One: c.BiasValue,
		Unit: c.Normalize == "unit"}, scaled: c.Normalize == "max"}
	if p.scaled {
		if c.Scale == 0 {
			return nil, ErrScale
		}
		p.set.Scale = c.Scale
	}
	return p, nil
}

// Block returns the examples of b prepared, with b's labels, in memory that is good until the next
// call. Cost: a copy of the values, and a division of each where they are scaled.
func (p *Preparer[T]) Block(b *engine.Block[T]) *engine.Block[T] {
	r, n := &p.rows, b.Len()
	r.N = 0
	r.Block.Reset()
	if r.Dim = b.Dim + p.set.Bias; b.Dense() {
		r.Ptr, r.Stride = nil, format.Stride(r.Dim)
		if cap(r.X) < n*r.Stride {
			r.X = engine.Aligned[T](n * r.Stride)
		}
		r.X = r.X[:n*r.Stride]
	} else {
		r.Ptr = append(r.Ptr[:0], 0)
	}
	for i := range n {
		idx, val := b.Example(i)
		if b.Dense() {
			p.dense(r.X[i*r.Stride:(i+1)*r.Stride], val)
		} else {
			p.sparse(idx, val)
		}
	}
	p.out = engine.Block[T]{Y: b.Y, W: b.W, Class: b.Class, Dim: r.Dim, Ptr: r.Ptr, Idx: r.Idx,
		Val: r.Val, X: r.X, Stride: r.Stride}
	p.out.MarkChecked()
	return &p.out
}

func (p *Preparer[T]) dense(row, val []T) {
	clear(row[p.rows.Dim:])
	row = row[:p.rows.Dim]
	if p.set.Bias != 0 {
		row[0] = T(p.set.One)
	}
	copy(row[p.set.Bias:], val)
	p.rows.Finish(row, format.Squares(row), &p.set)
}

func (p *Preparer[T]) sparse(idx []int32, val []T) {
	r := &p.rows
	row := len(r.Idx)
	if p.set.Bias != 0 {
		r.Idx, r.Val = append(r.Idx, 0), append(r.Val, T(p.set.One))
	}
	for _, j := range idx {
		r.Idx = append(r.Idx, j+int32(p.set.Bias))
	}
	r.Val = append(r.Val, val...)
	r.Ptr = append(r.Ptr, len(r.Idx))
	r.Finish(r.Val[row:], format.Squares(r.Val[row:]), &p.set)
}

// Info is that of the stream that gave the blocks, as reading with the Preparer's options would
// have it.
func (p *Preparer[T]) Info(in Info) Info {
	in.Dim += p.set.Bias
	in.NonZeros += int64(in.Rows) * int64(p.set.Bias)
	in.MaxNorm = math.Sqrt(p.rows.MaxSq)
	if p.scaled {
		in.Scale = p.set.Scale
	}
	return in
}

// Prepared returns a copy of data that were read into memory without a bias and without being
// normalised, as reading with the options' Bias, BiasValue, Normalize and Scale would have given
// them, to the bit. With Normalize "max" and no Scale it is the longest example's length. Errors
// wrap ErrOption. Cost: a copy, whose memory is its own.
func (d *Data[T]) Prepared(o Options) (*Data[T], error) {
	longest := o.Normalize == "max" && o.Scale == 0
	if longest {
		o.Normalize = "none"
	}
	p, err := NewPreparer[T](o)
	if err != nil {
		return nil, err
	}
	raw := &d.Block
	if d.Bytes != nil {
		raw = new(engine.Block[T])
		d.Bytes.Block(raw, 0, d.Bytes.Len())
	}
	c, b := &Data[T]{}, p.Block(raw)
	c.Block = engine.Block[T]{Y: b.Y, W: b.W, Class: b.Class, Dim: b.Dim, Ptr: b.Ptr,
		Idx: b.Idx, Val: b.Val, X: b.X, Stride: b.Stride}
	c.Block.MarkChecked()
	c.Info = p.Info(d.Info)
	if longest {
		if err := c.divideByLongest(); err != nil {
			return nil, err
		}
	}
	c.Block.Ones()
	return c, nil
}
