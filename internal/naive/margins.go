package naive

import "math"

// passes goes over n examples until a whole pass makes no update, and returns the number of
// updates.
func passes(n int, learn func(k int) bool) (updates int64) {
	for more := true; more; {
		more = false
		for k := range n {
			if learn(k) {
				updates++
				more = true
			}
		}
	}
	return updates
}

// Patterns are examples times their labels, of the CRAMMA paper's learners. With a Delta, pattern k
// has one more coordinate of its own, Delta, which is not stored.
type Patterns struct {
	Y     [][]float64
	Delta float64
}

// radius returns the length of the longest pattern.
func (p Patterns) radius() float64 {
	var longest float64
	for _, y := range p.Y {
		longest = max(longest, dotWide(y, y)+p.Delta*p.Delta)
	}
	return math.Sqrt(longest)
}

// direction is a weight vector: its coordinates, and with a Delta those that belong to one pattern
// each.
type direction struct{ w, own []float64 }

func (p Patterns) zero() direction {
	d := direction{w: make([]float64, len(p.Y[0]))}
	if p.Delta > 0 {
		d.own = make([]float64, len(p.Y))
	}
	return d
}

func (p Patterns) dot(d direction, k int) float64 {
	s := dotWide(d.w, p.Y[k])
	if p.Delta > 0 {
		s += d.own[k] * p.Delta
	}
	return s
}

func (p Patterns) add(d direction, step float64, k int) {
	addWide(d.w, step, p.Y[k])
	if p.Delta > 0 {
		d.own[k] += step * p.Delta
	}
}

func (d direction) length() float64 { return math.Sqrt(dotWide(d.w, d.w) + dotWide(d.own, d.own)) }

func (d direction) divide(by float64) {
	for _, v := range [][]float64{d.w, d.own} {
		for i := range v {
			v[i] /= by
		}
	}
}

// Perceptron is the perceptron with margin b, eta = 1.
func (p Patterns) Perceptron(b float64) (updates int64) {
	a := p.zero()
	return passes(len(p.Y), func(k int) bool {
		if p.dot(a, k) > b {
			return false
		}
		p.add(a, 1, k)
		return true
	})
}

// ALMA is ALMA_2(alpha) on patterns divided by the longest one's length.
func (p Patterns) ALMA(alpha float64) (updates int64) {
	w, R, t := p.zero(), p.radius(), 1.0
	return passes(len(p.Y), func(k int) bool {
		if p.dot(w, k)/R > (1-alpha)*math.Sqrt(8)/alpha/math.Sqrt(t) {
			return false
		}
		p.add(w, math.Sqrt2/math.Sqrt(t)/R, k)
		if length := w.length(); length > 1 {
			w.divide(length)
		}
		t++
		return true
	})
}

// CRAMMA is figure 1 of its paper; beta is in units of the longest pattern's length, eta is
// eta_eff.
func (p Patterns) CRAMMA(epsilon, beta, eta float64) (updates int64) {
	u, R, t := p.zero(), p.radius(), 1.0
	p.add(u, 1, 0)
	u.divide(u.length())
	return passes(len(p.Y), func(k int) bool {
		if p.dot(u, k)/R > beta/math.Pow(t, epsilon) {
			return false
		}
		p.add(u, eta/R, k)
		u.divide(u.length())
		t++
		return true
	})
}

// ROMMA is aggressive ROMMA.
func ROMMA(X [][]float64, y []float64, delta float64) (updates int64) {
	w := make([]float64, len(X[0]))
	return passes(len(X), func(k int) bool {
		m := y[k] * dotWide(w, X[k])
		if m >= 1-delta {
			return false
		}
		xx, ww := dotWide(X[k], X[k]), dotWide(w, w)
		c, d := 0.0, 1/xx
		if xx*ww > m {
			c, d = (xx*ww-m)/(xx*ww-m*m), ww*(1-m)/(xx*ww-m*m)
		}
		for i := range w {
			w[i] *= c
		}
		addWide(w, d*y[k], X[k])
		return true
	})
}

