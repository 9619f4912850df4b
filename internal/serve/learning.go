package serve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/frames"
	"github.com/halfspace-ml/halfspace/internal/waiting"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// hosted is a model that is served.
type hosted struct {
	o   *Options
	at  Model
	log *slog.Logger

	now      atomic.Pointer[published]
	decoders sync.Pool // of *decoder
	count    counters
	fault    atomic.Pointer[string] // why nothing is learned any more; nil: it is
	unsaved  atomic.Pointer[string] // why the last save failed; nil: it didn't
	saved    atomic.Uint64          // examples behind the file
	examples atomic.Uint64
	logBytes atomic.Int64

	gate   sync.RWMutex // guards closed, and sending
	closed bool
	queue  chan *task
	ended  chan struct{}

	waits sync.Mutex // guards:
	rows  *waiting.List[[]byte]

	taught // of the goroutine that learns
}

// taught is what learns: the model with the names of its features, which a log is read into.
type taught struct {
	m      *halfspace.Model
	file   *model.Model // what was read, without its tensors
	config learner.Config
	shape  *shape
	names  *dictionary
	next   int // feature of the next new name

	disk        *modelFile // nil in Replay
	journal     *logWriter // nil: none
	publishedAt time.Time
	publishing  time.Duration // how long the last time took
	checkedAt   time.Time
	syncedAt    time.Time
	group       []*task
	failed      error  // of the last save
	stack       []byte // of the panic that ended learning
}

// published is what predicts. It never changes.
type published struct {
	*halfspace.Snapshot
	about   Stats // what stays as long as the model is not replaced
	shape   *shape
	number  uint64 // of examples behind it
	at      time.Time
	names   *dictionary
	dim     int
	outputs int
	proba   bool
	labels  []string
}

// Kinds of tasks.
const (
	taskLearn = iota
	taskSave
	taskReload
)

// task is something for the goroutine that learns.
type task struct {
	kind int
	d    *decoder
	x    *examples
	done chan struct{}

	learned, mistakes int64
	presented         uint64
	bad               *Error
}

// newTaught makes what learns of the bytes of a model file.
func newTaught(name string, data []byte) (*taught, error) {
	unfit := func(err error) error { return fmt.Errorf("%s: %w: %w", name, err, ErrModel) }
	file, err := model.Decode(data)
	if err != nil {
		return nil, unfit(err)
	}
	_, config, err := file.Settings()
	if err != nil {
		return nil, unfit(err)
	}
	s, err := newShape(file)
	if err != nil {
		return nil, unfit(err)
	}
	m, err := halfspace.Decode(data)
	if err != nil {
		return nil, unfit(err)
	}
	file.State.Tensors = nil
	return &taught{m: m, file: file, config: config, shape: s,
		names: newDictionary(s.Names()),
		next:  file.Prep.Numbers() + len(file.Prep.Names)}, nil
}

// learns reports whether the model is to be learned on.
func (t *taught) learns(o *Options) bool { return !o.ReadOnly && t.file.Learnable() == nil }

// about returns what is known of the model before anything is asked of it.
func (h *hosted) about() Stats {
	s := Stats{Name: h.at.Name, Precision: h.file.Precision, QueueMost: h.o.Queue,
		Learns: h.learns(h.o)}
	name, settings := h.m.Learner()
	s.Learner, s.Settings = name, json.RawMessage(settings)
	if names := h.shape.Names(); h.shape.Lead > 0 && h.shape.Lead <= len(names) {
		s.Columns = names[:h.shape.Lead]
	}
	return s
}

// open reads a model and its log, and begins to learn.
func open(o *Options, at Model) (*hosted, error) {
	h := &hosted{o: o, at: at, log: o.Logger.With("model", at.Name),
		queue: make(chan *task, o.Queue), ended: make(chan struct{}),
		rows: waiting.New[[]byte](max(o.WaitRows, 0), o.WaitBytes)}
	if err := h.load(); err != nil {
		return nil, err
	}
	h.publish()
	go h.run()
	return h, nil
}

