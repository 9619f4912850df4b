package serve

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	"github.com/halfspace-ml/halfspace/internal/frames"
	"github.com/halfspace-ml/halfspace/internal/waiting"
	"github.com/halfspace-ml/halfspace/model"
)

// hosted is a model that is served.
type hosted struct {
	o     *Options
	at    Model
	shape *shape
	log   *slog.Logger
	about Stats // what never changes

	now      atomic.Pointer[published]
	decoders sync.Pool // of *decoder
	count    counters
	fault    atomic.Pointer[string] // why nothing is learned any more; nil: it is
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
	m     *halfspace.Model
	names *dictionary
	next  int // feature of the next new name

	journal     *logWriter // nil: none
	publishedAt time.Time
	publishing  time.Duration // how long the last time took
	checkedAt   time.Time
	syncedAt    time.Time
	group       []*task
	failed      error // of the last save
}

// published is what predicts. It never changes.
type published struct {
	*halfspace.Snapshot
	number  uint64 // of examples behind it
	at      time.Time
	names   *dictionary
	dim     int
	outputs int
	proba   bool
	labels  []string
}

// task is something for the goroutine that learns.
type task struct {
	d    *decoder
	x    *examples
	save bool
	done chan struct{}

	learned, mistakes int64
	presented         uint64
	bad               *Error
}

// newTaught makes what learns of the bytes of a model file.
func newTaught(name string, data []byte) (*taught, *shape, *model.Model, error) {
	file, err := model.Decode(data)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w: %w", name, err, ErrModel)
	}
	s, err := newShape(file)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w: %w", name, err, ErrModel)
	}
	m, err := halfspace.Decode(data)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w: %w", name, err, ErrModel)
	}
	file.State.Tensors = nil
	t := &taught{m: m, names: newDictionary(s.Names()),
		next: file.Prep.Numbers() + len(file.Prep.Names)}
	return t, s, file, nil
}

// open reads a model and its log, and begins to learn.
func open(o *Options, at Model) (*hosted, error) {
	data, err := os.ReadFile(at.Path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrModel)
	}
	t, s, file, err := newTaught(at.Path, data)
	if err != nil {
		return nil, err
	}
	h := &hosted{o: o, at: at, shape: s, log: o.Logger.With("model", at.Name), taught: *t,
		queue: make(chan *task, o.Queue), ended: make(chan struct{}),
		rows: waiting.New[[]byte](max(o.WaitRows, 0), o.WaitBytes)}
	h.about = Stats{Name: at.Name, Precision: file.Precision, QueueMost: o.Queue,
		Learns: !o.ReadOnly && file.Learnable() == nil}
	name, settings := h.m.Learner()
	h.about.Learner, h.about.Settings = name, json.RawMessage(settings)
	if names := s.Names(); s.Lead > 0 && s.Lead <= len(names) {
		h.about.Columns = names[:s.Lead]
	}
	h.saved.Store(h.m.Presented())
	if at.Log != "" {
		if !h.about.Learns {
			return nil, fmt.Errorf("%s: a log, but the model can only predict: %w", at.Log,
				ErrModel)
		}
		if err := h.recover(data); err != nil {
			return nil, err
		}
	}
	h.checkedAt, h.syncedAt = time.Now(), time.Now()
	h.publish()
	go h.run()
	return h, nil
}

// recover opens the log, and learns what it has behind the model.
func (h *hosted) recover(data []byte) (err error) {
	f, err := os.OpenFile(h.at.Log, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		name, _ := h.m.Learner()
		h.journal, err = createLog(h.at.Log, logHeader{Model: h.at.Name, Learner: name,
			SHA256: sumOf(data), Bytes: int64(len(data)), Presented: h.m.Presented()}, data)
		if err == nil {
			h.logBytes.Store(h.journal.bytes)
			h.log.Info("log begun", "log", h.at.Log, "examples", h.m.Presented())
		}
		return err
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if !atomicfile.TryLock(f) {
		return fmt.Errorf("%s: another server writes it: %w", h.at.Log, ErrLog)
	}
	l, err := openLog(f, h.at.Log)
	if err != nil {
		return err
	}
	r, err := h.replay(context.Background(), l, h.shape, sumOf(data), h.at.Path)
	if err != nil {
		return err
	}
	if r.Torn > 0 {
		h.log.Warn("the log ended in the middle of a request that was never answered; cut off",
			"log", h.at.Log, "bytes", r.Torn)
	}
	h.log.Info("log read", "log", h.at.Log, "examples", h.m.Presented(), "learned", r.Learned)
	h.journal, err = appendLog(f, h.at.Log, l.at())
	if err == nil {
		h.logBytes.Store(h.journal.bytes)
	}
	return err
}

// Replayed is what Replay has read.
type Replayed struct {
	Model    string // the name under which it was served
	Requests int64  // that were learned
	Learned  int64  // examples of those
	Mistakes int64
	Torn     int64 // bytes at the end that are no whole request
}

// Replay rebuilds the model that a server with a log had at its end, to the byte: of the model with
// which the log begins, or, where start is not nil, of the bytes of that model or of one that was
// saved as the log went on. Errors are of kind ErrLog or ErrModel, or ctx's. Cost: learning.
func Replay(ctx context.Context, path string, start []byte) (*halfspace.Model, Replayed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Replayed{}, fmt.Errorf("%w: %w", err, ErrLog)
	}
	defer f.Close()
	l, err := openLog(f, path)
	if err != nil {
		return nil, Replayed{}, err
	}
	if start == nil {
		start = l.model
	}
	t, s, _, err := newTaught(path, start)
	if err != nil {
		return nil, Replayed{}, err
	}
	r, err := t.replay(ctx, l, s, sumOf(start), "the model")
	return t.m, r, err
}

