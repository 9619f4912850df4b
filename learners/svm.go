package learners

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

func init() {
	Register(Entry{"svm", "the support vector machine, to a stated duality gap: the gold standard (whole data sets only)",
		func() Config { return &SVMConfig{C: 1, Norm: 1, Kernel: "linear", Gap: 1e-6} }, newSVM[float32], newSVM[float64]})
}

// Errors of learners that take whole data sets.
var (
	// ErrBatch is what Learn returns: the learner has Fit only.
	ErrBatch = errors.New("learns from a whole data set only (--until-converged)")
	// ErrNotSeparable says that a hard margin was wanted and there is none. It is an ErrFit.
	ErrNotSeparable = fmt.Errorf("classes not separable: %w", ErrFit)
)

// BatchConfig is the Config of a learner that learns from whole data sets only: it is a Fitter, and its Learn returns ErrBatch.
type BatchConfig interface {
	Config
	BatchOnly()
}

// SVM finds the maximum margin of a whole data set.
//
// Reference: C. Cortes, V. Vapnik, "Support-Vector Networks", Machine Learning 20, 1995. Linear without bias: C.-J. Hsieh, K.-W.
// Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM", ICML 2008.
// Otherwise: R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working Set Selection Using Second Order Information for Training Support Vector
// Machines", JMLR 6, 2005.
//
//	min 1/2 |w|^2 + C sum xi_i         (Norm 1)      y_i (w.x_i + b) >= 1 - xi_i, xi_i >= 0
//	min 1/2 |w|^2 + C/2 sum xi_i^2     (Norm 2)      the same; the hard margin of K + I/C
//	min 1/2 |w|^2                      (C = 0)       y_i (w.x_i + b) >= 1
//
//	paper        here             shape, unit
//	x_i, y_i     block            example; label, -1 or +1
//	w            w, or coef, sv   one a feature; with a kernel alpha_i y_i and x_i, one a support vector
//	b            bias             0 if NoBias
//	alpha_i      |beta_i|         smo: beta_i = y_i alpha_i; dcd: alpha
//	G            e_i, y_i e_i     smo: y_i times the gradient; the gradient in dcd
//	C, U         Config.C         0 is the hard margin
//
// Deviations: the solvers stop by the duality gap relative to the objective, not by the violation of the optimality conditions; the
// bias stands half way between what these conditions allow; without a bias, kernels move one example a step; what shrinking does is
// told at smo.
//
// Guarantee: FitResult.Converged means that Solution().Gap, computed from a gradient that was taken afresh, is at most Config.Gap. Then
// the objective is within that share of the optimum. Linear problems are solved in float64, whatever T is; with a kernel and T = float32
// it is the optimum for kernel values rounded to float32, which hard margins far smaller than the examples do not bear.
// TestSVMOptimal, TestSVMLIBSVM.
//
// Cost: linear without bias: O(non-zeros) an epoch. Otherwise two rows of kernel values a step, O(examples) each if they are kept,
// which FitOptions.GramBytes limits. Memory: one float64 a feature, or the support vectors.
type SVM[T Float] struct {
	cfg  SVMConfig
	seed uint64
	pool *engine.Pool

	bias    float64
	w       []float64 // linear
	updates int64

	// With a kernel.
	coef []float64       // alpha_i y_i
	sv   engine.Block[T] // support vectors, sparse
	rows *engine.Rows[T] // of sv
	row  []T             // scratch of Score
	one  engine.Block[T] // Score: an example, without features that the training data lack
	ends [2]int          // its Ptr

	solution SVMSolution
}

// SVMConfig holds the settings of an SVM.
type SVMConfig struct {
	C      float64 `json:"C" flag:"C" help:"weight of the slack (0: hard margin)"`
	Norm   int     `json:"norm" flag:"norm" help:"1: the slack counts; 2: its square"`
	NoBias bool    `json:"no_bias" flag:"no-bias" help:"f(x) = w.x; else the problem has a bias of its own"`
	Gap    float64 `json:"gap" flag:"gap" help:"stop at this duality gap, relative to the objective"`

	Kernel string  `json:"kernel" flag:"kernel" help:"linear: x.z; poly: (gamma x.z + coef0)^degree; rbf: exp(-gamma |x-z|^2)"`
	Gamma  float64 `json:"gamma" flag:"gamma" help:"gamma of poly and rbf"`
	Sigma  float64 `json:"sigma" flag:"sigma" help:"rbf: width, gamma = 1/(2 sigma^2)"`
	Degree int     `json:"degree" flag:"degree" help:"degree of poly"`
	Coef0  float64 `json:"coef0" flag:"coef0" help:"constant of poly"`
	Scale  float64 `json:"scale" flag:"scale" help:"the kernel is of examples divided by this (0: 1)"`
}

