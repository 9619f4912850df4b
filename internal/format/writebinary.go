package format

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/engine"
)

// npyBytes is an array as a file.
func npyBytes(descr string, shape []int, data []byte) []byte {
	dims := ""
	for _, n := range shape {
		dims += strconv.Itoa(n) + ", "
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims)
	for (10+len(head)+1)%64 != 0 {
		head += " "
	}
	b := append([]byte(npyMagic+"\x01\x00"), byte(len(head)+1), byte((len(head)+1)>>8))
	return append(append(append(b, head...), '\n'), data...)
}

// npyValues are values as an array has them, in the fewest bytes that hold them.
func npyValues(val []float64) (descr string, data []byte) {
	descr = "|u1"
	for _, v := range val {
		switch {
		case float64(float32(v)) != v:
			return "<f8", float64Bytes(val)
		case !(v >= 0 && v <= 255 && v == math.Trunc(v)) || math.Signbit(v):
			descr = "<f4"
		}
	}
	for _, v := range val {
		if descr == "<f4" {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		} else {
			data = append(data, byte(v))
		}
	}
	return descr, data
}

// float64Bytes are values as an array of float64.
func float64Bytes(val []float64) (data []byte) {
	for _, v := range val {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return data
}

// npyLabelBytes is the array of labels: numbers where all are, else texts.
func npyLabelBytes(b *engine.Block[float64], e *written) ([]byte, error) {
	integers, whole := WholeLabels(e.texts)
	numbers, most := true, 1
	fractions, met := make([]float64, len(e.texts)), map[float64]bool{}
	for i, t := range e.texts {
		most = max(most, utf8.RuneCountInString(t))
		_, plain := plainValue(t)
		v := MakeLabel(t).Num
		numbers = numbers && plain && !met[v] && MakeLabel(t).Equal(MakeLabel(NumberText(v)))
		fractions[i], met[v] = v, true
	}
	for i, t := range e.texts {
		if whole && strconv.FormatInt(integers[i], 10) != t ||
			!whole && numbers && NumberText(fractions[i]) != t {
			e.lose("how labels are written: numbers are kept")
		}
	}
	var data []byte
	descr := "<f8"
	switch {
	case whole:
		descr = "<i8"
	case !numbers:
		descr = "<U" + strconv.Itoa(most)
	}
	for i := range b.Len() {
		k := 0
		if b.Class != nil {
			k = int(b.Class[i])
		} else if b.Y[i] > 0 {
			k = 1
		}
		switch {
		case whole:
			data = binary.LittleEndian.AppendUint64(data, uint64(integers[k]))
		case numbers:
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(fractions[k]))
		default:
			n := len(data)
			for _, r := range e.texts[k] {
				data = binary.LittleEndian.AppendUint32(data, uint32(r))
			}
			data = append(data, make([]byte, n+4*most-len(data))...)
		}
	}
	if 4*most > LongLabel && !numbers && !whole {
		return nil, e.noPlace(fmt.Sprintf("labels of %d letters", most), "ndjson")
	}
	return npyBytes(descr, []int{b.Len()}, data), nil
}

// mostDense is how many values of sparse examples are written as a dense array.
const mostDense = 1 << 28

func (e *written) beginNPY() error {
	if e.labels == nil {
		return fmt.Errorf("npy: no place for the labels, which are a second array: %w", ErrOption)
	}
	return e.beginNPZ()
}

// npy writes two arrays.
func (e *written) npy(b *engine.Block[float64]) error {
	if len(b.W) > 0 {
		return e.noPlace("weights", "npz, vw or csv")
	}
	labels, err := npyLabelBytes(b, e)
	if err != nil {
		return err
	}
	data, err := denseBytes(b, e)
	if err != nil {
		return err
	}
	if _, err := e.labels.Write(labels); err != nil {
		return err
	}
	_, err = e.out.Write(data)
	return err
}

