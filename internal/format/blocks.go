package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/halfspace-ml/halfspace/engine"
)

// Blocks are examples that a program has made, see dataset.OpenBlocks: no file is of this format,
// and a [Batch] takes the place of text.
var Blocks = &Format{Name: "blocks",
	Parse32: parseBlocks[float32], Parse64: parseBlocks[float64]}

// Batch is a run of examples that a program has made: from Arrow or Parquet, a database, a format
// of its own. The features are Block or Columns, the labels Y or Labels.
type Batch[T engine.Float] struct {
	// Block is sparse (Ptr, Idx and Val; Dim may be 0: not known) or dense (X, Stride and Dim). Its
	// features count from 0, without a bias. Its W are the weights, one an example, or none. Its Y
	// isn't looked at. X may have more rows than there are labels.
	Block engine.Block[T]

	// Columns are dense features, one slice each: Columns[j][i] is feature j of example i. nil:
	// Block has the features.
	Columns [][]T

	// F32 or F64 are the values of Block in the one precision or the other, where its Val and X are
	// nil: they are rounded as they are copied.
	F32 []float32
	F64 []float64

	// Y are labels that are numbers, NaN where there is none; Labels are labels as texts, "" or "?"
	// where there is none, or a word for a missing value. With Codes Labels has each label once,
	// and an example the label of that number, or none where it is -1. Y or Labels is nil, or both
	// where labels may be missing (Options.LabelsOptional).
	Y      []float64
	Labels []string
	Codes  []int32
	// Texts says that Labels are texts where they come from: "1" and "1.0" are two then, and "NA"
	// is a label.
	Texts bool

	// Done is called by some goroutine once all of the batch has been copied, which is the caller's
	// again then. A stream that ends early, by an error, Stop or Close, may never call it.
	Done func()
}

// Len returns the number of examples: that of the labels, where there are any.
func (b *Batch[T]) Len() int {
	labels := len(b.Labels)
	if b.Codes != nil {
		labels = len(b.Codes)
	}
	if n := max(len(b.Y), labels); n > 0 {
		return n
	}
	return b.rows()
}

// rows is Len by the features.
func (b *Batch[T]) rows() int {
	if len(b.Columns) > 0 {
		return len(b.Columns[0])
	}
	rows := b.Block
	if rows.Y = nil; len(rows.Ptr) == 0 && rows.X == nil && rows.Stride > 0 {
		// the last row may end with its values
		return (max(len(b.F32), len(b.F64)) + rows.Stride - rows.Dim) / rows.Stride
	}
	return rows.Len()
}

// Width returns the features of dense examples, -1 of sparse ones.
func (b *Batch[T]) Width() int {
	switch {
	case len(b.Columns) > 0:
		return len(b.Columns)
	case b.Block.Dense():
		return b.Block.Dim
	}
	return -1
}

// Check looks whether the slices of a batch fit together. width is that of the batches before, or
// the batch's own. What an example holds is looked at when that is copied.
func (b *Batch[T]) Check(width int) error {
	n, w := b.Len(), b.Width()
	if w != width {
		return fmt.Errorf("%s, but %s before: %w", rowsOf(w), rowsOf(width), ErrFormat)
	}
	if len(b.Y) > 0 && (len(b.Labels) > 0 || b.Codes != nil) {
		return fmt.Errorf("labels as numbers and as texts: %w", ErrFormat)
	}
	for i, k := range b.Codes {
		if k < -1 || int(k) >= len(b.Labels) {
			return fmt.Errorf("example %d: label %d of %d: %w", i, k, len(b.Labels), ErrFormat)
		}
	}
	if rows := b.rows(); rows < n || rows > n && (w < 0 || len(b.Columns) > 0) {
		return fmt.Errorf("%d labels of %d examples: %w", n, rows, ErrFormat)
	}
	if w := len(b.Block.W); w != 0 && w != n {
		return fmt.Errorf("%d weights of %d examples: %w", w, n, ErrFormat)
	}
	for j, c := range b.Columns {
		if len(c) != n {
			return fmt.Errorf("%d values of feature %d, but %d examples: %w", len(c), j, n,
				ErrFormat)
		}
	}
	return b.checkBlock(n)
}

// checkBlock looks whether the slices of Block fit together.
func (b *Batch[T]) checkBlock(n int) error {
	x := &b.Block
	values := len(x.Val)
	if x.Dense() {
		values = len(x.X)
	}
	if other := max(len(b.F32), len(b.F64)); other > 0 {
		if values > 0 || len(b.F32) > 0 && len(b.F64) > 0 {
			return fmt.Errorf("values in two precisions: %w", ErrFormat)
		}
		values = other
	}
	switch {
	case len(b.Columns) > 0:
		if values > 0 || len(x.Ptr) > 0 {
			return fmt.Errorf("features as columns and as a block: %w", ErrFormat)
		}
	case x.Dense():
		if n > 0 && (x.Stride < x.Dim || values < (n-1)*x.Stride+x.Dim) {
			return fmt.Errorf("%d rows of %d (stride %d) in %d values: %w", n, x.Dim, x.Stride,
				values, ErrFormat)
		}
	default:
		if len(x.Idx) != values || len(x.Ptr) == 0 || x.Ptr[0] < 0 || x.Ptr[n] > len(x.Idx) {
			return fmt.Errorf("%d offsets, %d indices, %d values: %w", len(x.Ptr), len(x.Idx),
				values, ErrFormat)
		}
		for i := range n {
			if x.Ptr[i] > x.Ptr[i+1] {
				return fmt.Errorf("offsets %d, %d: %w", x.Ptr[i], x.Ptr[i+1], ErrFormat)
			}
		}
	}
	return nil
}

