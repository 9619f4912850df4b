package dataset

import (
	"bytes"
	"fmt"
)

// Splice sites become trimers: of the middle spliceWindow letters of a sequence each position but the last two begins one, and each has
// an attribute for every triple over A, C, G, T and unknown. These are 49 * 125 = 6125 attributes, 49 of them 1 in each row.
const (
	spliceWindow = 51
	spliceSites  = spliceWindow - 2
	spliceCodes  = 5 * 5 * 5
	spliceDim    = spliceSites * spliceCodes
)

const (
	unknownBase = 4    // a letter that names more than one base
	noBase      = 0xff // no letter of a nucleic acid
)

// baseCodes are the codes of letters: those of the IUPAC's code of nucleotides.
var baseCodes = func() (codes [256]uint8) {
	for i := range codes {
		codes[i] = noBase
	}
	for code, letters := range []string{"Aa", "Cc", "Gg", "TtUu", "RrYySsWwKkMmBbDdHhVvNn"} {
		for _, ch := range letters {
			codes[ch] = uint8(code)
		}
	}
	return codes
}()

// parseFasta reads records: a header line that begins with > and holds label=VALUE, then a sequence, in one line or several. All sequences
// are as long as the first of the data, so that the same letters are in the middle of each.
//
// Feature 125 i + 25 a + 5 b + c is 1 if the letters i, i+1 and i+2 of the window have the codes a, b and c.
//
// Source: the shape (6125 attributes) is that of OBPM section 4.3; which they were is not told. This is a choice: the acceptor sites of the
// Tuebingen archive have 398 letters with the site's AG behind the first 197, so that the window goes from 24 letters before AG to 25 behind.
func (c *chunk[T]) parseFasta(p *parsing) {
	r := c.out
	b := c.text[:c.n]
	one := T(1)
	last, lastCode := "", int32(-1)
	for pos := 0; pos < c.n; {
		start := pos
		line := trimLine(c.line(start))
		pos = min(c.nextLine(pos), c.n)
		if len(line) == 0 {
			r.lines++
			continue
		}
		c.record, c.recordLine = start, r.lines
		bad := false
		label, off := []byte(nil), 0
		if line[0] != '>' {
			bad = true
			if !c.badRow(p, start, start, fmt.Sprintf("expected a header that begins with \">\", found %q", c.token(start, 0))) {
				return
			}
		} else if label, off = headerLabel(line); len(label) == 0 && !p.optional ||
			len(label) > longLabel {
			bad = true
			what := "expected label=VALUE in the header"
			if len(label) > 0 {
				what = tooLongLabel
			}
			if !c.badRow(p, start, start+off, what) {
				return
			}
		}
		head := r.lines
		r.lines++

		var window [spliceWindow]uint8
		first := (p.letters - spliceWindow) / 2 // of the window
		n := 0                                  // letters so far
		for pos < c.n && b[pos] != '>' {
			begin := pos
			text := trimLine(c.line(begin))
			pos = min(c.nextLine(pos), c.n)
			for i, ch := range text {
				code := baseCodes[ch]
				if code == noBase && !bad {
					bad = true
					what := fmt.Sprintf("expected a letter of a sequence, found %q", ch)
					if up := ch &^ 0x20; up >= 'A' && up <= 'Z' {
						what = fmt.Sprintf("expected a base of a nucleic acid (A C G T U, or N R "+
							"Y ... where it is open), found %q as in proteins", ch)
					}
					if !c.badRow(p, begin, begin+i, what) {
						return
					}
				}
				if k := n - first; k >= 0 && k < spliceWindow {
					window[k] = code
				}
				n++
			}
			r.lines++
		}
		if bad {
			continue
		}
		end := r.lines
		r.lines = head // for the place of what follows
		if n != p.letters {
			if !c.badRow(p, start, start, fmt.Sprintf("expected a sequence of %d letters as the first, found %d", p.letters, n)) {
				return
			}
			r.lines = end
			continue
		}
		var code int32
		switch {
		case len(label) == 0:
			code = c.noLabel(start, start)
		case lastCode >= 0 && string(label) == last:
			code = lastCode
		default:
			l := makeLabel(string(label))
			var ok bool
			if code, ok = r.labels.find(l); !ok {
				code = c.addLabel(l, start, start+off)
			}
			last, lastCode = l.text, code
		}
		r.lines = end

		row := len(r.Idx)
		sum := float64(spliceSites) // of the squares
		if p.bias != 0 {
			bias := T(p.one)
			r.Idx, r.Val = append(r.Idx, 0), append(r.Val, bias)
			sum += float64(float64(bias) * float64(bias))
		}
		for i := range spliceSites {
			trimer := 25*int(window[i]) + 5*int(window[i+1]) + int(window[i+2])
			r.Idx, r.Val = append(r.Idx, int32(p.bias+spliceCodes*i+trimer)), append(r.Val, one)
		}
		r.maxSq = max(r.maxSq, sum)
		if p.unit {
			toUnit(r.Val[row:], sum)
		} else if p.scale != 0 {
			divide(r.Val[row:], p.scale)
		}
		r.n++
		r.Ptr = append(r.Ptr, len(r.Idx))
		r.code = append(r.code, code)
	}
}

// trimLine returns the line without blanks at its end.
func trimLine(line []byte) []byte { return bytes.TrimRight(line, " \t\r") }

// headerLabel returns the VALUE of label=VALUE in a header, and where it is; nil if there is none.
func headerLabel(line []byte) (value []byte, off int) {
	const key = "label="
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte(key))
		if i < 0 {
			return nil, 0
		}
		at += i + len(key)
		if before := line[at-len(key)-1]; before != '>' && before != ' ' && before != '\t' && before != ',' {
			continue // the end of another word
		}
		value = line[at:]
		if end := bytes.IndexAny(value, ", \t"); end >= 0 {
			value = value[:end]
		}
		return value, at
	}
}

// sequenceLength returns the number of letters of the first record of the head.
func (in *input) sequenceLength() (int, error) {
	n, lines, inside := 0, 0, false
	place := func(what string) error {
		return &RowError{File: in.name, Line: lines, Col: 1, What: what, Err: ErrFormat}
	}
	for b := in.head; len(b) > 0; {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole && in.err == nil {
			return 0, place(fmt.Sprintf("the first sequence does not end within %d bytes: this is no set of splice sites", len(in.head)))
		}
		b = rest
		lines++
		if len(line) > 0 && line[0] == '>' {
			if inside {
				break
			}
			inside = true
		} else if inside {
			n += len(trimLine(line))
		}
	}
	if n < spliceWindow {
		return 0, place(fmt.Sprintf("expected a first sequence of at least %d letters, found %d", spliceWindow, n))
	}
	return n, nil
}
