package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// parted are blocks of some of the examples of b, each with their numbers.
func parted[T Float](b *Block[T], parts int) (blocks []*Block[T], numbers [][]int32) {
	for part := range parts {
		p, of := &Block[T]{Dim: b.Dim, Stride: b.Stride}, []int32(nil)
		if !b.Dense() {
			p.Ptr = []int{0}
		}
		for i := range b.Len() {
			if i%parts == part {
				continue
			}
			of, p.Y = append(of, int32(i)), append(p.Y, b.Y[i])
			if b.Dense() {
				p.X = append(p.X, b.X[i*b.Stride:][:b.Stride]...)
				continue
			}
			idx, val := b.Sparse(i)
			p.Idx, p.Val = append(p.Idx, idx...), append(p.Val, val...)
			p.Ptr = append(p.Ptr, len(p.Idx))
		}
		blocks, numbers = append(blocks, p), append(numbers, of)
	}
	return blocks, numbers
}

// TestCommonRows: whoever asks, in whatever order, with however much room, rows of parts are to the
// bit those that a part computes for itself; with room each row of all is computed once.
func TestCommonRows(t *testing.T) {
	t.Parallel()
	t.Run("float32", testCommonRows[float32])
	t.Run("float64", testCommonRows[float64])
}

func testCommonRows[T Float](t *testing.T) {
	const n, dim, parts, users = 40, 600, 4, 2
	ctx := context.Background()
	for _, c := range []content{zeroOne, pixels, reals} {
		for _, dense := range []bool{false, true} {
			b := randomBlock[T](7, c, dense, n, dim, 0.3)
			blocks, numbers := parted(b, parts)
			kernels := []Kernel{RBFSigma(300), {Kind: Poly, Gamma: 1e-4, Degree: 2, Coef0: 1}}
			some := mustPoints(t, kernels[0], b).Bytes() + n + n/2*(n*8+rowBooks)
			for _, limit := range []int64{0, some, 1 << 30} {
				all := NewCommonRows(slices.Values([]*Block[T]{b}), n, limit)
				var learners sync.WaitGroup
				for u := range users * parts * len(kernels) {
					part, k := u%parts, kernels[u/parts%len(kernels)]
					learners.Go(func() {
						p := blocks[part]
						rows, err := RowsOf(all.Part(p, numbers[part]), k, p, 1<<20, nil)
						if err != nil {
							t.Error(err)
							return
						}
						alone := mustPoints(t, k, p)
						want := make([]T, p.Len())
						order := rand.New(rand.NewPCG(uint64(u), 1)).Perm(p.Len())
						for _, i := range order {
							alone.Row(want, i, 0, p.Len())
							half, err := rows.Row(ctx, i, p.Len()/2)
							if err != nil || differ(half, want[:p.Len()/2]) != "" {
								t.Errorf("half of row %d: %v", i, err)
							}
							got, err := rows.Row(ctx, i, p.Len())
							if err != nil {
								t.Error(err)
							} else if d := differ(got, want); d != "" {
								t.Errorf("row %d: %s", i, d)
							}
						}
					})
				}
				learners.Wait()
				s, asked := all.Stats(), uint64(2*users*len(kernels)*(parts-1)*n)
				of := fmt.Sprintf("content %d, dense %v, %d bytes: %+v", c, dense, limit, s)
				switch {
				case s.Bytes > limit || s.Evictions != 0:
					t.Errorf("%s: more than there is room for", of)
				case limit == 0 && s != RowStats{}:
					t.Errorf("%s: rows without room", of)
				case limit == 1<<30 && (s.Misses != uint64(len(kernels)*n) ||
					s.Hits+s.Misses != asked):
					t.Errorf("%s: of %d that were asked for", of, asked)
				case limit == some && (s.Rows == 0 || s.Rows == len(kernels)*n):
					t.Errorf("%s: some fit", of)
				}
			}
		}
	}
}

// TestCommonRowsOfOthers: examples that are not the part, though as many, have rows of their own;
// and where values cost next to nothing, all have.
func TestCommonRowsOfOthers(t *testing.T) {
	t.Parallel()
	k := RBFSigma(300)
	for _, c := range []content{reals, zeroOne} {
		b := randomBlock[float32](7, c, true, 30, 40, 0.5)
		blocks, numbers := parted(b, 2)
		all := NewCommonRows(slices.Values([]*Block[float32]{b}), b.Len(), 1<<20)
		asked, part := blocks[1], all.Part(blocks[0], numbers[0])
		if c == zeroOne {
			asked = blocks[0]
		}
		rows, err := RowsOf(part, k, asked, 1<<20, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rows.Row(context.Background(), 3, asked.Len())
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float32, asked.Len())
		mustPoints(t, k, asked).Row(want, 3, 0, asked.Len())
		if d := differ(got, want); d != "" {
			t.Error(d)
		}
		if s := all.Stats(); s != (RowStats{}) {
			t.Errorf("content %d: %+v", c, s)
		}
	}
	var none *CommonRows[float32]
	if none.Part(nil, nil) != nil || none.Stats() != (RowStats{}) {
		t.Error("no common rows have some")
	}
	if _, err := RowsOf(NewCommonRows(slices.Values([]*Block[float32](nil)), 0, 1).Part(
		&Block[float32]{}, nil), Kernel{Kind: RBF}, &Block[float32]{}, 0, nil); err == nil {
		t.Error("no error of a kernel that is none")
	}
}
