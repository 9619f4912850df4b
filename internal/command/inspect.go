package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/internal/exchange"
	"github.com/halfspace-ml/halfspace/model"
)

// inspectReport is what inspect prints with --json.
type inspectReport struct {
	Schema string `json:"schema"`
	Model  string `json:"model"` // the file
	*exchange.Summary
	Why *exchange.Explanation `json:"why,omitempty"` // with --why
}

func newInspectCmd() *cobra.Command {
	var (
		why    string
		top    int
		output printFlags
	)
	cmd := &cobra.Command{
		Use:   "inspect [flags] MODEL",
		Short: "Show a model, or explain a score",
		Long:  helpText("inspect"),
		Example: `  halfspace inspect a9a.model
  halfspace inspect --why "3:1 11:1 14:1 83:1" a9a.model
  halfspace inspect --why a9a.t:17 --top 5 a9a.model`,
		Annotations: args(UseRead),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return Usage("See: halfspace inspect --help.", "%s: want one",
					Plural(len(args), "model"))
			case top < 0:
				return Usage("0 shows none.", "--top %d: want 0 or more", top)
			}
			m, err := loadModel(args[0])
			if err != nil {
				return err
			}
			if err := m.State.CheckSums(0); err != nil {
				return modelError(args[0], fmt.Errorf("%w: %w; train it anew", err,
					model.ErrDamaged))
			}
			s, err := exchange.Inspect(m, top)
			if err != nil {
				return modelError(args[0], err)
			}
			r := inspectReport{Schema: schema, Model: args[0], Summary: s}
			if cmd.Flags().Changed("why") {
				if r.Why, err = explainRow(cmd.Context(), args[0], m, why, top); err != nil {
					return err
				}
			}
			_, config, err := m.Settings()
			if err != nil {
				return modelError(args[0], err)
			}
			return output.print(cmd, r, func(w io.Writer) error {
				if r.Why != nil {
					return printWhy(w, r.Why)
				}
				return printSummary(w, s, describeConfig(m.Learner, config))
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&why, "why", "", "show how the model scores `ROW`: a row of the model's format, "+
		"or FILE:N, the Nth example of a file")
	fs.IntVar(&top, "top", 20, "how many weights, parts of a score and kept examples are shown")
	output.jsonFlag(fs)
	return cmd
}
