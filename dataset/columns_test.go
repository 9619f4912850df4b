package dataset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestColumnsOfFiles reads files of one training set, whose columns are in another order in each,
// and takes what was found for a further file.
func TestColumnsOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	files := []string{
		write("1", "a,label,b\n1,0,2\n"), write("2", "label;b;a\n1;4;3\n"), write("3", "5,1,6\n"),
	}
	const want = "-1 1 2|+1 3 4|+1 5 6|"
	for _, o := range []Options{{}, {LabelCol: "2"}, {LabelCol: "label"}} {
		d, err := Load[float64](context.Background(), files, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(&d.Block); got != want {
			t.Errorf("%+v: got %s, want %s", o, got, want)
		}
		o := Options{Columns: d.Info.Columns, Header: d.Info.Header, Label: d.Info.LabelCol,
			Labels: &d.Info.Labels}
		if d, err = Load[float64](context.Background(), files[1:2], o); err != nil ||
			dump(&d.Block) != "+1 3 4|" {
			t.Errorf("the second file alone: %v, %v", d, err)
		}
	}
	// the label's name goes on as it was found
	for name, want := range map[string]string{"": "label", "b": "b"} {
		o := Options{Columns: 3, Header: []string{"a", "label", "c"}, Label: 2, LabelCol: name,
			Labels: &LabelMap{"0", "1"}}
		text := map[string]string{"": "c,label,a\n1,1,2\n", "b": "c,b,a\n1,1,2\n"}[name]
		d, err := LoadReader[float64](context.Background(), "in", strings.NewReader(text), o)
		if err != nil || d.Info.Header[1] != want || dump(&d.Block) != "+1 2 1|" {
			t.Errorf("label column %q: %v, %v", name, d, err)
		}
	}
	bad := write("4", "label,b\n1,4\n")
	if _, err := Load[float64](context.Background(), []string{files[0], bad},
		Options{}); err == nil ||
		!strings.Contains(err.Error(), `4:1:1: expected the columns of training; missing: "a"`) {
		t.Errorf("a file without a column of the first: %v", err)
	}
	// Predicting: one file has the label, the next has not.
	o := Options{Columns: 3, Header: []string{"a", "label", "b"}, Label: 2,
		Labels: &LabelMap{"0", "1"}, LabelsOptional: true}
	d, err := Load[float64](context.Background(), []string{files[1], write("5", "b,a\n8,7\n")}, o)
	if err != nil || dump(&d.Block) != "+1 3 4|+1 7 8|" || d.Info.Unlabelled != 1 {
		t.Errorf("labels in the first file only: %v, %v", d, err)
	}
}
