// Package shard learns one ensemble in parts, which never meet: on as many machines as there are,
// each over all examples, in files of their own. Joined they are what one machine would have
// learned, to the bit: the members' weights, the average that predicts, and the progressive error.
//
//	for k := range 4 { // anywhere, in any order
//		o := o
//		o.Shard, o.Model = fmt.Sprintf("%d/4", k+1), fmt.Sprintf("%d.model", k)
//		_, err := shard.Train(ctx, o, training.Env{}, fmt.Sprintf("%d.trace", k))
//	}
//	_, err := shard.Join(ctx, shard.Parts{Models: models, Traces: traces, Files: o.Files,
//		Model: "all.model"}, training.Env{})
//
// What a member sees and learns depends on no other member, so a part learns what these members
// learn in the whole. What the whole predicts depends on all: a part writes down, for each example,
// what the others need of it (its trace: of perceptrons how many updated, a byte or less), and Join
// goes through the examples once more with all traces, without the members.
//
// Cost of Join: that of reading, and of one perceptron, for each pass that was learned. Memory: the
// whole ensemble twice, and half a MiB a trace.
package shard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// ErrForeign is returned for models and traces that are not of one run's parts.
var ErrForeign = errors.New("not a part of the same run")

// Job is the run of a part that can begin.
type Job struct {
	*training.Job
	writer *writer
}