// PUMMA is figure 1 of its paper. The first example of each label is an update, as nothing is right
// before.
func PUMMA(X [][]float64, y []float64, p, delta float64) (updates int64) {
	q := p / (p - 1)
	var kept [2][]float64 // xneg, xpos
	w, b := make([]float64, len(X[0])), 0.0
	return passes(len(X), func(k int) bool {
		if y[k]*(dotWide(w, X[k])+b) >= 1-delta {
			return false
		}
		kept[int(y[k]+1)/2] = X[k]
		if kept[0] == nil || kept[1] == nil {
			b = y[k]
			return true
		}
		z := make([]float64, len(w))
		addWide(z, 1, kept[1])
		addWide(z, -1, kept[0])
		w = maximumMargin(z, w, p, q)
		b = -(dotWide(w, kept[1]) + dotWide(w, kept[0])) / 2 // (20)
		return true
	})
}

// maximumMargin returns w of (3) after v.
func maximumMargin(z, v []float64, p, q float64) []float64 {
	if p == 2 {
		return maximumMargin2(z, v)
	}
	theta, V := link(v, q), math.Pow(norm(v, q), 2)
	w := link(z, p) // (15)
	for i, alpha := 0, 2/math.Pow(norm(z, p), 2); i < len(w); i++ {
		w[i] *= alpha
	}
	if V == 0 || dotWide(w, theta) > V {
		return w
	}
	at := func(alpha, beta float64) (u []float64, dual float64) {
		u = make([]float64, len(z))
		addWide(u, alpha, z)
		addWide(u, beta, theta)
		return u, 2*alpha + beta*V - math.Pow(norm(u, p), 2)/2
	}
	alpha, beta := 0.0, 1.0
	u, dual := at(alpha, beta)
	for range 100 { // Newton's method on (17)
		w = link(u, p)
		ga, gb := 2-dotWide(w, z), V-dotWide(w, theta)
		if math.Abs(ga) < 1e-12 && math.Abs(gb) < 1e-12*V {
			break
		}
		length := norm(u, p)
		curve := func(a, c []float64) (sum float64) {
			for i := range u {
				sum += math.Pow(math.Abs(u[i]), p-2) * a[i] * c[i]
			}
			return (p-1)*sum/math.Pow(length, p-2) - (p-2)*dotWide(w, a)*dotWide(w,
				c)/(length*length)
		}
		aa, ab, bb := curve(z, z), curve(z, theta), curve(theta, theta)
		D := aa*bb - ab*ab
		da, db := (ga*bb-gb*ab)/D, (gb*aa-ga*ab)/D
		next, better := at(alpha+da, beta+db)
		for better < dual-1e-12*math.Abs(dual) { // too far: whole steps may go to and fro for ever
			da, db = da/2, db/2
			next, better = at(alpha+da, beta+db)
		}
		alpha, beta, u, dual = alpha+da, beta+db, next, better
	}
	return link(u, p)
}

// maximumMargin2 is maximumMargin for p = 2, in closed form.
func maximumMargin2(z, v []float64) []float64 {
	w, zz, vz, V := make([]float64, len(z)), dotWide(z, z), dotWide(v, z), dotWide(v, v)
	if V == 0 || 2*vz/zz > V { // (15)
		addWide(w, 2/zz, z)
		return w
	}
	D := V*zz - vz*vz // (19)
	addWide(w, V*(2-vz)/D, z)
	addWide(w, (V*zz-2*vz)/D, v)
	return w
}

// link returns the gradient of |x|_p^2 / 2.
func link(x []float64, p float64) []float64 {
	out, length := make([]float64, len(x)), norm(x, p)
	for i, v := range x {
		if v != 0 {
			out[i] = math.Copysign(math.Pow(math.Abs(v), p-1), v) / math.Pow(length, p-2)
		}
	}
	return out
}

func norm(x []float64, p float64) float64 {
	var sum float64
	for _, v := range x {
		sum += math.Pow(math.Abs(v), p)
	}
	return math.Pow(sum, 1/p)
}
