package format

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
)

// NPZ is NumPy's zip of arrays, one of the examples and one of their labels, or SciPy's of the
// parts of a sparse matrix (save_npz). Arrays of more than two dimensions are rows of all their
// values.
// Columns are the features 1, 2, ...
//
// Formats: NumPy's savez and savez_compressed; SciPy's sparse.save_npz of a csr_matrix; both as zip
// (APPNOTE.TXT), stored or deflated.
var NPZ = &Format{
	Name: "npz", Binary: true, Kinds: []string{"svmlight"},
	Options: []Option{
		{"LabelCol", "npz: the labels' array"},
		{"WeightCol", "npz: the weights' array"},
	},
	Sniff: sniffNPZ, Open: openNPZ, Beside: besideNPZ, Place: placeLabel,
	Parse32: parseNPZ[float32], Parse64: parseNPZ[float64],
}

// npzPairs are names of examples and of their labels, those that are looked for first first.
var npzPairs = [][2]string{{"X", "y"}, {"x", "y"}, {"data", "target"}, {"features", "labels"},
	{"features", "label"}, {"images", "labels"}, {"X_train", "y_train"}, {"x_train", "y_train"},
	{"X_test", "y_test"}, {"x_test", "y_test"}, {"arr_0", "arr_1"}}

// sniffNPZ goes by the name of the first file in the zip.
func sniffNPZ(h *Head) int {
	const header = 30
	b := h.Text
	if !bytes.HasPrefix(b, []byte(zipMagic)) || len(b) < header {
		return No
	}
	n := int(binary.LittleEndian.Uint16(b[26:]))
	if b = b[header:]; len(b) >= n && bytes.HasSuffix(b[:n], []byte(".npy")) {
		return 0
	}
	return No
}

// besideNPZ is the file y.npy beside X.npz.
func besideNPZ(name string) string { return besideX(name, ".npz") }

// npzFile is an open zip of arrays.
type npzFile struct {
	file File
	at   io.ReaderAt
	size int64
	list []string // names of the arrays, as they stand in it
	zip  map[string]*zipEntry
	o    *Options
}

// openNPZ opens the zips, each of which has its labels, or goes with an array of labels.
func openNPZ(files []string, o *Options, open func(string) (File, error)) ([]Part, error) {
	return openPairs(files, o, open, pairing{read: readNPZ, beside: besideNPZ,
		alone: "labels without examples: name those of an npz too",
		missing: func(x *examples, _ []*examples) error {
			name := x.file.Name()
			return badFile(name, "examples without labels: put them into the zip (as y), or name "+
				"their array too, as %s y.npy; in it are %s", filepath.Base(name),
				quotedNames(x.names))
		}})
}

