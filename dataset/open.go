package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// input is one file, uncompressed while it is read.
type input struct {
	name   string
	packed string // "", gzip, bzip2, zstd
	limits *limits
	r      io.Reader
	gz     *members
	head   []byte     // read already, to be read first
	late   chan piece // a read behind head that is under way; nil if there is none
	err    error      // of the read behind head
	ended  bool       // the compressed data ended where they should
	paused bool       // the head ends where the file gave no more for a while
	slow   bool       // the head ends where the file had been read for headWait
	steady bool       // the file is a regular one, whose reads never wait for anybody
	long   bool       // the head ends in a line that is too long
	csv    *csvLayout
	header int      // offset of the csv header's line, -1 if there is none
	stop   *stopper // asked before each read that may wait, if not nil
	close  func()   // of the file; it ends a read that is under way, unless the file is foreign
	free   func()   // of what unpacks
	extern bool     // the file is somebody else's: a read from it may never end
}

// piece is what a read gave.
type piece struct {
	text []byte
	err  error
}

// errStopped is the error of a read that was not begun, since reading was stopped.
var errStopped = errors.New("stopped")

// stopper keeps readers from waiting once it is asked to.
type stopper struct{ asked, waiting atomic.Bool }

// enter is called before what may wait, and leave behind it. It returns false if waiting is over.
func (w *stopper) enter() bool {
	w.waiting.Store(true)
	if w.asked.Load() {
		w.waiting.Store(false)
		return false
	}
	return true
}

func (w *stopper) leave() { w.waiting.Store(false) }

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if len(in.head) > 0 {
		return in.fromHead(p), nil
	}
	if in.err != nil {
		return 0, in.err
	}
	if in.stop != nil {
		if !in.stop.enter() {
			return 0, errStopped
		}
		defer in.stop.leave()
	}
	if in.late != nil {
		p0 := <-in.late
		in.late = nil
		in.head, in.err, in.ended = p0.text, p0.err, p0.err == io.EOF
		if len(in.head) > 0 {
			return in.fromHead(p), nil
		}
		return 0, in.err
	}
	n, err := in.r.Read(p)
	if err == io.EOF {
		in.ended = true
	}
	return n, err
}

// fromHead gives what was read already.
func (in *input) fromHead(p []byte) int {
	n := copy(p, in.head)
	if in.head = in.head[n:]; len(in.head) == 0 {
		in.head = nil // its memory is free
	}
	return n
}

// Close releases the file.
func (in *input) Close() {
	in.close()
	if in.free == nil {
		return
	}
	switch late := in.late; {
	case late == nil:
		in.free()
	case in.extern: // nobody knows when that read ends
		go func() { <-late; in.free() }()
	default:
		<-late
		in.free()
	}
}

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

