package learnertest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// CheckTraits runs the part of [Check] that compares a learner with what its Traits say: quick
// enough for many settings.
func CheckTraits[T learner.Float](t *testing.T, e learner.Entry, c learner.Config) {
	s := &suite[T]{entry: e, config: c}
	blocks := []*engine.Block[T]{Sparse[T](100, 30, 0.05), Dense[T](100, 20, 0.05)}
	for _, b := range blocks {
		if c.Traits().Classes {
			setClasses(b)
		}
		s.traits(t, b)
	}
	s.threads(t, blocks...)
}

// threads: a learner gives its pool work with some of the blocks, sparse or dense, if its Traits
// say so, and else with none of them.
func (s *suite[T]) threads(t *testing.T, blocks ...*engine.Block[T]) {
	t.Helper()
	k := s.config.Traits()
	var used atomic.Bool
	pool := engine.NewPool(2)
	defer pool.Close()
	pool.Insist()
	pool.Mark(func(int) { used.Store(true) })
	if k.Threads != "" && k.Stream && k.Keeps > 0 {
		// Labels are without rule, so that examples are removed, which may be the work.
		b := Dense[T](1200, 20, 0.05)
		for i := range b.Y {
			if i*i%7 < 3 {
				b.Y[i] = -b.Y[i]
			}
		}
		if k.Classes {
			setClasses(b)
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		l := s.fresh(t, pool)
		if k.Stream {
			learn(t, l, b, 64)
		}
		if k.Whole {
			l = s.fresh(t, pool)
			_, err := learner.Fit(t.Context(), l, nonZero(b), learner.FitOptions{MaxUpdates: 50})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Score(b, s.places(b.Len())); err != nil {
			t.Fatal(err)
		}
	}
	if used := used.Load(); used != (k.Threads != "") {
		t.Errorf("Traits.Threads is %q; work was given to the pool: %v", k.Threads, used)
	}
}

// traits: a learner is and can do what its settings say, no more and no less.
func (s *suite[T]) traits(t *testing.T, b *engine.Block[T]) {
	k := s.config.Traits()
	if !k.Stream && !k.Whole {
		t.Fatalf("stream: %v, whole: %v", k.Stream, k.Whole)
	}
	if k.Norm < 1 || k.Vector && !k.Linear || k.Origin && k.Biased {
		t.Errorf("norm %v; vector %v, linear %v; biased %v, origin %v", k.Norm, k.Vector, k.Linear,
			k.Biased, k.Origin)
	}
	var l learner.Learner[T]
	if k.Stream {
		l = s.trained(t, b)
	} else {
		l = s.fitted(t, nil, b)
	}
	_, dual := learner.SolutionOf(l)
	n, support := learner.SupportOf(l)
	_, biased := learner.BiasOf(l)
	for _, c := range []struct {
		name      string
		said, has bool
	}{
		{"Proba", k.Proba, learner.ProberOf(l) != nil},
		{"Posterior", k.Posterior, learner.ReportOf(l) != nil},
		{"Merges", k.Merges, learner.PosteriorOf(l) != nil},
		{"Mixes", k.Mixes, learner.MixerOf(l) != nil},
		{"Mistakes", k.Mistakes, learner.MistakeCheckerOf(l) != nil},
		{"Dual", k.Dual, dual},
		{"Support", k.Support, support},
		{"Biased", k.Biased, biased},
		{"Vector", k.Vector, l.Weights() != nil},
		{"Stream", k.Stream, !errors.Is(l.Learn(b, make([]learner.Round, b.Len())),
			learner.ErrBatch)},
	} {
		if c.said != c.has {
			t.Errorf("Traits.%s is %v, the learner's is %v", c.name, c.said, c.has)
		}
	}
	if k.Keeps > 0 && int64(n) > k.Keeps {
		t.Errorf("%d examples are kept, Traits says %d", n, k.Keeps)
	}
	if k.Stream {
		s.forgets(t, s.trained(t, b), b)
	}
	s.fills(t, l, b)
	s.fits(t, b, k)
	s.keeps(t, b, k)
	for _, name := range append(slices.Clone(k.Sizes), settingsOf(k.Remedies)...) {
		if !hasSetting(reflect.ValueOf(s.config), name) {
			t.Errorf("Traits speaks of %q, which is no setting", name)
		}
	}
}

// fills: Score fills so many places an example, and no other.
func (s *suite[T]) fills(t *testing.T, l learner.Learner[T], b *engine.Block[T]) {
	t.Helper()
	const unset = 17.25
	n := b.Len() * s.outputs()
	dst := slices.Repeat([]float64{unset}, n+1)
	if err := l.Score(b, dst); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(dst[:n], unset) || dst[n] != unset {
		t.Errorf("Score of %d examples filled not the first %d places", b.Len(), n)
	}
	if err := l.Score(b, dst[:n-1]); !errors.Is(err, learner.ErrOut) {
		t.Errorf("Score into %d places, one too few, says %v", n-1, err)
	}
}

// checkpoints: Fit calls FitOptions.Checkpoint, whose error cuts the run there.
func (s *suite[T]) checkpoints(t *testing.T, b *engine.Block[T]) {
	t.Helper()
	stop := errors.New("stop")
	l := s.fresh(t, nil)
	_, err := learner.Fit(t.Context(), l, b, learner.FitOptions{CheckpointEvery: 1, MaxUpdates: 1e4,
		Checkpoint: func(learner.FitResult) error { return stop }})
	if s.config.Traits().Anew && err == nil { // there is one learner, so no place between two
		return
	}
	if !errors.Is(err, stop) || !learner.WasCut(l.State()) {
		t.Errorf("Traits.Cut, and a checkpoint that fails ends Fit with %v, cut: %v", err,
			learner.WasCut(l.State()))
	}
}

// fits: Fit takes what Traits says, and refuses the rest.
func (s *suite[T]) fits(t *testing.T, b *engine.Block[T], k learner.Traits) {
	t.Helper()
	b = nonZero(b)
	one := learner.FitOptions{MaxUpdates: 1}
	for _, c := range []struct {
		name    string
		said    bool
		options func(o *learner.FitOptions)
	}{
		{"Whole", k.Whole, func(*learner.FitOptions) {}},
		{"SoftDelta", k.SoftDelta, func(o *learner.FitOptions) { o.Delta = 1 }},
		{"ActiveSet", k.ActiveSet, func(o *learner.FitOptions) { o.ActiveSet = true }},
		{"Halving", k.Halving, func(o *learner.FitOptions) { o.Halving = true }},
	} {
		o := one
		c.options(&o)
		_, err := learner.Fit(t.Context(), s.fresh(t, nil), b, o)
		if c.said != (err == nil) {
			t.Errorf("Traits.%s is %v, Fit with %+v says %v", c.name, c.said, o, err)
		}
		if refused := errors.Is(err, learner.ErrConfig) || errors.Is(err, learner.ErrFit); err !=
			nil && !refused {
			t.Errorf("Fit with %+v says %v, which is neither ErrConfig nor ErrFit", o, err)
		}
	}
	if k.Cut {
		s.checkpoints(t, b)
	}
	if !k.OwnLimit {
		return
	}
	// Both labels of the same examples: there is no end that all of them satisfy.
	x := clone(b)
	for i := range x.Y {
		x.Y[i] = T(1 - 2*(i%2))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := learner.Fit(ctx, s.fresh(t, nil), x, learner.FitOptions{}); ctx.Err() != nil {
		t.Errorf("Traits.OwnLimit, and Fit goes on for a minute: %v", err)
	}
}

// nonZero returns the examples that have features: no weights separate others.
func nonZero[T learner.Float](b *engine.Block[T]) *engine.Block[T] {
	if b.Dense() {
		return b
	}
	some := &engine.Block[T]{Dim: b.Dim, Ptr: []int{0}}
	for i, y := range b.Y {
		if idx, val := b.Sparse(i); len(idx) > 0 {
			some.Y = append(some.Y, y)
			if b.Class != nil {
				some.Class = append(some.Class, b.Class[i])
			}
			some.Idx, some.Val = append(some.Idx, idx...), append(some.Val, val...)
			some.Ptr = append(some.Ptr, len(some.Idx))
		}
	}
	return some
}

// keeps: settings can be sized to a memory, in a copy, and the size of kept examples is known.
func (s *suite[T]) keeps(t *testing.T, b *engine.Block[T], k learner.Traits) {
	t.Helper()
	mean, largest, err := learner.KeptExample(s.config, b)
	if err != nil || (mean > 0) != (k.Keeps > 0) || mean > largest {
		t.Errorf("Traits.Keeps is %d; KeptExample says %d, %d, %v", k.Keeps, mean, largest, err)
	}
	if k.Keeps == 0 || k.FitMemory == nil {
		return
	}
	const room = 64 << 20
	before := s.document(t, s.config)
	x := extentOf(b, 1)
	x.Examples, x.NonZeros = learner.Any, learner.Any
	c, err := k.FitMemory(room, x, mean, largest)
	if err != nil {
		t.Fatal(err)
	}
	if after := s.document(t, s.config); after != before {
		t.Errorf("FitMemory made %s of the settings %s", after, before)
	}
	if sized := c.Traits(); sized.Keeps < learner.Any {
		x.Kept = learner.KeptRoom(sized.Keeps, mean, largest)
		if peak := c.Traits().Memory(x).Peak(); peak > room || sized.Keeps == 0 {
			t.Errorf("sized to %d bytes %d examples are kept, in %d", room, sized.Keeps, peak)
		}
	}
	if _, err := k.FitMemory(1, x, mean, largest); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("sized to a byte: %v, want %v", err, learner.ErrConfig)
	}
}

// resolves: Resolve leaves the settings as they are and returns a copy of which none is relative,
// and which resolves to itself.
func (s *suite[T]) resolves(t *testing.T) {
	t.Helper()
	before := s.document(t, s.config)
	facts := learner.Facts{SumSq: 2.25, Delta: 0.5, Features: 90}
	r, err := learner.Resolve(s.config, facts)
	if err != nil {
		t.Fatal(err)
	}
	if after := s.document(t, s.config); after != before {
		t.Errorf("Resolve made %s of the settings %s", after, before)
	}
	if r.Traits().Relative {
		t.Errorf("%s is relative still", s.document(t, r))
	}
	if err := r.Validate(); err != nil {
		t.Errorf("resolved: %v", err)
	}
	if _, err := learner.New[T](s.entry, r, learner.Env{}); err != nil {
		t.Errorf("of resolved settings no learner is made: %v", err)
	}
	again, err := learner.Resolve(r, learner.Facts{SumSq: 1e6, Features: 7})
	if err != nil || s.document(t, again) != s.document(t, r) {
		t.Errorf("resolved twice: %s, %v, want %s", s.document(t, again), err, s.document(t, r))
	}
	if _, err := learner.Resolve(s.config, learner.Facts{}); s.config.Traits().Relative !=
		errors.Is(err, learner.ErrConfig) {
		t.Errorf("Traits.Relative is %v, and without facts Resolve says %v",
			s.config.Traits().Relative, err)
	}
	if norm := r.Traits().Norm; math.IsInf(norm, 0) {
		t.Errorf("resolved, the norm is %v", norm)
	}
}

func (s *suite[T]) document(t testing.TB, c learner.Config) string {
	t.Helper()
	doc, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func settingsOf(remedies []learner.Remedy) (names []string) {
	for _, r := range remedies {
		names = append(names, r.Setting)
	}
	return names
}

// hasSetting reports whether settings, or those of a learner within them, have a flag of that name.
// Those of one within may not be there, which stands for defaults.
func hasSetting(v reflect.Value, name string) bool {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return true
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return false
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Anonymous {
			continue
		}
		if f.Tag.Get("flag") == name {
			return true
		}
		if f.Type.Kind() == reflect.Interface && hasSetting(v.FieldByIndex(f.Index), name) {
			return true
		}
	}
	return false
}
