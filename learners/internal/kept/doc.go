// Package kept is the room of hypotheses that are sums over kept examples,
// f(x) = sum_j coef_j K(x_j, x).
//
//	support.go    [SupportSet], which grows and shrinks while a stream goes by, and [ErrorSet], the
//	              examples on which errors are counted: budget, tbp, obpm with a kernel; sogp takes
//	              [Basis], the examples alone
//	errors.go     [LeaveOneOut], the errors without each of the kept examples: tbp, obpm
//	expansion.go  [Expansion], which a run over a whole data set leaves: svm, kmp, and romma and
//	              pumma with a kernel
//	predictor.go  the hypotheses of both, immutable: Score, Snapshot, files of predictions alone
//	memory.go     parts of Config.Memory, and the most examples that fit into given memory
package kept
