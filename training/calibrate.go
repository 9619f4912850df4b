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