// Validate wants C >= 0, Norm 1 or 2, 1e-12 <= Gap < 1, settings >= 0 that make an [engine.Kernel], and one of Gamma and Sigma.
func (c *SVMConfig) Validate() error {
	check := func(field string, v float64, ok bool, want string) error {
		return checkSetting("svm", field, v, ok, want)
	}
	if err := errors.Join(
		check("C", c.C, c.C >= 0, "a number >= 0"),
		check("norm", float64(c.Norm), c.Norm == 1 || c.Norm == 2, "1 or 2"),
		check("gap", c.Gap, c.Gap >= 1e-12 && c.Gap < 1, "a number from 1e-12 to below 1"),
		check("gamma", c.Gamma, c.Gamma >= 0, "a number >= 0"),
		check("sigma", c.Sigma, c.Sigma >= 0, "a number >= 0"),
		check("degree", float64(c.Degree), c.Degree >= 0, "a number >= 0"),
		check("coef0", c.Coef0, c.Coef0 >= 0, "a number >= 0"),
		check("scale", c.Scale, c.Scale >= 0, "a number >= 0"),
	); err != nil {
		return err
	}
	if c.Sigma != 0 && (c.Gamma != 0 || c.Kernel != "rbf") {
		return fmt.Errorf("svm: sigma is %v, gamma %v, the kernel %s: sigma stands for rbf's gamma: %w", c.Sigma, c.Gamma, c.Kernel, ErrConfig)
	}
	if c.Kernel == "" {
		return fmt.Errorf("svm: kernel is empty, want linear, poly or rbf: %w", ErrConfig)
	}
	if err := c.kernel().Validate(); err != nil {
		return fmt.Errorf("svm: %w: %w", err, ErrConfig)
	}
	return nil
}

// BatchOnly marks a BatchConfig.
func (c *SVMConfig) BatchOnly() {}

func (c *SVMConfig) kernel() engine.Kernel {
	k := engine.Kernel{Kind: engine.KernelKind(c.Kernel), Gamma: c.Gamma, Degree: c.Degree, Coef0: c.Coef0, Scale: c.Scale}
	if c.Sigma != 0 {
		k.Gamma = engine.RBFSigma(c.Sigma).Gamma
	}
	return k
}

// linear reports whether the hypothesis is one weight vector: the plain inner product.
func (c *SVMConfig) linear() bool { return c.Kernel == "linear" && (c.Scale == 0 || c.Scale == 1) }

// SVMSolution tells of the last Fit.
type SVMSolution struct {
	Objective      float64 // dual objective: a lower bound of the optimum
	Primal         float64 // objective of (w, b): an upper bound; +Inf while a hard margin does not separate
	Gap            float64 // (Primal - Objective)/Primal
	Margin         float64 // 1/|w|; hard margin: that of the worst example; Norm 2: in the space of K + I/C. NaN if w = 0
	Bias           float64
	SumAlpha       float64
	SupportVectors int
	Bounded        int   // those with alpha = C
	Iterations     int64 // steps: pairs, or examples looked at
	Converged      bool
}

// Solution returns what the last Fit found; zero before the first and after SetState.
func (s *SVM[T]) Solution() SVMSolution { return s.solution }

// Bias returns b of f(x) = w.x + b.
func (s *SVM[T]) Bias() float64 { return s.bias }

func newSVM[T Float](c Config, env Env) (Learner[T], error) {
	cfg, err := configAs[SVMConfig]("svm", c)
	if err != nil {
		return nil, err
	}
	return &SVM[T]{cfg: cfg, seed: env.Seed, pool: env.Pool}, nil
}

// Learn returns an error that wraps ErrBatch.
func (s *SVM[T]) Learn(*engine.Block[T], []Round) error { return fmt.Errorf("svm: %w", ErrBatch) }

