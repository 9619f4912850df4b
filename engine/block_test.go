package engine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// sparse3 is a good sparse block of three examples, the second without features.
func sparse3() *Block[float32] {
	return &Block[float32]{
		Y: []float32{1, -1, 1}, Dim: 5,
		Ptr: []int{0, 2, 2, 5}, Idx: []int32{0, 4, 1, 2, 3}, Val: []float32{1, 2, 3, 0, -5},
	}
}

// dense3 is the same examples as rows, with a gap of one between rows.
func dense3() *Block[float32] {
	return &Block[float32]{
		Y: []float32{1, -1, 1}, Dim: 5, Stride: 6,
		X: []float32{1, 0, 0, 0, 2, 99, 0, 0, 0, 0, 0, 99, 0, 3, 0, -5, 0},
	}
}

var nan, inf = float32(math.NaN()), float32(math.Inf(1))

func TestBlockCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		block *Block[float32]
		spoil func(b *Block[float32])
		want  error
		say   string // place and value, in the message
	}{
		{"sparse", sparse3(), func(*Block[float32]) {}, nil, ""},
		{"dense", dense3(), func(*Block[float32]) {}, nil, ""},
		{"empty", &Block[float32]{}, func(*Block[float32]) {}, nil, ""},
		{"empty sparse", &Block[float32]{Ptr: []int{0}}, func(*Block[float32]) {}, nil, ""},
		{"zero label", sparse3(), func(b *Block[float32]) { b.Y[1] = 0 }, ErrLabel,
			"example 1: label 0"},
		{"NaN label", dense3(), func(b *Block[float32]) { b.Y[2] = nan }, ErrLabel,
			"example 2: label NaN"},
		{"label 2", dense3(), func(b *Block[float32]) { b.Y[0] = 2 }, ErrLabel,
			"example 0: label 2"},
		{"negative dim", sparse3(), func(b *Block[float32]) { b.Dim = -1 }, ErrShape,
			"-1 features"},
		{"NaN", sparse3(), func(b *Block[float32]) { b.Val[3] = nan }, ErrValue,
			"example 2, feature 2: NaN"},
		{"inf", sparse3(), func(b *Block[float32]) { b.Val[1] = -inf }, ErrValue,
			"example 0, feature 4: -Inf"},
		{"dense NaN", dense3(), func(b *Block[float32]) { b.X[7] = nan }, ErrValue,
			"example 1, feature 1: NaN"},
		{"dense inf", dense3(), func(b *Block[float32]) { b.X[16] = inf }, ErrValue,
			"example 2, feature 4: +Inf"},
		{"NaN between rows", dense3(), func(b *Block[float32]) { b.X[5] = nan }, nil, ""},
		{"index twice", sparse3(), func(b *Block[float32]) { b.Idx[3] = 1 }, ErrIndices,
			"example 2: index 1 comes twice"},
		{"descending", sparse3(), func(b *Block[float32]) { b.Idx[0] = 4; b.Idx[1] = 0 },
			ErrIndices, "example 0: index 0 after 4: they must ascend"},
		{"negative index", sparse3(), func(b *Block[float32]) { b.Idx[0] = -1 }, ErrIndices,
			"example 0: index -1 is negative"},
		{"index = dim", sparse3(), func(b *Block[float32]) { b.Idx[1] = 5 }, ErrIndices,
			"example 0: index 5 of 5 features, which end at 4"},
		{"offsets fall", sparse3(), func(b *Block[float32]) { b.Ptr[2] = 1 }, ErrShape,
			"example 1: offsets 2, 1"},
		{"first offset", sparse3(), func(b *Block[float32]) { b.Ptr[0] = -1 }, ErrShape,
			"3 examples"},
		{"last offset", sparse3(), func(b *Block[float32]) { b.Ptr[3] = 6 }, ErrShape, "5 indices"},
		{"offset beyond", sparse3(), func(b *Block[float32]) { b.Ptr[1] = 9; b.Ptr[2] = 9 },
			ErrShape, "offsets"},
		{"few offsets", sparse3(), func(b *Block[float32]) { b.Ptr = b.Ptr[:3] }, ErrShape,
			"3 offsets"},
		{"no offsets", sparse3(), func(b *Block[float32]) { b.Ptr = []int{} }, ErrShape,
			"0 offsets"},
		{"few values", sparse3(), func(b *Block[float32]) { b.Val = b.Val[:4] }, ErrShape,
			"4 values"},
		{"stride", dense3(), func(b *Block[float32]) { b.Stride = 4 }, ErrShape, "stride 4"},
		{"few rows", dense3(), func(b *Block[float32]) { b.X = b.X[:16] }, ErrShape, "16 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spoil(c.block)
			var err error
			if v := caught(func() { err = c.block.Check() }); v != nil {
				t.Fatalf("Check panics: %v", v)
			}
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), c.say) {
				t.Errorf("error %q does not say %q", err, c.say)
			}
			if again := c.block.Check(); (again == nil) != (err == nil) {
				t.Errorf("the second look says %v", again)
			}
		})
	}
}

