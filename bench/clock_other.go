//go:build !linux

package bench

import "time"

// threadTime is the time of the wall clock where the system doesn't give CPU time.
func threadTime() time.Duration { return WallTime() }

// ProcessTime is the time of the wall clock, too.
func ProcessTime() time.Duration { return WallTime() }
