package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// loaded returns the rows of a text, with the names of features.
func loaded(text string, o Options) (string, Info, error) {
	d, err := LoadReader[float64](context.Background(), "in", strings.NewReader(text), o)
	if err != nil {
		return "", Info{}, err
	}
	return dump(&d.Block), d.Info, nil
}

func TestNDJSON(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		o          Options
		want, kind string
		names      string
	}{
		{"numbers", `{"y":1,"x":{"3":0.5,"1":2}}` + "\n" + `{"y":-1,"x":{}}` + "\n", Options{},
			"+1 0:2 2:0.5|-1|", "svmlight", ""},
		{"numbers in the row itself", `{"1":7,"label":1,"4":-1e-1}` + "\n" + `{"label":-1}`,
			Options{}, "+1 0:7 3:-0.1|-1|", "svmlight", ""},
		{"base 0 found late", `{"y":1,"x":{"1":1}}` + "\n" + `{"y":0,"x":{"0":3}}`, Options{},
			"+1 1:1|-1 0:3|", "svmlight", ""},
		{"an array", `{"class":"b","x":[1,0,-2.5]}` + "\n" + `{"class":"a","x":[0,4]}`, Options{},
			"+1 0:1 2:-2.5|-1 1:4|", "svmlight", ""},
		{"an array with a bias", `{"y":1,"x":[3]}` + "\n" + `{"y":0,"x":[]}`,
			Options{Bias: "append"}, "+1 0:1 1:3|-1 0:1|", "svmlight", ""},
		{"names", `{"label": 1, "a": 3, "b": "text", "c": true, "d": null, "e": false}` + "\n\r\n" +
			`{"b": "other", "label": 0, "a": -1}`, Options{}, "+1 0:3 1:1 2:1|-1 0:-1 3:1|",
			"ndjson", "[a b=text c b=other]"},
		{"names are sorted by number", `{"y":1,"a":1,"b":2}` + "\n" + `{"y":0,"b":3,"c":5,"a":4}`,
			Options{}, "+1 0:1 1:2|-1 0:4 1:3 2:5|", "ndjson", "[a b c]"},
		{"objects in objects", `{"y":1,"u":{"age":3,"at":{"zip":"x"}},"n":[5,true,{"k":1}]}` + "\n" +
			`{"y":0}`, Options{}, "+1 0:3 1:1 2:5 3:1 4:1|-1|", "ndjson",
			"[u.age u.at.zip=x n.1 n.2 n.3.k]"},
		{"words of a text", `{"y":1,"w":["a","b","a"]}` + "\n" + `{"y":0,"w":[]}`, Options{},
			"+1 0:2 1:1|-1|", "ndjson", "[w=a w=b]"},
		{"escapes", `{"y":1,"\u0061\n\ud83d\ude00":"\"\\"}` + "\n" + `{"y":0}`, Options{},
			"+1 0:1|-1|", "ndjson", "[a\n😀=\"\\]"},
		{"names of training", `{"y":1,"new":1,"b":2,"other":3,"a":4}` + "\n" + `{"y":-1,"third":1}`,
			Options{Names: []string{"a", "b"}, FixedNames: true, Dim: 2},
			"+1 0:4 1:2 2:1 3:3|-1 2:1|", "ndjson", "[a b]"},
		{"a name that looks like a number", `{"y":1,"7":1}` + "\n" + `{"y":0}`,
			Options{Trained: "ndjson"}, "+1 0:1|-1|", "ndjson", "[7]"},
		{"hashed", `{"y":1,"7":1,"4":1,"12":3}` + "\n" + `{"y":0}`, Options{HashBits: 3},
			"+1 4:4 7:1|-1|", "ndjson", ""},
		{"unit", `{"y":1,"b":3,"a":4}` + "\n" + `{"y":0,"a":1,"b":0}`, Options{Normalize: "unit"},
			"+1 0:0.6 1:0.8|-1 0:0 1:1|", "ndjson", "[b a]"},
		{"labels that are texts and more", `{"y":true,"a":1}` + "\n" + `{"a":2,"y":false}`,
			Options{}, "+1 0:1|-1 0:2|", "ndjson", "[a]"},
		{"no label, to be predicted", `{"a":1}` + "\n" + `{"a":2,"y":null}`,
			Options{LabelsOptional: true, Labels: &LabelMap{"-1", "1"}}, "+1 0:1|+1 0:2|", "ndjson",
			"[a]"},
		{"label by name", `{"a":1,"Out":"x"}` + "\n" + `{"a":2,"Out":"w"}`, Options{LabelCol: "out"},
			"+1 0:1|-1 0:2|", "ndjson", "[a]"},
		{"blanks", " { \"y\" : 1 , \"a\"\t: [ 1 , 2 ] } \r\n{\"y\":0}", Options{}, "+1 0:1 1:2|-1|",
			"svmlight", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, info, err := loaded(tc.text, tc.o)
			if err != nil || rows != tc.want || info.Kind != tc.kind || info.Format != "ndjson" ||
				tc.names != "" && fmt.Sprint(info.Names) != tc.names {
				t.Errorf("%q, %s, %q, %v", rows, info.Kind, info.Names, err)
			}
		})
	}
}

