package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/stat"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// What CrossValidate, Tune and Compare can judge by; eval.Metrics says what each is. Examples count
// once each, whatever they weigh.
const (
	// ScoreError is the share of wrong predictions.
	ScoreError = "error"
	// ScoreBalanced is the mean of the classes' shares of wrong predictions.
	ScoreBalanced = "balanced"
	// ScoreF1 is that of the positive class, or the mean of more than two.
	ScoreF1 = "f1"
	// ScoreAUC is the area under the ROC curve, or the mean of more than two classes', each
	// against the rest: exact, by all scores of a fold.
	ScoreAUC = "auc"
	// ScoreLogLoss is the mean of -log P(class that came), in nats.
	ScoreLogLoss = "log-loss"
	// ScoreBrier is the mean squared distance of the probabilities.
	ScoreBrier = "brier"
)

// Scores returns all of them, ScoreError first.
func Scores() []string {
	return []string{ScoreError, ScoreBalanced, ScoreF1, ScoreAUC, ScoreLogLoss, ScoreBrier}
}

// LargerIsBetter reports whether more of a score is better: else it is less.
func LargerIsBetter(score string) bool { return score == ScoreF1 || score == ScoreAUC }

// isMeanLoss reports whether a score is the mean of what each example costs, so that two that saw
// the same examples can be compared by the differences.
func isMeanLoss(score string) bool { return score == ScoreLogLoss || score == ScoreBrier }

// aLoss is a score, or a difference of two, as one in which less is better; and back.
func aLoss(score string, v float64) float64 {
	if LargerIsBetter(score) {
		return -v
	}
	return v
}

// checkScore fills in the default, and refuses what is none. "" is errors alone.
func checkScore(score *string) error {
	switch {
	case *score == ScoreError:
		*score = ""
	case *score != "" && !slices.Contains(Scores(), *score):
		return badOption("", "{score} %q: want one of %s", *score, strings.Join(Scores(), ", "))
	}
	return nil
}

// notInOnePass refuses a score of which no two settings can be tested in one pass.
func notInOnePass(score, next string) error {
	if score == "" || isMeanLoss(score) {
		return nil
	}
	return badOption(next, "{score} %s is no mean over the examples, so that in one pass no test "+
		"can tell a difference from chance", score)
}

// scoresOf are Options that a study of that score has of o: with a calibration where probabilities
// are judged and of folds, since in one pass it is only found at the end. Else it is left out, as
// it changes nothing that is judged.
func scoresOf(score string, folds bool, o training.Options) training.Options {
	if !isMeanLoss(score) || !folds {
		o.Calibrate = ""
	}
	return o
}

// haveProbabilities refuses a score of probabilities where a learner has none, or where those that
// are asked for are not known before a pass has ended.
func haveProbabilities(score string, jobs []*training.Job, calibrate []string, folds bool,
	next string) error {
	if !isMeanLoss(score) {
		return nil
	}
	for i, j := range jobs {
		if calibrate[i] != "" && !folds {
			return badOption(next, "{calibrate} %s is found at the end of a pass, and {score} %s "+
				"judges each prediction in it", calibrate[i], score)
		}
		if calibrate[i] == "" {
			if err := j.LacksProba("{score} "+score, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// findThem is what to do about learners of which folds have no probabilities.
const findThem = "Have them found from the scores: {calibrate} platt."

// calibrations are those that settings ask for.
func calibrations(settings []training.Options) (list []string) {
	for _, o := range settings {
		list = append(list, o.Calibrate)
	}
	return list
}

// lossOf is what an outcome with probabilities costs.
func lossOf(score string, o *eval.Outcome) float64 {
	if score == ScoreBrier {
		return o.Brier
	}
	return o.LogLoss()
}

// outcomeOf is that of example i of b, with its scores.
func outcomeOf[T engine.Float](b *engine.Block[T], i int, scores []float64) eval.Outcome {
	if b.Class == nil {
		return eval.Outcome2(float64(b.Y[i]), scores[0])
	}
	return eval.OutcomeOf(int(b.Class[i]), learner.Predicted(scores))
}

// believe adds the probabilities of the example of b that an outcome is of: of more than two
// classes those that have come, which at first are none.
func believe[T engine.Float](o *eval.Outcome, b *engine.Block[T], proba []float64) {
	if b.Class == nil {
		o.Believe(proba[0])
	} else {
		o.BelieveEach(proba)
	}
}

// foldScorer tallies the score of a fold.
type foldScorer[T engine.Float] struct {
	score  string
	m      *eval.Metrics
	prober learner.Prober[T]
	proba  []float64
	scored [][]eval.Scored // of two classes, or of each against the rest
}

// newFoldScorer makes one of what p predicts; nil where errors are all.
func newFoldScorer[T engine.Float](score string, p learner.Predictor[T]) (*foldScorer[T], error) {
	if score == "" {
		return nil, nil
	}
	s := &foldScorer[T]{score: score, m: eval.NewMetrics(eval.MetricsOptions{})}
	if isMeanLoss(score) {
		if s.prober = learner.ProbaOf(p); s.prober == nil {
			return nil, badOption("Take fewer folds, so that each has examples of all labels.",
				"{score} %s: no probabilities were found in a fold: there are no scores of "+
					"examples of both labels", score)
		}
		s.proba = make([]float64, eval.DefaultBlock*p.Outputs())
	}
	return s, nil
}

// add tallies a block with k scores an example.
func (s *foldScorer[T]) add(b *engine.Block[T], scores []float64) error {
	if s == nil {
		return nil
	}
	k := len(scores) / b.Len()
	if s.prober != nil {
		if err := s.prober.Proba(b, s.proba); err != nil {
			return err
		}
	}
	for i := range b.Len() {
		own := scores[i*k:][:k]
		o := outcomeOf(b, i, own)
		if s.prober != nil {
			believe(&o, b, s.proba[i*k:][:k])
		}
		s.m.Add(&o)
		if s.score == ScoreAUC {
			s.rank(&o, own)
		}
	}
	return nil
}

// rank keeps the scores of an example.
func (s *foldScorer[T]) rank(o *eval.Outcome, scores []float64) {
	for len(s.scored) < len(scores) {
		s.scored = append(s.scored, nil)
	}
	for k, f := range scores {
		s.scored[k] = append(s.scored[k], eval.Scored{Score: f, Weight: 1,
			Positive: len(scores) == 1 && o.Class == 1 || len(scores) > 1 && int(o.Class) == k})
	}
}

// value is the score of all.
func (s *foldScorer[T]) value() (float64, error) {
	switch s.score {
	case ScoreBalanced:
		return s.m.BalancedError(), nil
	case ScoreF1:
		return s.m.F1(), nil
	case ScoreLogLoss:
		return s.m.LogLoss(), nil
	case ScoreBrier:
		return s.m.Brier(), nil
	}
	var sum stat.Sample
	for _, all := range s.scored {
		c := eval.CurveOf(all)
		if auc := c.AUC(); auc == auc { // the others lack examples of it, or of the rest
			sum.Add(auc)
		}
	}
	if sum.N == 0 {
		return 0, badOption("Take fewer folds, so that each has examples of all labels.",
			"{score} %s: a fold has examples of one label alone", s.score)
	}
	return sum.Mean, nil
}

// finiteOr0 is half an interval, or 0 where there is none, as of one fold.
func finiteOr0(half float64) float64 {
	if math.IsInf(half, 0) {
		return 0
	}
	return half
}
