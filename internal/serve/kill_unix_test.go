//go:build unix

package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/halfspace-ml/halfspace"
)

// childEnv makes the test program a process that serves the model in a folder on a socket there
// until it is killed.
const childEnv = "HALFSPACE_TEST_SERVE"

func TestMain(m *testing.M) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		goleak.VerifyTestMain(m)
		return
	}
	s, err := New(childOptions(dir))
	if err == nil {
		var l net.Listener
		if l, err = Listen("unix:"+filepath.Join(dir, "socket"), HTTP{}); err == nil {
			err = s.Serve(context.Background(), l, HTTP{})
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func childOptions(dir string) Options {
	return Options{CheckpointExamples: 90, Models: []Model{{Name: "a",
		Path: filepath.Join(dir, "a.model"), Log: filepath.Join(dir, "a.log")}}}
}

// TestKilled: a server that is killed while it learns, again and again, has in the end the model of
// one that wasn't, to the byte, of all that was answered and of what the log has besides.
func TestKilled(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "obpm", Settings: map[string]any{
		"members": 20}})
	whole, dir := t.TempDir(), t.TempDir()
	data := content(t, path)
	for _, d := range []string{whole, dir} {
		if err := os.WriteFile(filepath.Join(d, "a.model"), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _,
		_ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "socket"))
	}}}
	defer client.CloseIdleConnections()
	kills := 15
	if testing.Short() {
		kills = 4
	}
	sent := 0 // requests that were answered
	var all strings.Builder
	for k := range kills {
		sent = killed(t, client, dir, k, sent, &all)
		// what was not answered may have been learned
		_, r, err := Replay(context.Background(), filepath.Join(dir, "a.log"), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for int(r.Requests) > sent {
			all.WriteString(rowsOfSVM(sent*each, each))
			sent++
		}
		if int(r.Requests) < sent {
			t.Fatalf("kill %d: %d requests in the log of %d that were answered", k, r.Requests, sent)
		}
	}
	for _, d := range []string{whole, dir} {
		o := childOptions(d)
		o.Models[0].Log = map[bool]string{true: o.Models[0].Log}[d == dir]
		s := start(t, o)
		if d == whole {
			lines := strings.SplitAfter(all.String(), "\n")
			for len(lines) > 1 {
				n := min(1000, len(lines)-1)
				asks(t, s, Learn, mediaSVM, strings.Join(lines[:n], ""), 200, "")
				lines = lines[n:]
			}
		}
		closing(t, s)
	}
	want := content(t, filepath.Join(whole, "a.model"))
	got := content(t, filepath.Join(dir, "a.model"))
	if !bytes.Equal(got, want) || bytes.Equal(got, data) {
		t.Errorf("after %d kills and %d requests the model is another", kills, sent)
	}
	t.Logf("%d requests, %d kills", sent, kills)
}

const each = 4 // rows a request

// killed starts a server, sends it requests from number sent on, kills it, and returns how many
// have been answered by then; their rows are added to all.
func killed(t *testing.T, client *http.Client, dir string, k, sent int, all *strings.Builder) int {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+dir)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(k), 7))
	var death *time.Timer
	for tries := 0; ; tries++ {
		rows := rowsOfSVM(sent*each, each)
		answer, err := client.Post("http://localhost/v1/models/a/learn", mediaSVM,
			strings.NewReader(rows))
		if err != nil {
			if death == nil {
				if tries > 2000 {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Millisecond)
				continue // it begins
			}
			break
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Fatalf("%d %s", answer.StatusCode, body)
		}
		all.WriteString(rows)
		sent++
		if death == nil {
			death = time.AfterFunc(time.Duration(rng.IntN(20000))*time.Microsecond,
				func() { child.Process.Kill() })
		}
		if err != nil {
			break
		}
	}
	child.Wait()
	client.CloseIdleConnections()
	return sent
}
