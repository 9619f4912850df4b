package format

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

// maxIndex is the largest feature number of a block: Dim then still is an int32.
const maxIndex = 1<<31 - 2

// SVMLight is text of rows `label index:value index:value ...`. Labels are numbers, or words where
// the first row has one or a label that options name is one: elsewhere a word is a bad row.
var SVMLight = &Format{
	Name: "svmlight", Cut: "\n", Indexed: true,
	Options: []Option{
		{"IndexBase", "index of the first feature, if features have indices"},
		{"Base", "svmlight: number of the first feature in training"},
	},
	Sniff: sniffSVMLight, Enough: pairsBegin, Layout: headSVMLight,
	Parse32: parseSVMLight[float32], Parse64: parseSVMLight[float64],
}

// sniffSVMLight goes by the first pair with a colon. Nothing speaks against labels alone: rows
// without features.
func sniffSVMLight(h *Head) int {
	at, pairs := pairsOrColumns(h)
	switch {
	case at == 0:
		return Maybe
	case pairs:
		return at
	}
	return No
}

// pairsBegin reports whether there are two lines, or one that can be no header.
func pairsBegin(h *Head) bool {
	lines := h.Lines(2)
	if len(lines) != 1 {
		return len(lines) == 2
	}
	first, second := words(lines[0])
	return bytes.IndexByte(first, ':') > 0 || bytes.IndexByte(second, ':') > 0
}

// indexed is how the features of svmlight files are numbered.
type indexed struct {
	shift    int64  // feature = index + shift
	least    uint64 // smallest index allowed in a row
	most     uint64 // largest index allowed
	zeroHint string // what to say of an index 0 that is not allowed
	words    bool   // labels may be words
}

// headSVMLight decides the index base, as far as the head shows it. Further files have the first
// one's.
func headSVMLight(h *Head, o *Options, first *Layout) (*Layout, error) {
	if first != nil {
		return first, nil
	}
	x, l := &indexed{words: h.wordFirst()}, &Layout{}
	if at, _ := pairsOrColumns(h); at == 0 && o.Trained == "" {
		l.Odd = []string{"the first rows have no features, only labels: is this a file of " +
			"labels, or one column of a table?"}
	}
	l.Own = x
	h.base(o, l, x, func() bool { return h.hasZero(o) })
	return l, nil
}

// wordFirst reports whether the first row that has features has a word for a label.
func (h *Head) wordFirst() bool {
	for _, l := range h.Lines(100) {
		t, _, _ := bytes.Cut(l, []byte{'#'})
		if first, second := words(t); bytes.IndexByte(second, ':') > 0 {
			return plainWord(first)
		}
	}
	return false
}

// plainWord reports whether a label may be that text: a word that begins with a letter and has no
// colon, comma or # in it, and is none of the spellings of NaN and infinity.
func plainWord(t []byte) bool {
	if len(t) == 0 || len(t) > LongLabel || !utf8.Valid(t) || bytes.ContainsAny(t, ":,#") ||
		isNotFinite(string(t)) {
		return false
	}
	r, _ := utf8.DecodeRune(t)
	return unicode.IsLetter(r) && bytes.IndexFunc(t, unicode.IsControl) < 0
}

// hasZero reports whether a good row of svmlight within the first h.Most bytes, all that a stream
// may decide by, has an index 0.
func (h *Head) hasZero(o *Options) bool {
	if !mayHaveZero(h.Text[:min(len(h.Text), h.Most)]) { // as a rule: it is quick
		return false
	}
	l := &Layout{Own: &indexed{shift: -1, most: maxIndex - uint64(o.Bias)}}
	if o.Single {
		return zeroIn(h, l, o, parseSVMLight[float32])
	}
	return zeroIn(h, l, o, parseSVMLight[float64])
}

// mayHaveZero reports quickly whether some row of the head could have an index 0: whether its first
// pair, as indices ascend, begins with a 0, or stands where only a parser finds it.
func mayHaveZero(head []byte) bool {
	for len(head) > 0 {
		line := head
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			line, head = head[:i], head[i+1:]
		} else {
			head = nil
		}
		line = afterBlanks(line)
		i := 0
		for i < len(line) && line[i] > ' ' {
			i++
		}
		label := line[:i]
		line = afterBlanks(line[i:])
		if len(line) > 0 && (line[0] == '0' || line[0] == 'q') || // qid:N may stand before it
			len(label) > 0 && label[0] == '0' && bytes.IndexByte(label, ':') > 0 {
			return true
		}
	}
	return false
}

