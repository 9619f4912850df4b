package dataset

import (
	"context"
	"strings"
	"testing"
)

// TestColumnsOfFiles reads files of one training set, whose columns are in another order in each,
// and takes what was found for a further file.
func TestColumnsOfFiles(t *testing.T) {
	t.Parallel()
	all := written(t, "a,label,b\n1,0,2\n", "label;b;a\n1;4;3\n", "5,1,6\n", "label,b\n1,4\n",
		"b,a\n8,7\n")
	files := all[:3]
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
		d, err := load(text, o)
		if err != nil || d.Info.Header[1] != want || dump(&d.Block) != "+1 2 1|" {
			t.Errorf("label column %q: %v, %v", name, d, err)
		}
	}
	if _, err := Load[float64](context.Background(), []string{files[0], all[3]},
		Options{}); err == nil ||
		!strings.Contains(err.Error(), `3:1:1: expected the columns of training; missing: "a"`) {
		t.Errorf("a file without a column of the first: %v", err)
	}
	// Predicting: one file has the label, the next has not.
	o := Options{Columns: 3, Header: []string{"a", "label", "b"}, Label: 2,
		Labels: &LabelMap{"0", "1"}, LabelsOptional: true}
	d, err := Load[float64](context.Background(), []string{files[1], all[4]}, o)
	if err != nil || dump(&d.Block) != "+1 3 4|+1 7 8|" || d.Info.Unlabelled != 1 {
		t.Errorf("labels in the first file only: %v, %v", d, err)
	}
}
