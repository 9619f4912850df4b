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
	f.n = len(bytes.TrimRight(b[f.off:pos], " \t\r"))
	f.text = b[f.off:]
	if delim == ' ' {
		f.end = pastBlanks(b, pos, delim)
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

// parseColumns reads rows of columns of which some hold texts: the numbers first, whatever they
// are, and then a feature NAME=TEXT for each text.
func parseColumns[T engine.Float](c *Chunk[T], p *Settings) {
	r := c.Out
	b := c.Text[:c.N+Stops]
	lay := c.Layout.Own.(*csvLayout)
	c.names()
	m := mixedRow[T]{c: c, p: p, lay: lay}
	header := lay.row >= c.Offset && lay.row < c.Offset+int64(c.N)
	for pos := c.pastLines(lay); pos < c.N; r.Lines++ {
		start := pos
		pos = pastBlanks(b, pos, lay.delim)
		if ch := b[pos]; ch == '\n' {
			pos++
			continue
		} else if ch == '\r' && b[pos+1] == '\n' {
			pos = c.NextLine(pos)
			continue
		}
		if header {
			header = false
			pos = c.nextRow(start, lay.delim)
			continue
		}
		row, had := len(r.Idx), len(r.Names.list)
		if p.IDs {
			m.id = m.id[:0]
			if end, ok := c.answer(&m.alone, lay, pos); ok {
				m.lead()
				pos = c.NextLine(end)
				r.Code = append(r.Code, c.answered(p, &m.alone, start))
				r.Ptr = append(r.Ptr, len(r.Idx))
				r.Finish(r.Val[row:], Squares(r.Val[row:]), p)
				r.AddID(m.alone.id, true)
				c.countInner(start, pos)
				continue
			}
		}
		end, at, bad := m.read(start, pos)
		if bad == "" && p.IDs {
			bad, at = c.badID(p, m.id, m.code), start
		}
		if bad != "" {
			r.Idx, r.Val = r.Idx[:row], r.Val[:row]
			r.Names.cut(had)
			if !c.Bad(p, start, at, bad) {
				return
			}
			pos = c.nextRow(start, lay.delim)
			continue
		}
		pos = c.NextLine(end)
		inner := bytes.Count(b[start:end], []byte{'\n'})
		r.Code = append(r.Code, m.code)
		r.Ptr = append(r.Ptr, len(r.Idx))
		r.Finish(r.Val[row:], Squares(r.Val[row:]), p)
		if p.IDs {
			r.AddID(m.id, false)
		}
		r.Lines += inner
	}
}

// mixedRow reads one row after another.
type mixedRow[T engine.Float] struct {
	c      *Chunk[T]
	p      *Settings
	lay    *csvLayout
	code   int32 // of the row's label
	quoted []byte
	name   []byte
	id     []byte
	alone  csvAnswer[T]
}

// lead begins a row: its numbers, 0 as yet, and the bias.
func (m *mixedRow[T]) lead() {
	r, row, lead := m.c.Out, len(m.c.Out.Idx), m.p.Bias+m.lay.numbers
	r.Idx, r.Val = extended(r.Idx, lead), extended(r.Val, lead)
	for i := range lead {
		r.Idx[row+i] = int32(i)
	}
	clear(r.Val[row:])
	if m.p.Bias != 0 {
		r.Val[row] = T(m.p.One)
	}
}

// read adds the row that begins at start, whose first field is at pos, and returns where it ends.
func (m *mixedRow[T]) read(start, pos int) (end, at int, bad string) {
	c, lay, r := m.c, m.lay, m.c.Out
	b := c.Text[:c.N+Stops]
	row := len(r.Idx)
	m.lead()
	if lay.label < 0 {
		m.code = c.NoLabel(start, start)
	}
	for col := 0; ; col++ {
		pos = pastBlanks(b, pos, lay.delim)
		if col == lay.cols {
			return 0, pos, fmt.Sprintf("expected %d columns, found more", lay.cols)
		}
		f := c.field(lay, pos, &m.quoted)
		if f.bad != "" {
			return 0, f.at, f.bad
		}
		if lay.to[col] == toID && m.p.IDs {
			m.id = append(m.id, f.text[:f.n]...)
		}
		if bad := m.take(row, start, col, &f); bad != "" {
			return 0, f.off, bad
		}
		pos = f.end
		if ch := b[pos]; ch == '\n' || ch == '\r' && b[pos+1] == '\n' {
			if col+1 < lay.cols {
				return 0, pos, c.tooFew(start, lay.cols, col+1)
			}
			return pos, 0, ""
		} else if ch == lay.delim && lay.delim != ' ' {
			pos++
		}
	}
}

// take puts a field into the row that begins at Rows.Idx[row].
func (m *mixedRow[T]) take(row, start, col int, f *csvField) (bad string) {
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
		if isMissing(text) {
			switch lay.missing {
			case "error":
				return valueMissing
			case "mean":
				return "" // none of the texts
			}
			text = []byte("?")
		}
		return m.word(row, start, col, text, f.off)
	default:
		v, end, st := parseNumber[T](f.text, 0)
		at := row + m.p.Bias + int(to)
		if st == numOK && end == f.n {
			c.Out.Val[at] = v
			return ""
		}
		if !isMissing(text) || lay.missing != "mean" && lay.missing != "indicator" {
			if st == numOK {
				st = numSyntax
			}
			return c.badField(f.off, lay.delim, st)
		}
		c.Out.Val[at] = T(math.NaN()) // its mean is not known yet
		if lay.missing == "indicator" {
			return m.word(row, start, col, []byte("?"), f.off)
		}
	}
	return ""
}

// word adds the feature that a column has where it holds a text.
func (m *mixedRow[T]) word(row, start, col int, text []byte, off int) (bad string) {
	prefix := m.lay.prefix[col]
	m.name = append(append(append(m.name[:0], prefix...), '='), text...)
	r := m.c.Out
	var hash func() uint32
	if m.p.HashBits > 0 {
		hash = func() uint32 { return HashName([]byte(prefix), text) }
	}
	_, bad = feature(r, row, m.name, 1, Place{r.N, r.Lines, start, off}, hash)
	return bad
}

// noValue returns where the field at off ends, if its value is missing and that means its column's
// mean.
func (c *Chunk[T]) noValue(lay *csvLayout, off int, quoted *[]byte) (end int, yes bool) {
	if lay.missing != "mean" {
		return 0, false
	}
	f := c.field(lay, off, quoted)
	return f.end, f.bad == "" && isMissing(f.text[:f.n])
}
