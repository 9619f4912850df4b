// Package serve lets other programs use models while they learn: by HTTP, or by any other way that
// hands a [Request] over and takes the [Answer]. It has no flags and no terminal.
//
// A [Server] holds models by name. Each has one queue and one goroutine that learns, in the order
// in which requests were accepted; what predicts are immutable copies, published as it learns on,
// so that no prediction waits for learning. The number of such a copy, which is in each answer, is
// that of the examples behind it: the same file and the same log give the same answer again.
//
// Rows are read by the parsers of package internal/format, and learned and scored by package
// halfspace: they have the scores that the command gives for the same rows in files.
//
// With a log (see [Model]) each accepted request is written down before it is learned. A server
// that was killed goes on from its last checkpoint and the rest of the log to the bytes of one that
// wasn't, and [Replay] makes them of the log alone.
package serve
