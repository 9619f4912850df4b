package learners

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// memberRule is an update rule for the members of an ensemble, with what state of theirs it needs besides weights.
type memberRule[T Float] interface {
	// step decides for the members lo, lo+1, ... in mask, whose weights score the example s[0], s[1], ..., which of them
	// update: it clears the others in mask and returns the number of those left, with coefficients c: member lo+l gets c[l]
	// times the example added. coef is room for c. The sum of the coefficients, in units of unit() and in the order of the
	// members, goes to t.coef, word by word. len(s) is 1 (not for the perceptron) or a multiple of vecmath.LaneUnit. Distinct members may be stepped at the same time.
	step(t *tally, mask []uint64, lo int, s []T, y T, norm2 float64, coef []T) (updates int, c []T)
	// total returns the sum of the scores (or weights) of the members lo, lo+1, ... from those of their stored weights.
	total(lo int, s []T) float64
	unit() float64   // of tally.coef
	needsNorm() bool // step looks at norm2 = |x|^2
	additive() bool  // an update adds a multiple of the example and changes nothing else: S can be kept
	bind(scaler[T])  // names the store of the weights
	// fields walks what state the members have besides weights; those are given, as stored,
	// [feature][member].
	fields(c *learner.Codec, weights []T)
	bytes() int64
}

// scaler multiplies all weights of a member.
type scaler[T Float] interface{ Scale(m int, f T) }

// validateBase checks a base's settings and that there are members of that kind.
func validateBase(name string, c Config) error {
	switch c := c.(type) {
	case *PerceptronConfig, *PAConfig, *LMSConfig:
	case *ALMAConfig:
		if err := c.Validate(); err != nil {
			return fmt.Errorf("obpm: base: %w", err)
		}
		if c.P != 2 {
			return fmt.Errorf("obpm: base alma has p = %v, want p = 2: other norms have no members' form: %w", c.P, ErrConfig)
		}
	default:
		return fmt.Errorf("obpm: base is %q, want perceptron, pa, lms, or alma with p = 2: %w", name, ErrConfig)
	}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("obpm: base: %w", err)
	}
	return nil
}

// newRule returns the rule of validated settings.
func newRule[T Float](c Config, members int) (memberRule[T], error) {
	switch c := c.(type) {
	case *PerceptronConfig:
		if c.Relative() {
			return nil, fmt.Errorf("obpm: base: margin-rel is %v and R is not known: call Resolve first: %w", c.MarginRel, ErrConfig)
		}
		r := &perceptronRule[T]{margin: T(c.Margin), eta: float64(T(c.Eta))}
		for l := range r.plus {
			r.plus[l], r.minus[l] = T(c.Eta), -T(c.Eta)
		}
		return r, nil
	case *PAConfig:
		return &paRule[T]{cfg: *c}, nil
	case *LMSConfig:
		return &lmsRule[T]{eta: c.Eta}, nil
	case *ALMAConfig:
		r := &almaRule[T]{cfg: *c}
		r.members = make([]almaMember, members)
		for m := range r.members {
			r.members[m] = almaMember{scale: 1, threshold: c.threshold(1)}
		}
		return r, nil
	}
	panic("unreachable: validated")
}

// additiveRule is what rules without members' state share.
type additiveRule[T Float] struct{}

func (additiveRule[T]) total(_ int, s []T) float64 {
	var sum float64
	for _, v := range s {
		sum += float64(v)
	}
	return sum
}
func (additiveRule[T]) unit() float64              { return 1 }
func (additiveRule[T]) needsNorm() bool            { return false }
func (additiveRule[T]) additive() bool             { return true }
func (additiveRule[T]) bind(scaler[T])             {}
func (additiveRule[T]) fields(*learner.Codec, []T) {}
func (additiveRule[T]) bytes() int64               { return 0 }

// perceptronRule: Algorithm 1 of the OBPM paper; see Perceptron. All updates have one coefficient, eta y, so tally.coef counts.
type perceptronRule[T Float] struct {
	additiveRule[T]
	margin      T
	eta         float64
	plus, minus [engine.WideTile]T // eta y in all lanes
}

func (r *perceptronRule[T]) unit() float64 { return r.eta }

func (r *perceptronRule[T]) step(t *tally, mask []uint64, _ int, s []T, y T, _ float64, _ []T) (int, []T) {
	var le [tileWords]uint64
	vecmath.LanesLE(le[:len(mask)], s, y, r.margin)
	n := keep(mask, le[:len(mask)])
	return n, r.coef(t, n, y)[:len(s)]
}

// coef tallies n updates and returns their coefficients.
func (r *perceptronRule[T]) coef(t *tally, n int, y T) *[engine.WideTile]T {
	if y > 0 { // whole numbers: one word does for all
		t.coef[0] += float64(n)
		return &r.plus
	}
	t.coef[0] -= float64(n)
	return &r.minus
}

// keep clears the bits of mask that are not in those and counts the others.
func keep(mask, those []uint64) int {
	n := 0
	those = those[:len(mask)]
	for i, m := range mask {
		m &= those[i]
		mask[i] = m
		n += bits.OnesCount64(m)
	}
	return n
}

// each calls decide for the members in mask, in order, clears those for which it is false and counts the others.
func each(mask []uint64, decide func(l int) bool) int {
	n := 0
	for i, todo := range mask {
		for ; todo != 0; todo &= todo - 1 {
			bit := bits.TrailingZeros64(todo)
			if decide(64*i + bit) {
				n++
			} else {
				mask[i] &^= 1 << bit
			}
		}
	}
	return n
}

