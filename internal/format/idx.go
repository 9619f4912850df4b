package format

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
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
	Sniff: sniffIDX, Open: openIDX, Place: placeIDX, Beside: besideIDX,
	Parse32: parseIDX[float32], Parse64: parseIDX[float64],
}

// idxFile is an open file of images, or one of labels that was read.
type idxFile struct {
	name         string
	images       bool
	rows, pixels int
	file         File   // images
	y            []byte // labels
}

// idxLabelled are the labels of a file of images.
type idxLabelled struct {
	file string
	y    []byte
}

// sniffIDX goes by the magic number.
func sniffIDX(h *Head) int {
	if idxMagic(h.Text) != 0 {
		return 0
	}
	return No
}

// placeIDX finds a label in the labels' file.
func placeIDX(e *RowError, l *Layout, at int64) {
	e.File, e.Line, e.Col, e.Excerpt = l.Own.(*idxLabelled).file, 0, 0, ""
	e.Offset = 8 + (at-l.Start)/int64(l.Size)
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

// openIDX opens the files, checks their headers, and reads the labels. Images and labels may come
// in either order; the i-th images go with the i-th labels. Without labels, those beside the images
// are taken.
func openIDX(files []string, o *Options, open func(string) (File, error)) (parts []Part,
	err error) {
	var images, labels []*idxFile
	defer func() {
		for _, f := range images {
			if err != nil {
				f.file.Close()
			}
		}
	}()
	read := func(name string) error {
		f, err := readIDX(name, o.Limits, open)
		switch {
		case err != nil:
			return err
		case f.images:
			images = append(images, f)
		default:
			labels = append(labels, f)
		}
		return nil
	}
	for _, name := range files {
		if err := read(name); err != nil {
			return nil, err
		}
	}
	if len(images) == 0 {
		return nil, &RowError{File: files[0], Err: ErrFormat,
			What: "labels without images: name the images file (images-idx3) too"}
	}
	named := len(labels)
	for _, f := range images {
		if named > 0 {
			break
		}
		name := besideIDX(f.name)
		if name == "" {
			return nil, &RowError{File: f.name, Err: ErrFormat,
				What: "images without labels: name the labels file (labels-idx1) too"}
		}
		if err := read(name); err != nil {
			return nil, err
		}
	}
	if len(images) != len(labels) {
		return nil, &RowError{File: files[0], Err: ErrFormat,
			What: fmt.Sprintf("%d files of images, %d of labels", len(images), len(labels))}
	}
	for i, f := range images {
		if err := matchIDX(f, labels[i], images[0], o); err != nil {
			return nil, err
		}
		parts = append(parts, Part{File: f.file, Layout: &Layout{IndexBase: 1, BaseFound: byColumns,
			Dim: f.pixels, Size: f.pixels, Rows: f.rows, Start: 16, Unit: "image",
			Own: &idxLabelled{labels[i].name, labels[i].y}}})
	}
	if !o.LabelsKnown {
		if err = twoLabels(labels); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// readIDX opens a file: one of images stands at the first, one of labels is read.
func readIDX(name string, l *Limits, open func(string) (File, error)) (*idxFile, error) {
	in, err := open(name)
	if err != nil {
		return nil, err
	}
	f, err := idxHeader(in, l)
	if err == nil && f.images {
		f.name, f.file = name, in
		return f, nil
	}
	defer in.Close()
	if err != nil {
		return nil, err
	}
	f.name = name
	f.y, err = readLabels(in, l, 4, 8, f.rows, 1)
	return f, err
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
	x, err = io.ReadAll(io.LimitReader(in, size))
	if err == nil && int64(len(x)) < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nil, 0, in.Broken(l.Start+int64(len(x)), fmt.Sprintf("%d images", l.Rows), err)
	}
	if err := AtEnd(in, l.Start+size, l.Rows); err != nil {
		return nil, nil, 0, err
	}
	return x, l.Own.(*idxLabelled).y, l.Size, nil
}

// matchIDX refuses images that don't go with their labels, the first images or training.
func matchIDX(f, labels, first *idxFile, o *Options) error {
	switch {
	case f.rows != labels.rows:
		return &RowError{File: f.name, Offset: 4, Err: ErrFormat,
			What: fmt.Sprintf("%d images, but %s has %d labels", f.rows, labels.name, labels.rows)}
	case f.pixels != first.pixels:
		return &RowError{File: f.name, Offset: 8, Err: ErrFormat,
			What: fmt.Sprintf("%d values an image, but %s has %d", f.pixels, first.name,
				first.pixels)}
	case o.TrainedDim > 0 && f.pixels != o.TrainedDim:
		return &RowError{File: f.name, Col: 1, Err: ErrForeign,
			What: fmt.Sprintf("expected images of %d pixels as in training, found %d",
				o.TrainedDim, f.pixels)}
	}
	return nil
}

// twoLabels refuses more than two labels.
func twoLabels(files []*idxFile) error {
	var seen [256]bool
	for _, f := range files {
		for _, y := range f.y {
			seen[y] = true
		}
	}
	var labels []string
	for i, ok := range seen {
		if ok {
			labels = append(labels, byteLabels[i].Text)
		}
	}
	if len(labels) <= 2 {
		return nil
	}
	last := labels[len(labels)-1]
	return &RowError{File: files[0].name, Offset: 8, Err: ErrLabels,
		What: fmt.Sprintf("%d labels (%s to %s): choose the one to tell from all others, as by "+
			"Options.Positive %s", len(labels), labels[0], last, last)}
}

// idxHeader reads the header: rows and, of images, pixels.
func idxHeader(in File, l *Limits) (*idxFile, error) {
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
	if rows == 0 {
		return nil, &RowError{File: in.Name(), Offset: 4, Err: ErrEmpty,
			What: "expected examples, the header says 0"}
	}
	if rows > math.MaxInt32 { // examples are numbered by int32
		return nil, &RowError{File: in.Name(), Offset: 4, Err: ErrFormat,
			What: fmt.Sprintf("%d examples are too many", rows)}
	}
	p := &idxFile{rows: int(rows), images: magic == idxImages}
	if p.images {
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
		if p.pixels = int(height * width); p.pixels > l.Line {
			e := l.TooLong(in.Name(), nil)
			return nil, &RowError{File: in.Name(), Offset: 8, Err: e.Err,
				What: fmt.Sprintf("images of %d x %d values: %s", height, width, e.What)}
		}
	}
	return p, nil
}

// byteLabels are the texts of the label bytes.
var byteLabels = func() (l [256]Label) {
	for i := range l {
		l[i] = MakeLabel(strconv.Itoa(i))
	}
	return
}()

// parseIDX makes dense rows of bytes: a feature is a pixel, 0 to 255, as it stands in the file.
func parseIDX[T engine.Float](c *Chunk[T], p *Settings) {
	r, pixels := c.Out, c.Layout.Size
	first := int(c.Offset-c.Layout.Start) / pixels
	labels := c.Layout.Own.(*idxLabelled).y[first:]
	r.X = slices.Grow(r.X, c.N/pixels*Stride(pixels+p.Bias))
	var codes [256]int32 // the label's number in the chunk plus 1; 0: not met
	for i := range c.N / pixels {
		y := labels[i]
		if codes[y] == 0 {
			codes[y] = c.AddLabel(byteLabels[y], i*pixels, i*pixels) + 1
		}
		r.Code = append(r.Code, codes[y]-1)
		row := r.room(p, pixels)
		sum := npyRow('u', 1, row[p.Bias:], c.Text[i*pixels:])
		r.Finish(row, sum+float64(p.Bias)*float64(float64(T(p.One))*float64(T(p.One))), p)
	}
}
