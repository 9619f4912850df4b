package command

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// fieldFlags returns the flag of a field of training.Options, or of a setting, as errors name it.
func fieldFlags(fs *pflag.FlagSet) func(field string) string {
	return func(field string) string {
		name := strings.ReplaceAll(field, "_", "-")
		if fs.Lookup(name) == nil {
			return "--" + name
		}
		return Given(fs, name)
	}
}

// trainingError gives an error of package training its exit code, and its fields the names of
// flags. kept says what became of the work; "" says nothing.
func trainingError(fs *pflag.FlagSet, e *training.Error, kept string) error {
	code, name := CodeFailed, fieldFlags(fs)
	switch e.Kind {
	case training.ErrOption:
		code = CodeUsage
	case training.ErrModel:
		code = CodeModel
	case training.ErrChanged:
		code = CodeData
	}
	next := e.Next(name)
	if kept != "" {
		next = upper(kept) + ". " + next
	}
	return &fail{code, &explained{e.Text(name), e}, next}
}

// optionError is trainingError of an error of training.Options; others are as they were.
func optionError(fs *pflag.FlagSet, err error) error {
	if e := (*training.Error)(nil); errors.As(err, &e) && e.Kind == training.ErrOption {
		return trainingError(fs, e, "")
	}
	return err
}

// explain gives an error that ended a run without a result its exit code and next step.
func (t *trainer) explain(err error) error {
	e, name := (*training.Error)(nil), fieldFlags(t.cmd.Flags())
	switch {
	case errors.Is(err, training.ErrStopped):
		return &fail{CodeStopped, ErrStopped, "Nothing was learned yet; " + t.kept() + "."}
	case errors.As(err, &e):
		return t.explainPlan(e)
	case errors.Is(err, learner.ErrConfig):
		return settingError(err)
	case errors.Is(err, learner.ErrLength):
		return &fail{CodeData, err, upper(t.kept()) + ". Bring the features to one scale: " +
			"--normalize unit or max, or divide them; --precision f64 holds more than f32."}
	case errors.Is(err, learner.ErrMemory):
		return &fail{CodeFailed, err, upper(t.kept()) + ". " +
			training.KeptSizes(t.plan.Config, name)}
	case errors.Is(err, learner.ErrDim):
		return &fail{CodeFailed, err, upper(t.kept()) + "."}
	}
	return dataError(err, t.kept())
}

// explainPlan does so with an error that names fields, or files of models.
func (t *trainer) explainPlan(e *training.Error) error {
	kept := ""
	switch e.Kind {
	case training.ErrMemory, training.ErrSource:
		if e.Late || e.Kind == training.ErrSource {
			kept = t.kept()
		}
		return trainingError(t.cmd.Flags(), e, kept)
	case training.ErrModel:
		if t.o.Resume {
			return t.noResume(e)
		}
		return loadError(t.o.From, e)
	case training.ErrChanged:
		return trainingError(t.cmd.Flags(), e, "")
	case training.ErrSave:
		return saveError(t.o.Model, t.kept(), e.Err)
	}
	return optionError(t.cmd.Flags(), e)
}

// noResume is the error of a model that can't be gone on with, and says where the checkpoint before
// it is.
func (t *trainer) noResume(e *training.Error) error {
	err := loadError(t.o.Model, e)
	f := (*fail)(nil)
	last := model.Kept(t.o.Model)
	if !errors.As(err, &f) {
		return err
	}
	if m, bad := model.Load(t.o.Model); bad == nil && m.Position == nil {
		f.next = e.Next(fieldFlags(t.cmd.Flags())) // nothing is wrong with it
		return f
	}
	if m, e := model.Load(last); e == nil && m.Position != nil {
		f.next = fmt.Sprintf("The checkpoint before it is good: mv %s %s, then the same again.",
			last, t.o.Model)
	}
	return f
}

// ended gives the error of a run with a result its exit code and next step.
func (t *trainer) ended(job *training.Job, res *training.Result, err error) error {
	e := (*training.Error)(nil)
	switch {
	case errors.Is(err, training.ErrDiverged) && errors.As(err, &e):
		what, next := splitNext(e.Err.Error())
		if t.o.Model != "" {
			what = t.o.Model + ": " + what
		}
		return &fail{CodeFailed, &explained{what, err},
			strings.TrimSpace(upper(t.kept()) + ". " + next)}
	case errors.Is(err, training.ErrUseless):
		return useless("in the test ", res.Test.Count)
	case errors.Is(err, training.ErrStopped):
		return t.stopped(job, res)
	case errors.Is(err, training.ErrNotConverged):
		return notConverged(job, res)
	}
	return err
}

