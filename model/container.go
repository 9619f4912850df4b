package model

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"

	formats "github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
)

const (
	format = "halfspace"

	metadataKey = "__metadata__"
	// maxHeader is above the limit of the safetensors libraries, 100 MB: the tensors of one-vs-one
	// over 1000 classes have 2 million lines. Reading takes memory for what a file has, not for
	// what its first bytes claim.
	maxHeader = 1 << 30
	// chunk is how many elements are turned into bytes at a time.
	chunk = 8192
)

// blankSum stands in the file's place for the checksum while it is computed.
var blankSum = strings.Repeat("0", 2*sha256.Size)

// entry is a tensor's line in the header. Fields in the order of their names.
type entry struct {
	Offsets [2]uint64 `json:"data_offsets"`
	DType   string    `json:"dtype"`
	Shape   []uint64  `json:"shape"`
}

// dtype is an element type.
type dtype struct {
	name string
	size int
	make func(n int) any
}

// dtypes are in the order of the tensors in the file: larger first.
var dtypes = []dtype{
	{"F64", 8, func(n int) any { return make([]float64, n) }},
	{"I64", 8, func(n int) any { return make([]int64, n) }},
	{"U64", 8, func(n int) any { return make([]uint64, n) }},
	{"F32", 4, func(n int) any { return make([]float32, n) }},
	{"I32", 4, func(n int) any { return make([]int32, n) }},
	{"U8", 1, func(n int) any { return make([]uint8, n) }},
}

// dtypeOf returns the type of a tensor's data, which has no size if the container can't hold it,
// and its length.
func dtypeOf(data any) (t dtype, n int) {
	switch d := data.(type) {
	case []float64:
		return dtypes[0], len(d)
	case []int64:
		return dtypes[1], len(d)
	case []uint64:
		return dtypes[2], len(d)
	case []float32:
		return dtypes[3], len(d)
	case []int32:
		return dtypes[4], len(d)
	case []uint8:
		return dtypes[5], len(d)
	}
	return dtype{}, 0
}

// Encode writes the file. It fails before the first byte if the model can't be written
// (ErrNotFinite, ErrInvalid), and with the writer's error otherwise. Cost: the tensors are gone
// through twice, for the checksum and for the writing.
func Encode(w io.Writer, m *Model) error {
	if err := m.written(); err != nil {
		return fmt.Errorf("%w: %w", err, ErrInvalid)
	}
	if err := m.finite(); err != nil {
		return err
	}
	return write(w, m)
}

// write is Encode of a model that has been checked.
func write(w io.Writer, m *Model) error {
	header, tensors, err := header(m)
	if err != nil {
		return err
	}
	sum := sha256.New()
	sum.Write(header)
	if err := writeTensors(sum, tensors); err != nil {
		return err
	}
	at := bytes.Index(header, []byte(sumField(blankSum))) + len(sumField("")) - 1
	hex.Encode(header[at:], sum.Sum(nil))
	if _, err := w.Write(header); err != nil {
		return err
	}
	return writeTensors(w, tensors)
}

// sumField is the checksum as it stands in the header. It is found nowhere else: within the
// document, quotes are escaped.
func sumField(digits string) string { return `"sha256":"` + digits + `"` }

