package shard_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// adult returns the lines of a9a.
func adult(t *testing.T) (lines [][]byte) {
	t.Helper()
	return slices.Collect(bytes.Lines(realdata.Text(t, "a9a.gz")))
}

// TestAdultRows: posteriors of 4 and 16 shards of the rows of Adult have the same bytes in any
// order of their files. The label noise is above that of the data, so that none is passed over.
func TestAdultRows(t *testing.T) {
	if race.Enabled {
		t.Skip("TestMergeRows does the same, on less")
	}
	all := adult(t)
	for _, c := range []struct {
		name string
		rows int
		o    training.Options
	}{
		{"adf", len(all), training.Options{Settings: map[string]any{"noise": 0.2}}},
		{"adf", len(all), training.Options{Precision: "f64",
			Settings: map[string]any{"noise": 0.2, "covariance": "diagonal"}}},
		{"wep", 500, training.Options{Settings: map[string]any{"buffer": 5}}},
		{"vvm", 500, training.Options{Settings: map[string]any{"buffer": 10}}},
		{"ep", 200, training.Options{UntilConverged: true}},
	} {
		if testing.Short() && c.name != "adf" {
			continue
		}
		t.Run(fmt.Sprintf("%s/%s", c.name, c.o.Precision), func(t *testing.T) {
			o, dir := c.o, t.TempDir()
			o.Learner, o.Data.Bias = c.name, "append"
			o.Files = []string{filepath.Join(dir, "data")}
			if err := os.WriteFile(o.Files[0], bytes.Join(all[:c.rows], nil), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{4, 16} {
				models := rowShards(t, dir, o, n)
				to := filepath.Join(dir, "apart.model")
				var want []byte
				for range 3 {
					done, err := shard.Merge(t.Context(), shard.Merging{Models: models, Model: to})
					if err != nil {
						t.Fatal(err)
					}
					if p := done.Model.Presented; p != uint64(c.rows) && !o.UntilConverged {
						t.Errorf("%d shards: %d examples", n, p)
					}
					got := content(t, to)
					if want == nil {
						want = got
					}
					if !bytes.Equal(got, want) {
						t.Errorf("%d shards: another model of %v", n, models)
					}
					rand.Shuffle(n, func(i, j int) { models[i], models[j] = models[j], models[i] })
				}
			}
		})
	}
}
