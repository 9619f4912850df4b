// Package ensemble is for many linear members that go through the same examples side by side, each
// seeing its own random share of them: what obpm averages (E. Harrington, R. Herbrich, J. Kivinen,
// J. C. Platt, R. C. Williamson, "Online Bayes Point Machines", PAKDD 2003, whose Algorithms 1 and
// 2 the comments here count lines of). A base learner that states its rule as a MemberForm
// (perceptron, pa, lms, alma, romma, cramma, micra) is stepped here; others are run one by one by
// obpm itself. Of the other learners none uses this package, but obpm with a kernel takes its rule
// and its scratch.
//
//	lanes.go      [Lanes]: weights for sparse examples, one lane a member, so that one non-zero is
//	              one row operation for all of them; lanes_int16.go: small whole numbers
//	dense_members.go  [DenseMembers]: weights for dense examples, one row a member
//	memory.go     what these come to take
//	store.go      [Ensemble]: the members' weights, in lanes or dense rows, and their sum S
//	run.go        [MemberRun]: a run of examples for all members, in parts on all cores
//	sparse.go     a run on sparse examples: members in lanes
//	dense.go      a run on dense examples: the members that see one, or all of them, together
//	stepper.go    the members' rule, in vector lanes if its margin and step are fixed
//	scaled.go     [Scaled], what rules share whose members have a factor on their weights
//	replay.go     the second time through a run, for S and the scores of before each example
//
// Invariants:
//
//   - Results depend on the seed and the examples, not on blocks, runs, parts, workers or the form
//     of the weights. Draws are a function of (seed, member, example number); a member adds its
//     products in the order of the features and its updates in that of the examples; sums over
//     members are taken by words of 64 members, in order, however members are cut into tiles.
//   - Exactly one store holds the weights, in the form of the last block. To move them rounds
//     nothing.
//   - With additive members S is the sum of their weights but for roundings; it is never summed
//     anew, so its bits are those of the updates in their order. Where weights are whole numbers,
//     in int16, it is their sum exactly. [Ensemble.Replay] adds a run to it.
//   - Parts write their own tile, or their own members' rows, their own draws and partial sums. The
//     caller prepares the rest before the parts begin, and changes S after all have ended.
//   - After warm-up nothing is allocated: a run uses the scratch of the one before.
package ensemble
