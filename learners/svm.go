package learners

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/learners/internal/smo"
)

var _ learner.Learner[float32] = (*svm[float32])(nil)

func init() { learner.Register("svm", (*SVMConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*SVMConfig) Entry() learner.Entry {
	return learner.EntryFor(SVMConfig{C: 1, Norm: 1,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}, Gap: 1e-6},
		newSVM[float32], newSVM[float64], learner.Entry{
			Summary: "the support vector machine, solved to a given duality gap (batch only)",
			Holding: holdExpansion,
		})
}

// svm finds the maximum margin of a whole data set.
//
// Reference: C. Cortes, V. Vapnik, "Support-Vector Networks", Machine Learning 20, 1995. Linear, up
// to 1024 features: Y. Yan, Q. Li, "An efficient augmented Lagrangian method for support vector
// machine", Optimization Methods and Software 35, 2020. Linear, of more: C.-J. Hsieh, K.-W. Chang,
// C.-J. Lin, S. S. Keerthi, S. Sundararajan, "A Dual Coordinate Descent Method for Large-scale
// Linear SVM", ICML 2008. With a kernel: R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working Set Selection
// Using Second Order Information for Training Support Vector Machines", JMLR 6, 2005.
//
//	min 1/2 |w|^2 + C sum xi_i         (Norm 1)      y_i (w.x_i + b) >= 1 - xi_i, xi_i >= 0
//	min 1/2 |w|^2 + C/2 sum xi_i^2     (Norm 2)      the same; the hard margin of K + I/C
//	min 1/2 |w|^2                      (C = 0)       y_i (w.x_i + b) >= 1
//
//	paper        here             shape, unit
//	x_i, y_i     block            example; label, -1 or +1
//	w            w, or coef, sv   one a feature; with a kernel alpha_i y_i and x_i, one a support
//	                              vector
//	b            bias             0 if NoBias
//	alpha_i      |beta_i|         with a kernel beta_i = y_i alpha_i
//	C, U         Config.C         0 is the hard margin
//
// The weight of an example multiplies its C, as scikit-learn's sample_weight does: one of weight 2
// is the example twice (TestSVMWeights). A hard margin takes none.
//
// Deviations: the solvers stop by the duality gap relative to the objective, not by the violation
// of the optimality conditions; the bias stands half way between what these conditions allow;
// without a bias, kernels move one example a step; package smo says what shrinking does.
//
// Guarantee: FitResult.Converged means that Solution().Gap, computed from a gradient that was taken
// afresh, is at most Config.Gap. Then the objective is within that share of the optimum. Linear
// problems are solved in float64, whatever T is; with a kernel and T = float32 it is the optimum
// for kernel values rounded to float32, which hard margins far smaller than the examples do not
// bear. TestSVMOptimal, TestSVMLIBSVM.
//
// Cost: linear: O(non-zeros) a step and, up to 1024 features d, d^3/6 multiply-adds, some 10 to 100
// steps; of more features, O(non-zeros) an epoch. With a kernel: two rows of kernel values a step,
// O(examples) each if they are kept, which FitOptions.GramBytes limits. Memory: one float64 a
// feature, or the support vectors; while it learns, d^2 float64 or the kernel rows.
type svm[T learner.Float] struct {
	primal.Stored
	cfg  SVMConfig
	seed uint64
	pool *engine.Pool
	rows *engine.SharedRows

	bias    float64
	w       []float64 // linear
	updates int64

	sum kept.Sum[T] // with a kernel

	solution SVMSolution
}

// SVMConfig holds the settings of an SVM.
type SVMConfig struct {
	// C is the weight of the slacks, 0 for a hard margin. Default 1; 0 or more.
	C float64 `json:"C" flag:"C" tune:"0.01|0.1|1|10|100"`
	// Norm is 1 to penalize slacks, 2 to penalize their squares. Default 1; 1 or 2.
	Norm int `json:"norm" flag:"norm" values:"1|2"`
	// NoBias learns f(x) = w.x without a bias. Default false.
	NoBias bool `json:"no_bias" flag:"no-bias"`
	// Gap is the duality gap to stop at, relative to the objective. Default 1e-06; 1e-12 to below
	// 1.
	Gap float64 `json:"gap" flag:"gap"`

	learner.KernelConfig
}

// Validate wants C >= 0, Norm 1 or 2, 1e-12 <= Gap < 1 and a kernel.
func (c *SVMConfig) Validate() error {
	check := func(field string, v float64, ok bool, want string) error {
		return learner.CheckSetting("svm", field, v, ok, want)
	}
	if err := errors.Join(
		check("C", c.C, c.C >= 0, "a number >= 0"),
		check("norm", float64(c.Norm), c.Norm == 1 || c.Norm == 2, "1 or 2"),
		check("gap", c.Gap, c.Gap >= 1e-12 && c.Gap < 1, "a number from 1e-12 to below 1"),
	); err != nil {
		return err
	}
	return c.KernelConfig.Validate("svm")
}

// Traits is Config.Traits.
func (c *SVMConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Stream, t.Whole, t.OwnLimit, t.Dual, t.Biased = false, true, true, true, true
	t.Weights = c.C > 0
	t.Linear, t.Vector, t.HardMargin = c.Linear(), c.Linear(), c.hardMargin
	if t.Threads = learner.ThreadsRows; c.Linear() {
		t.Threads = "steps over dense examples"
	}
	t.Remedies = []learner.Remedy{{Change: "lower", Setting: "C"}, {Change: "raise",
		Setting: "gap"}}
	if c.C == 0 {
		t.Remedies = []learner.Remedy{{Change: "set", Setting: "C"}}
	}
	t.Memory = c.memory
	return t
}

// memory is Traits.Memory: the dual problem, with kernel rows or a matrix of the features; one
// float64 a feature, or the support vectors.
func (c *SVMConfig) memory(x learner.Extent) learner.Footprint {
	var f learner.Footprint
	if !c.Linear() {
		kept.AddRows(&f, x, x.Elem, x.Examples, 10*8)
		return f
	}
	smo.AddLinear(&f, x)
	x.Growing = false
	f.Tables(x, "weights", 2*8)
	f.Add("work space", 1, primal.FixedBytes)
	f.Copied(x, 8, learner.Times(x.Features, 8))
	return f
}

// hardMargin is Traits.HardMargin.
func (c *SVMConfig) hardMargin(bias bool) learner.Config {
	hard := *c
	hard.C, hard.NoBias = 0, !bias
	return &hard
}

func newSVM[T learner.Float](cfg SVMConfig, env learner.Env) (learner.Learner[T], error) {
	l := &svm[T]{Stored: primal.Stored{Name: "svm"}, cfg: cfg, seed: env.Seed, pool: env.Pool,
		rows: env.Rows}
	l.Walk = l.fields
	var err error
	if !cfg.Linear() {
		l.sum, err = kept.NewSum[T]("svm", kept.Batch, cfg.EngineKernel(), env.Pool)
	}
	return l, err
}

// Learn returns an error that wraps ErrBatch.
func (s *svm[T]) Learn(*engine.Block[T], []learner.Round) error {
	return fmt.Errorf("svm: %w", learner.ErrBatch)
}

func (s *svm[T]) problem() smo.Problem {
	p := smo.Problem{Upper: math.Inf(1), Bias: !s.cfg.NoBias}
	switch {
	case s.cfg.C == 0:
	case s.cfg.Norm == 1:
		p.Upper = s.cfg.C
	default:
		p.Ridge = 1 / s.cfg.C
	}
	return p
}

// Fit is Fitter.Fit. It starts anew every time. An update is a step: Newton's, or of a pair, or of
// one example.
// Of FitOptions, MaxUpdates limits the steps (0: 10 million or 1000 an example, whichever is more),
// GramBytes the memory for kernel values, and Observe is called now and then, Violators being the
// examples whose optimality condition is off by more than 0.001. When ctx ends or there is no hard
// margin, the state is unchanged.
func (s *svm[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	// without slack there is no loss that weights could count
	if err := margin.CheckFit("svm", b, &o, margin.Fits{Weights: s.cfg.C > 0,
		NoDelta: "its soft margin is given by C"}); err != nil {
		return learner.FitResult{}, err
	}
	limit := o.MaxUpdates
	if limit == 0 {
		limit = max(1e7, 1000*int64(b.Len()))
	}
	p := s.problem()
	p.Weights = margin.WeightsOf(b)
	var beta, w []float64 // beta = y alpha
	var rows engine.RowStats
	var v smo.Value
	var steps int64
	var err error
	switch {
	case s.cfg.Linear() && b.Dim <= smo.MostNewtonDim:
		d := smo.NewNewtonSolver(b, p, s.pool)
		d.Observe = o.Observe
		v, steps, err = d.Solve(ctx, s.cfg.Gap, limit)
		beta, w = d.Alpha, d.W
	case s.cfg.Linear():
		d := smo.NewCoordinateSolver(b, p, s.seed)
		d.Observe = o.Observe
		v, steps, err = d.Solve(ctx, s.cfg.Gap, limit)
		beta, w = d.Alpha, d.W
	default:
		beta, v, rows, steps, err = s.solveRows(ctx, b, p, o.GramBytes, limit, o.Observe)
	}
	if err != nil {
		return learner.FitResult{}, err
	}
	if s.cfg.Linear() {
		for t := range beta {
			beta[t] *= float64(b.Y[t])
		}
	} else {
		s.sum.SetSupport(b, beta)
	}
	s.bias, s.sum.Bias, s.w = v.Bias, v.Bias, w
	s.updates += steps
	s.solution = solutionOf(p, &v, beta, steps)
	return learner.FitResult{Updates: steps, Counter: s.updates + 1, Converged: v.Converged,
		Violators: v.Violators, Margin: s.solution.Margin, Bound: math.Inf(1),
		KernelRows: rows}, nil
}

// solveRows solves with a kernel, over the rows of kernel values of b, of which bytes are kept.
func (s *svm[T]) solveRows(ctx context.Context, b *engine.Block[T], p smo.Problem,
	bytes, limit int64, observe func(learner.FitStatus)) (beta []float64, v smo.Value,
	kept engine.RowStats, steps int64, err error) {
	rows, err := engine.RowsOf(s.rows, s.cfg.EngineKernel(), b, max(0, bytes), s.pool)
	if err != nil {
		return nil, v, kept, 0, fmt.Errorf("svm: %w", err)
	}
	before := rows.Stats()
	y := make([]float64, b.Len())
	for t, l := range b.Y {
		y[t] = float64(l)
	}
	m := smo.NewPairSolver(rows, y, p)
	m.Observe = observe
	v, steps, err = m.Solve(ctx, s.cfg.Gap, limit)
	return m.Beta, v, engine.Since(rows.Stats(), before), steps, err
}

func solutionOf(p smo.Problem, v *smo.Value, beta []float64, steps int64) SVMSolution {
	r := SVMSolution{Objective: v.Dual, Primal: v.Primal, Gap: v.Gap(), Margin: v.Margin(p),
		Bias: v.Bias, SumAlpha: v.Sum,
		Iterations: steps, Converged: v.Converged}
	for t, b := range beta {
		if b != 0 {
			r.SupportVectors++
			if p.AtBound(t, math.Abs(b)) {
				r.Bounded++
			}
		}
	}
	return r
}

// holdExpansion is Entry.Holding: a sum over examples, with a bias.
func holdExpansion(h *learner.Hypothesis) (learner.Config, learner.State, bool) {
	if len(h.Outputs) != 1 || h.Outputs[0].Weights != nil || h.Outputs[0].Divisor != 1 ||
		h.Fourier != nil {
		return nil, learner.State{}, false
	}
	cfg := *(*SVMConfig)(nil).Entry().Config().(*SVMConfig)
	k, o := h.Kernel, &h.Outputs[0]
	cfg.KernelConfig = learner.KernelConfig{Kernel: string(k.Kind), Gamma: k.Gamma,
		Degree: k.Degree, Coef0: k.Coef0, Scale: k.Scale}
	if cfg.Linear() { // whose state is a weight vector
		return nil, learner.State{}, false
	}
	if cfg.Validate() != nil {
		return nil, learner.State{}, false
	}
	l, err := newSVM[float64](cfg, learner.Env{})
	if err != nil {
		return nil, learner.State{}, false
	}
	s := l.(*svm[float64])
	s.bias = o.Bias
	s.sum.SetSupport(&o.Points, o.Coef)
	return &cfg, s.State(), true
}

func (s *svm[T]) Score(b *engine.Block[T], dst []float64) error {
	if !s.cfg.Linear() {
		return s.sum.Score(b, dst)
	}
	p := s.hypothesis()
	return p.Score(b, dst)
}

// hypothesis is that without a kernel.
func (s *svm[T]) hypothesis() primal.WideWeights[T] {
	return primal.WideWeights[T]{Name: "svm", W: s.w, Divisor: 1, Bias: s.bias, Biased: true}
}

func (s *svm[T]) Snapshot() learner.Predictor[T] {
	if !s.cfg.Linear() {
		return s.sum.View()
	}
	return s.hypothesis().Copied()
}

// View is for [learner.ViewOf].
func (s *svm[T]) View() learner.Predictor[T] {
	if !s.cfg.Linear() {
		return s.sum.View()
	}
	return s.hypothesis().View()
}

// Weights returns w, or nil with a kernel. The scores are those of w plus Bias.
func (s *svm[T]) Weights() []float64 {
	if !s.cfg.Linear() {
		return nil
	}
	return primal.Scaled(s.w, 1)
}

// SVMSolution says what the last Fit found.
type SVMSolution struct {
	Objective float64 // dual objective: a lower bound of the optimum
	// objective of (w, b): an upper bound; +Inf while a hard margin does not separate
	Primal float64
	Gap    float64 // (Primal - Objective)/Primal
	// 1/|w|; hard margin: that of the worst example; Norm 2: in the space of K + I/C. NaN if w = 0
	Margin         float64
	Bias           float64
	SumAlpha       float64
	SupportVectors int
	Bounded        int   // those with alpha = C
	Iterations     int64 // steps: Newton's, or pairs, or examples looked at
	Converged      bool
}

// Solution returns what the last Fit found; zero before the first and after SetState.
func (s *svm[T]) Solution() SVMSolution { return s.solution }

// Solved is learner.Solver's.
func (s *svm[T]) Solved() learner.Solution {
	support := int64(-1)
	if s.solution.Iterations > 0 {
		support = int64(s.solution.SupportVectors)
	}
	return learner.Solution{Gap: s.solution.Gap, Support: support}
}

// Bias returns b of f(x) = w.x + b.
func (s *svm[T]) Bias() float64 { return s.bias }

// Updates returns the steps made.
func (s *svm[T]) Updates() int64 { return s.updates }

// Bytes returns the memory that weights and support vectors hold.
func (s *svm[T]) Bytes() int64 {
	return int64(unsafe.Sizeof(*s)) + primal.BytesOf(s.w) + s.sum.Bytes()
}

func (s *svm[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &s.updates)
	c.Scalar("bias", &s.bias)
	if s.cfg.Linear() {
		c.PerFeature("w", len(learner.Vector(c, "w", &s.w)))
	} else {
		s.sum.SupportFields(c)
	}
	c.Then(func() { s.sum.Bias, s.solution = s.bias, SVMSolution{} })
}
