package primal

import (
	"math"

	"github.com/halfspace-ml/halfspace/learner"
)

// Sum is a sum of terms >= 0 that is kept while some of the terms are replaced: the old ones are
// taken off and the new ones added, so that a change costs what it changes and not the whole sum.
//
// It is an unevaluated sum of two numbers. A term that is taken off has the very bits with which it
// was added, so that the rounding errors of terms go with them; what is left is that of Add. Its
// low part is below 2^-53 of the sum, and rounded twice, by at most 2^-53 of itself each: an Add is
// off by at most 2^-105 of what the sum was or became. [Sum.Changed] adds these bounds up, twice as
// large. They matter where cancellation leaves little of a sum: 2^-50 of it, after a thousand Adds,
// has some 45 digits. [Sum.Good] says when the terms must be added anew.
type Sum struct {
	Hi, Lo float64
	Off    float64 // bound of the error, that of the terms left out
}

// Add adds x, which may be a term's negative.
func (s *Sum) Add(x float64) {
	t := s.Hi + x
	v := t - s.Hi
	lo := s.Lo + ((s.Hi - (t - v)) + (x - v)) // exact but for the sum with Lo
	s.Hi = t + lo
	s.Lo = lo - (s.Hi - t)
}

// AddAll adds all of x, terms or their negatives of which those that are taken off are in the sum,
// and notes what that may be off by. It takes a sixth of the time of as many calls of Add, each of
// which waits for the one before: four sums are made side by side.
func (s *Sum) AddAll(x []float64) {
	for len(x) > 0 {
		n, top := min(len(x), sumRun), s.Hi
		s.addRun(x[:n])
		s.Changed(4*n, max(top, s.Hi))
		x = x[n:]
	}
}

// sumRun is how many are added at once. What the sums round off, below 2^-53 of them, is added in
// one float64: at most ten numbers in each and eleven where they come together. The errors of that
// are below 331 times 2^-106, with fewer of them less, and Changed notes 512 of these.
const sumRun = 32

func (s *Sum) addRun(x []float64) {
	var a, b, c, d, al, bl, cl, dl float64
	for ; len(x) >= 4; x = x[4:] {
		a, al = addTwo(a, al, x[0])
		b, bl = addTwo(b, bl, x[1])
		c, cl = addTwo(c, cl, x[2])
		d, dl = addTwo(d, dl, x[3])
	}
	for _, v := range x {
		a, al = addTwo(a, al, v)
	}
	a, al = addTwo(a, al+bl, b)
	c, cl = addTwo(c, cl+dl, d)
	a, al = addTwo(a, al+cl, c)
	t := s.Hi + a
	v := t - s.Hi
	lo := s.Lo + (((s.Hi - (t - v)) + (a - v)) + al)
	s.Hi = t + lo
	s.Lo = lo - (s.Hi - t)
}

// addTwo adds x to h and what that rounds off to l.
func addTwo(h, l, x float64) (float64, float64) {
	t := h + x
	v := t - h
	return t, l + ((h - (t - v)) + (x - v))
}

// Changed notes n calls of Add, in which the sum was at most top.
func (s *Sum) Changed(n int, top float64) { s.Off += float64(float64(float64(n)*0x1p-104) * top) }

// HalfUlp is half a unit in the last place: what is computed with a total that is off by that share
// of it is as good as with an exact one.
const HalfUlp = 0x1p-53

// Good reports whether the error is at most that share of a total that has the sum in it.
func (s *Sum) Good(total, share float64) bool { return s.Off <= float64(share*total) }

// Fields walks the sum's parts of a state, whose scalars' names begin with name. It wants the sum
// to be good to that share, and off from that of its n terms, of, by no more than it says and what
// adding those one after another rounds.
func (s *Sum) Fields(c *learner.Codec, name string, of float64, n int, share float64) {
	hi, lo := c.Scalar(name, &s.Hi), c.Scalar(name+"_low", &s.Lo)
	off := c.Scalar(name+"_off", &s.Off)
	near := of-of == 0 && math.Abs(hi-of) <= off+float64(float64(float64(n+64)*0x1p-52)*of)
	c.Want(near && math.Abs(lo) <= float64(0x1p-52*hi),
		"scalar %q is %v and %v, but the terms add up to %v", name, hi, lo, of)
	c.Want(off >= 0 && off <= float64(share*hi), "scalar %q is %v", name+"_off", off)
}
