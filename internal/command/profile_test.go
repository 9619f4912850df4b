package command

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/realdata"
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

// TestProfileTags has each command that learns for long write a CPU profile, and looks for the keys
// and values of its samples' tags among the profile's strings.
func TestProfileTags(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "data"), filepath.Join(dir, "model")
	var rows bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		fmt.Fprintf(&rows, "%+d", 1-2*r.IntN(2))
		for j := range 300 {
			fmt.Fprintf(&rows, " %d:%.2f", j+1, r.NormFloat64())
		}
		rows.WriteByte('\n')
	}
	if err := os.WriteFile(data, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) {
		t.Helper()
		root := newRootCmd(io.Discard)
		root.SetArgs(args)
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
	}
	command("train", "-q", "-a", "obpm", "--members", "2000", "--combine", "vote", "-m", model,
		data)
	for _, c := range []struct{ args, tags string }{
		{"train -q -a adf --epochs 5 DATA", "learner adf stage learn"},
		{"cv -q -a adf --repeats 2 DATA", "learner adf stage learn fold repeat"},
		{"tune -q -a adf --level 0 --grid label-noise=.1,.2 DATA",
			"learner adf stage learn setting label-noise=.1"},
		{"tune -q -a adf --by cv --level 0 --grid label-noise=.1 DATA",
			"learner adf stage learn setting label-noise=.1 fold"},
		{"compare -q -a adf -a pa DATA", "learner stage learn setting adf"},
		{"compare -q MODEL MODEL DATA", "learner obpm stage predict model"},
		{"bench wide --rounds 3 --json", "suite wide case side ours peer"},
		{"repro obpm/table1 --runs 40 -q --fresh --cache DIR/cache",
			"experiment obpm/table1 learner obpm"},
	} {
		t.Run(c.args, func(t *testing.T) {
			file := filepath.Join(dir, "profile")
			var args []string
			for _, w := range strings.Fields(c.args) {
				args = append(args, strings.NewReplacer("DATA", data, "MODEL", model, "DIR",
					dir).Replace(w))
			}
			args = append(args, "--cpuprofile", file)
			// A sample is taken each 10 ms: a short run may have none of what is looked for.
			missed := strings.Fields(c.tags)
			for range 30 {
				command(args...)
				profile := realdata.Unpacked(t, file)
				missed = slices.DeleteFunc(missed, func(tag string) bool {
					// an entry of the table of strings, field 6 of profile.proto
					return bytes.Contains(profile, append([]byte{6<<3 | 2, byte(len(tag))}, tag...))
				})
				if len(missed) == 0 {
					return
				}
			}
			t.Errorf("%q are not among the profiles' strings", missed)
		})
	}
}
