package gauss

import (
	"context"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// EPSettings say how EP goes about it.
type EPSettings struct {
	Tolerance float64 // of a site's change, in units of its point's score
	Sweeps    int     // at most so many before the damping is lowered
	Damping   float64 // share of a change that is made
}

// leave is how many times nearer than the tolerance a site must be to be left alone. One left alone
// is off by a quarter of the tolerance at most, so that others may move it by three quarters more
// before it fails the test of the next sweep, which asks for less than the tolerance of every site.
const leave = 4

// Sweep refines all sites in order and reports whether all were within tolerance. It ends early
// with ctx.
func (p *Posterior) Sweep(ctx context.Context, e *EPSettings, damping float64) bool {
	worst := 0.0
	p.Skipped = false
	for i := range p.K {
		if i%64 == 63 && ctx.Err() != nil {
			return false
		}
		worst = max(worst, p.refine(i, damping, e.Tolerance/leave))
	}
	p.settle()
	p.Report.Sweeps++
	return worst < e.Tolerance
}

// Propagate runs EP from the present sites, which are those of an earlier run but for the last
// point's, and sets the mean of w.
//
// Deviation: with label noise in the model sites may swing for ever, and a learner that went on
// from where they happened to be had 76 % errors on two Gaussians with 5 % flipped labels, of which
// ADF has 5 %. So where EP has not converged, the sites before the new example are put back, on
// which EP had agreed, the example gets the one step that ADF would make, and EP goes on with a
// damping of 0.3, then of 0.1. If that fails too, the Gaussian absorbs the older half of the
// points, until EP converges, or all of them if EP failed within the last 8 examples: where it
// keeps failing (a column a million times the others) all points hinder. With no points left the
// posterior is one ADF step from the last good one.
//
// EP that does converge may do so at another fixed point, far away: r is the Gaussian approximation
// of what was absorbed, and is good near the mean that it was made at. Beyond, sites that agree on
// the wrong side keep each other there, and all that comes is noise to them. But one example can't
// move the posterior far. With q as it was and the example's factor f the exact one is q f/Z; its
// divergence from q is the gain E[log f] - log Z, which is all but 0 where the label is as
// expected, and also where it is against all that is known, since then it is wrong. No distribution
// of divergence D from a Gaussian has its mean more than sqrt(2 D) of the Gaussian's standard
// deviations away, in any direction (Talagrand, "Transportation cost for Gaussian and other product
// measures", 1996). A run of EP that moved the mean further, but for some slack for what EP mends
// of its own approximations, ends like one that has not converged. As long as nothing was absorbed
// r is exact, and there is no such limit: all points are EP.
//
// TestPosteriorsBesideTruth measures the distance to the true posterior, TestPosteriorsBesideADF in
// bench errors. For other slacks the errors above ADF's in percent, of the hypothesis as it is
// after each 25 examples on 500 with true labels, from the 200th on, where all was absorbed: the
// worst of 360 runs, and how many of them ever had 5 more.
//
//	square of the distance   any   8 D + .5   4 D + .5   2 D + 1   2 D + .5   2 D + .1   2 D + .01
//	worst                     99         99         99        99         99        0.8         0.8
//	runs                      31          2          1         2          1          0           0
func (p *Posterior) Propagate(e *EPSettings) {
	k := p.K
	copy(p.tau0, p.Tau[:k])
	copy(p.nu0, p.Nu[:k])
	for i := range k {
		p.b0[i] = math.FMA(-p.Tau[i], p.mu[i], p.Nu[i])
	}
	p.refine(k-1, e.Damping, 0)
	farthest := math.Inf(1)
	if f := &p.Factor[k-1]; !math.IsInf(f.Z, -1) { // that of q: no site was there yet
		farthest = math.FMA(2, f.gain(p.Entropy), leapSlack)
	}
	if !p.converge(e, farthest) {
		p.Report.Unconverged++
		n := 1 + k/2
		if p.alarm > 0 {
			n = k
		}
		for p.K > 1 {
			if p.putBack(); p.Skipped && p.K == k { // rounding would decide even that
				p.Report.Lost++
			}
			if !p.absorbOldest(n) || p.converge(e, farthest) {
				break
			}
		}
		if k > 1 {
			p.alarm = alarmed + 1
		}
	}
	p.alarm = max(0, p.alarm-1)
	p.setMean()
}

// alarmed is how many examples after a failure another one absorbs all points.
const alarmed = 8

// retrySweeps is the limit of sweeps with less damping, where the settings have a lower one.
const retrySweeps = 300

// converge runs EP with less and less damping, the second time from the sites as they were before
// the new point came, and reports whether it converged no further away than that.
func (p *Posterior) converge(e *EPSettings, farthest float64) bool {
	for i, damping := range [...]float64{1, 0.3, 0.1} {
		sweeps := e.Sweeps
		if i > 0 {
			if p.K == 1 { // it is done after one sweep, or never
				return false
			}
			sweeps = max(sweeps, retrySweeps)
			p.putBack()
		}
		done := false
		for n := 0; n < sweeps && !done; n++ {
			done = p.Sweep(context.Background(), e, float64(damping*e.Damping))
		}
		if done && !p.Skipped && (p.exact() || p.moved() <= farthest) {
			return true
		}
	}
	return false
}

// exact reports whether r is the prior: nothing was absorbed.
func (p *Posterior) exact() bool {
	return p.PrecisionBound == 1 &&
		!slices.ContainsFunc(p.ResidualMean, func(m float64) bool { return m != 0 })
}

// putBack puts the sites back that there were before the new point came, which makes one step of
// ADF.
func (p *Posterior) putBack() {
	copy(p.Tau[:p.K], p.tau0)
	copy(p.Nu[:p.K], p.nu0)
	p.Refresh()
	p.Skipped = false
	p.refine(p.K-1, 1, 0)
}

// absorbOldest absorbs the n oldest points, but the last one, whose sites are as they were before
// the new point came. Those that a guard refuses wait for the next ones; if it refuses all, all are
// absorbed or dropped, and it returns false.
func (p *Posterior) absorbOldest(n int) bool {
	for range min(n, p.K-1) {
		j, k := 0, p.K
		for j < k-1 && !p.Absorb(j) {
			j++
		}
		if j == k-1 {
			p.absorbAll()
			return false
		}
		for _, v := range [...][]float64{p.tau0, p.nu0, p.b0} {
			rotate(v[j:k])
		}
	}
	p.putBack()
	return true
}

// leapSlack is the square of the distance, in standard deviations, by which EP may move the mean
// though the new example brings nothing. From 0.01 to 0.1 it made no difference.
const leapSlack = 0.1

// moved returns the square of the distance from the mean as it was, b0, to the present one, both as
// of (3), by the covariance as it was: with c the difference of the points' coefficients and g = G
// c that of their scores, c'g + sum tau0 g^2. O(k^2).
func (p *Posterior) moved() float64 {
	k, sum := p.K, 0.0
	c := p.row[:k]
	for i := range k {
		c[i] = math.FMA(-p.Tau[i], p.mu[i], p.Nu[i]) - p.b0[i]
	}
	for i := range k {
		g := vecmath.Dot(p.G[i*p.Width:][:k], c)
		sum = math.FMA(g, math.FMA(p.tau0[i], g, c[i]), sum)
	}
	return sum
}

// absorbAll makes r the Gaussian approximation of q: of points with tau > 0 first, as then every
// step on the way is positive definite if the end is.
func (p *Posterior) absorbAll() {
	for p.K > 0 {
		j := max(0, slices.IndexFunc(p.Tau[:p.K], func(tau float64) bool { return tau > 0 }))
		if !p.Absorb(j) {
			p.drop(j)
			p.Report.Lost++
		}
	}
	p.late, p.age = 0, 0
}