// readNPZ opens a zip of examples, or reads an array of labels and closes it.
func readNPZ(name string, in File, o *Options) (*examples, *array, error) {
	at, size := in.At()
	if at == nil {
		return nil, nil, badFile(in.Name(), "an npz is read from a file that is not packed again, "+
			"since what is in it stands at its end: write it to a file")
	}
	magic := make([]byte, len(npyMagic))
	if n, _ := at.ReadAt(magic, 0); n == len(magic) && string(magic) == npyMagic {
		x, y, err := readNPY(name, in, o)
		if x != nil {
			err = badFile(name, "examples in an npy beside those of an npz: read them alone")
		}
		return nil, y, err
	}
	list, err := readZip(at, size)
	switch {
	case err == errDirectory:
		return nil, nil, badFile(in.Name(), "the zip's directory is longer than %s",
			InKiB(mostDirectory))
	case err == errNoZip:
		return nil, nil, &RowError{File: in.Name(), Offset: size, Err: ErrTruncated,
			What: "expected a zip's directory at the end, but the file is truncated or damaged"}
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	f := &npzFile{file: in, at: at, size: size, zip: map[string]*zipEntry{}, o: o}
	for i := range list {
		name, ok := strings.CutSuffix(list[i].name, ".npy")
		if !ok {
			continue
		}
		if f.zip[name] != nil {
			return nil, nil, badFile(in.Name(), "the array %q comes twice", name)
		}
		f.list, f.zip[name] = append(f.list, name), &list[i]
	}
	x, err := f.rows(o)
	return x, nil, err
}

// rows finds examples, labels and weights.
func (f *npzFile) rows(o *Options) (x *examples, err error) {
	y, err := f.labels(o)
	if err != nil {
		return nil, err
	}
	var w *array
	if o.WeightCol != "" && (f.zip[o.WeightCol] != nil || !o.WeightOptional) {
		if w, err = f.vector(o.WeightCol, "Options.WeightCol", o); err != nil {
			return nil, err
		}
		if !w.isNumber() {
			return nil, badFile(w.name, "expected weights, which are numbers")
		}
	}
	if f.zip["indptr"] != nil && f.zip["indices"] != nil || f.zip["format"] != nil {
		x, err = f.sparse(o)
	} else {
		x, err = f.dense(o)
	}
	if err != nil {
		return nil, err
	}
	x.file, x.names = f.file, f.list
	x.own().labels, x.own().weights = y, w
	return x, nil
}

// dense opens the array of the examples.
func (f *npzFile) dense(o *Options) (*examples, error) {
	name, err := f.examples(o)
	if err != nil {
		return nil, err
	}
	m, a, err := f.open(name, o, true)
	if err != nil {
		return nil, err
	}
	if err := a.some(m); err != nil {
		return nil, err
	}
	if a.cols == 0 {
		return nil, badFile(m.name, "expected examples, an array of two dimensions")
	}
	return &examples{data: m, layout: a.layout(SVMLight.Name, "example")}, nil
}

// labels reads the labels; nil: the zip has none.
func (f *npzFile) labels(o *Options) (*array, error) {
	if o.LabelCol != "" {
		if f.zip[o.LabelCol] == nil && o.Optional {
			return nil, nil
		}
		return f.vector(o.LabelCol, "Options.LabelCol", o)
	}
	for _, pair := range npzPairs {
		if f.zip[pair[1]] != nil && (f.zip[pair[0]] != nil || f.zip["indptr"] != nil) {
			return f.vector(pair[1], "", o)
		}
	}
	return nil, nil
}

// examples returns the name of the examples' array.
func (f *npzFile) examples(o *Options) (string, error) {
	for _, pair := range npzPairs {
		if f.zip[pair[0]] != nil && (o.LabelCol == "" || o.LabelCol == pair[1]) {
			return pair[0], nil
		}
	}
	found := ""
	for _, name := range f.list {
		if name == o.LabelCol || name == o.WeightCol {
			continue
		}
		_, a, err := f.open(name, o, true)
		if err != nil || a.cols == 0 {
			continue
		}
		if found != "" {
			return "", badFile(f.file.Name(), "which array has the examples, %q or %q? Call them "+
				"X, and their labels y", found, name)
		}
		found = name
	}
	if found == "" {
		return "", badFile(f.file.Name(), "no array of examples, of two dimensions and called X, "+
			"among %s", quotedNames(f.list))
	}
	return found, nil
}

// vector reads an array of one dimension; option is what named it, if any did.
func (f *npzFile) vector(name, option string, o *Options) (*array, error) {
	if f.zip[name] == nil {
		return nil, badFile(f.file.Name(), "%s: no array %q among %s", option, name,
			quotedNames(f.list))
	}
	m, a, err := f.open(name, o, false)
	if err != nil {
		return nil, err
	}
	if a.cols > 0 {
		return nil, badFile(m.name, "expected an array of one dimension")
	}
	if err := a.some(m); err != nil {
		return nil, err
	}
	return a, a.read(m, o.Limits)
}

// open opens an array at its first element.
func (f *npzFile) open(name string, o *Options, flat bool) (*npzMember, *array, error) {
	m, err := f.member(name)
	if err != nil {
		return nil, nil, err
	}
	a, err := npyHeader(m, o.Limits, flat)
	if err != nil {
		return nil, nil, err
	}
	all := a.start + int64(a.rows)*int64(max(a.cols, 1))*int64(a.size)
	if size := f.zip[name].size; size != uint64(all) {
		return nil, nil, &RowError{File: m.name, Offset: a.start, Err: ErrTruncated,
			What: fmt.Sprintf("the header says %d bytes in all, the zip %d", all, size)}
	}
	a.name = m.name
	return m, a, nil
}

// npzMember is an array of a zip.
type npzMember struct {
	*zipData
	name string
}

// member begins to read a file of the zip.
func (f *npzFile) member(name string) (*npzMember, error) {
	z := f.zip[name]
	m := &npzMember{name: f.file.Name() + "/" + z.name}
	from, err := z.place(f.at, f.size)
	if err != nil {
		return nil, badFile(m.name, "its place in the zip is damaged")
	}
	r := io.Reader(bufio.NewReaderSize(io.NewSectionReader(f.at, from, int64(z.packed)), 1<<16))
	switch {
	case z.flags&1 != 0:
		return nil, badFile(m.name, "the zip is encrypted: save it without a password")
	case z.method == zipDeflated && f.o.Inflate != nil:
		r = f.o.Inflate(r)
	case z.method != zipStored:
		return nil, badFile(m.name, "packed by the zip's method %d: save it by numpy.savez or "+
			"savez_compressed", z.method)
	}
	m.zipData = newZipData(r, z)
	return m, nil
}

// Name returns the name in errors.
func (m *npzMember) Name() string { return m.name }

// Close does nothing: the zip is closed.
func (m *npzMember) Close() {}

// At returns nothing: there may be no such bytes in the file.
func (m *npzMember) At() (io.ReaderAt, int64) { return nil, 0 }

// Broken implements File.
func (m *npzMember) Broken(offset int64, wanted string, err error) error {
	e := &RowError{File: m.name, Offset: offset, Err: ErrFormat}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		e.What, e.Err = "expected "+wanted+", but the array is truncated", ErrTruncated
	case errors.As(err, new(*fs.PathError)):
		return fmt.Errorf("%s:byte %d: %w", m.name, offset, err)
	default:
		e.What = fmt.Sprintf("expected %s, but the zip's data are damaged: %v", wanted, err)
	}
	return e
}

