package main

import (
	"testing"

	"github.com/halfspace-ml/halfspace/internal/commandtest"
)

// TestDocs runs the commands of docs/distributed.md that are marked for this module.
func TestDocs(t *testing.T) {
	t.Parallel()
	commandtest.Docs(t, t.TempDir(), "../../../../docs/distributed.md", "beam", "halfspace-beam", 4,
		nil)
}
