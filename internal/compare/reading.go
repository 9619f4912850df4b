package compare

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// entrant is a learner or model that is compared.
type entrant struct {
	job       *training.Job // nil: model
	model     *model.Model  // nil: job
	name      string        // of the learner
	precision string
	data      dataset.Options // how it reads and prepares examples

	worker worker
	count  eval.Count  // of the examples so far
	res    eval.Result // likewise
	err    error       // that ended its learning
}

// worker is an entrant at work, in its precision: it learns the examples, or predicts them.
type worker interface {
	// take learns or scores the examples in hand, and notes what came of it.
	take(e *entrant, r *record)
	info() dataset.Info // what was found in the data
	diverged() error    // why the learner's state can't be saved
	save(path string, res eval.Result) (*training.Saved, error)
}

func entrantsOf(jobs []*training.Job) (all []*entrant) {
	for _, j := range jobs {
		all = append(all, &entrant{job: j, name: j.Learner(), precision: j.Precision(),
			data: j.Reading()})
	}
	return all
}

// broken is why the entrant has nothing to save; nil if it has.
func (e *entrant) broken() error {
	if e.err != nil || e.job == nil {
		return e.err
	}
	return e.worker.diverged()
}

// weights are the options by which the examples are weighed if the entrant is the first.
func (e *entrant) weights() *training.Options {
	if e.job == nil {
		return &training.Options{}
	}
	o := e.job.Options()
	return &o
}

// preparation is a way of preparing examples, for all entrants that ask for it.
type preparation[T engine.Float] struct {
	options dataset.Options
	prep    *dataset.Preparer[T] // nil: blocks are as they were read
	data    *dataset.Data[T]     // all examples; nil of a stream
	mem     *eval.Memory[T]      // over data
	block   *engine.Block[T]     // the next examples
	view    engine.Block[T]      // those of them that are learned now
}

// reader is one pass over the examples of several entrants, of one precision.
type reader interface {
	open(ctx context.Context, files []string, inMemory bool) error
	begin(score string) error         // makes the workers, once the examples are known
	rewind(shuffle bool, seed uint64) // starts the pass
	next() (n int, err error)         // the next examples, which show gives the workers to take
	show(lo, hi int)                  // those from lo to hi of them
	share(examples int64) float64     // of the input that was read; 0: not known
	close()
}

// reading is a reader. The text is parsed once, and prepared once for each way of preparing it.
type reading[T engine.Float] struct {
	entrants []*entrant
	weights  *training.Options // of classes
	preps    []*preparation[T]
	of       []*preparation[T] // of each entrant
	apart    bool              // examples are read unprepared
	raw      eval.Source[T]    // nil: in memory
	found    func() dataset.Info
	total    int64 // examples; 0: not known
	done     func()
}

func newReading[T engine.Float](entrants []*entrant, weights *training.Options) *reading[T] {
	r := &reading[T]{entrants: entrants, weights: weights, done: func() {}}
	preps, of := preparationsOf[T](entrants)
	r.preps, r.apart = preps, len(preps) > 1
	for _, i := range of {
		r.of = append(r.of, preps[i])
	}
	return r
}

// preparationsOf returns the distinct preparations of entrants, and the number of each one's.
func preparationsOf[T engine.Float](entrants []*entrant) (preps []*preparation[T], of []int) {
	for _, e := range entrants {
		o := preparing(&e.data)
		at := slices.IndexFunc(preps, func(p *preparation[T]) bool {
			return reflect.DeepEqual(p.options, o)
		})
		if at < 0 {
			at = len(preps)
			preps = append(preps, &preparation[T]{options: o})
		}
		of = append(of, at)
	}
	return preps, of
}

// preparing are the options of o that prepare examples after they were read.
func preparing(o *dataset.Options) dataset.Options {
	return dataset.Options{Scaling: o.Scaling, Scaled: o.Scaled, Missing: o.Missing, Bias: o.Bias,
		BiasValue: o.BiasValue, Normalize: o.Normalize, Scale: o.Scale}
}

// unprepared are the options that read examples for any preparation. sameReading ignores these.
func unprepared(o dataset.Options) dataset.Options {
	o.Scaling, o.Scaled, o.PrepareByHand = "", nil, true
	o.Bias, o.BiasValue, o.Normalize, o.Scale = "", 0, "", 0
	return o
}

// open opens what the entrants learn, as a stream or in memory.
func (r *reading[T]) open(ctx context.Context, files []string, inMemory bool) error {
	o := r.entrants[0].data
	if r.apart {
		o = unprepared(o)
	}
	if inMemory {
		data, err := training.LoadAll[T](ctx, files, o)
		if err != nil {
			return err
		}
		return r.take(data)
	}
	s, _, done, err := training.Open[T](ctx, files, o)
	if err != nil {
		return err
	}
	r.done = done
	return r.stream(s, s.Info)
}

