package training_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/training"
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
