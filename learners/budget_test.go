package learners_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// budgetGolden is a trace of budgeted learners: what is kept after each example that was learned.
type budgetGolden struct {
	X     [][]float64
	Y     []float64 `json:"y"`
	Sigma float64
	Runs  []budgetRun
}

type budgetRun struct {
	Rule, Removal, Strategy, Tie string
	Beta, C                      float64
	Q, P, Epochs                 int
	Updates, Mistakes            int64
	FinalCache                   []int     `json:"final_cache"`
	FinalAlpha                   []float64 `json:"final_alpha"`
	Trace                        []budgetStep
}

type budgetStep struct {
	T       int64
	Example int
	Margin  float64
	Removed *int
	Cache   []int
	Alpha   []float64
	Q       []int
}

// TestGoldenBudget follows the 44 traces of an independent implementation: which example is
// learned, with which margin, which one is removed, from the kept ones and from the error cache,
// and all coefficients.
func TestGoldenBudget(t *testing.T) {
	var g budgetGolden
	readGolden(t, "margin/budget_tighter.json", &g)
	if len(g.Runs) != 44 {
		t.Fatalf("%d runs", len(g.Runs))
	}
	for n := range g.Runs {
		g.follow(t, n)
	}
}

// learner returns the learner of a run.
func (g *budgetGolden) learner(t *testing.T, r *budgetRun) learner.Learner[float64] {
	t.Helper()
	rule := map[string]string{"perceptron": "perceptron", "mira": "mira",
		"nobias-svm": "svm"}[r.Rule]
	update := learners.UpdateConfig{Beta: r.Beta, Update: rule, C: r.C}
	kernel := learner.KernelConfig{Kernel: "rbf", Sigma: g.Sigma}
	if r.Removal != "tighter" {
		return newLearner[float64](t, "budget", &learners.BudgetConfig{Budget: r.P,
			UpdateConfig: update, KernelConfig: kernel})
	}
	ties := map[string]string{"first": "oldest", "margin": "margin"}[r.Tie]
	cache := r.Strategy
	if cache == "flip" {
		cache = "flips"
	}
	return newLearner[float64](t, "tbp", &learners.TBPConfig{Budget: r.P, ErrorCache: cache,
		ErrorSize: max(1, r.Q), Ties: ties, UpdateConfig: update, KernelConfig: kernel})
}

// follow learns as run n did, and compares each step.
func (g *budgetGolden) follow(t *testing.T, n int) {
	t.Helper()
	r := &g.Runs[n]
	l, trace := g.learner(t, r), r.Trace
	var at, mistakes int64
	epochs := r.Epochs
	if r.Removal == "tighter" {
		// The reference knows examples by number, and counts one that is presented in a later epoch
		// once. To a learner of streams it is an equal example, which counts again.
		epochs = 1
	}
	for range epochs {
		for i := range g.X {
			at++
			round := one(t, l, block[float64]("dense", g.X, g.Y), i)
			margin := g.Y[i] * round.Score
			if margin <= 0 {
				mistakes++
			}
			if r.Trace == nil {
				continue
			}
			if round.Updates == 0 {
				if len(trace) > 0 && trace[0].T == at {
					t.Fatalf("run %d: example %d was not learned", n, at)
				}
				continue
			}
			if len(trace) == 0 || trace[0].T != at || trace[0].Example != i ||
				math.Abs(margin-trace[0].Margin) > 1e-9 {
				t.Fatalf("run %d, example %d: learned with margin %v", n, at, margin)
			}
			g.keeps(t, l, n, at, trace[0].Cache, trace[0].Alpha)
			g.remembers(t, l, n, at, trace[0].Q)
			trace = trace[1:]
		}
	}
	if epochs < r.Epochs {
		return
	}
	g.keeps(t, l, n, at, r.FinalCache, r.FinalAlpha)
	if len(trace) > 0 || l.Updates() != r.Updates || mistakes != r.Mistakes {
		t.Errorf("run %d: %d updates, %d mistakes, want %d and %d", n, l.Updates(), mistakes,
			r.Updates, r.Mistakes)
	}
}

