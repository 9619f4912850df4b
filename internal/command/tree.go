package command

import (
	"io"

	"github.com/spf13/cobra"
)

// Tree returns the command with all that is below it, topics of the help included. The program has
// no use for it: its man pages and completions are made of it where releases are.
func Tree() *cobra.Command { return newRootCmd(io.Discard) }
