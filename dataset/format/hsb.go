package format

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/murmur3"

	"github.com/halfspace-ml/halfspace/engine"
)

// HSB is a binary form of examples of any format, which a [Writer] makes of what was read: what was
// found in the text once needs not be found again. Values are stored in as few bytes as hold them
// exactly, in records with checksums; docs/formats.md describes them. Its features, labels and
// weights are those of the text, and so is the model. It knows the files that it was made of, and
// is refused where one of them has changed.
var HSB = &Format{
	Name: hsbName, Binary: true,
	Kinds:   []string{"svmlight", "csv", "ndjson", "vw", "npy", "npz", "idx", "fasta", "blocks"},
	Options: []Option{{"IndexBase", "hsb: number of the first feature"}},
	Sniff:   sniffHSB, Runs: openHSB, Place: placeHSB,
	Parse32: parseHSB[float32], Parse64: parseHSB[float64],
}

// hsbMagic begins a file; what changes line ends or drops the eighth bit spoils it.
const hsbMagic = "\x8dHSB\r\n\x1a\n"

const (
	hsbName    = "hsb"
	hsbVersion = 1
)

// Records of a file. Each has a header of hsbHead bytes: kind and rows (uint32 each), bytes that
// follow (uint64, a multiple of 8), and the CRC-32C of the header so far and of what follows. All
// numbers are little-endian.
const (
	hsbAbout = 1 + iota // a JSON document, hsbMeta
	hsbNames            // labels and names of features that come first in the rows behind it
	hsbRows             // examples
	hsbEnd              // how many there were, and how many values
)

const hsbHead = 24

// hsbRun is how many bytes of rows a record has, about: so few that the least memory for reading
// has room for one.
const hsbRun = 32 << 10

// mostAbout is the largest document and the largest record of names that is read.
const mostAbout = 16 << 20

// Kinds of values in a record, in order of the bytes that they take.
const (
	hsbOnes = iota
	hsbBytes
	hsbSingle
	hsbDouble
)

// valueBytes is how many bytes a value takes.
var valueBytes = [...]int{hsbOnes: 0, hsbBytes: 1, hsbSingle: 4, hsbDouble: 8}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// About is what is known of examples beside themselves: what a model keeps, and a [Writer] writes.
type About struct {
	// Kind is the format whose features these are, see Layout.Kind. Of those below see Layout.
	Kind      string   `json:"kind"`
	IndexBase int      `json:"index_base"`
	BaseFound string   `json:"base_found,omitempty"`
	Columns   int      `json:"columns,omitempty"`
	LabelCol  int      `json:"label_col,omitempty"`
	Header    []string `json:"header,omitempty"`
	Kinds     string   `json:"kinds,omitempty"`
	Lead      int      `json:"lead,omitempty"`
	Words     bool     `json:"words,omitempty"`
	Dim       int      `json:"dim,omitempty"`
	// WeightCol is the column that had the weights, as options named it.
	WeightCol string `json:"weight_col,omitempty"`
	// Sources are the files that the examples were read from.
	Sources []Source `json:"sources"`
	// TextLabel reports whether a label is a text where it comes from, as ndjson keeps it; nil: no.
	TextLabel func(label string) bool `json:"-"`
}

// Source is a file of which examples were made.
type Source struct {
	// Name is the file's, relative to the folder of the file made of it, or from the root.
	Name string    `json:"name"`
	Size int64     `json:"size"`
	Time time.Time `json:"time"` // of its last change
	Sum  string    `json:"sum"`  // 128 bits of murmur3 of what is in it, in hex
}

// NewSource describes a file that examples are about to be read from. Its Name is the file's as
// seen from that folder. Cost: reading it.
func NewSource(file, folder string) (Source, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Source{}, err
	}
	s := Source{Name: file, Size: info.Size(), Time: info.ModTime().UTC()}
	if whole, err := filepath.Abs(file); err == nil {
		s.Name = whole
		if base, err := filepath.Abs(folder); err == nil {
			if name, err := filepath.Rel(base, whole); err == nil {
				s.Name = filepath.ToSlash(name)
			}
		}
	}
	s.Sum, err = sumFile(file)
	return s, err
}

// Changed reports whether the file is another than it was: by its size, or, if it was written
// later, by what is in it. One that is not there any more, or can't be read, has not changed.
func (s *Source) Changed(folder string) bool {
	name := filepath.FromSlash(s.Name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil || info.Size() == s.Size && info.ModTime().Equal(s.Time):
		return false
	case info.Size() != s.Size:
		return true
	}
	sum, err := sumFile(name)
	return err == nil && sum != s.Sum
}

