package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// magic begins and ends an Arrow file.
const magic = "ARROW1"

// mostMeta is the longest description of a schema or batch that is read: some 100 bytes a column.
const mostMeta = 1 << 24

// ipcRuns reads the record batches of an Arrow file or stream, one after another.
type ipcRuns struct {
	in     format.File
	mem    *bounded
	msg    *messages
	reader *ipc.Reader
	plan   *plan
	cursor
}

func openIPC(in format.File, o *format.Options, first *format.Layout) (format.Runs,
	*format.Layout, error) {
	r := &ipcRuns{in: in, mem: newBounded(o.Limits.Decode)}
	r.msg = &messages{in: in, mem: r.mem}
	lay, err := r.open(o, first)
	if err != nil {
		return nil, nil, err
	}
	return r, lay, nil
}

func (r *ipcRuns) open(o *format.Options, first *format.Layout) (lay *format.Layout, err error) {
	if err := r.msg.begin(); err != nil {
		return nil, r.wrong(err)
	}
	r.reader, err = ipc.NewReaderFromMessageReader(r.msg, ipc.WithAllocator(r.mem))
	if err != nil {
		if r.msg.ended && r.msg.err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, r.wrong(err)
	}
	// the first batch may be looked at before it is known which columns are used
	begin := func(p *plan) (*batch, error) {
		b, err := r.look(r.read(p))
		if err != nil {
			err = r.wrong(err)
		}
		return b, err
	}
	r.plan, lay, err = newPlan(r.in.Name(), r.reader.Schema(), o, first, begin)
	if err != nil {
		return nil, err
	}
	if err := r.used(r.plan, r.reader); err != nil {
		return nil, r.wrong(err)
	}
	return lay, nil
}

// read reads the next record batch into cur.
func (r *ipcRuns) read(p *plan) (err error) {
	defer guard(&err)
	r.cur, r.next = nil, 0
	if !r.reader.Next() {
		if err := r.reader.Err(); err != nil {
			return err
		}
		if r.msg.err != nil {
			return r.msg.err
		}
		return io.EOF
	}
	r.cur, err = recordBatch(p, r.reader.RecordBatch())
	return err
}

// Next implements format.Runs.
func (r *ipcRuns) Next(_ []byte, size int) (format.Run, error) {
	return r.take(size, func() error {
		err := r.read(r.plan)
		if err == io.EOF { // what stands behind the last batch must be as it should
			err = r.msg.rest()
		}
		if err != nil && err != io.EOF {
			err = r.wrong(err)
		}
		return err
	})
}

// wrong is the error of data that go wrong.
func (r *ipcRuns) wrong(err error) error {
	if e := (*format.RowError)(nil); errors.As(err, &e) {
		return err
	}
	at := r.msg.at
	if e := r.mem.tooLarge(r.in.Name(), at, "a record batch"); e != nil {
		return e
	}
	if r.msg.err != nil {
		err = r.msg.err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return r.in.Broken(r.msg.got, "the rest of an Arrow message", io.ErrUnexpectedEOF)
	}
	if errors.Is(err, errMeta) || errors.Is(err, errBehind) || r.msg.err == nil {
		return &format.RowError{File: r.in.Name(), Offset: at, Err: format.ErrFormat,
			What: fmt.Sprintf("the Arrow data can't be read: %v", err)}
	}
	return r.in.Broken(r.msg.got, "an Arrow message", err)
}

// Close implements format.Runs.
func (r *ipcRuns) Close() {}

// messages reads the messages of an Arrow file or stream, and believes no length.
type messages struct {
	in    format.File
	mem   *bounded
	file  bool  // it began as a file does
	at    int64 // byte where the last message began
	got   int64 // bytes read
	ended bool
	mark  bool  // by a mark, as a file must
	err   error // of the input
	last  *ipc.Message
	held  *ipc.Message // a file's first one, whose schema its footer has; nil: none
	head  []byte       // of a stream that began without a file's magic
}

// Read reads from the input, or the begin of it.
func (m *messages) Read(p []byte) (n int, err error) {
	if len(m.head) > 0 {
		n = copy(p, m.head)
		m.head = m.head[n:]
	} else {
		n, err = m.in.Read(p)
	}
	m.got += int64(n)
	return n, err
}

// begin reads the magic of a file, if it is one.
func (m *messages) begin() error {
	head := make([]byte, 8)
	n, err := io.ReadFull(m.in, head)
	if err != nil {
		m.err = err
		m.got = int64(n)
		return err
	}
	if m.file = bytes.HasPrefix(head, []byte(magic)); m.file {
		m.got = int64(n)
		return nil
	}
	m.head = head
	return nil
}

var (
	errMeta   = errors.New("a message describes itself wrongly")
	errBehind = errors.New("the schema stands at the end alone: name the file itself, unpacked")
)

