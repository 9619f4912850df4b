package command

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/compare"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// compareReport is what compare prints with --json.
type compareReport struct {
	Schema   string           `json:"schema"`
	Examples int64            `json:"examples"`
	Metric   string           `json:"metric,omitempty"` // that is compared; "": errors
	Compared []comparedReport `json:"compared"`         // in the order given
	Pairs    []pairReport     `json:"pairs"`
	CochranQ *float64         `json:"cochran_q"` // null of two
	CochranP *float64         `json:"cochran_p"`
	Verdict  string           `json:"verdict"` // in words
	studyReport
}

// comparedReport is one of those that are compared.
type comparedReport struct {
	Name string `json:"name"` // the model's file, or the learner with its flags
	compare.CandidateResult
	// In place of those of CandidateResult, which say nothing where it failed: null.
	Error    *float64 `json:"error"`
	PM       *float64 `json:"error_pm"`
	Score    *float64 `json:"score,omitempty"`
	ScorePM  *float64 `json:"score_pm,omitempty"`
	Diverged bool     `json:"diverged"`
}

// pairReport is a Pair with names.
type pairReport struct {
	Names [2]string `json:"names"`
	compare.Pair
}

// comparer is one run of compare.
type comparer struct {
	*trainer
	specs []string
	score scoreFlag
}

func newCompareCmd() *cobra.Command {
	c := &comparer{}
	cmd := &cobra.Command{
		Use:   "compare [flags] MODEL MODEL... FILE...",
		Short: "Test which of several models or learners is better",
		Long:  helpText("compare"),
		Example: `  halfspace compare old.model new.model test.svm
  halfspace compare --score log-loss old.model new.model test.svm
  halfspace compare -a "pa --C 1" -a "pa --C 0.01" -a "obpm --tau 0.1" a9a
  halfspace compare -a "pa --scale std" -a "pa --precision f64" a9a
  zcat stream.gz | halfspace compare -a arow -a "adf --covariance diagonal" -`,
		Annotations: args(UseExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	cmd.Flags().StringArrayVarP(&c.specs, "spec", "a", nil, "a learner with flags, as "+
		"`\"NAME --FLAG VALUE\"`; twice or more")
	c.score.flag(cmd.Flags(), "what is compared", compare.ScoreError, compare.ScoreLogLoss,
		compare.ScoreBrier)
	c.trainer = studyFlags(cmd, notCompared)
	return cmd
}

// notCompared reports flags of train that compare has not: those of a learner stand in its spec,
// and one pass is taken.
func notCompared(f *pflag.Flag) bool {
	return ofAll(f) == nil || slices.Contains([]string{"learner", "epochs", "until-converged",
		"max-updates", "active-set", "halving", "soft-delta", "rho"}, f.Name)
}

func (c *comparer) run(cmd *cobra.Command, args []string) error {
	c.started, c.told = time.Now(), warnings{}
	fs := cmd.Flags()
	if err := c.machine.use(fs); err != nil {
		return err
	}
	models := 0
	for models < len(args) && isModel(args[models]) {
		models++
	}
	var contest compare.CompareOptions
	var names []string
	var err error
	switch {
	case len(c.specs) > 0 && models > 0:
		return Usage("Compare models, or learners.", "%s and the model %s exclude each other",
			Given(fs, "spec"), args[0])
	case len(c.specs) == 1 || len(c.specs) == 0 && models < 2:
		next := "Two models, or -a twice: see halfspace compare --help."
		if models == 0 && len(args) > 0 && len(c.specs) == 0 {
			next = args[0] + " is no model. " + next
		}
		return Usage(next, "nothing to compare")
	case len(c.specs) > 0:
		names = c.specs
		contest.Settings, err = c.settings(fs, args)
	default:
		names = args[:models]
		err = c.models(fs, &contest, names, args[models:])
	}
	if err != nil {
		return err
	}
	contest.Score, contest.Names = c.score.name(), names
	return c.profiles.during(func() error { return c.contest(contest) })
}

// contest holds it, and prints what came of it.
func (c *comparer) contest(contest compare.CompareOptions) error {
	progress := c.newStudyProgress(contest.Score)
	contest.Watch = func(s compare.TuneStatus) {
		progress.show(s.Examples, "examples", s.Share, s.Alive, s.Error, s.Score, s.Elapsed,
			s.Left)
	}
	res, err := compare.Compare(c.cmd.Context(), contest, c.studyEnv())
	progress.end()
	if e := (*training.Error)(nil); errors.As(err, &e) && e.Kind == training.ErrModel {
		return trainingError(c.cmd.Flags(), e, "")
	}
	if err != nil {
		err = c.studyError(err)
	}
	if res == nil {
		return err
	}
	// Of one that was stopped, too: what was found by then.
	r := c.report(contest.Names, res)
	if e := c.output.print(c.cmd, r, func(w io.Writer) error {
		return c.print(w, r, res)
	}); err == nil {
		err = e
	}
	return err
}

// isModel reports whether a file begins as model files do: with the length of a header that begins
// with a brace.
func isModel(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [9]byte
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false
	}
	return head[8] == '{' && binary.LittleEndian.Uint64(head[:]) <= uint64(info.Size())
}

// settings makes the Options of the specs: the flags of compare, then those of each.
func (c *comparer) settings(fs *pflag.FlagSet, args []string) (list []training.Options, err error) {
	var common []string
	fs.Visit(func(f *pflag.Flag) {
		if f.Name != "spec" && f.Name != "score" && !slices.Contains(notRepeated, f.Name) {
			for _, value := range texts(f) {
				common = append(common, "--"+f.Name+"="+value)
			}
		}
	})
	for i, spec := range c.specs {
		c.specs[i] = strings.TrimSpace(spec)
		words := strings.Fields(spec)
		if len(words) == 0 || strings.HasPrefix(words[0], "-") {
			return nil, Usage(`As -a "pa --C 1".`, "-a %q: no learner", spec)
		}
		t := &trainer{}
		cmd := trainCmd(t)
		t.cmd = cmd
		words = append(slices.Concat(common, []string{"--learner"}), words...)
		if err := cmd.ParseFlags(words); err != nil {
			return nil, flagError(cmd, err)
		}
		if rest := cmd.Flags().Args(); len(rest) > 0 {
			return nil, Usage(`As -a "pa --C 1".`, "-a %q: %q is no flag", spec, rest[0])
		}
		bad := ""
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if slices.Contains(oneRun, f.Name) || slices.Contains(notRepeated, f.Name) {
				bad = f.Name
			}
		})
		if bad != "" {
			return nil, Usage("Leave it out.", "-a %q: --%s is about one run", spec, bad)
		}
		if err := t.options(cmd.Flags(), args); err != nil {
			return nil, err
		}
		t.o.Threads = c.machine.threads
		if err := t.o.Validate(); err != nil {
			return nil, t.explain(err)
		}
		c.plan = &training.Plan{Config: t.o.Config}
		list = append(list, t.o)
	}
	return list, nil
}

