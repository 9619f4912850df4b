package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the CPU time that this thread has used: other programs on a busy machine don't count. The goroutine must be locked to
// its thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Since(started)
	}
	return time.Duration(t.Nano())
}
