package kept

import (
	"context"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// LeaveOneOut counts the errors without each of the kept examples: a Job in parts of some examples.
type LeaveOneOut struct {
	Errors []int
	e      *ErrorSet
	coef   []float64
	size   int
}

func (c *LeaveOneOut) Run(pool *engine.Pool, e *ErrorSet, coef []float64) {
	c.Errors = slices.Grow(c.Errors[:0], len(coef))[:len(coef)]
	c.e, c.coef = e, coef
	each := max(1, len(e.Margins)/8) // about as many ns
	if !pool.Worth(len(coef) * each) {
		for j := range coef {
			c.Errors[j] = e.errors(j, coef[j])
		}
		return
	}
	c.size = max(1, 10_000/each)
	if err := pool.Run(context.Background(), (len(coef)+c.size-1)/c.size, c); err != nil {
		panic(err) // no context that could end
	}
}

// Part is Job.Part.
func (c *LeaveOneOut) Part(i int) {
	for j := i * c.size; j < min((i+1)*c.size, len(c.coef)); j++ {
		c.Errors[j] = c.e.errors(j, c.coef[j])
	}
}
