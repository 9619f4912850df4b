package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// readText returns the rows of text as NAME:VALUE, numbers by the number of their feature from 0,
// and what was found.
func readText(t *testing.T, text string, o Options) ([]string, Info, error) {
	t.Helper()
	s, err := OpenReader[float64](context.Background(), "FILE", strings.NewReader(text), o)
	if err != nil {
		return nil, Info{}, err
	}
	defer s.Close()
	var rows []string
	for {
		b, err := s.Next()
		if err == io.EOF {
			return rows, s.Info(), nil
		}
		if err != nil {
			return rows, s.Info(), err
		}
		rows = append(rows, showRows(b, s.Info(), s.lead())...)
	}
}

func showRows(b *engine.Block[float64], info Info, lead int) (rows []string) {
	for i := range b.Len() {
		var row []string
		idx, val := b.Example(i)
		for k, v := range val {
			f := k
			if idx != nil {
				f = int(idx[k])
			}
			name := fmt.Sprint(f)
			if f >= lead && f-lead < len(info.Names) {
				name = info.Names[f-lead]
			}
			row = append(row, fmt.Sprintf("%s:%.4g", name, v))
		}
		rows = append(rows, fmt.Sprintf("%+g %s", b.Y[i], strings.Join(row, " ")))
	}
	return rows
}

// TestTextColumns: what becomes of columns of texts, of missing values and of columns that are left
// out.
func TestTextColumns(t *testing.T) {
	const people = "age,job,city,label\n30, clerk ,\"a, b\",yes\n40,?,x,no\n50,clerk,NA,yes\n"
	for name, tc := range map[string]struct {
		text  string
		o     Options
		rows  []string
		kinds string
	}{
		"texts": {people, Options{}, []string{"+1 0:30 job=clerk:1 city=a, b:1",
			"-1 0:40 job=?:1 city=x:1", "+1 0:50 job=clerk:1 city=?:1"}, "ntt"},
		"bias": {people, Options{Bias: "append"}, []string{"+1 0:1 1:30 job=clerk:1 city=a, b:1",
			"-1 0:1 1:40 job=?:1 city=x:1", "+1 0:1 1:50 job=clerk:1 city=?:1"}, "ntt"},
		"missing texts": {people, Options{Missing: "mean"}, []string{
			"+1 0:30 job=clerk:1 city=a, b:1", "-1 0:40 city=x:1", "+1 0:50 job=clerk:1"}, "ntt"},
		"ignored": {people, Options{IgnoreCols: []string{"city", "1"}},
			[]string{"+1 job=clerk:1", "-1 job=?:1", "+1 job=clerk:1"}, "-t-"},
		"a number as a text": {people, Options{TextCols: []string{"age"},
			IgnoreCols: []string{"3", "job"}},
			[]string{"+1 age=30:1", "-1 age=40:1", "+1 age=50:1"}, "t--"},
		"numbers": {"1,a\n,b\n3,a\n", Options{Missing: "mean", Positive: "b"},
			[]string{"-1 0:1", "+1 0:1", "-1 0:3"}, ""},
		"said to be missing": {"1,7,a\n?,8,b\n3,null,a\n", Options{Missing: "indicator"},
			[]string{"-1 0:1 1:7", "+1 0:1 1:8 1=?:1", "-1 0:3 1:7.5 2=?:1"}, "nn"},
		"scaled": {"1,u,a\n3,v,b\n?,u,b\n", Options{Missing: "mean", Scaling: "std"},
			[]string{"-1 0:0 2=u:1", "+1 0:1 2=v:1", "+1 0:0 2=u:1"}, "nt"},
		"label first": {"a;1;u\nb;2;v\n", Options{LabelCol: "1"},
			[]string{"-1 0:1 3=u:1", "+1 0:2 3=v:1"}, "nt"},
		"blanks": {"u 1 a\nv\t2  b\n", Options{}, []string{"-1 0:1 1=u:1", "+1 0:2 1=v:1"}, "tn"},
		"CRLF and BOM": {"\ufeffu,1,a\r\nv,2,b\r\n", Options{},
			[]string{"-1 0:1 1=u:1", "+1 0:2 1=v:1"}, "tn"},
		"names of one column": {"x=,x,a\nu,v,0\nw,v,1\n", Options{LabelCol: "a"},
			[]string{"-1 1=u:1 x=v:1", "+1 x=v:1 1=w:1"}, "tt"},
		"all texts with a header": {"size,class\nbig,a\nsmall,b\nbig,a\n", Options{},
			[]string{"-1 size=big:1", "+1 size=small:1", "-1 size=big:1"}, "t"},
		"all texts without": {"y,a\nn,b\ny,b\nn,a\n", Options{},
			[]string{"-1 1=y:1", "+1 1=n:1", "+1 1=y:1", "-1 1=n:1"}, "t"},
		"left out without names": {"1,9,2,a\n3,x,4,b\n", Options{IgnoreCols: []string{"2"}},
			[]string{"-1 0:1 1:2", "+1 0:3 1:4"}, "n-n"},
		"a row that is bad": {"1,u,a\n2,v\n3,w,b\n", Options{OnError: "skip"},
			[]string{"-1 0:1 2=u:1", "+1 0:3 2=w:1"}, "nt"},
	} {
		rows, info, err := readText(t, tc.text, tc.o)
		if err != nil || !slices.Equal(rows, tc.rows) || info.Kinds != tc.kinds {
			t.Errorf("%s: %q, kinds %q, %v; want %q, %q", name, rows, info.Kinds, err, tc.rows,
				tc.kinds)
		}
	}
}

