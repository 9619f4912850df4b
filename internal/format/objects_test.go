package format

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// objectsShown reads rows by keys, and shows them: label id weight features, or what is wrong.
func objectsShown(k *ObjectKeys, text string) string {
	c := Chunk[float64]{File: "body", N: len(text), Layout: k.Layout(), Out: &Rows[float64]{}}
	c.Text = append([]byte(text), make([]byte, Stops)...)
	EndText(c.Text[len(text):])
	s := Settings{Format: NDJSON, Optional: true, Stop: true, KeepBad: 1, Labels: 100}
	c.Parse(&s)
	r := c.Out
	if r.NBad > 0 {
		bad := c.BadAt(0, &s)
		return fmt.Sprintf("row %d col %d: %s", bad.Row, bad.Err.Col, bad.Err.What)
	}
	r.WeighRest()
	var rows []string
	for i := range r.N {
		row := []string{r.Labels.List[r.Code[i]].Text}
		if id, _ := r.RowID(i); len(id) > 0 {
			row = append(row, "id="+string(id))
		}
		if r.W != nil && r.W[i] != 1 {
			row = append(row, fmt.Sprint("weight=", r.W[i]))
		}
		for p := r.Ptr[i]; p < r.Ptr[i+1]; p++ {
			name := fmt.Sprint(r.Idx[p])
			if k.Words {
				name = string(r.Names.Name(int(r.Idx[p])))
			}
			row = append(row, fmt.Sprintf("%s:%v", name, r.Val[p]))
		}
		rows = append(rows, strings.Join(row, " "))
	}
	return strings.Join(rows, "; ")
}

var objectKeys = ObjectKeys{Label: []string{"label", "class"}, ID: "id", Weight: "weight",
	Features: "features"}

func TestObjectKeys(t *testing.T) {
	numbers, words := objectKeys, objectKeys
	numbers.Base = 1
	words.Words, words.Columns = true, []string{"a", "b"}
	for _, c := range []struct {
		keys       *ObjectKeys
		text, want string
	}{
		{&numbers, `{"label":1,"features":{"3":0.5,"1":2},"id":"x","weight":2}`,
			"1 id=x weight=2 0:2 2:0.5"},
		{&numbers, `{"class":"yes","features":[1,0,-3]}` + "\n" + `{"2":7,"id":12}`,
			"yes 0:1 2:-3;  id=12 1:7"},
		{&numbers, `{"label":null}`, ""},
		{&numbers, `{"features":{"0":1}}`, `row 0 col 14: index 0, but indices counted from 1 ` +
			`in training`},
		{&numbers, `{"features":{"1":1,"1":2}}`, "row 0 col 1: a feature comes twice in the row"},
		{&numbers, `{"features":[1],"features":[2]}`,
			`row 0 col 17: the key "features" comes twice in the row`},
		{&numbers, `{"features":3}`,
			`row 0 col 13: expected an object or an array of features, found "3"`},
		{&numbers, `{"features":[1,null]}`, `row 0 col 16: expected a number, found "null"`},
		{&numbers, `{"features":[1e999]}`, `row 0 col 14: 1e999 is too large for a float64`},
		{&numbers, `{"a":1}`, `row 0 col 2: expected the number of a feature, as training has ` +
			`numbers alone, found "\"a\":1"`},
		{&numbers, `{"id":"` + strings.Repeat("x", 1025) + `"}`,
			"row 0 col 1: expected an id of at most 1024 bytes, found a longer one"},
		{&numbers, `{"id":[]}`, `row 0 col 7: expected an id (a text or a number), found "["`},
		{&numbers, `{"id":1,"id":2}`, `row 0 col 9: the id "id" comes twice in the row`},
		{&numbers, `{"weight":-1}`,
			"row 0 col 11: expected a weight, a finite number of 0 or more, found -1"},
		{&numbers, `{"weight":"1"}`,
			`row 0 col 11: expected a weight, a finite number of 0 or more, found "\"1\""`},
		{&numbers, `{"label":1,"class":2}`, `row 0 col 12: the label "label" comes twice in the row`},
		{&words, `{"label":"x","features":{"a":1,"c":"red","d":{"e":2}}}`, "x a:1 c=red:1 d.e:2"},
		{&words, `{"label":"x","a":1,"f":{"e":2}}`, "x a:1 f.e:2"},
		{&words, `{"features":[0.5,0]}`, " a:0.5 b:0"},
		{&words, `{"features":[0.5]}`, "row 0 col 13: expected 2 features, as there are columns, " +
			"found 1"},
		{&words, `{"features":[1,2,3]}`, "row 0 col 18: expected 2 features, as there are " +
			"columns, found more"},
		{&words, `{"a":1,"features":{"a":2}}`, `row 0 col 20: the feature "a" comes twice in the row`},
		{&words, `{"features":{"weight":2,"id":3,"label":4}}`, " weight:2 id:3 label:4"},
	} {
		if got := objectsShown(c.keys, c.text); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// FuzzObjectKeys: whatever comes, rows are whole and their values finite.
func FuzzObjectKeys(f *testing.F) {
	for _, seed := range []string{`{"label":1,"features":{"3":0.5},"id":"x","weight":2}`,
		`{"features":[1,2]}`, `{"id":1}` + "\n" + `{"a":[1,{"b":"c"}]}`, `{"features":[`,
		`{"weight":1e400}`, `{"id":"\ud800"}`} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, words bool) {
		k := objectKeys
		k.Words, k.Columns = words, []string{"a", "b"}
		c := Chunk[float32]{File: "body", N: len(text), Layout: k.Layout(), Out: &Rows[float32]{}}
		c.Text = append([]byte(text), make([]byte, Stops)...)
		EndText(c.Text[len(text):])
		s := Settings{Format: NDJSON, Optional: true, KeepBad: 1, Labels: 100}
		c.Parse(&s)
		r := c.Out
		if len(r.Ptr) != r.N+1 || r.Ptr[r.N] != len(r.Idx) || len(r.Val) != len(r.Idx) ||
			len(r.W) > r.N || len(r.Code) != r.N {
			t.Fatalf("%d rows of %d offsets, %d weights", r.N, len(r.Ptr), len(r.W))
		}
		if slices.ContainsFunc(r.Val, func(v float32) bool { return v-v != 0 }) ||
			slices.ContainsFunc(r.W, func(w float32) bool {
				return !(w >= 0) || math.IsInf(float64(w), 0)
			}) {
			t.Fatal("a value or weight that is none")
		}
		for _, i := range r.Idx {
			if words && int(i) >= r.Names.Len() || i < 0 {
				t.Fatalf("feature %d", i)
			}
		}
	})
}
