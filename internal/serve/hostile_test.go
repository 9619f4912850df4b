package serve

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfspace-ml/halfspace"
)

// listening serves s on a port of its own until the test ends.
func listening(t testing.TB, s *Server, o HTTP) (url string) {
	t.Helper()
	l, err := Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l, o) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// errorCode is the code of an answer that refuses.
func errorCode(t testing.TB, r io.Reader) string {
	t.Helper()
	var e struct{ Error struct{ Code string } }
	text, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return e.Error.Code
}

// endless is a body without an end.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "+1 0:1\n"[(e.n+int64(i))%7]
	}
	e.n += int64(len(p))
	return len(p), nil
}

// TestHostile: requests that no client means well with are refused by code, over a connection, in
// memory that doesn't grow with them.
func TestHostile(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	s := start(t, Options{Models: []Model{{Name: "a", Path: path}}, MaxFeatures: 1000})
	url := listening(t, s, HTTP{MaxBody: 1 << 20, BodyTime: time.Minute})
	many := func(form string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, c := range []struct {
		name, media string
		body        io.Reader
		status      int
		code        string
	}{
		{"endless", mediaSVM, &endless{}, 413, "too_large"},
		{"a gigabyte", mediaSVM, io.LimitReader(&endless{}, 1<<30), 413, "too_large"},
		{"many features", mediaSVM, strings.NewReader("+1" + many(" %d:1", 1e5)), 422,
			"too_many_features"},
		{"many features, objects", mediaJSON, strings.NewReader(`{"label":1` +
			many(`,"%d":1`, 1e5) + "}"), 422, "too_many_features"},
		{"a large feature", mediaSVM, strings.NewReader("+1 2000000000:1"), 422,
			"too_many_features"},
		{"NaN", mediaSVM, strings.NewReader("+1 1:nan"), 400, "malformed"},
		{"deep", mediaJSON, strings.NewReader(strings.Repeat(`{"a":`, 1e5)), 400, "malformed"},
		{"deep arrays", mediaJSON, strings.NewReader(`{"features":` + strings.Repeat("[", 1e5)),
			400, "malformed"},
		{"no end", mediaJSON, strings.NewReader(`{"label":"`), 400, "malformed"},
		{"zeros", mediaNDJSON, strings.NewReader(strings.Repeat("\x00", 1000)), 400, "malformed"},
		{"no type", "", strings.NewReader("{}"), 415, "media_type"},
		{"many rows", mediaNDJSON, strings.NewReader(strings.Repeat("{}\n", 20000)), 413,
			"too_many_rows"},
		{"labels", mediaNDJSON, strings.NewReader(many(`{"label":"l%d"}`+"\n", 9000)), 422, "unfit"},
	} {
		answer, err := http.Post(url+"/v1/models/a/learn", c.media, c.body)
		if err != nil {
			// the server closes a connection on which more comes than it reads
			if c.name != "endless" && c.name != "a gigabyte" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		code := errorCode(t, answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", c.name, answer.StatusCode, code, c.status, c.code)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("%d bytes are held afterwards", grown)
	}
	if all := after.TotalAlloc - before.TotalAlloc; all > 300<<20 {
		t.Errorf("%d bytes were taken on the way", all)
	}
	url = listening(t, s, HTTP{BodyTime: 150 * time.Millisecond})
	slow(t, strings.TrimPrefix(url, "http://"))
	if st := s.Stats()[0]; st.Learned != 0 || st.BadRows == 0 || len(st.LastBad) == 0 {
		t.Errorf("learned %d, %d refused", st.Learned, st.BadRows)
	}
}

// slow sends a byte now and then.
func slow(t *testing.T, address string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/models/a/learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n"+
		"Content-Length: 1000\r\n\r\n", mediaSVM)
	end := make(chan struct{})
	defer close(end)
	go func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(20 * time.Millisecond):
				c.Write([]byte("1"))
			}
		}
	}()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if code := errorCode(t, answer.Body); answer.StatusCode != 408 || code != "too_slow" {
		t.Errorf("a slow body: %d %s", answer.StatusCode, code)
	}
}

// TestQueueFull: where nothing is learned for a while, as many requests wait as may, and further
// ones are refused; those that waited are learned.
func TestQueueFull(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Options{Models: []Model{{Name: "a", Path: path}}, Queue: 3})
		h := s.models["a"]
		held := &task{kind: taskSave, done: make(chan struct{})} // nobody takes the answer yet
		if bad := h.enqueue(held); bad != nil {
			t.Fatal(bad)
		}
		synctest.Wait() // else it is answered together with what comes until it is saved
		type got struct {
			status int
			body   string
		}
		answers := make(chan got)
		for range 3 {
			go func() {
				status, body := do(s, Learn, mediaJSON, `{"label":1,"0":1}`)
				answers <- got{status, body}
			}()
		}
		synctest.Wait()
		asks(t, s, Learn, mediaJSON, `{"label":1,"0":1}`, 429, "queue_full")
		asks(t, s, Predict, mediaJSON, `{"0":1}`, 200, "")
		<-held.done
		for range 3 {
			if a := <-answers; a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if st := s.Stats()[0]; st.Learned != 3 || st.Busy != 1 {
			t.Errorf("learned %d, refused %d", st.Learned, st.Busy)
		}
	})
}

