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
