package measure

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// waitCases are chains in which each step waits for the one before: what a step takes is how long
// its result takes, however much else the machine could do meanwhile. Times are of one step.
func waitCases() []pair {
	x, y, z, stored := 1.5, 1.5, 1.1, make([]float64, 1)
	cases := []pair{
		chain("multiply-add", func() {
			v := x
			for range waitSteps {
				v = math.FMA(v, 0.5, 1)
			}
			x = v
		}),
		chain("root-of-product", func() { // a product keeps the root's digits from becoming short
			v := y
			for range waitSteps {
				v = math.Sqrt(float64(v * 1.37))
			}
			y = v
		}),
		chain("division", func() {
			v := z
			for range waitSteps {
				v = 1.37 / v
			}
			z = v
		}),
		chain("add-to-stored", func() { // each step loads what the one before has stored
			for range waitSteps {
				stored[0]++
			}
		}),
	}
	for _, l := range levels() {
		cases = append(cases, chase(l))
	}
	return append(cases, branches())
}

// waitSteps is how many steps a call of a chain makes.
const waitSteps = 256

func chain(name string, steps func()) pair {
	return pair{name: "machine/wait/" + name, unit: "ns/op", scale: waitSteps, ours: loop(steps)}
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
	return chain("load/"+l.name, func() {
		v := at
		for range waitSteps {
			v = next[v]
		}
		at = v
	})
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