// load reads the model's file and what its log has behind that. On an error h is as it was.
func (h *hosted) load() (err error) {
	disk, data, err := openModel(h.at.Path, !h.o.ReadOnly)
	if err != nil {
		return err
	}
	var t *taught
	defer func() {
		if err != nil {
			disk.unlock()
		}
	}()
	inFile := uint64(0)
	if h.at.Log == "" {
		if t, err = newTaught(h.at.Path, data); err != nil {
			return err
		}
		inFile = t.m.Presented()
	} else if t, inFile, err = h.recover(data); err != nil {
		return err
	}
	t.disk, t.checkedAt, t.syncedAt = disk, time.Now(), time.Now()
	t.group = h.group
	h.taught = *t
	h.saved.Store(inFile)
	h.examples.Store(h.m.Presented())
	if h.journal != nil {
		h.logBytes.Store(h.journal.bytes)
	}
	return nil
}

// recover opens the log, and learns what it has behind the model, which has inFile examples.
func (h *hosted) recover(data []byte) (t *taught, inFile uint64, err error) {
	f, err := os.OpenFile(h.at.Log, os.O_RDWR, 0)
	if err == nil {
		defer func() {
			if err != nil {
				f.Close()
			}
		}()
		if !atomicfile.TryLock(f) {
			return nil, 0, fmt.Errorf("%s: another server writes it: %w", h.at.Log, ErrInUse)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	if t, err = newTaught(h.at.Path, data); err != nil {
		return nil, 0, err
	}
	if !t.learns(h.o) {
		return nil, 0, fmt.Errorf("%s: a log, but the model can only predict: %w", h.at.Log,
			ErrModel)
	}
	inFile = t.m.Presented()
	if f == nil {
		name, _ := t.m.Learner()
		t.journal, err = createLog(h.at.Log, logHeader{Model: h.at.Name, Learner: name,
			SHA256: sumOf(data), Bytes: int64(len(data)), Presented: inFile}, data)
		if err == nil {
			h.log.Info("log begun", "log", h.at.Log, "examples", inFile)
		}
		return t, inFile, err
	}
	t, l, r, err := relearn(context.Background(), f, h.at.Log, data, math.MaxUint64, h.at.Path, t)
	if err != nil {
		return nil, 0, err
	}
	if r.Torn > 0 {
		h.log.Warn("the log ended with a request that was never answered; cut off", "log",
			h.at.Log, "bytes", r.Torn)
	}
	h.log.Info("log read", "log", h.at.Log, "examples", t.m.Presented(), "learned", r.Learned)
	t.journal, err = appendLog(f, h.at.Log, l.at())
	return t, inFile, err
}

// Replayed is what Replay has read.
type Replayed struct {
	Model    string // the name under which it was served
	Requests int64  // that were learned
	Learned  int64  // examples of those
	Mistakes int64
	Torn     int64 // bytes at the end that are no request that was answered
}

// Replay rebuilds the model that a server with a log had at its end, to the byte: of the model with
// which the log begins, or, where start is not nil, of the bytes of that model or of one that was
// saved as the log went on. It stops at the model that has learned until examples, where that is
// not 0. Errors are of kind ErrLog or ErrModel, or ctx's. Cost: learning.
func Replay(ctx context.Context, path string, start []byte, until uint64) (*halfspace.Model,
	Replayed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Replayed{}, fmt.Errorf("%w: %w", err, ErrLog)
	}
	defer f.Close()
	if until == 0 {
		until = math.MaxUint64
	}
	t, _, r, err := relearn(ctx, f, path, start, until, "the model", nil)
	if err == nil && t.m.Presented() > until {
		err = fmt.Errorf("%s: it begins with a model of %d examples, behind %d: %w", path,
			t.m.Presented(), until, ErrModel)
	}
	if err != nil {
		return nil, r, err
	}
	return t.m, r, nil
}

// relearn learns what a log has behind the model of the bytes start, of which t was made if it is
// there; nil is the model with which the log begins. A request at the log's end that spoils the
// model was never answered, and is left out.
func relearn(ctx context.Context, f *os.File, path string, start []byte, until uint64, name string,
	t *taught) (*taught, *logReader, Replayed, error) {
	for spoilt := (*spoiltError)(nil); ; {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, nil, Replayed{}, err
		}
		l, err := openLog(f, path)
		if err != nil {
			return nil, nil, Replayed{}, err
		}
		if start == nil {
			start = l.model
		}
		if t == nil {
			if t, err = newTaught(path, start); err != nil {
				return nil, nil, Replayed{}, err
			}
		}
		r, err := t.replay(ctx, l, sumOf(start), name, until)
		if again := spoilt != nil; errors.As(err, &spoilt) && spoilt.last && !again {
			until, t = spoilt.before, nil
			continue
		}
		if spoilt != nil && err == nil {
			r.Torn = l.size - l.at()
		}
		return t, l, r, err
	}
}

