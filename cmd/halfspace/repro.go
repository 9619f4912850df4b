package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/bench"
	"github.com/halfspace-ml/halfspace/engine"
)

func newReproCmd() *cobra.Command {
	var (
		list, asJSON, strict bool
		runs                 int
		plots                string
		o                    bench.RunOptions
		prof                 profiles
	)
	cmd := &cobra.Command{
		Use:   "repro [PAPER/EXPERIMENT]...",
		Short: "Run a published table again, beside the paper's values",
		Long: `Run a published table again, beside the paper's values.

A verdict is exact (an integer, equal, or all printed digits), inside (the 95 % intervals overlap, or as near as the note says), outside, or not-comparable (the data differ from the
paper's); the note says why. Files of public data sets are looked for in the folder HALFSPACE_DATA.`,
		Example: `  halfspace repro --list
  halfspace repro obpm/table1
  HALFSPACE_DATA=data halfspace repro obpm/table2 --runs 5`,
		RunE: func(cmd *cobra.Command, args []string) (e error) {
			w := stdout(cmd)
			if list {
				for _, e := range bench.Experiments() {
					fmt.Fprintf(w, "%-14s %s\n", e.Name, e.Summary)
				}
				return nil
			}
			if len(args) == 0 {
				return usage("The experiments: halfspace repro --list.", "no experiment")
			}
			if cmd.Flags().Changed("runs") && runs < 2 {
				return usage("A row is a mean with its interval; tables without draws take no --runs.", "--runs %d: want 2 or more", runs)
			}
			var chosen []bench.Experiment
			for _, name := range args {
				e, err := findExperiment(name)
				if err != nil {
					return err
				}
				chosen = append(chosen, e)
			}
			stop, err := prof.start(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() { e = errors.Join(e, stop()) }()
			pool := engine.NewPool(0)
			defer pool.Close()
			o.Pool, o.DataDir, o.Runs = pool, bench.DataDir(), runs
			var figures []bench.Figure
			if plots != "" {
				if err := os.MkdirAll(plots, 0o755); err != nil {
					return &fail{codeFailed, fmt.Errorf("--plot %s: %w", plots, pathCause(err)), "Name a folder that can be written."}
				}
				o.Drawn = func(f bench.Figure) { figures = append(figures, f) }
			}
			rows := []bench.Row{} // [] in JSON, never null
			for _, e := range chosen {
				if !asJSON {
					fmt.Fprintf(w, "%s: %s\n", e.Name, e.Summary)
				}
				these, err := bench.Repro(cmd.Context(), e, o)
				if errors.Is(err, fs.ErrNotExist) {
					return &fail{codeData, err, "HALFSPACE_DATA names the folder of the public data sets."}
				}
				if err != nil {
					return err
				}
				if !asJSON {
					if err := writeRows(w, these); err != nil {
						return err
					}
				}
				rows = append(rows, these...)
			}
			for _, f := range figures {
				names, err := f.WriteFiles(plots)
				if err != nil {
					return &fail{codeFailed, err, "Is there room in the folder of --plot?"}
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", strings.Join(names, "\n"))
			}
			if plots != "" && len(figures) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no figures: these experiments are tables")
			}
			if asJSON {
				if err := printJSON(w, rows); err != nil {
					return err
				}
			}
			if strict {
				return outsideRows(rows)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the experiments")
	f.IntVar(&runs, "runs", 0, "runs of each row; 0 is the paper's number")
	f.BoolVar(&o.Slow, "slow", false, "also the rows that take longer than all others together")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the first run; the others count on")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	f.StringVar(&plots, "plot", "", "draw the figures, as SVG and PNG, into the folder `DIR`")
	prof.flags(f)
	f.BoolVar(&strict, "strict", false, "exit with 5 when a row falls outside")
	return cmd
}

func findExperiment(name string) (bench.Experiment, error) {
	var names []string
	for _, e := range bench.Experiments() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return bench.Experiment{}, usage("The experiments: "+strings.Join(names, ", ")+".", "no experiment %q", name)
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
