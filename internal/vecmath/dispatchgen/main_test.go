package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCurrent holds the committed files to the table: no other text, none missing, none left over.
func TestCurrent(t *testing.T) {
	const dir = ".."
	want, err := generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, text) {
			t.Errorf("%s is not what the table says: run go generate ./internal/vecmath", name)
		}
	}
	have, err := filepath.Glob(filepath.Join(dir, "z*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range have {
		if want[filepath.Base(path)] == nil {
			t.Errorf("%s is not generated (any more)", filepath.Base(path))
		}
	}
}
