package naive

import "math"

// TBP is the Tighter Budget Perceptron (figure 3 of the paper, beta = 0, perceptron updates, RBF kernel) with an error cache of the first q examples seen: for each
// kept example it sums up, over the error cache, the kernel values of all others anew. Of equal errors the oldest goes.
type TBP struct {
	P, Q  int
	Gamma float64

	Kept  [][]float64
	Y     []float64
	Cache [][]float64
	CY    []float64
}

func (l *TBP) kernel(x, z []float64) float64 {
	var d float64
	for i, v := range x {
		d += (v - z[i]) * (v - z[i])
	}
	return math.Exp(-l.Gamma * d)
}

// Learn learns an example, none of which may be equal, and returns its score before that.
func (l *TBP) Learn(x []float64, y float64) (score float64) {
	for i, z := range l.Kept {
		score += l.Y[i] * l.kernel(z, x)
	}
	if len(l.Cache) < l.Q {
		l.Cache, l.CY = append(l.Cache, x), append(l.CY, y)
	}
	if y*score > 0 {
		return score
	}
	if len(l.Kept) == l.P {
		f := make([]float64, len(l.Cache))
		for k, z := range l.Cache {
			for i, v := range l.Kept {
				f[k] += l.Y[i] * l.kernel(v, z)
			}
		}
		worst, least := 0, len(f)+1
		for i, v := range l.Kept {
			errors := 0
			for k, z := range l.Cache {
				if l.CY[k]*(f[k]-l.Y[i]*l.kernel(v, z)) <= 0 {
					errors++
				}
			}
			if errors < least {
				worst, least = i, errors
			}
		}
		l.Kept, l.Y = append(l.Kept[:worst], l.Kept[worst+1:]...), append(l.Y[:worst], l.Y[worst+1:]...)
	}
	l.Kept, l.Y = append(l.Kept, x), append(l.Y, y)
	return score
}
