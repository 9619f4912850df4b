package command

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/spelling"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Verb is a command below a program.
type Verb struct {
	Name string
	Make func() *cobra.Command
}

// verbs makes every command; one file each.
var verbs = []Verb{
	{"train", newTrainCmd},
	{"predict", newPredictCmd},
	{"cv", newCVCmd},
	{"tune", newTuneCmd},
	{"compare", newCompareCmd},
	{"evaluate", newEvaluateCmd},
	{"merge", newMergeCmd},
	{"inspect", newInspectCmd},
	{"diff", newDiffCmd},
	{"export", newExportCmd},
	{"import", newImportCmd},
	{"gen", newGenCmd},
	{"convert", newConvertCmd},
	{"data", newDataCmd},
	{"serve", newServeCmd},
	{"bench", func() *cobra.Command {
		return newBenchVerb("bench", "Benchmark kernels and learners against other programs")
	}},
	{"repro", func() *cobra.Command {
		return newBenchVerb("repro",
			"Reproduce the papers' tables and figures")
	}},
	{"doctor", newDoctorCmd},
	{"version", newVersionCmd},
}

// Run runs the command line of the process, in which streams of the sources may stand, and returns
// its exit code. It is called once.
func Run(from ...Source) int {
	sources = from
	return run(func(out io.Writer) *cobra.Command { return rootFor(out, os.Args[1:]) })
}

// RunProgram runs another program, of a few verbs, with the process's command line. It returns its
// exit code.
func RunProgram(name, short, example string, verbs []Verb) int {
	return run(func(out io.Writer) *cobra.Command {
		return NewProgram(out, name, short, example, verbs)
	})
}

// NewProgram makes the command of another program.
func NewProgram(out io.Writer, name, short, example string, verbs []Verb) *cobra.Command {
	root := newBareRoot(out)
	root.Use, root.Short, root.Long, root.Example = name, short, short+".", example
	for _, verb := range verbs {
		root.AddCommand(verb.Make())
	}
	finishRoot(root)
	return root
}

// run runs a command with the process's command line.
func run(makeRoot func(out io.Writer) *cobra.Command) int {
	if err := vecmath.Err(); err != nil {
		fmt.Fprintf(os.Stderr, "halfspace: %v\n", err)
		return CodeUsage
	}
	ctx := untilStopped() // the work ends between two blocks
	keepBrokenPipes()

	out := &results{watched{Writer: os.Stdout}}
	root := makeRoot(out)
	err := root.ExecuteContext(ctx)
	code, next := explain(err)
	switch {
	case code == CodeStopped && !errors.Is(err, ErrStopped):
		err = ErrStopped
	case code == CodeStopped: // whatever became of stdout: a terminal that has gone takes no words
	case out.err != nil && ctx.Err() != nil:
		err, code, next = ErrStopped, CodeStopped, ""
	case out.err != nil: // whatever came of it
		err = &fail{CodeFailed, fmt.Errorf("stdout: %w", PathCause(out.err)),
			"What was printed is not whole. Send it where there is room."}
		code, next = explain(err)
	}
	if err == nil || seenEnough(err) {
		return CodeGood
	}
	said := root.ErrOrStderr()
	fmt.Fprintf(said, "halfspace: %s\n", errorText(err))
	for line := range strings.Lines(withFlags(next)) {
		fmt.Fprintf(said, "  %s\n", strings.TrimRight(line, "\n"))
	}
	return code
}

// seenEnough reports whether an error is that whoever read our output does so no more. What a
// server ends on the network is an error as any other.
func seenEnough(err error) bool {
	return errors.Is(err, syscall.EPIPE) && !errors.As(err, new(*net.OpError))
}

// rootFor makes the command for a command line, whose results go to out: with the verb alone where
// the line begins with one, since making the flags of the others takes a third of a short run's
// time.
func rootFor(out io.Writer, args []string) *cobra.Command {
	for _, verb := range verbs {
		if len(args) > 0 && args[0] == verb.Name {
			root := newBareRoot(out)
			root.CompletionOptions.DisableDefaultCmd = true
			root.AddCommand(verb.Make())
			setHelp(root)
			return root
		}
	}
	return newRootCmd(out)
}

