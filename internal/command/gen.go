package command

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/spelling"
)

// newGenCmd makes a command of each generator, whose parameters are flags.
func newGenCmd() *cobra.Command {
	var list strings.Builder
	for _, g := range dataset.Generators() {
		fmt.Fprintf(&list, "  %-10s %s\n", g.Name, g.Summary)
	}
	cmd := &cobra.Command{
		Use:   "gen NAME [flags]",
		Short: "Generate synthetic examples",
		Long: `Generate synthetic examples, to stdout or a file. Equal parameters
give equal text everywhere.

Generators:
` + list.String(),
		Example: `  halfspace gen margin -n 2000 --noise 0.1 > train.svm
  halfspace gen margin -n 2000 --split test -o test.svm`,
		Args: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, g := range dataset.Generators() {
				names = append(names, g.Name)
			}
			next := "The generators: " + strings.Join(names, ", ") + "."
			if len(args) == 0 {
				return Usage(next, "no generator")
			}
			if near := spelling.Nearest(args[0], names); near != "" {
				next = "Did you mean " + near + "? " + next
			}
			return Usage(next, "no generator %q", args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	for _, g := range dataset.Generators() {
		cmd.AddCommand(newGeneratorCmd(g))
	}
	return cmd
}

// fileParams are parameters of generators that name files.
var fileParams = []string{"images", "labels"}

func newGeneratorCmd(g dataset.Generator) *cobra.Command {
	var out string
	var precision choice
	cmd := &cobra.Command{
		Use:   g.Name + " [flags]",
		Short: upper(g.Summary),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			params := map[string]string{}
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if p, ok := f.Value.(*setting); ok {
					params[f.Name] = p.text
				}
			})
			for _, files := range fileParams {
				if name := params[files]; name != "" && cmd.Flags().Changed(files) {
					found, err := findInput(name)
					if err != nil {
						return err
					}
					params[files] = found
				}
			}
			if precision.value == "f64" {
				return gen[float64](cmd, g.Name, params, out, 64)
			}
			return gen[float32](cmd, g.Name, params, out, 32)
		},
	}
	fs := cmd.Flags()
	for _, p := range g.Params {
		short := ""
		if len(p.Name) == 1 {
			short = p.Name
		}
		fs.VarP(&setting{name: p.Name, typ: "value", text: p.Default}, p.Name, short, p.Help)
		if slices.Contains(fileParams, p.Name) {
			Names(fs, UseExamples, p.Name)
		}
	}
	choose(fs, &precision, "precision", "f64: values to 17 digits; f32: to the 9 that single "+
		"precision can hold", "f32", "f64")
	fs.StringVarP(&out, "output", "o", "", "write to `FILE`, which appears whole or not at all")
	Names(fs, UseOutput, "output")
	return cmd
}

// gen writes the examples one by one, so that there may be any number of them. Zeros are left out;
// features count from 1.
func gen[T engine.Float](cmd *cobra.Command, name string, params map[string]string, out string,
	bits int) error {
	var w *output
	var line []byte
	n := 0
	err := dataset.GenerateEach(name, params, func(x []T, positive bool) (err error) {
		if w == nil { // the parameters are good
			if w, err = newOutput(stdout(cmd), out); err != nil {
				return err
			}
		}
		if n++; n%1024 == 0 && cmd.Context().Err() != nil {
			return &fail{CodeStopped, ErrStopped, ""}
		}
		if line = append(line[:0], "-1"...); positive {
			line = append(line[:0], "+1"...)
		}
		for j, v := range x {
			if v != 0 {
				line = append(line, ' ')
				line = strconv.AppendInt(line, int64(j+1), 10)
				line = append(line, ':')
				line = strconv.AppendFloat(line, float64(v), 'g', -1, bits)
			}
		}
		line = append(line, '\n')
		_, err = w.Write(line)
		return err
	})
	if w != nil {
		err = w.finish(err)
	}
	switch {
	case errors.Is(err, dataset.ErrOption):
		return &fail{CodeUsage, err, "The parameters: halfspace gen " + name + " --help."}
	case errors.Is(err, fs.ErrNotExist):
		return &fail{CodeData, err, "Check the name."}
	}
	return dataError(err, "nothing was written")
}
