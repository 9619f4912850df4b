package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Merging is what Merge makes one model of.
type Merging struct {
	// Models are the files of models that have learned different examples. Those of row shards
	// (training.Options.Rows) are all shards of one run, in any order; others are taken in the
	// order in which they are given.
	Models []string
	// Prior is the file of the model that all of them went on from (training.Options.From): what
	// it knows counts once. "" is none. It must be named for row shards that went on from one.
	Prior string
	// Mix averages weights instead, of learners with Traits.Mixes: MixUniform with the same share
	// each, MixMistakes with shares in proportion to the mistakes that each has made beyond the
	// prior's. "" merges posteriors.
	Mix string
	// Model is the file to be written; "" is none.
	Model string
	// Machine says how much memory a model may take.
	Machine training.Machine
}

// What Merging.Mix may be.
const (
	MixUniform  = "uniform"
	MixMistakes = "mistakes"
)

// Merged is what came of it.
type Merged struct {
	Model     *model.Model
	Config    learner.Config
	Files     []string // the models in the order in which they were merged
	Shards    int      // row shards; 0: they are none
	Updates   int64
	Posterior *learner.PosteriorReport
	SHA256    string // of the file that was written
}

// Merge makes the model whose posterior is that of all the models' examples, as if these had been
// learned by one: the Gaussians are multiplied by their natural parameters, in which the prior
// counts once, see learner.PosteriorMerger. Where two models saw features in common this is an
// approximation, as each of them is.
//
// They are merged along one binary tree, which depends on their number alone: the first 2^k of n,
// 2^k < n <= 2^(k+1), are merged, then the others, and then these two. Row shards go by their
// numbers. So the model is the same, to the byte, whoever trained how many of them.
//
// Prior is divided out in the end, once less than there are models; points that are kept (wep, vvm)
// become part of the Gaussian before.
//
// Errors are a training.Error of kind ErrModel, and wrap learner.ErrParts where row shards are
// missing or come twice, ErrForeign where a model is of other settings, preparation or row shards
// than the first, or went on from another one, learner.ErrPrior where posteriors can't be merged,
// and learner.ErrConfig where weights can't be averaged; or they are those of package model.
// Nothing is written then. Cost: O(d^3) a model with a full covariance of d features. Memory: that
// of log2 n models; each file is read twice.
func Merge(ctx context.Context, m Merging) (*Merged, error) {
	g, err := gather(ctx, &m)
	if err != nil {
		return nil, err
	}
	if g.first.Precision == "f64" {
		return mergeAs[float64](ctx, g)
	}
	return mergeAs[float32](ctx, g)
}

// refused is an error of models that can't be merged. next and text have fields of
// training.Options in braces.
func refused(next, text string, args ...any) error {
	return training.NewError(training.ErrModel, next, text, args...)
}

// unlikely is refused, of models that are not of one kind.
func unlikely(next, text string, args ...any) error {
	return refused(next, text+": %w", append(args, ErrForeign)...)
}

// gathered are models that can be merged, in their order.
type gathered struct {
	merging *Merging
	files   []string
	first   *model.Model // without its state
	entry   learner.Entry
	config  learner.Config
	prior   *model.Model // nil: none
	sum     string       // of prior
	of      int          // row shards; 0: they are none

	presented, mistakes uint64
	share               []float64 // of each file: its mistakes beyond the prior's
	prep                model.Prep
}

// gather looks at all models, and puts row shards in order.
func gather(ctx context.Context, m *Merging) (g *gathered, err error) {
	g = &gathered{merging: m}
	if m.Mix != "" && m.Mix != MixUniform && m.Mix != MixMistakes {
		return nil, refused("", "mix is %q, want %s or %s: %w", m.Mix, MixUniform, MixMistakes,
			learner.ErrConfig)
	}
	if len(m.Models) == 0 {
		return nil, refused("", "no models: %w", learner.ErrParts)
	}
	if m.Prior != "" {
		if g.prior, err = m.load(m.Prior); err != nil {
			return nil, err
		}
		if g.sum, err = g.prior.Sum(); err != nil {
			return nil, err
		}
	}
	rows := make([]*model.Rows, len(m.Models))
	for i, name := range m.Models {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		one, err := m.load(name)
		if err != nil {
			return nil, err
		}
		if err := g.take(name, one); err != nil {
			return nil, err
		}
		rows[i] = one.Rows
	}
	if g.prior != nil {
		g.presented = min(g.presented+g.prior.Presented, model.MaxCount)
		g.mistakes = min(g.mistakes+g.prior.Mistakes, model.MaxCount)
	}
	if g.entry, g.config, err = g.first.Settings(); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Models[0], err)
	}
	return g, g.order(rows)
}