// denseBytes is the array of examples.
func denseBytes(b *engine.Block[float64], e *written) ([]byte, error) {
	n := b.Len() * b.Dim
	if !b.Dense() && n > mostDense {
		return nil, e.noPlace(fmt.Sprintf("%d values of sparse examples", n), "npz")
	}
	all := make([]float64, n)
	for i := range b.Len() {
		row := all[i*b.Dim : (i+1)*b.Dim]
		eachValue(b, i, func(j int, v float64) error { row[j] = v; return nil })
	}
	descr, data := npyValues(all)
	return npyBytes(descr, []int{b.Len(), b.Dim}, data), nil
}

// beginNPZ notes that arrays have no names of columns.
func (e *written) beginNPZ() error {
	if e.named() {
		e.lose("the names of features: they are columns")
	}
	return nil
}

// npz writes a zip of arrays: X and y, or the parts of a matrix and y, and weights.
func (e *written) npz(b *engine.Block[float64]) error {
	z := &zipWriter{w: e.out}
	labels, err := npyLabelBytes(b, e)
	if err != nil {
		return err
	}
	if b.Dense() {
		data, err := denseBytes(b, e)
		if err != nil {
			return err
		}
		z.add("X.npy", data)
	} else {
		var ptr, idx []byte
		var val []float64
		ptr = binary.LittleEndian.AppendUint64(ptr, 0)
		for i := range b.Len() {
			js, vs := b.Sparse(i)
			for _, j := range js {
				idx = binary.LittleEndian.AppendUint32(idx, uint32(j))
			}
			val = append(val, vs...)
			ptr = binary.LittleEndian.AppendUint64(ptr, uint64(len(val)))
		}
		shape := binary.LittleEndian.AppendUint64(nil, uint64(b.Len()))
		shape = binary.LittleEndian.AppendUint64(shape, uint64(max(b.Dim, 1)))
		descr, data := npyValues(val)
		z.add("indices.npy", npyBytes("<i4", []int{len(val)}, idx))
		z.add("indptr.npy", npyBytes("<i8", []int{b.Len() + 1}, ptr))
		z.add("format.npy", npyBytes("|S3", nil, []byte("csr")))
		z.add("shape.npy", npyBytes("<i8", []int{2}, shape))
		z.add("data.npy", npyBytes(descr, []int{len(val)}, data))
	}
	z.add("y.npy", labels)
	if len(b.W) > 0 {
		z.add("weight.npy", npyBytes("<f8", []int{b.Len()}, float64Bytes(b.W)))
		e.lose("which array has the weights: it is called weight")
	}
	return z.end()
}

// zipWriter writes a zip of stored files.
type zipWriter struct {
	w         io.Writer
	at        uint64
	directory []byte
	files     uint16
	err       error
}

func (z *zipWriter) put(b []byte) {
	if z.err == nil {
		_, z.err = z.w.Write(b)
	}
	z.at += uint64(len(b))
}

// add adds a file.
func (z *zipWriter) add(name string, data []byte) {
	if z.at+uint64(len(data)) > math.MaxUint32-1<<20 && z.err == nil {
		z.err = fmt.Errorf("a zip of more than 4 GiB: write svmlight, ndjson or vw: %w", ErrNoPlace)
	}
	le := binary.LittleEndian
	// version 2.0, no flags, stored, 1 January 1980
	common := append([]byte{20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0}, le.AppendUint32(nil,
		crc32.ChecksumIEEE(data))...)
	common = le.AppendUint32(le.AppendUint32(common, uint32(len(data))), uint32(len(data)))
	common = append(le.AppendUint16(common, uint16(len(name))), 0, 0)
	z.directory = append(append(z.directory, "PK\x01\x02\x14\x00"...), common...)
	z.directory = append(z.directory, make([]byte, 10)...)
	z.directory = append(le.AppendUint32(z.directory, uint32(z.at)), name...)
	z.put(append(append([]byte(zipMagic), common...), name...))
	z.put(data)
	z.files++
}

// end writes the directory.
func (z *zipWriter) end() error {
	le := binary.LittleEndian
	b := append([]byte("PK\x05\x06\x00\x00\x00\x00"), byte(z.files), 0, byte(z.files), 0)
	b = le.AppendUint32(le.AppendUint32(b, uint32(len(z.directory))), uint32(z.at))
	z.put(append(z.directory, append(b, 0, 0)...))
	return z.err
}
