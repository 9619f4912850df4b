package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrained reads data of another kind than training's.
func TestTrained(t *testing.T) {
	t.Parallel()
	const svm, csv = "+1 1:1 2:2 9:0\n-1 1:1 3:4 5:6\n-1 4:1\n-1\n", "1,2,3,+1\n1,2,0,-1\n"
	for _, c := range []struct {
		name, text    string
		o             Options
		unknown, rows int64
		err           error
	}{
		{"the same", svm, Options{Trained: "svmlight", Dim: 9}, 0, 0, nil},
		{"not known", svm, Options{}, 0, 0, nil},
		{"fewer features", svm, Options{Trained: "svmlight", Dim: 2}, 3, 2, nil},
		{"fewer features and a bias", svm, Options{Dim: 2, Bias: "append"}, 3, 2, nil},
		{"fewer features, from 0", "+1 0:1 1:1 2:1\n-1 0:1 5:1\n", Options{Dim: 2}, 2, 2, nil},
		{"another format", csv, Options{Trained: "svmlight", Dim: 9}, 0, 0, ErrForeign},
		{"another format that is told", csv, Options{Trained: "svmlight", Format: "csv", Dim: 9}, 0,
			0, ErrForeign},
		{"another format, taken", csv, Options{Trained: "svmlight", Dim: 2, AnyFormat: true,
			Bias: "append"}, 1, 1, nil},
		{"a negative number of features", svm, Options{Dim: -1}, 0, 0, ErrOption},
	} {
		d, err := LoadReader[float32](context.Background(), "in", strings.NewReader(c.text), c.o)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		if err == nil && (d.Info.Unknown != c.unknown || d.Info.UnknownRows != c.rows) {
			t.Errorf("%s: %d non-zeros in %d rows unknown, want %d in %d", c.name, d.Info.Unknown,
				d.Info.UnknownRows, c.unknown, c.rows)
		}
	}
	pictures := []string{filepath.Join(t.TempDir(), "images"), filepath.Join(t.TempDir(), "labels")}
	for i, data := range []string{images2, labels2} {
		if err := os.WriteFile(pictures[i], []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		o       Options
		unknown int64
		what    string
	}{
		{Options{Trained: "idx", Dim: 2}, 0, ""},
		{Options{Trained: "idx", Dim: 3}, 0, "images:byte 0: expected images of 3 pixels as in " +
			"training, found 2"},
		{Options{Trained: "idx", Dim: 1, AnyFormat: true}, 2, ""},
		{Options{Trained: "csv", Dim: 2}, 0, "images:byte 0: expected csv as in training, " +
			"found idx"},
	} {
		d, err := Load[float32](context.Background(), pictures, c.o)
		if c.what == "" && (err != nil || d.Info.Unknown != c.unknown) ||
			c.what != "" && (!errors.Is(err, ErrForeign) ||
				!strings.HasSuffix(err.Error(), c.what)) {
			t.Errorf("idx, %+v: %v, want %q", c.o, err, c.what)
		}
	}
	_, err := LoadReader[float32](context.Background(), "in", strings.NewReader(csv),
		Options{Trained: "svmlight"})
	if want := "in:1:1: expected svmlight as in training, found csv"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
