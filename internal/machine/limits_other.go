//go:build !linux

package machine

// addressSpace returns 0: no limit is known here.
func addressSpace() int64 { return 0 }
