package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// joined joins lines of csv.
func joined(all ...string) string { return strings.Join(all, "\n") + "\n" }

// TestLayouts: what the first rows of a file are taken for, and what is said of it. Of a file that
// is refused the text holds "error: " and a part of the error.
func TestLayouts(t *testing.T) {
	t.Parallel()
	iris := []string{"5.1,3.5,1.4,0", "4.9,3.0,1.4,1", "6.2,3.4,5.4,0", "5.9,3.0,5.1,1",
		"5.1,3.8,1.5,0", "6.7,3.1,4.4,1"}
	with := func(first string) string { return joined(append([]string{first}, iris...)...) }
	many := func(first, row string) string {
		var b strings.Builder
		b.WriteString(first)
		for i := range 30 {
			fmt.Fprintf(&b, row+"\n", i, "ab"[i&1])
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		text string
		o    Options
		want string // "ROWS: " and the line that says it
		odd  string // parts of what is odd, between |
	}{
		// headers
		"numbers from 0": {with("0,1,2,3"), Options{}, `6: a header, label "3"`, ""},
		"numbers from 1": {with("1,2,3,4"), Options{}, `6: a header, label "4"`, ""},
		"years":          {with("2019,2020,2021,2022"), Options{}, `6: a header, label "2022"`, ""},
		"some numbers":   {with("11,12,13,14"), Options{}, "error: may be a header or an example", ""},
		"some numbers, said": {with("11,12,13,14"), Options{HeaderRow: "yes"},
			`6: a header, label "14"`, ""},
		"some numbers, refused": {with("11,12,13,14"), Options{HeaderRow: "no"},
			"error: a third label", ""},
		"rows that begin with a count": {joined("0,1,2", "2,1,0", "0,0,2", "1,1,1"), Options{},
			"error: may be a header or an example", ""},
		"numbers and an index": {joined(",0,1,2", "0,1.5,2.5,0", "1,3.5,4.5,1", "2,1.25,5.5,0"),
			Options{}, `3: a header, label "2", ignored "1"`, ""},
		"quoted numbers": {joined(`"10","20","30"`, "1,2,0", "3,4,1", "1,2,0", "3,4,1"), Options{},
			`4: a header, label "30"`, ""},
		"mixed names": {joined("age,1st,2020,outcome", "1,2,3,x", "3,4,5,y", "1,2,3,x", "3,4,6,y"),
			Options{}, `4: a header, label "outcome"`, ""},
		"a name that is decisive": {joined("a,1,label", "1,2,x", "3,4,y", "1,2,x", "3,5,y"),
			Options{}, `4: a header, label "label"`, ""},
		"texts": {joined("city,2020,outcome", "Rome,low,yes", "Oslo,high,no", "Rome,low,yes",
			"Oslo,high,no", "Bonn,low,yes"), Options{},
			`5: a header, label "outcome", texts "city", "2020"`, ""},
		"two rows of texts": {joined("a,b", "c,d"), Options{}, "error: may be a header", ""},
		"votes": {joined("r,n,y,n,y", "r,n,y,n,y", "d,y,y,n,n", "d,n,n,y,y"), Options{LabelCol: "1"},
			`4: no header, label "1", texts "2", "3", "4", "5"`, ""},
		"a first row with a word": {joined("low,2,x", "1,3,y", "2,2,x", "4,3,y", "2,3,x"),
			Options{OnError: "skip"}, `4: no header, label "3"`, ""},
		"the label's option": {joined("p,q", "r,s", "p,t", "r,s"), Options{LabelCol: "q"},
			"3: a header, label \"q\", texts \"p\"", ""},
		"decimal commas": {joined("Preis;Menge;Klasse", "1,5;2;a", "2,25;3;b", "1,75;2;a", "3,5;3;b"),
			Options{}, `4: a header, columns between ";", label "Klasse", texts "Preis"`,
			`column 1 (Preis) has texts that look like numbers, as "1,5"`},
		"dates": {joined("when,x,y", "2020-01-02,1,a", "2020-01-02,2,b", "2020-01-03,1,a",
			"2020-01-03,3,b"), Options{}, `4: a header, label "y", texts "when"`, ""},
		"adult": {joined("39, State-gov, 13, <=50K", "50, ?, 13, >50K", "28, Private, 9, <=50K"),
			Options{}, `3: no header, label "4", texts "2", missing values "?"`, ""},
		"no header at all": {joined(iris...), Options{}, `6: no header, label "4"`, ""},
		"Excel's sep": {"sep=;\n" + strings.ReplaceAll(with("a,b,c,d"), ",", ";"), Options{},
			`6: a header, columns between ";", label "d"`, ""},
		"units":      {with("a,b,c,d\ncm,cm,kg,"), Options{OnError: "skip"}, `6: a header, label "d"`, ""},
		"units stop": {with("a,b,c,d\ncm,cm,kg,"), Options{}, "error: a line of units?", ""},
		"a mark and CRLF": {"\ufeff" + strings.ReplaceAll(with("a,b,c,d"), "\n", "\r\n"), Options{},
			`6: a header, label "d"`, ""},
		"names alone": {"a,b,label\n", Options{}, "error: found only a header", ""},
		"one row":     {"1,2,x\n", Options{Positive: "x"}, `1: no header, label "3"`, ""},

		// the index of the rows
		"pandas": {joined(",colour,label", "0,red,x", "1,blue,y", "2,red,x"), Options{},
			`3: a header, label "label", texts "colour", ignored "1" (the first`, ""},
		"pandas, after a split": {joined(",a,label", "17,5,x", "4,6,y", "8,5,x"), Options{},
			`3: a header, label "label", ignored "1"`, ""},
		"pandas, read and written": {joined("Unnamed: 0,a,label", "0,5,x", "1,6,y", "2,5,x"),
			Options{}, `3: a header, label "label", ignored "1"`, ""},
		"R": {joined(`"","mpg","label"`, `"Mazda RX4",21,"x"`, `"Datsun 710",22.8,"y"`,
			`"Valiant",18.1,"x"`), Options{}, `3: a header, label "label", ignored "1"`, ""},
		"R's write.table": {joined(`"mpg" "label"`, `"Mazda" 21 "x"`, `"Datsun" 22.8 "y"`,
			`"Valiant" 18.1 "x"`), Options{},
			`3: a header, columns between blanks, label "label", ignored "1"`, ""},
		"an index that is asked for": {joined(",a,label", "0,5,x", "1,6,y", "2,5,x"),
			Options{NumberCols: []string{"1"}}, `3: a header, label "label"`, ""},
		"no name, and values twice": {joined(",a,label", "0,5,x", "0,6,y", "2,5,x"), Options{},
			`3: a header, label "label"`, "column 1 has no name"},
		"numbers of the rows": {many("id,label\n", "%d,%c"), Options{},
			`30: a header, label "label"`, "column 1 (id) counts the rows"},
		"ids": {many("", "u%d,%c"), Options{}, `30: no header, label "2", texts "1"`,
			"column 1 has texts that are nearly all different"},
		"ids that are meant": {many("", "u%d,%c"), Options{TextCols: []string{"1"}},
			`30: no header, label "2", texts "1"`, ""},

		// lines that begin with #
		"hashes": {joined("tag,size,label", "#sale,2,x", "free,4,y", "#sale,1,x", "free,5,y"),
			Options{}, `4: a header, label "label", texts "tag"`, ""},
		"hashes first": {joined("#f00,2,x", "#00f,4,y", "red,1,x", "#00f,5,y"), Options{},
			`4: no header, label "3", texts "1"`, ""},
		"a header with #": {joined("#x,size,label", "1,2,x", "2,4,y"), Options{},
			`2: a header, label "label"`, ""},
		"a header of savetxt": {joined("# of 2020, by me", "# x,size,label", "1,2,x", "2,4,y"),
			Options{}, `2: a header, label "label", 1 comment line`, ""},
		"a column called #": {joined("#,size,label", "1,2,x", "2,4,y"), Options{},
			`2: a header, label "label"`, ""},
		"comments": {joined("# of 2020, \"quoted", "#", "", "a,b,label", "1,2,x", "3,4,y"), Options{},
			`2: a header, label "label", 2 comment lines`, ""},
		"comments that look like rows": {joined("# a, b, c", "1,2,x", "3,4,y", "1,2,x", "3,5,y"),
			Options{}, `4: a header, label "c"`, ""},
		"a comment behind": {joined("a,b,label", "1,2,x", "3,4,y", "# the end"), Options{},
			"error: comments may only stand before the first row", ""},
		"a row in lines": {joined(`"#a, b",2,x`, "\"c\nd\",3,y", "#e,4,x"), Options{},
			`3: no header, label "3", texts "1"`, ""},

		// numbers in other notations, and missing values
		"currency": {joined("price,label", "$5.00,x", "$17.50,y", "$4.25,x"), Options{},
			`3: a header, label "label", texts "price"`, `numbers, as "$5.00"`},
		"euros": {joined("p;label", "5 EUR;x", "1.500,00 EUR;y", "5,10 €;x"), Options{},
			`3: a header, columns between ";", label "label", texts "p"`, `numbers, as "5 EUR"`},
		"percents": {joined("p,label", "5%,x", "17.5 %,y", "4%,x"), Options{},
			`3: a header, label "label", texts "p"`, `numbers, as "5%"`},
		"thousands": {joined("p,label", `"1,500",x`, `"12,000",y`, `"1,750",x`), Options{},
			`3: a header, label "label", texts "p"`, `numbers, as "1,500"`},
		"another missing word": {joined("p,label", "none,x", "none,y", "none,x", "3.5,y", "4.5,x"),
			Options{}, `5: a header, label "label", texts "p"`, `numbers, as "3.5"`},
		"MySQL": {joined("a,label", `\N,0`, `\N,1`, "3,0", "4,1"), Options{Missing: "mean"},
			`4: a header, label "label", missing values "\\N"`, ""},
		"SAS": {joined("a,label", ".,0", ".,1", "3,0", ".,1"), Options{Missing: "mean"},
			`4: a header, label "label", missing values "."`, ""},

		// other formats
		"pairs between commas":  {joined("1,1:0.5,2:3", "-1,1:0.2"), Options{}, "error: INDEX", ""},
		"several labels":        {joined("1,3 1:2 2:3", "2 1:1"), Options{}, "error: svmlight", ""},
		"several labels, alone": {joined("1,3", "2,4 1:1"), Options{}, "error: svmlight", ""},
		"decimal commas in svmlight": {joined("1 1:1,5 2:0,5", "-1 1:2,5"), Options{},
			"error: svmlight", ""},
		"pairs in csv": {joined("1:5,2,x", "2:5,2,y"), Options{Format: "csv"},
			`2: no header, label "3", texts "1"`, ""},
		"times": {joined("12:30,2,x", "13:45,2,y", "12:30,3,x"), Options{},
			`3: no header, label "3", texts "1"`, ""},
		"labels alone":    {joined("1", "0", "1"), Options{}, "3: svmlight", "only labels"},
		"a tag":           {joined("1 2.0 tag| x:2", "-1 1 t2| z"), Options{}, "2: vw", ""},
		"a bar in a text": {joined("a|b,2,x", "c|d,3,y", "a|b,2,x"), Options{}, `3: no header`, ""},
		"a comment behind texts": {joined("a,b,label", "u,2,x", "v,4,y", "# the end"), Options{},
			"error: comments may only stand before the first row", ""},
	} {
		var odd []string
		o := tc.o
		o.OnWarn = func(what string) { odd = append(odd, what) }
		d, err := LoadReader[float64](context.Background(), "in", strings.NewReader(tc.text), o)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else if got = fmt.Sprintf("%d: %s", d.Info.Rows, d.Info.Format); d.Info.Decided != nil {
			got = fmt.Sprintf("%d: %v", d.Info.Rows, d.Info.Decided)
		}
		part, refused := strings.CutPrefix(tc.want, "error: ")
		if refused != (err != nil) || refused && part != "INDEX" && !strings.Contains(got, part) ||
			!refused && !strings.HasPrefix(got, tc.want) ||
			!refused && !strings.Contains(tc.want, "(") && got != tc.want &&
				!strings.HasPrefix(got, tc.want+" (the first") && tc.want != "3: no header" {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if all := strings.Join(odd, "\n"); (tc.odd == "") != (all == "") ||
			!strings.Contains(all, tc.odd) {
			t.Errorf("%s: said %q, want %q", name, all, tc.odd)
		}
		if err != nil || d.Info.Decided == nil {
			continue
		}
		sameAgain(t, name, tc.text, d)
	}
}

// sameAgain reads the text as one that meets a model of it, with and without its first row where
// that is a header: the rows are the same.
func sameAgain(t *testing.T, name, text string, d *Data[float64]) {
	t.Helper()
	in := &d.Info
	o := Options{Format: "csv", Columns: in.Columns, Header: in.Header, Label: in.LabelCol,
		Kinds: in.Kinds, Names: in.Names, FixedNames: true, Labels: &in.Labels, Trained: "csv",
		OnError: "skip", Missing: "mean"}
	if in.Classes != nil {
		o.Labels, o.Classes = nil, in.Classes
	}
	for _, optional := range []bool{false, true} {
		o.LabelsOptional = optional
		again, err := LoadReader[float64](context.Background(), "in", strings.NewReader(text), o)
		if err != nil {
			t.Errorf("%s, met by its model: %v", name, err)
			continue
		}
		if again.Info.Rows != in.Rows || !slices.Equal(again.Block.Y, d.Block.Y) ||
			again.Info.Decided.Header != in.Decided.Header {
			t.Errorf("%s, met by its model: %d rows, %v; want %d, %v", name, again.Info.Rows,
				again.Info.Decided, in.Rows, in.Decided)
		}
	}
}

// TestOneColumn: rows without labels meet a model of one feature.
func TestOneColumn(t *testing.T) {
	t.Parallel()
	model := func(kind string, names ...string) Options {
		return Options{Columns: 2, Label: 2, Header: names, Kinds: kind, Trained: "csv",
			Labels: &LabelMap{"x", "y"}, LabelsOptional: true}
	}
	named := model("n", "a", "label")
	words := model("t", "colour", "label")
	words.Names, words.FixedNames = []string{"colour=red", "colour=dark red"}, true
	for name, tc := range map[string]struct {
		text   string
		o      Options
		header bool
		n      int
	}{
		"numbers":             {"1\n5\n", model("n"), false, 2},
		"one number":          {"1\n", named, false, 1},
		"a header":            {"a\n1\n5\n", named, true, 2},
		"a header and one":    {"a\n1\n", named, true, 1},
		"texts":               {"red\ndark red\n", words, false, 2},
		"texts with a header": {"colour\ndark red\nred\n", words, true, 2},
		"with labels":         {"1,x\n5,y\n", model("n"), false, 2},
		"quoted":              {"\"colour\"\n\"red\"\n", words, true, 1},
	} {
		for _, f := range []string{"", "csv"} {
			o := tc.o
			o.Format = f
			d, err := LoadReader[float64](context.Background(), "in", strings.NewReader(tc.text), o)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if d.Info.Rows != tc.n || d.Info.Decided.Header != tc.header || d.Info.Unknown > 0 {
				t.Errorf("%s: %d rows, %v, want %d, %v", name, d.Info.Rows, d.Info.Decided, tc.n,
					tc.header)
			}
		}
	}
	_, err := LoadReader[float64](context.Background(), "in", strings.NewReader("1\n2\n"),
		Options{Format: "csv"})
	if !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

// TestIndexColumn: what is left out of training may be missing, or be there, in what is read next.
func TestIndexColumn(t *testing.T) {
	t.Parallel()
	o := Options{Columns: 4, Label: 4, Header: []string{"", "a", "b", "label"}, Kinds: "-nn",
		Labels: &LabelMap{"x", "y"}, LabelsOptional: true, Trained: "csv"}
	plain := Options{Columns: 3, Label: 3, Header: []string{"a", "b", "label"},
		Labels: &LabelMap{"x", "y"}, LabelsOptional: true, Trained: "csv"}
	for _, c := range []struct {
		o    Options
		text string
	}{{o, ",a,b,label\n0,1,2,y\n"}, {o, "a,b,label\n1,2,y\n"}, {o, "b,a\n2,1\n"},
		{o, ",b,a\n7,2,1\n"}, {plain, ",a,b,label\n0,1,2,y\n"}, {plain, ",b,a\n7,2,1\n"}} {
		d, err := LoadReader[float64](context.Background(), "in", strings.NewReader(c.text), c.o)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := rowsOf(d); got != "+1 1 2|" {
			t.Errorf("%q: %s", c.text, got)
		}
	}
}

// TestQuotedNumbers: numbers in quotes beside numbers of a key are said, labels within objects
// found.
func TestQuotedNumbers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, odd string
		o         Options
		n         int
	}{
		"mixed": {`{"y":1,"age":39}` + "\n" + `{"y":0,"age":"50"}` + "\n",
			`column "age" has numbers in some rows and numbers in quotes, as "50"`, Options{}, 2},
		"mixed within": {`{"y":1,"u":{"age":39}}` + "\n" + `{"y":0,"u":{"age":"50"}}` + "\n",
			`column "u.age" has numbers`, Options{}, 2},
		"decimal commas": {`{"y":1,"p":"1,5"}` + "\n" + `{"y":0,"p":"2,5"}` + "\n",
			`column "p" has texts that look like numbers, as "1,5"`, Options{}, 2},
		"codes": {strings.Repeat(`{"y":1,"p":"1"}`+"\n"+`{"y":0,"p":"2"}`+"\n", 5), "", Options{}, 10},
		"a label within": {`{"d":{"label":1,"a":2},"b":"u"}` + "\n" +
			`{"d":{"label":0,"a":2},"b":"v"}` + "\n", "", Options{LabelCol: "d.label"}, 2},
	} {
		odd := ""
		o := tc.o
		o.OnWarn = func(what string) { odd += what + "\n" }
		d, err := LoadReader[float64](context.Background(), "in", strings.NewReader(tc.text), o)
		if err != nil || d.Info.Rows != tc.n {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if (odd == "") != (tc.odd == "") || !strings.Contains(odd, tc.odd) {
			t.Errorf("%s: said %q, want %q", name, odd, tc.odd)
		}
		if slices.Contains(d.Info.Names, "d.label") {
			t.Errorf("%s: the label is a feature: %q", name, d.Info.Names)
		}
	}
}
