package serve

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	"github.com/halfspace-ml/halfspace/internal/frames"
)

// A log is a text that says what it is, and frames (internal/frames). The first frame is the
// header, behind it stand the model file as it was at the beginning, in pieces, and then what was
// learned and where the model was saved.
const logBegins = "halfspace learning log 1\n"

// Kinds of frames.
const (
	frameHeader     = 'H' // logHeader in JSON
	frameModel      = 'M' // a piece of the model file that is begun with
	frameLearn      = 'L' // the number of examples before, in 8 bytes, and examples.encode
	frameCheckpoint = 'C' // the number of examples before, in 8 bytes, and the model's sum in 32
)

// modelPiece is how much of the model a frame has.
const modelPiece = 1 << 24

// logHeader is what a log says of itself.
type logHeader struct {
	Model     string `json:"model"` // the name under which it was served
	Learner   string `json:"learner"`
	SHA256    string `json:"sha256"`    // of the model file that is begun with
	Bytes     int64  `json:"bytes"`     // of that
	Presented uint64 `json:"presented"` // the examples behind it
}

// logWriter appends to a log. One goroutine uses it.
type logWriter struct {
	f     *os.File
	path  string
	bytes int64
	buf   []byte
	dirty bool // something was written that may not be on the disk
}

// frame appends a frame, whose parts stand one behind the other, in one write.
func (w *logWriter) frame(kind byte, parts ...[]byte) error {
	b := frames.Append(w.buf[:0], kind, parts...)
	if w.buf = b; cap(b) > 1<<20 {
		w.buf = nil
	}
	w.dirty = true
	if _, err := w.f.Write(b); err != nil {
		// nothing comes behind a part of a frame, which a reader cuts off
		return fmt.Errorf("%w: %w", err, ErrLog)
	}
	w.bytes += int64(len(b))
	return nil
}

// sync has the log on the disk.
func (w *logWriter) sync() error {
	if !w.dirty {
		return nil
	}
	if err := fsync(w.f); err != nil {
		return fmt.Errorf("%w: %w", err, ErrLog)
	}
	w.dirty = false
	return nil
}

// fsync is (*os.File).Sync; tests watch it.
var fsync = (*os.File).Sync

// cut takes out of the log what was written from an offset on.
func (w *logWriter) cut(from int64) error {
	err := w.f.Truncate(from)
	if err == nil {
		_, err = w.f.Seek(from, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrLog)
	}
	w.bytes, w.dirty = from, true
	return nil
}

// close has the log on the disk, and ends it.
func (w *logWriter) close() error {
	err := w.sync()
	if e := w.f.Close(); err == nil {
		err = e
	}
	return err
}

// createLog begins a log with a model file.
func createLog(path string, h logHeader, model []byte) (w *logWriter, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	atomicfile.TryLock(f) // nobody else knows it
	w = &logWriter{f: f, path: path, bytes: int64(len(logBegins))}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(path)
		}
	}()
	if _, err = f.WriteString(logBegins); err != nil {
		return nil, err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if err = w.frame(frameHeader, text); err != nil {
		return nil, err
	}
	for len(model) > 0 {
		n := min(len(model), modelPiece)
		if err = w.frame(frameModel, model[:n]); err != nil {
			return nil, err
		}
		model = model[n:]
	}
	if err = w.sync(); err != nil {
		return nil, err
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil { // so that its name lasts, too
		d.Sync()
		d.Close()
	}
	return w, nil
}

// logReader reads a log from its beginning.
type logReader struct {
	r      *frames.Reader
	path   string
	size   int64
	header logHeader
	model  []byte // that is begun with; nil once it was taken
	kind   byte
}

// at is how many bytes there are up to the end of the last frame that was read.
func (l *logReader) at() int64 { return int64(len(logBegins)) + l.r.At }

// openLog reads the header and the model.
func openLog(f *os.File, path string) (*logReader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(f, 1<<16)
	l := &logReader{r: frames.NewReader(in, st.Size()-int64(len(logBegins))), path: path,
		size: st.Size()}
	begins := make([]byte, len(logBegins))
	if _, err := io.ReadFull(in, begins); err != nil || string(begins) != logBegins {
		return nil, fmt.Errorf("%s: expected a learning log, which begins with %q: %w", path,
			logBegins, ErrLog)
	}
	text, err := l.next()
	if err == nil && l.kind != frameHeader {
		err = l.damaged("expected the header")
	}
	if err == nil {
		if e := json.Unmarshal(text, &l.header); e != nil {
			err = l.damaged("the header: %v", e)
		}
	}
	if err != nil {
		return nil, l.begun(err)
	}
	if l.header.Bytes < 0 || l.header.Bytes > l.size {
		return nil, l.damaged("a model of %d bytes in a log of %d", l.header.Bytes, l.size)
	}
	for int64(len(l.model)) < l.header.Bytes {
		piece, err := l.next()
		if err == nil && l.kind != frameModel {
			err = l.damaged("expected the model that is begun with")
		}
		if err != nil {
			return nil, l.begun(err)
		}
		l.model = append(l.model, piece...)
	}
	if sumOf(l.model) != l.header.SHA256 {
		return nil, l.damaged("the model that is begun with has another SHA-256 than the header")
	}
	return l, nil
}

// begun is the error of a log whose beginning is not whole.
func (l *logReader) begun(err error) error {
	if errors.Is(err, frames.ErrTorn) || err == io.EOF {
		return l.damaged("it ends before anything could be learned; remove it to begin a new one")
	}
	return err
}

func (l *logReader) damaged(format string, args ...any) error {
	return fmt.Errorf("%s: byte %d, frame %d: %w: %w", l.path, l.at(), l.r.Frames+1,
		fmt.Errorf(format, args...), ErrLog)
}

// next returns what is in the next frame: io.EOF behind the last one, frames.ErrTorn at one that is
// not whole and has nothing behind it.
func (l *logReader) next() (body []byte, err error) {
	l.kind, body, err = l.r.Next()
	if errors.Is(err, frames.ErrDamaged) {
		return nil, l.damaged("%w", err)
	}
	return body, err
}

// learned takes a frame of examples apart: those before it, and itself.
func (l *logReader) learned(b []byte) (before uint64, x *examples, err error) {
	if len(b) < 8 {
		return 0, nil, l.damaged("%d bytes of examples", len(b))
	}
	if x, err = decodeExamples(b[8:]); err != nil {
		return 0, nil, l.damaged("%v", err)
	}
	return binary.LittleEndian.Uint64(b), x, nil
}

// checkpoint takes a frame of that kind apart.
func (l *logReader) checkpoint(b []byte) (before uint64, sum string, err error) {
	if len(b) != 8+sha256.Size {
		return 0, "", l.damaged("%d bytes of a checkpoint", len(b))
	}
	return binary.LittleEndian.Uint64(b), hex.EncodeToString(b[8:]), nil
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// counted is a number of examples as frames have it.
func counted(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// appendLog appends to the log behind what is whole of it.
func appendLog(f *os.File, path string, end int64) (*logWriter, error) {
	w := &logWriter{f: f, path: path}
	return w, w.cut(end)
}
