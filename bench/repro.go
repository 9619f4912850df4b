package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/bench/internal/papers"
	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/internal/spelling"
)

// repro is one run of the verb.
type repro struct {
	list, strict, fresh bool
	json, csv, markdown bool
	html, page          string
	plots, cache        string
	runs                int
	budget              time.Duration
	o                   papers.RunOptions
	machine             func() (*engine.Pool, error)
	profile             func(work func() error) error
	quiet               bool
}

func newReproCmd() *cobra.Command {
	r := &repro{}
	cmd := &cobra.Command{
		Use:   "repro {all | PAPER | PAPER/EXPERIMENT}...",
		Short: "Reproduce the papers' tables and figures",
		Long: `Reproduce the papers' tables and figures.

A printed number is exact (an integer, equal, or all printed digits), inside (the 95 % interval of
the difference from ours has 0 in it; a tolerance stands in the note), outside, or
not-comparable (the data differ from the paper's). What a paper says without a number is a claim: a
difference, paired over the runs, that is above 0 if it holds. By its 95 % interval
it is supported (above 0), undecided (0 is in it; the note says how many runs would decide it) or
contradicted (below 0). What follows from how the run is set up is by-construction. Values for
which the paper has no number are measured.
Files of public data sets are looked for in the folder HALFSPACE_DATA.

What an experiment gave is kept in --cache, under a key of the program, the machine, the options
and the data, and taken from there the next time: an interrupted
run of all goes on where it was. Experiments whose data are missing are listed; without data for
any of them the exit code is 3.`,
		Example: `  halfspace repro --list
  halfspace repro obpm/table1
  HALFSPACE_DATA=data halfspace repro cramma --strict
  HALFSPACE_DATA=data halfspace repro pumma/table2 --rows class=3
  HALFSPACE_DATA=data halfspace repro all --html report.html`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			return append([]string{"all"}, experimentNames()...), cobra.ShellCompDirectiveNoFileComp
		},
		Annotations: command.Reads(papers.DataFiles(measure.DataDir())),
		RunE:        func(cmd *cobra.Command, args []string) error { return r.run(cmd, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&r.list, "list", false, "list the experiments")
	f.IntVar(&r.runs, "runs", 0, "runs of each row; 0 is the paper's number, or more where "+
		"that leaves claims open")
	f.StringVar(&r.o.Rows, "rows", "", "only rows that have all of these `WORDS` (as class=3, or "+
		"'adult-full, svm'), slow ones too")
	f.BoolVar(&r.o.Slow, "slow", false, "also the rows that take longer than all others together")
	f.Uint64Var(&r.o.Seed, "seed", 1, "seed of the first run; the others count on")
	f.DurationVar(&r.budget, "time-budget", 0, "leave out experiments that would probably take "+
		"longer than what is left of this, as 10m; they are listed")
	f.BoolVar(&r.json, "json", false, "print one JSON document: a list of rows, or with --list "+
		"of experiments")
	f.BoolVar(&r.csv, "csv", false, "print the rows as CSV")
	f.BoolVar(&r.markdown, "markdown", false, "print the rows as Markdown tables")
	f.StringVar(&r.html, "html", "", "write a report with tables and figures to `FILE`, one "+
		"page that needs no network")
	f.StringVar(&r.page, "page", "", "put the rows into `FILE`, a Markdown page, between its "+
		"marks of the experiments (as docs/papers.md of the source); the rest stays")
	f.StringVar(&r.plots, "plot", "", "draw the figures, as SVG, into the folder `DIR`")
	f.BoolVar(&r.strict, "strict", false, "exit with 5 when a row is outside or contradicted "+
		"that is not known to be (docs/papers.md), or data are missing")
	f.StringVar(&r.cache, "cache", "", "`DIR` of outcomes (default: halfspace/repro in the "+
		"user's cache folder)")
	f.BoolVar(&r.fresh, "fresh", false, "run everything, whatever the cache has")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "show no progress")
	command.Names(f, command.UseReplaced, "html", "page")
	command.Names(f, command.UseFigures, "plot")
	command.Names(f, command.UseFolder, "cache")
	r.machine = command.MachineFlags(f)
	r.profile = command.ProfileFlag(f)
	return cmd
}

func (r *repro) run(cmd *cobra.Command, args []string) error {
	if r.list {
		return r.listed(cmd, args)
	}
	chosen, err := r.check(cmd, args)
	if err != nil {
		return err
	}
	if err := r.folders(); err != nil {
		return err
	}
	var blank papers.Report // has the page all marks?
	for _, e := range chosen {
		blank.Outcomes = append(blank.Outcomes, papers.Outcome{Name: e.Name})
	}
	if _, err := r.newPage(blank); err != nil {
		return err
	}
	return r.profile(func() error { return r.series(cmd, args, chosen) })
}

