package learners

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*budgetLearner[float32])(nil)

func init() { learner.Register("budget", (*BudgetConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*BudgetConfig) Entry() learner.Entry {
	return learner.EntryFor(BudgetConfig{Budget: 100,
		UpdateConfig: UpdateConfig{Update: "perceptron", C: 1},
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newBudget[float32], newBudget[float64], learner.Entry{
			Summary: "the Budget Perceptron: a kernel perceptron with a limit on support vectors",
		})
}

// budgetLearner is a kernel perceptron that keeps at most p examples: when one more is to be
// learned, it first removes the one that is recognised with the largest margin without itself.
//
// Reference: K. Crammer, J. Kandola, Y. Singer, "Online Classification on a Budget", NIPS 2003, as
// figure 1 of J. Weston, A. Bordes, L. Bottou, "Online (and Offline) on an Even Tighter Budget",
// AISTATS 2005:
//
//	(U) update if y f(x) <= beta
//	(1a) if p examples are kept, remove argmax_j y_j (f - alpha_j y_j K(x_j, .))(x_j)
//	(1v) variable size: while that maximum is >= beta, remove it, however many are kept
//	(2,3) keep x with the alpha of the update rule, see [UpdateConfig]
//
//	paper       here             shape, unit
//	beta        Config.Beta      margin at which examples are learned
//	p           Config.Budget    examples kept at most; 0: no limit (Rosenblatt's perceptron with a
//	                             kernel, unless Variable)
//	C_t, alpha  support          kept examples and their coefficients
//
// Deviations: alpha is computed after the removal. The place of one that (1v) removed stays, empty,
// until another takes it. An example equal to a kept one of the same label raises its coefficient
// and removes nothing. Ties go to the oldest. A weight scales the step, see [UpdateConfig].
//
// Guarantee: the traces of an independent implementation, with every removal: TestGoldenBudget.
//
// Cost: a kernel row over the kept examples an example; O(p) more an update. Memory: the kept
// examples and p^2 float64.
type budgetLearner[T learner.Float] struct {
	primal.Stored
	cfg BudgetConfig
	kept.Set[T]
	seen, updates int64
}

// BudgetConfig holds the settings of Budget.
type BudgetConfig struct {
	// Budget is the limit on support vectors, 0 for none. Default 100; 0 to 2^31-1.
	Budget int `json:"budget" flag:"budget"`
	// Variable also removes support vectors with a margin of beta in their own absence, at each
	// update. Default false.
	Variable bool `json:"variable" flag:"variable"`

	UpdateConfig
	learner.KernelConfig
}

// Validate wants Budget >= 0, an update rule and a kernel.
func (c *BudgetConfig) Validate() error {
	if err := learner.CheckSetting("budget", "budget", c.Budget, c.Budget >= 0 &&
		c.Budget <= math.MaxInt32, "a number of examples, or 0 for no limit"); err != nil {
		return err
	}
	return errors.Join(c.UpdateConfig.validate("budget"), c.KernelConfig.Validate("budget"))
}

// keeps is Traits.Keeps.
func (c *BudgetConfig) keeps() int64 {
	if c.Budget == 0 {
		return learner.Any
	}
	return int64(c.Budget)
}

// Traits is Config.Traits.
func (c *BudgetConfig) Traits() learner.Traits {
	t := learner.KernelTraits(c.EngineKernel(), c.keeps())
	t.Sizes, t.Weights = []string{"budget"}, true
	t.FitMemory = kept.FitMemory("budget", kept.MaxKept, func(n int) learner.Config {
		d := *c
		d.Budget = n
		return &d
	})
	t.Memory = c.memory
	return t
}

// memory is Traits.Memory: the kept examples, with a limit their kernel values.
func (c *BudgetConfig) memory(x learner.Extent) learner.Footprint {
	var f learner.Footprint
	kept.AddKept(&f, x, "kept examples", c.keeps(), x.Kept, c.bounded())
	kept.AddCurrent(&f, x, 1)
	return f
}

// bounded reports whether anything is ever removed, for which the margins of what is kept are
// needed.
func (c *BudgetConfig) bounded() bool { return c.Budget > 0 || c.Variable }

func newBudget[T learner.Float](cfg BudgetConfig, env learner.Env) (learner.Learner[T], error) {
	s, err := kept.NewSet[T](kept.Settings{Name: "budget", Kernel: cfg.EngineKernel(),
		Limit: cfg.Budget, Room: env.Kept, Errors: cfg.bounded()})
	l := &budgetLearner[T]{Stored: primal.Stored{Name: "budget"}, cfg: cfg, Set: s}
	l.Walk = l.fields
	return l, err
}

func (l *budgetLearner[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckWeighted("budget", b, len(rounds)); err != nil {
		return err
	}
	for i := range b.Len() {
		f, y := l.ScoreExample(b, i), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		l.seen++
		w := float64(b.Weight(i))
		if float64(y*f) > l.cfg.Beta || w == 0 { // (U)
			continue
		}
		h := l.HashExample(y)
		j := l.Find(h)
		first := l.Support() == 0
		if j < 0 {
			if err := l.CheckSlot(!l.Full()); err != nil {
				l.seen--
				return err
			}
			j = l.room()
			first = l.Support() == 0
			l.Keep(j, y, l.seen, h) // (2)
		}
		a, most := l.cfg.step(float64(y*l.CurrentScore), l.Wide[j], w, first)
		l.AddCoef(j, y, a, most) // (3), (4)
		l.updates++
		rounds[i].Updates = 1
	}
	return nil
}

// room returns the slot for an example, after what (1) removes.
func (l *budgetLearner[T]) room() int {
	free := l.List.Len()
	if l.cfg.Variable {
		for j := l.best(); j >= 0 && l.MarginWithout(j) >= l.cfg.Beta; j = l.best() { // (1v)
			l.Remove(j)
		}
		if j := slices.Index(l.Coef, 0); j >= 0 {
			free = j
		}
	}
	if l.cfg.Budget > 0 && free == l.cfg.Budget { // (1a)
		free = l.best()
		l.Remove(free)
	}
	return free
}

// best returns the example to remove, (1a), or -1 if there is none.
func (l *budgetLearner[T]) best() int {
	best := -1
	for j := range l.List.Len() {
		if l.cfg.Variable && l.Coef[j] == 0 {
			continue
		}
		if best < 0 {
			best = j
			continue
		}
		a, b := l.MarginWithout(j), l.MarginWithout(best)
		if a > b || a == b && l.Born[j] < l.Born[best] {
			best = j
		}
	}
	return best
}

func (l *budgetLearner[T]) Updates() int64 { return l.updates }

func (l *budgetLearner[T]) fields(c *learner.Codec) {
	seen := learner.Count(c, "seen", &l.seen)
	learner.Count(c, "updates", &l.updates)
	l.Set.Fields(c, seen)
}

// UpdateConfig holds the update rule of the budget perceptrons (figure 2 of the Tighter Budget
// paper). Let m = y f(x), K = K(x, x):
//
//	perceptron    alpha = 1
//	mira          alpha = min(1, max(0, -m/K)); 1 for the first example
//	svm           alpha = min(C, max(0, (1-m)/K))
//
// The weight of an example multiplies the perceptron's 1 and what the others have at most, 1 and C.
type UpdateConfig struct {
	// Beta is the margin up to which an example is learned: y f(x) <= beta. Default 0; 0 or more.
	Beta float64 `json:"beta" flag:"beta"`
	// Update is the step along an example: perceptron 1; mira up to a margin of 0, at most 1; svm
	// up to a margin of 1, at most C. Default perceptron; perceptron, mira or svm.
	Update string `json:"update" flag:"update" values:"perceptron|mira|svm"`
	// C is the largest coefficient of an example. Default 1; above 0.
	C float64 `json:"C" flag:"C" with:"update=svm"`
}

func (c *UpdateConfig) validate(name string) error {
	switch c.Update {
	case "perceptron", "mira", "svm":
	default:
		return fmt.Errorf("%s: update is %q, want perceptron, mira or svm: %w", name, c.Update,
			learner.ErrConfig)
	}
	return errors.Join(
		learner.CheckSetting(name, "beta", c.Beta, c.Beta >= 0, "a number >= 0"),
		learner.CheckSetting(name, "C", c.C, c.C > 0, "a number > 0"))
}

// step returns what an example of margin m, |x|^2 = K and weight w adds to its coefficient, and
// what that is at most, also of an example that is learned again.
func (c *UpdateConfig) step(m, K, w float64, first bool) (a, most float64) {
	most = math.Inf(1)
	if c.Update == "svm" {
		most = float64(w * c.C)
	}
	switch {
	case c.Update == "perceptron", c.Update == "mira" && first:
		return w, most
	case K == 0:
		return 0, most
	case c.Update == "mira":
		return min(w, max(0, -m/K)), most
	}
	return min(most, max(0, (1-m)/K)), most
}