// number returns which example x is.
func (g *budgetGolden) number(x []float64) int {
	return slices.IndexFunc(g.X, func(z []float64) bool { return slices.Equal(x, z) })
}

// keeps compares the examples that l keeps, and their coefficients.
func (g *budgetGolden) keeps(t *testing.T, l learner.Learner[float64], n int, at int64,
	cache []int, alpha []float64) {
	t.Helper()
	kept, coef := keptOf(l.State(), "sv", "born", len(g.X[0]))
	if len(kept) != len(cache) {
		t.Fatalf("run %d, example %d: %d kept, want %v", n, at, len(kept), cache)
	}
	for i, x := range kept {
		if got := g.number(x); got != cache[i] || math.Abs(coef[i]-alpha[i]) > 1e-9 {
			t.Fatalf("run %d, example %d: kept %d with %v, want %d with %v", n, at, got, coef[i],
				cache[i], alpha[i])
		}
	}
}

// remembers compares the error cache; want of nil is a run without one.
func (g *budgetGolden) remembers(t *testing.T, l learner.Learner[float64], n int, at int64,
	want []int) {
	t.Helper()
	if want == nil {
		return
	}
	q, _ := keptOf(l.State(), "cache", "cache_since", len(g.X[0]))
	var got []int
	for _, x := range q {
		got = append(got, g.number(x))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("run %d, example %d: error cache %v, want %v", n, at, got, want)
	}
}

// keptOf returns the examples of a state in the order in which they came, and their alpha, if they
// have one.
func keptOf(s learner.State, prefix, order string, dim int) (x [][]float64, alpha []float64) {
	ends := s.Tensor(prefix + "_end").Data.([]int64)
	idx := s.Tensor(prefix + "_idx").Data.([]int32)
	val := s.Tensor(prefix + "_val").Data.([]float64)
	born := s.Tensor(order).Data.([]int64)
	slots := make([]int, len(ends))
	for i := range slots {
		slots[i] = i
	}
	slices.SortFunc(slots, func(a, b int) int { return int(born[a] - born[b]) })
	for _, j := range slots {
		row, lo := make([]float64, dim), int64(0)
		if j > 0 {
			lo = ends[j-1]
		}
		for k := lo; k < ends[j]; k++ {
			row[idx[k]] = val[k]
		}
		x = append(x, row)
		if prefix == "sv" {
			alpha = append(alpha, s.Tensor("alpha").Data.([]float64)[j])
		}
	}
	return x, alpha
}

// TestGoldenKMP follows an independent implementation, step by step.
func TestGoldenKMP(t *testing.T) {
	var g struct {
		X     [][]float64
		Y     []float64 `json:"y"`
		Sigma float64
		Runs  []struct {
			Backfitting bool
			Steps       int
			Chosen      []int
			Coef, SSE   []float64
		}
	}
	readGolden(t, "margin/kmp.json", &g)
	if len(g.Runs) != 2 {
		t.Fatalf("%d runs", len(g.Runs))
	}
	b := block[float64]("dense", g.X, g.Y)
	for _, r := range g.Runs {
		before := make([]float64, len(g.X))
		for step := 1; step <= r.Steps; step++ {
			l := fitter[float64](t, "kmp", &learners.KMPConfig{Size: step, Backfit: r.Backfitting,
				KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: g.Sigma}})
			if res, err := l.Fit(t.Context(), b, learner.FitOptions{}); err != nil ||
				res.Updates != int64(step) || !res.Converged {
				t.Fatalf("%+v, %v", res, err)
			}
			f := make([]float64, len(g.X))
			if err := l.Score(b, f); err != nil {
				t.Fatal(err)
			}
			var sse float64
			for i, v := range f {
				sse += (g.Y[i] - v) * (g.Y[i] - v)
			}
			if math.Abs(sse-r.SSE[step-1]) > 1e-9 {
				t.Errorf("backfitting %v, step %d: sum of squares %v, want %v", r.Backfitting, step,
					sse, r.SSE[step-1])
			}
			coef := make([]float64, len(g.X))
			s := l.State()
			ends, val := s.Tensor("sv_end").Data.([]int64), s.Tensor("sv_val").Data.([]float64)
			for j, c := range s.Tensor("coef").Data.([]float64) { // all features are non-zeros
				coef[slices.IndexFunc(g.X, func(x []float64) bool {
					return slices.Equal(x,
						val[ends[j]-2:ends[j]])
				})] = c
			}
			if !r.Backfitting {
				for i := range coef {
					if changed := coef[i] != before[i]; changed != (i == r.Chosen[step-1]) {
						t.Errorf("step %d: example %d changed: %v, want %d chosen", step, i,
							changed, r.Chosen[step-1])
					}
				}
			} else if coef[r.Chosen[step-1]] == 0 {
				t.Errorf("backfitting, step %d: %d was not chosen", step, r.Chosen[step-1])
			}
			before = coef
			if step == r.Steps {
				for i, c := range r.Coef {
					if math.Abs(coef[i]-c) > 1e-9 {
						t.Errorf("backfitting %v: coefficient %d is %v, want %v", r.Backfitting, i,
							coef[i], c)
					}
				}
			}
		}
	}
}

