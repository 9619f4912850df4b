// Command halfspace learns linear classifiers with a large margin, one example at a time, and uses
// them.
package main

import (
	"os"

	"github.com/halfspace-ml/halfspace/internal/command"
)

func main() { os.Exit(command.Run()) }
