package compare

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
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
}

func entrantsOf(jobs []*training.Job) (all []*entrant) {
	for _, j := range jobs {
		all = append(all, &entrant{job: j, name: j.Learner(), precision: j.Precision(),
			data: j.Reading()})
	}
	return all
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

// reading is one pass over the examples of several entrants. The text is parsed once, and prepared
// once for each way of preparing it.
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

func newReading[T engine.Float](entrants []*entrant) *reading[T] {
	r := &reading[T]{entrants: entrants, weights: entrants[0].weights(), done: func() {}}
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

// rewind starts the pass over examples in memory. If an entrant shuffles, their order is that of
// the first pass of a run with that seed.
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

// share is how much of the input was read, from 0 to 1; 0 if that isn't known.
func (r *reading[T]) share(examples int64) float64 {
	if r.total > 0 {
		return float64(examples) / float64(r.total)
	}
	if in := r.found(); in.InputSize > 0 {
		return float64(in.InputRead) / float64(in.InputSize)
	}
	return 0
}

// candidate is an entrant at work: it learns the examples, or predicts them.
type candidate[T engine.Float] struct {
	*entrant
	*record
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
	res    eval.Result
	count  eval.Count
	err    error // that ended its learning
}

// info is what was found in the data that the candidate has.
func (c *candidate[T]) info() dataset.Info { return c.in.info(c.prep) }

// begin makes what learns or predicts, once the examples are known.
func (c *candidate[T]) begin(score string) (err error) {
	if c.job == nil {
		if c.model, err = model.RestorePredictor[T](c.entrant.model, nil); err != nil {
			return training.NewError(training.ErrModel, "", "%w", err)
		}
	} else if c.trial, err = training.NewTrial(c.job, training.TrialData[T]{Source: c.in.raw,
		Data: c.prep.data, Info: c.info}); err != nil {
		return err
	}
	if !isMeanLoss(score) {
		return nil
	}
	if c.score = score; c.model != nil {
		if c.prober = learner.ProbaOf(c.model); c.prober == nil {
			return training.NewError(training.ErrModel, "Train it with {calibrate} platt.",
				"{score} %s is of probabilities, and a model of %s has none", score, c.name)
		}
	} else if c.prober = learner.ProberOf(c.trial.Learner); c.prober == nil {
		return badOption("", "{score} %s is of probabilities, and %s has none", score,
			c.job.Learner())
	}
	return nil
}

// take learns the examples of its preparation's view, or scores them.
func (c *candidate[T]) take() {
	b, began := &c.prep.view, time.Now()
	n := b.Len()
	c.rounds = slices.Grow(c.rounds[:0], n)[:n]
	if c.err = c.learnOrScore(b, c.rounds); c.err != nil {
		return
	}
	for i, r := range c.rounds {
		y := 1.0 // the score of a class's Round is that of its own class
		if b.Class == nil {
			y = float64(b.Y[i])
		}
		before := c.count.Errors
		c.count.Add(y, r.Score)
		c.add(c.count.Errors > before)
		c.res.Updates += int64(r.Updates)
		if !(y*r.Score > 0) {
			c.res.Mistakes++
		}
	}
	c.res.Presented, c.res.Examples, c.res.Errors = c.count.Examples, c.count.Examples,
		c.count.Errors
	c.res.Learn += time.Since(began)
}

func (c *candidate[T]) learnOrScore(b *engine.Block[T], rounds []learner.Round) error {
	if c.model == nil {
		if err := c.trial.Admit(b); err != nil {
			return err
		}
		return c.learn(b, rounds)
	}
	k := c.model.Outputs()
	if err := c.ask(b, k); err != nil {
		return err
	}
	c.out = slices.Grow(c.out[:0], k*len(rounds))[:k*len(rounds)]
	if err := c.model.Score(b, c.out); err != nil {
		return err
	}
	for i := range rounds {
		rounds[i].Updates = 0
		if rounds[i].Score = c.out[i*k]; b.Class != nil {
			rounds[i].Score = learner.ClassScore(c.out[i*k:][:k], int(b.Class[i]))
		}
	}
	return nil
}

// learn learns a block: one example at a time if the probability of each is needed before it is
// learned.
func (c *candidate[T]) learn(b *engine.Block[T], rounds []learner.Round) error {
	l := c.trial.Learner
	if c.prober == nil {
		return l.Learn(b, rounds)
	}
	for i := range rounds {
		c.one = b.Slice(i, i+1)
		if err := c.ask(&c.one, learner.OutputsOf(l)); err != nil {
			return err
		}
		if err := l.Learn(&c.one, rounds[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// ask adds the losses of a block, if candidates are judged by these.
func (c *candidate[T]) ask(b *engine.Block[T], outputs int) error {
	if c.prober == nil {
		return nil
	}
	n := b.Len() * outputs
	c.proba = slices.Grow(c.proba[:0], n)[:n]
	if err := c.prober.Proba(b, c.proba); err != nil {
		return err
	}
	for i := range b.Len() {
		own := c.proba[i*outputs:][:outputs]
		o := outcomeOf(b, i, own) // its prediction is not looked at
		believe(&o, b, own)
		c.lose(lossOf(c.score, &o))
	}
	return nil
}

// broken is why a learner's state can't be saved; nil if it can.
func (c *candidate[T]) broken() error {
	if c.err != nil || c.trial == nil {
		return c.err
	}
	return c.trial.Diverged()
}

// pass is one pass of candidates over the examples. They learn block by block, each on one worker
// at a time with its own random samples, so nothing depends on the others. At a look, the worse are
// eliminated.
type pass[T engine.Float] struct {
	*board
	in         *reading[T]
	candidates []*candidate[T] // nil: takes no part
	alpha      float64         // of the looks; 0: no candidate is eliminated
	pool       *engine.Pool
	watch      func(share float64, examples int64)

	labels []string // of a candidate's work in profiles; the last one's value is its name
	names  []string // nil: their numbers
	marked []context.Context
	ctx    context.Context
	now    []int // candidates at work
}

// newPass makes the candidates of the entrants that the reading is for.
func newPass[T engine.Float](b *board, in *reading[T], all []*entrant,
	pool *engine.Pool) (*pass[T], error) {
	p := &pass[T]{board: b, in: in, pool: pool, candidates: make([]*candidate[T], len(all))}
	for k, e := range in.entrants {
		i := slices.Index(all, e)
		c := &candidate[T]{entrant: e, record: &b.records[i], in: in, prep: in.of[k]}
		if err := c.begin(b.score); err != nil {
			return nil, err
		}
		p.candidates[i] = c
	}
	return p, nil
}

// Part is engine.Job's: a candidate learns the block that all others learn.
func (p *pass[T]) Part(k int) {
	i := p.now[k]
	if p.marked != nil {
		pprof.SetGoroutineLabels(p.marked[i])
		defer pprof.SetGoroutineLabels(p.ctx)
	}
	p.candidates[i].take()
}

// mark makes the labels of all candidates' work, unless the caller owns the workers.
func (p *pass[T]) mark(ctx context.Context, env *training.Env) {
	if p.ctx = ctx; env.Pool != nil {
		return
	}
	for i, c := range p.candidates {
		learner := ""
		if c != nil {
			if learner = c.name; c.job != nil {
				learner = c.job.Learner()
			}
		}
		p.marked = append(p.marked, pprof.WithLabels(ctx, pprof.Labels(slices.Concat(p.labels,
			[]string{nameOf(p.names, i), "learner", learner})...)))
	}
}

// nameOf is the name of setting i, or of model i.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// run goes over the examples to their end. Its samples in profiles have the label stage: judge,
// except reading and what candidates do.
func (p *pass[T]) run(ctx context.Context, env *training.Env) (err error) {
	labelled(ctx, "stage", "judge", func(ctx context.Context) {
		p.mark(ctx, env)
		err = p.all(ctx)
	})
	return err
}

func (p *pass[T]) all(ctx context.Context) error {
	reading := pprof.WithLabels(ctx, pprof.Labels("stage", "read"))
	var seen, told int64
	look := nextLook(0)
	for {
		if err := ctx.Err(); err != nil {
			return stopped(seen)
		}
		pprof.SetGoroutineLabels(reading)
		n, err := p.in.next()
		pprof.SetGoroutineLabels(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return unread(ctx, err)
		}
		for lo := 0; lo < n; {
			hi := min(n, lo+int(look-seen))
			for _, x := range p.in.preps {
				x.view = x.block.Slice(lo, hi)
			}
			if p.now = p.present(); len(p.now) == 0 {
				return nil
			}
			if err := p.pool.Run(ctx, len(p.now), p); err != nil {
				for _, i := range p.now {
					p.records[i].cut(seen)
				}
				return stopped(seen)
			}
			if err := p.retire(seen); err != nil {
				return err
			}
			if seen += int64(hi - lo); seen == look {
				p.eliminate(p.alpha)
				look = nextLook(seen)
			}
			lo = hi
		}
		if p.watch != nil && seen >= told+1024 {
			told = seen
			p.watch(p.in.share(seen), seen)
		}
	}
}

func stopped(examples int64) error {
	return fmt.Errorf("training: %w after %d examples", training.ErrStopped, examples)
}

// present are the candidates of this pass that are left.
func (p *pass[T]) present() (all []int) {
	for _, i := range p.alive {
		if p.candidates[i] != nil {
			all = append(all, i)
		}
	}
	return all
}

// retire takes out candidates whose learning failed after n examples. It is an error if none is
// left.
func (p *pass[T]) retire(n int64) error {
	for _, i := range p.now {
		if err := p.candidates[i].err; err != nil {
			if len(p.alive) == 1 {
				return err
			}
			p.records[i].cut(n)
			p.leave(i)
		}
	}
	return nil
}

// warn warns of labels that come in runs, by the count of a candidate that had all examples.
func (p *pass[T]) warn(env *training.Env) {
	c := p.candidates[p.alive[0]]
	if c == nil {
		return // another pass has it
	}
	for _, x := range c.count.Runs() {
		observer(env).Warn(training.Warning{Code: x.Code, Text: training.WarningText(x, ""),
			Config: c.job.Config()})
	}
}

// retireDiverged takes out candidates with weights that are not finite, and warns. It is an error
// if none is left.
func (p *pass[T]) retireDiverged(env *training.Env) error {
	for _, i := range p.present() {
		c := p.candidates[i]
		err := c.broken()
		if err == nil {
			continue
		}
		if len(p.alive) == 1 {
			return err
		}
		c.err = err
		p.leave(i)
		observer(env).Warn(training.Warning{Code: training.Diverged, Config: c.job.Config(),
			Text: nameOf(p.names, i) + " diverged: its weights are not finite numbers"})
	}
	return nil
}
