// Package kafka reads examples from partitions of topics of Kafka, and sends answers to topics.
// Command halfspace-kafka is the command halfspace with these streams.
//
// A partition is named by a URL, as [Help] says.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/halfspace-ml/halfspace/internal/brokers"
	"github.com/halfspace-ml/halfspace/training"
)

// Scheme begins the names of streams.
const Scheme = "kafka"

// What is read ahead, at most about twice: records, and bytes unless one record has more.
const (
	aheadRecords = 4096
	aheadBytes   = 4 << 20
)

// kind is what names of streams are made of.
var kind = brokers.Kind{Scheme: Scheme, Of: "Kafka", More: "sasl",
	Form: "The form is kafka://HOST:9092/TOPIC/PARTITION, with @OFFSET and ?end=now as needed."}

// address is a stream's name taken apart.
type address struct {
	*brokers.Address
	topic     string
	partition int32 // -1: none is given
	from      int64 // the first record; -1: the first there is
	sasl      string
}

// parse takes a name apart.
func parse(name string) (*address, error) {
	a := &address{partition: -1, from: -1}
	var err error
	a.Address, err = brokers.Parse(&kind, name, func(_, value string) error {
		if a.sasl = value; value != "plain" && value != "scram-sha-256" &&
			value != "scram-sha-512" {
			return errors.New("want plain, scram-sha-256 or scram-sha-512")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := a.place(a.Path); err != nil {
		return nil, kind.Bad("%s: %v", a, err)
	}
	if a.Place = a.topic; a.partition >= 0 {
		a.Place += "/" + strconv.Itoa(int(a.partition))
	}
	return a, nil
}

// place takes topic, partition and offset.
func (a *address) place(path string) error {
	topic, partition, given := strings.Cut(path, "/")
	if a.topic = topic; topic == "" || strings.ContainsFunc(topic, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("._-", r)
	}) {
		return fmt.Errorf("%q is no topic", topic)
	}
	if !given {
		return nil
	}
	if number, offset, at := strings.Cut(partition, "@"); at {
		var err error
		if a.from, err = strconv.ParseInt(offset, 10, 64); err != nil || a.from < 0 {
			return fmt.Errorf("%q is no offset, a number from 0", offset)
		}
		partition = number
	}
	n, err := strconv.ParseInt(partition, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no partition, a number from 0", partition)
	}
	a.partition = int32(n)
	return nil
}

// Name returns what a stream is called in models and errors: its URL without options, user and
// password. Its error, of kind training.ErrOption, is what is wrong with the URL.
func Name(url string) (string, error) {
	a, err := parse(url)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// connect makes a client, and looks whether a broker answers.
func (a *address) connect(ctx context.Context, more ...kgo.Opt) (*kgo.Client, error) {
	hosts := make([]string, len(a.Hosts))
	for i, h := range a.Hosts {
		if hosts[i] = h; !strings.Contains(h, ":") {
			hosts[i] += ":9092"
		}
	}
	o := append([]kgo.Opt{kgo.SeedBrokers(hosts...), kgo.ClientID("halfspace"),
		kgo.DialTimeout(a.Timeout), kgo.RetryTimeout(a.Timeout),
		kgo.RetryBackoffFn(func(int) time.Duration { return 100 * time.Millisecond })}, more...)
	if user, password := a.Login(); user != "" {
		switch s := (scram.Auth{User: user, Pass: password}); a.sasl {
		case "scram-sha-256":
			o = append(o, kgo.SASL(s.AsSha256Mechanism()))
		case "scram-sha-512":
			o = append(o, kgo.SASL(s.AsSha512Mechanism()))
		default:
			o = append(o, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
		}
	}
	c, err := a.Encryption()
	if err != nil {
		return nil, err
	}
	if c != nil {
		o = append(o, kgo.DialTLSConfig(c))
	}
	cl, err := kgo.NewClient(o...)
	if err != nil {
		return nil, a.Failed("", "%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	if err := cl.Ping(ctx); err != nil {
		cl.Close()
		return nil, a.explained(err)
	}
	return cl, nil
}

// explained gives an error of the client its next step.
func (a *address) explained(err error) error {
	switch {
	case errors.As(err, new(*training.Error)):
		return err
	case errors.Is(err, kerr.SaslAuthenticationFailed), errors.Is(err,
		kerr.UnsupportedSaslMechanism), errors.Is(err, kerr.TopicAuthorizationFailed):
		return a.Failed("User and password stand in the URL or in KAFKA_USER and KAFKA_PASSWORD; "+
			"?sasl= says how they are shown.", "the broker lets nobody in so: %w", err)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return a.Failed("Check topic and partition.", "there is no %s", a.Place)
	case errors.As(err, new(*kgo.ErrFirstReadEOF)):
		return a.Failed("?tls=true encrypts connections, ?ca=FILE names whom to trust; user and "+
			"password stand in KAFKA_USER and KAFKA_PASSWORD.",
			"the broker ends the connection: %w", err)
	case a.Refused(err):
		return a.Failed("?cert=FILE and ?key=FILE say who this program is, ?ca=FILE whom to "+
			"trust.", "the broker lets nobody in so: %w", err)
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return a.Failed("?ca=FILE names whom to trust.", "no connection: %w", err)
	}
	next := "Check host and port, and that a broker runs there."
	if user, _ := a.Login(); user != "" { // some brokers end the connection without a word
		next = "Check host and port, that a broker runs there, and user, password and ?sasl=."
	}
	return a.Failed(next, "no connection: %w", err)
}

// Open opens a partition to be learned from; it is made for training.Env.Open. at is "", for the
// beginning that url names, or what the Source's Place has given. Its errors, and those of reading,
// are of kind training.ErrOption, ErrSource (no connection, no such partition), ErrChanged (records
// from at on are gone, or at is of another partition) or ErrModel.
//
// While no broker can be reached reading waits, for as long as the option patience says, and goes
// on behind the last record. Each record comes once and in order. Cost: memory for twice 4 MiB of
// records, or the largest one.
func Open(ctx context.Context, url, at string) (training.Source, error) {
	m, end, err := Messages(ctx, url, at, false, nil)
	if err != nil {
		return training.Source{}, err
	}
	return m.Source(end), nil
}

// Messages is Open for a program that answers records: with answers their Data are what
// [Answers.Answer] needs. warn, unless nil, is called with what goes wrong while records are read,
// by any goroutine. end ends the reading.
func Messages(ctx context.Context, url, at string, answers bool, warn func(string)) (
	m *training.Messages, end func() error, err error) {
	a, err := parse(url)
	if err == nil && a.partition < 0 {
		err = kind.Bad("%s: no partition", a)
	}
	if err != nil {
		return nil, nil, err
	}
	from := training.Place{Name: a.Place, At: a.from}
	if at != "" {
		if from, err = training.ParsePlace(a.Place, at); err != nil {
			return nil, nil, err
		}
	}
	r := &reader{a: a, answers: answers, warn: warn, next: from.At}
	if r.warn == nil {
		r.warn = func(string) {}
	}
	if err := r.open(ctx); err != nil {
		return nil, nil, err
	}
	from.At = r.next
	return training.NewMessages(from, r.take), r.close, nil
}

// reader reads a partition.
type reader struct {
	a       *address
	answers bool
	warn    func(string)
	client  *kgo.Client
	next    int64 // offset of the next record; -1: the first there is
	last    int64 // where the partition ended when it was opened; -1: it has no end
	list    []training.Message

	ctx    context.Context // ends with close
	cancel context.CancelFunc
}

// open connects, and looks whether the partition has the record to begin with.
func (r *reader) open(ctx context.Context) (err error) {
	a := r.a
	// Offsets are never set elsewhere than where they were: that would learn rows twice, or never.
	r.client, err = a.connect(ctx, kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxBytes(aheadBytes), kgo.FetchMaxPartitionBytes(aheadBytes),
		kgo.MaxConcurrentFetches(1), kgo.FetchMaxWait(500*time.Millisecond),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	var first, last int64
	if first, err = r.offset(ctx, -2); err == nil {
		last, err = r.offset(ctx, -1)
	}
	if err == nil {
		err = r.begins(first, last)
	}
	if err != nil {
		r.client.Close()
		return a.explained(err)
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{
		a.topic: {a.partition: kgo.NewOffset().At(r.next)}})
	return nil
}

// begins settles where reading begins and ends.
func (r *reader) begins(first, last int64) error {
	switch {
	case r.next < 0:
		r.next = first
	case r.next < first:
		return training.NewError(training.ErrChanged, "Records were removed that were not "+
			"learned. To go on with those that are there: {from}, and "+r.a.String()+"@"+
			strconv.FormatInt(first, 10)+".",
			"%s: record %d is gone, the partition begins with %d", r.a, r.next, first)
	case r.next > last:
		return training.NewError(training.ErrChanged, "It is another topic of that name, or was "+
			"made anew. To learn it on top of the model: {from}.",
			"%s: record %d is to come next, and the partition has %d", r.a, r.next, last)
	}
	if r.last = -1; r.a.End != "never" {
		r.last = last
	}
	return nil
}

// offset asks for the first (-2) or the next (-1) offset of the partition, of what is committed.
func (r *reader) offset(ctx context.Context, which int64) (int64, error) {
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp = r.a.partition, which
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic, t.Partitions = r.a.topic, []kmsg.ListOffsetsRequestTopicPartition{p}
	q := kmsg.NewPtrListOffsetsRequest()
	q.IsolationLevel, q.Topics = 1, []kmsg.ListOffsetsRequestTopic{t}
	answer, err := q.RequestWith(ctx, r.client)
	if err != nil {
		return 0, err
	}
	if len(answer.Topics) != 1 || len(answer.Topics[0].Partitions) != 1 {
		return 0, kerr.UnknownTopicOrPartition
	}
	x := answer.Topics[0].Partitions[0]
	return x.Offset, kerr.ErrorForCode(x.ErrorCode)
}

// take is next of training.Messages.
func (r *reader) take() ([]training.Message, error) {
	clear(r.list)
	r.list = r.list[:0]
	since, warned := time.Now(), false // a broker answered last
	for {
		if r.last >= 0 && r.next >= r.last {
			if r.a.End == "pause" {
				return nil, training.ErrPaused
			}
			return nil, io.EOF
		}
		ctx, cancel := context.WithTimeout(r.ctx, time.Second)
		got := r.client.PollRecords(ctx, aheadRecords)
		cancel()
		if r.ctx.Err() != nil {
			return nil, io.EOF
		}
		for _, e := range got.Errors() {
			if !errors.Is(e.Err, context.DeadlineExceeded) {
				return nil, r.lost(e.Err)
			}
		}
		got.EachRecord(r.add)
		if len(r.list) > 0 {
			return r.list, nil
		}
		ctx, cancel = context.WithTimeout(r.ctx, r.a.Timeout)
		err := r.client.Ping(ctx)
		cancel()
		switch away := time.Since(since); {
		case err == nil:
			since, warned = time.Now(), false
		case r.a.Patience > 0 && away > r.a.Patience:
			return nil, r.a.explained(err)
		case !warned:
			warned = true
			r.warn(fmt.Sprintf("%s: waiting: %v", r.a, err))
		}
	}
}

// lost is an error behind which the client reads no more.
func (r *reader) lost(err error) error {
	if errors.Is(err, kerr.OffsetOutOfRange) || errors.As(err, new(*kgo.ErrDataLoss)) {
		return training.NewError(training.ErrChanged, "Records were removed, or the topic was "+
			"made anew, while it was read. To learn what is there on top of the model: {from}.",
			"%s: record %d is not there any more: %w", r.a, r.next, err)
	}
	return r.a.explained(err)
}

// add takes a record, which is between them where a transaction ended.
func (r *reader) add(x *kgo.Record) {
	if x.Offset < r.next {
		return
	}
	if r.next = x.Offset + 1; x.Attrs.IsControl() || r.last >= 0 && x.Offset >= r.last {
		return
	}
	m := training.Message{At: x.Offset, Text: x.Value}
	if r.answers {
		m.Data = &asked{key: x.Key, headers: x.Headers}
	}
	r.list = append(r.list, m)
}

// close is Source.Close.
func (r *reader) close() error {
	r.cancel()
	r.client.Close()
	return nil
}
