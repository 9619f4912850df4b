package command

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/training"
)

// FuzzMessages: of any messages the text is their lines, each place goes forward, and reading from
// a place at an end of line gives what was behind it.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("+1 1:1\n-1 2:1\n\x00+1 3:1\x00\xef\xbb\xbf-1 1:2\n\n\x00\x00x"), uint8(3),
		uint16(9))
	f.Add([]byte("a\x00b\x00\x00c\n"), uint8(1), uint16(2))
	f.Fuzz(func(t *testing.T, all []byte, some uint8, behind uint16) {
		var list []training.Message
		var want []byte
		for i, text := range bytes.Split(all, []byte{0}) {
			list = append(list, training.Message{At: int64(3 * i), Text: text})
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
			if want = append(want, text...); len(text) > 0 && text[len(text)-1] != '\n' {
				want = append(want, '\n')
			}
		}
		open := func(from training.Place) *training.Messages {
			rest := list
			for len(rest) > 0 && rest[0].At < from.At {
				rest = rest[1:]
			}
			return training.NewMessages(from, func() ([]training.Message, error) {
				n := min(len(rest), int(some)%4+1)
				if n == 0 {
					return nil, io.EOF
				}
				batch := rest[:n]
				rest = rest[n:]
				return batch, nil
			})
		}
		m := open(training.Place{Name: "t/0"})
		got, err := io.ReadAll(m)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
		lines := bytes.SplitAfter(want, []byte{'\n'})
		at, n := 0, 0
		for n < len(lines)-1 && n < int(behind)%64 {
			at += len(lines[n])
			n++
			if name, _ := m.Located(n); !strings.HasPrefix(name, "t/0@") {
				t.Fatalf("line %d is in %q", n, name)
			}
		}
		place := m.Place(int64(at))
		from, err := training.ParsePlace("t/0", place)
		if err != nil || from.String() != place {
			t.Fatalf("%q is the place %v: %v", place, from, err)
		}
		rest, err := io.ReadAll(open(from))
		if err != nil || !bytes.Equal(rest, want[at:]) {
			t.Fatalf("from %s: %q, %v, want %q", place, rest, err, want[at:])
		}
	})
}
