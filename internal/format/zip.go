package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
)

// zip files, as far as NumPy writes them: stored and deflated. The standard library's package would
// add a tenth to what every program takes on that reads examples, and has no bound on a directory.
//
// Format: PKWARE, APPNOTE.TXT 6.3, with zip64.

const zipMagic = "PK\x03\x04"

// mostDirectory is how many bytes of a zip's directory are read: those of ten thousand arrays.
const mostDirectory = 1 << 20

// What is wrong with a zip as a whole.
var (
	errDirectory = errors.New("too long")
	errNoZip     = errors.New("truncated or damaged")
)

// zipEntry is a file of a zip.
type zipEntry struct {
	name         string
	flags        uint16
	method       uint16
	sum          uint32 // CRC-32 of what it holds
	packed, size uint64 // bytes
	header       uint64 // byte where its header begins
}

// Methods by which zips pack.
const (
	zipStored   = 0
	zipDeflated = 8
)

// readZip reads the directory of a zip.
func readZip(at io.ReaderAt, size int64) ([]zipEntry, error) {
	const end, most = 22, 22 + 1<<16
	tail := make([]byte, min(size, most))
	if _, err := at.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if i < 0 || len(tail)-i < end {
		return nil, errNoZip
	}
	length := uint64(binary.LittleEndian.Uint32(tail[i+12:]))
	from := uint64(binary.LittleEndian.Uint32(tail[i+16:]))
	const locator, record = 20, 56
	if i >= locator && string(tail[i-locator:i-locator+4]) == "PK\x06\x07" {
		var b [record]byte
		place := binary.LittleEndian.Uint64(tail[i-locator+8:])
		if place > uint64(size) {
			return nil, errNoZip
		}
		if _, err := at.ReadAt(b[:], int64(place)); err != nil || string(b[:4]) != "PK\x06\x06" {
			return nil, errNoZip
		}
		length, from = binary.LittleEndian.Uint64(b[40:]), binary.LittleEndian.Uint64(b[48:])
	}
	switch {
	case from > uint64(size) || length > uint64(size)-from:
		return nil, errNoZip
	case length > mostDirectory:
		return nil, errDirectory
	}
	b := make([]byte, length)
	if _, err := at.ReadAt(b, int64(from)); err != nil && err != io.EOF {
		return nil, err
	}
	var list []zipEntry
	for len(b) > 0 {
		z, n, ok := zipHeader(b)
		if !ok {
			return nil, errNoZip
		}
		list, b = append(list, z), b[n:]
	}
	return list, nil
}

// zipHeader reads a file's header in the directory, and returns its length.
func zipHeader(b []byte) (z zipEntry, n int, ok bool) {
	const fixed = 46
	if len(b) < fixed || string(b[:4]) != "PK\x01\x02" {
		return z, 0, false
	}
	u16 := func(i int) int { return int(binary.LittleEndian.Uint16(b[i:])) }
	u32 := func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(b[i:])) }
	name, extra := u16(28), u16(30)
	n = fixed + name + extra + u16(32)
	if n > len(b) {
		return z, 0, false
	}
	z = zipEntry{name: string(b[fixed : fixed+name]), flags: uint16(u16(8)),
		method: uint16(u16(10)), sum: uint32(u32(16)), packed: u32(20), size: u32(24),
		header: u32(42)}
	more := b[fixed+name : fixed+name+extra]
	for len(more) >= 4 {
		id, k := binary.LittleEndian.Uint16(more), int(binary.LittleEndian.Uint16(more[2:]))
		if more = more[4:]; k > len(more) {
			break
		}
		if wide := more[:k]; id == 1 { // zip64: those that 32 bits don't hold, in this order
			for _, v := range []*uint64{&z.size, &z.packed, &z.header} {
				if *v == 1<<32-1 && len(wide) >= 8 {
					*v, wide = binary.LittleEndian.Uint64(wide), wide[8:]
				}
			}
		}
		more = more[k:]
	}
	return z, n, true
}

// place returns where the bytes of a file begin, in a zip of that size.
func (z *zipEntry) place(at io.ReaderAt, size int64) (int64, error) {
	var b [30]byte
	if z.header > uint64(size) {
		return 0, errNoZip
	}
	if _, err := at.ReadAt(b[:], int64(z.header)); err != nil || string(b[:4]) != zipMagic {
		return 0, errNoZip
	}
	from := z.header + 30 + uint64(binary.LittleEndian.Uint16(b[26:])) +
		uint64(binary.LittleEndian.Uint16(b[28:]))
	if from > uint64(size) || z.packed > uint64(size)-from {
		return 0, errNoZip
	}
	return int64(from), nil
}

// zipData is a file of a zip, unpacked and verified while it is read. The last bytes come if all of
// them are what the zip says.
type zipData struct {
	r    io.Reader
	sum  hash.Hash32
	want uint32
	left uint64 // bytes that are still to come
}

// errPacked are packed data that are not what the zip says of them.
var errPacked = errors.New("length or checksum differ")

func newZipData(r io.Reader, z *zipEntry) *zipData {
	return &zipData{r: r, sum: crc32.NewIEEE(), want: z.sum, left: z.size}
}

// Read implements io.Reader.
func (d *zipData) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	if uint64(len(p)) > d.left {
		p = p[:d.left]
	}
	n, err := d.r.Read(p)
	d.sum.Write(p[:n])
	if d.left -= uint64(n); d.left > 0 {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return n, err
	}
	var more [1]byte
	if k, err := io.ReadFull(d.r, more[:]); k > 0 || err != io.EOF || d.sum.Sum32() != d.want {
		return 0, errPacked
	}
	return n, nil
}
