package eval_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// lateRows are rows of a source: an example of which is given, or its label alone.
type lateRow struct {
	id       string
	example  int
	labelled bool
	bare     bool
}

// lateSource gives rows, some at a time.
type lateSource struct {
	all  *engine.Block[float64]
	rows []lateRow
	at   int
	last int // rows before those given last
	buf  engine.Block[float64]
}

func (s *lateSource) Next() (*engine.Block[float64], error) {
	if s.at == len(s.rows) {
		return nil, io.EOF
	}
	s.last = s.at
	s.at = min(s.at+7, len(s.rows))
	b := engine.Block[float64]{Dim: s.all.Dim, Ptr: []int{0}}
	for _, r := range s.rows[s.last:s.at] {
		y, class := s.all.Y[r.example], int32(0)
		if s.all.Class != nil {
			class = s.all.Class[r.example]
		}
		if !r.labelled {
			y, class = 1, 0
		}
		if !r.bare {
			idx, val := s.all.Example(r.example)
			for k, v := range val {
				b.Idx, b.Val = append(b.Idx, int32(engine.FeatureOf(idx, k))), append(b.Val, v)
			}
		}
		b.Y, b.Ptr = append(b.Y, y), append(b.Ptr, len(b.Idx))
		if s.all.Class != nil {
			b.Class = append(b.Class, class)
		}
		if len(s.all.W) > 0 {
			b.W = append(b.W, s.all.W[r.example])
		}
	}
	s.buf = b
	return &s.buf, nil
}

func (s *lateSource) row(i int) ([]byte, bool, bool) {
	r := s.rows[s.last+i]
	return []byte(r.id), r.labelled, r.bare
}

// lateExamples are examples of two classes or more, with weights.
func lateExamples(n, classes int) *engine.Block[float64] {
	all := random(n, 4)
	some := *all
	some.W = make([]float64, n)
	for i := range some.W {
		some.W[i] = float64(i%3) + 0.5
	}
	if classes > 2 {
		some.Class = make([]int32, n)
		for i := range some.Class {
			some.Class[i] = int32(i*i%7) % int32(classes)
		}
	}
	return &some
}

// TestIDs: labels that come by their ids d rows later teach and count what labels do that are
// delayed by d, whatever the rows between; and a run that is gone on with at any checkpoint ends as
// the one that wasn't stopped, of labels that are delayed, too.
func TestIDs(t *testing.T) {
	t.Parallel()
	const n, delay = 120, 9
	for _, c := range []struct {
		name    string
		classes int
		o       eval.Options
	}{
		{"perceptron", 2, eval.Options{AUC: true, Calibrate: "platt"}},
		{"obpm", 2, eval.Options{Proba: true, Curve: 10}},
		{"ovr", 4, eval.Options{Window: 50, Calibrate: "temperature"}},
	} {
		all := lateExamples(n, c.classes)
		var rows []lateRow
		for i := range n + delay {
			if i < n {
				rows = append(rows, lateRow{id: fmt.Sprint("x", i), example: i})
			}
			if k := i - delay; k >= 0 {
				rows = append(rows, lateRow{fmt.Sprint("x", k), k, true, k%2 == 0})
			}
		}
		delayed := c.o
		delayed.Delay = delay
		want := waitsOn(t, c.name+", delayed", c.name, inStream(all), delayed)
		got := waitsOn(t, c.name, c.name, func(at int64, o *eval.Options) eval.Source[float64] {
			s := &lateSource{all: all, rows: rows, at: int(at)}
			o.IDs = &eval.IDs{Row: s.row, Most: delay + 1}
			return s
		}, c.o)
		late := got.result.Late
		if *late != (eval.Late{Answered: n}) || got.result.Waiting != 0 {
			t.Errorf("%s: %+v, %d wait", c.name, *late, got.result.Waiting)
		}
		got.result.Late = nil
		if figures(got.result) != figures(want.result) {
			t.Errorf("%s: %s, want %s", c.name, figures(got.result), figures(want.result))
		}
		if !reflect.DeepEqual(got.end, want.end) {
			t.Errorf("%s: another state", c.name)
		}
	}
}

// waited is what became of a run in which examples wait.
type waited struct {
	result eval.Result
	end    learner.State
}

// waitsOn is goesOn where examples wait: what waited can't be left out, nor be damaged.
func waitsOn(t *testing.T, what, name string, from sources, o eval.Options) waited {
	t.Helper()
	r, marks, end := goesOn(t, what, name, from, o, 17)
	for _, m := range marks {
		if !strings.Contains(string(m.text), `"waiting"`) {
			continue
		}
		for _, tallies := range [][]byte{m.tallies[:len(m.tallies)-3], nil} {
			m.tallies = tallies
			if _, _, err := goneOn(t, name, from, o, m); !errors.Is(err, eval.ErrTallies) {
				t.Errorf("%s: %d bytes of tallies: %v", what, len(tallies), err)
			}
		}
	}
	return waited{r, end}
}

// TestIDsBounds: what has no room goes, the oldest first, and what becomes of each row is counted.
func TestIDsBounds(t *testing.T) {
	all := lateExamples(20, 2)
	rows := []lateRow{
		{id: "a", example: 0}, {id: "b", example: 1}, {id: "a", example: 2}, // again
		{id: "c", example: 3},                               // b expires
		{id: "b", example: 1, labelled: true, bare: true},   // unknown
		{id: "d", example: 4, labelled: true},               // learned at once
		{id: "a", example: 2, labelled: true, bare: true},   // answered
		{id: "a", example: 2, labelled: true, bare: true},   // unknown
		{example: 5, labelled: true}, {id: "e", example: 6}, // learned at once; waits
	}
	run := func(ids eval.IDs) eval.Result {
		s := &lateSource{all: all, rows: rows}
		ids.Row = s.row
		got, err := eval.Run[float64](t.Context(), newOf(t, "perceptron", nil), s,
			eval.Options{IDs: &ids})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := run(eval.IDs{Most: 2})
	if want := (eval.Late{Answered: 1, Unknown: 2, Expired: 1, Again: 1}); *got.Late != want ||
		got.Waiting != 2 || got.Presented != 3 {
		t.Errorf("%+v, want %+v; %d wait, %d learned", *got.Late, want, got.Waiting, got.Presented)
	}
	got = run(eval.IDs{Most: 100, Bytes: 1})
	if got.Late.Expired != 5 || got.Waiting != 0 {
		t.Errorf("of a byte: %+v, %d wait", *got.Late, got.Waiting)
	}
	for _, o := range []eval.Options{
		{IDs: &eval.IDs{Most: 1}},
		{IDs: &eval.IDs{Row: (&lateSource{}).row}},
		{IDs: &eval.IDs{Row: (&lateSource{}).row, Most: 1}, Delay: 2},
	} {
		_, err := eval.Run[float64](t.Context(), newOf(t, "perceptron", nil), &behind{b: all}, o)
		if !errors.Is(err, eval.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
