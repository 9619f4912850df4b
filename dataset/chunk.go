package dataset

import (
	"bytes"
	"slices"

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
	pixels   int     // idx: values of a row
	letters  int     // fasta: of a sequence
}

// chunk is a run of whole lines (fasta: records; or idx rows) on its way from the reader through a worker to the stream.
type chunk[T engine.Float] struct {
	name   string
	text   []byte // n bytes, then stops times '\n', that end every scan
	n      int
	first  bool // of its file
	last   bool
	csv    *csvLayout
	header bool   // its first row is the csv header
	labels []byte // idx
	lname  string // idx: the labels' file
	row0   int    // idx: number of its first row
	fail   error  // reading failed behind this chunk
	inLine bool   // fail is a *RowError in the line behind the chunk; its Line is to be set
	out    *rows[T]
	done   chan struct{} // one token when out is there
}

// stops is how many line ends stand behind a chunk's text: one ends an unfinished last line, one lets a scan look at the next byte.
const stops = 2

// rows is what a worker makes of a chunk.
type rows[T engine.Float] struct {
	engine.Block[T]
	n      int     // good rows
	code   []int32 // label of each row: its number in labels
	labels labelSet
	where  []place // of each label's first occurrence
	bad    []badRow
	nbad   int // may be more than len(bad)
	lines  int
	maxSq  float64 // largest squared length before normalising
	zero   bool    // a good row has an index 0
}

type place struct{ row, line, start, off int } // good rows before; line in the chunk, from 0; where line and label begin

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
	r.labels.reset()
}

// parse fills c.out from c.text.
func (c *chunk[T]) parse(p *parsing) {
	c.out.reset(p.format == "csv" || p.format == "idx")
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

// addLabel notes a label that the chunk has not had yet.
func (c *chunk[T]) addLabel(l label, start, off int) int32 {
	r := c.out
	r.where = append(r.where, place{r.n, r.lines, start, off})
	return r.labels.add(l)
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
		r.labels.dropLast()
	}
	r.nbad++
	if len(r.bad) < p.keepBad {
		r.bad = append(r.bad, badRow{r.n, RowError{File: c.name, Line: r.lines, Col: off - start + 1, What: what,
			Excerpt: excerpt(c.line(start), off-start), Err: ErrBadRow}})
	}
	return !p.stop
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
