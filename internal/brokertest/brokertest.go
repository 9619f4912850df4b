// Package brokertest has what the tests of all brokers share.
package brokertest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/commandtest"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/model"
)

// Broker is one in a process of its own, so that it can be killed: a test's binary as "server DIR
// PORT", of commandtest.Main. What it keeps is in the folder.
type Broker struct {
	T    testing.TB
	Dir  string
	Port int

	cmd *exec.Cmd
}

// New starts a broker at a port that is free.
func New(t testing.TB) *Broker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &Broker{T: t, Dir: t.TempDir(), Port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	b.Start()
	t.Cleanup(b.Kill)
	return b
}

// Start starts a broker that was killed.
func (b *Broker) Start() {
	b.cmd = exec.Command(os.Args[0])
	b.cmd.Env = append(os.Environ(), fmt.Sprintf("HALFSPACE_TEST_AS=server %s %d", b.Dir, b.Port))
	b.cmd.Stderr = os.Stderr
	if err := b.cmd.Start(); err != nil {
		b.T.Fatal(err)
	}
}

// Kill ends it at once.
func (b *Broker) Kill() {
	b.cmd.Process.Kill()
	b.cmd.Wait()
}

// Host is where it listens.
func (b *Broker) Host() string { return fmt.Sprint("127.0.0.1:", b.Port) }

// Until waits until f has no error, for some time.
func Until(t testing.TB, f func() error) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatal(err)
		}
	}
}

// Rows are so many examples in svmlight's form.
func Rows(n int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		x, y, z := r.IntN(7)-3, r.IntN(7)-3, r.IntN(5)
		label := "+1"
		if x+y+r.IntN(3)-1 < 0 {
			label = "-1"
		}
		fmt.Fprintf(&b, "%s 1:%d 2:%d %d:1\n", label, x, y, 3+z)
	}
	return b.Bytes()
}

// Send adds text to the stream of a name, which it makes if there is none: so many lines a message.
// It returns the stream's URL, without options.
type Send func(name string, text []byte, lines int) (url string)

// Train checks that a stream is learned to the same bytes as the file that it is of, however many
// rows a message has.
func Train(t *testing.T, send Send) {
	t.Parallel()
	dir := t.TempDir()
	text := Rows(20000)
	file := filepath.Join(dir, "rows.svm")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, "whole")
	commandtest.Run(t, 0, "train", "-q", "-a", "obpm", "-m", whole, file)
	want := commandtest.Content(t, whole)
	for _, lines := range []int{1, 7, 1000} {
		name := fmt.Sprint("by", lines)
		url := send(name, text, lines) + "?end=now"
		m := filepath.Join(dir, name)
		commandtest.Run(t, 0, "train", "-q", "-a", "obpm", "-m", m, url)
		if !bytes.Equal(commandtest.Content(t, m), want) {
			t.Errorf("%d lines a message: another model", lines)
		}
		commandtest.Run(t, 0, "evaluate", "-q", "-i", m, url)
	}
}

// Stopped checks that a run that follows a stream can be stopped and gone on with, as one can that
// pauses.
func Stopped(t *testing.T, send Send) {
	t.Parallel()
	dir := t.TempDir()
	m, whole := filepath.Join(dir, "model"), filepath.Join(dir, "whole")
	lines := bytes.SplitAfter(Rows(9000), []byte("\n"))
	third := func(i int) []byte { return bytes.Join(lines[3000*i:3000*i+3000], nil) }
	url := send("rows", third(0), 10)
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", "-m", m, url+"?end=pause")
	one := commandtest.Content(t, m)
	commandtest.Run(t, 0, "train", "-q", "--resume", "-m", m, url+"?end=pause")
	if !bytes.Equal(commandtest.Content(t, m), one) {
		t.Error("nothing came, and the model is another")
	}
	send("rows", third(1), 10)
	cmd, out := commandtest.Start(t, "train", "--resume", "-m", m, "--progress", "none",
		"--checkpoint-every", "50ms", url)
	Until(t, func() error {
		now, err := model.Load(m)
		if err == nil && now.Presented != 6000 {
			err = fmt.Errorf("%d learned, not 6000\n%s", now.Presented, out)
		}
		return err
	})
	cmd.Process.Signal(syscall.SIGTERM)
	commandtest.Ended(t, cmd, out, 130)
	send("rows", third(2), 10)
	commandtest.Run(t, 0, "train", "-q", "--resume", "-m", m, url+"?end=now")
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", "-m", whole, url+"?end=now")
	if !bytes.Equal(commandtest.Content(t, m), commandtest.Content(t, whole)) {
		t.Error("another model")
	}
	said := commandtest.Run(t, 0, "train", "--resume", "-m", m, url+"?end=now")
	if !strings.Contains(said, "finished: nothing to do") {
		t.Errorf("a run that came to its end: %s", said)
	}
}

