package format

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

// Stops is how many line ends stand behind a chunk's text: one ends an unfinished last line, one
// lets a scan look at the next byte. So a parser's loops need no test of the text's end: each of
// them stops at a line end, and it is there.
const Stops = 2

// Chunk is a run of whole examples of one file, as a parser gets it.
type Chunk[T engine.Float] struct {
	File   string  // name in errors
	Text   []byte  // N bytes, then Stops times '\n', that end every scan
	N      int     // bytes of the examples
	Offset int64   // byte of the file where Text begins
	Layout *Layout // of the file
	Run    any     // what Runs.Next gave, instead of text; nil: nothing
	Out    *Rows[T]

	record, recordLine int  // where the example of several lines begins that is parsed,
	records            bool // whether there are such
}

// Rows is what a parser makes of a chunk: the rows of a block in its Ptr, Idx and Val, or X and
// Stride, and what the stream needs to know of them. It has no labels yet, only their numbers.
type Rows[T engine.Float] struct {
	engine.Block[T]
	N      int      // good rows
	Code   []int32  // label of each row: its number in Labels
	Labels LabelSet // of the chunk, as they are written
	Where  []Place  // of each label's first occurrence
	Names  *NameSet // of features, whose indices are numbers in it until Settle; nil: none
	Lines  int      // of the chunk so far
	MaxSq  float64  // largest squared length before normalising
	Zero   bool     // a good row has an index 0
	// with Settings.KeepDiv what each row was divided by; 0: by nothing, or by no number alone
	Div  []float64
	Line []int // with Settings.Lines the line that each row begins in, counted from 0
	// of the block W has the weights, up to the last that was given by Weigh
	NBad int // bad rows; those of which an error is kept may be fewer

	ids   ids
	known []Label // that options name
	bad   []BadRow
	more  []spot // bad rows behind those of bad
	// most is how many labels that are not known are told apart; and those there are:
	most        int
	foreign     map[string]int // how many spellings each has, by its key
	lastForeign int32          // the last of them

	numbers map[float64]int32 // what NumberLabel returned
}

// Place is where a label stands in its chunk.
type Place struct {
	Row, Line  int // good rows and lines before it
	Start, Off int // byte of the line's begin and of the label
}

// someBad is how many bad rows of a chunk are kept with their texts, some 200 bytes each. Of others
// only the place is, as there may be one every other byte; they are parsed again if their errors
// are asked for.
const someBad = 16

// spot is where a bad row begins: good rows and lines of the chunk before it, and the byte.
type spot struct{ row, line, start int }

// BadRow is a row that was skipped.
type BadRow struct {
	Row int      // good rows before it in the chunk
	Err RowError // its Line counts from 0 in the chunk
}

// Reset empties the rows for reuse, with the memory that they have: chunks of a stream are parsed
// into the same few Rows in turn.
func (r *Rows[T]) Reset(dense bool) {
	r.Block.Reset()
	if dense {
		r.Ptr = nil
	} else if r.Ptr == nil {
		r.Ptr = []int{0}
	}
	r.N, r.NBad, r.Lines, r.MaxSq, r.Zero = 0, 0, 0, 0, false
	r.Code, r.Where, r.bad, r.more = r.Code[:0], r.Where[:0], r.bad[:0], r.more[:0]
	r.Div, r.Line = r.Div[:0], r.Line[:0]
	r.Labels.Reset()
	clear(r.foreign)
	clear(r.numbers)
	r.ids.reset()
}

// Weigh gives the next good row a weight, finite and 0 or more; a parser calls it before the row is
// counted, for each row or only for those whose weight is not 1. What may be a weight, [WeightOf]
// says.
func (r *Rows[T]) Weigh(w T) {
	if w == 1 && len(r.W) == 0 {
		return
	}
	r.W = append(weightsUpTo(r.W, r.N), w)
}

// WeighRest gives the rows behind the last one that was weighed the weight 1, if any was.
func (r *Rows[T]) WeighRest() {
	if len(r.W) > 0 {
		r.W = weightsUpTo(r.W, r.N)
	}
}

// weightsUpTo returns w of n elements: those behind the last are 1.
func weightsUpTo[T engine.Float](w []T, n int) []T {
	for len(w) < n {
		w = append(w, 1)
	}
	return w[:n]
}

// WeightOf returns the weight that a number is, and what is wrong with it as one, or "".
func WeightOf[T engine.Float](v float64) (w T, bad string) {
	switch w = T(v); {
	case !(v >= 0) || v-v != 0:
		return 0, fmt.Sprintf("expected a weight, a finite number of 0 or more, found %v", v)
	case w-w != 0:
		return 0, "the weight " + tooLarge[T](strconv.FormatFloat(v, 'g', -1, 64))
	}
	return w, ""
}

