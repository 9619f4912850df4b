package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// input is one file, uncompressed while it is read.
type input struct {
	name   string
	packed string // "", gzip, bzip2, xz, zstd
	limits *limits
	r      io.Reader
	gz     *members
	head   []byte         // read already, to be read first
	late   chan piece     // a read behind head that is under way; nil if there is none
	err    error          // of the read behind head
	ended  bool           // the compressed data ended where they should
	paused bool           // the head ends where the file gave no more for a while
	slow   bool           // the head ends where the file had been read for headWait
	steady bool           // the file is a regular one, whose reads wait for no other process
	long   bool           // the head ends in a line that is too long
	layout *format.Layout // what the head says
	runs   format.Runs    // the examples, where the format gives them in runs; else nil
	file   File           // what is read, where the stream has opened it
	from   int64          // byte of the text where reading began
	mark   int64          // bytes of the byte order mark before the text
	read   *atomic.Int64  // bytes read from all files
	before int64          // of these, when it was opened
	stop   *stopper       // asked before each read that may wait, if not nil
	close  func()         // of the file; it ends a read that is under way, unless extern
	free   func()         // of what unpacks
	extern bool           // the file is the caller's: a read from it may never end
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

// Name returns the name in errors.
func (in *input) Name() string { return in.name }

// At gives the bytes by their place.
func (in *input) At() (r io.ReaderAt, size int64) {
	if in.packed != "" || !in.steady {
		return nil, 0
	}
	st, err := in.file.Stat()
	if err != nil {
		return nil, 0
	}
	if n, err := in.file.Seek(0, io.SeekCurrent); err == nil {
		in.read.Add(-n) // the head is read once more
	}
	return meterAt{in.file, in.read}, st.Size()
}

// meterAt is meter of reads by place.
type meterAt struct {
	r io.ReaderAt
	n *atomic.Int64
}

func (m meterAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := m.r.ReadAt(p, at)
	m.n.Add(int64(n))
	return n, err
}

// Close releases the file.
func (in *input) Close() {
	if in.runs != nil {
		in.runs.Close()
	}
	in.close()
	if in.free == nil {
		return
	}
	switch late := in.late; {
	case late == nil:
		in.free()
	case in.extern: // that read may end at any time, or never
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
	in := &input{name: name, close: closeFile, limits: l, read: n, before: n.Load()}
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
	e := &RowError{File: in.name, Line: line, Col: len(tail) + 1,
		Excerpt: format.Excerpt(tail, len(tail))}
	if len(tail) == 0 {
		e.Excerpt = ""
	}
	if in.packed == "" || errors.As(err, new(*fs.PathError)) {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	return in.unpackError(e, err)
}

// Broken is an error at a byte of a binary file.
func (in *input) Broken(offset int64, wanted string, err error) error {
	what, sentinel := "expected "+wanted, ErrTruncated
	switch {
	case in.packed != "" && errors.Is(err, io.ErrUnexpectedEOF) && !in.ended:
		what += ", but the " + in.packed + " data are truncated"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		what += ", but the file is truncated"
	case in.packed != "":
		what = fmt.Sprintf("%s, but the %s data are damaged: %v", what, in.packed, err)
		sentinel = ErrFormat
	default:
		return fmt.Errorf("%s:byte %d: %w", in.Name(), offset, err)
	}
	return &RowError{File: in.Name(), Offset: offset, What: what, Err: sentinel}
}

// stdinName is standard input's name in errors.
const stdinName = format.Stdin

// opener opens files by name; "-" is standard input.
type opener struct {
	reader  io.Reader // stands for the file of name alone, if not nil
	read    atomic.Int64
	current atomic.Pointer[File] // Close interrupts a read from it
	limits  *limits
	by      func(name string) (File, error) // Options.OpenFile
}

// File is one that [Options.OpenFile] opens, as *os.File is one. Close ends reads that are under
// way. What it is called by Stat doesn't matter; a regular one can be read again from any place.
type File interface {
	fs.File
	io.ReaderAt
	io.Seeker
}

// openFile opens one by its name.
func (o *opener) openFile(name string) (File, error) {
	if o.by != nil {
		return o.by(name)
	}
	return os.Open(name)
}

// Stat says what a file is that the options' streams are to read.
func (o *Options) Stat(name string) (fs.FileInfo, error) {
	if o.OpenFile == nil {
		return os.Stat(name)
	}
	f, err := o.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
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
	f, err := o.openFile(name)
	if err != nil {
		return nil, err
	}
	o.current.Store(&f)
	in, err := openInput(name, f, &o.read, o.limits, func() { f.Close() })
	if err == nil {
		st, err := f.Stat()
		in.steady = err == nil && st.Mode().IsRegular()
		in.file = f
	}
	return in, err
}

// checkFiles looks whether the files are there, and adds up their sizes; 0 if one has none.
func (o *Options) checkFiles(files []string) (size int64, err error) {
	if len(files) == 0 {
		return 0, fmt.Errorf("no files given: %w", ErrOption)
	}
	known := true
	for _, f := range files {
		if f == "-" {
			known = false
			continue
		}
		st, err := o.Stat(f)
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
// l.Line, or bytes that are no text; they stay to be read. Where the file pauses, or gives little
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
	room := make([]byte, min(1<<16, l.head)) // begins with the head
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
		n := len(in.head)
		if n == len(room) {
			more := min(2*n, max(n, l.Line)+1<<16) // a line that is too long isn't read far
			if n < l.head {
				more = l.head // at once: what isn't used isn't touched
			}
			room = append(make([]byte, 0, more), in.head...)[:more]
		}
		ask <- room[n:]
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
		in.head = room[: n+len(p.text) : n+len(p.text)]
		in.err = p.err
		in.ended = p.err == io.EOF
		if n < format.Sniffed && len(in.head) >= format.Sniffed &&
			format.BinaryAt(in.head[:format.Sniffed]) >= 0 {
			return
		}
		if len(in.head)-line > l.Line {
			in.long = true
			return
		}
	}
}

// begins is the head as formats see it.
func (in *input) begins(l *limits) *format.Head {
	h := &format.Head{File: in.name, Text: in.head[in.markAt():], Whole: in.err == io.EOF,
		Ended: in.err != nil, Most: l.head}
	switch {
	case in.paused:
		h.Part = "what came before the first pause"
	case in.slow:
		h.Part = "what came in the first " + headWait.String()
	case len(in.head) <= l.head && h.Whole && l.files == 1:
		h.Part = "the data"
	case l.head < headSize:
		h.Part = "the first " + format.InKiB(int64(l.head))
	default:
		h.Part = "the first MiB"
	}
	return h
}

// headError returns the error in the head, if it holds no whole line. f is the format that was
// given, or nil.
func (in *input) headError(l *limits, f *format.Format) error {
	if f != nil && f.Binary || bytes.IndexByte(in.head, '\n') >= 0 {
		return nil
	}
	i := format.BinaryAt(in.head[:min(len(in.head), format.Sniffed)])
	switch {
	case in.err != nil && in.err != io.EOF:
		return in.textError(in.head, in.err)
	case i >= 0 && len(in.head) >= format.Sniffed && f != nil:
		return format.BinaryByte(in.name, int64(i), in.head[i])
	case in.long:
		return l.TooLong(in.name, in.head)
	}
	return nil
}

// enough reports whether the lines of the head decide what more of them would. f is the format that
// was given, or nil.
func (in *input) enough(f *format.Format) bool {
	h := in.begins(in.limits)
	if format.Begins(h) {
		return true
	}
	lines := h.Lines(2)
	if len(lines) == 0 {
		return false
	}
	if f == nil {
		var err error
		if f, err = format.Recognise(h, ""); err != nil {
			return true // more of the head doesn't make it better
		}
	}
	if f.Enough != nil {
		return f.Enough(h)
	}
	return len(lines) == 2
}

// noRows is the error of a file without rows.
func noRows(name, found string) error {
	return &RowError{File: name, Line: 1, Col: 1, What: "expected examples, found " + found,
		Err: ErrEmpty}
}

// nothing says what a file without rows holds.
func (in *input) nothing() string {
	if len(in.head) == 0 {
		return "an empty file"
	}
	return blankFile
}

// blankFile is what a file without rows holds as a rule.
const blankFile = "only blank lines and comments"

// markAt is the length of the byte order mark of UTF-8 that the head begins with, 0 where there is
// none or it was dropped.
func (in *input) markAt() int {
	if in.mark == 0 && bytes.HasPrefix(in.head, []byte("\ufeff")) {
		return 3
	}
	return 0
}

// stripBOM drops the byte order mark of UTF-8.
func (in *input) stripBOM() {
	if n := in.markAt(); n > 0 {
		in.head, in.mark = in.head[n:], int64(n)
	}
}

// Beside returns the file that is read beside one when it is not named itself, such as the labels
// of images: one of the same folder. It is "" where there is none.
func Beside(name string) string { return format.Beside(name) }
