package arrow

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"sync/atomic"

	arr "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// batch is a run of rows of one table: its columns, of which those that aren't used are nil.
type batch struct {
	plan *plan
	cols []arr.Array
	rows int
	left atomic.Int32 // runs that have not been copied yet, and one for the reader
	done func()       // called once all of it has been copied
}

// recordBatch makes a batch of a record, whose memory is given back once all is copied.
func recordBatch(p *plan, rec arr.RecordBatch) (*batch, error) {
	if int(rec.NumCols()) != len(p.names) {
		return nil, fmt.Errorf("%d columns, but %d before", rec.NumCols(), len(p.names))
	}
	cols := make([]arr.Array, len(p.names))
	for i := range cols {
		if p.used[i] {
			cols[i] = rec.Column(i)
		}
	}
	rec.Retain()
	return newBatch(p, cols, int(rec.NumRows()), rec.Release)
}

// newBatch makes a batch of columns, whose memory done gives back. They are looked at, wherever
// they come from, so that no value is looked for where there is none.
func newBatch(p *plan, cols []arr.Array, rows int, done func()) (b *batch, err error) {
	defer func() {
		if err != nil {
			done()
		}
	}()
	defer guard(&err)
	for i, c := range cols {
		if c == nil {
			continue
		}
		if err := array.ValidateFull(c); err != nil {
			return nil, fmt.Errorf("column %q: %w", p.names[i], err)
		}
		if c.Len() != rows {
			return nil, fmt.Errorf("column %q has %d rows of %d", p.names[i], c.Len(), rows)
		}
	}
	b = &batch{plan: p, cols: cols, rows: rows, done: done}
	b.left.Store(1)
	return b, nil
}

// release says that a run of the batch was copied, or that no more are cut of it.
func (b *batch) release() {
	if b.left.Add(-1) == 0 && b.done != nil {
		b.done()
	}
}

// cursor hands out the rows of one batch after another.
type cursor struct {
	cur  *batch // nil before the first and behind the last
	next int    // row of cur
}

// take returns the next run, of about size bytes. more puts the next batch into cur, behind the
// last one's rows.
func (c *cursor) take(size int, more func() error) (format.Run, error) {
	for c.cur == nil || c.next == c.cur.rows {
		if c.cur != nil {
			c.cur.release()
		}
		if err := more(); err != nil {
			return format.Run{}, err
		}
	}
	r, n := c.cur.cut(c.next, size)
	c.next = r.hi
	return format.Run{Value: r, Bytes: n}, nil
}

// look is what newPlan looks at: the first batch, nil if there is none.
func (c *cursor) look(err error) (*batch, error) {
	if err != nil && err != io.EOF {
		return nil, err
	}
	return c.cur, nil
}

// used has the batch that was looked at again, by the plan that was made of it.
func (c *cursor) used(p *plan, rows array.RecordReader) (err error) {
	if c.cur != nil {
		c.cur.release()
		c.cur, err = recordBatch(p, rows.RecordBatch())
	}
	return err
}

// run is rows lo to hi of a batch.
type run struct {
	*batch
	lo, hi int
}

// cut returns the run from row lo on whose text would take about size bytes, and how many that are.
func (b *batch) cut(lo, size int) (r *run, bytes int64) {
	// of a number or a pair, and a label, as text: as much work as so much text, and as much memory
	const value, label, word = 5, 2, 16
	p := b.plan
	row := label + value*len(p.Numbers) + word*len(p.Texts)
	n := max(1, size/row)
	hi := min(b.rows, lo+n)
	if p.lists() {
		off := offsets(b.cols[p.list])
		hi = lo
		from, _ := off(lo)
		for hi < b.rows {
			_, to := off(hi)
			bytes = int64(label*(hi-lo+1)) + value*(to-from)
			if hi++; bytes >= int64(size) {
				break
			}
		}
	} else {
		bytes = int64(row) * int64(hi-lo)
	}
	b.left.Add(1)
	return &run{b, lo, hi}, bytes
}

