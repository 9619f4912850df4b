package format

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonDepth is how deep objects and arrays may lie in each other.
const jsonDepth = 64

// jsonText reads the parts of one line of JSON (RFC 8259). b ends with a line end, which ends every
// scan.
type jsonText struct{ cursor }

// token is the text at p for an error.
func (z *jsonText) token(p int) string {
	n := p
	for n < len(z.b) && z.b[n] != '\n' && n < p+24 && (n == p || z.b[n] > ' ' && z.b[n] != ',' &&
		z.b[n] != '}' && z.b[n] != ']') {
		n++
	}
	if n == p {
		return "the end of the line"
	}
	return fmt.Sprintf("%q", z.b[p:n])
}

// blank returns the place of the next byte that is no blank.
func (z *jsonText) blank(p int) int {
	for z.b[p] == ' ' || z.b[p] == '\t' || z.b[p] == '\r' && z.b[p+1] != '\n' {
		p++
	}
	return p
}

// text appends the text of the string whose quote is at p, and returns the place behind it.
func (z *jsonText) text(to []byte, p int) ([]byte, int) {
	start := p
	p++
	for from := p; ; {
		switch ch := z.b[p]; {
		case ch == '"':
			return append(to, z.b[from:p]...), p + 1
		case ch == '\\':
			to = append(to, z.b[from:p]...)
			if to, p = z.escape(to, p); p < 0 {
				return to, -1
			}
			from = p
		case ch == '\n':
			return to, z.fail(start, "the text is not closed on its line")
		case ch < ' ':
			return to, z.fail(p, "found the byte %#02x in a text: write \\u%04x", ch, ch)
		case ch < utf8.RuneSelf:
			p++
		default:
			r, n := utf8.DecodeRune(z.b[p:])
			if r == utf8.RuneError && n == 1 {
				return to, z.fail(p, "found the byte %#02x, which is not UTF-8, in a text: "+
					"convert the file, as with iconv -f LATIN1 -t UTF-8", ch)
			}
			p += n
		}
	}
}

// escape appends what the escape at p stands for, and returns the place behind it.
func (z *jsonText) escape(to []byte, p int) ([]byte, int) {
	switch ch := z.b[p+1]; ch {
	case '"', '\\', '/':
		return append(to, ch), p + 2
	case 'b':
		return append(to, '\b'), p + 2
	case 'f':
		return append(to, '\f'), p + 2
	case 'n':
		return append(to, '\n'), p + 2
	case 'r':
		return append(to, '\r'), p + 2
	case 't':
		return append(to, '\t'), p + 2
	case 'u':
		r, ok := z.hex(p + 2)
		end := p + 6
		if ok && utf16.IsSurrogate(r) {
			low := rune(0)
			if ok = z.b[end] == '\\' && z.b[end+1] == 'u'; ok {
				low, ok = z.hex(end + 2)
				r = utf16.DecodeRune(r, low)
				ok, end = ok && r != utf8.RuneError, end+6
			}
		}
		if !ok {
			return to, z.fail(p, "expected \\u and four digits that are a character, found %s",
				z.token(p))
		}
		return utf8.AppendRune(to, r), end
	}
	return to, z.fail(p, "expected an escape of JSON, found %s", z.token(p))
}

// hex is the number of four digits at p.
func (z *jsonText) hex(p int) (r rune, ok bool) {
	for i := range 4 {
		d := rune(z.b[p+i])
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			d = d | 0x20 - 'a' + 10
		default: // a line end, too, so that nothing behind it is looked at
			return 0, false
		}
		r = r<<4 | d
	}
	return r, true
}

// plainNumber reports whether the number at b[p:end], which parseNumber found good, is one of JSON:
// that has no +, no zeros before others, and digits on both sides of the point.
func (z *jsonText) plainNumber(p, end int) bool {
	b := z.b
	if b[p] == '-' {
		p++
	}
	if b[p]-'0' > 9 || b[p] == '0' && b[p+1]-'0' <= 9 {
		return false
	}
	for p < end && b[p] != '.' {
		p++
	}
	return p == end || b[p+1]-'0' <= 9
}