// load loads a model that knows all that learning on needs.
func (m *Merging) load(name string) (*model.Model, error) {
	one, err := training.Load(name, m.Machine)
	if err != nil {
		return nil, err
	}
	if err := one.Learnable(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	_, c, err := one.Settings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.Traits().Part != nil {
		return nil, refused("Join it with the other parts, by their traces.",
			"%s: a part of an ensemble, whose parts see the same examples: %w", name, ErrForeign)
	}
	return one, nil
}

// take counts a model in, which must be like the first, and like the prior.
func (g *gathered) take(name string, m *model.Model) error {
	if g.first == nil {
		c := *m
		c.State = learner.State{}
		g.first, g.prep = &c, m.Prep
		if g.prior != nil {
			if what, next := unlike(g.prior, m); what != "" {
				return unlikely(next, "%s and %s: %s", g.merging.Prior, name, what)
			}
		}
	}
	if a, b := labelsOf(g.first), labelsOf(m); !format.SameLabels(a, b) {
		return unlikely(g.merging.alike(), "%s and %s: classes %s and %s", g.merging.Models[0],
			name, strings.Join(a, ","), strings.Join(b, ","))
	}
	if what, next := unlike(g.first, m); what != "" {
		return unlikely(next, "%s and %s: %s", g.merging.Models[0], name, what)
	}
	presented, mistakes := m.Presented, m.Mistakes
	if p := g.prior; p != nil {
		if presented < p.Presented || mistakes < p.Mistakes {
			return unlikely("Name the model that all of them went on from.",
				"%s has learned %d examples with %d mistakes and %s %d with %d, so that did not "+
					"go on from it", g.merging.Prior, p.Presented, p.Mistakes, name, presented,
				mistakes)
		}
		presented -= p.Presented
		mistakes -= p.Mistakes
	}
	g.presented = min(g.presented+presented, model.MaxCount)
	g.mistakes = min(g.mistakes+mistakes, model.MaxCount)
	g.share = append(g.share, float64(mistakes))
	g.prep.Dim = max(g.prep.Dim, m.Prep.Dim)
	if m.Prep.Rest != g.prep.Rest {
		g.prep.Rest = ""
	}
	return g.takeRows(name, m)
}

// labelsOf are the texts of a model's labels, in its order.
func labelsOf(m *model.Model) []string {
	p := &m.Prep
	if p.Classes != nil {
		return p.Classes
	}
	return []string{p.Labels.Negative, p.Labels.Positive}
}

// alike says what has all models be of the same classes, of which each has seen some: all of them,
// in the order in which one reader of all shards meets them.
func (m *Merging) alike() string {
	type seen struct {
		shard  int
		labels []string
	}
	var all []seen
	for _, name := range m.Models {
		if one, err := m.load(name); err == nil {
			s := seen{0, labelsOf(one)}
			if one.Rows != nil {
				s.shard = one.Rows.Shard
			}
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b seen) int { return a.shard - b.shard })
	var labels []string
	for _, s := range all {
		for _, text := range s.labels {
			if text != "" && !slices.Contains(labels, text) {
				labels = append(labels, text)
			}
		}
	}
	if len(labels) > 2 {
		return "Train all of them with {classes} " + strings.Join(labels, ",") + "."
	}
	return "Train all of them alike: name the positive label with {positive}."
}

// takeRows refuses a model that is not of the same run's row shards.
func (g *gathered) takeRows(name string, m *model.Model) error {
	const whole = "Name the shards of one run: of the same files, settings and options."
	a, b, one := g.first.Rows, m.Rows, g.merging.Models[0]
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil:
		return unlikely(whole, "%s: %s, and %s is none", name, b, one)
	case b == nil:
		return unlikely(whole, "%s: %s, and %s is none", one, a, name)
	case m.Position != nil || m.Pass != nil:
		return refused("Go on with it: {resume}.", "%s: %s: its run was stopped before its end: %w",
			name, b, learner.ErrParts)
	case a.Of != b.Of:
		return unlikely(whole, "%s and %s: %s, and %s", one, name, a, b)
	case a.Data != b.Data:
		return unlikely(whole, "%s and %s: row shards of different data", one, name)
	case a.Run != b.Run || g.first.Seed != m.Seed:
		return unlikely(whole, "%s and %s: row shards of runs with different options", one, name)
	case a.From != b.From:
		return unlikely(whole, "%s and %s: row shards that went on from different models", one,
			name)
	case b.From != "" && g.prior == nil:
		return unlikely("Name it as the prior: it would count once for each shard.",
			"%s: %s, which went on from another model", name, b)
	case b.From != g.sum:
		return unlikely("Name the model that all shards went on from.",
			"%s: %s, which did not go on from %s", name, b, g.merging.Prior)
	}
	return nil
}

