package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/folds"
	"github.com/halfspace-ml/halfspace/internal/stat"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// noisy writes n examples of some classes that no hyperplane tells, and returns lines and classes.
func noisy(t *testing.T, n, classes int) (file string, lines []string, class []int) {
	t.Helper()
	rng := engine.NewRand(7, 0)
	next := func() float64 { return float64(rng.Uint64()>>11) / (1 << 53) }
	for range n {
		k := int(next() * next() * float64(classes)) // the later ones are rarer
		a := 2 * math.Pi * float64(k) / float64(classes)
		label := fmt.Sprint(k)
		if classes == 2 {
			label = []string{"-1", "+1"}[k]
		}
		lines = append(lines, fmt.Sprintf("%s 1:%.4f 2:%.4f 3:1\n", label,
			math.Cos(a)+4*next()-2, math.Sin(a)+4*next()-2))
		class = append(class, k)
	}
	file = filepath.Join(t.TempDir(), "noisy.svm")
	return file, lines, class
}

func put(t *testing.T, file string, lines []string) {
	t.Helper()
	ok(t, os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600))
}

// TestScoresOfFolds: each fold's score is what a run on the others' examples has in a test on its
// own, and the mean and interval are those of the folds.
func TestScoresOfFolds(t *testing.T) {
	for _, c := range []struct {
		classes              int
		learner, calibration string
	}{{2, "obpm", ""}, {2, "pa", "platt"}, {3, "obpm", ""}, {3, "arow", "temperature"}} {
		file, lines, class := noisy(t, 600, c.classes)
		put(t, file, lines)
		o := training.Options{Learner: c.learner, Files: []string{file}}
		o.Classes = []string{"0", "1", "2"}[:c.classes%2*3]
		f := Folds{Folds: 4}
		fold := folds.Assign(len(lines), 4, func(i int) int { return class[i] },
			training.DefaultSeed, 0)
		want := foldsAlone(t, o, c.calibration, lines, fold)
		for _, score := range Scores()[1:] {
			f.Score, o.Calibrate = score, ""
			if isMeanLoss(score) {
				o.Calibrate = c.calibration
			}
			r := must(CrossValidate(context.Background(), o, f, training.Env{}, nil))(t)
			var s stat.Sample
			for k, v := range r.Folds {
				w := want[k][score]
				if math.Abs(*v.Score-w[0]) > w[1]+1e-12 || !(w[0] > 0) {
					t.Errorf("%v, %s of fold %d: %v, want %v ± %v", c, score, k, *v.Score, w[0],
						w[1])
				}
				s.Add(*v.Score)
			}
			_, _, pm := s.Resampled(150, 450)
			if r.Metric != score || *r.Score != s.Mean || math.Abs(*r.ScorePM-pm) > 1e-12 ||
				!(*r.ScoreNaivePM < pm) {
				t.Errorf("%s: %v ± %v, want %v ± %v", score, *r.Score, *r.ScorePM, s.Mean, pm)
			}
		}
	}
}

// foldsAlone has a run for each fold, and returns the scores of its test and how exact these are.
func foldsAlone(t *testing.T, o training.Options, calibrate string, lines []string, fold []int32) (
	all []map[string][2]float64) {
	t.Helper()
	dir := t.TempDir()
	for k := range int32(4) {
		var train, test []string
		for i, line := range lines {
			if fold[i] == k {
				test = append(test, line)
			} else {
				train = append(train, line)
			}
		}
		o.Files = []string{filepath.Join(dir, "train")}
		o.Test = []string{filepath.Join(dir, "test")}
		put(t, o.Files[0], train)
		put(t, o.Test[0], test)
		o.AUC, o.Calibrate, o.Proba = true, calibrate, calibrate == ""
		r := must(training.Run(context.Background(), o, training.Env{}))(t)
		m := r.Test.Metrics
		auc, bound := m.AUC()
		all = append(all, map[string][2]float64{ScoreBalanced: {m.BalancedError()},
			ScoreF1: {m.F1()}, ScoreAUC: {auc, bound}, ScoreLogLoss: {m.LogLoss()},
			ScoreBrier: {m.Brier()}})
	}
	return all
}

