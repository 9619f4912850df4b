package main

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/bench"
	"github.com/halfspace-ml/halfspace/engine"
)

// repro is one run of the verb.
type repro struct {
	list, strict, fresh bool
	json, csv, markdown bool
	html, plots, cache  string
	runs                int
	budget              time.Duration
	o                   bench.RunOptions
	prof                profiles
	quiet               bool
}

func newReproCmd() *cobra.Command {
	r := &repro{}
	cmd := &cobra.Command{
		Use:   "repro {all | PAPER | PAPER/EXPERIMENT}...",
		Short: "Run published tables and figures again, beside the papers' values",
		Long: `Run published tables and figures again, beside the papers' values.

A verdict is exact (an integer, equal, or all printed digits), inside (the 95 % intervals overlap, or as near as the note says), outside, or not-comparable (the data differ from the
paper's); the note says why. Files of public data sets are looked for in the folder HALFSPACE_DATA.

What an experiment gave is kept in --cache, under a key of the program, the options and the data, and taken from there the next time: an interrupted run of
all goes on where it was.`,
		Example: `  halfspace repro --list
  halfspace repro obpm/table1
  HALFSPACE_DATA=data halfspace repro cramma --strict
  HALFSPACE_DATA=data halfspace repro all --html report.html`,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&r.list, "list", false, "list the experiments")
	f.IntVar(&r.runs, "runs", 0, "runs of each row; 0 is the paper's number")
	f.BoolVar(&r.o.Slow, "slow", false, "also the rows that take longer than all others together")
	f.Uint64Var(&r.o.Seed, "seed", 1, "seed of the first run; the others count on")
	f.DurationVar(&r.budget, "time-budget", 0, "leave out experiments that would probably take longer than what is left of this, as 10m; they are listed")
	f.BoolVar(&r.json, "json", false, "print one JSON document: a list of rows")
	f.BoolVar(&r.csv, "csv", false, "print the rows as CSV")
	f.BoolVar(&r.markdown, "markdown", false, "print the rows as Markdown tables")
	f.StringVar(&r.html, "html", "", "write a report with tables and figures to `FILE`, one page that needs no network")
	f.StringVar(&r.plots, "plot", "", "draw the figures, as SVG and PNG, into the folder `DIR`")
	f.BoolVar(&r.strict, "strict", false, "exit with 5 when a row falls outside")
	f.StringVar(&r.cache, "cache", "", "`DIR` of outcomes (default: halfspace/repro in the user's cache folder)")
	f.BoolVar(&r.fresh, "fresh", false, "run everything, whatever the cache has")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "show no progress")
	r.prof.flags(f)
	return cmd
}