// offsets returns where the list of a row begins and ends in the lists' values.
func offsets(a arr.Array) func(row int) (lo, hi int64) {
	return a.(array.ListLike).ValueOffsets
}

// indicesOf returns the arrays of indices and of values of sparse lists.
func (b *batch) indicesOf() (index, value arr.Array) {
	p := b.plan
	lists := b.cols[p.list].(array.ListLike).ListValues()
	if p.values >= 0 {
		return lists, b.cols[p.values].(array.ListLike).ListValues()
	}
	s := lists.(*array.Struct) // its fields know of its offset
	return s.Field(0), s.Field(1)
}

// hasZero reports whether a row has an index 0.
func (b *batch) hasZero(p *plan) bool {
	index, _ := b.indicesOf()
	off := offsets(b.cols[p.list])
	for i := range b.rows {
		if lo, hi := off(i); lo < hi && index.IsValid(int(lo)) {
			if at, _ := whole(index, int(lo), int(lo)+1); at[0] == 0 {
				return true
			}
		}
	}
	return false
}

// width returns how long the first list is that is there.
func (b *batch) width(p *plan) int {
	off := offsets(b.cols[p.list])
	for i := range b.rows {
		if b.cols[p.list].IsValid(i) {
			lo, hi := off(i)
			return int(hi - lo)
		}
	}
	return 0
}

// parse makes rows of a run.
func parse[T engine.Float](c *format.Chunk[T], s *format.Settings) {
	r, ok := c.Run.(*run)
	if !ok { // the end of the file
		return
	}
	defer r.release()
	p := r.plan
	t := format.Table[T]{Columns: p.Columns, Rows: r.hi - r.lo}
	if p.Label >= 0 {
		label := r.cols[p.Label]
		switch label.(type) {
		case *array.Int64, *array.Uint64: // a float64 does not hold each of them
			t.Digits = true
		}
		if p.kinds[p.Label] == number && !t.Digits {
			t.Y = numbers[float64](label, r.lo, r.hi)
		} else {
			t.Labels = texts(label, r.lo)
		}
	}
	if p.Weight >= 0 {
		t.Weights = numbers[float64](r.cols[p.Weight], r.lo, r.hi)
	}
	switch {
	case p.sparse():
		sparse(r, &t)
	case p.lists():
		dense(r, &t)
	default:
		for _, col := range p.Numbers {
			t.Numbers = append(t.Numbers, numbers[T](r.cols[col], r.lo, r.hi))
		}
		for _, col := range p.Texts {
			t.Texts = append(t.Texts, texts(r.cols[col], r.lo))
		}
	}
	c.AddTable(s, &t)
}

// sparse gives t the rows that are lists of indices and values.
func sparse[T engine.Float](r *run, t *format.Table[T]) {
	p, lists := r.plan, r.cols[r.plan.list]
	index, value := r.indicesOf()
	at := offsets(lists)
	from, _ := at(r.lo)
	_, to := at(r.hi - 1)
	b := &t.Lists
	b.Ptr = make([]int, 0, r.hi-r.lo+1)
	for i := r.lo; i < r.hi; i++ {
		lo, _ := at(i)
		b.Ptr = append(b.Ptr, int(lo-from))
	}
	b.Ptr = append(b.Ptr, int(to-from))
	var nulls bool
	b.Idx, nulls = whole(index, int(from), int(to))
	if p.values < 0 {
		b.Val = numbers[T](value, int(from), int(to))
		pair := lists.(array.ListLike).ListValues()
		if nulls || value.NullN() > 0 || lists.NullN() > 0 || pair.NullN() > 0 {
			t.Null = func(row int) bool {
				lo, n := int(from)+b.Ptr[row], b.Ptr[row+1]-b.Ptr[row]
				return lists.IsNull(r.lo+row) || anyNull(pair, lo, n) || anyNull(index, lo, n) ||
					anyNull(value, lo, n)
			}
		}
		return
	}
	// the values are lists of their own: row by row as long as those of the indices
	other := r.cols[p.values]
	vat := offsets(other)
	vfrom, _ := vat(r.lo)
	_, vto := vat(r.hi - 1)
	b.Val = numbers[T](value, int(vfrom), int(vto))
	same := int(vto-vfrom) == len(b.Idx)
	for i := r.lo; same && i < r.hi; i++ {
		lo, _ := vat(i)
		same = int(lo-vfrom) == b.Ptr[i-r.lo]
	}
	if same && !nulls && value.NullN() == 0 && lists.NullN() == 0 && other.NullN() == 0 {
		return
	}
	val := make([]T, len(b.Idx)) // where they are as long
	wrong := make([]bool, r.hi-r.lo)
	for i := range wrong {
		lo, hi := vat(r.lo + i)
		n := b.Ptr[i+1] - b.Ptr[i]
		wrong[i] = lists.IsNull(r.lo+i) || other.IsNull(r.lo+i) || int(hi-lo) != n ||
			anyNull(index, int(from)+b.Ptr[i], n) || anyNull(value, int(lo), n)
		if !wrong[i] {
			copy(val[b.Ptr[i]:b.Ptr[i+1]], b.Val[lo-vfrom:hi-vfrom])
		}
	}
	b.Val = val
	t.Null = func(row int) bool { return wrong[row] }
}

