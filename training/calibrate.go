package training

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// platt is the Calibrate that there is.
const platt = "platt"

// suitsCalibration refuses a calibration where there are no scores for it.
func (o *Options) suitsCalibration(name string, t learner.Traits) error {
	switch {
	case o.Calibrate == "":
	case t.Classes:
		return badOption("Choose the label that is +1 against all others by {positive}.",
			"{calibrate} %s: scores of more than two classes have none", o.Calibrate)
	case o.whole(t):
		next := "Leave it out."
		if t.Stream {
			next = "Take a number of {epochs}."
		}
		return badOption(next, "{calibrate} %s: %s learns the whole data set at once, so there "+
			"are no scores of examples that it has not learned", o.Calibrate, name)
	}
	return nil
}

// calibrates reports whether the run finds probabilities: they were asked for, or the model that is
// gone on from has some, of scores that will change.
func (j *Job) calibrates() bool {
	return j.o.Calibrate != "" || j.before != nil && j.before.Calibration != nil && !j.whole()
}

// calibrated is the view of l with the probabilities of c, where there are any.
func calibrated[T engine.Float](l learner.Learner[T], c *learner.Calibration) learner.Predictor[T] {
	if p := learner.ViewOf(l); c == nil {
		return p
	} else {
		return learner.Calibrated(p, *c)
	}
}
