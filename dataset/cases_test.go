package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

var updateCases = flag.Bool("update-cases", false, "write testdata/cases as they are now")

// fileCase is a case of testdata/cases: a text, or several files, and what becomes of it. A case
// is some lines,
//
//	== csv, bad rows are skipped
//	text "1,2,0\n1,?,0\n3,4,1\n"
//	options {"OnError":"skip"}
//	rows -1 1 2|+1 3 4|
//
// of which those behind the options are facts, which facts names. With the flag -update-cases the
// facts that a case has are written as they are now.
type fileCase struct {
	name    string
	texts   []string
	quoted  []string // the texts as they stand there
	options string   // of JSON
	Options
	facts [][2]string
}

// readCases reads a file of cases.
func readCases(t *testing.T, file string) (list []*fileCase) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c *fileCase
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "", "#":
		case "==":
			c = &fileCase{name: value}
			list = append(list, c)
		case "text":
			s, err := textOf(value)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, line, err)
			}
			c.texts, c.quoted = append(c.texts, s), append(c.quoted, value)
		case "options":
			d := json.NewDecoder(strings.NewReader(value))
			d.DisallowUnknownFields()
			c.options = value
			if err := d.Decode(&c.Options); err != nil {
				t.Fatalf("%s: %s: %v", file, line, err)
			}
		case "chunk":
			c.chunk, _ = strconv.Atoi(value)
			fallthrough
		default:
			c.facts = append(c.facts, [2]string{key, value})
		}
	}
	return list
}

// textOf is the text of quoted ones, each of which may be followed by *N, for N times.
func textOf(quoted string) (text string, err error) {
	for quoted != "" {
		one, err := strconv.QuotedPrefix(quoted)
		if err != nil {
			return "", err
		}
		times, rest, _ := strings.Cut(quoted[len(one):], " ")
		n := 1
		if times != "" {
			if n, err = strconv.Atoi(strings.TrimPrefix(times, "*")); err != nil {
				return "", err
			}
		}
		one, err = strconv.Unquote(one)
		if err != nil {
			return "", err
		}
		text, quoted = text+strings.Repeat(one, n), rest
	}
	return text, nil
}

// load reads the case whole, and returns what was warned of.
func (c *fileCase) load(t *testing.T) (d *Data[float64], warned []string, err error) {
	o := c.Options
	o.OnWarn = func(what string) { warned = append(warned, what) }
	if len(c.texts) == 1 {
		d, err = LoadReader[float64](t.Context(), "in", strings.NewReader(c.texts[0]), o)
	} else {
		d, err = Load[float64](t.Context(), written(t, c.texts...), o)
	}
	return d, warned, err
}

