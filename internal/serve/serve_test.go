package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/race"
	_ "github.com/halfspace-ml/halfspace/learners"
)

// newModel writes the file of a model that has learned a few rows of features 0 to 9, or of named
// ones.
func newModel(t testing.TB, o halfspace.Options, features ...string) string {
	t.Helper()
	m, err := halfspace.New(o, features...)
	if err != nil {
		t.Fatal(err)
	}
	row := m.Row()
	labels := m.Classes()
	for i := range 20 {
		row.Reset()
		for j := range 10 {
			v := float64((i*7+j*13)%11-5) / 4
			if features == nil {
				row.At(j, v)
			} else if j < len(features) {
				row.Set(features[j], v)
			}
		}
		if _, err := m.LearnOne(row, labels[i%len(labels)]); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.model")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// trained writes the model of a text.
func trained(t testing.TB, o halfspace.Options, text string) string {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.WriteFile(data, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Model = filepath.Join(dir, "a.model")
	if _, err := halfspace.Train(context.Background(), o, data); err != nil {
		t.Fatal(err)
	}
	return o.Model
}

func start(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// do asks and returns the status and the body.
func do(s *Server, op, media, body string) (int, string) {
	a := s.Do(&Request{Op: op, Model: "a", Media: media, Body: []byte(body)}, nil)
	return a.Status, string(a.Body)
}

// asks has the model answer, which must have that status and those words.
func asks(t testing.TB, s *Server, op, media, body string, status int, want string) {
	t.Helper()
	if got, text := do(s, op, media, body); got != status || !strings.Contains(text, want) {
		t.Errorf("%s of %.200s: %d %.200s; want %d and %s", op, body, got, text, status, want)
	}
}

// serving serves a model with that log, "" being none.
func serving(t testing.TB, path, log string) *Server {
	t.Helper()
	return start(t, Options{Models: []Model{{Name: "a", Path: path, Log: log}}})
}

// closing closes a server, which must go well.
func closing(t testing.TB, s *Server) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// content is what a file has.
func content(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRows(t *testing.T) {
	pa := newModel(t, halfspace.Options{Learner: "pa"})
	named := newModel(t, halfspace.Options{Learner: "pa"}, "x", "y")
	words := trained(t, halfspace.Options{Learner: "pa"}, `{"y":"no","age":3,"job":"clerk"}
{"y":"yes","age":5,"job":"smith"}
`)
	mixed := trained(t, halfspace.Options{Learner: "pa"}, "age,job,label\n3,clerk,no\n5,smith,yes\n")
	classes := newModel(t, halfspace.Options{Learner: "perceptron",
		Data: halfspace.Data{Classes: []string{"a", "b", "c"}}})
	for _, c := range []struct {
		model, op, media, body string
		status                 int
		want                   string // is in the answer
	}{
		{pa, Predict, mediaJSON, `{"features":{"0":1,"3":-2}}`, 200, `"snapshot":20}`},
		{pa, Predict, mediaJSON, ` [ {"features":[1,2],"id":7},` + "\n\n" + `{"1":3} ] `, 200,
			`[{"id":"7","label":`},
		{pa, Predict, mediaNDJSON, `{"0":1}` + "\n\n" + `{"0":-1}`, 200, "\n"},
		{pa, Predict, mediaSVM, "0:1 3:2\n1 0:-1 # hm\n", 200, "\n"},
		{pa, Predict, mediaJSON, `{"0":1e39}`, 400, `row 1, column 6`},
		{pa, Predict, mediaJSON, `{"0":NaN}`, 400, `"malformed"`},
		{pa, Predict, mediaJSON, ``, 400, `expected an object or an array`},
		{pa, Predict, mediaJSON, `[]`, 400, `expected an object or an array`},
		{pa, Predict, mediaJSON, `[{"0":1}`, 400, `expected a comma or ]`},
		{pa, Predict, mediaJSON, `{"0":1`, 400, `expected a comma or }`},
		{pa, Predict, mediaJSON, `{"0":1} {"0":1}`, 400, `expected nothing behind`},
		{pa, Predict, mediaJSON, `[{"0":1},{"0":x}]`, 400, `"row":2`},
		{pa, Predict, mediaNDJSON, "{\"0\":1}\n\n{\"0\":x}", 400, `"row":3`},
		{pa, Predict, mediaNDJSON, ``, 400, `found none`},
		{pa, Predict, "text/csv", `1,2`, 415, `"media_type"`},
		{pa, Predict, mediaJSON, `{"a":1}`, 400, `expected the number of a feature`},
		{pa, Predict, mediaJSON, `{"300000":1}`, 422, `"too_many_features"`},
		{pa, Learn, mediaJSON, `{"label":1,"0":1}`, 200, `{"learned":1,`},
		{pa, Learn, mediaJSON, `{"label":"-1","0":1,"weight":2}`, 200, `{"learned":1,`},
		{pa, Learn, mediaJSON, `{"label":"x","0":1}`, 422, `want \"-1\" or \"+1\"`},
		{pa, Learn, mediaJSON, `[{"label":1,"0":1},{"0":1}]`, 422, `row 2 has no label`},
		{pa, Learn, mediaSVM, "+1 0:1\n-1 4:1\n", 200, `{"learned":2,`},
		{pa, Learn, mediaJSON, `{"id":"q","label":1}`, 422, `"unknown_id"`},
		{pa, Save, "", ``, 200, `{"saved":20}`},
		{pa, "train", "", ``, 404, `"no_such_operation"`},
		{named, Predict, mediaJSON, `{"x":1,"y":2}`, 200, `"label"`},
		{named, Predict, mediaJSON, `{"features":[1,2]}`, 200, `"label"`},
		{named, Predict, mediaJSON, `{"features":[1]}`, 400, `expected 2 features`},
		{named, Predict, mediaJSON, `{"x":1}`, 422, `lacks the column \"y\"`},
		{named, Predict, mediaJSON, `{"x":1,"y":2,"z":3}`, 422, `no feature of the model is named`},
		{named, Predict, mediaSVM, `0:1 1:2`, 422, `have names`},
		{named, Learn, mediaJSON, `{"x":1,"y":2,"label":"+1"}`, 200, `"learned":1`},
		{words, Predict, mediaJSON, `{"job":"smith","age":4}`, 200, `{"label":"yes","score":0.8192307949066162,`},
		{words, Predict, mediaJSON, `{"features":{"job":"baker","age":4}}`, 200, `"score":`},
		{words, Learn, mediaJSON, `{"y":"no","job":"baker","age":4}`, 200, `"learned":1`},
		{mixed, Predict, mediaJSON, `{"age":4,"job":"smith"}`, 200, `"label":"yes"`},
		{mixed, Predict, mediaJSON, `{"age":4,"job":"baker"}`, 200, `"label":`},
		{mixed, Predict, mediaJSON, `{"job":"baker"}`, 422, `lacks the column \"age\"`},
		{mixed, Predict, mediaJSON, `{"age":"old"}`, 422, `no feature of the model is named`},
		{mixed, Learn, mediaJSON, `{"age":4,"job":"baker","label":"no"}`, 200, `"learned":1`},
		{classes, Predict, mediaJSON, `{"0":1}`, 200, `"scores":[`},
		{classes, Learn, mediaJSON, `{"0":1,"label":"d"}`, 422, `want one of 3 classes`},
	} {
		s := serving(t, c.model, "")
		asks(t, s, c.op, c.media, c.body, c.status, c.want)
		s.models["a"].saved.Store(s.models["a"].examples.Load()) // so that the file stays
		closing(t, s)
	}
}

// TestHTTP: what refuses requests before they are read, what lets them through, and who is let in
// without a token, and with which words of one. Pages are under the rules of other requests, but a
// browser may send the token as a password, to them alone.
func TestHTTP(t *testing.T) {
	s := serving(t, newModel(t, halfspace.Options{Learner: "pa"}), "")
	token := "secret"
	pages := map[string]Page{"/": func(dst []byte) Answer {
		return Answer{Status: http.StatusOK, Media: "text/html", Body: append(dst, "hello"...)}
	}}
	open := s.Handler(HTTP{MaxBody: 100, Pages: pages})
	closed := s.Handler(HTTP{TokenNow: func() string { return token }, Pages: pages})
	const host, origin, basic, bearer = "Host", "Origin", "basic", "Bearer"
	const other = "evil.example.com"
	for _, c := range []struct {
		h                                http.Handler
		method, path, body, header, word string
		status                           int
	}{
		{open, "POST", "/v1/models/a/predict", `{"0":1}`, "", "", 200},
		{open, "POST", "/v1/models/a/predict", `{"0":1}`, host, other, 403},
		{open, "POST", "/v1/models/b/predict", `{"0":1}`, "", "", 404},
		{open, "POST", "/v1/models/a/train", `{"0":1}`, "", "", 404},
		{open, "GET", "/v1/models/a/predict", "", "", "", 405},
		{open, "PUT", "/v1/models/a/learn", `{"0":1}`, "", "", 405},
		{open, "POST", "/v1/models/a", `{"0":1}`, "", "", 405},
		{open, "GET", "/v1/models/a", "", "", "", 200},
		{open, "GET", "/v1/models", "", "", "", 200},
		{open, "GET", "/none", "", "", "", 404},
		{open, "GET", "/healthz", "", host, other, 200},
		{open, "GET", "/readyz", "", "", "", 200},
		{open, "POST", "/v1/models/a/predict", strings.Repeat(" ", 101), "", "", 413},
		{open, "GET", "/v1/models", "", origin, "http://localhost:3000", 200},
		{open, "GET", "/v1/models", "", origin, "http://" + other, 403},
		{open, "GET", "/v1/models", "", origin, "null", 403},
		{open, "GET", "/v1/models", "", origin, "http://%zz", 403},
		{open, "GET", "/v1%2fmodels", "", "", "", 404},
		{open, "GET", "/v1/models%2Fa", "", "", "", 404},
		{open, "GET", "/v1/models/%61", "", "", "", 404},
		{open, "GET", "/%2e/healthz", "", "", "", 404},
		{open, "GET", "/", "", "", "", 200},
		{open, "HEAD", "/", "", "", "", 200},
		{open, "POST", "/", "", "", "", 404},
		{open, "GET", "/", "", host, other, 403},
		{closed, "POST", "/v1/models/a/predict", `{"0":1}`, bearer, "secret", 200},
		{closed, "POST", "/v1/models/a/predict", `{"0":1}`, "", "", 401},
		{closed, "POST", "/v1/models/a/predict", `{"0":1}`, bearer, "secrex", 401},
		{closed, "GET", "/v1/models", "", bearer, "secret", 200},
		{closed, "GET", "/v1/models", "", "Authorization", "secret", 401},
		{closed, "GET", "/v1/models", "", "Authorization", "bearer secret", 401},
		{closed, "GET", "/v1/models", "", basic, "secret", 401},
		{closed, "POST", "/v1/models/a/save", "", basic, "secret", 401},
		{closed, "GET", "/", "", "", "", 401},
		{closed, "GET", "/", "", basic, "other", 401},
		{closed, "GET", "/", "", basic, "secret", 200},
		{closed, "GET", "/", "", bearer, "secret", 200},
		{closed, "POST", "/", "", basic, "secret", 401},
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", mediaJSON)
		switch c.header {
		case "":
		case host:
			r.Host = c.word
		case basic:
			r.SetBasicAuth("anybody", c.word)
		case bearer:
			r.Header.Set("Authorization", "Bearer "+c.word)
		default:
			r.Header.Set(c.header, c.word)
		}
		what := fmt.Sprint(c.method, " ", c.path, " with ", c.header, " ", c.word)
		w := httptest.NewRecorder()
		c.h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: %d %s, want %d", what, w.Code, w.Body, c.status)
		}
		if w.Code >= 400 && errorCode(t, w.Body) == "" {
			t.Errorf("%s: no code", what)
		}
		demand := ""
		if c.status == http.StatusUnauthorized {
			if demand = "Bearer"; c.method == "GET" && c.path == "/" {
				demand = "Basic"
			}
		}
		if got, _, _ := strings.Cut(w.Header().Get("WWW-Authenticate"), " "); got != demand {
			t.Errorf("%s: it demands %q, want %q", what, got, demand)
		}
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: a browser may load what it likes", what)
		}
	}
	if n := s.Unauthorized(); n != 9 {
		t.Errorf("%d without the token, want 9", n)
	}
	r := httptest.NewRequest("GET", "http://x/v1/models", nil)
	w := httptest.NewRecorder()
	if open.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
		&net.UnixAddr{Name: "s", Net: "unix"}))); w.Code != 200 {
		t.Errorf("by a Unix socket: %d", w.Code)
	}
	token = "other"
	r.Header.Set("Authorization", "Bearer secret")
	w = httptest.NewRecorder()
	if closed.ServeHTTP(w, r); w.Code != 401 {
		t.Errorf("the token of before: %d", w.Code)
	}
}

