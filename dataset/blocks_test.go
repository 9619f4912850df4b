package dataset

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// batches is a source of those batches, and the error behind them.
type batches struct {
	list []*Batch[float64]
	err  error
}

func (b *batches) Next() (*Batch[float64], error) {
	if len(b.list) == 0 {
		if b.err != nil {
			return nil, b.err
		}
		return nil, io.EOF
	}
	next := b.list[0]
	b.list = b.list[1:]
	return next, nil
}

// fromBlocks reads batches.
func fromBlocks(o Options, err error, list ...*Batch[float64]) (string, Info, error) {
	s, e := OpenBlocks(context.Background(), "table", &batches{list, err}, o)
	if e != nil {
		return "", Info{}, e
	}
	rows, e := drain(s)
	return rows, s.Info(), e
}

// cut makes batches of n rows of a block.
func cut(b *engine.Block[float64], n int, done *atomic.Int32) (list []*Batch[float64]) {
	for lo := 0; lo < b.Len(); lo += n {
		v := b.Slice(lo, min(lo+n, b.Len()))
		batch := &Batch[float64]{Block: v, Done: func() { done.Add(1) }}
		batch.Y = append(batch.Y, v.Y...)
		batch.Block.Y = nil
		list = append(list, batch)
	}
	return list
}

// TestBlocksAsText: blocks become the rows that text becomes, for any options, batch and slab.
func TestBlocksAsText(t *testing.T) {
	sparse := strings.Repeat("-1 1:1 2:0.1\n+1 3:1e3\n-1\n+1 2:7 4:0.5\n", 40)
	dense := strings.Repeat("1,2.5,-1\n0,0.1,1\n3,-4,1\n", 40)
	for _, o := range []Options{{}, {Bias: "append"}, {Normalize: "unit", Bias: "append",
		BiasValue: 0.3}, {Normalize: "max", Scale: 3}, {Positive: "-1"}} {
		for _, text := range []string{sparse, dense} {
			want, err := stream(text, o)
			if err != nil {
				t.Fatal(err)
			}
			d, err := load(text, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1, 7, 1000} {
				for _, size := range []int{0, 16} {
					var done atomic.Int32
					o.chunk, o.Workers = size, 3
					list := cut(&d.Block, n, &done)
					rows, in, err := fromBlocks(o, nil, list...)
					if err != nil || rows != want {
						t.Fatalf("%+v, batches of %d: %v\n%.200s\n%.200s", o, n, err, rows, want)
					}
					if int(done.Load()) != len(list) || in.Format != "blocks" {
						t.Errorf("%d of %d batches given back, format %q", done.Load(),
							len(list), in.Format)
					}
				}
			}
		}
	}
}

// TestBlocksLabels: texts and numbers are labels as in text, and may be missing where they may be.
func TestBlocksLabels(t *testing.T) {
	nan := math.NaN()
	columns := [][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}}
	for _, tc := range []struct {
		b    Batch[float64]
		o    Options
		want string
		err  error
	}{
		{Batch[float64]{Columns: columns, Labels: []string{"no", "yes", "no", "yes"}}, Options{},
			"-1 1 5|+1 2 6|-1 3 7|+1 4 8|", nil},
		{Batch[float64]{Columns: columns, Y: []float64{2, 1, 1, 2}}, Options{},
			"+1 1 5|-1 2 6|-1 3 7|+1 4 8|", nil},
		{Batch[float64]{Columns: columns, Y: []float64{2, 1, nan, 2}}, Options{OnError: "skip"},
			"+1 1 5|-1 2 6|+1 4 8|", nil},
		{Batch[float64]{Columns: columns, Y: []float64{2, 1, nan, 2}}, Options{
			LabelsOptional: true, Labels: &LabelMap{"1", "2"}},
			"+1 1 5|-1 2 6|+1 3 7|+1 4 8|", nil},
		{Batch[float64]{Columns: columns}, Options{LabelsOptional: true,
			Labels: &LabelMap{"1", "2"}}, "+1 1 5|+1 2 6|+1 3 7|+1 4 8|", nil},
		{Batch[float64]{Columns: columns, Labels: []string{"a", "b", "c", "a"}}, Options{}, "",
			ErrLabels},
		{Batch[float64]{Columns: columns, Y: []float64{1, 1, 1, 1}}, Options{Positive: "1"},
			"+1 1 5|+1 2 6|+1 3 7|+1 4 8|", nil},
	} {
		rows, _, err := fromBlocks(tc.o, nil, &tc.b)
		if !errors.Is(err, tc.err) || tc.err == nil && rows != tc.want {
			t.Errorf("%+v: %q, %v, want %q, %v", tc.b, rows, err, tc.want, tc.err)
		}
	}
}

