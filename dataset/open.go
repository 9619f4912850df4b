package dataset

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// input is one file, uncompressed while it is read.
type input struct {
	name   string
	packed string // "", gzip, bzip2, zstd
	r      io.Reader
	head   []byte // read already, to be read first
	err    error  // of the read behind head
	ended  bool   // the compressed data ended where they should
	csv    *csvLayout
	header int // offset of the csv header's line, -1 if there is none
	close  func()
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if len(in.head) > 0 {
		n := copy(p, in.head)
		in.head = in.head[n:]
		return n, nil
	}
	if in.err != nil {
		return 0, in.err
	}
	n, err := in.r.Read(p)
	if err == io.EOF {
		in.ended = true
	}
	return n, err
}

// Close releases the file.
func (in *input) Close() { in.close() }

// meter counts the bytes read from the files.
type meter struct {
	r io.Reader
	n *atomic.Int64
}

func (m meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n.Add(int64(n))
	return n, err
}

// magic numbers of compressed data. That of bzip2 goes on with the first block's: text can't look like it.
var (
	gzipMagic  = []byte{0x1f, 0x8b}
	zstdMagic  = []byte{0x28, 0xb5, 0x2f, 0xfd}
	bzip2Block = []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}
	bzip2Empty = []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90}
)

// openInput recognises the compression of r; close is called by input.Close.
func openInput(name string, r io.Reader, n *atomic.Int64, closeFile func()) (*input, error) {
	buf := bufio.NewReaderSize(meter{r, n}, 1<<16)
	in := &input{name: name, r: buf, close: closeFile}
	head, err := buf.Peek(10)
	if err != nil && err != io.EOF {
		closeFile()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		in.packed = "gzip"
		in.r, err = gzip.NewReader(buf)
	case len(head) == 10 && string(head[:3]) == "BZh" && (bytes.Equal(head[4:], bzip2Block) || bytes.Equal(head[4:], bzip2Empty)):
		in.packed = "bzip2"
		in.r, err = bzip2.NewReader(buf), nil
	case bytes.HasPrefix(head, zstdMagic):
		in.packed = "zstd"
		var d *zstd.Decoder
		d, err = zstd.NewReader(buf, zstd.WithDecoderConcurrency(1))
		if err == nil {
			in.r = d
			in.close = func() { d.Close(); closeFile() }
		}
	default:
		err = nil
	}
	if err != nil {
		closeFile()
		return nil, in.textError(nil, err)
	}
	return in, nil
}

// textError is a failure to read on behind tail, whose first line is line 1.
func (in *input) textError(tail []byte, err error) error {
	line := 1 + bytes.Count(tail, []byte{'\n'})
	tail = tail[bytes.LastIndexByte(tail, '\n')+1:]
	e := &RowError{File: in.name, Line: line, Col: len(tail) + 1, Excerpt: excerpt(tail, len(tail))}
	if len(tail) == 0 {
		e.Excerpt = ""
	}
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &pathErr):
		return fmt.Errorf("%s: %w", in.name, err)
	case in.packed != "" && (errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF):
		e.What, e.Err = fmt.Sprintf("the %s data are truncated here: expected more", in.packed), ErrTruncated
	case in.packed != "":
		e.What, e.Err = fmt.Sprintf("the %s data are damaged here (%v)", in.packed, err), ErrFormat
	default:
		return fmt.Errorf("%s: %w", in.name, err)
	}
	return e
}

// opener opens files by name; "-" is standard input.
type opener struct {
	reader  io.Reader // stands for the file of name alone, if not nil
	read    atomic.Int64
	current atomic.Pointer[os.File] // Close interrupts a read from it
}

func (o *opener) open(name string) (*input, error) {
	switch {
	case o.reader != nil:
		return openInput(name, o.reader, &o.read, func() {})
	case name == "-":
		return openInput("stdin", os.Stdin, &o.read, func() {})
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	o.current.Store(f)
	return openInput(name, f, &o.read, func() { f.Close() })
}

// checkFiles looks whether the files are there, and adds up their sizes; 0 if one has none.
func checkFiles(files []string) (size int64, err error) {
	if len(files) == 0 {
		return 0, fmt.Errorf("no files given: %w", ErrOption)
	}
	known := true
	for _, f := range files {
		if f == "-" {
			known = false
			continue
		}
		st, err := os.Stat(f)
		if err != nil {
			return 0, err
		}
		if st.IsDir() {
			return 0, fmt.Errorf("%s is a folder, expected a file: %w", f, ErrFormat)
		}
		known = known && st.Mode().IsRegular()
		size += st.Size()
	}
	if !known {
		size = 0
	}
	return size, nil
}

// peek reads on until n bytes and two lines are there, or the end; they stay to be read.
func (in *input) peek(n int) []byte {
	buf := make([]byte, 0, 64<<10)
	for in.err == nil && (len(buf) < n || bytes.Count(buf, []byte{'\n'}) < 2) && len(buf) < maxLine {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, max(n, 2*cap(buf))), buf...)
		}
		m, err := in.r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+m]
		in.err = err
		in.ended = err == io.EOF
	}
	in.head = buf
	return buf
}