// rowsOfSVM are n rows of svmlight whose label is mostly the sign of feature 0.
func rowsOfSVM(from, n int) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		x := float64(i*37%101-50) / 50
		label := "+1"
		if x+float64(i%7-3)/20 < 0 {
			label = "-1"
		}
		fmt.Fprintf(&b, "%s 0:%g 1:%g %d:1\n", label, x, float64(i*53%89-44)/44, 2+i%40)
	}
	return b.String()
}

// learnUpTo has a model of newModel learn the rows of rowsOfSVM until it has learned so many
// examples.
func learnUpTo(t testing.TB, m *halfspace.Model, presented uint64) {
	t.Helper()
	rows := halfspace.Rows{Ptr: []int{0}, Dim: 42, Names: []string{"+1", "-1"}}
	for _, line := range strings.Split(rowsOfSVM(int(m.Presented())-20, int(presented-
		m.Presented())), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		rows.N++
		rows.Labels = append(rows.Labels, int32(strings.Index("+-", f[0][:1])))
		for _, pair := range f[1:] {
			index, value, _ := strings.Cut(pair, ":")
			j, err := strconv.Atoi(index)
			v, err2 := strconv.ParseFloat(value, 32)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			rows.Idx, rows.F32 = append(rows.Idx, int32(j)), append(rows.F32, float32(v))
		}
		rows.Ptr = append(rows.Ptr, len(rows.Idx))
	}
	if _, err := m.LearnRows(context.Background(), &rows); err != nil {
		t.Fatal(err)
	}
}

