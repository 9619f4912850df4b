package waiting

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestList: what waits is found by its id, the oldest goes first, by count and by bytes.
func TestList(t *testing.T) {
	l := New[int](3, 0)
	for i := range 5 {
		var dropped []string
		l.Add(fmt.Sprint(i), i, 10, func(id string, v int) {
			dropped = append(dropped, fmt.Sprint(id, v))
		})
		if want := max(0, i-2); int(l.Expired()) != want || len(dropped) != min(1, want) {
			t.Errorf("after %d: %d expired, dropped %v", i, l.Expired(), dropped)
		}
	}
	if old, again := l.Add("3", 33, 10, nil); !again || old != 3 || l.Len() != 3 {
		t.Errorf("again: %v, %v, %d wait", old, again, l.Len())
	}
	if v, ok := l.Take("2"); !ok || v != 2 {
		t.Errorf("2: %v, %v", v, ok)
	}
	if _, ok := l.Take("0"); ok {
		t.Error("0 is there")
	}
	if ids := slices.Collect(maps.Keys(maps.Collect(l.All()))); len(ids) != 2 {
		t.Errorf("%v wait", ids)
	}
	one := New[int](100, 1000)
	one.Add("small", 1, 10, nil)
	if one.Add("large", 2, 1000, nil); one.Len() != 0 || one.Bytes() != 0 || one.Expired() != 2 {
		t.Errorf("%d wait, %d bytes, %d expired", one.Len(), one.Bytes(), one.Expired())
	}
}

// TestListOrder: whatever comes and goes, what waits is what a plain list has, in its order.
func TestListOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l := New[int](7, 0)
	var plain []string
	for i := range 2000 {
		id := fmt.Sprint(r.IntN(20))
		at := slices.Index(plain, id)
		if at >= 0 {
			plain = slices.Delete(plain, at, at+1)
		}
		if r.IntN(3) == 0 {
			if _, ok := l.Take(id); ok != (at >= 0) {
				t.Fatalf("%d: taken %v", i, ok)
			}
		} else {
			l.Add(id, i, 1, nil)
			plain = append(plain, id)
			plain = plain[max(0, len(plain)-7):]
		}
		var have []string
		for id := range l.All() {
			have = append(have, id)
		}
		if !slices.Equal(have, plain) || l.Len() != len(plain) {
			t.Fatalf("%d: %v wait, want %v", i, have, plain)
		}
	}
	if l.Bytes() <= 0 {
		t.Errorf("%d bytes", l.Bytes())
	}
}