// word returns the place behind true, false or null at p, -1 if it is none of them.
func (z *jsonText) word(p int) int {
	for _, w := range []string{"true", "false", "null"} {
		end := p + len(w)
		if end < len(z.b) && string(z.b[p:end]) == w {
			return end
		}
	}
	return -1
}

// jsonKind is what a value is.
type jsonKind byte

const (
	jsonPlain  jsonKind = iota // a number, true, false or null
	jsonWord                   // a text
	jsonObject                 // whose keys are not all numbers, or whose values are not all plain
	jsonArray                  // not of numbers alone
	jsonSparse                 // an object whose keys are numbers: features
	jsonDense                  // an array of numbers
)

// jsonKey is a key of a row with what its value is.
type jsonKey struct {
	name string
	kind jsonKind
}

// keys lists the keys of the row that begins at p; ok is false for a bad row.
func (z *jsonText) keys(p int) (keys []jsonKey, ok bool) {
	if p = z.blank(p); z.b[p] != '{' {
		return nil, false
	}
	_, end := z.shape(p, 1, &keys)
	return keys, end >= 0
}

// shape returns what the value at p is, and the place behind it, -1 if it is bad. Where keys is not
// nil it adds those of the object.
func (z *jsonText) shape(p, depth int, keys *[]jsonKey) (kind jsonKind, end int) {
	if depth > jsonDepth {
		return 0, z.fail(p, "deeper than %d objects and arrays in each other", jsonDepth)
	}
	switch z.b[p] {
	case '{', '[':
		return z.shapeOf(p, depth, keys)
	case '"':
		_, end = z.text(nil, p)
		return jsonWord, end
	}
	if end = z.word(p); end >= 0 {
		return jsonPlain, end
	}
	_, end, st := parseNumber[float64](z.b, p)
	if st == numSyntax || !z.plainNumber(p, end) {
		return 0, z.fail(p, "expected a value, found %s", z.token(p))
	}
	return jsonPlain, end
}

// shapeOf is shape of an object or array.
func (z *jsonText) shapeOf(p, depth int, keys *[]jsonKey) (kind jsonKind, end int) {
	closing, object := byte(']'), z.b[p] == '{'
	kind, other := jsonDense, jsonArray
	if object {
		closing, kind, other = '}', jsonSparse, jsonObject
	}
	p = z.blank(p + 1)
	for first := true; z.b[p] != closing; first = false {
		if !first {
			if z.b[p] != ',' {
				return 0, z.fail(p, "expected a comma or %q, found %s", closing, z.token(p))
			}
			p = z.blank(p + 1)
		}
		var name []byte
		if object {
			if z.b[p] != '"' {
				return 0, z.fail(p, "expected a key in quotes, found %s", z.token(p))
			}
			if name, p = z.text(nil, p); p < 0 {
				return 0, -1
			}
			if p = z.blank(p); z.b[p] != ':' {
				return 0, z.fail(p, "expected a colon behind the key, found %s", z.token(p))
			}
			p = z.blank(p + 1)
			if !allDigits(name) {
				kind = other
			}
		}
		begin := z.b[p]
		inner, end := z.shape(p, depth+1, nil)
		if end < 0 {
			return 0, -1
		}
		if inner != jsonPlain || !object && begin != '-' && begin-'0' > 9 {
			kind = other
		}
		if keys != nil {
			*keys = append(*keys, jsonKey{string(name), inner})
		}
		p = z.blank(end)
	}
	return kind, p + 1
}

// allDigits reports whether a name is a number of a feature.
func allDigits(name []byte) bool {
	for _, ch := range name {
		if ch-'0' > 9 {
			return false
		}
	}
	return len(name) > 0 && len(name) <= 18
}
