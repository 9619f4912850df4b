package gauss

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Covariance is a covariance matrix of weights, of which one change waits for the next product with
// it, so that both are one pass over the matrix. Features never seen have the prior.
type Covariance struct {
	// without the pending term: rows of Stride, as vecmath.SymRankOneMul wants them
	V      []float64
	Stride int
	d      int     // features
	c      float64 // pending: + c s s^T; 0 is none
	s      []float64
	z      []float64 // scratch of Flush
}

// mulV sets y = V x, and adds the pending term to V in the same pass. Features to come change no
// bits: they add zeros to sums that are never -0.
func (v *Covariance) mulV(y, x []float64) {
	vecmath.SymRankOneMul(y, v.V, v.Stride, x, -v.c, v.s)
	if v.c != 0 { // -(0*0)*0 = -0, and adding that leaves V as it is, zeros with their signs
		v.c = 0
		clear(v.s)
	}
}

// Flush adds the pending term to V, to the same bits as mulV does.
func (v *Covariance) Flush() {
	if v.c != 0 {
		v.mulV(v.z, v.s)
	}
}

// rank1 is V += c w w^T, kept pending.
func (v *Covariance) rank1(c float64, w []float64) {
	v.Flush()
	if c != 0 {
		v.c = c
		copy(v.s, w)
	}
}

// grow brings the features to dim.
func (v *Covariance) grow(dim int) {
	v.Flush()
	old, from, d := v.V, v.Stride, v.d
	v.d, v.Stride = dim, vecmath.SymStride[float64](dim)
	v.V = engine.Aligned[float64](dim * v.Stride)
	for i := range dim {
		if row := v.V[i*v.Stride:]; i < d {
			copy(row, old[i*from:][:vecmath.SymStride[float64](i+1)])
		} else {
			row[i] = 1
		}
	}
	v.s, v.z = primal.Grown(v.s, dim), primal.Grown(v.z, dim)
}

// identity makes V the prior's.
func (v *Covariance) identity() {
	v.c = 0
	clear(v.s)
	for i := range v.d {
		row := v.V[i*v.Stride:]
		clear(row[:vecmath.SymStride[float64](i+1)])
		row[i] = 1
	}
}

// triangle returns the lower triangle of V, row by row.
func (v *Covariance) triangle() []float64 {
	v.Flush()
	t := make([]float64, 0, v.d*(v.d+1)/2)
	for i := range v.d {
		t = append(t, v.V[i*v.Stride:][:i+1]...)
	}
	return t
}

// setTriangle makes t the lower triangle of V.
func (v *Covariance) setTriangle(t []float64) {
	v.c = 0
	clear(v.s)
	unit := vecmath.LaneUnit[float64]()
	for i := range v.d {
		row := t[i*(i+1)/2:][:i+1]
		copy(v.V[i*v.Stride:], row)
		for j := i / unit * unit; j < i; j++ { // the block on the diagonal is whole
			v.V[j*v.Stride+i] = row[j]
		}
	}
}
