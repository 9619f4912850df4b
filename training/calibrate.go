package training

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// suitsCalibration refuses a calibration where there are no scores for it.
func (o *Options) suitsCalibration(name string, t learner.Traits) error {
	switch {
	case o.Calibrate == "":
	case o.whole(t):
		next := "Take a learner of streams, or leave it out."
		if t.Stream {
			next = "Take a number of {epochs}."
		}
		return badOption(next, "{calibrate} %s: %s learns the whole data set at once, so there "+
			"are no scores of examples that it has not learned", o.Calibrate, name)
	}
	return nil
}

// suitsThreshold refuses one that is to be found where there are no scores for it.
func (o *Options) suitsThreshold(name string, t learner.Traits) error {
	switch {
	case o.Threshold == "":
	case t.Classes:
		return badOption("Choose the label that is +1 against all others by {positive}.",
			"{threshold} %s: of more than two classes the label is that of the largest score",
			o.Threshold)
	case o.whole(t):
		return badOption("Take a learner of streams, or leave it out.", "{threshold} %s: %s "+
			"learns the whole data set at once, so there are no scores of examples that it has "+
			"not learned", o.Threshold, name)
	}
	return nil
}

// target is what a threshold is to reach: what was asked for, or what that of the model was found
// for that is gone on from, whose scores will change.
func (j *Job) target() (t eval.Target) {
	text := j.o.Threshold
	if text == "" && j.before != nil && j.before.Threshold != nil && !j.whole() {
		text = j.before.Threshold.Target
	}
	t, _ = eval.ParseTarget(text) // Validate has looked at it; of a model that may be any text
	return t
}

// calibrates is by what method the run finds probabilities: the one that was asked for, or that of
// the model that is gone on from, whose scores will change; "" if by none.
func (j *Job) calibrates() string {
	switch {
	case j.o.Calibrate != "":
		return j.o.Calibrate
	case j.before == nil || j.before.Calibration == nil || j.whole():
		return ""
	case j.before.Calibration.Method != "":
		return j.before.Calibration.Method
	}
	return eval.Platt
}

// calibrated is the view of l with the probabilities of c, where there are any.
func calibrated[T engine.Float](l learner.Learner[T], c *learner.Calibration) learner.Predictor[T] {
	if p := learner.ViewOf(l); c == nil {
		return p
	} else {
		return learner.Calibrated(p, *c)
	}
}
