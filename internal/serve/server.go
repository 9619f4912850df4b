package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/halfspace-ml/halfspace/internal/schema"
)

// Server serves models. Any number of goroutines may use it. New makes it.
type Server struct {
	o      Options
	models map[string]*hosted
	names  []string
	began  time.Time

	unauthorized atomic.Int64
}

// New reads the models and their logs, and begins to serve. Errors are of kind ErrOption, ErrModel
// or ErrLog, or those of reading files. Close the server.
func New(o Options) (*Server, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, models: map[string]*hosted{}, began: time.Now()}
	for _, m := range o.Models {
		h, err := open(&s.o, m)
		if err != nil {
			s.Close(context.Background())
			return nil, err
		}
		s.models[m.Name], s.names = h, append(s.names, m.Name)
	}
	return s, nil
}

// Close learns what was accepted, saves the models that have learned since they were saved, and
// ends the server; what comes meanwhile is refused. Where ctx ends before, what is left is not
// saved, and its error is returned; the error of a model that could not be saved, too.
func (s *Server) Close(ctx context.Context) error {
	var errs []error
	for _, name := range s.names {
		errs = append(errs, s.models[name].stop(ctx))
	}
	return errors.Join(errs...)
}

// Reload has each model's file read again that is another one than was read or written last, and
// that of a model which learns no more: so a newly deployed model is served, and what the one
// before it has learned since it was saved is beside it, in PATH.unsaved. A log is set aside then,
// as LOG.old, and another begun. Where that fails, the model is served as it was.
func (s *Server) Reload() error {
	var errs []error
	for _, name := range s.names {
		t := &task{kind: taskReload, done: make(chan struct{}, 1)}
		bad := s.models[name].enqueue(t)
		if bad == nil {
			<-t.done
			bad = t.bad
		}
		if bad != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, bad))
		}
	}
	return errors.Join(errs...)
}

// Operations of a Request.
const (
	Predict = "predict" // answers each row with what the model predicts
	Learn   = "learn"   // learns the rows, in their order
	Save    = "save"    // writes the model's file
	Info    = "info"    // answers the model's Stats
	List    = "list"    // answers those of all models
)

// Request is what a program asks, whichever way it came.
type Request struct {
	Op    string
	Model string // not of List
	Media string // the type of Body, such as application/json
	// Body has the rows; Do may change it, and the bytes behind it up to its capacity.
	Body []byte

	enlarge func() *Error // called before a large answer is made; may be nil
}

// Answer is what Do answers.
type Answer struct {
	Status int    // as HTTP has it
	Media  string // the type of Body
	Body   []byte
	// RetryAfter is how many seconds to wait before a request that was refused is tried again; 0:
	// it was not refused for that.
	RetryAfter int
}

// Do answers a request, in dst's memory as far as that goes. A request to learn is answered when it
// is learned. Cost of a prediction beside scoring: some microseconds.
func (s *Server) Do(r *Request, dst []byte) Answer {
	if r.Op == List {
		return s.list(dst)
	}
	h := s.models[r.Model]
	if h == nil {
		return refused(refuse(http.StatusNotFound, "no_such_model", 0,
			"GET /v1/models lists those that are served.", "no model is named %q", r.Model), dst)
	}
	a, bad := h.answers(r, dst)
	if bad != nil {
		h.count.refused(bad)
		a = refused(bad, dst)
	}
	h.count.read.Add(int64(len(r.Body)))
	h.count.written.Add(int64(len(a.Body) - len(dst)))
	return a
}

// answers answers a request of a model. One that panics is refused, and no other one knows of it.
func (h *hosted) answers(r *Request, dst []byte) (a Answer, bad *Error) {
	begin := time.Now()
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("a request panicked", "error", fmt.Sprint(p), "stack",
				string(debug.Stack()))
			bad = refuse(http.StatusInternalServerError, "internal", 0, "", "panic: %v", p)
		}
	}()
	switch r.Op {
	case Predict:
		a, bad = h.predict(r, dst)
		h.count.predict.add(time.Since(begin))
	case Learn:
		a, bad = h.teaches(r, dst)
		h.count.learn.add(time.Since(begin))
	case Save:
		a, bad = h.saves(dst)
	case Info:
		a = answered(struct {
			Schema string `json:"schema"`
			Stats
		}{schema.Name, h.stats()}, dst)
	default:
		bad = refuse(http.StatusNotFound, "no_such_operation", 0, "",
			"models don't know the operation %q", r.Op)
	}
	return a, bad
}

func refused(e *Error, dst []byte) Answer {
	a := Answer{Status: e.Status, Media: mediaJSON, Body: e.appendTo(dst)}
	if e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable {
		a.RetryAfter = 1
	}
	return a
}

