//go:build unix

package serve

import "syscall"

// mostFiles returns how many files the process may have open; 0 if that has no bound.
func mostFiles() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || uint64(r.Cur) > 1<<30 {
		return 0
	}
	return int(r.Cur)
}
