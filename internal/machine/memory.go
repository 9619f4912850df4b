package machine

import (
	"runtime/debug"

	"github.com/halfspace-ml/halfspace/internal/training"
)

// Of --mem-budget, measured on linux/amd64 (resident, Go 1.26): 20 to 24 MiB are the program's text
// and constants, which the collector doesn't manage, as far as they are used, and 3 to 4 MiB its
// runtime, flags and tables.
const (
	TextBytes    = 24 << 20
	ProgramBytes = TextBytes + 4<<20
)

// This is the memory that there is for a run; budget is --mem-budget, 0 without it.
func This(budget training.Bytes) training.Machine {
	limit, by := Limit()
	return training.Machine{Bytes: limit, By: by.Grants(), Program: ProgramBytes, Peak: PeakMemory,
		Limit: func(bytes int64) {
			// The machine's limit is no reason to raise one that the environment has set.
			if managed := bytes - TextBytes; budget > 0 ||
				managed > 0 && managed < debug.SetMemoryLimit(-1) {
				debug.SetMemoryLimit(managed)
			}
		}}
}

// PeakMemory returns the most resident memory of this process so far, in bytes; 0 where the system
// doesn't tell.
func PeakMemory() int64 { return KiBOf("/proc/self/status", "VmHWM:") }

// KiBOf returns the bytes that a line of a file of /proc states in kB, or 0.
func KiBOf(file, name string) int64 { return numberOf(file, name) << 10 }