// Bytes returns the memory that the rows take, in bytes.
func (r *Rows[T]) Bytes() int64 {
	elem := int64(unsafe.Sizeof(T(0)))
	return int64(cap(r.Idx)+cap(r.Code))*4 + int64(cap(r.Val)+cap(r.X)+cap(r.Y)+cap(r.W))*elem +
		int64(cap(r.Ptr)+cap(r.Div)+cap(r.Line)+cap(r.ids.end))*8 +
		int64(cap(r.ids.text)+cap(r.ids.bare))
}

// Append adds good rows whose labels and bad rows have been settled.
func (r *Rows[T]) Append(more *Rows[T]) {
	if r.N == 0 {
		r.Reset(more.Dense())
	}
	n := more.N
	if len(r.W) > 0 || len(more.W) > 0 {
		r.W = append(weightsUpTo(r.W, r.N), weightsUpTo(more.W, n)...)
	}
	r.Dim, r.Stride = max(r.Dim, more.Dim), more.Stride
	r.Y, r.Code = append(r.Y, more.Y[:n]...), append(r.Code, more.Code[:n]...)
	r.Line = append(r.Line, more.Line[:min(n, len(more.Line))]...)
	r.ids.append(&more.ids, n)
	AppendFeatures(&r.Block, &more.Block, n)
	r.N += n
}

// AppendFeatures adds those of the first n rows of more, which are of the same kind and stride.
func AppendFeatures[T engine.Float](b, more *engine.Block[T], n int) {
	if more.Dense() {
		b.X = append(b.X, more.X[:n*more.Stride]...)
		return
	}
	at, end := len(b.Idx), more.Ptr[n]
	b.Idx, b.Val = append(b.Idx, more.Idx[:end]...), append(b.Val, more.Val[:end]...)
	for _, p := range more.Ptr[1 : n+1] {
		b.Ptr = append(b.Ptr, at+p)
	}
}

// BeginRecord says that an example of several lines begins at that byte: so a bad row among more
// than are kept is found again.
func (c *Chunk[T]) BeginRecord(start int) {
	c.records, c.record, c.recordLine = true, start, c.Out.Lines
}

// AddLabel notes a label that the chunk has not had yet. Of labels that are not known only the
// first Settings.Labels are distinguished.
func (c *Chunk[T]) AddLabel(l Label, start, off int) int32 {
	r := c.Out
	key := "" // of one that no option names
	if r.isForeign(l) {
		key = l.key()
		// a file whose labels are all different, such as ids, must not fill memory with them
		if r.foreign[key] == 0 && len(r.foreign) > r.most {
			return r.lastForeign
		}
	}
	r.Where = append(r.Where, Place{r.N, r.Lines, start, off})
	i := r.Labels.Add(l)
	if key != "" {
		if r.foreign == nil {
			r.foreign = map[string]int{}
		}
		r.foreign[key]++
		r.lastForeign = i
	}
	return i
}

// isForeign reports whether no option names the label.
func (r *Rows[T]) isForeign(l Label) bool {
	return !l.Missing && !slices.ContainsFunc(r.known, l.Equal)
}

// NoLabel returns the number that stands for no label.
func (c *Chunk[T]) NoLabel(start, off int) int32 {
	if i := c.Out.Labels.None; i >= 0 {
		return i
	}
	return c.AddLabel(Label{Missing: true}, start, off)
}

// Bad notes a bad row that begins at start and goes wrong at off. It reports whether to go on. A
// label that only this row has is forgotten: it must not count as one of the two, or as a third.
func (c *Chunk[T]) Bad(s *Settings, start, off int, what string) bool {
	r := c.Out
	// a label that only the bad row has
	if i := len(r.Where) - 1; i >= 0 && r.Where[i].Line == r.Lines {
		r.Where = r.Where[:i]
		clear(r.numbers)
		if l := r.Labels.dropLast(); r.isForeign(l) {
			if key := l.key(); r.foreign[key] == 1 {
				delete(r.foreign, key)
			} else {
				r.foreign[key]--
			}
		}
	}
	r.NBad++
	switch {
	case r.Kept() >= s.KeepBad:
	case len(r.bad) >= someBad && c.records:
		r.more = append(r.more, spot{r.N, c.recordLine, c.record})
	case len(r.bad) >= someBad && c.N > 0 && !(c.Layout != nil && c.Layout.Run):
		// of rows that are no text all are kept
		r.more = append(r.more, spot{r.N, r.Lines, start})
	default:
		line, from := 0, start
		if !c.records && c.N > 0 {
			line, from = c.LineOf(start, off)
		}
		r.bad = append(r.bad, BadRow{r.N, RowError{File: c.File, Line: r.Lines + line,
			Col: off - from + 1, What: what,
			Excerpt: Excerpt(c.Line(from), off-from), Err: ErrBadRow}})
	}
	return !s.Stop
}

// Kept returns for how many bad rows of the chunk an error can be made.
func (r *Rows[T]) Kept() int { return len(r.bad) + len(r.more) }

// BadRow returns how many good rows stand before the i-th bad one.
func (r *Rows[T]) BadRow(i int) int {
	if i < len(r.bad) {
		return r.bad[i].Row
	}
	return r.more[i-len(r.bad)].row
}

