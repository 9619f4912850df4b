package papers

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"testing"
)

func TestMeanPM(t *testing.T) {
	// Student's t with 4 degrees of freedom is 2.776 at 97.5 %; the standard deviation of 1..5 is
	// sqrt(2.5).
	mean, pm := meanPM([]float64{1, 2, 3, 4, 5})
	if want := 2.7764451 * math.Sqrt(2.5/5); mean != 3 || math.Abs(pm-want) > 1e-6 {
		t.Errorf("got %v ± %v, want 3 ± %v", mean, pm, want)
	}
}

func TestReproRefuses(t *testing.T) {
	ctx := context.Background()
	if _, err := Repro(ctx, experiments["obpm/table1"], RunOptions{Runs: 1}); err == nil {
		t.Error("one run has no interval, yet no error")
	}
	for _, dir := range []string{"", t.TempDir()} {
		if _, err := Repro(ctx, experiments["obpm/table2"], RunOptions{Runs: 2,
			DataDir: dir}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("data in %q: %v, want fs.ErrNotExist", dir, err)
		}
	}
}
