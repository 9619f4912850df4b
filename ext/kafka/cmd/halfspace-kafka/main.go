// Command halfspace-kafka is the command halfspace that reads and answers on topics of
// Kafka, too: halfspace-kafka help kafka says how they are named.
package main

import (
	"context"
	"os"

	"github.com/halfspace-ml/halfspace/ext/kafka"
	"github.com/halfspace-ml/halfspace/internal/command"
)

func main() { os.Exit(run()) }

func run() int {
	return command.Run(command.Source{Scheme: kafka.Scheme,
		Summary: "Partitions of Kafka topics, and how they are named", Help: kafka.Help,
		Name: kafka.Name, Open: kafka.Messages,
		Answer: func(ctx context.Context, url, from string) (command.Answers, error) {
			return kafka.Answer(ctx, url, from)
		}})
}
