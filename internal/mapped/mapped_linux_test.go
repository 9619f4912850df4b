package mapped

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// open writes a file of n bytes, none of which is 0, and maps it.
func open(t *testing.T, n int) (*os.File, *File) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, bytes.Repeat([]byte{7}, n), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	m := Open(f)
	if m == nil {
		t.Fatal("not mapped")
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, m
}

// TestCut: of a file that became shorter as much is there as it has, in whatever page it ends, and
// wherever it is looked at.
func TestCut(t *testing.T) {
	const size = 100_000
	for _, left := range []int64{size - 1, 70_000, 65_536, 40_001, 4096, 1, 0} {
		f, m := open(t, size)
		sum := 0
		add := func(from, n int) func() {
			return func() {
				for _, v := range m.Bytes(int64(from), n) {
					sum += int(v)
				}
			}
		}
		if there, err := m.Look(size, add(0, size)); there != size || err != nil || sum != 7*size {
			t.Fatal(there, err, sum)
		}
		if err := f.Truncate(left); err != nil {
			t.Fatal(err)
		}
		to := make([]byte, size)
		for name, look := range map[string]func(){
			"byte by byte": add(0, size), "its end": add(size-10, 10), "nothing": func() {},
			"a copy": func() { copy(to, m.Bytes(0, size)) },
		} {
			if there, err := m.Look(size, look); there != left || err != io.ErrUnexpectedEOF {
				t.Errorf("%d bytes left, %s: %d, %v", left, name, there, err)
			}
		}
		sum = 0
		if there, err := m.Look(left, add(0, int(left))); there != left || err != nil ||
			sum != 7*int(left) {
			t.Errorf("%d bytes left: %d, %v, sum %d", left, there, err, sum)
		}
	}
}

// TestGrown: a file that is long enough again when that is asked has lost what was looked at.
func TestGrown(t *testing.T) {
	f, m := open(t, 20_000)
	there, err := m.Look(20_000, func() {
		f.Truncate(0)
		defer f.Truncate(20_000)
		_ = append([]byte(nil), m.Bytes(9000, 9000)...)
	})
	if there != 0 || !errors.Is(err, syscall.EIO) {
		t.Error(there, err)
	}
}

// TestOtherPanics are not taken for a file's.
func TestOtherPanics(t *testing.T) {
	_, m := open(t, 5000)
	for want, f := range map[string]func(){
		"nil pointer":  func() { var p *File; p.kept++ },
		"out of range": func() { m.Bytes(0, 5000)[len(m.data)] = 1 },
		"own":          func() { panic("own") },
	} {
		func() {
			defer func() {
				e := recover()
				said, _ := e.(string)
				if err, ok := e.(error); ok {
					said = err.Error()
				}
				if !strings.Contains(said, want) {
					t.Errorf("%v, want %s", e, want)
				}
			}()
			m.Look(5000, f)
			t.Errorf("%s: no panic", want)
		}()
	}
}

// TestForget: what was given back is there when it is looked at again, and what has been looked at
// does not stay in memory.
func TestForget(t *testing.T) {
	const size = 32 << 20
	_, m := open(t, size)
	most := 0
	for at := int64(0); at < size; at += 1 << 17 {
		if _, err := m.Look(at+1<<17, func() {
			if i := bytes.IndexByte(m.Bytes(at, 1<<17), 0); i >= 0 {
				t.Fatal(at, i)
			}
		}); err != nil {
			t.Fatal(err)
		}
		m.Forget(at)
		most = max(most, resident(t))
	}
	if most > 8<<20 {
		t.Errorf("%d MiB of the file were in memory", most>>20)
	}
	if there, err := m.Look(size, func() {
		if !bytes.Equal(m.Bytes(0, 3), []byte{7, 7, 7}) {
			t.Error("other bytes")
		}
	}); there != size || err != nil {
		t.Error(there, err)
	}
}

func TestNotMapped(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	empty, err := os.Create(filepath.Join(t.TempDir(), "empty"))
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	proc, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	for _, f := range []*os.File{r, dir, empty, proc} {
		if Open(f) != nil {
			t.Error(f.Name(), "is mapped")
		}
	}
}

// resident returns how many bytes of files are in this process's memory by mappings of this test's
// file.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	sum, ours := 0, false
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 0 && strings.Contains(f[0], "-") {
			ours = strings.HasSuffix(line, "/file")
		} else if ours && len(f) > 1 && f[0] == "Rss:" {
			n := 0
			for _, d := range f[1] {
				n = 10*n + int(d-'0')
			}
			sum += n << 10
		}
	}
	return sum
}
