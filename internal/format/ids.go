package format

import (
	"bytes"
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
)

// longID is the length in bytes above which an id is bad: those of rows that wait are kept.
const longID = 1024

var longerID = fmt.Sprintf("expected an id of at most %d bytes, found a longer one", longID)

// ids are the ids of rows, where Settings.IDs asks for them.
type ids struct {
	text []byte
	end  []int  // of each row's id in text
	bare []bool // whether the row has a label and an id, and no features
}

// AddID says the id of the row that was added last, "" for none, and that it is bare: it has no
// features.
func (r *Rows[T]) AddID(id []byte, bare bool) {
	x := &r.ids
	x.text = append(x.text, id...)
	x.end, x.bare = append(x.end, len(x.text)), append(x.bare, bare)
}

// RowID returns the id of row i, "" if it has none, and whether it is bare. It is there as long as
// the rows.
func (r *Rows[T]) RowID(i int) (id []byte, bare bool) {
	x := &r.ids
	if i >= len(x.end) {
		return nil, false
	}
	lo := 0
	if i > 0 {
		lo = x.end[i-1]
	}
	return x.text[lo:x.end[i]], x.bare[i]
}

// HasIDs reports whether rows have ids.
func (r *Rows[T]) HasIDs() bool { return len(r.ids.end) > 0 }

// append adds those of the first n rows of more.
func (x *ids) append(more *ids, n int) {
	if n = min(n, len(more.end)); n == 0 {
		return
	}
	at := len(x.text)
	x.text = append(x.text, more.text[:more.end[n-1]]...)
	for _, end := range more.end[:n] {
		x.end = append(x.end, at+end)
	}
	x.bare = append(x.bare, more.bare[:n]...)
}

func (x *ids) reset() { x.text, x.end, x.bare = x.text[:0], x.end[:0], x.bare[:0] }

// badID returns what is wrong with a row of that id and label, where ids are asked for; "" if
// nothing is.
func (c *Chunk[T]) badID(s *Settings, id []byte, code int32) string {
	switch {
	case !s.IDs:
	case len(id) > longID:
		return longerID
	case len(id) == 0 && code == c.Out.Labels.None:
		return "the label is missing, and so is the id by which it could come later"
	}
	return ""
}

// csvAnswer is a row of csv that has a label and an id, and nothing in the columns of features.
type csvAnswer[T engine.Float] struct {
	label, id, quoted []byte
	n                 int // bytes of the label's text
	off               int // where it stands
	weight            T
	weighs            bool
}

// answer reads the row at pos, if it is one of a label and an id alone, and returns where it ends.
// Rows that are none, bad ones among them, are for the parser of the others.
func (c *Chunk[T]) answer(a *csvAnswer[T], lay *csvLayout, pos int) (end int, ok bool) {
	b := c.Text[:c.N+Stops]
	a.n, a.id, a.weighs = 0, a.id[:0], false
	for col := 0; col < lay.cols; col++ {
		f := c.field(lay, pastBlanks(b, pos, lay.delim), &a.quoted)
		if f.bad != "" {
			return 0, false
		}
		switch to := lay.to[col]; {
		case to == toID:
			a.id = append(a.id, f.text[:f.n]...)
		case to == toIgnored:
		case to == toLabel:
			a.label = append(a.label[:0], f.text[:f.n+1]...)
			a.n, a.off = f.n, f.off
		case to == weightColumn && f.n > 0:
			v, stop, st := parseNumber[float64](f.text, 0)
			w, bad := WeightOf[T](v)
			if st != numOK || stop != f.n || bad != "" {
				return 0, false
			}
			a.weight, a.weighs = w, true
		case f.n > 0:
			return 0, false
		}
		pos = f.end
		switch ch := b[pos]; {
		case ch == '\n' || ch == '\r' && b[pos+1] == '\n':
			return pos, col == lay.cols-1 && len(a.id) > 0 && len(a.id) <= longID && a.n > 0 &&
				a.n <= LongLabel && !c.Out.missing(a.label[:a.n], false) &&
				bytes.IndexByte(a.label[:a.n], '\n') < 0
		case ch == lay.delim && lay.delim != ' ':
			pos++
		}
	}
	return 0, false
}

// answered gives the row that is added its weight, and returns the number of its label.
func (c *Chunk[T]) answered(s *Settings, a *csvAnswer[T], start int) int32 {
	if a.weighs {
		c.Out.Weigh(a.weight)
	}
	code, _ := c.Label(s, a.label[:a.n], start, a.off) // answer found nothing wrong with it
	return code
}