// spoiltError says that a request of a log leaves a model that can't go on.
type spoiltError struct {
	before uint64 // the examples before it
	last   bool   // nothing was learned behind it
	err    error
}

func (e *spoiltError) Error() string {
	return fmt.Sprintf("%v; the model as it was before has learned %d examples: Replay until %d "+
		"makes it", e.err, e.before, e.before)
}

func (e *spoiltError) Unwrap() error { return e.err }

// replay learns what stands in a log behind the model of that sum, up to a number of examples.
func (t *taught) replay(ctx context.Context, l *logReader, sum, name string, until uint64) (
	r Replayed, err error) {
	r.Model = l.header.Model
	d := &decoder{shape: t.shape, replays: true}
	behind := l.header.SHA256 == sum
	l.model = nil
	for ctx.Err() == nil && !(behind && t.m.Presented() >= until) {
		b, err := l.next()
		if err == io.EOF || err == frames.ErrTorn {
			r.Torn = l.size - l.at()
			break
		}
		if err != nil {
			return r, err
		}
		switch l.kind {
		case frameCheckpoint:
			_, saved, err := l.checkpoint(b)
			if err != nil {
				return r, err
			}
			behind = behind || saved == sum
		case frameLearn:
			if !behind {
				continue
			}
			before, x, err := l.learned(b)
			if err != nil {
				return r, err
			}
			if before != t.m.Presented() {
				return r, l.damaged("%d examples were learned before it, and the model has %d",
					before, t.m.Presented())
			}
			x.cut(until - before)
			n, mistakes, err := t.again(d, x)
			if err != nil {
				_, end := l.next()
				return r, l.damaged("%w", &spoiltError{before, end == io.EOF ||
					end == frames.ErrTorn, err})
			}
			if n == 0 {
				continue
			}
			r.Requests, r.Learned, r.Mistakes = r.Requests+1, r.Learned+n, r.Mistakes+mistakes
		default:
			return r, l.damaged("a frame of the kind %q", l.kind)
		}
	}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if !behind {
		return r, fmt.Errorf("%s: it is neither the model with which %s begins nor one that was "+
			"saved as it went on: %w", name, l.path, ErrModel)
	}
	return r, nil
}

// again learns examples of a log, as they were learned then. A request that was refused behind its
// frame, as older versions did, is refused again. An error says that the model can't go on.
func (t *taught) again(d *decoder, x *examples) (learned, mistakes int64, err error) {
	const any = 1<<31 - 2 // what was too large then is not in the log
	_, bad := d.resolve(x, t.names, t.m.Features(), t.next, any, true)
	if bad != nil || nameless(d.fresh) != nil {
		return 0, 0, nil
	}
	learned, mistakes, err = t.apply(d.fresh, x)
	if !errors.Is(err, errSpoilt) {
		err = nil
	}
	return learned, mistakes, err
}

// errSpoilt says that the model is no longer what it was, and can't go on.
var errSpoilt = errors.New("the model can't go on")

// apply learns examples that resolve has taken, with the features that they bring. On an error of
// kind errSpoilt the model can't go on; on another one nothing was learned.
func (t *taught) apply(fresh []string, x *examples) (learned, mistakes int64, err error) {
	before := t.m.Presented()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("learning panicked: %v: %w", p, errSpoilt)
			t.stack = debug.Stack()
		}
	}()
	if len(fresh) > 0 {
		if err := t.m.AddFeatures(fresh...); err != nil {
			return 0, 0, err
		}
		for _, name := range fresh {
			t.names.add(name, int32(t.next))
			t.next++
		}
	}
	rows := x.rows(true)
	mistakes, err = t.m.LearnRows(context.Background(), &rows)
	learned = int64(t.m.Presented() - before)
	if err == nil && x.unusual() {
		if e := t.m.Encode(io.Discard); e != nil {
			return learned, mistakes, fmt.Errorf("%w: %w", e, errSpoilt)
		}
	}
	if err != nil && (learned > 0 || errors.Is(err, learner.ErrDiverged)) {
		// what of a block was learned is not known, or it was what spoilt the model
		err = fmt.Errorf("%w: %w", err, errSpoilt)
	}
	return learned, mistakes, err
}

