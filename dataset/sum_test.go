package dataset

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// sumsOf returns the sum after each row, and compares those with rows left out of the last block.
func sumsOf(t *testing.T, files []string, o Options) (sums []uint64) {
	t.Helper()
	o.Sums = true
	s, err := Open[float32](t.Context(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		b, err := s.Next()
		if err == io.EOF {
			if s.Sum(0) != sums[len(sums)-1] {
				t.Error("the sum changes at the end")
			}
			return sums
		}
		if err != nil {
			t.Fatal(err)
		}
		for back := b.Len() - 1; back >= 0; back-- {
			sums = append(sums, s.Sum(back))
		}
	}
}

// TestSum: the sums of the same rows are the same, however they come, and those of others differ
// from the first other row on.
func TestSum(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "%d 1:%d %d:0.5\n", i/50%2*2-1, i%7, 2+i%11)
	}
	all := text.String()
	whole := written(t, all)
	want := sumsOf(t, whole, Options{})
	if len(want) != 3000 {
		t.Fatalf("%d rows", len(want))
	}
	seen := map[uint64]bool{}
	for _, v := range want {
		seen[v] = true
		if v>>53 != 0 {
			t.Fatalf("%#x has more than 53 bits", v)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%d sums of %d rows", len(seen), len(want))
	}
	half := strings.Index(all[len(all)/2:], "\n") + len(all)/2 + 1
	parts := written(t, all[:half], strings.ReplaceAll(all[half:], " ", "  "))
	for name, got := range map[string][]uint64{
		"small chunks": sumsOf(t, whole, Options{chunk: 100, Workers: 3}),
		"packed":       sumsOf(t, written(t, string(gz([]byte(all)))), Options{}),
		"two files":    sumsOf(t, parts, Options{Workers: 1}),
		"any classes":  sumsOf(t, whole, Options{AnyClasses: true}),
	} {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: other sums", name)
		}
	}
	for name, change := range map[string][2]string{
		"value": {"1:3", "1:4"}, "feature": {" 7:", " 8:"}, "label": {"-1 ", "1 "},
		"one more": {"1:3", "1:3 2:1"}, "order": {"1:3", "1:6"},
	} {
		at := half + strings.Index(all[half:], "\n") + 1
		other := all[:at] + strings.Replace(all[at:], change[0], change[1], 1)
		row := 0
		for other[:row] == all[:row] {
			row++
		}
		row = strings.Count(all[:row-1], "\n")
		got := sumsOf(t, written(t, other), Options{})
		for i := range got {
			if (got[i] == want[i]) != (i < row) {
				t.Fatalf("another %s in row %d: row %d has %#x, was %#x", name, row, i, got[i],
					want[i])
			}
		}
	}
}
