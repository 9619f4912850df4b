//go:build unix

package command

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serving starts serve on a socket, and returns what asks it by GET, or by POST if there is a body.
func serving(t *testing.T, dir string, args ...string) (cmd *exec.Cmd,
	ask func(path, token, body string) (int, string)) {
	t.Helper()
	socket := filepath.Join(dir, "s")
	cmd = exec.Command("halfspace", append([]string{"serve", "--listen", "unix:" + socket},
		args...)...)
	cmd.Stderr = new(bytes.Buffer)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _,
		_ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	t.Cleanup(client.CloseIdleConnections)
	ask = func(path, token, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequest("GET", "http://x"+path, nil)
		if body != "" {
			r, err = http.NewRequest("POST", "http://x"+path, strings.NewReader(body))
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := client.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(text)
	}
	until(t, func() bool { status, _ := ask("/healthz", "", ""); return status == 200 })
	return cmd, ask
}

// until waits for something that is about to be.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > 60*time.Second {
			t.Fatal("it never was")
		}
	}
}

// TestServeSignals: SIGHUP has a deployed model and a new token served, and ends nothing; SIGTERM
// ends with 0, an interrupt with 130, and what was learned is saved.
func TestServeSignals(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		by   syscall.Signal
		code int
	}{{syscall.SIGTERM, CodeGood}, {syscall.SIGINT, CodeStopped}} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		for name, learner := range map[string]string{"m": "pa", "new": "perceptron"} {
			train := exec.Command("halfspace", "train", "-q", "-a", learner, "-m", at(name),
				smallFile(t))
			if b, err := train.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
		}
		if err := os.WriteFile(at("token"), []byte("one"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd, ask := serving(t, dir, "--model", "a="+at("m"), "--log", at("log"), "--token-file",
			at("token"))
		learn := func(token string) int {
			status, _ := ask("/v1/models/a/learn", token, `{"label":1,"1":1}`)
			return status
		}
		if status := learn("one"); status != 200 {
			t.Errorf("learned: %d", status)
		}
		if err := os.Rename(at("new"), at("m")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at("token"), []byte("two"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool {
			status, body := ask("/v1/models/a", "two", "")
			return status == 200 && strings.Contains(body, `"learner":"perceptron"`)
		})
		if status := learn("one"); status != 401 {
			t.Errorf("the token of before: %d", status)
		}
		if status := learn("two"); status != 200 {
			t.Errorf("learned: %d", status)
		}
		if err := cmd.Process.Signal(end.by); err != nil {
			t.Fatal(err)
		}
		if code, by := exitCode(t, cmd); code != end.code {
			t.Errorf("%v: exit code %d (%v), want %d\n%s", end.by, code, by, end.code, cmd.Stderr)
		}
		for name, want := range map[string]string{"m": "perceptron", "m.unsaved": "pa"} {
			b, err := exec.Command("halfspace", "inspect", "--json", at(name)).Output()
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s: %v\n%s", name, err, b)
			}
		}
	}
}
