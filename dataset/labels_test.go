package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// labelDoors write rows of one feature with these labels, and say whether the format has them as
// texts.
var labelDoors = []struct {
	name  string
	texts bool
	takes func(label string) bool // nil: all
	file  func(t *testing.T, labels []string) string
}{
	{"svmlight", false, isNumber, func(t *testing.T, labels []string) string {
		return strings.Join(labels, " 1:1\n") + " 1:1\n"
	}},
	{"csv", false, nil, func(t *testing.T, labels []string) string {
		return "x,label\n1," + strings.Join(labels, "\n1,") + "\n"
	}},
	{"csv in quotes", false, nil, func(t *testing.T, labels []string) string {
		return "x,label\n1,\"" + strings.Join(labels, "\"\n1,\"") + "\"\n"
	}},
	{"csv with texts", false, nil, func(t *testing.T, labels []string) string {
		return "x,label\nred," + strings.Join(labels, "\nblue,") + "\n"
	}},
	{"vw", false, func(label string) bool {
		return isNumber(label) || label[0] > '9'
	}, func(t *testing.T, labels []string) string {
		return strings.Join(labels, " |f a\n") + " |f a\n"
	}},
	{"ndjson, numbers", false, func(label string) bool {
		return json.Valid([]byte(label))
	}, func(t *testing.T, labels []string) string {
		return `{"x":1,"label":` + strings.Join(labels, "}\n{\"x\":1,\"label\":") + "}\n"
	}},
	{"ndjson, texts", true, nil, func(t *testing.T, labels []string) string {
		return `{"x":1,"label":"` + strings.Join(labels, "\"}\n{\"x\":1,\"label\":\"") + "\"}\n"
	}},
	{"npz, texts", true, nil, func(t *testing.T, labels []string) string {
		most := 0
		for _, l := range labels {
			most = max(most, utf8.RuneCountInString(l))
		}
		var text []byte
		for _, l := range labels {
			end := len(text) + 4*most
			for _, r := range l {
				text = binary.LittleEndian.AppendUint32(text, uint32(r))
			}
			text = append(text, make([]byte, end-len(text))...)
		}
		n := fmt.Sprint(len(labels))
		return archive(t, zip.Store, "X", npy(dict("<f8", n+", 1"),
			slices.Repeat([]any{1.0}, len(labels))...),
			"y", npy(dict(fmt.Sprintf("<U%d", most), n+","), text))
	}},
}

func isNumber(label string) bool { return format.MakeLabel(label).Numeric }

// TestLabelsThroughDoors: by every format, in chunks of any size, two labels are the same class if
// they are the same text, or plain numerals of the same value that no source has as texts; and they
// are printed as they came first.
func TestLabelsThroughDoors(t *testing.T) {
	lists := [][]string{
		{"1.10", "1.1", "1.2x"}, {"007", "7", "5"}, {"1", "+1", "1.0", "-1", "1.00e+00", "-1.0"},
		{"9007199254740992", "9007199254740993", "5"}, {"1", "1.", "2"}, {"0.5", ".5", "5e-01"},
		{"18446744073709551615", "18446744073709551614", "1.8446744073709551615e+19"},
		{"1000001", "1.000001e+06", "1e+06", "1000000"}, {"0", "-0", "0.0", "1"},
		{"yes", "no", "Yes"}, {"10", "1e1", "10.0", "1.0e+01"}, {"1", "01", "001", "1e0", "1e00"},
	}
	for _, door := range labelDoors {
		for _, list := range lists {
			if door.takes != nil && slices.ContainsFunc(list, func(l string) bool {
				return !door.takes(l)
			}) {
				continue
			}
			labels := slices.Repeat(list, 40)
			var names []string // by the rule, one against another
			want := make([]int32, len(labels))
			for i, l := range labels {
				k := slices.IndexFunc(names, func(n string) bool {
					a, b := format.MakeLabel(n), format.MakeLabel(l)
					a.Word, b.Word = door.texts, door.texts
					return a.Equal(b)
				})
				if k < 0 {
					k, names = len(names), append(names, l)
				}
				want[i] = int32(k)
			}
			file := written(t, door.file(t, labels))
			for _, size := range []int{0, 64, 1 << 10} {
				o := Options{AnyClasses: true, Classes: []string{}, chunk: size, Workers: 2}
				d, err := Load[float64](t.Context(), file, o)
				if err != nil {
					t.Errorf("%s, %q: %v", door.name, list, err)
					break
				}
				if !slices.Equal(d.Info.Classes, names) || !slices.Equal(d.Block.Class, want) {
					t.Errorf("%s, %q in chunks of %d: classes %q, %d, want %q, %d", door.name, list,
						size, d.Info.Classes, d.Block.Class[:len(list)], names, want[:len(list)])
				}
			}
		}
	}
}