// New is training.New of a part, o.Shard, whose trace goes to a file of that name. While it is not
// whole the file has ".open" behind its name. With o.Resume the run goes on where its model was
// saved last, and its trace, too; of a part that is whole the error is training.ErrFinished, and
// its trace is whole then. Errors are those of training.New, of files, and ErrTraceFile; they wrap
// learner.ErrConfig where o is of no part. A Job that doesn't Run is to be closed.
func New(o training.Options, env training.Env, trace string) (*Job, error) {
	if o.Model == "" || trace == "" {
		return nil, fmt.Errorf("shard: a part needs files for its model and its trace: %w",
			learner.ErrConfig)
	}
	t := &eval.Trace{}
	env.Trace = t
	job, err := training.New(o, env)
	if o.Resume && errors.Is(err, training.ErrFinished) {
		if err := finishTrace(o.Model, trace); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if job.Config().Traits().Part == nil {
		return nil, fmt.Errorf("shard: %s learns the whole: it has no trace: %w", job.Learner(),
			learner.ErrConfig)
	}
	var w *writer
	if n := job.Behind(); n > 0 {
		w, err = reopen(trace, n)
	} else {
		var h Header
		if h, err = header(job); err == nil {
			w, err = create(trace, h)
		}
	}
	if err != nil {
		return nil, err
	}
	t.Examples, t.Sum = w.examples, w.sum
	t.Write = func(entries []byte) error { return w.write(entries, t.Examples, t.Sum) }
	t.Flush = w.sync
	return &Job{Job: job, writer: w}, nil
}

// Run is training.Job.Run. The trace gets its name when the run has come to its end.
func (j *Job) Run(ctx context.Context) (*training.Result, error) {
	res, err := j.Job.Run(ctx)
	if err != nil {
		j.Close()
		return res, err
	}
	return res, j.writer.finish(res.Saved.SHA256)
}

// Close leaves the trace as it is.
func (j *Job) Close() error { return j.writer.close() }

// Train is New and Run. Of a part that is whole, with o.Resume, the Result is nil.
func Train(ctx context.Context, o training.Options, env training.Env, trace string) (
	*training.Result, error) {
	j, err := New(o, env, trace)
	if errors.Is(err, training.ErrFinished) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return j.Run(ctx)
}

// header is that of the job's trace.
func header(j *training.Job) (h Header, err error) {
	o := j.Options()
	h = Header{Learner: j.Learner(), Precision: j.Precision(), Seed: j.Seed(),
		Part: *j.Config().Traits().Part, Options: o.Kept()}
	h.Options.Shard, h.Options.ShardBy, h.Options.CheckpointEvery = "", "", ""
	h.Config, err = json.Marshal(j.Config())
	return h, err
}

// finishTrace gives the trace of a model that is whole its name, if a run was killed before it did.
func finishTrace(name, trace string) error {
	if _, err := os.Stat(trace); err == nil {
		return nil
	}
	m, err := model.Load(name)
	if err != nil {
		return err
	}
	sum, err := sumOf(name)
	if err != nil {
		return err
	}
	w, err := reopen(trace, int64(m.Presented))
	if err != nil {
		return err
	}
	return w.finish(sum)
}

// sumOf returns the SHA-256 of a file in hexadecimal.
func sumOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Parts are what Join makes one of.
type Parts struct {
	Models []string // files, of all parts, in any order
	Traces []string // files, one a model, in any order
	Files  []string // the examples that all parts have learned
	Model  string   // the file to be written; "" is none
	// Threads and MemBudget are those of training.Options.
	Threads   int
	MemBudget training.Bytes
}

// Join is the run of the whole that parts have learned: its Result, model and errors are those of
// training.Run with the same Options, to the bit. Errors wrap learner.ErrParts where one is missing
// or comes twice, ErrForeign where one is of another run, ErrTraceFile and learner.ErrTrace where a
// trace is not whole, or not of these examples; nothing is written then.
func Join(ctx context.Context, p Parts, env training.Env) (*training.Result, error) {
	j, err := open(p)
	if err != nil {
		return nil, err
	}
	defer j.close()
	env.Join = &j.join
	res, err := training.Run(ctx, j.options, env)
	if errors.Is(err, learner.ErrTrace) && !errors.Is(err, ErrTraceFile) {
		err = fmt.Errorf("%s: %w", strings.Join(p.Files, ", "), err)
	}
	return res, err
}

// joining is what Join has read.
type joining struct {
	options training.Options
	join    training.Join
	files   []*os.File
}

func (j *joining) close() {
	for _, f := range j.files {
		f.Close()
	}
}

// open reads models and traces.
func open(p Parts) (_ *joining, err error) {
	j := &joining{}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	if len(p.Models) == 0 || len(p.Models) != len(p.Traces) {
		return nil, fmt.Errorf("shard: %d models and %d traces, want as many: %w", len(p.Models),
			len(p.Traces), learner.ErrParts)
	}
	readers := make([]*reader, len(p.Traces))
	for i, name := range p.Traces {
		if readers[i], err = j.openTrace(name); err != nil {
			return nil, err
		}
		if err := readers[i].sameRun(readers[0]); err != nil {
			return nil, err
		}
	}
	for _, name := range p.Models {
		if err := j.take(name, readers); err != nil {
			return nil, err
		}
	}
	h := &readers[0].header
	whole, err := wholeOf(h)
	if err != nil {
		return nil, err
	}
	j.options = h.Options
	j.options.Learner, j.options.Config, j.options.Literal = h.Learner, whole, true
	j.options.Precision, j.options.Seed = h.Precision, &h.Seed
	j.options.Files, j.options.Model = p.Files, p.Model
	j.options.Threads, j.options.MemBudget = p.Threads, p.MemBudget
	return j, nil
}

// openTrace opens a trace and goes through it once, so that what is damaged or not whole is found
// before anything is learned.
func (j *joining) openTrace(name string) (*reader, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, open := os.Stat(openName(name)); open == nil {
			return nil, fmt.Errorf("%s: its part is not finished, %s is there: %w", name,
				openName(name), ErrTraceFile)
		}
	}
	if err != nil {
		return nil, err
	}
	j.files = append(j.files, f)
	whole, err := newReader(name, f)
	if err != nil {
		return nil, err
	}
	if err := whole.start(); err != nil {
		return nil, err
	}
	for {
		kind, body, err := whole.record()
		if err != nil {
			return nil, err
		}
		if kind == kindEnd {
			whole.model = string(body)
			break
		}
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, err
	}
	r, err := newReader(name, f)
	if err != nil {
		return nil, err
	}
	if err := r.start(); err != nil {
		return nil, err
	}
	r.total, r.model = eval.Trace{Examples: whole.examples, Sum: whole.sum}, whole.model
	return r, nil
}