// header returns the length and the header with a blank checksum, and the tensors in the order of
// the file.
func header(m *Model) ([]byte, []learner.Tensor, error) {
	doc, err := json.Marshal(document{
		Learner: m.Learner, Precision: m.Precision, Config: m.Config, Seed: m.Seed, Prep: m.Prep,
		Presented: m.Presented, Mistakes: m.Mistakes,
		Counters: m.State.Counters, Scalars: m.State.Scalars, Pass: m.Pass,
		Position:    m.Position,
		PredictOnly: m.PredictOnly, Calibration: m.Calibration, Threshold: m.Threshold,
		Rows: m.Rows, Note: m.Note,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%v: %w", err, ErrInvalid)
	}
	tensors := slices.Clone(m.State.Tensors)
	if k := m.Prep.Scaling; k != nil {
		tensors = append(tensors, learner.Tensor{Name: scalingTensor, Data: k.Known,
			Shape: []int{k.Features(), 3}})
	}
	if p := m.Position; p != nil && len(p.Tallies) > 0 {
		tensors = append(tensors, learner.Tensor{Name: talliesTensor, Data: p.Tallies,
			Shape: []int{len(p.Tallies)}})
	}
	slices.SortFunc(tensors, func(a, b learner.Tensor) int {
		ta, _ := dtypeOf(a.Data)
		tb, _ := dtypeOf(b.Data)
		return cmp.Or(cmp.Compare(tb.size, ta.size), cmp.Compare(a.Name, b.Name))
	})
	entries := map[string]any{metadataKey: map[string]string{
		"format": format, "version": m.version(), "halfspace": string(doc), "sha256": blankSum,
	}}
	var at uint64
	for _, t := range tensors {
		kind, n := dtypeOf(t.Data)
		if _, taken := entries[t.Name]; taken || t.Name == "" {
			return nil, nil, fmt.Errorf("tensor name %q is empty or taken: %w", t.Name, ErrInvalid)
		}
		if kind.size == 0 {
			return nil, nil, fmt.Errorf("tensor %q is a %T: %w", t.Name, t.Data, ErrInvalid)
		}
		e := entry{Offsets: [2]uint64{at, at + uint64(n*kind.size)}, DType: kind.name,
			Shape: []uint64{}}
		for _, s := range t.Shape {
			if s < 0 {
				return nil, nil, fmt.Errorf("tensor %q has shape %v: %w", t.Name, t.Shape,
					ErrInvalid)
			}
			e.Shape = append(e.Shape, uint64(s))
		}
		if elements, ok := product(e.Shape); !ok || elements != uint64(n) {
			return nil, nil, fmt.Errorf("tensor %q has shape %v and %d elements: %w", t.Name,
				t.Shape, n, ErrInvalid)
		}
		entries[t.Name] = e
		at = e.Offsets[1]
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return nil, nil, fmt.Errorf("%v: %w", err, ErrInvalid)
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	if len(text) > maxHeader {
		return nil, nil, fmt.Errorf("the header has %d bytes, the most is %d: %w", len(text),
			maxHeader, ErrInvalid)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), tensors, nil
}

// writeTensors writes the tensors' bytes.
func writeTensors(w io.Writer, tensors []learner.Tensor) error {
	buf := make([]byte, 8*chunk)
	for _, t := range tensors {
		var err error
		switch data := t.Data.(type) {
		case []float64:
			err = writeSlice(w, buf, data)
		case []int64:
			err = writeSlice(w, buf, data)
		case []uint64:
			err = writeSlice(w, buf, data)
		case []float32:
			err = writeSlice(w, buf, data)
		case []int32:
			err = writeSlice(w, buf, data)
		case []uint8:
			_, err = w.Write(data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeSlice[E any](w io.Writer, buf []byte, data []E) error {
	for part := range slices.Chunk(data, chunk) {
		n, err := binary.Encode(buf, binary.LittleEndian, part)
		if err != nil {
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
	}
	return nil
}

// product returns the number of elements of a shape, false if it does not fit.
func product(shape []uint64) (uint64, bool) {
	n := uint64(1)
	for _, s := range shape {
		hi, lo := bits.Mul64(n, s)
		if hi != 0 {
			return 0, false
		}
		n = lo
	}
	return n, true
}

// Decode reads a file's bytes, and keeps none of them. Errors: ErrForeign, ErrTruncated,
// ErrDamaged, ErrNewer, ErrNotFinite.
func Decode(data []byte) (*Model, error) {
	n, err := headerLength(data)
	if err != nil {
		return nil, err
	}
	if err := headerWhole(n, uint64(len(data)-8)); err != nil {
		return nil, err
	}
	h, err := parseHeader(data[8 : 8+n])
	if err != nil {
		return nil, err
	}
	return h.decode(data[:8+n], data[8+n:])
}

// headerLength returns the length that a file of at least that start gives its header.
func headerLength(start []byte) (n uint64, err error) {
	if len(start) == 0 {
		return 0, fmt.Errorf("the file is empty: %w; train anew", ErrTruncated)
	}
	if len(start) < 8 {
		return 0, fmt.Errorf("%d bytes are less than any model has: %w", len(start), ErrForeign)
	}
	n = binary.LittleEndian.Uint64(start)
	if n > maxHeader || len(start) > 8 && start[8] != '{' {
		return 0, fmt.Errorf("it does not begin as a safetensors file: %w; give a file that "+
			"train wrote", ErrForeign)
	}
	return n, nil
}

// headerWhole refuses a file of which rest bytes follow the length n of its header, if these are
// fewer.
func headerWhole(n, rest uint64) error {
	if n > rest {
		return fmt.Errorf("%d of %d bytes of its header are there: %w; copy it again, or "+
			"train anew", rest, n, ErrTruncated)
	}
	return nil
}

// read reads a file of that size, or a stream of unknown size if it is negative. It takes no more
// of it than the header says it has, and memory for what there is. Nothing may follow.
func read(r io.Reader, size int64) (*Model, error) {
	upTo := func(n uint64) ([]byte, error) {
		if size >= 0 {
			n = min(n, uint64(size))
			data := make([]byte, n)
			got, err := io.ReadFull(r, data)
			if err == io.ErrUnexpectedEOF || err == io.EOF {
				err = nil // it got shorter
			}
			size -= int64(got)
			return data[:got], err
		}
		return io.ReadAll(io.LimitReader(r, int64(min(n, math.MaxInt64))))
	}
	head, err := upTo(9)
	if err != nil {
		return nil, err
	}
	n, err := headerLength(head)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return Decode(head) // refused
	}
	if size >= 0 {
		if err := headerWhole(n, uint64(size)+1); err != nil {
			return nil, err
		}
	}
	rest, err := upTo(n - 1)
	if err != nil {
		return nil, err
	}
	head = append(head, rest...)
	if err := headerWhole(n, uint64(len(head)-8)); err != nil {
		return nil, err
	}
	h, err := parseHeader(head[8:])
	if err != nil {
		return nil, err
	}
	want := h.bodyLength()
	if size > 0 && uint64(size) > want {
		return nil, damaged("its tensors end at byte %d of %d", want, size)
	}
	body, err := upTo(want)
	if err != nil {
		return nil, err
	}
	if uint64(len(body)) == want {
		if more, err := io.ReadFull(r, make([]byte, 1)); more > 0 {
			return nil, damaged("it goes on after the %d bytes of its tensors", want)
		} else if err != io.EOF {
			return nil, err
		}
	}
	return h.decode(head, body)
}

// heading is what a header holds.
type heading struct {
	meta    map[string]string
	tensors []named // in the order of the file
	// what is wrong with a tensor's line; returned once the checksum is known to be right
	err error
}

type named struct {
	name string
	entry
}

// parseHeader reads a header. The error is that of a file of another kind or version.
func parseHeader(text []byte) (*heading, error) {
	h := &heading{}
	err := members(text, func(name string, value json.RawMessage) error {
		if name == metadataKey {
			if json.Unmarshal(value, &h.meta) != nil {
				h.meta = nil // of no model
				return nil
			}
			return members(value, func(string, json.RawMessage) error { return nil })
		}
		e := named{name: name}
		err := json.Unmarshal(value, &e.entry)
		if err == nil {
			// What Encode wrote needs no closer look, which costs ten times as much.
			if text, _ := json.Marshal(e.entry); !bytes.Equal(text, value) {
				err = exactKeys(value, reflect.ValueOf(e.entry))
			}
		}
		if err != nil && h.err == nil {
			h.err = damaged("tensor %q: %v", name, err)
		}
		h.tensors = append(h.tensors, e)
		return nil
	})
	if err != nil {
		if !bytes.Contains(text, []byte(`"`+format+`"`)) {
			return nil, fmt.Errorf("its header is not JSON of a model (%v): %w", err, ErrForeign)
		}
		return nil, damaged("its header: %v", err)
	}
	if h.meta["format"] != format {
		return nil, fmt.Errorf("a safetensors file, but its metadata has no format %q: %w", format,
			ErrForeign)
	}
	if v := h.meta["version"]; v != first && v != second {
		return nil, fmt.Errorf("its format version is %q, this program reads %s and %s: %w; "+
			"update halfspace", v, first, second, ErrNewer)
	}
	// as Encode orders them, tensors without elements too
	slices.SortFunc(h.tensors, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]),
			cmp.Compare(a.Offsets[1], b.Offsets[1]), cmp.Compare(a.name, b.name))
	})
	return h, nil
}

// bodyLength returns how many bytes of tensors the header speaks of.
func (h *heading) bodyLength() (n uint64) {
	for i := range h.tensors {
		n = max(n, h.tensors[i].Offsets[1])
	}
	return n
}

// decode reads the file of that header, with the length before it, and what follows it.
func (h *heading) decode(head, body []byte) (*Model, error) {
	if err := verify(head, body, h.meta["sha256"]); err != nil {
		if want := h.bodyLength(); want > uint64(len(body)) {
			return nil, fmt.Errorf("%d of %d bytes are there: %w; copy it again, or train anew",
				len(head)+len(body), uint64(len(head))+want, ErrTruncated)
		}
		return nil, err
	}
	// From here on the file is as it was written, so what is wrong was written so.
	var doc document
	text := []byte(h.meta["halfspace"])
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, damaged("its document: %v", err)
	}
	if err := exactKeys(text, reflect.ValueOf(doc)); err != nil {
		return nil, damaged("its document: %v", err)
	}
	tensors, err := h.readTensors(body)
	if err != nil {
		return nil, err
	}
	if tensors, err = takeScaling(doc.Prep.Scaling, tensors); err != nil {
		return nil, err
	}
	if tensors, err = takeTallies(doc.Position, tensors); err != nil {
		return nil, err
	}
	m := &Model{
		Learner: doc.Learner, Precision: doc.Precision, Config: doc.Config, Seed: doc.Seed,
		Prep:      doc.Prep,
		Presented: doc.Presented, Mistakes: doc.Mistakes,
		State: learner.State{Counters: doc.Counters, Scalars: doc.Scalars, Tensors: tensors},
		Pass:  doc.Pass, Position: doc.Position, PredictOnly: doc.PredictOnly,
		Calibration: doc.Calibration, Threshold: doc.Threshold,
		Rows: doc.Rows, Note: doc.Note,
	}
	if err := m.written(); err != nil {
		return nil, damaged("its %v", err)
	}
	return m, m.finite()
}

// scalingTensor has the numbers of Prep.Scaling, three a feature.
const scalingTensor = "prep_scaling"

// takeScaling takes the numbers of Prep.Scaling from among the tensors.
func takeScaling(k *formats.Scaling, tensors []learner.Tensor) ([]learner.Tensor, error) {
	i := slices.IndexFunc(tensors, func(t learner.Tensor) bool { return t.Name == scalingTensor })
	if k == nil && i < 0 {
		return tensors, nil
	}
	if k == nil || i < 0 {
		return nil, damaged("the tensor %s and the document's scaling are not both there",
			scalingTensor)
	}
	data, ok := tensors[i].Data.([]float64)
	if s := tensors[i].Shape; !ok || len(s) != 2 || s[1] != 3 {
		return nil, damaged("tensor %s has shape %v, want three F64 a feature", scalingTensor, s)
	}
	k.Known = data
	return slices.Delete(tensors, i, i+1), nil
}

// talliesTensor has the bytes of Position.Tallies.
const talliesTensor = "position_tallies"

// takeTallies takes the bytes of Position.Tallies from among the tensors, if they are there.
func takeTallies(p *Position, tensors []learner.Tensor) ([]learner.Tensor, error) {
	i := slices.IndexFunc(tensors, func(t learner.Tensor) bool { return t.Name == talliesTensor })
	if i < 0 {
		return tensors, nil
	}
	data, ok := tensors[i].Data.([]uint8)
	if p == nil || !ok || len(data) == 0 || len(tensors[i].Shape) != 1 {
		return nil, damaged("tensor %s is not bytes beside a position", talliesTensor)
	}
	p.Tallies = data
	return slices.Delete(tensors, i, i+1), nil
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w; restore a copy, or train anew", fmt.Sprintf(format, args...),
		ErrDamaged)
}

