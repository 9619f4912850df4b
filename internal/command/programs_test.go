package command_test

import (
	"os"

	"github.com/halfspace-ml/halfspace/bench"
	"github.com/halfspace-ml/halfspace/internal/command"
)

// The scripts and the documents run halfspace-bench, too. Its package imports this one, so that
// only the outer test package can.
func init() {
	command.Programs["halfspace-bench"] = func() { os.Exit(bench.Run()) }
}