// Nobody has the broker go and not come back: what was learned is kept.
func Nobody(t *testing.T, b *Broker, send Send) {
	t.Parallel()
	m := filepath.Join(t.TempDir(), "model")
	cmd, out := commandtest.Start(t, "train", "-a", "pa", "-q", "-m", m, "--checkpoint-every",
		"100", send("rows", Rows(100), 1)+"?patience=1500ms&timeout=500ms")
	Until(t, func() error {
		_, err := os.Stat(m)
		return err
	})
	b.Kill()
	commandtest.Ended(t, cmd, out, 1)
	if said := out.String(); !strings.Contains(said, "warning: ") ||
		!strings.Contains(strings.ToLower(said), "the model after 100 examples is in ") {
		t.Errorf("it says\n%s", said)
	}
}

// Killed kills runs that learn a stream of 20,000 rows, and now and then the broker, and has them
// go on: the end is that of a run that wasn't killed. HALFSPACE_KILLS says how many times; 10.
// there waits for the broker.
func Killed(t *testing.T, b *Broker, send Send, there func()) {
	t.Parallel()
	url := send("rows", Rows(20000), 3) + "?end=now"
	k := &killing{t: t, m: filepath.Join(t.TempDir(), "model"), url: url, flags: []string{"-q",
		"-a", "obpm", "--members", "500", "--tau", "0.5", "--checkpoint-every", "777"}}
	kills := 10
	if n, err := strconv.Atoi(os.Getenv("HALFSPACE_KILLS")); err == nil {
		kills = n
	}
	whole := filepath.Join(t.TempDir(), "whole")
	begin := time.Now()
	commandtest.Run(t, 0, k.fresh(whole)...)
	k.long, k.want = time.Since(begin), commandtest.Content(t, whole)
	for r := rand.New(rand.NewPCG(3, 4)); k.killed < kills; {
		k.run(b, r, there)
	}
	if _, err := os.Stat(k.m); err == nil {
		commandtest.Run(t, 0, "train", "--resume", "-q", "-m", k.m, url)
	} else {
		commandtest.Run(t, 0, k.fresh(k.m)...)
	}
	if !bytes.Equal(commandtest.Content(t, k.m), k.want) {
		t.Error("at the end: another model")
	}
	t.Logf("a run takes %v; %d kills, %d behind a checkpoint of the run, %d resumed, %d ends, "+
		"%d servers", k.long, k.killed, k.inRun, k.resumed, k.ends+1, k.servers)
	if k.inRun == 0 || k.resumed == 0 {
		t.Error("no run was killed behind a checkpoint")
	}
}

// killing is a series of runs that are killed.
type killing struct {
	t      testing.TB
	m, url string
	flags  []string
	long   time.Duration // a run that isn't killed takes
	want   []byte        // its model

	killed, ends, inRun, resumed, servers int
}

// fresh are the arguments of a run from the beginning.
func (k *killing) fresh(m string) []string {
	return append(append([]string{"train", "-m", m}, k.flags...), k.url)
}

// run starts a run, or goes on with one, and kills it at some moment, if it doesn't end before.
func (k *killing) run(b *Broker, r *rand.Rand, there func()) {
	args := k.fresh(k.m)
	was, err := model.Load(k.m)
	if err == nil {
		args = []string{"train", "--resume", "-q", "-m", k.m, k.url}
		k.resumed++
	}
	cmd, out := commandtest.Start(k.t, args...)
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	away := r.IntN(4) == 0
	if away {
		time.Sleep(time.Duration(r.Int64N(int64(k.long))))
		b.Kill()
		b.Start()
		k.servers++
	}
	select {
	case <-over:
	case <-time.After(time.Duration(r.Int64N(int64(k.long)))):
		cmd.Process.Kill()
		<-over
	}
	if away {
		there() // the next run needs the broker from its beginning on
	}
	switch code := cmd.ProcessState.ExitCode(); {
	case code == -1:
		k.killed++
		if now, err := model.Load(k.m); err == nil && (was == nil ||
			now.Presented > was.Presented) {
			k.inRun++
		}
		return
	case code == 1 && away && strings.Contains(out.String(), b.Host()):
		return // it began while there was no broker
	case code != 0:
		k.t.Fatalf("exit code %d after %d kills\n%s", code, k.killed, out)
	}
	k.ends++
	if !bytes.Equal(commandtest.Content(k.t, k.m), k.want) {
		k.t.Fatalf("after %d kills: another model", k.killed)
	}
	os.Remove(k.m)
	os.Remove(k.m + ".1")
}

// A9a learns the stream of a9a, which must give the model that a9a gives in any form.
func A9a(t *testing.T, send Send) {
	t.Parallel()
	text := bytes.ReplaceAll(realdata.Text(t, "a9a.gz"), []byte("+1 "), []byte("1 "))
	for _, lines := range []int{1, 50} {
		m := filepath.Join(t.TempDir(), "model")
		url := send(fmt.Sprint("a9a-", lines), text, lines) + "?end=now"
		commandtest.Run(t, 0, "train", "-q", "-a", "obpm", "-m", m, url)
		if got := fmt.Sprintf("%x", sha256.Sum256(commandtest.Content(t, m))); got !=
			realdata.A9aModel {
			t.Errorf("%d lines a message: another model, %s", lines, got)
		}
	}
}