// Message implements ipc.MessageReader: io.EOF behind the last one.
func (m *messages) Message() (*ipc.Message, error) {
	msg, err := m.held, error(nil)
	if m.held = nil; msg == nil {
		msg, err = m.message()
	}
	if err == nil && m.last == nil && m.file && msg.Type() != ipc.MessageSchema {
		m.held = msg
		msg, err = m.schemaOfFooter()
	}
	if err != nil {
		if m.ended = true; err != io.EOF {
			m.err = err
		}
		return nil, err
	}
	if m.last != nil {
		m.last.Release()
	}
	m.last = msg
	return msg, nil
}

func (m *messages) message() (*ipc.Message, error) {
	if m.ended {
		return nil, io.EOF
	}
	m.at = m.got
	var word [4]byte
	n, err := io.ReadFull(m, word[:])
	if err == io.EOF && n == 0 && !m.file { // a stream may just end
		return nil, io.EOF
	}
	if err != nil {
		return nil, unexpected(err)
	}
	size := binary.LittleEndian.Uint32(word[:])
	if size == 0xffffffff {
		if _, err := io.ReadFull(m, word[:]); err != nil {
			return nil, unexpected(err)
		}
		size = binary.LittleEndian.Uint32(word[:])
	} // else as before version 0.15
	switch {
	case size == 0:
		m.mark = true
		return nil, io.EOF
	case size < 8 || size > mostMeta:
		return nil, fmt.Errorf("%w: its length is %d", errMeta, size)
	}
	meta := make([]byte, size)
	if _, err := io.ReadFull(m, meta); err != nil {
		return nil, unexpected(err)
	}
	body, err := checkMeta(meta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMeta, err)
	}
	b, err := m.body(body)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	return ipc.NewMessage(memory.NewBufferBytes(meta), b), nil
}

// schemaOfFooter makes a message of the schema in a file's footer, for writers that put it nowhere
// else, as apache-arrow of JavaScript does: the footer with a message's table before it.
func (m *messages) schemaOfFooter() (*ipc.Message, error) {
	at, size := m.in.At()
	if at == nil {
		return nil, errBehind
	}
	tail := make([]byte, 4+len(magic))
	if _, err := at.ReadAt(tail, max(0, size-int64(len(tail)))); err != nil ||
		string(tail[4:]) != magic {
		return nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n < 8 || n > min(mostMeta, size-int64(len(tail))) {
		return nil, fmt.Errorf("%w: a footer of %d bytes", errMeta, n)
	}
	meta := make([]byte, len(schemaBefore)+int(n))
	copy(meta, schemaBefore)
	footer := meta[len(schemaBefore):]
	if _, err := at.ReadAt(footer, size-int64(len(tail))-n); err != nil {
		return nil, unexpected(err)
	}
	schema, err := schemaIn(footer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMeta, err)
	}
	binary.LittleEndian.PutUint32(meta[headerAt:],
		uint32(len(schemaBefore)-headerAt+schema))
	if _, err := checkMeta(meta); err != nil {
		return nil, fmt.Errorf("%w: %w", errMeta, err)
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)), nil
}

// body reads a message's body, whose memory grows with what comes.
func (m *messages) body(n int64) (b *memory.Buffer, err error) {
	const step = 1 << 22
	if n > m.mem.most {
		m.mem.over.Store(n)
		return nil, fmt.Errorf("a body of %d bytes", n)
	}
	defer guard(&err)
	b = memory.NewResizableBuffer(m.mem)
	for have := int64(0); have < n; {
		to := min(n, max(step, 2*have))
		b.Resize(int(to))
		if _, err := io.ReadFull(m, b.Bytes()[have:]); err != nil {
			return nil, unexpected(err)
		}
		have = to
	}
	return b, nil
}

// unexpected is the end of the input where more must come.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// rest reads what stands behind the last message: nothing behind a stream, and a file's footer. It
// returns io.EOF if that is there.
func (m *messages) rest() error {
	if !m.file && !m.mark {
		return io.EOF
	}
	var tail, buf []byte
	buf = make([]byte, 1<<12)
	for {
		n, err := m.Read(buf)
		if n > 0 && !m.file {
			return &format.RowError{File: m.in.Name(), Offset: m.got - int64(n),
				What: "expected the end of the stream: name streams and files one by one",
				Err:  format.ErrFormat}
		}
		tail = append(tail, buf[:n]...)
		tail = tail[max(0, len(tail)-len(magic)):]
		if err == io.EOF {
			break
		}
		if err != nil {
			m.err = err
			return err
		}
	}
	if m.file && string(tail) != magic {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

// Retain implements ipc.MessageReader.
func (m *messages) Retain() {}

// Release implements ipc.MessageReader.
func (m *messages) Release() {}