// sniffHSB goes by the first bytes.
func sniffHSB(h *Head) int {
	if bytes.HasPrefix(h.Text, []byte(hsbMagic)) {
		return 0
	}
	return No
}

// placeHSB says which example it is.
func placeHSB(e *RowError, _ *Layout, _ int64) {
	if e.Line == 0 {
		e.Line, e.Col = int(e.Good)+1, 1
	}
}

// sumFile sums up what is in a file.
func sumFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := murmur3.New128()
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f},
		make([]byte, 1<<17)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hsbOwn is what rows are read by: the tables as they were when these rows came.
type hsbOwn struct {
	about  *About
	shift  int32 // of numbers, from those in the file to those wanted
	labels []string
	words  []bool // of each label: it is a text, see hsbReader.words
	names  []string
}

// hsbReader reads the records of a file.
type hsbReader struct {
	in     File
	l      *Limits
	layout Layout
	own    *hsbOwn
	at     int64 // byte that is read next
	rows   uint64
	values uint64
	width  int            // of dense rows; 0 where they are sparse
	bytes  int            // of names
	worth  map[string]int // labels by their values
}

// openHSB reads what stands before the rows.
func openHSB(in File, o *Options, first *Layout) (Runs, *Layout, error) {
	r := &hsbReader{in: in, l: o.Limits}
	if err := r.begin(o, first); err != nil {
		return nil, nil, err
	}
	l := r.layout
	return r, &l, nil
}

// Close implements Runs.
func (r *hsbReader) Close() {}

// bad is an error in the file.
func (r *hsbReader) bad(at int64, what string, args ...any) error {
	return &RowError{File: r.in.Name(), Offset: at, What: fmt.Sprintf(what, args...),
		Err: ErrFormat}
}

// again is what to do about a file that can't be used.
const again = ": make it anew of the examples that it was made of"

// begin reads what stands before the rows, and looks whether it suits the options.
func (r *hsbReader) begin(o *Options, first *Layout) error {
	var b [16]byte
	if n, err := io.ReadFull(r.in, b[:]); err != nil {
		return r.in.Broken(int64(n), "a header of 16 bytes", err)
	}
	if string(b[:8]) != hsbMagic {
		return r.bad(0, "expected the first bytes of hsb, found %q", b[:8])
	}
	switch v := binary.LittleEndian.Uint32(b[8:]); {
	case binary.BigEndian.Uint32(b[8:]) == hsbVersion:
		return r.bad(8, "hsb whose numbers have the other byte order%s", again)
	case v != hsbVersion:
		return r.bad(8, "hsb of version %d, and this program reads %d%s", v, hsbVersion, again)
	}
	r.at = 16
	kind, _, text, err := r.record(nil, mostAbout)
	switch {
	case err != nil:
		return err
	case kind != hsbAbout:
		return r.bad(16, "expected a description of the examples, found record %d", kind)
	}
	a := &About{}
	if err := json.Unmarshal(bytes.TrimRight(text, "\x00"), a); err != nil {
		return r.bad(16, "the description can't be read: %v", err)
	}
	if what := a.wrong(o); what != "" {
		return r.bad(16, "the description has %s", what)
	}
	for i := range a.Sources {
		if name := r.in.Name(); name != Stdin && a.Sources[i].Changed(filepath.Dir(name)) {
			return r.bad(16, "%s has changed since this was made of it%s", a.Sources[i].Name, again)
		}
	}
	return r.suit(a, o, first)
}

// wrong says what a description can't have, "" if nothing.
func (a *About) wrong(o *Options) string {
	kind := o.Lookup(a.Kind)
	switch {
	case kind == nil || kind.Name == hsbName:
		return fmt.Sprintf("features of %q", a.Kind)
	case a.IndexBase != 0 && a.IndexBase != 1:
		return fmt.Sprintf("the index base %d", a.IndexBase)
	case a.Columns < 0 || a.Columns > 1<<26 || a.LabelCol < 0 || a.LabelCol > a.Columns,
		len(a.Header) > 0 && len(a.Header) != a.Columns,
		a.Kinds != "" && len(a.Kinds) != a.Columns-1:
		return "columns that don't fit together"
	case a.Dim < 0 || a.Dim > maxIndex-1:
		return fmt.Sprintf("%d features", a.Dim)
	case a.Lead < 0 || a.Lead > 0 && (!a.Words || a.Lead > a.Columns):
		return fmt.Sprintf("%d columns of numbers", a.Lead)
	}
	return ""
}

