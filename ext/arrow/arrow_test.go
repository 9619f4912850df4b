package arrow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	arr "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// shown are examples as text, and what was found out about them.
func shown[T engine.Float](b *engine.Block[T]) string {
	var s strings.Builder
	for i := range b.Len() {
		fmt.Fprintf(&s, "%+g", b.Y[i])
		if len(b.W) > 0 {
			fmt.Fprintf(&s, "*%g", b.W[i])
		}
		if b.Dense() {
			fmt.Fprintf(&s, " %v", b.Row(i))
		} else {
			idx, val := b.Sparse(i)
			for k := range idx {
				fmt.Fprintf(&s, " %d:%g", idx[k], val[k])
			}
		}
		s.WriteByte('|')
	}
	return s.String()
}

// read reads a file, as a stream or whole.
func read[T engine.Float](file string, o dataset.Options, whole bool) (string, dataset.Info,
	error) {
	if whole {
		d, err := dataset.Load[T](context.Background(), []string{file}, o)
		if err != nil {
			return "", dataset.Info{}, err
		}
		return shown(&d.Block), d.Info, nil
	}
	s, err := dataset.Open[T](context.Background(), []string{file}, o)
	return all(s, err)
}

// all reads a stream to its end.
func all[T engine.Float](s *dataset.Stream[T], err error) (string, dataset.Info, error) {
	if err != nil {
		return "", dataset.Info{}, err
	}
	defer s.Close()
	rows := ""
	for {
		b, err := s.Next()
		if err == io.EOF {
			return rows, s.Info(), nil
		}
		if err != nil {
			return rows, s.Info(), err
		}
		rows += shown(b)
	}
}