var load = flag.Int("load", 0, "predictions, and rows to learn, of TestLoad")

// TestLoad: eight clients predict, a row a request, while another one teaches as many rows. No
// request fails, and each answer is that of the snapshot that it names.
func TestLoad(t *testing.T) {
	n := *load
	if n == 0 {
		if n = 8000; testing.Short() || race.Enabled {
			n = 2000
		}
	}
	path := newModel(t, halfspace.Options{Learner: "obpm"})
	begun, err := halfspace.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{Models: []Model{{Name: "a", Path: path,
		Log: filepath.Join(t.TempDir(), "log")}}, PublishEvery: 100})
	url := listening(t, s, HTTP{})
	const clients = 8
	type answer struct {
		Score    float64
		Snapshot uint64
		row      [2]float64
	}
	answers := make([][]answer, clients)
	post := func(client *http.Client, op, media, body string) ([]byte, error) {
		a, err := client.Post(url+"/v1/models/a/"+op, media, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err == nil && a.StatusCode != 200 {
			err = fmt.Errorf("%d %s", a.StatusCode, text)
		}
		return text, err
	}
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := range n / clients {
				a := answer{row: [2]float64{float64(i%17-8) / 8, float64((i+c)%13-6) / 4}}
				text, err := post(client, Predict, mediaJSON, fmt.Sprintf(
					`{"features":[%g,%g]}`, a.row[0], a.row[1]))
				if err == nil {
					err = json.Unmarshal(text, &a)
				}
				if err != nil {
					t.Error(err)
					return
				}
				answers[c] = append(answers[c], a)
			}
		})
	}
	all.Go(func() {
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		for i := 0; i < n; i += 10 {
			if _, err := post(client, Learn, mediaSVM, rowsOfSVM(i, 10)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	all.Wait()
	list := slices.Concat(answers...)
	slices.SortFunc(list, func(a, b answer) int { return cmp.Compare(a.Snapshot, b.Snapshot) })
	snapshots := 0
	for i, a := range list {
		if i == 0 || a.Snapshot > list[i-1].Snapshot {
			snapshots++
			learnUpTo(t, begun, a.Snapshot)
		}
		want, err := begun.Score(begun.Row().At(0, a.row[0]).At(1, a.row[1]))
		if err != nil || want != a.Score {
			t.Fatalf("snapshot %d of row %v: score %v, want %v (%v)", a.Snapshot, a.row, a.Score,
				want, err)
		}
	}
	st := s.Stats()[0]
	if st.Learned != int64(n) || st.Predicted != int64(n/clients*clients) {
		t.Errorf("%d learned, %d predicted", st.Learned, st.Predicted)
	}
	t.Logf("%d answers of %d snapshots; predict p50 %.0f us, p99 %.0f us, most %.0f us", len(list),
		snapshots, st.Predict.P50*1e6, st.Predict.P99*1e6, st.Predict.Max*1e6)
}
