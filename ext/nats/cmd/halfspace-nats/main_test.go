package main

import (
	"bytes"
	"errors"
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

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/halfspace-ml/halfspace/model"
)

// TestMain is the command, or a server, in processes that tests start.
func TestMain(m *testing.M) {
	switch kind, _, _ := strings.Cut(os.Getenv("HALFSPACE_TEST_AS"), " "); kind {
	case "command":
		os.Exit(run())
	case "server":
		serve(strings.Fields(os.Getenv("HALFSPACE_TEST_AS"))[1:])
	default:
		os.Exit(m.Run())
	}
}

// serve is a server that keeps its streams in a folder, until it is killed.
func serve(args []string) {
	port, _ := strconv.Atoi(args[1])
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true,
		StoreDir: args[0], NoSigs: true})
	if err != nil {
		panic(err)
	}
	s.Start()
	s.WaitForShutdown()
}

// broker is a server in a process of its own, so that it can be killed.
type broker struct {
	t    testing.TB
	dir  string
	port int
	cmd  *exec.Cmd
}

func newBroker(t testing.TB) *broker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &broker{t: t, dir: t.TempDir(), port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	b.start()
	t.Cleanup(b.kill)
	return b
}

func (b *broker) start() {
	b.cmd = exec.Command(os.Args[0])
	b.cmd.Env = append(os.Environ(), fmt.Sprintf("HALFSPACE_TEST_AS=server %s %d", b.dir, b.port))
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *broker) kill() {
	b.cmd.Process.Kill()
	b.cmd.Wait()
}

// url is that of a stream of the broker.
func (b *broker) url(stream string) string {
	return fmt.Sprintf("nats://127.0.0.1:%d/%s", b.port, stream)
}

// client connects with the broker as soon as it is there.
func (b *broker) client() jetstream.JetStream {
	b.t.Helper()
	c, err := nats.Connect(b.url(""), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		b.t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err = js.AccountInfo(b.t.Context()); err == nil {
			return js
		}
		if time.Since(begin) > 20*time.Second {
			b.t.Fatal(err)
		}
	}
}

// fill makes a stream of text, so many lines a message.
func fill(t testing.TB, js jetstream.JetStream, stream, subject string, text []byte, lines int) {
	t.Helper()
	if _, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: stream,
		Subjects: []string{subject}}); err != nil {
		t.Fatal(err)
	}
	all := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for len(all) > 0 {
		n := min(lines, len(all))
		if _, err := js.PublishAsync(subject, bytes.Join(all[:n], nil),
			jetstream.WithStallWait(10*time.Second)); err != nil {
			t.Fatal(err)
		}
		all = all[n:]
	}
	<-js.PublishAsyncComplete()
}

// rows are so many examples in svmlight's form.
func rows(n int) []byte {
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

// start starts the command.
func start(t testing.TB, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "HALFSPACE_TEST_AS=command")
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, out
}

// halfspace runs the command, which must end with a code, and returns what it prints.
func halfspace(t testing.TB, code int, args ...string) string {
	t.Helper()
	cmd, out := start(t, args...)
	ended(t, cmd, out, code)
	return out.String()
}

// ended waits for the end of the command, with a code.
func ended(t testing.TB, cmd *exec.Cmd, out *bytes.Buffer, code int) {
	t.Helper()
	timer := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%v: exit code %d, want %d\n%s", cmd.Args[1:], got, code, out)
	}
}

func content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTrain: a stream is learned to the same bytes as the file that it is of, however many rows a
// message has.
func TestTrain(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	js := b.client()
	dir := t.TempDir()
	text := rows(20000)
	file := filepath.Join(dir, "rows.svm")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, "whole")
	halfspace(t, 0, "train", "-q", "-a", "obpm", "-m", whole, file)
	want := content(t, whole)
	for _, lines := range []int{1, 7, 1000} {
		stream := fmt.Sprint("BY", lines)
		fill(t, js, stream, stream+".rows", text, lines)
		m := filepath.Join(dir, stream)
		halfspace(t, 0, "train", "-q", "-a", "obpm", "-m", m,
			b.url(stream+"/"+stream+".rows?end=now"))
		if !bytes.Equal(content(t, m), want) {
			t.Errorf("%d lines a message: another model", lines)
		}
		halfspace(t, 0, "evaluate", "-q", "-i", m, b.url(stream+"?end=now"))
	}
}

