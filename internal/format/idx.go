package format

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
)

// Magic numbers of idx files of unsigned bytes. Format: Y. LeCun, C. Cortes, C. Burges, The MNIST
// database.
const (
	idxLabels = 0x801 // one dimension
	idxImages = 0x803 // three
)

// IDX is binary files of images, with files of labels beside them.
var IDX = &Format{
	Name: "idx", Binary: true, Dense: true,
	Sniff: sniffIDX, Open: openIDX, Place: placeLabel, Beside: besideIDX,
	Parse32: parseNPY[float32], Parse64: parseNPY[float64],
}

// sniffIDX goes by the magic number.
func sniffIDX(h *Head) int {
	if idxMagic(h.Text) != 0 {
		return 0
	}
	return No
}

// idxMagic returns the magic number at the head, 0 if it is none of an idx file.
func idxMagic(head []byte) int {
	if len(head) >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 8 && head[2] <= 14 &&
		head[3] >= 1 && head[3] <= 8 {
		return int(binary.BigEndian.Uint32(head))
	}
	return 0
}

// besideIDX is the file in the images' folder whose name has labels-idx1 for images-idx3.
func besideIDX(images string) string {
	base := filepath.Base(images)
	sibling := strings.NewReplacer("images-idx3", "labels-idx1", "images.idx3",
		"labels.idx1").Replace(base)
	if sibling == base {
		return ""
	}
	return siblingOf(images, sibling)
}

// openIDX opens files of images and of their labels.
func openIDX(files []string, o *Options, open func(string) (File, error)) ([]Part, error) {
	return openPairs(files, o, open, pairing{read: readIDX, beside: besideIDX,
		alone: "labels without images: name the images file (images-idx3) too",
		missing: func(x *examples, _ []*examples) error {
			return badFile(x.file.Name(), "images without labels: name the labels file "+
				"(labels-idx1) too")
		}})
}

// readIDX reads the header of a file of images, or all of one of labels.
func readIDX(name string, in File, o *Options) (*examples, *array, error) {
	a, err := idxHeader(in, o.Limits)
	if err != nil {
		return nil, nil, err
	}
	if a.name = name; a.cols > 0 {
		return &examples{file: in, at: a.header, layout: a.layout("", "image")}, nil, nil
	}
	return nil, a, a.read(in, o.Limits)
}

// ReadIDX reads all bytes of one file of images, with their labels. The files are those that Open
// of the format takes.
func ReadIDX(files []string, o *Options, open func(name string) (File, error)) (x, y []byte,
	pixels int, err error) {
	parts, err := openIDX(files, o, open)
	if err != nil {
		return nil, nil, 0, err
	}
	in, l := parts[0].File, parts[0].Layout
	for _, p := range parts {
		defer p.File.Close()
	}
	size := int64(l.Rows) * int64(l.Size)
	x, err = readRows(in, l.Start, size, func(int) string {
		return fmt.Sprintf("%d images", l.Rows)
	})
	if err == nil {
		err = AtEnd(in, l.Start+size, l.Rows)
	}
	return x, l.Own.(*arrayRows).labels.y, l.Size, err
}

// idxHeader reads the header: rows and, of images, pixels.
func idxHeader(in File, l *Limits) (*array, error) {
	var h [16]byte
	if n, err := io.ReadFull(in, h[:8]); err != nil {
		return nil, in.Broken(int64(n), "an idx header of 8 bytes", err)
	}
	magic := int(binary.BigEndian.Uint32(h[:]))
	if magic != idxImages && magic != idxLabels {
		return nil, &RowError{File: in.Name(),
			What: fmt.Sprintf("expected the idx magic number 0x803 (images of bytes) or 0x801 "+
				"(labels), found %#x", uint32(magic)), Err: ErrFormat}
	}
	rows := binary.BigEndian.Uint32(h[4:])
	if rows > math.MaxInt32 { // examples are numbered by int32
		return nil, &RowError{File: in.Name(), Offset: 4, Err: ErrFormat,
			What: fmt.Sprintf("%d examples are too many", rows)}
	}
	a := &array{kind: 'u', size: 1, rows: int(rows), header: 4, start: 8}
	if err := a.some(in); err != nil {
		return nil, err
	}
	if magic == idxImages {
		if n, err := io.ReadFull(in, h[8:]); err != nil {
			return nil, in.Broken(8+int64(n), "an idx header of 16 bytes", err)
		}
		height := uint64(binary.BigEndian.Uint32(h[8:]))
		width := uint64(binary.BigEndian.Uint32(h[12:]))
		// 2^26 pixels are 256 MiB as float32: more is a broken header, and rows*pixels stays below
		// 2^57
		if height == 0 || width == 0 || height*width > 1<<26 {
			return nil, &RowError{File: in.Name(), Offset: 8, Err: ErrFormat,
				What: fmt.Sprintf("images of %d x %d values can't be used", height, width)}
		}
		if a.cols, a.start = int(height*width), 16; a.cols > l.Line {
			e := l.TooLong(in.Name(), nil)
			return nil, &RowError{File: in.Name(), Offset: 8, Err: e.Err,
				What: fmt.Sprintf("images of %d x %d values: %s", height, width, e.What)}
		}
	}
	return a, nil
}
