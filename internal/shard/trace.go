package shard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/frames"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// A trace is a file of frames (internal/frames) behind a text that says what it is. A frame begins
// with how many examples there were by then, in eight bytes, and their fingerprint, in eight,
// little-endian. Kinds:
//
//	H  Header in JSON, the first frame
//	D  entries of the examples behind the frame before, packed by zstd: see learner.Trace
//	E  the SHA-256 of the part's model in hexadecimal: the end
const (
	begins = "halfspace trace 1\n"

	kindHeader, kindData, kindEnd = 'H', 'D', 'E'

	stands    = 16       // bytes of a frame before what is its own
	maxRecord = 64 << 20 // bytes of a frame, packed or not
	fullData  = 1 << 16  // bytes of entries that make a frame
)

// ErrTraceFile is returned for a file that is no whole trace.
var ErrTraceFile = errors.New("no whole trace")

// Header says of which part of which run a trace is.
type Header struct {
	Learner   string           `json:"learner"`
	Config    json.RawMessage  `json:"config"` // of the part
	Precision string           `json:"precision"`
	Seed      uint64           `json:"seed"`
	Part      learner.Part     `json:"part"`
	Options   training.Options `json:"options"` // what else decides the result
}

// writer writes a trace into a file that has its name with ".open" behind it until it is whole.
type writer struct {
	name     string
	f        *os.File
	zstd     *zstd.Encoder
	entries  []byte // not written yet
	packed   []byte
	frame    []byte
	examples int64
	sum      uint64
}

// openName is the name of the file of a trace that is not whole yet.
func openName(name string) string { return name + ".open" }

