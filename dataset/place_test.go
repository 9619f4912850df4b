package dataset

import (
	"errors"
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

// TestInKiB: amounts of memory for people, at the ends of each form.
func TestInKiB(t *testing.T) {
	for n, want := range map[int64]string{1023: "1023 bytes", 1024: "1 KiB", 1<<20 - 1: "1023 KiB",
		1 << 20: "1 MiB", 1<<20 + 1024: "1025 KiB",
		10<<20 - 1: "10239 KiB", 10 << 20: "10 MiB", 10<<20 + 1<<19: "10.5 MiB"} {
		if got := inKiB(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