// TestExactAUC: it is the share of pairs of which the positive one scores more, ties by half; of
// classes the mean.
func TestExactAUC(t *testing.T) {
	scores := [][]float64{{0, 2, 1}, {1, 1, 0}, {3, 0, 1}, {0, 0.5, 2}, {2, 0, 2}, {1, 3, 1}}
	class := []int32{0, 1, 0, 2, 2, 1}
	share := func(k int) float64 {
		var won, pairs float64
		for i, s := range scores {
			for j, r := range scores {
				if class[i] != int32(k) || class[j] == int32(k) {
					continue
				}
				switch pairs++; {
				case s[k] > r[k]:
					won++
				case s[k] == r[k]:
					won += 0.5
				}
			}
		}
		return won / pairs
	}
	more, two := foldScorer[float64]{score: ScoreAUC}, foldScorer[float64]{score: ScoreAUC}
	for i, s := range scores {
		b := engine.Block[float64]{Class: class[i : i+1]}
		o := outcomeOf(&b, 0, s)
		more.rank(&o, s)
		b = engine.Block[float64]{Y: []float64{float64(2*min(class[i], 1)%2*2 - 1)}}
		if class[i] == 2 {
			b.Y[0] = 1
		}
		o = outcomeOf(&b, 0, s[2:])
		two.rank(&o, s[2:])
	}
	got, err := more.value()
	if want := (share(0) + share(1) + share(2)) / 3; err != nil || math.Abs(got-want) > 1e-15 {
		t.Errorf("of three classes %v (%v), want %v", got, err, want)
	}
	if got, err = two.value(); err != nil || math.Abs(got-share(2)) > 1e-15 {
		t.Errorf("of two classes %v (%v), want %v", got, err, share(2))
	}
	lone := foldScorer[float64]{score: ScoreAUC, scored: more.scored[:0]}
	if _, err := lone.value(); !errors.Is(err, training.ErrOption) {
		t.Errorf("of no pair: %v", err)
	}
}

// TestLosses: means and tests are those of the losses taken by themselves, of examples and of
// folds, and what is much worse leaves.
func TestLosses(t *testing.T) {
	rng := engine.NewRand(5, 0)
	next := func() float64 { return -math.Log(float64(rng.Uint64()>>11+1) / (1 << 53)) }
	const n = 64 * 8
	var all [3][]float64
	for range n {
		common := next()
		for i := range all {
			all[i] = append(all[i], common+next()/2+float64(i/2)*0.2)
		}
	}
	r, folds := newBoard(3, ScoreLogLoss, 0), newBoard(3, ScoreAUC, 4)
	for i := range 3 {
		for k, v := range all[i] {
			r.records[i].add(false)
			if r.records[i].lose(v); k < 4 {
				folds.records[i].lose(v)
			}
		}
	}
	for i := range 3 {
		for j := range 3 {
			if i != j {
				sameTest(t, r, i, j, all[i], all[j], 1.0/n)
				sameTest(t, folds, i, j, all[i][:4], all[j][:4], 1.0/4+1.0/3)
			}
		}
	}
	if b, _ := r.byBatch(0, 2); b.N != 8 || math.Abs(b.Mean-r.mean(0)+r.mean(2)) > 1e-12 {
		t.Errorf("batches %+v, want 8 that differ by %v", b, r.mean(0)-r.mean(2))
	}
	if left := r.eliminate(0.01); len(left) != 1 || left[0] != 2 {
		t.Errorf("%v left, want 2", left)
	}
}

