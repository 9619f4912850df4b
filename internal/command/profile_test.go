package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestProfilePages asks for live profiles as a stranger would that had its own name point to this
// machine.
func TestProfilePages(t *testing.T) {
	t.Parallel()
	pages := profilePages()
	get := func(host, path string) int {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = host
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		return w.Code
	}
	const heap = "/debug/pprof/heap?debug=1"
	for _, host := range []string{
		"127.0.0.1:6060", "localhost:6060", "LOCALHOST", "127.0.0.1", "[::1]:6060", "[::1]",
		"127.1.2.3:1",
	} {
		if code := get(host, heap); code != http.StatusOK {
			t.Errorf("host %q: %d, want 200", host, code)
		}
	}
	for _, host := range []string{
		"evil.example.com", "evil.example.com:6060", "localhost.example.com:6060",
		"127.0.0.1.example.com", "10.0.0.1:6060", "0.0.0.0", "", ":6060",
	} {
		if code := get(host, heap); code != http.StatusForbidden {
			t.Errorf("host %q: %d, want 403", host, code)
		}
	}
	for _, seconds := range []string{
		"301", "1e9", "0", "-1", "NaN", "Inf", "many", "99999999999999999999",
	} {
		for _, page := range []string{"profile", "trace", "heap"} {
			code := get("localhost", "/debug/pprof/"+page+"?seconds="+seconds)
			if code != http.StatusBadRequest {
				t.Errorf("%s over %s seconds: %d, want 400", page, seconds, code)
			}
		}
	}
	// In the body, where it counts too.
	r := httptest.NewRequest("POST", "/debug/pprof/trace", strings.NewReader("seconds=301"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Host = "localhost"
	w := httptest.NewRecorder()
	if pages.ServeHTTP(w, r); w.Code != http.StatusBadRequest {
		t.Errorf("seconds in a form: %d, want 400", w.Code)
	}
}
