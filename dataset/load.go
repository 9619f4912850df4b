package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// Data is a data set in memory. Its block owns its slices.
type Data[T engine.Float] struct {
	Block engine.Block[T]
	// Bytes are the examples, and Block is empty, where Options.Bytes was set and all are dense and
	// of bytes; else nil.
	Bytes *engine.ByteRows[T]
	Info  Info
}

// Load reads files whole. Any error, a bad row not allowed by OnError among them, leaves no data.
// Memory: up to twice the data while text is read.
func Load[T engine.Float](ctx context.Context, files []string, o Options) (*Data[T], error) {
	return loaded(openFiles[T](ctx, files, o, true))
}

// loaded is what a stream that could be opened gives.
func loaded[T engine.Float](s *Stream[T], err error) (*Data[T], error) {
	if err != nil {
		return nil, err
	}
	return s.load()
}

// LoadReader is Load for one file that is read from r; name stands for it in errors.
func LoadReader[T engine.Float](ctx context.Context, name string, r io.Reader,
	o Options) (*Data[T], error) {
	return loaded(open[T](ctx, []string{name}, &opener{reader: r}, o, true))
}

// maxAtOnce is how many values are reserved on the word of a header, 1 GiB of float32: a damaged
// one that announces more fails when the file ends, and not by filling memory.
const maxAtOnce = 1 << 28

// load takes the stream to its end and puts its rows together.
func (s *Stream[T]) load() (*Data[T], error) {
	defer s.Close()
	d := &Data[T]{}
	l := loading[T]{s: s, d: d, pack: s.p.KeepDiv}
	for _, p := range s.parts {
		l.n += p.hi - p.lo
	}
	// With their number known the rows go straight to their place, unless the header asks for so
	// much that it had better prove it first.
	l.direct = l.n > 0 && l.n <= maxAtOnce/format.Stride(s.layout.Dim+s.p.Bias)
	for {
		for s.err == nil && len(s.ready) == 0 {
			s.advance(nil)
		}
		if s.err != nil && s.err != io.EOF {
			return nil, s.err
		}
		if len(s.ready) == 0 {
			break
		}
		for _, r := range s.ready {
			s.cur, s.pos = r, 0
			for s.pos < r.N {
				s.count() // no more
			}
			s.cur = nil
			s.release(r)
			if err := l.fits(r); err != nil {
				return nil, err
			}
			l.take(r)
		}
		s.ready = s.ready[:0]
	}
	d.Info = s.Info()
	l.setClasses()
	if d.Bytes == nil {
		if !l.direct {
			s.join(d, l.parts)
		}
		d.Block.Dim = d.Info.Dim
		d.Block.MarkChecked()
	}
	if s.cfg.learns() && !s.cfg.PrepareByHand {
		if err := s.cfg.scaleFits(d.Info.Dim); err != nil {
			return nil, err
		}
		d.Info.MaxNorm = math.Sqrt(s.after.whole(s.cfg.method, &d.Block))
		d.Info.Scaling = s.after.Known
	}
	if s.cfg.Normalize == "max" && s.cfg.Scale == 0 {
		if err := d.divideByLongest(); err != nil {
			return nil, err
		}
	}
	if d.Bytes == nil {
		d.Block.Ones() // found here for all blocks that are taken of it
	}
	return d, nil
}

// loading is where rows go on their way into a data set.
type loading[T engine.Float] struct {
	s      *Stream[T]
	d      *Data[T]
	pack   bool    // all rows so far are of bytes, which is asked for
	n      int     // rows that a header has announced
	direct bool    // which can be believed
	class  []int32 // of all rows, where there may be more than two
	weight []T     // of all rows so far, unless all are 1
	rows   int     // so far
	parts  []*rows[T]
}

// fits asks Options.Fits about the rows so far, and those that come next.
func (l *loading[T]) fits(r *rows[T]) error {
	if l.s.cfg.Fits == nil {
		return nil
	}
	n, elem := int64(l.s.info.Rows), int64(unsafe.Sizeof(T(0)))
	if l.direct {
		n = max(n, int64(l.n))
	}
	bytes := n*(8+elem) + l.s.info.NonZeros*(4+elem) // offset, label; index, value
	if r.Dense() {
		bytes = n * (int64(r.Dim) + 64/elem + 1) * elem
		if l.pack && r.Dim >= LeastBytes { // a quarter is for slices that grow
			bytes = n * (int64(r.Dim) + 15 + 4*elem) * 5 / 4
		}
	}
	return l.s.cfg.Fits(bytes)
}

// take adds rows to the data set, or to the parts that become one in the end.
func (l *loading[T]) take(r *rows[T]) {
	if r.Class != nil {
		l.class, r.Class = append(l.class, r.Class[:r.N]...), nil
	}
	if l.rows += r.N; len(r.W) > 0 || l.weight != nil {
		for len(l.weight) < l.rows-r.N {
			l.weight = append(l.weight, 1)
		}
		if l.weight, r.W = append(l.weight, r.W...), r.W[:0]; len(l.weight) < l.rows {
			l.weight = append(l.weight, slices.Repeat([]T{1}, l.rows-len(l.weight))...)
		}
	}
	if l.pack {
		if l.pack = l.bytes(r); l.pack {
			l.s.recycle(r)
			return
		}
		if before := l.d.unpacked(); before != nil {
			l.add(before)
		}
	}
	l.add(r)
}

