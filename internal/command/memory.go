package command

import (
	"runtime/debug"

	"github.com/halfspace-ml/halfspace/internal/training"
)

// Of --mem-budget, measured on linux/amd64 (resident, Go 1.26): 20 to 24 MiB are the program's text
// and constants, which the collector doesn't manage, as far as they are used, and 3 to 4 MiB its
// runtime, flags and tables.
const (
	textBytes    = 24 << 20
	programBytes = textBytes + 4<<20
)

// thisMachine is the memory that there is for a run; budget is --mem-budget, 0 without it.
func thisMachine(budget int64) training.Machine {
	limit, by := memoryLimit("/", addressSpace())
	return training.Machine{Bytes: limit, By: by.grants(), Program: programBytes, Peak: peakMemory,
		Limit: func(bytes int64) {
			// The machine's limit is no reason to raise one that the environment has set.
			if managed := bytes - textBytes; budget > 0 ||
				managed > 0 && managed < debug.SetMemoryLimit(-1) {
				debug.SetMemoryLimit(managed)
			}
		}}
}

// peakMemory returns the most resident memory of this process so far, in bytes; 0 where the system
// doesn't tell.
func peakMemory() int64 { return kibOf("/proc/self/status", "VmHWM:") }

// kibOf returns the bytes that a line of a file of /proc states in kB, or 0.
func kibOf(file, name string) int64 { return numberOf(file, name) << 10 }
