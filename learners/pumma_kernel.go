package learners

import (
	"context"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
)

var _ learner.Learner[float32] = (*kernelPUMMA[float32])(nil)

// kernelPUMMA is [PUMMAConfig] for p = 2 in the space of a kernel, section 4.1 of its paper: u is a
// sum over kept examples, and (A) is
//
//	u' = (1-tau) u + tau/2 (phi(xpos) - phi(xneg))
//
// with the tau of (19), for which |u|^2, u.phi(x) and the inner products of u with xpos and xneg
// are enough: these follow each step as the paper's recurrence for w_t.x does.
//
//	paper        here                 shape, unit
//	u            kept.ScaledSet       coef_j/Divisor of each kept example; label times m_j
//	|u|^2        Norm2                slacks included
//	b            bias                 number
//	xpos, xneg   slots[1], slots[0]   kept examples
//	xi_i         m_i/(C w_i Norm2)    one a kept example, of weight w_i
//
// Deviations: with a budget an example goes after an update as in [OnlineConfig], but xpos or xneg,
// and what is left of u is stretched so that both still have margins of 1; where that can't be, u
// starts anew from z/2. An example whose image is the one of the kept example of the other label,
// but for roundings of the kernel's values, is skipped. With SoftC each example presented is a new
// one, with a slack of its own. Learn goes on from what Fit found, with those support vectors as
// xpos and xneg whose margins, slacks included, are the least.
//
// Guarantee: that of PUMMA without a budget, where the kernel is the inner product:
// TestOnlineLinear. After each update xpos and xneg have margins of 1: TestKernelPUMMA.
//
// Cost: a kernel row over the kept examples an example, three more where one is removed. Memory:
// the kept examples and some 50 bytes for each.
type kernelPUMMA[T learner.Float] struct {
	*onlineKernel[T]
	cfg   PUMMAConfig
	invC  float64    // 1/C, 0 for a hard margin
	slots [2]int     // of xneg and xpos; -1: none yet
	at    [2]float64 // u.phi of them, without slacks
}

func newKernelPUMMA[T learner.Float](cfg PUMMAConfig, env learner.Env) (learner.Learner[T], error) {
	r := rule{name: "pumma", weights: cfg.SoftC > 0}
	o, err := newOnline[T](&cfg.KernelConfig, cfg.Budget, r, env)
	l := &kernelPUMMA[T]{onlineKernel: o, cfg: cfg, slots: [2]int{-1, -1}}
	if cfg.SoftC > 0 {
		l.invC = 1 / cfg.SoftC
	}
	l.Walk = l.fields
	if cfg.Budget == 0 {
		l.solve = func(ctx context.Context, rows engine.RowSource[T], y, weights []float64,
			o learner.FitOptions) (learner.MarginDual, error) {
			return FitPUMMARows(ctx, rows, y, weights, cfg, o)
		}
	}
	return l, err
}

