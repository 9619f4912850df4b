package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestManyTexts: a column of ids fills no more memory than there is for names, and the error says
// what to do.
func TestManyTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("a million names")
	}
	r, w := io.Pipe()
	go func() {
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(w, "id%d,%d\n", i, i%2); err != nil {
				return
			}
		}
	}()
	defer r.Close()
	s := opened[float32](t, r, Options{})
	var err error
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "Options.HashBits") {
		t.Error(err)
	}
}

// TestSharedFeatures: many hashed texts share few features, and that is counted.
func TestSharedFeatures(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "t%d,%d\n", i, i%2)
	}
	d, err := load(b.String(), Options{HashBits: 4})
	if err != nil || d.Info.Dim > 16 || d.Info.Shared < 10 {
		t.Errorf("%+v, %v", d, err)
	}
}
