package dataset

import (
	"strings"
	"testing"
)

// TestMark: a byte order mark before text of any format is no part of it.
func TestMark(t *testing.T) {
	for format, text := range map[string]string{
		"svmlight": "+1 1:1\n-1 2:1\n",
		"csv":      "1,2,a\n3,4,b\n",
		"ndjson":   `{"y":1,"a":2}` + "\n" + `{"y":0,"a":3}` + "\n",
		"vw":       "1 | a\n-1 | b\n",
		"fasta": "> label=1\n" + strings.Repeat("A", 60) + "\n> label=-1\n" +
			strings.Repeat("C", 60) + "\n",
	} {
		for _, o := range []Options{{}, {Format: format}} {
			want, err := load(text, o)
			if err != nil {
				t.Fatal(err)
			}
			d, err := load("\ufeff"+text, o)
			if err != nil || d.Info.Format != format || d.Info.Rows != want.Info.Rows ||
				d.Block.Dim != want.Block.Dim {
				t.Errorf("%s: %v, %+v", format, err, d)
			}
		}
	}
	// one is dropped; what is behind it is text
	if _, err := load("\ufeff\ufeff+1 1:1\n", Options{}); err == nil {
		t.Error("two marks, and no error")
	}
}
