package shard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/training"
)

// A trace is a file of records behind a magic number of eight bytes. A record has a head of
// headSize bytes in little-endian: kind, one byte; length of what follows the head, four; examples
// so far, eight; fingerprint of these, eight; CRC-32C of all of the record but itself, four. Kinds:
//
//	H  Header in JSON, the first record
//	D  entries of the examples behind the record before, packed by zstd: see learner.Trace
//	E  the SHA-256 of the part's model in hexadecimal: the end
const (
	magic    = "hstrace1"
	headSize = 1 + 4 + 8 + 8 + 4

	kindHeader, kindData, kindEnd = 'H', 'D', 'E'

	maxRecord = 64 << 20 // bytes of a record, packed or not
	fullData  = 1 << 20  // bytes of entries that make a record
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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writer writes a trace into a file that has its name with ".open" behind it until it is whole.
type writer struct {
	name     string
	f        *os.File
	zstd     *zstd.Encoder
	entries  []byte // not written yet
	packed   []byte
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
		_, err = f.WriteString(magic)
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
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	return &writer{name: name, f: f, zstd: z}, err
}

// seek finds the end of the record behind which there are so many examples.
func (w *writer) seek(examples int64) error {
	r := newReader(w.name, w.f)
	at := int64(len(magic))
	if err := r.begin(); err != nil {
		return err
	}
	for {
		kind, body, err := r.record()
		if err != nil {
			return fmt.Errorf("%s: it has no place behind %d examples, where the model was saved: "+
				"%w", openName(w.name), examples, err)
		}
		at += headSize + int64(len(body))
		if w.examples, w.sum = r.examples, r.sum; kind != kindEnd && r.examples == examples {
			break
		}
	}
	if err := w.f.Truncate(at); err != nil {
		return err
	}
	_, err := w.f.Seek(at, io.SeekStart)
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
	head := make([]byte, 0, headSize)
	head = append(head, kind)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(body)))
	head = binary.LittleEndian.AppendUint64(head, uint64(w.examples))
	head = binary.LittleEndian.AppendUint64(head, w.sum)
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, body)
	head = binary.LittleEndian.AppendUint32(head, sum)
	if _, err := w.f.Write(head); err != nil {
		return err
	}
	_, err := w.f.Write(body)
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
	in       *bufio.Reader
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
	body     []byte
}

func newReader(name string, f io.Reader) *reader {
	return &reader{name: name, in: bufio.NewReaderSize(f, 1<<16)}
}

// begin reads the magic number.
func (r *reader) begin() error {
	var m [len(magic)]byte
	if _, err := io.ReadFull(r.in, m[:]); err != nil || string(m[:]) != magic {
		return r.bad("it does not begin as a trace does")
	}
	return nil
}

func (r *reader) bad(format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", r.name, fmt.Sprintf(format, args...), ErrTraceFile)
}

// record reads the next record; the body is good until the next call.
func (r *reader) record() (kind byte, body []byte, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return 0, nil, r.cut(err)
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > maxRecord {
		return 0, nil, r.bad("a record of %d bytes behind %d examples", n, r.examples)
	}
	if uint32(cap(r.body)) < n { // as much as is there, not as much as a damaged length says
		var b bytes.Buffer
		if _, err := io.CopyN(&b, r.in, int64(n)); err != nil {
			return 0, nil, r.cut(err)
		}
		r.body = b.Bytes()
	} else if r.body = r.body[:n]; n > 0 {
		if _, err := io.ReadFull(r.in, r.body); err != nil {
			return 0, nil, r.cut(err)
		}
	}
	sum := crc32.Update(crc32.Checksum(head[:headSize-4], castagnoli), castagnoli, r.body)
	if binary.LittleEndian.Uint32(head[headSize-4:]) != sum {
		return 0, nil, r.bad("damaged behind %d examples", r.examples)
	}
	r.examples = int64(binary.LittleEndian.Uint64(head[5:]))
	r.sum = binary.LittleEndian.Uint64(head[13:])
	return head[0], r.body, nil
}

// cut is the error of a file that ends inside.
func (r *reader) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return r.bad("it ends behind %d examples, before its end", r.examples)
	}
	return fmt.Errorf("%s: %w", r.name, err)
}

// start reads the header.
func (r *reader) start() (err error) {
	if err := r.begin(); err != nil {
		return err
	}
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
