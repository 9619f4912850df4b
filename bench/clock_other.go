//go:build !linux

package bench

import "time"

// threadTime is the time of the wall clock where the system doesn't tell CPU time.
func threadTime() time.Duration { return WallTime() }

func ProcessTime() time.Duration { return WallTime() }
