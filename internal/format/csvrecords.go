package format

import "bytes"

// A row of csv ends with its line, but for line ends between quotes (RFC 4180). A quote opens a
// field only where one begins; elsewhere it is a letter. So where a row ends depends on all of its
// text, and a file is cut by looking through it from the beginning of a row: of text without quotes
// that is a look for one byte.

// lastRecord returns where the last whole row of text ends, which begins with a row, and where the
// quote stands that is open at the end of text; -1: none is.
func lastRecord(text []byte, delim byte) (end, open int) {
	at := 0 // what is before was looked through
	for {
		q := bytes.IndexByte(text[at:], '"')
		if q < 0 {
			break
		}
		q += at
		if i := bytes.LastIndexByte(text[at:q], '\n'); i >= 0 {
			end = at + i + 1
		}
		if at = q + 1; opensField(text[end:q], delim) {
			if at = closed(text, at); at < 0 {
				return end, q
			}
		}
	}
	if i := bytes.LastIndexByte(text[at:], '\n'); i >= 0 {
		end = at + i + 1
	}
	return end, -1
}

// recordEnd returns where the row ends that text begins with, behind its line end.
func recordEnd(text []byte, delim byte) int {
	for at := 0; ; {
		line := bytes.IndexByte(text[at:], '\n')
		if line < 0 {
			return len(text)
		}
		q := bytes.IndexByte(text[at:at+line], '"')
		if q < 0 {
			return at + line + 1
		}
		q += at
		if at = q + 1; opensField(text[:q], delim) {
			if at = closed(text, at); at < 0 {
				return len(text)
			}
		}
	}
}

// opensField reports whether a quote behind that much of a row opens a field.
func opensField(row []byte, delim byte) bool {
	i := len(row)
	if delim == ' ' {
		return i == 0 || row[i-1] == ' ' || row[i-1] == '\t'
	}
	for i > 0 && (row[i-1] == ' ' || row[i-1] == '\t' && delim != '\t') {
		i--
	}
	return i == 0 || row[i-1] == delim
}

// closed returns the place behind the quote that closes a field whose text begins at p; -1 if none
// does.
func closed(text []byte, p int) int {
	for {
		i := bytes.IndexByte(text[p:], '"')
		if i < 0 {
			return -1
		}
		if p += i + 1; p == len(text) || text[p] != '"' {
			return p
		}
		p++
	}
}

// lastCSV is Format.Last of csv. Quotes in lines before the first row are none.
func lastCSV(l *Layout, text []byte) (end, open int) {
	lay := l.Own.(*csvLayout)
	n := len(lay.before)
	switch {
	case n > 0 && bytes.HasPrefix(text, lay.before):
		if end, open = lastRecord(text[n:], lay.delim); open >= 0 {
			open += n
		}
		return end + n, open
	case n > 0 && bytes.HasPrefix(lay.before, text): // more of it is to come
		return 0, -1
	}
	return lastRecord(text, lay.delim)
}

// nextRow returns where the row ends that begins at start, and counts the line ends within it.
func (c *Chunk[T]) nextRow(start int, delim byte) int {
	end := start + recordEnd(c.Text[start:c.N], delim)
	c.countInner(start, end)
	return end
}

// countInner counts the line ends within a row, which are between quotes.
func (c *Chunk[T]) countInner(start, end int) {
	if end = min(end, c.N); end > start {
		c.Out.Lines += bytes.Count(c.Text[start:end-1], []byte{'\n'})
	}
}

// LineOf returns how many lines behind the row that begins at start the byte off stands, and where
// that line begins.
func (c *Chunk[T]) LineOf(start, off int) (lines, from int) {
	if off > c.N || off < start {
		return 0, start
	}
	row := c.Text[start:off]
	return bytes.Count(row, []byte{'\n'}), start + bytes.LastIndexByte(row, '\n') + 1
}

// records returns the first n rows of the beginning of a text that are not blank, as far as they
// are whole, if it is cut by that delimiter. whole: nothing follows the text.
func records(text []byte, n int, delim byte, whole bool) (rows [][]byte) {
	for len(rows) < n && len(text) > 0 {
		end := recordEnd(text, delim)
		row := text[:end]
		if text = text[end:]; row[end-1] == '\n' {
			row = row[:end-1]
		} else if !whole {
			break
		}
		if len(bytes.TrimSpace(row)) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}
