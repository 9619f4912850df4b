package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// grid is a table as a stranger's format has it: columns of texts, of which those of numbers are
// read, two rows a run.
type grid struct {
	names  []string
	texts  []bool
	rows   [][]string
	cols   *format.Columns
	next   int
	fail   error // behind the last row
	closed *atomic.Bool
}

type gridRun struct {
	*grid
	lo, hi int
}

func (g *grid) Next([]byte, int) (format.Run, error) {
	if g.next == len(g.rows) {
		if g.fail != nil {
			return format.Run{}, g.fail
		}
		return format.Run{}, io.EOF
	}
	lo := g.next
	g.next = min(lo+2, len(g.rows))
	return format.Run{Value: gridRun{g, lo, g.next}, Bytes: 64}, nil
}

func (g *grid) Close() { g.closed.Store(true) }

var gridFormat = &format.Format{Name: "grid", Binary: true, Kinds: []string{"csv"},
	Options: []format.Option{{Field: "Missing"}},
	Parse32: parseGrid[float32], Parse64: parseGrid[float64]}

func parseGrid[T engine.Float](c *format.Chunk[T], s *format.Settings) {
	g, ok := c.Run.(gridRun)
	if !ok {
		return
	}
	t := format.Table[T]{Columns: g.cols, Rows: g.hi - g.lo}
	text := func(col int) func(int) ([]byte, bool) {
		return func(i int) ([]byte, bool) {
			v := g.rows[g.lo+i][col]
			return []byte(v), v != ""
		}
	}
	for _, col := range g.cols.Numbers {
		x := make([]T, t.Rows)
		for i := range x {
			v := g.rows[g.lo+i][col]
			if v == "" {
				v = "NaN"
			}
			fmt.Sscan(v, &x[i])
		}
		t.Numbers = append(t.Numbers, x)
	}
	for _, col := range g.cols.Texts {
		t.Texts = append(t.Texts, text(col))
	}
	t.Labels = text(max(0, g.cols.Label))
	c.AddTable(s, &t)
}

// gridOf is a grid of a text of csv, whose columns with a * in their name hold texts.
func gridOf(text string, fail error, closed *atomic.Bool) func(o *format.Options) (format.Runs,
	*format.Layout, error) {
	g := &grid{fail: fail, closed: closed}
	for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
		row := strings.Split(l, ",")
		if i > 0 {
			g.rows = append(g.rows, row)
			continue
		}
		for _, name := range row {
			g.names = append(g.names, name)
			g.texts = append(g.texts, strings.Contains(name, "*"))
		}
	}
	return func(o *format.Options) (r format.Runs, l *format.Layout, err error) {
		g.cols, l, err = format.ArrangeColumns("grid", g.names, g.texts, o, nil)
		return g, l, err
	}
}

// TestOpenRuns: the rows of a table are those of the same columns in csv, with names and kinds; bad
// ones are named by row and column, and what a source says at its end is heard.
func TestOpenRuns(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		text string
		o    Options
	}{
		{"a,y,b\n1,0,2\n3,1,4\n5,0,-6\n", Options{Bias: "append", Normalize: "unit"}},
		{"a,y,b\n1,0,\n,1,4\n5,0,-6\n", Options{Missing: "mean"}},
		{"job*,y,b\nclerk,0,1\nsmith,1,\n,1,3\n", Options{Missing: "indicator", Scaling: "std"}},
		{"job*,y*,b\nclerk,no,1\nclerk,yes,2\nsmith,yes,3\n", Options{HashBits: 5, LabelCol: "y*"}},
	} {
		closed := &atomic.Bool{}
		s, err := OpenRuns[float64](ctx, "grid", gridFormat, gridOf(tc.text, nil, closed), tc.o)
		got, info := drainRows(t, s, err)
		s, err = OpenReader[float64](ctx, "text", strings.NewReader(tc.text), tc.o)
		want, wanted := drainRows(t, s, err)
		said := func(i Info) string {
			return fmt.Sprint(i.Names, i.Header, i.Kinds, i.LabelCol, i.Kind)
		}
		if got != want || said(info) != said(wanted) {
			t.Errorf("%q: %s %+v, want %s %+v", tc.text, got, info, want, wanted)
		}
		for range 1000 { // the reader ends behind the last row
			if closed.Load() {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if !closed.Load() || info.Format != "grid" {
			t.Errorf("%q: closed %v, %s", tc.text, closed.Load(), info.Format)
		}
		d, err := LoadRuns[float64](ctx, "grid", gridFormat, gridOf(tc.text, nil, closed), tc.o)
		if err != nil || d.Block.Len() != 3 {
			t.Error(d, err)
		}
	}
	for _, tc := range []struct {
		text, want string
		o          Options
		fail       error
		err        error
	}{
		{"a,y\n1,0\n2,1\n3,0\n,1\n", `grid:4:1: column "a": the value is missing`, Options{}, nil,
			ErrBadRow},
		{"a,y\n1,0\n2,1\n+Inf,0\n", `grid:3:1: column "a": expected a finite number, found +Inf`,
			Options{}, nil, ErrBadRow},
		{"a,y\n1,0\n2,\n", `grid:2:2: column "y": the label is missing`, Options{}, nil, ErrBadRow},
		{"j*,y\na,0\n,1\n", `grid:2:1: column "j*": the value is missing`,
			Options{Missing: "error"}, nil, ErrBadRow},
		{"a,y\n1,0\n2,1\n", "grid: the source has gone", Options{},
			errors.New("the source has gone"), nil},
		{"a,y\n", "expected examples, found a table without rows", Options{}, nil, ErrEmpty},
		{"a,y\n1,0\n", "expected svmlight as in training, found grid", Options{Trained: "svmlight"},
			nil, ErrForeign},
		{"a,y\n1,0\n", `not in training: "a"`, Options{Trained: "csv", Columns: 2,
			Header: []string{"b", "y"}, Label: 2}, nil, ErrColumns},
	} {
		_, err := LoadRuns[float32](ctx, "grid", gridFormat,
			gridOf(tc.text, tc.fail, &atomic.Bool{}), tc.o)
		if tc.err != nil && !errors.Is(err, tc.err) || !strings.Contains(fmt.Sprint(err), tc.want) {
			t.Errorf("%q: %v, want %s", tc.text, err, tc.want)
		}
	}
}

// drainRows are the rows of a stream, and what it knows of them.
func drainRows(t *testing.T, s *Stream[float64], err error) (string, Info) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows := ""
	for {
		b, err := s.Next()
		if err == io.EOF {
			return rows, s.Info()
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			rows += fmt.Sprintf("%+g", b.Y[i])
			if b.Dense() {
				rows += fmt.Sprint(b.Row(i))
			} else {
				idx, val := b.Sparse(i)
				rows += fmt.Sprint(idx, val)
			}
		}
	}
}
