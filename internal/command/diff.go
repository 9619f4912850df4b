package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/internal/exchange"
	"github.com/halfspace-ml/halfspace/model"
)

// diffReport is what diff prints with --json.
type diffReport struct {
	Schema string    `json:"schema"`
	Models [2]string `json:"models"` // the files
	*exchange.Difference
}

func newDiffCmd() *cobra.Command {
	var (
		top    int
		strict bool
		output printFlags
	)
	cmd := &cobra.Command{
		Use:   "diff [flags] MODEL MODEL",
		Short: "Compare two models",
		Long: `Compare two models: settings, counters and other numbers of the file,
tensors, and for
models with weights the features whose weights changed most, matched by name, with the cosine of
both weight vectors and how many weights have another sign. Weights are those of rows as they are,
as in export --to text.

Exit code 0, whether they differ or not; with --strict 5 where they do.`,
		Example: `  halfspace diff monday.model tuesday.model
  halfspace diff --strict -q a.model b.model`,
		Annotations: args(UseRead),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 2:
				return Usage("See: halfspace diff --help.", "%s: want two",
					Plural(len(args), "model"))
			case top < 0:
				return Usage("0 shows none.", "--top %d: want 0 or more", top)
			}
			var models [2]*model.Model
			for i, name := range args {
				m, err := loadModel(name)
				if err != nil {
					return err
				}
				models[i] = m
			}
			d, err := exchange.Diff(models[0], models[1], top)
			if err != nil {
				return modelError(args[0]+" and "+args[1], err)
			}
			r := diffReport{schema, [2]string(args), d}
			err = output.print(cmd, r, func(w io.Writer) error { return printDiff(w, d) })
			if err == nil && strict && !d.Same {
				err = &fail{CodeGate, errors.New(args[0] + " and " + args[1] + " differ"),
					"Without --strict that is no error."}
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&top, "top", 20, "how many changed weights are shown")
	fs.BoolVar(&strict, "strict", false, "exit with code 5 where the models differ")
	output.flags(fs)
	return cmd
}

// printDiff prints differences, for people.
func printDiff(w io.Writer, d *exchange.Difference) error {
	if d.Same {
		_, err := fmt.Fprintln(w, "the same")
		return err
	}
	var rows summaryRows
	for _, f := range d.Fields {
		a, b := f.Shown()
		rows.add(f.Name, "%s -> %s", a, b)
	}
	for _, t := range d.Tensors {
		how := fmt.Sprintf("shape %v -> %v", t.A, t.B)
		if t.Differ != nil {
			how = fmt.Sprintf("%d elements differ, by %.6g at most", *t.Differ, *t.Largest)
		}
		rows.add("tensor "+t.Name, "%s", how)
	}
	if err := rows.write(w); err != nil {
		return err
	}
	for _, o := range d.Outputs {
		cosine := ""
		if o.Cosine != nil {
			cosine = fmt.Sprintf("cosine %.6g, ", *o.Cosine)
		}
		if _, err := fmt.Fprintf(w, "\n%s: %s%s by %.6g at most, %s\n", shownLabel(o.Class), cosine,
			Plural(o.Differ, "weight")+" changed", o.Largest,
			Plural(o.Signs, "sign")+" changed"); err != nil {
			return err
		}
		rows = nil
		if o.Bias[0] != o.Bias[1] {
			rows.add("  bias", "%s -> %s", signed(o.Bias[0]), signed(o.Bias[1]))
		}
		for _, t := range o.Top {
			rows.add("  "+shownLabel(t.Feature), "%s -> %s", signed(t.A), signed(t.B))
		}
		if err := rows.write(w); err != nil {
			return err
		}
	}
	return nil
}
