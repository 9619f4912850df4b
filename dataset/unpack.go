package dataset

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// magic numbers of compressed data. That of bzip2 goes on with the first block's: text can't look
// like it.
var (
	gzipMagic  = []byte{0x1f, 0x8b}
	zstdMagic  = []byte{0x28, 0xb5, 0x2f, 0xfd}
	bzip2Block = []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}
	bzip2Empty = []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90}
	xzMagic    = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
)

// inflate unpacks what is deflated, as in a zip.
func inflate(r io.Reader) io.Reader { return flate.NewReader(r) }

// packing returns what buf is packed by. It waits for no byte more than it takes to know: text is
// known by its first one.
func packing(buf *bufio.Reader) (string, error) {
	head, err := buf.Peek(1)
	if err != nil {
		if err == io.EOF {
			err = nil
		}
		return "", err
	}
	begins := func(magic []byte) bool {
		for n := 1; n <= len(magic); n++ {
			if head, err = buf.Peek(n); err != nil || !bytes.HasPrefix(magic, head) {
				return false
			}
		}
		return true
	}
	switch head[0] {
	case gzipMagic[0]:
		if begins(gzipMagic) {
			return "gzip", nil
		}
	case zstdMagic[0]:
		if begins(zstdMagic) {
			return "zstd", nil
		}
	case xzMagic[0]:
		if begins(xzMagic) {
			return "xz", nil
		}
	case 'B':
		if begins([]byte("BZh")) {
			if head, err = buf.Peek(10); err == nil && (bytes.Equal(head[4:], bzip2Block) ||
				bytes.Equal(head[4:], bzip2Empty)) {
				return "bzip2", nil
			}
		}
	}
	return "", nil // an error comes again where the text is read
}

// unpack makes in read the text of buf.
func (in *input) unpack(buf *bufio.Reader, l *limits) (err error) {
	if in.packed, err = packing(buf); err != nil {
		return err
	}
	in.r = buf
	switch in.packed {
	case "gzip":
		in.gz = &members{buf: buf}
		in.r = in.gz
		if in.gz.z, err = gzip.NewReader(buf); err == nil {
			in.gz.z.Multistream(false)
		}
	case "bzip2":
		if l.unpack < bzip2Bytes {
			return &RowError{File: in.name, Line: 1, Col: 1, Err: ErrMemory,
				What: fmt.Sprintf("unpacking bzip2 takes %s, and %s of the memory for reading "+
					"are there for it: raise Options.Memory, or unpack the file first",
					format.InKiB(bzip2Bytes), format.InKiB(l.unpack))}
		}
		in.r = bzip2.NewReader(buf)
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(buf, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(l.window)); err == nil {
			in.r, in.free = d, d.Close
		}
	case "xz":
		// streams one behind the other, and padding between them, are one text
		in.r, err = xz.NewReader(buf, uint32(min(l.window, maxWindow)))
	}
	return err
}

// unpackError says why packed data can't be unpacked.
func (in *input) unpackError(e *RowError, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF, err == xz.ErrBuf:
		e.What, e.Err = fmt.Sprintf("the %s data are truncated here: expected more", in.packed),
			ErrTruncated
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded),
		err == xz.ErrMemlimit:
		e.What, e.Err = fmt.Sprintf("unpacking these %s data takes a window of more than %s: "+
			"unpack the file first", in.packed, format.InKiB(int64(in.limits.window))), ErrMemory
	default:
		e.What, e.Err = fmt.Sprintf("the %s data are damaged here (%v)", in.packed, err), ErrFormat
	}
	return e
}

// members reads gzip members one behind the other. What stands behind the last may be zeros, as
// tapes and tar leave them: they are skipped, as by GNU gzip.
type members struct {
	buf    *bufio.Reader
	z      *gzip.Reader
	behind bool  // a member has ended, and the next has not begun
	zeros  int64 // behind the last
}

// Read is io.Reader's. The end of a member is handed on before the next is waited for.
func (m *members) Read(p []byte) (int, error) {
	for {
		if m.behind {
			if err := m.next(); err != nil {
				return 0, err
			}
		}
		n, err := m.z.Read(p)
		if err == io.EOF {
			m.behind, err = true, nil
			if n == 0 {
				continue
			}
		}
		return n, err
	}
}

// next begins the next member; io.EOF if there is none.
func (m *members) next() error {
	for {
		head, err := m.buf.Peek(1)
		if err != nil {
			return err
		}
		if head[0] != 0 {
			break
		}
		head, _ = m.buf.Peek(m.buf.Buffered())
		n := len(head) - len(bytes.TrimLeft(head, "\x00"))
		m.buf.Discard(n)
		m.zeros += int64(n)
	}
	if head, err := m.buf.Peek(1); m.zeros > 0 || err == nil && head[0] != gzipMagic[0] {
		return gzip.ErrHeader // neither padding nor a member
	}
	m.behind = false
	if err := m.z.Reset(m.buf); err != nil {
		return err
	}
	m.z.Multistream(false)
	return nil
}

// warning returns what OnWarn should get of a file that was read to its end; "" if nothing.
func (in *input) warning() string {
	if in.gz == nil || in.gz.zeros == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d zero bytes behind the gzip data were passed over", in.name,
		in.gz.zeros)
}