// suit looks whether the examples go with a model's, or those of the first file.
func (r *hsbReader) suit(a *About, o *Options, first *Layout) error {
	foreign := func(kind error, what string, args ...any) error {
		return &RowError{File: r.in.Name(), What: fmt.Sprintf(what, args...), Err: kind}
	}
	kind := o.Lookup(a.Kind)
	own := &hsbOwn{about: a}
	l := Layout{Kind: a.Kind, IndexBase: a.IndexBase, BaseFound: a.BaseFound, Columns: a.Columns,
		LabelCol: a.LabelCol, Header: a.Header, Kinds: a.Kinds, Lead: a.Lead, Words: a.Words,
		Dim: a.Dim, Run: true, Own: own, WeightCol: a.WeightCol, NoRows: "none"}
	header, columns, label, kinds := o.Header, o.Columns, o.Label, o.Kinds
	if first != nil {
		header, columns, label, kinds = first.Header, first.Columns, first.LabelCol, first.Kinds
		if first.Kind != l.Kind || first.Words != l.Words {
			return foreign(ErrFormat, "expected examples of %s as in the first file, found %s",
				first.Kind, a.Kind)
		}
	}
	switch {
	case o.Trained != "" && !kind.Serves(o.Trained):
		return foreign(ErrForeign, "expected %s as in training, found %s", o.Trained, a.Kind)
	case a.Words && o.Hashed:
		return foreign(ErrFormat, "features with names, which can't be hashed or multiplied here: "+
			"read the text itself")
	case kind.Named && columns > 0 && (columns != a.Columns || kinds != a.Kinds ||
		label > 0 && label != a.LabelCol ||
		len(header) > 0 && len(a.Header) > 0 && !slices.Equal(header, a.Header)):
		return foreign(ErrColumns, "expected the columns of training, in the same order: read the "+
			"text itself, whose columns are matched")
	case o.TrainedDim > 0 && a.Dim > 0 && !kind.Indexed && a.Dim != o.TrainedDim:
		return foreign(ErrForeign, "expected %d features as in training, found %d", o.TrainedDim,
			a.Dim)
	}
	if o.Base >= 0 && !a.Words && kind.Indexed {
		own.shift = int32(a.IndexBase - o.Base)
		l.IndexBase, l.BaseFound = o.Base, o.BaseFound
	}
	r.layout, r.own = l, own
	return nil
}

// record reads the next record behind what is in b. The kind is 0 at the end of the file.
func (r *hsbReader) record(b []byte, most int) (kind, rows uint32, text []byte, err error) {
	var head [hsbHead]byte
	n, err := io.ReadFull(r.in, head[:])
	if err != nil {
		return 0, 0, nil, r.in.Broken(r.at+int64(n), "the next record", err)
	}
	kind, rows = binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	length := binary.LittleEndian.Uint64(head[8:])
	switch {
	case kind < hsbAbout || kind > hsbEnd || length%8 != 0 ||
		binary.LittleEndian.Uint32(head[20:]) != 0:
		return 0, 0, nil, r.bad(r.at, "expected a record, found other bytes: the file is damaged")
	case length > uint64(most):
		return 0, 0, nil, r.bad(r.at, "a record of %d bytes is longer than %s: if it is meant, "+
			"raise Options.MaxLine", length, InKiB(int64(most)))
	}
	lo := len(b)
	for want := int(length); want > 0; { // grows with what is there: the header may lie
		k := min(want, 1<<20)
		b = slices.Grow(b, k)[:len(b)+k]
		if n, err := io.ReadFull(r.in, b[len(b)-k:]); err != nil {
			return 0, 0, nil, r.in.Broken(r.at+hsbHead+int64(len(b)-k-lo+n), "a whole record", err)
		}
		want -= k
	}
	sum := crc32.Update(crc32.Checksum(head[:16], castagnoli), castagnoli, b[lo:])
	if sum != binary.LittleEndian.Uint32(head[16:]) {
		return 0, 0, nil, r.bad(r.at, "the checksum of a record differs: the file is damaged%s",
			again)
	}
	r.at += hsbHead + int64(length)
	return kind, rows, b, nil
}