func (l *kernelPUMMA[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := checkSlacks("pumma", b, len(rounds), l.rule.weights); err != nil {
		return err
	}
	if l.fitted {
		l.goOn()
	}
	for i := range b.Len() {
		f, y := l.score(b, i), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		l.set.Seen++
		if float64(y*f) >= 1-l.cfg.Delta { // (U), and (F) of a new example
			continue
		}
		w := float64(b.Weight(i))
		if !margin.Counts(w) {
			continue
		}
		learned, err := l.update(y, w)
		if err != nil {
			l.set.Seen--
			return err
		}
		if learned {
			l.set.UpdateCount++
			rounds[i].Updates = 1
		}
	}
	return nil
}

// update takes the example in hand, of label y and weight w, for xpos or xneg, and solves (3) or
// (24).
func (l *kernelPUMMA[T]) update(y, w float64) (learned bool, err error) {
	this, soft := side(y), l.invC > 0
	other := l.slots[1-this]
	if other < 0 { // one label seen: w = 0, b = y
		p, err := l.set.PlaceFor(y, soft)
		if err == nil {
			l.set.Put(p, y, 0, l.invC, w)
			l.slots[this], l.at[this], l.bias = p.Slot, 0, y
		}
		return err == nil, err
	}
	K, between, Ko := l.set.Self(), l.set.Wide[other], float64(l.set.List.Diag(other))
	z2 := K + Ko - 2*between
	if !soft && !(z2 > float64(margin.ParallelSine2[T]()/16*(K+Ko))) { // equal images
		return false, nil
	}
	s := l.set.CurrentScore / l.set.Divisor
	half := 0.25*z2 + float64(float64(0.25*(1/w+l.set.Inverse(other)))*l.invC)
	uz := 0.5*float64(y*(s-l.at[1-this])) + float64(0.5*l.invC*l.slackOf(other))
	tau, norm2, _ := margin.Foot(uz, half, l.set.Norm2, soft)
	if !(tau > 0 && norm2 > 0 && norm2 <= math.MaxFloat64) { // it is no violator but for roundings
		return false, nil
	}
	p, err := l.set.PlaceFor(y, soft, other)
	if err != nil {
		return false, err
	}
	l.set.Stretch(1 - tau)
	l.set.Norm2 = norm2
	l.set.AddTo(other, -y, tau/2)
	l.set.Put(p, y, tau/2, l.invC, w)
	l.slots[this] = p.Slot
	if l.set.Gone != 0 {
		l.restore()
		return true, nil
	}
	step := float64(0.5 * float64(tau*y))
	l.at[this] = float64((1-tau)*s) + float64(step*(K-between))
	l.at[1-this] = float64((1-tau)*l.at[1-this]) + float64(step*(between-Ko))
	l.setBias()
	return true, nil
}

// slackOf returns m/w of a kept example of weight w, 0 for a hard margin.
func (l *kernelPUMMA[T]) slackOf(j int) float64 {
	if l.invC == 0 {
		return 0
	}
	return float64(l.set.Part(j) * l.set.Inverse(j))
}

// setBias is (20), (G), and sets the unit of f.
func (l *kernelPUMMA[T]) setBias() {
	if l.unit = l.set.Norm2; l.unit == 0 {
		l.unit = 1
		return
	}
	slack := float64(l.invC * (l.slackOf(l.slots[1]) - l.slackOf(l.slots[0])))
	l.bias = float64(-0.5 * (l.at[1] + l.at[0] + slack) / l.set.Norm2)
}

// restore makes the margins of xpos and xneg 1 for another u than that of an update: u.z/2 = |u|^2.
func (l *kernelPUMMA[T]) restore() {
	measure := func() (uz float64) {
		l.at[0], l.at[1] = l.set.ScoreKept(l.slots[0]), l.set.ScoreKept(l.slots[1])
		return 0.5*(l.at[1]-l.at[0]) +
			float64(0.5*l.invC*(l.slackOf(l.slots[0])+l.slackOf(l.slots[1])))
	}
	uz := measure()
	c := uz / l.set.Norm2
	if !(l.set.Norm2 > 0 && c > 0x1p-20 && c < 0x1p20) { // the two lie on the wrong sides
		l.set.Stretch(0)
		l.set.AddTo(l.slots[0], -1, 0.5)
		l.set.AddTo(l.slots[1], 1, 0.5)
		l.set.Norm2 = max(0, measure())
		l.setBias()
		return
	}
	l.set.Stretch(c)
	l.at[0], l.at[1] = float64(c*l.at[0]), float64(c*l.at[1])
	l.set.Norm2 = float64(c * uz)
	l.setBias()
}

// goOn makes what Fit found what Learn goes on from.
func (l *kernelPUMMA[T]) goOn() {
	scores := l.set.Resume(&l.dual, l.set.Norm2) // u = |u|^2 w
	l.set.Price = l.prices
	least := [2]float64{}
	l.slots, l.at, l.unit = [2]int{-1, -1}, [2]float64{}, 1
	for j, f := range scores {
		k, y := 0, -1.0
		if l.set.Coef[j] > 0 {
			k, y = 1, 1.0
		}
		m := l.slackOf(j)
		l.set.Norm2 += float64(l.invC * float64(m*l.set.Part(j)))
		if f = float64(y*f) + float64(l.invC*m); l.slots[k] < 0 || f < least[k] {
			l.slots[k], l.at[k], least[k] = j, scores[j], f
		}
	}
	l.dropFit()
	if l.set.Norm2 > 0 {
		l.unit = l.set.Norm2
	}
}

func (l *kernelPUMMA[T]) Bias() float64 { return l.bias }

// Bound returns |u|: after Fit, and while nothing was removed, no hyperplane has a larger margin on
// the examples learned.
func (l *kernelPUMMA[T]) Bound() float64 { return math.Sqrt(l.set.Norm2) }

func (l *kernelPUMMA[T]) Bytes() int64 { return l.onlineKernel.Bytes() + int64(unsafe.Sizeof(*l)) }

func (l *kernelPUMMA[T]) fields(c *learner.Codec) {
	c.Scalar("b", &l.bias)
	l.fitFields(c, l.onlineFields)
}

// onlineFields is fields after Learn.
func (l *kernelPUMMA[T]) onlineFields(c *learner.Codec) {
	n, norm2 := l.set.Fields(c)
	at := [2]float64{c.Scalar("at_neg", &l.at[0]), c.Scalar("at_pos", &l.at[1])}
	places := [2]int{l.slots[0] + 1, l.slots[1] + 1} // from 1; 0: none
	slots := [2]int{learner.Count(c, "neg", &places[0]), learner.Count(c, "pos", &places[1])}
	if !c.Reading() {
		return
	}
	both := slots[0] > 0 && slots[1] > 0
	c.Want(slots[0] <= n && slots[1] <= n && !(both && slots[0] == slots[1]),
		"examples %d and %d of %d are those of the segment", slots[0], slots[1], n)
	c.Want(!both || norm2 > 0, "scalar %q is %v, want a number > 0", "norm2", norm2)
	c.Then(func() {
		l.slots, l.at = [2]int{slots[0] - 1, slots[1] - 1}, at
		if l.unit = norm2; norm2 == 0 {
			l.unit = 1
		}
	})
}
