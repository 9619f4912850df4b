package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/internal/compare"
	"github.com/halfspace-ml/halfspace/learner"
)

// cvReport is what cv prints with --json.
type cvReport struct {
	Schema    string         `json:"schema"`
	Learner   string         `json:"learner"`
	Config    learner.Config `json:"config"` // of the first fold: settings relative to the data
	Precision string         `json:"precision"`
	Seed      uint64         `json:"seed"`
	Stratify  bool           `json:"stratify"`
	Shuffle   bool           `json:"shuffle"`
	compare.CVResult
	// In the place of CVResult's: null in those that failed, and of all folds where some did.
	Folds    []foldReport `json:"folds"`
	Error    *float64     `json:"error"`
	PM       *float64     `json:"error_pm"`
	NaivePM  *float64     `json:"naive_pm"`
	Diverged int          `json:"diverged"` // folds
	// Of all folds: hits were computed before, for the same fold or another. Null of learners
	// without kernel rows.
	Rows *rowsReport `json:"kernel_rows"`
	studyReport
}

// foldReport is a fold.
type foldReport struct {
	compare.Fold
	Error *float64 `json:"error"` // null where it failed
}

// foldFlags say how data are split.
type foldFlags struct {
	folds, repeats int
	stratify       bool
}

func (f *foldFlags) flags(cmd *cobra.Command, with string) {
	fs := cmd.Flags()
	fs.IntVar(&f.folds, "folds", 5, with+"parts, each tested by what was learned of the others")
	fs.IntVar(&f.repeats, "repeats", 1, with+"how often, each time with other folds")
	fs.BoolVar(&f.stratify, "stratify", true, with+"each fold has its share of every class")
}

// mixed says of --shuffle that folds are shuffled without it, too.
func mixed(cmd *cobra.Command, with string) {
	f := cmd.Flags().Lookup("shuffle")
	f.Usage += "; " + with + "on without --until-converged, unless --shuffle=false keeps the " +
		"order of the data"
}

// options are what the flags say.
func (f *foldFlags) options(cmd *cobra.Command) (compare.Folds, error) {
	fs := cmd.Flags()
	switch {
	case f.folds < 2:
		return compare.Folds{}, Usage("5 and 10 are usual.", "%s %d: want 2 or more",
			Given(fs, "folds"), f.folds)
	case f.repeats < 1:
		return compare.Folds{}, Usage("1 is once.", "%s %d: want 1 or more",
			Given(fs, "repeats"), f.repeats)
	}
	return compare.Folds{Folds: f.folds, Repeats: f.repeats, Plain: !f.stratify}, nil
}

func newCVCmd() *cobra.Command {
	var folds foldFlags
	var score scoreFlag
	cmd := &cobra.Command{
		Use:   "cv [flags] FILE...",
		Short: "Estimate the error of a learner by cross-validation",
		Long:  helpText("cv"),
		Example: `  halfspace cv -a obpm --epochs 3 --shuffle a9a
  halfspace cv -a svm --until-converged --folds 10 --repeats 3 --json sonar.csv
  halfspace cv -a obpm --score auc a9a
  halfspace cv -a pa --score log-loss --calibrate platt a9a`,
		Annotations: args(UseExamples),
	}
	score.flag(cmd.Flags(), "estimate this, too (see: halfspace help metrics)",
		compare.Scores()...)
	folds.flags(cmd, "")
	t := studyFlags(cmd, nil, "calibrate")
	mixed(cmd, "")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := folds.options(cmd)
		if err != nil {
			return err
		}
		if err := t.begin(cmd, args); err != nil {
			return err
		}
		if err := score.calibrates(cmd.Flags()); err != nil {
			return err
		}
		f.Score = score.name()
		t.mixesFolds(cmd.Flags())
		return t.profiles.during(func() error { return t.crossValidate(f) })
	}
	return cmd
}

