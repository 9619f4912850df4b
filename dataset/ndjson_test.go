package dataset

import (
	"bytes"
	"context"
	"encoding/json"
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
func loadedRows(text string, o Options) (string, Info, error) {
	d, err := load(text, o)
	if err != nil {
		return "", Info{}, err
	}
	return dump(&d.Block), d.Info, nil
}

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
		s := opened[float64](t, strings.NewReader(text.String()), o)
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
		`{"y":-1,"x":{"3":0.5}}`, `{"y":1,"x":[1,2.5e-3,0]}`,
		`{"y":"a","é":["b","b"],"u":{"v":{}}}`,
		`{"y":1,"a":"\u00e9\ud83d\ude00\n"}`, `{"y":1,"a":1,"a":2}`, `{"y":1,"a":01}`, `{"y":1,}`,
		"{\"y\":1,\"a\":\"\xff\"}", `{"y":1,"a":[[[{"b":[1]}]]]}`,
		"{\"y\":0}\r\n\n{\"y\":1,\"7\":1}"} {
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
	rows, info, err := loadedRows(`{"y":1,"a":2,"b":10}`+"\n"+`{"y":0,"b":5,"a":1}`,
		Options{Scaling: "maxabs"})
	if err != nil || rows != "+1 0:1 1:1|-1 0:0.5 1:0.5|" {
		t.Fatal(rows, err)
	}
	s := opened[float64](t, strings.NewReader(`{"y":0,"b":5,"a":1}`+"\n"),
		Options{Scaled: info.Scaling, Names: info.Names, FixedNames: true, Labels: &info.Labels})
	if rows, err = drain(s); err != nil || rows != "-1 0:0.5 1:0.5|" {
		t.Error(rows, err)
	}
}