// TestLabelBounds: what is kept of labels is bounded, as many as there may be are taken, and of all
// further ones none.
func TestLabelBounds(t *testing.T) {
	names := make([]string, MaxClasses-1)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	for _, c := range []struct {
		name  string
		o     Options
		takes int // labels, before one is refused
		keeps int // of labels that are taken without end; 0: none is
	}{
		{"classes that no option names", Options{AnyClasses: true}, unnamedClasses, 0},
		{"further classes of a model", Options{AnyClasses: true, Classes: names}, 1, 0},
		{"all but one", Options{Labels: &LabelMap{"", "1"}}, 1000, format.SomeLabels + 1},
		{"all but two", Options{Labels: &LabelMap{"-1", "1"}, LabelsOptional: true}, 1000,
			format.SomeLabels + 1},
		{"all but classes", Options{Classes: []string{"1", "-1"}, LabelsOptional: true}, 1000,
			format.SomeLabels + 3},
	} {
		l := newLabeler(&config{Options: c.o}, false)
		for i := range c.takes {
			if _, err := l.id(format.MakeLabel(fmt.Sprint("c", i))); err != nil {
				t.Fatalf("%s: label %d: %v", c.name, i+1, err)
			}
		}
		if _, err := l.id(format.MakeLabel("last")); (err == nil) != (c.keeps > 0) {
			t.Errorf("%s: label %d: %v", c.name, c.takes+1, err)
		}
		if c.keeps > 0 && len(l.set.List) != c.keeps {
			t.Errorf("%s: %d labels are kept, want %d", c.name, len(l.set.List), c.keeps)
		}
	}
	later := newLabeler(&config{Options: Options{LabelsLater: true}}, false)
	for range 3 {
		if i, err := later.id(format.Label{Missing: true}); i != 0 || err != nil ||
			len(later.set.List) != 1 {
			t.Errorf("a label that comes later is %d of %d, %v", i, len(later.set.List), err)
		}
	}
}

// TestMissingLabels: in training a word for a missing value is refused where a label may stand, in
// every format that has no other way to say so.
func TestMissingLabels(t *testing.T) {
	for _, word := range []string{"", "?", "NA", "nan", "NaN", "N/A", "n/a", "null", "NULL",
		"None"} {
		for _, door := range labelDoors {
			if word == "" && door.name != "csv" ||
				word == "null" && door.name == "ndjson, numbers" {
				continue
			}
			file := written(t, door.file(t, []string{"1", "2", word, "1"}))
			_, err := Load[float64](t.Context(), file, Options{AnyClasses: true,
				Classes: []string{}})
			if kept := door.name == "ndjson, texts" && word != "?"; (err == nil) != kept {
				t.Errorf("%s, %q: %v", door.name, word, err)
			}
		}
	}
}

// TestForgottenLabel: a row that is left out leaves nothing behind, also where its label, or that
// it had none, was met there first.
func TestForgottenLabel(t *testing.T) {
	for _, data := range []string{"? 1:x\n1 1:1\n? 1:1\n-1 1:1\n",
		"x 1:x\n1 1:1\n? 1:1\n-1 1:1\n"} {
		s := opened[float64](t, strings.NewReader(data), Options{LabelsOptional: true,
			OnError: "skip", Labels: &LabelMap{"-1", "1"}, Format: "svmlight"})
		b, err := s.Next()
		if err != nil || b.Len() != 3 {
			t.Fatal(b, err)
		}
		if !s.Labelled(0) || s.Labelled(1) || !s.Labelled(2) || b.Y[0] != 1 || b.Y[2] != -1 ||
			s.Info().Foreign != 0 {
			t.Errorf("%q: %v, %t, %d foreign", data, b.Y, s.Labelled(1), s.Info().Foreign)
		}
		s.Close()
	}
}

// TestConvertedLabels: what is converted reads back as the same classes, or is refused.
func TestConvertedLabels(t *testing.T) {
	for _, list := range [][]string{{"1", "+1", "1.0"}, {"007", "7"}, {"NA", "US"}, {"1.10", "1.1"},
		{"1000001", "1000002"}, {"yes", "no"}, {"9007199254740993", "9007199254740992"}} {
		var in strings.Builder
		for _, l := range list {
			fmt.Fprintf(&in, "{\"label\":%q,\"x\":{\"1\":1}}\n", l)
		}
		from := written(t, in.String())
		for _, to := range []string{"svmlight", "csv", "ndjson", "vw", "npz"} {
			var out bytes.Buffer
			if _, err := Convert(t.Context(), from, Options{},
				Conversion{To: to, Out: &out}); err != nil {
				if to == "ndjson" {
					t.Errorf("%q to %s: %v", list, to, err)
				}
				continue
			}
			d, err := Load[float64](t.Context(), written(t, out.String()), Options{AnyClasses: true,
				Classes: []string{}})
			if err != nil || !slices.Equal(d.Info.Classes, list) {
				t.Errorf("%q to %s: %v, %v", list, to, err, d)
			}
		}
	}
}
