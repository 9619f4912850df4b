package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wideFile writes n examples of 64 numbers, of which none is 0 and number bad of each tenth is no
// number, and returns their file, and where the first begins.
func wideFile(t *testing.T, n int, bad bool) (file string, start int64) {
	t.Helper()
	x, y := make([]byte, 0, n*256), make([]byte, n)
	for i := range n {
		for j := range 64 {
			v := float32(1 + i%1000 + j)
			if bad && i%10 == 3 && j == i%64 {
				v = float32(math.NaN())
			}
			x = binary.LittleEndian.AppendUint32(x, math.Float32bits(v))
		}
		y[i] = byte(i & 1)
	}
	dir := t.TempDir()
	file = filepath.Join(dir, "X.npy")
	text := npy(dict("<f4", fmt.Sprintf("%d, 64", n)), x)
	for name, text := range map[string]string{file: text,
		filepath.Join(dir, "y.npy"): npy(dict("|u1", fmt.Sprintf("%d,", n)), y)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file, int64(len(text) - len(x))
}

// TestCutWhileRead: a file that becomes shorter while it is read gives all examples that it still
// has, no other, and an error that says where it ends.
func TestCutWhileRead(t *testing.T) {
	const n, row = 40_000, 256
	for _, left := range []int64{n*row - 1, 6<<20 + 13, 6 << 20, 6<<20 - 4096 + 1, 0} {
		for _, workers := range []int{1, 4} {
			file, start := wideFile(t, n, false)
			s, err := Open[float32](context.Background(), []string{file}, Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for {
				b, err := s.Next()
				if err != nil {
					want := fmt.Sprintf("X.npy:byte %d: expected example %d of %d, but the file is "+
						"truncated", max(left, start+int64(rows)*row), rows+1, n)
					if !errors.Is(err, ErrTruncated) || !strings.Contains(err.Error(), want) {
						t.Errorf("%v, want %s", err, want)
					}
					break
				}
				if rows == 0 {
					if s.parts[0].mapped == nil {
						t.Fatal("the file is not mapped")
					}
					if err := os.Truncate(file, left); err != nil {
						t.Fatal(err)
					}
				}
				for i := range b.Len() {
					x := b.Row(i)
					for j := range x {
						if x[j] != float32(1+rows%1000+j) {
							t.Fatalf("example %d: %v", rows+1, x)
						}
					}
					rows++
				}
			}
			if whole := int((left - start) / row); left > 1<<20 && rows != whole {
				t.Errorf("%d bytes left: %d examples, want %d", left, rows, whole)
			} else if rows == n {
				t.Errorf("%d bytes left, and all examples came", left)
			}
			s.Close()
		}
	}
}

// TestMappedAsRead: rows and errors are the same whether a file is mapped or read, of parts of it,
// too, and so is how much of it was read.
func TestMappedAsRead(t *testing.T) {
	file, _ := wideFile(t, 3000, true)
	read := func(o Options) (s *Stream[float64], said string) {
		var all strings.Builder
		o.OnError, o.OnBad = "skip", func(err error) { fmt.Fprintln(&all, err) }
		s, err := Open[float64](context.Background(), []string{file}, o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for {
			b, err := s.Next()
			if err != nil {
				if err != io.EOF {
					t.Fatal(err)
				}
				info := s.Info()
				fmt.Fprintln(&all, info.Rows, info.BadRows, info.MaxNorm, info.InputRead)
				return s, all.String()
			}
			all.WriteString(dump(b))
		}
	}
	for _, r := range []RowShard{{}, {1, 3}, {2, 3}} {
		s, want := read(Options{Memory: 1 << 30, Rows: r})
		if s.parts[0].mapped != nil {
			t.Error("mapped in spite of Options.Memory")
		}
		s, got := read(Options{Rows: r})
		if s.parts[0].mapped == nil {
			t.Error("not mapped")
		}
		if got != want {
			t.Errorf("%+v: other rows or errors: %.300s\nwant %.300s", r, got[len(got)-200:],
				want[len(want)-200:])
		}
	}
}
