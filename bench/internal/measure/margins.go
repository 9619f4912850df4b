package measure

import (
	"context"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// Margins measures the batch margin learners on sonar, updates on the scores against updates on the
// weights. Settings are those of the first line of each column of Table 1 of the CRAMMA paper.
func Margins(ctx context.Context, dataDir string, o Options) ([]Result, error) {
	b, err := Sonar(dataDir)
	if err != nil {
		return nil, err
	}
	perceptron := Defaults[*learners.PerceptronConfig]("perceptron")
	perceptron.MarginRel = 1
	alma := Defaults[*learners.ALMAConfig]("alma")
	alma.Alpha = 0.75
	cramma := Defaults[*learners.CRAMMAConfig]("cramma")
	cramma.Epsilon, cramma.Beta, cramma.Eta, cramma.EtaDelta = 0.5, 0.73, 0.001, 1
	const updates = 200000 // fewer than any of the lines needs
	var cases []pair
	for _, l := range []struct {
		learner string
		config  learner.Config
	}{{"perceptron", perceptron}, {"alma", alma}, {"cramma", cramma}} {
		fit := func(bytes int64) func(k int) {
			return func(k int) {
				for range k {
					_, _, err := Fit(ctx, l.learner, l.config, learner.Env{}, b,
						learner.FitOptions{MaxUpdates: updates, GramBytes: bytes})
					if err != nil && ctx.Err() == nil {
						panic(err) // constant settings, checked data
					}
				}
			}
		}
		cases = append(cases, pair{name: "margins/sonar/" + l.learner, unit: "ns/update",
			scale: updates, ours: fit(0), peerName: "weights", peer: fit(-1)})
	}
	return runAll(ctx, cases, o)
}
