package learners

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// fill fills dst with what the columns say of the examples of b, example by example.
func (o *ovr[T]) fill(b *engine.Block[T], dst []float64, do fleetWork) error {
	k := len(o.since)
	if err := primal.CheckOutputs(o.name, b, k, len(dst)); err != nil || k == 0 {
		return err
	}
	return o.each(b, do, func(i int, scores []float64, n int) {
		of := dst[i*k:][:k]
		if o.pairs {
			votes(of, scores, n, o.first)
			return
		}
		for c := range of { // without those of other parts
			of[c] = math.Inf(-1)
		}
		for c := range o.size() {
			of[o.classOf(c)] = scores[c*n]
		}
	})
}

func (o *ovr[T]) Score(b *engine.Block[T], dst []float64) error {
	return o.fill(b, dst, fleetScore)
}

// Prober is for ProberOf.
func (o *ovr[T]) Prober() learner.Prober[T] {
	if !o.traits.Proba || o.pairs {
		return nil
	}
	return ovrProber[T]{o}
}

// ovrProber has the probabilities of the columns, divided by their sum.
type ovrProber[T learner.Float] struct{ o *ovr[T] }

// Proba is Prober.Proba. Where all columns say 0, all classes are as probable as each other.
func (p ovrProber[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := p.o.fill(b, dst, fleetProba); err != nil {
		return err
	}
	k := len(p.o.since)
	for i := range b.Len() {
		of := dst[i*k:][:k]
		var sum float64
		for _, v := range of {
			sum += v
		}
		for c := range of {
			if of[c] /= sum; sum == 0 {
				of[c] = 1 / float64(k)
			}
		}
	}
	return nil
}

// MistakeChecker is for MistakeCheckerOf.
func (o *ovr[T]) MistakeChecker() learner.MistakeChecker[T] {
	if !o.traits.Mistakes {
		return nil
	}
	return ovrChecker[T]{o}
}

type ovrChecker[T learner.Float] struct{ o *ovr[T] }

// Mistakes is MistakeChecker.Mistakes: examples that are one of any column.
func (p ovrChecker[T]) Mistakes(b *engine.Block[T]) (count int, err error) {
	if err := b.CheckClasses(len(p.o.since)); err != nil {
		return 0, fmt.Errorf("%s: %w", p.o.name, err)
	}
	y := []T{0}
	for i := range b.Len() {
		v := b.Slice(i, i+1)
		v.Class, v.Y = nil, y
		mistaken := 0
		for k := 0; k < len(p.o.learners) && mistaken == 0; k++ {
			if y[0] = p.o.label(k, int(b.Class[i])); y[0] == 0 {
				continue
			}
			if mistaken, err = learner.MistakeCheckerOf(p.o.learners[k]).Mistakes(&v); err != nil {
				return count, err
			}
		}
		count += mistaken
	}
	return count, nil
}

// Weights returns the columns' weights, one after another, or nil if they have none.
func (o *ovr[T]) Weights() []float64 {
	if !o.traits.Vector || o.pairs {
		return nil
	}
	of := make([][]float64, o.size())
	most := 0
	for k := range of {
		of[k] = o.scorer(k).Weights()
		most = max(most, len(of[k]))
	}
	w := make([]float64, len(of)*most)
	for k := range of {
		copy(w[k*most:], of[k])
	}
	return w
}

func (o *ovr[T]) FiniteWeights() bool {
	if !o.traits.Vector || o.pairs {
		return true
	}
	for _, l := range o.learners {
		if !learner.FiniteWeights(l) {
			return false
		}
	}
	return true
}

// Outputs is for [learner.OutputsOf]: the classes that have come.
func (o *ovr[T]) Outputs() int { return len(o.since) }

// Since returns how many examples there were before the first of each class.
func (o *ovr[T]) Since() []int64 { return slices.Clone(o.since) }

// Updates returns the updates of all columns together.
func (o *ovr[T]) Updates() int64 { return int64(o.updates) }

// Forgetter is for [learner.ForgetterOf]: nil where the base can't forget.
func (o *ovr[T]) Forgetter() learner.Forgetter {
	if !o.traits.Forgets {
		return nil
	}
	return forgets(func(keep float64) error {
		if err := learner.CheckKeep(o.name, keep); err != nil {
			return err
		}
		o.cut = nil
		return forgetAll(o.all(), keep)
	})
}

// Bytes returns the memory of the columns, and of what a run takes.
func (o *ovr[T]) Bytes() int64 {
	n := o.bytes() + int64(unsafe.Sizeof(*o)) + 24*int64(len(o.since)) + primal.BytesOf(o.outputs)
	for _, l := range o.lone {
		n += l.Bytes()
	}
	return n
}

// ballot is the hypothesis of an [OVRConfig]: a Predictor for each class.
type ballot[T learner.Float] struct {
	o *ovr[T] // scores by its predictors; has no learners
}

func (p *ballot[T]) Outputs() int                                  { return p.o.Outputs() }
func (p *ballot[T]) Score(b *engine.Block[T], dst []float64) error { return p.o.Score(b, dst) }
func (p *ballot[T]) Weights() []float64                            { return p.o.Weights() }

func (p *ballot[T]) Hypothesis() (all learner.Hypothesis) {
	if p.o.cfg.Part != nil {
		return all // not of all classes
	}
	all.Pairs, all.Sums = p.o.pairs, p.o.pairs && !p.o.first
	for _, m := range p.o.predictors {
		h, ok := learner.HypothesisOf(m)
		if !ok || h.Fourier != nil {
			return learner.Hypothesis{}
		}
		all.Kernel, all.Outputs = h.Kernel, append(all.Outputs, h.Outputs...)
	}
	return all
}

func (p *ballot[T]) Bytes() int64 { return p.o.Bytes() + int64(unsafe.Sizeof(*p)) }

// State is Predictor.State: the classes' hypotheses, each with its number before the names, and how
// many there are.
func (p *ballot[T]) State() learner.State { return learner.StateOf(p.fields) }

func (p *ballot[T]) CheckState(s learner.State) error {
	r, err := p.like(s)
	if err != nil {
		return err
	}
	return learner.CheckState(p.o.name, s, r.fields)
}

func (p *ballot[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	r, err := p.like(s)
	if err != nil {
		return nil, err
	}
	if err := learner.SetState(p.o.name, s, r.fields); err != nil {
		return nil, err
	}
	return r.proven(), nil
}

// like returns hypotheses of new columns, as many as the State has.
func (p *ballot[T]) like(s learner.State) (*ballot[T], error) {
	n := s.Counters["classes"]
	if n > uint64(p.o.most()) || p.o.cfg.Classes > 0 && n != uint64(p.o.cfg.Classes) {
		return nil, fmt.Errorf("%s: %d classes: %w", p.o.name, n, learner.ErrState)
	}
	of := make([]learner.Predictor[T], p.o.count(int(n)))
	for k := range of {
		l, err := p.o.column()
		if err != nil {
			return nil, err
		}
		of[k] = l.Snapshot()
	}
	return p.o.ballot(int(n), of), nil
}

func (p *ballot[T]) fields(c *learner.Codec) {
	n := len(p.o.since)
	classes := learner.Count(c, "classes", &n)
	c.Want(classes == len(p.o.since), "%d classes", classes)
	p.o.predictorFields(c, p.o.columnName)
}

// provenBallot is one whose classes' hypotheses have probabilities.
type provenBallot[T learner.Float] struct{ *ballot[T] }

// Proba is Prober.Proba, as that of the learner.
func (p provenBallot[T]) Proba(b *engine.Block[T], dst []float64) error {
	return ovrProber[T]{p.o}.Proba(b, dst)
}

// ballot returns that of o's settings, of so many classes.
func (o *ovr[T]) ballot(classes int, of []learner.Predictor[T]) *ballot[T] {
	return &ballot[T]{o: &ovr[T]{cfg: o.cfg, entry: o.entry, base: o.base, traits: o.traits,
		env: o.env, pairs: o.pairs, first: o.first, since: make([]int64, classes),
		fleet: fleet[T]{name: o.name, pool: o.pool, dim: o.dim, predictors: of}}}
}

// proven returns p, with probabilities where there are any.
func (p *ballot[T]) proven() learner.Predictor[T] {
	none := func(of learner.Predictor[T]) bool { return learner.ProbaOf(of) == nil }
	if p.o.pairs || p.o.size() == 0 || slices.ContainsFunc(p.o.predictors, none) {
		return p
	}
	return provenBallot[T]{p}
}

// Snapshot is Learner.Snapshot: one of each column.
func (o *ovr[T]) Snapshot() learner.Predictor[T] {
	return o.ballot(len(o.since), o.snapshots()).proven()
}

func (o *ovr[T]) View() learner.Predictor[T] { return o.ballot(len(o.since), o.views()).proven() }

// holdClasses is Entry.Holding: outputs of several classes, each held by a learner of two.
func holdClasses(h *learner.Hypothesis) (_ learner.Config, s learner.State, ok bool) {
	n := len(h.Outputs)
	if n < 2 || n > MaxClasses || h.Pairs {
		return nil, s, false
	}
	cfg := &OVRConfig{Classes: n}
	o := ovr[float64]{since: make([]int64, n)}
	if cfg.Base, cfg.BaseConfig, ok = o.hold(h); !ok || !cfg.BaseConfig.Traits().Stream {
		return nil, s, false
	}
	return cfg, o.State(), cfg.Validate() == nil
}

// hold makes columns that hold the outputs, all of one base, which it returns.
func (o *ovr[T]) hold(h *learner.Hypothesis) (name string, c learner.Config, ok bool) {
	for _, out := range h.Outputs {
		e, base, state, ok := learner.Hold(&learner.Hypothesis{Outputs: []learner.Output{out},
			Kernel: h.Kernel, Fourier: h.Fourier})
		if !ok || name != "" && name != e.Name {
			return "", nil, false
		}
		l, err := learner.New[T](e, base, learner.Env{})
		if err != nil || l.SetState(state) != nil {
			return "", nil, false
		}
		name, c = e.Name, base
		o.learners = append(o.learners, l)
		o.dim = max(o.dim, len(out.Weights), out.Points.Dim)
	}
	return name, c, true
}