func TestBrokenNDJSON(t *testing.T) {
	const good = `{"y":1,"a":1}` + "\n"
	const number = `{"y":1,"x":{"1":1}}` + "\n"
	for _, tc := range []struct {
		name, text string
		o          Options
		want       string
		err        error
	}{
		{"no label's key", `{"a":1}`, Options{}, `in:1:1: no key label, class, target or y: name the label's by Options.LabelCol in "{\"a\":1}"`, ErrFormat},
		{"no label", good + `{"a":1}`, Options{}, `in:2:1: the row has no label: no key "y" in "{\"a\":1}"`, ErrBadRow},
		{"label twice", good + `{"y":1,"y":0}`, Options{}, `in:2:8: the label "y" comes twice in the row in "{\"y\":1,\"y\":0}"`, ErrBadRow},
		{"label null", good + `{"y":null}`, Options{}, `in:2:6: the label is missing in "{\"y\":null}"`, ErrBadRow},
		{"label an object", good + `{"y":{}}`, Options{}, `in:2:6: expected a label (a number, a text, true or false), found "{" in "{\"y\":{}}"`, ErrBadRow},
		{"label too large", good + `{"y":1e999}`, Options{}, `in:2:6: label 1e999 is too large in "{\"y\":1e999}"`, ErrBadRow},
		{"feature twice", good + `{"y":0,"a":1,"a":2}`, Options{}, `in:2:14: the feature "a" comes twice in the row in "{\"y\":0,\"a\":1,\"a\":2}"`, ErrBadRow},
		{"key twice", good + `{"y":0,"b":null,"b":{}}`, Options{}, `in:2:1: a key comes twice in the object in "{\"y\":0,\"b\":null,\"b\":{}}"`, ErrBadRow},
		{"null for a number", number + `{"y":0,"x":{"1":null}}`, Options{}, `in:2:17: expected a number, found "null" in "{\"y\":0,\"x\":{\"1\":null}}"`, ErrBadRow},
		{"number twice", number + `{"y":0,"x":{"1":1,"01":2}}`, Options{}, `in:2:1: a feature comes twice in the row in "{\"y\":0,\"x\":{\"1\":1,\"01\":2}}"`, ErrBadRow},
		{"too large", good + `{"y":0,"a":1e400}`, Options{}, `in:2:12: 1e400 is too large for a float64 in "{\"y\":0,\"a\":1e400}"`, ErrBadRow},
		{"NaN", good + `{"y":0,"a":NaN}`, Options{}, `in:2:12: expected a number, found "NaN" in "{\"y\":0,\"a\":NaN}"`, ErrBadRow},
		{"plus", good + `{"y":0,"a":+1}`, Options{}, `in:2:12: expected a number, found "+1" in "{\"y\":0,\"a\":+1}"`, ErrBadRow},
		{"zeros before", good + `{"y":0,"a":01}`, Options{}, `in:2:12: expected a number, found "01" in "{\"y\":0,\"a\":01}"`, ErrBadRow},
		{"no digit behind the point", good + `{"y":0,"a":1.}`, Options{}, `in:2:12: expected a number, found "1." in "{\"y\":0,\"a\":1.}"`, ErrBadRow},
		{"text not closed", good + `{"y":0,"a":"b`, Options{}, `in:2:12: the text is not closed on its line in "{\"y\":0,\"a\":\"b"`, ErrBadRow},
		{"broken UTF-8", good + "{\"y\":0,\"a\":\"\xff\"}", Options{}, `in:2:13: found the byte 0xff, which is not UTF-8, in a text: convert the file, as with iconv -f LATIN1 -t UTF-8 in "{\"y\":0,\"a\":\"\xff\"}"`, ErrBadRow},
		{"half a surrogate", good + `{"y":0,"a":"\ud800x"}`, Options{}, `in:2:13: expected \u and four digits that are a character, found "\\ud800x\"" in "{\"y\":0,\"a\":\"\\ud800x\"}"`, ErrBadRow},
		{"no escape", good + `{"y":0,"a":"\x"}`, Options{}, `in:2:13: expected an escape of JSON, found "\\x\"" in "{\"y\":0,\"a\":\"\\x\"}"`, ErrBadRow},
		{"a tab in a text", good + "{\"y\":0,\"a\":\"\t\"}", Options{}, `in:2:13: found the byte 0x09 in a text: write \u0009 in "{\"y\":0,\"a\":\"\t\"}"`, ErrBadRow},
		{"no object", good + `[1]`, Options{}, `in:2:1: expected an object, which begins with {, found "[1" in "[1]"`, ErrBadRow},
		{"truncated", good + `{"y":0,"a":`, Options{}, `in:2:12: expected a number, found the end of the line in "{\"y\":0,\"a\":"`, ErrBadRow},
		{"two objects", good + `{"y":0} {"y":1}`, Options{}, `in:2:9: expected the end of the line behind the object, found "{\"y\":1" in "{\"y\":0} {\"y\":1}"`, ErrBadRow},
		{"several lines", "{\n  \"y\": 0\n}\n", Options{}, `in:1:2: expected a key in quotes, found the end of the line: an object is one line, as jq -c . writes it in "{"`, ErrBadRow},
		{"a comma too many", good + `{"y":0,}`, Options{}, `in:2:8: expected a key in quotes, found "}" in "{\"y\":0,}"`, ErrBadRow},
		{"no comma", good + `{"y":0 "a":1}`, Options{}, `in:2:8: expected a comma or }, found "\"a\":1" in "{\"y\":0 \"a\":1}"`, ErrBadRow},
		{"no colon", good + `{"y" 0}`, Options{}, `in:2:6: expected a colon behind the key, found "0" in "{\"y\" 0}"`, ErrBadRow},
		{"too deep", good + `{"y":0,"a":` + strings.Repeat(`[`, 64) + strings.Repeat(`]`, 64) + `}`, Options{}, `in:2:75: deeper than 64 objects and arrays in each other in "...[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]..."`, ErrBadRow},
		{"a long name", good + `{"y":0,"` + strings.Repeat("n", 1025) + `":1}`, Options{}, "", ErrBadRow},
		{"an index 0", number + `{"y":0,"x":{"0":1}}`, Options{IndexBase: "1"}, `in:2:13: index 0, but indices count from 1 here: set Options.IndexBase to 0 if they count from 0 in "{\"y\":0,\"x\":{\"0\":1}}"`, ErrBadRow},
		{"a huge index", number + `{"y":0,"x":{"2147483647":1}}`, Options{}, `in:2:13: index 2147483647 is above 2147483646, the largest there may be in "{\"y\":0,\"x\":{\"2147483647\":1}}"`, ErrBadRow},
		{"names, where training had numbers", good + good, Options{Trained: "svmlight"}, `in:1:8: expected the number of a feature, as training has numbers alone, found "\"a\":1" in "{\"y\":1,\"a\":1}"`, ErrBadRow},
		{"a model of csv", good, Options{Trained: "csv"}, `in:1:1: expected csv as in training, found ndjson`, ErrForeign},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := loaded(tc.text, tc.o)
			if err == nil || tc.want != "" && err.Error() != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("\ngot  %v\nwant %s", err, tc.want)
			}
		})
	}
	// decided by the head; behind it a name is a bad row
	var text strings.Builder
	for range sniffed {
		text.WriteString(number)
	}
	_, _, err := loaded(text.String()+`{"y":0,"x":{"a":1}}`, Options{})
	if !errors.Is(err, ErrBadRow) || !strings.Contains(err.Error(), "expected the number of a feature") {
		t.Error(err)
	}
}