// models loads models, and says what they predict.
func (c *comparer) models(fs *pflag.FlagSet, contest *compare.CompareOptions, names,
	files []string) (err error) {
	bad := ""
	read := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(readFlags).flags(read)
	fs.Visit(func(f *pflag.Flag) {
		if read.Lookup(f.Name) == nil && f.Name != "score" &&
			!slices.Contains(notRepeated, f.Name) {
			bad = f.Name
		}
	})
	if bad != "" {
		return Usage("Leave it out: models bring their settings.",
			"%s has no effect on models", Given(fs, bad))
	}
	if contest.Files, err = inputs(files); err != nil {
		return err
	}
	for _, name := range names {
		m, err := loadModel(name)
		if err != nil {
			return err
		}
		contest.Models = append(contest.Models, m)
	}
	contest.Data, contest.Threads = c.read.data(fs), c.machine.threads
	return nil
}

// report is what came of it.
func (c *comparer) report(names []string, res *compare.Comparison) *compareReport {
	r := &compareReport{Schema: schema, Examples: res.Examples, Metric: c.score.name(),
		Pairs: []pairReport{}, studyReport: c.studied(res.Info, res.Total)}
	failed := false
	for i, s := range res.Results {
		v := comparedReport{Name: names[i], CandidateResult: s, Error: ofResult(s.Error, s.Failed),
			PM: ofResult(s.PM, s.Failed), Diverged: hasDiverged(s.Failed)}
		if s.Failed == "" {
			v.Score, v.ScorePM = s.Score, s.ScorePM
		}
		failed = failed || s.Failed != ""
		r.Compared = append(r.Compared, v)
	}
	for _, p := range res.Pairs {
		r.Pairs = append(r.Pairs, pairReport{[2]string{names[p.First], names[p.Second]}, p})
	}
	if len(res.Results) > 2 && !failed && r.Metric == "" {
		r.CochranQ, r.CochranP = &res.Q, &res.P
	}
	r.Verdict = verdict(names, res, r.Metric)
	return r
}
