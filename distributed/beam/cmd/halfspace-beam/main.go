// Command halfspace-beam is the command halfspace that can have train --by cut its work into parts,
// which workers of Apache Beam learn.
package main

import (
	"os"

	"github.com/halfspace-ml/halfspace/distributed/beam"
	"github.com/halfspace-ml/halfspace/distributed/beam/work"
	"github.com/halfspace-ml/halfspace/internal/command"
)

func main() { os.Exit(run()) }

// run is the command, or a worker that a runner of Beam has started.
func run() int {
	work.Explain = command.Explain
	if beam.Worker(os.Args[1:]) {
		return 0
	}
	r := &beam.Runner{}
	e := command.Elsewhere{Flags: r.Flags, Train: r.Train, Buckets: beam.Schemes}
	for _, w := range work.Ways() {
		e.Ways = append(e.Ways, command.Way{Name: w.Name, Summary: w.Summary,
			Shards: w.Shards})
	}
	return command.RunElsewhere(e)
}