// strangers are formats to name when they are met.
var strangers = []struct{ magic, name string }{
	{"PK\x03\x04", "a zip archive: unpack it first"}, {"\xfd7zXZ\x00", "xz data: unpack them first"}, {"7z\xbc\xaf", "a 7z archive: unpack it first"},
	{"\x93NUMPY", "a NumPy array: write it as csv or svmlight"}, {"\x89HDF", "an HDF5 file: write it as csv or svmlight"},
	{"PAR1", "a Parquet file: write it as csv or svmlight"},
}

// sniff recognises the format of a file from its head.
func (in *input) sniff() (format string, err error) {
	head := in.head
	for _, s := range strangers {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return "", &RowError{File: in.name, What: "this is " + s.name, Err: ErrFormat}
		}
	}
	if idxMagic(head) != 0 {
		return "idx", nil
	}
	for i, ch := range head[:min(len(head), 4096)] {
		if ch < 9 || ch > 13 && ch < 32 && ch != 27 {
			return "", &RowError{File: in.name, Offset: int64(i),
				What: fmt.Sprintf("expected text (svmlight, csv or fasta) or an idx file, found the byte %#02x", ch), Err: ErrFormat}
		}
	}
	lines := in.lines(100)
	if len(lines) > 0 && lines[0][0] == '>' {
		return "fasta", nil
	}
	for _, l := range lines {
		t, _, _ := bytes.Cut(l, []byte{'#'})
		if bytes.ContainsAny(t, ",;") {
			return "csv", nil
		}
		f := bytes.Fields(t)
		if bytes.IndexByte(f[0], ':') >= 0 || len(f) > 1 && bytes.IndexByte(f[1], ':') >= 0 {
			return "svmlight", nil
		}
		if len(f) > 1 {
			return "csv", nil
		}
	}
	return "svmlight", nil // labels alone: rows without features
}

// lines returns the first n lines of the head that are neither blank nor a comment, as far as they are whole.
func (in *input) lines(n int) [][]byte {
	var out [][]byte
	b := in.head
	for len(out) < n && len(b) > 0 {
		l := b
		i := bytes.IndexByte(b, '\n')
		if i >= 0 {
			l, b = b[:i], b[i+1:]
		} else if b = nil; in.err != io.EOF {
			break
		}
		if t := bytes.TrimSpace(l); len(t) > 0 && t[0] != '#' {
			out = append(out, l)
		}
	}
	return out
}

// offsetOf returns where a line of lines begins in the head.
func (in *input) offsetOf(l []byte) int { return cap(in.head) - cap(l) }

// layout finds the csv layout of the file.
func (in *input) layout(o *Options) (err error) {
	in.header = -1
	lines := in.lines(20)
	if len(lines) == 0 { // one unfinished line of any length
		return &RowError{File: in.name, Line: 1, Col: 1, What: "expected the end of the first row", Excerpt: excerpt(in.head, 0), Err: ErrFormat}
	}
	at := in.offsetOf(lines[0])
	if in.csv, err = layoutCSV(lines, o); err != nil {
		kind := ErrFormat
		if o.Columns > 0 {
			kind = ErrColumns
		}
		return &RowError{File: in.name, Line: 1 + bytes.Count(in.head[:at], []byte{'\n'}), Col: 1, What: err.Error(),
			Excerpt: excerpt(lines[0], 0), Err: kind}
	}
	if in.csv.headed {
		in.header = at
	}
	return nil
}

// headError returns the error in reading the head, if it left no whole line.
func (in *input) headError() error {
	if in.err != nil && in.err != io.EOF && bytes.IndexByte(in.head, '\n') < 0 {
		return in.textError(in.head, in.err)
	}
	return nil
}

// noRows is the error of a file without rows.
func noRows(name, found string) error {
	return &RowError{File: name, Line: 1, Col: 1, What: "expected examples, found " + found, Err: ErrEmpty}
}

// nothing says what a file without rows holds.
func (in *input) nothing() string {
	if len(in.head) == 0 {
		return "an empty file"
	}
	return "only blank lines and comments"
}

// mayHaveZero tells quickly whether some token of the head could be an index 0.
func mayHaveZero(head []byte) bool {
	for _, t := range []string{" 0:", "\t0", " 00"} {
		if bytes.Contains(head, []byte(t)) {
			return true
		}
	}
	return false
}

// stripBOM drops the byte order mark of UTF-8.
func (in *input) stripBOM() {
	if s, ok := strings.CutPrefix(string(in.head[:min(3, len(in.head))]), "\ufeff"); ok && s == "" {
		in.head = in.head[3:]
	}
}
