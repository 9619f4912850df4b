package main

import (
	"bytes"
	"context"
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

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

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

// serve is a cluster that keeps its topics in a folder, until it is killed.
func serve(args []string) {
	port, _ := strconv.Atoi(args[1])
	_, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.DataDir(args[0]),
		kfake.DefaultNumPartitions(1))
	if err != nil {
		panic(err)
	}
	select {}
}

// broker is a cluster in a process of its own, so that it can be killed.
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
	b.cmd.Stderr = os.Stderr
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
	return fmt.Sprintf("kafka://127.0.0.1:%d/%s", b.port, stream)
}

// client connects with the broker as soon as it is there.
func (b *broker) client(more ...kgo.Opt) *kgo.Client {
	b.t.Helper()
	c, err := kgo.NewClient(append(more, kgo.SeedBrokers(fmt.Sprint("127.0.0.1:", b.port)),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		err := c.Ping(ctx)
		if cancel(); err == nil {
			return c
		}
		if time.Since(begin) > 20*time.Second {
			b.t.Fatal(err)
		}
	}
}

// create makes a topic of two partitions.
func create(t testing.TB, c *kgo.Client, topic string) {
	t.Helper()
	x := kmsg.NewCreateTopicsRequestTopic()
	x.Topic, x.NumPartitions, x.ReplicationFactor = topic, 2, 1
	q := kmsg.NewPtrCreateTopicsRequest()
	q.Topics = []kmsg.CreateTopicsRequestTopic{x}
	answer, err := q.RequestWith(t.Context(), c)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fill sends text to partition 0 of a topic, so many lines a record.
func fill(t testing.TB, c *kgo.Client, topic string, text []byte, lines int) {
	t.Helper()
	all := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for len(all) > 0 {
		n := min(lines, len(all))
		c.Produce(t.Context(), &kgo.Record{Topic: topic, Value: bytes.Join(all[:n], nil)},
			func(_ *kgo.Record, err error) {
				if err != nil {
					t.Error(err)
				}
			})
		all = all[n:]
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
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
	c := b.client()
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
		topic := fmt.Sprint("by", lines)
		create(t, c, topic)
		fill(t, c, topic, text, lines)
		m := filepath.Join(dir, topic)
		halfspace(t, 0, "train", "-q", "-a", "obpm", "-m", m, b.url(topic+"/0?end=now"))
		if !bytes.Equal(content(t, m), want) {
			t.Errorf("%d lines a message: another model", lines)
		}
		halfspace(t, 0, "evaluate", "-q", "-i", m, b.url(topic+"/0?end=now"))
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
	c := b.client()
	create(t, c, "rows")
	fill(t, c, "rows", rows(20000), 3)
	dir := t.TempDir()
	flags := []string{"-q", "-a", "obpm", "--members", "500", "--tau", "0.5", "--checkpoint-every",
		"777"}
	url := b.url("rows/0?end=now")
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

// received returns the records of a topic, as soon as there are so many.
func (b *broker) received(topic string, n int) []*kgo.Record {
	b.t.Helper()
	c := b.client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer c.Close()
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	var list []*kgo.Record
	for len(list) < n {
		got := c.PollRecords(ctx, n)
		if err := got.Err(); err != nil {
			b.t.Fatalf("%d records: %v", len(list), err)
		}
		list = append(list, got.Records()...)
	}
	return list
}

// header returns a header of a record.
func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// TestPredict answers records: each has an answer with its key and headers, and a line for each
// good row.
func TestPredict(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := b.client()
	dir := t.TempDir()
	text := rows(3000)
	file, m := filepath.Join(dir, "rows.svm"), filepath.Join(dir, "model")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	halfspace(t, 0, "train", "-q", "-a", "obpm", "-m", m, file)
	want := strings.SplitAfter(halfspace(t, 0, "predict", "-i", m, file), "\n")
	create(t, c, "ask")
	fill(t, c, "ask", text, 7)
	last := &kgo.Record{Topic: "ask", Key: []byte("me"), Value: []byte("+1 1:x\n\n1:2 4:1"),
		Headers: []kgo.RecordHeader{{Key: "Order", Value: []byte("17")}}}
	if err := c.ProduceSync(t.Context(), last).FirstErr(); err != nil {
		t.Fatal(err)
	}
	out := halfspace(t, 0, "predict", "-i", m, "--on-error", "skip", "-o",
		b.url("said?create=true"), b.url("ask/0?end=now"))
	if !strings.Contains(out, "ask/0@429:1:6: ") {
		t.Errorf("the bad row isn't named by its record:\n%s", out)
	}
	n := (3000 + 6) / 7
	list := b.received("said", n+1)
	for i, r := range list[:n] {
		if got := string(r.Value) + "\n"; got != strings.Join(want[7*i:min(7*i+7, 3000)], "") ||
			header(r, "Halfspace-Source") != fmt.Sprint("ask/0@", i) || r.Key != nil {
			t.Fatalf("answer %d: %q %v", i, got, r.Headers)
		}
	}
	if r := list[n]; string(r.Key) != "me" || header(r, "Order") != "17" ||
		bytes.ContainsRune(r.Value, '\n') {
		t.Errorf("the last answer: %q %q %v", r.Key, r.Value, r.Headers)
	}
	halfspace(t, 0, "predict", "-i", m, "-o", b.url("said/0"), file)
	if got := len(b.received("said", n+1+3000)); got != n+1+3000 {
		t.Errorf("%d answers, want %d", got, n+1+3000)
	}

	// As they come, and with the broker killed meanwhile.
	cmd, said := start(t, "predict", "-i", m, "-o", b.url("live?create=true"), b.url("ask/0@430"))
	for i := range 4 {
		if i == 2 {
			b.kill()
			b.start()
			c = b.client()
		}
		r := &kgo.Record{Topic: "ask", Value: []byte("1:1 2:2")}
		if err := c.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // the topic is made when it begins
			for begin := time.Now(); !strings.Contains(string(content(t, filepath.Join(b.dir,
				"topics.json"))), "live") && time.Since(begin) < 10*time.Second; {
				time.Sleep(50 * time.Millisecond)
			}
		}
		b.received("live", i+1)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	ended(t, cmd, said, 130)
}

// TestStopped: a run that follows a partition is stopped and gone on with, as one is that pauses.
func TestStopped(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := b.client()
	dir := t.TempDir()
	third := bytes.Split(rows(9000), []byte("\n"))
	part := func(i int) []byte { return bytes.Join(third[3000*i:3000*i+3000], []byte("\n")) }
	create(t, c, "rows")
	fill(t, c, "rows", part(0), 10)
	m, whole := filepath.Join(dir, "model"), filepath.Join(dir, "whole")
	halfspace(t, 0, "train", "-q", "-a", "pa", "-m", m, b.url("rows/0?end=pause"))
	one := content(t, m)
	halfspace(t, 0, "train", "-q", "--resume", "-m", m, b.url("rows/0?end=pause"))
	if !bytes.Equal(content(t, m), one) {
		t.Error("nothing came, and the model is another")
	}
	fill(t, c, "rows", part(1), 10)
	cmd, out := start(t, "train", "--resume", "-m", m, "--progress", "none", "--checkpoint-every",
		"50ms", b.url("rows/0"))
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
	fill(t, c, "rows", part(2), 10)
	halfspace(t, 0, "train", "-q", "--resume", "-m", m, b.url("rows/0?end=now"))
	halfspace(t, 0, "train", "-q", "-a", "pa", "-m", whole, b.url("rows/0?end=now"))
	if !bytes.Equal(content(t, m), content(t, whole)) {
		t.Error("another model")
	}
	if out := halfspace(t, 0, "train", "--resume", "-m", m, b.url("rows/0?end=now")); !strings.
		Contains(out, "finished: nothing to do") {
		t.Errorf("a run that came to its end: %s", out)
	}
}

// TestErrors: what is wrong, where, and what to do.
func TestErrors(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := b.client()
	create(t, c, "rows")
	create(t, c, "other")
	fill(t, c, "rows", []byte("+1 1:1\n-1 1:-1\n+1 1:x\n"), 1)
	fill(t, c, "other", rows(30000), 100)
	dir := t.TempDir()
	m, other := filepath.Join(dir, "model"), filepath.Join(dir, "other")
	halfspace(t, 0, "train", "-q", "-a", "pa", "-m", m, b.url("other/0?end=pause"))
	if err := os.WriteFile(other, content(t, m), 0o600); err != nil {
		t.Fatal(err)
	}
	none := "kafka://127.0.0.1:1/rows/0"
	for _, c := range []struct {
		code int
		want string // with a line behind it that says what to do
		args []string
	}{
		{1, none + ": no connection: ", []string{"train", "-m", m, none}},
		{1, none + ": no connection: ", []string{"predict", "-i", m, none}},
		{1, none + ": no connection: ", []string{"predict", "-i", m, "-o", none,
			b.url("other/0")}},
		{1, ": there is no none/0", []string{"train", b.url("none/0")}},
		{1, ": there is no rows/7", []string{"train", b.url("rows/7")}},
		{1, ": there is no none", []string{"predict", "-i", m, "-o", b.url("none"),
			b.url("other/0")}},
		{2, ": the answers would be read as ", []string{"predict", "-i", m, "-o", b.url("other"),
			b.url("other/0")}},
		{2, "no offset to begin at", []string{"predict", "-i", m, "-o", b.url("rows/0@1"),
			b.url("other/0")}},
		{3, "rows/0@2:1:6: expected", []string{"train", "-m", m, b.url("rows/0?end=now")}},
		{3, "/rows/0: record 9 is to come next", []string{"train", b.url("rows/0@9")}},
		{3, "which is not in rows/0", []string{"train", "--resume", "-m", m, b.url("rows/0")}},
		{2, "is no topic", []string{"train", "kafka://localhost:9092"}},
		{2, "no partition", []string{"train", "kafka://localhost:9092/rows"}},
		{2, "is no partition", []string{"train", "kafka://localhost:9092/rows/x"}},
		{2, "is no offset", []string{"train", "kafka://localhost:9092/rows/0@x"}},
		{2, "end=then: want never, now or pause", []string{"train",
			"kafka://localhost:9092/rows/0?end=then"}},
		{2, "no such option", []string{"train", "kafka://me:secret@localhost/rows/0?what=1"}},
		{2, "a file is needed", []string{"cv", b.url("rows/0")}},
	} {
		out := halfspace(t, c.code, c.args...)
		said, next, _ := strings.Cut(out[max(0, strings.LastIndex(out, "halfspace: ")):], "\n")
		if !strings.Contains(said, c.want) || !strings.HasPrefix(next, "  ") ||
			strings.Contains(out, "secret") {
			t.Errorf("%v: %s\nwant %q and what to do", c.args, out, c.want)
		}
	}
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Offset = 300
	x := kmsg.NewDeleteRecordsRequestTopic()
	x.Topic, x.Partitions = "other", []kmsg.DeleteRecordsRequestTopicPartition{p}
	q := kmsg.NewPtrDeleteRecordsRequest()
	q.Topics = []kmsg.DeleteRecordsRequestTopic{x}
	if _, err := q.RequestWith(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if out := halfspace(t, 3, "train", "--resume", "-m", other, b.url("other/0")); !strings.
		Contains(out, "is gone, the partition begins with 300") {
		t.Errorf("records that are gone: %s", out)
	}
}

// TestNobody: the broker goes and doesn't come back.
func TestNobody(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := b.client()
	create(t, c, "rows")
	fill(t, c, "rows", rows(100), 1)
	m := filepath.Join(t.TempDir(), "model")
	cmd, out := start(t, "train", "-a", "pa", "-q", "-m", m, "--checkpoint-every", "100",
		b.url("rows/0?patience=1500ms&timeout=500ms"))
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
		!strings.Contains(out.String(), "The model after 100 examples is in ") {
		t.Errorf("it says\n%s", out)
	}
}
