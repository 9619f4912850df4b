package kafka

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/halfspace-ml/halfspace/training"
)

// SourceHeader names the record that another one answers: TOPIC/PARTITION@OFFSET.
const SourceHeader = "Halfspace-Source"

// asked is what an answer needs of a record.
type asked struct {
	key     []byte
	headers []kgo.RecordHeader
}

// Answers sends lines to a topic. One goroutine uses it. Make it by Answer; Close it.
type Answers struct {
	a      *address
	from   string // TOPIC/PARTITION of the records that are answered
	client *kgo.Client

	mu  sync.Mutex
	err error // the first failure
}

// Answer opens the topic that url names for answers, or the partition. from is the partition whose
// records are answered, "" if there is none: answering it in itself, which would never end, is an
// error. Errors are of kind training.ErrOption or ErrSource.
func Answer(ctx context.Context, url, from string) (*Answers, error) {
	a, err := parse(url)
	if err != nil {
		return nil, err
	}
	if a.from >= 0 {
		return nil, kind.Bad("%s: answers have no offset to begin at", a)
	}
	s := &Answers{a: a}
	if from != "" {
		in, err := parse(from)
		if err != nil {
			return nil, err
		}
		if in.topic == a.topic && (a.partition < 0 || a.partition == in.partition) {
			return nil, training.NewError(training.ErrOption, "Name another topic.",
				"%s: the answers would be read as %s", a, in)
		}
		s.from = in.Place
	}
	o := []kgo.Opt{kgo.DefaultProduceTopic(a.topic), kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.SnappyCompression(), kgo.NoCompression())}
	if a.partition >= 0 {
		o = append(o, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	if a.Patience > 0 {
		o = append(o, kgo.RecordDeliveryTimeout(max(a.Patience, time.Second)))
	}
	if s.client, err = a.connect(ctx, o...); err != nil {
		return nil, err
	}
	if err := s.topic(ctx); err != nil {
		s.client.Close()
		return nil, a.explained(err)
	}
	return s, nil
}

// topic looks whether the topic is there, and makes it if that is asked for.
func (s *Answers) topic(ctx context.Context) error {
	a := s.a
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	if a.Create {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = a.topic, -1, -1 // as the broker says
		q := kmsg.NewPtrCreateTopicsRequest()
		q.Topics = []kmsg.CreateTopicsRequestTopic{t}
		answer, err := q.RequestWith(ctx, s.client)
		if err != nil {
			return err
		}
		for _, t := range answer.Topics {
			if err := kerr.ErrorForCode(t.ErrorCode); err != nil &&
				!errors.Is(err, kerr.TopicAlreadyExists) {
				return err
			}
		}
	}
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(a.topic)
	q := kmsg.NewPtrMetadataRequest()
	q.Topics = []kmsg.MetadataRequestTopic{t}
	answer, err := q.RequestWith(ctx, s.client)
	if err != nil {
		return err
	}
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return err
		}
		if a.partition >= int32(len(t.Partitions)) {
			return kerr.UnknownTopicOrPartition
		}
	}
	return nil
}

// Answer sends what answers the record of that offset and data; nil data are of a row of a file.
// Its key and headers are those of the record, with Halfspace-Source, which is
// TOPIC/PARTITION@OFFSET of it.
func (s *Answers) Answer(at int64, data any, lines []byte) error {
	r := &kgo.Record{Partition: max(s.a.partition, 0),
		Value: bytes.Clone(bytes.TrimSuffix(lines, []byte("\n")))}
	if q, ok := data.(*asked); ok {
		r.Key = q.key
		r.Headers = append(r.Headers, q.headers...)
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: SourceHeader,
			Value: []byte(s.from + "@" + strconv.FormatInt(at, 10))})
	}
	s.client.Produce(context.Background(), r, s.sent) // waits while too many are on their way
	return s.failure()
}

// sent is called when a record has arrived, or never will.
func (s *Answers) sent(_ *kgo.Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// failure is the first one.
func (s *Answers) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return s.a.explained(s.err)
}

// Flush returns when the topic has all that was sent. Where no broker can be reached the client
// tries again, for as long as the option patience says.
func (s *Answers) Flush() error {
	if err := s.client.Flush(context.Background()); err != nil {
		return s.a.explained(err)
	}
	return s.failure()
}

// Close ends the connections. What was not flushed is lost.
func (s *Answers) Close() error {
	s.client.Close()
	return nil
}
