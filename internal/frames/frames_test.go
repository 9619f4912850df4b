package frames

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// read returns the bytes of the frames, and the error behind them.
func read(data []byte) (all [][]byte, err error) {
	r := NewReader(bufio.NewReader(bytes.NewReader(data)), int64(len(data)))
	for {
		kind, body, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, append([]byte{kind}, body...))
	}
}

// TestFrames: what was written comes back; a file that was cut anywhere is torn, and one with
// another bit is damaged, or torn where that is in the last frame.
func TestFrames(t *testing.T) {
	var data []byte
	ends := []int{0}
	for _, parts := range [][]string{{"header"}, {"", "one", "two"}, {}, {"the last"}} {
		var of [][]byte
		for _, p := range parts {
			of = append(of, []byte(p))
		}
		data = Append(data, 'A', of...)
		ends = append(ends, len(data))
	}
	all, err := read(data)
	if err != io.EOF || len(all) != 4 || string(all[1]) != "Aonetwo" || string(all[2]) != "A" {
		t.Fatalf("%q, %v", all, err)
	}
	whole := 0
	for cut := range data {
		want := ErrTorn
		if cut == ends[whole+1] {
			whole++
		}
		if cut == ends[whole] {
			want = io.EOF
		}
		if all, err := read(data[:cut]); err != want || len(all) != whole {
			t.Errorf("cut at %d: %d frames, %v", cut, len(all), err)
		}
		bad := bytes.Clone(data)
		bad[cut] ^= 4
		all, err := read(bad)
		if !(errors.Is(err, ErrDamaged) || cut >= ends[3] && err == ErrTorn) || len(all) > whole {
			t.Errorf("another bit at %d: %d frames, %v", cut, len(all), err)
		}
	}
	if all, err := read(append(bytes.Clone(data), make([]byte, 4096)...)); err != ErrTorn ||
		len(all) != 4 {
		t.Errorf("zeros behind: %d frames, %v", len(all), err)
	}
}