// BadAt returns the i-th bad row of the chunk. One of which only the place was kept is parsed
// again, up to the next bad row, so that its error is the same as if it had been kept.
func (c *Chunk[T]) BadAt(i int, s *Settings) BadRow {
	r := c.Out
	if i < len(r.bad) {
		return r.bad[i]
	}
	at := r.more[i-len(r.bad)]
	end := c.N
	if i++; i < r.Kept() {
		end = r.more[i-len(r.bad)].start
	}
	one := Chunk[T]{File: c.File, Layout: c.Layout, Offset: c.Offset + int64(at.start),
		N: end - at.start, Out: &Rows[T]{}}
	one.Text = append(bytes.Clone(c.Text[at.start:end]), make([]byte, Stops)...)
	EndText(one.Text[one.N:])
	q := *s
	q.KeepBad, q.Stop = 1, true
	one.Parse(&q)
	b := one.Out.bad[0]
	b.Row, b.Err.Line = at.row, b.Err.Line+at.line
	return b
}

// EndText puts the line ends behind a text; b has Stops places for them.
func EndText(b []byte) {
	for i := range b[:Stops] {
		b[i] = '\n'
	}
}

// Line returns the line that begins at start, without its end.
func (c *Chunk[T]) Line(start int) []byte {
	b := c.Text[start:c.N]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return b
}

// Token returns the text at off up to a blank, a line end or, if it is not 0, the delimiter; at
// most 24 bytes of it, as it is quoted in the one line of an error.
func (c *Chunk[T]) Token(off int, delim byte) string {
	b := c.Text[off:c.N]
	for i, x := range b {
		if x <= ' ' || x == delim && delim != 0 {
			b = b[:i]
			break
		}
	}
	if len(b) > 24 {
		return string(b[:24]) + "..."
	}
	return string(b)
}

// NextLine returns where the line after off begins.
func (c *Chunk[T]) NextLine(off int) int {
	return off + bytes.IndexByte(c.Text[off:c.N+1], '\n') + 1
}

// Stride returns the elements from one dense row to the next: long rows begin on a cache line (of
// 64 bytes, if the first does).
func Stride(dim int) int {
	if dim < 32 { // up to 15 elements of padding would nearly double short rows
		return dim
	}
	return (dim + 15) &^ 15
}

// Sized returns a slice of n elements that may be s; what it holds is undefined.
func Sized[E any](s []E, n int) []E {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]E, n)
}

// Sparse adds a good row of those non-zeros, features numbered from 0 and ascending, without the
// bias.
func (c *Chunk[T]) Sparse(s *Settings, code int32, idx []int32, val []T) {
	r := c.Out
	row := len(r.Idx)
	if s.Bias != 0 {
		r.Idx, r.Val = append(r.Idx, 0), append(r.Val, T(s.One))
	}
	if s.Bias == 0 {
		r.Idx = append(r.Idx, idx...)
	} else {
		for _, j := range idx {
			r.Idx = append(r.Idx, j+int32(s.Bias))
		}
	}
	r.Val = append(r.Val, val...)
	r.Ptr = append(r.Ptr, len(r.Idx))
	r.Code = append(r.Code, code)
	r.Finish(r.Val[row:], Squares(r.Val[row:]), s)
}

// Dense adds a good row of those values, without the bias. All rows of a stream are as long.
func (c *Chunk[T]) Dense(s *Settings, code int32, x []T) {
	row := c.Out.room(s, len(x))
	copy(row[s.Bias:], x)
	c.Out.Finish(row, Squares(row), s)
	c.Out.Code = append(c.Out.Code, code)
}

// room makes room for a dense row of n values behind the others, and returns it. The bias, which
// goes first, is set.
func (r *Rows[T]) room(s *Settings, n int) []T {
	r.Dim = n + s.Bias
	r.Stride = Stride(r.Dim)
	lo := len(r.X)
	r.X = extended(r.X, r.Stride)
	row := r.X[lo:]
	clear(row[r.Dim:])
	row = row[:r.Dim]
	if s.Bias != 0 {
		row[0] = T(s.One)
	}
	return row
}

// Finish normalises a row and counts it; sum is the sum of its squares, bias included, in float64
// and in the order of the features: MaxSq, and with it the scale of "max", has the same bits
// whatever the chunks were.
func (r *Rows[T]) Finish(row []T, sum float64, s *Settings) {
	if sum > r.MaxSq {
		r.MaxSq = sum
	}
	div := s.Scale
	if s.Unit {
		div = ToUnit(row, sum)
	} else if s.Scale != 0 {
		Divide(row, s.Scale)
	}
	if s.KeepDiv {
		r.Div = append(r.Div, div)
	}
	r.count(s)
}

// count counts a good row.
func (r *Rows[T]) count(s *Settings) {
	if s.Lines {
		r.Line = append(r.Line, r.Lines)
	}
	r.N++
}

// extended returns s with n more elements of any value.
func extended[E any](s []E, n int) []E {
	return slices.Grow(s, n)[:len(s)+n]
}
