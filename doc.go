// Package halfspace is the API to begin with of an engine, a library and a command for learning
// linear and kernel classifiers one example at a time with a large margin.
//
// [Train] learns from files, [New] begins a model that learns row by row, [Load] reads one from its
// file:
//
//	m, err := halfspace.Train(ctx, halfspace.Options{Learner: "adf"}, "train.csv")
//	...
//	label, err := m.Label(m.Row().Set("age", 39).Set("hours", 40))
//
// Nothing here has type parameters; the precision is one of the Options. What more there is lies in
// these packages:
//
//	cmd/halfspace  the command
//	bench          halfspace-bench: throughput suites, and the tables and figures of the papers
//	training       one run without flags or terminal: plan, run, observe, checkpoint, resume
//	eval           progressive validation, test error, margins
//	model          the model file
//	dataset        examples from files, streams and generators
//	learners       one algorithm, one file
//	learner        what a learner is, can do and needs; the conformance suite
//	engine         blocks of examples, workers, member lanes, draws
//	kernelcache    kernel rows in a bounded memory
//	vecmath        numeric kernels with the same bits on every CPU
//
// Imports run down this list only. ARCHITECTURE.md explains them in a page.
package halfspace
