package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestVW(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		o          Options
		want, kind string
		names      string
	}{
		{"numbers", "1 | 1 3:0.5\n-1 | 2:-3 |\n", Options{}, "+1 0:1 2:0.5|-1 1:-3|", "svmlight", ""},
		{"numbers in any order, one twice", "1 | 3:2 1 3:0.5 | 2:1\n0 |\n", Options{},
			"+1 0:1 1:1 2:2.5|-1|", "svmlight", ""},
		{"base 0 found late", "1 | 1\n0 | 0:3\n", Options{Bias: "append"},
			"+1 0:1 2:1|-1 0:1 1:3|", "svmlight", ""},
		{"names", "spam 'tag1 |f price:.5 sqft |s a\r\n# a comment\n\nham tag2|f sqft:2 price\n",
			Options{}, "+1 0:0.5 1:1 2:1|-1 0:1 1:2|", "vw", "[f^price f^sqft s^a]"},
		{"a namespace's weight", "1 |f:2 a b:3 | c\n0 |g\n", Options{}, "+1 0:2 1:6 2:1|-1|", "vw",
			"[f^a f^b c]"},
		{"a number among names", "1 | 7 a\n0 | 7\n", Options{}, "+1 0:1 1:1|-1 0:1|", "vw", "[7 a]"},
		{"hashed as VW does", "1 | 7 12:3 4\n0 |\n", Options{HashBits: 3}, "+1 4:4 7:1|-1|", "vw",
			""},
		{"interactions", "1 |ab x:2 y |b z:3\n0 |b z\n", Options{Interactions: []string{"ab"}},
			"+1 0:2 1:1 2:3 3:6 4:3|-1 2:1|", "vw", "[ab^x ab^y b^z ab^x*b^z ab^y*b^z]"},
		{"squares", "1 |a x:2 y:3\n0 |\n", Options{Interactions: []string{"aa"}},
			"+1 0:2 1:3 2:4 3:6 4:9|-1|", "vw", "[a^x a^y a^x*a^x a^x*a^y a^y*a^y]"},
		{"no label, to be predicted", "| 1\n'tag | 2\n", Options{LabelsOptional: true,
			Labels: &LabelMap{"-1", "1"}}, "+1 0:1|+1 1:1|", "svmlight", ""},
		{"unit", "1 |f b:3 a:4\n0 |f a\n", Options{Normalize: "unit"}, "+1 0:0.6 1:0.8|-1 1:1|", "vw",
			"[f^b f^a]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, info, err := loaded(tc.text, tc.o)
			if err != nil || rows != tc.want || info.Kind != tc.kind || info.Format != "vw" ||
				tc.names != "" && fmt.Sprint(info.Names) != tc.names {
				t.Errorf("%q, %s, %q, %v", rows, info.Kind, info.Names, err)
			}
		})
	}
}

// TestVWWeights: the importance is the weight of the example.
func TestVWWeights(t *testing.T) {
	d, err := LoadReader[float64](context.Background(), "in",
		strings.NewReader("1 | 1\n-1 2.5 | 1\n1 0.5 0 'x | 2\n"), Options{})
	if err != nil || fmt.Sprint(d.Block.W) != "[1 2.5 0.5]" {
		t.Error(d, err)
	}
}