func answered(v any, dst []byte) Answer {
	text, err := json.Marshal(v)
	if err != nil {
		return refused(refuse(500, "internal", 0, "", "%v", err), dst)
	}
	return Answer{Status: http.StatusOK, Media: mediaJSON, Body: append(append(dst, text...), '\n')}
}

// list answers what is known of all models.
func (s *Server) list(dst []byte) Answer {
	return answered(struct {
		Schema string  `json:"schema"`
		Uptime float64 `json:"uptime"`
		Models []Stats `json:"models"`
	}{schema.Name, time.Since(s.began).Seconds(), s.Stats()}, dst)
}

// Stats returns what is known of the models, in the order of Options.Models.
func (s *Server) Stats() (list []Stats) {
	for _, name := range s.names {
		list = append(list, s.models[name].stats())
	}
	return list
}

// Unauthorized returns how many requests by HTTP had no token, or another one.
func (s *Server) Unauthorized() int64 { return s.unauthorized.Load() }

// Ready returns why the server can't do all that it is there for; nil if it can.
func (s *Server) Ready() error {
	for _, name := range s.names {
		h := s.models[name]
		h.gate.RLock()
		closed := h.closed
		h.gate.RUnlock()
		if closed {
			return ErrClosed
		}
		if f := h.fault.Load(); f != nil {
			return unavailable("%s: nothing is learned any more: %s", name, *f)
		}
		if f := h.unsaved.Load(); f != nil {
			return unavailable("%s: not saved: %s", name, *f)
		}
	}
	return nil
}

// stats is what is known of the model.
func (h *hosted) stats() Stats {
	p, c := h.now.Load(), &h.count
	s := p.about
	s.Features, s.Labels, s.Snapshot = p.dim, p.labels, p.number
	s.Age, s.Examples, s.Saved = time.Since(p.at).Seconds(), h.examples.Load(), h.saved.Load()
	s.Predicted, s.Learned, s.Mistakes = c.predicted.Load(), c.learned.Load(), c.mistakes.Load()
	if s.Learned > 0 {
		s.Error = float64(s.Mistakes) / float64(s.Learned)
	}
	s.Unknown, s.BadRows, s.Busy = c.unknown.Load(), c.bad.Load(), c.busy.Load()
	s.Read, s.Written, s.WaitUnknown = c.read.Load(), c.written.Load(), c.waitUnknown.Load()
	s.Queue, s.Bytes = len(h.queue), h.logBytes.Load()
	c.mu.Lock()
	s.Curve, s.LastBad = slices.Clone(c.curve.points), slices.Clone(c.last)
	c.mu.Unlock()
	h.waits.Lock()
	s.Waiting, s.WaitingBytes, s.WaitDropped = h.rows.Len(), h.rows.Bytes(), h.rows.Expired()
	h.waits.Unlock()
	s.Predict, s.Learn = c.predict.latency(), c.learn.latency()
	if f := h.fault.Load(); f != nil {
		s.Fault = *f
	}
	if f := h.unsaved.Load(); f != nil {
		s.SaveError = *f
	}
	return s
}

// decoder returns one for rows of that shape, which no request uses.
func (h *hosted) decoder(s *shape) *decoder {
	if d, ok := h.decoders.Get().(*decoder); ok && d.shape == s {
		return d
	}
	return &decoder{shape: s, task: task{done: make(chan struct{}, 1)}}
}

func (h *hosted) done(d *decoder) {
	if !d.heavy() {
		h.decoders.Put(d)
	}
}

// predict answers rows with what the published model predicts.
func (h *hosted) predict(r *Request, dst []byte) (Answer, *Error) {
	p := h.now.Load()
	d := h.decoder(p.shape)
	defer h.done(d)
	if bad := d.read(r.Media, r.Body, h.o.MaxRows); bad != nil {
		return Answer{}, bad
	}
	x := &d.x
	keep := h.encodeIDs(d)
	unknown, bad := d.resolve(x, p.names, p.dim, 0, h.o.MaxFeatures, false)
	if bad != nil {
		return Answer{}, bad
	}
	rows := x.rows(false)
	n := x.n * p.outputs
	if n > mostScores {
		return Answer{}, refuse(http.StatusRequestEntityTooLarge, "too_many_scores", 0,
			"Send the rows in several requests.", "%d rows have %d scores each, and an answer "+
				"has %d at most", x.n, p.outputs, mostScores)
	}
	if n > largeAnswer && r.enlarge != nil {
		if bad := r.enlarge(); bad != nil {
			return Answer{}, bad
		}
	}
	d.scores = slices.Grow(d.scores[:0], n)[:n]
	if err := p.ScoreRows(&rows, d.scores); err != nil {
		return Answer{}, unfit(0, "", "%v", err)
	}
	if p.proba {
		d.proba = slices.Grow(d.proba[:0], n)[:n]
		if err := p.ProbaRows(&rows, d.proba); err != nil {
			return Answer{}, unfit(0, "", "%v", err)
		}
	}
	h.keep(x, keep)
	h.count.predicted.Add(int64(x.n))
	h.count.unknown.Add(int64(unknown))
	return p.answer(d, dst), nil
}

