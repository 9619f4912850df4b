package command

import (
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/eval"
)

// FuzzPredictions: whatever a file of predictions holds, it is measured or refused.
func FuzzPredictions(f *testing.F) {
	for _, seed := range []string{"+1 0.5\n-1 -2\n", "label,proba\n1,0.5\n0,1\n",
		"a\tb\t0\nb\t?\t1\n", "label;predicted\n1;2\n3;1\n\n",
		"\ufefflabel,x,score\r\n1,y,NaN\r\n", "1,1,1,2\n", "\"a\\tb\" 1\n",
		"1\n", "1 x\n", "label label\n", ",\n", "1,0.5,7,1\n1,0.5\n",
		"label,proba:a,proba:b\na,.5,.5\nc,1,0\n", "label score:1 score:2\n1 -inf 3\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := &predictions{}
		if p.file("-", strings.NewReader(text)) != nil {
			return
		}
		e := &evaluator{cmd: newEvaluateCmd(),
			m: eval.NewMetrics(eval.MetricsOptions{AUC: true})}
		if e.tally(p) == nil && e.m.Examples() != int64(len(p.rows)) {
			t.Errorf("%d outcomes of %d lines", e.m.Examples(), len(p.rows))
		}
	})
}