// rowsOf names the kind of rows of that width.
func rowsOf(width int) string {
	if width < 0 {
		return "sparse rows"
	}
	return fmt.Sprintf("rows of %d values", width)
}

// slab is a run of rows of a batch: what a worker takes at a time.
type slab[T engine.Float] struct {
	*Batch[T]
	lo, hi int
	left   *atomic.Int32 // slabs of the batch that have not been copied yet

	row   []T     // of Columns, or of values in another precision
	text  string  // of the label found last, and
	code  int32   // its number; -1: none yet
	known []int32 // with Codes, 1 more than the number of each; 0: none yet
}

// Slab is a run of a batch's rows, as Run.Value has it, and about how many bytes of text these rows
// would take.
type Slab struct {
	Rows any
	Size int64
}

// Bytes of text that a value and a label would take, at the least: so a run of rows is as much
// work, and as much memory, as a chunk of text.
const pairText, labelText = 5, 2

// TextBytes returns about how many bytes of text the rows of a batch that Check has found good
// would take.
func (b *Batch[T]) TextBytes() int64 {
	n := int64(b.Len())
	if width := b.Width(); width >= 0 || n == 0 {
		return n * (int64(max(width, 0))*pairText + labelText)
	}
	return int64(b.Block.Ptr[n]-b.Block.Ptr[0])*pairText + n*labelText
}

// Slabs cuts a batch that Check has found good into runs of rows that would be about size bytes of
// text, one row at least.
func (b *Batch[T]) Slabs(size int) (slabs []Slab) {
	n, width := b.Len(), b.Width()
	left := new(atomic.Int32)
	for lo := 0; lo < n; {
		hi, bytes := lo, 0
		for hi < n && (bytes < size || hi == lo) {
			values := width
			if width < 0 {
				values = b.Block.NonZeros(hi)
			}
			bytes += pairText*values + labelText
			hi++
		}
		slabs = append(slabs, Slab{&slab[T]{Batch: b, lo: lo, hi: hi, left: left, code: -1},
			int64(bytes)})
		lo = hi
	}
	left.Store(int32(len(slabs)))
	if n == 0 && b.Done != nil {
		b.Done()
	}
	return slabs
}

// parseBlocks copies the rows of a slab. A row is a line, and a value of it a column, in errors.
func parseBlocks[T engine.Float](c *Chunk[T], s *Settings) {
	b, ok := c.Run.(*slab[T])
	if !ok { // the end of the source
		return
	}
	c.Out.Reset(b.Width() >= 0)
	b.reserve(c.Out, s)
	for i := b.lo; i < b.hi; i++ {
		code, bad := b.label(c, s, i)
		at := 0
		if bad == "" && len(b.Block.W) > 0 {
			var w T
			if w, bad = WeightOf[T](float64(b.Block.W[i])); bad == "" {
				c.Out.Weigh(w)
			}
		}
		if bad == "" {
			at, bad = b.add(c, s, code, i)
		}
		if bad != "" {
			b.code = -1 // Bad forgets a label that only this row has
			clear(b.known)
			if !c.Bad(s, 0, at, bad) {
				break
			}
		}
		c.Out.Lines++
	}
	if b.left.Add(-1) == 0 && b.Done != nil {
		b.Done()
	}
}

// reserve makes room for all rows of the slab.
func (b *slab[T]) reserve(r *Rows[T], s *Settings) {
	n := b.hi - b.lo
	r.Code = slices.Grow(r.Code, n)
	if width := b.Width(); width >= 0 {
		r.X = slices.Grow(r.X, n*Stride(width+s.Bias))
		return
	}
	values := b.Block.Ptr[b.hi] - b.Block.Ptr[b.lo] + n*s.Bias
	r.Ptr, r.Idx, r.Val = slices.Grow(r.Ptr, n), slices.Grow(r.Idx, values),
		slices.Grow(r.Val, values)
}

