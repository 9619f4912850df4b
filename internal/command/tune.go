package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/compare"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// tuneReport is what tune prints with --json.
type tuneReport struct {
	Schema   string            `json:"schema"`
	By       string            `json:"by"`
	Alpha    float64           `json:"alpha"` // 0: no setting was dropped
	Seed     uint64            `json:"seed"`
	Best     map[string]string `json:"best"`    // values of the axes
	Command  string            `json:"command"` // that trains it
	Error    float64           `json:"error"`
	Metric   string            `json:"metric,omitempty"` // by which it is the best; "": error
	Score    *float64          `json:"score,omitempty"`  // what that came to
	Examples int64             `json:"examples"`         // that the best was judged on
	Settings []triedReport     `json:"settings"`         // the best first
	Rows     *rowsReport       `json:"kernel_rows"`      // as of cv
	Model    *string           `json:"model"`            // null without -m
	SHA256   *string           `json:"model_sha256"`
	studyReport
}

// triedReport is one setting.
type triedReport struct {
	Setting map[string]string `json:"setting"` // values of the axes
	Learner string            `json:"learner"`
	Config  learner.Config    `json:"config"`
	compare.TrialResult
	// In place of those of TrialResult, which say nothing where it failed: null.
	Error    *float64 `json:"error"`
	Behind   *float64 `json:"behind"`
	PM       *float64 `json:"behind_pm"`
	P        *float64 `json:"p"`
	Score    *float64 `json:"score,omitempty"`
	Diverged bool     `json:"diverged"`
}

// tuner is one run of tune.
type tuner struct {
	*trainer
	grid, ranges []string
	random       int
	by           choice
	score        scoreFlag
	alpha        float64
	folds        foldFlags
	mixed        bool // the folds are shuffled though no flag says so

	axes   []axis
	points [][]string // values of the axes of each setting
}

// otherAxes are the flags that can be tuned beside the settings of learners.
var otherAxes = []string{"learner", "scale", "bias", "normalize", "rho", "soft-delta", "epochs",
	"seed"}

// mostSettings is more than any machine learns side by side.
const mostSettings = 4096