func (s *SVM[T]) problem() svmProblem {
	p := svmProblem{upper: math.Inf(1), bias: !s.cfg.NoBias}
	switch {
	case s.cfg.C == 0:
	case s.cfg.Norm == 1:
		p.upper = s.cfg.C
	default:
		p.ridge = 1 / s.cfg.C
	}
	return p
}

// Fit is Fitter.Fit. It starts anew every time. An update is a step: of a pair, or of one example. Of FitOptions, MaxUpdates
// limits the steps (0: 10 million or 1000 an example, whichever is more), GramBytes the memory for kernel values, and Observe is told
// now and then, Violators being the examples whose optimality condition is off by more than 0.001. When ctx ends or there is no hard
// margin, the state is unchanged.
func (s *SVM[T]) Fit(ctx context.Context, b *engine.Block[T], o FitOptions) (FitResult, error) {
	if err := checkBlock("svm", b, b.Len()); err != nil {
		return FitResult{}, err
	}
	n := b.Len()
	switch {
	case n == 0:
		return FitResult{}, fmt.Errorf("svm: no examples: %w", ErrFit)
	case o.Delta != 0:
		return FitResult{}, fmt.Errorf("svm: Delta is %v: its soft margin is given by C: %w", o.Delta, ErrConfig)
	case o.MaxUpdates < 0:
		return FitResult{}, fmt.Errorf("svm: MaxUpdates is %d, want >= 0: %w", o.MaxUpdates, ErrConfig)
	}
	limit := o.MaxUpdates
	if limit == 0 {
		limit = max(1e7, 1000*int64(n))
	}
	bytes := o.GramBytes
	if bytes == 0 {
		bytes = DefaultGramBytes
	}
	p := s.problem()
	var beta, w []float64 // beta = y alpha
	var v svmValue
	var steps int64
	if s.cfg.linear() && s.cfg.NoBias {
		d := newDCD(b, p, s.seed)
		d.observe = o.Observe
		var err error
		if v, steps, err = d.solve(ctx, s.cfg.Gap, limit); err != nil {
			return FitResult{}, err
		}
		beta, w = d.alpha, d.w
		for t := range beta {
			beta[t] *= float64(b.Y[t])
		}
	} else {
		y := make([]float64, n)
		for t, l := range b.Y {
			y[t] = float64(l)
		}
		var err error
		if s.cfg.linear() { // float64 rows, whatever T is: float32 would cost digits, and w needs none
			beta, v, steps, err = solveRows(ctx, widened(b), y, p, &s.cfg, s.pool, bytes, limit, o.Observe)
		} else {
			beta, v, steps, err = solveRows(ctx, b, y, p, &s.cfg, s.pool, bytes, limit, o.Observe)
		}
		if err != nil {
			return FitResult{}, err
		}
		if s.cfg.linear() {
			w = make([]float64, b.Dim)
			alpha := make([]float64, n)
			for t, v := range beta {
				alpha[t] = math.Abs(v)
			}
			converged := v.converged
			v = linearValue(b, alpha, w, v.bias, p) // of w itself
			v.converged = converged
		}
	}
	if w == nil {
		if err := s.keep(b, beta); err != nil {
			return FitResult{}, err
		}
	}
	s.bias, s.w = v.bias, w
	s.updates += steps
	s.solution = solutionOf(p, &v, beta, steps)
	return FitResult{Updates: steps, Counter: s.updates + 1, Converged: v.converged, Violators: v.violators, Margin: s.solution.Margin}, nil
}

// solveRows solves over the kernel rows of b, of which bytes are kept.
func solveRows[R Float](ctx context.Context, b *engine.Block[R], y []float64, p svmProblem, c *SVMConfig, pool *engine.Pool,
	bytes, limit int64, observe func(FitStatus)) (beta []float64, v svmValue, steps int64, err error) {
	list, err := engine.NewPoints[R](c.kernel())
	if err != nil {
		return nil, v, 0, fmt.Errorf("svm: %w", err)
	}
	list.Append(b, 0, b.Len())
	m := newSMO(engine.NewRows(list, max(0, bytes), b.Len(), pool), y, p)
	m.observe = observe
	v, steps, err = m.solve(ctx, c.Gap, limit)
	return m.beta, v, steps, err
}