// openInput recognises the compression of r; close is called by input.Close.
func openInput(name string, r io.Reader, n *atomic.Int64, l *limits,
	closeFile func()) (*input, error) {
	in := &input{name: name, close: closeFile, limits: l}
	if err := in.unpack(bufio.NewReaderSize(meter{r, n}, 1<<16), l); err != nil {
		closeFile()
		if errors.As(err, new(*RowError)) {
			return nil, err
		}
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
	if in.packed == "" || errors.As(err, new(*fs.PathError)) {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	return in.unpackError(e, err)
}

// stdinName is standard input's name in errors.
const stdinName = "stdin"

// opener opens files by name; "-" is standard input.
type opener struct {
	reader  io.Reader // stands for the file of name alone, if not nil
	read    atomic.Int64
	current atomic.Pointer[os.File] // Close interrupts a read from it
	limits  *limits
}

func (o *opener) open(name string) (*input, error) {
	foreign := func(name string, r io.Reader) (*input, error) {
		in, err := openInput(name, r, &o.read, o.limits, func() {})
		if err == nil {
			in.extern = true
		}
		return in, err
	}
	switch {
	case o.reader != nil:
		return foreign(name, o.reader)
	case name == "-":
		return foreign(stdinName, os.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	o.current.Store(f)
	in, err := openInput(name, f, &o.read, o.limits, func() { f.Close() })
	if err == nil {
		st, err := f.Stat()
		in.steady = err == nil && st.Mode().IsRegular()
	}
	return in, err
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

// pauses of a file after which what it gave is used, as there may be no more for long: of the head,
// by which format and index base are decided, and of the text behind it.
const (
	headPause = 50 * time.Millisecond
	textPause = 10 * time.Millisecond
)

// headWait is how long lines of the head may wait for more of it, and textTicks how many times
// textPause whole lines may wait for a full chunk, where a file gives a little at a time but never
// pauses.
const (
	headWait  = 80 * time.Millisecond
	textTicks = 3
)

// peek reads on until l.head bytes and two lines are there, or the end, or a line longer than
// l.line, or bytes that are no text; they stay to be read. Where the file pauses, or gives little
// for headWait, the lines that are there do if enough says so; a regular file is only slow to
// unpack.
func (in *input) peek(l *limits, enough func() bool) {
	ask, got := make(chan []byte), make(chan piece, 1)
	defer close(ask)
	go func() {
		for buf := range ask {
			n, err := in.r.Read(buf)
			got <- piece{buf[:n], err}
		}
	}()
	buf := make([]byte, min(1<<16, l.head))
	pause := time.NewTimer(headPause)
	defer pause.Stop()
	lines, line := 0, 0 // line ends so far, and where the last line begins
	var since time.Time // of the first one, or of the last time that what was there wasn't enough
	for in.err == nil && (len(in.head) < l.head || lines < 2) {
		if lines > 0 && !in.steady {
			switch {
			case since.IsZero():
				since = time.Now()
			case time.Since(since) >= headWait:
				if in.slow = enough(); in.slow {
					return
				}
				since = time.Now()
			}
		}
		ask <- buf
		pause.Reset(headPause)
		var p piece
		select {
		case p = <-got:
		case <-pause.C:
			if !in.steady && enough() {
				in.late, in.paused = got, true
				return
			}
			p = <-got
		}
		for i, rest := -1, p.text; ; {
			if i = bytes.IndexByte(rest, '\n'); i < 0 {
				break
			}
			lines++
			rest = rest[i+1:]
			line = len(in.head) + len(p.text) - len(rest)
		}
		before := len(in.head)
		in.head = append(in.head, p.text...)
		in.err = p.err
		in.ended = p.err == io.EOF
		if before < sniffed && len(in.head) >= sniffed && binaryAt(in.head[:sniffed]) >= 0 {
			return
		}
		if len(in.head)-line > l.line {
			in.long = true
			return
		}
	}
}

// sniffed is how many bytes are looked at for what no text has.
const sniffed = 4096

// binaryAt returns where the first byte stands that no text has, -1 if there is none.
func binaryAt(b []byte) int {
	return bytes.IndexFunc(b, func(r rune) bool { return r < 9 || r > 13 && r < 32 && r != 27 })
}

// binaryByte is the error of the byte at offset, which no text has.
func (in *input) binaryByte(offset int64, ch byte) error {
	return &RowError{File: in.name, Offset: offset,
		What: fmt.Sprintf("expected text (svmlight, csv or fasta) or an idx file, found the "+
			"byte %#02x", ch), Err: ErrFormat}
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
	if i := binaryAt(head[:min(len(head), sniffed)]); i >= 0 {
		return "", in.binaryByte(int64(i), head[i])
	}
	lines := in.lines(100)
	if len(lines) > 0 {
		if lines[0][0] == '>' {
			return "fasta", nil
		}
		if err := in.strange(lines[0]); err != nil {
			return "", err
		}
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

// strange names a text format that is not read, by its first line, and line ends that are none.
func (in *input) strange(line []byte) error {
	e := &RowError{File: in.name, Line: 1 + bytes.Count(in.head[:in.offsetOf(line)], []byte{'\n'}),
		Col: 1, Excerpt: excerpt(line, 0), Err: ErrFormat}
	t := bytes.TrimSpace(line)
	first, _, _ := bytes.Cut(line, []byte{','})
	bar := bytes.IndexByte(first, '|')
	switch i := bytes.IndexByte(t, '\r'); {
	case i >= 0:
		i += bytes.Index(line, t)
		e.Col, e.Excerpt, e.What = i+1, excerpt(line, i), bareReturn
	case t[0] == '{' || t[0] == '[':
		e.What = "this is JSON: write it as csv or svmlight"
	case bar == 0 || bar > 0 && first[bar-1] <= ' ':
		e.What = "this is text for Vowpal Wabbit (its features stand behind a |): write it as " +
			"csv or svmlight"
	default:
		return nil
	}
	return e
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
		return &RowError{File: in.name, Line: 1, Col: 1, What: "expected the end of the first row",
			Excerpt: excerpt(in.head, 0), Err: ErrFormat}
	}
	at := in.offsetOf(lines[0])
	if in.csv, err = layoutCSV(lines, o); err != nil {
		kind := ErrFormat
		if o.Columns > 0 {
			kind = ErrColumns
		}
		return &RowError{File: in.name, Line: 1 + bytes.Count(in.head[:at], []byte{'\n'}), Col: 1,
			What:    err.Error(),
			Excerpt: excerpt(lines[0], 0), Err: kind}
	}
	if in.csv.headed {
		in.header = at
	}
	return nil
}

// headError returns the error in the head, if it holds no whole line. format is the one that was
// given, or "".
func (in *input) headError(l *limits, format string) error {
	if format == "idx" || bytes.IndexByte(in.head, '\n') >= 0 {
		return nil
	}
	i := binaryAt(in.head[:min(len(in.head), sniffed)])
	switch {
	case in.err != nil && in.err != io.EOF:
		return in.textError(in.head, in.err)
	case i >= 0 && len(in.head) >= sniffed && format != "":
		return in.binaryByte(int64(i), in.head[i])
	case in.long:
		return l.lineError(in.name, in.head)
	}
	return nil
}

// enough tells whether the lines of the head decide what more of them would: two of them, or one
// that can be no header.
func (in *input) enough() bool {
	lines := in.lines(2)
	if len(lines) != 1 {
		return len(lines) == 2 && (lines[0][0] != '>' ||
			bytes.Contains(in.head[in.offsetOf(lines[0]):], []byte("\n>")))
	}
	f := bytes.Fields(lines[0])
	return lines[0][0] != '>' && (bytes.IndexByte(f[0], ':') > 0 ||
		len(f) > 1 && bytes.IndexByte(f[1], ':') > 0)
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
