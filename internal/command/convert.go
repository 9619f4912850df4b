package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// convertReport is what convert prints with --json.
type convertReport struct {
	Schema   string   `json:"schema"`
	Files    []string `json:"files"`
	Format   string   `json:"format"` // of the files
	To       string   `json:"to"`
	Output   string   `json:"output"`
	Examples int      `json:"examples"`
	Features int      `json:"features"`
	Values   int64    `json:"values"`
	Classes  []string `json:"classes"`
	BadRows  int      `json:"bad_rows"`
	Lost     []string `json:"lost"` // what the file has no place for
}

// endings are those of names by which the format that is written is known, where no flag says it.
var endings = map[string]*format.Format{".svm": format.SVMLight, ".svmlight": format.SVMLight,
	".libsvm": format.SVMLight, ".csv": format.CSV, ".ndjson": format.NDJSON,
	".jsonl": format.NDJSON, ".vw": format.VW, ".npy": format.NPY, ".npz": format.NPZ}

// converter is the command convert.
type converter struct {
	cmd     *cobra.Command
	read    readFlags
	columns training.Data // what these are taken for, and no more
	to      choice
	out     string
	labels  string
	output  printFlags
}

func newConvertCmd() *cobra.Command {
	c := &converter{}
	c.cmd = &cobra.Command{
		Use:   "convert FILE... -o OUT [--to FORMAT] [flags]",
		Short: "Write examples in another format",
		Long:  helpText("convert"),
		Example: `  halfspace convert a9a -o a9a.npz
  halfspace convert rows.csv --label-col class -o - --to ndjson | head`,
		Annotations: args(UseExamples),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := inputs(args)
			if err != nil {
				return err
			}
			return c.run(files)
		},
	}
	fs := c.cmd.Flags()
	fs.StringVarP(&c.out, "output", "o", "", "write to `FILE`, which appears whole or not at all; "+
		"- is stdout")
	choose(fs, &c.to, "to", "the format that is written; auto: by the name of the output",
		append([]string{"auto"}, format.Written()...)...)
	fs.StringVar(&c.labels, "labels", "", "npy: write the labels to `FILE`")
	c.read.flags(fs)
	columnFlags(fs, &c.columns)
	c.output.flags(fs)
	Names(fs, UseOutput, "output")
	Names(fs, UseReplaced, "labels")
	return c.cmd
}

// target returns the name of the format that is written.
func (c *converter) target() (string, error) {
	if c.out == "" {
		return "", Usage("Name it with -o FILE; -o - is stdout.", "no output")
	}
	to := c.to.value
	if to == "auto" {
		f := endings[strings.ToLower(filepath.Ext(c.out))]
		if f == nil {
			return "", Usage("One of: "+strings.Join(format.Written(), ", ")+".",
				"-o %s: no format has that ending, and there is no --to", c.out)
		}
		to = f.Name
	}
	switch f := format.Lookup(to); {
	case f.Binary && c.out == "-":
		return "", Usage("Name a file with -o FILE.", "-o -: %s is no text", to)
	case c.output.json && c.out == "-":
		return "", Usage("Name a file with -o FILE.", "--json: the examples go to stdout")
	case (f == format.NPY) != (c.labels != ""):
		if f == format.NPY {
			return "", Usage("Name it with --labels FILE, or take npz.",
				"npy has the labels in a file of their own, and there is no --labels")
		}
		return "", Usage("Leave it out.", "--labels has no effect: %s has the labels in it", to)
	}
	return to, nil
}

// run converts the files.
func (c *converter) run(files []string) (err error) {
	to, err := c.target()
	if err != nil {
		return err
	}
	data := c.read.data(c.cmd.Flags())
	data.TextCols, data.NumberCols = c.columns.TextCols, c.columns.NumberCols
	data.IgnoreCols = c.columns.IgnoreCols
	o := data.Reading()
	o.OnBad = warnBadRows(c.cmd.ErrOrStderr())
	o.OnWarn = func(text string) {
		fmt.Fprintf(c.cmd.ErrOrStderr(), "halfspace: warning: %s\n", withFlags(text))
	}
	out, err := newOutput(stdout(c.cmd), c.out)
	if err != nil {
		return err
	}
	job := dataset.Conversion{To: to, Out: out}
	var labels *output
	if c.labels != "" {
		if labels, err = newOutput(io.Discard, c.labels); err != nil {
			out.finish(err)
			return err
		}
		job.Labels = labels
	}
	done, err := dataset.Convert(c.cmd.Context(), files, o, job)
	if err == nil {
		err = data.Idle(done.Format)
	}
	if labels != nil {
		err = labels.finish(err)
	}
	if err = out.finish(err); err != nil {
		return c.explain(err)
	}
	return c.report(files, to, done)
}

// explain gives an error its exit code and next step.
func (c *converter) explain(err error) error {
	switch {
	case c.cmd.Context().Err() != nil:
		return &fail{CodeStopped, ErrStopped, ""}
	case errors.Is(err, dataset.ErrNoPlace):
		text := strings.TrimSuffix(err.Error(), ": "+dataset.ErrNoPlace.Error())
		return &fail{CodeUsage, &explained{text, err},
			"Nothing was written. --to chooses the format."}
	case errors.As(err, new(*training.Error)):
		return optionError(c.cmd.Flags(), err)
	}
	return dataError(err, "nothing was written")
}

// report says what was done, on stderr where the examples went to stdout.
func (c *converter) report(files []string, to string, done *dataset.Converted) error {
	for _, what := range done.Lost {
		fmt.Fprintf(c.cmd.ErrOrStderr(), "halfspace: note: %s doesn't keep %s\n", to, what)
	}
	if c.output.json {
		return PrintJSON(stdout(c.cmd), convertReport{schema, files, done.Format, to, c.out,
			done.Rows, done.Dim, done.NonZeros, slices.Concat([]string{}, done.Classes),
			done.BadRows, slices.Concat([]string{}, done.Lost)})
	}
	if c.output.quiet {
		return nil
	}
	w := stdout(c.cmd)
	if c.out == "-" {
		w = c.cmd.ErrOrStderr()
	}
	_, err := fmt.Fprintf(w, "%s: %s of %s, %s, %s\n", c.out, Plural(done.Rows, "example"),
		Plural(done.Dim, "feature"), Plural(len(done.Classes), "label"), to)
	return err
}