// csrReader reads the parts of a sparse matrix side by side.
type csrReader struct {
	rows     *arrayRows
	most     int // bytes of a row
	idx, val *npzMember
	ptr      *bufio.Reader
	ends     *array // its kind and size
	at       int    // rows read
	end      int64  // of the row before, in idx and val
	counts   []uint32
}

// matrixParts are the arrays of SciPy's save_npz.
var matrixParts = []string{"indptr", "indices", "data", "shape"}

// sparse opens the parts of a matrix that SciPy's save_npz wrote.
func (f *npzFile) sparse(o *Options) (*examples, error) {
	if err := f.isCSR(); err != nil {
		return nil, err
	}
	for _, name := range matrixParts {
		if f.zip[name] == nil {
			return nil, badFile(f.file.Name(), "a sparse matrix without its array %q: save it by "+
				"scipy.sparse.save_npz", name)
		}
	}
	rows, cols, err := f.matrixShape(o)
	if err != nil {
		return nil, err
	}
	own := &arrayRows{rows: rows, dim: cols}
	r := &csrReader{rows: own, most: o.Limits.Line}
	ptr, ends, err := f.open("indptr", o, false)
	if err != nil {
		return nil, err
	}
	r.ptr, r.ends = bufio.NewReaderSize(ptr, 1<<14), ends
	if r.idx, own.idx, err = f.open("indices", o, false); err != nil {
		return nil, err
	}
	if r.val, own.val, err = f.open("data", o, false); err != nil {
		return nil, err
	}
	switch name := f.file.Name(); {
	case !ends.isInteger() || !own.idx.isInteger():
		return nil, badFile(name, "expected indptr and indices of whole numbers")
	case !own.val.isNumber():
		return nil, badFile(own.val.name, "expected values that are numbers")
	case ends.cols > 0 || ends.rows != rows+1:
		return nil, badFile(ends.name, "%d elements for %d rows: expected one more than rows",
			ends.rows, rows)
	case own.idx.cols > 0 || own.val.cols > 0 || own.idx.rows != own.val.rows:
		return nil, badFile(name, "%d indices, but %d values", own.idx.rows, own.val.rows)
	}
	return &examples{runs: r, layout: &Layout{Kind: SVMLight.Name, IndexBase: 1,
		BaseFound: byColumns, Dim: cols, Run: true, Own: own}}, nil
}

