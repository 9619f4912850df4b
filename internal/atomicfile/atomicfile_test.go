package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// writerEnv makes the test program a process that writes a part of the file named so and waits
// until it is killed.
const writerEnv = "HALFSPACE_TEST_WRITER"

func TestMain(m *testing.M) {
	if name := os.Getenv(writerEnv); name != "" {
		if f, err := Create(name, 0o666); err == nil {
			io.WriteString(f, "a part")
			os.Stdout.WriteString(f.part.Name() + "\n")
			io.Copy(io.Discard, os.Stdin)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// put writes a file through the package.
func put(t *testing.T, name, text string) {
	t.Helper()
	f, err := Create(name, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, name, text string) {
	t.Helper()
	if b, err := os.ReadFile(name); err != nil || string(b) != text {
		t.Errorf("%s holds %q (%v), want %q", name, b, err, text)
	}
}

// names are those of a folder's entries.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestDurable looks at the order of things: all bytes are on the disk before the name is taken, the
// folder after it.
func TestDurable(t *testing.T) {
	defer func() { fsync = (*os.File).Sync }()
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	put(t, name, "old")
	var steps []string
	fsync = func(f *os.File) error {
		now, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		what := "folder"
		if !info.IsDir() {
			what = "file"
			if info.Size() != int64(len("new text")) {
				t.Errorf("%d bytes were written before the sync, want all", info.Size())
			}
		}
		steps = append(steps, what+" while the name holds "+string(now))
		return nil
	}
	put(t, name, "new text")
	order := []string{"file while the name holds old", "folder while the name holds new text"}
	if !slices.Equal(steps, order) {
		t.Errorf("synced %q, want %q", steps, order)
	}

	broken := errors.New("broken disk")
	fsync = func(*os.File) error { return broken }
	f, err := Create(name, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); !errors.Is(err, broken) {
		t.Errorf("Commit on a broken disk: %v", err)
	}
	want(t, name, "new text")
	if l := names(t, dir); len(l) != 1 {
		t.Errorf("left behind: %v", l)
	}
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	put(t, name, "old")
	f, err := Create(name, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, "new")
	f.Discard()
	if err := f.Commit(); err == nil {
		t.Error("Commit after Discard: no error")
	}
	want(t, name, "old")
	if l := names(t, dir); len(l) != 1 {
		t.Errorf("left behind: %v", l)
	}
	if _, err := Create(dir, 0o666); !errors.Is(err, ErrTarget) {
		t.Errorf("Create of a folder's name: %v, want ErrTarget", err)
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("permissions are others here")
	}
	for _, c := range []struct{ old, perm, want os.FileMode }{
		{0, 0o600, 0o600},     // a new file
		{0o600, 0o666, 0o600}, // an old one's are kept,
		{0o666, 0o600, 0o666}, // whatever the umask is
		{0o444, 0o666, 0o444},
	} {
		name := filepath.Join(t.TempDir(), "f")
		if c.old != 0 {
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(name, c.old); err != nil {
				t.Fatal(err)
			}
		}
		f, err := Create(name, c.perm)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != c.want {
			t.Errorf("old %#o, asked for %#o: mode %#o, want %#o",
				c.old, c.perm, info.Mode().Perm(), c.want)
		}
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	link := func(to, name string) {
		if err := os.Symlink(filepath.FromSlash(to), at(name)); err != nil {
			t.Skip(err)
		}
	}
	for _, d := range []string{"a", "b", "b/deep"} {
		if err := os.Mkdir(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link("../b/new", "a/dangling") // to a file that is not there yet
	link("dangling", "a/twice")
	link("b/deep", "elsewhere")
	// This one means b/up: where the folder is, not where the link to it stands.
	link("../up", "elsewhere/parent")
	for name, target := range map[string]string{
		"a/dangling": "b/new", "a/twice": "b/new", "elsewhere/parent": "b/up",
	} {
		put(t, at(name), name)
		want(t, at(target), name)
		if info, err := os.Lstat(at(name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", name)
		}
	}
	link("loop", "loop")
	if _, err := Create(at("loop"), 0o666); err == nil {
		t.Error("a link to itself: no error")
	}
}

// TestAbandoned kills a writer: its part is removed by the next one, but not while it lives.
func TestAbandoned(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("no processes here")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "m[1].model")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	part, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	part = strings.TrimSpace(part)
	others := []string{"m[1].model.notes.part", "m[1].model.1-0.part.old", "m1.model.1-0.part"}
	for _, other := range others {
		if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	put(t, name, "one")
	if _, err := os.Stat(part); err != nil {
		t.Errorf("the part of a writer that lives: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	// What counts on Windows.
	if err := os.Chtimes(part, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	put(t, name, "two")
	got := names(t, dir)
	slices.Sort(got)
	all := append([]string{"m[1].model"}, others...)
	slices.Sort(all)
	if !slices.Equal(got, all) {
		t.Errorf("the folder has %v, want %v", got, all)
	}
}

// TestManyWriters has several write one file at once: each of them succeeds, and what is there is
// one's whole text.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 50 {
				f, err := Create(name, 0o666)
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(f, strings.Repeat(string(rune('a'+i)), 100))
				if err := f.Commit(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b, err := os.ReadFile(name)
	if err != nil || len(b) != 100 || strings.Trim(string(b), string(b[:1])) != "" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
	if l := names(t, dir); len(l) != 1 {
		t.Errorf("left behind: %v", l)
	}
}