// Next implements Runs: it reads records of rows, until there is a run of them. Each stands behind
// its number of rows and its length.
func (r *hsbReader) Next(b []byte, size int) (Run, error) {
	run := Run{At: r.at}
	b = b[:0]
	// Values that are all 1 have no bytes in a dense record, so they are counted apart: a record
	// has as many as a longest line may, and a run as many as a record.
	most := r.l.Line + hsbRun
	for claimed := 0; len(b) < size && claimed < most; {
		lo := len(b)
		b = append(b, make([]byte, 8)...)
		kind, rows, text, err := r.record(b, max(mostAbout, r.l.Line))
		if err != nil {
			return run, err
		}
		body := text[lo+8:]
		switch b = text; kind {
		case hsbRows:
			before := r.values
			if what := r.check(int(rows), body); what != "" {
				return run, r.bad(run.At, "%s: the file is damaged%s", what, again)
			}
			values := r.values - before
			if len(body) > most || values > uint64(most)/8 {
				e := r.l.TooLong(r.in.Name(), nil)
				return run, r.bad(run.At, "examples: %s", e.What)
			}
			claimed += 8 * int(values)
			binary.LittleEndian.PutUint32(b[lo:], rows)
			binary.LittleEndian.PutUint32(b[lo+4:], uint32(len(body)))
			r.rows += uint64(rows)
		case hsbNames:
			if err := r.learn(body); err != nil {
				return run, err
			}
			b = b[:lo]
		case hsbEnd:
			if len(body) != 16 || binary.LittleEndian.Uint64(body) != r.rows ||
				binary.LittleEndian.Uint64(body[8:]) != r.values {
				return run, r.bad(run.At, "%d examples, and the end says others: the "+
					"file is damaged%s", r.rows, again)
			}
			l := r.layout
			l.Own = &hsbOwn{r.own.about, r.own.shift, r.own.labels, r.own.words, r.own.names}
			run.Text, run.Layout = b[:lo], &l
			return run, io.EOF
		default:
			return run, r.bad(run.At, "a second description of the examples")
		}
	}
	l := r.layout
	own := *r.own
	l.Own = &own
	run.Text, run.Layout = b, &l
	return run, nil
}