// setClasses gives the examples their classes, if there are more than two labels, and their
// weights.
func (l *loading[T]) setClasses() {
	d := l.d
	if d.Bytes != nil {
		d.Bytes.SetWeights(l.weight)
	} else {
		d.Block.W = l.weight
	}
	switch {
	case d.Info.Classes == nil:
	case d.Bytes != nil:
		d.Bytes.SetClass(l.class)
	default:
		d.Block.Class = l.class
	}
}

// LeastBytes is from how many features on, a bias included, Options.Bytes keeps rows as bytes: they
// are padded to 16, and have four floats beside them.
const LeastBytes = 32

// bytes adds rows to d.Bytes, all or none, and reports whether it did: if all are of bytes.
func (l *loading[T]) bytes(r *rows[T]) bool {
	d := l.d
	if !r.Dense() || r.Dim < LeastBytes {
		return false
	}
	if d.Bytes == nil {
		n := 0
		if l.direct {
			n = l.n
		}
		d.Bytes = engine.NewByteRows[T](r.Dim, l.s.p.Bias != 0, n)
	}
	for i := range r.N {
		if !d.Bytes.Append(r.Row(i), r.Y[i], r.Div[i]) {
			d.Bytes.Truncate(d.Bytes.Len() - i)
			return false
		}
	}
	return true
}

// unpacked takes d.Bytes away and returns its examples as floats; nil if there are none.
func (d *Data[T]) unpacked() *rows[T] {
	b := d.Bytes
	if d.Bytes = nil; b == nil || b.Len() == 0 {
		return nil
	}
	r := &rows[T]{}
	r.N = b.Len()
	b.Block(&r.Block, 0, r.N) // Stride is that of format.Stride for so many features
	return r
}

// add adds rows of floats.
func (l *loading[T]) add(r *rows[T]) {
	if !l.direct {
		l.parts = append(l.parts, r)
		return
	}
	b := &l.d.Block
	b.Dim, b.Stride = r.Dim, r.Stride
	b.Y = append(slices.Grow(b.Y, l.n-len(b.Y)), r.Y...)
	if len(b.X) == 0 {
		b.X = engine.Aligned[T](l.n * r.Stride)[:0]
	}
	b.X = append(b.X, r.X[:r.N*r.Stride]...)
	l.s.recycle(r)
}

// join copies the parts into one block, of exactly the size that their counts say, and lets go of
// each as it is copied; one that is the whole and has no room to spare becomes the block.
func (s *Stream[T]) join(d *Data[T], parts []*rows[T]) {
	b := &d.Block
	if r := parts[0]; len(parts) == 1 && !r.Dense() && cap(r.Idx) <= len(r.Idx)+len(r.Idx)/8 {
		b.Y, b.Ptr, b.Idx, b.Val = r.Y[:r.N:r.N], r.Ptr[:r.N+1:r.N+1], r.Idx, r.Val
		parts[0] = nil
		s.rebase(d)
		return
	}
	dense := parts[0].Dense()
	b.Y = make([]T, 0, d.Info.Rows)
	if dense {
		b.Stride = parts[0].Stride
		b.X = engine.Aligned[T](d.Info.Rows * b.Stride)[:0]
	} else {
		b.Ptr = append(make([]int, 0, d.Info.Rows+1), 0)
		b.Idx = make([]int32, 0, d.Info.NonZeros)
		b.Val = make([]T, 0, d.Info.NonZeros)
	}
	for i, r := range parts {
		b.Y = append(b.Y, r.Y...)
		format.AppendFeatures(b, &r.Block, r.N)
		parts[i] = nil
	}
	s.rebase(d)
}

// rebase settles the index base, where an index 0 may have come last of all.
func (s *Stream[T]) rebase(d *Data[T]) {
	b := &d.Block
	if !s.layout.BaseOpen || !s.zero {
		return
	}
	// the rows were read as if the base were 1
	d.Info.IndexBase, d.Info.BaseFound = 0, "index 0 occurs in the data"
	bias := s.cfg.bias
	for i := range b.Y {
		idx := b.Idx[b.Ptr[i]+bias : b.Ptr[i+1]] // one too small each; the bias stays feature 0
		for k := range idx {
			idx[k]++
		}
		if len(idx) > 0 {
			d.Info.Dim = max(d.Info.Dim, int(idx[len(idx)-1])+1)
		}
	}
	s.info.Unknown, s.info.UnknownRows = 0, 0
	s.countUnknown(b, 0, len(b.Y))
	d.Info.Unknown, d.Info.UnknownRows = s.info.Unknown, s.info.UnknownRows
}

