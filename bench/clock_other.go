//go:build !linux

package bench

import "time"

// threadTime is the time of the wall clock where the system doesn't tell a thread's CPU time.
func threadTime() time.Duration { return time.Since(started) }