// order puts row shards in the order of their numbers; others stay in theirs.
func (g *gathered) order(rows []*model.Rows) error {
	g.files = slices.Clone(g.merging.Models)
	if rows[0] == nil {
		return nil
	}
	g.of = rows[0].Of
	at, share := make([]string, g.of+1), make([]float64, g.of+1)
	for i, r := range rows {
		if at[r.Shard] != "" {
			return refused("Name each shard once.", "%s and %s: %s comes twice: %w", at[r.Shard],
				g.files[i], r, learner.ErrParts)
		}
		at[r.Shard], share[r.Shard] = g.files[i], g.share[i]
	}
	var missing []string
	for k := 1; k <= g.of; k++ {
		if at[k] == "" && len(missing) == 8 {
			missing = append(missing, "...")
			break
		}
		if at[k] == "" {
			missing = append(missing, fmt.Sprint(k))
		}
	}
	if missing != nil {
		return refused("Train them, and name all shards.", "of %d row shards %s %s missing: %w",
			g.of, strings.Join(missing, ", "), map[bool]string{true: "is", false: "are"}[len(
				missing) == 1], learner.ErrParts)
	}
	g.files, g.share = at[1:], share[1:]
	return nil
}

// unlike says why two models can't be merged, and what to do; "" if they can.
func unlike(a, b *model.Model) (what, next string) {
	const anew = "Train both alike: %s."
	p, q := &a.Prep, &b.Prep
	named := format.Lookup(p.Format).HasColumns()
	differ := func(name string, x, y any) (string, string) {
		return fmt.Sprintf("%s: %v and %v", strings.ReplaceAll(name, "_", "-"), x, y),
			fmt.Sprintf(anew, "with the same {"+name+"}")
	}
	switch {
	case a.Learner != b.Learner:
		return differ("learner", a.Learner, b.Learner)
	case a.Precision != b.Precision:
		return differ("precision", a.Precision, b.Precision)
	case !bytes.Equal(a.Config, b.Config):
		return fmt.Sprintf("other settings of %s: %s and %s", a.Learner, a.Config, b.Config),
			fmt.Sprintf(anew, "with the same settings")
	case p.Classes == nil && q.Classes == nil && !format.SameLabels(labelsOf(a), labelsOf(b)):
		return fmt.Sprintf("labels %q, %q and %q, %q", p.Labels.Negative, p.Labels.Positive,
				q.Labels.Negative, q.Labels.Positive), fmt.Sprintf(anew,
				"name the positive label with {positive}")
	case !format.SameLabels(p.Classes, q.Classes):
		return fmt.Sprintf("classes %s and %s", strings.Join(p.Classes, ","),
				strings.Join(q.Classes, ",")), fmt.Sprintf(anew, "name them, in "+
				"one order, with {classes}")
	case p.Bias != q.Bias || p.BiasValue != q.BiasValue:
		return differ("bias", p.Bias, q.Bias)
	case p.ScaledBy() != q.ScaledBy():
		return differ("scale", p.ScaledBy(), q.ScaledBy())
	case p.Scaling != nil && !slices.Equal(p.Scaling.Known, q.Scaling.Known):
		return "features scaled by what each has seen", fmt.Sprintf(anew, "on examples of one "+
			"scale: {scale} goes by each model's own")
	case p.Normalize != q.Normalize:
		return differ("normalize", p.Normalize, q.Normalize)
	case p.Scale != q.Scale:
		return fmt.Sprintf("examples divided by %v and %v", p.Scale, q.Scale), fmt.Sprintf(anew,
			"{normalize} max divides by the longest of its own examples; scale them before, or "+
				"use unit")
	case p.IndexBase != q.IndexBase:
		return differ("index_base", p.IndexBase, q.IndexBase)
	case !slices.Equal(p.Names, q.Names) || p.HashBits != q.HashBits ||
		!slices.Equal(p.Interactions, q.Interactions):
		return "other names of features", fmt.Sprintf(anew, "the second on from the first "+
			"({from}), or with the same {hash_bits}")
	case named != format.Lookup(q.Format).HasColumns(), named && p.Dim != q.Dim:
		return fmt.Sprintf("%d features of %s and %d of %s", p.Dim, p.Format, q.Dim, q.Format),
			fmt.Sprintf(anew, "on files of the same columns")
	case named:
		if what := otherColumns(p, q); what != "" {
			return what, fmt.Sprintf(anew, "on files of the same columns, or the second on from "+
				"the first ({from}), which matches them by name")
		}
	}
	return "", ""
}