// memory returns what the model takes at most, in bytes, with so many features, classes and
// examples.
func (t *taught) memory(features, classes int, examples int64) int64 {
	x := learner.Extent{Features: int64(features), Examples: examples,
		NonZeros: learner.Times(examples, int64(features)),
		Longest:  int64(features), Elem: 4, Dense: t.shape.Closed, Growing: !t.shape.Closed,
		Saved: true, Classes: int64(classes)}
	if t.shape.wide {
		x.Elem = 8
	}
	return t.config.Traits().Memory(x).Peak()
}

// publish makes what was learned what predicts.
func (h *hosted) publish() {
	begin := time.Now()
	s := h.m.Snapshot()
	p := &published{Snapshot: s, about: h.about(), shape: h.shape, number: h.m.Presented(),
		at: time.Now(), names: h.names.publish(), dim: s.Features(), outputs: s.Outputs(),
		labels: s.Classes()}
	p.proba = s.ProbaRows(&halfspace.Rows{Ptr: []int{0}, Dim: s.Features()}, nil) == nil
	h.publishedAt, h.publishing = p.at, p.at.Sub(begin)
	h.examples.Store(p.number)
	h.now.Store(p)
}

// enqueue hands a task over.
func (h *hosted) enqueue(t *task) *Error {
	h.gate.RLock()
	defer h.gate.RUnlock()
	if h.closed {
		return unavailable("the server stops: nothing is learned any more")
	}
	if f := h.fault.Load(); f != nil && t.kind != taskReload {
		return unavailable("nothing is learned any more: %s", *f)
	}
	select {
	case h.queue <- t:
		return nil
	default:
	}
	if t.kind == taskReload { // no client's: it may wait
		h.queue <- t
		return nil
	}
	return tooMany("queue_full", "Try again in a second, or send several rows in a request.",
		"%d requests wait to be learned, as many as may", cap(h.queue))
}

// run learns until the queue is closed and empty. Its samples in profiles say of which model.
func (h *hosted) run() {
	defer close(h.ended)
	name, _ := h.m.Learner()
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("model", h.at.Name,
		"learner", name, "stage", "learn")))
	const tick = 10 * time.Millisecond
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if d := h.due(); d > 0 {
			timer.Reset(max(d, tick))
		} else {
			timer.Reset(time.Hour)
		}
		select {
		case t, ok := <-h.queue:
			if !ok {
				h.finish()
				return
			}
			h.take(t)
		case <-timer.C:
			h.idle()
		}
	}
}

// due returns when something is to be done though nothing comes; 0: never.
func (h *hosted) due() (d time.Duration) {
	sooner := func(at time.Time) {
		if left := max(time.Until(at), 1); d == 0 || left < d {
			d = left
		}
	}
	if h.journal != nil && h.journal.dirty && h.o.Sync == SyncInterval {
		sooner(h.syncedAt.Add(syncAfter))
	}
	if h.fault.Load() != nil {
		return d
	}
	n := h.m.Presented()
	if n != h.now.Load().number {
		sooner(h.publishedAt.Add(h.publishAfter()))
	}
	if h.failed != nil || h.o.CheckpointAfter > 0 && n != h.saved.Load() {
		sooner(h.checkedAt.Add(max(h.o.CheckpointAfter, h.patience())))
	}
	return d
}

// publishAfter is how long what was learned may wait until it predicts: where a copy takes long,
// four times that, so that learning goes on.
func (h *hosted) publishAfter() time.Duration { return max(h.o.PublishAfter, 4*h.publishing) }

// patience is how long a checkpoint that failed is not tried again.
func (h *hosted) patience() time.Duration {
	if h.failed != nil {
		return time.Second
	}
	return 0
}