// widened returns b in float64: b itself or a copy.
func widened[T Float](b *engine.Block[T]) *engine.Block[float64] {
	if same, ok := any(b).(*engine.Block[float64]); ok {
		return same
	}
	wide := func(x []T) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = float64(v)
		}
		return out
	}
	return &engine.Block[float64]{Y: wide(b.Y), Dim: b.Dim, Ptr: b.Ptr, Idx: b.Idx, Val: wide(b.Val), X: wide(b.X), Stride: b.Stride}
}

func solutionOf(p svmProblem, v *svmValue, beta []float64, steps int64) SVMSolution {
	r := SVMSolution{Objective: v.dual, Primal: v.primal, Gap: v.gap(), Margin: v.margin(p), Bias: v.bias, SumAlpha: v.sum,
		Iterations: steps, Converged: v.converged}
	for _, b := range beta {
		if b != 0 {
			r.SupportVectors++
		}
		if math.Abs(b) >= p.upper {
			r.Bounded++
		}
	}
	return r
}

// keep copies the support vectors, without zeros.
func (s *SVM[T]) keep(b *engine.Block[T], beta []float64) error {
	sv, coef := engine.Block[T]{Dim: b.Dim, Ptr: []int{0}}, []float64(nil)
	for t, c := range beta {
		if c == 0 {
			continue
		}
		coef = append(coef, c)
		idx, val := rowOf(b, t)
		for n, v := range val {
			if v != 0 {
				sv.Idx, sv.Val = append(sv.Idx, int32(at(idx, n))), append(sv.Val, v)
			}
		}
		sv.Ptr = append(sv.Ptr, len(sv.Idx))
	}
	return s.support(sv, coef)
}

// support makes these the support vectors.
func (s *SVM[T]) support(sv engine.Block[T], coef []float64) error {
	list, err := engine.NewPoints[T](s.cfg.kernel())
	if err != nil {
		return fmt.Errorf("svm: %w", err)
	}
	sv.Y = slices.Repeat([]T{1}, len(coef))
	list.Append(&sv, 0, len(coef))
	s.sv, s.coef, s.rows, s.row = sv, coef, engine.NewRows(list, 0, 0, s.pool), make([]T, len(coef))
	return nil
}

