package gauss

import (
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// derive works out the point j's part in W, G and a afresh.
func (p *Posterior) derive(j int) {
	p.mulV(p.W[j], p.X[j])
	for i := range p.K {
		g := vecmath.Dot(p.X[i], p.W[j])
		p.G[i*p.Width+j], p.G[j*p.Width+i] = g, g
	}
	p.a[j] = vecmath.Dot(p.ResidualMean, p.X[j])
}

// DeriveAll works out W, G, a, S and mu afresh.
func (p *Posterior) DeriveAll() {
	for j := range p.K {
		p.derive(j)
	}
	p.Shrunk = 1
	p.Refresh()
}

// Add makes X[k], which the caller has filled, a point without a site. It reports whether it is
// one.
func (p *Posterior) Add() bool {
	k := p.K
	x, w := p.X[k], p.W[k]
	if p.Shrunk > maxShrunk {
		p.DeriveAll()
	}
	p.mulV(w, x)
	v := vecmath.Dot(x, w)
	floor := p.floor(x)
	if floor == 0 {
		return false // no features
	}
	if !(v > floor && v > LeastVariance && v < MostVariance) {
		p.Report.Passed++
		return false
	}
	for j := range k {
		g := vecmath.Dot(p.W[j], x)
		p.G[k*p.Width+j], p.G[j*p.Width+k] = g, g
	}
	p.G[k*p.Width+k] = v
	p.a[k] = vecmath.Dot(p.ResidualMean, x)
	p.Tau[k], p.Nu[k] = 0, 0
	// The new row of S: g - S T g, and v - (T g).(g - S T g).
	g, u, sites := p.G[k*p.Width:][:p.Width], p.row, false
	clear(u)
	for j, tau := range p.Tau[:k] {
		u[j] = float64(tau * g[j])
		sites = sites || tau != 0
	}
	row := p.S[k*p.Width:][:p.Width]
	copy(row, g)
	if sites {
		vecmath.LanesScore(p.coef, p.S, p.rows[:k], u)
		vecmath.Axpy(row[:k], -1, p.coef)
		row[k] -= vecmath.Dot(u[:k], row)
	}
	for j, v := range row[:k] {
		p.S[j*p.Width+k] = v
	}
	p.mu[k] = vecmath.Dot(p.Mean, x)
	p.K++
	if p.age++; p.age >= refreshEvery {
		p.Refresh()
	}
	return true
}

// Discard drops point j and all that was learned from it.
func (p *Posterior) Discard(j int) {
	p.drop(j)
	p.Report.Lost++
	p.Refresh()
	p.setMean()
}

// drop takes point j away. Its rows of X and W stay where they can be read, beyond the others.
func (p *Posterior) drop(j int) {
	p.last(j)
	p.K--
	for i := range p.K + 1 { // no old numbers beyond the points, where kernels work on them
		p.G[i*p.Width+p.K], p.S[i*p.Width+p.K] = 0, 0
	}
}

// last makes point j the last one.
func (p *Posterior) last(j int) {
	k := p.K
	rotate(p.X[j:k])
	rotate(p.W[j:k])
	rotate(p.a[j:k])
	rotate(p.Tau[j:k])
	rotate(p.Nu[j:k])
	rotate(p.mu[j:k])
	for _, m := range [...][]float64{p.G, p.S} {
		for i := range k {
			rotate(m[i*p.Width:][j:k])
		}
		copy(p.coef, m[j*p.Width:][:p.Width])
		copy(m[j*p.Width:], m[(j+1)*p.Width:k*p.Width])
		copy(m[(k-1)*p.Width:], p.coef)
	}
}

// rotate moves the first element to the end.
func rotate[E any](s []E) {
	first := s[0]
	copy(s, s[1:])
	s[len(s)-1] = first
}

// Absorb is (4). It reports whether the guards let it.
func (p *Posterior) Absorb(j int) bool {
	p.Flush()
	g := SiteAddition(p.X[j], p.Tau[j])
	if p.Inexact(&g) {
		p.derive(j)
	}
	w, row := p.W[j], p.row
	copy(row, p.G[j*p.Width:][:p.Width])
	den := math.FMA(p.Tau[j], row[j], 1)
	b, c := math.FMA(-p.Tau[j], p.a[j], p.Nu[j])/den, p.Tau[j]/den
	if !(den > 0) || b-b != 0 || c-c != 0 || !p.allow(&g) {
		return false
	}
	p.drop(j)
	k := p.K
	copy(row[j:k], row[j+1:k+1])
	clear(row[k:])
	for i := range k {
		vecmath.Axpy(p.W[i], float64(-c*row[i]), w)
	}
	for l, v := range row {
		p.coef[l] = float64(-c * v)
	}
	vecmath.LanesUpdate(p.G, p.rows[:k], row, p.coef, p.mask)
	vecmath.Axpy(p.a[:k], b, row)
	vecmath.Axpy(p.ResidualMean, b, w)
	p.rank1(-c, w)
	p.Shrunk *= max(1, den)
	return true
}
