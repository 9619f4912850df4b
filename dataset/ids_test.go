package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/dataset"
)

// idRows reads a text and says of each row its id, its label and its features.
func idRows(text string, o dataset.Options) (string, error) {
	o.LabelsLater = true
	s, err := dataset.OpenReader[float64](context.Background(), "in", strings.NewReader(text), o)
	if err != nil {
		return "", err
	}
	defer s.Close()
	var b strings.Builder
	for {
		block, err := s.Next()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		for i := range block.Len() {
			id, bare := s.ID(i)
			label := "none"
			if s.Labelled(i) {
				label = fmt.Sprint(block.Y[i])
				if block.Class != nil {
					label = fmt.Sprint("class ", block.Class[i])
				}
			}
			_, val := block.Example(i)
			fmt.Fprintf(&b, "%s: %s %v", id, label, val)
			if bare {
				b.WriteString(" bare")
			}
			if len(block.W) > 0 {
				fmt.Fprint(&b, " weight ", block.W[i])
			}
			b.WriteString("\n")
		}
	}
}

// TestIDs: what rows with ids are, of each format that has them.
func TestIDs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          dataset.Options
		want       string
	}{
		{"csv", "id,x,y,label\na,1,2,\n\"b \"\"1\",3,4,+1\n,5,6,-1\na,,,-1\n",
			dataset.Options{IDCol: "id"},
			"a: none [1 2]\nb \"1: 1 [3 4]\n: -1 [5 6]\na: -1 [0 0] bare\n"},
		{"csv by number, with weights and a bias", "9;a;1;2\n2;b;;1\n;b;1;2\n",
			dataset.Options{IDCol: "2", WeightCol: "4", LabelCol: "1", Bias: "append",
				Positive: "9"},
			"a: 1 [1 1] weight 2\nb: -1 [1 0] bare weight 1\nb: none [1 1] weight 2\n"},
		{"csv of texts", "id,x,town,label\n7,1,Oslo,\n7,,,no\n8,2,Rome,yes\n9,,Rome,no\n",
			dataset.Options{IDCol: "id", Missing: "indicator"},
			"7: none [1 1]\n7: -1 [0] bare\n8: 1 [2 1]\n9: -1 [1 1 1]\n"},
		{"ndjson", `{"id":"a","x":1}` + "\n" + `{"label":"no","id":"a"}` + "\n" +
			`{"id":17,"x":2,"label":"yes"}` + "\n" + `{"x":2,"label":"yes"}` + "\n",
			dataset.Options{IDCol: "id"},
			"a: none [1]\na: -1 [] bare\n17: 1 [2]\n: 1 [2]\n"},
		{"ndjson by numbers", `{"id":"a","f":{"1":2,"3":4}}` + "\n" +
			`{"id":"a","f":{},"label":1}` + "\n" + `{"id":"b","f":{"2":1},"label":-1}` + "\n",
			dataset.Options{IDCol: "id"}, "a: none [2 4]\na: 1 [] bare\nb: -1 [1]\n"},
		{"vw", "'a | x y:2\n1 'a |\n-1 0.5 b| x\n1 | x\n", dataset.Options{IDCol: "tag"},
			"a: none [1 2] weight 1\na: 1 [] bare weight 1\nb: -1 [1] weight 0.5\n: 1 [1] weight 1\n"},
		{"classes", "id,x,label\na,1,\na,,red\nb,1,green\nc,2,\nc,,blue\nd,1,red\n",
			dataset.Options{IDCol: "id", AnyClasses: true},
			"a: none [1]\na: class 0 [0] bare\nb: class 1 [1]\nc: none [2]\nc: class 2 [0] bare\n" +
				"d: class 0 [1]\n"},
		{"classes that are named", "id,x,label\na,1,\na,,red\nb,1,green\n",
			dataset.Options{IDCol: "id", Classes: []string{"green", "red"}},
			"a: none [1]\na: class 1 [0] bare\nb: class 0 [1]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := idRows(c.text, c.o)
			if err != nil || got != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

// TestIDsRefused are rows and options that go with no ids.
func TestIDsRefused(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		o                dataset.Options
		kind             error
	}{
		{"neither", "id,x,label\na,1,1\n,1,\nb,1,-1\n", "the label is missing, and so is the id",
			dataset.Options{IDCol: "id"}, dataset.ErrBadRow},
		{"long", "id,x,label\na,1,1\n" + strings.Repeat("a", 1025) + ",1,\n",
			"expected an id of at most 1024 bytes", dataset.Options{IDCol: "id"}, dataset.ErrBadRow},
		{"column", "id,x,label\na,1,1\n", `no column "it"`, dataset.Options{IDCol: "it"},
			dataset.ErrFormat},
		{"label", "id,x,label\na,1,1\n", "column 3 is the id, and the label",
			dataset.Options{IDCol: "label"}, dataset.ErrFormat},
		{"vw", "1 | x\n", "expected tag", dataset.Options{IDCol: "id"}, dataset.ErrOption},
		{"twice", `{"id":"a","x":1,"id":"b","label":1}` + "\n", "comes twice",
			dataset.Options{IDCol: "id"}, dataset.ErrBadRow},
		{"no id", `{"id":{},"x":1,"label":1}` + "\n", "expected an id",
			dataset.Options{IDCol: "id"}, dataset.ErrBadRow},
		{"no labels", "id,x,label\na,1,\nb,2,\n", "no row has a label",
			dataset.Options{IDCol: "id"}, dataset.ErrLabels},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := idRows(c.text, c.o)
			if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := dataset.LoadReader[float64](context.Background(), "in", strings.NewReader("1 1:1\n"),
		dataset.Options{IDCol: "id", LabelsLater: true}); !errors.Is(err, dataset.ErrOption) {
		t.Errorf("whole: %v", err)
	}
	// the column alone is left out
	d, err := dataset.LoadReader[float64](context.Background(), "in",
		strings.NewReader("id,x,label\na,1,1\nb,2,-1\n"), dataset.Options{IDCol: "id"})
	if err != nil || d.Block.Len() != 2 || d.Block.Dim != 1 {
		t.Errorf("%v, %+v", err, d)
	}
}
