package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// Plain integers in csv are read by a shorter way: they give the bits that the same numbers do that
// are written with a point, which no such way reads, wherever the label stands.
func TestCSVIntegers(t *testing.T) {
	values := []string{"0", "7", "10", "255", "0012", "999999", "9999999", "10000000", "16777217",
		"-3", "+4", "0.5", "12345678901234567890", "00000001", "8"}
	parse := func(text string) []float32 {
		t.Helper()
		s := opened[float32](t, strings.NewReader(text),
			Options{Format: "csv", Positive: "1", LabelCol: "class"})
		var all []float32
		for {
			b, err := s.Next()
			if err == io.EOF {
				return all
			}
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			for i := range b.Len() {
				all = append(append(all, b.Row(i)[:b.Dim]...), b.Y[i])
			}
		}
	}
	for _, delim := range []string{",", ";", "\t", " "} {
		for label := range len(values) + 1 {
			var names, plain, point []string
			for i, v := range values {
				names, plain = append(names, fmt.Sprint("x", i)), append(plain, v)
				if !strings.Contains(v, ".") {
					v += ".0"
				}
				point = append(point, v)
			}
			line := func(fields []string, y string) string {
				return strings.Join(slices.Insert(slices.Clone(fields), label, y), delim) + "\n"
			}
			head := line(names, "class")
			got := parse(head + line(plain, "1") + line(plain, "2"))
			want := parse(head + line(point, "1") + line(point, "2"))
			if !slices.Equal(got, want) || len(got) != 2*(len(values)+1) {
				t.Errorf("%q, label in column %d: %v, want %v", delim, label+1, got, want)
			}
		}
	}
	for _, short := range []string{"1,2,\n", "1,2\n", "1,2,3,4\n", "1,,3\n", ",2,3\n", "1,2x,3\n"} {
		s := opened[float32](t, strings.NewReader("a,b,class\n1,2,1\n"+short),
			Options{Format: "csv", Positive: "1", Workers: 1})
		var err error
		for err == nil {
			_, err = s.Next()
		}
		if !strings.HasPrefix(err.Error(), "in:3:") {
			t.Errorf("%q: %v, want an error of line 3", short, err)
		}
		s.Close()
	}
}