// TestLate: labels that come by id are learned as if they had come with the features.
func TestLate(t *testing.T) {
	for _, features := range [][]string{nil, {"x", "y"}} {
		path := newModel(t, halfspace.Options{Learner: "pa"}, features...)
		row := func(i int) string {
			if features != nil {
				return fmt.Sprintf(`"x":%d,"y":0.5`, i)
			}
			return fmt.Sprintf(`"1":%d,"4":0.5`, i)
		}
		var files [2][]byte
		for late := range 2 {
			file := filepath.Join(t.TempDir(), "a.model")
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(file, data, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			s := start(t, Options{Models: []Model{{Name: "a", Path: file,
				Log: filepath.Join(t.TempDir(), "log")}}, WaitRows: 10})
			learn := func(status int, want string, rows ...string) {
				t.Helper()
				asks(t, s, Learn, mediaJSON, "["+strings.Join(rows, ",")+"]", status, want)
			}
			if late == 0 {
				learn(200, `"learned":3`, `{"label":-1,`+row(2)+`}`, `{"label":1,`+row(1)+`}`,
					`{"label":-1,`+row(3)+`}`)
			} else {
				for i := 1; i < 4; i++ {
					asks(t, s, Predict, mediaJSON, fmt.Sprintf(`{"id":%d,%s}`, i,
						row(i)), 200, "")
				}
				learn(422, "unknown_id", `{"label":-1,"id":2}`, `{"label":1,"id":7}`)
				learn(422, `want \"-1\"`, `{"label":"x","id":2}`)
				learn(200, `"learned":3`, `{"label":-1,"id":2}`, `{"label":1,`+row(1)+`}`,
					`{"label":-1,"id":"3"}`)
				learn(422, "unknown_id", `{"label":-1,"id":2}`)
				for i := range 20 { // the first ten go
					do(s, Predict, mediaJSON, fmt.Sprintf(`{"id":"n%d",%s}`, i, row(i)))
				}
				if st := s.Stats()[0]; st.Waiting != 10 || st.WaitDropped != 11 ||
					st.WaitUnknown != 2 {
					t.Errorf("%d wait, %d dropped, %d not known", st.Waiting, st.WaitDropped,
						st.WaitUnknown)
				}
			}
			closing(t, s)
			if files[late], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
		if string(files[0]) != string(files[1]) {
			t.Errorf("features %v: another model than with features and labels at once", features)
		}
	}
}

// TestBounds: a model that has as many features as it may learns no new ones, and predicts rows
// that have them; one whose names are hashed has room for all.
func TestBounds(t *testing.T) {
	const text = `{"y":"no","age":3,"b":1}` + "\n" + `{"y":"yes","age":5,"c":1}`
	for bits, learned := range []int{0, 200} {
		s := start(t, Options{MaxFeatures: 3, Models: []Model{{Name: "a", Path: trained(t,
			halfspace.Options{Learner: "pa", Data: halfspace.Data{HashBits: 10 * bits}}, text)}}})
		want := []int{422, 200}[bits]
		asks(t, s, Learn, mediaJSON, `{"y":"no","age":3,"new":1}`, want, "")
		for i := range learned {
			do(s, Learn, mediaJSON, fmt.Sprintf(`{"y":"no","n%d":3}`, i))
		}
		asks(t, s, Predict, mediaJSON, `{"age":3,"new":1,"newer":2}`, 200, "")
		if status, _ := do(s, Predict, mediaJSON, `{"a":1,"b":1,"c":1,"d":1}`); status != want &&
			bits == 0 {
			t.Errorf("%d bits: a row of 4 features: %d", 10*bits, status)
		}
	}
}

// TestFault: where the log can't be written nothing is learned, and that is said; predictions go
// on, and what the file and the log have is one model.
func TestFault(t *testing.T) {
	dir := t.TempDir()
	path, log := newModel(t, halfspace.Options{Learner: "pa"}), filepath.Join(dir, "log")
	s := serving(t, path, log)
	asks(t, s, Learn, mediaJSON, `{"label":1,"0":1}`, 200, "")
	s.models["a"].journal.f.Close()
	for range 2 {
		asks(t, s, Learn, mediaJSON, `{"label":1,"0":1}`, 503, "unavailable")
	}
	asks(t, s, Predict, mediaJSON, `{"0":1}`, 200, "")
	if status, body := do(s, Save, "", ""); status < 500 {
		t.Errorf("saved: %d %s", status, body)
	}
	if s.Ready() == nil || s.Stats()[0].Fault == "" {
		t.Error("ready, and without a fault")
	}
	if err := s.Close(context.Background()); err == nil {
		t.Error("closed without an error")
	}
	s = serving(t, path, log)
	if n := s.Stats()[0].Examples; n != 21 {
		t.Errorf("%d examples afterwards, want 21", n)
	}
}

// TestTLS: other machines are served with a token and TLS alone.
func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert},
		PrivateKey: key}}}
	for _, o := range []HTTP{{}, {Token: "x"}, {TLS: encrypted}} {
		if l, err := Listen("0.0.0.0:0", o); !errors.Is(err, ErrOption) {
			t.Errorf("listening with %+v: %v", o, err)
			if err == nil {
				l.Close()
			}
		}
	}
	s := start(t, Options{ReadOnly: true, Models: []Model{{Name: "a", Path: newModel(t,
		halfspace.Options{Learner: "pa"})}}})
	o := HTTP{Token: "x", TLS: encrypted}
	l, err := Listen("0.0.0.0:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l, o) }()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true}}}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for token, want := range map[string]int{"x": 200, "y": 401} {
		r, err := http.NewRequest("POST", "https://127.0.0.1:"+port+"/v1/models/a/predict",
			strings.NewReader(`{"0":1}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", mediaJSON)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("token %s: %d", token, answer.StatusCode)
		}
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
