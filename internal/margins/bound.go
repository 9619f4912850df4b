package margins

import (
	"context"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// AverageBound is the bound (2) of the margin of an average of weight vectors, from the margins of
// these and their inner products alone (E. Harrington, R. Herbrich, J. Kivinen, J. C. Platt, R. C.
// Williamson, "Online Bayes Point Machines", PAKDD 2003, appendix A). With u_j = w_j/|w_j|, weights
// alpha_j >= 0 and gamma the least y u.x over the examples,
//
//	gamma(sum alpha_j u_j) >= sum alpha_j gamma(u_j) / |sum alpha_j u_j|
//
// All margins are directional, in the units of the examples. Negative bounds say little: where
// every member makes a mistake, Best is that of one member, or less.
type AverageBound struct {
	Margins  []float64 // gamma(u_j)
	Averaged float64   // alpha_j = |w_j|: the bound of the average of the w_j as they are
	Equal    float64   // alpha_j = 1
	Best     float64   // the largest found over all alpha; at least Equal and Averaged
	Alpha    []float64 // of Best, with the sum 1
}

// MeasureAverage is [Measure] with the bound of p as the average of members, which may be of
// different lengths. Members that are 0, or as many as none, are an error that wraps
// [learner.ErrConfig]. Cost: a product an example and member in the same pass, N^2 products of
// weights, and some passes over their N x N matrix. Memory: that matrix.
func MeasureAverage[T engine.Float](ctx context.Context, p learner.Predictor[T],
	members [][]float64, src eval.Source[T]) (m Margins, bound AverageBound, ok bool, err error) {
	lengths := make([]float64, len(members))
	for j, w := range members {
		if lengths[j] = math.Sqrt(vecmath.SumSq(w)); !(lengths[j] > 0) {
			return m, bound, false, fmt.Errorf("margins: member %d has no weights: %w", j,
				learner.ErrConfig)
		}
	}
	if len(members) == 0 {
		return m, bound, false, fmt.Errorf("margins: no members: %w", learner.ErrConfig)
	}
	bound.Margins = make([]float64, len(members))
	for j := range members {
		bound.Margins[j] = math.Inf(1)
	}
	m, ok, err = measure(ctx, p, src, func(b *engine.Block[T]) {
		for i := range b.Len() {
			idx, val := b.Example(i)
			for j, w := range members {
				f := float64(b.Y[i]) * product(w, idx, val) / lengths[j]
				bound.Margins[j] = min(bound.Margins[j], f)
			}
		}
	})
	if ok {
		bound.maximise(gram(members, lengths), lengths)
	}
	return m, bound, ok, err
}

// product is w.x; features beyond w weigh 0.
func product[T engine.Float](w []float64, idx []int32, val []T) (sum float64) {
	if idx == nil {
		for j, v := range val[:min(len(val), len(w))] {
			sum += float64(w[j] * float64(v))
		}
		return sum
	}
	for k, j := range idx {
		if int(j) < len(w) {
			sum += float64(w[j] * float64(val[k]))
		}
	}
	return sum
}

// gram returns u_i.u_j.
func gram(members [][]float64, lengths []float64) [][]float64 {
	g := make([][]float64, len(members))
	for i, v := range members {
		g[i] = make([]float64, len(members))
		for j, w := range members[:i+1] {
			n := min(len(v), len(w))
			g[i][j] = vecmath.Dot(v[:n], w[:n]) / float64(lengths[i]*lengths[j])
			g[j][i] = g[i][j]
		}
		g[i][i] = 1
	}
	return g
}

// of returns the right side of (2).
func (a *AverageBound) of(gram [][]float64, alpha []float64) float64 {
	var top, length2 float64
	for i, v := range alpha {
		top += float64(v * a.Margins[i])
		var s float64
		for j, w := range alpha {
			s += float64(gram[i][j] * w)
		}
		length2 += float64(v * s)
	}
	return top / math.Sqrt(length2)
}

// maximise fills in the bounds. The right side of (2) is largest where alpha.gamma - alpha'G
// alpha/2 is, both being the same on a ray but for its scale, if any member's margin is positive:
// that is a concave problem, each coordinate of which is solved in turn.
func (a *AverageBound) maximise(gram [][]float64, lengths []float64) {
	n := len(lengths)
	equal := make([]float64, n)
	for i := range equal {
		equal[i] = 1
	}
	a.Averaged, a.Equal = a.of(gram, lengths), a.of(gram, equal)
	a.Best, a.Alpha = a.Equal, equal
	take := func(alpha []float64) {
		if v := a.of(gram, alpha); v > a.Best {
			a.Best, a.Alpha = v, alpha
		}
	}
	take(append([]float64(nil), lengths...))
	most := 0
	for i, v := range a.Margins {
		if v > a.Margins[most] {
			most = i
		}
	}
	one := make([]float64, n)
	one[most] = 1
	take(one)
	if a.Margins[most] > 0 {
		take(a.ascend(gram))
	}
	var sum float64
	for _, v := range a.Alpha {
		sum += v
	}
	for i := range a.Alpha {
		a.Alpha[i] /= sum
	}
}

// ascend maximises alpha.gamma - alpha'G alpha/2 over alpha >= 0, to steps below 1e-9 of the
// largest margin.
func (a *AverageBound) ascend(gram [][]float64) []float64 {
	n := len(gram)
	alpha, rest := make([]float64, n), append([]float64(nil), a.Margins...) // gamma - G alpha
	const passes, small = 10000, 1e-9
	largest := 0.0
	for _, v := range a.Margins {
		largest = max(largest, v)
	}
	for range passes {
		moved := 0.0
		for i := range alpha {
			next := max(0, alpha[i]+rest[i]) // G_ii is 1
			step := next - alpha[i]
			if step == 0 {
				continue
			}
			alpha[i] = next
			for j, g := range gram[i] {
				rest[j] -= float64(step * g)
			}
			moved = max(moved, math.Abs(step))
		}
		if moved <= small*largest {
			break
		}
	}
	return alpha
}
