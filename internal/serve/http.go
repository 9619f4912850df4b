package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// HTTP says how a Server is reached by HTTP. The zero value of a bound is its default.
type HTTP struct {
	// Token is what requests must have as their bearer token; "" is none: then only requests to
	// this machine under a name of its own (localhost, 127.0.0.1) are answered, so that no page in
	// a browser can send any under another name.
	Token string
	// TokenNow returns the Token of the moment, so that it may be replaced; nil: it stays.
	TokenNow func() string
	// TLS encrypts what Listen accepts; nil: it isn't.
	TLS *tls.Config
	// MaxBody is the largest body of a request, in bytes, default 8 MiB.
	MaxBody int64
	// MaxRequests is how many requests are answered at once, default 256; further ones are refused.
	// Those to learn wait in the queue instead, and no request counts before its body is there.
	MaxRequests int
	// MaxConnections is how many connections there are at once in Serve, default 1000, and three
	// quarters of the files that the process may have open at most: for one more, the one is closed
	// that has kept the server waiting longest.
	MaxConnections int
	// Rate is how many requests a second are answered over longer times; 0: any number.
	Rate float64
	// BodyTime is how long a request may take to come, and its answer to go, default 30 s.
	BodyTime time.Duration
	// StopTime is how long Serve waits at its end for requests that are being answered, default
	// 10 s.
	StopTime time.Duration
	// Pages are further paths that GET is answered at, by what is at them: a page for people, say,
	// or metrics. With a Token they take it also as the password of HTTP's basic authentication,
	// which a browser asks for; nothing else does, since a browser sends that to whatever a page of
	// somebody else asks it to.
	Pages map[string]Page
}

// Page answers a request for a page, in dst's memory as far as that goes. Any number of goroutines
// may call it.
type Page func(dst []byte) Answer

// front answers HTTP requests of a server.
type front struct {
	s     *Server
	o     HTTP
	slots chan struct{}
	large chan struct{} // slots of large bodies
	rate  bucket
	pool  sync.Pool
}

// Handler returns what answers HTTP requests:
//
//	POST /v1/models/NAME/predict, learn, save    rows, as the Content-Type says
//	GET  /v1/models, /v1/models/NAME             what is known of the models
//	GET  /healthz, /readyz                       without a token
//	GET  the paths of HTTP.Pages
//
// What is refused has a status of 400 and above and a JSON document with a key error, whose code,
// message, row and next say what is wrong, where and what to do.
func (s *Server) Handler(o HTTP) http.Handler {
	if o.MaxBody <= 0 {
		o.MaxBody = 8 << 20
	}
	if o.MaxRequests <= 0 {
		o.MaxRequests = 256
	}
	if o.BodyTime <= 0 {
		o.BodyTime = 30 * time.Second
	}
	if o.TokenNow == nil {
		o.TokenNow = func() string { return o.Token }
	}
	f := &front{s: s, o: o, slots: make(chan struct{}, o.MaxRequests),
		large: make(chan struct{}, mostLarge), rate: bucket{rate: o.Rate}}
	f.pool.New = func() any { return new(bodies) }
	return f
}