// idle does what is due.
func (h *hosted) idle() {
	now := time.Now()
	if h.journal != nil && h.o.Sync == SyncInterval && now.Sub(h.syncedAt) >= syncAfter {
		h.syncedAt = now
		h.fails(h.journal.sync())
	}
	if h.fault.Load() != nil {
		return
	}
	if h.m.Presented() != h.now.Load().number && now.Sub(h.publishedAt) >= h.publishAfter() {
		h.safely(h.publish)
	}
	since := h.m.Presented() - h.saved.Load()
	if now.Sub(h.checkedAt) < h.patience() {
		return
	}
	if h.failed != nil || h.o.CheckpointExamples > 0 && since >= uint64(h.o.CheckpointExamples) ||
		h.o.CheckpointAfter > 0 && since > 0 && now.Sub(h.checkedAt) >= h.o.CheckpointAfter {
		h.save()
	}
}

// safely calls do. If that panics the model, not the process, has learned its last.
func (h *hosted) safely(do func()) {
	defer func() {
		if p := recover(); p != nil {
			h.stack = debug.Stack()
			h.fails(fmt.Errorf("panic: %v", p))
		}
	}()
	do()
}

// mostGroup is how many requests share a write to the disk.
const mostGroup = 64

// take does a task, and those that came meanwhile; what is asked of the disk is done for all of
// them before they are answered.
func (h *hosted) take(t *task) {
	h.group = h.group[:0]
	for t != nil {
		h.do(t)
		h.group = append(h.group, t)
		if t = nil; len(h.group) < mostGroup {
			select {
			case t = <-h.queue: // nil where it is closed, which run sees
			default:
			}
		}
	}
	if h.journal != nil && h.o.Sync == SyncAlways {
		if err := h.journal.sync(); err != nil {
			h.fails(err)
			for _, t := range h.group {
				t.bad = unavailable("%v", err)
			}
		}
	}
	for i, t := range h.group {
		t.done <- struct{}{}
		h.group[i] = nil
	}
	h.idle()
}

// fails ends the learning: what was accepted and answered is in the log, and nothing else.
func (h *hosted) fails(err error) {
	if err == nil || h.fault.Load() != nil {
		return
	}
	text := err.Error()
	h.fault.Store(&text)
	h.log.Error("nothing is learned any more", "error", text)
	if h.stack != nil {
		h.log.Error("the panic was here", "stack", string(h.stack))
		h.stack = nil
	}
}

func (h *hosted) do(t *task) {
	switch t.kind {
	case taskSave:
		if t.presented = h.m.Presented(); !h.save() {
			t.bad = refuse(500, "not_saved", 0, "", "%v", h.failed)
		}
		return
	case taskReload:
		h.safely(func() {
			if err := h.reload(); err != nil {
				t.bad = refuse(500, "not_loaded", 0, "", "%v", err)
			}
		})
		return
	}
	t.bad = unavailable("nothing is learned any more: learning panicked")
	h.safely(func() { t.learned, t.mistakes, t.bad = h.learn(t) })
	t.presented = h.m.Presented()
	if t.bad != nil {
		return
	}
	h.examples.Store(t.presented)
	h.count.learned.Add(t.learned)
	h.count.mistakes.Add(t.mistakes)
	h.count.mu.Lock()
	h.count.curve.add(t.learned, t.mistakes)
	h.count.mu.Unlock()
	if t.presented-h.now.Load().number >= uint64(h.o.PublishEvery) {
		h.safely(h.publish)
	}
}

// learn writes a request down and learns it. What is refused leaves the model and the log as they
// were. A request that spoils the model is taken out of the log again: so the log has what was
// answered, and all of that can be learned again.
func (h *hosted) learn(t *task) (learned, mistakes int64, bad *Error) {
	if f := h.fault.Load(); f != nil {
		return 0, 0, unavailable("nothing is learned any more: %s", *f)
	}
	d, x := t.d, t.x
	if d.shape != h.shape {
		return 0, 0, unavailable("the model was replaced meanwhile")
	}
	h.spell(x)
	if h.journal != nil {
		d.record = x.encode(append(d.record[:0], counted(h.m.Presented())...), 0, x.n)
	}
	if bad = h.fit(d, x); bad != nil {
		return 0, 0, bad
	}
	begin := int64(0)
	if h.journal != nil {
		begin = h.journal.bytes
		if err := h.journal.frame(frameLearn, d.record); err != nil {
			h.fails(err)
			return 0, 0, unavailable("%v", err)
		}
	}
	learned, mistakes, err := h.apply(d.fresh, x)
	if err != nil {
		if h.journal != nil {
			h.fails(h.journal.cut(begin))
		}
		if errors.Is(err, errSpoilt) {
			h.fails(err)
			bad = unavailable("the model can't learn this request, nor any more: %v", err)
		} else {
			bad = unfit(0, "", "%v", err)
		}
	}
	if h.journal != nil {
		h.logBytes.Store(h.journal.bytes)
	}
	return learned, mistakes, bad
}

