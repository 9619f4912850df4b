package training_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/training"
)

// labels notes the labels of goroutines at some moments of a run.
type labels struct {
	training.Silent
	learn, measure string
}

func goroutines() string {
	var b bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&b, 1)
	return b.String()
}

func (l *labels) Timed(time.Duration) {
	if l.learn == "" {
		l.learn = goroutines()
	}
}

func (l *labels) Learned(dataset.Info) { l.measure = goroutines() }

// TestLabels: profiles know the learner and the stage.
func TestLabels(t *testing.T) {
	var l labels
	_, err := training.Run(context.Background(), training.Options{Learner: "pa", Latency: true,
		Threads: 2, Files: []string{examples(t, 0, 20000)}}, training.Env{Observer: &l})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ labels, where string }{
		{`{"learner":"pa", "stage":"learn"}`, l.learn},
		{`{"learner":"pa", "stage":"measure"}`, l.measure},
	} {
		if !strings.Contains(c.where, c.labels) {
			t.Errorf("no goroutine with %s in\n%s", c.labels, c.where)
		}
	}
	if strings.Contains(goroutines(), `"stage"`) {
		t.Error("labels are left behind")
	}
}

// TestStudyLabels: studies leave no labels behind.
func TestStudyLabels(t *testing.T) {
	o := training.Options{Learner: "pa", Threads: 2, Files: []string{examples(t, 0, 2000)}}
	two, ctx, during := []training.Options{o, o}, context.Background(), ""
	watch := func(training.TuneStatus) { during = goroutines() }
	for _, by := range []string{training.Progressive, training.ByFolds} {
		during = ""
		if _, err := training.Tune(ctx, two, training.TuneOptions{By: by, Watch: watch},
			training.Env{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(during, `{"stage":"judge"}`) {
			t.Errorf("by %s no goroutine judges in\n%s", by, during)
		}
	}
	if _, err := training.CrossValidate(ctx, o, training.Folds{}, training.Env{}, nil); err != nil {
		t.Fatal(err)
	}
	contest := training.Contest{Settings: two}
	if _, err := training.Compare(ctx, contest, training.Env{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(goroutines(), `"stage"`) {
		t.Error("labels are left behind")
	}
}
