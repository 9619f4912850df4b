// Command halfspace-bench measures kernels and learners, and runs the papers' experiments again.
package main

import (
	"os"

	"github.com/halfspace-ml/halfspace/internal/benchcommand"
)

func main() { os.Exit(benchcommand.Run()) }
