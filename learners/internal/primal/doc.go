// Package primal is the room of weight vectors: what learners share that keep one number a feature.
//
//	block.go      checks of blocks; inner products, sums and lengths of examples in work precision
//	linear.go     [Linear], the weights of a single linear learner and Learn's first steps
//	lengths.go    which lengths of examples a rule can divide by, and which margin counts as none
//	pow.go        [Pow], powers with the same bits on every CPU, for p-norms
//	predictor.go  hypotheses w.x + b: what Score, Snapshot and files of weights alone use
//	memory.go     parts of Config.Memory
//
// Every learner uses its checks; perceptron, alma, lms, pa, micra, romma and cramma embed [Linear],
// most of the rest score by [WideWeights]. The rooms margin, kept, ensemble, gauss and smo stand on
// this one.
package primal
