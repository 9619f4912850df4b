package gauss

import (
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// TwoPoints is what merging of the points i < j comes to.
type TwoPoints struct {
	I, J    int
	Gain    float64 // of the sum of KL, negative
	tau, nu float64 // of the merged point's site
	K2      Sym2
	k1      Pair
	Growth  Addition // what is added to Vr^-1
	// by how much rounding errors of K2 are larger than 2^-52, as cancelledIn has it
	grown float64
}

// middle returns the block i, j of a covariance of scores as that of their mean and difference: s =
// (u_i + u_j)/2 and d = u_i - u_j, in which points that are all but parallel cancel nothing later.
func (p *Posterior) middle(m []float64, i, j int) Sym2 {
	ii, ij, jj := m[i*p.Width+i], m[i*p.Width+j], m[j*p.Width+j]
	return Sym2{0.25 * (ii + 2*ij + jj), 0.5 * (ii - jj), ii - 2*ij + jj}
}

// TryMerge works out (5): points 1 and 2 become b = (x_1 + x_2)/2 and a Gaussian g(u_1, u_2) such
// that f(b) g has the moments that f_1 f_2 has in q without their sites. All pairs are those of the
// mean s and the difference d of u_1 and u_2, that is of the points b and e = x_1 - x_2; b's score
// is s. kl holds the points' scores (13). ok is false if there is none, or none that keeps r
// proper. Growth is good until the next call.
func (p *Posterior) TryMerge(i, j int, kl []float64) (t TwoPoints, ok bool) {
	// The cavity of the pair: (S^-1 - T)^-1, mu - Sc (nu - T mu).
	T := Sym2{p.Tau[i] + p.Tau[j], 0.5 * (p.Tau[i] - p.Tau[j]), 0.25 * (p.Tau[i] + p.Tau[j])}
	mu := Pair{0.5 * (p.mu[i] + p.mu[j]), p.mu[i] - p.mu[j]}
	Sc, ok := InverseOfSum(p.middle(p.S, i, j), Sym2{-T.AA, -T.AB, -T.BB})
	if !ok {
		return t, false
	}
	d := T.Mul(mu)
	d = Sc.Mul(Pair{p.Nu[i] + p.Nu[j] - d.A, 0.5*(p.Nu[i]-p.Nu[j]) - d.B})
	muc := Pair{mu.A - d.A, mu.B - d.B}
	_, gamma, H, ok := twoStep(Pair{muc.A + 0.5*muc.B, muc.A - 0.5*muc.B}, Sym2{
		Sc.AA + Sc.AB + 0.25*Sc.BB, Sc.AA - 0.25*Sc.BB, Sc.AA - Sc.AB + 0.25*Sc.BB}, p.Eps)
	if !ok {
		return t, false
	}
	gamma = Pair{gamma.A + gamma.B, 0.5 * (gamma.A - gamma.B)}
	H = Sym2{H.AA + 2*H.AB + H.BB, 0.5 * (H.AA - H.BB), 0.25 * (H.AA - 2*H.AB + H.BB)}
	d, c := Sc.Mul(gamma), Sc.sandwich(H)
	mun, vNew := Pair{muc.A + d.A, muc.B + d.B}, Sc.AA+c.AA
	// (26), (27): the cavity of b on which one step has these moments.
	f, mh, vh, ok := inverseADF(mun.A, vNew, p.Eps)
	if !ok || mh-mh != 0 {
		return t, false
	}
	t.I, t.J = i, j
	t.tau, t.nu = f.site(vh)
	t.Gain = f.DivergenceWith(p.Entropy) - kl[i] - kl[j]
	// g = exp(k.u - u.K u/2): K0 = Sn^-1 - Sc^-1 less the site of b.
	K0, ok := InverseOfSum(H, Sc)
	if !ok {
		return t, false
	}
	K := Sym2{-K0.AA - t.tau, -K0.AB, -K0.BB}
	k := Sym2{-K0.AA, -K0.AB, -K0.BB}.Mul(mun)
	k = Pair{k.A + gamma.A - t.nu, k.B + gamma.B}
	// K2 = K (I + G2 K)^-1, k1 = (I + K G2)^-1 (k - K a2) = (I - K2 G2) (k - K a2)
	G2 := p.middle(p.G, i, j)
	t.K2, ok = InverseOfSum(K, G2)
	if !ok {
		return t, false
	}
	t.grown = cancelledIn(K, G2)
	b, e := p.Scratch, p.y
	for l, x := range p.X[i] {
		b[l], e[l] = 0.5*(x+p.X[j][l]), x-p.X[j][l]
	}
	n1, n2 := vecmath.SumSq(b), vecmath.SumSq(e)
	trace := float64(max(0, K.AA)*n1) + float64(max(0, K.BB)*n2)
	trace += float64(2 * math.Abs(K.AB) * math.Sqrt(float64(n1*n2)))
	t.Growth = Addition{b, e, K, trace}
	Ka := K.Mul(Pair{0.5 * (p.a[i] + p.a[j]), p.a[i] - p.a[j]})
	k = Pair{k.A - Ka.A, k.B - Ka.B}
	gk := G2.Mul(k)
	kk := t.K2.Mul(gk)
	t.k1 = Pair{k.A - kk.A, k.B - kk.B}
	for _, v := range [...]float64{t.Gain, t.tau, t.nu, t.K2.AA, t.K2.AB, t.K2.BB, t.k1.A, t.k1.B,
		trace} {
		if v-v != 0 {
			return t, false
		}
	}
	return t, true
}

// InverseOfSum returns (A^-1 + B)^-1 = (A + |A| adj B)/|I + A B|, also for a singular A. ok is
// false unless I + A B has positive eigenvalues.
func InverseOfSum(A, B Sym2) (Sym2, bool) {
	a := A.det()
	trace := float64(A.AA*B.AA) + float64(2*A.AB*B.AB) + float64(A.BB*B.BB)
	det := 1 + trace + float64(a*B.det())
	if !(det > leastDet && 2+trace > 0) {
		return Sym2{}, false
	}
	return Sym2{math.FMA(a, B.BB, A.AA) / det, math.FMA(-a, B.AB, A.AB) / det, math.FMA(a, B.AA,
		A.BB) / det}, true
}

// leastDet is the least |I + A B| that has digits: its term 1 alone has an error of 2^-53, so that
// at 2^-30 it has at least 22 good bits. Where other terms are larger cancelledIn counts that.
const leastDet = 0x1p-30

// cancelledIn returns how much larger the terms of |I + A B| are together than their sum: the
// determinant, and what InverseOfSum makes with it, has errors of some 2^-52 of that.
func cancelledIn(A, B Sym2) float64 {
	abs := func(m Sym2) float64 { return math.Abs(float64(m.AA*m.BB)) + float64(m.AB*m.AB) }
	aa, ab, bb := float64(A.AA*B.AA), float64(2*A.AB*B.AB), float64(A.BB*B.BB)
	terms := 1 + math.Abs(aa) + math.Abs(ab) + math.Abs(bb) + float64(abs(A)*abs(B))
	return terms / (1 + aa + ab + bb + float64(A.det()*B.det()))
}

// Merge does what the last call of TryMerge worked out, if the covariance allows it, with the rows
// 1 and 2 of W and G those of b and e:
//
//	mr += W2^T k1,   Vr -= W2^T K2 W2,
//	W -= G[:,12] K2 W2,   G -= G[:,12] K2 G[:,12]^T,   a += G[:,12] k1
//
// Then b, the last point from now on, has the mean of the rows 1 and 2.
func (p *Posterior) Merge(t *TwoPoints) bool {
	p.Flush()
	if !(float64(t.grown*p.strain(&t.Growth)) < maxInexact) { // K2 is as inexact as images may be
		return false
	}
	if !p.allow(&t.Growth) {
		return false
	}
	i, j, k, w := t.I, t.J, p.K, p.Width
	gb, ge := p.row, p.coef
	for l, g := range p.G[i*w:][:w] {
		gb[l], ge[l] = 0.5*(g+p.G[j*w+l]), g-p.G[j*w+l]
	}
	wb, we := p.Scratch, p.y
	for l, v := range p.W[i] {
		wb[l], we[l] = 0.5*(v+p.W[j][l]), v-p.W[j][l]
	}
	for l := range k {
		u := t.K2.Mul(Pair{gb[l], ge[l]})
		vecmath.Axpy(p.W[l], -u.A, wb)
		vecmath.Axpy(p.W[l], -u.B, we)
		vecmath.Axpy(p.G[l*w:][:k], -u.A, gb[:k])
		vecmath.Axpy(p.G[l*w:][:k], -u.B, ge[:k])
		p.a[l] = math.FMA(gb[l], t.k1.A, math.FMA(ge[l], t.k1.B, p.a[l]))
	}
	vecmath.Axpy(p.ResidualMean, t.k1.A, wb)
	vecmath.Axpy(p.ResidualMean, t.k1.B, we)
	// K2 = l1 e1 e1^T + l2 e2 e2^T by a Jacobi rotation
	l1, l2, cs, sn := t.K2.AA, t.K2.BB, 1.0, 0.0
	if t.K2.AB != 0 {
		q := (l2 - l1) / (2 * t.K2.AB)
		tan := math.Copysign(1/(math.Abs(q)+math.Sqrt(math.FMA(q, q, 1))), q)
		l1, l2 = math.FMA(-tan, t.K2.AB, l1), math.FMA(tan, t.K2.AB, l2)
		cs = 1 / math.Sqrt(math.FMA(tan, tan, 1))
		sn = float64(tan * cs)
	}
	first := l1 <= l2 // the one that adds variance first
	for range 2 {
		l, ci, cj := l2, sn, cs
		if first {
			l, ci, cj = l1, cs, -sn
		}
		p.Flush() // which needs z
		clear(p.z)
		vecmath.Axpy(p.z, ci, wb)
		vecmath.Axpy(p.z, cj, we)
		p.rank1(-l, p.z)
		first = !first
	}
	// b takes the place of i
	for l := range p.X[i] {
		p.X[i][l] = 0.5 * (p.X[i][l] + p.X[j][l])
		p.W[i][l] = 0.5 * (p.W[i][l] + p.W[j][l])
	}
	for l := range k {
		p.G[i*w+l] = 0.5 * (p.G[i*w+l] + p.G[j*w+l])
	}
	for l := range k {
		p.G[l*w+i] = 0.5 * (p.G[l*w+i] + p.G[l*w+j])
	}
	p.a[i] = 0.5 * (p.a[i] + p.a[j])
	p.Tau[i], p.Nu[i] = t.tau, t.nu
	p.drop(j)
	p.last(i)
	p.Report.Merged++
	p.Shrunk = 2 * maxShrunk
	p.Refresh()
	p.setMean()
	return true
}
