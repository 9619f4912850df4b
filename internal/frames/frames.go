// Package frames is the form of files to which is written what must be found again whatever happens
// to the writer: frames, one behind the other.
//
// A frame is a byte that says of what kind it is, the length of what follows in 4 bytes, a checksum
// (CRC-32C) of these five in 4, the bytes, and a checksum of them in 4; numbers are little-endian.
// So a file whose writer was killed, which ends within a frame, is told from one that was damaged.
package frames

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Sizes of a frame, in bytes: what stands before and behind what is in it, and the most of that.
const (
	Begins = 9
	Ends   = 4
	Most   = 1 << 30
)

var (
	// ErrTorn is where a file ends in the middle of a frame, as one does whose writer was killed.
	ErrTorn = errors.New("it ends in the middle of a frame")
	// ErrDamaged is returned for bytes that are no frame, and not the end of one.
	ErrDamaged = errors.New("damaged")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends a frame to b, in which the parts stand one behind the other: at most Most bytes,
// which it doesn't look at.
func Append(b []byte, kind byte, parts ...[]byte) []byte {
	n, from := 0, len(b)
	for _, p := range parts {
		n += len(p)
	}
	b = append(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
	at := len(b)
	for _, p := range parts {
		b = append(b, p...)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
}

// Reader reads frames from the beginning of the first one.
type Reader struct {
	in   *bufio.Reader
	left int64
	// At is how many bytes the frames had that were read, and Frames how many these are.
	At, Frames int64
}

// NewReader returns a Reader of that many bytes.
func NewReader(in *bufio.Reader, bytes int64) *Reader { return &Reader{in: in, left: bytes} }

// Next returns the next frame, whose bytes are the caller's: io.EOF behind the last one, ErrTorn at
// one that is not whole and has nothing behind it, and errors that wrap ErrDamaged.
func (r *Reader) Next() (kind byte, body []byte, err error) {
	var head [Begins]byte
	switch n, err := io.ReadFull(r.in, head[:]); {
	case n == 0 && r.left <= 0:
		return 0, nil, io.EOF
	case r.left < Begins:
		return 0, nil, ErrTorn
	case err != nil:
		return 0, nil, err
	}
	if binary.LittleEndian.Uint32(head[5:]) != crc32.Checksum(head[:5], castagnoli) {
		if head == [Begins]byte{} && r.zero() { // as file systems leave what was not written
			return 0, nil, ErrTorn
		}
		return 0, nil, fmt.Errorf("the checksum of the frame's beginning is another: %w",
			ErrDamaged)
	}
	n := int64(binary.LittleEndian.Uint32(head[1:]))
	if n > Most {
		return 0, nil, fmt.Errorf("a frame of %d bytes: %w", n, ErrDamaged)
	}
	whole := Begins + n + Ends
	if r.left < whole {
		return 0, nil, ErrTorn
	}
	body = make([]byte, n+Ends)
	if _, err := io.ReadFull(r.in, body); err != nil {
		return 0, nil, err
	}
	if binary.LittleEndian.Uint32(body[n:]) != crc32.Checksum(body[:n], castagnoli) {
		if r.left == whole {
			return 0, nil, ErrTorn
		}
		return 0, nil, fmt.Errorf("the checksum is another: %w", ErrDamaged)
	}
	r.Frames++
	r.At, r.left = r.At+whole, r.left-whole
	return head[0], body[:n], nil
}

// zero reports whether nothing but zeros is left.
func (r *Reader) zero() bool {
	for {
		b, err := r.in.ReadByte()
		if err == io.EOF {
			return true
		}
		if err != nil || b != 0 {
			return false
		}
	}
}