// mostRecord is how many bytes of a request the log takes. A frame may have more.
const mostRecord = 1 << 28

// fit refuses a request that the model can't learn whole, before anything is written down.
func (h *hosted) fit(d *decoder, x *examples) *Error {
	if len(d.record) > mostRecord {
		return refuse(http.StatusRequestEntityTooLarge, "too_large", 0,
			"Send the rows in several requests.", "%d bytes at once, and the log takes %d",
			len(d.record), mostRecord)
	}
	if x.weights != nil && !h.config.Traits().Weights {
		return unfit(0, "Send rows without weights.", "%s learns with no weights",
			h.now.Load().about.Learner)
	}
	if bad := x.lengths(&h.file.Prep); bad != nil {
		return bad
	}
	if _, bad := d.resolve(x, h.names, h.m.Features(), h.next, h.o.MaxFeatures, true); bad != nil {
		return bad
	}
	if bad := nameless(d.fresh); bad != nil {
		return bad
	}
	classes, bad := h.labels(x)
	if bad != nil {
		return bad
	}
	now, features := h.m.Features(), max(x.dim, h.next+len(d.fresh))
	had := len(h.m.Classes())
	least := h.memory(features, classes, 1)
	if h.memory(features, classes, learner.Any) > max(least, h.o.MaxMemory) {
		// It keeps examples: with those of the request they are there twice, in tables that move
		// or in the copy that predicts.
		if need := 2 * (h.m.Bytes() + int64(len(x.idx))*16); need > h.o.MaxMemory {
			return unfit(0, "Raise the server's bound on memory, or train a model with a budget.",
				"with the examples that it keeps the model needs up to %d MiB, and may take %d",
				need>>20, h.o.MaxMemory>>20)
		}
	}
	if features <= now && classes <= had {
		return nil
	}
	if least > h.o.MaxMemory {
		return unfit(0, "Raise the server's bound on memory.", "%d features and %d classes need "+
			"up to %d MiB, and the model may take %d", features, classes, least>>20,
			h.o.MaxMemory>>20)
	}
	return nil
}

// nameless refuses features that have no name.
func nameless(fresh []string) *Error {
	for _, name := range fresh {
		if name == "" {
			return unfit(0, "Give the feature a name.", "a feature has the name \"\"")
		}
	}
	return nil
}

// spell writes the labels that are numbers where they come from as the model does, which finds them
// by their value. From then on labels are texts, in the log, too.
func (h *hosted) spell(x *examples) {
	names := h.m.Classes()
	for i, label := range x.labels {
		switch k := format.FindLabel(names, label, !x.numbers[i]); {
		case k >= 0:
			x.labels[i] = names[k]
		case label != "":
			names = append(names, label)
		}
	}
	x.texts = true
}

// labels refuses what no label can be, and returns how many classes there are with the new ones.
func (h *hosted) labels(x *examples) (classes int, bad *Error) {
	classes = len(h.m.Classes())
	for i, label := range x.labels {
		if label == "" || slices.Index(x.labels, label) < i {
			continue
		}
		known, err := h.m.Knows(label, true)
		if err != nil {
			row := 0
			for k, c := range x.code {
				if int(c) == i {
					row = k + 1
					break
				}
			}
			return 0, unfit(row, "The model's description names them.", "row %d: %v", row, err)
		}
		if !known {
			classes++
		}
	}
	if classes > h.o.MaxClasses && classes > len(h.m.Classes()) {
		return 0, unfit(0, "Raise the server's bound on classes.",
			"%d classes with those of the request, and the model may have %d", classes,
			h.o.MaxClasses)
	}
	return classes, nil
}