// afterBlanks returns text without the blanks that it begins with.
func afterBlanks(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	return text
}

// plainLabel is a label that rows have had, with the byte that ends it, as it stands in a word.
type plainLabel struct {
	mask, text uint64
	n          int // bytes without the one that ends it
	code       int32
}

// noLabel is none: no word has a bit outside its mask.
var noLabel = plainLabel{text: 1}

// parseSVMLight reads rows `label index:value index:value ... # comment`. A comment begins a line
// or stands behind a blank.
//
// Format: T. Joachims, SVM-light (svmlight.joachims.org); C.-C. Chang, C.-J. Lin, LIBSVM.
func parseSVMLight[T engine.Float](c *Chunk[T], p *Settings) {
	ix := c.Layout.Own.(*indexed)
	r := c.Out
	b := c.Text[:c.N+Stops]
	// A pair with the blank before it takes 4 bytes at least, " 1:1", and 5 or more as a rule: so
	// there is room for nearly all chunks at once, and grown makes more for the rest.
	room := len(b)/5 + 16
	idx, val := r.Idx[:cap(r.Idx)], r.Val[:cap(r.Val)]
	if m := min(len(idx), len(val)); m < room {
		idx, val = make([]int32, room), make([]T, room)
	} else {
		idx, val = idx[:m], val[:m]
	}
	n := 0 // non-zeros so far
	most, least, shift := ix.most, ix.least, int32(ix.shift)
	label, other := noLabel, noLabel // of the rows before
	words := len(b) - wordRoom       // up to here b may be read by words

	for pos := 0; pos < c.N; r.Lines++ {
		start := pos
		for b[pos] == ' ' || b[pos] == '\t' {
			pos++
		}
		if ch := b[pos]; ch == '\n' {
			pos++
			continue
		} else if ch == '#' || ch == '\r' && b[pos+1] == '\n' {
			pos = c.NextLine(pos)
			continue
		}

		code, end := int32(0), 0 // of the label
		if pos <= words {
			if w := word(b, pos); w&label.mask == label.text {
				code, end = label.code, pos+label.n
			} else if w&other.mask == other.text {
				code, end = other.code, pos+other.n
			}
		}
		if end == 0 {
			var bad string
			if code, end, bad = c.rowLabel(p, start, pos); bad != "" {
				if !c.Bad(p, start, pos, bad) {
					goto out
				}
				pos = c.NextLine(pos)
				continue
			}
			if n := end - pos; n > 0 && n < 8 && pos <= words {
				mask := uint64(1)<<(8*n+8) - 1
				label, other = plainLabel{mask, word(b, pos) & mask, n, code}, label
			}
		}
		if pos = end; b[pos] == ' ' {
			pos++
		}

		{
			row := n // where the row's non-zeros begin
			next := least
			sum := 0.0
			if p.Bias != 0 {
				if n == len(idx) {
					idx, val = grown(idx), grown(val)
				}
				idx[n], val[n] = 0, T(p.One)
				sum = float64(float64(val[n]) * float64(val[n]))
				n++
			}
			bad := ""
			var at int // where it goes wrong
			for {
				// Plain pairs, with one blank behind each: an index below 10^7, which is never too
				// large, and a number of at most seven digits before the point and eight behind it.
				// There is no call in this loop: what it takes stays in registers. Indices of two
				// and of three digits are looked for first, all bytes at once: ^ makes digits 0 to
				// 9 and the colon 0, and digits stay below 16 when 6 is added.
				for pos >= 0 && pos <= words && uint(n) < uint(len(idx)) &&
					uint(n) < uint(len(val)) {
					w := word(b, pos)
					var x uint64
					at := pos // of the value
					if d := uint32(w) ^ ':'<<16 ^ '0'<<8 ^ '0'; (d+0x0606|d)&0xfff0f0 == 0 {
						x = uint64(d&0xff*10 + d>>8&0xff)
						at = pos + 3
					} else if d := uint32(w) ^ ':'<<24 ^ '0'<<16 ^ '0'<<8 ^ '0'; (d+0x060606|
						d)&0xfff0f0f0 == 0 {
						x = uint64(d&0xff*100 + d>>8&0xff*10 + d>>16)
						at = pos + 4
					} else if byte(w) <= ' ' {
						break
					} else {
						d := w ^ each*'0'
						k := uint(bits.TrailingZeros64(noDigits(d))) &^ 7 // bits of the index
						if uint(k-1) >= 63 || byte(w>>(k&63)) != ':' {
							break
						}
						x = number8(d << ((64 - k) & 63))
						at = pos + int(k>>3) + 1
					}
					if x < next {
						break
					}
					w = word(b, at)
					digit := uint32(uint16(w)) - ' '<<8 - '0'
					v, end := T(int32(digit)), at+2
					if digit > 9 {
						neg := byte(w) == '-'
						if neg {
							at++
							w = word(b, at)
						}
						d := w ^ each*'0'
						k := uint(bits.TrailingZeros64(noDigits(d))) &^ 7 // bits of the digits
						if k == 64 {
							break
						}
						mant := number8(d << (64 - k))
						end = at + int(k>>3)
						behind := byte(w >> (k & 63))
						v = T(int32(mant))
						if behind == '.' {
							d := word(b, end+1) ^ each*'0'
							places := uint(bits.TrailingZeros64(noDigits(d))) >> 3
							k += places
							end += 1 + int(places)
							behind = b[end]
							mant = mant*pow10u64[places] + number8(d<<(64-8*places))
							f := float64(int64(mant)) / pow10f64[places] // as float64Of
							if unsafe.Sizeof(v) == 4 && between32(f) {
								break
							}
							v = T(f)
						}
						if neg {
							v = -v
						}
						if k == 0 || behind != ' ' && behind != '\n' {
							break
						}
						if behind == ' ' {
							end++
						}
					}
					idx[n], val[n] = int32(x)+shift, v
					n++
					next = x + 1
					sum += float64(float64(v) * float64(v))
					pos = end
				}

				ch := b[pos]
				for ch == ' ' || ch == '\t' {
					pos++
					ch = b[pos]
				}
				tok := pos
				x := uint64(ch - '0')
				if x > 9 {
					if ch == '\n' {
						pos++
						break
					}
					if ch == '#' || ch == '\r' && b[pos+1] == '\n' {
						pos = c.NextLine(pos)
						break
					}
					if ch == 'q' {
						if end := qid(b, pos); end > 0 {
							pos = end
							continue
						}
					}
					bad, at = fmt.Sprintf("expected INDEX:VALUE, found %q", c.Token(pos, 0)), pos
					if ch == '\r' {
						bad = bareReturn
					}
					break
				}
				pos++
				for d := b[pos] - '0'; d <= 9; d = b[pos] - '0' {
					x = x*10 + uint64(d)
					pos++
				}
				if b[pos] != ':' {
					bad, at = fmt.Sprintf("expected \":\" and a value after %q", b[tok:pos]), pos
					break
				}
				colon := pos
				pos++
				var v T
				if d := b[pos] - '0'; d <= 9 && (b[pos+1] == ' ' || b[pos+1] == '\n') {
					v = T(d)
					pos++
				} else {
					var st numStatus
					vpos := pos
					v, pos, st = parseNumber[T](b, pos)
					if st != numOK || b[pos] > ' ' {
						bad, at = c.badValue(tok, vpos, st), vpos
						break
					}
				}
				// 18 digits can't overflow x; more may be leading zeros, which badIndex looks at
				if x < next || x > most || colon-tok > 18 {
					text := string(b[tok:colon])
					if bad = badIndex(text, next, least, most, ix.zeroHint); bad != "" {
						at = tok
						break
					}
				}
				next = x + 1
				if n == len(idx) {
					idx, val = grown(idx), grown(val)
				}
				idx[n], val[n] = int32(x)+shift, v
				n++
				sum += float64(float64(v) * float64(v))
			}
			if bad != "" {
				n, label, other = row, noLabel, noLabel
				if !c.Bad(p, start, at, bad) {
					goto out
				}
				pos = c.NextLine(at)
				continue
			}
			if first := row + p.Bias; first < n && idx[first] == shift {
				r.Zero = true // an index 0: it can only be the first
			}
			if sum > r.MaxSq {
				r.MaxSq = sum
			}
			if p.Unit {
				ToUnit(val[row:n], sum)
			} else if p.Scale != 0 {
				Divide(val[row:n], p.Scale)
			}
			r.count(p)
			r.Ptr = append(r.Ptr, n)
			r.Code = append(r.Code, code)
		}
	}
out:
	r.Idx, r.Val = idx[:n], val[:n]
}

