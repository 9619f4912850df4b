package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

// NPY is NumPy's arrays: one of two dimensions, a row an example, and one of labels beside it.
// Columns are the features 1, 2, ...
//
// Format: NumPy Enhancement Proposal 1, versions 1.0 to 3.0.
var NPY = &Format{
	Name: "npy", Binary: true, Dense: true, Kinds: []string{"svmlight"},
	Sniff: sniffNPY, Open: openNPY, Beside: besideNPY, Place: placeLabel,
	Parse32: parseNPY[float32], Parse64: parseNPY[float64],
}

const npyMagic = "\x93NUMPY"

// mostNPYHeader is the longest header that is read: that of two dimensions takes some 100 bytes.
const mostNPYHeader = 1 << 16

// array is one of NumPy's or a file of idx, of which what it says of itself was read.
type array struct {
	name       string
	kind       byte   // f, i, u, b; U and S of labels
	size       int    // bytes of an element
	rows, cols int    // cols: 0 where there is one dimension
	header     int64  // byte where the header says how many rows there are
	start      int64  // byte of the first element
	flat       bool   // more than two dimensions are rows of all their values
	y          []byte // labels
}

// arrayRows are the examples of a file.
type arrayRows struct {
	rows, dim       int
	labels, weights *array // nil: none
	kind            byte   // of the elements of dense examples
	image           bool   // the square of an appended bias is added to the pixels', not they to it
	idx, val        *array // kinds and sizes, of sparse ones
}

func sniffNPY(h *Head) int {
	if bytes.HasPrefix(h.Text, []byte(npyMagic)) {
		return 0
	}
	return No
}

// besideNPY is the npy whose name has y for X at its begin.
func besideNPY(name string) string { return besideX(name, ".npy") }

func besideX(name, ending string) string {
	base, ok := strings.CutSuffix(filepath.Base(name), ending)
	if !ok || base == "" || base[0]|0x20 != 'x' {
		return ""
	}
	return siblingOf(name, "y"+base[1:]+".npy")
}

// siblingOf is the file of that name in the folder of another one, "" where there is none.
func siblingOf(file, name string) string {
	name = filepath.Join(filepath.Dir(file), name)
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

// placeLabel finds a label in the labels' file.
func placeLabel(e *RowError, l *Layout, at int64) {
	y := l.Own.(*arrayRows).labels
	if y == nil {
		return
	}
	if !l.Run {
		at = (at - l.Start) / int64(l.Size)
	}
	e.File, e.Line, e.Col, e.Excerpt = y.name, 0, 0, ""
	e.Offset = y.start + at*int64(y.size)
}

// openNPY opens the arrays: those of two dimensions are examples, those of one their labels.
func openNPY(files []string, o *Options, open func(string) (File, error)) ([]Part, error) {
	return openPairs(files, o, open, pairing{read: readNPY, beside: besideNPY,
		alone: "an array of one dimension, as labels are: name that of the examples too, which " +
			"has two",
		missing: func(_ *examples, all []*examples) error {
			if n := len(all); n == 2 && min(all[0].layout.Dim, all[1].layout.Dim) == 1 {
				return badFile(all[1].file.Name(), "labels of two dimensions: save y.ravel()")
			}
			return badFile(all[0].file.Name(), "examples without labels: name both, as X.npy y.npy")
		}})
}

// readNPY reads the header of an array of examples, or all of one of labels.
func readNPY(name string, in File, o *Options) (*examples, *array, error) {
	a, err := npyHeader(in, o.Limits, false)
	if err == nil {
		err = a.some(in)
	}
	if err != nil {
		return nil, nil, err
	}
	if a.name = name; a.cols > 0 {
		return &examples{file: in, layout: a.layout(SVMLight.Name, "example")}, nil, nil
	}
	return nil, a, a.read(in, o.Limits)
}

// some refuses an array without rows.
func (a *array) some(in File) error {
	if a.rows > 0 {
		return nil
	}
	return &RowError{File: in.Name(), Offset: a.header, Err: ErrEmpty,
		What: "expected examples, the header says 0"}
}

// read reads labels to the end of their file.
func (a *array) read(in File, l *Limits) (err error) {
	all := int64(a.rows) * int64(a.size)
	if all > l.Held {
		return &RowError{File: in.Name(), Offset: a.header, Err: ErrMemory,
			What: fmt.Sprintf("%d labels take more than the %s there are for them: raise "+
				"Options.Memory", a.rows, InKiB(l.Held))}
	}
	if a.y, err = readRows(in, a.start, all, func(n int) string {
		return fmt.Sprintf("label %d of %d", n/a.size+1, a.rows)
	}); err != nil {
		return err
	}
	return AtEnd(in, a.start+all, a.rows)
}

// readRows reads so many bytes from the one at start on; wanted says what is behind the first n.
func readRows(in File, start, all int64, wanted func(n int) string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, all)) // grows with what is there: the header may lie
	if err == nil && int64(len(b)) < all {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, in.Broken(start+int64(len(b)), wanted(len(b)), err)
	}
	return b, nil
}