// TestKilled kills runs, and now and then the server, and has them go on: the end is that of a run
// that wasn't killed. HALFSPACE_KILLS says how many times.
func TestKilled(t *testing.T) {
	t.Parallel()
	kills := 10
	if n, err := strconv.Atoi(os.Getenv("HALFSPACE_KILLS")); err == nil {
		kills = n
	}
	b := newBroker(t)
	fill(t, b.client(), "ROWS", "rows", rows(20000), 3)
	dir := t.TempDir()
	flags := []string{"-q", "-a", "obpm", "--members", "500", "--tau", "0.5", "--checkpoint-every",
		"777"}
	url := b.url("ROWS/rows?end=now")
	whole := filepath.Join(dir, "whole")
	begin := time.Now()
	halfspace(t, 0, append(append([]string{"train", "-m", whole}, flags...), url)...)
	long, want := time.Since(begin), content(t, whole)
	m := filepath.Join(dir, "model")
	r := rand.New(rand.NewPCG(3, 4))
	killed, ends, inRun, resumed, servers := 0, 0, 0, 0, 0
	for killed < kills {
		args := append(append([]string{"train", "-m", m}, flags...), url)
		was, err := model.Load(m)
		if err == nil {
			args = []string{"train", "--resume", "-q", "-m", m, url}
			resumed++
		}
		cmd, out := start(t, args...)
		over := make(chan error, 1)
		go func() { over <- cmd.Wait() }()
		away := r.IntN(4) == 0
		if away {
			time.Sleep(time.Duration(r.Int64N(int64(long))))
			b.kill()
			b.start()
			servers++
		}
		select {
		case <-over:
		case <-time.After(time.Duration(r.Int64N(int64(long)))):
			cmd.Process.Kill()
			<-over
		}
		if away {
			b.client() // the next run needs the server from its beginning on
		}
		switch code := cmd.ProcessState.ExitCode(); {
		case code == -1:
			killed++
			if now, err := model.Load(m); err == nil && (was == nil ||
				now.Presented > was.Presented) {
				inRun++
			}
			continue
		case code == 1 && away && strings.Contains(out.String(), "127.0.0.1"):
			continue // it began while there was no server
		case code != 0:
			t.Fatalf("exit code %d after %d kills\n%s", code, killed, out)
		}
		ends++
		if !bytes.Equal(content(t, m), want) {
			t.Fatalf("after %d kills: another model", killed)
		}
		os.Remove(m)
		os.Remove(m + ".1")
	}
	if _, err := os.Stat(m); err == nil {
		halfspace(t, 0, "train", "--resume", "-q", "-m", m, url)
	} else {
		halfspace(t, 0, append(append([]string{"train", "-m", m}, flags...), url)...)
	}
	if !bytes.Equal(content(t, m), want) {
		t.Error("at the end: another model")
	}
	t.Logf("a run takes %v; %d kills, %d behind a checkpoint of the run, %d resumed, %d ends, "+
		"%d servers", long, killed, inRun, resumed, ends+1, servers)
	if inRun == 0 || resumed == 0 {
		t.Error("no run was killed behind a checkpoint")
	}
}