// sameRun refuses a trace of another run than first's.
func (r *reader) sameRun(first *reader) error {
	a, b := r.header, first.header
	one, err := wholeOf(&a)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	other, err := wholeOf(&b)
	if err != nil {
		return fmt.Errorf("%s: %w", first.name, err)
	}
	differ := func(what string, x, y any) error {
		return fmt.Errorf("%s and %s: %s %v and %v: %w", first.name, r.name, what, y, x, ErrForeign)
	}
	switch {
	case a.Learner != b.Learner:
		return differ("learners", a.Learner, b.Learner)
	case a.Precision != b.Precision:
		return differ("precisions", a.Precision, b.Precision)
	case a.Seed != b.Seed:
		return differ("seeds", a.Seed, b.Seed)
	case !reflect.DeepEqual(asJSON(one), asJSON(other)):
		return differ("settings", onlyIn(one, other), onlyIn(other, one))
	case asJSON(a.Options) != asJSON(b.Options):
		return differ("options", onlyIn(a.Options, b.Options), onlyIn(b.Options, a.Options))
	case r.total.Examples != first.total.Examples:
		return differ("numbers of examples", r.total.Examples, first.total.Examples)
	case r.total.Sum != first.total.Sum:
		return fmt.Errorf("%s and %s: they have learned other examples: %w", first.name, r.name,
			ErrForeign)
	}
	return nil
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// onlyIn are the fields of a struct, in JSON, that the other one has not, or has otherwise.
func onlyIn(v, other any) string {
	var a, b map[string]any
	if json.Unmarshal([]byte(asJSON(v)), &a) != nil ||
		json.Unmarshal([]byte(asJSON(other)), &b) != nil {
		return asJSON(v)
	}
	maps.DeleteFunc(a, func(name string, x any) bool {
		y, is := b[name]
		return is && reflect.DeepEqual(x, y)
	})
	return asJSON(a)
}

// wholeOf returns the settings of the ensemble that the part is of.
func wholeOf(h *Header) (learner.Config, error) {
	e, err := learner.Lookup(h.Learner)
	if err != nil {
		return nil, err
	}
	c := e.Config()
	if err := json.Unmarshal(h.Config, c); err != nil {
		return nil, fmt.Errorf("settings: %w: %w", err, ErrTraceFile)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t := c.Traits()
	if t.Part == nil || *t.Part != h.Part {
		return nil, fmt.Errorf("settings of no part: %w", ErrTraceFile)
	}
	return t.PartOf, nil
}

// take takes a model, with the trace of its part.
func (j *joining) take(name string, readers []*reader) error {
	m, err := model.Load(name)
	if err != nil {
		return err
	}
	_, c, err := m.Settings()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	part := c.Traits().Part
	if part == nil {
		return fmt.Errorf("%s: it is no part of an ensemble: %w", name, learner.ErrParts)
	}
	if m.Position != nil {
		return fmt.Errorf("%s: its run was stopped before its end: %w", name, learner.ErrParts)
	}
	i := slices.IndexFunc(readers, func(r *reader) bool { return r.header.Part == *part })
	if i < 0 {
		return fmt.Errorf("%s: %v have no trace: %w", name, part, learner.ErrParts)
	}
	r := readers[i]
	if r.taken != "" {
		return fmt.Errorf("%s and %s: %v come twice: %w", r.taken, name, part, learner.ErrParts)
	}
	sum, err := sumOf(name)
	if err != nil {
		return err
	}
	if sum != r.model {
		return fmt.Errorf("%s: %s is not the trace of its run: %w", name, r.name, ErrForeign)
	}
	r.taken = name
	j.join.Parts = append(j.join.Parts, *part)
	j.join.States = append(j.join.States, m.State)
	j.join.Traces = append(j.join.Traces, learner.NewTraceReader(r))
	j.join.Trace = r.total
	return nil
}