// npyHeader reads the header of an array. With flat one of more than two dimensions is rows of all
// their values.
func npyHeader(in File, l *Limits, flat bool) (*array, error) {
	bad := func(at int64, what string, args ...any) error {
		return &RowError{File: in.Name(), Offset: at, What: fmt.Sprintf(what, args...),
			Err: ErrFormat}
	}
	var fixed [12]byte
	n := 10
	if k, err := io.ReadFull(in, fixed[:n]); err != nil {
		return nil, in.Broken(int64(k), "a header of NumPy", err)
	}
	if string(fixed[:6]) != npyMagic || fixed[6] < 1 || fixed[6] > 3 {
		return nil, bad(0, "expected NumPy's array in version 1 to 3, found %q", fixed[:8])
	}
	length := uint32(binary.LittleEndian.Uint16(fixed[8:]))
	if fixed[6] > 1 {
		if k, err := io.ReadFull(in, fixed[10:]); err != nil {
			return nil, in.Broken(10+int64(k), "a header of NumPy", err)
		}
		n, length = 12, binary.LittleEndian.Uint32(fixed[8:])
	}
	if length > mostNPYHeader {
		return nil, bad(8, "a header of %d bytes is too long", length)
	}
	text := make([]byte, length)
	if k, err := io.ReadFull(in, text); err != nil {
		return nil, in.Broken(int64(n+k), "a header of NumPy", err)
	}
	a := &array{start: int64(n) + int64(length), header: int64(n), flat: flat}
	if what := a.describe(string(text)); what != "" {
		return nil, bad(int64(n), "%s", what)
	}
	if a.rows > 0 && int64(a.cols)*int64(a.size) > int64(l.Line) {
		e := l.TooLong(in.Name(), nil)
		return nil, &RowError{File: in.Name(), Offset: int64(n), Err: e.Err,
			What: fmt.Sprintf("examples of %d values: %s", a.cols, e.What)}
	}
	return a, nil
}

// describe reads the dictionary of a header, and says what is wrong with it.
func (a *array) describe(text string) string {
	field := func(key, from, to string) (string, bool) {
		_, rest, ok := strings.Cut(text, "'"+key+"':")
		rest, begins := strings.CutPrefix(strings.TrimLeft(rest, " "), from)
		value, _, ends := strings.Cut(rest, to)
		return value, ok && begins && ends
	}
	descr, ok := field("descr", "'", "'")
	if !ok || len(descr) < 3 {
		return "expected an array of numbers ('descr' of one type)"
	}
	size, err := strconv.Atoi(descr[2:])
	if a.kind, a.size = descr[1], size; descr[0] == '>' {
		return fmt.Sprintf("elements of %s, the largest byte first: save X.astype('<%s')", descr,
			descr[1:])
	}
	order, okOrder := field("fortran_order", "", ",")
	shape, okShape := field("shape", "(", ")")
	if err != nil || !okOrder || !okShape {
		return "expected 'descr', 'fortran_order' and 'shape'"
	}
	if what := a.shape(shape, order); what != "" {
		return what
	}
	if !a.usable(size) {
		return fmt.Sprintf("elements of type %s can't be used: save X.astype('<f8')", descr)
	}
	return ""
}

