package engine

import (
	"context"
	"testing"
)

// TestSharedRows: the same features in the same memory, with other labels, have the same rows;
// anything else has its own.
func TestSharedRows(t *testing.T) {
	t.Parallel()
	x := []float32{1, 2, 3, 4, 5, 6}
	b := &Block[float32]{Dim: 2, Stride: 2, X: x, Y: []float32{1, -1, 1}}
	k := Kernel{Kind: RBF, Gamma: 0.5}
	var s SharedRows
	rows := func(s *SharedRows, k Kernel, b *Block[float32], bytes int64) *Rows[float32] {
		r, err := RowsOf(s, k, b, bytes, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := rows(&s, k, b, 1<<20)
	if _, err := first.Row(context.Background(), 1, 3); err != nil {
		t.Fatal(err)
	}
	other := &Block[float32]{Dim: 2, Stride: 2, X: x, Y: []float32{-1, -1, 1}}
	again := rows(&s, k, other, 1<<20)
	before := again.Stats()
	if _, err := again.Row(context.Background(), 1, 3); err != nil {
		t.Fatal(err)
	}
	if got := Since(again.Stats(), before); again != first || got.Hits != 1 || got.Misses != 0 {
		t.Errorf("%v; other rows: %v", got, again != first)
	}
	for name, r := range map[string]*Rows[float32]{
		"no memory":     rows(nil, k, b, 1<<20),
		"other kernel":  rows(&s, Kernel{Kind: RBF, Gamma: 0.25}, b, 1<<20),
		"other limit":   rows(&s, k, b, 1<<21),
		"fewer rows":    rows(&s, k, &Block[float32]{Dim: 2, Stride: 2, X: x[:4]}, 1<<20),
		"other memory":  rows(&s, k, &Block[float32]{Dim: 2, Stride: 2, X: x[2:]}, 1<<20),
		"fewer columns": rows(&s, k, &Block[float32]{Dim: 1, Stride: 2, X: x}, 1<<20),
	} {
		if r == first {
			t.Errorf("%s: the same rows", name)
		}
	}
	wide := &Block[float64]{Dim: 1, Stride: 1, X: []float64{1, 2}}
	if r, err := RowsOf(&s, k, wide, 1<<20, nil); err != nil || r.Len() != 2 {
		t.Errorf("another precision: %v", err)
	}
	if _, err := RowsOf(&s, Kernel{Kind: RBF}, b, 1<<20, nil); err == nil {
		t.Error("no error of a kernel that is none")
	}
}