// learn takes labels and names that the rows behind have.
func (r *hsbReader) learn(b []byte) error {
	if len(b) < 8 {
		return r.bad(r.at, "a record of names without any")
	}
	counts := [2]uint32{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
	b = b[8:]
	for i, to := range []*[]string{&r.own.labels, &r.own.names} {
		for range counts[i] {
			if len(b) < 4 {
				return r.bad(r.at, "a record of names ends too early")
			}
			n := int(binary.LittleEndian.Uint32(b))
			if b = b[4:]; n > len(b) || n > max(LongName, LongLabel) {
				return r.bad(r.at, "a name of %d bytes", n)
			}
			*to = append(*to, string(b[:n]))
			if i == 0 {
				r.words()
			}
			r.bytes += n + 16
			b = b[n:]
		}
	}
	if len(r.own.names) > MaxNames || r.bytes > 2*MaxNameBytes+16*MaxNames {
		return r.bad(r.at, "more names than there is room for")
	}
	return nil
}

// words says of the last label whether it is a text. So is one that has the value of another one:
// both were told apart where the file was made.
func (r *hsbReader) words() {
	last := len(r.own.labels) - 1
	value, ok := plainValue(r.own.labels[last])
	words := r.own.words[:last:last] // rows before have these
	if i, met := r.worth[value]; ok && met {
		words, ok = slices.Clone(words), false
		words[i] = true
	}
	if r.worth == nil {
		r.worth = map[string]int{}
	}
	r.worth[value] = last
	r.own.words = append(words, !ok)
}

// hsbBlock is where the parts of a record of rows lie.
type hsbBlock struct {
	n            int // rows
	value, index int // kind of the values; bytes of an index, 0: dense rows
	code         int // bytes of a label's number
	dim          int // dense
	values       int // in all
	weights      []byte
	counts       []byte // of sparse rows, uint32 each
	val, idx     []byte
	codes        []byte
}

// hsbLayout says where the parts of a record of n rows lie; ok is false if they don't.
func hsbLayout(n int, b []byte) (h hsbBlock, ok bool) {
	if len(b) < 16 || n < 1 {
		return h, false
	}
	h = hsbBlock{n: n, value: int(b[0]), index: int(b[1]), code: int(b[2]),
		dim: int(binary.LittleEndian.Uint32(b[4:])), values: int(binary.LittleEndian.Uint32(b[8:]))}
	weighted := b[3]
	b = b[16:]
	width := func(w int) bool { return w == 1 || w == 2 || w == 4 }
	if h.value > hsbDouble || !width(h.code) || weighted > 1 ||
		h.index != 0 && (h.dim != 0 || !width(h.index)) {
		return h, false
	}
	take := func(count, size int) []byte {
		all := uint64(count) * uint64(size) // below 2^36
		padded := (all + 7) &^ 7
		if padded > uint64(len(b)) {
			ok = false
			return nil
		}
		part := b[:all:all]
		b = b[padded:]
		return part
	}
	ok = true
	if weighted == 1 {
		h.weights = take(n, 8)
	}
	h.val = take(h.values, valueBytes[h.value])
	if h.index > 0 {
		h.counts = take(n, 4)
		h.idx = take(h.values, h.index)
	} else if uint64(n)*uint64(h.dim) != uint64(h.values) {
		return h, false
	}
	h.codes = take(n, h.code)
	return h, ok && len(b) == 0
}

// check looks whether the parts of a record fit together; what is in them is looked at row by row.
func (r *hsbReader) check(n int, b []byte) string {
	h, ok := hsbLayout(n, b)
	if !ok {
		return "parts of a record that don't fit together"
	}
	if h.index > 0 {
		all := uint64(0)
		for i := 0; i < len(h.counts); i += 4 {
			all += uint64(binary.LittleEndian.Uint32(h.counts[i:]))
		}
		if all != uint64(h.values) {
			return "rows that don't have as many values as there are"
		}
	}
	dim, dense := r.own.about.Dim, h.index == 0
	if h.dim != r.width && r.rows > 0 || dense && (h.dim == 0 || dim > 0 && dim != h.dim ||
		r.own.about.Words) {
		return "rows that are not like those before"
	}
	r.width = h.dim
	r.values += uint64(h.values)
	return ""
}

// hsbParser is what is known while a run is parsed.
type hsbParser[T engine.Float] struct {
	c     *Chunk[T]
	s     *Settings
	own   *hsbOwn
	h     hsbBlock
	codes []int32 // of each label of the file: its number in the chunk, -1: not met
	row   []T
}

// parseHSB reads a run of rows.
func parseHSB[T engine.Float](c *Chunk[T], s *Settings) {
	p := hsbParser[T]{c: c, s: s, own: c.Layout.Own.(*hsbOwn)}
	for range p.own.labels {
		p.codes = append(p.codes, -1)
	}
	if p.own.about.Words {
		c.names()
	}
	first := true
	for b := c.Text[:c.N]; len(b) >= 8; {
		n, length := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
		p.h, _ = hsbLayout(n, b[8:8+length]) // which next has found good
		if first && p.h.index == 0 {
			c.Out.Reset(true)
		}
		if first = false; !p.rows() {
			return
		}
		b = b[8+length:]
	}
}

// rows reads the rows of a record; it returns false where a bad row ends the reading.
func (p *hsbParser[T]) rows() bool {
	c, h := p.c, &p.h
	if h.index > 0 && h.weights == nil && p.s.Bias == 0 && !p.own.about.Words && p.together() {
		return true
	}
	at := 0 // of the row's values
	for i := range h.n {
		k := h.dim
		if h.index > 0 {
			k = int(binary.LittleEndian.Uint32(h.counts[4*i:]))
		}
		code, bad := p.label(i)
		if bad == "" && h.weights != nil {
			var w T
			w, bad = WeightOf[T](math.Float64frombits(binary.LittleEndian.Uint64(h.weights[8*i:])))
			if bad == "" {
				c.Out.Weigh(w)
			}
		}
		if bad == "" {
			bad = p.add(code, at, k)
		}
		at += k
		if bad != "" {
			for j := range p.codes { // one that only this row has is forgotten
				p.codes[j] = -1
			}
			if !c.Bad(p.s, c.N, c.N, bad) {
				return false
			}
		}
		c.Out.Lines++
	}
	return true
}

// together reads all rows of a record at once, which takes half the time, or none where one of them
// is bad.
func (p *hsbParser[T]) together() bool {
	r, h := p.c.Out, &p.h
	lo := len(r.Idx)
	forget := func() bool {
		r.Idx, r.Val = r.Idx[:lo], r.Val[:lo]
		return false
	}
	r.Idx, r.Val = extended(r.Idx, h.values), extended(r.Val, h.values)
	idx, val := r.Idx[lo:], r.Val[lo:]
	falls, ok := p.falls(idx)
	if !ok || !p.values(val, 0) {
		return forget()
	}
	// The numbers fall where a row begins, and nowhere else.
	at := 0
	for i := range h.n {
		if j := littleEndian(h.codes, i, h.code); j >= len(p.codes) || p.codes[j] < 0 {
			r.N, r.Lines = r.N+i, r.Lines+i // where it first occurs
			_, bad := p.label(i)
			if r.N, r.Lines = r.N-i, r.Lines-i; bad != "" {
				return forget()
			}
		}
		k := int(binary.LittleEndian.Uint32(h.counts[4*i:]))
		if k > 0 && at > 0 && idx[at] <= idx[at-1] {
			falls--
		}
		if at += k; k > 0 && p.own.about.Dim > 0 && int(idx[at-1]) >= p.own.about.Dim {
			return forget()
		}
	}
	if falls != 0 {
		return forget()
	}
	at = lo
	rows := len(r.Code)
	r.Ptr, r.Code = extended(r.Ptr, h.n), extended(r.Code, h.n)
	ptr, codes := r.Ptr[len(r.Ptr)-h.n:], r.Code[rows:]
	// rows of ones that need nothing but to be counted
	plain := h.value == hsbOnes && !p.s.Unit && p.s.Scale == 0 && !p.s.KeepDiv && !p.s.Lines
	for i := range h.n {
		k := int(binary.LittleEndian.Uint32(h.counts[4*i:]))
		row := r.Val[at : at+k]
		at += k
		ptr[i], codes[i] = at, p.codes[littleEndian(h.codes, i, h.code)]
		sum := float64(k)
		if plain {
			r.MaxSq = max(r.MaxSq, sum)
			r.N++
			r.Lines++
			continue
		}
		if h.value != hsbOnes {
			sum = Squares(row)
		}
		r.Finish(row, sum, p.s)
		r.Lines++
	}
	return true
}

// falls reads the features of all rows, and returns how many are not above the one before; ok is
// false where one is too large, or below 0.
func (p *hsbParser[T]) falls(idx []int32) (n int, ok bool) {
	shift, last := p.own.shift, int32(-1)
	all := int32(0) // a bit is set where one of the numbers has it
	switch b := p.h.idx; p.h.index {
	case 1:
		b = b[:len(idx)]
		for i := range idx {
			j := int32(b[i]) + shift
			n += int(uint32(j-last-1) >> 31)
			idx[i], last, all = j, j, all|j
		}
	case 2:
		b = b[:2*len(idx)]
		for i := range idx {
			j := int32(binary.LittleEndian.Uint16(b[2*i:])) + shift
			n += int(uint32(j-last-1) >> 31)
			idx[i], last, all = j, j, all|j
		}
	default:
		b = b[:4*len(idx)]
		for i := range idx {
			v := binary.LittleEndian.Uint32(b[4*i:])
			if v > maxIndex-2 {
				return 0, false
			}
			j := int32(v) + shift
			if j <= last {
				n++
			}
			idx[i], last, all = j, j, all|j
		}
	}
	return n, all >= 0
}

// label returns the number of row i's label in the chunk.
func (p *hsbParser[T]) label(i int) (int32, string) {
	j := littleEndian(p.h.codes, i, p.h.code)
	if j >= len(p.codes) {
		return 0, "a label that has no name: the file is damaged"
	}
	if p.codes[j] >= 0 {
		return p.codes[j], ""
	}
	code, bad := p.c.label(p.s, []byte(p.own.labels[j]), p.own.words[j], p.c.N, p.c.N)
	if bad == "" {
		p.codes[j] = code
	}
	return code, bad
}

// littleEndian is number i of those at b, of so many bytes each.
func littleEndian(b []byte, i, size int) int {
	switch size {
	case 1:
		return int(b[i])
	case 2:
		return int(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return int(binary.LittleEndian.Uint32(b[4*i:]))
}

// add adds a row of k values, from that one on, or says what is wrong with it.
func (p *hsbParser[T]) add(code int32, at, k int) (bad string) {
	r, s := p.c.Out, p.s
	if p.h.index == 0 {
		if cap(p.row) < k {
			p.row = make([]T, k)
		}
		p.row = p.row[:k]
		if !p.values(p.row, at) {
			return "a value that is not finite: the file is damaged"
		}
		p.c.Dense(s, code, p.row)
		return ""
	}
	row := len(r.Idx)
	forget := func(what string) string {
		r.Idx, r.Val = r.Idx[:row], r.Val[:row]
		return what
	}
	if s.Bias != 0 {
		r.Idx, r.Val = append(r.Idx, 0), append(r.Val, T(s.One))
	}
	lo := len(r.Idx)
	r.Idx, r.Val = extended(r.Idx, k), extended(r.Val, k)
	idx, val := r.Idx[lo:], r.Val[lo:]
	if !p.indices(idx, at) {
		return forget("features that don't ascend, or have too large a number: the examples " +
			"count from another number than in training, or the file is damaged")
	}
	if !p.values(val, at) {
		return forget("a value that is not finite: the file is damaged")
	}
	if p.own.about.Words {
		if bad = p.name(lo, k); bad != "" {
			return forget(bad)
		}
	}
	r.Ptr = append(r.Ptr, len(r.Idx))
	r.Code = append(r.Code, code)
	r.Finish(r.Val[row:], Squares(r.Val[row:]), s)
	return ""
}

// indices reads the features of a row, with the bias in front, and reports whether they are good.
func (p *hsbParser[T]) indices(idx []int32, at int) bool {
	shift := p.own.shift + int32(p.s.Bias)
	switch b := p.h.idx; p.h.index {
	case 1:
		for i, j := range b[at : at+len(idx)] {
			idx[i] = int32(j) + shift
		}
	case 2:
		b = b[2*at : 2*(at+len(idx))]
		for i := range idx {
			idx[i] = int32(binary.LittleEndian.Uint16(b[2*i:])) + shift
		}
	default:
		b = b[4*at : 4*(at+len(idx))]
		for i := range idx {
			j := binary.LittleEndian.Uint32(b[4*i:])
			if j > maxIndex-2 {
				return false
			}
			idx[i] = int32(j) + shift
		}
	}
	last := int32(p.s.Bias) - 1
	good := true
	for _, j := range idx {
		good = good && j > last
		last = j
	}
	return good && (p.own.about.Dim == 0 || int(last) < p.own.about.Dim+p.s.Bias)
}

// values reads the values of a row, and reports whether they are finite.
func (p *hsbParser[T]) values(val []T, at int) bool {
	b, size := p.h.val, valueBytes[p.h.value]
	b = b[size*at : size*(at+len(val))]
	switch p.h.value {
	case hsbOnes:
		for i := range min(len(val), 64) {
			val[i] = 1
		}
		for n := 64; n < len(val); n *= 2 {
			copy(val[n:], val[:n])
		}
		return true
	case hsbBytes:
		for i := range val {
			val[i] = T(b[i])
		}
		return true
	}
	var sum T // NaN once a value is not finite
	for i := range val {
		var v T
		if p.h.value == hsbSingle {
			v = T(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		} else {
			v = T(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
		val[i] = v
		sum += v - v
	}
	return sum == 0
}

// name puts the names of the row that begins at lo into the chunk's set, which numbers them.
func (p *hsbParser[T]) name(lo, k int) (bad string) {
	r, lead := p.c.Out, p.own.about.Lead
	for i := range min(lead, k) {
		if int(r.Idx[lo+i]) != i+p.s.Bias {
			return "a row without its columns: the file is damaged"
		}
	}
	if k < lead {
		return "a row without its columns: the file is damaged"
	}
	named := r.Idx[lo+lead:]
	values := slices.Clone(r.Val[lo+lead:])
	numbers, had := slices.Clone(named), len(r.Names.list)
	r.Idx, r.Val = r.Idx[:lo+lead], r.Val[:lo+lead]
	for i, j := range numbers {
		j -= int32(lead + p.s.Bias)
		if int(j) >= len(p.own.names) {
			r.Names.cut(had)
			return "a feature that has no name: the file is damaged"
		}
		name := []byte(p.own.names[j])
		if _, bad = feature(r, lo, name, values[i], Place{r.N, r.Lines, p.c.N, p.c.N},
			nil); bad != "" {
			r.Names.cut(had)
			return bad
		}
	}
	return ""
}