// rowLabel reads the label at pos of the row that begins at start, and returns its number and the
// place behind it. It is bad if what is wrong with it is not "".
func (c *Chunk[T]) rowLabel(s *Settings, start, pos int) (code int32, end int, bad string) {
	b, r := c.Text[:c.N+Stops], c.Out
	_, end, st := parseNumber[float64](b, pos)
	rest := pos
	for rest < c.N && b[rest] > ' ' {
		rest++
	}
	word := b[pos:rest]
	switch {
	case st == numOK && end == rest:
		code, bad = c.Label(s, word, start, pos)
		return code, rest, bad
	case s.Optional && bytes.IndexByte(word, ':') >= 0:
		return c.NoLabel(start, pos), pos, ""
	case s.Optional && r.missing(word, false):
		return c.NoLabel(start, pos), rest, ""
	case end-pos > LongLabel:
		return 0, pos, TooLongLabel
	case st == numRange:
		return 0, pos, fmt.Sprintf("label %s is too large", c.Token(pos, 0))
	}
	if c.takesWords(s) {
		if plainWord(word) {
			code, bad = c.Label(s, word, start, pos)
			return code, rest, bad
		}
		if len(word) > LongLabel {
			return 0, pos, TooLongLabel
		}
		return 0, pos, fmt.Sprintf("expected a label (a number or a word), found %q",
			c.Token(pos, 0))
	}
	return 0, pos, fmt.Sprintf("expected a label (a number), found %q", c.Token(pos, 0))
}