// anyNull reports whether one of the n elements from lo on is null.
func anyNull(a arr.Array, lo, n int) bool {
	for i := range n {
		if a.IsNull(lo + i) {
			return true
		}
	}
	return false
}

// dense gives t the rows that are lists of numbers.
func dense[T engine.Float](r *run, t *format.Table[T]) {
	lists, n := r.cols[r.plan.list], r.plan.width
	values := lists.(array.ListLike).ListValues()
	at := offsets(lists)
	from, _ := at(r.lo)
	_, to := at(r.hi - 1)
	x := numbers[T](values, int(from), int(to))
	b := &t.Lists
	b.Dim, b.Stride = n, n
	same := len(x) == n*(r.hi-r.lo)
	for i := r.lo; same && i < r.hi; i++ {
		lo, hi := at(i)
		same = int(lo-from) == n*(i-r.lo) && int(hi-lo) == n
	}
	if !same || lists.NullN() > 0 || values.NullN() > 0 {
		x = spread(x, r.hi-r.lo, n, func(i int) (lo, hi int, ok bool) {
			l, h := at(r.lo + i)
			return int(l - from), int(h - from), lists.IsValid(r.lo+i) && int(h-l) == n
		})
		bad := make([]bool, r.hi-r.lo)
		for i := range bad {
			lo, hi := at(r.lo + i)
			bad[i] = lists.IsNull(r.lo+i) || int(hi-lo) != n || anyNull(values, int(lo), n)
		}
		t.Null = func(row int) bool { return bad[row] }
	}
	b.X = x
}

// spread copies rows of n values to where they stand one behind the other; those that are not ok
// stay 0.
func spread[T engine.Float](x []T, rows, n int, at func(i int) (lo, hi int, ok bool)) []T {
	out := make([]T, rows*n)
	for i := range rows {
		if lo, hi, ok := at(i); ok {
			copy(out[i*n:(i+1)*n], x[lo:hi])
		}
	}
	return out
}

// converted are the values as T, NaN where they are null: those of the array themselves if they are
// that already.
func converted[T engine.Float, S int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 |
	float32 | float64](a arr.Array, values []S, lo int) []T {
	nulls := a.NullN() > 0
	if same, ok := any(values).([]T); ok && !nulls {
		return same
	}
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = T(v)
	}
	if nulls {
		for i := range out {
			if a.IsNull(lo + i) {
				out[i] = T(math.NaN())
			}
		}
	}
	return out
}

