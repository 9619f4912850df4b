package learner_test

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/learner"
)

// averaged is a learner that keeps its weights and their sum.
type averaged struct {
	w, sum  []float64
	scale   float64
	updates int64
	mean    []float64 // follows from sum and updates
}

// fields names all that learning changes.
func (l *averaged) fields(c *learner.Codec) {
	updates := learner.Count(c, "updates", &l.updates)
	scale := c.Scalar("scale", &l.scale)
	c.Want(scale > 0, "scale is %v, want a number > 0", scale)
	w := learner.Vector(c, "w", &l.w)
	sum := learner.Vector(c, "sum", &l.sum)
	c.Want(len(w) == len(sum), "%d weights and %d sums", len(w), len(sum))
	c.PerFeature("w", len(w))
	c.Then(func() {
		l.mean = make([]float64, len(sum))
		for j, s := range sum {
			l.mean[j] = s / float64(max(updates, 1))
		}
	})
}

func (l *averaged) State() learner.State { return learner.StateOf(l.fields) }

func (l *averaged) SetState(s learner.State) error {
	return learner.SetState("averaged", s, l.fields)
}

func (l *averaged) CheckState(s learner.State) error {
	return learner.CheckState("averaged", s, l.fields)
}

// A learner names the parts of its state once, in a method that writes, checks and reads them.
func ExampleCodec() {
	taught := &averaged{w: []float64{1, -2}, sum: []float64{3, -4}, scale: 1, updates: 2}
	s := taught.State()

	var l averaged
	fmt.Println(l.SetState(s), l.w, l.mean)

	s.Tensors = s.Tensors[:1]
	fmt.Println(l.CheckState(s))
	s = taught.State()
	s.Tensors[1].Data = []float32{3, -4}
	fmt.Println(l.CheckState(s))
	s = taught.State()
	s.Scalars["scale"] = 0
	fmt.Println(l.SetState(s), l.w, l.mean)
	s = taught.State()
	s.Features = 3 // whoever reads it knows how many there are
	fmt.Println(l.CheckState(s))
	// Output:
	// <nil> [1 -2] [1.5 -2]
	// averaged: tensor "sum" is missing: state does not fit
	// averaged: tensor "sum" is []float32, want []float64: state does not fit
	// averaged: scale is 0, want a number > 0: state does not fit [1 -2] [1.5 -2]
	// averaged: w has 2 features, want 3: state does not fit
}
