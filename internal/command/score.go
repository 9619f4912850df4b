package command

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/compare"
)

// scoreFlag is what a study judges by.
type scoreFlag struct{ choice }

// flag adds it, with such scores beside error.
func (s *scoreFlag) flag(fs *pflag.FlagSet, help string, scores ...string) {
	choose(fs, &s.choice, "score", help, scores...)
}

// name is the score; "" where errors are judged, as without the flag.
func (s *scoreFlag) name() string {
	if s.value == compare.ScoreError {
		return ""
	}
	return s.value
}

// calibrates refuses --calibrate where nothing that is judged depends on it.
func (s *scoreFlag) calibrates(fs *pflag.FlagSet) error {
	switch {
	case !fs.Changed("calibrate"), s.value == compare.ScoreLogLoss,
		s.value == compare.ScoreBrier:
		return nil
	}
	return Usage("Add --score log-loss or brier, or leave it out.",
		"%s has no effect on the %s", Given(fs, "calibrate"), scoreName(s.value))
}

// scoreWords are what scores are called, in a text and above a column, where that is not their
// name.
var scoreWords = map[string]struct{ name, column string }{
	"":                    {compare.ScoreError, compare.ScoreError},
	compare.ScoreBalanced: {"balanced error", "balanced %"},
	compare.ScoreF1:       {"F1", "F1"},
	compare.ScoreAUC:      {"AUC", "AUC"},
	compare.ScoreBrier:    {"Brier score", "Brier"},
}

// scoreName is what a score is called in a text.
func scoreName(score string) string { return cmp.Or(scoreWords[score].name, score) }

// scoreColumn is what stands above it in a table.
func scoreColumn(score string) string { return cmp.Or(scoreWords[score].column, score) }

// inPercent reports whether a score is shown in percent, and differences in points.
func inPercent(score string) bool {
	return score == "" || score == compare.ScoreError || score == compare.ScoreBalanced
}

// shownScore is a value of a score, or a difference of two.
func shownScore(score string, v float64) string {
	if inPercent(score) {
		return fmt.Sprintf("%.3f", 100*v)
	}
	return fmt.Sprintf("%.5f", v)
}

// percentSign stands behind it.
func percentSign(score string) string {
	if inPercent(score) {
		return " %"
	}
	return ""
}
