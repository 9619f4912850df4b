package dataset

import (
	"errors"
	"math"
	"runtime/debug"
	"testing"
)

// TestScaleFits: a wrong index must not take memory for the scales of all features below it,
// whether a file is loaded or read as a stream.
func TestScaleFits(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	files := written(t, "+1 1:1\n-1 1:2 1157627911:1\n")
	for scaling, limit := range map[string]int64{"std": 1 << 30, "maxabs": math.MaxInt64} {
		debug.SetMemoryLimit(limit)
		o := Options{Scaling: scaling}
		if _, err := Load[float32](t.Context(), files, o); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: Load: %v, want %v", scaling, err, ErrMemory)
		}
		s, err := Open[float32](t.Context(), files, o)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = s.Next()
		}
		if !errors.Is(err, ErrMemory) {
			t.Errorf("%s: Next: %v, want %v", scaling, err, ErrMemory)
		}
		s.Close()
	}
	if (&config{method: "std"}).scaleFits(1000) != nil ||
		(&config{}).scaleFits(math.MaxInt32) != nil {
		t.Error("few features, or none that are scaled, are refused")
	}
}
