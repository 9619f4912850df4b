package kept

import (
	"context"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// ErrorSet is a set of examples on which the errors of f, and of f without one of the kept
// examples, are counted.
//
// No kernel value is computed twice: rows hold those of all kept examples, and the margins follow
// each step of f. The label is in both, so that the error without kept example j is a comparison of
// Margins[k] - alpha_j y_j Rows[j][k] with 0, over two consecutive slices.
//
// An example that was seen several times is one entry with a count: the paper's sum over examples
// seen counts each occurrence.
type ErrorSet struct {
	Y       []float64   // -1 or +1, one an example of the set
	Margins []float64   // y_k f(x_k)
	Times   []int64     // how often example k was seen, 1 or more
	Rows    [][]float64 // [kept example j][example k of the set] = y_k K(x_j, x_k)
	slab    []float64   // memory of rows to come, cut off from the front
}

// Reserve makes room for that many points and rows of an empty one.
func (e *ErrorSet) Reserve(points, rows int) {
	e.Y, e.Margins, e.Times = make([]float64, 0, points), make([]float64, 0, points),
		make([]int64, 0, points)
	e.Rows = make([][]float64, 0, rows)
	e.slab = make([]float64, points*rows)
}

// SetPoint makes (x, y) example k, the next one or in the place of another; f is f(x), values[j] =
// K(x_j, x) of kept example j.
func (e *ErrorSet) SetPoint(k int, y, f float64, values []float64) {
	if k == len(e.Y) {
		e.Y, e.Margins, e.Times = append(e.Y, 0), append(e.Margins, 0), append(e.Times, 0)
		for j := range e.Rows {
			e.Rows[j] = append(e.Rows[j], 0)
		}
	}
	e.Y[k], e.Margins[k], e.Times[k] = y, float64(y*f), 1
	for j := range e.Rows {
		e.Rows[j][k] = float64(y * values[j])
	}
}

// SetRow makes x the kept example j, the next one or in the place of another. values[k] = K(x,
// x_k).
func (e *ErrorSet) SetRow(j int, values []float64) {
	if j == len(e.Rows) {
		n, room := len(e.Y), max(len(e.Y), cap(e.Margins))
		if len(e.slab) < room {
			e.slab = make([]float64, room)
		}
		e.Rows, e.slab = append(e.Rows, e.slab[:n:room]), e.slab[room:]
	}
	for k, v := range values[:len(e.Y)] {
		e.Rows[j][k] = float64(e.Y[k] * v)
	}
}

// Follow keeps the margins those of f, after f += c K(x_j, .). The rounding errors of all steps add
// up in them; they are part of the State, so that a resumed run has the same.
func (e *ErrorSet) Follow(j int, c float64) { vecmath.Axpy(e.Margins, c, e.Rows[j]) }

// See counts one more occurrence of example k.
func (e *ErrorSet) See(k int) {
	if e.Times[k] < learner.MaxCount {
		e.Times[k]++
	}
}

// errors counts the occurrences of examples of the set with y f <= 0 for f - c K(x_j, .): a score
// of 0 is an error. repeated lists the examples that were seen more than once.
func (e *ErrorSet) errors(j int, c float64, repeated []int32) int {
	n := vecmath.CountStepLE(e.Margins, -c, e.Rows[j])
	for _, k := range repeated {
		if math.FMA(-c, e.Rows[j][k], e.Margins[k]) <= 0 {
			n += int(e.Times[k] - 1)
		}
	}
	return n
}

// Bytes returns the memory of labels, margins, counts and rows, without that of rows to come.
func (e *ErrorSet) Bytes() int64 {
	n := primal.BytesOf(e.Y) + primal.BytesOf(e.Margins) + 8*int64(cap(e.Times))
	for _, r := range e.Rows {
		n += primal.BytesOf(r)
	}
	return n
}

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

// Run sets Errors for the kept examples with these coefficients in f, on the pool where that pays:
// for those listed in of, or with nil for all. The counts are integers, the same however the work
// is split.
func (c *LeaveOneOut) Run(pool *engine.Pool, e *ErrorSet, coef []float64, of []int32) {
	c.Errors = slices.Grow(c.Errors[:0], len(coef))[:len(coef)]
	c.e, c.coef, c.repeated = e, coef, c.repeated[:0]
	for k, n := range e.Times {
		if n > 1 {
			c.repeated = append(c.repeated, int32(k))
		}
	}
	if of != nil {
		for _, j := range of {
			c.Errors[j] = e.errors(int(j), coef[j], c.repeated)
		}
		return
	}
	// about as many ns: 8 margins are compared in one
	each := max(1, len(e.Margins)/8+len(c.repeated))
	// The count is a fifth of an example's learning, the rest of which is the caller's alone, and
	// a worker stays awake through that: with 7 to 15 us of count two threads were no faster than
	// one, and took 1.1 to 1.5 times its CPU time.
	const rest = 4
	if c.size = max(1, 10_000/each); !pool.Worth(len(coef) * each / rest) {
		c.size = len(coef)
		c.Part(0)
		return
	}
	// parts of 10 us: beside that the turn of a part is nothing
	if err := pool.Spread(context.Background(), len(coef)*each, (len(coef)+c.size-1)/c.size,
		c); err != nil {
		panic(err) // no context that could end
	}
}

// Part is engine.Job.Part: the kept examples i size to (i+1) size - 1.
func (c *LeaveOneOut) Part(i int) {
	for j := i * c.size; j < min((i+1)*c.size, len(c.coef)); j++ {
		c.Errors[j] = c.e.errors(j, c.coef[j], c.repeated)
	}
}

// Bytes returns the memory of the list of repeated examples.
func (c *LeaveOneOut) Bytes() int64 { return 4 * int64(cap(c.repeated)) }
