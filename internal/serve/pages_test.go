package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
)

// TestPages: pages are under the rules of other requests, but a browser may send the token as a
// password, to them alone.
func TestPages(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	s := start(t, Options{Models: []Model{{Name: "a", Path: path}}})
	pages := map[string]Page{"/": func(dst []byte) Answer {
		return Answer{Status: http.StatusOK, Media: "text/html", Body: append(dst, "hello"...)}
	}}
	open := s.Handler(HTTP{Pages: pages})
	closed := s.Handler(HTTP{Pages: pages, Token: "secret"})
	const none, basic, wrong, bearer = "", "basic secret", "basic other", "bearer secret"
	for _, c := range []struct {
		handler           http.Handler
		method, path, key string
		status            int
		demand            string
	}{
		{open, "GET", "/", none, 200, ""},
		{open, "HEAD", "/", none, 200, ""},
		{open, "POST", "/", none, 404, ""},
		{open, "GET", "/other", none, 404, ""},
		{closed, "GET", "/", none, 401, "Basic"},
		{closed, "GET", "/", wrong, 401, "Basic"},
		{closed, "GET", "/", basic, 200, ""},
		{closed, "GET", "/", bearer, 200, ""},
		{closed, "POST", "/", basic, 401, "Bearer"},
		{closed, "GET", "/v1/models", basic, 401, "Bearer"},
		{closed, "GET", "/v1/models", bearer, 200, ""},
		{closed, "POST", "/v1/models/a/save", basic, 401, "Bearer"},
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.path, nil)
		switch kind, token, _ := strings.Cut(c.key, " "); kind {
		case "basic":
			r.SetBasicAuth("anybody", token)
		case "bearer":
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		c.handler.ServeHTTP(w, r)
		if w.Code != c.status || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), c.demand) ||
			c.status == 200 && w.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%s %s with %q: %d, %v", c.method, c.path, c.key, w.Code, w.Header())
		}
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s %s: a browser may load what it likes", c.method, c.path)
		}
	}
	r := httptest.NewRequest("GET", "http://elsewhere.example/", nil)
	w := httptest.NewRecorder()
	if open.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("a page under another machine's name: %d", w.Code)
	}
}
