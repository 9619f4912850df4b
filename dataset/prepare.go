package dataset

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// Preparer scales examples that were read as they are, appends a bias and normalises: what reading
// with these Options would have given, to the bit. So several preparations of one stream take one
// pass over its text. Not safe for concurrent use.
type Preparer[T engine.Float] struct {
	cfg   *config
	in    Info
	after finishing[T]
	rows  format.Rows[T]
	out   engine.Block[T]
	maxSq float64
}

// NewPreparer makes one of the options' Scaling, Scaled, Missing, Bias, BiasValue, Normalize and
// Scale; the others are not looked at. in is the Info of the stream that gives the blocks, as it is
// before the first one; that stream must have been read without these, but with the same Missing
// and PrepareByHand. With Normalize "max" it needs Scale (ErrScale).
func NewPreparer[T engine.Float](o Options, in Info) (*Preparer[T], error) {
	c, err := Options{Scaling: o.Scaling, Scaled: o.Scaled, Missing: o.Missing, Bias: o.Bias,
		BiasValue: o.BiasValue, Normalize: o.Normalize, Scale: o.Scale}.resolve()
	if err != nil {
		return nil, err
	}
	divide := 0.0
	if c.Normalize == "max" {
		if divide = c.Scale; divide == 0 {
			return nil, ErrScale
		}
	}
	c.setMethod(format.Lookup(in.Format))
	return &Preparer[T]{cfg: c, in: in,
		after: finish[T](c, &in, c.Normalize == "unit", divide)}, nil
}

// Block returns the examples of b prepared, each scaled by what was seen up to and with it, with
// b's labels, in memory that is good until the next call. Cost: a copy of the values, and what
// scaling and normalising take.
func (p *Preparer[T]) Block(b *engine.Block[T]) *engine.Block[T] {
	p.copy(b)
	p.after.begin(p.cfg.method, &p.out)
	p.maxSq = max(p.maxSq, p.after.rows(&p.out, 0, p.out.Len()))
	p.out.MarkChecked()
	return &p.out
}

// copy makes p.out of the examples of b with the bias.
func (p *Preparer[T]) copy(b *engine.Block[T]) {
	r, n, bias := &p.rows, b.Len(), p.cfg.bias
	one := T(p.cfg.BiasValue)
	r.Block.Reset()
	if r.Dim = b.Dim + bias; b.Dense() {
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
		if !b.Dense() {
			if bias != 0 {
				r.Idx, r.Val = append(r.Idx, 0), append(r.Val, one)
			}
			for _, j := range idx {
				r.Idx = append(r.Idx, j+int32(bias))
			}
			r.Val = append(r.Val, val...)
			r.Ptr = append(r.Ptr, len(r.Idx))
			continue
		}
		row := r.X[i*r.Stride : (i+1)*r.Stride]
		if bias != 0 {
			row[0] = one
		}
		clear(row[bias+copy(row[bias:r.Dim], val):])
	}
	p.out = engine.Block[T]{Y: b.Y, W: b.W, Class: b.Class, Dim: r.Dim, Ptr: r.Ptr, Idx: r.Idx,
		Val: r.Val, X: r.X, Stride: r.Stride}
}

// Info is that of the stream that gave the blocks, as reading with the Preparer's options would
// have it.
func (p *Preparer[T]) Info(in Info) Info {
	bias := p.cfg.bias
	in.Dim += bias
	in.NonZeros += int64(in.Rows) * int64(bias)
	in.MaxNorm = math.Sqrt(p.maxSq)
	if p.cfg.learns() {
		in.Scaling = p.after.Known.Clone()
	} else if p.cfg.Scaled != nil {
		in.Scaling = p.cfg.Scaled
	}
	if p.after.Scale != 0 {
		in.Scale = p.after.Scale
	}
	return in
}

// Prepared returns a copy of data that Load has read as NewPreparer asks for, as reading with the
// options' Scaling, Scaled, Missing, Bias, BiasValue, Normalize and Scale would have given them, to
// the bit: scaled by what all examples say. With Normalize "max" and no Scale that is the longest
// example's length. Errors wrap ErrOption. Cost: a copy, whose memory is its own.
func (d *Data[T]) Prepared(o Options) (*Data[T], error) {
	longest := o.Normalize == "max" && o.Scale == 0
	if longest {
		o.Normalize = "none"
	}
	p, err := NewPreparer[T](o, d.Info)
	if err != nil {
		return nil, err
	}
	raw := &d.Block
	if d.Bytes != nil {
		raw = new(engine.Block[T])
		d.Bytes.Block(raw, 0, d.Bytes.Len())
	}
	p.copy(raw)
	if p.cfg.learns() {
		if err := p.cfg.scaleFits(p.out.Dim); err != nil {
			return nil, err
		}
		p.maxSq = p.after.whole(p.cfg.method, &p.out)
	} else {
		p.maxSq = p.after.rows(&p.out, 0, p.out.Len())
	}
	c := &Data[T]{Block: p.out, Info: p.Info(d.Info)}
	c.Block.MarkChecked()
	if longest {
		if err := c.divideByLongest(); err != nil {
			return nil, err
		}
	}
	c.Block.Ones()
	return c, nil
}
