//go:build !linux

package measure

import "time"

// ThreadTime is the time of the wall clock where the system doesn't give CPU time.
func ThreadTime() time.Duration { return WallTime() }

// ProcessTime is the time of the wall clock, too.
func ProcessTime() time.Duration { return WallTime() }