// TestBudgetTies: of kept examples that the others serve equally well the oldest goes, whatever its
// slot.
func TestBudgetTies(t *testing.T) {
	l := newLearner[float64](t, "budget", &learners.BudgetConfig{Budget: 3,
		UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
		KernelConfig: learner.KernelConfig{Kernel: "linear"}})
	rounds := make([]learner.Round, 1)
	for i := range 9 { // no two have a feature in common, so that each has margin 0 without itself
		x := make([]float64, 9)
		x[i] = 1
		if err := l.Learn(block[float64]("sparse", [][]float64{x}, []float64{1}),
			rounds); err != nil {
			t.Fatal(err)
		}
		s := l.State()
		born := slices.Sorted(slices.Values(s.Tensor("born").Data.([]int64)))
		if n := int64(i + 1); born[0] != max(1, n-2) || born[len(born)-1] != n {
			t.Fatalf("after %d examples those of numbers %d are kept, want the last three", n, born)
		}
	}
}

// TestBudgetVariable: after an update nothing is kept that is recognised with a margin of beta
// without itself, but the example just learned; on data with a large margin few examples are kept,
// and every new example is predicted by what is left.
func TestBudgetVariable(t *testing.T) {
	b := learnertest.Dense[float64](300, 12, 0.05)
	for _, limit := range []int{0, 30} {
		c := &learners.BudgetConfig{Budget: limit, Variable: true,
			UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1, Beta: 0.1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}}
		l := newLearner[float64](t, "budget", c)
		rounds := make([]learner.Round, 1)
		removed := 0
		for step := range 3 * b.Len() {
			i := step % b.Len()
			before := l.State()
			one := b.Slice(i, i+1)
			if err := l.Learn(&one, rounds); err != nil {
				t.Fatal(err)
			}
			if kept := l.(learner.Keeper).Support(); limit > 0 && kept > limit {
				t.Fatalf("step %d: %d are kept, the limit is %d", step, kept, limit)
			}
			// From the state before: remove while the largest margin without itself is >= beta.
			alpha, y, born := slices.Clone(before.Tensor("alpha").Data.([]float64)),
				before.Tensor("y").Data.([]int32), before.Tensor("born").Data.([]int64)
			if rounds[0].Updates == 0 || slices.ContainsFunc(born, func(n int64) bool {
				return int(
					n-1)%b.Len() == i
			}) {
				continue
			}
			at := func(j int) int { return int(born[j]-1) % b.Len() }
			for {
				best, most := -1, math.Inf(-1)
				for j := range alpha {
					var f float64
					for k := range alpha {
						if k != j {
							f += alpha[k] * float64(y[k]) * rbfValue(b, at(k), at(j), 0.02)
						}
					}
					if alpha[j] > 0 && float64(y[j])*f > most {
						best, most = j, float64(y[j])*f
					}
				}
				if best < 0 || most < c.Beta {
					break
				}
				alpha[best] = 0
				removed++
			}
			now := l.State()
			after := now.Tensor("alpha").Data.([]float64)
			bornAfter := now.Tensor("born").Data.([]int64)
			for j, a := range alpha {
				k := slices.Index(bornAfter, born[j])
				alive := k >= 0 && after[k] > 0
				if a == 0 && alive {
					t.Fatalf("step %d: example %d is still kept", step, born[j])
				}
				if a > 0 && !alive && limit == 0 {
					t.Fatalf("step %d: example %d is gone", step, born[j])
				}
			}
		}
		if removed < 20 {
			t.Errorf("limit %d: %d removals, want more to look at", limit, removed)
		}
	}
}

