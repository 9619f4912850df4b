// Package training carries out one run: from files and settings to a learner that has learned, its
// model file, and all that was counted on the way. It knows no flags and no terminal; the command
// and package halfspace are built on it.
//
//	job, err := training.New(training.Options{Learner: learner.Default(),
//		Files: []string{"a.svm"}}, training.Env{})
//	result, err := job.Run(ctx)
//
// A run goes one way:
//
//	Options                  a plain struct, which JSON and TOML can hold
//	New                      checks all that can be checked before data are read; reads the model
//	                         that is gone on from
//	Job.Run: data            opened as a stream, or read into memory where the run needs that
//	         Plan            facts of the data + traits of the learner -> settings without open
//	                         ends, the way of learning, who takes how much memory
//	         learning        progressive validation (eval.Run), or passes until it has converged
//	         checkpoints     the model, at marks and at the end
//	         measuring       margins on the training set, errors on test sets, warnings
//	Result
//
// [Learn] is the middle of it alone, for learners and examples that a program has made itself.
//
// # Stop and go on
//
// While a run goes on, the models that it writes have a [model.Position], and with Options.Resume
// it goes on there and ends in the bytes of one that was not stopped. Files are read again from
// their beginning; a [Source] of a program's own may have places at which it begins again:
//
//	env.Open = func(ctx context.Context, at string) (training.Source, error) {
//		r, err := newReader(ctx, at) // of a topic's messages, as lines
//		return training.Source{Reader: r, Place: r.Place, Close: r.Close}, err
//	}
//
// Place(n) names what lies behind the first n bytes that Reader gave, such as the offset of the
// next message of each partition: the run asks for it at ends of lines, so one message is one line,
// or several. Rows between the place and the example that was learned last are counted, and left
// out when it begins there; so each is learned once, whatever was committed to a broker. Labels,
// scales and columns then come from the model, as with Options.From. What counts data beside them,
// as balanced weights of classes, begins anew.
//
// # Errors
//
// What is wrong with Options, or with the memory there is, is an [Error]: it names fields of
// Options as JSON has them, and its Text and Next take other names for them, such as flags. Errors
// of data, learners and model files are those of packages dataset, learners and model.
//
// # Concurrency
//
// A Job is one goroutine's, and runs once. An [Observer] is called by that goroutine. When the
// context ends, a run keeps what it has learned, writes the model and returns [ErrStopped].
package training
