package papers

import (
	"context"
	"fmt"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// tbpRemovals runs the Tighter Budget Perceptron of figure 12 with 100 kept examples and its ways
// to spend less on removals, beside the Budget Perceptron, and both with each update rule.
func tbpRemovals(ctx context.Context, o RunOptions) error {
	const p = 100
	k := learner.KernelConfig{Kernel: "rbf", Sigma: 0.7}
	draw, err := ratschRuns(ctx, o, bananaFile, 4000)
	if err != nil {
		return err
	}
	t := tbpFigure{note: "the paper has no number"}
	u := learners.UpdateConfig{Update: "perceptron", C: 1}
	tbp := func(text string, u learners.UpdateConfig, candidates, removals int) {
		t.list = append(t.list, tbpLearner{text: text, learner: "tbp",
			config: &learners.TBPConfig{Budget: p, ErrorCache: "all", ErrorSize: 1, Ties: "oldest",
				Candidates: candidates, Removals: removals, UpdateConfig: u, KernelConfig: k}})
	}
	tbp("tbp p=100", u, 0, 0)
	for _, n := range []int{1, 5, 25} {
		tbp(fmt.Sprintf("tbp p=100 candidates=%d", n), u, n, 0)
	}
	for _, n := range []int{5, 25} {
		tbp(fmt.Sprintf("tbp p=100 removals=%d", n), u, 0, n)
	}
	for _, rule := range []string{"mira", "svm"} {
		u.Update = rule
		tbp("tbp p=100 update="+rule, u, 0, 0)
	}
	for _, rule := range []string{"perceptron", "mira", "svm"} {
		u.Update = rule
		t.list = append(t.list, tbpLearner{text: "budget p=100 update=" + rule, learner: "budget",
			config: &learners.BudgetConfig{Budget: p, UpdateConfig: u, KernelConfig: k}})
	}
	found, err := tbpMeasure(ctx, o, t.list, draw)
	if err != nil {
		return err
	}
	t.rows(o, found)
	o.claim("candidates=1 above all of them", "test_error_percent", "the error induced on "+
		"examples seen is the better measure of what to remove",
		difference(found[1].errs, found[0].errs))
	return nil
}
