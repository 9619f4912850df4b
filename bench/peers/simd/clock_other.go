//go:build !linux

package main

import "time"

var start = time.Now()

// cpuTime is the time that passes: other programs count.
func cpuTime() time.Duration { return time.Since(start) }
