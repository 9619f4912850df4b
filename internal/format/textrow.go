package format

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
)

// cursor is text that is read byte by byte. What is wrong is in bad, and where in at, once a method
// returned -1.
type cursor struct {
	b   []byte
	bad string
	at  int
}

// fail notes what is wrong at p.
func (z *cursor) fail(p int, format string, args ...any) int {
	z.bad, z.at = fmt.Sprintf(format, args...), p
	return -1
}

// textRow is a sparse row of text that is parsed, with numbers or names for its features: one of vw
// or of ndjson.
type textRow[T engine.Float] struct {
	*Chunk[T]
	s     *Settings
	start int // byte where it begins
	row   int // where its values do, in Out.Idx
	had   int // names before it
	code  int32
	id    []byte
	name  []byte // of the feature, with what stands above it

	numbers *indexed // of the features; nil: they have names
}

// begin begins a row.
func (t *textRow[T]) begin() {
	r := t.Out
	t.row, t.had, t.id, t.name = len(r.Idx), 0, t.id[:0], t.name[:0]
	if r.Names != nil {
		t.had = len(r.Names.list)
	}
	r.beginRow(t.s)
}

// end adds the row, unless something is wrong with it. adds: what comes twice is added up. ids: it
// has an id.
func (t *textRow[T]) end(adds, ids bool) (bad string) {
	r := t.Out
	if bad = t.badID(t.s, t.id, t.code); bad == "" && ids && len(t.id) > longID {
		bad = longerID
	}
	if bad == "" {
		bad = r.endRow(t.s, t.row, t.code, t.numbers, adds)
	}
	if bad == "" && ids {
		r.AddID(t.id, len(r.Idx) == t.row+t.s.Bias)
	}
	return bad
}

// drop takes the row back.
func (t *textRow[T]) drop() {
	r := t.Out
	r.Idx, r.Val = r.Idx[:t.row], r.Val[:t.row]
	if r.Names != nil {
		r.Names.cut(t.had)
	}
}

// number is the number that digits are, and what is wrong with it.
func (ix *indexed) number(digits []byte) (x uint64, bad string) {
	for _, ch := range digits {
		x = x*10 + uint64(ch-'0')
	}
	if x < ix.least || x > ix.most {
		bad = badIndex(string(digits), 0, ix.least, ix.most, ix.zeroHint)
	}
	return x, bad
}

// addNumber adds feature x.
func (t *textRow[T]) addNumber(x uint64, v T) {
	t.Out.Idx = append(t.Out.Idx, int32(int64(x)+t.numbers.shift))
	t.Out.Val = append(t.Out.Val, v)
}

// add adds the feature of that name at byte off; hash gives its own, nil: that of its name.
func (t *textRow[T]) add(off int, v T, hash func() uint32) (once bool, bad string) {
	if t.s.HashBits == 0 {
		hash = nil
	} else if hash == nil {
		hash = func() uint32 { return HashName(nil, t.name) }
	}
	r := t.Out
	return feature(r, t.row, t.name, v, Place{r.N, r.Lines, t.start, off}, hash)
}

// word adds the feature that a column has where it holds a text, to the row whose values begin at
// lo; buf is memory.
func (c *Chunk[T]) word(s *Settings, lo int, buf *[]byte, prefix string, text []byte, start,
	off int) (bad string) {
	name := append(append(append((*buf)[:0], prefix...), '='), text...)
	*buf = name
	var hash func() uint32
	if s.HashBits > 0 {
		hash = func() uint32 { return HashName([]byte(prefix), text) }
	}
	_, bad = feature(c.Out, lo, name, 1, Place{c.Out.N, c.Out.Lines, start, off}, hash)
	return bad
}
