package gauss

import (
	"context"
)

// Sites are points with sites that were all absorbed: r = N(mr, Vr) is the approximation of q. In
// this form, for more points than features, a refinement costs O(d^2). The posterior has room for
// one point, which is added with the share of its site that changes and absorbed at once.
type Sites struct {
	X       [][]float64
	Tau, Nu []float64
}

// Rebuild makes the posterior that of the prior and the sites, those with tau > 0 first, and sets
// report.Lost to the number of those that it could not absorb.
func (p *Posterior) Rebuild(t *Sites) {
	clear(p.ResidualMean)
	p.identity()
	p.PrecisionBound, p.Shrunk, p.Precision = 1, 1, nil
	passed := p.Report.Passed
	p.Report.Lost = 0
	for _, positive := range [...]bool{true, false} {
		for i, x := range t.X {
			if (t.Tau[i] > 0) != positive || t.Tau[i] == 0 && t.Nu[i] == 0 {
				continue
			}
			copy(p.X[0], x)
			if !p.Add() { // with a site it has features
				p.Report.Lost++
				continue
			}
			p.Tau[0], p.Nu[0] = t.Tau[i], t.Nu[i]
			if !p.Absorb(0) {
				p.drop(0)
				p.Report.Lost++
			}
		}
	}
	p.Report.Passed = passed
	copy(p.Mean, p.ResidualMean)
}

// SweepAbsorbed is sweep for absorbed sites.
func (p *Posterior) SweepAbsorbed(ctx context.Context, t *Sites, e *EPSettings,
	damping float64) bool {
	worst, passed := 0.0, int64(0)
	p.Skipped = false
	for i, x := range t.X {
		if i%64 == 63 && ctx.Err() != nil {
			return false
		}
		copy(p.X[0], x)
		before := p.Report.Passed
		if !p.Add() {
			passed += p.Report.Passed - before
			p.Report.Passed = before
			continue
		}
		p.mu[0], p.Tau[0], p.Nu[0] = p.a[0], t.Tau[i], t.Nu[i]
		dt, dn, change := p.proposal(0, p.S[0])
		worst = max(worst, change)
		p.Tau[0], p.Nu[0] = float64(damping*dt), float64(damping*dn)
		if change <= e.Tolerance/leave || !p.Absorb(0) {
			p.drop(0)
			continue
		}
		t.Tau[i] += float64(damping * dt)
		t.Nu[i] += float64(damping * dn)
	}
	p.Report.Sweeps++
	p.Report.Passed = passed // of one sweep
	copy(p.Mean, p.ResidualMean)
	return worst < e.Tolerance
}
