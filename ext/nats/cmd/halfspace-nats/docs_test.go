package main

import (
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/brokertest"
	"github.com/halfspace-ml/halfspace/internal/commandtest"
)

// TestDocs runs the commands of docs/brokers.md that are marked for this module.
func TestDocs(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := b.client()
	fill(t, c, "ROWS", "rows", brokertest.Rows(2000), 1)
	commandtest.Docs(t, t.TempDir(), "../../../../docs/brokers.md", "nats", "halfspace-nats", 5,
		func(line string) string {
			return strings.ReplaceAll(line, "localhost:4222", b.Host())
		})
}
