// Command halfspace-bench measures kernels and learners, and runs the papers' experiments again.
package main

import (
	"os"

	"github.com/halfspace-ml/halfspace/bench"
)

func main() { os.Exit(bench.Run()) }
