package machine

import (
	"math"
	"syscall"
)

// addressSpace returns the limit of this process's address space (ulimit -v) in bytes; 0 if there
// is none.
func addressSpace() int64 {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &r) != nil || uint64(r.Cur) > math.MaxInt64/2 {
		return 0
	}
	return int64(r.Cur)
}
