package naive

import "math"

// VVM is the Virtual Vector Machine that only evicts, with dense covariances: one refinement of a
// site costs O(d^2) for d features. With Buffer 0 it is ADF, with Oldest window-EP. Sites are
// refined in the order and to the tolerance of the learners, so that the laws are the same but for
// rounding.
type VVM struct {
	Buffer int
	// the oldest point goes; else the one whose factor is nearest to a Gaussian
	Oldest bool
	// or the one of the largest |m.x|/sqrt(x V x)
	LargestMargin bool
	// rate of wrong labels; least change of a site, in units of its point's standard deviation
	Eps, Tolerance float64
	Sweeps         int // at most, then as many with half the step

	MR, M   []float64   // means of the residual and of the posterior
	VR, V   [][]float64 // their covariances
	X       [][]float64 // points, each times its label
	Tau, Nu []float64
}

// NewVVM returns one with the prior N(0, I) over d features.
func NewVVM(d, buffer int, oldest bool, eps, tolerance float64, sweeps int) *VVM {
	l := &VVM{Buffer: buffer, Oldest: oldest, Eps: eps, Tolerance: tolerance, Sweeps: sweeps,
		MR: make([]float64, d), M: make([]float64, d), VR: make([][]float64, d),
		V: make([][]float64, d)}
	for i := range d {
		l.VR[i], l.V[i] = make([]float64, d), make([]float64, d)
		l.VR[i][i], l.V[i][i] = 1, 1
	}
	return l
}

// Take makes V and M those of the residual and the given points and sites.
func (l *VVM) Take(X [][]float64, tau, nu []float64) {
	copy(l.M, l.MR)
	for i := range l.VR {
		copy(l.V[i], l.VR[i])
	}
	l.X, l.Tau, l.Nu = X, tau, nu
	for i, x := range X {
		change(l.V, l.M, x, tau[i], nu[i])
	}
}

// Learn learns x times its label and returns the number of sweeps.
func (l *VVM) Learn(x []float64) (sweeps int) {
	l.X, l.Tau, l.Nu = append(l.X, x), append(l.Tau, 0), append(l.Nu, 0)
	l.refine(len(l.X)-1, 1, 0)
	for worst := math.Inf(1); worst >= l.Tolerance && sweeps < 2*l.Sweeps; sweeps++ {
		step := 1.0
		if sweeps >= l.Sweeps {
			step = 0.5
		}
		worst = 0
		for i := range l.X {
			worst = max(worst, l.refine(i, step, l.Tolerance/4))
		}
	}
	if len(l.X) > l.Buffer {
		best, least := 0, math.Inf(1)
		for i := range l.X {
			cost := 0.0
			switch {
			case l.Oldest:
				cost = float64(i)
			case l.LargestMargin:
				cost = -math.Abs(l.margin(i))
			default:
				cost = l.kl(i)
			}
			if cost < least {
				best, least = i, cost
			}
		}
		change(l.VR, l.MR, l.X[best], l.Tau[best], l.Nu[best])
		l.X = append(l.X[:best], l.X[best+1:]...)
		l.Tau, l.Nu = append(l.Tau[:best], l.Tau[best+1:]...), append(l.Nu[:best], l.Nu[best+1:]...)
	}
	return sweeps
}

// cavity returns the mean and variance of w.x_i without its site, and the variance with it.
func (l *VVM) cavity(i int) (mc, vc, v float64) {
	s := product(l.V, l.X[i])
	v = inner(s, l.X[i])
	q := 1 - l.Tau[i]*v
	return (inner(l.M, l.X[i]) - l.Nu[i]*v) / q, v / q, v
}

// step returns Z, h, d and w of the step factor at z.
func (l *VVM) step(z float64) (Z, h, d, w float64) {
	Z = l.Eps + (1-2*l.Eps)*0.5*math.Erfc(-z/math.Sqrt2)
	h = (1 - 2*l.Eps) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / Z
	d = h + z
	return Z, h, d, 1 - h*d
}

// refine moves the site of point i to where its cavity's moments want it, or by a share of that,
// unless it is no more than least away, and returns how far it was.
func (l *VVM) refine(i int, share, least float64) float64 {
	mc, vc, v := l.cavity(i)
	z := mc / math.Sqrt(vc)
	_, h, d, w := l.step(z)
	dt, dn := h*d/(vc*w)-l.Tau[i], h*(z*d+1)/(math.Sqrt(vc)*w)-l.Nu[i]
	far := max(math.Abs(dt)*v, math.Abs(dn)*math.Sqrt(v))
	if far > least || l.Tau[i] == 0 && far > 0 {
		change(l.V, l.M, l.X[i], share*dt, share*dn)
		l.Tau[i] += share * dt
		l.Nu[i] += share * dn
	}
	return far
}

// kl returns how far the distribution with factor i is from a Gaussian; without wrong labels what
// goes in the same order, but does not lose its digits where it is small.
func (l *VVM) kl(i int) float64 {
	mc, vc, _ := l.cavity(i)
	z := mc / math.Sqrt(vc)
	if l.Eps == 0 {
		return -z
	}
	Z, h, _, w := l.step(z)
	phi := 0.5 * math.Erfc(-z/math.Sqrt2)
	t := l.Eps*math.Log(l.Eps)*(1-phi) + (1-l.Eps)*math.Log1p(-l.Eps)*phi
	return t/Z - math.Log(Z) + 0.5*math.Log(w) + h*z/2
}

// margin returns R(x_i), the mean of w.x_i over its standard deviation.
func (l *VVM) margin(i int) float64 {
	return inner(l.M, l.X[i]) / math.Sqrt(inner(product(l.V, l.X[i]), l.X[i]))
}

// change multiplies N(m, V) by exp(dn w.x - dt (w.x)^2/2).
func change(V [][]float64, m, x []float64, dt, dn float64) {
	s := product(V, x)
	den := 1 + dt*inner(s, x)
	b := (dn - dt*inner(m, x)) / den
	for i := range m {
		m[i] += b * s[i]
		row, c := V[i], dt/den*s[i]
		for j, v := range s {
			row[j] -= c * v
		}
	}
}

func product(V [][]float64, x []float64) []float64 {
	y := make([]float64, len(x))
	for i, row := range V {
		y[i] = inner(row, x)
	}
	return y
}

func inner(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