// Listen listens on an address for Serve: HOST:PORT, where no host is 127.0.0.1, or unix:PATH, a
// socket that only the process's user may use, which replaces one that nothing listens on. An
// address that other machines reach is ErrOption without a token and TLS.
func Listen(address string, o HTTP) (net.Listener, error) {
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		return listenUnix(path)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("serve: address %q: want HOST:PORT or unix:PATH: %w", address,
			ErrOption)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if !local(host) && (o.Token == "" || o.TLS == nil) {
		return nil, fmt.Errorf("serve: address %q: other machines reach it, which needs a token "+
			"and TLS: %w", address, ErrOption)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err == nil && o.TLS != nil {
		l = tls.NewListener(l, o.TLS)
	}
	return l, err
}

func listenUnix(path string) (net.Listener, error) {
	if st, err := os.Lstat(path); err == nil && st.Mode()&os.ModeSocket != 0 {
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) { // and not since its queue is full
			os.Remove(path) // of a process that was killed
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Of bodies above largeBody bytes, and answers above largeAnswer, there are so many at a time, and
// the others wait: so memory is a few times their largest size, whatever the number of requests. A
// large body must bring largeBody bytes each paceTime, so that one which has stopped gives way.
const (
	largeBody = 64 << 10
	mostLarge = 16
	paceTime  = 2 * time.Second
)

// bodies is the memory of a request's body and answer.
type bodies struct{ in, out []byte }

// Serve answers requests on l until ctx ends, and then those that have begun. It closes l. The
// Server is still to be closed.
func (s *Server) Serve(ctx context.Context, l net.Listener, o HTTP) error {
	if o.StopTime <= 0 {
		o.StopTime = 10 * time.Second
	}
	h := s.Handler(o)
	conns := newConnections(o.MaxConnections)
	web := &http.Server{Handler: h, ConnState: conns.changed,
		ConnContext:       conns.begins,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelWarn)}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.StopTime)
	defer cancel()
	if err := web.Shutdown(late); err != nil {
		web.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// turn is what a request holds of what is bounded, while its body is read and it is answered.
type turn struct {
	f    *front
	r    *http.Request
	held chan struct{} // front.slots or front.large; nil: none
}

// end gives it back.
func (t *turn) end() {
	if t.held != nil {
		<-t.held
		t.held = nil
	}
}

// answered takes a slot for a request that is about to be answered.
func (t *turn) answered() *Error {
	if t.held != nil { // a large one
		return nil
	}
	select {
	case t.f.slots <- struct{}{}:
		t.held = t.f.slots
		return nil
	default:
		return refuse(http.StatusServiceUnavailable, "busy", 0, "Try again later.",
			"%d requests are being answered, as many as may", cap(t.f.slots))
	}
}

// enlarge waits until there is room for a large body or answer, and keeps no slot for others from
// their turn meanwhile.
func (t *turn) enlarge() *Error {
	if t.held == t.f.large {
		return nil
	}
	t.end()
	select {
	case t.f.large <- struct{}{}:
		t.held = t.f.large
		return nil
	case <-t.r.Context().Done():
		return unavailable("whoever asked has gone")
	}
}

// ServeHTTP is http.Handler's.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b := f.pool.Get().(*bodies)
	c := connectionOf(r)
	defer c.waits()
	// Deadlines are of the connection, and those of the request before may be over. Where there are
	// none, what serves has bounds of its own.
	bounds := http.NewResponseController(w)
	bounds.SetWriteDeadline(time.Time{})
	t := &turn{f: f, r: r}
	defer t.end()
	a := f.answer(w, r, b, t)
	if t.held == f.slots {
		t.end() // what is left is the client's to take
	}
	c.waits()
	bounds.SetWriteDeadline(time.Now().Add(f.o.BodyTime))
	head := w.Header()
	head.Set("Content-Type", a.Media)
	head.Set("Content-Length", strconv.Itoa(len(a.Body)))
	head.Set("X-Content-Type-Options", "nosniff")
	if a.RetryAfter > 0 {
		head.Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	head.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; "+
		"frame-ancestors 'none'")
	if a.Status == http.StatusUnauthorized {
		f.s.unauthorized.Add(1)
		if head.Get("WWW-Authenticate") == "" {
			head.Set("WWW-Authenticate", "Bearer")
		}
	}
	if len(r.TransferEncoding) > 0 { // what comes behind a body of two lengths is nobody's request
		head.Set("Connection", "close")
	}
	w.WriteHeader(a.Status)
	for rest := a.Body; len(rest) > 0; { // whoever asked may have gone
		n := min(len(rest), largeBody)
		if t.held != nil {
			bounds.SetWriteDeadline(time.Now().Add(paceTime))
		}
		if _, err := w.Write(rest[:n]); err != nil {
			break
		}
		rest = rest[n:]
	}
	if b.out = a.Body; cap(b.in) <= 1<<20 && cap(b.out) <= 1<<20 {
		f.pool.Put(b)
	}
}

// answer answers a request in the memory of b.
func (f *front) answer(w http.ResponseWriter, r *http.Request, b *bodies, t *turn) Answer {
	dst := b.out[:0]
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	path := r.URL.Path
	if strings.Contains(r.URL.EscapedPath(), "%") { // by which rules on paths would be passed
		path = ""
	}
	switch {
	case path == "/healthz" && get:
		return Answer{Status: http.StatusOK, Media: "text/plain", Body: append(dst, "ok\n"...)}
	case path == "/readyz" && get:
		if err := f.s.Ready(); err != nil {
			return refused(unavailable("%v", err), dst)
		}
		return Answer{Status: http.StatusOK, Media: "text/plain", Body: append(dst, "ok\n"...)}
	}
	page := f.o.Pages[path]
	if !get {
		page = nil
	}
	if bad := f.admit(r, page != nil); bad != nil {
		if page != nil && bad.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="halfspace", charset="UTF-8"`)
		}
		return refused(bad, dst)
	}
	ask, bad := route(r, path)
	if page != nil {
		bad = nil
	}
	if bad == nil && r.Method == http.MethodPost {
		bad = f.read(w, r, b, t)
		ask.Body = b.in
	}
	if bad == nil && ask.Op != Learn && ask.Op != Save { // which wait in a queue of their own
		connectionOf(r).works()
		bad = t.answered()
	}
	if bad != nil {
		if h := f.s.models[ask.Model]; h != nil {
			h.count.refused(bad)
		}
		return refused(bad, dst)
	}
	if page != nil {
		return page(dst)
	}
	connectionOf(r).works()
	ask.enlarge = t.enlarge
	return f.s.Do(&ask, dst)
}

// route says what a request asks at a path.
func route(r *http.Request, path string) (ask Request, bad *Error) {
	rest, ok := strings.CutPrefix(path, "/v1/models")
	parts := strings.Split(rest, "/")
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	want := "GET"
	switch {
	case ok && (rest == "" || rest == "/"):
		ask.Op = List
	case ok && len(parts) == 2 && parts[0] == "":
		ask.Op, ask.Model = Info, parts[1]
	case ok && len(parts) == 3 && parts[0] == "" &&
		(parts[2] == Predict || parts[2] == Learn || parts[2] == Save):
		ask.Op, ask.Model, want, get = parts[2], parts[1], "POST", r.Method == http.MethodPost
	default:
		return ask, refuse(http.StatusNotFound, "no_such_path", 0,
			"There are /v1/models, /v1/models/NAME, and predict, learn and save below it.",
			"nothing is at %q", r.URL.EscapedPath())
	}
	if !get {
		return ask, refuse(http.StatusMethodNotAllowed, "method", 0, "Use "+want+".",
			"the method %s is not for %s", r.Method, r.URL.Path)
	}
	ask.Media = r.Header.Get("Content-Type")
	return ask, nil
}

// admit refuses a request for where it comes from, or for how often. A page takes the token as a
// password, too.
func (f *front) admit(r *http.Request, page bool) *Error {
	if token := f.o.TokenNow(); token == "" {
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok &&
			local.Network() == "unix" { // which no page in a browser reaches
			return f.often()
		}
		origin := r.Header.Get("Origin")
		if u, err := url.Parse(origin); !local(r.Host) ||
			origin != "" && (err != nil || !local(u.Host)) {
			return refuse(http.StatusForbidden, "host", 0, "Ask for localhost or 127.0.0.1.",
				"only requests to this machine under a name of its own are answered")
		}
	} else {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if page && !ok {
			_, given, ok = r.BasicAuth()
		}
		want, sum := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
		if subtle.ConstantTimeCompare(sum[:], want[:]) != 1 || !ok {
			return refuse(http.StatusUnauthorized, "unauthorized", 0,
				"Send it as Authorization: Bearer TOKEN.", "the token is missing or another")
		}
	}
	return f.often()
}

// often refuses a request that comes too soon behind the others.
func (f *front) often() *Error {
	if !f.rate.take(time.Now()) {
		return tooMany("rate", "Try again in a second.", "more than %g requests a second",
			f.o.Rate)
	}
	return nil
}

// local reports whether a host, with or without a port, is this machine under a name or address
// that no other machine can have.
func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return ip != nil && ip.IsLoopback()
}

// read reads the body of a request into b.in.
func (f *front) read(w http.ResponseWriter, r *http.Request, b *bodies, t *turn) *Error {
	if r.ContentLength > f.o.MaxBody {
		return f.tooLarge()
	}
	if r.Header.Get("Content-Encoding") != "" {
		return refuse(http.StatusUnsupportedMediaType, "media_type", 0, "Send it as it is.",
			"bodies are not unpacked")
	}
	bounds, end := http.NewResponseController(w), time.Now().Add(f.o.BodyTime)
	bounds.SetReadDeadline(end)
	in := b.in[:0]
	body := http.MaxBytesReader(w, r.Body, f.o.MaxBody)
	for pace := largeBody; ; {
		if len(in) >= pace { // it has brought so much: a large one, and not one that has stopped
			if bad := t.enlarge(); bad != nil {
				return bad
			}
			pace = len(in) + largeBody
			if soon := time.Now().Add(paceTime); soon.Before(end) {
				bounds.SetReadDeadline(soon)
			}
		}
		if len(in) == cap(in) {
			in = append(in, 0)[:len(in)]
		}
		n, err := body.Read(in[len(in):min(cap(in), pace)])
		in = in[:len(in)+n]
		if err == io.EOF {
			b.in = in
			return nil
		}
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			return f.tooLarge()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			w.Header().Set("Connection", "close")
			return refuse(http.StatusRequestTimeout, "too_slow", 0, "Send the body faster.",
				"%d bytes of the body have come, and the rest was not there in time", len(in))
		}
		if err != nil {
			return malformed(0, "the body: %v", err)
		}
	}
}

func (f *front) tooLarge() *Error {
	return refuse(http.StatusRequestEntityTooLarge, "too_large", 0,
		"Send the rows in several requests.", "the body has more than %d bytes", f.o.MaxBody)
}

// bucket lets so many through a second, and a second's worth at once.
type bucket struct {
	rate float64 // 0: any number

	mu   sync.Mutex
	left float64
	last time.Time
}

func (b *bucket) take(now time.Time) bool {
	if b.rate <= 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	most := max(b.rate, 1)
	if b.last.IsZero() {
		b.left = most
	} else {
		b.left = min(most, b.left+b.rate*now.Sub(b.last).Seconds())
	}
	b.last = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