// TestTBPNaive: the errors that follow f incrementally remove what errors summed up anew do, one at
// a time or several at once; with candidates one that has as few errors
// as so many others.
func TestTBPNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	X, y := make([][]float64, 600), make([]float64, 600)
	for i := range X {
		X[i], y[i] = make([]float64, 5), 1
		for k := range X[i] {
			X[i][k] = rng.NormFloat64()
		}
		if X[i][0]+X[i][1]*X[i][2]+0.3*rng.NormFloat64() < 0 {
			y[i] = -1
		}
	}
	b := block[float64]("dense", X, y)
	for name, c := range map[string]learners.TBPConfig{
		"one": {}, "several": {Removals: 7}, "all of them": {Removals: 50},
		"candidates": {Candidates: 6}, "all candidates": {Candidates: 30},
	} {
		want := naive.TBP{RBF: naive.RBF{Gamma: 0.2}, P: 30, Q: 80,
			Removals: min(c.Removals, 30)}
		c.Budget, c.ErrorCache, c.ErrorSize, c.Ties = want.P, "random", want.Q, "oldest"
		c.UpdateConfig = learners.UpdateConfig{Update: "perceptron", C: 1}
		c.KernelConfig = learner.KernelConfig{Kernel: "rbf", Gamma: want.Gamma}
		l := newLearner[float64](t, "tbp", &c)
		updates, chosen, removals := 0, 0, 0
		if c.Candidates > 0 {
			want.Choose = func(errors []int) int { // what is gone, of several the first
				removals++
				s := l.State()
				born, alpha := s.Tensor("born").Data.([]int64), s.Tensor("alpha").Data.([]float64)
				for i, number := range want.Number {
					at := slices.Index(born, int64(number))
					if at >= 0 && alpha[at] > 0 {
						continue
					}
					more := 0
					for _, e := range errors {
						if e >= errors[i] {
							more++
						}
					}
					if more < c.Candidates {
						t.Fatalf("%s: errors %v: %d were chosen of so many", name, errors,
							errors[i])
					}
					if errors[i] > slices.Min(errors) {
						chosen++
					}
					return i
				}
				t.Fatalf("%s: nothing was removed", name)
				return 0
			}
		}
		for i := range X {
			r := one(t, l, b, i)
			if f := want.Learn(X[i], y[i]); math.Abs(f-r.Score) > 1e-12 {
				t.Fatalf("%s, example %d: score %v, want %v", name, i, r.Score, f)
			}
			updates += int(r.Updates)
			if n, _ := learner.SupportOf(l); n != len(want.Kept) {
				t.Fatalf("%s, example %d: %d are kept, want %d", name, i, n, len(want.Kept))
			}
		}
		if updates < 2*want.P {
			t.Errorf("%s: %d updates: too few for removals", name, updates)
		}
		if c.Candidates > 0 && c.Candidates < want.P && chosen == 0 ||
			c.Candidates == want.P && chosen > 0 {
			t.Errorf("%s: %d of %d removals are not of the fewest errors", name, chosen, removals)
		}
	}
}
