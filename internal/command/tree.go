package command

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Tree returns the command with all that is below it, topics of the help included. The program has
// no use for it: its man pages and completions are made of it where releases are.
func Tree() *cobra.Command { return newRootCmd(io.Discard) }

// OfLearner reports whether a flag of the command's is a setting of learners, not the verb's own.
func OfLearner(f *pflag.Flag) bool { return ofLearner(f) }
