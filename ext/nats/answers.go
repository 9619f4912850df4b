package nats

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/halfspace-ml/halfspace/training"
)

// SourceHeader names the message that another one answers: SUBJECT@SEQUENCE.
const SourceHeader = "Halfspace-Source"

// asked is what an answer needs of a message.
type asked struct {
	subject string
	header  nats.Header
}

// Answers sends lines to a subject of a stream that JetStream keeps. One goroutine uses it. Make it
// by Answer; Close it.
type Answers struct {
	a    *address
	same bool // the messages that are answered are of this stream
	conn *nats.Conn
	js   jetstream.JetStream

	sent []*nats.Msg
}

// Answer opens the stream and subject that url names for answers. from is the stream whose messages
// are answered, "" if there is none: answering it on a subject of its own, which would never end,
// is an error. Errors are of kind training.ErrOption or ErrSource.
func Answer(ctx context.Context, url, from string) (*Answers, error) {
	a, err := parse(url)
	if err != nil {
		return nil, err
	}
	if a.subject == "" || strings.ContainsAny(a.subject, "*>") || a.from > 0 {
		return nil, kind.Bad("%s: answers go to one subject", a)
	}
	s := &Answers{a: a}
	if from != "" {
		in, err := parse(from)
		if err != nil {
			return nil, err
		}
		if s.same = in.stream == a.stream; s.same && matches(in.subject, a.subject) {
			return nil, training.NewError(training.ErrOption, "Name another subject, or another "+
				"stream.", "%s: the answers would be read as %s", a, in)
		}
	}
	if s.conn, s.js, err = a.connect(func() {}); err != nil {
		return nil, err
	}
	if err := s.stream(ctx); err != nil {
		s.conn.Close()
		return nil, a.explained(err)
	}
	return s, nil
}

// stream looks whether the stream takes the subject, and makes it if that is asked for.
func (s *Answers) stream(ctx context.Context) error {
	a := s.a
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	there, err := s.js.Stream(ctx, a.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) && a.Create {
		there, err = s.js.CreateStream(ctx, jetstream.StreamConfig{Name: a.stream,
			Subjects: []string{a.subject}, Storage: jetstream.FileStorage})
	}
	if err != nil {
		return err
	}
	for _, subject := range there.CachedInfo().Config.Subjects {
		if matches(subject, a.subject) {
			return nil
		}
	}
	return a.Failed("nats stream edit "+a.stream+" adds a subject.",
		"the stream takes no messages of the subject")
}

// matches reports whether a subject is one of those that a pattern with wildcards stands for; ""
// stands for all.
func matches(pattern, subject string) bool {
	if pattern == "" {
		return true
	}
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range p {
		switch {
		case token == ">":
			return len(s) > i
		case i == len(s) || token != "*" && token != s[i]:
			return false
		}
	}
	return len(p) == len(s)
}

// mostSent is how many answers may wait for their acknowledgements.
const mostSent = 1024

// Answer sends what answers the message of that number and data; nil data are of a row of a file.
// Its headers are those of the message, and Halfspace-Source, which is SUBJECT@SEQUENCE of it. Its
// Nats-Msg-Id is that of the message, or where this has none, and where the answers go to the
// stream that is read, its Halfspace-Source: an answer that is sent again within the stream's
// window of duplicates is taken once.
func (s *Answers) Answer(at int64, data any, lines []byte) error {
	m := &nats.Msg{Subject: s.a.subject, Header: nats.Header{},
		Data: bytes.Clone(bytes.TrimSuffix(lines, []byte("\n")))}
	if q, ok := data.(*asked); ok {
		for key, values := range q.header {
			if !strings.HasPrefix(key, "Nats-") {
				m.Header[key] = values
			}
		}
		source := q.subject + "@" + strconv.FormatInt(at, 10)
		m.Header.Set(SourceHeader, source)
		id := q.header.Get(jetstream.MsgIDHeader)
		if id == "" || s.same { // a stream takes no two messages of one id
			id = source
		}
		m.Header.Set(jetstream.MsgIDHeader, id)
	}
	s.sent = append(s.sent, m)
	if len(s.sent) < mostSent {
		return nil
	}
	return s.Flush()
}

// Flush sends what waits, and returns when the stream has all of it. Where no server can be reached
// it tries again, for as long as the option patience says.
func (s *Answers) Flush() error {
	left := s.sent
	begin := time.Now()
	for len(left) > 0 {
		acks := make([]jetstream.PubAckFuture, len(left))
		var err error
		n := 0
		for ; n < len(left) && err == nil; n++ {
			acks[n], err = s.js.PublishMsgAsync(left[n])
		}
		if err != nil {
			n--
		}
		again := left[n:]
		limit := time.After(s.a.Timeout)
	wait:
		for i, ack := range acks[:n] {
			select {
			case <-ack.Ok():
			case err = <-ack.Err():
				again = left[i:] // in order, those behind it twice at most
				break wait
			case <-limit:
				err, again = nats.ErrTimeout, left[i:]
				break wait
			}
		}
		if left = again; len(left) == 0 {
			break
		}
		api := (*jetstream.APIError)(nil)
		if errors.As(err, &api) || errors.Is(err, nats.ErrMaxPayload) || s.a.Patience > 0 &&
			time.Since(begin) > s.a.Patience {
			return s.a.explained(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	clear(s.sent)
	s.sent = s.sent[:0]
	return nil
}

// Close ends the connection. What was not flushed is lost.
func (s *Answers) Close() error {
	s.conn.Close()
	return nil
}
