package learners

import (
	"context"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// PUMMADual is what PUMMA reaches with a kernel: f(x) = sum_i Coef_i K(x_i, x) + Bias.
type PUMMADual struct {
	FitResult
	Coef  []float64 // y_i m_i / |u|^2, one an example; 0 for those that never were updates
	Bias  float64
	Bound float64 // |u|: no hyperplane has a larger margin
}

// FitPUMMARows is [PUMMA.Fit] for p = 2 in the space of a kernel (section 4.1), over the rows of the examples' Gram matrix.
// It keeps the scores s_k = u . x_k of all examples, which (A) changes by
//
//	s' = (1-tau) s + tau (K(xpos, .) - K(xneg, .)) / 2
//
// and takes (19) from them. Rounding errors shrink with s and do not add up. The slacks are those of K + delta_ij/C.
//
// Cost: a number an example to check; two rows and O(examples) an update. Memory: two float64 an example beside the rows.
func FitPUMMARows[T Float](ctx context.Context, rows RowSource[T], y []float64, cfg PUMMAConfig, o FitOptions) (PUMMADual, error) {
	n := len(y)
	if err := cfg.Validate(); err != nil {
		return PUMMADual{}, err
	}
	if err := checkFit("pumma", &o, true, true); err != nil {
		return PUMMADual{}, err
	}
	switch {
	case cfg.P != "2":
		return PUMMADual{}, fmt.Errorf("pumma: p is %s, kernels have p = 2 only: %w", cfg.P, ErrConfig)
	case o.Delta != 0:
		return PUMMADual{}, fmt.Errorf("pumma: Delta is %v: the soft margin is set by soft-c, 1/Delta^2: %w", o.Delta, ErrConfig)
	case n == 0 || rows.Len() != n:
		return PUMMADual{}, fmt.Errorf("pumma: %d labels for %d examples: %w", n, rows.Len(), ErrFit)
	}
	c := pummaRows[T]{rows: rows, y: y, s: make([]float64, n), m: make([]float64, n), kept: [2]int{-1, -1}, bound2: math.Inf(1)}
	if cfg.SoftC > 0 {
		c.invC = 1 / cfg.SoftC
	}
	r := PUMMADual{Coef: make([]float64, n)}
	c.delta = cfg.Delta
	var failed error
	p := passes{
		n: n, delta: cfg.Delta, goal: func(delta float64) { c.delta = delta },
		learn: func(k int) bool {
			if failed != nil || c.margin(k) >= 1-c.delta {
				return false
			}
			before := c.updates
			failed = c.update(ctx, k) // (U), (F)
			if c.norm2 > 0 {
				c.bound2 = min(c.bound2, c.norm2)
			}
			return c.updates != before
		},
		bound:  func() float64 { return math.Sqrt(c.bound2) },
		status: func(r *FitResult) { c.judge(cfg.Delta, r) },
	}
	err := p.run(ctx, &o, &r.FitResult)
	if failed != nil {
		err = failed
	}
	c.judge(cfg.Delta, &r.FitResult)
	r.Converged = r.Converged && r.Violators == 0 // equal examples of both classes can't be learned
	for k := range n {
		if c.norm2 > 0 {
			r.Coef[k] = float64(y[k]*c.m[k]) / c.norm2
		}
	}
	r.Updates, r.Counter, r.Bias, r.Bound = c.updates, c.updates+1, c.b, math.Sqrt(c.norm2)
	r.ScoreSpace = true
	return r, err
}

// fitRows is Fit with a kernel. When ctx ends before an update the state is unchanged.
func (l *PUMMA[T]) fitRows(ctx context.Context, b *engine.Block[T], o FitOptions) (FitResult, error) {
	list, err := engine.NewPoints[T](l.cfg.kernel())
	if err != nil {
		return FitResult{}, fmt.Errorf("pumma: %w", err)
	}
	list.Append(b, 0, b.Len())
	if o.GramBytes == 0 {
		o.GramBytes = DefaultGramBytes
	}
	y := make([]float64, b.Len())
	for i, v := range b.Y {
		y[i] = float64(v)
	}
	r, err := FitPUMMARows(ctx, engine.NewRows(list, max(0, o.GramBytes), b.Len(), l.pool), y, l.cfg, o)
	if r.Updates == 0 {
		return r.FitResult, err
	}
	if e := l.expansion.keep("pumma", b, r.Coef, l.cfg.kernel(), l.pool); e != nil {
		return FitResult{}, e
	}
	l.b, l.norm2 = r.Bias, float64(r.Bound*r.Bound)
	l.updates += r.Updates
	r.Counter = l.updates + 1
	return r.FitResult, err
}

// scoreRows is Score with a kernel.
func (l *PUMMA[T]) scoreRows(b *engine.Block[T], dst []float64) error {
	if err := checkBlock("pumma", b, len(dst)); err != nil {
		return err
	}
	return l.expansion.score("pumma", b, dst, l.b)
}

func (l *PUMMA[T]) stateRows() State {
	s := State{
		Counters: map[string]uint64{"updates": uint64(l.updates)},
		Scalars:  map[string]float64{"b": l.b, "norm2": l.norm2},
	}
	l.expansion.state(&s)
	return s
}

func (l *PUMMA[T]) setStateRows(s State) error {
	if err := s.holds("pumma", expansionTensors, []string{"updates", "dim"}, []string{"b", "norm2"}); err != nil {
		return err
	}
	for name, v := range s.Scalars {
		if v-v != 0 || name == "norm2" && v < 0 {
			return fmt.Errorf("pumma: scalar %q is %v: %w", name, v, ErrState)
		}
	}
	updates, err := count(&s, "pumma", "updates")
	if err != nil {
		return err
	}
	if err := l.expansion.setState("pumma", &s, l.cfg.kernel(), l.pool); err != nil {
		return err
	}
	l.b, l.norm2, l.updates = s.Scalars["b"], s.Scalars["norm2"], updates
	return nil
}

type pummaRows[T Float] struct {
	rows    RowSource[T]
	y       []float64
	s, m    []float64
	kept    [2]int // xneg and xpos; -1: none yet
	invC    float64
	norm2   float64 // |u|^2, slacks included
	b       float64
	updates int64
	delta   float64
	bound2  float64 // the least |u|^2 so far: the maximal margin is no larger
}

// judge fills in violators and margin.
func (c *pummaRows[T]) judge(delta float64, r *FitResult) {
	r.Violators = 0
	least := math.Inf(1)
	for k := range c.y {
		m := c.margin(k)
		if least = min(least, m); m < 1-delta {
			r.Violators++
		}
	}
	r.Margin, r.Bound = float64(least*math.Sqrt(c.norm2)), math.Sqrt(c.bound2)
}

// margin returns y f + xi of example k.
func (c *pummaRows[T]) margin(k int) float64 {
	if c.norm2 == 0 { // one label seen at most: w = 0
		return float64(c.y[k] * c.b)
	}
	return float64(c.y[k]*(c.s[k]/c.norm2+c.b)) + float64(c.m[k]*c.invC)/c.norm2 // (E)
}

// update is [PUMMA.update], by inner products.
func (c *pummaRows[T]) update(ctx context.Context, k int) error {
	side := 0
	if c.y[k] > 0 {
		side = 1
	}
	kept := c.kept
	kept[side] = k
	neg, pos := kept[0], kept[1]
	if neg < 0 || pos < 0 {
		c.kept, c.b = kept, c.y[k]
		c.updates++
		return nil
	}
	rowPos, err := c.rows.Row(ctx, pos, len(c.y))
	if err != nil {
		return err
	}
	rowNeg, err := c.rows.Row(ctx, neg, len(c.y))
	if err != nil {
		return err
	}
	// |z/2|^2 and u.z/2, with the slacks' coordinates 1/2 at both
	half := 0.25*(float64(c.rows.Diag(pos))+float64(c.rows.Diag(neg))-2*float64(rowPos[neg])) + 0.5*c.invC
	if !(half > 0) { // equal examples
		return nil
	}
	tau, norm2 := 1.0, half
	if c.norm2 > 0 {
		uz := float64(0.5*(c.s[pos]-c.s[neg])) + float64(float64(0.5*(c.m[pos]+c.m[neg]))*c.invC)
		ud, dd := uz-c.norm2, half-float64(2*uz)+c.norm2
		if t := -ud / dd; t < 1 { // (19)
			tau = t
			norm2 = c.norm2 + float64(tau*(float64(2*ud)+float64(tau*dd)))
			if c.invC == 0 && !(norm2 > 0x1p-40*max(c.norm2, half)) {
				tau, norm2 = 1, half // nothing but rounding errors are left: the examples can't be separated
			}
		}
	}
	for j := range c.s {
		c.s[j] = float64((1-tau)*c.s[j]) + float64(float64(0.5*tau)*(float64(rowPos[j])-float64(rowNeg[j])))
	}
	for j := range c.m {
		c.m[j] *= 1 - tau
	}
	c.m[pos] += 0.5 * tau
	c.m[neg] += 0.5 * tau
	c.kept, c.norm2 = kept, norm2
	c.b = -0.5 * (c.s[pos] + c.s[neg] + float64((c.m[pos]-c.m[neg])*c.invC)) / norm2 // (20), (G)
	c.updates++
	return nil
}