func TestBrokenVW(t *testing.T) {
	const good = "1 |f a\n"
	const number = "1 | 1\n"
	for _, tc := range []struct {
		name, text string
		o          Options
		want       string
		err        error
	}{
		{"no label", good + "|f a\n", Options{}, `in:2:1: the label is missing (a word right before | is a tag) in "|f a"`, ErrBadRow},
		{"a tag for a label", good + "1|f a\n", Options{}, `in:2:1: the label is missing (a word right before | is a tag) in "1|f a"`, ErrBadRow},
		{"no label of one", good + "1:2:3 |f a\n", Options{}, `in:2:1: expected a label (a number or a word), found "1:2:3" in "1:2:3 |f a"`, ErrBadRow},
		{"label nan", good + "nan |f a\n", Options{}, `in:2:1: the label is missing: "nan" stands for that, unless Options.Classes names it in "nan |f a"`, ErrBadRow},
		{"no bar", good + "1 2\n", Options{}, `in:2:4: expected | and features in "1 2"`, ErrBadRow},
		{"importance no number", good + "1 x |f a\n", Options{}, `in:2:3: expected a number, the importance, found "x" in "1 x |f a"`, ErrBadRow},
		{"importance negative", good + "1 -2 |f a\n", Options{}, `in:2:3: expected a weight, a finite number of 0 or more, found -2 in "1 -2 |f a"`, ErrBadRow},
		{"a base", good + "1 1 0.5 |f a\n", Options{}, `in:2:5: expected no prediction to begin with but 0, found "0.5" in "1 1 0.5 |f a"`, ErrBadRow},
		{"too many words", good + "1 1 0 4 |f a\n", Options{}, `in:2:7: expected | and features, found "4" in "1 1 0 4 |f a"`, ErrBadRow},
		{"no name", good + "1 |f :1\n", Options{}, `in:2:6: expected the name of a feature, found ":1" in "1 |f :1"`, ErrBadRow},
		{"no value", good + "1 |f a:\n", Options{}, `in:2:8: expected a finite number behind the colon, found "" in "1 |f a:"`, ErrBadRow},
		{"value no number", good + "1 |f a:b\n", Options{}, `in:2:8: expected a finite number behind the colon, found "b" in "1 |f a:b"`, ErrBadRow},
		{"value too large", good + "1 |f a:1e999\n", Options{}, `in:2:8: expected a finite number behind the colon, found "1e999" in "1 |f a:1e999"`, ErrBadRow},
		{"weight no number", good + "1 |f:x a\n", Options{}, `in:2:6: expected a finite number behind the colon, found "x" in "1 |f:x a"`, ErrBadRow},
		{"sum too large", good + "1 |f a:1e308 a:1e308\n", Options{}, `in:2:1: the values of a feature that comes several times are too large together in "1 |f a:1e308 a:1e308"`, ErrBadRow},
		{"product too large", good + "1 |f a:1e300 b:1e300\n", Options{Interactions: []string{"ff"}}, `in:2:1: a product of features is too large in "1 |f a:1e300 b:1e300"`, ErrBadRow},
		{"no UTF-8", good + "1 |f \xff\n", Options{}, `in:2:6: the name "f^\xff" is not text in UTF-8 in "1 |f \xff"`, ErrBadRow},
		{"a long name", good + "1 |f " + strings.Repeat("n", 1025) + "\n", Options{}, "", ErrBadRow},
		{"a return in the line", good + "1 |f a\rb\n", Options{}, "", ErrBadRow},
		{"a huge number", number + "1 | 2147483647\n", Options{}, `in:2:5: index 2147483647 is above 2147483646, the largest there may be in "1 | 2147483647"`, ErrBadRow},
		{"a number 0", number + "1 | 0\n", Options{IndexBase: "1"}, `in:2:5: index 0, but indices count from 1 here: set Options.IndexBase to 0 if they count from 0 in "1 | 0"`, ErrBadRow},
		{"a name, where training had numbers", number + "1 | a\n", Options{Trained: "svmlight"}, `in:2:5: expected the number of a feature, as training has numbers alone, found "a" in "1 | a"`, ErrBadRow},
		{"a namespace, where training had numbers", number + "1 |f 1\n", Options{Trained: "svmlight"}, `in:2:4: expected features without a namespace, as training has numbers alone, found "f" in "1 |f 1"`, ErrBadRow},
		{"a model of csv", good, Options{Trained: "csv"}, `in:1:1: expected csv as in training, found vw`, ErrForeign},
		{"three letters", good, Options{Interactions: []string{"abc"}}, "", ErrOption},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := loaded(tc.text, tc.o)
			if err == nil || tc.want != "" && err.Error() != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("\ngot  %v\nwant %s", err, tc.want)
			}
		})
	}
	wide := "1 |a"
	for i := range 1500 {
		wide += fmt.Sprint(" n", i)
	}
	if _, _, err := loaded(wide+"\n0 |\n", Options{Interactions: []string{"aa"}}); err == nil ||
		!strings.Contains(err.Error(), "more than 1048576 features of the row") {
		t.Error(err)
	}
}

// FuzzVW never panics, gives good blocks, and the same rows and names for one small chunk after
// another as for the whole.
func FuzzVW(f *testing.F) {
	for _, s := range []string{"1 |f a:1 b\n-1 2 |g c\n", "1 | 1 2:3\n0 | 0\n",
		"a 'x|f:2 a |f a:-1e3\r\n", "|\n||\n1 |||", "1 1 0 |a\xff b", "1 |f a:1e308 a:1e308\n0 |", "\n# c\n1 |a:|b:"} {
		f.Add([]byte(s), 3, uint8(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, size int, bits uint8) {
		read := func(o Options) (string, string) {
			s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(text), o)
			if err != nil {
				return "", err.Error()
			}
			defer s.Close()
			rows := ""
			for {
				b, err := s.Next()
				if err != nil {
					return rows + fmt.Sprint(s.Info().Names), err.Error()
				}
				verify(t, b)
				rows += dump(b)
			}
		}
		o := Options{Format: "vw", OnError: "skip", Workers: 1, HashBits: int(bits % 9),
			Interactions: []string{"fg", "aa"}[:bits>>4%3&1], Memory: 8 << 20}
		rows, bad := read(o)
		o.chunk, o.Workers = size&63+1, 2
		if r, b := read(o); r != rows || b != bad {
			t.Errorf("%q: %q %q, in pieces %q %q", text, rows, bad, r, b)
		}
	})
}
