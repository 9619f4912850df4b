package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
)

// TestEmbed learns a file, and scores two examples with the model that was saved.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	examples, file := filepath.Join(dir, "train.svm"), filepath.Join(dir, "a.model")
	var rows strings.Builder
	for i := range 1000 { // the label is the sign of the first feature
		x, label := float64(i*37%101-50)/50, "+1"
		if x < 0 {
			label = "-1"
		}
		fmt.Fprintf(&rows, "%s 1:%g 2:%g\n", label, x, float64(i*53%89-44)/44)
	}
	if err := os.WriteFile(examples, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said strings.Builder
	ctx := halfspace.WithLogger(t.Context(), slog.New(slog.NewJSONHandler(&said, nil)))
	if err := learn(ctx, &out, examples, file); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), `"msg":"learned","examples":1000,`) {
		t.Errorf("logged %s", &said)
	}
	if err := score(&out, file, 0.5, -0.5); err != nil {
		t.Fatal(err)
	}
	if err := score(&out, file, -0.5); err != nil {
		t.Fatal(err)
	}
	var n int
	var wrong, up, down float64
	if _, err := fmt.Sscanf(out.String(), "%d examples, %f %% of them wrong before they were "+
		"learned\nscore %f\nscore %f\n", &n, &wrong, &up, &down); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	if n != 1000 || wrong > 5 || up <= 0 || down >= 0 {
		t.Errorf("printed %q", out.String())
	}
}
