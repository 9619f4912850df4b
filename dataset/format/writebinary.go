package format

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
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
func npyValues[T engine.Float](val []T) (descr string, data []byte) {
	kind := exactly(val, hsbBytes)
	return [...]string{hsbBytes: "|u1", hsbSingle: "<f4", hsbDouble: "<f8"}[kind],
		appendValues(nil, val, kind)
}

// appendValues appends values of that kind.
func appendValues[T engine.Float](b []byte, val []T, kind int) []byte {
	for _, v := range val {
		switch kind {
		case hsbBytes:
			b = append(b, byte(v))
		case hsbSingle:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case hsbDouble:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(v)))
		}
	}
	return b
}

// npyLabelBytes is the array of labels: numbers where all are, else texts.
func npyLabelBytes[T engine.Float](b *engine.Block[T], e *written) ([]byte, error) {
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
		return nil, e.noPlace(fmt.Sprintf("labels of %d letters", most), "ndjson or hsb")
	}
	return npyBytes(descr, []int{b.Len()}, data), nil
}

// mostDense is how many values of sparse examples are written as a dense array.
const mostDense = 1 << 28

// npyWriter writes two arrays.
type npyWriter[T engine.Float] struct{}

func newNPYWriter[T engine.Float](e *written) (rowWriter[T], error) {
	if e.named() {
		e.lose("the names of features: they are columns")
	}
	if e.labels == nil {
		return nil, fmt.Errorf("npy: no place for the labels, which are a second array: %w",
			ErrOption)
	}
	return npyWriter[T]{}, nil
}

func (npyWriter[T]) write(b *engine.Block[T], e *written) error {
	if len(b.W) > 0 {
		return e.noPlace("weights", "npz, vw, csv or hsb")
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

func (npyWriter[T]) end(*written) error { return nil }

// denseBytes is the array of examples.
func denseBytes[T engine.Float](b *engine.Block[T], e *written) ([]byte, error) {
	n := b.Len() * b.Dim
	if !b.Dense() && n > mostDense {
		return nil, e.noPlace(fmt.Sprintf("%d values of sparse examples", n), "npz or hsb")
	}
	all := make([]T, n)
	for i := range b.Len() {
		row := all[i*b.Dim : (i+1)*b.Dim]
		eachValue(b, i, func(j int, v T) error { row[j] = v; return nil })
	}
	descr, data := npyValues(all)
	return npyBytes(descr, []int{b.Len(), b.Dim}, data), nil
}

// npzWriter writes a zip of arrays: X and y, or the parts of a matrix and y, and weights.
type npzWriter[T engine.Float] struct{}

func newNPZWriter[T engine.Float](e *written) (rowWriter[T], error) {
	if e.named() {
		e.lose("the names of features: they are columns")
	}
	return npzWriter[T]{}, nil
}

func (npzWriter[T]) write(b *engine.Block[T], e *written) error {
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
		var val []T
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
		z.add("weight.npy", npyBytes("<f8", []int{b.Len()}, appendValues(nil, b.W, hsbDouble)))
		e.lose("which array has the weights: it is called weight")
	}
	return z.end()
}

func (npzWriter[T]) end(*written) error { return nil }

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
		z.err = fmt.Errorf("a zip of more than 4 GiB: write hsb: %w", ErrNoPlace)
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

// hsbWriter writes the binary form.
type hsbWriter[T engine.Float] struct {
	rows, values       uint64
	labels, names      int // written
	begun, dense       bool
	counts, idx, codes []int32
	val, w             []T
	dim, n             int
}

func newHSBWriter[T engine.Float](*written) (rowWriter[T], error) { return &hsbWriter[T]{}, nil }

// hsbPut writes a record.
func hsbPut(w io.Writer, kind, rows uint32, body []byte) error {
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	head := binary.LittleEndian.AppendUint32(nil, kind)
	head = binary.LittleEndian.AppendUint32(head, rows)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(body)))
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, body)
	head = append(binary.LittleEndian.AppendUint32(head, sum), 0, 0, 0, 0)
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// begin writes what stands before the rows.
func (h *hsbWriter[T]) begin(e *written) error {
	h.begun = true
	about := e.about
	if about.Sources == nil {
		about.Sources = []Source{}
	}
	if h.dense {
		about.Dim = h.dim
	}
	doc, err := json.Marshal(about)
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint32([]byte(hsbMagic), hsbVersion)
	if _, err := e.out.Write(append(head, 0, 0, 0, 0)); err != nil {
		return err
	}
	return hsbPut(e.out, hsbAbout, 0, doc)
}