// otherColumns says how the features of two csv models with as many differ; "" if they are the
// same, wherever the label stood among them.
func otherColumns(p, q *model.Prep) string {
	features := func(p *model.Prep) []string {
		if at := p.LabelCol - 1; at >= 0 && at < len(p.Columns) {
			return slices.Delete(slices.Clone(p.Columns), at, at+1)
		}
		return p.Columns
	}
	a, b := features(p), features(q)
	switch {
	case len(a) == 0 && len(b) == 0:
		if p.LabelCol != q.LabelCol {
			return fmt.Sprintf("columns without names, the label in column %d and %d", p.LabelCol,
				q.LabelCol)
		}
	case len(a) == 0 || len(b) == 0:
		return "columns with names and without"
	default:
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				return fmt.Sprintf("feature %d is the column %q and %q", i+1, a[i], b[i])
			}
		}
	}
	return ""
}

// merger merges models in the precision of T.
type merger[T engine.Float] struct {
	*gathered
	ctx  context.Context
	pool *engine.Pool
}

// mergeAs merges what was gathered.
func mergeAs[T engine.Float](ctx context.Context, g *gathered) (*Merged, error) {
	m := &merger[T]{g, ctx, engine.NewPool(1)}
	defer m.pool.Close()
	make := m.posterior
	if g.merging.Mix != "" {
		make = m.mixed
	}
	l, err := make()
	if err != nil {
		return nil, err
	}
	whole, err := model.Capture(g.first.Learner, g.config, g.first.Seed, l)
	if err != nil {
		return nil, err
	}
	whole.Prep, whole.Presented, whole.Mistakes = g.prep, g.presented, g.mistakes
	whole.Note = g.first.Note
	r := &Merged{Model: whole, Config: g.config, Files: g.files, Shards: g.of,
		Updates: l.Updates()}
	if p := learner.PosteriorOf(l); p != nil {
		report := p.Report()
		r.Posterior = &report
	}
	if to := g.merging.Model; to != "" {
		if r.SHA256, err = model.Save(to, whole); err != nil {
			return nil, training.NewError(training.ErrSave, "", "%w", err)
		}
	}
	return r, nil
}

// posterior is the product of all.
func (m *merger[T]) posterior() (learner.Learner[T], error) {
	if !m.config.Traits().Merges {
		return nil, refused("", "%s: %s has no posterior to merge: %w", m.files[0], m.first.Learner,
			learner.ErrPrior)
	}
	l, err := m.tree(0, len(m.files))
	if err != nil || m.prior == nil {
		return l, err
	}
	p, err := model.Restore[T](m.prior, m.pool)
	if err != nil {
		return nil, named(m.merging.Prior, err)
	}
	if err := learner.PosteriorOf(l).DividePrior(p, len(m.files)-1); err != nil {
		return nil, refused("Nothing was written. Name the model that all of them went on from.",
			"%s and their prior %s: %w", strings.Join(m.files, ", "), m.merging.Prior, err)
	}
	return l, nil
}

