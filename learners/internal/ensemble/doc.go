// Package ensemble is the room of many linear members that go through the same examples side by
// side, each seeing its own random share of them: what obpm averages. A base learner that states
// its rule as a learner.MemberForm (perceptron, pa, lms, alma) is stepped here; others are run one
// by one by obpm itself.
//
//	store.go    [Ensemble]: the members' weights, in lanes or dense rows, and their sum S
//	run.go      [MemberRun]: a run of examples that all members go through, in parts on all cores
//	sparse.go   a run on sparse examples: members in vector lanes, or lists of the few that see one
//	dense.go    a run on dense examples: member after member, each over all rows of the run
//	stepper.go  the members' rule, in vector lanes if its margin and step are fixed
//	replay.go   the second time through a run, for S and the scores of before each example
//
// Results depend on the seed and the examples, not on blocks, workers or the way through.
package ensemble