// paRule: see PA.
type paRule[T Float] struct {
	additiveRule[T]
	cfg PAConfig
}

func (r *paRule[T]) needsNorm() bool { return true }

func (r *paRule[T]) step(t *tally, mask []uint64, _ int, s []T, y T, norm2 float64, coef []T) (int, []T) {
	return each(mask, func(l int) bool {
		loss := 1 - float64(float64(y)*float64(s[l]))
		if !(loss > 0 && norm2 > 0) {
			return false
		}
		coef[l] = T(r.cfg.step(loss, norm2) * float64(y))
		t.coef[l/64] += float64(coef[l])
		return true
	}), coef
}

// lmsRule: see LMS.
type lmsRule[T Float] struct {
	additiveRule[T]
	eta float64
}

func (r *lmsRule[T]) step(t *tally, mask []uint64, _ int, s []T, y T, _ float64, coef []T) (int, []T) {
	return each(mask, func(l int) bool {
		e := float64(y) - float64(s[l])
		coef[l] = T(r.eta * e)
		t.coef[l/64] += float64(coef[l])
		return e != 0
	}), coef
}

// almaRule: see ALMA with p = 2. A member's weights are its stored ones times its scale.
type almaRule[T Float] struct {
	cfg     ALMAConfig
	members []almaMember
	weights scaler[T]
}

type almaMember struct {
	scale     float64 // in (0, 1]
	norm2     float64 // |scale * w|^2
	threshold float64 // of the next update
	updates   int64
}

func (r *almaRule[T]) step(_ *tally, mask []uint64, lo int, s []T, y T, norm2 float64, coef []T) (int, []T) {
	return each(mask, func(l int) bool {
		m := &r.members[lo+l]
		f := float64(m.scale * float64(s[l]))
		if float64(float64(y)*f) > m.threshold { // (2)
			return false
		}
		if m.scale < 0x1p-32 { // as ALMA does; a power of two rounds nothing
			frac, exp := math.Frexp(m.scale)
			r.weights.Scale(lo+l, T(math.Ldexp(1, exp)))
			m.scale = frac
		}
		m.updates++
		step := float64(r.cfg.rate(float64(m.updates)) * float64(y))
		coef[l] = T(step / m.scale)                                     // (4)
		m.norm2 += float64(step * (float64(2*f) + float64(step*norm2))) // |w + step x|^2
		if m.norm2 > 1 {                                                // (5)
			m.scale /= math.Sqrt(m.norm2)
			m.norm2 = 1
		}
		m.threshold = r.cfg.threshold(float64(m.updates + 1))
		return true
	}), coef
}

func (r *almaRule[T]) total(lo int, s []T) float64 {
	var sum float64
	for l, v := range s {
		sum += float64(r.members[lo+l].scale * float64(v))
	}
	return sum
}

func (r *almaRule[T]) unit() float64    { return 1 }
func (r *almaRule[T]) needsNorm() bool  { return true }
func (r *almaRule[T]) additive() bool   { return false }
func (r *almaRule[T]) bind(w scaler[T]) { r.weights = w }
func (r *almaRule[T]) bytes() int64     { return int64(len(r.members)) * 32 }

// checkShrunk refuses a factor of ALMA's weights that is none, and a squared length of theirs that
// is not what the stored weights, whose squares add up to sumSq, and the factor give. Rounding
// errors of the length carried along are far below the tolerance: step (5) shrinks them with the
// rest.
func checkShrunk(scale, norm2, sumSq float64) error {
	if !(scale > 0 && scale <= 1) {
		return fmt.Errorf("scale is %v, want one in (0, 1]: %w", scale, ErrState)
	}
	const tolerance = 0.25
	if have := float64(float64(scale*scale) * sumSq); !(math.Abs(norm2-have) <= tolerance &&
		norm2 <= 1+tolerance) {
		return fmt.Errorf("norm2 is %v, but the weights have %v, and at most 1 by the rule: %w",
			norm2, have, ErrState)
	}
	return nil
}

func (r *almaRule[T]) fields(c *learner.Codec, weights []T) {
	n := len(r.members)
	scale, norm2, updates := make([]float64, n), make([]float64, n), make([]int64, n)
	for i, m := range r.members {
		scale[i], norm2[i], updates[i] = m.scale, m.norm2, min(m.updates, MaxCount)
	}
	scale = learner.View(c, "scale", scale, n)
	norm2 = learner.View(c, "norm2", norm2, n)
	updates = learner.View(c, "member_updates", updates, n)
	if !c.Reading() {
		return
	}
	sumSq := make([]float64, n)
	for i, v := range weights {
		sumSq[i%n] += float64(float64(v) * float64(v))
	}
	for m := range n {
		if err := checkShrunk(scale[m], norm2[m], sumSq[m]); err != nil {
			c.Want(false, "member %d: %w", m, err)
		} else if updates[m] < 0 || updates[m] > MaxCount {
			c.Want(false, "member %d: member_updates is %d", m, updates[m])
		}
	}
	c.Then(func() {
		for i, u := range updates {
			r.members[i] = almaMember{scale[i], norm2[i], r.cfg.threshold(float64(u + 1)), u}
		}
	})
}
