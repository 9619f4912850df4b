// Package realdata finds the public data sets that some tests read. They are not part of the
// repository.
package realdata

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// File returns the path of a data file: in the folder HALFSPACE_DATA, or in ../shared/data beside
// the repository. A test that needs a file which is not there is skipped with the reason; with
// HALFSPACE_REQUIRE_DATA=1 it fails.
func File(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("HALFSPACE_DATA")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("HALFSPACE_REQUIRE_DATA") == "1" {
			t.Fatalf("data file %s is required here: %v", name, err)
		}
		t.Skipf("needs the data file %s: set HALFSPACE_DATA to the folder that holds it (%v)", name,
			err)
	}
	return path
}

// Text returns what is in a data file that is packed by gzip.
func Text(t testing.TB, name string) []byte {
	t.Helper()
	return Unpacked(t, File(t, name))
}

// Unpacked returns what is in a file that is packed by gzip.
func Unpacked(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
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
	return text
}

// root is the repository's folder: the uppermost one with a go.mod above the package under test,
// which may be of a module within it.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			found = dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	if found == "" {
		t.Fatal("no go.mod above the test")
	}
	return found
}