// Score is Learner.Score.
func (s *SVM[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkBlock("svm", b, len(dst)); err != nil {
		return err
	}
	if !s.cfg.linear() {
		return s.expansion(b, dst)
	}
	for i := range b.Len() {
		idx, val := seen(b, i, len(s.w))
		if idx == nil {
			dst[i] = vecmath.DotMixed(s.w[:len(val)], val) + s.bias
		} else {
			dst[i] = vecmath.SparseDotMixed(idx, val, s.w) + s.bias
		}
	}
	return nil
}

// seen is rowOf without the features from dim on.
func seen[T Float](b *engine.Block[T], i, dim int) (idx []int32, val []T) {
	idx, val = rowOf(b, i)
	n := len(val)
	if idx == nil {
		n = min(n, dim)
	} else if int(idx[n-1]) >= dim {
		n, _ = slices.BinarySearch(idx, int32(dim))
		idx = idx[:n]
	}
	return idx, val[:n]
}

// expansion is Score with a kernel: sum alpha_i y_i K(x_i, x) + b.
func (s *SVM[T]) expansion(b *engine.Block[T], dst []float64) error {
	one := &s.one
	if one.Y == nil {
		one.Y = []T{1}
	}
	for i := range b.Len() {
		if len(s.coef) == 0 {
			dst[i] = s.bias
			continue
		}
		idx, val := seen(b, i, s.sv.Dim)
		one.Dim, one.Ptr, one.Idx, one.Val, one.X = len(val), nil, nil, nil, val
		one.Stride = len(val)
		if !b.Dense() {
			s.ends[1] = len(val)
			one.Dim, one.Ptr, one.Idx, one.Val, one.X = s.sv.Dim, s.ends[:], idx, val, nil
		}
		if err := s.rows.RowOf(context.Background(), s.row, one, 0); err != nil {
			return fmt.Errorf("svm: %w", err)
		}
		dst[i] = vecmath.DotMixed(s.coef, s.row) + s.bias
	}
	one.Idx, one.Val, one.X = nil, nil, nil // the examples are not the learner's
	return nil
}

// Weights returns w, or nil with a kernel. The scores are those of w plus Bias.
func (s *SVM[T]) Weights() []float64 {
	if !s.cfg.linear() {
		return nil
	}
	return scaled(s.w, 1)
}

// Updates returns the steps made.
func (s *SVM[T]) Updates() int64 { return s.updates }

// Bytes returns the memory that weights and support vectors hold.
func (s *SVM[T]) Bytes() int64 {
	n := int64(unsafe.Sizeof(*s)) + bytesOf(s.w) + bytesOf(s.coef) + bytesOf(s.row) +
		bytesOf(s.sv.Val) + bytesOf(s.sv.Y) + 4*int64(cap(s.sv.Idx)) + 8*int64(cap(s.sv.Ptr))
	if s.rows != nil {
		n += s.rows.Bytes()
	}
	return n
}

// State is Learner.State: the weights, or with a kernel the support vectors.
func (s *SVM[T]) State() State {
	st := State{
		Counters: map[string]uint64{"updates": uint64(s.updates)},
		Scalars:  map[string]float64{"bias": s.bias},
	}
	if s.cfg.linear() {
		st.Tensors = []Tensor{{"w", []int{len(s.w)}, slices.Clone(s.w)}}
		return st
	}
	st.Counters["dim"] = uint64(s.sv.Dim)
	ends := make([]int64, s.sv.Len())
	for i := range ends {
		ends[i] = int64(s.sv.Ptr[i+1])
	}
	st.Tensors = []Tensor{
		{"coef", []int{len(s.coef)}, slices.Clone(s.coef)},
		{"sv_end", []int{len(ends)}, ends}, // of each in sv_idx and sv_val
		{"sv_idx", []int{len(s.sv.Idx)}, slices.Clone(s.sv.Idx)},
		{"sv_val", []int{len(s.sv.Val)}, slices.Clone(s.sv.Val)},
	}
	return st
}

// SetState is Learner.SetState.
func (s *SVM[T]) SetState(st State) error {
	tensors, counters := []string{"w"}, []string{"updates"}
	if !s.cfg.linear() {
		tensors, counters = []string{"coef", "sv_end", "sv_idx", "sv_val"}, []string{"updates", "dim"}
	}
	if err := st.holds("svm", tensors, counters, []string{"bias"}); err != nil {
		return err
	}
	bias := st.Scalars["bias"]
	if bias-bias != 0 {
		return fmt.Errorf("svm: scalar \"bias\" is %v: %w", bias, ErrState)
	}
	updates, err := count(&st, "svm", "updates")
	if err != nil {
		return err
	}
	if s.cfg.linear() {
		w, err := vector[float64](&st, "svm", "w")
		if err != nil {
			return err
		}
		s.w = slices.Clone(w)
	} else {
		sv, coef, err := supportOf[T](&st)
		if err != nil {
			return err
		}
		if err := s.support(sv, coef); err != nil {
			return err
		}
	}
	s.bias, s.updates, s.solution = bias, updates, SVMSolution{}
	return nil
}

// supportOf returns a copy of the support vectors and coefficients of a State.
func supportOf[T Float](st *State) (sv engine.Block[T], coef []float64, err error) {
	coef, err1 := vector[float64](st, "svm", "coef")
	ends, err2 := vector[int64](st, "svm", "sv_end")
	idx, err3 := vector[int32](st, "svm", "sv_idx")
	val, err4 := vector[T](st, "svm", "sv_val")
	dim, err5 := count(st, "svm", "dim")
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return sv, nil, err
	}
	if len(coef) != len(ends) || len(idx) != len(val) || dim > math.MaxInt32 {
		return sv, nil, fmt.Errorf("svm: %d coefficients of %d support vectors, %d indices and %d values of %d features: %w",
			len(coef), len(ends), len(idx), len(val), dim, ErrState)
	}
	sv = engine.Block[T]{Y: slices.Repeat([]T{1}, len(coef)), Dim: int(dim), Ptr: []int{0}, Idx: slices.Clone(idx), Val: slices.Clone(val)}
	for _, e := range ends {
		sv.Ptr = append(sv.Ptr, int(e))
	}
	if err := sv.Check(); err != nil {
		return sv, nil, fmt.Errorf("svm: support vectors: %w: %w", err, ErrState)
	}
	return sv, slices.Clone(coef), nil
}

