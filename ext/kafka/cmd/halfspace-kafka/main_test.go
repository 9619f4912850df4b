package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
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

	"github.com/halfspace-ml/halfspace/internal/brokertest"
	"github.com/halfspace-ml/halfspace/internal/commandtest"
)

// TestMain is the command, or a server, in processes that tests start.
func TestMain(m *testing.M) {
	commandtest.Main(m, run, map[string]func([]string){"server": serve})
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

// broker is one in a process of its own.
type broker struct{ *brokertest.Broker }

func newBroker(t testing.TB) *broker {
	t.Helper()
	return &broker{brokertest.New(t)}
}

// send is that of brokertest: to partition 0 of a topic of two.
func (b *broker) send(name string, text []byte, lines int) string {
	c := b.client()
	create(b.T, c, name)
	fill(b.T, c, name, text, lines)
	return b.url(name + "/0")
}

// url is that of a stream of the broker.
func (b *broker) url(stream string) string {
	return fmt.Sprintf("kafka://127.0.0.1:%d/%s", b.Port, stream)
}

// client connects with the broker as soon as it is there.
func (b *broker) client(more ...kgo.Opt) *kgo.Client {
	b.T.Helper()
	c, err := kgo.NewClient(append(more, kgo.SeedBrokers(fmt.Sprint("127.0.0.1:", b.Port)),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(c.Close)
	brokertest.Until(b.T, func() error {
		ctx, cancel := context.WithTimeout(b.T.Context(), time.Second)
		defer cancel()
		return c.Ping(ctx)
	})
	return c
}

// create makes a topic of two partitions, if there is none.
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
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
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

// received returns the records of a topic, as soon as there are so many.
func (b *broker) received(topic string, n int) []*kgo.Record {
	b.T.Helper()
	c := b.client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer c.Close()
	ctx, cancel := context.WithTimeout(b.T.Context(), 20*time.Second)
	defer cancel()
	var list []*kgo.Record
	for len(list) < n {
		got := c.PollRecords(ctx, n)
		if err := got.Err(); err != nil {
			b.T.Fatalf("%d records: %v", len(list), err)
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
	text := brokertest.Rows(3000)
	file, m := filepath.Join(dir, "rows.svm"), filepath.Join(dir, "model")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	commandtest.Run(t, 0, "train", "-q", "-a", "obpm", "-m", m, file)
	want := strings.SplitAfter(commandtest.Run(t, 0, "predict", "-i", m, file), "\n")
	create(t, c, "ask")
	fill(t, c, "ask", text, 7)
	last := &kgo.Record{Topic: "ask", Key: []byte("me"), Value: []byte("+1 1:x\n\n1:2 4:1"),
		Headers: []kgo.RecordHeader{{Key: "Order", Value: []byte("17")}}}
	if err := c.ProduceSync(t.Context(), last).FirstErr(); err != nil {
		t.Fatal(err)
	}
	out := commandtest.Run(t, 0, "predict", "-i", m, "--on-error", "skip", "-o",
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
		!strings.HasPrefix(string(r.Value), "?\tNaN\n") || // of the bad row
		bytes.Count(r.Value, []byte{'\n'}) != 1 {
		t.Errorf("the last answer: %q %q %v", r.Key, r.Value, r.Headers)
	}
	commandtest.Run(t, 0, "predict", "-i", m, "-o", b.url("said/0"), file)
	if got := len(b.received("said", n+1+3000)); got != n+1+3000 {
		t.Errorf("%d answers, want %d", got, n+1+3000)
	}

	// As they come, and with the broker killed meanwhile.
	cmd, said := commandtest.Start(t, "predict", "-i", m, "-o", b.url("live?create=true"),
		b.url("ask/0@430"))
	for i := range 4 {
		if i == 2 {
			b.Kill()
			b.Start()
			c = b.client()
		}
		r := &kgo.Record{Topic: "ask", Value: []byte("1:1 2:2")}
		if err := c.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // the topic is made when it begins
			brokertest.Until(t, func() error {
				topics := commandtest.Content(t, filepath.Join(b.Dir, "topics.json"))
				if !bytes.Contains(topics, []byte(`"live"`)) {
					return errors.New("no topic for the answers")
				}
				return nil
			})
		}
		b.received("live", i+1)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	commandtest.Ended(t, cmd, said, 130)
}

// TestErrors: what is wrong, where, and what to do.
func TestErrors(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := b.client()
	create(t, c, "rows")
	create(t, c, "other")
	fill(t, c, "rows", []byte("+1 1:1\n-1 1:-1\n+1 1:x\n"), 1)
	fill(t, c, "other", brokertest.Rows(30000), 100)
	dir := t.TempDir()
	m, other := filepath.Join(dir, "model"), filepath.Join(dir, "other")
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", "-m", m, b.url("other/0?end=pause"))
	if err := os.WriteFile(other, commandtest.Content(t, m), 0o600); err != nil {
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
		out := commandtest.Run(t, c.code, c.args...)
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
	if out := commandtest.Run(t, 3, "train", "--resume", "-m", other, b.url("other/0")); !strings.
		Contains(out, "is gone, the partition begins with 300") {
		t.Errorf("records that are gone: %s", out)
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
