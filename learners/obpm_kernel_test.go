package learners_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// rbfValue is exp(-gamma |x-z|^2) of two rows of a dense block.
func rbfValue(b *engine.Block[float64], i, j int, gamma float64) float64 {
	var d float64
	for k, v := range b.Row(i) {
		d += (v - b.Row(j)[k]) * (v - b.Row(j)[k])
	}
	return math.Exp(-gamma * d)
}

// TestKernelOBPM: one member that sees everything is the kernel perceptron, to the bit; many are as
// many kernel perceptrons on the same draws.
func TestKernelOBPM(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	X, y := make([][]float64, 300), make([]float64, 300)
	for i := range X { // all different, so that no score is 0 up to rounding
		X[i], y[i] = make([]float64, 12), 1
		for k := range X[i] {
			X[i][k] = rng.NormFloat64()
		}
		if X[i][0]+X[i][1]*X[i][2] < 0 {
			y[i] = -1
		}
	}
	b := block[float64]("dense", X, y)
	one := learnOnline(t, "obpm", kernelOBPM(1, 1, 0, learners.RemoveOldest), b, 2)
	want := learnOnline(t, "budget",
		&learners.BudgetConfig{UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}}, b, 2)
	if !slices.Equal(one, want) {
		t.Errorf("one member: rounds %v ..., the kernel perceptron's %v ...", one[:5], want[:5])
	}

	const N, tau, seed = 150, 0.2, 0
	got := learnOnline(t, "obpm", kernelOBPM(N, tau, 0, learners.RemoveOldest), b, 2)
	draws := engine.NewDraws(seed, 0).Bernoulli(tau)
	alpha := make([][N]float64, b.Len()) // of members
	for step, r := range got {
		i := step % b.Len()
		var f [N]float64
		var mean float64
		for j := range alpha {
			if alpha[j] != [N]float64{} {
				k := rbfValue(b, i, j, 0.02)
				for m, a := range alpha[j] {
					f[m] += a * k
				}
			}
		}
		updates := int32(0)
		for m, v := range f {
			mean += v / N
			if draws.Draw(m, uint64(step)) && v*b.Y[i] <= 0 {
				alpha[i][m] += b.Y[i]
				updates++
			}
		}
		if math.Abs(r.Score-mean) > 1e-11 || r.Updates != updates {
			t.Fatalf("step %d: score %v, %d updates, %d perceptrons have %v and %d", step, r.Score,
				r.Updates, N, mean, updates)
		}
	}
}

// learnOnline returns the rounds of some epochs.
func learnOnline(t *testing.T, name string, c learner.Config, b *engine.Block[float64],
	epochs int) []learner.Round {
	t.Helper()
	l := newLearner[float64](t, name, c)
	var all []learner.Round
	rounds := make([]learner.Round, b.Len())
	for range epochs {
		if err := l.Learn(b, rounds); err != nil {
			t.Fatal(err)
		}
		all = append(all, rounds...)
	}
	return all
}

// TestKernelOBPMProject: a plain form has the same scores and updates and keeps the same examples,
// far beyond the budget.
func TestKernelOBPMProject(t *testing.T) {
	b := learnertest.Dense[float64](300, 12, 0.05)
	const N, tau, p, gamma = 70, 0.2, 25, 0.02
	l := newLearner[float64](t, "obpm", kernelOBPM(N, tau, p, learners.RemoveProject))
	plain := naive.NewKernelOBPM(N, tau, 0, gamma)
	plain.P, plain.Nearest, plain.Ridge = p, 8, 1.0/1024
	removals := 0
	for i, y := range b.Y {
		full := len(plain.Kept) == p
		f, updates := plain.Learn(b.Row(i), y)
		r := one(t, l, b, i)
		if math.Abs(r.Score-f) > 1e-9 || r.Updates != updates {
			t.Fatalf("step %d: score %v, %d updates, the plain form %v, %d", i, r.Score, r.Updates,
				f, updates)
		}
		if full && updates > 0 {
			removals++
		}
	}
	var want []int64
	for _, n := range plain.Number {
		want = append(want, int64(n))
	}
	state := l.State()
	if born := state.Tensor("born").Data.([]int64); !slices.Equal(born, want) ||
		l.(learner.Keeper).Support() != p {
		t.Errorf("keeps examples %v, the plain form %v", born, want)
	}
	if removals < 50 {
		t.Errorf("%d removals, want more to look at", removals)
	}
	S, y := state.Tensor("alpha").Data.([]float64), state.Tensor("y").Data.([]int32)
	for j, a := range plain.A {
		sum := 0.0
		for _, v := range a {
			sum += v
		}
		if math.Abs(S[j]*float64(y[j])-sum) > 1e-9 {
			t.Errorf("S of example %d is %v, the plain form's %v", j, S[j]*float64(y[j]), sum)
		}
	}
}

// TestKernelOBPMRemoval: what goes is what the definition says, from the state before.
func TestKernelOBPMRemoval(t *testing.T) {
	b := learnertest.Dense[float64](300, 12, 0.05)
	const N, p, gamma = 70, 25, 0.02
	for _, rule := range []string{learners.RemoveProject, learners.RemoveNorm,
		learners.RemoveOldest, learners.RemoveErrors} {
		l := newLearner[float64](t, "obpm", kernelOBPM(N, 0.2, p, rule))
		removals := 0
		for step := range 2 * b.Len() {
			before := l.State()
			one := b.Slice(step%b.Len(), step%b.Len()+1)
			if err := l.Learn(&one, make([]learner.Round, 1)); err != nil {
				t.Fatal(err)
			}
			now := l.State()
			born, after := before.Tensor("born").Data.([]int64), now.Tensor("born").Data.([]int64)
			if len(after) > p || l.(learner.Keeper).Support() != len(after) {
				t.Fatalf("%s: %d examples are kept, the budget is %d", rule, len(after), p)
			}
			gone := slices.IndexFunc(born, func(t int64) bool { return !slices.Contains(after, t) })
			if gone < 0 {
				continue
			}
			removals++
			S, y := before.Tensor("alpha").Data.([]float64), before.Tensor("y").Data.([]int32)
			a := before.Tensor("members").Data.([]float64)
			cost := make([]float64, p) // the least goes
			for j := range cost {
				switch rule {
				case learners.RemoveProject, learners.RemoveNorm:
					for _, v := range a[j*N:][:N] {
						cost[j] += v * v
					}
				case learners.RemoveErrors:
					for k := range p {
						var f float64
						for i := range p {
							if i != j {
								f += S[i] * float64(y[i]) * rbfValue(b, int(born[i]-1)%b.Len(),
									int(born[k]-1)%b.Len(), gamma)
							}
						}
						if f*float64(y[k]) <= 0 {
							cost[j]++
						}
					}
				}
			}
			for j := range cost {
				if cost[j] < cost[gone] || cost[j] == cost[gone] && born[j] < born[gone] {
					t.Fatalf("%s, step %d: example %d of cost %v went, %d has %v", rule, step,
						born[gone], cost[gone], born[j], cost[j])
				}
			}
		}
		if removals < 50 {
			t.Errorf("%s: %d removals, want more to look at", rule, removals)
		}
	}
}
