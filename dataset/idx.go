package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Magic numbers of idx files of unsigned bytes. Format: Y. LeCun, C. Cortes, C. Burges, The MNIST database.
const (
	idxLabels = 0x801 // one dimension
	idxImages = 0x803 // three
)

// idxPair is a file of images with the file of their labels.
type idxPair struct {
	images, labels string
	rows, pixels   int
	y              []byte
}

// idxMagic returns the magic number at the head, 0 if it is none of an idx file.
func idxMagic(head []byte) int {
	if len(head) >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 8 && head[2] <= 14 && head[3] >= 1 && head[3] <= 8 {
		return int(binary.BigEndian.Uint32(head))
	}
	return 0
}

// Beside returns the file of labels that is read beside a file of images when it is not named
// itself: the one in the same folder whose name has labels-idx1 for images-idx3. It is "" where
// there is none, and for other files.
func Beside(images string) string {
	base := filepath.Base(images)
	sibling := strings.NewReplacer("images-idx3", "labels-idx1", "images.idx3",
		"labels.idx1").Replace(base)
	name := filepath.Join(filepath.Dir(images), sibling)
	if _, err := os.Stat(name); sibling == base || err != nil {
		return ""
	}
	return name
}

// pairIDX opens the files, checks their headers, and reads the labels. Images and labels may come in either order; the i-th images go
// with the i-th labels. Without labels, the file beside the images whose name has labels-idx1 for images-idx3 is taken. The files of images
// stay open, standing at the first image; keep is given each.
func pairIDX(files []string, open func(string) (*input, error), keep func(*input)) ([]idxPair, error) {
	var images, labels []idxPair
	read := func(name string) error {
		in, err := open(name)
		if err != nil {
			return err
		}
		p, magic, err := idxHeader(in)
		if err == nil && magic == idxImages {
			p.images = name
			images = append(images, p)
			keep(in)
			return nil
		}
		defer in.Close()
		if err != nil {
			return err
		}
		p.labels = name
		if int64(p.rows) > in.limits.held {
			return &RowError{File: name, Offset: 4, Err: ErrMemory,
				What: fmt.Sprintf("%d labels take more than the %s there are for them: raise "+
					"--mem-budget", p.rows, inKiB(in.limits.held))}
		}
		y, err := io.ReadAll(io.LimitReader(in, int64(p.rows))) // grows with what is there: the header may lie
		if err == nil && len(y) < p.rows {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return in.binaryError(8+int64(len(y)), fmt.Sprintf("label %d of %d", len(y)+1, p.rows), err)
		}
		p.y = y
		labels = append(labels, p)
		return nil
	}
	for _, f := range files {
		if err := read(f); err != nil {
			return nil, err
		}
	}
	if len(images) == 0 {
		return nil, &RowError{File: files[0], What: "labels without images: name the images file (images-idx3) too", Err: ErrFormat}
	}
	if len(labels) == 0 {
		for _, p := range images {
			name := Beside(p.images)
			if name == "" {
				return nil, &RowError{File: p.images, What: "images without labels: name the labels file (labels-idx1) too", Err: ErrFormat}
			}
			if err := read(name); err != nil {
				return nil, err
			}
		}
	}
	if len(images) != len(labels) {
		return nil, &RowError{File: files[0], What: fmt.Sprintf("%d files of images, %d of labels", len(images), len(labels)), Err: ErrFormat}
	}
	for i := range images {
		p, l := &images[i], &labels[i]
		if l.images != "" || p.labels != "" {
			return nil, &RowError{File: p.images, What: "expected one file of images and one of labels", Err: ErrFormat}
		}
		if p.rows != l.rows {
			return nil, &RowError{File: p.images, Offset: 4,
				What: fmt.Sprintf("%d images, but %s has %d labels", p.rows, l.labels, l.rows), Err: ErrFormat}
		}
		if p.pixels != images[0].pixels {
			return nil, &RowError{File: p.images, Offset: 8,
				What: fmt.Sprintf("%d values an image, but %s has %d", p.pixels, images[0].images, images[0].pixels), Err: ErrFormat}
		}
		p.labels, p.y = l.labels, l.y
	}
	return images, nil
}