// shape reads the sizes, and says what is wrong with them.
func (a *array) shape(shape, order string) string {
	var dims []int
	for _, d := range strings.Split(shape, ",") {
		if d = strings.TrimSpace(d); d == "" {
			continue
		}
		n, err := strconv.Atoi(d)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return fmt.Sprintf("expected sizes, found %q", shape)
		}
		dims = append(dims, n)
	}
	for a.flat && len(dims) > 2 && dims[1] <= 1<<26 { // so the product is below 2^57
		dims = slices.Replace(dims, 1, 3, dims[1]*dims[2])
	}
	two := len(dims) == 2
	switch {
	case two && (dims[1] == 0 || dims[1] > 1<<26), len(dims) != 1 && !two:
		return fmt.Sprintf("an array of (%s) can't be used: examples have two dimensions, "+
			"labels one", shape)
	case order != "False" && two:
		return "an array in Fortran's order, column by column: save np.ascontiguousarray(X)"
	}
	if a.rows = dims[0]; two {
		a.cols = dims[1]
	}
	return ""
}

// usable reports whether elements of the kind and of that size are numbers, or texts of labels.
func (a *array) usable(size int) bool {
	switch a.kind {
	case 'f':
		return size == 4 || size == 8
	case 'i', 'u':
		return size == 1 || size == 2 || size == 4 || size == 8
	case 'b':
		return size == 1
	case 'U':
		a.size = 4 * size
	case 'S':
	default:
		return false
	}
	return a.cols == 0 && size > 0 && size <= LongLabel
}

// isNumber reports whether the elements are numbers, and isInteger whether they are whole ones.
func (a *array) isNumber() bool  { return a.kind != 'U' && a.kind != 'S' }
func (a *array) isInteger() bool { return a.kind == 'i' || a.kind == 'u' }

// npyInteger is the whole number at b, -1 if it is too large for an int64.
func npyInteger(kind byte, size int, b []byte) int64 {
	switch {
	case size == 4 && kind == 'i':
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case size == 8:
		v := int64(binary.LittleEndian.Uint64(b))
		if kind == 'u' && v < 0 {
			return -1
		}
		return v
	}
	return int64(npyNumber(kind, size, b))
}

// npyNumber is the number at b.
func npyNumber(kind byte, size int, b []byte) float64 {
	switch {
	case kind == 'f' && size == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case kind == 'f':
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	var w [8]byte
	copy(w[:], b[:size])
	u := binary.LittleEndian.Uint64(w[:])
	if kind == 'i' {
		shift := 64 - 8*size
		return float64(int64(u<<shift) >> shift)
	}
	return float64(u)
}

// native: the bytes of this machine's numbers stand in the files' order.
var native = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// npyRow sets row to the numbers that b begins with, and returns the sum of their squares where it
// is exact whatever the order, as that of bytes; else -1. Those of whole data sets are bytes, as
// pixels, and floats: for them the kind is looked at once a row.
func npyRow[T engine.Float](kind byte, size int, row []T, b []byte) (squares float64) {
	b = b[:size*len(row)]
	switch {
	case kind == 'f' && size == int(unsafe.Sizeof(T(0))) && native:
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(row))), len(b)), b)
	case kind == 'f' && size == 4:
		for k := range row {
			row[k] = T(math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])))
		}
	case kind == 'f' && size == 8:
		for k := range row {
			row[k] = T(math.Float64frombits(binary.LittleEndian.Uint64(b[8*k:])))
		}
	case kind == 'i' && size == 1:
		for k := range row {
			row[k] = T(int8(b[k]))
		}
	case size == 1:
		sum := uint64(0) // below 2^26 2^16
		for k, v := range b[:len(row)] {
			row[k] = T(v)
			sum += uint64(v) * uint64(v)
		}
		return float64(sum)
	default:
		for k := range row {
			row[k] = T(npyNumber(kind, size, b[k*size:]))
		}
	}
	return -1
}

// number is the label at b, 0 if it is a text.
func (a *array) number(b []byte) float64 {
	if a.kind == 'S' || a.kind == 'U' {
		return 0
	}
	return npyNumber(a.kind, a.size, b)
}

