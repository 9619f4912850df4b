package gauss

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// mulV sets y = Vr x, and adds the pending term to V in the same pass. Features to come change no
// bits: they add zeros to sums that are never -0.
func (p *Posterior) mulV(y, x []float64) {
	vecmath.SymRankOneMul(y, p.V, p.Stride, x, -p.c, p.s)
	if p.c != 0 { // -(0*0)*0 = -0, and adding that leaves V as it is, zeros with their signs
		p.c = 0
		clear(p.s)
	}
}

// Flush adds the pending term to V, to the same bits as mulV does.
func (p *Posterior) Flush() {
	if p.c != 0 {
		p.mulV(p.z, p.ResidualMean)
	}
}

// rank1 is Vr += c w w^T, kept pending.
func (p *Posterior) rank1(c float64, w []float64) {
	p.Flush()
	if c != 0 {
		p.c = c
		copy(p.s, w)
	}
}

// GrownCovariance returns a covariance matrix of d rows, in the layout of vecmath.SymRankOneMul and
// with nothing pending, as one of dim rows with its stride: new features have the prior.
func GrownCovariance(old []float64, oldStride, d, dim int) (v []float64, stride int) {
	stride = vecmath.SymStride[float64](dim)
	v = engine.Aligned[float64](dim * stride)
	for i := range dim {
		if row := v[i*stride:]; i < d {
			copy(row, old[i*oldStride:][:vecmath.SymStride[float64](i+1)])
		} else {
			row[i] = 1
		}
	}
	return v, stride
}

// identity makes Vr the prior's.
func (p *Posterior) identity() {
	p.c = 0
	clear(p.s)
	for i := range p.ResidualMean {
		row := p.V[i*p.Stride:]
		clear(row[:vecmath.SymStride[float64](i+1)])
		row[i] = 1
	}
}

// triangle returns the lower triangle of Vr, row by row.
func (p *Posterior) triangle() []float64 {
	p.Flush()
	t := make([]float64, 0, len(p.ResidualMean)*(len(p.ResidualMean)+1)/2)
	for i := range p.ResidualMean {
		t = append(t, p.V[i*p.Stride:][:i+1]...)
	}
	return t
}

// setTriangle makes t the lower triangle of Vr.
func (p *Posterior) setTriangle(t []float64) {
	p.c = 0
	clear(p.s)
	unit := vecmath.LaneUnit[float64]()
	for i := range p.ResidualMean {
		row := t[i*(i+1)/2:][:i+1]
		copy(p.V[i*p.Stride:], row)
		for j := i / unit * unit; j < i; j++ { // the block on the diagonal is whole
			p.V[j*p.Stride+i] = row[j]
		}
	}
}
