// Package margin is the room of runs over a whole data set towards a large margin: the loops of
// Fit, where they may be cut and go on, and what they report.
//
//	cycle.go    passes over scores kept up to date by Gram rows, or over weights carried along:
//	            perceptron, alma, cramma
//	passes.go   passes that ask the learner itself about each example, with the active set and the
//	            halving of the accuracy: romma, micra, pumma
//	scaled.go   [ScaledLinear], weights with a factor, and their Fit by passes: romma, micra
//	rows.go     [RowSolver], romma and pumma over the rows of a Gram matrix: with a kernel
//	cut.go      where a run was stopped, as a State, so that another goes on to the bit
//	twofold.go  sums with their rounding errors beside them
//	memory.go   parts of Config.Memory and Traits
//
// svm, kmp and ep take the checks of options and the calls of observers from here.
package margin