// label returns the number of row i's label, or what is wrong with it.
func (b *slab[T]) label(c *Chunk[T], s *Settings, i int) (code int32, bad string) {
	if b.Codes != nil {
		return b.labelOf(c, s, b.Codes[i])
	}
	if len(b.Labels) > 0 {
		if b.code < 0 || b.Labels[i] != b.text {
			if code, bad = c.label(s, []byte(b.Labels[i]), b.Texts, 0, 0); bad != "" {
				return 0, bad
			}
			b.text, b.code = b.Labels[i], code
		}
		return b.code, ""
	}
	y := math.NaN()
	if len(b.Y) > 0 {
		y = b.Y[i]
	}
	return c.NumberLabel(s, y, 0)
}

// labelOf is label of the label that has this number in Labels.
func (b *slab[T]) labelOf(c *Chunk[T], s *Settings, k int32) (code int32, bad string) {
	if k < 0 {
		return c.Label(s, nil, 0, 0)
	}
	if b.known == nil {
		b.known = make([]int32, len(b.Labels))
	}
	if b.known[k] == 0 {
		if code, bad = c.label(s, []byte(b.Labels[k]), b.Texts, 0, 0); bad != "" {
			return 0, bad
		}
		b.known[k] = code + 1
	}
	return b.known[k] - 1, ""
}

// add copies the features of row i, or says what is wrong with them, and at which value.
func (b *slab[T]) add(c *Chunk[T], s *Settings, code int32, i int) (at int, bad string) {
	if b.Width() < 0 {
		return b.addSparse(c.Out, s, code, i)
	}
	row := b.row[:0]
	switch x := &b.Block; {
	case len(b.Columns) > 0:
		for _, column := range b.Columns {
			row = append(row, column[i])
		}
		b.row = row
	case x.X == nil:
		row = append(row, make([]T, x.Dim)...)
		b.values(row, i*x.Stride)
		b.row = row
	default:
		row = x.Row(i)
	}
	for j, v := range row {
		if v-v != 0 {
			return j, notFinite(v)
		}
	}
	c.Dense(s, code, row)
	return 0, ""
}

// values copies values of the block, from one on.
func (b *slab[T]) values(to []T, from int) {
	switch {
	case len(b.F32) > 0:
		for k, v := range b.F32[from:][:len(to)] {
			to[k] = T(v)
		}
	case len(b.F64) > 0:
		for k, v := range b.F64[from:][:len(to)] {
			to[k] = T(v)
		}
	default:
		copy(to, b.Block.Val[from:])
	}
}

// addSparse is add of a sparse row, for which there is room. What is wrong with it is looked for
// only where a sign or the sum of its squares says that something may be.
func (b *slab[T]) addSparse(r *Rows[T], s *Settings, code int32, i int) (at int, bad string) {
	from, to := b.Block.Ptr[i], b.Block.Ptr[i+1]
	in, row := b.Block.Idx[from:to], len(r.Idx)
	end := row + s.Bias + len(in)
	idx, val := r.Idx[row:end], r.Val[row:end]
	if s.Bias != 0 {
		idx[0], val[0] = 0, T(s.One)
		idx = idx[1:]
	}
	more, last, sign := int32(s.Bias), int32(-1), int32(0)
	idx = idx[:len(in)]
	for k, j := range in {
		idx[k] = j + more
		sign |= j | (j - last - 1)
		last = j
	}
	b.values(val[s.Bias:], from)
	sum := Squares(val)
	if sign < 0 || int(last) >= maxIndex-s.Bias || sum-sum != 0 ||
		b.Block.Dim > 0 && int(last) >= b.Block.Dim {
		if at, bad = b.checkSparse(in, val[s.Bias:], s.Bias); bad != "" {
			return at, bad
		}
	}
	r.Idx, r.Val, r.Ptr = r.Idx[:end], r.Val[:end], append(r.Ptr, end)
	r.Code = append(r.Code, code)
	r.Finish(val, sum, s)
	return 0, ""
}

// checkSparse says what is wrong with non-zeros, and at which of them.
func (b *slab[T]) checkSparse(idx []int32, val []T, bias int) (at int, bad string) {
	last := int32(-1)
	for k, j := range idx {
		switch v := val[k]; {
		case j < 0:
			return k, fmt.Sprintf("index %d is negative", j)
		case j == last:
			return k, fmt.Sprintf("index %d comes twice in the row", j)
		case j < last:
			return k, fmt.Sprintf("index %d after %d: indices must ascend", j, last)
		case b.Block.Dim > 0 && int(j) >= b.Block.Dim:
			return k, fmt.Sprintf("index %d of %d features", j, b.Block.Dim)
		case uint64(j) >= maxIndex-uint64(bias):
			return k, fmt.Sprintf("index %d is above %d, the largest there may be", j,
				maxIndex-bias-1)
		case v-v != 0:
			return k, notFinite(v)
		}
		last = j
	}
	return 0, ""
}

func notFinite[T engine.Float](v T) string {
	return fmt.Sprintf("expected a finite number, found %v", v)
}

// notFits says why v, as a file has it, is no finite T.
func notFits[T engine.Float](v float64) string {
	if v-v == 0 {
		return tooLarge[T](strconv.FormatFloat(v, 'g', -1, 64))
	}
	return notFinite(v)
}
