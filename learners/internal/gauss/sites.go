package gauss

import (
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// maxLate is how many changes of S wait. With t of them a column of S costs t rows more, 8 on
// average, and the k rows of S are read and written once in 16 changes rather than at each: more
// would cost more in finding columns than they save.
const maxLate = 16

// refreshEvery so many points S and mu are worked out afresh, so that rounding errors do not add
// up. That is k changes of S, as many as a sweep of EP has at most, so every 64th point costs one
// more.
const refreshEvery = 64

// Refresh is (1), site by site, those with tau > 0 first: then every step on the way is positive
// definite if the end is.
func (p *Posterior) Refresh() {
	k := p.K
	p.late = 0
	copy(p.S[:k*p.Width], p.G)
	copy(p.mu, p.a[:k])
	for i, tau := range p.Tau[:k] {
		if tau > 0 {
			p.update(i, tau, p.Nu[i])
		}
	}
	for i, tau := range p.Tau[:k] {
		if !(tau > 0) && (tau != 0 || p.Nu[i] != 0) {
			p.update(i, tau, p.Nu[i])
		}
	}
	p.settle()
	p.age = 0
}

// column sets dst to row i of S, with what is pending.
func (p *Posterior) column(dst []float64, i int) {
	p.term[0] = int32(i)
	vecmath.LanesScore(dst, p.S, p.term[:1+p.late],
		p.steps[i*(1+maxLate):][:1+p.late])
}

// Spread returns S_ii, with what is pending.
func (p *Posterior) Spread(i int) float64 {
	v, at := p.S[i*p.Width+i], len(p.X)*p.Width+i
	for _, c := range p.steps[i*(1+maxLate)+1:][:p.late] {
		v = math.FMA(c, p.S[at], v)
		at += p.Width
	}
	return v
}

// update is (2), where the change of S is kept pending.
func (p *Posterior) update(i int, dt, dn float64) {
	s := p.S[(len(p.X)+p.late)*p.Width:][:p.Width]
	p.column(s, i)
	den := math.FMA(dt, s[i], 1)
	b := math.FMA(-dt, p.mu[i], dn) / den
	c := -dt / den
	p.late++
	for l, v := range s[:p.K] {
		p.steps[l*(1+maxLate)+p.late] = float64(c * v)
	}
	vecmath.Axpy(p.mu[:p.K], b, s)
	if p.late == maxLate {
		p.settle()
	}
}

// settle adds what is pending to S.
func (p *Posterior) settle() {
	if p.late == 0 {
		return
	}
	for i := range p.K {
		p.column(p.S[i*p.Width:][:p.Width], i)
	}
	p.late = 0
}

// Cavity returns the distribution N(mc, vc) of u_i, whose variance is s, without the site i. ok is
// false if there is none.
func (p *Posterior) Cavity(i int, s float64) (mc, vc float64, ok bool) {
	if !(s > float64(posteriorFloor*p.G[i*p.Width+i])) {
		return 0, 0, false
	}
	q := math.FMA(-p.Tau[i], s, 1)
	if !(q > 0) {
		return 0, 0, false
	}
	return math.FMA(-p.Nu[i], s, p.mu[i]) / q, s / q, true
}

// proposal returns by how much the site i differs from that of its cavity's moments: change in
// units of its point's standard deviation. s is S_ii.
func (p *Posterior) proposal(i int, s float64) (dt, dn, change float64) {
	mc, vc, ok := p.Cavity(i, s)
	f := &p.Factor[i]
	if !ok {
		f.Z = math.Inf(-1)
		// The other sites' precision is negative: half of this one goes, lest it stays.
		if q := math.FMA(-p.Tau[i], s, 1); q <= 0 {
			return -0.5 * p.Tau[i], -0.5 * p.Nu[i], math.Inf(1)
		}
		p.Skipped = true
		return 0, 0, 0
	}
	noisy := vc + p.Probit2 // the variance of the score with its noise
	*f = NewStepFactor(mc/math.Sqrt(noisy), p.Eps)
	tau, nu := f.site(noisy)
	more := math.FMA(tau, p.Probit2, 1) // the noise leaves of the site 1/more
	dt, dn = tau/more-p.Tau[i], nu/more-p.Nu[i]
	return dt, dn, max(math.Abs(float64(dt*s)), math.Abs(float64(dn*math.Sqrt(s))))
}

// refine moves the site i by the share damping towards that of its cavity's moments and returns how
// far off it was. Less than least is left alone.
func (p *Posterior) refine(i int, damping, least float64) float64 {
	s := p.Spread(i)
	dt, dn, change := p.proposal(i, s)
	// a new point's site is made, be it small: it is evicted once
	if change <= least && (p.Tau[i] != 0 || change == 0) {
		return change
	}
	dt, dn = float64(damping*dt), float64(damping*dn)
	den := math.FMA(dt, s, 1)
	if !(den > 0 && s > float64(float64(posteriorFloor*den)*p.G[i*p.Width+i]) && dn-dn == 0) {
		p.Skipped = true
		return 0
	}
	p.update(i, dt, dn)
	p.Tau[i] += dt
	p.Nu[i] += dn
	return change
}