// label is the text of label i.
func (a *array) label(i int) []byte {
	b := a.y[i*a.size : (i+1)*a.size]
	switch a.kind {
	case 'S':
		return bytes.TrimRight(b, "\x00")
	case 'U':
		var text []byte
		for ; len(b) > 0; b = b[4:] {
			if r := binary.LittleEndian.Uint32(b); r != 0 {
				text = append(text, string(rune(min(r, 0x110000)))...)
			}
		}
		return text
	}
	v := npyNumber(a.kind, a.size, b)
	switch {
	case a.kind == 'u' && a.size == 8:
		return strconv.AppendUint(nil, binary.LittleEndian.Uint64(b), 10)
	case a.kind == 'i' && a.size == 8:
		return strconv.AppendInt(nil, int64(binary.LittleEndian.Uint64(b)), 10)
	case v != v:
		return nil
	}
	return []byte(NumberText(v))
}

// labels gives rows their labels and weights.
type labels[T engine.Float] struct {
	c     *Chunk[T]
	s     *Settings
	y, w  *array
	text  []byte     // of the label found last, and
	code  int32      // its number; -1: none yet
	bytes [256]int32 // 1 more than the numbers of labels of one byte; 0: none yet
}

// row returns the number of row i's label, where the row begins at byte at of the chunk, and what
// is wrong with it.
func (l *labels[T]) row(i, at int) (code int32, bad string) {
	if y := l.y; y == nil {
		l.code = l.c.NoLabel(at, at)
	} else if b := y.y[i*y.size : (i+1)*y.size]; len(b) == 1 && l.bytes[b[0]] > 0 {
		l.code = l.bytes[b[0]] - 1
	} else if l.code < 0 || string(l.text) != string(b) {
		l.text = b
		if l.code, bad = l.find(i, at); bad == "" && len(b) == 1 {
			l.bytes[b[0]] = l.code + 1
		}
	}
	if l.w != nil && bad == "" {
		var w T
		w, bad = WeightOf[T](npyNumber(l.w.kind, l.w.size, l.w.y[i*l.w.size:]))
		if bad == "" {
			l.c.Out.Weigh(w)
		} else {
			bad = fmt.Sprintf("%s, which is weight %d of %s", bad, i+1, l.w.name)
		}
	}
	return l.code, bad
}

// find is row of a label that isn't known.
func (l *labels[T]) find(i, at int) (code int32, bad string) {
	y := l.y
	if v := y.number(l.text); v-v != 0 && (v == v || !l.s.Optional) {
		return 0, fmt.Sprintf("expected a finite label, found %v, which is label %d of %s", v, i+1,
			y.name)
	}
	text := y.label(i)
	// an array has no other way to say that there is none
	return l.c.label(l.s, text, !y.isNumber() && !l.c.Out.missing(text, false), at, at)
}

// forget forgets labels that only a bad row may have.
func (l *labels[T]) forget() {
	l.code = -1
	clear(l.bytes[:])
}

// parseNPY reads rows of numbers. A row is a line, and a value of it a column, in errors.
func parseNPY[T engine.Float](c *Chunk[T], s *Settings) {
	own := c.Layout.Own.(*arrayRows)
	cols, bytes := c.Layout.Dim, c.Layout.Size
	size, n := bytes/cols, c.N/bytes
	first := int(c.Offset-c.Layout.Start) / bytes
	l := labels[T]{c: c, s: s, y: own.labels, w: own.weights, code: -1}
	one := float64(T(s.One))
	r, exact := c.Out, s.Bias == 0 || s.One == 1 || own.image
	r.X = slices.Grow(r.X, n*Stride(cols+s.Bias))
	for i := range n {
		at := i * bytes
		c.BeginRecord(at)
		code, bad := l.row(first+i, at)
		lo, col := len(r.X), 0
		row := r.room(s, cols) // where the numbers go at once
		sum := npyRow(own.kind, size, row[s.Bias:], c.Text[at:at+bytes])
		if sum < 0 || !exact {
			sum = Squares(row)
		} else {
			sum += float64(s.Bias) * float64(one*one)
		}
		if sum-sum != 0 && bad == "" { // or the values are finite, and their squares are not
			for k, v := range row[s.Bias:] {
				if v-v != 0 {
					bad, col = notFits[T](npyNumber(own.kind, size, c.Text[at+k*size:])), k
					break
				}
			}
		}
		if bad != "" {
			r.X = r.X[:lo]
			l.forget()
			if !c.Bad(s, c.N, c.N+col, bad) {
				return
			}
		} else {
			r.Finish(row, sum, s)
			r.Code = append(r.Code, code)
		}
		r.Lines++
	}
}