func (r *repro) run(cmd *cobra.Command, args []string) (err error) {
	w := stdout(cmd)
	if r.list {
		for _, e := range bench.Experiments() {
			fmt.Fprintf(w, "%-16s %s\n", e.Name, e.Summary)
		}
		return nil
	}
	flags := cmd.Flags()
	forms := 0
	for _, on := range []bool{r.json, r.csv, r.markdown} {
		if on {
			forms++
		}
	}
	switch {
	case len(args) == 0:
		return usage("The experiments: halfspace repro --list.", "no experiment")
	case flags.Changed("runs") && r.runs < 2:
		return usage("A row is a mean with its interval; tables without draws take no --runs.", "--runs %d: want 2 or more", r.runs)
	case forms > 1:
		return usage("Choose one of them.", "--json, --csv and --markdown exclude each other")
	case r.budget < 0:
		return usage("0 is no limit.", "--time-budget %v: negative", r.budget)
	}
	chosen, err := chooseExperiments(args)
	if err != nil {
		return err
	}
	if r.html != "" {
		if err := checkTarget("--html", r.html); err != nil {
			return err
		}
	}
	if r.plots != "" {
		if err := os.MkdirAll(r.plots, 0o755); err != nil {
			return &fail{codeFailed, fmt.Errorf("--plot %s: %w", r.plots, pathCause(err)), "Name a folder that can be written."}
		}
	}
	if r.cache == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			r.cache = filepath.Join(dir, "halfspace", "repro")
		}
	}
	stop, err := r.prof.start(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	pool := engine.NewPool(0)
	defer pool.Close()
	r.o.Pool, r.o.DataDir, r.o.Runs = pool, bench.DataDir(), r.runs

	rows := []bench.Row{} // [] in JSON, never null
	report := bench.Report{Machine: bench.Machine(), Version: "halfspace " + buildVersion().Version, Seed: r.o.Seed}
	started := time.Now()
	for i, e := range chosen {
		out, err := r.outcome(cmd, e, len(chosen) > 1, i, len(chosen), started)
		if errors.Is(err, fs.ErrNotExist) {
			return &fail{codeData, err, "HALFSPACE_DATA names the folder of the public data sets."}
		}
		if err != nil {
			return err
		}
		report.Outcomes = append(report.Outcomes, out)
		rows = append(rows, out.Rows...)
		switch {
		case r.json || r.csv:
		case out.Skipped != "":
			fmt.Fprintf(w, "%s: not run: %s\n", e.Name, out.Skipped)
		case r.markdown:
			err = writeMarkdown(w, out)
		default:
			fmt.Fprintf(w, "%s: %s\n", e.Name, e.Summary)
			err = writeRows(w, out.Rows)
		}
		if err != nil {
			return err
		}
		for _, f := range out.Figures {
			if r.plots == "" {
				break
			}
			names, err := f.WriteFiles(r.plots)
			if err != nil {
				return &fail{codeFailed, err, "Is there room in the folder of --plot?"}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", strings.Join(names, "\n"))
		}
	}
	if r.plots != "" && !slices.ContainsFunc(report.Outcomes, func(o bench.Outcome) bool { return len(o.Figures) > 0 }) {
		fmt.Fprintln(cmd.ErrOrStderr(), "no figures: these experiments are tables")
	}
	switch {
	case r.json:
		err = printJSON(w, rows)
	case r.csv:
		err = writeCSV(w, rows)
	case len(chosen) > 1:
		err = writeVerdicts(w, report.Outcomes)
	}
	if err != nil {
		return err
	}
	if r.html != "" {
		out, err := newOutput(w, r.html)
		if err != nil {
			return err
		}
		if err := out.finish(report.WriteHTML(out)); err != nil {
			return &fail{codeFailed, fmt.Errorf("--html %s: %w", r.html, pathCause(err)), "Name a file that can be written."}
		}
	}
	if r.strict {
		return outsideRows(rows)
	}
	return nil
}

// outcome runs an experiment, or takes what it gave from the cache. Among several, one whose data are missing or that doesn't fit into the time is left out, with the
// reason.
func (r *repro) outcome(cmd *cobra.Command, e bench.Experiment, several bool, at, of int, started time.Time) (bench.Outcome, error) {
	o := r.o
	if several && e.Runs == 1 {
		o.Runs = 0 // nothing is drawn: --runs is for the others
	}
	out := bench.Outcome{Name: e.Name, Summary: e.Summary, Command: r.command(e)}
	key, err := experimentKey(e, o)
	if err != nil {
		if several && errors.Is(err, fs.ErrNotExist) {
			out.Skipped = "a data file is missing: " + err.Error()
			return out, nil
		}
		return out, err
	}
	cache := bench.Cache{Dir: r.cache}
	if key != "" && !r.fresh && r.cache != "" {
		if have, ok := cache.Load(key); ok {
			have.Command = out.Command
			r.say(cmd, "[%d/%d] %s: as before (%.1f s then)", at+1, of, e.Name, have.Seconds)
			return have, nil
		}
	}
	if left := r.budget - time.Since(started); r.budget > 0 && several && e.About() > left.Seconds() {
		out.Skipped = fmt.Sprintf("it takes about %.0f s, and %.0f s of --time-budget %v are left", e.About(), max(0, left.Seconds()), r.budget)
		return out, nil
	}
	r.say(cmd, "[%d/%d] %s: about %.0f s", at+1, of, e.Name, e.About())
	began, last, n := time.Now(), time.Now(), 0
	o.Done = func(row bench.Row) {
		if n++; time.Since(last) > 5*time.Second {
			last = time.Now()
			r.say(cmd, "[%d/%d] %s: %d rows in %.0f s: %s %s %s, %s", at+1, of, e.Name, n, time.Since(began).Seconds(), row.Row, row.Quantity, row.OursText(), row.Verdict)
		}
	}
	o.Drawn = func(f bench.Figure) { out.Figures = append(out.Figures, f) }
	if out.Rows, err = bench.Repro(cmd.Context(), e, o); err != nil {
		return out, err
	}
	out.Seconds = time.Since(began).Seconds()
	if key != "" && r.cache != "" {
		if err := cache.Save(key, out); err != nil {
			r.say(cmd, "%s is not kept: %v", e.Name, err)
		}
	}
	return out, nil
}

// say tells how it goes.
func (r *repro) say(cmd *cobra.Command, format string, args ...any) {
	if !r.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...)
	}
}

// command is what runs an experiment again with the same result.
func (r *repro) command(e bench.Experiment) string {
	s := "halfspace repro " + e.Name
	if r.o.Seed != 1 {
		s += fmt.Sprintf(" --seed %d", r.o.Seed)
	}
	if r.runs != 0 && e.Runs > 1 {
		s += fmt.Sprintf(" --runs %d", r.runs)
	}
	if r.o.Slow {
		s += " --slow"
	}
	return s
}

