package dataset

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestTrained reads images of another kind than training's.
func TestTrained(t *testing.T) {
	pictures := written(t, images2, labels2)
	for _, c := range []struct {
		o       Options
		unknown int64
		what    string
	}{
		{Options{Trained: "idx", Dim: 2}, 0, ""},
		{Options{Trained: "idx", Dim: 3}, 0, "0:byte 0: expected images of 3 pixels as in " +
			"training, found 2"},
		{Options{Trained: "idx", Dim: 1, AnyFormat: true}, 2, ""},
		{Options{Trained: "csv", Dim: 2}, 0, "0:byte 0: expected csv as in training, " +
			"found idx"},
	} {
		d, err := Load[float32](context.Background(), pictures, c.o)
		if c.what == "" && (err != nil || d.Info.Unknown != c.unknown) ||
			c.what != "" && (!errors.Is(err, ErrForeign) ||
				!strings.HasSuffix(err.Error(), c.what)) {
			t.Errorf("idx, %+v: %v, want %q", c.o, err, c.what)
		}
	}
}
