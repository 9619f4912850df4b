// Package golden reads the reference traces in learners/testdata, for tests.
package golden

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Read reads the document of that name, "bayes/ep_batch" say, into doc.
func Read(t testing.TB, name string, doc any) {
	t.Helper()
	here, err := os.Getwd() // of a test: its package's folder, learners or one below
	if err != nil {
		t.Fatal(err)
	}
	for filepath.Base(here) != "learners" {
		if here == filepath.Dir(here) {
			t.Fatal("golden.Read is called outside learners")
		}
		here = filepath.Dir(here)
	}
	data, err := os.ReadFile(filepath.Join(here, "testdata", filepath.FromSlash(name)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Off returns the error of got relative to want, or to 1 if abs.
func Off(got, want float64, abs bool) float64 {
	if got == want {
		return 0
	}
	if abs || want == 0 {
		return math.Abs(got - want)
	}
	return math.Abs(got-want) / math.Abs(want)
}
