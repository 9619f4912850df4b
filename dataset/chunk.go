package dataset

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

// parsing is what the workers need to know; they only read it.
type parsing struct {
	format   string
	shift    int64  // svmlight: feature = index + shift
	least    uint64 // smallest index allowed in a row
	zeroHint string // what to say of an index 0 that is not allowed
	most     uint64 // largest index allowed
	bias     int
	one      float64 // value of the bias
	unit     bool
	scale    float64 // divide by this; 0: do not
	keepBad  int     // bad rows kept for a report; the rest are counted only
	stop     bool    // at the first bad row
	optional bool    // labels may be missing
	known    []label // labels that options name
	pixels   int     // idx: values of a row
	letters  int     // fasta: of a sequence
}

// chunk is a run of whole lines (fasta: records; or idx rows) on its way from the reader through a worker to the stream.
type chunk[T engine.Float] struct {
	name               string
	text               []byte // n bytes, then stops times '\n', that end every scan
	n                  int
	first              bool // of its file
	last               bool
	csv                *csvLayout
	header             bool   // its first row is the csv header
	labels             []byte // idx
	lname              string // idx: the labels' file
	row0               int    // idx: number of its first row
	fail               error  // reading failed behind this chunk
	warn               string // to be told
	inLine             bool   // fail is a *RowError in the line behind the chunk; its Line is to be set
	record, recordLine int    // fasta: where the record begins that is parsed
	out                *rows[T]
	done               chan struct{} // one token when out is there
}

// stops is how many line ends stand behind a chunk's text: one ends an unfinished last line, one lets a scan look at the next byte.
const stops = 2

// rows is what a worker makes of a chunk.
type rows[T engine.Float] struct {
	engine.Block[T]
	n           int     // good rows
	code        []int32 // label of each row: its number in labels
	labels      labelSet
	where       []place // of each label's first occurrence
	known       []label // that options name
	bad         []badRow
	more        []spot // bad rows behind those of bad
	nbad        int    // may be more than len(bad)
	lines       int
	maxSq       float64 // largest squared length before normalising
	zero        bool    // a good row has an index 0
	foreign     int     // labels that are not known, and
	lastForeign int32   // the last of them
	weight      int64   // of the chunk's text, for Stream.gate; 0 once that is given back
}

type place struct{ row, line, start, off int } // good rows before; line in the chunk, from 0; where line and label begin

// someBad is how many bad rows of a chunk are kept with their texts. Of others only the place is,
// as there may be one every other byte; they are parsed again if they are to be told.
const someBad = 16

// spot is where a bad row begins: good rows before it and lines of the chunk before it, and the
// place in the text.
type spot struct{ row, line, start int }

type badRow struct {
	row int // good rows before it in the chunk
	err RowError
}

func (r *rows[T]) reset(dense bool) {
	r.Block.Reset()
	if dense {
		r.Ptr = nil
	} else if r.Ptr == nil {
		r.Ptr = []int{0}
	}
	r.n, r.code, r.where, r.bad, r.nbad, r.lines, r.maxSq, r.zero = 0, r.code[:0], r.where[:0], r.bad[:0], 0, 0, 0, false
	r.more = r.more[:0]
	r.labels.reset()
	r.foreign = 0
}

// bytes returns what the rows take.
func (r *rows[T]) bytes() int64 {
	elem := int64(unsafe.Sizeof(T(0)))
	return int64(cap(r.Idx)+cap(r.code))*4 + int64(cap(r.Val)+cap(r.X)+cap(r.Y))*elem +
		int64(cap(r.Ptr))*8
}

// append adds good rows that have been taken; labels and bad rows are the stream's then.
func (r *rows[T]) append(more *rows[T]) {
	if r.n == 0 {
		r.reset(more.Dense())
	}
	n := more.n
	r.Dim, r.Stride = max(r.Dim, more.Dim), more.Stride
	r.Y, r.code = append(r.Y, more.Y[:n]...), append(r.code, more.code[:n]...)
	if more.Dense() {
		r.X = append(r.X, more.X[:n*more.Stride]...)
	} else {
		at, end := len(r.Idx), more.Ptr[n]
		r.Idx, r.Val = append(r.Idx, more.Idx[:end]...), append(r.Val, more.Val[:end]...)
		for _, p := range more.Ptr[1 : n+1] {
			r.Ptr = append(r.Ptr, at+p)
		}
	}
	r.n += n
}

