package measure

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadTime is the CPU time that this thread has used: other programs on a busy machine don't
// count. The goroutine must be locked to its thread.
func ThreadTime() time.Duration { return cpuTime(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessTime is the CPU time that all threads have used, the garbage collector's too.
func ProcessTime() time.Duration { return cpuTime(unix.CLOCK_PROCESS_CPUTIME_ID) }

func cpuTime(clock int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return WallTime()
	}
	return time.Duration(t.Nano())
}