// sniffed is how many rows decide whether features have numbers.
const sniffed = 1000

// TestNamesInParts: names are numbered alike however the text is cut, for any number of workers.
func TestNamesInParts(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, `{"y":%d,"n%d":%d,"t":"w%d","m%d":1}`+"\n", i%2, i*i%97, i%7-3, i%31,
			i*i%211)
		if i%50 == 7 {
			fmt.Fprintf(&text, `{"y":1,"bad%d":1,`+"\n", i)
		}
	}
	read := func(o Options) string {
		o.OnError = "skip"
		s, err := OpenReader[float64](context.Background(), "in", strings.NewReader(text.String()), o)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := drain(s)
		if err != nil {
			t.Fatal(err)
		}
		return rows + fmt.Sprint(s.Info().Names, s.Info().BadRows, s.Info().Shared)
	}
	for _, bits := range []int{0, 6} {
		want := read(Options{HashBits: bits, Workers: 1})
		for _, o := range []Options{{Workers: 4, chunk: 100}, {Workers: 3, chunk: 1 << 12}} {
			o.HashBits = bits
			if read(o) != want {
				t.Errorf("%d bits, chunks of %d: other rows", bits, o.chunk)
			}
		}
	}
}

// flattened are the features of a row by their names, of what encoding/json makes of it; ok is
// false where a name comes twice.
func flattened(name string, v any, in map[string]float64) (ok bool) {
	add := func(name string, v float64, several bool) bool {
		_, twice := in[name]
		in[name] += v
		return !twice || several
	}
	ok = true
	switch v := v.(type) {
	case float64:
		ok = add(name, v, false)
	case bool:
		if v {
			ok = add(name, 1, false)
		}
	case string:
		ok = add(name+"="+v, 1, false)
	case []any:
		for i, e := range v {
			if s, text := e.(string); text {
				ok = add(name+"="+s, 1, true) && ok
			} else {
				ok = flattened(fmt.Sprint(name, ".", i+1), e, in) && ok
			}
		}
	case map[string]any:
		for k, e := range v {
			if name != "" {
				k = name + "." + k
			}
			ok = flattened(k, e, in) && ok
		}
	}
	return ok
}

