package engine

import (
	"math/rand/v2"
	"testing"
)

// TestRoom: a table that grows in steps moves a few times, and is never much too large.
func TestRoom(t *testing.T) {
	if Room(0, 7) != 7 || Room(10, 10) != 10 || Room(10, 3) != 10 || Room(100, 1000) != 1000 {
		t.Errorf("first or single steps: %d %d %d %d", Room(0, 7), Room(10, 10), Room(10, 3),
			Room(100, 1000))
	}
	have, moves := 0, 0
	for need := 1; need <= 1_000_000; need++ {
		if room := Room(have, need); room != have {
			have = room
			moves++
		}
		if int64(have) > most(int64(need)) {
			t.Fatalf("room for %d where %d are needed", have, need)
		}
	}
	if moves > 60 {
		t.Errorf("%d moves", moves)
	}
}

// TestBoundsOfMemory: what the functions of room.go say is no less than what lists and maps come
// to hold, and not many times that.
func TestBoundsOfMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	within := func(what string, got, bound int64, times int64) {
		t.Helper()
		if got > bound || bound > times*got+8<<10 {
			t.Errorf("%s: %d bytes are held, the bound is %d", what, got, bound)
		}
	}
	for _, c := range []struct {
		dim, nnz int
		values   []float32
		dense    bool
	}{
		{50, 9, []float32{1}, false}, {5000, 9, []float32{1}, false},
		{50, 9, []float32{1, 7}, false}, {5000, 9, []float32{0.5}, false},
		{40, 40, []float32{1, 0.5}, true}, {40, 40, []float32{1}, true},
		{400, 380, []float32{3}, false},
	} {
		p, err := NewPoints[float32](Kernel{Kind: Linear})
		if err != nil {
			t.Fatal(err)
		}
		const n = 400
		for i := range n {
			b := &Block[float32]{Dim: c.dim, Y: []float32{1}}
			if c.dense {
				b.Stride = c.dim
				for range c.dim {
					b.X = append(b.X, c.values[r.IntN(len(c.values))])
				}
			} else {
				b.Ptr = []int{0, 0}
				for j, left := 0, c.nnz; left > 0 && j < c.dim; j++ {
					if r.IntN(c.dim-j) < left {
						b.Idx = append(b.Idx, int32(j))
						b.Val = append(b.Val, c.values[r.IntN(len(c.values))])
						left--
					}
				}
				b.Ptr[1] = len(b.Idx)
			}
			need := p.Need(b, 0, true)
			p.Append(b, 0, 1)
			if p.Bytes() > need+64 {
				t.Fatalf("%+v: %d bytes after example %d, Need said %d", c, p.Bytes(), i, need)
			}
			at := r.IntN(i + 1)
			need = p.Need(b, 0, false)
			p.Replace(at, b, 0)
			if p.Bytes() > need+64 {
				t.Fatalf("%+v: %d bytes after a replacement, Need said %d", c, p.Bytes(), need)
			}
		}
		held, _ := PointsBytes(n, int64(c.nnz), int64(c.dim), 4, c.dense)
		within("points", p.Bytes(), held, 200)
	}
	f, err := NewFourier[float32](30, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var z Block[float32]
	for j := range 100 {
		b := &Block[float32]{Dim: j + 1, Ptr: []int{0, 1}, Idx: []int32{int32(j)},
			Val: []float32{1}, Y: []float32{1}}
		if err := f.Map(&z, b); err != nil {
			t.Fatal(err)
		}
	}
	held, _ := FourierBytes(30, 100, 1, 4, true)
	within("frequencies", f.Bytes()+int64(4*cap(z.X)), held, 2)
}