func newTuneCmd() *cobra.Command {
	t := &tuner{}
	cmd := &cobra.Command{
		Use:   "tune [flags] FILE...",
		Short: "Search a learner's settings: grid, random, early elimination",
		Long:  helpText("tune", "{AXES}", strings.Join(otherAxes, ", ")),
		Example: "  halfspace tune -a obpm --grid tau=.05,.1,.3 --grid normalize=none,unit " +
			`-m best.model a9a
  halfspace tune -a pa --random 16 --range C=1e-3:1e3:log --seed 7 a9a
  zcat stream.gz | halfspace tune -a arow -m best.model -
  halfspace tune -a svm --until-converged --by cv --grid C=.01,.1,1,10 sonar.csv
  halfspace tune -a obpm --score log-loss --grid tau=.05,.1,.3 a9a
  halfspace tune -a obpm --by cv --score auc --grid tau=.05,.1,.3 a9a`,
		Annotations: args(UseExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return t.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&t.grid, "grid", nil, "try `AXIS=V1,V2,...`; repeatable")
	fs.StringArrayVar(&t.ranges, "range", nil, "with --random: draw from `AXIS=LO:HI`, with :log "+
		"or :int behind it by powers or whole numbers; may be given again")
	fs.IntVar(&t.random, "random", 0, "sample this many settings, by --seed, instead of all")
	choose(fs, &t.by, "by", "what settings are judged by", compare.Progressive, compare.ByFolds)
	t.score.flag(fs, "what is judged; balanced, f1 and auc need --by cv", compare.Scores()...)
	fs.Float64Var(&t.alpha, "level", compare.DefaultAlpha, "level of the tests by which settings "+
		"leave early; 0 keeps all")
	t.folds.flags(cmd, "with --by cv: ")
	t.trainer = studyFlags(cmd, nil, "model", "calibrate")
	mixed(cmd, "with --by cv ")
	return cmd
}

func (t *tuner) run(cmd *cobra.Command, args []string) error {
	fs := cmd.Flags()
	folds, err := t.folds.options(cmd)
	if err != nil {
		return err
	}
	for _, f := range []string{"folds", "repeats", "stratify"} {
		if t.by.value != compare.ByFolds && fs.Changed(f) {
			return Usage("Add --by cv, or leave it out.", "%s has no effect without --by cv",
				Given(fs, f))
		}
	}
	if !(t.alpha >= 0 && t.alpha < 1) {
		return Usage("0.05 is usual; 0 keeps all settings.", "%s %v: want 0 to below 1",
			Given(fs, "level"), t.alpha)
	}
	if err := t.score.calibrates(fs); err != nil {
		return err
	}
	if err := t.begin(cmd, args); err != nil {
		return err
	}
	if err := t.choosePoints(fs); err != nil {
		return err
	}
	if t.by.value == compare.ByFolds {
		t.mixed = t.mixesFolds(fs)
	}
	settings, err := t.settingsAt(fs, args)
	if err != nil {
		return err
	}
	o := compare.TuneOptions{By: t.by.value, Score: t.score.name(), Alpha: t.alpha, Folds: folds}
	for i := range t.points {
		o.Names = append(o.Names, t.pointName(i))
	}
	return t.profiles.during(func() error {
		res, err := t.tune(settings, o)
		if res == nil {
			return err
		}
		// Of one that was stopped, too: what was found by then.
		r := t.report(settings, res, args)
		t.noteRows(r.Rows)
		if e := t.output.print(t.cmd, r, func(w io.Writer) error {
			return t.print(w, r)
		}); err == nil {
			err = e
		}
		return err
	})
}

// pointName is a setting as --grid writes its values.
func (t *tuner) pointName(i int) string {
	var words []string
	for k, a := range t.axes {
		words = append(words, a.flag+"="+t.points[i][k])
	}
	return strings.Join(words, " ")
}

// tune tries the settings.
func (t *tuner) tune(settings []training.Options, o compare.TuneOptions) (*compare.TuneResult,
	error) {
	progress := t.newStudyProgress(o.Score)
	o.Watch = func(s compare.TuneStatus) {
		progress.show(s.Examples, "examples", s.Share, s.Alive, s.Error, s.Score, s.Elapsed,
			s.Left)
	}
	res, err := compare.Tune(t.cmd.Context(), settings, o, t.studyEnv())
	progress.end()
	if err != nil {
		err = t.studyError(err)
	}
	return res, err
}

// settingsAt makes the Options of all settings.
func (t *tuner) settingsAt(fs *pflag.FlagSet, args []string) (list []training.Options, err error) {
	for _, p := range t.points {
		for i, a := range t.axes {
			if s, ok := fs.Lookup(a.flag).Value.(*setting); ok {
				s.reset()
			}
			if err := fs.Set(a.flag, p[i]); err != nil {
				return nil, flagError(t.cmd, err)
			}
		}
		if err := t.options(fs, args); err != nil {
			return nil, err
		}
		o := t.o
		if o.Seed != nil {
			seed := *o.Seed
			o.Seed = &seed
		}
		if err := o.Validate(); err != nil {
			return nil, t.explain(err)
		}
		list = append(list, o)
	}
	return list, nil
}

// setting is a point for programs.
func (t *tuner) setting(i int) map[string]string {
	m := map[string]string{}
	for k, a := range t.axes {
		m[a.flag] = t.points[i][k]
	}
	return m
}

// report is what came of it.
func (t *tuner) report(settings []training.Options, res *compare.TuneResult,
	args []string) *tuneReport {
	r := &tuneReport{Schema: schema, By: t.by.value, Alpha: t.alpha, Seed: t.seed,
		Best: t.setting(res.Best), Error: res.Trials[res.Best].Error, Metric: t.score.name(),
		Score: res.Trials[res.Best].Score, Examples: res.Examples,
		Rows: rowsReportOf(res.KernelRows), studyReport: t.studied(res.Info, res.Total)}
	t.output.decided(t.cmd, res.Info)
	var also [][2]string
	for k, a := range t.axes {
		also = append(also, [2]string{a.flag, t.points[res.Best][k]})
	}
	if t.mixed {
		also = append(also, [2]string{"shuffle", "true"})
	}
	if t.o.Calibrate != "" {
		also = append(also, [2]string{"calibrate", t.o.Calibrate})
	}
	if t.o.Model != "" {
		also = append(also, [2]string{"model", t.o.Model})
	}
	r.Command = t.repeated(also, args)
	for _, i := range res.Order {
		s := res.Trials[i]
		v := triedReport{Setting: t.setting(i), Learner: settings[i].Learner,
			Config: settings[i].Config, TrialResult: s, Error: ofResult(s.Error, s.Failed),
			Behind: ofResult(s.Behind, s.Failed), PM: ofResult(s.PM, s.Failed),
			P: ofResult(s.P, s.Failed), Score: s.Score, Diverged: hasDiverged(s.Failed)}
		if s.Failed != "" {
			v.Score = nil
		}
		r.Settings = append(r.Settings, v)
	}
	if res.Saved != nil {
		r.Model, r.SHA256 = &res.Saved.Path, &res.Saved.SHA256
	}
	return r
}

// print prints the table of settings, and what to do with the best.
func (t *tuner) print(w io.Writer, r *tuneReport) error {
	var b strings.Builder
	var widths []int
	for _, a := range t.axes {
		n := len(a.flag)
		for _, s := range r.Settings {
			n = max(n, len(s.Setting[a.flag]))
		}
		widths = append(widths, n)
		fmt.Fprintf(&b, "%-*s  ", n, a.flag)
	}
	head, unit := "", "points"
	if r.Metric != "" {
		head = fmt.Sprintf(" %10s", scoreColumn(r.Metric))
	}
	if !inPercent(r.Metric) {
		unit = scoreName(r.Metric)
	}
	fmt.Fprintf(&b, "%9s%s %10s  %s\n", "error %", head, "examples", "gap to the best, "+unit)
	for k, s := range r.Settings {
		for i, a := range t.axes {
			fmt.Fprintf(&b, "%-*s  ", widths[i], s.Setting[a.flag])
		}
		if s.Failed != "" {
			score := ""
			if r.Metric != "" {
				score = fmt.Sprintf(" %10s", "-")
			}
			fmt.Fprintf(&b, "%9s%s %10d  %s\n", "-", score, s.Examples, failedText(s.Failed))
			continue
		}
		score := ""
		if s.Score != nil {
			score = fmt.Sprintf(" %10s", shownScore(r.Metric, *s.Score))
		}
		fmt.Fprintf(&b, "%9.3f%s %10d  ", 100**s.Error, score, s.Examples)
		switch {
		case k == 0:
			b.WriteString("best")
		default:
			fmt.Fprintf(&b, "%s ± %s", shownScore(r.Metric, *s.Behind),
				shownScore(r.Metric, *s.PM))
			if s.Dropped {
				b.WriteString(", eliminated")
			} else {
				fmt.Fprintf(&b, " (p = %s)", shortP(*s.P))
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintln(&b)
	if _, err := fmt.Fprint(w, b.String()); err != nil {
		return err
	}
	var rows summaryRows
	what := "progressive, in one pass"
	if r.By == compare.ByFolds {
		what = "by cross-validation"
	}
	value, bias := 100*r.Error, "low"
	name, text := compare.ScoreError, fmt.Sprintf("%.3f %%", value)
	if r.Score != nil {
		name, text = scoreName(r.Metric), shownScore(r.Metric, *r.Score)+percentSign(r.Metric)
	}
	if compare.LargerIsBetter(r.Metric) {
		bias = "high"
	}
	rows.add(name, "%s %s; biased %s, as the best of %s", text, what,
		bias, Plural(len(r.Settings), "setting"))
	rows.add("command", "%s", r.Command)
	rows.add("seconds", "%.3f total, %s", r.Seconds.Total, Plural(r.Threads, "thread"))
	if r.Model != nil {
		rows.add("model", "%s (sha256 %s)", *r.Model, *r.SHA256)
	}
	return rows.write(w)
}

// failedText is why a setting failed, without the package it comes from and what to do about it.
func failedText(text string) string {
	what := "failed: "
	if hasDiverged(text) {
		what = "diverged: "
	}
	text = strings.TrimPrefix(text, "training: ")
	text, _, _ = strings.Cut(strings.TrimSuffix(text, ": "+training.ErrDiverged.Error()), "; ")
	return what + errorText(errors.New(text))
}

// hasDiverged reports whether that is why it failed.
func hasDiverged(failed string) bool {
	return strings.HasSuffix(failed, ": "+training.ErrDiverged.Error())
}

// ofResult is a number of a result; null in JSON where there is none, since it failed.
func ofResult(v float64, failed string) *float64 {
	if failed != "" {
		return nil
	}
	return &v
}

// shortP is a probability to two digits. One that is too small for a float64 is not 0.
func shortP(p float64) string {
	switch {
	case p < 1e-300:
		return "<1e-300"
	case p < 1e-4:
		return fmt.Sprintf("%.0e", p)
	case p < 0.1:
		return fmt.Sprintf("%.4f", p)
	}
	return fmt.Sprintf("%.2f", p)
}