// FuzzNDJSON compares rows with those that encoding/json reads: what it refuses is a bad row, and
// what is read are the same names and values. Chunks change nothing.
func FuzzNDJSON(f *testing.F) {
	for _, s := range []string{`{"y":1,"a":3,"b":"text","c":true,"d":null}`,
		`{"y":-1,"x":{"3":0.5}}`, `{"y":1,"x":[1,2.5e-3,0]}`, `{"y":"a","é":["b","b"],"u":{"v":{}}}`,
		`{"y":1,"a":"\u00e9\ud83d\ude00\n"}`, `{"y":1,"a":1,"a":2}`, `{"y":1,"a":01}`, `{"y":1,}`,
		"{\"y\":1,\"a\":\"\xff\"}", `{"y":1,"a":[[[{"b":[1]}]]]}`, "{\"y\":0}\r\n\n{\"y\":1,\"7\":1}"} {
		f.Add([]byte(strings.ReplaceAll(s, `"y"`, `"4"`)), 7)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if bytes.HasPrefix(text, gzipMagic) || bytes.HasPrefix(text, zstdMagic) ||
			bytes.HasPrefix(text, xzMagic) || bytes.HasPrefix(text, []byte("BZh")) {
			return
		}
		o := Options{Format: "ndjson", OnError: "skip", Positive: "1", LabelCol: "4",
			Trained: "ndjson"}
		read := func(o Options) (rows string, info Info, err error) {
			s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(text), o)
			if err != nil {
				return "", info, err
			}
			defer s.Close()
			for {
				b, err := s.Next()
				if err != nil {
					return rows, s.Info(), err
				}
				verify(t, b)
				for i := range b.Len() {
					idx, val := b.Sparse(i)
					names, of := []string{}, map[string]float64{}
					for k, j := range idx {
						name := s.Info().Names[j]
						names, of[name] = append(names, name), val[k]
					}
					sort.Strings(names)
					rows += fmt.Sprintf("%v", b.Y[i])
					for _, name := range names {
						rows += fmt.Sprintf(" %q:%v", name, of[name])
					}
					rows += "\n"
				}
			}
		}
		rows, _, err := read(o)
		o.chunk, o.Workers = size&63+1, 2
		if again, _, e := read(o); again != rows || (e == nil) != (err == nil) {
			t.Errorf("%q: %q %v, in pieces %q %v", text, rows, err, again, e)
		}
		got := strings.SplitAfter(rows, "\n")
		for _, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
			want, ok := wantedRow(line)
			if !ok {
				continue // must be a bad row, or else there are more rows than there are here
			}
			if len(got) > 0 && got[0] == want {
				got = got[1:]
				continue
			}
			// encoding/json takes what is refused here: duplicates, broken UTF-8, depth, long names
			if !strict(line) {
				continue
			}
			t.Errorf("%q\ngot  %q\nwant %q", line, got, want)
			return
		}
		if len(got) > 0 && got[0] != "" {
			t.Errorf("%q: rows that encoding/json doesn't have: %q", text, got)
		}
	})
}