// received returns the messages of a subject, as soon as there are so many.
func received(t testing.TB, js jetstream.JetStream, stream string, n int) []jetstream.Msg {
	t.Helper()
	c, err := js.OrderedConsumer(t.Context(), stream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	it, err := c.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Stop()
	var list []jetstream.Msg
	for len(list) < n {
		m, err := it.Next(jetstream.NextMaxWait(20 * time.Second))
		if err != nil {
			t.Fatalf("%d messages: %v", len(list), err)
		}
		list = append(list, m)
	}
	return list
}

// TestPredict answers messages: each has an answer with its headers and a line for each good row.
func TestPredict(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	js := b.client()
	dir := t.TempDir()
	text := rows(3000)
	file, m := filepath.Join(dir, "rows.svm"), filepath.Join(dir, "model")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	halfspace(t, 0, "train", "-q", "-a", "obpm", "-m", m, file)
	want := strings.SplitAfter(halfspace(t, 0, "predict", "-i", m, file), "\n")
	fill(t, js, "ASK", "ask", text, 7)
	last := &nats.Msg{Subject: "ask", Data: []byte("+1 1:x\n\n1:2 4:1"),
		Header: nats.Header{"Order": {"17"}, "Nats-Msg-Id": {"me"}}}
	if _, err := js.PublishMsg(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	out := halfspace(t, 0, "predict", "-i", m, "--on-error", "skip", "-o",
		b.url("SAID/said?create=true"), b.url("ASK/ask?end=now"))
	if !strings.Contains(out, "ask@430:1:6: ") {
		t.Errorf("the bad row isn't named by its message:\n%s", out)
	}
	n := (3000 + 6) / 7
	list := received(t, js, "SAID", n+1)
	for i, msg := range list[:n] {
		if got := string(msg.Data()) + "\n"; got != strings.Join(want[7*i:min(7*i+7, 3000)], "") ||
			msg.Headers().Get("Halfspace-Source") != fmt.Sprint("ask@", i+1) ||
			msg.Headers().Get("Nats-Msg-Id") != fmt.Sprint("ask@", i+1) {
			t.Fatalf("answer %d: %q %v", i, got, msg.Headers())
		}
	}
	if h := list[n].Headers(); h.Get("Order") != "17" || h.Get("Nats-Msg-Id") != "me" ||
		bytes.ContainsRune(list[n].Data(), '\n') {
		t.Errorf("the last answer: %q %v", list[n].Data(), h)
	}

	// Once more from an earlier message: none is answered twice. Then from a file.
	halfspace(t, 0, "predict", "-i", m, "--on-error", "skip", "-o", b.url("SAID/said"),
		b.url("ASK/ask@100?end=now"))
	halfspace(t, 0, "predict", "-i", m, "-o", b.url("SAID/said"), file)
	s, err := js.Stream(t.Context(), "SAID")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.CachedInfo().State.Msgs; got != uint64(n+1+3000) {
		t.Errorf("%d answers, want %d", got, n+1+3000)
	}

	// As they come, and with the server killed meanwhile.
	cmd, said := start(t, "predict", "-i", m, "-o", b.url("LIVE/live?create=true"), b.url("ASK/ask@431"))
	for i := range 5 {
		if i == 3 {
			b.kill()
			b.start()
			js = b.client()
		}
		if _, err := js.Publish(t.Context(), "ask", []byte("1:1 2:2")); err != nil {
			t.Fatal(err)
		}
		for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			s, err := js.Stream(t.Context(), "LIVE")
			if err == nil && s.CachedInfo().State.Msgs == uint64(i+1) {
				break
			}
			if time.Since(begin) > 30*time.Second {
				t.Fatalf("no answer to message %d: %v\n%s", i, err, said)
			}
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	ended(t, cmd, said, 130)
}

// TestStopped: a run that follows a stream is stopped and gone on with, as one is that pauses.
func TestStopped(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	js := b.client()
	dir := t.TempDir()
	text := rows(9000)
	third := bytes.Split(text, []byte("\n"))
	part := func(i int) []byte { return bytes.Join(third[3000*i:3000*i+3000], []byte("\n")) }
	fill(t, js, "ROWS", "rows.a", part(0), 10)
	m, whole := filepath.Join(dir, "model"), filepath.Join(dir, "whole")
	halfspace(t, 0, "train", "-q", "-a", "pa", "-m", m, b.url("ROWS/rows.*?end=pause"))
	one := content(t, m)
	halfspace(t, 0, "train", "-q", "--resume", "-m", m, b.url("ROWS/rows.*?end=pause"))
	if !bytes.Equal(content(t, m), one) {
		t.Error("nothing came, and the model is another")
	}
	fill(t, js, "ROWS", "rows.a", part(1), 10)
	cmd, out := start(t, "train", "--resume", "-m", m, "--progress", "none", "--checkpoint-every",
		"50ms", b.url("ROWS/rows.*"))
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if now, err := model.Load(m); err == nil && now.Presented == 6000 {
			break
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("not learned\n%s", out)
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	ended(t, cmd, out, 130)
	fill(t, js, "ROWS", "rows.a", part(2), 10)
	halfspace(t, 0, "train", "-q", "--resume", "-m", m, b.url("ROWS/rows.*?end=now"))
	halfspace(t, 0, "train", "-q", "-a", "pa", "-m", whole, b.url("ROWS/rows.*?end=now"))
	if !bytes.Equal(content(t, m), content(t, whole)) {
		t.Error("another model")
	}
	if out := halfspace(t, 0, "train", "--resume", "-m", m, b.url("ROWS/rows.*?end=now")); !strings.
		Contains(out, "finished: nothing to do") {
		t.Errorf("a run that came to its end: %s", out)
	}
}

// TestErrors: what is wrong, where, and what to do.
func TestErrors(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	js := b.client()
	fill(t, js, "ROWS", "rows", []byte("+1 1:1\n-1 1:-1\n+1 1:x\n"), 1)
	fill(t, js, "OTHER", "other", rows(30000), 100)
	dir := t.TempDir()
	m, other := filepath.Join(dir, "model"), filepath.Join(dir, "other")
	halfspace(t, 0, "train", "-q", "-a", "pa", "-m", m, b.url("OTHER/other?end=pause"))
	if err := os.WriteFile(other, content(t, m), 0o600); err != nil {
		t.Fatal(err)
	}
	none := "nats://127.0.0.1:1/ROWS/rows"
	for _, c := range []struct {
		code int
		want string // with a line behind it that says what to do
		args []string
	}{
		{1, none + ": no connection: ", []string{"train", "-m", m, none}},
		{1, none + ": no connection: ", []string{"predict", "-i", m, none}},
		{1, none + ": no connection: ", []string{"predict", "-i", m, "-o", none, b.url("OTHER")}},
		{1, ": no stream NONE", []string{"train", b.url("NONE/rows")}},
		{3, "/ROWS/none:1:1: expected examples", []string{"train", b.url("ROWS/none?end=now")}},
		{1, ": the stream takes no messages of the subject", []string{"predict", "-i", m, "-o",
			b.url("ROWS/none"), b.url("OTHER/other")}},
		{2, ": the answers would be read as ", []string{"predict", "-i", m, "-o",
			b.url("OTHER/other"), b.url("OTHER/>")}},
		{2, ": answers go to one subject", []string{"predict", "-i", m, "-o", b.url("OTHER/o.*"),
			b.url("ROWS/rows")}},
		{3, "rows@3:1:6: expected", []string{"train", "-m", m, b.url("ROWS/rows?end=now")}},
		{3, "/ROWS/rows: message 9 is to come next", []string{"train", b.url("ROWS/rows@9")}},
		{3, "which is not in ROWS/rows", []string{"train", "--resume", "-m", m, b.url("ROWS/rows")}},
		{2, "no stream and subject", []string{"train", "nats://localhost:4222"}},
		{2, "is no sequence", []string{"train", "nats://localhost:4222/ROWS/rows@x"}},
		{2, "end=then: want never, now or pause", []string{"train",
			"nats://localhost:4222/ROWS/rows?end=then"}},
		{2, "no such option", []string{"train", "nats://me:secret@localhost/ROWS/rows?what=1"}},
		{2, "a file is needed", []string{"cv", b.url("ROWS/rows")}},
		{2, "a file is needed", []string{"train", m, b.url("ROWS/rows")}},
		{2, "a file is needed", []string{"gen", "margin", "-o", b.url("ROWS/rows")}},
	} {
		out := halfspace(t, c.code, c.args...)
		said, next, _ := strings.Cut(out[max(0, strings.LastIndex(out, "halfspace: ")):], "\n")
		if !strings.Contains(said, c.want) || !strings.HasPrefix(next, "  ") ||
			strings.Contains(out, "secret") {
			t.Errorf("%v: %s\nwant %q and what to do", c.args, out, c.want)
		}
	}
	s, err := js.Stream(t.Context(), "OTHER")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill(t, js, "OTHER", "other", rows(10), 1)
	if out := halfspace(t, 3, "train", "--resume", "-m", other, b.url("OTHER/other")); !strings.
		Contains(out, "is gone, the stream begins with 301") {
		t.Errorf("messages that are gone: %s", out)
	}
	js.DeleteStream(t.Context(), "OTHER")
	fill(t, js, "OTHER", "other", rows(10), 1)
	if out := halfspace(t, 3, "train", "--resume", "-m", other, b.url("OTHER/other")); !strings.
		Contains(out, "is to come next, and the stream ends with 10") {
		t.Errorf("a stream made anew: %s", out)
	}
}

// TestNobody: the server goes and doesn't come back.
func TestNobody(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	fill(t, b.client(), "ROWS", "rows", rows(100), 1)
	m := filepath.Join(t.TempDir(), "model")
	cmd, out := start(t, "train", "-a", "pa", "-q", "-m", m, "--checkpoint-every", "100",
		b.url("ROWS/rows?patience=1500ms&timeout=300ms"))
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(m); err == nil {
			break
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("not learned\n%s", out)
		}
	}
	b.kill()
	ended(t, cmd, out, 1)
	if !strings.Contains(out.String(), "warning: ") ||
		!strings.Contains(out.String(), "the model after 100 examples is in ") &&
			!strings.Contains(out.String(), "The model after 100 examples is in ") {
		t.Errorf("it says\n%s", out)
	}
}