// series runs the chosen experiments and prints what they show.
func (r *repro) series(cmd *cobra.Command, args []string, chosen []papers.Experiment) error {
	pool, err := r.machine()
	if err != nil {
		return err
	}
	defer pool.Close()
	r.o.Pool, r.o.DataDir, r.o.Runs = pool, measure.DataDir(), r.runs

	rows := []papers.Row{} // [] in JSON, never null
	report := papers.Report{Command: "halfspace repro " + strings.Join(args, " ") + r.options(),
		Date: time.Now().Format("2006-01-02 15:04"), Machine: machineLine(pool),
		Version: "halfspace " + command.Version(), Seed: r.o.Seed}
	series := papers.Series{Experiments: chosen, Options: r.o, Cache: papers.Cache{Dir: r.cache},
		Fresh: r.fresh, Budget: r.budget}
	if stderr := cmd.ErrOrStderr(); !r.quiet {
		series.Say = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
		if command.IsTerminal(stderr) {
			draw, clear := command.Bar(stderr)
			series.Show = func(s papers.Standing) { draw(s.This, standing(s)) }
			series.Hide = clear
		}
	}
	err = series.Run(cmd.Context(), func(out papers.Outcome) error {
		out.Command = r.command(chosen[len(report.Outcomes)])
		report.Outcomes = append(report.Outcomes, out)
		rows = append(rows, out.Rows...)
		return r.show(cmd, out)
	})
	if err != nil {
		return r.failed(cmd, err, len(report.Outcomes), len(chosen))
	}
	if len(rows) == 0 && r.o.Rows != "" && slices.ContainsFunc(report.Outcomes,
		func(o papers.Outcome) bool { return o.Skipped == "" }) {
		return command.Usage("Its rows are what it prints without --rows; words end at spaces "+
			"and commas.",
			"--rows %q: no row has these words", r.o.Rows)
	}
	return r.finish(cmd, report, rows)
}

// check refuses flags that exclude each other, and returns the experiments that are named.
func (r *repro) check(cmd *cobra.Command, args []string) ([]papers.Experiment, error) {
	forms := 0
	for _, on := range []bool{r.json, r.csv, r.markdown} {
		if on {
			forms++
		}
	}
	switch {
	case len(args) == 0:
		return nil, command.Usage("The experiments: halfspace repro --list.", "no experiment")
	case cmd.Flags().Changed("runs") && r.runs < 2:
		return nil, command.Usage("A row is a mean with its interval; tables without draws take "+
			"no --runs.",
			"--runs %d: want 2 or more", r.runs)
	case forms > 1:
		return nil, command.Usage("Choose one of them.", "--json, --csv and --markdown exclude "+
			"each other")
	case r.page != "" && (r.o.Rows != "" || r.runs > 0 || r.o.Seed != 1):
		return nil, command.Usage("A page has the paper's rows and runs, from seed 1.",
			"--page goes with neither --rows, --runs nor --seed")
	case r.budget < 0:
		return nil, command.Usage("0 is no limit.", "--time-budget %v: negative", r.budget)
	}
	chosen, err := chooseExperiments(args)
	if err == nil && len(chosen) == 1 && chosen[0].Runs == 1 && r.runs > 0 {
		err = command.Usage("Leave it out.", "--runs %d: %s draws nothing, so that all runs "+
			"would be equal",
			r.runs, chosen[0].Name)
	}
	return chosen, err
}

// folders makes those of figures and outcomes.
func (r *repro) folders() error {
	for _, f := range []struct{ flag, dir string }{{"plot", r.plots}, {"cache", r.cache}} {
		if f.dir == "" {
			continue
		}
		if err := os.MkdirAll(f.dir, 0o755); err != nil {
			return command.Fail(command.CodeFailed, fmt.Errorf("--%s %s: %w", f.flag, f.dir,
				command.PathCause(err)),
				"Name a folder that can be written.")
		}
	}
	if r.cache == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			r.cache = filepath.Join(dir, "halfspace", "repro")
		}
	}
	return nil
}

// finish prints what is printed at the end.
func (r *repro) finish(cmd *cobra.Command, report papers.Report, rows []papers.Row) (err error) {
	w := cmd.OutOrStdout()
	if r.plots != "" && !slices.ContainsFunc(report.Outcomes,
		func(o papers.Outcome) bool { return len(o.Figures) > 0 }) {
		fmt.Fprintln(cmd.ErrOrStderr(), "no figures: these experiments are tables")
	}
	switch {
	case r.json:
		err = command.PrintJSON(w, rows)
	case r.csv:
		err = writeCSV(w, rows)
	case len(report.Outcomes) > 1:
		err = writeVerdicts(w, report.Outcomes)
	}
	if err != nil {
		return err
	}
	if r.html != "" {
		if err := command.WriteWhole(w, r.html, report.WriteHTML); err != nil {
			return command.Fail(command.CodeFailed, fmt.Errorf("--html %s: %w", r.html,
				command.PathCause(err)),
				"Name a file that can be written.")
		}
	}
	if err := r.writePage(w, report); err != nil {
		return err
	}
	return r.judge(report.Outcomes)
}