// opened is a stream of what r has, named in, which is closed in the end.
func opened[T engine.Float](t testing.TB, r io.Reader, o Options) *Stream[T] {
	t.Helper()
	s, err := OpenReader[T](t.Context(), "in", r, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// written writes files 0, 1, ... in a folder of their own.
func written(t testing.TB, texts ...string) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		files = append(files, filepath.Join(dir, strconv.Itoa(i)))
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// sentinels are the kinds of errors, the special ones first.
var sentinels = []struct {
	name string
	err  error
}{
	{"ErrThird", ErrThird}, {"ErrClosed", ErrClosed}, {"ErrLabels", ErrLabels},
	{"ErrColumns", ErrColumns}, {"ErrForeign", ErrForeign}, {"ErrFormat", ErrFormat},
	{"ErrBadRow", ErrBadRow}, {"ErrEmpty", ErrEmpty}, {"ErrMemory", ErrMemory},
	{"ErrTruncated", ErrTruncated}, {"ErrScale", ErrScale}, {"ErrOption", ErrOption},
}

// factsOf are all facts of a case.
func (c *fileCase) factsOf(t *testing.T) map[string]string {
	facts := map[string]string{}
	if c.LabelsLater { // of streams alone
		s, err := OpenReader[float64](t.Context(), "in", strings.NewReader(c.texts[0]), c.Options)
		c.ofStream(s, err, facts)
		return facts
	}
	d, warned, err := c.load(t)
	facts["warned"] = strings.Join(warned, "; ")
	if err != nil {
		facts["error"] = errorFact(err)
		var row *RowError
		if errors.As(err, &row) && row.Good > 0 {
			facts["good"] = fmt.Sprint(row.Good)
		}
	} else {
		in := d.Info
		facts["rows"] = dump(&d.Block)
		facts["weights"] = fmt.Sprint(d.Block.W)
		facts["format"] = in.Format + ", " + in.Kind
		facts["names"] = fmt.Sprintf("%q", in.Names)
		facts["kinds"] = in.Kinds
		facts["seen"] = fmt.Sprintf("%q of %q and %q", in.Seen, in.Labels.Negative,
			in.Labels.Positive)
		facts["counts"] = fmt.Sprintf("%d rows, %d bad, %d unlabelled", in.Rows, in.BadRows,
			in.Unlabelled)
		facts["unknown"] = fmt.Sprintf("%d in %d rows", in.Unknown, in.UnknownRows)
		if in.Decided != nil {
			facts["decided"] = in.Decided.String()
			facts["header"] = fmt.Sprint(in.Decided.Header)
		}
		if in.Foreign == 0 {
			verify(t, &d.Block)
		}
		if in.Classes == nil {
			in.check(t, d)
		}
	}
	if len(c.texts) == 1 {
		s, err := OpenReader[float64](t.Context(), "in", strings.NewReader(c.texts[0]), c.Options)
		c.ofStream(s, err, facts)
	}
	return facts
}

// errorFact is an error's kind and text, without the folder of the files.
func errorFact(err error) string {
	i := slices.IndexFunc(sentinels, func(s struct {
		name string
		err  error
	}) bool {
		return errors.Is(err, s.err)
	})
	kind := "?"
	if i >= 0 {
		kind = sentinels[i].name
	}
	text := err.Error()
	if row := (*RowError)(nil); errors.As(err, &row) && filepath.IsAbs(row.File) {
		text = strings.ReplaceAll(text, filepath.Dir(row.File)+string(filepath.Separator), "")
	}
	return kind + ": " + strconv.Quote(text)
}

// ofStream adds the facts of a stream: its rows by names, what its labels are, and its ids.
func (c *fileCase) ofStream(s *Stream[float64], err error, facts map[string]string) {
	if err == nil {
		defer s.Close()
	}
	var named, labels, ids bytes.Buffer
	for err == nil {
		var b *engine.Block[float64]
		if b, err = s.Next(); err != nil {
			break
		}
		for i := range b.Len() {
			named.WriteString(s.row(b, i))
			labels.WriteString(s.label(b, i) + " ")
			if c.LabelsLater {
				ids.WriteString(s.identified(b, i))
			}
		}
	}
	if err != io.EOF {
		facts["streamed"] = errorFact(err)
		return
	}
	in := s.Info()
	facts["named"], facts["ids"] = named.String(), ids.String()
	facts["labels"] = fmt.Sprintf("%sof %q %q %q, foreign %d %q", &labels, in.Labels.Negative,
		in.Labels.Positive, in.Classes, in.Foreign, in.ForeignLabels)
}

// row is example i of a block, with the names that features have.
func (s *Stream[T]) row(b *engine.Block[T], i int) string {
	text, names := fmt.Sprintf("%+g", float64(b.Y[i])), s.Info().Names
	idx, val := b.Example(i)
	for k, v := range val {
		f := engine.FeatureOf(idx, k)
		name := strconv.Itoa(f)
		if f >= s.lead() && f-s.lead() < len(names) {
			name = names[f-s.lead()]
		}
		text += fmt.Sprintf(" %s:%.4g", name, float64(v))
	}
	return text + "|"
}

// label is what example i is to the stream: + or -, or the number of the class; ? before one that
// is none, f before one that is none of those there are.
func (s *Stream[T]) label(b *engine.Block[T], i int) (text string) {
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
	return text
}

// identified is example i with its id.
func (s *Stream[T]) identified(b *engine.Block[T], i int) string {
	id, bare := s.ID(i)
	_, val := b.Example(i)
	text := fmt.Sprintf("%q %s %v", id, s.label(b, i), val)
	if bare {
		text += " bare"
	}
	if len(b.W) > 0 {
		text += fmt.Sprint(" weight ", b.W[i])
	}
	return text + "|"
}

// TestCases: what texts of every format become, what is said of them, and what is refused.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			var now strings.Builder
			for _, c := range readCases(t, file) {
				now.WriteString("== " + c.name + "\n")
				for _, text := range c.quoted {
					now.WriteString("text " + text + "\n")
				}
				if c.options != "" {
					now.WriteString("options " + c.options + "\n")
				}
				facts := c.factsOf(t)
				for _, f := range c.facts {
					key, want := f[0], f[1]
					got, there := facts[key]
					if key == "chunk" {
						got = want
					} else if !there {
						got = "none: " + facts["error"] + facts["streamed"]
					}
					if got != want && !*updateCases {
						t.Errorf("%s: %s\n%.999s\ngot  %s\nwant %s", c.name, key, c.quoted, got,
							want)
					}
					now.WriteString(strings.TrimSuffix(key+" "+got, " ") + "\n")
				}
				if slices.ContainsFunc(c.facts, func(f [2]string) bool {
					return f[0] == "decided"
				}) && facts["error"] == "" {
					c.again(t)
				}
				now.WriteString("\n")
			}
			if *updateCases {
				if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// again reads a table as one that meets a model of it: its rows and its header are the same.
func (c *fileCase) again(t *testing.T) {
	t.Helper()
	d, _, err := c.load(t)
	if err != nil || d.Info.Decided == nil {
		return
	}
	in := &d.Info
	met := &fileCase{texts: c.texts, Options: Options{Format: "csv", Columns: in.Columns,
		Header: in.Header, Label: in.LabelCol, Kinds: in.Kinds, Names: in.Names, FixedNames: true,
		Labels: &in.Labels, Trained: "csv", OnError: "skip", Missing: "mean"}}
	if in.Classes != nil {
		met.Labels, met.Classes = nil, in.Classes
	}
	for _, met.LabelsOptional = range []bool{false, true} {
		again, _, err := met.load(t)
		if err != nil {
			t.Errorf("%s, met by its model: %v", c.name, err)
		} else if again.Info.Rows != in.Rows || !slices.Equal(again.Block.Y, d.Block.Y) ||
			again.Info.Decided.Header != in.Decided.Header {
			t.Errorf("%s, met by its model: %d rows, %v; want %d, %v", c.name, again.Info.Rows,
				again.Info.Decided, in.Rows, in.Decided)
		}
	}
}
