package dataset

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

// maxIndex is the largest feature number of a block: Dim then still is an int32.
const maxIndex = 1<<31 - 2

// bareReturn is what is wrong with a carriage return inside a line.
const bareReturn = `found a carriage return (\r) inside the line: lines end in \n or \r\n; make others \n, as tr '\r' '\n' does`

// parseSVMLight reads rows `label index:value index:value ... # comment`. A comment begins a line
// or stands behind a blank.
//
// Format: T. Joachims, SVM-light (svmlight.joachims.org); C.-C. Chang, C.-J. Lin, LIBSVM.
func (c *chunk[T]) parseSVMLight(p *parsing) {
	r := c.out
	b := c.text[:c.n+stops]
	room := len(b)/5 + 16
	idx, val := r.Idx[:cap(r.Idx)], r.Val[:cap(r.Val)]
	if m := min(len(idx), len(val)); m < room {
		idx, val = make([]int32, room), make([]T, room)
	} else {
		idx, val = idx[:m], val[:m]
	}
	n := 0 // non-zeros so far
	most, least, shift := p.most, p.least, int32(p.shift)
	lastLabel, lastCode := 0.0, int32(-1)

	for pos := 0; pos < c.n; r.lines++ {
		start := pos
		for b[pos] == ' ' || b[pos] == '\t' {
			pos++
		}
		if ch := b[pos]; ch == '\n' {
			pos++
			continue
		} else if ch == '#' || ch == '\r' && b[pos+1] == '\n' {
			pos = c.nextLine(pos)
			continue
		}

		// The label.
		var code int32
		y, end, st := parseNumber[float64](b, pos)
		switch ch := b[end]; {
		case st == numOK && ch <= ' ' && end-pos <= longLabel:
			if y == lastLabel && lastCode >= 0 {
				code = lastCode
			} else {
				var ok bool
				if code, ok = r.labels.findNum(y); !ok {
					code = c.addLabel(label{text: string(b[pos:end]), num: y + 0, numeric: true}, start, pos)
				}
				lastLabel, lastCode = y, code
			}
			pos = end
		case p.optional && strings.IndexByte(c.token(pos, 0), ':') >= 0:
			code = c.noLabel(start, pos)
		default:
			what := fmt.Sprintf("expected a label (a number), found %q", c.token(pos, 0))
			if end-pos > longLabel {
				what = tooLongLabel
			} else if st == numRange {
				what = fmt.Sprintf("label %s is too large", c.token(pos, 0))
			}
			if !c.badRow(p, start, pos, what) {
				goto out
			}
			pos = c.nextLine(pos)
			continue
		}

		{
			row := n // where the row's non-zeros begin
			next := least
			sum := 0.0
			if p.bias != 0 {
				if n == len(idx) {
					idx, val = grown(idx), grown(val)
				}
				idx[n], val[n] = 0, T(p.one)
				sum = float64(float64(val[n]) * float64(val[n]))
				n++
			}
			bad := ""
			var at int // where it goes wrong
			for {
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
						pos = c.nextLine(pos)
						break
					}
					if ch == 'q' {
						if end := qid(b, pos); end > 0 {
							pos = end
							continue
						}
					}
					bad, at = fmt.Sprintf("expected INDEX:VALUE, found %q", c.token(pos, 0)), pos
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
				if x < next || x > most || colon-tok > 18 { // 18 digits can't overflow x
					if bad = badIndex(string(b[tok:colon]), next, least, most, p.zeroHint); bad != "" {
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
				n, lastCode = row, -1
				if !c.badRow(p, start, at, bad) {
					goto out
				}
				pos = c.nextLine(at)
				continue
			}
			if first := row + p.bias; first < n && idx[first] == shift {
				r.zero = true // an index 0: it can only be the first
			}
			if sum > r.maxSq {
				r.maxSq = sum
			}
			if p.unit {
				toUnit(val[row:n], sum)
			} else if p.scale != 0 {
				divide(val[row:n], p.scale)
			}
			r.n++
			r.Ptr = append(r.Ptr, n)
			r.code = append(r.code, code)
		}
	}
out:
	r.Idx, r.Val = idx[:n], val[:n]
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
func (c *chunk[T]) badValue(tok, off int, st numStatus) string {
	before := c.text[tok:off]
	t := c.token(off, 0)
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

// isNotFinite tells the usual spellings of NaN and infinity.
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

// WriteSVMLight writes the examples of b as svmlight text, indices from 1, values by their shortest exact decimals; zeros are left
// out. The labels are written as m's texts, or -1 and +1 where m is zero.
func WriteSVMLight[T engine.Float](w io.Writer, b *engine.Block[T], m LabelMap) error {
	if m == (LabelMap{}) {
		m = LabelMap{Negative: "-1", Positive: "+1"}
	}
	if m.Negative == "" || m.Positive == "" {
		return fmt.Errorf("svmlight: labels %q and %q: both need a text: %w", m.Negative, m.Positive, ErrLabels)
	}
	var v T
	size := int(unsafe.Sizeof(v)) * 8
	out := bufio.NewWriterSize(w, 1<<16)
	var buf []byte
	put := func(i int, v T) {
		buf = append(buf, ' ')
		buf = strconv.AppendInt(buf, int64(i)+1, 10)
		buf = append(buf, ':')
		buf = strconv.AppendFloat(buf, float64(v), 'g', -1, size)
	}
	for i, y := range b.Y {
		buf = append(buf[:0], m.Positive...)
		if y < 0 {
			buf = append(buf[:0], m.Negative...)
		}
		if b.Dense() {
			for j, v := range b.Row(i) {
				if v != 0 {
					put(j, v)
				}
			}
		} else {
			idx, val := b.Sparse(i)
			for k, j := range idx {
				if val[k] != 0 {
					put(int(j), val[k])
				}
			}
		}
		buf = append(buf, '\n')
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Flush()
}
