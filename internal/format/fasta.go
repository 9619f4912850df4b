package format

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
)

// Splice sites become trimers: of the middle spliceWindow letters of a sequence each position but
// the last two begins one, and each has an attribute for every triple over A, C, G, T and unknown.
// These are 49 * 125 = 6125 attributes, 49 of them 1 in each row.
const (
	spliceWindow = 51
	spliceSites  = spliceWindow - 2
	spliceCodes  = 5 * 5 * 5
	spliceDim    = spliceSites * spliceCodes
)

const (
	unknownBase = 4    // the fifth code: a letter that names more than one base, as N
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

// Fasta is text of splice sites: a header that begins with > and holds label=VALUE, then a
// sequence.
var Fasta = &Format{
	Name: "fasta", Cut: recordCut,
	Sniff: sniffFasta, Enough: oneRecord, Layout: headFasta,
	Parse32: parseFasta[float32], Parse64: parseFasta[float64],
}

// recordCut is before a header: what is between two of them is one record.
const recordCut Cut = "\n>"

// sniffFasta goes by the > that the file begins with.
func sniffFasta(h *Head) int {
	if lines := h.Lines(1); len(lines) > 0 && lines[0][0] == '>' {
		return 0
	}
	return No
}

// oneRecord reports whether the next record begins in the head, so that the first one is whole.
func oneRecord(h *Head) bool {
	lines := h.Lines(2)
	return len(lines) == 2 && (lines[0][0] != '>' ||
		recordCut.First(h.Text[h.Offset(lines[0]):]) >= 0)
}

// headFasta finds the length that all sequences must have: the first file's first one's.
func headFasta(h *Head, o *Options, first *Layout) (*Layout, error) {
	if first != nil {
		return first, nil
	}
	letters, err := sequenceLength(h)
	if err != nil {
		return nil, err
	}
	return &Layout{IndexBase: 1, BaseFound: byColumns, Dim: spliceDim, Own: letters}, nil
}

// parseFasta reads records: a header line that begins with > and holds label=VALUE, then a
// sequence, in one line or several. All sequences are as long as the first of the data, so that the
// same letters are in the middle of each.
//
// Feature 125 i + 25 a + 5 b + c is 1 if the letters i, i+1 and i+2 of the window have the codes a,
// b and c.
//
// Source: the shape (6125 attributes) is that of OBPM section 4.3; which attributes they were it
// does not say. This is a choice: the acceptor sites of the Tuebingen archive have 398 letters with
// the site's AG behind the first 197, so that the window goes from 24 letters before AG to 25
// behind.
func parseFasta[T engine.Float](c *Chunk[T], p *Settings) {
	letters := c.Layout.Own.(int)
	r := c.Out
	b := c.Text[:c.N]
	one := T(1)
	for pos := 0; pos < c.N; {
		start := pos
		line := trimLine(c.Line(start))
		pos = min(c.NextLine(pos), c.N)
		if len(line) == 0 {
			r.Lines++
			continue
		}
		c.BeginRecord(start)
		bad := false
		label, off := []byte(nil), 0
		if line[0] != '>' {
			bad = true
			what := fmt.Sprintf("expected a header that begins with \">\", found %q",
				c.Token(start, 0))
			if !c.Bad(p, start, start, what) {
				return
			}
		} else if label, off = headerLabel(line); len(label) == 0 && !p.Optional ||
			len(label) > LongLabel {
			bad = true
			what := "expected label=VALUE in the header"
			if len(label) > 0 {
				what = TooLongLabel
			}
			if !c.Bad(p, start, start+off, what) {
				return
			}
		}
		head := r.Lines
		r.Lines++

		var window [spliceWindow]uint8
		first := (letters - spliceWindow) / 2 // letter of the window, so that it is in the middle
		n := 0                                // letters so far
		for pos < c.N && b[pos] != '>' {
			begin := pos
			text := trimLine(c.Line(begin))
			pos = min(c.NextLine(pos), c.N)
			for i, ch := range text {
				code := baseCodes[ch]
				if code == noBase && !bad {
					bad = true
					what := fmt.Sprintf("expected a letter of a sequence, found %q", ch)
					if up := ch &^ 0x20; up >= 'A' && up <= 'Z' {
						what = fmt.Sprintf("expected a base of a nucleic acid (A C G T U, or N R "+
							"Y ... where it is open), found %q as in proteins", ch)
					}
					if !c.Bad(p, begin, begin+i, what) {
						return
					}
				}
				if k := n - first; k >= 0 && k < spliceWindow {
					window[k] = code
				}
				n++
			}
			r.Lines++
		}
		if bad {
			continue
		}
		end := r.Lines
		r.Lines = head // for the place of what follows
		if n != letters {
			what := fmt.Sprintf("expected a sequence of %d letters as the first, found %d",
				letters, n)
			if !c.Bad(p, start, start, what) {
				return
			}
			r.Lines = end
			continue
		}
		code, what := int32(0), ""
		if len(label) == 0 {
			code = c.NoLabel(start, start)
		} else if code, what = c.Label(p, label, start, start+off); what != "" {
			if !c.Bad(p, start, start+off, what) {
				return
			}
			r.Lines = end
			continue
		}
		r.Lines = end

		row := len(r.Idx)
		sum := float64(spliceSites) // of the squares: as many ones
		if p.Bias != 0 {
			bias := T(p.One)
			r.Idx, r.Val = append(r.Idx, 0), append(r.Val, bias)
			sum += float64(float64(bias) * float64(bias))
		}
		for i := range spliceSites {
			trimer := 25*int(window[i]) + 5*int(window[i+1]) + int(window[i+2])
			r.Idx, r.Val = append(r.Idx, int32(p.Bias+spliceCodes*i+trimer)), append(r.Val, one)
		}
		r.Finish(r.Val[row:], sum, p)
		r.Ptr = append(r.Ptr, len(r.Idx))
		r.Code = append(r.Code, code)
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
		if strings.IndexByte("> \t,", line[at-len(key)-1]) < 0 {
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
func sequenceLength(h *Head) (int, error) {
	n, lines, inside := 0, 0, false
	place := func(what string) error {
		return &RowError{File: h.File, Line: lines, Col: 1, What: what, Err: ErrFormat}
	}
	for b := h.Text; len(b) > 0; {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole && !h.Ended {
			return 0, place(fmt.Sprintf("the first sequence does not end within %d bytes: this is "+
				"no set of splice sites", len(h.Text)))
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
		return 0, place(fmt.Sprintf("expected a first sequence of at least %d letters, found %d",
			spliceWindow, n))
	}
	return n, nil
}
