package compare

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/training"
)

func goroutines() string {
	var b bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&b, 1)
	return b.String()
}

// TestStudyLabels: studies leave no labels behind.
func TestStudyLabels(t *testing.T) {
	o := training.Options{Learner: "pa", Threads: 2, Files: []string{examples(t, 0, 2000)}}
	two, ctx, during := []training.Options{o, o}, context.Background(), ""
	watch := func(TuneStatus) { during = goroutines() }
	for _, by := range []string{Progressive, ByFolds} {
		during = ""
		must(Tune(ctx, two, TuneOptions{By: by, Watch: watch},
			training.Env{}))(t)
		if !strings.Contains(during, `{"stage":"judge"}`) {
			t.Errorf("by %s no goroutine judges in\n%s", by, during)
		}
	}
	must(CrossValidate(ctx, o, Folds{}, training.Env{}, nil))(t)
	contest := CompareOptions{Settings: two}
	must(Compare(ctx, contest, training.Env{}))(t)
	if strings.Contains(goroutines(), `"stage"`) {
		t.Error("labels are left behind")
	}
}
