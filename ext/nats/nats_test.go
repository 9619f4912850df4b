package nats

import (
	"errors"
	"testing"

	"github.com/halfspace-ml/halfspace/training"
)

// FuzzName: a stream's path is taken apart, or refused by an error of its form; the name that is
// made of it is taken apart to the same.
func FuzzName(f *testing.F) {
	f.Add("ROWS/rows.>@7?end=now")
	f.Add("S/@x")
	f.Add("x/1@9?creds=c")
	f.Fuzz(func(t *testing.T, path string) {
		a, err := parse(Scheme + "://localhost/" + path)
		if err != nil {
			if !errors.Is(err, training.ErrOption) {
				t.Fatalf("%q: %v", path, err)
			}
			return
		}
		shown := a.String()
		if a.subject != "" { // which may have an @ of its own
			shown += "@1"
		}
		again, err := parse(shown)
		if err != nil || again.String() != a.String() {
			t.Fatalf("%q is named %q, which is %v: %v", path, a, again, err)
		}
	})
}
