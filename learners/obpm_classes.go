package learners

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
)

// obpmAbreast is the [learner.Abreast] of OBPM, whose members see an example by the same draw in
// all classes: of sparse examples they are in one store, of dense ones in their own.
type obpmAbreast[T learner.Float] struct {
	of      []*OBPM[T] // of a lane; that of no class, if there is one, is the first
	rest    bool
	classes abreastClasses[T]
}

// abreastClasses is an [ensemble.Classes] or an [ensemble.DenseClasses].
type abreastClasses[T learner.Float] interface {
	Learn(b *engine.Block[T], first uint64) int
	Result(k int) (f []float64, updates []int32)
	Bytes() int64
}

// abreast reports whether the settings may allow it: members by a fixed step of 1, averaged by
// their sum.
func (c *OBPMConfig) abreast(form *learner.MemberForm) bool {
	return form != nil && form.Additive && c.Linear() && c.Combine == CombineWeights && !c.Cap &&
		c.Path == PathAuto
}

// Abreast is for [learner.AbreastOf].
func (o *OBPM[T]) Abreast(all []learner.Learner[T], rest, dense bool,
	pool *engine.Pool) learner.Abreast[T] {
	if !o.cfg.abreast(o.Stepper.Form) {
		return nil
	}
	a := &obpmAbreast[T]{rest: rest}
	of := make([]*ensemble.Ensemble[T], len(all))
	for i := range all {
		at := i
		if rest {
			at = (i + len(all) - 1) % len(all)
		}
		one, ok := all[at].(*OBPM[T])
		if !ok || one.presented != o.presented {
			return nil
		}
		a.of, of[i] = append(a.of, one), &one.Ensemble
	}
	if dense {
		if c := ensemble.JoinDense(of, rest, pool); c != nil {
			a.classes = c
			return a
		}
		return nil
	}
	if c := ensemble.JoinClasses(of, rest, pool); c != nil {
		a.classes = c
		return a
	}
	return nil
}

// Learn is Abreast.Learn.
func (a *obpmAbreast[T]) Learn(b *engine.Block[T], rounds []learner.Round) int {
	n := a.classes.Learn(b, a.of[0].presented)
	for k, o := range a.of {
		o.presented += uint64(n)
		if n == 0 {
			continue
		}
		f, updates := a.classes.Result(k)
		at := k
		if a.rest {
			at = (k + len(a.of) - 1) % len(a.of)
		}
		members, of := float64(o.cfg.Members), rounds[at*n:][:n]
		for e, s := range f {
			of[e] = learner.Round{Score: s / members, Updates: updates[e]}
			o.updates += uint64(updates[e])
			if o.trace != nil { // as MemberRun.AppendTrace has it of a fixed step
				o.trace.Count(int(updates[e]))
				o.trace.End()
			}
		}
	}
	return n
}

// Add is Abreast.Add.
func (a *obpmAbreast[T]) Add(l learner.Learner[T]) bool {
	rest, one := a.of[0], l.(*OBPM[T])
	switch c := a.classes.(type) {
	case *ensemble.DenseClasses[T]:
		if one.SetState(rest.State()) != nil { // what l may find wrong, it says for itself
			return false
		}
		c.Add(&one.Ensemble)
	case *ensemble.Classes[T]:
		if !c.Whole() {
			c.Leave()
			return false
		}
		one.presented, one.updates = rest.presented, rest.updates
		c.Add(&one.Ensemble)
	}
	a.of = append(a.of, one)
	return true
}

// Bytes is Abreast.Bytes.
func (a *obpmAbreast[T]) Bytes() int64 { return a.classes.Bytes() + 8*int64(len(a.of)) }
