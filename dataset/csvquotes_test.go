package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// quotedTable makes a table of a number, two texts and a label, whose texts hold what csv must
// quote, in the ways in which files write it.
func quotedTable(seed uint64, rows int) string {
	draw := rand.New(rand.NewPCG(seed, 7))
	pick := func(list ...string) string { return list[draw.IntN(len(list))] }
	end := pick("\n", "\r\n")
	var b strings.Builder
	if draw.IntN(2) == 0 {
		b.WriteString("\ufeff")
	}
	b.WriteString(`n,"a` + end + `text",u,label` + end)
	text := func() string {
		var t strings.Builder
		for range draw.IntN(5) {
			t.WriteString(pick("x", "yz", ",", "\n", "\r\n", `"`, "\n\n", "#", " ", "é", ",\"\n"))
		}
		if s := t.String(); draw.IntN(3) > 0 || strings.ContainsAny(s, ",\n\"# ") {
			return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		} else if s != "" {
			return s
		}
		return "-"
	}
	for i := range rows {
		number := strconv.Itoa(draw.IntN(1000))
		if draw.IntN(4) == 0 {
			number = `"` + number + `"`
		}
		fmt.Fprintf(&b, "%s,%s,%s,%s", number, text(), text(), pick("no", `"yes"`, "yes"))
		if i < rows-1 || draw.IntN(2) == 0 {
			b.WriteString(end)
		}
	}
	return b.String()
}

// rowsOfTable are the rows of a data set: its number and the names of its other features.
func rowsOfTable(d *Data[float64]) (rows []string) {
	for i := range d.Block.Len() {
		idx, val := d.Block.Sparse(i)
		var names []string
		for _, j := range idx[1:] {
			names = append(names, d.Info.Names[j-1])
		}
		slices.Sort(names) // they are in the order in which they came first
		rows = append(rows, strings.Join(append([]string{fmt.Sprint(val[0])}, names...), "|"))
	}
	return rows
}

// TestCSVQuotedLines: rows whose texts hold line ends are those that encoding/csv reads, however
// the file is cut, packed and read, in one part or several.
func TestCSVQuotedLines(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		text := quotedTable(seed, 40)
		o := Options{Format: "csv", TextCols: []string{"2", "3"}}
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
		records, err := r.ReadAll()
		if err != nil {
			t.Fatal(seed, err)
		}
		header := records[0]
		var want []string
		for _, f := range records[1:] {
			var names []string
			for k, text := range f[1:3] {
				if text == "" {
					text = "?" // it is missing
				}
				names = append(names, header[k+1]+"="+text)
			}
			slices.Sort(names)
			want = append(want, strings.Join(append([]string{f[0]}, names...), "|"))
		}
		check := func(how string, d *Data[float64], err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%d, %s: %v in %q", seed, how, err, text)
			}
			if got := rowsOfTable(d); !slices.Equal(got, want) {
				t.Fatalf("%d, %s: %q, want %q, of %q", seed, how, got, want, text)
			}
		}
		ctx := context.Background()
		for _, size := range []int{0, 1, 7, 64, 300} {
			for _, workers := range []int{1, 3} {
				o.chunk, o.Workers = size, workers
				d, err := load(text, o)
				check(fmt.Sprint("chunks of ", size), d, err)
			}
		}
		o.chunk = 50
		d, err := LoadReader[float64](ctx, "in", iotest.OneByteReader(strings.NewReader(text)), o)
		check("byte by byte", d, err)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		io.WriteString(z, text)
		z.Close()
		d, err = LoadReader[float64](ctx, "in", &packed, o)
		check("gzip", d, err)
		file := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o.FixedNames, o.Names, o.chunk = true, d.Info.Names, 0
		checkParts(t, file, o, d)
	}
}

// checkParts reads a file in parts of its rows, which together are all of it.
func checkParts(t *testing.T, file string, o Options, want *Data[float64]) {
	t.Helper()
	for _, n := range []int{1, 2, 5, 17} {
		var got []string
		for k := 1; k <= n; k++ {
			o.Rows = RowShard{k, n}
			s, err := Open[float64](context.Background(), []string{file}, withLabels(o))
			if err != nil {
				t.Fatal(o.Rows, err)
			}
			for {
				b, err := s.Next()
				if err == io.EOF || errors.Is(err, ErrEmpty) {
					break
				}
				if err != nil {
					t.Fatal(o.Rows, err)
				}
				part := Data[float64]{Block: *b, Info: want.Info}
				got = append(got, rowsOfTable(&part)...)
			}
			s.Close()
		}
		if whole := rowsOfTable(want); !slices.Equal(got, whole) {
			t.Fatalf("%d parts: %q, want %q", n, got, whole)
		}
	}
}

func withLabels(o Options) Options {
	o.Labels = &LabelMap{Negative: "no", Positive: "yes"}
	return o
}

// TestCSVOpenQuote: a quote that is not closed is refused where it stands, whatever comes behind
// it, and what is behind a row of several lines is named by its own line.
func TestCSVOpenQuote(t *testing.T) {
	good := "a,t,y\n1,x,no\n2,\"two\nlines\",yes\n"
	long := strings.Repeat("3,z,no\n", 20000)
	for name, c := range map[string]struct {
		text, want string
		o          Options
		kind       error
	}{
		"to the end": {good + "3,\"z,no\n4,z,yes\n", "in:5:3: quote is not closed in", Options{},
			ErrBadRow},
		"too long": {good + "3,\"z,no\n" + long, "in:5:3: quote is not closed within 64 KiB",
			Options{MaxLine: 1 << 16}, ErrFormat},
		"behind": {good + "q,z,no\n", "in:5:1: expected a number", Options{}, ErrBadRow},
		"in it": {good + "3,\"z\nu\"v,no\n", `in:6:3: expected ',' or the line's end after a ` +
			`column in "u\"v,no"`, Options{}, ErrBadRow},
		"label": {good + "3,z,\"n\no\"\n", "in:5:5: expected a label, found one with a line end",
			Options{}, ErrBadRow},
		"third": {good + "3,\"z\n\n\",maybe\n", "in:7:3: ", Options{Positive: "",
			Labels: &LabelMap{Negative: "no", Positive: "yes"}}, ErrLabels},
	} {
		for _, size := range []int{0, 11} {
			o := c.o
			o.Format, o.TextCols, o.chunk, o.Workers = "csv", []string{"t"}, size, 2
			if c.kind == ErrFormat && size > 0 {
				continue
			}
			_, err := load(c.text, o)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.Is(err, c.kind) {
				t.Errorf("%s, chunks of %d: %v, want %s", name, size, err, c.want)
			}
		}
	}
	// in rows that are skipped, a row is all of its lines
	text := good + "3,\"z\nu\"v,no\n4,z,yes\nq,\"\n\",no\n5,z,no\n"
	o := Options{Format: "csv", TextCols: []string{"t"}, OnError: "skip"}
	d, err := load(text, o)
	if err != nil || d.Info.BadRows != 2 || len(rowsOfTable(d)) != 4 {
		t.Errorf("%v, %v", err, d)
	}
}