// crossValidate does it, and prints what came of it.
func (t *trainer) crossValidate(f compare.Folds) error {
	progress := t.newStudyProgress(f.Score)
	res, err := compare.CrossValidate(t.cmd.Context(), t.o, f, t.studyEnv(),
		func(s compare.FoldStatus) {
			progress.show(int64(s.Done), "folds", float64(s.Done)/float64(s.Total), 0, s.Error,
				s.Score, s.Elapsed, s.Left)
		})
	progress.end()
	if res == nil {
		return t.studyError(err)
	}
	r := cvReport{Schema: schema, Learner: res.Learner, Config: res.Config,
		Precision: res.Precision, Seed: res.Seed, Stratify: !f.Plain, Shuffle: t.o.Shuffle,
		CVResult: res.CVResult, Rows: rowsReportOf(res.KernelRows),
		studyReport: t.studied(res.Info, res.Total)}
	t.output.decided(t.cmd, res.Info)
	t.noteRows(r.Rows)
	for _, f := range res.Folds {
		r.Folds = append(r.Folds, foldReport{f, ofResult(f.Error, f.Failed)})
		if f.Failed != "" {
			r.Diverged++
		}
	}
	if r.Diverged > 0 { // an error that leaves those out is that of no learner
		r.CVResult.Score, r.ScorePM, r.ScoreNaivePM = nil, nil, nil
	} else {
		r.Error, r.PM, r.NaivePM = &res.Error, &res.PM, &res.NaivePM
	}
	e := t.output.print(t.cmd, r, func(w io.Writer) error { return t.printCV(w, &r) })
	if err != nil {
		return t.studyError(err)
	}
	return e
}

// printCV prints a line for each fold, and the summary.
func (t *trainer) printCV(w io.Writer, r *cvReport) error {
	head, open := "", 0
	if r.Metric != "" {
		head = fmt.Sprintf(" %10s", scoreColumn(r.Metric))
	}
	fmt.Fprintf(w, "%6s %5s %9s %9s %9s %9s%s\n", "repeat", "fold", "trained", "tested", "errors",
		"error %", head)
	for _, f := range r.Folds {
		if f.Failed != "" {
			fmt.Fprintf(w, "%6d %5d %9d %9d %9s %9s %s\n", f.Repeat, f.Fold.Fold, f.Train, f.Test,
				"-", "-", failedText(f.Failed))
			continue
		}
		score := ""
		if f.Score != nil {
			score = fmt.Sprintf(" %10s", shownScore(r.Metric, *f.Score))
		}
		fmt.Fprintf(w, "%6d %5d %9d %9d %9d %9.3f%s\n", f.Repeat, f.Fold.Fold, f.Train, f.Test,
			f.Errors, 100**f.Error, score)
		if t.o.UntilConverged && !f.Converged {
			open++
		}
	}
	fmt.Fprintln(w)
	var rows summaryRows
	rows.add("learner", "%s %s, %s", r.Learner, describeConfig(r.Learner, r.Config), r.Precision)
	n := 0 // examples
	for _, f := range r.Folds {
		if f.Repeat == 1 {
			n += f.Test
		}
	}
	rows.add("examples", "%d, %d features", n, r.Features)
	way := "in the order of the data"
	if r.Shuffle {
		way = "shuffled"
	}
	if t.o.UntilConverged {
		way = "until converged, " + way
	} else {
		way = Plural(r.Folds[0].Epochs, "epoch") + ", " + way
	}
	rows.add("folds", "%d, seed %d; %s", folds(r.Folds), r.Seed, way)
	if r.Diverged > 0 {
		rows.add("error", "none: it diverged in %d of %s", r.Diverged,
			Plural(len(r.Folds), "fold"))
	} else {
		rows.add("error", "%.3f ± %.3f %% (95 %%, corrected for overlapping "+
			"training sets)", 100**r.Error, 100**r.PM)
	}
	if r.Score != nil {
		rows.add(scoreName(r.Metric), "%s ± %s%s", shownScore(r.Metric, *r.Score),
			shownScore(r.Metric, *r.ScorePM), percentSign(r.Metric))
	}
	if open > 0 {
		rows.add("converged", "not in %s of %d: raise --max-updates", Plural(open, "fold"),
			len(r.Folds))
	}
	rows.add("seconds", "%.3f total, %s", r.Seconds.Total, Plural(r.Threads, "thread"))
	return rows.write(w)
}

// folds returns how many folds a repeat has.
func folds(all []foldReport) (n int) {
	for _, f := range all {
		n = max(n, f.Fold.Fold)
	}
	return max(1, n)
}
