package command

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/pprof"
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

// labelsSeen is an output that looks at goroutines' labels when it is written to.
type labelsSeen struct{ goroutines bytes.Buffer }

func (l *labelsSeen) Write(p []byte) (int, error) {
	if l.goroutines.Len() == 0 {
		pprof.Lookup("goroutine").WriteTo(&l.goroutines, 1)
	}
	return len(p), nil
}

// TestPredictLabels: profiles of predict know the learner and the stage, as those of train do.
func TestPredictLabels(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "data"), filepath.Join(dir, "model")
	rows := strings.Repeat("+1 1:1\n-1 2:1\n", 20000) // their lines fill the output more than once
	if err := os.WriteFile(data, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen labelsSeen
	for _, args := range [][]string{{"train", "-q", "-a", "pa", "-m", model, data},
		{"predict", "-q", "-i", model, data}} {
		seen.goroutines.Reset()
		root := newRootCmd(&seen)
		root.SetArgs(args)
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const want = `{"learner":"pa", "stage":"predict"}`
	if all := seen.goroutines.String(); !strings.Contains(all, want) {
		t.Errorf("no goroutine with %s in\n%s", want, all)
	}
}
