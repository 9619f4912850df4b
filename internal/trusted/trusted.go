// Package trusted holds the key to the kernels of vecmath that do not look at their indices. Only
// this module can import it, so only this module can call them: its blocks are checked once
// (engine.Block.Check), not at every call.
package trusted

// Indices is the caller's promise that every index of a call is inside what it indexes. It takes no
// room, and no register of a call.
type Indices struct{}
