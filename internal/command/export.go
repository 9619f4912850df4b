package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/internal/exchange"
	"github.com/halfspace-ml/halfspace/model"
)

// exportReport is what export prints with --json.
type exportReport struct {
	Schema string   `json:"schema"`
	To     string   `json:"to"`
	Model  string   `json:"model"`
	Output string   `json:"output"`
	Notes  []string `json:"notes"` // in what the file is not the model
}

func newExportCmd() *cobra.Command {
	var (
		to        choice
		from, out string
		asJSON    bool
	)
	cmd := &cobra.Command{
		Use:   "export --to FORMAT -i MODEL -o FILE [flags]",
		Short: "Write a model in another program's format",
		Long:  helpText("export"),
		Example: `  halfspace export --to text -i a9a.model | head
  halfspace export --to onnx -i a9a.model -o a9a.onnx`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return Usage("Name the model by -i, and the file by -o: export -i MODEL -o FILE.",
				"export takes no arguments, got %q", args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !cmd.Flags().Changed("to") {
				return Usage("One of: "+strings.Join(exchange.Targets(), ", ")+".", "no --to")
			}
			if from == "" {
				return Usage("Name it with -i FILE; train -m FILE writes one.", "no model")
			}
			m, err := loadModel(from)
			if err != nil {
				return err
			}
			if asJSON && (out == "" || out == "-") {
				return Usage("Name a file with -o FILE.", "--json: the model goes to stdout")
			}
			notes, err := exportModel(cmd, to.value, from, m, out)
			if err != nil {
				return err
			}
			for _, note := range notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "halfspace: note: %s\n", note)
			}
			if asJSON {
				return PrintJSON(stdout(cmd), exportReport{schema, to.value, from, out,
					append([]string{}, notes...)})
			}
			return nil
		},
	}
	fs := cmd.Flags()
	choose(fs, &to, "to", "the form", exchange.Targets()...)
	fs.StringVarP(&from, "from", "i", "", "the model `FILE`")
	fs.StringVarP(&out, "output", "o", "", "write to `FILE`, which appears whole or not at all")
	fs.BoolVar(&asJSON, "json", false, "print one JSON document")
	Names(fs, UseRead, "from")
	Names(fs, UseOutput, "output")
	return cmd
}

// exportModel writes the model.
func exportModel(cmd *cobra.Command, to, from string, m *model.Model, out string) ([]string,
	error) {
	w, err := newOutput(stdout(cmd), out)
	if err != nil {
		return nil, err
	}
	var whole strings.Builder // stdout has no half a model
	notes, err := exchange.Export(&whole, to, m)
	if err != nil {
		w.finish(err)
		return nil, modelError(from, err)
	}
	_, err = w.WriteString(whole.String())
	return notes, w.finish(err)
}

func newImportCmd() *cobra.Command {
	var (
		from   choice
		to     string
		output printFlags
	)
	cmd := &cobra.Command{
		Use:   "import --from FORMAT -o MODEL FILE [flags]",
		Short: "Convert another program's model",
		Long:  helpText("import"),
		Example: `  liblinear-train -q a9a a9a.liblinear
  halfspace import --from liblinear -o a9a.model a9a.liblinear`,
		Annotations: args(UseRead),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !cmd.Flags().Changed("from"):
				return Usage("One of: "+strings.Join(exchange.Sources(), ", ")+".", "no --from")
			case to == "":
				return Usage("Name the file with -o FILE.", "no place for the model")
			case len(args) != 1:
				return Usage("Name the model of the other program.", "%s: want one",
					Plural(len(args), "file"))
			}
			r, err := importModel(from.value, args[0], to)
			if err != nil {
				return err
			}
			return output.print(cmd, r, summaryRows{
				{"learner", r.Learner + ", " + r.Precision},
				{"model", r.Model + " sha256 " + r.SHA256},
			}.write)
		},
	}
	fs := cmd.Flags()
	choose(fs, &from, "from", "the form", exchange.Sources()...)
	fs.StringVarP(&to, "output", "o", "", "write the model to `FILE`, which appears whole or not "+
		"at all")
	Names(fs, UseModel, "output")
	output.flags(fs)
	return cmd
}

// importReport is what import prints with --json.
type importReport struct {
	Schema    string   `json:"schema"`
	From      string   `json:"from"`
	File      string   `json:"file"`
	Learner   string   `json:"learner"`
	Precision string   `json:"precision"`
	Classes   []string `json:"classes"`
	Model     string   `json:"model"`
	SHA256    string   `json:"model_sha256"`
}

func importModel(from, file, to string) (*importReport, error) {
	var in io.Reader = os.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, &fail{CodeModel, fmt.Errorf("%s: %w", file, PathCause(err)),
				"Check the name and its permissions."}
		}
		defer f.Close()
		in = f
	}
	m, err := exchange.Import(from, bufio.NewReader(in))
	if err != nil {
		return nil, importError(file, err)
	}
	sum, err := model.Save(to, m)
	if err != nil {
		return nil, saveError(to, "nothing was saved", err)
	}
	classes := m.Prep.Classes
	if l := m.Prep.Labels; len(classes) == 0 {
		classes = []string{l.Negative, l.Positive}
	}
	return &importReport{schema, from, file, m.Learner, m.Precision, classes, to, sum}, nil
}

// importError gives an error of a model of another program its exit code.
func importError(file string, err error) error {
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return &fail{CodeModel, fmt.Errorf("%s: %w", file, path.Err), "Check the file."}
	}
	what, next := splitNext(err.Error())
	if next == "" {
		next = "Check the file and --from."
	}
	return &fail{CodeModel, &explained{file + ": " + what, err}, next}
}