// TestTextColumnsRefused: what is bad among them, and in options.
func TestTextColumnsRefused(t *testing.T) {
	const people = "age,job,label\n30,clerk,yes\n40,?,no\n"
	for name, tc := range map[string]struct {
		text string
		o    Options
		want string
		kind error
	}{
		"missing": {people, Options{Missing: "error"}, "FILE:3:4: the value is missing: say by " +
			"Options.Missing", ErrBadRow},
		"a text among numbers": {people + "x,clerk,no\n", Options{},
			`FILE:4:1: expected a number, found "x" (is it a column of texts?`, ErrBadRow},
		"no such column": {people, Options{TextCols: []string{"jobs"}},
			`no column "jobs": name one of the header by Options.TextCols`, ErrFormat},
		"no header": {"1,u,a\n2,v,b\n", Options{IgnoreCols: []string{"id"}},
			`no header, so no column "id": give its number to Options.IgnoreCols`, ErrFormat},
		"the label": {people, Options{IgnoreCols: []string{"label"}},
			`column "label" holds the labels`, ErrFormat},
		"nothing left": {people, Options{IgnoreCols: []string{"job", "age"}},
			"no column is left that is a feature", ErrFormat},
		"missing what": {people, Options{Missing: "zero"}, `missing "zero"`, ErrOption},
		"kinds":        {people, Options{Columns: 3, Kinds: "nx"}, `kinds "nx"`, ErrOption},
		"few kinds":    {people, Options{Columns: 3, Kinds: "n"}, `kinds "n"`, ErrOption},
		"a long text": {people + "50," + strings.Repeat("x", 2000) + ",no\n", Options{},
			"expected a name of at most 1024 bytes", ErrBadRow},
		"open quote": {"1,\"u,a\n2,v,b\n", Options{}, "FILE:1:3: quote is not closed", ErrBadRow},
	} {
		_, _, err := readText(t, tc.text, tc.o)
		if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s (%v)", name, err, tc.want, tc.kind)
		}
	}
}

// TestTextColumnsHashed: hashed texts are where Vowpal Wabbit's hash puts them, behind the numbers.
func TestTextColumnsHashed(t *testing.T) {
	rows, info, err := readText(t, "1,u,12,a\n2,v,7,b\n", Options{HashBits: 4,
		TextCols: []string{"3"}})
	if err != nil || info.Names != nil || info.Dim > 17 {
		t.Fatal(rows, info, err)
	}
	for _, row := range rows {
		if n := strings.Count(row, ":"); n != 3 {
			t.Errorf("%d features in %s", n, row)
		}
	}
	// many texts share few features, and that is counted
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "t%d,%d\n", i, i%2)
	}
	_, info, err = readText(t, b.String(), Options{HashBits: 4})
	if err != nil || info.Dim > 16 || info.Shared < 10 {
		t.Errorf("%d features, %d shared, %v", info.Dim, info.Shared, err)
	}
}

// TestManyTexts: a column of ids fills no more memory than there is for names, and the error says
// what to do.
func TestManyTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("a million names")
	}
	r, w := io.Pipe()
	go func() {
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(w, "id%d,%d\n", i, i%2); err != nil {
				return
			}
		}
	}()
	defer r.Close()
	s, err := OpenReader[float32](context.Background(), "ids", r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "Options.HashBits") {
		t.Error(err)
	}
}
