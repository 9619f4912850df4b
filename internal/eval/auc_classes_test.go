package eval_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// wine returns outcomes of the three classes of UCI's wine data with their scores, and what
// scikit-learn 1 says of them: testdata/wine-ovr.txt is what this prints.
//
//	X, y = load_wine(return_X_y=True)
//	p = LogisticRegression(max_iter=9999).fit(X[::2, :2], y[::2]).predict_proba(X[:, :2]).round(6)
//	p[:, 2] = 1 - p[:, 0] - p[:, 1]
//	p = p.round(6)
//	one = [roc_auc_score(y == k, p[:, k]) for k in range(3)]
//	print("# macro %.12f weighted %.12f each %.12f %.12f %.12f" % (
//	    roc_auc_score(y, p, multi_class="ovr", average="macro"),
//	    roc_auc_score(y, p, multi_class="ovr", average="weighted"), *one))
//	for k, r in zip(y, p): print(k, *("%g" % v for v in r))
func wine(t *testing.T) (outcomes []eval.Outcome, scores [][]float64, macro, weighted float64,
	each [3]float64) {
	t.Helper()
	f, err := os.Open("testdata/wine-ovr.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			if _, err := fmt.Sscanf(lines.Text(), "# macro %g weighted %g each %g %g %g", &macro,
				&weighted, &each[0], &each[1], &each[2]); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var class int
		s := make([]float64, 3)
		if _, err := fmt.Sscan(lines.Text(), &class, &s[0], &s[1], &s[2]); err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, eval.OutcomeOf(class, learner.Predicted(s)))
		scores = append(scores, s)
	}
	return outcomes, scores, macro, weighted, each
}

// Areas of several classes are scikit-learn's within the bound, whose own is below 0.005, added at
// once or in two parts; without scores there are none.
func TestClassAUC(t *testing.T) {
	outcomes, scores, macro, weighted, each := wine(t)
	whole := eval.NewMetrics(eval.MetricsOptions{AUC: true})
	for i := range outcomes {
		whole.AddScored(&outcomes[i], scores[i])
	}
	near := func(what string, got, bound, want float64) {
		if !(math.Abs(got-want) <= bound+1e-12 && bound < 0.005) {
			t.Errorf("%s is %v ± %v, want %v", what, got, bound, want)
		}
	}
	auc, bound := whole.AUC()
	near("macro", auc, bound, macro)
	auc, bound = whole.WeightedAUC()
	near("weighted", auc, bound, weighted)
	for k, want := range each {
		auc, bound = whole.ClassAUC(k)
		near(fmt.Sprint("class ", k), auc, bound, want)
		c := whole.ClassCurve(k)
		near(fmt.Sprint("curve ", k), c.AUC(), bound, want)
	}
	if c := whole.Curve(); len(c.Points) > 0 {
		t.Error("a curve of three classes")
	}
	whole.AddScored(&outcomes[0], []float64{math.NaN(), math.NaN(), math.NaN()})
	if a, _ := whole.AUC(); a == macro {
		t.Error("an outcome without scores changes nothing")
	}
	whole.Reset()
	for i := range outcomes {
		whole.Add(&outcomes[i])
	}
	whole.Reset()
	if auc, _ := whole.AUC(); auc == auc {
		t.Errorf("AUC is %v of nothing", auc)
	}
	none := eval.NewMetrics(eval.MetricsOptions{AUC: true})
	for i := range outcomes {
		none.Add(&outcomes[i])
	}
	auc, _ = none.AUC()
	one, _ := none.ClassAUC(1)
	if auc == auc || one == one {
		t.Errorf("AUC %v, %v without scores", auc, one)
	}
}

// A class that comes first when others have scores, one without scores, and one that never comes.
func TestClassAUCLate(t *testing.T) {
	m := eval.NewMetrics(eval.MetricsOptions{AUC: true})
	for i := range 10 {
		s := []float64{float64(i % 2), float64(1 - i%2)}
		o := eval.OutcomeOf(1-i%2, learner.Predicted(s))
		m.AddScored(&o, s)
	}
	for i := range 4 { // class 2 scores above all that had no score, class 4 has none
		s := []float64{-1, -1, 1, 0}
		o := eval.OutcomeOf(2+2*(i%2), 2)
		m.AddScored(&o, s)
	}
	// 2 of class 2 above 10 without a score, equal to 2 of class 4
	if auc, bound := m.ClassAUC(2); math.Abs(auc-11.0/12) > 1e-12 ||
		math.Abs(bound-1.0/12) > 1e-12 {
		t.Errorf("class 2: %v ± %v", auc, bound)
	}
	if auc, bound := m.ClassAUC(4); auc != 0.5 || bound != 0.5 {
		t.Errorf("class 4: %v ± %v", auc, bound)
	}
	if auc, _ := m.ClassAUC(3); auc == auc {
		t.Errorf("class 3, which never came: %v", auc)
	}
	if auc, _ := m.AUC(); math.Abs(auc-(1+1+11.0/12+0.5)/4) > 1e-12 {
		t.Errorf("AUC %v", auc)
	}
}
