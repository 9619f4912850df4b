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
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/learners"
)

const (
	format  = "halfspace"
	version = "1"

	metadataKey = "__metadata__"
	// maxHeader is the limit of the safetensors libraries.
	maxHeader = 100_000_000
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

// dtypeOf returns the type of a tensor's data, which has no size if the container can't hold it, and its length.
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

// Encode writes the file. It fails before the first byte if the model can't be written (ErrNotFinite, ErrInvalid), and with
// the writer's error otherwise. Cost: the tensors are gone through twice, for the checksum and for the writing.
func Encode(w io.Writer, m *Model) error {
	if m.Precision != "f32" && m.Precision != "f64" {
		return fmt.Errorf("precision is %q, want f32 or f64: %w", m.Precision, ErrInvalid)
	}
	if !bytes.HasPrefix(m.Config, []byte("{")) {
		return fmt.Errorf("settings are %q, want a JSON object: %w", m.Config, ErrInvalid)
	}
	if err := m.finite(); err != nil {
		return err
	}
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

// sumField is the checksum as it stands in the header. It is found nowhere else: within the document, quotes are escaped.
func sumField(digits string) string { return `"sha256":"` + digits + `"` }

// header returns the length and the header with a blank checksum, and the tensors in the order of the file.
func header(m *Model) ([]byte, []learners.Tensor, error) {
	doc, err := json.Marshal(document{
		Learner: m.Learner, Precision: m.Precision, Config: m.Config, Seed: m.Seed, Prep: m.Prep,
		Presented: m.Presented, Mistakes: m.Mistakes,
		Counters: m.State.Counters, Scalars: m.State.Scalars,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%v: %w", err, ErrInvalid)
	}
	tensors := slices.Clone(m.State.Tensors)
	slices.SortFunc(tensors, func(a, b learners.Tensor) int {
		ta, _ := dtypeOf(a.Data)
		tb, _ := dtypeOf(b.Data)
		return cmp.Or(cmp.Compare(tb.size, ta.size), cmp.Compare(a.Name, b.Name))
	})
	entries := map[string]any{metadataKey: map[string]string{
		"format": format, "version": version, "halfspace": string(doc), "sha256": blankSum,
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
		e := entry{Offsets: [2]uint64{at, at + uint64(n*kind.size)}, DType: kind.name, Shape: []uint64{}}
		for _, s := range t.Shape {
			if s < 0 {
				return nil, nil, fmt.Errorf("tensor %q has shape %v: %w", t.Name, t.Shape, ErrInvalid)
			}
			e.Shape = append(e.Shape, uint64(s))
		}
		if elements, ok := product(e.Shape); !ok || elements != uint64(n) {
			return nil, nil, fmt.Errorf("tensor %q has shape %v and %d elements: %w", t.Name, t.Shape, n, ErrInvalid)
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
		return nil, nil, fmt.Errorf("the header has %d bytes, the most is %d: %w", len(text), maxHeader, ErrInvalid)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), tensors, nil
}

// writeTensors writes the tensors' bytes.
func writeTensors(w io.Writer, tensors []learners.Tensor) error {
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

// Decode reads a file's bytes, and keeps none of them. Errors: ErrForeign, ErrTruncated, ErrDamaged, ErrNewer, ErrNotFinite.
func Decode(data []byte) (*Model, error) {
	text, body, err := split(data)
	if err != nil {
		return nil, err
	}
	var lines map[string]json.RawMessage
	if err := json.Unmarshal(text, &lines); err != nil {
		if !bytes.Contains(text, []byte(`"`+format+`"`)) {
			return nil, fmt.Errorf("its header is not JSON (%v): %w", err, ErrForeign)
		}
		return nil, damaged("its header is not JSON: %v", err)
	}
	var meta map[string]string
	if err := json.Unmarshal(lines[metadataKey], &meta); err != nil || meta["format"] != format {
		return nil, fmt.Errorf("a safetensors file, but its metadata has no format %q: %w", format, ErrForeign)
	}
	delete(lines, metadataKey)
	if v := meta["version"]; v != version {
		return nil, fmt.Errorf("its format version is %q, this program reads %q: %w; update halfspace", v, version, ErrNewer)
	}
	if err := verify(data, len(data)-len(body), meta["sha256"]); err != nil {
		if want := bodyLength(lines); want > uint64(len(body)) {
			return nil, fmt.Errorf("%d of %d bytes are there: %w; copy it again, or train anew", len(data), uint64(len(data)-len(body))+want, ErrTruncated)
		}
		return nil, err
	}
	// From here on the file is as it was written, so what is wrong was written so.
	var doc document
	d := json.NewDecoder(strings.NewReader(meta["halfspace"]))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return nil, damaged("its document: %v", err)
	}
	if doc.Precision != "f32" && doc.Precision != "f64" {
		return nil, damaged("its precision is %q", doc.Precision)
	}
	if !bytes.HasPrefix(doc.Config, []byte("{")) {
		return nil, damaged("its settings are %q", doc.Config)
	}
	tensors, err := readTensors(lines, body)
	if err != nil {
		return nil, err
	}
	m := &Model{
		Learner: doc.Learner, Precision: doc.Precision, Config: doc.Config, Seed: doc.Seed, Prep: doc.Prep,
		Presented: doc.Presented, Mistakes: doc.Mistakes,
		State: learners.State{Counters: doc.Counters, Scalars: doc.Scalars, Tensors: tensors},
	}
	return m, m.finite()
}

// split returns the header's text and what follows it.
func split(data []byte) (text, body []byte, err error) {
	if len(data) == 0 {
		return nil, nil, fmt.Errorf("the file is empty: %w; train anew", ErrTruncated)
	}
	if len(data) < 8 {
		return nil, nil, fmt.Errorf("%d bytes are less than any model has: %w", len(data), ErrForeign)
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || len(data) > 8 && data[8] != '{' {
		return nil, nil, fmt.Errorf("it does not begin as a safetensors file: %w; give a file that train wrote", ErrForeign)
	}
	if rest := uint64(len(data) - 8); n > rest {
		return nil, nil, fmt.Errorf("%d of %d bytes of its header are there: %w; copy it again, or train anew", rest, n, ErrTruncated)
	}
	return data[8 : 8+n], data[8+n:], nil
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w; restore a copy, or train anew", fmt.Sprintf(format, args...), ErrDamaged)
}

// verify compares the checksum. start is where the tensors begin.
func verify(data []byte, start int, digits string) error {
	field := []byte(sumField(digits))
	at := bytes.Index(data[:start], field)
	if len(digits) != len(blankSum) || at < 0 {
		return damaged("its checksum is missing")
	}
	at += len(sumField("")) - 1
	sum := sha256.New()
	sum.Write(data[:at])
	io.WriteString(sum, blankSum)
	sum.Write(data[at+len(digits):])
	if hexSum(sum) != digits {
		return damaged("its checksum is %.12s..., its bytes give %.12s...", digits, hexSum(sum))
	}
	return nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// bodyLength returns how many bytes of tensors the header speaks of, as far as it can be read.
func bodyLength(lines map[string]json.RawMessage) (n uint64) {
	for _, line := range lines {
		var e entry
		if json.Unmarshal(line, &e) == nil {
			n = max(n, e.Offsets[1])
		}
	}
	return n
}

// readTensors reads the tensors of a header's lines, which must cover the body without gaps.
func readTensors(lines map[string]json.RawMessage, body []byte) ([]learners.Tensor, error) {
	type named struct {
		name string
		entry
	}
	var entries []named
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		e := named{name: name}
		if err := json.Unmarshal(lines[name], &e.entry); err != nil {
			return nil, damaged("tensor %q: %v", name, err)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b named) int { // as Encode orders them, tensors without elements too
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]), cmp.Compare(a.name, b.name))
	})
	tensors := []learners.Tensor{}
	at := uint64(0)
	for _, e := range entries {
		k := slices.IndexFunc(dtypes, func(d dtype) bool { return d.name == e.DType })
		if k < 0 {
			return nil, damaged("tensor %q has the unknown type %q", e.name, e.DType)
		}
		n, ok := product(e.Shape)
		if !ok || n > uint64(len(body)) || e.Offsets[0] != at || e.Offsets[1] != at+n*uint64(dtypes[k].size) || e.Offsets[1] > uint64(len(body)) {
			return nil, damaged("tensor %q: shape %v of %s at bytes %v, after byte %d of %d", e.name, e.Shape, e.DType, e.Offsets, at, len(body))
		}
		t := learners.Tensor{Name: e.name, Shape: []int{}, Data: dtypes[k].make(int(n))}
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