// take prepares data in memory.
func (r *reading[T]) take(data *dataset.Data[T]) (err error) {
	r.total, r.found = int64(data.Info.Rows), func() dataset.Info { return data.Info }
	if err := training.Weigh(r.weights, data); err != nil {
		return err
	}
	r.settle()
	for _, p := range r.preps {
		p.data = data
		if r.apart {
			if p.data, err = data.Prepared(p.options); err != nil {
				return err
			}
		}
		p.mem = eval.NewMemory(&p.data.Block, p.data.Gather)
	}
	return nil
}

// stream prepares the blocks of src, one after another.
func (r *reading[T]) stream(src eval.Source[T], found func() dataset.Info) (err error) {
	r.found = found
	r.settle()
	for _, p := range r.preps {
		if r.apart {
			if p.prep, err = dataset.NewPreparer[T](p.options, found()); err != nil {
				return err
			}
		}
	}
	r.raw = training.WeighStream[T](r.weights, src, found)
	return nil
}

// give takes examples that were read already, unprepared.
func (r *reading[T]) give(data *dataset.Data[T], inMemory bool) error {
	if r.apart = true; inMemory {
		return r.take(data)
	}
	r.total = int64(data.Info.Rows)
	return r.stream(eval.NewMemory(&data.Block, data.Gather),
		func() dataset.Info { return data.Info })
}

// settle takes from the examples' format what the preparations, and the jobs, left to it.
func (r *reading[T]) settle() {
	info := r.found()
	for _, p := range r.preps {
		p.options = p.options.For(info.Kind)
	}
	for _, e := range r.entrants {
		if e.job != nil {
			e.job.Settle(info)
		}
	}
}

// rewind is reader's, of examples in memory. If an entrant shuffles, their order is that of the
// first pass of a run with that seed.
func (r *reading[T]) rewind(shuffle bool, seed uint64) {
	var order []int32
	if shuffle {
		order = make([]int32, r.total)
		engine.Permute(order, seed, 0)
	}
	for _, p := range r.preps {
		if p.mem != nil {
			p.mem.Rewind(order)
		}
	}
}

// next makes the next block of every preparation, all of the same examples.
func (r *reading[T]) next() (n int, err error) {
	if r.raw == nil {
		for _, p := range r.preps {
			if p.block, err = p.mem.Next(); err != nil {
				return 0, err
			}
		}
		return r.preps[0].block.Len(), nil
	}
	b, err := r.raw.Next()
	if err != nil {
		return 0, err
	}
	for _, p := range r.preps {
		if p.block = b; p.prep != nil {
			p.block = p.prep.Block(b)
		}
	}
	return b.Len(), nil
}

// info is what was found, as the preparation has it.
func (r *reading[T]) info(p *preparation[T]) dataset.Info {
	switch {
	case p.data != nil:
		return p.data.Info
	case p.prep != nil:
		return p.prep.Info(r.found())
	}
	return r.found()
}

func (r *reading[T]) show(lo, hi int) {
	for _, p := range r.preps {
		p.view = p.block.Slice(lo, hi)
	}
}

func (r *reading[T]) close() { r.done() }

func (r *reading[T]) share(examples int64) float64 {
	if r.total > 0 {
		return float64(examples) / float64(r.total)
	}
	if in := r.found(); in.InputSize > 0 {
		return float64(in.InputRead) / float64(in.InputSize)
	}
	return 0
}

func (r *reading[T]) begin(score string) (err error) {
	for k, e := range r.entrants {
		w := &working[T]{in: r, prep: r.of[k]}
		if err := w.begin(e, score); err != nil {
			return err
		}
		e.worker = w
	}
	return nil
}

// working is a worker.
type working[T engine.Float] struct {
	in    *reading[T]
	prep  *preparation[T]
	trial *training.Trial[T]
	model learner.Predictor[T] // predicts and learns nothing; nil: it learns

	score  string            // of losses; "": none
	prober learner.Prober[T] // for the score
	proba  []float64
	rounds []learner.Round
	out    []float64
	one    engine.Block[T]
}

func (w *working[T]) info() dataset.Info { return w.in.info(w.prep) }
func (w *working[T]) diverged() error    { return w.trial.Diverged() }

func (w *working[T]) save(path string, res eval.Result) (*training.Saved, error) {
	return w.trial.Save(path, res)
}

