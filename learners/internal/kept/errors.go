package kept

import (
	"context"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// LeaveOneOut counts the errors without each kept example; TBP removes the one with the fewest
// (1a). For every j it counts the examples x_k of an error set, repetitions included, that have
// y_k (f - coef_j K(x_j, .))(x_k) <= 0. It is an engine.Job of several kept examples a part, and
// keeps its scratch from one Run to the next. Cost: a pass over the margins for every kept example.
type LeaveOneOut struct {
	Errors []int // one a kept example
	e      *ErrorSet
	coef   []float64 // of the kept examples, label included: coef_j = y_j alpha_j
	size   int       // kept examples of a part
	// repeated lists the examples of the error set that were seen more than once.
	repeated []int32
}

// Run sets Errors for the kept examples with these coefficients in f, on the pool where that pays.
// They are whole numbers, the same however the work is cut.
func (c *LeaveOneOut) Run(pool *engine.Pool, e *ErrorSet, coef []float64) {
	c.begin(e, coef)
	// about as many ns: 8 margins are compared in one
	each := max(1, len(e.Margins)/8+len(c.repeated))
	// The count is a fifth of an example's learning, the rest of which is the caller's alone, and
	// a worker stays awake through that: with 7 to 15 us of count two threads were no faster than
	// one, and took 1.1 to 1.5 times its CPU time.
	const rest = 4
	if !pool.Worth(len(coef) * each / rest) {
		for j := range coef {
			c.Errors[j] = e.errors(j, coef[j], c.repeated)
		}
		return
	}
	c.size = max(1, 10_000/each) // parts of 10 us: beside that the turn of a part is nothing
	if err := pool.Spread(context.Background(), len(coef)*each, (len(coef)+c.size-1)/c.size,
		c); err != nil {
		panic(err) // no context that could end
	}
}

// begin takes the error set and the coefficients of the kept examples.
func (c *LeaveOneOut) begin(e *ErrorSet, coef []float64) {
	c.Errors = slices.Grow(c.Errors[:0], len(coef))[:len(coef)]
	c.e, c.coef, c.repeated = e, coef, c.repeated[:0]
	for k, n := range e.Times {
		if n > 1 {
			c.repeated = append(c.repeated, int32(k))
		}
	}
}

// Bytes returns the memory of the list of repeated examples.
func (c *LeaveOneOut) Bytes() int64 { return 4 * int64(cap(c.repeated)) }

// Some sets Errors for some of the kept examples alone.
func (c *LeaveOneOut) Some(e *ErrorSet, coef []float64, of []int32) {
	c.begin(e, coef)
	for _, j := range of {
		c.Errors[j] = e.errors(int(j), coef[j], c.repeated)
	}
}

// Part is engine.Job.Part: the kept examples i size to (i+1) size - 1.
func (c *LeaveOneOut) Part(i int) {
	for j := i * c.size; j < min((i+1)*c.size, len(c.coef)); j++ {
		c.Errors[j] = c.e.errors(j, c.coef[j], c.repeated)
	}
}
