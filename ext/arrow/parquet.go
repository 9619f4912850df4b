package arrow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	arr "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// parquetRuns reads the rows of a Parquet file, row group after row group, a batch at a time. Of
// each column that is used a page is in memory.
type parquetRuns struct {
	name    string
	mem     *bounded
	file    *pqarrow.FileReader
	schema  *arr.Schema
	plan    *plan
	cols    []*pqarrow.ColumnReader // nil of those that aren't used
	workers int
	batch   int64 // rows that are decoded at a time
	rows    int64 // of the file
	seen    int64 // rows so far
	cursor
}

func openParquet(in format.File, o *format.Options, first *format.Layout) (format.Runs,
	*format.Layout, error) {
	r := &parquetRuns{name: in.Name(), mem: newBounded(o.Limits.Decode), workers: o.Workers}
	lay, err := r.open(in, o, first)
	if err != nil {
		return nil, nil, err
	}
	return r, lay, nil
}

// mostRows is how many rows are decoded at a time, and mostValues about how many values: as many as
// keep several workers busy, and fit into some MiB.
const (
	mostRows   = 1 << 13
	mostValues = 1 << 18
)

func (r *parquetRuns) open(in format.File, o *format.Options, first *format.Layout) (
	lay *format.Layout, err error) {
	at, size := in.At()
	if at == nil {
		return nil, r.bad(0, "Parquet is read from its end: name the file itself, unpacked")
	}
	if err := r.footer(in, at, size); err != nil {
		return nil, err
	}
	props := parquet.NewReaderProperties(r.mem)
	props.BufferedStreamEnabled = true
	props.MaxCompressedPageSize = min(props.MaxCompressedPageSize, r.mem.most)
	props.MaxUncompressedPageSize = min(props.MaxUncompressedPageSize, r.mem.most)
	err = func() (err error) {
		defer guard(&err)
		f, err := file.NewParquetReader(io.NewSectionReader(at, 0, size), file.WithReadProps(props))
		if err != nil {
			return err
		}
		if stored := f.MetaData().KeyValueMetadata().FindValue("ARROW:schema"); stored != nil {
			if err := checkStored(*stored); err != nil {
				return err
			}
		}
		r.file, err = pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, r.mem)
		if err != nil {
			return err
		}
		r.rows = f.NumRows()
		if r.schema, err = r.file.Schema(); err != nil {
			return err
		}
		return chunksFit(f.MetaData(), size)
	}()
	if err != nil {
		return nil, r.wrong(err)
	}
	// a look at the first lists, where these decide something
	look := &parquetRuns{name: r.name, mem: r.mem, file: r.file, schema: r.schema, workers: 1,
		rows: r.rows, batch: 1 << 10}
	defer func() {
		look.Close()
		if look.cur != nil {
			look.cur.release()
		}
	}()
	begin := func(p *plan) (*batch, error) {
		if err := look.columns(p); err != nil {
			return nil, look.wrong(err)
		}
		b, err := look.look(look.read())
		if err != nil {
			err = look.wrong(err)
		}
		return b, err
	}
	if r.plan, lay, err = newPlan(r.name, r.schema, o, first, begin); err != nil {
		return nil, err
	}
	if err := r.columns(r.plan); err != nil {
		return nil, r.wrong(err)
	}
	return lay, nil
}

// footer looks at the file's end.
func (r *parquetRuns) footer(in format.File, at io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return in.Broken(size, "a Parquet file of more than 12 bytes", io.ErrUnexpectedEOF)
	}
	if _, err := at.ReadAt(end[:], size-8); err != nil {
		return in.Broken(size-8, "the end of a Parquet file", err)
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	switch string(end[4:]) {
	case "PAR1":
	case "PARE":
		return r.bad(size-4, "the file is encrypted: write it without encryption")
	default:
		return in.Broken(size-4, "PAR1 at the end of the file", io.ErrUnexpectedEOF)
	}
	if n > size-12 {
		return r.bad(size-8, "the description of the file takes %d bytes, and there are %d", n,
			size-12)
	}
	if n > r.mem.most/8 { // what is made of it takes some times as much
		return &format.RowError{File: r.name, Offset: size - 8, Err: format.ErrMemory,
			What: fmt.Sprintf("the description of the file takes %s, for which there is no room: "+
				"raise Options.Memory", format.InKiB(n))}
	}
	return nil
}