// drawBlock is a good block of up to 30 examples, as a sparse and as a dense one.
func drawBlock(t *rapid.T) (sparse, dense *Block[float64]) {
	n, dim := rapid.IntRange(0, 30).Draw(t, "examples"), rapid.IntRange(0, 20).Draw(t, "features")
	stride := dim + rapid.IntRange(0, 3).Draw(t, "gap")
	sparse = &Block[float64]{Dim: dim, Ptr: []int{0}}
	dense = &Block[float64]{Dim: dim, Stride: stride, X: make([]float64, n*stride)}
	for i := range n {
		y := rapid.SampledFrom([]float64{-1, 1}).Draw(t, "label")
		sparse.Y, dense.Y = append(sparse.Y, y), append(dense.Y, y)
		for j := range dim {
			if rapid.Bool().Draw(t, "present") {
				v := rapid.Float64Range(-1e300, 1e300).Draw(t, "value")
				sparse.Idx, sparse.Val = append(sparse.Idx, int32(j)), append(sparse.Val, v)
				dense.X[i*stride+j] = v
			}
		}
		sparse.Ptr = append(sparse.Ptr, len(sparse.Idx))
	}
	if n > 0 && rapid.Bool().Draw(t, "last row ends the values") {
		dense.X = slices.Clip(dense.X[:(n-1)*stride+dim])
	}
	return sparse, dense
}

// example is example i of either kind as a full row.
func example(b *Block[float64], i int) []float64 {
	row := make([]float64, b.Dim)
	if b.Dense() {
		copy(row, b.Row(i))
		return row
	}
	idx, val := b.Sparse(i)
	for k, j := range idx {
		row[j] = val[k]
	}
	return row
}

// TestBlockSlice: a slice (of a slice) is the examples it names, passes Check as they do, and
// writes nothing.
func TestBlockSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sparse, dense := drawBlock(t)
		for _, b := range []*Block[float64]{sparse, dense} {
			lo := rapid.IntRange(0, b.Len()).Draw(t, "lo")
			hi := rapid.IntRange(lo, b.Len()).Draw(t, "hi")
			if rapid.Bool().Draw(t, "check first") {
				if err := b.Check(); err != nil {
					t.Fatal(err)
				}
			}
			s := b.Slice(lo, hi)
			if err := s.Check(); err != nil || s.Len() != hi-lo || s.Dense() != b.Dense() {
				t.Fatalf("[%d, %d) of %d: %d examples, error %v", lo, hi, b.Len(), s.Len(), err)
			}
			for i := range s.Len() {
				if s.Y[i] != b.Y[lo+i] || !slices.Equal(example(&s, i), example(dense, lo+i)) {
					t.Fatalf("[%d, %d): example %d differs", lo, hi, i)
				}
			}
			mid := rapid.IntRange(0, s.Len()).Draw(t, "mid")
			tail := s.Slice(mid, s.Len())
			for i := range tail.Len() {
				if !slices.Equal(example(&tail, i), example(dense, lo+mid+i)) {
					t.Fatalf("[%d, %d)[%d:]: example %d differs", lo, hi, mid, i)
				}
			}
		}
	})
}

