package learners

import (
	"context"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Fit is Fitter.Fit: cyclic passes, each example with one slack. The soft margin is SoftC =
// 1/Delta^2, not FitOptions.Delta; slacks are no part of the state, so with SoftC the learner must
// be new. Margins are those of |w|_q, with slacks of (w, xi): the maximal one lies between
// FitResult.Margin and Bound.
func (l *pumma[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	if err := margin.CheckFit("pumma", b, &o, pummaFits(l.invC > 0)); err != nil {
		return learner.FitResult{}, err
	}
	if l.invC > 0 && l.updates > 0 {
		return learner.FitResult{}, fmt.Errorf("pumma: with soft-c a run can't go on from %d "+
			"updates, whose slacks were not kept: %w", l.updates, learner.ErrFit)
	}
	l.begin(b)
	c := pummaPasses[T]{l: l, b: b, pos: -1, neg: -1, scale: 1, delta: l.cfg.Delta,
		bound2: math.Inf(1)}
	from, cut := margin.ResumableCut(l.cut, b, &o), &l.cut
	if from != nil {
		if bound2, ok := from.Scalars["bound2"]; ok {
			c.bound2 = bound2
		}
	}
	if l.invC > 0 { // slacks are no part of a cut
		c.m = make([]float64, b.Len())
		l.cut, cut, o.Checkpoint = nil, new(*learner.State), nil
	}
	return margin.FitPasses(ctx, b, o, from, &margin.Passes{
		N: b.Len(), Delta: l.cfg.Delta, Goal: func(delta float64) { c.delta = delta },
		Status: c.judge,
		Learn: func(k int) bool {
			r, counts := inverseWeight(b, k)
			if !counts || c.margin(k, r) >= 1-c.delta {
				return false
			}
			before := l.updates
			c.update(k, r) // (U), (F)
			if l.norm2 > 0 {
				c.bound2 = min(c.bound2, l.norm2)
			}
			return l.updates != before // equal examples of both classes can't be learned
		},
		Bound: func() float64 { return math.Sqrt(c.bound2) },
		Known: l.updates == 0, // else other examples may have been learned
		Least: primal.LeastMargin(primal.SquaredLengths(b, 0)),
	}, &margin.Cuts{Cut: cut, Updates: l.Updates,
		Own: func() map[string]float64 { return map[string]float64{"bound2": c.bound2} }})
}

// pummaFits says what Fit takes, of a soft margin or a hard one.
func pummaFits(soft bool) margin.Fits {
	return margin.Fits{Weights: soft, ActiveSet: true, Halving: true,
		NoDelta: "the soft margin is set by soft-c, 1/Delta^2"}
}

// pummaPasses is a data set with the coordinates of u that belong to its examples' slacks.
type pummaPasses[T learner.Float] struct {
	l        *pumma[T]
	b        *engine.Block[T]
	m        []float64 // m_k / scale; nil for a hard margin
	scale    float64
	pos, neg int // which examples are xpos and xneg; -1: none of these
	delta    float64
	bound2   float64 // the least |u|^2 so far: the maximal margin is no larger
}

// share returns m_k.
func (c *pummaPasses[T]) share(k int) float64 {
	if c.m == nil || k < 0 {
		return 0
	}
	return float64(c.scale * c.m[k])
}

// margin returns y f + xi of example k, r being 1 over its weight.
func (c *pummaPasses[T]) margin(k int, r float64) float64 {
	m := float64(float64(c.b.Y[k]) * c.l.score(c.b, k))
	if s := c.share(k); s > 0 {
		m += float64(float64(s*r)*c.l.invC) / c.l.norm2 // (E)
	}
	return m
}

func (c *pummaPasses[T]) update(k int, r float64) {
	tau, ok := c.l.update(c.b, k, primal.DotMixed(c.b, k, c.l.powers()), c.share(k), r)
	if !ok {
		return
	}
	if c.b.Y[k] > 0 {
		c.pos = k
	} else {
		c.neg = k
	}
	if c.m == nil || c.pos < 0 || c.neg < 0 {
		return
	}
	if c.scale *= 1 - tau; c.scale < 0x1p-64 { // case (i), or time to fold it in
		for i := range c.m {
			c.m[i] *= c.scale
		}
		c.scale = 1
	}
	c.m[c.pos], c.m[c.neg] = c.l.m[1]/c.scale, c.l.m[0]/c.scale
}

// judge fills in violators and margin, in units of |(w, xi)|, which is 1/sqrt(norm2).
func (c *pummaPasses[T]) judge(r *learner.FitResult) {
	r.Violators, r.Margin = 0, math.NaN()
	least := math.Inf(1)
	for k := range c.b.Len() {
		w, counts := inverseWeight(c.b, k)
		if !counts {
			continue
		}
		m := c.margin(k, w)
		if least = min(least, m); m < 1-c.l.cfg.Delta {
			r.Violators++
		}
	}
	if c.l.norm2 > 0 {
		r.Margin = float64(least * math.Sqrt(c.l.norm2))
	}
}

// FitPUMMARows is Fit of [PUMMAConfig] for p = 2 in the space of a kernel (section 4.1), over the
// rows of the examples' Gram matrix. weights are those of the examples, nil where all are 1; with a
// hard margin there are none. It keeps the scores s_k = u . x_k of all examples, which (A) changes
// by
//
//	s' = (1-tau) s + tau (K(xpos, .) - K(xneg, .)) / 2
//
// and takes (19) from them. Rounding errors shrink with s and do not add up. The slacks are those
// of K + delta_ij/C.
//
// Cost: a number an example to check; two rows and O(examples) an update. Memory: two float64 an
// example beside the rows.
func FitPUMMARows[T learner.Float](ctx context.Context, rows engine.RowSource[T], y,
	weights []float64, cfg PUMMAConfig, o learner.FitOptions) (learner.MarginDual, error) {
	if err := cfg.Validate(); err != nil {
		return learner.MarginDual{}, err
	}
	fits := pummaFits(cfg.SoftC > 0)
	if err := fits.CheckOptions("pumma", &o); err != nil {
		return learner.MarginDual{}, err
	}
	if cfg.P != "2" {
		return learner.MarginDual{}, fmt.Errorf("pumma: p is %s, kernels have p = 2 only: %w",
			cfg.P, learner.ErrConfig)
	}
	// (U), (F)
	c := margin.RowSolver[T]{Rows: rows, Y: y, Weights: weights, Bias: true, Violates: func(m,
		delta float64) bool {
		return m < 1-delta
	}}
	if cfg.SoftC > 0 {
		c.Ridge = 1 / cfg.SoftC
	}
	return c.Fit(ctx, "pumma", cfg.Delta, true, o)
}
