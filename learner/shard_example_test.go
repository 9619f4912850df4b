package learner_test

import (
	"bytes"
	"fmt"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// 300 members are five words of 64 draws, the last of which is not full.
func ExamplePart() {
	for k := range 2 {
		p := learner.PartOf(300, k, 2)
		fmt.Printf("%d of %d from number %d on\n", p.Members, p.Of, p.First)
	}
	// Output:
	// 128 of 300 from number 0 on
	// 172 of 300 from number 128 on
}

// split learns the generated examples with k of n members in turn: parts, states and traces.
func split(whole learner.Config, n int) (parts []learner.Part, states []learner.State,
	traces []*learner.TraceReader) {
	b, t := generated(), whole.Traits()
	for k := range n {
		p := learner.PartOf(t.Splits, k, n)
		l := must(learner.Make[float64]("obpm", t.Shard(p), learner.Env{Seed: 1}))
		var trace learner.Trace
		learner.TracerOf(l).TraceTo(&trace)
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			panic(err)
		}
		parts, states = append(parts, p), append(states, l.State())
		traces = append(traces, learner.NewTraceReader(bytes.NewReader(trace.Bytes)))
	}
	return parts, states, traces
}

// What two parts learned, each on its own, is joined: then the learner is what one that had learned
// all of it is.
func ExampleJoiner() {
	whole := must(learner.Lookup("obpm")).Config().(*learners.OBPMConfig)
	whole.Members = 300
	l := must(learner.Make[float64]("obpm", whole, learner.Env{Seed: 1}))
	var j learner.Joiner = learner.JoinerOf(l)
	parts, states, traces := split(whole, 2)
	if err := j.Join(parts, states, traces, nil); err != nil {
		panic(err)
	}
	b := generated()
	joined, alone := make([]learner.Round, b.Len()), make([]learner.Round, b.Len())
	if err := l.Learn(b, joined); err != nil {
		panic(err)
	}
	fmt.Println(j.Joined())

	one := must(learner.Make[float64]("obpm", whole, learner.Env{Seed: 1}))
	if err := one.Learn(b, alone); err != nil {
		panic(err)
	}
	fmt.Println(joined[299] == alone[299], l.Updates() == one.Updates())
	// Output:
	// <nil>
	// true true
}

// Sums of 0 are left out of an entry.
func ExampleTrace() {
	var t learner.Trace
	t.Count(3)
	t.Sums([]float64{0.5, 0, -0.25})
	t.End()
	fmt.Println(len(t.Entry(0)), "bytes")
	// Output: 20 bytes
}
