package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		return archive(t, zip.Store, "X", npy(dict("<f8", n+", 1"), slices.Repeat([]any{1.0}, len(labels))...),
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
			file := filepath.Join(t.TempDir(), "data.npz")
			if err := os.WriteFile(file, []byte(door.file(t, labels)), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{0, 64, 1 << 10} {
				o := Options{AnyClasses: true, Classes: []string{}, chunk: size, Workers: 2}
				d, err := Load[float64](t.Context(), []string{file}, o)
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

// TestLabelsOfModel: rows meet the labels of a model by their text, else by their value, and what
// is neither is foreign.
func TestLabelsOfModel(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       Options
		data    string
		y       []float64
		foreign []string
	}{
		{"+1 for 1", Options{Labels: &LabelMap{"-1", "+1"}}, "1 1:1\n-1.0 1:1\n+1 1:1\n2 1:1\n",
			[]float64{1, -1, 1, 0}, []string{"2"}},
		{"texts that are told apart", Options{Labels: &LabelMap{"1.10", "1.1"}},
			"x,y\n1,1.10\n1,1.1\n1,1.100\n1,+1.1\n", []float64{-1, 1, 0, 1}, []string{"1.100"}},
		{"a value that both have", Options{Labels: &LabelMap{"1", "+1"}},
			"x,y\n1,1\n1,+1\n1,1.0\n", []float64{-1, 1, 0}, []string{"1.0"}},
		{"a text is no number", Options{Labels: &LabelMap{"0", "1"}},
			"{\"x\":1,\"y\":\"1.0\"}\n{\"x\":1,\"y\":1.0}\n{\"x\":1,\"y\":\"1\"}\n",
			[]float64{0, 1, 1}, []string{"1.0"}},
		{"words for none", Options{Labels: &LabelMap{"a", "b"}},
			"x,y\n1,a\n1,NA\n1,null\n1,None\n1,N/A\n1,?\n1,\n1,b\n",
			[]float64{-1, 0, 0, 0, 0, 0, 0, 1}, nil},
		{"a label that is such a word", Options{Labels: &LabelMap{"NA", "US"}},
			"x,y\n1,US\n1,NA\n1,nan\n", []float64{1, -1, 0}, nil},
		{"such a word that is a text", Options{Labels: &LabelMap{"a", "b"}},
			"{\"x\":1,\"y\":\"NA\"}\n{\"x\":1,\"y\":\"a\"}\n{\"x\":1,\"y\":null}\n",
			[]float64{0, -1, 0}, []string{"NA"}},
	} {
		o := c.o
		o.LabelsOptional, o.AnyFormat = true, true
		s, err := OpenReader[float64](t.Context(), "in", strings.NewReader(c.data), o)
		if err != nil {
			t.Fatal(c.name, err)
		}
		b, err := s.Next()
		if err != nil {
			t.Fatal(c.name, err)
		}
		foreign := 0
		for i, y := range c.y {
			if s.Labelled(i) != (y != 0) || y != 0 && b.Y[i] != y {
				t.Errorf("%s: row %d is %v, known %t, want %v", c.name, i+1, b.Y[i], s.Labelled(i), y)
			}
			if s.Foreign(i) {
				foreign++
			}
		}
		in := s.Info()
		if in.Foreign != foreign || !slices.Equal(in.ForeignLabels, c.foreign) {
			t.Errorf("%s: %d rows of labels %q, %d by row, want %q", c.name, in.Foreign,
				in.ForeignLabels, foreign, c.foreign)
		}
		s.Close()
	}
}

// labelsOf describes what a stream makes of its rows: + and -, or the number of the class; ?
// before one that is none, f before one that is none of those there are. Behind them stand the
// labels, and those met that are none of them.
func labelsOf(t *testing.T, data string, o Options) (string, error) {
	t.Helper()
	s, err := OpenReader[float64](t.Context(), "in", strings.NewReader(data), o)
	if err != nil {
		return "", err
	}
	defer s.Close()
	var rows []string
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
		for i := range b.Len() {
			text := ""
			switch {
			case s.Foreign(i):
				text = "f"
			case !s.Labelled(i):
				text = "?"
			}
			if b.Class != nil {
				text += fmt.Sprint(b.Class[i])
			} else if text == "" {
				text = string("- +"[int(b.Y[i])+1])
			}
			rows = append(rows, text)
		}
	}
	in := s.Info()
	return fmt.Sprintf("%s of %q %q %q, foreign %q", strings.Join(rows, " "), in.Labels.Negative,
		in.Labels.Positive, in.Classes, in.ForeignLabels), nil
}

// TestLabelCases: what a label is to a stream, by the labels that it has or that came before.
func TestLabelCases(t *testing.T) {
	json := func(labels ...string) (text string) {
		for _, l := range labels {
			text += strings.Repeat("{\"x\":1,\"y\":"+l+"}\n", 3)
		}
		return text
	}
	for _, c := range []struct {
		name, data string
		o          Options
		want       string
		err        error
	}{
		{"a third label that is no whole number is a feature, taken for the label",
			json("1", "2", "2.5"), Options{AnyClasses: true}, "", ErrLabels},
		{"but not where it is a text", json("1", "2", `"2.5"`), Options{AnyClasses: true},
			`0 0 0 1 1 1 2 2 2 of "" "" ["1" "2" "2.5"], foreign []`, nil},
		{"nor where it is whole", json("1", "2", "3.0"), Options{AnyClasses: true},
			`0 0 0 1 1 1 2 2 2 of "" "" ["1" "2" "3.0"], foreign []`, nil},
		{"one of two labels was met, and another one has the value of both", "x,y\n1,1\n1,1.0\n",
			Options{LabelsOptional: true, Labels: &LabelMap{"1", "+1"}},
			`- f of "1" "+1" [], foreign ["1.0"]`, nil},
		{"a third label behind rows that were given as of two",
			strings.Repeat("+1 1:1\n", 20) + "2 1:1\n", Options{AnyClasses: true, chunk: 64}, "",
			ErrThird},
		{"what is no text, among all others", "x,y\n1,a\n1,\xff\n", Options{Positive: "a"},
			`+ - of "" "a" [], foreign []`, nil},
		{"what is no text, as a class", "x,y\n1,a\n1,\xff\n", Options{}, "", ErrLabels},
		{"a label of a model stays as it has it", "1 1:1\n2 1:1\n",
			Options{Labels: &LabelMap{"", "+1"}}, `+ - of "" "+1" [], foreign []`, nil},
		{"one that is chosen is as the data have it", "1 1:1\n2 1:1\n", Options{Positive: "+1"},
			`+ - of "" "1" [], foreign []`, nil},
		{"classes of a model", "x,y\n1,a\n1,c\n1,NA\n1,b\n1,c\n",
			Options{LabelsOptional: true, Classes: []string{"a", "b"}},
			`0 f0 ?0 1 f0 of "" "" ["a" "b"], foreign ["c"]`, nil},
		{"a label that comes later, before the first ones", "id,x,y\n1,1,\n2,1,5\n3,1,6\n",
			Options{LabelsLater: true, IDCol: "id"}, `? - + of "5" "6" [], foreign []`, nil},
	} {
		got, err := labelsOf(t, c.data, c.o)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %s, %v; want %s, %v", c.name, got, err, c.want, c.err)
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
	for _, word := range []string{"", "?", "NA", "nan", "NaN", "N/A", "n/a", "null", "NULL", "None"} {
		for _, door := range labelDoors {
			if word == "" && door.name != "csv" || word == "null" && door.name == "ndjson, numbers" {
				continue
			}
			file := filepath.Join(t.TempDir(), "data.npz")
			labels := []string{"1", "2", word, "1"}
			if err := os.WriteFile(file, []byte(door.file(t, labels)), 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := Load[float64](t.Context(), []string{file}, Options{AnyClasses: true,
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
	for _, data := range []string{"? 1:x\n1 1:1\n? 1:1\n-1 1:1\n", "x 1:x\n1 1:1\n? 1:1\n-1 1:1\n"} {
		s, err := OpenReader[float64](t.Context(), "in", strings.NewReader(data), Options{
			LabelsOptional: true, OnError: "skip", Labels: &LabelMap{"-1", "1"}, Format: "svmlight"})
		if err != nil {
			t.Fatal(err)
		}
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

// TestLabelLength: a label may have so many bytes, and no more.
func TestLabelLength(t *testing.T) {
	for extra, want := range []error{nil, ErrBadRow} {
		long := strings.Repeat("a", format.LongLabel+extra)
		_, err := LoadReader[float64](t.Context(), "in", strings.NewReader("x,y\n1,b\n1,"+long+"\n"),
			Options{Format: "csv", LabelCol: "y"})
		if !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", len(long), err, want)
		}
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
		from := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(from, []byte(in.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"svmlight", "csv", "ndjson", "vw", "npz"} {
			var out bytes.Buffer
			if _, err := Convert(t.Context(), []string{from}, Options{},
				Conversion{To: to, Out: &out}); err != nil {
				if to == "ndjson" {
					t.Errorf("%q to %s: %v", list, to, err)
				}
				continue
			}
			file := filepath.Join(t.TempDir(), "out."+to)
			if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			d, err := Load[float64](t.Context(), []string{file}, Options{AnyClasses: true,
				Classes: []string{}})
			if err != nil || !slices.Equal(d.Info.Classes, list) {
				t.Errorf("%q to %s: %v, %v", list, to, err, d)
			}
		}
	}
}
