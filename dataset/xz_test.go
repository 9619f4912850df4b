package dataset

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// Files that the xz command wrote: two rows with -9e (64 MiB of window), one with -0 and the check
// sha256, one with a window of 256 MiB.
var (
	xzTwo = unbase64("/Td6WFoAAATm1rRGAgAhARwAAAAQz1jMAQATKzEgMToxIDI6MC41Ci0xIDM6MQoAUURVtq5e" +
		"NCQAASwU+AptAx+2830BAAAAAARZWg==")
	xzOne = unbase64("/Td6WFoAAArh+wyhAgAhAQwAAACPmEGcAQAGKzEgMToyCgAA3Gd81M2WEhWWZ5k5TT2IHdef" +
		"ayDiMRQgYr2LmMczZQAAATcHvIDlLhibS5oBAAAAAApZWg==")
	xzWide = unbase64("/Td6WFoAAAFpIt42AgAhASAAAAAJiKV2AQAGKzEgMToyCgAA+Qv/MgABGwcS69QXkEKZDQEA" +
		"AAAAAVla")
)

func unbase64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// TestXZ reads streams one behind the other, with padding between them and behind the last, and
// names what is wrong with others.
func TestXZ(t *testing.T) {
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	damaged := bytes.Clone(xzTwo)
	damaged[30] ^= 1
	for _, tc := range []struct {
		name   string
		packed []byte
		o      Options
		want   string
		err    error // nil: all is read
		text   string
	}{
		{"one", xzTwo, Options{}, "+1 0:1 1:0.5|-1 2:1|", nil, ""},
		{"two and padding", join(xzTwo, make([]byte, 8), xzOne, make([]byte, 4)), Options{},
			"+1 0:1 1:0.5|-1 2:1|+1 0:2|", nil, ""},
		{"truncated", xzTwo[:40], Options{}, "", ErrTruncated, "in:2:1: the xz data"},
		{"truncated in the header", xzTwo[:9], Options{}, "", ErrTruncated, "in:1:1: the xz data"},
		{"truncated behind the rows", join(xzTwo, xzOne[:60]), Options{}, "", ErrTruncated, ""},
		{"truncated at the very end", xzTwo[:len(xzTwo)-1], Options{}, "", ErrTruncated, ""},
		{"damaged", damaged, Options{}, "", ErrFormat, "the xz data are damaged here"},
		{"no stream behind", join(xzTwo, []byte("garbage that is none")), Options{}, "", ErrFormat,
			"the xz data are damaged here"},
		{"padding of another length", join(xzTwo, make([]byte, 3)), Options{}, "", ErrFormat, ""},
		{"a window above the limit", xzWide, Options{}, "", ErrMemory, "window of more than 128 MiB"},
		{"a window above the memory", xzTwo, Options{Memory: 32 << 20}, "", ErrMemory,
			"window of more than 15 MiB"},
		{"a window within the memory", xzOne, Options{Memory: 4 << 20}, "+1 0:2|", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// nothing is lost, or waited for, where the data come one byte at a time
			for _, r := range []io.Reader{bytes.NewReader(tc.packed), &oneByte{tc.packed}} {
				s, err := OpenReader[float64](context.Background(), "in", r, tc.o)
				rows := ""
				if err == nil {
					rows, err = drain(s)
				}
				if !errors.Is(err, tc.err) || tc.err == nil && (err != nil || rows != tc.want) ||
					err != nil && !strings.Contains(err.Error(), tc.text) {
					t.Errorf("%q, %v", rows, err)
				}
			}
		})
	}
}

// oneByte gives a byte at a time.
type oneByte struct{ b []byte }

func (r *oneByte) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:1], r.b)
	r.b = r.b[n:]
	return n, nil
}

// FuzzXZ never panics, takes no more memory than there is, and gives rows or an error with a place.
func FuzzXZ(f *testing.F) {
	for _, b := range [][]byte{xzTwo, xzOne, xzWide, xzTwo[:40]} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		if !bytes.HasPrefix(packed, xzMagic) {
			return
		}
		s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(packed),
			Options{Memory: 8 << 20, OnError: "skip", Positive: "1"})
		if err == nil {
			_, err = drain(s)
		}
		if err != nil && !errors.As(err, new(*format.RowError)) {
			t.Error(err)
		}
	})
}