// write writes a file into a folder of the test's.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestForms: tables give the examples, labels, names and columns of the same rows in text, by every
// way that leads there.
func TestForms(t *testing.T) {
	dict := &arr.DictionaryType{IndexType: arr.PrimitiveTypes.Int8, ValueType: utf8}
	for _, tc := range []struct {
		name   string
		schema *arr.Schema
		rows   []string
		text   string // the same rows
		kind   string
		o      dataset.Options
	}{
		{"columns", fields("age", i64, "x", f32, "label", utf8, "ok", arr.FixedWidthTypes.Boolean),
			[]string{`{"age":3,"x":0.5,"label":"no","ok":true},{"age":5,"x":-2,"label":"yes"
				,"ok":false}`, `{"age":-7,"x":0,"label":"no","ok":true}`},
			"age,x,label,ok\n3,.5,no,1\n5,-2,yes,0\n-7,0,no,1\n", "csv", dataset.Options{}},
		{"a weight, a column left out, a bias", fields("w", f64, "y", i32, "a",
			arr.PrimitiveTypes.Uint8, "t", &arr.TimestampType{Unit: arr.Second}, "b", arr.FixedWidthTypes.Float16),
			[]string{`{"w":1,"y":1,"a":255,"t":"2020-01-01","b":0.5},
				{"w":3,"y":-1,"a":0,"t":"2020-01-01","b":2}`},
			"w,y,a,t,b\n1,1,255,x,.5\n3,-1,0,x,2\n", "csv", dataset.Options{WeightCol: "w",
				IgnoreCols: []string{"t"}, Bias: "append"}},
		{"texts", fields("job", utf8, "n", i32, "city", dict, "y", i32),
			[]string{`{"job":"clerk","n":1,"city":"Rome","y":0},{"job":null,"n":2,"city":"Oslo","y":1},
				{"job":"smith","n":3,"city":null,"y":1}`},
			"job,n,city,y\nclerk,1,Rome,0\n,2,Oslo,1\nsmith,3,,1\n", "csv", dataset.Options{}},
		{"texts, hashed, of numbers", fields("job", arr.BinaryTypes.LargeString, "n", i32, "y",
			i32),
			[]string{`{"job":"clerk","n":1,"y":0},{"job":"smith","n":2,"y":1}`},
			"job,n,y\nclerk,1,0\nsmith,2,1\n", "csv", dataset.Options{HashBits: 8,
				TextCols: []string{"n"}}},
		{"missing values: their mean", fields("a", f32, "b", i32, "y", i32),
			[]string{`{"a":1,"b":null,"y":0},{"a":null,"b":4,"y":1},{"a":3,"b":6,"y":1}`},
			"a,b,y\n1,,0\n,4,1\n3,6,1\n", "csv", dataset.Options{Missing: "mean"}},
		{"missing values: features", fields("s", utf8, "a", f64, "y", i32, "b", i32),
			[]string{`{"s":"u","a":1,"b":null,"y":0},{"s":null,"a":null,"b":4,"y":1}`},
			"s,a,y,b\nu,1,0,\n,,1,4\n", "csv", dataset.Options{Missing: "indicator",
				Scaling: "std"}},
		{"dense lists", fields("v", arr.ListOf(f32), "y", i32),
			[]string{`{"v":[1,0,2],"y":-1},{"v":[3,4,5],"y":1}`, `{"v":[0,0,1],"y":1}`},
			"-1 1:1 2:0 3:2\n1 1:3 2:4 3:5\n1 1:0 2:0 3:1\n", "dense", dataset.Options{}},
		{"dense lists of one size, of bytes", fields("v", arr.FixedSizeListOf(2,
			arr.PrimitiveTypes.Uint8), "y", arr.PrimitiveTypes.Int8),
			[]string{`{"v":[1,0],"y":-1},{"v":[3,4],"y":1}`}, "-1 1:1 2:0\n1 1:3 2:4\n", "dense",
			dataset.Options{Bias: "append", Normalize: "unit"}},
		{"pairs", fields("y", f32, "x", arr.ListOf(pair)),
			[]string{`{"y":-1,"x":[{"index":1,"value":2},{"index":7,"value":0.5}]},{"y":1,"x":[]}`,
				`{"y":1,"x":[{"index":3,"value":1}]}`},
			"-1 1:2 7:.5\n1\n1 3:1\n", "svmlight", dataset.Options{}},
		{"indices and values, from 0", fields("indices", arr.ListOf(i64), "values", arr.ListOf(f64),
			"y", i32, "w", i32),
			[]string{`{"y":-1,"w":2,"indices":[0,2],"values":[1.5,-1]},
				{"y":1,"w":1,"indices":[1],"values":[3]}`},
			"-1 0:1.5 2:-1\n1 1:3\n", "svmlight", dataset.Options{Bias: "append", WeightCol: "w"}},
		{"a map, two columns left out", fields("id", i32, "m", arr.MapOf(i32, f32), "v",
			arr.ListOf(f32), "y", i32),
			[]string{`{"id":1,"y":-1,"v":[1],"m":[{"key":2,"value":1}]},
				{"id":2,"y":1,"v":[1],"m":[{"key":4,"value":3}]}`},
			"-1 2:1\n1 4:3\n", "svmlight", dataset.Options{IgnoreCols: []string{"id", "v"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			forms(t, tc.schema, tc.rows, tc.text, tc.kind, tc.o)
		})
	}
}

func forms(t *testing.T, schema *arr.Schema, rows []string, text, kind string, o dataset.Options) {
	recs := table(t, schema, rows...)
	like := o
	if kind != "csv" { // options that columns of text have
		like.WeightCol, like.IgnoreCols = "", nil
	}
	data := write(t, "text", []byte(text))
	files := map[string]string{
		"parquet": write(t, "p", asParquet(t, recs)),
		"file":    write(t, "f", asFile(t, recs, ipc.WithZstd())),
		"stream":  write(t, "s", asStream(t, recs)),
	}
	for _, whole := range []bool{false, true} {
		want, info, err := read[float32](data, like, whole)
		if err != nil {
			t.Fatal(err)
		}
		wide, _, err := read[float64](data, like, whole)
		if err != nil {
			t.Fatal(err)
		}
		same := func(name, rows string, i dataset.Info, err error) {
			t.Helper()
			if kind != "csv" && o.WeightCol != "" { // that the text has not
				rows = strings.NewReplacer("*2", "", "*1", "").Replace(rows)
			}
			w := want
			if name[0] == 'W' {
				w = wide
			}
			if kind == "dense" { // as npy, and not as svmlight
				b := strings.NewReplacer("[", "", "]", "").Replace(rows)
				w = strings.NewReplacer("0:", "", "1:", "", "2:", "", "3:", "").Replace(w)
				rows = b
			} else if fmt.Sprint(i.Kinds, i.Header, i.Names, i.Columns, i.LabelCol, i.Shared) !=
				fmt.Sprint(info.Kinds, info.Header, info.Names, info.Columns, info.LabelCol,
					info.Shared) {
				t.Errorf("%s: %+v, want %+v", name, i, info)
			}
			if err != nil || rows != w || i.Labels != info.Labels || i.Dim != info.Dim ||
				i.IndexBase != info.IndexBase || i.Kind != info.Kind {
				t.Errorf("%s: %s %+v, want %s %+v (%v)", name, rows, i, w, info, err)
			}
		}
		for name, file := range files {
			rows, i, err := read[float32](file, o, whole)
			same(name, rows, i, err)
			rows, i, err = read[float64](file, o, whole)
			same("W"+name, rows, i, err)
			if again, _, _ := read[float64](file, with(o, 3), whole); again != rows {
				t.Errorf("%s: with 3 workers %s, not %s", name, again, rows)
			}
		}
		held, err := array.NewRecordReader(schema, recs)
		if err != nil {
			t.Fatal(err)
		}
		if !whole {
			rows, i, err := all(Open[float32](context.Background(), "rows", held, o))
			same("records", rows, i, err)
		} else if d, err := Load[float32](context.Background(), "rows", held, o); err != nil {
			t.Error(err)
		} else {
			same("records", shown(&d.Block), d.Info, err)
		}
		held.Release()
	}
}

func with(o dataset.Options, workers int) dataset.Options {
	o.Workers = workers
	return o
}

// TestBroken: what can't be used is refused, with the place and what to do.
func TestBroken(t *testing.T) {
	ab := fields("a", f32, "y", i32)
	list := fields("y", i32, "x", arr.ListOf(pair))
	pairs := func(p string) []string {
		return []string{`{"y":1,"x":[{"index":1,"value":1}]},{"y":-1,"x":` + p + `}`}
	}
	for _, tc := range []struct {
		name   string
		schema *arr.Schema
		rows   []string
		o      dataset.Options
		want   string
		err    error
	}{
		{"a null", ab, []string{`{"a":1,"y":0},{"a":null,"y":1}`}, dataset.Options{},
			`:2:1: column "a": the value is missing: impute it with Options.Missing`, dataset.ErrBadRow},
		{"no label", ab, []string{`{"a":1,"y":0},{"a":1,"y":null}`}, dataset.Options{},
			`:2:2: column "y": the label is missing`, dataset.ErrBadRow},
		{"infinity", ab, []string{`{"a":1,"y":0},{"a":"Inf","y":1}`}, dataset.Options{},
			`:2:1: column "a": expected a finite number, found +Inf`, dataset.ErrBadRow},
		{"a weight below 0", fields("a", f32, "w", f32, "y", i32),
			[]string{`{"a":1,"w":1,"y":0},{"a":1,"w":-1,"y":1}`}, dataset.Options{WeightCol: "w"},
			`:2:2: column "w": expected a weight`, dataset.ErrBadRow},
		{"a time", fields("t", &arr.TimestampType{Unit: arr.Microsecond}, "y", i32),
			[]string{`{"t":"2020-01-01","y":1}`}, dataset.Options{},
			`column "t" is of type timestamp[us]: leave it out by Options.IgnoreCols, or write it ` +
				`as a number, such as seconds`, dataset.ErrFormat},
		{"a decimal", fields("d", &arr.Decimal128Type{Precision: 9, Scale: 2}, "y", i32),
			[]string{`{"d":"1.25","y":1}`}, dataset.Options{}, `column "d" is of type decimal(9, 2): ` +
				`leave it out by Options.IgnoreCols, or write it as float64`, dataset.ErrFormat},
		{"a struct", fields("s", pair, "y", i32), []string{`{"s":{"index":1,"value":1},"y":1}`},
			dataset.Options{}, "or write it as a column for each field", dataset.ErrFormat},
		{"lists of lists", fields("l", arr.ListOf(arr.ListOf(f32)), "y", i32),
			[]string{`{"l":[[1]],"y":1}`}, dataset.Options{}, `column "l" is of type list`,
			dataset.ErrFormat},
		{"two lists", fields("a", arr.ListOf(f32), "b", arr.ListOf(f32), "y", i32),
			[]string{`{"a":[1],"b":[1],"y":1}`}, dataset.Options{}, `columns "a" and "b" are lists of ` +
				`numbers, and none of indices`, dataset.ErrFormat},
		{"three lists", fields("a", arr.ListOf(f32), "b", arr.ListOf(f32), "c", arr.ListOf(f32)),
			[]string{`{"a":[1],"b":[1],"c":[1]}`}, dataset.Options{}, `columns "a", "b", "c" are `,
			dataset.ErrFormat},
		{"two of integers", fields("a", arr.ListOf(i32), "b", arr.ListOf(i32), "y", i32),
			[]string{`{"a":[1],"b":[1],"y":1}`}, dataset.Options{}, `call the one of the indices ` +
				`"indices"`, dataset.ErrFormat},
		{"a column beside lists", fields("id", i32, "x", arr.ListOf(f32), "y", i32),
			[]string{`{"id":1,"x":[1],"y":1}`}, dataset.Options{}, `column "id" stands beside ` +
				`features that are lists: leave it out by Options.IgnoreCols`, dataset.ErrFormat},
		{"texts that must be numbers", fields("s", utf8, "y", i32), []string{`{"s":"1","y":1}`},
			dataset.Options{NumberCols: []string{"s"}}, `column "s" is of type utf8, expected numbers`,
			dataset.ErrFormat},
		{"no column", ab, []string{`{"a":1,"y":0}`}, dataset.Options{LabelCol: "z"},
			`no column "z"`, dataset.ErrFormat},
		{"other columns than training", ab, []string{`{"a":1,"y":0}`}, dataset.Options{
			Trained: "csv", Columns: 2, Header: []string{"b", "y"}, Label: 2},
			`expected the columns of training; missing: "b"; not in training: "a"`,
			dataset.ErrColumns},
		{"columns for a model of indices", ab, []string{`{"a":1,"y":0}`},
			dataset.Options{Trained: "svmlight"}, "expected svmlight as in training, found csv",
			dataset.ErrForeign},
		{"lists for a model of columns", list, pairs("[]"), dataset.Options{Trained: "csv",
			Columns: 2, Header: []string{"x", "y"}, Label: 2}, `column "x" is of type list`,
			dataset.ErrFormat},
		{"indices that fall", list, pairs(`[{"index":3,"value":1},{"index":2,"value":1}]`),
			dataset.Options{}, `:2:2: column "x": index 2 after 3: indices must ascend`,
			dataset.ErrBadRow},
		{"an index twice", list, pairs(`[{"index":3,"value":1},{"index":3,"value":1}]`),
			dataset.Options{}, `index 3 comes twice`, dataset.ErrBadRow},
		{"an index below 0", list, pairs(`[{"index":-3,"value":1}]`), dataset.Options{},
			`index -3 is negative`, dataset.ErrBadRow},
		{"an index 0", list, pairs(`[{"index":0,"value":1}]`), dataset.Options{IndexBase: "1"},
			`set Options.IndexBase to 0`, dataset.ErrBadRow},
		{"a null list", list, pairs(`null`), dataset.Options{},
			`column "x": a list, or a value of it, is missing`, dataset.ErrBadRow},
		{"a null value", list, pairs(`[{"index":1,"value":null}]`), dataset.Options{},
			`is missing`, dataset.ErrBadRow},
		{"lists of other lengths", fields("x", arr.ListOf(f32), "y", i32),
			[]string{`{"x":[1,2],"y":1},{"x":[1],"y":-1}`}, dataset.Options{}, `:2:1: column "x": `,
			dataset.ErrBadRow},
		{"more values than indices", fields("i", arr.ListOf(i32), "v", arr.ListOf(f32), "y", i32),
			[]string{`{"i":[1],"v":[1],"y":1},{"i":[1],"v":[1,2],"y":-1}`}, dataset.Options{},
			`:2:1: column "i": `, dataset.ErrBadRow},
		{"no rows", ab, []string{``}, dataset.Options{}, "expected examples, found a table without " +
			"rows", dataset.ErrEmpty},
	} {
		t.Run(tc.name, func(t *testing.T) {
			recs := table(t, tc.schema, tc.rows...)
			for _, data := range [][]byte{asParquet(t, recs), asStream(t, recs)} {
				for _, whole := range []bool{false, true} {
					rows, _, err := read[float32](write(t, "data", data), tc.o, whole)
					if !errors.Is(err, tc.err) || !strings.Contains(fmt.Sprint(err), tc.want) {
						t.Errorf("%s, %v; want %q", rows, err, tc.want)
					}
				}
			}
		})
	}
}
