package format

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// behindRows is text that has no rows. Rows before it are read by words; without it, the last
// wordRoom bytes are read byte by byte.
var behindRows = "# " + strings.Repeat(".", 2*wordRoom) + "\n"

// parsed are the rows of a text, in svmlight of base 1, and what is wrong with bad ones.
func parsed[T engine.Float](t *testing.T, text string, o Options, s Settings) (rows []string) {
	t.Helper()
	o.Base = 1
	h := &Head{Text: []byte(text), Whole: true, Ended: true}
	lay, err := SVMLight.Layout(h, &o, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &Chunk[T]{File: "in", N: len(text), Layout: lay, Out: &Rows[T]{}}
	c.Text = append([]byte(text), make([]byte, Stops)...)
	EndText(c.Text[c.N:])
	s.Format, s.KeepBad = SVMLight, math.MaxInt
	c.Parse(&s)
	r := c.Out
	for i := range r.N {
		row := fmt.Sprintf("%s:", r.Labels.List[r.Code[i]].Text)
		for k := r.Ptr[i]; k < r.Ptr[i+1]; k++ {
			row += fmt.Sprintf(" %d:%x", r.Idx[k], math.Float64bits(float64(r.Val[k])))
		}
		rows = append(rows, row)
	}
	for i := range r.Kept() {
		e := c.BadAt(i, &s).Err
		rows = append(rows, fmt.Sprintf("%d bad at %d:%d: %s in %q", i, e.Line, e.Col, e.What,
			e.Excerpt))
	}
	return append(rows, fmt.Sprintf("sum %x, zero %v", math.Float64bits(r.MaxSq), r.Zero))
}

// sameByWords reads a short line by words and byte by byte: all that comes of it is the same.
func sameByWords[T engine.Float](t *testing.T, line string, o Options, s Settings) {
	t.Helper()
	if len(line)+1+Stops >= wordRoom {
		t.Fatalf("%q is read by words in part", line)
	}
	slow := parsed[T](t, line+"\n", o, s)
	if fast := parsed[T](t, line+"\n"+behindRows, o, s); !slices.Equal(fast, slow) {
		t.Errorf("%q\nby words %q\nby bytes %q", line, fast, slow)
	}
}

func TestWords(t *testing.T) {
	for _, line := range []string{"1", "-1 ", "+1  ", "1\t2:1", "1 2:1", "1 2:1 ", "1 2:1\t3:4",
		"1 2:1  3:4 ", "1 2:1 3:4\r", "1 2:1 # c", "1 2:1 #", "1 2:1# c", "1 qid:3 2:1 ",
		"1 2:1 qid:4 3:1",
		"1 0:1", "1 00:1 ", "1 01:1 002:1 ", "1 2:1 2:1 ", "1 12:1 11:1 ", "1 99:1 100:1 101:9 ",
		"1 999:1 1000:2 ", "1 9999999:1 ", "1 10000000:1 ", "1 2147483646:1 ", "1 2147483647:1 ",
		"1 2147483648:1 ", "1 99999999999999999999:1 ", "1 :1 ", "1 2: ", "1 2:", "1 2", "1 a:1 ",
		"1 2:a ", "1 2:1a ", "1 2:1:1 ", "1 2::1 ", "1 1;1 ", "1 /1:1 ", "1 1/:1 ", "1 1::1",
		"1 12;:1 ",
		"1 2:1/ ", "1 2:1; ", "1 2:/ ", "1 23:\x001 ", "1 2\xb3:1 ", "1 23:\xb1 ", "1 2:nan ",
		"1 2:inf ", "1 2:1e3 ",
		"1 2:+1 ", "1 2:-1 ", "1 2:- ", "1 2:. ", "1 2:-.5 ", "1 2:5. 3:1", "1 2:1.5.5 ",
		"1 2:--1 ",
		"1 2:-0 ", "1 2:0 ", "1 2:0.0 ", "1 2:-0.0 ", "1 2:1e39 ", "x 2:1 ", "1x 2:1 ",
		"1234567 2:1 ",
		"12345678 2:1 ", "0.5 1:1 ", "-0 1:1 ", "1e400 1:1 ", "1:1 2:1 ", "1,2:1 "} {
		for _, o := range []Options{{}, {Bias: 1}, {Whole: true, Base: -1}} {
			for _, s := range []Settings{{}, {Optional: true}, {Unit: true}, {Bias: o.Bias,
				One: .3}} {
				sameByWords[float32](t, line, o, s)
				sameByWords[float64](t, line, o, s)
			}
		}
	}
	// one wrong byte in each place of a good row
	for _, line := range []string{"1 7:1 23:4 456:7 ", "1 8:255 1234:.25 ", "-1 56:0.125 89012:3"} {
		for i := range line {
			for ch := range 256 {
				wrong := []byte(line)
				wrong[i] = byte(ch)
				if ch != '\n' {
					sameByWords[float32](t, string(wrong), Options{}, Settings{})
				}
			}
		}
	}
}

// TestWordsLabels has labels come and go in many ways, some of them in bad rows, which leave none.
func TestWordsLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	labels := []string{"1", "+1", "-1", "01", "2", "3", "1e0", "1234567", "12345678"}
	for range 300 {
		var b strings.Builder
		var want []string
		for range 30 {
			l := labels[rng.IntN(len(labels))]
			if b.WriteString(l); rng.IntN(4) == 0 {
				b.WriteString(" x\n")
				continue
			}
			v, _ := strconv.ParseFloat(l, 64)
			want = append(want, fmt.Sprint(v))
			b.WriteString([]string{"\n", " 1:1\n", "\t1:1\n", "  1:1\n"}[rng.IntN(4)])
		}
		got := parsed[float64](t, b.String()+behindRows, Options{}, Settings{})
		for i, w := range want {
			l, _, _ := strings.Cut(got[i], ":")
			if v, _ := strconv.ParseFloat(l, 64); fmt.Sprint(v) != w {
				t.Fatalf("%q\nrow %d has the label %s, want %s", b.String(), i, l, w)
			}
		}
	}
}
