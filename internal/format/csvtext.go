package format

import (
	"bytes"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// csvField is a field of a row.
type csvField struct {
	text []byte // without blanks and quotes around it, a byte behind it that no number has
	n    int    // bytes of text
	off  int    // where it begins
	end  int    // where the delimiter or the line's end stands behind it
	bad  string // what is wrong with it, "" if nothing
	at   int    // and where
}

// field reads the field at pos, which holds no blank. quoted is memory for the text of one in
// quotes.
func (c *Chunk[T]) field(lay *csvLayout, pos int, quoted *[]byte) (f csvField) {
	b := c.Text[:c.N+Stops]
	delim := lay.delim
	f.off = pos
	if b[pos] == '"' {
		*quoted, f.end = unquote((*quoted)[:0], b, pos)
		if f.end < 0 {
			f.bad, f.at = notClosed, pos
			return f
		}
		f.n = len(*quoted)
		*quoted = append(*quoted, '\n')
		f.text = *quoted
		f.end = pastBlanks(b, f.end, delim)
		if ch := b[f.end]; ch != '\n' && ch != delim && !(ch == '\r' && b[f.end+1] == '\n') &&
			!(delim == ' ' && b[f.end-1] <= ' ') {
			f.bad, f.at = fmt.Sprintf("expected %q or the line's end after a column", delim), f.end
		}
		return f
	}
	for b[pos] != delim && b[pos] != '\n' && (b[pos] != '\t' || delim != ' ') {
		pos++
	}
	f.end = pos
	for pos > f.off && (b[pos-1] == ' ' || b[pos-1] == '\t' || b[pos-1] == '\r') {
		pos--
	}
	f.n, f.text = pos-f.off, b[f.off:]
	if delim == ' ' {
		f.end = pastBlanks(b, f.end, delim)
	}
	return f
}

// pastBlanks returns where the first byte from pos on stands that is no blank.
func pastBlanks(b []byte, pos int, delim byte) int {
	for b[pos] == ' ' || b[pos] == '\t' && delim != '\t' {
		pos++
	}
	return pos
}

// csvRow reads one row after another. A row is written straight into its place, and taken back if
// it turns out to be bad.
type csvRow[T engine.Float] struct {
	c      *Chunk[T]
	p      *Settings
	lay    *csvLayout
	words  bool // columns hold texts
	row    int  // where the row begins in Rows.X, or Rows.Val
	had    int  // names before it
	quotes bool // a field of it is quoted
	code   int32
	quoted []byte
	name   []byte
	id     []byte
	alone  csvAnswer[T]
}

// begin begins a row: its bias and its numbers, which are sparse ones 0 as yet.
func (m *csvRow[T]) begin() {
	r, lead := m.c.Out, m.p.Bias+m.lay.numbers
	if !m.words {
		m.row = len(r.X)
		r.room(m.p, m.lay.numbers)
		return
	}
	m.row, m.had = len(r.Idx), len(r.Names.list)
	r.Idx, r.Val = extended(r.Idx, lead), extended(r.Val, lead)
	for i := range lead {
		r.Idx[m.row+i] = int32(i)
	}
	clear(r.Val[m.row:])
	if m.p.Bias != 0 {
		r.Val[m.row] = T(m.p.One)
	}
}

// numbers are the values of the row's columns of numbers.
func (m *csvRow[T]) numbers() []T {
	all := m.c.Out.X
	if m.words {
		all = m.c.Out.Val
	}
	return all[m.row+m.p.Bias:][:m.lay.numbers]
}

// end adds the row, whose label has that number.
func (m *csvRow[T]) end(code int32) {
	r := m.c.Out
	var row []T
	if m.words {
		r.Ptr, row = append(r.Ptr, len(r.Idx)), r.Val[m.row:]
	} else {
		row = r.X[m.row:][:r.Dim]
	}
	r.Code = append(r.Code, code)
	r.Finish(row, Squares(row), m.p)
}

// drop takes the row back.
func (m *csvRow[T]) drop() {
	r := m.c.Out
	if !m.words {
		r.X = r.X[:m.row]
		return
	}
	r.Idx, r.Val = r.Idx[:m.row], r.Val[:m.row]
	r.Names.cut(m.had)
}

// read adds the row that begins at start, whose first field is at pos, and returns where it ends.
func (m *csvRow[T]) read(start, pos int) (end, at int, bad string) {
	c, lay := m.c, m.lay
	b, delim := c.Text[:c.N+Stops], lay.delim
	numbers := m.numbers()
	m.quotes = false
	if lay.label < 0 {
		m.code = c.NoLabel(start, start)
	}
	ints := delim != ' ' // the fields may be plain integers
	for col := 0; ; col++ {
		if ints && col+1 < lay.cols && lay.to[col] >= 0 {
			n := 0
			n, pos = integers(numbers, lay.to[col:lay.cols-1], b, pos, delim)
			col, ints = col+n, n > 0
		}
		pos = pastBlanks(b, pos, delim)
		if col == lay.cols {
			return 0, pos, fmt.Sprintf("expected %d columns, found more", lay.cols)
		}
		plain := false // a number with nothing behind it
		if to := lay.to[col]; to >= 0 && b[pos] != '"' {
			v, stop, st := parseNumber[T](b, pos)
			if ch := b[stop]; st == numOK && (ch == delim || ch == '\n') {
				numbers[to], pos, plain = v, stop, true
				if delim == ' ' {
					pos = pastBlanks(b, pos, delim)
				}
			}
		}
		if !plain {
			m.quotes = m.quotes || b[pos] == '"'
			f := c.field(lay, pos, &m.quoted)
			if f.bad != "" {
				return 0, f.at, f.bad
			}
			if lay.to[col] == toID && m.p.IDs {
				m.id = append(m.id, f.text[:f.n]...)
			}
			if bad := m.take(start, col, &f); bad != "" {
				return 0, f.off, bad
			}
			if pos = f.end; m.words { // names may have moved them
				numbers = m.numbers()
			}
		}
		if ch := b[pos]; ch == '\n' || ch == '\r' && b[pos+1] == '\n' {
			if col+1 < lay.cols {
				return 0, pos, c.tooFew(start, lay.cols, col+1)
			}
			return pos, 0, ""
		} else if ch == delim && delim != ' ' {
			pos++
		}
	}
}

// take puts a field into the row.
func (m *csvRow[T]) take(start, col int, f *csvField) (bad string) {
	c, lay := m.c, m.lay
	text := f.text[:f.n]
	switch to := lay.to[col]; {
	case to == toIgnored, to == toID:
	case to == weightColumn:
		v, end, st := parseNumber[float64](f.text, 0)
		if st != numOK || end != f.n {
			return c.badWeight(f.off, lay.delim)
		}
		w, bad := WeightOf[T](v)
		if bad == "" {
			c.Out.Weigh(w)
		}
		return bad
	case to == toLabel:
		if f.n <= LongLabel && bytes.IndexByte(text, '\n') >= 0 {
			return brokenLabel
		}
		m.code, bad = c.Label(m.p, text, start, f.off)
		return bad
	case to == toText:
		if IsMissing(text) {
			switch lay.missing {
			case "error":
				return valueMissing
			case "mean":
				return "" // none of the texts
			}
			text = []byte("?")
		}
		return m.word(start, col, text, f.off)
	default:
		v, end, st := parseNumber[T](f.text, 0)
		if st == numOK && end == f.n {
			m.numbers()[to] = v
			return ""
		}
		if !IsMissing(text) || lay.missing != "mean" && lay.missing != "indicator" {
			if st == numOK {
				st = numSyntax
			}
			return c.badField(f.off, lay.delim, st)
		}
		m.numbers()[to] = T(math.NaN()) // its mean is not known yet
		if lay.missing == "indicator" {
			return m.word(start, col, []byte("?"), f.off)
		}
	}
	return ""
}

// word adds the feature that a column has where it holds a text.
func (m *csvRow[T]) word(start, col int, text []byte, off int) (bad string) {
	return m.c.word(m.p, m.row, &m.name, m.lay.prefix[col], text, start, off)
}