// TestBlockSliceSeesFaults: a slice taken before a Check is looked at by its own, and only at its
// own examples.
func TestBlockSliceSeesFaults(t *testing.T) {
	for _, b := range []*Block[float32]{sparse3(), dense3()} {
		b.Y[0] = 0
		bad, good := b.Slice(0, 2), b.Slice(1, 3)
		if err := bad.Check(); !errors.Is(err, ErrLabel) {
			t.Errorf("dense %v: %v", b.Dense(), err)
		}
		if err := good.Check(); err != nil {
			t.Errorf("dense %v: %v", b.Dense(), err)
		}
	}
}

// TestBlockUnlabelled: blocks without labels count their rows, are good for all but learning, and
// are cut as others are.
func TestBlockUnlabelled(t *testing.T) {
	for _, full := range []*Block[float32]{sparse3(), dense3()} {
		for _, y := range [][]float32{nil, make([]float32, 3)} {
			b := full.Slice(0, 3)
			b.Y = y
			if b.Len() != 3 {
				t.Errorf("dense %v: %d examples, want 3", b.Dense(), b.Len())
			}
			if err := b.CheckRows(); err != nil {
				t.Errorf("dense %v: %v", b.Dense(), err)
			}
			if err := b.Check(); !errors.Is(err, ErrLabel) {
				t.Errorf("dense %v: Check after CheckRows says %v", b.Dense(), err)
			}
			for lo := range 4 {
				for hi := lo; hi <= 3; hi++ {
					v := b.Slice(lo, hi)
					if v.Len() != hi-lo || v.CheckRows() != nil {
						t.Errorf("dense %v: Slice(%d, %d) has %d examples, %v", b.Dense(), lo, hi,
							v.Len(), v.CheckRows())
					}
					for i := range v.Len() {
						if v.Dense() && !slices.Equal(v.Row(i), full.Row(lo+i)) {
							t.Errorf("Slice(%d, %d): row %d is %v", lo, hi, i, v.Row(i))
						}
					}
				}
			}
			bad := b.Slice(0, 3)
			bad.checked = 0
			if bad.Dim = 4; bad.Dense() {
				bad.X = append(slices.Clone(bad.X[:16]), nan)
				bad.Dim = 5
			}
			if bad.CheckRows() == nil {
				t.Errorf("dense %v: CheckRows finds nothing in a bad block", b.Dense())
			}
		}
	}
	if n := (&Block[float32]{Stride: 3}).Len() +
		(&Block[float32]{Dim: 3, Stride: 3, X: make([]float32, 2)}).Len() +
		(&Block[float32]{Ptr: []int{}}).Len(); n != 0 {
		t.Errorf("%d examples in blocks that have none", n)
	}
}

