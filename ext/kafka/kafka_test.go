package kafka

import (
	"errors"
	"testing"

	"github.com/halfspace-ml/halfspace/training"
)

// FuzzName: a stream's path is taken apart, or refused by an error of its form; the name that is
// made of it is taken apart to the same.
func FuzzName(f *testing.F) {
	f.Add("a/0@7?end=now")
	f.Add("x@")
	f.Add("rows/1@9?sasl=plain&create=1")
	f.Fuzz(func(t *testing.T, path string) {
		a, err := parse(Scheme + "://localhost/" + path)
		if err != nil {
			if !errors.Is(err, training.ErrOption) {
				t.Fatalf("%q: %v", path, err)
			}
			return
		}
		again, err := parse(a.String())
		if err != nil || again.String() != a.String() {
			t.Fatalf("%q is named %q, which is %v: %v", path, a, again, err)
		}
	})
}