// verify compares the checksum of the header, with the length before it, and the tensors.
func verify(head, body []byte, digits string) error {
	at := bytes.Index(head, []byte(sumField(digits)))
	if len(digits) != len(blankSum) || at < 0 {
		return damaged("its checksum is missing")
	}
	at += len(sumField("")) - 1
	sum := sha256.New()
	sum.Write(head[:at])
	io.WriteString(sum, blankSum)
	sum.Write(head[at+len(digits):])
	sum.Write(body)
	if hexSum(sum) != digits {
		return damaged("its checksum is %.12s..., its bytes give %.12s...", digits, hexSum(sum))
	}
	return nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// readTensors reads the tensors, which must cover the body without gaps.
func (h *heading) readTensors(body []byte) ([]learner.Tensor, error) {
	if h.err != nil {
		return nil, h.err
	}
	tensors := []learner.Tensor{}
	at := uint64(0)
	for _, e := range h.tensors {
		k := slices.IndexFunc(dtypes, func(d dtype) bool { return d.name == e.DType })
		if k < 0 {
			return nil, damaged("tensor %q has the unknown type %q", e.name, e.DType)
		}
		n, ok := product(e.Shape)
		if !ok || n > uint64(len(body)) || e.Offsets[0] != at || e.Offsets[1] != at+n*uint64(
			dtypes[k].size) || e.Offsets[1] > uint64(len(body)) {
			return nil, damaged("tensor %q: shape %v of %s at bytes %v, after byte %d of %d",
				e.name, e.Shape, e.DType, e.Offsets, at, len(body))
		}
		t := learner.Tensor{Name: e.name, Shape: []int{}, Data: dtypes[k].make(int(n))}
		for _, s := range e.Shape {
			if s > math.MaxInt {
				return nil, damaged("tensor %q has shape %v", e.name, e.Shape)
			}
			t.Shape = append(t.Shape, int(s))
		}
		if _, err := binary.Decode(body[at:e.Offsets[1]], binary.LittleEndian, t.Data); err != nil {
			return nil, damaged("tensor %q: %v", e.name, err)
		}
		tensors = append(tensors, t)
		at = e.Offsets[1]
	}
	if at != uint64(len(body)) {
		return nil, damaged("its tensors end at byte %d of %d", at, len(body))
	}
	return tensors, nil
}