func (h *hsbWriter[T]) write(b *engine.Block[T], e *written) error {
	if !h.begun {
		h.dense, h.dim = b.Dense(), b.Dim
		if err := h.begin(e); err != nil {
			return err
		}
	}
	if b.Dense() != h.dense || h.dense && b.Dim != h.dim {
		return fmt.Errorf("hsb: sparse and dense examples, or dense ones of several lengths: %w",
			ErrOption)
	}
	for i := range b.Len() {
		idx, val := b.Example(i)
		h.val, h.idx = append(h.val, val...), append(h.idx, idx...)
		h.counts = append(h.counts, int32(len(val)))
		if len(b.W) > 0 || len(h.w) > 0 {
			h.w = append(weightsUpTo(h.w, h.n), weight(b, i))
		}
		code := int32(0)
		if b.Class != nil {
			code = b.Class[i]
		} else if b.Y[i] > 0 {
			code = 1
		}
		h.codes = append(h.codes, code)
		h.n++
		if 8*len(h.val)+16*h.n >= hsbRun {
			if err := h.flush(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell writes the labels and names that have come.
func (h *hsbWriter[T]) tell(e *written) error {
	for h.labels < len(e.texts) || h.names < len(e.names) {
		body := make([]byte, 8)
		var n [2]uint32
		for i, from := range []struct {
			list []string
			done *int
		}{{e.texts, &h.labels}, {e.names, &h.names}} {
			for *from.done < len(from.list) && len(body) < 1<<20 {
				s := from.list[*from.done]
				body = append(binary.LittleEndian.AppendUint32(body, uint32(len(s))), s...)
				*from.done++
				n[i]++
			}
		}
		binary.LittleEndian.PutUint32(body, n[0])
		binary.LittleEndian.PutUint32(body[4:], n[1])
		if err := hsbPut(e.out, hsbNames, 0, body); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the rows that are there as a record.
func (h *hsbWriter[T]) flush(e *written) error {
	if h.n == 0 {
		return nil
	}
	if err := h.tell(e); err != nil {
		return err
	}
	width := func(most int32) byte {
		switch {
		case most < 1<<8:
			return 1
		case most < 1<<16:
			return 2
		}
		return 4
	}
	value := exactly(h.val, hsbOnes)
	body := []byte{byte(value), 0, width(slices.Max(h.codes)), 0, 0, 0, 0, 0}
	if h.dense {
		binary.LittleEndian.PutUint32(body[4:], uint32(h.dim))
	} else if body[1] = 1; len(h.idx) > 0 {
		body[1] = width(slices.Max(h.idx))
	}
	body = binary.LittleEndian.AppendUint32(body, uint32(len(h.val)))
	body = append(body, 0, 0, 0, 0)
	pad := func() {
		for len(body)%8 != 0 {
			body = append(body, 0)
		}
	}
	if len(h.w) > 0 {
		body[3] = 1
		body = appendValues(body, weightsUpTo(h.w, h.n), hsbDouble)
	}
	body = appendValues(body, h.val, value)
	pad()
	integers := func(list []int32, width byte) {
		for _, j := range list {
			switch width {
			case 1:
				body = append(body, byte(j))
			case 2:
				body = binary.LittleEndian.AppendUint16(body, uint16(j))
			default:
				body = binary.LittleEndian.AppendUint32(body, uint32(j))
			}
		}
		pad()
	}
	if !h.dense {
		integers(h.counts, 4)
		integers(h.idx, body[1])
	}
	integers(h.codes, body[2])
	h.rows, h.values = h.rows+uint64(h.n), h.values+uint64(len(h.val))
	err := hsbPut(e.out, hsbRows, uint32(h.n), body)
	h.counts, h.idx, h.codes = h.counts[:0], h.idx[:0], h.codes[:0]
	h.val, h.w, h.n = h.val[:0], h.w[:0], 0
	return err
}

func (h *hsbWriter[T]) end(e *written) error {
	if !h.begun {
		if err := h.begin(e); err != nil {
			return err
		}
	}
	if err := h.flush(e); err != nil {
		return err
	}
	body := binary.LittleEndian.AppendUint64(nil, h.rows)
	return hsbPut(e.out, hsbEnd, 0, binary.LittleEndian.AppendUint64(body, h.values))
}
