// Package naive holds learners as one would first write them from the paper: the reference that tests compare with and
// the baseline that bench measures against.
package naive

import "github.com/halfspace-ml/halfspace/engine"

// OBPM is Algorithm 2 of the OBPM paper with perceptrons (eta = 1) as members: one weight vector a member, and for every
// example a loop over the members that draw it.
type OBPM struct {
	W       [][]float32 // [member][feature]
	Sum     []float64   // of the members' weights
	Updates int
	Errors  int // of the averaged weights' prediction before each update, sgn(0) = +1
}

// NewOBPM returns members of dim features, all 0.
func NewOBPM(members, dim int) *OBPM {
	o := &OBPM{Sum: make([]float64, dim)}
	for range members {
		o.W = append(o.W, make([]float32, dim))
	}
	return o
}

// Learn learns example i of b; member j takes part where bit j of mask is set.
func (o *OBPM) Learn(b *engine.Block[float32], i int, mask []uint64) {
	if b.Dense() {
		o.dense(b.Row(i), b.Y[i], mask)
	} else {
		idx, val := b.Sparse(i)
		o.sparse(idx, val, b.Y[i], mask)
	}
}

func (o *OBPM) sparse(idx []int32, val []float32, y float32, mask []uint64) {
	var f float64
	for k, j := range idx {
		f += o.Sum[j] * float64(val[k])
	}
	o.count(f, y)
	for m, w := range o.W {
		if mask[m/64]>>(m%64)&1 == 0 {
			continue
		}
		var s float32
		for k, j := range idx {
			s += w[j] * val[k]
		}
		if y*s <= 0 {
			o.Updates++
			for k, j := range idx {
				w[j] += y * val[k]
				o.Sum[j] += float64(y * val[k])
			}
		}
	}
}

func (o *OBPM) dense(x []float32, y float32, mask []uint64) {
	var f float64
	for j, v := range x {
		f += o.Sum[j] * float64(v)
	}
	o.count(f, y)
	for m, w := range o.W {
		if mask[m/64]>>(m%64)&1 == 0 {
			continue
		}
		var s float32
		for j, v := range x {
			s += w[j] * v
		}
		if y*s <= 0 {
			o.Updates++
			for j, v := range x {
				w[j] += y * v
				o.Sum[j] += float64(y * v)
			}
		}
	}
}

func (o *OBPM) count(f float64, y float32) {
	if (f >= 0) != (y > 0) {
		o.Errors++
	}
}