// writePage is --page.
func (r *repro) writePage(w io.Writer, report papers.Report) error {
	text, err := r.newPage(report)
	if err != nil || r.page == "" {
		return err
	}
	err = command.WriteWhole(w, r.page, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return command.Fail(command.CodeFailed, fmt.Errorf("--page %s: %w", r.page,
			command.PathCause(err)),
			"Name a file that can be written.")
	}
	return nil
}

// newPage returns the page with the report's rows.
func (r *repro) newPage(report papers.Report) (text string, err error) {
	if r.page == "" {
		return "", nil
	}
	failed := func(err error, next string) error {
		return command.Fail(command.CodeFailed, fmt.Errorf("--page %s: %w", r.page, err), next)
	}
	old, err := os.ReadFile(r.page)
	if err != nil {
		return "", failed(command.PathCause(err), "It is a page that there is: docs/papers.md of "+
			"the source.")
	}
	if text, err = papers.UpdatePage(string(old), report, r.o.Slow); err != nil {
		return "", failed(err, "Each experiment's marks: <!-- repro NAME --> and <!-- end -->.")
	}
	return text, nil
}

// standing says before a bar how far a series is.
func standing(s papers.Standing) string {
	text := fmt.Sprintf("[%d/%d] %s", s.At+1, s.Of, s.Name)
	if s.Rows > 0 {
		text += ", " + command.Plural(s.Rows, "row")
	}
	return fmt.Sprintf("%s; all %.0f %%, %v left ", text, 100*s.All, s.Left)
}

// listedExperiment is what --list --json prints of one.
type listedExperiment struct {
	Experiment string   `json:"experiment"`
	Summary    string   `json:"summary"`
	Runs       int      `json:"runs"`    // the paper's or more; 1 where nothing is drawn
	Needs      []string `json:"needs"`   // public data files
	Missing    []string `json:"missing"` // those that are not there
	// published figures that are made beside it, which name it too
	Draws    []string `json:"draws"`
	Slow     string   `json:"slow"`      // what only --slow includes; "" where that is nothing
	SlowRows int      `json:"slow_rows"` // so many rows more
}

// listed is --list.
func (r *repro) listed(cmd *cobra.Command, args []string) (err error) {
	fs := cmd.Flags()
	for _, other := range []string{"csv", "markdown", "html", "page", "plot"} {
		if fs.Changed(other) {
			return command.Usage("Leave it out: a list is text, or with --json a document.",
				"%s has no effect with --list", command.Given(fs, other))
		}
	}
	chosen := papers.Experiments()
	if len(args) > 0 {
		if chosen, err = chooseExperiments(args); err != nil {
			return err
		}
	}
	w, list := cmd.OutOrStdout(), []listedExperiment{}
	for _, e := range chosen {
		if !r.json {
			fmt.Fprintf(w, "%-16s %s\n", e.Name, e.Summary)
			continue
		}
		some := func(names []string) []string { return append([]string{}, names...) } // never null
		list = append(list, listedExperiment{e.Name, e.Summary, e.Runs, some(e.Needs),
			some(e.Missing(measure.DataDir())), some(e.Draws), e.Slow, e.SlowRows})
	}
	if !r.json {
		return nil
	}
	return command.PrintJSON(w, list)
}

