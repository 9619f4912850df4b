package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfspace-ml/halfspace"
)

// threeClasses are rows of so many.
var threeClasses = strings.Repeat("a 1:1\nb 2:1\nc 3:1\n", 10)

// TestFit: a request that the model can't learn whole is refused before it is in the log, and
// leaves no trace: no names of features, either.
func TestFit(t *testing.T) {
	words := trained(t, halfspace.Options{Learner: "pa"}, `{"y":"no","age":3}`+"\n"+
		`{"y":"yes","b":5}`)
	classes := trained(t, halfspace.Options{Learner: "obpm"}, threeClasses)
	for _, c := range []struct{ model, media, body, want string }{
		{words, mediaJSON, `{"y":"no","new":1,"":1}`, `name \"\"`},
		{words, mediaJSON, `[{"y":"no","new":1},{"y":"no","newer":3e38}]`, "row 2 is too long"},
		{words, mediaJSON, `[{"y":"no","new":1},{"y":"maybe","b":1}]`, "row 2"},
		{classes, mediaSVM, "a 262000:1\nd 1:1\ne 1:1\n", "bound on memory"},
		{classes, mediaSVM, "d 1:1\ne 1:1\nf 1:1\ng 1:1\n", "7 classes"},
		{classes, mediaSVM, "a 1:1\nb 1:3e19 2:1\n", "row 2 is too long"},
		{newModel(t, halfspace.Options{Learner: "romma"}), mediaJSON,
			`{"label":1,"0":1,"weight":2}`, "no weights"},
		{trained(t, halfspace.Options{Learner: "romma"}, `{"y":"no","age":3}`+"\n"+
			`{"y":"yes","b":5}`), mediaJSON, `{"y":"no","new":1,"weight":2}`, "no weights"},
	} {
		log := filepath.Join(t.TempDir(), "log")
		s := start(t, Options{MaxClasses: 6, MaxMemory: 64 << 20, Models: []Model{{Name: "a",
			Path: c.model, Log: log}}})
		before := content(t, log)
		features := s.models["a"].m.Features()
		asks(t, s, Learn, c.media, c.body, 422, c.want)
		if string(content(t, log)) != string(before) || s.models["a"].m.Features() != features {
			t.Errorf("%q has left a trace", c.body)
		}
		closing(t, s)
	}
}

// TestClassBound: as many classes as may be are learned, and not one more.
func TestClassBound(t *testing.T) {
	s := start(t, Options{MaxClasses: 4, Models: []Model{{Name: "a", Path: trained(t,
		halfspace.Options{Learner: "perceptron"}, threeClasses)}}})
	for _, c := range []struct {
		body string
		want int
	}{{"d 1:1\ne 1:1\n", 422}, {"d 1:1\n", 200}, {"a 1:1\nd 1:1\n", 200}, {"e 1:1\n", 422}} {
		asks(t, s, Learn, mediaSVM, c.body, c.want, "")
	}
}

// TestLargeRecord: what the log can't take at once is refused, and the model learns on.
func TestLargeRecord(t *testing.T) {
	s := serving(t, newModel(t, halfspace.Options{Learner: "pa"}), "")
	h := s.models["a"]
	d := h.decoder(h.shape)
	if bad := d.read(mediaJSON, []byte(`{"label":"+1","0":1}`), 1); bad != nil {
		t.Fatal(bad)
	}
	for n, want := range map[int]bool{mostRecord: true, mostRecord + 1: false} {
		d.record = make([]byte, n) // never written to, and so not there
		if bad := h.fit(d, &d.x); (bad == nil) != want {
			t.Errorf("%d bytes: %v", n, bad)
		}
	}
}

// TestScoresBound: rows times classes are bounded in an answer.
func TestScoresBound(t *testing.T) {
	s := start(t, Options{PublishEvery: 1, Models: []Model{{Name: "a", Path: trained(t,
		halfspace.Options{Learner: "perceptron"}, threeClasses)}}})
	var rows strings.Builder
	for i := range 297 {
		fmt.Fprintf(&rows, "c%d 1:1\n", i)
	}
	asks(t, s, Learn, mediaSVM, rows.String(), 200, "")
	for n, want := range map[int]int{mostScores / 300: 200, mostScores/300 + 1: 413} {
		asks(t, s, Predict, mediaNDJSON, strings.Repeat("{}\n", n), want, "")
	}
}

// TestWaitAgain: rows whose labels were refused wait again, and rows that were learned don't; nor
// does one that can't be learned at all.
func TestWaitAgain(t *testing.T) {
	s := serving(t, newModel(t, halfspace.Options{Learner: "fragile"}), "")
	do(s, Predict, mediaJSON, `{"id":"q","0":13}`)
	do(s, Predict, mediaJSON, `{"id":"r","0":1}`)
	for _, c := range []struct {
		body    string
		status  int
		waiting int
	}{
		{`{"id":"r","label":"x"}`, 422, 2}, {`{"id":"r","label":1}`, 200, 1},
		{`{"id":"q","label":1}`, 503, 1},
	} {
		if status, body := do(s, Learn, mediaJSON, c.body); status != c.status {
			t.Errorf("%s: %d %s", c.body, status, body)
		}
		if n := s.Stats()[0].Waiting; n != c.waiting {
			t.Errorf("%s: %d rows wait", c.body, n)
		}
	}
}

