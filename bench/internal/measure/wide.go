package measure

import (
	"context"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// The wide stream: so many features, of which an example has so few.
const wideFeatures, wideNonZeros = 100_000, 20

// A process is measured on fewer examples than learning alone, whose first pass over a table of
// that many features is not to count.
const wideExamples, wideRows = 20_000, 2000

// Wide measures margin learners whose p-norms count all features, where an example has 20 of
// 100,000: from scratch, on one core, beside ROMMA, whose updates touch the example's alone.
func Wide(ctx context.Context, o Options) ([]Result, error) {
	b := sparseStream(wideExamples, wideFeatures)
	if err := b.Check(); err != nil {
		return nil, err
	}
	romma := streamed(b, "romma", Defaults[*learners.ROMMAConfig]("romma"), nil)
	var cases []pair
	for _, c := range wideLearners() {
		cases = append(cases, pair{name: "wide/" + c.label, unit: "ns/example",
			scale: float64(b.Len()), ours: streamed(b, c.name, c.config, nil),
			peerName: "romma", peer: romma})
	}
	return runAll(ctx, cases, o)
}

// wideLearner is a learner with settings.
type wideLearner struct {
	name, label string
	p           string
	config      learner.Config
}

func wideLearners() []wideLearner {
	alma := Defaults[*learners.ALMAConfig]("alma")
	alma.P = 4
	two, auto := Defaults[*learners.PUMMAConfig]("pumma"), Defaults[*learners.PUMMAConfig]("pumma")
	two.P, auto.P = "2", fmt.Sprint(2*math.Log(wideFeatures))
	return []wideLearner{{"alma", "alma/p=4", "4", alma},
		{"pumma", "pumma/p=2", two.P, two},
		{"pumma", "pumma/p=2-ln-d", auto.P, auto}}
}

// sparseStream draws normal values at wideNonZeros random features, labelled by a hyperplane.
func sparseStream(n, features int) *engine.Block[float32] {
	rng := engine.NewRand(3, 0)
	u := make([]float64, features)
	for j := range u {
		u[j] = rng.Normal()
	}
	each := features / wideNonZeros
	b := &engine.Block[float32]{Dim: features, Ptr: []int{0}}
	for range n {
		var f float64
		for k := range wideNonZeros { // one of each range of features, so in ascending order
			j := k*each + int(rng.Uniform()*float64(each))
			v := rng.Normal()
			b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, float32(v))
			f += u[j] * v
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
		b.Y = append(b.Y, float32(math.Copysign(1, f)))
	}
	return b
}
