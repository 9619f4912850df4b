package dataset

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// splitCSV returns the fields of a line, without the blanks and quotes around them.
func splitCSV(line []byte, delim byte) []string {
	s := strings.TrimRight(string(line), "\r\n")
	if delim == ' ' {
		s = strings.Trim(s, " \t")
	}
	var out []string
	for {
		blanks := " \t"
		if delim == '\t' {
			blanks = " "
		}
		s = strings.TrimLeft(s, blanks)
		var f string
		if strings.HasPrefix(s, `"`) {
			var quoted strings.Builder
			i := 1
			for i < len(s) && s[i] != '"' || strings.HasPrefix(s[min(i, len(s)):], `""`) {
				if s[i] == '"' {
					i++
				}
				quoted.WriteByte(s[i])
				i++
			}
			f, s = quoted.String(), s[min(i+1, len(s)):]
		}
		i := strings.IndexByte(s, delim)
		if delim == ' ' {
			i = strings.IndexAny(s, " \t")
		}
		if i < 0 {
			return append(out, f+strings.TrimRight(s, blanks))
		}
		out = append(out, f+strings.TrimRight(s[:i], blanks))
		s = s[i+1:]
	}
}

// csvDelim returns the first of , ; tab and blanks that cuts the lines into equally many fields, more than one; else the first that cuts
// the first line.
func csvDelim(lines [][]byte) (byte, bool) {
	candidates := []byte{',', ';', '\t', ' '}
	for _, d := range candidates {
		n := len(splitCSV(lines[0], d))
		if n > 1 && !slices.ContainsFunc(lines, func(l []byte) bool { return len(splitCSV(l, d)) != n }) {
			return d, true
		}
	}
	for _, d := range candidates {
		if len(splitCSV(lines[0], d)) > 1 {
			return d, true
		}
	}
	return 0, false
}

// labelNames are the header names that mean the label.
var labelNames = []string{"label", "class", "target", "y"}

// csvHeader tells whether the first row names the columns: it has a text where the second row has a number, and no number itself
// (or the text is the label column's name).
func csvHeader(first, second []string, labelCol string) bool {
	evidence, numbers := false, 0
	for i, f := range first {
		if makeLabel(f).numeric {
			numbers++
			continue
		}
		if f == "" || f == "?" || i >= len(second) || isNotFinite(f) || !makeLabel(second[i]).numeric {
			continue
		}
		evidence = true
		if f == labelCol || slices.Contains(labelNames, strings.ToLower(f)) {
			return true
		}
	}
	return evidence && numbers == 0
}

// layoutCSV finds the layout of a file from its first lines (neither blank nor comments). An error
// is the text of what is wrong with the first line.
func layoutCSV(lines [][]byte, o *Options) (*csvLayout, error) {
	delim, ok := csvDelim(lines)
	if !ok {
		return nil, fmt.Errorf("expected columns set apart by , ; tab or blanks")
	}
	first := splitCSV(lines[0], delim)
	l := &csvLayout{delim: delim, cols: len(first)}
	l.headed = len(lines) > 1 && csvHeader(first, splitCSV(lines[1], delim), o.LabelCol) ||
		len(o.Header) > 0 && namesTraining(first, o.Header)
	var names []string
	if l.headed {
		names = first
	}
	return l, l.arrange(names, o)
}

// labelColumn finds the label's column, from 0.
func labelColumn(want string, header []string, cols int) (int, error) {
	same := func(name string) int {
		if i := slices.Index(header, name); i >= 0 {
			return i
		}
		return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) })
	}
	if want == "" {
		for _, name := range labelNames {
			if i := same(name); i >= 0 {
				return i, nil
			}
		}
		return cols - 1, nil
	}
	if i := same(want); i >= 0 {
		return i, nil
	}
	n, err := strconv.Atoi(want)
	switch {
	case err != nil && len(header) == 0:
		return 0, fmt.Errorf("no header, so no column %q: name the label column by its number with --label-col", want)
	case err != nil:
		return 0, fmt.Errorf("no column %q: name one of the header with --label-col", want)
	case n >= 1 && n <= cols:
		return n - 1, nil
	case n < 0 && -n <= cols:
		return cols + n, nil
	}
	return 0, fmt.Errorf("no column %d among %d: choose another with --label-col", n, cols)
}

