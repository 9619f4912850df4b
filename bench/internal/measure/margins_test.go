package measure

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/realdata"
)

// TestMargins: on so few patterns working on scores pays.
func TestMargins(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(realdata.File(t, "sonar.mines"))
	results, err := Margins(context.Background(), dir, Options{Rounds: 3})
	if err != nil || len(results) != 3 {
		t.Fatal(len(results), err)
	}
	for _, r := range results {
		if r.Unit != "ns/update" || r.Peer != "weights" || *r.RatioToPeer < 1 {
			t.Errorf("%+v", r)
		}
	}
}