// parse fills c.out from c.text.
func (c *chunk[T]) parse(p *parsing) {
	c.out.reset(p.format == "csv" || p.format == "idx")
	c.out.known = p.known
	switch p.format {
	case "svmlight":
		c.parseSVMLight(p)
	case "csv":
		c.parseCSV(p)
	case "idx":
		c.parseIDX(p)
	case "fasta":
		c.parseFasta(p)
	}
	c.out.Y = slices.Grow(c.out.Y[:0], c.out.n)[:c.out.n]
}

// addLabel notes a label that the chunk has not had yet. Of labels that are not known only some are
// told apart.
func (c *chunk[T]) addLabel(l label, start, off int) int32 {
	r := c.out
	foreign := r.isForeign(l)
	if foreign && r.foreign > someLabels {
		return r.lastForeign
	}
	r.where = append(r.where, place{r.n, r.lines, start, off})
	i := r.labels.add(l)
	if foreign {
		r.foreign, r.lastForeign = r.foreign+1, i
	}
	return i
}

// isForeign tells whether no option names the label.
func (r *rows[T]) isForeign(l label) bool {
	return !l.missing && !slices.ContainsFunc(r.known, l.equal)
}

// noLabel returns the number that stands for no label.
func (c *chunk[T]) noLabel(start, off int) int32 {
	if i := c.out.labels.none; i >= 0 {
		return i
	}
	return c.addLabel(label{missing: true}, start, off)
}

// badRow notes a bad row that begins at start and goes wrong at off. It reports whether to go on.
func (c *chunk[T]) badRow(p *parsing, start, off int, what string) bool {
	r := c.out
	if i := len(r.where) - 1; i >= 0 && r.where[i].line == r.lines { // a label that only the bad row has
		r.where = r.where[:i]
		if r.isForeign(r.labels.dropLast()) {
			r.foreign--
		}
	}
	r.nbad++
	switch {
	case r.kept() >= p.keepBad:
	case len(r.bad) >= someBad && p.format == "fasta":
		r.more = append(r.more, spot{r.n, c.recordLine, c.record})
	case len(r.bad) >= someBad:
		r.more = append(r.more, spot{r.n, r.lines, start})
	default:
		r.bad = append(r.bad, badRow{r.n, RowError{File: c.name, Line: r.lines, Col: off - start + 1, What: what,
			Excerpt: excerpt(c.line(start), off-start), Err: ErrBadRow}})
	}
	return !p.stop
}

// kept returns how many bad rows of the chunk can be told of.
func (r *rows[T]) kept() int { return len(r.bad) + len(r.more) }

// badRow returns how many good rows stand before the i-th bad one.
func (r *rows[T]) badRow(i int) int {
	if i < len(r.bad) {
		return r.bad[i].row
	}
	return r.more[i-len(r.bad)].row
}

// badAt returns the i-th bad row of the chunk.
func (c *chunk[T]) badAt(i int, p *parsing) badRow {
	r := c.out
	if i < len(r.bad) {
		return r.bad[i]
	}
	at := r.more[i-len(r.bad)]
	end := c.n
	if i++; i < r.kept() {
		end = r.more[i-len(r.bad)].start
	}
	one := chunk[T]{name: c.name, csv: c.csv, n: end - at.start, out: &rows[T]{}}
	one.text = append(bytes.Clone(c.text[at.start:end]), make([]byte, stops)...)
	endText(one.text[one.n:])
	q := *p
	q.keepBad, q.stop = 1, true
	one.parse(&q)
	b := one.out.bad[0]
	b.row, b.err.Line = at.row, b.err.Line+at.line
	return b
}

// line returns the line that begins at start, without its end.
func (c *chunk[T]) line(start int) []byte {
	b := c.text[start:c.n]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return b
}

// token returns the text at off up to a blank, a line end or, if it is not 0, the delimiter; at most 24 bytes of it.
func (c *chunk[T]) token(off int, delim byte) string {
	b := c.text[off:c.n]
	for i, x := range b {
		if x <= ' ' || x == delim && delim != 0 {
			b = b[:i]
			break
		}
	}
	if len(b) > 24 {
		return string(b[:24]) + "..."
	}
	return string(b)
}

// nextLine returns where the line after off begins.
func (c *chunk[T]) nextLine(off int) int {
	return off + bytes.IndexByte(c.text[off:c.n+1], '\n') + 1
}
