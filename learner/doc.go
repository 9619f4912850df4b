// Package learner is the contract between learners and all that uses them, and holds no algorithm.
//
// A [Learner] learns examples, one after another or (a [Fitter]) a whole data set at once, and
// scores others. Its settings are a [Config]: they are checked, made absolute by what is known of
// the data ([Facts]), bound the memory that is taken for data of an [Extent], and say by [Traits]
// what a learner of them is, can do and needs. What a learner can do beside is asked by functions
// here ([ProberOf], [Fit], [SupportOf], ...): no user of learners looks at their types.
//
// A learner registers its [Settings] by a name ([Register]), from any module. The suite of package
// learnertest holds it to all that is said here.
package learner