// An answer to rows has mostScores scores at most: 10,000 rows of 26 classes, in some 15 MB. One of
// more than largeAnswer is as large as a large body.
const (
	mostScores  = 1 << 18
	largeAnswer = 1 << 12
)

// answer appends the predictions: as JSON where the rows came so, else a line each.
func (p *published) answer(d *decoder, dst []byte) Answer {
	a, array := Answer{Status: http.StatusOK, Media: mediaNDJSON}, d.array
	if d.json {
		a.Media = mediaJSON
	}
	if array {
		dst = append(dst, '[')
	}
	for i := range d.x.n {
		if i > 0 && array {
			dst = append(dst, ',')
		}
		dst = p.prediction(d, i, dst)
		if !array {
			dst = append(dst, '\n')
		}
	}
	if array {
		dst = append(dst, "]\n"...)
	}
	a.Body = dst
	return a
}

// prediction appends that of row i.
func (p *published) prediction(d *decoder, i int, dst []byte) []byte {
	k := p.outputs
	scores := d.scores[i*k:][:k]
	label, score := p.Predicted(scores)
	dst = append(dst, '{')
	if id := d.x.id(i); id != "" {
		dst = append(appendText(append(dst, `"id":`...), id), ',')
	}
	if dst = append(dst, `"label":`...); label == "" {
		dst = append(dst, "null"...)
	} else {
		dst = appendText(dst, label)
	}
	dst = appendFloat(append(dst, `,"score":`...), score)
	if k != 1 {
		dst = appendFloats(append(dst, `,"scores":`...), scores)
	}
	if p.proba {
		proba := d.proba[i*k:][:k]
		if k == 1 {
			dst = appendFloat(append(dst, `,"proba":`...), proba[0])
		} else {
			dst = appendFloats(append(dst, `,"probas":`...), proba)
		}
	}
	dst = strconv.AppendUint(append(dst, `,"snapshot":`...), p.number, 10)
	return append(dst, '}')
}

// teaches has the rows of a request learned.
func (h *hosted) teaches(r *Request, dst []byte) (Answer, *Error) {
	p := h.now.Load()
	if !p.about.Learns {
		return Answer{}, refuse(http.StatusForbidden, "read_only", 0, "",
			"the model %s only predicts here", h.at.Name)
	}
	d := h.decoder(p.shape)
	defer h.done(d)
	if bad := d.read(r.Media, r.Body, h.o.MaxRows); bad != nil {
		return Answer{}, bad
	}
	x, taken, bad := h.labelled(d)
	if bad != nil {
		return Answer{}, bad
	}
	t := &d.task
	*t = task{d: d, x: x, done: t.done}
	if bad := h.enqueue(t); bad != nil {
		h.putBack(taken)
		return Answer{}, bad
	}
	<-t.done // before d is used again, whether or not somebody still waits for the answer
	if t.bad != nil {
		if t.learned == 0 {
			h.putBack(taken)
		}
		return Answer{}, t.bad
	}
	dst = strconv.AppendInt(append(dst, `{"learned":`...), t.learned, 10)
	dst = strconv.AppendInt(append(dst, `,"mistakes":`...), t.mistakes, 10)
	dst = strconv.AppendUint(append(dst, `,"examples":`...), t.presented, 10)
	dst = strconv.AppendUint(append(dst, `,"snapshot":`...), h.now.Load().number, 10)
	return Answer{Status: http.StatusOK, Media: mediaJSON, Body: append(dst, "}\n"...)}, nil
}

// saves has the model's file written.
func (h *hosted) saves(dst []byte) (Answer, *Error) {
	if h.o.ReadOnly {
		return Answer{}, refuse(http.StatusForbidden, "read_only", 0, "", "nothing is saved here")
	}
	t := &task{kind: taskSave, done: make(chan struct{}, 1)}
	if bad := h.enqueue(t); bad != nil {
		return Answer{}, bad
	}
	if <-t.done; t.bad != nil {
		return Answer{}, t.bad
	}
	return answered(map[string]uint64{"saved": t.presented}, dst), nil
}
