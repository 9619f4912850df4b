package gauss

import (
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// bvnCDF returns P(X <= h, Y <= k) for a bivariate normal distribution with unit variances and
// correlation r in [-1, 1].
//
// Reference: A. Genz, "Numerical computation of rectangular bivariate and trivariate normal and t
// probabilities", Statistics and Computing 14, 2004, section 2: Gauss-Legendre integration of
// Plackett's formula over arcsin r below |r| = 0.925, beyond it of the rest of an expansion about
// |r| = 1.
//
// Largest absolute errors against 135 values integrated to 30 digits, TestBVN:
//
//	|r|             points    error
//	0 ... 0.3       6         3e-16
//	0.3 ... 0.75    12        3e-16
//	0.75 ... 1      20        3e-16
//
// Values far below 1e-9 have few correct digits.
func bvnCDF(h, k, r float64) float64 {
	h, k = -h, -k // P(X > h, Y > k) from here on
	if r == 0 {
		return float64(NormalCDF(-h) * NormalCDF(-k))
	}
	var nodes []legendre
	switch a := math.Abs(r); {
	case a < 0.3:
		nodes = legendre6[:]
	case a < 0.75:
		nodes = legendre12[:]
	default:
		nodes = legendre20[:]
	}
	hk := float64(h * k)
	p := 0.0
	if math.Abs(r) < 0.925 {
		hs := 0.5 * (float64(h*h) + float64(k*k))
		angle := arcsin(r)
		for _, n := range nodes {
			for _, x := range [...]float64{1 - n.x, 1 + n.x} {
				at := [1]float64{0.5 * float64(angle*x)}
				var sn, cs [1]float64
				vecmath.SinCos(sn[:], cs[:], at[:], 1)
				p = math.FMA(n.w, ExpScalar((float64(sn[0]*hk)-hs)/float64(cs[0]*cs[0])), p)
			}
		}
		return float64(p*(angle/(4*math.Pi))) + float64(NormalCDF(-h)*NormalCDF(-k))
	}
	if r < 0 {
		k, hk = -k, -hk
	}
	if math.Abs(r) < 1 {
		as := float64((1 - r) * (1 + r))
		a := math.Sqrt(as)
		bs := float64((h - k) * (h - k))
		c, d := (4-hk)/8, (12-hk)/16
		if e := -0.5 * (bs/as + hk); e > -100 {
			p = float64(float64(a*ExpScalar(e)) *
				(1 - float64(float64(c*(bs-as))*(1-float64(d*bs)/5))/3 +
					float64(float64(c*d)*float64(as*as))/5))
		}
		if hk > -100 {
			b := math.Sqrt(bs)
			p -= float64(float64(float64(ExpScalar(-0.5*hk)*NormalCDF(-b/a))*float64(
				b/invSqrt2Pi)) * (1 - float64(float64(c*bs)*(1-float64(d*bs)/5))/3))
		}
		a *= 0.5
		for _, n := range nodes {
			for _, x := range [...]float64{1 - n.x, 1 + n.x} {
				xs := float64(a * x)
				xs = float64(xs * xs)
				rs := math.Sqrt(1 - xs)
				e := -0.5 * (bs/xs + hk)
				if e <= -100 {
					continue
				}
				q := 1 + rs
				rest := ExpScalar(-0.5*float64(hk*xs)/float64(q*q))/rs -
					(1 + float64(float64(c*xs)*(1+float64(d*xs))))
				p += float64(float64(float64(a*n.w)*ExpScalar(e)) * rest)
			}
		}
		p /= -2 * math.Pi
	}
	if r > 0 {
		return p + NormalCDF(-max(h, k))
	}
	p = -p
	if k > h {
		p += NormalCDF(k) - NormalCDF(h)
	}
	return max(0, p)
}

// legendre is a node of Gauss-Legendre integration over [-1, 1] with its weight; -x is one, too.
type legendre struct{ x, w float64 }

var (
	legendre6 = [...]legendre{{0.9324695142031522, 0.1713244923791705}, {0.6612093864662647,
		0.3607615730481384}, {0.2386191860831970, 0.4679139345726904}}
	legendre12 = [...]legendre{{0.9815606342467191, 0.04717533638651177}, {0.9041172563704750,
		0.1069393259953183}, {0.7699026741943050, 0.1600783285433464},
		{0.5873179542866171, 0.2031674267230659}, {0.3678314989981802, 0.2334925365383547},
		{0.1252334085114692, 0.2491470458134029}}
	legendre20 = [...]legendre{{0.9931285991850949, 0.01761400713915212}, {0.9639719272779138,
		0.04060142980038694}, {0.9122344282513259, 0.06267204833410906},
		{0.8391169718222188, 0.08327674157670475}, {0.7463319064601508, 0.1019301198172404},
		{0.6360536807265150, 0.1181945319615184},
		{0.5108670019508271, 0.1316886384491766}, {0.3737060887154196, 0.1420961093183821},
		{0.2277858511416451, 0.1491729864726037},
		{0.07652652113349733, 0.1527533871307259}}
)

// arcsin returns the arc sine of |x| < 0.93: of a quarter of the angle, by its Taylor series.
func arcsin(x float64) float64 {
	for range 2 { // sin(t/2) = sin t/sqrt(2 (1 + cos t))
		x /= math.Sqrt(2 * (1 + math.Sqrt(math.FMA(-x, x, 1))))
	}
	x2 := float64(x * x)
	// c[n+1]/c[n] = (2n+1)^2/((2n+2)(2n+3))
	sum := 1.0
	for n := 16.; n >= 0; n-- {
		sum = math.FMA(float64(x2*float64((2*n+1)*(2*n+1)/((2*n+2)*(2*n+3)))), sum, 1)
	}
	return 4 * float64(x*sum)
}

// leastApart is the least 1 - r^2 of twoStep, of which rounding errors are some 2^-52, so that 12
// good bits are left: points closer than that count as parallel. leastMass is the least mass, a sum
// of terms of up to 1 with errors of some 1e-15, of which 7 good digits are.
const leastApart, leastMass = 0x1p-40, 1e-8

// twoStep returns the mass of N(u; mu, S) f(u_1) f(u_2) for the step factor f, and the first and
// second derivatives of its logarithm in mu: the mean of the product is mu + S gamma, its
// covariance S + S H S. ok is false where they have no digits, for Z < 1e-8, and for opposite
// points.
//
// Reference: section 3.3 of the VVM paper; o = 1 - 2 eps, P = Phi2(z1, z2; r):
//
//	(1) Z       = eps^2 + eps o (Phi(z1) + Phi(z2)) + o^2 P
//	(2) D1      = N(z1) [eps o + o^2 Phi((z2 - r z1)/sqrt(1-r^2))]
//	(3) gamma_i = D_i/(Z s_i)
//	(4) H11     = [(-z1 D1 - o^2 r b)/Z - (D1/Z)^2]/s1^2,   b = phi2(z1, z2; r),
//	    H12     = [o^2 b/Z - D1 D2/Z^2]/(s1 s2)
//	(5) f(u_1) f(u_2) = (eps^2 + (1-eps)^2) f'(u) for parallel points, where f' is the step factor
//	    of the rate eps^2/(eps^2 + (1-eps)^2), and u_1/s1 = u_2/s2 = u
//
// Points whose 1 - r^2 has no digits are parallel, (5), if z1 and z2 are equal to 2^-20, too. Else
// they are two steps at two places of one line, and 2^-40 stands for their 1 - r^2. Either is off
// by some 2^-20 of the mass, and (5) for equal points by nothing.
func twoStep(mu Pair, S Sym2, eps float64) (Z float64, gamma Pair, H Sym2, ok bool) {
	if !(S.AA > 0 && S.BB > 0) {
		return 0, Pair{}, Sym2{}, false
	}
	s1, s2 := math.Sqrt(S.AA), math.Sqrt(S.BB)
	z1, z2, r := mu.A/s1, mu.B/s2, S.AB/float64(s1*s2)
	q2 := S.det() / float64(S.AA*S.BB) // 1 - r^2
	if !(q2 > leastApart) {
		if r < 0 {
			return 0, Pair{}, Sym2{}, false
		}
		if math.Abs(z1-z2) < 0x1p-20 { // (5)
			right, wrong := float64((1-eps)*(1-eps)), float64(eps*eps)
			f := NewStepFactor(0.5*(z1+z2), wrong/(right+wrong))
			h, hd := 0.5*f.H, -0.25*float64(f.H*f.D)
			return float64((right + wrong) * f.mass), Pair{h / s1, h / s2},
				Sym2{hd / S.AA, hd / float64(s1*s2), hd / S.BB}, f.mass >= leastMass
		}
		q2 = leastApart
	}
	q := math.Sqrt(q2)
	r = max(-1, min(1, r))
	o := 1 - 2*eps
	eo, oo := float64(eps*o), float64(o*o)
	// (1)
	Z = float64(eps*eps) + float64(eo*(NormalCDF(z1)+NormalCDF(z2))) + float64(oo*bvnCDF(z1, z2, r))
	if !(Z >= leastMass) {
		return 0, Pair{}, Sym2{}, false
	}
	t1, t2 := math.FMA(-r, z2, z1)/q, math.FMA(-r, z1, z2)/q
	d1 := float64(normalPDF(z1)*math.FMA(oo, NormalCDF(t2), eo)) / Z // (2), over Z
	d2 := float64(normalPDF(z2)*math.FMA(oo, NormalCDF(t1), eo)) / Z
	b := float64(oo*float64(normalPDF(z1)*normalPDF(t2))) / float64(q*Z)
	gamma = Pair{d1 / s1, d2 / s2} // (3)
	H.AA = (-float64(z1*d1) - float64(r*b) - float64(d1*d1)) / S.AA
	H.AB = (b - float64(d1*d2)) / float64(s1*s2)
	H.BB = (-float64(z2*d2) - float64(r*b) - float64(d2*d2)) / S.BB // (4)
	return Z, gamma, H, true
}