// isCSR refuses matrices of another form, where the form is said.
func (f *npzFile) isCSR() error {
	if f.zip["format"] == nil {
		return nil
	}
	m, err := f.member("format")
	if err != nil {
		return err
	}
	// a text of three letters, of bytes or of UTF-32, behind a header that ends its line
	text, err := io.ReadAll(io.LimitReader(m, 1<<10))
	if err != nil {
		return m.Broken(int64(len(text)), "the matrix's form", err)
	}
	form := strings.ReplaceAll(string(text[bytes.IndexByte(text, '\n')+1:]), "\x00", "")
	if form != "csr" {
		return badFile(f.file.Name(), "a sparse matrix in the form %.8q, whose rows don't stand "+
			"together: save X.tocsr()", form)
	}
	return nil
}

// matrixShape reads the sizes of a matrix.
func (f *npzFile) matrixShape(o *Options) (rows, cols int, err error) {
	shape, err := f.vector("shape", "", o)
	if err != nil {
		return 0, 0, err
	}
	n := [2]int64{-1, -1}
	if shape.rows == 2 && shape.isInteger() {
		for i := range n {
			n[i] = npyInteger(shape.kind, shape.size, shape.y[i*shape.size:])
		}
	}
	switch {
	case n[0] < 0 || n[0] >= math.MaxInt32 || n[1] < 1 || n[1] >= maxIndex:
		return 0, 0, badFile(shape.name, "expected a matrix's rows and columns, found %d and %d",
			n[0], n[1])
	case n[0] == 0:
		return 0, 0, &RowError{File: f.file.Name(), Err: ErrEmpty,
			What: "expected examples, the shape says 0"}
	}
	return int(n[0]), int(n[1]), nil
}

// mostRun is how many examples there are in a run at most: of bad ones all errors are kept.
const mostRun = 4096

