// Package kept is for hypotheses that are sums over kept examples,
// f(x) = sum_j coef_j K(x_j, x)/divisor + bias.
//
//	sum.go      [Sum], the hypothesis itself: Score, Snapshot, files of predictions alone; what a
//	            run over a whole data set finds is one: svm, kmp, romma and pumma with a kernel
//	current.go  [Current], the example in hand with its kernel values
//	set.go      [Set], which grows and shrinks while a stream is learned: budget, tbp, obpm
//	scaled.go   [ScaledSet], whose coefficients have a common factor, and |w|^2: the learners of
//	            OnlineConfig and pumma on a stream
//	errors.go   [ErrorSet], the examples on which errors are counted, and [LeaveOneOut], the errors
//	            without each of the kept examples: tbp, budget, obpm
//	project.go  [Projection] of an example onto the kept ones nearest to it: obpm
//	memory.go   parts of Traits.Memory, and the most examples that fit into given memory
//
// Invariants:
//
//   - Examples are kept without zeros, whatever form they came in.
//   - All slices of a [Set] are by slot. A slot keeps its number for good: what is removed leaves
//     it with coefficient 0 until another example takes it, so that the numbers and kernel values
//     of the others stay.
//   - The kernel value of two kept examples is computed once, when the later one comes, in its row.
//     It is no part of a State: restoring computes it again in the same way.
//   - Margins of an [ErrorSet] are those of f after each change of f, rounding errors included, and
//     they are part of the State: a resumed run removes what it would have removed.
//   - A [Sum] of a learner's own list is a view of it until it is copied. The list of a Sum of form
//     [Batch] is replaced and never changed, so that Predictors share it with the learner.
package kept