// create begins a trace.
func create(name string, h Header) (*writer, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(openName(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(name, f)
	if err == nil {
		_, err = f.WriteString(begins)
	}
	if err == nil {
		err = w.record(kindHeader, text)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// reopen goes on with a trace behind so many examples, where the model of its part was saved: what
// is behind that is dropped.
func reopen(name string, examples int64) (*writer, error) {
	f, err := os.OpenFile(openName(name), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(name, f)
	if err == nil {
		err = w.seek(examples)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

func newWriter(name string, f *os.File) (*writer, error) {
	// one goroutine: others learn meanwhile
	// Counts of thousands of members have no sequence twice, but small ones are more frequent.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithAllLitEntropyCompression(true))
	return &writer{name: name, f: f, zstd: z}, err
}

// seek finds the end of the frame behind which there are so many examples.
func (w *writer) seek(examples int64) error {
	r, err := newReader(openName(w.name), w.f)
	if err != nil {
		return err
	}
	for {
		kind, _, err := r.record()
		if err != nil {
			return fmt.Errorf("it has no place behind %d examples, where the model was saved: %w",
				examples, err)
		}
		if w.examples, w.sum = r.examples, r.sum; kind != kindEnd && r.examples == examples {
			break
		}
	}
	at := int64(len(begins)) + r.in.At
	if err := w.f.Truncate(at); err != nil {
		return err
	}
	_, err = w.f.Seek(at, io.SeekStart)
	return err
}

// write takes entries of examples that were learned; so many there are by then, of that
// fingerprint.
func (w *writer) write(entries []byte, examples int64, sum uint64) error {
	w.entries = append(w.entries, entries...)
	w.examples, w.sum = examples, sum
	if len(w.entries) >= fullData {
		return w.flush()
	}
	return nil
}

// flush writes what was taken.
func (w *writer) flush() error {
	if len(w.entries) == 0 {
		return nil
	}
	w.packed = w.zstd.EncodeAll(w.entries, w.packed[:0])
	w.entries = w.entries[:0]
	return w.record(kindData, w.packed)
}

// sync flushes, and has what was written last through a power cut.
func (w *writer) sync() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.f.Sync()
}

func (w *writer) record(kind byte, body []byte) error {
	at := binary.LittleEndian.AppendUint64(nil, uint64(w.examples))
	at = binary.LittleEndian.AppendUint64(at, w.sum)
	w.frame = frames.Append(w.frame[:0], kind, at, body)
	_, err := w.f.Write(w.frame)
	return err
}

// finish ends the trace, of the part's model of that SHA-256, and gives it its name.
func (w *writer) finish(model string) error {
	err := w.flush()
	if err == nil {
		err = w.record(kindEnd, []byte(model))
	}
	if err == nil {
		err = w.f.Sync()
	}
	if c := w.close(); err == nil {
		err = c
	}
	if err == nil {
		err = os.Rename(openName(w.name), w.name)
	}
	if err == nil {
		if d, e := os.Open(filepath.Dir(w.name)); e == nil {
			d.Sync() // the name lasts through a power cut, where folders can be synced
			d.Close()
		}
	}
	return err
}

// close leaves the trace open for reopen.
func (w *writer) close() error {
	w.zstd.Close()
	return w.f.Close()
}

// reader reads a trace, the entries as bytes: learner.NewTraceReader takes it.
type reader struct {
	name     string
	in       *frames.Reader
	zstd     *zstd.Decoder
	header   Header
	total    eval.Trace // at the end
	model    string     // the SHA-256 of the part's, at the end
	taken    string     // the file of the model that it goes with
	examples int64      // of the records so far
	sum      uint64     // of these
	ended    bool
	entries  []byte // of the record, unpacked
	left     bytes.Reader
}

// newReader reads what a trace begins with.
func newReader(name string, f *os.File) (*reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(f, 1<<16)
	r := &reader{name: name, in: frames.NewReader(in, st.Size()-int64(len(begins)))}
	var b [len(begins)]byte
	if _, err := io.ReadFull(in, b[:]); err != nil || string(b[:]) != begins {
		return nil, r.bad("it does not begin as a trace does")
	}
	return r, nil
}

func (r *reader) bad(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", r.name, fmt.Errorf(format, args...), ErrTraceFile)
}

// record reads the next frame.
func (r *reader) record() (kind byte, body []byte, err error) {
	kind, body, err = r.in.Next()
	switch {
	case err == io.EOF || err == frames.ErrTorn:
		return 0, nil, r.bad("it ends behind %d examples, before its end", r.examples)
	case errors.Is(err, frames.ErrDamaged):
		return 0, nil, r.bad("byte %d, behind %d examples: %w", int64(len(begins))+r.in.At,
			r.examples, err)
	case err != nil:
		return 0, nil, fmt.Errorf("%s: %w", r.name, err)
	case len(body) < stands || len(body) > maxRecord:
		return 0, nil, r.bad("a frame of %d bytes behind %d examples", len(body), r.examples)
	}
	r.examples = int64(binary.LittleEndian.Uint64(body))
	r.sum = binary.LittleEndian.Uint64(body[8:])
	return kind, body[stands:], nil
}

// start reads the header.
func (r *reader) start() (err error) {
	kind, body, err := r.record()
	if err != nil {
		return err
	}
	if kind != kindHeader {
		return r.bad("no header")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r.header); err != nil {
		return r.bad("header: %v", err)
	}
	r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(maxRecord))
	return err
}

// more reads the next entries; io.EOF at the end.
func (r *reader) more() error {
	for r.left.Len() == 0 {
		if r.ended {
			return io.EOF
		}
		kind, body, err := r.record()
		switch {
		case err != nil:
			return err
		case kind == kindEnd:
			r.ended = true
			continue
		case kind != kindData:
			return r.bad("a record of kind %q behind %d examples", kind, r.examples)
		}
		if r.entries, err = r.zstd.DecodeAll(body, r.entries[:0]); err != nil {
			return r.bad("entries before example %d: %v", r.examples, err)
		}
		r.left.Reset(r.entries)
	}
	return nil
}

// ReadByte is io.ByteReader.ReadByte.
func (r *reader) ReadByte() (byte, error) {
	if err := r.more(); err != nil {
		return 0, err
	}
	return r.left.ReadByte()
}
