package naive

import (
	"math"
	"slices"
)

// RBF is a sum over kept examples, every kernel value of which is computed when it is needed.
// Examples are identified by their numbers: none may be equal.
type RBF struct {
	Gamma  float64
	Kept   [][]float64
	Y      []float64
	Number []int // of a kept example, from 1
	seen   int
}

func (l *RBF) kernel(x, z []float64) float64 {
	var d float64
	for i, v := range x {
		d += (v - z[i]) * (v - z[i])
	}
	return math.Exp(-l.Gamma * d)
}

func (l *RBF) score(x []float64) (f float64) {
	for i, z := range l.Kept {
		f += l.Y[i] * l.kernel(z, x)
	}
	return f
}

func (l *RBF) keep(x []float64, y float64) {
	l.Kept, l.Y, l.Number = append(l.Kept, x), append(l.Y, y), append(l.Number, l.seen)
}

func (l *RBF) remove(i int) {
	l.Kept, l.Y, l.Number = slices.Delete(l.Kept, i, i+1), slices.Delete(l.Y, i, i+1),
		slices.Delete(l.Number, i, i+1)
}

// Budget is the Budget Perceptron (figure 1 of the Tighter Budget paper, beta = 0, perceptron
// updates, RBF kernel). P = 0 is no limit. Of equal margins the oldest goes.
type Budget struct {
	RBF
	P int
}

// Learn learns an example and returns its score before that.
func (l *Budget) Learn(x []float64, y float64) float64 {
	l.seen++
	f := l.score(x)
	if y*f > 0 {
		return f
	}
	if l.P > 0 && len(l.Kept) == l.P {
		best, most := 0, math.Inf(-1)
		for i, z := range l.Kept {
			if m := l.Y[i]*l.score(z) - 1; m > most { // K(z, z) = 1
				best, most = i, m
			}
		}
		l.remove(best)
	}
	l.keep(x, y)
	return f
}

// TBP is the Tighter Budget Perceptron (figure 3 of the paper, beta = 0, perceptron updates, RBF
// kernel) with an error cache of the first Q examples seen: for each kept example it sums up, over
// the error cache, the kernel values of all others anew. Of equal errors the oldest goes.
type TBP struct {
	RBF
	P, Q     int
	Cache    [][]float64
	CY       []float64
	Removals int // at once; 0 is 1
	// Choose returns which kept example is removed, of the errors without each; nil: the first of
	// the fewest.
	Choose func(errors []int) int
}

// Learn learns an example and returns its score before that.
func (l *TBP) Learn(x []float64, y float64) float64 {
	l.seen++
	f := l.score(x)
	if len(l.Cache) < l.Q {
		l.Cache, l.CY = append(l.Cache, x), append(l.CY, y)
	}
	if y*f > 0 {
		return f
	}
	choose := l.Choose
	if choose == nil {
		choose = func(errors []int) int {
			return slices.Index(errors, slices.Min(errors))
		}
	}
	if len(l.Kept) == l.P {
		errors := l.errors()
		for range max(1, l.Removals) {
			worst := choose(errors)
			l.remove(worst)
			errors = slices.Delete(errors, worst, worst+1)
		}
	}
	l.keep(x, y)
	return f
}

// errors returns those on the cache without each kept example.
func (l *TBP) errors() []int {
	without := make([]int, len(l.Kept))
	for k, z := range l.Cache {
		g := l.score(z)
		for i, v := range l.Kept {
			if l.CY[k]*(g-l.Y[i]*l.kernel(v, z)) <= 0 {
				without[i]++
			}
		}
	}
	return without
}
