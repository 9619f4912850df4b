package learner_test

import (
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
)

// TestEnough: a limit of updates bounds the examples, too, and none bounds neither.
func TestEnough(t *testing.T) {
	for _, c := range []struct {
		presented, updates int64
		want               bool
	}{{learner.MostPresented, 0, false}, {learner.MostPresented - 1, 1, false},
		{learner.MostPresented, 1, true}, {learner.MostPresented, learner.MostPresented + 1, false},
		{learner.MostPresented + 1, learner.MostPresented + 1, true}} {
		if got := learner.Enough(c.presented, c.updates); got != c.want {
			t.Errorf("%d examples, %d updates: %v", c.presented, c.updates, got)
		}
	}
}