// svmProblem says what is minimised.
type svmProblem struct {
	upper float64 // of alpha: C, or +Inf
	ridge float64 // 1/C for the 2-norm soft margin
	bias  bool
}

func (p svmProblem) hard() bool { return math.IsInf(p.upper, 1) && p.ridge == 0 }

// svmValue is where a dual solution stands. Norms and scores are those of its w, not scaled.
type svmValue struct {
	bias         float64
	sum          float64 // of alpha
	norm2, ext2  float64 // |w|^2 and with the slack's part of the 2-norm soft margin, sum alpha^2/C
	least        float64 // y (f(x) + b) of the worst example
	violators    int     // examples whose optimality condition is off by more than violated
	primal, dual float64 // bounds of the objective
	converged    bool
}

// violated is how far y (f + b) may be from 1 where it should not.
const violated = 1e-3

// example takes in an example of that alpha and y (f(x) + b) = margin, and returns its share of the sum of losses.
func (v *svmValue) example(p svmProblem, alpha, margin float64) (loss float64) {
	v.least = min(v.least, margin)
	ext := margin + float64(p.ridge*alpha)
	if alpha < p.upper && ext < 1-violated || alpha > 0 && ext > 1+violated {
		v.violators++
	}
	xi := max(0, 1-margin)
	if p.ridge > 0 {
		return float64(xi * xi)
	}
	return xi
}

// margin is that of SVMSolution.
func (v *svmValue) margin(p svmProblem) float64 {
	switch {
	case v.norm2 == 0:
		return math.NaN()
	case math.IsInf(p.upper, 1):
		return 1 / math.Sqrt(2*v.primal)
	}
	return 1 / math.Sqrt(v.norm2)
}

func (v *svmValue) status(p svmProblem, steps int64) FitStatus {
	return FitStatus{Updates: steps, Violators: v.violators, Margin: v.margin(p)}
}

// finish computes the bounds of the objective from the rest and the sum of the losses.
//
// The primal bound is the objective of (w, b), which the hard margin first scales until the worst example has y (f + b) = 1; there
// is none if that example is on the wrong side. The dual bound is the dual objective of alpha, or, where alpha has no upper
// bound, that of the best multiple of it, t = sum alpha / alpha'Q alpha.
func (v *svmValue) finish(p svmProblem, loss float64) {
	v.dual = v.sum - v.ext2/2
	v.primal = v.norm2 / 2
	if math.IsInf(p.upper, 1) {
		if v.ext2 > 0 {
			v.dual = float64(v.sum/v.ext2) * v.sum / 2
		}
		switch {
		case p.ridge > 0:
			v.primal += loss / p.ridge / 2
		case v.least > 0:
			v.primal /= float64(v.least * v.least)
		default:
			v.primal = math.Inf(1)
		}
	} else if loss > 0 {
		v.primal += float64(p.upper * loss)
	}
}

// gap is the duality gap relative to the objective; rounding may put the bounds the wrong way round.
func (v *svmValue) gap() float64 {
	switch {
	case v.primal <= v.dual:
		return 0
	case math.IsInf(v.primal, 1):
		return v.primal
	}
	return (v.primal - v.dual) / v.primal
}

// overflow returns an error if the numbers have become too large to go on with.
func (v *svmValue) overflow() error {
	if g := v.gap(); math.IsNaN(g) || math.IsInf(v.ext2, 0) {
		return fmt.Errorf("svm: kernel values or weights overflow: scale the data: %w", ErrFit)
	}
	return nil
}

// apart reports whether a hard margin, if there is one, is below what counts as one: every w that separates with margin g
// has g <= |sum alpha y x| / sum alpha.
func (v *svmValue) apart(radius2 float64) bool {
	const least = 1e-6 // of the longest example
	return v.sum > 0 && v.norm2 <= least*least*radius2*float64(v.sum*v.sum)
}

// notSeparable is the error of a hard margin that is not there.
func (v *svmValue) notSeparable(radius2 float64, iterations int64) error {
	return fmt.Errorf("svm: no hard margin after %d steps: if there is one it is at most %.3g, where the longest example is %.4g; allow slack with --C: %w",
		iterations, math.Sqrt(v.norm2)/v.sum, math.Sqrt(radius2), ErrNotSeparable)
}
