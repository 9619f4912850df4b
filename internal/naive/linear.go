package naive

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// Learner is the plain form of a learner: it learns example i of b and returns its score before
// that, and its updates.
type Learner[T engine.Float] interface {
	Learn(b *engine.Block[T], i int) (score float64, updates int32)
}

// weights are one a feature.
type weights[T engine.Float] []T

func (w weights[T]) dot(b *engine.Block[T], i int) (s T) {
	if b.Dense() {
		for j, v := range b.Row(i) {
			s += v * w[j]
		}
		return s
	}
	idx, val := b.Sparse(i)
	for k, j := range idx {
		s += val[k] * w[j]
	}
	return s
}

func (w weights[T]) add(b *engine.Block[T], i int, a T) {
	if b.Dense() {
		for j, v := range b.Row(i) {
			w[j] += a * v
		}
		return
	}
	idx, val := b.Sparse(i)
	for k, j := range idx {
		w[j] += a * val[k]
	}
}

// Perceptron is Rosenblatt's: w += y x if y w.x <= 0.
type Perceptron[T engine.Float] struct{ W []T }

// NewPerceptron returns weights of 0 for dim features.
func NewPerceptron[T engine.Float](dim int) *Perceptron[T] { return &Perceptron[T]{make([]T, dim)} }

// Learn is Learner.Learn.
func (p *Perceptron[T]) Learn(b *engine.Block[T], i int) (score float64, updates int32) {
	w := weights[T](p.W)
	f := w.dot(b, i)
	if b.Y[i]*f <= 0 {
		w.add(b, i, b.Y[i])
		updates = 1
	}
	return float64(f), updates
}

// ALMA is that of the OBPM paper, for p = 2: w += C/sqrt(k) y x if y w.x <= B/sqrt(k), then w to
// length 1 if it is longer; k - 1 updates went before.
type ALMA[T engine.Float] struct {
	B, C float64
	W    []T
	k    float64
}

// NewALMA returns weights of 0 for dim features.
func NewALMA[T engine.Float](dim int, B, C float64) *ALMA[T] {
	return &ALMA[T]{B: B, C: C, W: make([]T, dim), k: 1}
}

// Learn is Learner.Learn.
func (a *ALMA[T]) Learn(b *engine.Block[T], i int) (score float64, updates int32) {
	w, y := weights[T](a.W), float64(b.Y[i])
	f := float64(w.dot(b, i))
	if y*f > a.B/math.Sqrt(a.k) {
		return f, 0
	}
	w.add(b, i, T(a.C/math.Sqrt(a.k)*y))
	a.k++
	var square float64
	for _, v := range w {
		square += float64(v) * float64(v)
	}
	if length := math.Sqrt(square); length > 1 {
		for j := range w {
			w[j] = T(float64(w[j]) / length)
		}
	}
	return f, 1
}

// LMS is least mean squares: w += eta (y - w.x) x.
type LMS[T engine.Float] struct {
	Eta float64
	W   []T
}

// NewLMS returns weights of 0 for dim features.
func NewLMS[T engine.Float](dim int, eta float64) *LMS[T] { return &LMS[T]{eta, make([]T, dim)} }

// Learn is Learner.Learn.
func (l *LMS[T]) Learn(b *engine.Block[T], i int) (score float64, updates int32) {
	w := weights[T](l.W)
	f := float64(w.dot(b, i))
	w.add(b, i, T(l.Eta*(float64(b.Y[i])-f)))
	return f, 1
}