// idxHeader reads the header: rows and, of images, pixels.
func idxHeader(in *input) (p idxPair, magic int, err error) {
	var h [16]byte
	if n, err := io.ReadFull(in, h[:8]); err != nil {
		return p, 0, in.binaryError(int64(n), "an idx header of 8 bytes", err)
	}
	magic = int(binary.BigEndian.Uint32(h[:]))
	if magic != idxImages && magic != idxLabels {
		return p, 0, &RowError{File: in.name,
			What: fmt.Sprintf("expected the idx magic number 0x803 (images of bytes) or 0x801 (labels), found %#x", uint32(magic)), Err: ErrFormat}
	}
	rows := binary.BigEndian.Uint32(h[4:])
	if rows == 0 {
		return p, 0, &RowError{File: in.name, Offset: 4, What: "expected examples, the header says 0", Err: ErrEmpty}
	}
	if rows > math.MaxInt32 {
		return p, 0, &RowError{File: in.name, Offset: 4, What: fmt.Sprintf("%d examples are too many", rows), Err: ErrFormat}
	}
	p.rows = int(rows)
	if magic == idxImages {
		if n, err := io.ReadFull(in, h[8:]); err != nil {
			return p, 0, in.binaryError(8+int64(n), "an idx header of 16 bytes", err)
		}
		height, width := uint64(binary.BigEndian.Uint32(h[8:])), uint64(binary.BigEndian.Uint32(h[12:]))
		if height == 0 || width == 0 || height*width > 1<<26 {
			return p, 0, &RowError{File: in.name, Offset: 8, What: fmt.Sprintf("images of %d x %d values can't be used", height, width), Err: ErrFormat}
		}
		if p.pixels = int(height * width); p.pixels > in.limits.line {
			e := in.limits.lineError(in.name, nil)
			return p, 0, &RowError{File: in.name, Offset: 8, Err: e.Err,
				What: fmt.Sprintf("images of %d x %d values: %s", height, width, e.What)}
		}
	}
	return p, magic, nil
}

// binaryError is an error at a byte of a binary file.
func (in *input) binaryError(offset int64, wanted string, err error) error {
	what, sentinel := "expected "+wanted, ErrTruncated
	switch {
	case in.packed != "" && errors.Is(err, io.ErrUnexpectedEOF) && !in.ended:
		what += ", but the " + in.packed + " data are truncated"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		what += ", but the file is truncated"
	case in.packed != "":
		what, sentinel = fmt.Sprintf("%s, but the %s data are damaged: %v", what, in.packed, err), ErrFormat
	default:
		return fmt.Errorf("%s:byte %d: %w", in.name, offset, err)
	}
	return &RowError{File: in.name, Offset: offset, What: what, Err: sentinel}
}

// byteLabels are the texts of the label bytes.
var byteLabels = func() (l [256]label) {
	for i := range l {
		l[i] = label{text: strconv.Itoa(i), num: float64(i), numeric: true}
	}
	return
}()

// parseIDX makes dense rows of bytes.
func (c *chunk[T]) parseIDX(p *parsing) {
	r := c.out
	n := c.n / p.pixels
	r.Dim = p.pixels + p.bias
	r.Stride = strideOf(r.Dim)
	r.X = sized(r.X, n*r.Stride)
	var codes [256]int32
	for i := range n {
		y := c.labels[c.row0+i]
		if codes[y] == 0 {
			codes[y] = c.addLabel(byteLabels[y], i, i) + 1
		}
		r.code = append(r.code, codes[y]-1)
		row := r.X[i*r.Stride : i*r.Stride+r.Stride]
		clear(row[r.Dim:])
		row = row[:r.Dim]
		if p.bias != 0 {
			row[0] = T(p.one)
		}
		var sum uint64 // of the pixels' squares: exact
		x := row[p.bias:]
		for k, v := range c.text[i*p.pixels : (i+1)*p.pixels][:len(x)] {
			x[k] = T(v)
			sum += uint64(v) * uint64(v)
		}
		r.finishRow(row, float64(sum)+float64(p.bias)*float64(float64(T(p.one))*float64(T(p.one))), p)
	}
}

// strideOf returns the elements from one dense row to the next: long rows begin on a cache line (of 64 bytes, if the first does).
func strideOf(dim int) int {
	if dim < 32 {
		return dim
	}
	return (dim + 15) &^ 15
}

// sized returns a slice of n elements that may be s; what it holds is undefined.
func sized[E any](s []E, n int) []E {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]E, n)
}

// finishRow normalises a dense row and counts it; sum is the sum of its squares.
func (r *rows[T]) finishRow(row []T, sum float64, p *parsing) {
	if sum > r.maxSq {
		r.maxSq = sum
	}
	if p.unit {
		toUnit(row, sum)
	} else if p.scale != 0 {
		divide(row, p.scale)
	}
	r.n++
}
