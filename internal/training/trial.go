package training

import (
	"context"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Trial is a run of a Job over examples that its caller has read: one of several that learn the
// same data. It makes the same learner as Run.
type Trial[T engine.Float] struct {
	Learner learner.Learner[T]
	run     run[T]
}

// TrialData are the examples of a Trial. Either Source or Data is set.
type TrialData[T engine.Float] struct {
	Source eval.Source[T]      // a stream, each block of which the caller shows to Admit
	Data   *dataset.Data[T]    // all of them
	Info   func() dataset.Info // what is known of them by now
	Rows   *engine.SharedRows  // kernel rows of Data; nil: the learner computes its own
}

// NewTrial resolves the settings of j on the examples and makes the learner. Errors are those of
// Run before it learns.
func NewTrial[T engine.Float](j *Job, d TrialData[T]) (*Trial[T], error) {
	t := &Trial[T]{run: run[T]{j: j, info: d.Info, in: d.Source, inMemory: d.Data != nil}}
	r := &t.run
	var err error
	if r.room, err = newRoom[T](j, r.inMemory); err != nil {
		return nil, err
	}
	if err := r.takeClasses(d.Info()); err != nil {
		return nil, err
	}
	if d.Data != nil {
		mem := memoryOf(d.Data)
		r.in, r.facts = mem, factsOf(j, d.Data, mem)
	}
	if err := r.resolve(0); err != nil {
		return nil, err
	}
	r.l, err = learner.New[T](j.entry, j.config,
		learner.Env{Seed: j.seed, Kept: r.room.kept, Rows: d.Rows})
	t.Learner = r.l
	return t, err
}

// Admit checks that the learner has memory for the next block of a stream.
func (t *Trial[T]) Admit(b *engine.Block[T]) error {
	if t.run.inMemory {
		return nil
	}
	return t.run.room.admit(b)
}

// Learn teaches the learner all examples as Run does. An error of kind ErrDiverged comes with the
// counts.
func (t *Trial[T]) Learn(ctx context.Context) (eval.Result, error) {
	t.run.work = ctx
	res, err := t.run.learn()
	if err == nil {
		err = t.run.diverged(res)
	}
	return res, err
}

// Predictor is what was learned, with the probabilities that Learn found.
func (t *Trial[T]) Predictor(res eval.Result) learner.Predictor[T] {
	return calibrated(t.Learner, res.Calibration)
}

// Diverged is the error of a learner whose state can't be saved, since it is not finite.
func (t *Trial[T]) Diverged() error {
	if err := model.Diverged(t.run.j.name, t.Learner); err != nil {
		return wrapped(ErrDiverged, err)
	}
	return nil
}

// Save writes the model of what was learned, with the counts of res.
func (t *Trial[T]) Save(path string, res eval.Result) (*Saved, error) {
	j := t.run.j
	j.o.Model = path
	defer func() { j.o.Model = "" }()
	err := save(j, t.Learner, t.run.info(), res)
	return j.saved, err
}

// NewJobs is New of each Options, which name the same files: what New needs to know of these is
// read once. Env.Observer hears of bad rows and odd data, once.
func NewJobs(list []Options, env Env) (jobs []*Job, err error) {
	heard := dataObserver{Observer: env.observer()}
	env.few = &fewness{}
	for i, o := range list {
		if env.Observer, env.Logger = nil, nil; i == 0 {
			env.Observer = heard
		}
		j, err := New(o, env)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// dataObserver passes on what is about the data alone.
type dataObserver struct {
	Silent
	Observer Observer
}

func (h dataObserver) BadRow(err error) { h.Observer.BadRow(err) }
func (h dataObserver) Odd(what string)  { h.Observer.Odd(what) }

// Clone returns a copy for another Trial: each gives settings values that depend on its data.
func (j *Job) Clone() *Job {
	c := *j
	return &c
}

// Reading are the options by which the run reads and prepares examples.
func (j *Job) Reading() dataset.Options { return j.data }

// OnePass reports whether the run can learn from one pass over a stream.
func (j *Job) OnePass() bool { return !j.o.needsWhole(j.traits) && !j.o.UntilConverged }

// LacksProba is the error of a learner without probabilities, which what needs; nil if it has some.
func (j *Job) LacksProba(what, next string) error {
	if j.traits.Proba {
		return nil
	}
	return badOption(next+" Learners that have probabilities: "+
		those(func(t learner.Traits) bool { return t.Proba })+".",
		what+" is of probabilities, and %s has none", describe(j.name, j.config))
}

// LoadAll is dataset.Load that ends when ctx does, even while a read is blocked.
func LoadAll[T engine.Float](ctx context.Context, files []string,
	o dataset.Options) (*dataset.Data[T], error) {
	return await(ctx, func() (*dataset.Data[T], error) { return dataset.Load[T](ctx, files, o) })
}
