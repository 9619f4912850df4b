//go:build !linux

package command

import (
	"io"
	"testing"
	"time"
)

// awaitRead waits for so long that the other end of a pipe should have read what was written to it:
// the system can't be asked.
func awaitRead(t *testing.T, pipe io.Writer) { time.Sleep(500 * time.Millisecond) }

// plainPages is nothing where memory isn't measured.
func plainPages() {}
