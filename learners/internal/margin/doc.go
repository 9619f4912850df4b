// Package margin has what runs share over a whole data set towards a large margin: the loops of
// Fit, where they may be cut and go on, and what they report.
//
//	cycle.go    passes over scores kept up to date by Gram rows, or over weights carried along:
//	            perceptron, alma, cramma
//	passes.go   passes that try each example on the learner itself, with the active set and the
//	            halving of the accuracy: romma, micra, pumma, perceptron with beta
//	scaled.go   [ScaledLinear], weights with a factor, and their Fit by passes: the same but pumma
//	rows.go     [RowSolver], romma and pumma over the rows of a Gram matrix: with a kernel
//	cut.go      where a run was stopped, as a State, so that another goes on to the bit
//	twofold.go  sums with their rounding errors beside them
//	memory.go   parts of Traits.Memory and Traits
//
// svm, kmp and ep take the checks of options and the calls of observers from here.
//
// Invariants:
//
//   - Examples are met in the order of the data, as the published tables have it; a run has
//     converged only after a pass over all of them, at the accuracy in the end, without an update.
//   - What a run decides by is fresh: scores kept up to date by steps are computed anew before a
//     pass without an update counts.
//   - A run that was cut, by MaxUpdates or ctx, and goes on over the same examples with the same
//     options takes the same steps as one that was not, to the bit. Observers, clock and looks at
//     ctx change no result.
//   - Bounds of the margin are of all weights, by duality: a run without a margin that counts as
//     one ends by them.
//   - Extended coordinates of a soft margin live as long as the run: learners keep none.
package margin