// mixed is the average of all.
func (m *merger[T]) mixed() (learner.Learner[T], error) {
	if !m.config.Traits().Mixes {
		return nil, refused("Learners that can: "+strings.Join(Mixable(), ", ")+".",
			"%s: %s has no weights to be averaged: %w", m.files[0], m.first.Learner,
			learner.ErrConfig)
	}
	restore := func(name string, one *model.Model, err error) (learner.Learner[T], error) {
		if err != nil {
			return nil, err
		}
		l, err := model.Restore[T](one, m.pool)
		return l, named(name, err)
	}
	all := make([]learner.Learner[T], len(m.files))
	for i, name := range m.files {
		one, err := m.merging.load(name)
		if all[i], err = restore(name, one, err); err != nil {
			return nil, err
		}
	}
	var before learner.Learner[T]
	if m.prior != nil {
		var err error
		if before, err = restore(m.merging.Prior, m.prior, nil); err != nil {
			return nil, err
		}
	}
	sum := 0.0
	for _, v := range m.share {
		sum += v
	}
	share := make([]float64, len(all))
	for i := range share {
		if share[i] = 1 / float64(len(all)); m.merging.Mix == MixMistakes && sum > 0 {
			share[i] = m.share[i] / sum
		}
	}
	l, err := learner.New[T](m.entry, m.config, learner.Env{Seed: m.first.Seed, Pool: m.pool})
	if err != nil {
		return nil, err
	}
	if err := learner.MixerOf(l).Mix(all, share, before); err != nil {
		return nil, refused("", "%s: %w", strings.Join(m.files, ", "), err)
	}
	return l, nil
}

// Mixable returns the names of the learners whose weights can be averaged as they are by default.
func Mixable() []string { return that(func(t learner.Traits) bool { return t.Mixes }) }

// Mergeable returns the names of the learners with a posterior that can be merged.
func Mergeable() []string { return that(func(t learner.Traits) bool { return t.Merges }) }

// that returns the names of the learners whose traits by default are such.
func that(are func(learner.Traits) bool) (names []string) {
	for _, name := range learner.Names() {
		if e, err := learner.Lookup(name); err == nil && are(e.Config().Traits()) {
			names = append(names, name)
		}
	}
	return names
}

// tree merges the models lo to hi-1.
func (m *merger[T]) tree(lo, hi int) (learner.Learner[T], error) {
	if m.ctx.Err() != nil {
		return nil, context.Cause(m.ctx)
	}
	if hi-lo == 1 {
		return m.leaf(m.files[lo])
	}
	mid := lo + 1<<(bits.Len(uint(hi-lo-1))-1)
	a, err := m.tree(lo, mid)
	if err != nil {
		return nil, err
	}
	b, err := m.tree(mid, hi)
	if err != nil {
		return nil, err
	}
	return a, m.multiply(a, b, m.files[hi-1])
}

// leaf returns the learner of one model, without points where there is a prior.
func (m *merger[T]) leaf(name string) (learner.Learner[T], error) {
	one, err := m.merging.load(name)
	if err != nil {
		return nil, err
	}
	l, err := model.Restore[T](one, m.pool)
	if err == nil && m.prior != nil {
		err = learner.PosteriorOf(l).DividePrior(nil, 0)
	}
	return l, named(name, err)
}

// named says whose error it is.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// multiply merges b, whose last model is called name, into a.
func (m *merger[T]) multiply(a, b learner.Learner[T], name string) error {
	err := learner.PosteriorOf(a).MergePosterior(b)
	if errors.Is(err, learner.ErrPrior) || errors.Is(err, learner.ErrDim) {
		return refused("Nothing was written. Train both alike, or one on all examples.",
			"%s and %s: %w", m.files[0], name, err)
	}
	return err
}
