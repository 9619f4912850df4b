package command

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfspace-ml/halfspace/internal/eval"
)

var shown = []eval.Status{
	{Examples: 1, Errors: 1, SinceExamples: 1, SinceErrors: 1, Updates: 12, Epoch: 1, Elapsed: 2 *
		time.Millisecond},
	{Examples: 2, Errors: 1, SinceExamples: 1, SinceErrors: 0, Updates: 12, Epoch: 1, Elapsed: 2 *
		time.Millisecond},
	{Examples: 4194304, Errors: 524288, SinceExamples: 2097152, SinceErrors: 1, Updates: 123456789,
		Epoch: 3, Elapsed: 2 * time.Second},
}

func TestLines(t *testing.T) {
	const want = `    examples      error      error      updates   examples/s
                 so far since last
           1   1.000000   1.000000           12          500
           2   0.500000   0.000000           12         1.0k
     4194304   0.125000   0.000000    123456789        2.10M
     5000000   0.104858   0.000000    123456789        1.67M
`
	var out bytes.Buffer
	p := &progressLines{w: &out}
	for _, s := range shown {
		p.Line(s)
		p.Step(s)
	}
	last := shown[2]
	p.End(last) // has its line already
	last.Examples, last.SinceExamples, last.SinceErrors, last.Elapsed = 5000000, 805696, 0,
		3*time.Second
	p.End(last)
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}

func TestNDJSON(t *testing.T) {
	const (
		begin = `{"schema":"halfspace/1","type":"progress","examples":`
		end   = `,"updates":12,"epoch":1,"seconds":0.002}` + "\n"
		want  = begin + `1,"error":1,"error_since":1` + end +
			begin + `2,"error":0.5,"error_since":0` + end
	)
	var out bytes.Buffer
	p := newProgressJSON(&out)
	p.Line(shown[0])
	p.Step(shown[0])
	p.End(shown[1])
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("NDJSON (-want +got):\n%s", d)
	}
}

// TestBar checks that a bar shows the count and leaves no text behind.
func TestBar(t *testing.T) {
	var out bytes.Buffer
	p := &progressBar{bar: bar{w: &out}}
	p.Step(eval.Status{Examples: 50, Errors: 5, Total: 100, Elapsed: time.Second})
	if !bytes.Contains(out.Bytes(), []byte("error 0.1000")) || !bytes.Contains(out.Bytes(),
		[]byte("50/100")) {
		t.Errorf("bar shows %q, want its error and count", out.String())
	}
	p.End(eval.Status{})
	after := out.Bytes()[bytes.LastIndexByte(out.Bytes(), '\r')+1:]
	if len(bytes.TrimSpace(after)) != 0 {
		t.Errorf("%q is left on the line", after)
	}
	(&progressBar{bar: bar{w: &out}}).End(eval.Status{}) // nothing shown, nothing to clear
}