// wantedRow is a row as FuzzNDJSON prints it, of what encoding/json reads; the label's key is 4. ok
// is false for a bad row.
func wantedRow(line string) (want string, ok bool) {
	var v map[string]any
	if d := json.Unmarshal([]byte(line), &v); d != nil || v == nil {
		return "", false
	}
	y := -1.0
	switch l := v["4"].(type) {
	case nil, map[string]any, []any:
		return "", false
	case float64:
		if l == 1 {
			y = 1
		}
	case string:
		if l == "" || l == "?" {
			return "", false // missing
		}
		if format.MakeLabel(l).Equal(format.MakeLabel("1")) {
			y = 1
		}
	}
	delete(v, "4")
	in := map[string]float64{}
	flattened("", v, in)
	want = fmt.Sprintf("%v", y)
	for _, name := range slices.Sorted(mapKeys(in)) {
		want += fmt.Sprintf(" %q:%v", name, in[name])
	}
	return want + "\n", true
}

func mapKeys(m map[string]float64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// strict reports whether a line that encoding/json takes has nothing that is refused here: two keys
// of one name, broken text, what is too deep, too long or too large.
func strict(line string) bool {
	if !utf8.ValidString(line) || strings.Contains(line, `\u`) || len(line) > 900 ||
		strings.Count(line, "[")+strings.Count(line, "{") > 60 {
		return false
	}
	d := json.NewDecoder(strings.NewReader(line))
	var v map[string]any
	in := map[string]float64{}
	if d.Decode(&v) != nil || !flattened("", v, in) {
		return false
	}
	for _, v := range in {
		if math.IsInf(v, 0) {
			return false
		}
	}
	// keys that come twice are one in the map: the row's own text is as long as it says
	keys := 0
	var count func(v any)
	count = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			keys += len(v)
			for _, e := range v {
				count(e)
			}
		case []any:
			for _, e := range v {
				count(e)
			}
		}
	}
	count(any(v))
	return strings.Count(line, ":") <= keys && strings.Count(line, `"4"`) <= 1
}

// TestScaledNames: features that have names are scaled by what training knows of each.
func TestScaledNames(t *testing.T) {
	rows, info, err := loaded(`{"y":1,"a":2,"b":10}`+"\n"+`{"y":0,"b":5,"a":1}`,
		Options{Scaling: "maxabs"})
	if err != nil || rows != "+1 0:1 1:1|-1 0:0.5 1:0.5|" {
		t.Fatal(rows, err)
	}
	s, err := OpenReader[float64](context.Background(), "in",
		strings.NewReader(`{"y":0,"b":5,"a":1}`+"\n"), Options{Scaled: info.Scaling,
			Names: info.Names, FixedNames: true, Labels: &info.Labels})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = drain(s); err != nil || rows != "-1 0:0.5 1:0.5|" {
		t.Error(rows, err)
	}
}
