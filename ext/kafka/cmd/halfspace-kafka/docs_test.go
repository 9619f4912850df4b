package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/realdata"
)

const shared = "../../../../../shared/data" // the public data, beside the repository

// TestDocs runs the commands of docs/brokers.md that are marked for this module, in order: "$ "
// begins a command, what follows is what it prints, ... stands for what differs.
func TestDocs(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := b.client()
	create(t, c, "rows")
	fill(t, c, "rows", rows(2000), 1)
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(mustAbs(t, os.Args[0]), filepath.Join(bin, "halfspace-kafka")); err != nil {
		t.Skip(err)
	}
	page := content(t, "../../../../docs/brokers.md")
	n := 0
	for _, block := range regexp.MustCompile("(?s)```console kafka\n(.*?)```").FindAllSubmatch(
		page, -1) {
		for _, part := range strings.Split("\n"+string(block[1]), "\n$ ")[1:] {
			line, want, _ := strings.Cut(part, "\n")
			n++
			cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", strings.ReplaceAll(line,
				"localhost:9092", fmt.Sprint("127.0.0.1:", b.port)))
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HALFSPACE_TEST_AS=command", "PATH="+bin+":"+
				os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), `\.\.\.`,
				`[^\n]*`)
			if err != nil || !regexp.MustCompile(`^`+pattern+`$`).Match(bytes.TrimSpace(out)) {
				t.Errorf("%s\nprints (%v)\n%snot\n%s", line, err, out, want)
			}
		}
	}
	if n < 5 {
		t.Errorf("%d commands: are they found?", n)
	}
}

func mustAbs(t *testing.T, name string) string {
	t.Helper()
	name, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestA9a: the stream of a9a gives the model that the file gives. With HALFSPACE_TEST_RATES it says
// how long that takes.
func TestA9a(t *testing.T) {
	if os.Getenv("HALFSPACE_DATA") == "" {
		t.Setenv("HALFSPACE_DATA", mustAbs(t, shared))
	} else {
		t.Parallel()
	}
	file := realdata.File(t, "a9a.gz")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	b := newBroker(t)
	c := b.client()
	dir := t.TempDir()
	train := func(name, from string) [32]byte {
		m := filepath.Join(dir, name)
		begin := time.Now()
		cmd, out := start(t, "train", "-q", "-a", "obpm", "--bias", "append", "-m", m, from)
		ended(t, cmd, out, 0)
		t.Logf("%s: %v, %v of CPU, %x", name, time.Since(begin), cmd.ProcessState.UserTime()+
			cmd.ProcessState.SystemTime(), sha256.Sum256(content(t, m)))
		return sha256.Sum256(content(t, m))
	}
	want := train("file", file)
	sizes := []int{1, 50}
	times := 1
	if os.Getenv("HALFSPACE_TEST_RATES") != "" {
		sizes, times = []int{1, 10, 100, 1000}, 10
		text = bytes.Repeat(text, times)
		long := filepath.Join(dir, "long.svm")
		if err := os.WriteFile(long, text, 0o600); err != nil {
			t.Fatal(err)
		}
		want = train("long", long)
	}
	for _, lines := range sizes {
		name := fmt.Sprint("a9a-", lines)
		begin := time.Now()
		create(t, c, name)
		fill(t, c, name, text, lines)
		t.Logf("sent in %v", time.Since(begin))
		if train(name, b.url(name+"/0?end=now")) != want {
			t.Errorf("%d lines a message: another model", lines)
		}
	}
}
