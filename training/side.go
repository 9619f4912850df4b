package training

import (
	"context"
	"errors"
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
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Several learners learn one stream side by side: it is read once, prepared once for each way of
// preparing it, and each block goes to all of them, spread over the workers. Each learns on one
// worker at a time and draws from its own seed, so that nothing depends on the others.

// preparation is a way of preparing the examples that are read, and what came of it.
type preparation[T engine.Float] struct {
	options dataset.Options      // by which it is made
	of      *preparation[T]      // which it goes on from, and is scaled already; nil: as read
	prep    *dataset.Preparer[T] // nil: as they are read
	data    *dataset.Data[T]     // all of them; nil of a stream
	mem     *eval.Memory[T]      // over data
	block   *engine.Block[T]     // the next ones
	view    engine.Block[T]      // those of them that are learned now
}

// reading is one pass over the examples.
type reading[T engine.Float] struct {
	preps []*preparation[T]
	steps []*preparation[T] // preps, behind those that they go on from
	of    []*preparation[T] // of each job
	jobs  []*Job            // all of them
	apart bool              // they are read as they are, and prepared then
	raw   eval.Source[T]    // nil: in memory
	also  bool              // another precision is made of them
	data  *dataset.Data[T]  // for that, in memory
	tap   *tap[T]           // likewise, of a stream
	found func() dataset.Info
	total int64 // examples; 0: not known
	done  func()
}

// newReading makes one of what jobs learn.
func newReading[T engine.Float](jobs []*Job) *reading[T] {
	r := &reading[T]{jobs: jobs}
	preps, of := ways[T](jobs)
	r.preps, r.apart = preps, len(preps) > 1
	for _, i := range of {
		r.of = append(r.of, preps[i])
	}
	return r
}

// close ends the reading.
func (r *reading[T]) close() {
	if r.done != nil {
		r.done()
	}
}

// ways returns the distinct preparations of jobs, and the number of each job's.
func ways[T engine.Float](jobs []*Job) (preps []*preparation[T], of []int) {
	for _, j := range jobs {
		o := preparing(&j.data)
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

// preparing are the options of o by which examples are prepared that have been read.
func preparing(o *dataset.Options) dataset.Options {
	return dataset.Options{Scaling: o.Scaling, Scaled: o.Scaled, Missing: o.Missing, Bias: o.Bias,
		BiasValue: o.BiasValue, Normalize: o.Normalize, Scale: o.Scale}
}

// leavesValues reports whether preparing by o scales nothing and fills in nothing.
func leavesValues(o *dataset.Options) bool {
	return o.Scaled == nil && (o.Scaling == "" || o.Scaling == "none") &&
		(o.Missing == "" || o.Missing == "error")
}

// unprepared are the options that read examples for any preparation: sameReading doesn't look at
// them.
func unprepared(o dataset.Options) dataset.Options {
	o.Scaling, o.Scaled, o.PrepareByHand = "", nil, true
	o.Bias, o.BiasValue, o.Normalize, o.Scale = "", 0, "", 0
	return o
}

// open begins to read what the jobs learn, all of it at once where inMemory.
func (r *reading[T]) open(ctx context.Context, j *Job, inMemory bool) error {
	o := j.data
	if r.apart {
		o = unprepared(o)
	}
	if inMemory {
		data, err := await(ctx, func() (*dataset.Data[T], error) {
			return dataset.Load[T](ctx, j.o.Files, o)
		})
		if err != nil {
			return err
		}
		r.done = func() {}
		return r.take(j, data)
	}
	s, _, done, err := Open[T](ctx, j.o.Files, o)
	if err != nil {
		return err
	}
	r.done = done
	if err := r.goThrough(j, s, s.Info); err != nil {
		done()
		return err
	}
	return nil
}

// take prepares data that are in memory.
func (r *reading[T]) take(j *Job, data *dataset.Data[T]) (err error) {
	r.total, r.found = int64(data.Info.Rows), func() dataset.Info { return data.Info }
	if r.also {
		unweighed := *data
		r.data = &unweighed
	}
	if err := weigh(&j.o, data); err != nil {
		return err
	}
	r.settle(data.Info)
	for _, p := range r.steps {
		p.data = data
		if p.of != nil {
			p.data = p.of.data
		}
		if r.apart {
			if p.data, err = p.data.Prepared(p.options); err != nil {
				return err
			}
		}
	}
	for _, p := range r.preps {
		p.mem, p.of = memoryOf(p.data), nil
	}
	r.steps = nil
	return nil
}

// goThrough prepares the blocks of a stream.
func (r *reading[T]) goThrough(j *Job, src eval.Source[T], found func() dataset.Info) (err error) {
	r.found = found
	r.settle(found())
	for _, p := range r.steps {
		if r.apart {
			if p.prep, err = dataset.NewPreparer[T](p.options, found()); err != nil {
				return err
			}
		}
	}
	if r.also {
		r.tap = &tap[T]{src: src}
		src = r.tap
	}
	first := &replay[T]{src: src} // how many classes there are is known from the first block on
	first.block, first.err = src.Next()
	r.raw = weighStream[T](&j.o, first, found)
	return nil
}

// settle takes from the examples' format what the preparations, and the jobs, left to it.
func (r *reading[T]) settle(info dataset.Info) {
	for _, p := range r.preps {
		p.options = p.options.For(info.Kind)
	}
	r.chain()
	for _, j := range r.jobs {
		j.settle(info)
	}
}

// chain has preparations that scale alike go on from one that scales and does no more.
func (r *reading[T]) chain() {
	for _, p := range r.preps {
		if !r.apart || leavesValues(&p.options) {
			continue
		}
		o := dataset.Options{Scaling: p.options.Scaling, Scaled: p.options.Scaled,
			Missing: p.options.Missing}
		at := slices.IndexFunc(r.steps, func(q *preparation[T]) bool {
			return reflect.DeepEqual(q.options, o)
		})
		if at < 0 {
			at = len(r.steps)
			r.steps = append(r.steps, &preparation[T]{options: o})
		}
		p.of = r.steps[at]
		p.options.Scaling, p.options.Scaled, p.options.Missing = "", nil, ""
	}
	r.steps = append(r.steps, r.preps...)
}

// orderOf is the order of the pass, that of a run's first one, if a job's is a fresh one; else nil.
func orderOf(jobs []*Job, total int64) []int32 {
	if !slices.ContainsFunc(jobs, func(j *Job) bool { return j.o.Shuffle }) {
		return nil
	}
	order := make([]int32, total)
	engine.Permute(order, jobs[0].seed, 0)
	return order
}

// rewind begins the pass, in that order.
func (r *reading[T]) rewind(order []int32) {
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
	for _, p := range r.steps {
		if p.block = b; p.of != nil {
			p.block = p.of.block
		}
		if p.prep != nil {
			p.block = p.prep.Block(p.block)
		}
	}
	return b.Len(), nil
}

// slice makes examples lo to hi of the block those that are learned now.
func (r *reading[T]) slice(lo, hi int) {
	for _, p := range r.preps {
		p.view = p.block.Slice(lo, hi)
	}
}

// info is what was found, as the preparation has it.
func (r *reading[T]) info(p *preparation[T]) dataset.Info {
	switch {
	case p.data != nil:
		return p.data.Info
	case p.of != nil:
		return p.prep.Info(p.of.prep.Info(r.found()))
	case p.prep != nil:
		return p.prep.Info(r.found())
	}
	return r.found()
}

// share is how much of the input was read, from 0 to 1; 0 where that isn't known.
func (r *reading[T]) share(examples int64) float64 {
	if r.total > 0 {
		return float64(examples) / float64(r.total)
	}
	if in := r.found(); in.InputSize > 0 {
		return float64(in.InputRead) / float64(in.InputSize)
	}
	return 0
}

// rival is one of those that learn side by side, or that predict.
type rival[T engine.Float] struct {
	run[T]
	standing
	prep *preparation[T]
	view learner.Predictor[T] // predicts and learns nothing; nil: it learns
	out  []float64
	lost losses[T]
	one  engine.Block[T]

	rounds []learner.Round
}

// standing is what one of them got wrong.
type standing struct {
	word  uint64 // bits of the examples of a word that it got wrong
	words []uint64
	res   eval.Result
	count eval.Count
	err   error // which ended its learning
}

// contender is a rival of either precision.
type contender interface {
	take(at int)
	stands() *standing
	broken() error
	data() dataset.Info
	config() learner.Config
	cost() []float64
}

func (v *rival[T]) stands() *standing      { return &v.standing }
func (v *rival[T]) data() dataset.Info     { return v.info() }
func (v *rival[T]) config() learner.Config { return v.j.config }
func (v *rival[T]) cost() []float64        { return v.lost.all }

// begin makes the learner, once the examples are known.
func (v *rival[T]) begin(in *reading[T]) (err error) {
	j, p := v.j, v.prep
	v.info = func() dataset.Info { return in.info(p) }
	if v.room, err = newRoom[T](j, p.data != nil); err != nil {
		return err
	}
	if err := v.takeClasses(v.info()); err != nil {
		return err
	}
	v.in = in.raw
	if p.data != nil {
		v.in, v.facts, v.inMemory = p.mem, factsOf(j, p.data, p.mem), true
	}
	if err := v.resolve(0); err != nil {
		return err
	}
	v.l, err = learner.New[T](j.entry, j.config,
		learner.Env{Seed: j.seed, Kept: v.room.kept})
	return err
}

// take learns the examples of its preparation's view, or scores them. Those that it gets wrong are
// bits of words, the first of them at bit at of the present word.
func (v *rival[T]) take(at int) {
	if v.err != nil {
		return
	}
	b := &v.prep.view
	began, n := time.Now(), b.Len()
	v.lost.begin(at)
	if len(v.rounds) < n {
		v.rounds = make([]learner.Round, n)
	}
	rounds := v.rounds[:n]
	if v.err = v.learnOrScore(b, rounds); v.err != nil {
		return
	}
	v.words = v.words[:0]
	for i, r := range rounds {
		y := 1.0 // of classes a Round's score is of the example's own
		if b.Class == nil {
			y = float64(b.Y[i])
		}
		before := v.count.Errors
		v.count.Add(y, r.Score)
		v.word |= uint64(v.count.Errors-before) << at
		if at++; at == 64 {
			v.words = append(v.words, v.word)
			v.word, at = 0, 0
		}
		v.res.Updates += int64(r.Updates)
		if !(y*r.Score > 0) {
			v.res.Mistakes++
		}
	}
	v.res.Presented, v.res.Examples, v.res.Errors = v.count.Examples, v.count.Examples,
		v.count.Errors
	v.res.Learn += time.Since(began)
}

func (v *rival[T]) learnOrScore(b *engine.Block[T], rounds []learner.Round) error {
	if v.view == nil {
		if !v.inMemory {
			if err := v.room.admit(b); err != nil {
				return err
			}
		}
		return v.learnAndLose(b, rounds)
	}
	k := v.view.Outputs()
	if v.lost.prober != nil {
		if err := v.lost.ask(b, k); err != nil {
			return err
		}
	}
	v.out = slices.Grow(v.out[:0], k*len(rounds))[:k*len(rounds)]
	if err := v.view.Score(b, v.out); err != nil {
		return err
	}
	for i := range rounds {
		if rounds[i].Score = v.out[i*k]; b.Class != nil {
			rounds[i].Score = learner.ClassScore(v.out[i*k:][:k], int(b.Class[i]))
		}
	}
	return nil
}

// learnAndLose learns a block: one by one where each is judged by its probability, which is that
// before it is learned.
func (v *rival[T]) learnAndLose(b *engine.Block[T], rounds []learner.Round) error {
	if v.lost.prober == nil {
		return v.l.Learn(b, rounds)
	}
	for i := range rounds {
		v.one = b.Slice(i, i+1)
		if err := v.lost.ask(&v.one, learner.OutputsOf(v.l)); err != nil {
			return err
		}
		if err := v.l.Learn(&v.one, rounds[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// judge has the rival judged by a score of its probabilities.
func (v *rival[T]) judge(score string) error {
	if !isMeanLoss(score) {
		return nil
	}
	v.lost.score = score
	if v.view != nil {
		v.lost.prober = learner.ProbaOf(v.view)
	} else {
		v.lost.prober = learner.ProberOf(v.l)
	}
	switch {
	case v.lost.prober != nil:
		return nil
	case v.view != nil:
		return newError(ErrModel, "Train it with {calibrate} platt.",
			"{score} %s is of probabilities, and a model of %s has none", score, v.j.name)
	}
	return badOption("", "{score} %s is of probabilities, and %s has none", score, v.j.name)
}

// side is a pass of rivals over the examples.
type side struct {
	in     examples
	rivals []contender
	race   *race
	alpha  float64 // of the looks; 0: nobody is dropped
	pool   *engine.Pool
	watch  func(share float64, examples int64)

	jobs   []*Job   // of the rivals
	labels []string // of a rival's work in profiles; the last one's value is its name
	names  []string // nil: their numbers
	marked []context.Context
	ctx    context.Context

	at    int // bits of the present words
	wrong []uint64
	lost  [][]float64 // what those cost, if rivals are judged by that
	out   []int       // rivals that were dropped, in that order
}

// examples are readings that go on together.
type examples interface {
	next() (n int, err error)
	slice(lo, hi int)
	share(examples int64) float64
}

// Part is engine.Job's: a rival learns what the others do.
func (s *side) Part(i int) {
	k := s.race.alive[i]
	if s.marked != nil {
		pprof.SetGoroutineLabels(s.marked[k])
		defer pprof.SetGoroutineLabels(s.ctx)
	}
	s.rivals[k].take(s.at)
}

// mark makes the labels of all rivals' work, so that none is made in the pass.
func (s *side) mark(ctx context.Context) {
	if s.ctx = ctx; s.jobs[0].env.Pool != nil {
		return
	}
	for i, j := range s.jobs {
		s.marked = append(s.marked, pprof.WithLabels(ctx, pprof.Labels(slices.Concat(s.labels,
			[]string{nameOf(s.names, i), "learner", j.name})...)))
	}
}

// nameOf is the name of setting i, or of model i.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// pass goes over the examples to their end. Its samples in profiles have the label stage: judge,
// but for what reads and what rivals do.
func (s *side) pass(ctx context.Context) (err error) {
	labelled(ctx, "stage", "judge", func(ctx context.Context) {
		s.mark(ctx)
		err = s.goOver(ctx)
	})
	return err
}

// goOver is pass, under its label.
func (s *side) goOver(ctx context.Context) error {
	reading := pprof.WithLabels(ctx, pprof.Labels("stage", "read"))
	s.wrong, s.lost = make([]uint64, len(s.rivals)), make([][]float64, len(s.rivals))
	var seen, told int64
	look := nextLook(0)
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("training: %w after %d examples", ErrStopped, seen)
		}
		pprof.SetGoroutineLabels(reading)
		n, err := s.in.next()
		pprof.SetGoroutineLabels(ctx)
		if err == io.EOF {
			s.rest()
			return nil
		}
		if err != nil {
			return unread(ctx, err)
		}
		for lo := 0; lo < n; {
			hi := min(n, lo+int(look-seen))
			s.in.slice(lo, hi)
			if err := s.pool.Run(ctx, len(s.race.alive), s); err != nil {
				return fmt.Errorf("training: %w after %d examples", ErrStopped, seen)
			}
			if err := s.tally(hi - lo); err != nil {
				return err
			}
			if seen += int64(hi - lo); seen == look {
				s.out = append(s.out, s.race.look(s.alpha)...)
				look = nextLook(seen)
			}
			lo = hi
		}
		if s.watch != nil && seen >= told+1024 {
			told = seen
			s.watch(s.in.share(seen), seen)
		}
	}
}

// judges reports whether the pass was stopped by err with examples behind it that all were counted
// on: those of whole words.
func (s *side) judges(err error) bool {
	return errors.Is(err, ErrStopped) && s.race.seen[s.race.alive[0]] > 0
}

// tally counts n more examples, and takes out rivals that can't go on. It is an error if none can.
func (s *side) tally(n int) error {
	for _, i := range slices.Clone(s.race.alive) {
		if err := s.rivals[i].stands().err; err != nil {
			if len(s.race.alive) == 1 {
				return err
			}
			s.race.leave(i)
			s.out = append(s.out, i)
		}
	}
	words := (s.at + n) / 64
	for w := range words {
		for _, i := range s.race.alive {
			s.wrong[i] = s.rivals[i].stands().words[w]
			if s.race.losing() {
				s.lost[i] = s.rivals[i].cost()[64*w:]
			}
		}
		s.count(64)
	}
	s.at = (s.at + n) % 64
	return nil
}

// rest counts the examples of the last word.
func (s *side) rest() {
	if s.at == 0 {
		return
	}
	for _, i := range s.race.alive {
		s.wrong[i] = s.rivals[i].stands().word
		if all := s.rivals[i].cost(); s.race.losing() {
			s.lost[i] = all[len(all)-s.at:]
		}
	}
	s.count(s.at)
	s.at = 0
}

// count counts the n examples of a word.
func (s *side) count(n int) {
	var lost [][]float64
	if s.race.losing() {
		lost = s.lost
	}
	s.race.add(s.wrong, lost, n)
}

// warn says so where the labels come in runs, by the count of one that had all examples.
func (s *side) warn(env Env) {
	if env.Observer == nil && env.Logger == nil {
		return
	}
	v := s.rivals[s.race.alive[0]]
	for _, x := range v.stands().count.Runs() {
		env.observer().Warn(Warning{Code: x.Code, Text: WarningText(x, ""), Config: v.config()})
	}
}

// diverged takes out rivals whose weights are no numbers, which are no result beside the others',
// and says so. It is an error if none is left.
func (s *side) diverged(env Env, names []string) error {
	for _, i := range slices.Clone(s.race.alive) {
		err := s.rivals[i].broken()
		if err == nil {
			continue
		}
		if len(s.race.alive) == 1 {
			return err
		}
		s.rivals[i].stands().err = err
		s.race.leave(i)
		env.observer().Warn(Warning{Code: Diverged, Config: s.rivals[i].config(),
			Text: nameOf(names, i) + " diverged: its weights are not finite numbers"})
	}
	return nil
}

// saveRival writes the model of what a rival has learned in its pass.
func saveRival[T engine.Float](v *rival[T], path string) (*Saved, error) {
	v.j.o.Model = path
	defer func() { v.j.o.Model = "" }()
	err := save(v.j, v.l, v.info(), v.res)
	return v.j.saved, err
}

// broken is why its learner's state can't be saved; nil if it can.
func (v *rival[T]) broken() error {
	if v.err != nil {
		return v.err
	}
	if err := model.Diverged(v.j.name, v.l); err != nil {
		return wrapped(ErrDiverged, err)
	}
	return nil
}

// thirdLabel has all jobs begin again with classes, where that can be.
func thirdLabel(jobs []*Job, err error) bool {
	if !errors.Is(err, dataset.ErrThird) {
		return false
	}
	for _, j := range jobs {
		if !j.again() {
			return false
		}
	}
	return true
}
