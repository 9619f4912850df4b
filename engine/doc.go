// Package engine is what learners run on: blocks of examples, the pool of workers, kernel rows and
// random draws. It knows neither papers nor files: a learner brings the rule, dataset brings the
// examples.
//
//   - [Block]: a run of examples in order, CSR or dense, in float32 or float64.
//   - [Pool]: workers that run the numbered parts of a [Job], the caller among them. Owned,
//     closable, optional (nil).
//   - [Kernel], [Points], [Rows]: kernel values a row at a time, of lists of examples packed as
//     their values allow (bit sets, bytes, CSR, dense), and rows of a Gram matrix kept within a
//     number of bytes.
//   - [Draws], [Bernoulli], [Rand], [Permute]: random numbers as functions of (seed, stream, place
//     of use).
//   - [Aligned]: memory that starts on a cache line.
//
// # The same bits
//
// A result depends on the examples, the settings and the seed, and on nothing else: not on the CPU,
// the number of workers, or the size of blocks. For that
//
//   - work is cut into parts by its size alone, never by the number of workers, and partial results
//     are combined in the order of the cut;
//   - whether to use workers at all ([Pool.Worth]) is decided by size too, and both ways run the
//     same parts;
//   - a draw is a function of its counter, not of the draws before it;
//   - real arithmetic is in vecmath, whose order of operations is a contract, or fused and rounded
//     explicitly.
//
// # Units and numbering
//
// Lengths and strides are elements, not bytes. Examples, features, members and parts are numbered
// from 0. Times are nanoseconds. A mask has bit l%64 of word l/64 for member l.
//
// # Concurrency
//
// Blocks, Draws and Bernoulli are read only once made and can be shared; a Pool may be used by
// several goroutines; everything else belongs to one goroutine at a time. No goroutine starts by
// importing the package.
package engine
