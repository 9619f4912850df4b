package naive

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Window is a Gaussian posterior times a few points' likelihoods (section 2 of the VVM paper), with dense matrices: expectation propagation changes a point's site in the
// precision matrix and inverts that, O(d^3). Buffer = 0 is ADF, Oldest window-EP, else it is the VVM without merging. The points' sites are refined in the order and to the
// tolerance of the learners, so that the means are the same but for rounding.
type Window struct {
	Buffer           int
	Oldest           bool    // absorb the oldest point; else that with the largest margin from its cavity, which is the VVM's for Noise = 0
	Noise, Tolerance float64 // rate of wrong labels; least change of a site, in units of its point's standard deviation
	Sweeps           int     // at most, then as many with half the step

	Mean      *mat.VecDense
	cov       *mat.SymDense
	precision *mat.SymDense
	linear    *mat.VecDense // precision times mean
	points    []windowPoint
}

// windowPoint is an example times its label, with its site exp(nu u - tau u^2/2) of u = w.x and the margin from its cavity.
type windowPoint struct {
	x       *mat.VecDense
	tau, nu float64
	z       float64
}

// NewWindow returns one with d features and the prior N(0, I).
func NewWindow(d, buffer int, oldest bool, noise, tolerance float64, sweeps int) *Window {
	l := &Window{Buffer: buffer, Oldest: oldest, Noise: noise, Tolerance: tolerance, Sweeps: sweeps,
		Mean: mat.NewVecDense(d, nil), cov: mat.NewSymDense(d, nil), precision: mat.NewSymDense(d, nil), linear: mat.NewVecDense(d, nil)}
	for i := range d {
		l.precision.SetSym(i, i, 1)
	}
	l.cov.CopySym(l.precision)
	return l
}

// Learn learns an example and returns its score before that.
func (l *Window) Learn(x []float64, y float64) (float64, error) {
	p := windowPoint{x: mat.NewVecDense(len(x), nil)}
	p.x.ScaleVec(y, mat.NewVecDense(len(x), x))
	f := y * mat.Dot(l.Mean, p.x)
	l.points = append(l.points, p)
	if _, err := l.refine(len(l.points)-1, 1, 0); err != nil {
		return f, err
	}
	for n, worst := 0, math.Inf(1); n < 2*l.Sweeps && worst >= l.Tolerance; n++ {
		step := 1.0
		if n >= l.Sweeps {
			step = 0.5
		}
		worst = 0
		for i := range l.points {
			change, err := l.refine(i, step, l.Tolerance/4)
			if err != nil {
				return f, err
			}
			worst = max(worst, change)
		}
	}
	if len(l.points) > l.Buffer { // its site stays in the precision
		j := 0
		for i := range l.points {
			if !l.Oldest && l.points[i].z > l.points[j].z {
				j = i
			}
		}
		l.points = append(l.points[:j], l.points[j+1:]...)
	}
	return f, nil
}

// refine makes the point's site that of its cavity's moments, unless it changes by no more than least, and returns the change.
func (l *Window) refine(i int, step, least float64) (change float64, err error) {
	p := &l.points[i]
	s, mu := mat.Inner(p.x, l.cov, p.x), mat.Dot(l.Mean, p.x)
	q := 1 - p.tau*s
	if !(q > 0) {
		return 0, fmt.Errorf("naive: a point without a cavity: 1 - tau s = %v", q)
	}
	v, m := s/q, (mu-s*p.nu)/q
	p.z = m / math.Sqrt(v)
	Z := l.Noise + (1-2*l.Noise)*math.Erfc(-p.z/math.Sqrt2)/2
	h := (1 - 2*l.Noise) * math.Exp(-p.z*p.z/2) / math.Sqrt(2*math.Pi) / Z
	d := h + p.z
	w := 1 - h*d
	dt, dn := h*d/(v*w)-p.tau, h*(p.z*d+1)/(math.Sqrt(v)*w)-p.nu
	change = max(math.Abs(dt*s), math.Abs(dn*math.Sqrt(s)))
	if change <= least && (p.tau != 0 || change == 0) {
		return change, nil
	}
	p.tau += step * dt
	p.nu += step * dn
	l.precision.SymRankOne(l.precision, step*dt, p.x)
	l.linear.AddScaledVec(l.linear, step*dn, p.x)
	var chol mat.Cholesky
	if !chol.Factorize(l.precision) {
		return change, fmt.Errorf("naive: a precision matrix that is not positive definite")
	}
	if err := chol.InverseTo(l.cov); err != nil {
		return change, fmt.Errorf("naive: %w", err)
	}
	l.Mean.MulVec(l.cov, l.linear)
	return change, nil
}
