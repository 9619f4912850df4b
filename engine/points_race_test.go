//go:build race

package engine

// raceEnabled: what vecmath reports to the race detector makes operands on the stack escape, so
// allocations can't be counted.
const raceEnabled = true
