package papers

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// TestLabels: profiles know the experiment and the learner, and a plain form from the learner's
// own; the next experiment has none of the labels.
func TestLabels(t *testing.T) {
	now := func() string {
		var b bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		return b.String()
	}
	var learner, plain, part, pool string
	e := Experiment{Name: "x/y", Runs: 2, Run: func(ctx context.Context, o RunOptions) error {
		ofLearner(ctx, obpm(100, 0.3).name())
		learner = now()
		(&Row{}).beside(ctx, "romma", 1, func() int64 { plain = now(); return 1 })
		fresh := o.freshPool()
		defer fresh.Close()
		ofLearner(ctx, "svm")
		fresh.Run(ctx, 2, gathering(func() { pool = now() }))
		return sideBySide(ctx, o, 2, func(_ RunOptions, i int) error {
			ofLearner(ctx, "pa")
			part = now()
			return nil
		})
	}}
	two := engine.NewPool(2)
	defer two.Close()
	if _, err := Repro(t.Context(), e, RunOptions{Pool: two}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ labels, where string }{
		{`{"experiment":"x/y", "learner":"obpm"}`, learner},
		{`{"experiment":"x/y", "form":"plain", "learner":"romma"}`, plain},
		{`{"experiment":"x/y", "learner":"svm"}`, pool},
		{`{"experiment":"x/y", "learner":"pa"}`, part},
	} {
		if !strings.Contains(c.where, c.labels) {
			t.Errorf("no goroutine with %s in\n%s", c.labels, c.where)
		}
	}
	if strings.Contains(now(), `"learner"`) {
		t.Error("labels are left behind")
	}
}

// gathering is a job of parts that do the same.
type gathering func()

// Part is engine.Job's.
func (g gathering) Part(i int) {
	if i == 0 {
		g()
	}
}
