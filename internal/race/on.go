//go:build race

// Package race tells tests whether the race detector watches: what it is told of the assembly's
// reads and writes allocates, and it slows everything down several times.
package race

// Enabled is true in builds with -race.
const Enabled = true
