// Package bench is halfspace-bench: the verbs bench and repro. They have their own program
// because few users need them and they would be a tenth of the command.
package bench

import "github.com/halfspace-ml/halfspace/internal/command"

const (
	name    = "halfspace-bench"
	short   = "Measure kernels and learners, and run the papers' experiments again"
	example = `  halfspace-bench bench kernels
  halfspace-bench repro obpm/table1`
)

var verbs = []command.Verb{{Name: "bench", Make: newBenchCmd}, {Name: "repro", Make: newReproCmd}}

// Run runs the command line of the process and returns its exit code. It is called once.
func Run() int { return command.RunProgram(name, short, example, verbs) }
