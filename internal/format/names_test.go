package format

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestHashName: the hashes are those of VW. The first are murmur3_x86_32, as scikit-learn computes
// it (murmurhash3_32(name, seed, positive=True)).
func TestHashName(t *testing.T) {
	for _, tc := range []struct {
		namespace, name string
		want            uint32
	}{
		{"", "a", 0x3c2569b2},
		{"", "price", 0xe7cb820e},
		{"", "123", 123},
		{"", "00123", 123},
		{"12", "3", 15},
	} {
		if h := HashName([]byte(tc.namespace), []byte(tc.name)); h != tc.want {
			t.Errorf("%q %q: %#x, want %#x", tc.namespace, tc.name, h, tc.want)
		}
	}
}

// TestNames: numbers are in order of first occurrence, a list makes the same dictionary again, and
// what has no room is refused.
func TestNames(t *testing.T) {
	var n Dictionary
	for i, name := range []string{"b", "a", "", "b", "é", "a"} {
		want := []int32{0, 1, 2, 0, 3, 1}[i]
		if k, err := n.Number(name, 0); k != want || err != nil {
			t.Errorf("%q: %d, %v", name, k, err)
		}
	}
	again, err := NewDictionary(n.List(), 0)
	if err != nil || !slices.Equal(again.List(), n.List()) || again.Len() != 4 {
		t.Errorf("%v, %v", again, err)
	}
	if k, ok := again.Find("é"); k != 3 || !ok {
		t.Error(k, ok)
	}
	for _, list := range [][]string{{"a", "b", "a"}, {"a\xff"}, {strings.Repeat("a", LongName+1)}} {
		if _, err := NewDictionary(list, 0); !errors.Is(err, ErrOption) {
			t.Errorf("%.20q: %v", list, err)
		}
	}
	for _, bits := range []int{-1, MaxHashBits + 1} {
		if _, err := NewDictionary(nil, bits); !errors.Is(err, ErrOption) {
			t.Error(bits, err)
		}
	}
	if _, err := NewDictionary([]string{"a"}, 8); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
	long := strings.Repeat("x", LongName-8)
	for i := range MaxNames + 1 {
		if _, err = n.Number(fmt.Sprint(long, i), 0); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "HashBits") ||
		n.Len() > MaxNameBytes/(LongName-8)+4 {
		t.Error(n.Len(), err)
	}
}

// TestHashedNames counts the features that names share, whatever their order.
func TestHashedNames(t *testing.T) {
	for _, order := range [][]string{{"3", "11", "8", "4", "3"}, {"4", "3", "8", "3", "11"}} {
		n, err := NewDictionary(nil, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range order {
			k, err := n.Number(name, HashName(nil, []byte(name)))
			if want := map[string]int32{"3": 3, "11": 3, "8": 0, "4": 4}[name]; k != want ||
				err != nil {
				t.Errorf("%s: %d, want %d, %v", name, k, want, err)
			}
		}
		if n.Shared() != 1 || n.Len() != 8 || n.List() != nil {
			t.Error(n.Shared(), n.Len(), n.List())
		}
	}
}

// TestSettle: however rows of names are cut into chunks, and whichever sets parse them, numbers are
// those of one dictionary filled in order; rows are sorted by them.
func TestSettle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows [][]string
	for range 200 {
		var row []string
		for range rng.IntN(90) {
			row = append(row, fmt.Sprint("n", rng.IntN(150)))
		}
		rows = append(rows, row)
	}
	run := func(most int, bits int) string {
		names, err := NewDictionary(nil, bits)
		if err != nil {
			t.Fatal(err)
		}
		sets := []*NameSet{{}, {}, {}}
		out := ""
		for at, k := 0, 0; at < len(rows); k++ {
			hi := min(len(rows), at+1+rng.IntN(most))
			r := &Rows[float64]{Names: sets[k%3]}
			c := &Chunk[float64]{Out: r}
			r.Reset(false)
			c.names()
			for _, row := range rows[at:hi] {
				lo := len(r.Idx)
				r.Idx, r.Val = append(r.Idx, 0), append(r.Val, -1) // the bias
				had := len(r.Names.list)
				for _, name := range row {
					feature(r, lo+1, []byte(name), 1, Place{Row: r.N},
						func() uint32 { return HashName(nil, []byte(name)) })
				}
				if len(row) == 7 { // a bad row leaves nothing
					r.Idx, r.Val = r.Idx[:lo], r.Val[:lo]
					r.Names.cut(had)
					continue
				}
				r.N++
				r.Ptr = append(r.Ptr, len(r.Idx))
			}
			if _, err := r.Settle(names, 1, false); err != nil {
				t.Fatal(err)
			}
			for i := range r.N {
				idx := r.Idx[r.Ptr[i]:r.Ptr[i+1]]
				if !slices.IsSorted(idx) || len(slices.Compact(slices.Clone(idx))) != len(idx) {
					t.Fatal("no ascending features: ", idx)
				}
				out += fmt.Sprint(idx, r.Val[r.Ptr[i]:r.Ptr[i+1]], "\n")
			}
			at = hi
		}
		return out + fmt.Sprint(names.List(), names.Shared())
	}
	for _, bits := range []int{0, 5} {
		want := run(1, bits)
		for _, most := range []int{2, 7, 300} {
			if got := run(most, bits); got != want {
				t.Errorf("%d bits, chunks of up to %d rows: another result", bits, most)
			}
		}
	}
}
