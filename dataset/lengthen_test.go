package dataset

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestLengthen: behind Lengthen Next returns more rows at once, the same ones; with a bound of
// memory it changes nothing.
func TestLengthen(t *testing.T) {
	var text strings.Builder
	const rows = 20000
	for i := range rows {
		fmt.Fprintf(&text, "%d %d:1 %d:2.%060d\n", 1-i%3%2*2, 1+i%7, 900+i%1000, i)
	}
	for _, o := range []Options{{Workers: 2}, {Workers: 2, Memory: 4 << 20},
		{Workers: 2, chunk: 999}} {
		read := func(long bool) (most int, sum uint64) {
			t.Helper()
			s, err := OpenReader[float32](context.Background(), "FILE",
				strings.NewReader(text.String()), o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			n := 0
			for {
				b, err := s.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if long {
					s.Lengthen()
				}
				most, n = max(most, b.Len()), n+b.Len()
				for i := range b.Y {
					for _, j := range b.Idx[b.Ptr[i]:b.Ptr[i+1]] {
						sum = sum*31 + uint64(j)
					}
					sum = sum*31 + uint64(int64(b.Y[i]))
				}
			}
			if n != rows {
				t.Errorf("%d rows, want %d", n, rows)
			}
			return most, sum
		}
		short, want := read(false)
		long, got := read(true)
		if got != want {
			t.Errorf("memory %d, pieces of %d: other rows", o.Memory, o.chunk)
		}
		if bound := o.Memory > 0 || o.chunk > 0; bound != (long == short) {
			t.Errorf("memory %d, pieces of %d: up to %d rows at once, %d longer", o.Memory, o.chunk,
				short, long)
		}
	}
}
