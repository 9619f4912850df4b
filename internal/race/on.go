//go:build race

// Package race says whether the race detector is on, for tests: reporting the assembly's reads and
// writes to it allocates, and it slows everything down several times.
package race

// Enabled is true in builds with -race.
const Enabled = true
