package dataset

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/engine"
)

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// uncommented returns the line without its end and its comment, which begins the line or stands
// behind a blank.
func uncommented(line string) string {
	line = strings.TrimSuffix(line, "\r")
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

// word is a label that is no number.
var word = regexp.MustCompile(`^\p{L}[^:,#\p{Cc}]*$`)

// wordFirst reports whether the first row that has features has a word for a label.
func wordFirst(text string) bool {
	n := 0
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if n++; n > 100 {
			break
		}
		line, _, _ = strings.Cut(line, "#")
		if f := strings.Fields(line); len(f) > 1 && strings.IndexByte(f[1], ':') > 0 {
			return isWord(f[0])
		}
	}
	return false
}

func isWord(s string) bool {
	switch l := strings.ToLower(s); {
	case l == "nan" || l == "inf" || l == "infinity":
		return false
	}
	return utf8.ValidString(s) && word.MatchString(s)
}

// refRow parses an svmlight row of index base 1 in the plainest way; ok is false for a bad row.
// Labels that are words are 0.
func refRow(line string, words bool) (y float64, idx []int32, val []float64, ok bool) {
	line = uncommented(line)
	f := strings.FieldsFunc(line, isBlank)
	number := func(s string) (float64, bool) {
		v, err := strconv.ParseFloat(s, 64)
		return v, err == nil && decimal.MatchString(s)
	}
	if y, ok = number(f[0]); !ok && words && isWord(f[0]) {
		y = 0
	} else if !ok {
		return 0, nil, nil, false
	}
	last := int64(0)
	for _, pair := range f[1:] {
		a, b, colon := strings.Cut(pair, ":")
		if a == "qid" && colon && b != "" && strings.Trim(b, "0123456789") == "" {
			continue
		}
		v, good := number(b)
		if a == "" || strings.Trim(a, "0123456789") != "" || !colon || !good {
			return 0, nil, nil, false
		}
		i, err := strconv.ParseInt(a, 10, 64)
		if err != nil || i <= last || i > 1<<31-2 {
			return 0, nil, nil, false
		}
		last = i
		idx, val = append(idx, int32(i-1)), append(val, v)
	}
	return y, idx, val, true
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

// plainNumeral is how a number is written that may be the same label as another one, in up to 64
// bytes: without leading zeros, and without a fraction that ends in 0 as that of a version may, or
// as C's %e writes it.
var plainNumeral = regexp.MustCompile(
	`^[+-]?(0|[1-9]\d*)(\.(0+|\d*[1-9]))?$|^[+-]?\d(\.\d+)?[eE][+-]\d{2,5}$`)

// sameAsOne reports whether a label is 1.
func sameAsOne(label string) bool {
	v, ok := new(big.Rat).SetString(label)
	return ok && len(label) <= 64 && plainNumeral.MatchString(label) && v.Cmp(big.NewRat(1, 1)) == 0
}

func FuzzSVMLight(f *testing.F) {
	for _, s := range []string{"+1 1:1 2:0.5\n-1 3:1e3\n", "1 qid:3 1:1 # c\n\n0 x\n2:2",
		"+1 5:1 4:1\r\n-1 7:nan", "-1 2147483646:1", "1:1", "+1 1:1\r2:2\n",
		"spam 1:1\nham 2:1\n1 3:1\n",
		"01 1:1\n1.0 2:1\n1.10 3:1\n+1.0e+00 4:1\n"} {
		f.Add([]byte(s), 7)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		o := Options{Format: "svmlight", IndexBase: "1", OnError: "skip", Positive: "1", Workers: 2,
			chunk: size&63 + 1}
		s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(text), o)
		rows := ""
		if err == nil {
			rows, err = drain(s)
		}
		if err != nil && !errors.Is(err, ErrEmpty) && !errors.Is(err, ErrLabels) {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrTruncated) { // looks compressed
				t.Fatal(err)
			}
			return
		}
		if bytes.HasPrefix(text, gzipMagic) || bytes.HasPrefix(text, zstdMagic) ||
			bytes.HasPrefix(text, []byte("BZh")) {
			return
		}
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
		var want engine.Block[float64]
		want.Ptr = []int{0}
		words := wordFirst(string(text))
		for _, line := range strings.Split(string(text), "\n") {
			body := uncommented(line)
			if strings.Trim(body, " \t") == "" {
				continue
			}
			_, idx, val, ok := refRow(line, words)
			if !ok {
				continue
			}
			y := -1.0
			if sameAsOne(strings.FieldsFunc(uncommented(line), isBlank)[0]) {
				y = 1
			}
			want.Y = append(want.Y, y)
			want.Idx, want.Val = append(want.Idx, idx...), append(want.Val, val...)
			want.Ptr = append(want.Ptr, len(want.Idx))
		}
		if got := dump(&want); got != rows && !errors.Is(err, ErrEmpty) || errors.Is(err,
			ErrEmpty) && want.Len() > 0 {
			t.Errorf("%q\ngot  %s (%v)\nwant %s", text, rows, err, got)
		}
	})
}

// FuzzCSV never panics, gives blocks that pass Check, and the same for one small chunk after
// another as for the whole.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"1,2,3\n4,5,6\n", "a;b;class\n1;2;x\n3;4;y",
		"\"1\",\"a\"\"b\"\n2,?\n", ",00\x000", " 1 2\t3 \n", "1,\"", "#\n\n1\t2\n",
		"1,\"a\nb\",c\n2,\"\"\"\r\n\",d\n", "# \"x\n1,2\n\"3\n\",\"", "\"1\" \"a\nb\"\n2 c\"d\n"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		read := func(o Options) (string, string) {
			s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(text), o)
			if err != nil {
				return "", err.Error()
			}
			rows, err := drain(s)
			if err != nil {
				return rows, err.Error()
			}
			return rows, ""
		}
		for _, mode := range []string{"stop", "skip"} {
			o := Options{Format: "csv", OnError: mode, Workers: 1}
			rows, bad := read(o)
			o.chunk, o.Workers = size&63+1, 2
			if r, b := read(o); r != rows || b != bad {
				t.Errorf("%q: %q %q, in pieces %q %q", text, rows, bad, r, b)
			}
		}
	})
}

// FuzzIDX never panics, and reads no more rows than there are bytes.
func FuzzIDX(f *testing.F) {
	f.Add([]byte(images2), []byte(labels2))
	f.Add([]byte(images2[:18]), []byte(labels2))
	f.Add([]byte(labels2), []byte(images2))
	f.Add([]byte(idx(0x803, []uint32{0x7fffffff, 1, 1}, 1)), []byte(idx(0x801, []uint32{0x7fffffff},
		1)))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d, err := Load[float32](t.Context(), written(t, string(a), string(b)),
			Options{Format: "idx", Positive: "1"})
		if err != nil {
			return
		}
		verify(t, &d.Block)
		if d.Info.Rows == 0 {
			t.Error("no rows and no error")
		}
	})
}
