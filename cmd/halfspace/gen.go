package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// newGenCmd makes a command of each generator, whose parameters are flags.
func newGenCmd() *cobra.Command {
	var list strings.Builder
	for _, g := range dataset.Generators() {
		fmt.Fprintf(&list, "  %-10s %s\n", g.Name, g.Summary)
	}
	cmd := &cobra.Command{
		Use:   "gen NAME [flags]",
		Short: "Write synthetic examples as svmlight text",
		Long: `Write synthetic examples as svmlight text, to stdout or a file. Equal parameters give equal text everywhere.

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
				return usage(next, "no generator")
			}
			if near := nearest(args[0], names); near != "" {
				next = "Did you mean " + near + "? " + next
			}
			return usage(next, "no generator %q", args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	for _, g := range dataset.Generators() {
		cmd.AddCommand(newGeneratorCmd(g))
	}
	return cmd
}

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
			if precision.value == "f64" {
				return gen[float64](cmd, g.Name, params, out, 64)
			}
			return gen[float32](cmd, g.Name, params, out, 32)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	for _, p := range g.Params {
		short := ""
		if len(p.Name) == 1 {
			short = p.Name
		}
		fs.VarP(&setting{name: p.Name, typ: "value", text: p.Default}, p.Name, short, p.Help)
	}
	choose(fs, &precision, "precision", "f64: values to 17 digits; f32: to the 9 that single precision can hold", "f32", "f64")
	fs.StringVarP(&out, "output", "o", "", "write to `FILE`, which appears whole or not at all")
	return cmd
}

// gen writes the examples. Zeros are left out; features count from 1.
func gen[T engine.Float](cmd *cobra.Command, name string, params map[string]string, out string, bits int) error {
	data, err := dataset.Generate[T](name, params)
	if err != nil {
		switch {
		case errors.Is(err, dataset.ErrOption):
			return &fail{codeUsage, err, "The parameters: halfspace gen " + name + " --help."}
		case errors.Is(err, fs.ErrNotExist):
			return &fail{codeData, err, "Check the name."}
		}
		return dataError(err, "nothing was written")
	}
	w, err := newOutput(stdout(cmd), out)
	if err != nil {
		return err
	}
	b := &data.Block
	var line []byte
	for i := range b.Len() {
		if i%1024 == 0 && cmd.Context().Err() != nil {
			err = &fail{codeStopped, errStopped, ""}
			break
		}
		line = append(line[:0], data.Info.Labels.Negative...)
		if b.Y[i] > 0 {
			line = append(line[:0], data.Info.Labels.Positive...)
		}
		for j, v := range b.Row(i) {
			if v != 0 {
				line = append(line, ' ')
				line = strconv.AppendInt(line, int64(j+1), 10)
				line = append(line, ':')
				line = strconv.AppendFloat(line, float64(v), 'g', -1, bits)
			}
		}
		line = append(line, '\n')
		if _, err = w.Write(line); err != nil {
			break
		}
	}
	return w.finish(err)
}
