package measure

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestRFF runs the suite on generated data: every case has a peer and a time.
func TestRFF(t *testing.T) {
	list, err := RFF(context.Background(), "", Options{Rounds: 3, Each: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 {
		t.Fatalf("%d results, want 4", len(list))
	}
	for _, r := range list {
		if !(r.Median > 0) || r.RatioToPeer == nil || !strings.HasPrefix(r.Name, "rff/") ||
			r.Unit != "ns/example" {
			t.Errorf("%+v", r)
		}
	}
}
