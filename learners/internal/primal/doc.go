// Package primal is for weight vectors: what learners share that keep one number a feature.
//
//	block.go      checks of blocks; inner products, sums and lengths of examples in work precision
//	linear.go     [Linear], the weights of a single linear learner and Learn's first steps
//	lengths.go    which lengths of examples a rule can divide by, and which margin counts as none
//	pow.go        [Pow], powers with the same bits on every CPU, for p-norms
//	predictor.go  hypotheses w.x + b: what Score, Snapshot and files of weights alone use
//	memory.go     parts of Traits.Memory
//
// Every learner uses its checks; perceptron, alma, lms, pa, micra, romma and cramma embed [Linear],
// most of the rest score by [WideWeights]. The packages margin, kept, ensemble, gauss and smo stand
// on this one.
//
// Invariants:
//
//   - A call that returns an error of a check has changed nothing.
//   - A feature beyond the weights has weight 0, and leaving it out gives the bits that a 0 in the
//     weights would: results don't depend on when features are first seen.
//   - Scores of a learner, of its Snapshot and of a file of predictions alone are made by the same
//     code, and are the same to the bit.
//   - Products that could be fused with a sum are rounded by a conversion, float64(a*b), wherever a
//     compiler might fuse them: the bits are those of every architecture.
package primal