// numbers are elements lo to hi of an array of numbers.
func numbers[T engine.Float](a arr.Array, lo, hi int) []T {
	switch a := a.(type) {
	case *array.Float32:
		return converted[T](a, a.Float32Values()[lo:hi], lo)
	case *array.Float64:
		return converted[T](a, a.Float64Values()[lo:hi], lo)
	case *array.Int8:
		return converted[T](a, a.Int8Values()[lo:hi], lo)
	case *array.Int16:
		return converted[T](a, a.Int16Values()[lo:hi], lo)
	case *array.Int32:
		return converted[T](a, a.Int32Values()[lo:hi], lo)
	case *array.Int64:
		return converted[T](a, a.Int64Values()[lo:hi], lo)
	case *array.Uint8:
		return converted[T](a, a.Uint8Values()[lo:hi], lo)
	case *array.Uint16:
		return converted[T](a, a.Uint16Values()[lo:hi], lo)
	case *array.Uint32:
		return converted[T](a, a.Uint32Values()[lo:hi], lo)
	case *array.Uint64:
		return converted[T](a, a.Uint64Values()[lo:hi], lo)
	}
	out := make([]T, hi-lo)
	for i := range out {
		switch a := a.(type) {
		case *array.Float16:
			out[i] = T(a.Value(lo + i).Float32())
		case *array.Boolean:
			if a.Value(lo + i) {
				out[i] = 1
			}
		}
		if a.IsNull(lo + i) {
			out[i] = T(math.NaN())
		}
	}
	return out
}

// whole are elements lo to hi of an array of integers, and whether some are null: those that an
// int32 can't hold become its largest or smallest.
func whole(a arr.Array, lo, hi int) (idx []int32, nulls bool) {
	nulls = a.NullN() > 0
	if a, ok := a.(*array.Int32); ok {
		return a.Int32Values()[lo:hi], nulls
	}
	idx = make([]int32, hi-lo)
	for i := range idx {
		switch a := a.(type) {
		case *array.Int8:
			idx[i] = int32(a.Value(lo + i))
		case *array.Int16:
			idx[i] = int32(a.Value(lo + i))
		case *array.Int64:
			idx[i] = int32(min(max(a.Value(lo+i), math.MinInt32), math.MaxInt32))
		case *array.Uint8:
			idx[i] = int32(a.Value(lo + i))
		case *array.Uint16:
			idx[i] = int32(a.Value(lo + i))
		case *array.Uint32:
			idx[i] = int32(min(a.Value(lo+i), math.MaxInt32))
		case *array.Uint64:
			idx[i] = int32(min(a.Value(lo+i), math.MaxInt32))
		}
	}
	return idx, nulls
}

// texts returns the text of row lo and so on; of numbers, as they are written.
func texts(a arr.Array, lo int) func(row int) ([]byte, bool) {
	var buf []byte
	of := func(i int) { buf = appendNumber(buf, a, i) }
	switch a := a.(type) {
	case *array.String:
		of = func(i int) { buf = append(buf, a.Value(i)...) }
	case *array.LargeString:
		of = func(i int) { buf = append(buf, a.Value(i)...) }
	case *array.Dictionary:
		words := texts(a.Dictionary(), 0)
		return func(row int) ([]byte, bool) {
			if a.IsNull(lo + row) {
				return nil, false
			}
			return words(a.GetValueIndex(lo + row))
		}
	}
	return func(row int) ([]byte, bool) {
		if a.IsNull(lo + row) {
			return nil, false
		}
		buf = buf[:0]
		of(lo + row)
		return buf, true
	}
}

// appendNumber writes a number as text.
func appendNumber(b []byte, a arr.Array, i int) []byte {
	if arr.IsFloating(a.DataType().ID()) {
		bits := 64
		if a.DataType().ID() == arr.FLOAT32 {
			bits = 32
		}
		return strconv.AppendFloat(b, numbers[float64](a, i, i+1)[0], 'g', -1, bits)
	}
	switch a := a.(type) {
	case *array.Int64:
		return strconv.AppendInt(b, a.Value(i), 10)
	case *array.Uint64:
		return strconv.AppendUint(b, a.Value(i), 10)
	}
	return strconv.AppendInt(b, int64(numbers[float64](a, i, i+1)[0]), 10)
}