// TestBlocksBroken: what is wrong is named by its example and place, and can be skipped.
func TestBlocksBroken(t *testing.T) {
	inf := math.Inf(1)
	sparse := func(ptr []int, idx []int32, val ...float64) engine.Block[float64] {
		return engine.Block[float64]{Ptr: ptr, Idx: idx, Val: val, Dim: 9}
	}
	good := &Batch[float64]{Block: sparse([]int{0, 1, 2}, []int32{0, 1}, 1, 1),
		Y: []float64{-1, 1}}
	row := func(idx []int32, val ...float64) *Batch[float64] {
		return &Batch[float64]{Block: sparse([]int{0, len(idx)}, idx, val...), Y: []float64{1}}
	}
	for _, tc := range []struct {
		b    *Batch[float64]
		want string
		err  error
	}{
		{row([]int32{1, 1}, 1, 2), "table:3:2: index 1 comes twice in the row", ErrBadRow},
		{row([]int32{2, 1}, 1, 2), "table:3:2: index 1 after 2: indices must ascend", ErrBadRow},
		{row([]int32{-1}, 1), "table:3:1: index -1 is negative", ErrBadRow},
		{row([]int32{9}, 1), "table:3:1: index 9 of 9 features", ErrBadRow},
		{row([]int32{1}, inf), "table:3:1: expected a finite number, found +Inf", ErrBadRow},
		{&Batch[float64]{Block: sparse([]int{0, 0}, nil), Y: []float64{inf}},
			"table:3:1: expected a finite label, found +Inf", ErrBadRow},
		{&Batch[float64]{Block: sparse([]int{0, 0}, nil)}, "table:3:1: the label is missing",
			ErrBadRow},
		{&Batch[float64]{Block: sparse([]int{0, 0}, nil), Y: []float64{1, 1}},
			"table:3:1: 2 labels of 1 examples: format not recognised", ErrFormat},
		{&Batch[float64]{Block: sparse([]int{0, 2, 1}, []int32{1, 2}, 1, 2), Y: []float64{1, 1}},
			"table:3:1: offsets 2, 1: format not recognised", ErrFormat},
		{&Batch[float64]{Block: sparse([]int{0, 3}, []int32{1, 2}, 1, 2), Y: []float64{1}},
			"table:3:1: 2 offsets, 2 indices, 2 values: format not recognised", ErrFormat},
		{&Batch[float64]{Columns: [][]float64{{1}}, Y: []float64{1}},
			"table:3:1: rows of 1 values, but sparse rows before: format not recognised",
			ErrFormat},
	} {
		rows, _, err := fromBlocks(Options{}, nil, good, tc.b)
		if err == nil || err.Error() != tc.want || !errors.Is(err, tc.err) ||
			rows != "-1 0:1|+1 1:1|" {
			t.Errorf("%q, %v, want %s", rows, err, tc.want)
		}
		if tc.err != ErrBadRow {
			continue
		}
		rows, in, err := fromBlocks(Options{OnError: "skip"}, nil, tc.b, good, tc.b)
		if err != nil || rows != "-1 0:1|+1 1:1|" || in.BadRows != 2 {
			t.Errorf("passed over: %q, %d, %v", rows, in.BadRows, err)
		}
	}
	// of many bad rows each is reported
	bad := row([]int32{1}, inf)
	bad.Block.Ptr, bad.Y = make([]int, 101), make([]float64, 100)
	for i := range bad.Block.Ptr {
		bad.Block.Ptr[i] = i
	}
	bad.Block.Idx, bad.Block.Val = make([]int32, 100), slices.Repeat([]float64{inf}, 100)
	told := 0
	if _, in, err := fromBlocks(Options{OnError: "skip", OnBad: func(error) { told++ }}, nil, good,
		bad); err != nil || told != 100 || in.BadRows != 100 {
		t.Errorf("%d of %d told: %v", told, in.BadRows, err)
	}
	broken := errors.New("broken pipe")
	if rows, _, err := fromBlocks(Options{}, broken, good); !errors.Is(err, broken) ||
		rows != "-1 0:1|+1 1:1|" {
		t.Errorf("%q, %v", rows, err)
	}
	if _, _, err := fromBlocks(Options{}, nil); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if _, _, err := fromBlocks(Options{Format: "csv"}, nil, good); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
	if _, _, err := fromBlocks(Options{Trained: "svmlight"}, nil, good); !errors.Is(err,
		ErrForeign) {
		t.Error(err)
	}
	if _, err := stream("1 1:1\n", Options{Format: "blocks"}); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
}

// TestBlocksAsGiven: values in the other precision and labels by number are those of the block and
// the texts, and so are the errors.
func TestBlocksAsGiven(t *testing.T) {
	inf := float32(math.Inf(1))
	names := []string{"no", "yes", "?"}
	for name, c := range map[string]struct {
		block engine.Block[float64]
		val   []float32
		codes []int32
		want  string
		err   error
	}{
		"sparse": {engine.Block[float64]{Ptr: []int{1, 2, 4}, Idx: []int32{9, 1, 0, 2}},
			[]float32{9, 0.5, 1, 2}, []int32{0, 1}, "-1 1:0.5|+1 0:1 2:2|", nil},
		"dense": {engine.Block[float64]{Stride: 3, Dim: 2}, []float32{1, 2, 9, 3, 4},
			[]int32{1, 0}, "+1 1 2|-1 3 4|", nil},
		"no label": {engine.Block[float64]{Stride: 1, Dim: 1}, []float32{1, 2, 3},
			[]int32{1, 0, -1}, "", ErrBadRow},
		"missing": {engine.Block[float64]{Stride: 1, Dim: 1}, []float32{1, 2, 3},
			[]int32{1, 0, 2}, "", ErrBadRow},
		"no such": {engine.Block[float64]{Stride: 1, Dim: 1}, []float32{1, 2},
			[]int32{1, 3}, "", ErrFormat},
		"too short": {engine.Block[float64]{Stride: 3, Dim: 2}, []float32{1, 2, 9, 3},
			[]int32{1, 0}, "", ErrFormat},
		"infinite": {engine.Block[float64]{Ptr: []int{0, 1}, Idx: []int32{1}}, []float32{inf},
			[]int32{1}, "", ErrBadRow},
		"twice": {engine.Block[float64]{Ptr: []int{0, 1}, Idx: []int32{1}, Val: []float64{1}},
			[]float32{1}, []int32{1}, "", ErrFormat},
	} {
		b := &Batch[float64]{Block: c.block, F32: c.val, Labels: names, Codes: c.codes}
		rows, _, err := fromBlocks(Options{}, nil, b)
		if !errors.Is(err, c.err) || c.err == nil && rows != c.want {
			t.Errorf("%s: %q, %v, want %q, %v", name, rows, err, c.want, c.err)
		}
	}
}