// chunksFit looks at where the file's description says that columns lie, before they are read by
// goroutines of the library, whose panics can't be caught.
func chunksFit(m *metadata.FileMetaData, size int64) error {
	for g := range m.RowGroups {
		group := m.RowGroup(g)
		for i := range group.NumColumns() {
			c, err := group.ColumnChunk(i)
			if err != nil {
				return err
			}
			begin, n := c.DataPageOffset(), c.TotalCompressedSize()
			if c.HasDictionaryPage() && c.DictionaryPageOffset() > 0 {
				begin = min(begin, c.DictionaryPageOffset())
			}
			if begin < 0 || n < 0 || begin > size || n > size-begin || c.NumValues() < 0 ||
				c.TotalUncompressedSize() < 0 {
				return fmt.Errorf("column %d of row group %d takes %d bytes from byte %d on, of %d",
					i+1, g+1, n, begin, size)
			}
		}
	}
	return nil
}

// bad is an error of the file.
func (r *parquetRuns) bad(at int64, what string, args ...any) error {
	return &format.RowError{File: r.name, Offset: at, What: fmt.Sprintf(what, args...),
		Err: format.ErrFormat}
}

// wrong is the error of data that go wrong.
func (r *parquetRuns) wrong(err error) error {
	if errors.As(err, new(*format.RowError)) {
		return err
	}
	const what = "what is decoded at a time (pages of all columns)"
	if e := r.mem.tooLarge(r.name, 0, what); e != nil {
		return e
	}
	e := &format.RowError{File: r.name, Err: format.ErrFormat,
		What: fmt.Sprintf("the Parquet data can't be read behind row %d: %v", r.seen, err)}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		e.Err, e.What = format.ErrTruncated,
			fmt.Sprintf("the Parquet data end too early, behind row %d", r.seen)
	}
	return e
}

// columns opens those that are used.
func (r *parquetRuns) columns(p *plan) (err error) {
	defer guard(&err)
	r.plan = p
	r.cols = make([]*pqarrow.ColumnReader, len(p.names))
	groups := make([]int, r.file.ParquetReader().NumRowGroups())
	for i := range groups {
		groups[i] = i
	}
	used := 0
	for i := range r.cols {
		if !p.used[i] {
			continue
		}
		used++
		leaves := map[int]bool{}
		addLeaves(leaves, &r.file.Manifest.Fields[i])
		if r.cols[i], err = r.file.GetFieldReader(context.Background(), i, leaves,
			groups); err != nil {
			return fmt.Errorf("column %q: %w", p.names[i], err)
		}
	}
	if r.batch == 0 {
		r.batch = int64(max(64, min(mostRows, mostValues/max(1, used, p.width))))
	}
	return nil
}

// addLeaves adds the numbers of the stored columns that a column of the table has.
func addLeaves(to map[int]bool, f *pqarrow.SchemaField) {
	if f.IsLeaf() {
		to[f.ColIndex] = true
	}
	for i := range f.Children {
		addLeaves(to, &f.Children[i])
	}
}

// read decodes the next rows into cur: columns side by side, where these are enough work.
func (r *parquetRuns) read() error {
	r.cur, r.next = nil, 0
	if r.seen >= r.rows {
		return io.EOF
	}
	cols := make([]arr.Array, len(r.cols))
	errs := make([]error, len(r.cols))
	var next atomic.Int32
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(cols) {
				return
			}
			if r.cols[i] != nil {
				cols[i], errs[i] = r.column(i)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(r.workers, len(r.cols)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	done := func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}
	rows := 0
	for i, c := range cols {
		if errs[i] != nil {
			done()
			return fmt.Errorf("column %q: %w", r.plan.names[i], errs[i])
		}
		if c != nil {
			rows = c.Len()
		}
	}
	if rows == 0 {
		done()
		return fmt.Errorf("%d rows, but %d were announced", r.seen, r.rows)
	}
	var err error
	r.cur, err = newBatch(r.plan, cols, rows, done)
	return err
}

// column decodes the next rows of a column.
func (r *parquetRuns) column(i int) (a arr.Array, err error) {
	defer guard(&err)
	parts, err := r.cols[i].NextBatch(r.batch)
	if err != nil {
		return nil, err
	}
	defer parts.Release()
	if len(parts.Chunks()) == 1 {
		a = parts.Chunk(0)
		a.Retain()
		return a, nil
	}
	return array.Concatenate(parts.Chunks(), r.mem)
}

// Next implements format.Runs.
func (r *parquetRuns) Next(_ []byte, size int) (format.Run, error) {
	return r.take(size, func() error {
		if r.cur != nil {
			r.seen += int64(r.cur.rows)
		}
		err := r.read()
		if err != nil && err != io.EOF {
			err = r.wrong(err)
		}
		return err
	})
}

// Close implements format.Runs.
func (r *parquetRuns) Close() {
	for _, c := range r.cols {
		if c != nil {
			c.Release()
		}
	}
}