// newRootCmd makes the command with all that is below it.
func newRootCmd(out io.Writer) *cobra.Command {
	root := newBareRoot(out)
	for _, verb := range verbs {
		root.AddCommand(verb.Make())
	}
	root.AddCommand(newTopics()...)
	for _, s := range sources {
		root.AddCommand(&cobra.Command{Use: s.Scheme, Short: s.Summary, Long: s.Help})
	}
	finishRoot(root)
	return root
}

// finishRoot gives a command with all that is below it help and completion.
func finishRoot(root *cobra.Command) {
	setHelp(root)
	completeFlags(root)
	root.InitDefaultCompletionCmd() // now, to give a wrong shell its error
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = func(cmd *cobra.Command, args []string) error {
				const shells = "The shells: bash, zsh, fish, powershell."
				if len(args) > 0 {
					return Usage(shells, "no completion for %q", args[0])
				}
				return Usage(shells, "completion for which shell?")
			}
			c.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// newBareRoot makes the command without anything below it.
func newBareRoot(out io.Writer) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "halfspace",
		Short: "Learn linear and kernel classifiers with a large margin, one example at a time",
		Long: `halfspace learns linear and kernel classifiers with a large margin, one example at
a time.

Data and results go to stdout, everything said about them to stderr.`,
		Example: `  halfspace gen margin -n 2000 -o margin.svm
  halfspace train -a obpm --members 100 --tau 0.3 --epochs 3 --shuffle -m margin.model margin.svm
  halfspace predict -i margin.model margin.svm`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			next := "The commands: " + cmd.Name() + " help."
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				next = "Did you mean " + strings.Join(near, " or ") +
					"? All commands: " + cmd.Name() + " help."
			}
			return Usage(next, "unknown command %q", args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return printVersion(cmd, false)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := applySettings(cmd); err != nil {
				return err
			}
			return checkPlaces(cmd, args)
		},
	}
	root.SetOut(out)
	root.SuggestionsMinimumDistance = 2
	root.Flags().BoolVarP(&version, "version", "V", false, "print the version, as the command "+
		"version does")
	root.PersistentFlags().String("config", "", "TOML `FILE` with values for flags (see: "+
		"halfspace help env)")
	Names(root.PersistentFlags(), UseRead, "config")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelpCmd())
	return root
}

// newHelpCmd is cobra's help, except that a topic that doesn't exist is an error.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command or topic]",
		Short: "Help about a command or a topic",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			var names []string
			for _, sub := range c.Root().Commands() {
				if !sub.Hidden {
					names = append(names, sub.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			cmd, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return Usage("Commands and topics: halfspace help.", "no command and no topic %q",
					strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// flagError gives a flag that can't be used the form of all errors, with the nearest flag there is.
func flagError(cmd *cobra.Command, err error) error {
	next := "The flags: " + cmd.CommandPath() + " --help."
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if len(f.Name) > 2 { // two edits away from --p is everything short
				names = append(names, f.Name)
			}
		})
		if near := spelling.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			next = "Did you mean --" + near + "? " + next
		}
		dashes := "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		err = fmt.Errorf("unknown flag %s%s", dashes, unknown.GetSpecifiedName())
	}
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		if f := (*fail)(nil); errors.As(invalid.Unwrap(), &f) { // it has words of its own
			return f
		}
		err = fmt.Errorf("--%s %s: %w", invalid.GetFlag().Name, invalid.GetValue(),
			plainNumber(invalid.Unwrap()))
	}
	return &fail{code: CodeUsage, err: err, next: next}
}

// inputs is the Args of verbs that read files: at least one, each there, - at most once. A name
// that isn't there is looked for in the folder that HALFSPACE_DATA names.
func inputs(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, Usage("Name files of examples, or - for stdin.", "no data")
	}
	files := make([]string, len(args))
	stdin := false
	for i, name := range args {
		if name == "-" {
			if stdin {
				return nil, Usage("Stdin can be read once.", "- is given twice")
			}
			stdin = true
			files[i] = name
			continue
		}
		file, err := findInput(name)
		if err != nil {
			return nil, err
		}
		files[i] = file
	}
	return files, nil
}

// stdout is where results go.
func stdout(cmd *cobra.Command) io.Writer { return cmd.OutOrStdout() }