// Next implements Runs: a text has the number of its rows, how many values each has, their indices
// and their values, and begins at the number of its first row.
func (r *csrReader) Next(b []byte, size int) (run Run, err error) {
	run.At = int64(r.at)
	from := r.end
	if r.at == 0 {
		if end, err := r.readEnd(); err != nil || end != 0 {
			return run, r.badEnd(end, err)
		}
	}
	per := int64(r.rows.idx.size + r.rows.val.size)
	r.counts = r.counts[:0]
	for r.at < r.rows.rows && len(r.counts) < mostRun && (r.end-from)*per < int64(size) {
		end, err := r.readEnd()
		if err != nil || end < r.end || end > int64(r.rows.idx.rows) {
			return run, r.badEnd(end, err)
		}
		if n := end - r.end; n*per > int64(r.most) {
			return run, &RowError{File: r.ends.name, Err: ErrFormat,
				Offset: r.ends.start + int64(r.at)*int64(r.ends.size),
				What: fmt.Sprintf("an example of %d values is longer than %s: if it is meant, "+
					"raise Options.MaxLine", n, InKiB(int64(r.most)))}
		}
		r.counts = append(r.counts, uint32(end-r.end))
		r.at, r.end = r.at+1, end
	}
	b = binary.LittleEndian.AppendUint32(b[:0], uint32(len(r.counts)))
	for _, n := range r.counts {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	n := int(r.end - from)
	b, err = appendFrom(b, r.idx, r.rows.idx, from, n)
	if err == nil {
		b, err = appendFrom(b, r.val, r.rows.val, from, n)
	}
	switch {
	case err != nil:
	case r.at < r.rows.rows:
	case r.end != int64(r.rows.idx.rows):
		err = r.badEnd(r.end, nil)
	default:
		err = io.EOF
	}
	run.Text = b
	return run, err
}

// Close implements Runs.
func (r *csrReader) Close() {}

// appendFrom reads the next n elements of an array, of which from are read.
func appendFrom(b []byte, m *npzMember, a *array, from int64, n int) ([]byte, error) {
	lo := len(b)
	b = slices.Grow(b, n*a.size)[:lo+n*a.size]
	k, err := io.ReadFull(m, b[lo:])
	if err != nil {
		at := from + int64(k/a.size)
		return nil, m.Broken(a.start+from*int64(a.size)+int64(k),
			fmt.Sprintf("element %d of %d", at+1, a.rows), err)
	}
	return b, nil
}

// readEnd reads the next element of indptr.
func (r *csrReader) readEnd() (int64, error) {
	var b [8]byte
	_, err := io.ReadFull(r.ptr, b[:r.ends.size])
	return npyInteger(r.ends.kind, r.ends.size, b[:]), err
}

// badEnd is the error of an element of indptr.
func (r *csrReader) badEnd(end int64, err error) error {
	at := r.ends.start + int64(r.at)*int64(r.ends.size)
	if err != nil {
		return (&npzMember{name: r.ends.name}).Broken(at, fmt.Sprintf("element %d of %d", r.at+1,
			r.ends.rows), err)
	}
	return &RowError{File: r.ends.name, Offset: at, Err: ErrFormat,
		What: fmt.Sprintf("expected ends of rows that ascend from 0 to %d, found %d after %d",
			r.rows.idx.rows, end, r.end)}
}

// parseNPZ reads rows of numbers, or those of a sparse matrix.
func parseNPZ[T engine.Float](c *Chunk[T], s *Settings) {
	own := c.Layout.Own.(*arrayRows)
	if !c.Layout.Run {
		c.Out.Reset(true)
		parseNPY(c, s)
		return
	}
	if c.N == 0 { // the run could not be read
		return
	}
	n := int(binary.LittleEndian.Uint32(c.Text))
	counts, all := c.Text[4:], 0
	for i := range n {
		all += int(binary.LittleEndian.Uint32(counts[4*i:]))
	}
	ib, vb := own.idx.size, own.val.size
	indices := counts[4*n:]
	values := indices[ib*all:]
	l := labels[T]{c: c, s: s, y: own.labels, w: own.weights, code: -1}
	var idx []int32
	var val []T
	for i := range n {
		k := int(binary.LittleEndian.Uint32(counts[4*i:]))
		code, bad := l.row(int(c.Offset)+i, i)
		col, last := 0, int64(-1)
		idx, val = idx[:0], val[:0]
		for p := range k {
			j := npyInteger(own.idx.kind, ib, indices[p*ib:])
			held := npyNumber(own.val.kind, vb, values[p*vb:])
			v := T(held)
			if bad == "" && (j <= last || j >= int64(own.dim) || v-v != 0) {
				col, bad = p, badElement[T](j, last, own.dim, held)
			}
			last = j
			idx, val = append(idx, int32(j)), append(val, v)
		}
		indices, values = indices[k*ib:], values[k*vb:]
		if bad == "" {
			c.Sparse(s, code, idx, val)
		} else if l.forget(); !c.Bad(s, c.N, c.N+col, bad) {
			return
		}
		c.Out.Lines++
	}
}

// badElement says what is wrong with value v of a sparse row, read as a T.
func badElement[T engine.Float](j, last int64, dim int, v float64) string {
	switch {
	case j < 0:
		return fmt.Sprintf("index %d is negative", j)
	case j >= int64(dim):
		return fmt.Sprintf("index %d of %d features", j, dim)
	case j == last:
		return fmt.Sprintf("index %d comes twice in the row: call X.sum_duplicates() and save "+
			"again", j)
	case j < last:
		return fmt.Sprintf("index %d after %d: call X.sort_indices() and save again", j, last)
	}
	return notFits[T](v)
}
