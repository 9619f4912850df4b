// Package nats reads examples from streams of NATS JetStream, and sends answers to them. Command
// halfspace-nats is the command halfspace with these streams.
//
// A stream is named by a URL, as [Help] says.
package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/halfspace-ml/halfspace/internal/brokers"
	"github.com/halfspace-ml/halfspace/training"
)

// Scheme begins the names of streams.
const Scheme = "nats"

// What is read ahead, besides what the client holds for one request: messages and bytes.
const (
	aheadMessages = 4096
	aheadBytes    = 4 << 20
)

// kind is what names of streams are made of.
var kind = brokers.Kind{Scheme: Scheme, Of: "NATS", More: "creds",
	Form: "The form is nats://HOST:4222/STREAM/SUBJECT, with @SEQUENCE and ?end=now as needed."}

// address is a stream's name taken apart.
type address struct {
	*brokers.Address
	stream, subject string // subject "": all of the stream's
	from            int64  // the first message; 0: the first there is
	creds           string
}

// parse takes a name apart.
func parse(name string) (*address, error) {
	a := &address{}
	var err error
	a.Address, err = brokers.Parse(&kind, name, func(_, value string) error {
		a.creds = value
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.stream, a.subject, _ = strings.Cut(a.Path, "/")
	if i := strings.LastIndexByte(a.subject, '@'); i >= 0 {
		if a.from, err = strconv.ParseInt(a.subject[i+1:], 10, 64); err != nil || a.from < 1 {
			return nil, kind.Bad("%s: %q is no sequence, a number from 1", a, a.subject[i+1:])
		}
		a.subject = a.subject[:i]
	}
	if a.stream == "" || strings.ContainsAny(a.stream, " .*>@") ||
		strings.ContainsAny(a.subject, " /") {
		return nil, kind.Bad("%s: no stream and subject", a)
	}
	if a.Place = a.stream; a.subject != "" {
		a.Place += "/" + a.subject
	}
	return a, nil
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

// connect connects with a server. changed is called when the connection is lost, and when it is
// there again.
func (a *address) connect(changed func()) (*nats.Conn, jetstream.JetStream, error) {
	o := []nats.Option{nats.Name("halfspace"), nats.Timeout(a.Timeout), nats.MaxReconnects(-1),
		nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(100*time.Millisecond,
			time.Second),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { changed() }),
		nats.ReconnectHandler(func(*nats.Conn) { changed() }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
	if user, password := a.Login(); user != "" {
		o = append(o, nats.UserInfo(user, password))
	}
	if token := a.Or("", "TOKEN"); token != "" {
		o = append(o, nats.Token(token))
	}
	if file := a.Or(a.creds, "CREDS"); file != "" {
		o = append(o, nats.UserCredentials(file))
	}
	encrypted, err := a.Encryption()
	if err != nil {
		return nil, nil, err
	}
	if encrypted != nil {
		o = append(o, nats.Secure(encrypted))
	}
	c, err := nats.Connect(Scheme+"://"+strings.Join(a.Hosts, ","+Scheme+"://"), o...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, nil, a.Failed("User and password stand in the URL or in NATS_USER and "+
			"NATS_PASSWORD, a token in NATS_TOKEN, credentials in ?creds=FILE.",
			"the server lets nobody in so: %w", err)
	case a.Refused(err):
		return nil, nil, a.Failed("?cert=FILE and ?key=FILE say who this program is, ?ca=FILE "+
			"whom to trust.", "the server lets nobody in so: %w", err)
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted),
		errors.As(err, new(*tls.CertificateVerificationError)):
		return nil, nil, a.Failed("?tls=true encrypts the connection; ?ca=FILE names whom to "+
			"trust.", "no connection: %w", err)
	case err != nil:
		return nil, nil, a.Failed("Check host and port, and that a NATS server runs there: "+
			"nats-server -js.", "no connection: %w", err)
	}
	js, err := jetstream.New(c, jetstream.WithDefaultTimeout(a.Timeout))
	if err != nil {
		c.Close()
		return nil, nil, a.Failed("", "%w", err)
	}
	return c, js, nil
}

// Open opens a stream to be learned from; it is made for training.Env.Open. at is "", for the
// beginning that url names, or what the Source's Place has given. Its errors, and those of reading,
// are of kind training.ErrOption, ErrSource (no connection, no such stream), ErrChanged (messages
// from at on are gone, or at is of another stream) or ErrModel.
//
// While no server can be reached reading waits, for as long as the option patience says, and goes
// on behind the last message. Each message comes once and in order: it is read with a consumer of
// no name that needs no acknowledgements, and whose gaps are found and read again. Cost: memory for
// up to 4096 messages or 4 MiB, besides one request's.
func Open(ctx context.Context, url, at string) (training.Source, error) {
	m, end, err := Messages(ctx, url, at, false, nil)
	if err != nil {
		return training.Source{}, err
	}
	return m.Source(end), nil
}

// Messages is Open for a program that answers messages: with answers their Data are what
// [Answers.Answer] needs. warn, unless nil, is called with what goes wrong while messages are read,
// by any goroutine. end ends the reading.
func Messages(ctx context.Context, url, at string, answers bool, warn func(string)) (
	m *training.Messages, end func() error, err error) {
	a, err := parse(url)
	if err != nil {
		return nil, nil, err
	}
	from := training.Place{Name: a.Place, At: max(a.from, 1)}
	if at != "" {
		if from, err = training.ParsePlace(a.Place, at); err != nil {
			return nil, nil, err
		}
	}
	r := &reader{a: a, answers: answers, warn: warn, next: uint64(from.At),
		stop: make(chan struct{}), done: make(chan struct{})}
	if r.warn == nil {
		r.warn = func(string) {}
	}
	r.some.L = &r.mu
	if err := r.open(ctx, at != "" || a.from > 0); err != nil {
		return nil, nil, err
	}
	go r.run()
	return training.NewMessages(from, r.take), r.close, nil
}

// reader reads messages ahead.
type reader struct {
	a       *address
	answers bool
	warn    func(string)
	conn    *nats.Conn
	js      jetstream.JetStream
	first   jetstream.Consumer // made by open
	next    uint64             // sequence of the next message
	last    uint64             // where the stream ended when it was opened, if it has an end
	follows bool               // a message was read, or somebody knows of the one before next

	mu    sync.Mutex
	some  sync.Cond // of mu: a batch, room or err
	batch []training.Message
	bytes int
	old   []training.Message // the batch before, whose memory is free
	err   error              // behind the batch
	iter  jetstream.MessagesContext
	over  bool // close was called

	stop chan struct{} // closed by close
	done chan struct{} // closed when run has ended
	once sync.Once
}

// open connects, and looks whether the stream has the message to begin with. given says that
// somebody knows of it.
func (r *reader) open(ctx context.Context, given bool) (err error) {
	a := r.a
	if r.conn, r.js, err = a.connect(r.again); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	s, err := r.js.Stream(ctx, a.stream)
	if err == nil {
		err = r.begins(s.CachedInfo(), given)
	}
	if err == nil {
		r.first, err = r.consumer(ctx)
	}
	if err != nil {
		r.conn.Close()
		return a.explained(err)
	}
	return nil
}

// explained gives an error of JetStream its next step.
func (a *address) explained(err error) error {
	api := (*jetstream.APIError)(nil)
	switch {
	case errors.As(err, new(*training.Error)):
		return err
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return a.Failed("nats stream ls lists the streams that there are.", "no stream %s",
			a.stream)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled),
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err,
			nats.ErrNoResponders):
		return a.Failed("Start the server with JetStream: nats-server -js.",
			"the server keeps no streams: %w", err)
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return a.Failed("?timeout=30s waits longer.", "the server gave no answer in %v: %w",
			a.Timeout, err)
	case errors.As(err, &api):
		return a.Failed("The stream must have the subject, and let messages stay once they were "+
			"read (limits, not a work queue).", "%w", err)
	}
	return a.Failed("", "%w", err)
}

// begins looks whether the stream has what is to be read.
func (r *reader) begins(info *jetstream.StreamInfo, given bool) error {
	s := info.State
	switch {
	case given && r.next < s.FirstSeq:
		return r.removed(s.FirstSeq)
	case given && r.next > s.LastSeq+1:
		return training.NewError(training.ErrChanged, "It is another stream of that name, or was "+
			"made anew. To learn it on top of the model: {from}.",
			"%s: message %d is to come next, and the stream ends with %d", r.a, r.next, s.LastSeq)
	}
	if r.a.End != "never" {
		r.last = s.LastSeq
	}
	r.follows = given
	return nil
}

// removed is the error of a stream that begins with message first, behind the one that is next.
func (r *reader) removed(first uint64) error {
	return training.NewError(training.ErrChanged, "Messages were removed that were not learned. "+
		"To go on with those that are there: {from}, and "+r.a.String()+"@"+
		strconv.FormatUint(first, 10)+".",
		"%s: message %d is gone, the stream begins with %d", r.a, r.next, first)
}

// gap is called where the next message isn't number next. The stream may have begun there when it
// was opened, numbers may be of other subjects, or somebody deleted single messages: the stream's
// first message says whether retention has removed any that were not read.
func (r *reader) gap() error {
	ctx, cancel := context.WithTimeout(context.Background(), r.a.Timeout)
	defer cancel()
	s, err := r.js.Stream(ctx, r.a.stream)
	if err != nil {
		return err
	}
	if first := s.CachedInfo().State.FirstSeq; first > r.next {
		return r.removed(first)
	}
	return nil
}

// consumer makes a consumer that begins at next. It ends by itself when it is not used.
func (r *reader) consumer(ctx context.Context) (jetstream.Consumer, error) {
	c := jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
		OptStartSeq: r.next, AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1,
		InactiveThreshold: time.Minute, FilterSubject: r.a.subject}
	return r.js.CreateConsumer(ctx, r.a.stream, c)
}