// sameTest compares the test of two candidates with Student's by its formula.
func sameTest(t *testing.T, r *board, i, j int, a, b []float64, share float64) {
	t.Helper()
	var mean, squares float64
	n := float64(len(a))
	for k := range a {
		mean += (a[k] - b[k]) / n
	}
	for k := range a {
		squares += (a[k] - b[k] - mean) * (a[k] - b[k] - mean)
	}
	se := math.Sqrt(squares / (n - 1) * share)
	d, half, p := r.differ(i, j)
	wantHalf, wantP := se*stat.StudentHalf(0.95, n-1), 2*stat.StudentTail(math.Abs(mean)/se, n-1)
	worse := wantP / 2
	if mean < 0 {
		worse = 1 - wantP/2
	}
	if math.Abs(d-mean) > 1e-12 || math.Abs(half-wantHalf) > 1e-12 || math.Abs(p-wantP) > 1e-10 ||
		math.Abs(r.worse(i, j)-worse) > 1e-10 {
		t.Errorf("%d and %d: %v ± %v (%v, worse %v), want %v ± %v (%v, %v)", i, j, d, half, p,
			r.worse(i, j), mean, wantHalf, wantP, worse)
	}
}

// TestEquals: of two that are equally good, one leaves at a look no more often than the level
// says, though losses have long tails; likewise by folds.
func TestEquals(t *testing.T) {
	rng := engine.NewRand(11, 0)
	next := func() float64 { return -math.Log(float64(rng.Uint64()>>11+1) / (1 << 53)) }
	const trials, level = 2000, 0.05
	for score, folds := range map[string]int{ScoreLogLoss: 0, ScoreF1: 5} {
		left := 0
		for range trials {
			r, n := newBoard(2, score, folds), 4
			if folds == 0 {
				n *= 64
			}
			for range n {
				r.records[0].lose(next())
				r.records[1].lose(next())
			}
			for _, i := range r.eliminate(level) {
				left += 1 - i
			}
		}
		most := level*trials + 3*math.Sqrt(level*(1-level)*trials)
		if float64(left) > most || left == 0 {
			t.Errorf("%s: one of two equals left in %d of %d races, want %.0f at most", score, left,
				trials, most)
		}
	}
}

// TestFoldsBeforeThird: two folds that agree by chance are no ground to drop a setting.
func TestFoldsBeforeThird(t *testing.T) {
	r := newBoard(2, ScoreBalanced, 5)
	for k := range 3 {
		if left := r.eliminate(0.05); len(left) > 0 {
			t.Fatalf("%v left after %d folds", left, k)
		}
		r.records[0].lose(0.1)
		r.records[1].lose(0.2)
	}
	if left := r.eliminate(0.05); len(left) != 1 || left[0] != 1 {
		t.Errorf("%v left after three folds that agree", left)
	}
}

// TestTuneByScore: in one pass the settings' losses are those of runs of their own, by folds their
// scores those of CrossValidate, and the best has the best; threads change nothing.
func TestTuneByScore(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		by, score string
		classes   int
	}{{Progressive, ScoreLogLoss, 2}, {Progressive, ScoreBrier, 2}, {ByFolds, ScoreBrier, 2},
		{ByFolds, ScoreAUC, 2}, {ByFolds, ScoreBalanced, 2}, {Progressive, ScoreLogLoss, 3},
		{Progressive, ScoreBrier, 3}, {ByFolds, ScoreLogLoss, 3}, {ByFolds, ScoreF1, 3}} {
		file, lines, _ := noisy(t, 1500, c.classes)
		put(t, file, lines)
		var settings []training.Options
		for _, tau := range []float64{0.01, 0.1, 0.9} {
			settings = append(settings, training.Options{Learner: "obpm", Files: []string{file},
				Settings: map[string]any{"members": 10, "tau": tau}})
		}
		var first string
		for threads := range 2 {
			settings[0].Threads = threads + 1
			r := must(Tune(ctx, settings, TuneOptions{By: c.by, Score: c.score}, training.Env{}))(t)
			text := ""
			for i, v := range r.Trials {
				want, exact := scoreAlone(t, settings[i], c.by, c.score)
				if !(math.Abs(*v.Score-want) <= exact) {
					t.Errorf("%v, setting %d: %v, want %v", c, i, *v.Score, want)
				}
				behind := aLoss(c.score, *v.Score) - aLoss(c.score, *r.Trials[r.Best].Score)
				if !(behind >= 0) || !(math.Abs(v.Behind-behind) <= 1e-12) || v.Dropped {
					t.Errorf("%v, setting %d: %+v, want %v behind the best", c, i, v, behind)
				}
				text += fmt.Sprint(*v.Score, v.Behind, v.PM, v.P, v.Errors, "\n")
			}
			if threads > 0 && text != first {
				t.Errorf("%v: two threads\n%s\nwant\n%s", c, text, first)
			}
			first = text
		}
	}
}