// begin makes what learns or predicts.
func (w *working[T]) begin(e *entrant, score string) (err error) {
	if e.job == nil {
		if w.model, err = model.RestorePredictor[T](e.model, nil); err != nil {
			return training.NewError(training.ErrModel, "", "%w", err)
		}
	} else if w.trial, err = training.NewTrial(e.job, training.TrialData[T]{Source: w.in.raw,
		Data: w.prep.data, Info: w.info}); err != nil {
		return err
	}
	if !isMeanLoss(score) {
		return nil
	}
	if w.score = score; w.model != nil {
		if w.prober = learner.ProbaOf(w.model); w.prober == nil {
			return training.NewError(training.ErrModel, "Train it with {calibrate} platt.",
				"{score} %s is of probabilities, and a model of %s has none", score, e.name)
		}
	} else if w.prober = learner.ProberOf(w.trial.Learner); w.prober == nil {
		return badOption("", "{score} %s is of probabilities, and %s has none", score,
			e.job.Learner())
	}
	return nil
}

func (w *working[T]) take(e *entrant, r *record) {
	b, began := &w.prep.view, time.Now()
	n := b.Len()
	w.rounds = slices.Grow(w.rounds[:0], n)[:n]
	if e.err = w.learnOrScore(b, r); e.err != nil {
		return
	}
	for i, round := range w.rounds {
		y := 1.0 // the score of a class's Round is that of its own class
		if b.Class == nil {
			y = float64(b.Y[i])
		}
		before := e.count.Errors
		e.count.Add(y, round.Score)
		r.add(e.count.Errors > before)
		e.res.Updates += int64(round.Updates)
		if !(y*round.Score > 0) {
			e.res.Mistakes++
		}
	}
	e.res.Presented, e.res.Examples, e.res.Errors = e.count.Examples, e.count.Examples,
		e.count.Errors
	e.res.Learn += time.Since(began)
}

// learnOrScore fills in the rounds: a block is learned one example at a time if the probability of
// each is needed before it is learned.
func (w *working[T]) learnOrScore(b *engine.Block[T], r *record) error {
	if w.model == nil {
		if err := w.trial.Admit(b); err != nil {
			return err
		}
		l := w.trial.Learner
		if w.prober == nil {
			return l.Learn(b, w.rounds)
		}
		for i := range w.rounds {
			w.one = b.Slice(i, i+1)
			if err := w.ask(&w.one, learner.OutputsOf(l), r); err != nil {
				return err
			}
			if err := l.Learn(&w.one, w.rounds[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	k := w.model.Outputs()
	if err := w.ask(b, k, r); err != nil {
		return err
	}
	w.out = slices.Grow(w.out[:0], k*len(w.rounds))[:k*len(w.rounds)]
	if err := w.model.Score(b, w.out); err != nil {
		return err
	}
	for i := range w.rounds {
		w.rounds[i].Updates = 0
		if w.rounds[i].Score = w.out[i*k]; b.Class != nil {
			w.rounds[i].Score = learner.ClassScore(w.out[i*k:][:k], int(b.Class[i]))
		}
	}
	return nil
}

// ask adds the losses of a block, if entrants are judged by these.
func (w *working[T]) ask(b *engine.Block[T], outputs int, r *record) error {
	if w.prober == nil {
		return nil
	}
	n := b.Len() * outputs
	w.proba = slices.Grow(w.proba[:0], n)[:n]
	if err := w.prober.Proba(b, w.proba); err != nil {
		return err
	}
	for i := range b.Len() {
		own := w.proba[i*outputs:][:outputs]
		o := outcomeOf(b, i, own) // its prediction is not looked at
		believe(&o, b, own)
		r.lose(lossOf(w.score, &o))
	}
	return nil
}

// roundedData are examples of float32.
func roundedData(d *dataset.Data[float64]) (*dataset.Data[float32], error) {
	src, r := &d.Block, &dataset.Data[float32]{Info: d.Info}
	r.Block = engine.Block[float32]{Dim: src.Dim, Ptr: src.Ptr, Idx: src.Idx, Stride: src.Stride,
		Class: src.Class, Y: round(src.Y), W: round(src.W), Val: round(src.Val), X: round(src.X)}
	for i := range src.Len() {
		_, val := r.Block.Example(i)
		_, whole := src.Example(i)
		for k, v := range val {
			if v-v != 0 && whole[k]-whole[k] == 0 {
				return nil, badOption("Compare in f64 alone.", "{precision}: example %d has the "+
					"value %v, which is too large for f32", i+1, whole[k])
			}
		}
	}
	return r, nil
}

// round returns the numbers of src; nil if there are none.
func round(src []float64) (dst []float32) {
	for _, v := range src {
		dst = append(dst, float32(v))
	}
	return dst
}