// save writes the model's file, and where that stands in the log before it.
func (h *hosted) save() bool {
	h.checkedAt = time.Now()
	err := errors.New("it panicked")
	h.safely(func() { err = h.saveTo() })
	if h.failed = err; err != nil {
		text := err.Error()
		if last := h.unsaved.Swap(&text); last == nil || *last != text {
			h.log.Error("not saved", "file", h.disk.path, "error", text)
		}
		return false
	}
	h.unsaved.Store(nil)
	h.saved.Store(h.m.Presented())
	h.log.Info("saved", "file", h.disk.path, "examples", h.m.Presented(), "seconds",
		time.Since(h.checkedAt).Seconds())
	return true
}

func (h *hosted) saveTo() error {
	if f := h.fault.Load(); f != nil {
		return fmt.Errorf("%s: %w", *f, ErrLog)
	}
	err := h.disk.write(h.m.Encode, func(sum [sha256.Size]byte) error {
		if h.journal == nil {
			return nil
		}
		err := h.journal.frame(frameCheckpoint, counted(h.m.Presented()), sum[:])
		if err == nil {
			err = h.journal.sync() // or a power cut could leave the file and not its place
		}
		if err != nil {
			h.fails(err)
		}
		h.logBytes.Store(h.journal.bytes)
		return err
	})
	if errors.Is(err, errForeign) {
		h.log.Warn("another file has the model's name, and stays; what was learned is saved "+
			"beside it", "file", h.disk.path, "saved", h.disk.aside())
		h.disk.unlock()
		h.disk = &modelFile{path: h.disk.aside()}
		return h.saveTo()
	}
	if errors.Is(err, model.ErrNotFinite) || errors.Is(err, model.ErrInvalid) {
		h.fails(err) // and so it would be with all that is learned from now on
	}
	return err
}

// reload takes the file that has the model's name, if that is another one than was read or written
// last, or if learning has ended; what was learned until then is saved beside it.
func (h *hosted) reload() error {
	foreign, err := h.disk.foreign(h.at.Path)
	faulty := h.fault.Load() != nil
	if err != nil || !foreign && !faulty {
		return err
	}
	if foreign { // looked at before anything is given up
		data, err := os.ReadFile(h.at.Path)
		if err == nil {
			_, err = newTaught(h.at.Path, data)
		}
		if err != nil {
			return err
		}
		if !faulty && h.m.Presented() != h.saved.Load() && !h.save() {
			return h.failed
		}
	}
	h.disk.unlock()
	if h.journal != nil {
		err = h.journal.close()
		if foreign && err == nil || faulty {
			err = nil
		}
		if foreign && err == nil {
			err = setAside(h.at.Log)
		}
	}
	if err == nil {
		err = h.load()
	}
	if err != nil {
		h.fails(err)
		return err
	}
	h.fault.Store(nil)
	h.unsaved.Store(nil)
	h.waits.Lock()
	h.rows = waiting.New[[]byte](max(h.o.WaitRows, 0), h.o.WaitBytes)
	h.waits.Unlock()
	h.publish()
	h.log.Info("loaded", "file", h.at.Path, "examples", h.m.Presented())
	return nil
}

// finish is the end of learning.
func (h *hosted) finish() {
	if h.fault.Load() == nil {
		if h.m.Presented() != h.now.Load().number {
			h.safely(h.publish)
		}
		if h.m.Presented() != h.saved.Load() {
			h.save()
		}
	}
	if f := h.fault.Load(); f != nil && h.failed == nil {
		h.failed = fmt.Errorf("%s: nothing was learned any more: %s", h.at.Name, *f)
	}
	h.disk.unlock()
	if h.journal == nil {
		return
	}
	if err := h.journal.close(); err != nil && h.failed == nil {
		h.failed = err
	}
}

// stop learns what was accepted, saves and returns when that is done.
func (h *hosted) stop(ctx context.Context) error {
	h.gate.Lock()
	if !h.closed {
		h.closed = true
		close(h.queue)
	}
	h.gate.Unlock()
	select {
	case <-h.ended:
		return h.failed
	case <-ctx.Done():
		return fmt.Errorf("%s: not all was learned and saved: %w", h.at.Name, context.Cause(ctx))
	}
}
