package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace"
)

// lineAnswer is an answer as another program reads it.
type lineAnswer struct {
	ID     any
	Status int
	Answer json.RawMessage
	Error  *struct{ Code, Message, Next string }
}

// ask has a server answer lines.
func ask(t testing.TB, s *Server, in string, maxLine int) (list []lineAnswer) {
	t.Helper()
	var out bytes.Buffer
	if err := s.Lines(context.Background(), strings.NewReader(in), &out, maxLine); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var a lineAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if a.Status >= 400 != (a.Error != nil) || a.Error == nil != (a.Answer != nil) {
			t.Errorf("status, answer and error don't agree in %q", line)
		}
		list = append(list, a)
	}
	return list
}

func TestLines(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	s := serving(t, path, "")
	long := strings.Repeat(" ", 200)
	for _, c := range []struct {
		line   string
		status int
		want   string // is in the answer, or in the error's code or message
	}{
		{`{"op":"predict","rows":{"0":1}}`, 200, `"snapshot":20}`},
		{`{"op":"predict","model":"a","rows":[{"0":1},{"0":2}]}`, 200, `},{`},
		{`{"op":"predict","text":"0:1\n0:2\n"}`, 200, `},{`},
		{`{"op":"predict","type":"application/x-ndjson","text":"{\"0\":1}"}`, 200, `[{"label"`},
		{`{"op":"predict","type":"text/csv","text":"1"}`, 415, `media_type`},
		{`{"op":"learn","rows":{"0":1,"label":1}}`, 200, `"learned":1`},
		{`{"op":"info"}`, 200, `"learner":"pa"`},
		{`{"op":"list"}`, 200, `"models":[`},
		{`{"op":"save"}`, 200, ``},
		{`{"op":"eat"}`, 404, `no_such_operation`},
		{`{}`, 404, `no_such_operation`},
		{`{"op":"predict","model":"b","rows":{}}`, 404, `no_such_model`},
		{`{"op":"predict"}`, 400, `expected an object or an array`},
		{`{"op":"predict","rows":3}`, 400, `expected an object or an array`},
		{`{"op":"predict","rows":{},"text":"x"}`, 400, `both rows and text`},
		{`{"op":"predict","row":{}}`, 400, `unknown field "row"`},
		{`{"op":7}`, 400, `another value than number for op`},
		{`{"op":"predict","rows":{"0":NaN}}`, 400, `invalid character 'N'`},
		{`{"op":"predict"`, 400, `doesn't end`},
		{`{"op":"info"} {}`, 400, `nothing behind`},
		{`[]`, 400, `another value than array for the request`},
		{`{"op":"info"` + long + `}`, 413, `more than 200 bytes`},
	} {
		got := ask(t, s, "\n"+c.line+"\r\n", 200)
		if len(got) != 1 {
			t.Errorf("%s: %d answers", c.line, len(got))
			continue
		}
		said := string(got[0].Answer)
		if e := got[0].Error; e != nil {
			said = e.Code + ": " + e.Message
		}
		if got[0].Status != c.status || !strings.Contains(said, c.want) {
			t.Errorf("%s: %d %s, want %d and %q", c.line, got[0].Status, said, c.status, c.want)
		}
	}
}

// TestLinesOrder: answers come in the order of requests, with their ids, and a last line needs no
// end.
func TestLinesOrder(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	s := serving(t, path, "")
	got := ask(t, s, `{"id":1,"op":"info"}
{"id":"two","op":"info","model":"none"}
{"id":{"n":[3]},"op":"list"}`, 0)
	if len(got) != 3 || got[0].ID != 1.0 || got[1].ID != "two" || got[1].Status != 404 {
		t.Errorf("the answers are %+v", got)
	}
}

// TestLinesWaits: an answer doesn't wait for further requests, not even where the begin of one is
// there, and the end of ctx ends it all.
func TestLinesWaits(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	s := serving(t, path, "")
	ctx, cancel := context.WithCancel(context.Background())
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Lines(ctx, in, out, 0) }()
	r := bufio.NewReader(answers)
	for range 3 {
		if _, err := io.WriteString(ask, "{\"op\":\"info\"}\n{\"op\""); err != nil {
			t.Fatal(err)
		}
		if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"status":200`) {
			t.Fatalf("%q, %v", line, err)
		}
		if _, err := io.WriteString(ask, ":\"info\"}\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on after its context has ended")
	}
	ask.Close() // so that the read that has begun ends
}

// FuzzLines: whatever the lines are, each has one answer that is JSON, of one line.
func FuzzLines(f *testing.F) {
	f.Add(`{"id":1,"op":"predict","model":"a","rows":[{"0":1},{"3":2}]}`)
	f.Add(`{"op":"learn","text":"1 0:1\n-1 3:2\n"}` + "\n\n" + `{"op":"info"}`)
	f.Add(`{"op":"predict","type":"application/x-ndjson","text":"{\"0\":1}"}`)
	f.Add("{\"id\":\"\u2028\\n\",\"op\":\"list\"}\r\n[")
	path := newModel(f, halfspace.Options{Learner: "pa"})
	s := start(f, Options{Models: []Model{{Name: "a", Path: path}}, MaxFeatures: 1000})
	f.Fuzz(func(t *testing.T, in string) {
		if strings.Contains(in, "save") {
			t.Skip("it is slow")
		}
		want := 0
		for line := range strings.SplitSeq(in, "\n") {
			if strings.TrimSpace(line) != "" {
				want++
			}
		}
		if got := ask(t, s, in, 0); len(got) != want {
			t.Errorf("%d answers to %d lines", len(got), want)
		}
	})
}
