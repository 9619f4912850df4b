// Package naive holds learners as one would first write them from the paper: the reference that
// tests compare with and the baseline that bench measures against.
package naive

import "github.com/halfspace-ml/halfspace/engine"

// OBPM is Algorithm 2 of the OBPM paper with perceptrons (margin 0, eta 1) as members: one weight
// vector a member, and for every example a loop over the members that draw it. On features whose
// sums are exact it gives the bits of learners.OBPM.
type OBPM[T engine.Float] struct {
	W   [][]T     // [member][feature]
	Sum []float64 // of the members' weights

	draws *engine.Bernoulli
	mask  []uint64
	t     uint64
}

// NewOBPM returns members of dim features, all 0.
func NewOBPM[T engine.Float](members, dim int, tau float64, seed uint64) *OBPM[T] {
	o := &OBPM[T]{Sum: make([]float64, dim), draws: engine.NewDraws(seed, 0).Bernoulli(tau),
		mask: make([]uint64, (members+63)/64)}
	for range members {
		o.W = append(o.W, make([]T, dim))
	}
	return o
}

// Learn learns example i of b. It returns the score of the averaged weights before that and the
// number of members that updated.
func (o *OBPM[T]) Learn(b *engine.Block[T], i int) (score float64, updates int32) {
	o.draws.Mask(o.mask, len(o.W), o.t)
	o.t++
	if b.Dense() {
		score, updates = o.dense(b.Row(i), b.Y[i])
	} else {
		idx, val := b.Sparse(i)
		score, updates = o.sparse(idx, val, b.Y[i])
	}
	return score / float64(len(o.W)), updates
}

func (o *OBPM[T]) sparse(idx []int32, val []T, y T) (f float64, updates int32) {
	for k, j := range idx {
		f += float64(val[k]) * o.Sum[j]
	}
	for m, w := range o.W {
		if o.mask[m/64]>>(m%64)&1 == 0 {
			continue
		}
		var s T
		for k, j := range idx {
			s += val[k] * w[j]
		}
		if y*s <= 0 {
			for k, j := range idx {
				w[j] += y * val[k]
			}
			updates++
		}
	}
	for k, j := range idx {
		o.Sum[j] += float64(updates) * float64(y) * float64(val[k])
	}
	return f, updates
}

func (o *OBPM[T]) dense(x []T, y T) (f float64, updates int32) {
	for j, v := range x {
		f += float64(v) * o.Sum[j]
	}
	for m, w := range o.W {
		if o.mask[m/64]>>(m%64)&1 == 0 {
			continue
		}
		var s T
		for j, v := range x {
			s += v * w[j]
		}
		if y*s <= 0 {
			for j, v := range x {
				w[j] += y * v
			}
			updates++
		}
	}
	for j, v := range x {
		o.Sum[j] += float64(updates) * float64(y) * float64(v)
	}
	return f, updates
}
