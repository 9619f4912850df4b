package measure

import (
	"context"
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// Defaults returns the default settings of the learner of that name, to be changed. It panics if
// there is no such learner, or if its settings are not a C: both are mistakes of the program.
func Defaults[C learner.Config](name string) C {
	e, err := learner.Lookup(name)
	if err != nil {
		panic(fmt.Sprintf("bench: %v", err))
	}
	return e.Config().(C)
}

// MakeFor makes a learner that is to Fit b with the soft margin delta: settings relative to the
// data become those for b. It costs a look at all of b if there are such settings.
func MakeFor[T engine.Float](name string, c learner.Config, env learner.Env,
	b *engine.Block[T], delta float64) (learner.Fitter[T], error) {
	if c != nil && c.Traits().Relative {
		var err error
		c, err = learner.Resolve(c, learner.Facts{SumSq: learner.MaxSumSq(b, 0), Delta: delta,
			Features: b.Dim})
		if err != nil {
			return nil, err
		}
	}
	l, err := learner.Make[T](name, c, env)
	if err != nil {
		return nil, err
	}
	f := learner.AsFitter(l)
	if f == nil {
		return nil, fmt.Errorf("bench: %s learns from streams only: %w", name, learner.ErrFit)
	}
	return f, nil
}

// Fit makes a learner with MakeFor and has it learn b.
func Fit[T engine.Float](ctx context.Context, name string, c learner.Config, env learner.Env,
	b *engine.Block[T], o learner.FitOptions) (learner.FitResult, learner.Fitter[T], error) {
	f, err := MakeFor(name, c, env, b, o.Delta)
	if err != nil {
		return learner.FitResult{}, nil, err
	}
	r, err := f.Fit(ctx, b, o)
	return r, f, err
}

// NewOBPM makes an ensemble of perceptrons, whose other settings are OBPM's defaults.
func NewOBPM[T engine.Float](members int, tau float64, env learner.Env) (
	learner.Learner[T], error) {
	c := Defaults[*learners.OBPMConfig]("obpm")
	c.Members, c.Tau = members, tau
	return learner.Make[T]("obpm", c, env)
}

// VectorMachine is a support vector machine.
type VectorMachine[T engine.Float] interface {
	learner.Fitter[T]
	learner.Biased
	Solution() learners.SVMSolution
}

// NewSVM makes a support vector machine.
func NewSVM[T engine.Float](c learners.SVMConfig, pool *engine.Pool) (VectorMachine[T], error) {
	l, err := learner.Make[T]("svm", &c, learner.Env{Pool: pool})
	if err != nil {
		return nil, err
	}
	return l.(VectorMachine[T]), nil
}