// replay learns what stands in a log behind the model of that sum.
func (t *taught) replay(ctx context.Context, l *logReader, s *shape, sum, name string) (r Replayed,
	err error) {
	r.Model = l.header.Model
	d := &decoder{shape: s, replays: true}
	behind := l.header.SHA256 == sum
	l.model = nil
	for ctx.Err() == nil {
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
			n, mistakes, bad := t.replayed(d, x)
			if bad != nil {
				return r, l.damaged("%v", bad)
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

// replayed learns examples of a log, as they were learned then.
func (t *taught) replayed(d *decoder, x *examples) (learned, mistakes int64, bad *Error) {
	const any = 1<<31 - 2 // what was too large then is not in the log
	_, bad = d.resolve(x, t.names, t.m.Features(), t.next, any, true)
	if bad == nil {
		bad = t.grow(d.fresh)
	}
	if bad != nil {
		return 0, 0, bad
	}
	learned, mistakes, _ = t.teach(x) // an example that was refused then is refused now
	return learned, mistakes, nil
}

// grow makes features of names.
func (t *taught) grow(fresh []string) *Error {
	if len(fresh) == 0 {
		return nil
	}
	if err := t.m.AddFeatures(fresh...); err != nil {
		return unfit(0, "", "%v", err)
	}
	for _, name := range fresh {
		t.names.add(name, int32(t.next))
		t.next++
	}
	return nil
}

// teach learns examples that resolve has taken.
func (t *taught) teach(x *examples) (learned, mistakes int64, err error) {
	before := t.m.Presented()
	rows := x.rows(true)
	mistakes, err = t.m.LearnRows(context.Background(), &rows)
	return int64(t.m.Presented() - before), mistakes, err
}

// publish makes what was learned what predicts.
func (h *hosted) publish() {
	begin := time.Now()
	s := h.m.Snapshot()
	p := &published{Snapshot: s, number: h.m.Presented(), at: time.Now(),
		names: h.names.publish(), dim: s.Features(), outputs: s.Outputs(), labels: s.Classes()}
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
	if f := h.fault.Load(); f != nil {
		return unavailable("nothing is learned any more: %s", *f)
	}
	select {
	case h.queue <- t:
		return nil
	default:
		return tooMany("queue_full", "Try again in a second, or send several rows in a request.",
			"%d requests wait to be learned, as many as may", cap(h.queue))
	}
}

// run learns until the queue is closed and empty. Its samples in profiles say of which model.
func (h *hosted) run() {
	defer close(h.ended)
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("model", h.at.Name,
		"learner", h.about.Learner, "stage", "learn")))
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
	n := h.m.Presented()
	if n != h.now.Load().number {
		sooner(h.publishedAt.Add(h.publishAfter()))
	}
	if h.o.CheckpointAfter > 0 && n != h.saved.Load() {
		sooner(h.checkedAt.Add(max(h.o.CheckpointAfter, h.patience())))
	}
	if h.journal != nil && h.journal.dirty && h.o.Sync == SyncInterval {
		sooner(h.syncedAt.Add(syncAfter))
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
	if h.m.Presented() != h.now.Load().number && now.Sub(h.publishedAt) >= h.publishAfter() {
		h.publish()
	}
	if h.journal != nil && h.o.Sync == SyncInterval && now.Sub(h.syncedAt) >= syncAfter {
		h.syncedAt = now
		h.fails(h.journal.sync())
	}
	since := h.m.Presented() - h.saved.Load()
	if now.Sub(h.checkedAt) < h.patience() {
		return
	}
	if h.o.CheckpointExamples > 0 && since >= uint64(h.o.CheckpointExamples) ||
		h.o.CheckpointAfter > 0 && since > 0 && now.Sub(h.checkedAt) >= h.o.CheckpointAfter {
		h.save()
	}
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

// fails ends the learning where the log can't be written.
func (h *hosted) fails(err error) {
	if err == nil || h.fault.Load() != nil {
		return
	}
	text := err.Error()
	h.fault.Store(&text)
	h.log.Error("nothing is learned any more", "error", text)
}

func (h *hosted) do(t *task) {
	if t.save {
		if t.presented = h.m.Presented(); !h.save() {
			t.bad = refuse(500, "not_saved", 0, "", "%v", h.failed)
		}
		return
	}
	t.learned, t.mistakes, t.bad = h.learn(t)
	t.presented = h.m.Presented()
	if t.learned > 0 {
		h.examples.Store(t.presented)
		h.count.learned.Add(t.learned)
		h.count.mistakes.Add(t.mistakes)
		h.count.mu.Lock()
		h.count.curve.add(t.learned, t.mistakes)
		h.count.mu.Unlock()
	}
	if t.presented-h.now.Load().number >= uint64(h.o.PublishEvery) {
		h.publish()
	}
}

// learn writes a request down and learns it.
func (h *hosted) learn(t *task) (learned, mistakes int64, bad *Error) {
	if f := h.fault.Load(); f != nil {
		return 0, 0, unavailable("nothing is learned any more: %s", *f)
	}
	d, x := t.d, t.x
	if h.journal != nil {
		d.record = x.encode(append(d.record[:0], counted(h.m.Presented())...), 0, x.n)
	}
	if _, bad = d.resolve(x, h.names, h.m.Features(), h.next, h.o.MaxFeatures, true); bad != nil {
		return 0, 0, bad
	}
	if bad = h.labels(x); bad != nil {
		return 0, 0, bad
	}
	if h.journal != nil {
		if err := h.journal.frame(frameLearn, d.record); err != nil {
			h.fails(err)
			return 0, 0, unavailable("%v", err)
		}
		h.logBytes.Store(h.journal.bytes)
	}
	if bad = h.grow(d.fresh); bad != nil {
		return 0, 0, bad
	}
	learned, mistakes, err := h.teach(x)
	if err != nil {
		bad = unfit(0, fmt.Sprintf("The %d rows before it are learned.", learned), "%v", err)
	}
	return learned, mistakes, bad
}

// labels refuses what no label can be.
func (h *hosted) labels(x *examples) *Error {
	classes := len(h.m.Classes())
	for i, label := range x.labels {
		if label == "" {
			continue
		}
		known, err := h.m.Knows(label)
		if err != nil {
			row := 0
			for k, c := range x.code {
				if int(c) == i {
					row = k + 1
					break
				}
			}
			return unfit(row, "The model's description names them.", "row %d: %v", row, err)
		}
		if !known {
			classes++
		}
	}
	if classes > h.o.MaxClasses && classes > len(h.m.Classes()) {
		return unfit(0, "Raise the server's bound on classes.",
			"%d classes with those of the request, and the model may have %d", classes,
			h.o.MaxClasses)
	}
	return nil
}

// save writes the model's file, and where that stands in the log before it.
func (h *hosted) save() bool {
	h.checkedAt = time.Now()
	err := h.saveTo()
	if h.failed = err; err != nil {
		h.log.Error("not saved", "file", h.at.Path, "error", err.Error())
		return false
	}
	h.saved.Store(h.m.Presented())
	h.log.Info("saved", "file", h.at.Path, "examples", h.m.Presented(), "seconds",
		time.Since(h.checkedAt).Seconds())
	return true
}

func (h *hosted) saveTo() error {
	if f := h.fault.Load(); f != nil {
		return fmt.Errorf("%s: %w", *f, ErrLog)
	}
	data, err := encodeModel(h.m)
	if err != nil {
		return err
	}
	if h.journal != nil {
		sum, err := hex.DecodeString(sumOf(data))
		if err == nil {
			err = h.journal.frame(frameCheckpoint, counted(h.m.Presented()), sum)
		}
		if err == nil {
			err = h.journal.sync() // or a power cut could leave the file and not its place
		}
		if err != nil {
			h.fails(err)
			return err
		}
		h.logBytes.Store(h.journal.bytes)
	}
	f, err := atomicfile.Create(h.at.Path, 0o666)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// finish is the end of learning.
func (h *hosted) finish() {
	if h.m.Presented() != h.now.Load().number {
		h.publish()
	}
	if h.m.Presented() != h.saved.Load() {
		h.save()
	}
	if h.journal == nil {
		return
	}
	err := h.journal.sync()
	if e := h.journal.f.Close(); err == nil {
		err = e
	}
	if err != nil && h.failed == nil {
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