// piped serves s over connections in memory, of which dial makes one.
func piped(t *testing.T, s *Server, o HTTP) (dial func() net.Conn) {
	l := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func() net.Conn {
		ours, theirs := net.Pipe()
		l.made <- theirs
		t.Cleanup(func() { ours.Close() })
		return ours
	}
}

type pipes struct {
	made   chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// post sends a request whose body is as it is, and returns the answer's status, and whether it is
// the last one of the connection.
func post(t *testing.T, c net.Conn, head, body string) (status int, last bool) {
	t.Helper()
	go fmt.Fprintf(c, "POST /v1/models/a/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"%s\r\n%s\r\n%s", mediaJSON, head, body)
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	io.Copy(io.Discard, a.Body)
	return a.StatusCode, a.Close
}

// TestSlowBodies: whoever sends a part of a request and stops keeps nobody out, however many do,
// whichever part it is; nor do connections without a request.
func TestSlowBodies(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	const begin = "POST /v1/models/a/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: " +
		mediaJSON + "\r\n"
	for name, part := range map[string]string{
		"nothing": "", "half a head": begin, "a byte": begin + "Content-Length: 20\r\n\r\n{",
		"chunked":    begin + "Transfer-Encoding: chunked\r\n\r\n",
		"half of it": begin + "Content-Length: 200000\r\n\r\n" + strings.Repeat(" ", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serving(t, path, "")
				dial := piped(t, s, HTTP{MaxRequests: 4, MaxConnections: 40})
				for range 100 {
					c := dial()
					go io.WriteString(c, part)
					synctest.Wait()
				}
				for range 3 {
					c := dial()
					if status, _ := post(t, c, "Content-Length: 7\r\n", `{"0":1}`); status != 200 {
						t.Errorf("%d", status)
					}
					time.Sleep(time.Second)
				}
				large := strings.Repeat(" ", 100_000) + `{"0":1}`
				before := time.Now()
				if status, _ := post(t, dial(), fmt.Sprintf("Content-Length: %d\r\n", len(large)),
					large); status != 200 || time.Since(before) > 2*paceTime {
					t.Errorf("a large one: %d after %v", status, time.Since(before))
				}
			})
		})
	}
}

// TestConnections: for one connection too many the one is closed that has waited longest, those
// without a request first, and none that is being answered.
func TestConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := newConnections(3)
		closed := func(c net.Conn) bool {
			c.SetReadDeadline(time.Now())
			_, err := c.Read(make([]byte, 1))
			return err == io.EOF
		}
		var list []net.Conn
		begin := func() (*connection, net.Conn) {
			ours, theirs := net.Pipe()
			list = append(list, ours)
			ctx := conns.begins(context.Background(), theirs)
			conns.changed(theirs, http.StateNew)
			time.Sleep(time.Second)
			return ctx.Value(connectionKey{}).(*connection), theirs
		}
		working, a := begin()
		conns.changed(a, http.StateActive)
		working.works()
		_, b := begin()
		conns.changed(b, http.StateActive)
		begin()
		begin()
		begin()
		for i, want := range []bool{false, false, true, true, false} {
			if got := closed(list[i]); got != want {
				t.Errorf("connection %d is closed: %v", i, got)
			}
		}
		for range 2 {
			conns.changed(func() net.Conn {
				for c, one := range conns.all {
					if one.closed {
						return c
					}
				}
				return nil
			}(), http.StateClosed)
		}
		for c, one := range conns.all {
			if !one.working && c != b {
				conns.changed(c, http.StateActive)
			}
		}
		begin()
		if !closed(list[1]) || closed(list[0]) {
			t.Error("the request that has waited longest is still there, or one that is answered isn't")
		}
		working.waits()
	})
}

// TestChunked: a request whose length may be told in two ways is the last of its connection.
func TestChunked(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	synctest.Test(t, func(t *testing.T) {
		dial := piped(t, start(t, Options{Models: []Model{{Name: "a", Path: path}}}), HTTP{})
		status, last := post(t, dial(), "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
			"7\r\n{\"0\":1}\r\n0\r\n\r\n")
		if status != 200 || !last {
			t.Errorf("%d, the last one: %v", status, last)
		}
	})
}

// TestKeptBound: a learner that keeps examples without a budget is refused more of them before it
// takes more memory than a model may, and predicts on.
func TestKeptBound(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "perceptron",
		Settings: map[string]any{"kernel": "rbf", "gamma": 1.}})
	s := start(t, Options{Models: []Model{{Name: "a", Path: path}}, MaxMemory: 1 << 20})
	refused := false
	for i := 0; i < 200 && !refused; i++ {
		var b strings.Builder
		for k := range 100 {
			fmt.Fprintf(&b, "%d 1:%d 2:%d\n", 1-2*(k%2), i*100+k, k)
		}
		status, text := do(s, Learn, mediaSVM, b.String())
		refused = status == 422 && strings.Contains(text, "bound on memory")
		if status != 200 && !refused {
			t.Fatalf("%d %s", status, text)
		}
	}
	if !refused {
		t.Error("20,000 examples were kept within 1 MiB")
	}
}
