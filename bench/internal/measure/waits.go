package measure

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// waitCases are chains in which each step waits for the one before: what a step takes is how long
// its result takes, however much else the machine could do meanwhile. Times are of one step.
func waitCases() []pair {
	cases := []pair{multiplyAddChain(), rootChain(), divisionChain(), storedChain()}
	for _, l := range levels() {
		cases = append(cases, chase(l))
	}
	return append(cases, branches())
}

// waitSteps is how many steps a call of a chain makes.
const waitSteps = 256

func multiplyAddChain() pair {
	x := 1.5
	return pair{name: "machine/wait/multiply-add", unit: "ns/op", scale: waitSteps,
		ours: loop(func() {
			v := x
			for range waitSteps {
				v = math.FMA(v, 0.5, 1)
			}
			x = v
		})}
}

// rootChain has a product in each step, which keeps the root's digits from becoming short.
func rootChain() pair {
	x := 1.5
	return pair{name: "machine/wait/root-of-product", unit: "ns/op", scale: waitSteps,
		ours: loop(func() {
			v := x
			for range waitSteps {
				v = math.Sqrt(float64(v * 1.37))
			}
			x = v
		})}
}

func divisionChain() pair {
	x := 1.1
	return pair{name: "machine/wait/division", unit: "ns/op", scale: waitSteps,
		ours: loop(func() {
			v := x
			for range waitSteps {
				v = 1.37 / v
			}
			x = v
		})}
}

// storedChain adds to a number in memory: each step loads what the one before has stored.
func storedChain() pair {
	x := make([]float64, 1)
	return pair{name: "machine/wait/add-to-stored", unit: "ns/op", scale: waitSteps,
		ours: loop(func() {
			for range waitSteps {
				x[0]++
			}
		})}
}

// chase goes through the cache lines of a working set in an order that nothing foresees: each line
// says which is next.
func chase(l level) pair {
	const line = 64 / 4
	n := l.set / 64
	rng, order, next := engine.NewRand(1, 0), make([]int32, n), make([]int32, n*line)
	for i := range order {
		order[i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		k := int(rng.Uniform() * float64(i+1))
		order[i], order[k] = order[k], order[i]
	}
	for i, at := range order {
		next[int(at)*line] = order[(i+1)%n] * line
	}
	at := int32(0)
	return pair{name: "machine/wait/load/" + l.name, unit: "ns/op", scale: waitSteps,
		ours: loop(func() {
			v := at
			for range waitSteps {
				v = next[v]
			}
			at = v
		})}
}

// branches take one way or the other at random; the peer's always go the same way. Half of the
// random ones are foreseen by chance: the difference is half of what a wrong guess costs.
func branches() pair {
	const n = 1 << 16
	rng := engine.NewRand(2, 0)
	random, same := make([]bool, n), make([]bool, n)
	for i := range random {
		random[i] = rng.Uniform() < 0.5
	}
	var counts [2]int
	through := func(ways []bool) func(int) {
		return loop(func() {
			for i, way := range ways {
				if way { // a store can't be made without the branch
					counts[i&1]++
				}
			}
		})
	}
	return pair{name: "machine/wait/branch/random", unit: "ns/op", scale: n, ours: through(random),
		peerName: "same-way", peer: through(same)}
}