// TestBlockChecksAtOnce is for the race detector: readers of one block may check it and cut it at
// the same time.
func TestBlockChecksAtOnce(t *testing.T) {
	b := sparse3()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			v := b.Slice(1, 3)
			if err := errors.Join(b.CheckRows(), v.CheckRows(), b.Check()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestBlockReset: an emptied block is a good one, keeps its memory, and what is put into it is
// looked at again.
func TestBlockReset(t *testing.T) {
	b := sparse3()
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	y, idx := &b.Y[0], &b.Idx[0]
	b.Reset()
	if err := b.Check(); err != nil || b.Len() != 0 || b.Dense() || b.Dim != 0 {
		t.Fatalf("after Reset: %+v, %v", b, err)
	}
	b.Reset()
	if n := testing.AllocsPerRun(10, func() {
		b.Reset()
		b.Y, b.Idx, b.Val, b.Dim = append(b.Y, 1), append(b.Idx, 7), append(b.Val, 3), 8
		b.Ptr = append(b.Ptr, len(b.Idx))
	}); n != 0 {
		t.Errorf("%v allocations in refilling", n)
	}
	if &b.Y[0] != y || &b.Idx[0] != idx {
		t.Error("memory was not kept")
	}
	if err := b.Check(); err != nil {
		t.Error(err)
	}
	b.Reset()
	b.Y, b.Ptr = append(b.Y, 0), append(b.Ptr, 0)
	if err := b.Check(); !errors.Is(err, ErrLabel) {
		t.Errorf("a bad label after Reset: %v", err)
	}

	d := dense3()
	d.Reset()
	if err := d.Check(); err != nil || d.Len() != 0 || !d.Dense() || len(d.X) != 0 {
		t.Errorf("dense: %+v, %v", d, err)
	}
}

// TestBlockViews: the views of an example, with a clamp and without, are what At says one by one.
func TestBlockViews(t *testing.T) {
	sparse := Block[float32]{Dim: 9, Ptr: []int{0, 0, 3, 4}, Idx: []int32{0, 4, 8, 7},
		Val: []float32{1, 2, 3, 4}}
	dense := Block[float32]{Dim: 9, Stride: 10, X: make([]float32, 30)}
	for i, row := range [][]float32{{}, {1, 0, 0, 0, 2, 0, 0, 0, 3}, {7: 4}} {
		copy(dense.X[i*10:], row)
	}
	for i := range 3 {
		if n := sparse.NonZeros(i); n != []int{0, 3, 1}[i] || dense.NonZeros(i) != 9 {
			t.Errorf("example %d: %d values", i, n)
		}
		for j := -1; j <= 9; j++ {
			if a, b := sparse.At(i, j), dense.At(i, j); a != b {
				t.Errorf("example %d, feature %d: %v, %v", i, j, a, b)
			}
		}
		for dim := 0; dim <= 12; dim++ {
			row := dense.RowPrefix(i, dim)
			if len(row) != min(dim, 9) || cap(row) != len(row) {
				t.Errorf("example %d below %d: %v", i, dim, row)
			}
			idx, val := sparse.Prefix(i, dim)
			sum, want := float32(0), float32(0)
			for k, j := range idx {
				if int(j) >= dim || row[j] != val[k] {
					t.Errorf("example %d below %d: %v %v", i, dim, idx, val)
				}
				sum += val[k]
			}
			for _, v := range row {
				want += v
			}
			if sum != want || cap(idx) != len(idx) || cap(val) != len(val) {
				t.Errorf("example %d below %d: %v %v of %v", i, dim, idx, val, row)
			}
		}
	}
}

// TestBlockOnes: whether all values are 1 is known of slices, too, and anew after Reset.
func TestBlockOnes(t *testing.T) {
	b := Block[float32]{Dim: 9000, Ptr: []int{0}}
	for _, n := range []int{3, 0, 9000, 2} {
		for j := range n {
			b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, 1)
		}
		b.Ptr, b.Y = append(b.Ptr, len(b.Idx)), append(b.Y, 1)
	}
	ones := b
	if s := ones.Slice(0, 2); !ones.Ones() || !s.Ones() {
		t.Error("ones are none")
	}
	if s := ones.Slice(1, 3); s.ones != onesOnly || !s.Ones() {
		t.Error("a slice of ones is looked at again")
	}
	checked := b
	if err := checked.Check(); err != nil {
		t.Fatal(err)
	}
	if s := checked.Slice(0, 2); s.ones != onesOnly {
		t.Error("not known of a block that was checked")
	}
	ones.Reset()
	if ones.ones != 0 {
		t.Error("known after Reset")
	}
	for _, k := range []int{0, 3000, 9002} {
		other := b
		other.Val = slices.Clone(b.Val)
		other.Val[k] = 2
		head, tail := other.Slice(0, 1), other.Slice(3, 4)
		if other.Ones() || head.Ones() != (k > 0) || !tail.Ones() {
			t.Errorf("value %d is 2: %v, first example %v, last %v", k, other.Ones(), head.Ones(),
				tail.Ones())
		}
	}
	dense := Block[float32]{Dim: 1, Stride: 1, X: []float32{1}, Y: []float32{1}}
	if dense.Ones() {
		t.Error("a dense block has ones")
	}
}
