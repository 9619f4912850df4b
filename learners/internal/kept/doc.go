// Package kept is for hypotheses that are sums over kept examples,
// f(x) = sum_j coef_j K(x_j, x).
//
//	support.go    [SupportSet], which grows and shrinks while a stream goes by, and [ErrorSet], the
//	              examples on which errors are counted: budget, tbp, obpm with a kernel; sogp takes
//	              [Basis], the examples alone
//	scaled.go     [ScaledSet], a support whose coefficients have a common factor, and |w|^2: romma
//	              and pumma with a kernel on a stream
//	errors.go     [LeaveOneOut], the errors without each of the kept examples: tbp, obpm
//	project.go    [Projection] of an example onto the kept ones nearest to it: obpm
//	expansion.go  [Expansion], which a run over a whole data set leaves: svm, kmp, and romma and
//	              pumma with a kernel, whose streams go on from it
//	predictor.go  the hypotheses of both, immutable: Score, Snapshot, files of predictions alone
//	memory.go     parts of Config.Memory, and the most examples that fit into given memory
//
// Invariants:
//
//   - Examples are kept without zeros, whatever form they came in.
//   - All slices of a [SupportSet] are by slot. A slot keeps its number for good: what is removed
//     leaves it with coefficient 0 until another example takes it, so that the numbers and kernel
//     values of the others stay.
//   - The kernel value of two kept examples is computed once, when the later one comes, in its row.
//     It is no part of a State: restoring computes it again in the same way.
//   - Margins of an [ErrorSet] are those of f after each change of f, roundings included, and they
//     are part of the State: a run that goes on removes what it would have removed.
//   - An [Expansion] is replaced and never changed, so that Predictors share it with the learner. A
//     [KeptSum] over a learner's own list is a view of it until it is copied.
package kept
