package dataset

import (
	"bytes"
	"context"
	"fmt"
	"testing"
)

// FuzzVW never panics, gives good blocks, and the same rows and names for one small chunk after
// another as for the whole.
func FuzzVW(f *testing.F) {
	for _, s := range []string{"1 |f a:1 b\n-1 2 |g c\n", "1 | 1 2:3\n0 | 0\n",
		"a 'x|f:2 a |f a:-1e3\r\n", "|\n||\n1 |||", "1 1 0 |a\xff b",
		"1 |f a:1e308 a:1e308\n0 |", "\n# c\n1 |a:|b:"} {
		f.Add([]byte(s), 3, uint8(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, size int, bits uint8) {
		read := func(o Options) (string, string) {
			s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(text), o)
			if err != nil {
				return "", err.Error()
			}
			defer s.Close()
			rows := ""
			for {
				b, err := s.Next()
				if err != nil {
					return rows + fmt.Sprint(s.Info().Names), err.Error()
				}
				verify(t, b)
				rows += dump(b)
			}
		}
		o := Options{Format: "vw", OnError: "skip", Workers: 1, HashBits: int(bits % 9),
			Interactions: []string{"fg", "aa"}[:bits>>4%3&1], Memory: 8 << 20}
		rows, bad := read(o)
		o.chunk, o.Workers = size&63+1, 2
		if r, b := read(o); r != rows || b != bad {
			t.Errorf("%q: %q %q, in pieces %q %q", text, rows, bad, r, b)
		}
	})
}
