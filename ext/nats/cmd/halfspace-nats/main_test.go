package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	stream "github.com/halfspace-ml/halfspace/ext/nats"
	"github.com/halfspace-ml/halfspace/internal/brokertest"
	"github.com/halfspace-ml/halfspace/internal/commandtest"
	"github.com/halfspace-ml/halfspace/training"
)

// TestMain is the command, or a server, in processes that tests start.
func TestMain(m *testing.M) {
	commandtest.Main(m, run, map[string]func([]string){"server": serve})
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

// broker is one in a process of its own.
type broker struct{ *brokertest.Broker }

func newBroker(t testing.TB) *broker {
	t.Helper()
	return &broker{brokertest.New(t)}
}

// send is that of brokertest: to a stream of which all subjects are read.
func (b *broker) send(name string, text []byte, lines int) string {
	fill(b.T, b.client(), name, name+".a", text, lines)
	return b.url(name + "/" + name + ".*")
}

// url is that of a stream of the broker.
func (b *broker) url(stream string) string {
	return fmt.Sprintf("nats://127.0.0.1:%d/%s", b.Port, stream)
}

// client connects with the broker as soon as it is there.
func (b *broker) client() jetstream.JetStream {
	b.T.Helper()
	c, err := nats.Connect(b.url(""), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		b.T.Fatal(err)
	}
	brokertest.Until(b.T, func() error {
		_, err := js.AccountInfo(b.T.Context())
		return err
	})
	return js
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
	text := brokertest.Rows(3000)
	file, m := filepath.Join(dir, "rows.svm"), filepath.Join(dir, "model")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	commandtest.Run(t, 0, "train", "-q", "-a", "obpm", "-m", m, file)
	want := strings.SplitAfter(commandtest.Run(t, 0, "predict", "-i", m, file), "\n")
	fill(t, js, "ASK", "ask", text, 7)
	last := &nats.Msg{Subject: "ask", Data: []byte("+1 1:x\n\n1:2 4:1"),
		Header: nats.Header{"Order": {"17"}, "Nats-Msg-Id": {"me"}}}
	if _, err := js.PublishMsg(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	out := commandtest.Run(t, 0, "predict", "-i", m, "--on-error", "skip", "-o",
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
		!strings.HasPrefix(string(list[n].Data()), "?\tNaN\n") || // of the bad row
		bytes.Count(list[n].Data(), []byte{'\n'}) != 1 {
		t.Errorf("the last answer: %q %v", list[n].Data(), h)
	}

	// Once more from an earlier message: none is answered twice. Then from a file.
	commandtest.Run(t, 0, "predict", "-i", m, "--on-error", "skip", "-o", b.url("SAID/said"),
		b.url("ASK/ask@100?end=now"))
	commandtest.Run(t, 0, "predict", "-i", m, "-o", b.url("SAID/said"), file)
	s, err := js.Stream(t.Context(), "SAID")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.CachedInfo().State.Msgs; got != uint64(n+1+3000) {
		t.Errorf("%d answers, want %d", got, n+1+3000)
	}

	// As they come, and with the server killed meanwhile.
	cmd, said := commandtest.Start(t, "predict", "-i", m, "-o", b.url("LIVE/live?create=true"),
		b.url("ASK/ask@431"))
	for i := range 5 {
		if i == 3 {
			b.Kill()
			b.Start()
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
	commandtest.Ended(t, cmd, said, 130)
}

// TestErrors: what is wrong, where, and what to do.
func TestErrors(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	js := b.client()
	fill(t, js, "ROWS", "rows", []byte("+1 1:1\n-1 1:-1\n+1 1:x\n"), 1)
	fill(t, js, "OTHER", "other", brokertest.Rows(30000), 100)
	dir := t.TempDir()
	m, other := filepath.Join(dir, "model"), filepath.Join(dir, "other")
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", "-m", m, b.url("OTHER/other?end=pause"))
	if err := os.WriteFile(other, commandtest.Content(t, m), 0o600); err != nil {
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
		out := commandtest.Run(t, c.code, c.args...)
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
	fill(t, js, "OTHER", "other", brokertest.Rows(10), 1)
	if out := commandtest.Run(t, 3, "train", "--resume", "-m", other, b.url("OTHER/other")); !strings.
		Contains(out, "is gone, the stream begins with 301") {
		t.Errorf("messages that are gone: %s", out)
	}
	js.DeleteStream(t.Context(), "OTHER")
	fill(t, js, "OTHER", "other", brokertest.Rows(10), 1)
	if out := commandtest.Run(t, 3, "train", "--resume", "-m", other, b.url("OTHER/other")); !strings.
		Contains(out, "is to come next, and the stream ends with 10") {
		t.Errorf("a stream made anew: %s", out)
	}
}

// TestRemoved: a stream that keeps few messages removes some while a run reads, that is slower than
// who sends. The run ends with an error, and leaves none out without a word.
func TestRemoved(t *testing.T) {
	b := newBroker(t)
	js := b.client()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "FEW",
		Subjects: []string{"few"}, MaxMsgs: 100}); err != nil {
		t.Fatal(err)
	}
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			if _, err := js.Publish(t.Context(), "few", []byte(fmt.Sprintf("%+d 1:%d\n", i%2*2-1,
				i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(1, 50)
	m, end, err := stream.Messages(t.Context(), b.url("FEW")+"?end=never", "", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	lines, next := bufio.NewScanner(m), 1
	for ; next < 50 && lines.Scan(); next++ {
	}
	fill(50, 12_000) // of which some 8000 are read ahead
	for ; lines.Scan(); next++ {
		if !strings.HasSuffix(lines.Text(), fmt.Sprint(" 1:", next)) {
			t.Fatalf("%q is read as row %d, without an error", lines.Text(), next)
		}
	}
	if err := lines.Err(); !errors.Is(err, training.ErrChanged) ||
		!strings.Contains(err.Error(), "is gone") {
		t.Errorf("%v, want an error that says that messages are gone", err)
	}
}

func TestTrain(t *testing.T)   { brokertest.Train(t, newBroker(t).send) }
func TestStopped(t *testing.T) { brokertest.Stopped(t, newBroker(t).send) }
func TestA9a(t *testing.T)     { brokertest.A9a(t, newBroker(t).send) }

func TestNobody(t *testing.T) {
	b := newBroker(t)
	brokertest.Nobody(t, b.Broker, b.send)
}

func TestKilled(t *testing.T) {
	b := newBroker(t)
	brokertest.Killed(t, b.Broker, b.send, func() { b.client() })
}
