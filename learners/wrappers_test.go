package learners_test

import (
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestWrappersTraits: over every base, a wrapper is and can do what its Traits say, and speaks of
// no property that is of the base's examples rather than of the data.
func TestWrappersTraits(t *testing.T) {
	for _, base := range learner.Names() {
		for wrapper, c := range map[string]learner.Config{
			"rff":   &learners.RFFConfig{D: 60, Sigma: 1, Base: base},
			"pairs": &learners.PairsConfig{Base: base},
			"obpm":  obpmOf(base, nil),
			"rff/obpm": &learners.RFFConfig{D: 60, Sigma: 1, Base: "obpm",
				BaseConfig: obpmOf(base, nil)},
			"obpm/rff": obpmOf("rff", &learners.RFFConfig{D: 60, Sigma: 1, Base: base}),
		} {
			if c.Validate() != nil {
				continue // no base for it
			}
			t.Run(wrapper+"/"+base, func(t *testing.T) {
				name, _, _ := strings.Cut(wrapper, "/")
				e, err := learner.Lookup(name)
				if err != nil {
					t.Fatal(err)
				}
				learnertest.CheckTraits[float64](t, e, c)
				k := c.Traits()
				if strings.Contains(wrapper, "rff") && (k.ScaleFree || k.Norm == k.Norm || k.Linear) {
					t.Errorf("over random features: scale-free %v, norm %v, linear %v",
						k.ScaleFree, k.Norm, k.Linear)
				}
			})
		}
	}
}
