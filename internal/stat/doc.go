// Package stat compares classifiers that were judged on the same examples: paired tests, their
// intervals, and what several of them at once say.
//
// Counts go in and probabilities come out: p is that of a difference at least as large where there
// is none. Nothing here draws; equal counts give equal results. Probabilities are accurate to some
// 1e-10 of their value.
package stat

import "math"

// NormalTail returns the probability of a standard normal variable of at least z.
func NormalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// StudentTail returns the probability of a variable of Student's t distribution, with so many
// degrees of freedom (above 0, whole or not), of at least t. NaN for a t of NaN.
func StudentTail(t, degrees float64) float64 {
	if t != t || degrees <= 0 {
		return math.NaN()
	}
	tail := betaPart(degrees/2, 0.5, degrees/(degrees+float64(t*t))) / 2
	if t < 0 {
		return 1 - tail
	}
	return tail
}

// StudentHalf returns the t of which a variable of Student's t distribution is within ±t with
// probability level, from 0 to below 1: half an interval's width in standard errors. With no degree
// of freedom it is infinite.
func StudentHalf(level, degrees float64) float64 {
	if degrees <= 0 {
		return math.Inf(1)
	}
	lo, hi := 0.0, 1.0
	for 1-2*StudentTail(hi, degrees) < level && hi < 1e300 {
		lo, hi = hi, 2*hi
	}
	for range 200 { // halving, down to neighbours: some 60 steps
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if 1-2*StudentTail(mid, degrees) < level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// ChiSquaredTail returns the probability of a chi-squared variable, with so many degrees of
// freedom, of at least x.
func ChiSquaredTail(x float64, degrees int) float64 {
	if !(x > 0) {
		return 1
	}
	a, x := float64(degrees)/2, x/2
	front := func() float64 { // x^a e^-x / Gamma(a)
		g, _ := math.Lgamma(a)
		return math.Exp(a*math.Log(x) - x - g)
	}
	if x < a+1 { // the series of the lower part: Abramowitz and Stegun 6.5.29
		term := 1 / a
		sum := term
		for n := a + 1; term > sum*1e-17; n++ {
			term *= x / n
			sum += term
		}
		return 1 - front()*sum
	}
	// the continued fraction of the upper part, 6.5.31, by Lentz's method
	return front() * fraction(x+1-a, func(n float64) (a1, b1 float64) {
		return -n * (n - a), x + 2*n + 1 - a
	})
}

// betaPart is the regularised incomplete beta function I_x(a, b), by its continued fraction:
// Abramowitz and Stegun 26.5.8.
func betaPart(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // it converges below that
		return 1 - betaPart(b, a, 1-x)
	}
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	front := math.Exp(gab-ga-gb+a*math.Log(x)+b*math.Log1p(-x)) / a
	return front * fraction(1, func(n float64) (a1, b1 float64) {
		m := math.Floor(n / 2)
		if n == 2*m {
			return m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), 1
		}
		return -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)), 1
	})
}

// fraction is 1/(b0 + a1/(b1 + a2/(b2 + ...))) by the modified method of Lentz (Thompson and
// Barnett, 1986); term gives a and b of n = 1, 2, ...
func fraction(b0 float64, term func(n float64) (a, b float64)) float64 {
	const tiny = 1e-300
	f, c, d := b0, b0, 0.0
	for n := 1.0; n < 100_000; n++ {
		a, b := term(n)
		if d = b + a*d; math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + a/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		step := c * d
		f *= step
		if math.Abs(step-1) < 1e-16 {
			break
		}
	}
	return 1 / f
}