// takesWords reports whether labels may be words.
func (c *Chunk[T]) takesWords(s *Settings) bool {
	return c.Layout.Own.(*indexed).words ||
		slices.ContainsFunc(s.Known, func(l Label) bool { return !l.Numeric && !l.Missing })
}

// grown returns s with twice the length.
func grown[E any](s []E) []E {
	g := make([]E, 2*len(s))
	copy(g, s)
	return g
}

// qid returns the place behind the ranking pair qid:N at b[p], or 0.
func qid(b []byte, p int) int {
	if p+5 > len(b) || string(b[p:p+4]) != "qid:" {
		return 0
	}
	end := p + 4
	for b[end]-'0' <= 9 {
		end++
	}
	if end == p+4 || b[end] > ' ' {
		return 0
	}
	return end
}

// badValue says what is wrong with the value at off, behind the index at tok.
func (c *Chunk[T]) badValue(tok, off int, st numStatus) string {
	before := c.Text[tok:off]
	t := c.Token(off, 0)
	switch {
	case t == "":
		return fmt.Sprintf("expected a value after %q", before)
	case isNotFinite(t):
		return fmt.Sprintf("expected a finite number after %q, found %q", before, t)
	case st == numRange:
		return tooLarge[T](t)
	}
	return fmt.Sprintf("expected a number after %q, found %q", before, t)
}

// tooLarge says that number t does not fit the element type.
func tooLarge[T engine.Float](t string) string {
	var v T
	return fmt.Sprintf("%s is too large for a float%d", t, 8*unsafe.Sizeof(v))
}

// isNotFinite recognises the usual spellings of NaN and infinity.
func isNotFinite(t string) bool {
	t = strings.ToLower(strings.TrimLeft(t, "+-"))
	switch t {
	case "nan", "inf", "infinity":
		return true
	}
	// 1.#INF, 1.#QNAN, 1.#IND00 and the like, as Microsoft's libraries wrote them
	return strings.HasPrefix(t, "1.#")
}

// badIndex says what is wrong with index s, "" if nothing: a long number may have leading zeros.
func badIndex(s string, next, least, most uint64, zeroHint string) string {
	x, err := strconv.ParseUint(s, 10, 64)
	switch {
	case err != nil || x > most:
		return fmt.Sprintf("index %s is above %d, the largest there may be", s, most)
	case x < least:
		return zeroHint
	case x+1 == next:
		return fmt.Sprintf("index %d comes twice in the row", x)
	case x < next:
		return fmt.Sprintf("index %d after %d: indices must ascend", x, next-1)
	}
	return ""
}