// run reads until the end, a failure that stays, or close.
func (r *reader) run() {
	defer close(r.done)
	defer r.conn.Close()
	c, warned := r.first, false
	since := time.Time{} // of the first of the failures in a row
	for {
		err := error(nil)
		if c == nil {
			ctx, cancel := context.WithTimeout(context.Background(), r.a.Timeout)
			c, err = r.consumer(ctx)
			cancel()
		}
		if err == nil {
			before := r.next
			err = r.read(c)
			if c = nil; r.next > before {
				since = time.Time{}
			}
		}
		switch {
		case r.closed():
			return
		case errors.Is(err, io.EOF):
			if r.a.End == "pause" {
				err = training.ErrPaused
			}
			r.finish(err)
			return
		case errors.Is(err, training.ErrChanged):
			r.finish(err)
			return
		case since.IsZero():
			since, warned = time.Now(), false
		case r.a.Patience > 0 && time.Since(since) > r.a.Patience:
			r.finish(r.a.explained(err))
			return
		case !warned && time.Since(since) > time.Second:
			warned = true
			r.warn(fmt.Sprintf("%s: waiting: %v", r.a, err))
		}
		select {
		case <-r.stop:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// read reads by a consumer until the end, or until a new one is needed, which begins at next.
func (r *reader) read(c jetstream.Consumer) error {
	if r.last > 0 && c.CachedInfo().NumPending == 0 || r.a.End != "never" && r.last == 0 {
		return io.EOF
	}
	// a heartbeat says within a second that the server has gone
	it, err := c.Messages(jetstream.PullMaxMessagesWithBytesLimit(aheadMessages, aheadBytes+
		int(r.conn.MaxPayload())), jetstream.PullExpiry(5*time.Second),
		jetstream.PullHeartbeat(500*time.Millisecond))
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.iter = it
	over := r.over
	r.mu.Unlock()
	defer it.Stop()
	if over {
		return nil
	}
	// Of a subject numbers are missing all the time. Those that some of its messages had are only
	// looked for while the server says that it has more.
	waiting := c.CachedInfo().NumPending
	for delivered := uint64(1); ; delivered++ {
		msg, err := it.Next()
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		if meta.Sequence.Consumer != delivered || meta.Sequence.Stream < r.next {
			return errors.New("messages were lost on their way")
		}
		if meta.Sequence.Stream > r.next && r.follows && (r.a.subject == "" || waiting > 0) {
			if err := r.gap(); err != nil {
				return err
			}
		}
		r.follows, waiting = true, meta.NumPending
		x := training.Message{At: int64(meta.Sequence.Stream), Text: msg.Data()}
		if r.answers {
			x.Data = &asked{subject: msg.Subject(), header: msg.Headers()}
		}
		if !r.put(x) {
			return nil
		}
		r.next = meta.Sequence.Stream + 1
		if r.last > 0 && (meta.Sequence.Stream >= r.last || meta.NumPending == 0) {
			return io.EOF
		}
	}
}

// put hands a message over, when there is room; false if nobody reads any more.
func (r *reader) put(x training.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.over && len(r.batch) > 0 && (len(r.batch) >= aheadMessages || r.bytes+len(x.Text) >
		aheadBytes) {
		r.some.Wait()
	}
	if r.over {
		return false
	}
	r.batch = append(r.batch, x)
	r.bytes += len(x.Text)
	r.some.Signal()
	return true
}

// take is next of training.Messages.
func (r *reader) take() ([]training.Message, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.batch) == 0 && r.err == nil && !r.over {
		r.some.Wait()
	}
	if r.over && len(r.batch) == 0 {
		return nil, io.EOF
	}
	batch := r.batch
	clear(r.old)
	r.batch, r.old, r.bytes = r.old[:0], batch, 0
	r.some.Signal()
	if len(batch) == 0 {
		return nil, r.err
	}
	return batch, nil
}

// finish says that nothing comes behind the batch.
func (r *reader) finish(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
	r.some.Broadcast()
}

// again has read end, since the requests of a connection that was lost are never answered.
func (r *reader) again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.iter != nil {
		r.iter.Stop()
	}
}

func (r *reader) closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// close is Source.Close.
func (r *reader) close() error {
	r.once.Do(func() {
		close(r.stop)
		r.mu.Lock()
		r.over = true
		if r.iter != nil {
			r.iter.Stop()
		}
		r.some.Broadcast()
		r.mu.Unlock()
	})
	<-r.done
	return nil
}