// show prints an outcome, unless all are printed at the end, and draws its figures.
func (r *repro) show(cmd *cobra.Command, out papers.Outcome) (err error) {
	w := cmd.OutOrStdout()
	switch {
	case r.json || r.csv:
		if out.Skipped != "" { // no form for it there
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: not run: %s\n", out.Name, out.Skipped)
		}
	case out.Skipped != "":
		_, err = fmt.Fprintf(w, "%s: not run: %s\n", out.Name, out.Skipped)
	case r.markdown:
		err = writeMarkdown(w, out)
	default:
		fmt.Fprintf(w, "%s: %s\n", out.Name, out.Summary)
		if err = writeRows(w, out.Rows); err == nil {
			err = writeSlow(w, out)
		}
	}
	if err != nil || r.plots == "" {
		return err
	}
	for _, f := range out.Figures {
		name, err := f.WriteFile(r.plots)
		if err != nil {
			return command.Fail(command.CodeFailed, err, "Is there room in the folder of --plot?")
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", name)
	}
	return nil
}

// failed explains what ended the run after so many experiments.
func (r *repro) failed(cmd *cobra.Command, err error, finished, of int) error {
	kept := "What was finished is kept; the same command goes on from there."
	if r.cache == "" {
		kept = "Nothing was kept: there is no folder for it (--cache DIR)."
	} else if finished == 0 {
		kept = "Nothing was finished."
	}
	if command.Failed(err) {
		return err
	}
	switch {
	case cmd.Context().Err() != nil:
		return command.Fail(command.CodeStopped, fmt.Errorf("%w after %d of %s", command.ErrStopped,
			finished, command.Plural(of, "experiment")), kept)
	case errors.Is(err, fs.ErrNotExist):
		return command.Fail(command.CodeData, err, "HALFSPACE_DATA names the folder of the "+
			"public data sets.")
	case errors.Is(err, dataset.ErrBadRow), errors.Is(err, dataset.ErrLabels), errors.Is(err,
		dataset.ErrFormat), errors.Is(err, dataset.ErrEmpty):
		return command.Fail(command.CodeData, err, "The file differs from the public one of this "+
			"name. "+kept)
	}
	return command.Fail(command.CodeFailed, err, kept)
}

// judge returns the exit code that outcomes deserve. Without data for any of them nothing was
// shown; --strict wants all of them shown, but for those that --time-budget leaves out.
func (r *repro) judge(outcomes []papers.Outcome) error {
	var missing, outside []string
	for _, o := range outcomes {
		if o.NoData {
			missing = append(missing, o.Name)
		}
		for _, row := range o.Rows {
			if (row.Verdict == papers.Outside || row.Verdict == papers.Contradicted) &&
				row.Known == "" {
				outside = append(outside, fmt.Sprintf("%s: %s (%s)", row.Verdict, row.Row,
					row.Quantity))
			}
		}
	}
	if len(missing) == len(outcomes) || r.strict && len(missing) > 0 {
		code := command.CodeData
		if len(missing) < len(outcomes) {
			code = command.CodeGate
		}
		return command.Fail(code, fmt.Errorf("data are missing: not run: %s", strings.Join(missing,
			", ")),
			"HALFSPACE_DATA names the folder of the public data sets.")
	}
	if r.strict && len(outside) > 0 {
		return command.Fail(command.CodeGate, fmt.Errorf("not known before: %s",
			strings.Join(outside, "; ")),
			"Rows that are known to be so, and why, are listed in bench/internal/papers/known.go.")
	}
	return nil
}

// machineLine is bench's, with the threads where these are other than the cores.
func machineLine(p *engine.Pool) string {
	line := measure.Machine()
	if n := p.Workers(); n != runtime.GOMAXPROCS(0) {
		line += ", " + command.Plural(n, "thread")
	}
	return line
}

// command is what runs an experiment again with the same result.
func (r *repro) command(e papers.Experiment) string {
	s := "halfspace repro " + e.Name + r.options()
	if e.Runs == 1 { // draws nothing
		s = strings.ReplaceAll(s, fmt.Sprintf(" --runs %d", r.runs), "")
	}
	return s
}

// options is the flags that decide what is run.
func (r *repro) options() (s string) {
	if r.o.Seed != 1 {
		s += fmt.Sprintf(" --seed %d", r.o.Seed)
	}
	if r.runs != 0 {
		s += fmt.Sprintf(" --runs %d", r.runs)
	}
	if r.o.Rows != "" {
		s += fmt.Sprintf(" --rows '%s'", r.o.Rows)
	}
	if r.o.Slow {
		s += " --slow"
	}
	return s
}

// experimentNames returns the names of all experiments and of the figures that they draw.
func experimentNames() (names []string) {
	for _, e := range papers.Experiments() {
		names = append(append(names, e.Name), e.Draws...)
	}
	return names
}

// chooseExperiments finds what the names stand for, each once, in the order of the papers.
func chooseExperiments(args []string) ([]papers.Experiment, error) {
	all, names := papers.Experiments(), experimentNames()
	picked := map[string]bool{}
	for _, a := range args {
		found := false
		for _, e := range all {
			if a == "all" || e.Name == a || strings.HasPrefix(e.Name, a+"/") ||
				slices.Contains(e.Draws, a) {
				picked[e.Name], found = true, true
			}
		}
		if !found {
			next := "all, a paper's name, or one of: " + strings.Join(names, ", ") + "."
			if near := spelling.Nearest(a, names); near != "" {
				next = "Did you mean " + near + "? " + next
			}
			return nil, command.Usage(next, "no experiment %q", a)
		}
	}
	var chosen []papers.Experiment
	for _, p := range papers.Papers {
		for _, e := range all {
			if picked[e.Name] && papers.PaperOf(e.Name).Name == p.Name {
				chosen = append(chosen, e)
			}
		}
	}
	return chosen, nil
}
