package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rowsOf writes examples as "label features|", for comparing.
func rowsOf(d *Data[float64]) string {
	var s strings.Builder
	for i, y := range d.Block.Y {
		fmt.Fprintf(&s, "%+.0f", y)
		for _, v := range d.Block.Row(i) {
			fmt.Fprintf(&s, " %g", v)
		}
		s.WriteByte('|')
	}
	return s.String()
}

// TestColumns reads files whose columns stand in other places than in training, or are not those.
func TestColumns(t *testing.T) {
	t.Parallel()
	named := Options{Columns: 4, Header: []string{"a", "b", "c", "kind"}, Label: 4}
	middle := Options{Columns: 4, Header: []string{"a", "kind", "b", "c"}, Label: 2}
	numbers := Options{Columns: 3, Header: []string{"1", "2", "label"}, Label: 3}
	twice := Options{Columns: 4, Header: []string{"", "b", "", "kind"}, Label: 4}
	nameless := Options{Columns: 4, Label: 4}
	first := Options{Columns: 4, Label: 1}
	col := func(o Options, name string) Options { o.LabelCol = name; return o }
	for _, c := range []struct {
		name     string
		text     string
		o        Options
		optional string // what is read where labels are optional; "error: " and a part of it
		must     string // where they are not; "" is the same
	}{
		{"as in training", "a,b,c,kind\n1,2,3,1\n", named, "+1 1 2 3|", ""},
		{"permuted", "c,a,b,kind\n3,1,2,1\n", named, "+1 1 2 3|", ""},
		{"the label moved", "kind,a,b,c\n1,1,2,3\n", named, "+1 1 2 3|", ""},
		{"the label moved from the middle", "b,c,a,kind\n2,3,1,1\n", middle, "+1 1 2 3|", ""},
		{"permuted, no label", "c,a,b\n3,1,2\n4,5,6\n", named, "+1 1 2 3|+1 5 6 4|",
			`error: no label column "kind"`},
		{"no label, it was in the middle", "c,a,b\n3,1,2\n", middle, "+1 1 2 3|",
			"error: no label column"},
		{"byte order mark", "\ufeffc,a,b\n3,1,2\n", named, "+1 1 2 3|", "error: no label column"},
		{"quoted names", `"c" ; "a";"kind"; "b"` + "\n3;1;1;2\n", named, "+1 1 2 3|", ""},
		{"one row", "c,a,b\n3,1,2\n", named, "+1 1 2 3|", "error: no label column"},
		{"missing", "a,c,kind\n1,3,1\n", named, `error: missing: "b"`, ""},
		{"missing, no label", "a,c\n1,3\n", named, `error: missing: "b"`, ""},
		{"extra", "a,b,c,d,kind\n1,2,3,4,1\n", named, `error: not in training: "d"`, ""},
		{"extra, no label", "a,b,c,d\n1,2,3,4\n", named, `error: not in training: "d"`, ""},
		{"renamed", "a,B,c,kind\n1,2,3,1\n", named, `error: missing: "b"; not in training: "B"`,
			""},
		{"a label of another name", "a,b,c,sort\n1,2,3,1\n", named,
			`error: not in training: "sort"`, ""},
		{"the label of another name is told", "a,b,sort,c\n1,2,1,3\n", col(named, "sort"),
			"+1 1 2 3|", ""},
		{"the label is told by number", "a,sort,b,c\n1,1,2,3\n", col(named, "2"), "+1 1 2 3|", ""},
		{"the label told isn't there", "a,b,c\n1,2,3\n", col(named, "sort"),
			`error: no column "sort"`, ""},
		{"the label told is a feature", "a,b,c,kind\n1,2,3,1\n", col(named, "a"),
			`error: missing: "a"; not in training: "kind"`, ""},
		{"twice", "a,b,b,c,kind\n1,2,2,3,1\n", named, `error: twice: "b"`, ""},
		{"twice and missing", "a,b,b,kind\n1,2,2,1\n", named, `error: missing: "c"; twice: "b"`,
			""},
		{"many", "q,r,s,t,u,v,w\n1,2,3,4,5,6,7\n", named, `"u", and 2 more`, ""},
		{"numbers as names", "2,1\n0.5,0.25\n", numbers, "+1 0.25 0.5|", "error: no label column"},
		{"no header, told from numbers as names", "0.5,0.25\n2,3\n", numbers, "+1 0.5 0.25|+1 2 3|",
			"error: expected 3 columns"},
		{"training has a name twice", ",b,,kind\n1,2,3,1\n", twice, "+1 1 2 3|", ""},
		{"training has a name twice, no label", ",b,\n1,2,3\n", twice, "+1 1 2 3|",
			"error: more than one"},
		{"training has a name twice, permuted", "b,,,kind\n2,1,3,1\n", twice,
			"error: more than one", ""},
		{"no header here", "1,2,3,1\n", named, "+1 1 2 3|", ""},
		{"no header here, no label", "1,2,3\n", named, "+1 1 2 3|",
			"error: expected 4 columns as in training, found 3"},
		{"no header here, too many", "1,2,3,4,1\n", named, "error: expected 4 columns as in " +
			"training, found 5", ""},
		{"no names in training", "p,q,r,s\n1,2,3,1\n", nameless, "+1 1 2 3|", ""},
		{"no names in training, no label", "p,q,r\n1,2,3\n", nameless, "+1 1 2 3|",
			"error: expected 4 columns"},
		{"no names at all", "1,2,3\n", nameless, "+1 1 2 3|", "error: expected 4 columns"},
		{"no names at all, the label is told but missing", "1,2,3\n", col(nameless, "4"),
			"error: expected 4 columns", ""},
		{"no names at all, too few", "1,2\n", nameless, "error: expected 4 columns as in " +
			"training, found 2", ""},
		{"no names in training, the label moved", "class,p,q,r\n1,1,2,3\n", nameless,
			`error: column 1 is named "class"`, ""},
		{"no names in training, the label stays", "class,p,q,r\n1,1,2,3\n", first, "+1 1 2 3|", ""},
		{"no names in training, the label is told", "class,p,q,r\n1,1,2,3\n",
			col(nameless, "class"), "+1 1 2 3|", ""},
		{"no names in training, a feature is missing", "p,q,class\n1,2,1\n", nameless,
			"error: expected 4 columns", ""},
	} {
		for _, optional := range []bool{true, false} {
			o, want := c.o, c.optional
			o.Labels, o.LabelsOptional = &LabelMap{"0", "1"}, optional
			if !optional && c.must != "" {
				want = c.must
			}
			d, err := LoadReader[float64](context.Background(), "in", strings.NewReader(c.text), o)
			if err != nil {
				part := strings.TrimPrefix(want, "error: ")
				if !strings.Contains(err.Error(), part) || strings.HasSuffix(want, "|") {
					t.Errorf("%s, labels optional %v: %v, want %s", c.name, optional, err, want)
				}
				continue
			}
			if got := rowsOf(d); got != want {
				t.Errorf("%s, labels optional %v: got %s, want %s", c.name, optional, got, want)
			}
			if got := d.Info; got.Columns != c.o.Columns ||
				len(got.Header) > 0 && len(got.Header) != got.Columns {
				t.Errorf("%s: %d columns %q, want those of training", c.name, got.Columns,
					got.Header)
			}
		}
	}
}

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
		if got := rowsOf(d); got != want {
			t.Errorf("%+v: got %s, want %s", o, got, want)
		}
		o := Options{Columns: d.Info.Columns, Header: d.Info.Header, Label: d.Info.LabelCol,
			Labels: &d.Info.Labels}
		if d, err = Load[float64](context.Background(), files[1:2], o); err != nil ||
			rowsOf(d) != "+1 3 4|" {
			t.Errorf("the second file alone: %v, %v", d, err)
		}
	}
	// the label's name goes on as it was found
	for name, want := range map[string]string{"": "label", "b": "b"} {
		o := Options{Columns: 3, Header: []string{"a", "label", "c"}, Label: 2, LabelCol: name,
			Labels: &LabelMap{"0", "1"}}
		text := map[string]string{"": "c,label,a\n1,1,2\n", "b": "c,b,a\n1,1,2\n"}[name]
		d, err := LoadReader[float64](context.Background(), "in", strings.NewReader(text), o)
		if err != nil || d.Info.Header[1] != want || rowsOf(d) != "+1 2 1|" {
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
	if err != nil || rowsOf(d) != "+1 3 4|+1 7 8|" || d.Info.Unlabelled != 1 {
		t.Errorf("labels in the first file only: %v, %v", d, err)
	}
}