// experimentKey names all that decides an outcome: the program, the options and the data. It is "" where the program can't be read.
func experimentKey(e bench.Experiment, o bench.RunOptions) (string, error) {
	h := sha256.New()
	for _, name := range e.Needs {
		if o.DataDir == "" {
			return "", fmt.Errorf("%s needs %s: %w", e.Name, name, fs.ErrNotExist)
		}
		info, err := os.Stat(filepath.Join(o.DataDir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, name, info.Size(), info.ModTime().UnixNano())
	}
	program, err := programSum()
	if err != nil {
		return "", nil
	}
	fmt.Fprintln(h, e.Name, o.Runs, o.Seed, o.Slow, program)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// programSum is the checksum of the running program's file.
var programSum = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

// chooseExperiments finds what the names stand for, each once, in the order of the papers.
func chooseExperiments(args []string) ([]bench.Experiment, error) {
	all := bench.Experiments()
	var names []string
	picked := map[string]bool{}
	for _, e := range all {
		names = append(append(names, e.Name), e.Draws...)
	}
	for _, a := range args {
		found := false
		for _, e := range all {
			if a == "all" || e.Name == a || strings.HasPrefix(e.Name, a+"/") || slices.Contains(e.Draws, a) {
				picked[e.Name], found = true, true
			}
		}
		if !found {
			next := "all, a paper's name, or one of: " + strings.Join(names, ", ") + "."
			if near := nearest(a, names); near != "" {
				next = "Did you mean " + near + "? " + next
			}
			return nil, usage(next, "no experiment %q", a)
		}
	}
	var chosen []bench.Experiment
	for _, p := range bench.Papers {
		for _, e := range all {
			if picked[e.Name] && bench.PaperOf(e.Name).Name == p.Name {
				chosen = append(chosen, e)
			}
		}
	}
	return chosen, nil
}

// rowTable is the rows as a table of go-pretty.
func rowTable(rows []bench.Row) table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"row", "quantity", "paper", "ours", "verdict", "s, all runs", "note"})
	for _, r := range rows {
		t.AppendRow(table.Row{r.Row, r.Quantity, r.PaperText(), r.OursText(), r.Verdict, fmt.Sprintf("%.3f", r.Seconds), r.Note})
	}
	return t
}

func writeMarkdown(w io.Writer, o bench.Outcome) error {
	_, err := fmt.Fprintf(w, "## %s\n\n%s. `%s`\n\n%s\n\n", o.Name, o.Summary, o.Command, rowTable(o.Rows).RenderMarkdown())
	return err
}

// writeCSV writes numbers as they are; an unknown one is empty.
func writeCSV(w io.Writer, rows []bench.Row) error {
	c := csv.NewWriter(w)
	c.Write([]string{"experiment", "row", "quantity", "paper", "paper_pm", "ours", "ours_pm", "runs", "verdict", "note", "seconds", "paper_seconds"})
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	maybe := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	for _, r := range rows {
		c.Write([]string{r.Experiment, r.Row, r.Quantity, maybe(r.Paper), number(r.PaperPM), number(r.Ours), number(r.OursPM), strconv.Itoa(r.Runs), string(r.Verdict),
			r.Note, number(r.Seconds), maybe(r.PaperSeconds)})
	}
	c.Flush()
	return c.Error()
}

// writeVerdicts sums up several experiments.
func writeVerdicts(w io.Writer, outcomes []bench.Outcome) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options.SeparateColumns = false
	t.Style().Options.DrawBorder = false
	kinds := []bench.Verdict{bench.Exact, bench.Inside, bench.Outside, bench.NotComparable}
	head := table.Row{"experiment"}
	for _, v := range kinds {
		head = append(head, v)
	}
	t.AppendHeader(append(head, "s"))
	total := map[bench.Verdict]int{}
	var seconds float64
	for _, o := range outcomes {
		row := table.Row{o.Name}
		if o.Skipped != "" {
			row = append(row, "not run", "", "", "", "")
		} else {
			for _, v := range kinds {
				n := o.Verdicts()[v]
				total[v] += n
				row = append(row, n)
			}
			row = append(row, fmt.Sprintf("%.1f", o.Seconds))
			seconds += o.Seconds
		}
		t.AppendRow(row)
	}
	foot := table.Row{"all"}
	for _, v := range kinds {
		foot = append(foot, total[v])
	}
	t.AppendFooter(append(foot, fmt.Sprintf("%.1f", seconds)))
	_, err := fmt.Fprintf(w, "%s\n", t.Render())
	return err
}

func outsideRows(rows []bench.Row) error {
	var out []string
	for _, r := range rows {
		if r.Verdict == bench.Outside {
			out = append(out, fmt.Sprintf("%s (%s)", r.Row, r.Quantity))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &fail{codeGate, fmt.Errorf("outside: %s", strings.Join(out, "; ")), "The notes of these rows say what is known."}
}