// scoreAlone is the score of a setting without others, and how near it is to be.
func scoreAlone(t *testing.T, o training.Options, by, score string) (want, exact float64) {
	t.Helper()
	if by == ByFolds {
		f := Folds{Score: score}
		r := must(CrossValidate(context.Background(), o, f, training.Env{}, nil))(t)
		return *r.Score, 1e-12
	}
	o.Proba = true
	r := must(training.Run(context.Background(), o, training.Env{}))(t)
	if score == ScoreBrier {
		return r.Counts.Proba.Brier(), 1e-12
	}
	return r.Counts.Proba.LogLoss(), 1e-12
}

// TestCompareByLosses: the losses that learners are compared by are those of runs of their own, and
// the verdict goes by both tests.
func TestCompareByLosses(t *testing.T) {
	file, lines, _ := noisy(t, 2000, 2)
	put(t, file, lines)
	a := training.Options{Learner: "obpm", Files: []string{file},
		Settings: map[string]any{"members": 10}}
	b := a
	b.Settings = map[string]any{"members": 10, "tau": 0.9}
	r := must(Compare(context.Background(), CompareOptions{Settings: []training.Options{a, b},
		Score: ScoreLogLoss}, training.Env{}))(t)
	var mean [2]float64
	for i, o := range []training.Options{a, b} {
		mean[i], _ = scoreAlone(t, o, Progressive, ScoreLogLoss)
		if math.Abs(*r.Results[i].Score-mean[i]) > 1e-12 || !(*r.Results[i].ScorePM > 0) {
			t.Errorf("%d: %v, want %v", i, *r.Results[i].Score, mean[i])
		}
	}
	p := r.Pairs[0]
	if math.Abs(p.Difference-mean[0]+mean[1]) > 1e-12 || p.P != max(*p.ExamplesT, p.PairedT) ||
		p.Batches == 0 || p.Verdict == Undecided {
		t.Errorf("%+v (%v), want a difference of %v", p, *p.ExamplesT, mean[0]-mean[1])
	}
}

// TestScoresRefused: a score that no test in one pass can tell, probabilities of a learner without,
// those that are found too late, and what is no score.
func TestScoresRefused(t *testing.T) {
	file, lines, _ := noisy(t, 100, 2)
	put(t, file, lines)
	o := training.Options{Learner: "pa", Files: []string{file}}
	calibrated := o
	calibrated.Calibrate = "platt"
	for _, c := range []struct {
		o    training.Options
		t    TuneOptions
		want string
	}{
		{o, TuneOptions{Score: "f2"}, "want one of error, balanced, f1, auc, log-loss, brier"},
		{o, TuneOptions{Score: ScoreAUC}, "no mean over the examples"},
		{o, TuneOptions{Score: ScoreBrier}, "pa has none"},
		{o, TuneOptions{Score: ScoreBrier, By: ByFolds}, "pa has none"},
		{calibrated, TuneOptions{Score: ScoreBrier}, "at the end of a pass"},
		{o, TuneOptions{Folds: Folds{Score: ScoreF1}}, "score of folds"},
	} {
		_, err := Tune(context.Background(), []training.Options{c.o}, c.t, training.Env{})
		if !errors.Is(err, training.ErrOption) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.t, err, c.want)
		}
	}
}
