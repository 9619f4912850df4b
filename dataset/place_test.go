package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestBinaryPlace: a byte that is no text is named by its place, however far into a line that fills
// chunk after chunk.
func TestBinaryPlace(t *testing.T) {
	for _, before := range []string{"", "-1 1:1\n+1 1:2\n"} {
		for _, at := range []int{300_000, 700_000} {
			text := before + "+1 1:1 # " + strings.Repeat("x", at) + "\x00" +
				strings.Repeat("x", 4_000_000)
			var row *RowError
			_, err := stream(text, Options{})
			if want := int64(strings.IndexByte(text, 0)); !errors.As(err, &row) ||
				row.Offset != want || row.Err != ErrFormat {
				t.Errorf("%d rows before, byte %d: %v (%+v)", strings.Count(before, "\n"), want,
					err, row)
			}
		}
	}
}

// TestLines: Line is the line of each row, whatever comes between, in chunks and while rows wait
// for a second label; errors in lines have the names that Located gives.
func TestLines(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var want []int
	line := 0
	add := func(s string) { text.WriteString(s + "\n"); line++ }
	for i := range 30000 {
		switch {
		case i%7 == 3:
			add("")
		case i%11 == 5:
			add("# a comment")
		case i%13 == 6:
			add("+1 1:x")
		}
		label := "+1"
		if i > 5000 && i%2 == 0 {
			label = "-1"
		}
		add(fmt.Sprint(label, " 1:", i))
		want = append(want, line)
	}
	lines := strings.Split(text.String(), "\n")
	bad := 0
	s, err := OpenReader[float32](t.Context(), "rows", strings.NewReader(text.String()),
		Options{Lines: true, OnError: "skip", Workers: 3,
			Located: func(n int) (string, int) { return fmt.Sprint("at", n), n + 1 },
			OnBad: func(err error) {
				row := (*RowError)(nil)
				if bad++; !errors.As(err, &row) || row.File != fmt.Sprint("at", row.Line-1) ||
					lines[row.Line-2] != "+1 1:x" {
					t.Fatal(err)
				}
			}})
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
		for i := range b.Len() {
			if got := s.Line(i); got != want[n] {
				t.Fatalf("row %d is in line %d, want %d", n, got, want[n])
			}
			n++
		}
	}
	if n != len(want) || bad == 0 {
		t.Errorf("%d rows, %d bad ones; want %d", n, bad, len(want))
	}
}