// divideByLongest is Normalize "max": one scale, the longest example's 2-norm, for all values. It
// is in Info, since later files must be divided by the same.
func (d *Data[T]) divideByLongest() error {
	s := d.Info.MaxNorm
	if s == 0 {
		return nil // all rows are zero
	}
	if s > math.MaxFloat64 {
		return fmt.Errorf("the longest example's length is not a float64; give a scale: %w",
			ErrScale)
	}
	d.Info.Scale = s
	if d.Bytes != nil {
		if d.Bytes.Divide(s) {
			return nil
		}
		if r := d.unpacked(); r != nil {
			d.Block = r.Block
		}
	}
	format.Divide(d.Block.Val, s)
	format.Divide(d.Block.X, s)
	return nil
}

// WeighClasses multiplies the weight of each example by the factor of its class: of two labels the
// factors are those of -1 and of +1. Blocks that were taken of the data before keep their weights.
// An error wraps [engine.ErrWeight], of a weight that is not finite then, or a class without a
// factor; nothing has changed.
func (d *Data[T]) WeighClasses(factors []float64) error {
	y, class, w := d.Block.Y, d.Block.Class, d.Block.W
	if d.Bytes != nil {
		y, class, w = d.Bytes.Labels()
	}
	all := make([]T, 0, len(y))
	all, err := WeighClasses(all, y, class, w, factors)
	if err != nil {
		return err
	}
	if d.Bytes != nil {
		d.Bytes.SetWeights(all)
		return nil
	}
	d.Block.Reweigh(all)
	return nil
}

// WeighClasses appends to dst the weights w, or 1 each, of examples of those labels or classes,
// each times the factor of its class; see [Data.WeighClasses].
func WeighClasses[T engine.Float](dst, y []T, class []int32, w []T, factors []float64) ([]T,
	error) {
	for i := range y {
		k := int(y[i]+1) / 2
		if len(class) > 0 {
			k = int(class[i])
		}
		if k >= len(factors) {
			return dst, fmt.Errorf("example %d: class %d has no factor: %w", i, k, engine.ErrWeight)
		}
		v := factors[k]
		if len(w) > 0 {
			v *= float64(w[i])
		}
		t := T(v)
		if !(t >= 0) || t-t != 0 {
			return dst, fmt.Errorf("example %d: weight %v: %w", i, v, engine.ErrWeight)
		}
		dst = append(dst, t)
	}
	return dst, nil
}

// Gather copies the listed examples, in the listed order, into dst's own memory: a shuffled block.
// dst must not be a view of d. It allocates nothing once dst has had as much.
func (d *Data[T]) Gather(dst *engine.Block[T], order []int32) {
	if d.Bytes != nil {
		d.Bytes.Gather(dst, order)
		return
	}
	b := &d.Block
	dst.Reset()
	dst.Dim = b.Dim
	dst.Y = slices.Grow(dst.Y, len(order))
	for _, i := range order {
		dst.Y = append(dst.Y, b.Y[i])
	}
	if b.Class != nil {
		dst.Class = slices.Grow(dst.Class[:0], len(order))
		for _, i := range order {
			dst.Class = append(dst.Class, b.Class[i])
		}
	}
	if b.W != nil {
		dst.W = slices.Grow(dst.W, len(order))
		for _, i := range order {
			dst.W = append(dst.W, b.W[i])
		}
	}
	if b.Dense() {
		dst.Ptr = nil
		dst.Stride = b.Stride
		if n := len(order) * b.Stride; cap(dst.X) < n {
			dst.X = engine.Aligned[T](n)
		} else {
			dst.X = dst.X[:n]
		}
		for k, i := range order {
			copy(dst.X[k*b.Stride:(k+1)*b.Stride], b.X[int(i)*b.Stride:int(i)*b.Stride+b.Dim])
		}
	} else {
		n := 0
		for _, i := range order {
			n += b.Ptr[i+1] - b.Ptr[i]
		}
		ptr := append(slices.Grow(dst.Ptr[:0], len(order)+1), 0)
		idx, val := slices.Grow(dst.Idx, n)[:n], slices.Grow(dst.Val, n)[:n]
		at := 0
		touch(b, order)
		for _, i := range order {
			lo, hi := b.Ptr[i], b.Ptr[i+1]
			copy(idx[at:], b.Idx[lo:hi])
			at += copy(val[at:], b.Val[lo:hi])
			ptr = append(ptr, at)
		}
		dst.Ptr, dst.Idx, dst.Val = ptr, idx, val
		if b.Ones() {
			dst.MarkOnes()
		}
	}
	dst.MarkChecked()
}

// touch reads the ends of the listed rows: these lie anywhere, and the processor waits for all of
// them together here, where a copy of one after another would wait for each.
func touch[T engine.Float](b *engine.Block[T], order []int32) {
	var idx int32
	var val T
	for _, i := range order {
		if lo, hi := b.Ptr[i], b.Ptr[i+1]; lo < hi {
			idx ^= b.Idx[lo] ^ b.Idx[hi-1]
			val = max(val, b.Val[lo], b.Val[hi-1])
		}
	}
	used(idx, float64(val))
}

// used keeps the compiler from leaving out what makes its arguments.
//
//go:noinline
func used(int32, float64) {}
