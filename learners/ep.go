package learners

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*epLearner[float32])(nil)

func init() { learner.Register("ep", (*EPConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*EPConfig) Entry() learner.Entry {
	return learner.EntryFor(EPConfig{PointsConfig{Noise: 0.05, Tolerance: 1e-6, Sweeps: 100,
		Damping: 1}},
		newEP[float32], newEP[float64], learner.Entry{
			Summary: "expectation propagation: the Gaussian posterior of a data set (batch only)",
		})
}

// epLearner is VVM with all examples kept as points, whose sites are refined to convergence and
// then absorbed: Fit leaves a Gaussian.
//
// Reference: T. P. Minka, "Expectation propagation for approximate Bayesian inference", UAI 2001,
// and the VVM paper (see [VVMConfig]), section 2. With x_i times its label and u_i = w.x_i, each
// example's likelihood of u_i is replaced by a Gaussian factor, its site, so that
//
//	(6) q(w) = p(w) prod_i exp(nu_i u_i - tau_i u_i^2/2)
//
// is Gaussian. A refinement takes site i out of q and gives it the tau_i and nu_i with which q has
// the mean and variance of u_i that the likelihood itself leads to; a sweep refines all, and sweeps
// go on until no site changes by more than the tolerance.
//
//	paper       here               shape, unit
//	x_i         Posterior.X        examples, each times its label
//	f~_i        Posterior.Tau, Nu  sites, two numbers an example
//	m_w, V_w    Posterior          mean, one a feature, and covariance
//	epsilon     Config.Noise       rate of wrong labels
//
// Deviations: sweeps are sequential, in the order of the examples. Where sites swing the damping is
// halved, up to 4 times.
//
// Guarantee: the fixed points of independent implementations, which do not depend on order or
// damping: TestGoldenEP.
//
// Cost: for n examples of d features O(min(n, d)^2) a refinement, n of which are a sweep: in the
// space of the n scores, or of the weights where d is smaller or FitOptions.GramBytes does not
// allow two n x n matrices. Memory: n d float64 and those matrices, or d^2.
type epLearner[T learner.Float] struct{ *vvm[T] }

// EPConfig holds the settings of EP.
type EPConfig struct{ PointsConfig }

// Validate wants Noise in [0, 1/2), which can't be estimated, Tolerance, Sweeps > 0 and Damping in
// (0, 1].
func (c *EPConfig) Validate() error {
	if c.NoiseAuto {
		return fmt.Errorf("ep: label-noise is estimated from predictions made before labels are "+
			"shown, of which ep makes none: "+
			"give it the rate that adf or vvm estimates: %w", learner.ErrConfig)
	}
	return c.PointsConfig.validate("ep")
}

// Traits is Config.Traits: where sites wander, labels that may be wrong help, and smaller changes.
func (c *EPConfig) Traits() learner.Traits {
	t := gauss.PosteriorTraits(c.memory)
	t.Stream, t.Whole, t.OwnLimit, t.Forgets = false, true, true, false
	t.Remedies = append(t.Remedies, learner.Remedy{Change: "lower", Setting: "damping"})
	return t
}

// memory is Traits.Memory: a covariance matrix, one float64 an example and feature, and in the
// space of scores two more and two matrices of examples.
func (c *EPConfig) memory(x learner.Extent) learner.Footprint {
	x.Growing = false
	f := gauss.PosteriorFootprint(x, 1)
	n := x.Examples
	f.Add("examples in float64", n, learner.Times(n, 8*x.Features+3*24))
	if x.Whole && epInScores(n, x.Features, x.GramBytes()) {
		g := gauss.PosteriorFootprint(learner.Extent{Features: 0, Elem: x.Elem}, n)
		f.Add("scores of examples", n, learner.Plus(learner.Times(n, 16, x.Features), g.Held()))
	}
	return f
}

// epInScores reports whether Fit works on the scores of n examples: refinements are O(n^2) there
// and O(d^2) on the weights, and two n x n matrices of float64 must fit into gram bytes. The
// quotient can't overflow.
func epInScores(n, features, gram int64) bool { return n <= features && 16*n <= gram/n }

func newEP[T learner.Float](cfg EPConfig, _ learner.Env) (learner.Learner[T], error) {
	return &epLearner[T]{virtualPoints[T]("ep", cfg.PointsConfig, 0, 0, false)}, nil
}

// Learn returns an error that wraps ErrBatch.
func (l *epLearner[T]) Learn(*engine.Block[T], []learner.Round) error {
	return fmt.Errorf("ep: %w", learner.ErrBatch)
}

// Fit is Fitter.Fit. It starts anew every time; an update is a sweep, and FitResult.Converged says
// whether the last one changed no site by more than the tolerance, skipped none, and all of
// them made the Gaussian: Report counts those that did not. Violators are the examples with y f <=
// 0. When ctx ends the state is unchanged.
func (l *epLearner[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	if err := margin.CheckFit("ep", b, &o, margin.Fits{NoDelta: "a posterior has no soft " +
		"margin: its rate of wrong labels (label-noise) stands for one"}); err != nil {
		return learner.FitResult{}, err
	}
	n := b.Len()
	p := gauss.NewPosterior(l.cfg.Noise, 1)
	p.Probit2 = l.p.Probit2
	if err := p.Grow("ep", b.Dim); err != nil {
		return learner.FitResult{}, err
	}
	// The examples times their labels, so that all likelihoods are those of u > 0.
	t := gauss.Sites{X: make([][]float64, n), Tau: make([]float64, n), Nu: make([]float64, n)}
	for i := range n {
		t.X[i] = make([]float64, b.Dim)
		primal.SetSigned(b, i, float64(b.Y[i]), t.X[i])
	}
	r := learner.FitResult{Margin: math.NaN(), Bound: math.Inf(1),
		ScoreSpace: epInScores(int64(n), int64(b.Dim), o.GramBytes)}
	if r.ScoreSpace {
		p.Reserve(n)
		for i, x := range t.X {
			copy(p.X[p.K], x)
			p.Add()
			if i%64 == 0 && ctx.Err() != nil {
				return learner.FitResult{}, context.Cause(ctx)
			}
		}
	}
	w := margin.NewWatch(&o)
	// half the damping takes twice the sweeps, as often as halvings says
	limit := (2<<halvings - 1) * int64(l.ep.Sweeps)
	if o.MaxUpdates > 0 {
		limit = min(limit, o.MaxUpdates)
	}
	for !r.Converged && r.Updates < limit {
		l.sweep(ctx, p, &t, &r)
		if ctx.Err() != nil {
			return learner.FitResult{}, context.Cause(ctx)
		}
		r.Updates++
		r.Epochs++
		if w.Due() {
			w.Report(learner.FitStatus{Updates: r.Updates, Epochs: r.Epochs, Margin: math.NaN(),
				Bound: math.Inf(1)})
		}
	}
	skipped := p.Skipped
	// the sites go with their examples, the matrices by score are no longer needed
	if r.ScoreSpace {
		t = gauss.Sites{X: p.X[:p.K], Tau: slices.Clone(p.Tau[:p.K]), Nu: slices.Clone(p.Nu[:p.K])}
		p.Reserve(1)
	}
	p.Rebuild(&t) // all sites absorbed: a Gaussian, without the rounding errors of the sweeps
	p.Flush()
	if r.Converged = r.Converged && !skipped && p.Report.Passed == 0 &&
		p.Report.Lost == 0; !r.Converged {
		p.Report.Unconverged++
	}
	l.p = p
	for i := range n {
		if float64(b.Y[i])*primal.DotMixed(b, i, p.Mean) <= 0 {
			r.Violators++
		}
	}
	l.updates += r.Updates
	r.Counter = l.updates + 1
	return r, nil
}

// halvings is how often Fit halves the damping: to 1/16.
const halvings = 4

// sweep refines all sites once, on the scores or on the sites t; r.Updates sweeps were before it.
func (l *epLearner[T]) sweep(ctx context.Context, p *gauss.Posterior, t *gauss.Sites,
	r *learner.FitResult) {
	damping := l.ep.Damping
	for n := int64(l.ep.Sweeps); r.Updates >= n; n += n + int64(l.ep.Sweeps) {
		damping *= 0.5
	}
	// So that rounding errors do not add up. Afresh costs what a sweep does: an eighth more.
	afresh := r.Updates%8 == 7
	switch {
	case r.ScoreSpace && afresh:
		p.Refresh()
	case afresh:
		p.Rebuild(t)
	}
	if r.ScoreSpace {
		r.Converged = p.Sweep(ctx, &l.ep, damping)
	} else {
		r.Converged = p.SweepAbsorbed(ctx, t, &l.ep, damping)
	}
}