// parseCSV reads dense rows: all columns but the label's are features.
func (c *chunk[T]) parseCSV(p *parsing) {
	r := c.out
	b := c.text[:c.n+stops]
	lay := c.csv
	delim := lay.delim
	tab := byte('\t') // the second byte that is a blank
	if delim == '\t' {
		tab = ' '
	}
	r.Dim = lay.features() + p.bias
	r.Stride = strideOf(r.Dim)
	header := c.header
	var quoted []byte

	for pos := 0; pos < c.n; r.lines++ {
		start := pos
		for b[pos] == ' ' || b[pos] == tab {
			pos++
		}
		if ch := b[pos]; ch == '\n' {
			pos++
			continue
		} else if ch == '#' || ch == '\r' && b[pos+1] == '\n' {
			pos = c.nextLine(pos)
			continue
		}
		if header {
			header = false
			pos = c.nextLine(pos)
			continue
		}
		lo := len(r.X)
		r.X = extended(r.X, r.Stride)
		row := r.X[lo:]
		clear(row[r.Dim:])
		row = row[:r.Dim]
		if p.bias != 0 {
			row[0] = T(p.one)
		}
		features := row[p.bias:]
		code := int32(-1)
		bad := ""
		var at int // where it goes wrong
		for col := 0; ; col++ {
			for b[pos] == ' ' || b[pos] == tab {
				pos++
			}
			off := pos
			if col == lay.cols {
				bad, at = fmt.Sprintf("expected %d columns, found more", lay.cols), off
				break
			}
			isQuoted := b[pos] == '"'
			if isQuoted {
				if quoted, pos = unquote(quoted[:0], b, pos); pos < 0 {
					bad, at = "quote is not closed on its line", off
					break
				}
			}
			if f := lay.to[col]; f < 0 { // the label
				text, from := b, off
				n := len(quoted)
				if isQuoted {
					quoted = append(quoted, '\n')
					text, from = quoted, 0
				} else {
					for b[pos] != delim && b[pos] != '\n' && (b[pos] != '\t' || delim != ' ') {
						pos++
					}
					n = len(bytes.TrimRight(b[off:pos], " \t\r"))
				}
				switch missing := n == 0 || n == 1 && text[from] == '?'; {
				case missing && p.optional:
					code = c.noLabel(start, off)
				case missing:
					bad, at = "the label is missing", off
				case n > longLabel:
					bad, at = tooLongLabel, off
				default:
					code = c.csvLabel(text, from, n, start, off)
				}
				if bad != "" {
					break
				}
			} else {
				var st numStatus
				if isQuoted {
					var end int
					quoted = append(quoted, '\n')
					features[f], end, st = parseNumber[T](quoted, 0)
					if end != len(quoted)-1 {
						st = numSyntax
					}
				} else {
					features[f], pos, st = parseNumber[T](b, pos)
				}
				if ch := b[pos]; st != numOK || ch > ' ' && ch != delim {
					bad, at = c.badField(off, delim, st), off
					break
				}
			}
			for b[pos] == ' ' || b[pos] == tab {
				pos++
			}
			if ch := b[pos]; ch == '\n' || ch == '\r' && b[pos+1] == '\n' {
				if col+1 < lay.cols {
					bad, at = fmt.Sprintf("expected %d columns, found %d", lay.cols, col+1), pos
				}
				break
			} else if ch == delim {
				pos++
			} else if delim != ' ' || pos > 0 && b[pos-1] > ' ' {
				bad, at = fmt.Sprintf("expected %q or the line's end after a column", delim), pos
				break
			}
		}
		if bad != "" {
			r.X = r.X[:lo]
			if !c.badRow(p, start, at, bad) {
				return
			}
			pos = c.nextLine(start)
			continue
		}
		pos = c.nextLine(pos)
		if lay.label < 0 {
			code = c.noLabel(start, start)
		}
		r.code = append(r.code, code)
		r.finishRow(row, squares(row), p)
	}
}

// extended returns s with n more elements of any value.
func extended[E any](s []E, n int) []E {
	return slices.Grow(s, n)[:len(s)+n]
}

// unquote appends the text of the quoted field at b[p] and returns the place behind it, -1 if the quote is not closed.
func unquote(dst, b []byte, p int) ([]byte, int) {
	for p++; b[p] != '\n'; p++ {
		if b[p] == '"' {
			if b[p+1] != '"' {
				return dst, p + 1
			}
			p++
		}
		dst = append(dst, b[p])
	}
	return dst, -1
}

// csvLabel returns the number of the label text b[p:p+n], which is followed by a byte that no number holds.
func (c *chunk[T]) csvLabel(b []byte, p, n, start, off int) int32 {
	r := c.out
	text := b[p : p+n]
	if ch := text[0]; ch-'0' <= 9 || ch == '-' || ch == '+' || ch == '.' {
		if v, end, st := parseNumber[float64](b, p); st == numOK && end == p+n {
			if i, ok := r.labels.findNum(v); ok {
				return i
			}
			return c.addLabel(label{text: string(text), num: v + 0, numeric: true}, start, off)
		}
	}
	if i, ok := r.labels.findText(text); ok {
		return i
	}
	return c.addLabel(label{text: string(text)}, start, off)
}

// badField says what is wrong with the field at off.
func (c *chunk[T]) badField(off int, delim byte, st numStatus) string {
	b := c.text[off:c.n]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	t := splitCSV(b, delim)[0]
	if len(t) > 24 {
		t = t[:24] + "..."
	}
	switch {
	case t == "" || t == "?":
		return "expected a number, the value is missing"
	case isNotFinite(t):
		return fmt.Sprintf("expected a finite number, found %q", t)
	case st == numRange:
		return tooLarge[T](t)
	}
	return fmt.Sprintf("expected a number, found %q", t)
}
