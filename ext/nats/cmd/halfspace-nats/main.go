// Command halfspace-nats is the command halfspace that reads and answers on streams of NATS
// JetStream, too: halfspace-nats help nats says how they are named.
package main

import (
	"context"
	"os"

	"github.com/halfspace-ml/halfspace/ext/nats"
	"github.com/halfspace-ml/halfspace/internal/command"
)

func main() { os.Exit(run()) }

func run() int {
	return command.Run(command.Source{Scheme: nats.Scheme,
		Summary: "Streams of NATS JetStream, and how they are named", Help: nats.Help,
		Name: nats.Name, Open: nats.Messages,
		Answer: func(ctx context.Context, url, from string) (command.Answers, error) {
			return nats.Answer(ctx, url, from)
		}})
}
