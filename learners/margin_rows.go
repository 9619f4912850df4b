package learners

import (
	"context"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// marginRows is PUMMA or, without bias, ROMMA over the rows of a Gram matrix. It keeps u as its inner products with the examples; w = u/|u|^2.
type marginRows[T Float] struct {
	rows     RowSource[T]
	y        []float64
	ridge    float64                     // 1/C, or Delta^2: added to the diagonal
	bias     bool                        // the segment's other end is z/2, z = xpos - xneg; else y_k x_k
	violates func(m, delta float64) bool // m is y f, slack included
	s, m     []float64                   // u.x_k, and u's coordinates
	kept     [2]int                      // xneg and xpos; -1: none yet
	norm2    float64                     // |u|^2, slacks included
	b        float64
	updates  int64
	bound2   float64 // the least |u|^2 so far: the maximal margin is no larger
}

// fit passes over the examples. halving says whether there is an accuracy delta to halve.
func (c *marginRows[T]) fit(ctx context.Context, name string, delta float64, halving bool, o FitOptions) (MarginDual, error) {
	n := len(c.y)
	if n == 0 || c.rows.Len() != n {
		return MarginDual{}, fmt.Errorf("%s: %d labels for %d examples: %w", name, n, c.rows.Len(), ErrFit)
	}
	c.s, c.m, c.kept, c.bound2 = make([]float64, n), make([]float64, n), [2]int{-1, -1}, math.Inf(1)
	r := MarginDual{Coef: make([]float64, n)}
	shortest, longest := math.Inf(1), 0.0
	for k := range n {
		if d := float64(c.rows.Diag(k)); d > 0 {
			shortest, longest = min(shortest, d), max(longest, d)
		}
	}
	now := delta
	var failed error
	p := passes{
		n: n, delta: delta,
		learn: func(k int) bool {
			if failed != nil || !c.violates(c.margin(k), now) {
				return false
			}
			before := c.updates
			failed = c.update(ctx, k)
			if c.norm2 > 0 {
				c.bound2 = min(c.bound2, c.norm2)
			}
			return c.updates != before
		},
		bound:  func() float64 { return math.Sqrt(c.bound2) },
		least:  leastMargin(shortest+c.ridge, longest+c.ridge),
		status: func(r *FitResult) { c.judge(delta, r) },
	}
	if halving {
		p.goal = func(delta float64) { now = delta }
	}
	err := p.run(ctx, &o, &r.FitResult)
	if failed != nil {
		err = failed
	}
	c.judge(delta, &r.FitResult)
	r.Converged = r.Converged && r.Violators == 0 // equal examples of both classes can't be learned
	for k := range n {
		if c.norm2 > 0 {
			r.Coef[k] = float64(c.y[k]*c.m[k]) / c.norm2
		}
	}
	r.Updates, r.Counter, r.Bias, r.Bound = c.updates, c.updates+1, c.b, math.Sqrt(c.norm2)
	r.ScoreSpace = true
	return r, err
}

// judge fills in violators and margin.
func (c *marginRows[T]) judge(delta float64, r *FitResult) {
	r.Violators = 0
	least := math.Inf(1)
	for k := range c.y {
		m := c.margin(k)
		if least = min(least, m); c.violates(m, delta) {
			r.Violators++
		}
	}
	r.Margin, r.Bound = float64(least*math.Sqrt(c.norm2)), math.Sqrt(c.bound2)
}

// soften fills in what FitResult has of a soft margin, as [scaledLinear.judge] does.
func (c *marginRows[T]) soften(r *FitResult) {
	var m2 float64
	for _, m := range c.m {
		m2 += float64(m * m)
	}
	length := math.Sqrt(c.norm2-float64(c.ridge*m2)) / c.norm2 // |w| without slacks
	r.Gamma, r.Gamma0 = r.Margin, r.Margin/math.Sqrt(c.norm2)/length
	var d2 float64
	for k, s := range c.s {
		d := max(0, r.Gamma0-float64(c.y[k]*s)/c.norm2/length) // (19) of the CRAMMA paper
		d2 += float64(d * d)
	}
	r.D, r.DPrime = math.Sqrt(d2), c.ridge*math.Sqrt(m2)/c.norm2/length
}

// margin returns y f + xi of example k.
func (c *marginRows[T]) margin(k int) float64 {
	if c.norm2 == 0 { // w = 0: PUMMA has seen one label at most
		return float64(c.y[k] * c.b)
	}
	return float64(c.y[k]*(c.s[k]/c.norm2+c.b)) + float64(c.m[k]*c.ridge)/c.norm2 // (E)
}

// update is [PUMMA.update] or [ROMMA.learn], by inner products.
func (c *marginRows[T]) update(ctx context.Context, k int) error {
	y, side := c.y[k], 0
	if y > 0 {
		side = 1
	}
	other, share := -1, 1.0 // the kept example of the other label, and what each of the two has in the segment's other end
	if c.bias {
		other, share = c.kept[1-side], 0.5
		if other < 0 {
			c.kept[side], c.b = k, y
			c.updates++
			return nil
		}
	}
	row, err := c.rows.Row(ctx, k, len(c.y))
	if err != nil {
		return err
	}
	var rowOther []T
	half := float64(c.rows.Diag(k)) + c.ridge         // |.|^2 of that end
	uz := float64(y*c.s[k]) + float64(c.m[k]*c.ridge) // its inner product with u
	if c.bias {
		if rowOther, err = c.rows.Row(ctx, other, len(c.y)); err != nil {
			return err
		}
		half = 0.25*(float64(c.rows.Diag(k))+float64(c.rows.Diag(other))-2*float64(row[other])) + 0.5*c.ridge
		uz = float64(0.5*(y*(c.s[k]-c.s[other]))) + float64(float64(0.5*(c.m[k]+c.m[other]))*c.ridge)
	}
	if !(half > 0) { // equal examples, or one without features
		return nil
	}
	tau, norm2 := 1.0, half
	if c.norm2 > 0 {
		ud, dd := uz-c.norm2, half-float64(2*uz)+c.norm2
		if t := -ud / dd; t < 1 { // (19)
			tau = t
			norm2 = c.norm2 + float64(tau*(float64(2*ud)+float64(tau*dd)))
			if c.ridge == 0 && !(norm2 > 0x1p-40*max(c.norm2, half)) { // nothing but rounding errors are left: the examples can't be separated
				c.bound2 = min(c.bound2, max(0, norm2))
				tau, norm2 = 1, half
			}
		}
	}
	step := float64(share*tau) * y
	if c.bias {
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
	c.norm2 = norm2
	if c.bias {
		c.m[other] += share * tau
		c.kept[side] = k
		c.b = -0.5 * (c.s[k] + c.s[other] + float64(y*(c.m[k]-c.m[other])*c.ridge)) / norm2 // (20), (G)
	}
	c.updates++
	return nil
}

// overRows is Fit with a kernel of a learner called name: solve gets the rows of b, of which GramBytes are kept, and e the support vectors. Without an update e is
// as it was.
func overRows[T Float](name string, b *engine.Block[T], o FitOptions, k engine.Kernel, pool *engine.Pool, e *expansion[T],
	solve func(rows RowSource[T], y []float64) (MarginDual, error)) (MarginDual, error) {
	list, err := engine.NewPoints[T](k)
	if err != nil {
		return MarginDual{}, fmt.Errorf("%s: %w", name, err)
	}
	list.Append(b, 0, b.Len())
	if o.GramBytes == 0 {
		o.GramBytes = DefaultGramBytes
	}
	y := make([]float64, b.Len())
	for i, v := range b.Y {
		y[i] = float64(v)
	}
	r, err := solve(engine.NewRows(list, max(0, o.GramBytes), b.Len(), pool), y)
	if r.Updates == 0 {
		return r, err
	}
	if err := e.keep(name, b, r.Coef, k, pool); err != nil {
		return MarginDual{}, err
	}
	return r, err
}
