package learners

import (
	"errors"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

func init() {
	Register(Entry{"budget", "the Budget Perceptron: a kernel perceptron within a number of kept examples; without a limit, the kernel perceptron",
		func() Config {
			return &BudgetConfig{Budget: 100, UpdateConfig: UpdateConfig{Update: "perceptron", C: 1}, KernelConfig: KernelConfig{Kernel: "linear"}}
		}, newBudget[float32], newBudget[float64]})
}

// Budget is a kernel perceptron that keeps at most p examples: when one more is to be learned, it first removes the one that is recognised with the
// largest margin without itself.
//
// Reference: K. Crammer, J. Kandola, Y. Singer, "Online Classification on a Budget", NIPS 2003, as figure 1 of J. Weston, A. Bordes, L. Bottou,
// "Online (and Offline) on an Even Tighter Budget", AISTATS 2005:
//
//	(U) update if y f(x) <= beta
//	(1a) if p examples are kept, remove argmax_j y_j (f - alpha_j y_j K(x_j, .))(x_j)
//	(2,3) keep x with the alpha of the update rule, see [UpdateConfig]
//
//	paper       here             shape, unit
//	beta        Config.Beta      margin at which examples are learned
//	p           Config.Budget    examples kept at most; 0: no limit, nothing is removed (Rosenblatt's perceptron, with a kernel)
//	C_t, alpha  support          kept examples and their coefficients
//
// Deviations: alpha is computed after the removal. An example equal to a kept one of the same label raises its coefficient and removes nothing.
// Ties go to the oldest.
//
// Guarantee: the traces of an independent implementation, with every removal: TestGoldenBudget.
//
// Cost: a kernel row over the kept examples an example; O(p) more an update. Memory: the kept examples and p^2 float64.
type Budget[T Float] struct {
	cfg BudgetConfig
	support[T]
	seen, updates int64
}

// BudgetConfig holds the settings of Budget.
type BudgetConfig struct {
	Budget int `json:"budget" flag:"budget" help:"examples kept at most (0: no limit)"`
	UpdateConfig
	KernelConfig
}

// Validate wants Budget >= 0, an update rule and a kernel.
func (c *BudgetConfig) Validate() error {
	if c.Budget < 0 || c.Budget > math.MaxInt32 {
		return fmt.Errorf("budget: budget is %d, want a number of examples, or 0 for no limit: %w", c.Budget, ErrConfig)
	}
	return errors.Join(c.UpdateConfig.validate("budget"), c.KernelConfig.validate("budget"))
}

func newBudget[T Float](c Config, _ Env) (Learner[T], error) {
	cfg, err := configAs[BudgetConfig]("budget", c)
	if err != nil {
		return nil, err
	}
	s, err := newSupport[T]("budget", cfg.kernel())
	if err != nil {
		return nil, err
	}
	return &Budget[T]{cfg: cfg, support: s}, nil
}

// Learn is Learner.Learn.
func (l *Budget[T]) Learn(b *engine.Block[T], rounds []Round) error {
	if err := checkBlock("budget", b, len(rounds)); err != nil {
		return err
	}
	bounded := l.cfg.Budget > 0
	for i := range b.Len() {
		f, y := l.see(b, i), float64(b.Y[i])
		rounds[i] = Round{Score: f}
		l.seen++
		if float64(y*f) > l.cfg.Beta { // (U)
			continue
		}
		h := l.digest(y)
		j := l.find(l.list, l.hash, h)
		first := l.list.Len() == 0
		if j < 0 {
			if j = l.list.Len(); bounded && j == l.cfg.Budget { // (1)
				j = l.best()
				l.remove(j, true)
				first = l.cfg.Budget == 1
			}
			l.keep(j, y, l.seen, h, bounded) // (2)
		}
		a, most := l.cfg.step(float64(y*l.f), l.wide[j], first), math.Inf(1)
		if l.cfg.Update == "svm" {
			most = l.cfg.C
		}
		l.raise(j, y, a, most, bounded) // (3), (4)
		l.updates++
		rounds[i].Updates = 1
	}
	return nil
}

// best returns the example to remove, (1a).
func (l *Budget[T]) best() int {
	best := 0
	for j := 1; j < l.list.Len(); j++ {
		a, b := l.left(j), l.left(best)
		if a > b || a == b && l.born[j] < l.born[best] {
			best = j
		}
	}
	return best
}

// Score is Learner.Score.
func (l *Budget[T]) Score(b *engine.Block[T], dst []float64) error { return l.score(b, dst) }

// Weights returns nil: the hypothesis is a sum over kept examples.
func (l *Budget[T]) Weights() []float64 { return nil }

// Updates is Learner.Updates.
func (l *Budget[T]) Updates() int64 { return l.updates }

// Bytes is Learner.Bytes.
func (l *Budget[T]) Bytes() int64 { return l.bytes() }

// State is Learner.State: kept examples, coefficients and margins.
func (l *Budget[T]) State() State {
	return State{Counters: map[string]uint64{"seen": uint64(l.seen), "updates": uint64(l.updates)}, Tensors: l.state()}
}

// SetState is Learner.SetState.
func (l *Budget[T]) SetState(s State) error {
	if err := s.holds("budget", supportTensors, []string{"seen", "updates"}, nil); err != nil {
		return err
	}
	seen, err1 := count(&s, "budget", "seen")
	updates, err2 := count(&s, "budget", "updates")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	n, err := newSupport[T]("budget", l.cfg.kernel())
	if err != nil {
		return err
	}
	if err := n.restore(&s, l.cfg.Budget, l.cfg.Budget > 0, seen); err != nil {
		return err
	}
	l.support, l.seen, l.updates = n, seen, updates
	return nil
}
