package margin

import (
	"context"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// RowSolver is PUMMA with p = 2 or, without bias, aggressive ROMMA over the rows of a Gram matrix:
// K. Ishibashi, K. Hatano, M. Takeda, "Online Learning of Approximate Maximum p-Norm Margin
// Classifiers with Bias", COLT 2008, whose numbers stand here; letters are those of
// learners.PUMMAConfig.
//
// Both keep u = w/|w|^2, so that w = u/|u|^2, and an update takes the point of least norm of the
// segment from u to an end: z/2, z = xpos - xneg, for PUMMA, y_k x_k for ROMMA. With that,
//
//	u = sum_k y_k m_k x_k,  s_k = u.x_k,  f(x_k) = s_k/|u|^2 + b
//
// are kept up to date by the kernel rows of the end's examples, O(examples) an update. With the
// 2-norm soft margin u has the coordinate sqrt(Ridge/w_k) m_k for each example besides.
type RowSolver[T learner.Float] struct {
	Rows engine.RowSource[T]
	Y    []float64 // -1 or +1
	// w_k; nil where all are 1, as with a hard margin. An example of weight 0 is left out.
	Weights []float64
	Ridge   float64 // 1/C, or Delta^2: added to the diagonal, over the example's weight
	Bias    bool    // PUMMA: the segment's other end is z/2
	// whether an update is due to learn to margin 1 - delta; m is y f, slack included: (U), (F)
	Violates func(m, delta float64) bool
	s, m     []float64 // u.x_k, without slacks; m_k >= 0
	kept     [2]int    // numbers of xneg and xpos; -1: none yet
	Norm2    float64   // |u|^2, slacks included
	b        float64   // 0 without Bias
	updates  int64
	// The least |u|^2 so far. u is a convex combination of ends, so that no margin exceeds |u|.
	bound2 float64
}

// Fit passes over the examples until a pass over all of them, at accuracy delta, makes no update.
// halving says whether there is an accuracy that FitOptions.Halving can begin with 1.
func (c *RowSolver[T]) Fit(ctx context.Context, name string, delta float64, halving bool,
	o learner.FitOptions) (learner.MarginDual, error) {
	n := len(c.Y)
	if n == 0 || c.Rows.Len() != n {
		return learner.MarginDual{}, fmt.Errorf("%s: %d labels for %d examples: %w", name, n,
			c.Rows.Len(), learner.ErrFit)
	}
	if err := c.checkWeights(name); err != nil {
		return learner.MarginDual{}, err
	}
	c.s, c.m, c.kept, c.bound2 = make([]float64, n), make([]float64, n), [2]int{-1, -1}, math.Inf(1)
	r := learner.MarginDual{Coef: make([]float64, n)}
	shortest, longest := math.Inf(1), 0.0 // |x_k|^2, with the ridge, of examples with features
	for k := range n {
		if d := float64(c.Rows.Diag(k)); d > 0 && c.counts(k) {
			d += float64(c.Ridge * c.inverse(k))
			shortest, longest = min(shortest, d), max(longest, d)
		}
	}
	now := delta     // the accuracy of the present pass
	var failed error // of a kernel row: no further example is learned
	p := Passes{
		N: n, Delta: delta,
		Learn: func(k int) bool {
			if failed != nil || !c.counts(k) || !c.Violates(c.margin(k), now) {
				return false
			}
			before := c.updates
			failed = c.update(ctx, k)
			if c.Norm2 > 0 {
				c.bound2 = min(c.bound2, c.Norm2)
			}
			return c.updates != before // equal examples of both classes make none
		},
		Bound:  func() float64 { return math.Sqrt(c.bound2) },
		Known:  true,
		Least:  primal.LeastMargin(shortest, longest),
		Status: func(r *learner.FitResult) { c.judge(delta, r) },
	}
	if halving {
		p.Goal = func(delta float64) { now = delta }
	}
	err := p.Run(ctx, &o, &r.FitResult)
	if failed != nil {
		err = failed
	}
	p.judge(&r.FitResult)
	r.Converged = r.Converged && r.Violators == 0 // equal examples of both classes can't be learned
	for k := range n {
		if c.Norm2 > 0 {
			r.Coef[k] = float64(c.Y[k]*c.m[k]) / c.Norm2 // of w = u/|u|^2
		}
	}
	r.Updates, r.Counter, r.Bias, r.Bound = c.updates, c.updates+1, c.b, math.Sqrt(c.Norm2)
	r.ScoreSpace = true
	return r, err
}

// checkWeights wants a weight for each example, all of them finite and 0 or more, and some that
// count; of a hard margin none but 1.
func (c *RowSolver[T]) checkWeights(name string) error {
	if c.Weights == nil {
		return nil
	}
	some := false
	for _, w := range c.Weights {
		if !(w >= 0 && w <= math.MaxFloat64) || len(c.Weights) != len(c.Y) {
			return fmt.Errorf("%s: %d weights for %d examples, one of them %v: %w", name,
				len(c.Weights), len(c.Y), w, engine.ErrWeight)
		}
		if c.Ridge == 0 && w != 1 {
			return fmt.Errorf("%s: a hard margin has no slacks that a weight of %v could price: %w",
				name, w, learner.ErrWeights)
		}
		some = some || Counts(w)
	}
	if !some {
		return noneCounts(name)
	}
	return nil
}

// counts reports whether example k is learned.
func (c *RowSolver[T]) counts(k int) bool { return c.Weights == nil || Counts(c.Weights[k]) }

// inverse returns 1/w_k.
func (c *RowSolver[T]) inverse(k int) float64 {
	if c.Weights == nil {
		return 1
	}
	return 1 / c.Weights[k]
}

// judge fills in violators at accuracy delta, and the margin min_k y_k f(x_k)/|w|, |w| = 1/|u|,
// slacks included.
func (c *RowSolver[T]) judge(delta float64, r *learner.FitResult) {
	r.Violators = 0
	least := math.Inf(1)
	for k := range c.Y {
		if !c.counts(k) {
			continue
		}
		m := c.margin(k)
		if least = min(least, m); c.Violates(m, delta) {
			r.Violators++
		}
	}
	r.Margin = float64(least * math.Sqrt(c.Norm2))
}

// FillSoftMargin fills in what FitResult has of a soft margin, as [ScaledLinear] does for learners
// of weights: gamma, D and D' of Theorem 2 of the CRAMMA paper, an example counting as often as it
// weighs.
func (c *RowSolver[T]) FillSoftMargin(r *learner.FitResult) {
	var m2 float64 // sum m_k^2/w_k: Ridge times it is |u|^2 of the slacks
	for k, m := range c.m {
		if m > 0 {
			m2 += float64(float64(m*m) * c.inverse(k))
		}
	}
	length := math.Sqrt(c.Norm2-float64(c.Ridge*m2)) / c.Norm2 // |w| without slacks
	r.Gamma, r.Gamma0 = r.Margin, r.Margin/math.Sqrt(c.Norm2)/length
	r.DPrime = c.Ridge * math.Sqrt(m2) / c.Norm2 / length
	softMargin(r, len(c.s), func(k int) (m, inverse float64) {
		if !c.counts(k) {
			return 0, 0
		}
		return float64(c.Y[k]*c.s[k]) / c.Norm2 / length, c.inverse(k)
	})
}

// margin returns y f + xi of example k, xi = m_k Ridge/(w_k |u|^2).
func (c *RowSolver[T]) margin(k int) float64 {
	if c.Norm2 == 0 { // w = 0: PUMMA has seen one label at most
		return float64(c.Y[k] * c.b)
	}
	return float64(c.Y[k]*(c.s[k]/c.Norm2+c.b)) +
		float64(float64(c.m[k]*c.inverse(k))*c.Ridge)/c.Norm2 // (E)
}

// update learns example k: it moves u to the point of least norm of the segment from u to the end
// that k makes, as the update of learners.PUMMAConfig, or (2) of learners.ROMMAConfig, does on
// weights.
func (c *RowSolver[T]) update(ctx context.Context, k int) error {
	y, side := c.Y[k], 0
	if y > 0 {
		side = 1
	}
	// the kept example of the other label, and what each of the two has in the segment's other end
	other, share := -1, 1.0
	if c.Bias {
		other, share = c.kept[1-side], 0.5
		if other < 0 {
			c.kept[side], c.b = k, y // one label seen: w = 0, b = y
			c.updates++
			return nil
		}
	}
	row, err := c.Rows.Row(ctx, k, len(c.Y))
	if err != nil {
		return err
	}
	var rowOther []T
	// The end's squared length and its inner product with u: of y_k x_k, or of z/2, whose
	// coordinates m are 1/2 at xpos and xneg.
	r, rOther := c.inverse(k), 0.0
	half := float64(c.Rows.Diag(k)) + float64(c.Ridge*r)
	uz := float64(y*c.s[k]) + float64(float64(c.m[k]*r)*c.Ridge)
	if c.Bias {
		if rowOther, err = c.Rows.Row(ctx, other, len(c.Y)); err != nil {
			return err
		}
		rOther = c.inverse(other)
		half = 0.25*(float64(c.Rows.Diag(k))+float64(c.Rows.Diag(other))-2*float64(row[other])) +
			float64(float64(0.25*(r+rOther))*c.Ridge)
		uz = float64(0.5*(y*(c.s[k]-c.s[other]))) +
			float64(float64(0.5*(float64(c.m[k]*r)+float64(c.m[other]*rOther)))*c.Ridge)
	}
	if !(half > 0) { // equal examples, or one without features
		return nil
	}
	tau, norm2, least := Foot(uz, half, c.Norm2, c.Ridge > 0)
	c.bound2 = min(c.bound2, max(0, least))
	// u <- (1 - tau) u + tau end, by its inner products and by its coordinates
	step := float64(share*tau) * y
	if c.Bias {
		for j := range c.s {
			c.s[j] = float64((1-tau)*c.s[j]) + float64(step*(float64(row[j])-float64(rowOther[j])))
		}
	} else {
		for j := range c.s {
			c.s[j] = float64((1-tau)*c.s[j]) + float64(step*float64(row[j]))
		}
	}
	for j := range c.m {
		c.m[j] *= 1 - tau
	}
	c.m[k] += share * tau
	c.Norm2 = norm2
	if c.Bias {
		c.m[other] += share * tau
		c.kept[side] = k
		// (20), (G)
		slack := float64(c.m[k]*r) - float64(c.m[other]*rOther)
		c.b = -0.5 * (c.s[k] + c.s[other] + float64(y*slack*c.Ridge)) / norm2
	}
	c.updates++
	return nil
}

// Foot returns the step tau from u to the point of least norm of the segment to an end, and the
// squared norm there: (19). uz is the end's inner product with u, half and u2 are their squared
// norms. Where all but nothing is left of u, since the examples can't be separated, the step is to
// the end itself; least is what the squared norm would have been. Not so with a soft margin.
func Foot(uz, half, u2 float64, soft bool) (tau, norm2, least float64) {
	if !(u2 > 0) {
		return 1, half, half
	}
	// u + tau d, d = end - u, is shortest at tau = -u.d/|d|^2
	ud, dd := uz-u2, half-float64(2*uz)+u2
	if tau = -ud / dd; !(tau < 1) { // case (i): the end itself
		return 1, half, half
	}
	// |u + tau d|^2 = |u|^2 + tau (2 u.d + tau |d|^2)
	norm2 = u2 + float64(tau*(float64(2*ud)+float64(tau*dd)))
	// Nothing but rounding errors are left: they are some 2^-50 of the terms. 2^-40 leaves a factor
	// of a thousand for what inner products have gathered; a |u| above it is above a millionth of
	// the lengths, under which a margin counts as none.
	if !soft && !(norm2 > 0x1p-40*max(u2, half)) {
		return 1, half, norm2
	}
	return tau, norm2, norm2
}

// WeightsOf returns the examples' weights, nil where all are 1.
func WeightsOf[T learner.Float](b *engine.Block[T]) []float64 {
	if !b.Weighted() {
		return nil
	}
	w := make([]float64, b.Len())
	for t := range w {
		w[t] = float64(b.Weight(t))
	}
	return w
}

// FitRows is Fit with a kernel of a learner called name: solve gets the kernel rows of b, of which
// o.GramBytes are kept, perhaps shared, the labels and the weights; e gets the support vectors.
// Without an update e is as it was.
func FitRows[T learner.Float](name string, b *engine.Block[T], o learner.FitOptions,
	k engine.Kernel, pool *engine.Pool, shared *engine.SharedRows, e *kept.Sum[T],
	solve func(rows engine.RowSource[T], y, weights []float64) (learner.MarginDual, error)) (
	learner.MarginDual, error) {
	if o.GramBytes == 0 {
		o.GramBytes = learner.DefaultGramBytes
	}
	rows, err := engine.RowsOf(shared, k, b, max(0, o.GramBytes), pool)
	if err != nil {
		return learner.MarginDual{}, fmt.Errorf("%s: %w", name, err)
	}
	before := rows.Stats()
	y := make([]float64, b.Len())
	for i, v := range b.Y {
		y[i] = float64(v)
	}
	r, err := solve(rows, y, WeightsOf(b))
	r.KernelRows = engine.Since(rows.Stats(), before)
	if r.Updates > 0 {
		e.SetSupport(b, r.Coef)
	}
	return r, err
}
