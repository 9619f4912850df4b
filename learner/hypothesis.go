package learner

import (
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// Hypothesis is what a Predictor computes, laid open: numbers by which any program can compute its
// scores, those of Score up to rounding. Output k of an example x is
//
//	f_k(x) = (sum_j Weights[j] z_j + Bias)/Divisor             where it has Weights, else
//	f_k(x) = (sum_i Coef[i] K(Points_i, z) + Bias)/Divisor
//
// with z = x, or with Fourier the random features of x. Features that an Output knows nothing of
// have weight 0.
type Hypothesis struct {
	Outputs []Output      // one for two classes, else one a class, or with Pairs one a pair
	Kernel  engine.Kernel // K of Outputs without Weights
	Fourier *Fourier      // nil: z = x
	// Pairs: the outputs are of pairs of classes i < j, those of (0, 1), (0, 2), (1, 2), (0, 3),
	// ...: one above 0 is a vote for i, any other for j. The class with most votes is predicted,
	// the first of several; or with Sums the one whose scores sum to most, and 0 is no vote.
	Pairs, Sums bool
}

// Output is one score of a Hypothesis. Nothing in it is the learner's own memory.
type Output struct {
	Weights []float64             // one a feature; nil of a sum over examples
	Coef    []float64             // one a point
	Points  engine.Block[float64] // sparse, without labels and zeros
	Bias    float64
	// Divisor is above 0: 1, or what a sum of members is divided by, so that a sum which is exactly
	// 0 stays so.
	Divisor float64
}

// Fourier are random Fourier features z: see [engine.Fourier].
type Fourier struct {
	Half int // frequencies; there are two features of each: all cosines, then all sines
	// Frequencies returns those of so many features of x, [feature][Half]. The error wraps
	// engine.ErrFourier where there is no memory for them.
	Frequencies func(features int) ([]float64, error)
}

// opener is a Predictor that is more than its weights.
type opener interface {
	// Hypothesis returns a Hypothesis without Outputs if there is no such form.
	Hypothesis() Hypothesis
}

// HypothesisOf returns what p computes, and whether it has that form: learners whose Traits say
// Vector or Support have, and these on random features, or one for each class or pair of classes,
// too; other votes have not.
// Cost: a copy.
func HypothesisOf[T Float](p Predictor[T]) (h Hypothesis, ok bool) {
	if o, ok := p.(opener); ok {
		h := o.Hypothesis()
		return h, len(h.Outputs) > 0
	}
	w, k := p.Weights(), p.Outputs()
	if w == nil || k == 0 {
		return h, false
	}
	for part := range slices.Chunk(w, max(1, len(w)/k)) {
		h.Outputs = append(h.Outputs, Output{Weights: part, Divisor: 1})
	}
	for len(h.Outputs) < k { // nothing was learned
		h.Outputs = append(h.Outputs, Output{Weights: []float64{}, Divisor: 1})
	}
	return h, true
}

// Holding makes settings and a float64 State of a learner that has learned nothing and scores by h,
// whose data may be kept. ok is false of an h of another form than the learner's. See [Entry].
type Holding func(h *Hypothesis) (c Config, s State, ok bool)

// Hold returns the first learner, by name, that can hold h, with its settings and State; ok is
// false if none is registered.
func Hold(h *Hypothesis) (e Entry, c Config, s State, ok bool) {
	for _, name := range Names() {
		e, err := Lookup(name)
		if err != nil || e.Holding == nil {
			continue
		}
		if c, s, ok := e.Holding(h); ok {
			return e, c, s, true
		}
	}
	return e, nil, s, false
}
