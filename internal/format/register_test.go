package format_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// bag is a format as a stranger adds one: rows `label | word word ...` behind a line that begins
// with #bag and lists the words. A feature is 1 where its word is there. All that is asked of a
// format is in this row and the four functions under it.
var bag = &format.Format{
	Name: "bag", Cut: "\n",
	Sniff: func(h *format.Head) int {
		if bytes.HasPrefix(h.Text, []byte("#bag ")) {
			return 0
		}
		return format.No
	},
	Layout:  bagWords,
	Parse32: parseBag[float32], Parse64: parseBag[float64],
}

func bagWords(h *format.Head, _ *format.Options, first *format.Layout) (*format.Layout, error) {
	line, _, _ := bytes.Cut(h.Text, []byte{'\n'})
	words := strings.Fields(string(line))
	if len(words) < 2 || words[0] != "#bag" {
		return nil, h.Bad(line, 0, "expected #bag and words", format.ErrFormat)
	}
	features := map[string]int32{}
	for i, w := range words[1:] {
		features[w] = int32(i)
	}
	return &format.Layout{IndexBase: 1, Dim: len(features), Own: features}, nil
}

func parseBag[T engine.Float](c *format.Chunk[T], s *format.Settings) {
	features := c.Layout.Own.(map[string]int32)
	for pos := 0; pos < c.N; pos, c.Out.Lines = c.NextLine(pos), c.Out.Lines+1 {
		line := c.Line(pos)
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		if at, bad := bagRow(c, s, features, pos, line); bad != "" && !c.Bad(s, pos, at, bad) {
			return
		}
	}
}

func bagRow[T engine.Float](c *format.Chunk[T], s *format.Settings, features map[string]int32,
	pos int, line []byte) (at int, bad string) {
	label, rest, found := bytes.Cut(line, []byte{'|'})
	if !found {
		return pos, "expected a | behind the label"
	}
	code, bad := c.Label(s, bytes.TrimSpace(label), pos, pos)
	if bad != "" {
		return pos, bad
	}
	there := make([]bool, len(features))
	for _, w := range strings.Fields(string(rest)) {
		j, ok := features[w]
		if !ok {
			return pos + bytes.Index(line, []byte(w)), "expected a word of the list"
		}
		there[j] = true
	}
	var idx []int32
	var val []T
	for j, ok := range there {
		if ok {
			idx, val = append(idx, int32(j)), append(val, 1)
		}
	}
	c.Sparse(s, code, idx, val)
	return 0, ""
}

// drain reads a stream to its end.
func drain(t *testing.T, s *dataset.Stream[float64], err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rows strings.Builder
	for {
		b, err := s.Next()
		if err == io.EOF {
			return rows.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			fmt.Fprintf(&rows, "%+g", b.Y[i])
			idx, _ := b.Sparse(i)
			for _, j := range idx {
				fmt.Fprintf(&rows, " %d", j)
			}
			rows.WriteByte('|')
		}
	}
}

// TestRegister: a format that is registered is recognised, cut, read by many, split and listed
// like those that are there, and nothing else had to know of it.
func TestRegister(t *testing.T) {
	format.Register(bag)
	defer format.Unregister("bag")
	text := "#bag red round sour\n" + strings.Repeat("apple | red round\nlemon|sour\n\n", 50)
	file := filepath.Join(t.TempDir(), "fruit")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, want := context.Background(), strings.Repeat("-1 0 1|+1 2|", 50)
	for _, o := range []dataset.Options{{}, {Format: "bag", Workers: 3}} {
		s, err := dataset.Open[float64](ctx, []string{file}, o)
		if rows := drain(t, s, err); rows != want {
			t.Errorf("%q", rows)
		}
		o.Labels = &dataset.LabelMap{Negative: "apple", Positive: "lemon"}
		rows := ""
		for k := 1; k <= 7; k++ {
			o.Rows = dataset.RowShard{K: k, Of: 7}
			s, err := dataset.Open[float64](ctx, []string{file}, o)
			rows += drain(t, s, err)
		}
		if rows != want {
			t.Errorf("in parts: %q", rows)
		}
	}
	d, err := dataset.Load[float32](ctx, []string{file}, dataset.Options{Bias: "append"})
	if err != nil || d.Info.Format != "bag" || d.Info.Dim != 4 || d.Block.Len() != 100 {
		t.Errorf("%+v, %v", d, err)
	}
	read := func(text string, o dataset.Options) error {
		_, err := dataset.LoadReader[float64](ctx, "in", strings.NewReader(text), o)
		return err
	}
	err = read(text+"lemon red\n", dataset.Options{})
	var row *dataset.RowError
	if !errors.As(err, &row) || row.Line != 152 || row.Err != dataset.ErrBadRow ||
		row.What != "expected a | behind the label" {
		t.Error(err)
	}
	if err := read("1 1:1\n", dataset.Options{Trained: "bag"}); !errors.Is(err,
		dataset.ErrForeign) {
		t.Error(err)
	}
	if err := read("1 1:1\n", dataset.Options{Format: "bags"}); err == nil ||
		!strings.Contains(err.Error(), "auto, svmlight, csv, ndjson, vw, npy, npz, idx, fasta or bag") {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name that is taken was taken again")
		}
	}()
	format.Register(&format.Format{Name: "csv"})
}