// stopped is how an interrupted run ends.
func (t *trainer) stopped(job *training.Job, res *training.Result) error {
	next := "Nothing was saved: name a model file with -m to keep what was learned."
	switch presented := res.Counts.Presented; {
	case presented == 0 && res.Saved == nil:
		next = "Nothing was learned yet; nothing was saved."
	case job.NeedsWhole():
		next = "Nothing was saved: " + job.Learner() + " has nothing to save before its end."
	case res.Saved != nil && t.o.PredictOnly:
		next = "The model is in " + res.Saved.Path + "; it can only predict."
	case res.Saved != nil:
		next = "The model is in " + res.Saved.Path + "; to go on where it stands: --resume -m " +
			res.Saved.Path
		if !job.GoesOnAlone() {
			next += ", or with other examples: -i " + res.Saved.Path
		}
		next += "."
	}
	return &fail{CodeStopped, fmt.Errorf("%w after %s", ErrStopped,
		Plural(int(res.Counts.Presented), "example")), next}
}

// kept says what is there of a run that ends with an error.
func (t *trainer) kept() string {
	if t.saved != nil {
		return fmt.Sprintf("the model after %d examples is in %s", t.saved.Presented, t.saved.Path)
	}
	if t.o.Resume {
		return t.o.Model + " is as it was"
	}
	return "nothing was saved"
}

// notConverged says what is left.
func notConverged(job *training.Job, r *training.Result) error {
	res := r.Counts
	what := fmt.Sprintf("not converged: %d updates in %s", res.Updates, Plural(res.Epochs, "epoch"))
	if f := res.Fit; f != nil {
		what += fmt.Sprintf("; %d of %d examples still violate", f.Violators, res.Examples)
		if f.Margin-f.Margin == 0 {
			what += fmt.Sprintf(", margin %.6g", f.Margin)
		}
		if f.Bound < math.Inf(1) {
			what += fmt.Sprintf(", and no margin is larger than %.3g", f.Bound)
		}
	}
	if m := res.Mistaken; m != nil {
		what += fmt.Sprintf("; the last one made none, and %d of %d examples are mistakes of a "+
			"member or of all together", *m, res.Examples)
	}
	return &fail{CodeNotConverged, errors.New(what), toConverge(job, r)}
}

// toConverge says what to do about a run that did not.
func toConverge(job *training.Job, r *training.Result) string {
	res, traits := r.Counts, r.Plan.Config.Traits()
	most := int64(training.DefaultMaxUpdates)
	if o := job.Options(); o.MaxUpdates != nil { // with --resume, the one that the run began with
		most = *o.MaxUpdates
	}
	var s []string
	why := ""
	if r.Unscaled && !traits.ScaleFree {
		s = append(s, "bring the columns to one scale (--scale std)")
	}
	if most > 0 && res.Updates >= most {
		s = append(s, "raise --max-updates")
	} else if learner.Enough(res.Presented, most) {
		s = append(s, "raise --max-updates above 10^9, which bounds the examples, too")
	} else if res.Mistaken != nil {
		s = append(s, "raise --tau, the share of the examples that a member sees")
	} else if traits.Stream {
		why = "The examples can't be separated, " +
			"or not before their features are of one scale (--normalize unit). "
	}
	s = append(s, remedies(traits)...)
	if traits.SoftDelta {
		s = append(s, "make the margin soft (--soft-delta)")
	}
	if traits.ScaleFree {
		s = append(s, "take a learner that passes once: "+scaleFree())
	} else if traits.Stream {
		s = append(s, "take a learner for data that can't be separated (as "+
			learner.Default()+" for some epochs)")
	}
	if len(s) == 1 {
		return why + upper(s[0]) + "."
	}
	return why + upper(strings.Join(s[:len(s)-1], ", ")) + ", or " + s[len(s)-1] + "."
}

// settingError gives an error of a Config its exit code.
func settingError(err error) error {
	if errors.Is(err, learner.ErrConfig) {
		return &fail{CodeUsage, err, "The learners' flags: halfspace train --help."}
	}
	return err
}
