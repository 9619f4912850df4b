// Package spread says how far the members of an ensemble are apart.
package spread

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Spread says how far the members of an ensemble are apart: quantiles of the scores that they give
// an example, whose mean is the ensemble's score where it combines weights. Members saw different
// draws of the same examples, so this is the spread that the draws make. It is no confidence
// interval: that the ensemble errs, or that labels are noisy, is not in it.
//
// Not safe for concurrent use. Memory: the members' weights, 8 bytes a member and feature. Cost of
// an example: a multiplication a member and non-zero, and sorting the members' scores.
type Spread[T engine.Float] struct {
	members int
	weights []float64 // [feature][member]
	scores  []float64
}

// New takes the members' weights of l as it is; ok is false of a learner that has none (see
// learner.MembersOf), or more than most numbers of them.
func New[T engine.Float](l learner.Learner[T], most int) (s *Spread[T], ok bool) {
	all, ok := learner.MembersOf(l, most)
	if !ok || len(all) == 0 {
		return nil, false
	}
	n, dim := len(all), 0
	for _, w := range all {
		dim = max(dim, len(w))
	}
	s = &Spread[T]{members: n, weights: make([]float64, n*dim), scores: make([]float64, n)}
	for m, w := range all {
		for j, v := range w {
			s.weights[j*n+m] = v
		}
	}
	return s, true
}

// Members returns how many there are.
func (s *Spread[T]) Members() int { return s.members }

// Scores returns the members' scores of example i of b, ascending, NaN first; they are good until
// the next call.
func (s *Spread[T]) Scores(b *engine.Block[T], i int) []float64 {
	clear(s.scores)
	add := func(j int, v float64) {
		if at := j * s.members; at < len(s.weights) {
			for m, w := range s.weights[at:][:s.members] {
				s.scores[m] += float64(v * w)
			}
		}
	}
	if b.Dense() {
		for j, v := range b.Row(i) {
			if v != 0 {
				add(j, float64(v))
			}
		}
	} else {
		idx, val := b.Sparse(i)
		for k, j := range idx {
			add(int(j), float64(val[k]))
		}
	}
	slices.Sort(s.scores)
	return s.scores
}

// Quantiles returns the scores of example i of b between which so large a share of the members
// lies, as much being left out at either end: linear between members, as R's type 7. NaN if a
// member's score is.
func (s *Spread[T]) Quantiles(b *engine.Block[T], i int, share float64) (low, high float64) {
	f := s.Scores(b, i)
	if f[0] != f[0] {
		return math.NaN(), math.NaN()
	}
	return quantile(f, (1-share)/2), quantile(f, (1+share)/2)
}

// quantile is that of sorted numbers.
func quantile(sorted []float64, q float64) float64 {
	at := float64(q * float64(len(sorted)-1))
	i := min(int(at), len(sorted)-1)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}
